//! `mcptest init`: a first suite that passes.

use super::server;
use crate::args::Init;
use crate::output::{self, Failure};
use mcptest_core::escape::escape_path;
use mcptest_run::draft::{Ask, Draft, check_free, from_recording, from_server};
use std::path::Path;
use std::process::ExitCode;

pub(super) fn run(args: Init) -> Result<ExitCode, Failure> {
    check_free(&args.out, args.force)?;
    if let Some(recording) = &args.from_cassette {
        let draft = from_recording(recording, &args.out, args.name.as_deref())?;
        return write(&draft, args.force);
    }
    let (spec, source) = server::spec_and_source(&args.server)?;
    let ask = Ask { spec, source, name: args.name, out: args.out, call: args.call };
    server::speak(async { write(&from_server(ask).await?, args.force) })
}

fn write(draft: &Draft, force: bool) -> Result<ExitCode, Failure> {
    draft.write(force)?;
    let path = escape_path(&draft.path);
    let mut said = format!("wrote {path}\n");
    for line in &draft.said {
        said.push_str(&format!("  {}\n", mcptest_core::escape::escape(line)));
    }
    said.push_str("next:\n");
    let named = if draft.path == Path::new("mcptest.yml") { String::new() } else { format!(" {path}") };
    let next = match (draft.is_judged, draft.records) {
        (true, true) => [format!("mcptest run{named}"), format!("mcptest run{named} --record")],
        (true, false) => [format!("mcptest run{named}"), "mcptest explain".to_owned()],
        (false, _) => [format!("mcptest validate{named}"), "mcptest explain".to_owned()],
    };
    for line in next {
        said.push_str(&format!("  {line}\n"));
    }
    output::stdout(said.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
