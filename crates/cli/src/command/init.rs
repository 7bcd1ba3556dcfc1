//! `mcptest init`: a first suite that passes.

use super::server;
use crate::args::Init;
use crate::output::{self, Failure};
use mcptest_core::escape::{escape, escape_path};
use mcptest_run::draft::{Ask, Draft, Wish, check_free, from_recording, from_server};
use std::path::Path;

pub(super) fn run(args: Init) -> Result<u8, Failure> {
    check_free(&args.out, args.force)?;
    if let Some(recording) = &args.from_cassette {
        let draft = from_recording(recording, &args.out, args.name.as_deref())?;
        return write(&draft, args.force);
    }
    let (spec, timeout) = (server::named(&args.server)?, args.server.timeout);
    let call = args
        .call
        .iter()
        .map(|written| wish(written))
        .collect::<Result<_, _>>()?;
    let ask = Ask {
        spec,
        timeout,
        name: args.name,
        out: args.out,
        call,
    };
    server::speak(async { write(&from_server(ask).await?, args.force) })
}

/// `git_status repo_path=.`: a tool, and arguments as `mcptest call` takes them.
fn wish(written: &str) -> Result<Wish, Failure> {
    let words = server::words(written)?;
    let Some((tool, arguments)) = words.split_first() else {
        return Err(Failure::with_help(
            "`--call` is empty",
            "write `--call 'TOOL key=value'`",
        ));
    };
    let given = mcptest_run::arguments::parse(arguments, None)
        .map_err(|error| Failure::new(format!("`--call '{written}'`: {error}")))?;
    Ok(Wish {
        tool: tool.clone(),
        given,
    })
}

fn write(draft: &Draft, force: bool) -> Result<u8, Failure> {
    draft.write(force)?;
    let path = escape_path(&draft.path);
    let mut said = format!("wrote {path}\n");
    said.extend(
        draft
            .said
            .iter()
            .map(|line| format!("  {}\n", escape(line))),
    );
    let named = if draft.path == Path::new("mcptest.yml") {
        String::new()
    } else {
        format!(" {path}")
    };
    let next = match (draft.is_judged, draft.records) {
        (true, true) => [
            format!("mcptest run{named}"),
            format!("mcptest run{named} --record"),
        ],
        (true, false) => [format!("mcptest run{named}"), "mcptest explain".to_owned()],
        (false, _) => [
            format!("mcptest validate{named}"),
            "mcptest explain".to_owned(),
        ],
    };
    output::stdout(format!("{said}next:\n  {}\n", next.join("\n  ")).as_bytes())?;
    Ok(0)
}
