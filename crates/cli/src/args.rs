//! What can be written on the command line.

use clap::builder::PossibleValue;
use clap::{ArgGroup, Args as Group, Parser, Subcommand, ValueEnum};
use mcptest_core::era::Era;
use mcptest_core::eval::stats::Decimal;
use mcptest_run::Filter;
use std::path::PathBuf;

/// Proves whether an AI agent uses MCP servers reliably.
#[derive(Debug, Parser)]
#[command(name = "mcptest", version, disable_help_subcommand = true, arg_required_else_help = true)]
pub(crate) struct Args {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
    /// When to colour the output.
    #[arg(long, global = true, value_enum, default_value_t = Colour::Auto, value_name = "WHEN")]
    pub(crate) color: Colour,
}

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colour {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Judge the recorded runs of suites: offline, free, the same bytes every time.
    Run(Box<Run>),
    /// Check suites by exactly the rules of `run`, without judging anything.
    Validate(Validate),
    /// Print the JSON Schema of suites, for editors; or that of manifests or of the JSON report.
    Schema(Schema),
    /// Show a cassette, a recorded tool test, a recording of the proxy or a transcript as a timeline.
    Show(Show),
    /// Explain a gate; without a name, list them all.
    Explain(Explain),
    /// Render a saved JSON report again.
    Report(Rerender),
    /// How many runs a claim about an agent takes.
    PlanRuns(PlanRuns),
    /// List the tools of an MCP server.
    Tools(Tools),
    /// Call a tool of an MCP server, and print what it answers.
    Call(Call),
    /// Write a first suite that passes: ask a server for its tools, or take a recording.
    Init(Box<Init>),
    /// Serve a mock server: of a manifest, a saved list of tools or a tape; healthy or with faults.
    Mock(crate::command::mock::Mock),
    /// Stand between an MCP client and its server, and record all that crosses.
    Proxy(crate::command::proxy::Proxy),
    /// Replay a recording of the proxy against a live server, and tell what has drifted.
    Verify(crate::command::verify::Verify),
    /// Turn a recording of the proxy into a cassette that a suite judges.
    TraceFrom(crate::command::trace_from::TraceFrom),
    /// Turn transcripts of other programs into a cassette: OpenAI, Anthropic, OpenTelemetry, LangChain.
    Import(crate::command::import::Import),
    /// Print a completion script for a shell.
    Completions {
        /// The shell to complete in.
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Write man pages to a folder, one per command.
    Man {
        /// The folder to write to, such as ~/.local/share/man/man1.
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
    /// Lead an agent of one's own to a server of its run.
    #[command(hide = true)]
    Bridge(crate::command::bridge::Bridge),
}

/// Which suites.
#[derive(Debug, Group)]
pub(crate) struct Suites {
    /// Suite files, or folders to look for suites in [default: mcptest.yaml or mcptest.yml].
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// A suite file; the same as naming it.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Vec<PathBuf>,
    /// Say more: passed-over files, notes, every number.
    #[arg(long, short)]
    pub(crate) verbose: bool,
}

/// Arguments of `run`.
#[derive(Debug, Group)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) suites: Suites,
    /// Judge the transcripts in this folder, in place of recorded runs: one row for each subfolder, and for each file
    /// that stands in none.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["record", "live"])]
    pub(crate) traces: Option<PathBuf>,
    /// Judge only rows whose name contains TEXT, or matches re:PATTERN; of several, all must fit.
    #[arg(long, value_name = "TEXT|re:PATTERN")]
    pub(crate) filter: Vec<Filter>,
    /// Judge only tests with this tag; of several, one must fit.
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Vec<String>,
    /// Leave out tests with this tag, or with any of several.
    #[arg(long, value_name = "TAG")]
    pub(crate) skip_tag: Vec<String>,
    /// List what would be judged, and stop.
    #[arg(long)]
    pub(crate) list: bool,
    /// Stop at the first test that does not pass.
    #[arg(long)]
    pub(crate) fail_fast: bool,
    #[command(flatten)]
    pub(crate) calling: Calling,
    /// Fail gates that measured nothing, marked `not exercised`.
    #[arg(long)]
    pub(crate) deny_vacuous: bool,
    #[command(flatten)]
    pub(crate) reporters: Reporters,
}

/// What is run and called, rather than read from its recording.
#[derive(Debug, Group)]
pub(crate) struct Calling {
    /// Run agents and call the tools of tool tests, and record what happens: all, or those whose recording is missing,
    /// stale or failed; then judge the recordings.
    #[arg(long, value_enum, value_name = "WHICH", num_args = 0..=1, require_equals = true, default_missing_value = "all")]
    pub(crate) record: Option<Record>,
    /// Run and call everything now and write nothing.
    #[arg(long, conflicts_with = "record")]
    pub(crate) live: bool,
    /// How many runs to record, or tools to call, at once [default: 4, or the number of cores if that is more]; without
    /// `--record`, how many rows to judge at once [default: the number of cores].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,
    /// So many runs of every agent, whatever the suite says.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) runs: Option<u32>,
    /// These models for every agent that has one, whatever the suite says: ids, or provider/id.
    #[arg(long, value_name = "MODEL", value_delimiter = ',')]
    pub(crate) models: Vec<String>,
    /// Stop recording, with exit code 5, before the call after these dollars are spent.
    #[arg(long, value_name = "USD", value_parser = dollars)]
    pub(crate) max_cost: Option<f64>,
    /// Say what recording would take: model calls, tokens and an estimated cost; then stop.
    #[arg(long, conflicts_with_all = ["live", "list", "reporters"])]
    pub(crate) dry_run: bool,
    /// Say nothing while runs are recorded and tools called.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// What to record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Record {
    /// Everything.
    All,
    /// What has no recording that can be read.
    Missing,
    /// What was recorded before the suite changed.
    Stale,
    /// What does not pass as it is recorded.
    Failed,
}

/// Which reports.
#[derive(Debug, Group)]
pub(crate) struct Reporters {
    /// Write this report: pretty, json, junit or ndjson; to FILE, or to standard output; may be repeated.
    #[arg(long = "reporter", value_name = "KIND[=FILE]")]
    pub(crate) reporters: Vec<String>,
}

/// Arguments of `validate`.
#[derive(Debug, Group)]
pub(crate) struct Validate {
    #[command(flatten)]
    pub(crate) suites: Suites,
    /// Check the suites as `run --traces DIR` takes them, and that there are transcripts in DIR.
    #[arg(long, value_name = "DIR")]
    pub(crate) traces: Option<PathBuf>,
    /// Refuse suites with warnings too.
    #[arg(long)]
    pub(crate) deny_warnings: bool,
}

/// Arguments of `schema`.
#[derive(Debug, Group)]
pub(crate) struct Schema {
    /// Print the schema of the JSON report instead.
    #[arg(long)]
    pub(crate) report: bool,
    /// Print the schema of mock server manifests instead.
    #[arg(long, conflicts_with = "report")]
    pub(crate) manifest: bool,
}

/// Arguments of `show`.
#[derive(Debug, Group)]
#[command(
    override_usage = "mcptest show [--run N] [--full] FILE\n       mcptest show --check-secrets [--config SUITE] PATH…"
)]
pub(crate) struct Show {
    /// The cassette, a trace, a recorded tool test, a recording of the proxy, or a transcript of another program.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Show only this run, or this session of a recording.
    #[arg(long, value_name = "N")]
    pub(crate) run: Option<usize>,
    /// Show everything, without cutting long texts short.
    #[arg(long)]
    pub(crate) full: bool,
    /// Look for secrets in recordings instead, in files and folders; 1 is exited with when there is one.
    #[arg(long, conflicts_with_all = ["run", "full"])]
    pub(crate) check_secrets: bool,
    /// Look also for the values of the variables that this suite names, and for its `redact:` patterns.
    #[arg(long, value_name = "SUITE", requires = "check_secrets")]
    pub(crate) config: Option<PathBuf>,
}

