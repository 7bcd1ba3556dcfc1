//! `mcptest init`: a first suite that passes.

use super::allow_calls;
use crate::draft::{Ask, Draft, Wish, check_free, from_recording, from_server};
use clap::{ArgGroup, Args};
use mcptest_command::server::Direct;
use mcptest_command::{BareServer, Failure, Group, Program, RunCommand, output, server};
use mcptest_core::escape::{escape, escape_path};
use std::path::Path;
use std::path::PathBuf;

/// Arguments of `init`.
#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("subject").required(true).args(["command", "url", "words", "from_cassette"]),
    override_usage = "mcptest init [OPTIONS] -- COMMAND...\n       mcptest init [OPTIONS] --url URL\n       mcptest init [OPTIONS] --from-cassette FILE"
)]
pub(crate) struct Init {
    #[command(flatten)]
    server: Direct,
    /// Use a recording instead of a server: a cassette, trace, recorded tool test or tape.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["command", "url", "words", "header", "env", "era", "timeout", "connect_timeout", "call"])]
    from_cassette: Option<PathBuf>,
    /// The server's name in the suite [default: the name that the server reports].
    #[arg(long = "server", short = 's', value_name = "NAME")]
    name: Option<String>,
    /// Call this tool even if it is not marked read-only, as in `--call 'git_status repo_path=.'`; repeatable.
    #[arg(long, value_name = "TOOL [KEY=VALUE]...")]
    call: Vec<String>,
    /// The file to write; missing folders are created.
    #[arg(long, short, value_name = "FILE", default_value = "mcptest.yml")]
    out: PathBuf,
    /// Overwrite existing files.
    #[arg(long)]
    force: bool,
}

impl RunCommand for Init {
    const NAME: &'static str = "init";
    const GROUP: Group = Group::Test;
    const SUMMARY: &'static str = "Write a first suite from a server or a recording";
    const EXAMPLE: &'static str = "mcptest init -- npx -y @modelcontextprotocol/server-everything";
    const SERVER: Option<BareServer> = Some(BareServer::after_words(0));

    fn run(self, _program: &Program) -> Result<u8, Failure> {
        check_free(&self.out, self.force)?;
        if let Some(recording) = &self.from_cassette {
            let draft = from_recording(recording, &self.out, self.name.as_deref())?;
            return write(&draft, self.force);
        }
        let (spec, timeout) = (server::named(&self.server)?, self.server.timeout);
        let call = self
            .call
            .iter()
            .map(|written| wish(written))
            .collect::<Result<_, _>>()?;
        let ask = Ask {
            spec,
            timeout,
            name: self.name,
            out: self.out,
            call,
            choose: allow_calls::ask,
        };
        server::speak(async { write(&from_server(ask).await?, self.force) })
    }
}

/// `git_status repo_path=.`: a tool, and arguments in the syntax of `mcptest call`.
fn wish(written: &str) -> Result<Wish, Failure> {
    let words = server::words(written)?;
    let Some((tool, arguments)) = words.split_first() else {
        return Err(Failure::with_help(
            "`--call` is empty",
            "write `--call 'TOOL key=value'`",
        ));
    };
    let given = mcptest_command::arguments::parse(arguments, None)
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
