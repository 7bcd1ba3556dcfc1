//! `mcptest verify`: a tape against a live server.

use clap::Args;
use mcptest_command::server::Server;
use mcptest_command::value::{Word, one_of};
use mcptest_command::{
    BareServer, Failure, Group, Program, RunCommand, output, server, tape, waiting,
};
use mcptest_mcp::proxy;
use mcptest_mcp::verify::{self, Ignore, Tier};
use std::path::PathBuf;

/// Arguments of `verify`.
#[derive(Debug, Args)]
#[command(
    override_usage = "mcptest verify [OPTIONS] TAPE -- COMMAND...\n       mcptest verify [OPTIONS] TAPE --url URL\n       mcptest verify [OPTIONS] TAPE [--config FILE] [--server NAME]"
)]
pub(crate) struct Verify {
    /// The tape, as written by `mcptest proxy`.
    pub(crate) tape: PathBuf,
    /// The server's name under `servers:` of the suite; optional if there is only one.
    #[arg(long = "server", short = 's', short_alias = 'n', value_name = "NAME", conflicts_with_all = ["command", "url", "words"])]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) server: Server,
    /// Ignore differences at or below this path, such as `result.content[0].text` or `get_time:result`; repeatable.
    #[arg(long, value_name = "[NAME:]PATH")]
    pub(crate) ignore: Vec<Ignore>,
    /// Also fail on differences that break nothing.
    #[arg(long, value_name = "TIER", value_parser = one_of(&DENIED))]
    pub(crate) deny: Option<Tier>,
    /// Print the result as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The values of `--deny`: differences that fail in addition to breaking ones.
const DENIED: [Word<Tier>; 2] = [
    ("changed", Tier::Changed, "Fail on changed texts too"),
    ("added", Tier::Added, "Fail on every difference"),
];

impl RunCommand for Verify {
    const NAME: &'static str = "verify";
    const GROUP: Group = Group::Record;
    const SUMMARY: &'static str = "Replay a tape against a live server and report what changed";
    const EXAMPLE: &'static str =
        "mcptest verify session.jsonl -- npx -y @modelcontextprotocol/server-everything";
    const SERVER: Option<BareServer> = Some(BareServer::after_words(1));

    fn run(self, program: &Program) -> Result<u8, Failure> {
        let tape = tape::required(&self.tape)?;
        let spec = server::spec(self.name.as_deref(), &self.server, program.gates)?;
        let redactor = proxy::redactor(&[], std::iter::empty(), &[])?;
        let replayed = verify::replay(&tape, spec, self.ignore, &redactor, &waiting::tell);
        let drift = server::speak(async { Ok(replayed.await?) })?;
        let text = if self.json {
            verify::json(&drift)
        } else {
            verify::human(&drift)
        };
        output::stdout(text.as_bytes())?;
        if !drift.is_anything_checked {
            let why = "nothing was checked, because the tape has no request that can be sent again";
            let why = format!("{why}; record a client that lists or calls something");
            return Err(Failure::at(&self.tape, why));
        }
        let least = self.deny.unwrap_or(Tier::Breaking);
        let is_denied = Tier::ALL
            .into_iter()
            .any(|tier| tier <= least && drift.count(tier) > 0);
        Ok(u8::from(is_denied))
    }
}