/// Arguments of `explain`.
#[derive(Debug, Group)]
pub(crate) struct Explain {
    /// The gate's key.
    pub(crate) gate: Option<String>,
}

/// Arguments of `report`.
#[derive(Debug, Group)]
pub(crate) struct Rerender {
    /// A report written by `--reporter json=FILE`.
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) reporters: Reporters,
    /// Say more: notes, every number.
    #[arg(long, short)]
    pub(crate) verbose: bool,
}

/// Arguments of `plan-runs`.
#[derive(Debug, Group)]
#[command(group = ArgGroup::new("goal").required(true).args(["half_width", "floor"]))]
pub(crate) struct PlanRuns {
    /// The observed pass rate shall be within this much of the true one, as 0.05.
    #[arg(long, value_name = "WIDTH", allow_negative_numbers = true)]
    pub(crate) half_width: Option<Decimal>,
    /// The runs shall certify a pass rate of at least this, as 0.9.
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    pub(crate) floor: Option<Decimal>,
    /// How many of the runs may fail.
    #[arg(long, value_name = "N", conflicts_with = "half_width")]
    pub(crate) failures: Option<u64>,
    /// How sure to be, in percent: 90, 95 or 99.
    #[arg(long, value_name = "PERCENT", default_value_t = 95)]
    pub(crate) confidence: u32,
}

