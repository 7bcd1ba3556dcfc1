//! `mcptest check`: does this server do what the specification says?

use crate::check::{self, Options, Probe};
use clap::Args;
use mcptest_command::reports::reporters_help;
use mcptest_command::server::Server;
use mcptest_command::{
    BareServer, Destination, EXIT_NOTHING_SELECTED, Failure, Group, Program, RunCommand, output,
    server, typed, waiting,
};
use mcptest_core::escape::escape;
use mcptest_core::problem::did_you_mean;
use mcptest_core::words::count;
use mcptest_mcp::client::DEFAULT_TIMEOUT;
use mcptest_report::REPORTERS;
use std::time::{Duration, Instant};

/// The default time limit for an answer, short because many probes wait for answers that may never
/// arrive.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Arguments of `check`.
#[derive(Debug, Args)]
#[command(
    override_usage = "mcptest check [OPTIONS] -- COMMAND...\n       mcptest check [OPTIONS] --url URL\n       mcptest check [OPTIONS] [--config FILE] [NAME]"
)]
#[expect(clippy::struct_excessive_bools, reason = "each is one flag")]
pub(crate) struct Check {
    /// The server's name under `servers:` of the suite; optional if there is only one.
    #[arg(value_name = "NAME", conflicts_with_all = ["command", "url", "words"])]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) server: Server,
    #[arg(long, value_name = "FAMILY|ID", value_delimiter = ',', help = only_help())]
    pub(crate) only: Vec<String>,
    /// Also call tools that do not say `readOnlyHint: true`, with made-up and with wrong arguments.
    #[arg(long)]
    pub(crate) allow_writes: bool,
    /// Also fail on what the specification only recommends.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Also fail on probes that apply to the server and could not be tried.
    #[arg(long)]
    pub(crate) deny_skipped: bool,
    /// List the probes without sending them.
    #[arg(long)]
    pub(crate) list: bool,
    /// Print more: for each probe what was sent, what was received and what the specification says.
    #[arg(long, short, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    #[arg(long = "reporter", value_name = "KIND[=FILE]", help = reporters_help(REPORTERS))]
    pub(crate) reporters: Vec<String>,
}

fn only_help() -> String {
    let families: Vec<&str> = check::FAMILIES.iter().map(|(family, _)| *family).collect();
    format!(
        "Send only the probes of a family or with an id; repeatable [families: {}]",
        families.join(", ")
    )
}

impl RunCommand for Check {
    const NAME: &'static str = "check";
    const GROUP: Group = Group::Look;
    const SUMMARY: &'static str =
        "Check whether an MCP server follows the specification, without a suite";
    const EXAMPLE: &'static str = "mcptest check -- npx -y @modelcontextprotocol/server-everything";
    const SERVER: Option<BareServer> = Some(BareServer::after_words(0));

    fn run(self, program: &Program) -> Result<u8, Failure> {
        let destinations = Destination::parse_all(&self.reporters, REPORTERS, program.gates)?;
        let probes = selected(&self.only)?;
        if self.list {
            let lines = probes
                .iter()
                .map(|probe| format!("{}  {}\n", probe.id, probe.title));
            output::page(&lines.collect::<String>())?;
            return Ok(0);
        }
        let mut spec =
            server::spec(self.name.as_deref(), &self.server, program.gates).map_err(|failure| {
                Destination::discard_for(&destinations, self.server.config.iter().cloned(), failure)
            })?;
        let time_limit = server::limit_of_everything(&self.server.direct);
        if time_limit.is_some() || spec.timeout == DEFAULT_TIMEOUT {
            spec.timeout = TIMEOUT.min(time_limit.unwrap_or(TIMEOUT));
        }
        let options = Options {
            redact: mcptest_replay::clean,
            allow_writes: self.allow_writes,
            strict: self.strict,
            deny_skipped: self.deny_skipped,
            time_limit,
            tell: waiting::tell,
            command: command(&self, &spec.name),
        };
        Destination::discard_earlier(&destinations)?;
        server::speak(async {
            let begun = Instant::now();
            let mut report = check::check(&spec, &probes, &options).await?;
            report.command = Some(typed());
            Destination::write_all(&destinations, &report, self.verbose, Some(begun.elapsed()))?;
            if report.summary.skipped == report.summary.tests {
                let probes = count(report.summary.tests, "probe");
                output::stderr(&format!(
                    "error: nothing was checked: {probes} selected, but none could be sent\n"
                ));
                return Ok(EXIT_NOTHING_SELECTED);
            }
            Ok(report.exit_code())
        })
    }
}

/// The probes of these families and ids, or the nearest name to an unknown one.
fn selected(only: &[String]) -> Result<Vec<&'static Probe>, Failure> {
    let is_named = |probe: &Probe, name: &str| {
        name.eq_ignore_ascii_case(probe.id) || name.eq_ignore_ascii_case(probe.family())
    };
    if let Some(name) = only
        .iter()
        .find(|name| !check::probes().any(|probe| is_named(probe, name)))
    {
        let families = check::FAMILIES.iter().map(|(family, _)| *family);
        let known = families.chain(check::probes().map(|probe| probe.id));
        let help = did_you_mean(name, known, || {
            "`mcptest check --list` lists the probes".to_owned()
        });
        let why = format!(
            "error: no family or probe is named `{}`\n  help: {help}",
            escape(name)
        );
        return Err(Failure::ended(EXIT_NOTHING_SELECTED, why));
    }
    Ok(check::probes()
        .filter(|probe| only.is_empty() || only.iter().any(|name| is_named(probe, name)))
        .collect())
}

/// The command that checks this server, for a row to be sent again.
fn command(args: &Check, name: &str) -> String {
    let mut words = vec!["mcptest".to_owned(), "check".to_owned()];
    words.extend(args.allow_writes.then(|| "--allow-writes".to_owned()));
    words.extend(args.strict.then(|| "--strict".to_owned()));
    words.extend(args.deny_skipped.then(|| "--deny-skipped".to_owned()));
    let direct = &args.server.direct;
    match (&direct.url, &direct.command) {
        (Some(url), _) => words.extend(["--url".to_owned(), url.clone()]),
        (None, Some(text)) => words.extend(["--command".to_owned(), text.clone()]),
        (None, None) if !direct.words.is_empty() => {
            words.push("--".to_owned());
            words.extend(direct.words.iter().cloned());
        }
        (None, None) => {
            let config = args.server.config.iter();
            words.extend(
                config.flat_map(|file| ["--config".to_owned(), file.display().to_string()]),
            );
            words.push(name.to_owned());
        }
    }
    shell_words::join(words)
}