/// Arguments of `tools`.
#[derive(Debug, Group)]
pub(crate) struct Tools {
    /// The server's name under `servers:` of the suite; may be left out when there is only one.
    #[arg(value_name = "NAME", conflicts_with_all = ["command", "url", "words"])]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) server: Server,
    /// Print the tools as the server sent them; `mcptest mock --tools-from` can serve the file.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `call`.
#[derive(Debug, Group)]
pub(crate) struct Call {
    /// The tool to call.
    #[arg(value_name = "TOOL")]
    pub(crate) tool: String,
    /// Arguments: `key=value`, typed by the tool's schema, or `key:=JSON`.
    #[arg(value_name = "KEY=VALUE")]
    pub(crate) arguments: Vec<String>,
    /// All arguments as one JSON object: its text, `@FILE`, or `@-` for standard input.
    #[arg(long, value_name = "JSON|@FILE")]
    pub(crate) args: Option<String>,
    /// The server's name under `servers:` of the suite; may be left out when there is only one.
    #[arg(long = "server", short, value_name = "NAME", conflicts_with_all = ["command", "url", "words"])]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) server: Server,
    /// Print the result as the server sent it.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `init`.
#[derive(Debug, Group)]
#[command(
    group = ArgGroup::new("subject").required(true).args(["command", "url", "words", "from_cassette"]),
    override_usage = "mcptest init [OPTIONS] -- COMMAND…\n       mcptest init [OPTIONS] --url URL\n       mcptest init [OPTIONS] --from-cassette FILE"
)]
pub(crate) struct Init {
    #[command(flatten)]
    pub(crate) server: Direct,
    /// Draft it from this recording instead: a cassette, a trace, a recorded tool test, or a recording of the proxy.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["command", "url", "words", "header", "env", "era", "timeout", "call"])]
    pub(crate) from_cassette: Option<PathBuf>,
    /// The server's name in the suite [default: what it calls itself].
    #[arg(long = "server", short = 's', value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Call this tool too, although it does not say that it changes nothing; may be repeated.
    #[arg(long, value_name = "TOOL")]
    pub(crate) call: Vec<String>,
    /// Where the suite is written, with the folders that are missing.
    #[arg(long, short, value_name = "FILE", default_value = "mcptest.yml")]
    pub(crate) out: PathBuf,
    /// Write over what is there.
    #[arg(long)]
    pub(crate) force: bool,
}

/// Which server, and how to reach it.
#[derive(Debug, Group)]
pub(crate) struct Server {
    /// The suite that has the server [default: mcptest.yaml or mcptest.yml].
    #[arg(long, value_name = "FILE", conflicts_with_all = ["command", "url", "words"])]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) direct: Direct,
}

/// A server that is named on the command line.
#[derive(Debug, Group)]
pub(crate) struct Direct {
    /// Start this program, as one text: `--command "npx my-server --fast"`.
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["url", "words"])]
    pub(crate) command: Option<String>,
    /// Connect to this streamable HTTP endpoint.
    #[arg(long, value_name = "URL", conflicts_with = "words")]
    pub(crate) url: Option<String>,
    /// A header for every HTTP request; may be repeated.
    #[arg(long, value_name = "NAME: VALUE")]
    pub(crate) header: Vec<String>,
    /// An environment variable for the server's process; may be repeated.
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) env: Vec<String>,
    /// The protocol era [default: found out].
    #[arg(long, value_enum, value_name = "ERA")]
    pub(crate) era: Option<EraOption>,
    /// How long a request may take, as 500ms, 30s or 2m.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) timeout: Option<std::time::Duration>,
    /// Start this program; everything after `--` is its command.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) words: Vec<String>,
}

/// A protocol era as `--era` takes it; `None` finds it out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EraOption(pub(crate) Option<Era>);

impl ValueEnum for EraOption {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self(None), Self(Some(Era::Legacy)), Self(Some(Era::Modern))]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let help = match self.0 {
            None => "Find out",
            Some(Era::Legacy) => "With `initialize` and sessions",
            Some(Era::Modern) => "Stateless",
        };
        Some(PossibleValue::new(self.0.map_or("auto", Era::as_str)).help(help))
    }
}

/// A length of time, longer than none.
pub(crate) fn duration(written: &str) -> Result<std::time::Duration, String> {
    match mcptest_core::suite::duration_ms(written) {
        Some(0) => Err("it must be longer than 0".to_owned()),
        Some(milliseconds) => Ok(std::time::Duration::from_millis(milliseconds)),
        None => Err("a length of time has a unit, as `500ms`, `30s` or `2m`".to_owned()),
    }
}

/// Dollars, more than none.
fn dollars(written: &str) -> Result<f64, String> {
    match written.trim_start_matches('$').parse::<f64>() {
        Ok(dollars) if dollars.is_finite() && dollars > 0.0 => Ok(dollars),
        _ => Err("it must be a number of dollars above 0, as `0.50`".to_owned()),
    }
}
