//! What can be written on the command line.

mod value;

use crate::command::AUTO;
use crate::deferred::Deferred;
use clap::{ArgGroup, Args as Group, Parser, Subcommand, ValueEnum};
use mcptest_core::era::Era;
use mcptest_core::eval::stats::Decimal;
use mcptest_core::report::Embed;
use mcptest_report::leaderboard::Column;
use mcptest_report::{REPORTERS, Reporter};
use mcptest_run::grade::WhichGrades;
use mcptest_run::{Filter, Selection, Shard, Which};
use std::path::PathBuf;
use value::column;
pub(crate) use value::{Word, dollars, duration, one_of};

/// Test whether an AI agent uses MCP servers reliably.
#[derive(Debug, Parser)]
#[command(
    name = "mcptest",
    version,
    disable_help_subcommand = true,
    arg_required_else_help = true
)]
pub(crate) struct Args {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Control when output is coloured.
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
    /// Judge the recorded runs of suites, offline; record them with `--record`.
    Run(Deferred<Run>),
    /// Ask judges for the grades that recorded runs lack, then judge the runs.
    Eval(Deferred<Eval>),
    /// Judge runs by the state of the world that they acted on.
    #[command(subcommand)]
    Scenario(Deferred<Scenario>),
    /// Check suites without judging them.
    Validate(Deferred<Validate>),
    /// Print the JSON Schema of suites, manifests, reports, calibrations or comparisons.
    Schema(Deferred<Schema>),
    /// Show a recording or a transcript as a timeline.
    Show(Deferred<Show>),
    /// Print a page of the documentation, or list all pages.
    Explain(Deferred<crate::command::explain::Explain>),
    /// Render a saved JSON report.
    Report(Deferred<Rerender>),
    /// Show a report, suites or recordings in a browser, and follow a recording.
    View(Deferred<crate::command::view::View>),
    /// Measure which gates tell good runs from bad ones, and which floors the good runs support.
    Calibrate(Deferred<Calibrate>),
    /// Capture what each model does, or compare two captured baselines.
    #[command(subcommand)]
    ModelBaseline(Deferred<crate::command::model_baseline::ModelBaseline>),
    /// Compare reports, folders or git revisions of recordings, and tell a change from chance.
    Compare(Deferred<crate::command::compare::Compare>),
    /// Measure how often judges are right about runs of known outcome, and how easily a run persuades them.
    JudgeCheck(Deferred<crate::command::judge_check::CheckJudges>),
    /// Calculate how many runs a claim about an agent needs.
    PlanRuns(Deferred<PlanRuns>),
    /// List the tools of an MCP server.
    Tools(Deferred<Tools>),
    /// Report what is wrong with the tools of an MCP server, and how many tokens each takes.
    LintTools(Deferred<crate::command::lint_tools::LintTools>),
    /// Measure which tool of a server is chosen for which request.
    ToolBench(Deferred<crate::command::tool_bench::ToolBench>),
    /// Call a tool of an MCP server and print its result.
    Call(Deferred<Call>),
    /// Check whether an MCP server follows the specification, without a suite.
    Check(Deferred<crate::command::check::Check>),
    /// Write a first suite from a server or a recording.
    Init(Deferred<Init>),
    /// Serve a mock MCP server from a manifest, a list of tools or a tape.
    Mock(Deferred<crate::command::mock::Mock>),
    /// Serve this program to coding agents as an MCP server on standard input and output.
    Mcp,
    /// Record the traffic between an MCP client and its server on a tape.
    Proxy(Deferred<crate::command::proxy::Proxy>),
    /// Replay a tape against a live server and report what changed.
    Verify(Deferred<crate::command::verify::Verify>),
    /// Convert a tape to a cassette.
    TraceFrom(Deferred<crate::command::trace_from::TraceFrom>),
    /// Convert transcripts of model APIs, agent frameworks or OpenTelemetry to a cassette.
    Import(Deferred<crate::command::import::Import>),
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
    /// Connect an agent program to a recorded server.
    #[command(hide = true)]
    Bridge(Deferred<crate::command::bridge::Bridge>),
}

/// Which suites.
#[derive(Debug, Group)]
pub(crate) struct Suites {
    /// Suite files or folders of suites [default: mcptest.yaml or mcptest.yml].
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Use this suite file, like PATH.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Vec<PathBuf>,
    /// Print more: skipped files, and the numbers that were asserted; twice, every number and every run.
    #[arg(long, short, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

/// Which tests.
#[derive(Debug, Group)]
pub(crate) struct Selecting {
    /// Select tests whose name contains TEXT or matches PATTERN; repeat to require all.
    #[arg(long, value_name = "TEXT|re:PATTERN")]
    filter: Vec<Filter>,
    /// Select tests with this tag; repeat to allow any of several.
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// Skip tests with this tag; repeatable.
    #[arg(long, value_name = "TAG")]
    skip_tag: Vec<String>,
}

impl Selecting {
    pub(crate) fn selection(&self) -> Selection {
        Selection {
            filters: self.filter.clone(),
            tags: self.tag.clone(),
            skip_tags: self.skip_tag.clone(),
            ..Selection::default()
        }
    }
}

/// Arguments of `run`.
#[derive(Debug, Group)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of its own"
)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) suites: Suites,
    /// Judge the transcripts in a folder instead of the recorded runs, one row per subfolder or single file.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["record", "live"])]
    pub(crate) traces: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) selecting: Selecting,
    /// Judge affected tests again whenever a suite or a recording changes, until Ctrl-C.
    #[arg(long, conflicts_with_all = ["record", "live", "dry_run", "traces", "list", "update", "last_failed", "coverage", "coverage_threshold", "fail_fast"])]
    pub(crate) watch: bool,
    /// Judge only tests that failed or had an error the last time, or all if there are none.
    #[arg(long, visible_alias = "lf", conflicts_with = "traces")]
    pub(crate) last_failed: bool,
    /// Judge one part of the tests, such as 1/4, to share them among machines.
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<Shard>,
    /// List the selected tests without judging them.
    #[arg(long)]
    pub(crate) list: bool,
    /// Stop at the first test that fails.
    #[arg(long)]
    pub(crate) fail_fast: bool,
    #[command(flatten)]
    pub(crate) calling: Calling,
    /// Update expected calls and baselines to match the recorded runs, or with `--live` the recordings of tool tests;
    /// show the changes and ask before writing.
    #[arg(long, short, conflicts_with_all = ["record", "traces", "list", "dry_run"])]
    pub(crate) update: bool,
    /// Write the changes of `--update` without asking.
    #[arg(long, requires = "update")]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) deny: Deny,
    /// Report which tools, parameters, values and error paths of their servers the tests exercise.
    #[arg(long, conflicts_with_all = ["list", "dry_run"])]
    pub(crate) coverage: bool,
    /// Exit with 6 when fewer than PERCENT of the tools were called; implies `--coverage`.
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(1..=100), conflicts_with_all = ["list", "dry_run"])]
    pub(crate) coverage_threshold: Option<u8>,
    #[command(flatten)]
    pub(crate) reporters: Reports,
}

/// What to do with scenarios.
#[derive(Debug, Subcommand)]
pub(crate) enum Scenario {
    /// Judge the scenarios of suites and nothing else; with `--record`, run the agents that act in them first.
    Run(Box<Run>),
}

/// What is not enough for a test to pass.
#[derive(Debug, Group)]
pub(crate) struct Deny {
    /// Fail gates that measured nothing (`not exercised`) and suites that skip every test.
    #[arg(long)]
    pub(crate) deny_vacuous: bool,
    /// Fail tests whose recording has no fingerprint (`unpinned`).
    #[arg(long)]
    pub(crate) deny_unpinned: bool,
}

/// What is run and called, rather than read from its recording.
#[derive(Debug, Group)]
pub(crate) struct Calling {
    /// Run agents and call tools, record what happens, then judge the recordings; all tests unless WHICH is given.
    #[arg(long, value_name = "WHICH", value_parser = one_of(&RECORD), num_args = 0..=1, require_equals = true, default_missing_value = "all")]
    pub(crate) record: Option<Which>,
    /// Run agents and call tools without writing recordings.
    #[arg(long, conflicts_with = "record")]
    pub(crate) live: bool,
    /// Number of runs to record at once [default: 4 or the number of cores, whichever is more], or of tests to judge at
    /// once [default: the number of cores].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,
    /// Override `runs:` of every agent.
    #[arg(long, visible_alias = "repeat", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) runs: Option<u32>,
    /// Override the models of every agent that has one: MODEL or PROVIDER/MODEL, separated by commas.
    #[arg(long, value_name = "MODEL", value_delimiter = ',')]
    pub(crate) models: Vec<String>,
    /// Stop recording with exit code 5 once this many dollars are spent.
    #[arg(long, value_name = "USD", value_parser = dollars)]
    pub(crate) max_cost: Option<f64>,
    /// Override `connect_timeout:` of every server, the time limit for its first answer.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) connect_timeout: Option<std::time::Duration>,
    /// Estimate the calls, tokens and cost of recording without recording.
    #[arg(long, conflicts_with_all = ["live", "list", "reporters"])]
    pub(crate) dry_run: bool,
    /// Do not show progress while recording.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// What to record.
pub(crate) const RECORD: [Word<Which>; 4] = [
    ("all", Which::All, "Every selected test"),
    (
        "missing",
        Which::Missing,
        "Tests without a readable recording",
    ),
    (
        "stale",
        Which::Stale,
        "Tests that changed since they were recorded",
    ),
    (
        "failed",
        Which::Failed,
        "Tests whose recording does not pass",
    ),
];

/// Arguments of `eval`.
#[derive(Debug, Group)]
pub(crate) struct Eval {
    #[command(flatten)]
    pub(crate) suites: Suites,
    /// Grade the transcripts in a folder instead of the recorded runs, one row per subfolder or single file.
    #[arg(long, value_name = "DIR")]
    pub(crate) traces: Option<PathBuf>,
    /// Print criteria, thresholds, judges, the number of calls and their estimated cost without asking a judge.
    #[arg(long, conflicts_with = "reporters")]
    pub(crate) explain: bool,
    /// Grade only these [default: what is missing or stale].
    #[arg(long, value_name = "WHICH", value_parser = one_of(&GRADES), require_equals = true)]
    pub(crate) record: Option<WhichGrades>,
    #[command(flatten)]
    pub(crate) selecting: Selecting,
    /// Stop grading with exit code 5 once this many dollars are spent.
    #[arg(long, value_name = "USD", value_parser = dollars)]
    pub(crate) max_cost: Option<f64>,
    /// Number of grades to ask for at once [default: 4 or the number of cores, whichever is more].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,
    /// Do not show progress while grading.
    #[arg(long, short)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) deny: Deny,
    #[command(flatten)]
    pub(crate) reporters: Reports,
}

/// What to grade.
const GRADES: [Word<WhichGrades>; 3] = [
    (
        "missing",
        WhichGrades {
            stale: false,
            ..WhichGrades::NEEDED
        },
        "Runs that nobody graded",
    ),
    (
        "stale",
        WhichGrades {
            missing: false,
            ..WhichGrades::NEEDED
        },
        "Runs whose rubric, judges or recording changed since they were graded",
    ),
    ("all", WhichGrades::ALL, "Every run"),
];

/// Which reports, what they hold and how they show it.
#[derive(Debug, Group)]
pub(crate) struct Reports {
    #[arg(long = "reporter", value_name = "KIND[=FILE]", help = reporters_help(REPORTERS))]
    pub(crate) reporters: Vec<String>,
    /// Put the traces of these tests into the reports that can hold them [default: each reporter has its own].
    #[arg(long, value_name = "WHICH", value_parser = one_of(&TRACES))]
    pub(crate) embed: Option<Embed>,
    #[command(flatten)]
    pub(crate) sorting: Sorting,
}

/// Whose traces.
const TRACES: [Word<Embed>; 3] = [
    ("none", Embed::None, "No tests"),
    ("failed", Embed::Failed, "Tests that did not pass"),
    ("all", Embed::All, "Every test"),
];

/// In which order models or sides are shown.
#[derive(Debug, Clone, Copy, Group)]
pub(crate) struct Sorting {
    /// Sort the leaderboard of `pretty` and `md` by this column, the best first [default: the order of the tests].
    #[arg(long, value_name = "COLUMN", value_parser = column())]
    pub(crate) sort: Option<&'static Column>,
}

/// Arguments of `validate`.
#[derive(Debug, Group)]
pub(crate) struct Validate {
    #[command(flatten)]
    pub(crate) suites: Suites,
    /// Check the suites for `run --traces DIR`, and that DIR has transcripts.
    #[arg(long, value_name = "DIR")]
    pub(crate) traces: Option<PathBuf>,
    /// Treat warnings as errors.
    #[arg(long)]
    pub(crate) deny_warnings: bool,
}

/// Arguments of `schema`.
#[derive(Debug, Group)]
#[expect(clippy::struct_excessive_bools, reason = "each names another schema")]
pub(crate) struct Schema {
    /// Print the schema of the JSON report.
    #[arg(long)]
    pub(crate) report: bool,
    /// Print the schema of mock server manifests.
    #[arg(long, conflicts_with = "report")]
    pub(crate) manifest: bool,
    /// Print the schema of what `calibrate --json` prints.
    #[arg(long, conflicts_with_all = ["report", "manifest"])]
    pub(crate) calibration: bool,
    /// Print the schema of what `model-baseline diff --reporter json` prints.
    #[arg(long, conflicts_with_all = ["report", "manifest", "calibration"])]
    pub(crate) baseline_diff: bool,
    /// Print the schema of what `compare --reporter json` prints.
    #[arg(long, conflicts_with_all = ["report", "manifest", "calibration", "baseline_diff"])]
    pub(crate) compare: bool,
}

/// Arguments of `show`.
#[derive(Debug, Group)]
#[command(
    override_usage = "mcptest show [--run N] [--full] FILE\n       mcptest show --check-secrets [--config SUITE] PATH..."
)]
pub(crate) struct Show {
    /// A cassette, trace, recorded tool test, tape or transcript.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Show only this run, or this session of a tape.
    #[arg(long, value_name = "N")]
    pub(crate) run: Option<usize>,
    /// Do not shorten long texts.
    #[arg(long)]
    pub(crate) full: bool,
    /// Search files and folders of recordings for secrets; exit with 1 if there are any.
    #[arg(long, conflicts_with_all = ["run", "full"])]
    pub(crate) check_secrets: bool,
    /// Also search for the values of variables that this suite uses and for its `redact:` patterns.
    #[arg(long, value_name = "SUITE", requires = "check_secrets")]
    pub(crate) config: Option<PathBuf>,
}

/// Arguments of `report`.
#[derive(Debug, Group)]
pub(crate) struct Rerender {
    /// The report, as written by `--reporter json=FILE`.
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) reporters: Reports,
    /// Print more: the numbers that were asserted; twice, every number and every run.
    #[arg(long, short, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

/// Arguments of `calibrate`.
#[derive(Debug, Group)]
pub(crate) struct Calibrate {
    #[command(flatten)]
    pub(crate) suites: Suites,
    /// Measure the transcripts in a folder instead of the recorded runs, one row per subfolder or single file; without a
    /// suite, by the gates that need no configuration.
    #[arg(long, value_name = "DIR")]
    pub(crate) traces: Option<PathBuf>,
    /// Read which runs are good from FILE (JSON, JSON Lines or CSV) instead of from their `expect:`.
    #[arg(long, value_name = "FILE")]
    pub(crate) labels: Option<PathBuf>,
    /// Measure only tests whose name contains TEXT or matches PATTERN; repeat to require all.
    #[arg(long, value_name = "TEXT|re:PATTERN")]
    pub(crate) filter: Vec<Filter>,
    /// Print the measures as JSON (`mcptest schema --calibration`).
    #[arg(long)]
    pub(crate) json: bool,
    /// Print only the floors, as YAML for a suite.
    #[arg(long, conflicts_with = "json")]
    pub(crate) yaml: bool,
}

/// Arguments of `plan-runs`.
#[derive(Debug, Group)]
#[command(group = ArgGroup::new("goal").required(true).args(["half_width", "floor"]))]
pub(crate) struct PlanRuns {
    /// Estimate the pass rate to within WIDTH of the true one, such as 0.05.
    #[arg(long, value_name = "WIDTH", allow_negative_numbers = true)]
    pub(crate) half_width: Option<Decimal>,
    /// Certify a pass rate of at least RATE, such as 0.9.
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    pub(crate) floor: Option<Decimal>,
    /// Allow N runs to fail [default: 0].
    #[arg(long, value_name = "N", conflicts_with = "half_width")]
    pub(crate) failures: Option<u64>,
    /// Confidence in percent: 90, 95 or 99.
    #[arg(long, value_name = "PERCENT", default_value_t = 95)]
    pub(crate) confidence: u32,
}

/// Arguments of `tools`.
#[derive(Debug, Group)]
pub(crate) struct Tools {
    /// The server's name under `servers:` of the suite; optional if there is only one.
    #[arg(value_name = "NAME", conflicts_with_all = ["command", "url", "words"])]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) server: Server,
    /// Print the tools as JSON, as the server sent them (readable by `mcptest mock --tools-from`).
    #[arg(long)]
    pub(crate) json: bool,
    #[arg(long = "for", value_name = "PROVIDER", conflicts_with = "json", help = families_help())]
    pub(crate) provider: Option<String>,
}

/// Arguments of `call`.
#[derive(Debug, Group)]
pub(crate) struct Call {
    /// The tool to call.
    #[arg(value_name = "TOOL")]
    pub(crate) tool: String,
    /// Arguments of the tool: `key=value`, typed by its schema, or `key:=JSON`.
    #[arg(value_name = "KEY=VALUE")]
    pub(crate) arguments: Vec<String>,
    /// All arguments as one JSON object: inline, `@FILE`, or `@-` for standard input.
    #[arg(long, value_name = "JSON|@FILE")]
    pub(crate) args: Option<String>,
    /// The server's name under `servers:` of the suite; optional if there is only one.
    #[arg(long = "server", short = 's', short_alias = 'n', value_name = "NAME", conflicts_with_all = ["command", "url", "words"])]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) server: Server,
    /// Print the result as JSON, as the server sent it.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `init`.
#[derive(Debug, Group)]
#[command(
    group = ArgGroup::new("subject").required(true).args(["command", "url", "words", "from_cassette"]),
    override_usage = "mcptest init [OPTIONS] -- COMMAND...\n       mcptest init [OPTIONS] --url URL\n       mcptest init [OPTIONS] --from-cassette FILE"
)]
pub(crate) struct Init {
    #[command(flatten)]
    pub(crate) server: Direct,
    /// Use a recording instead of a server: a cassette, trace, recorded tool test or tape.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["command", "url", "words", "header", "env", "era", "timeout", "connect_timeout", "call"])]
    pub(crate) from_cassette: Option<PathBuf>,
    /// The server's name in the suite [default: the name that the server reports].
    #[arg(long = "server", short = 's', value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Call this tool even if it is not marked read-only, as in `--call 'git_status repo_path=.'`; repeatable.
    #[arg(long, value_name = "TOOL [KEY=VALUE]...")]
    pub(crate) call: Vec<String>,
    /// The file to write; missing folders are created.
    #[arg(long, short, value_name = "FILE", default_value = "mcptest.yml")]
    pub(crate) out: PathBuf,
    /// Overwrite existing files.
    #[arg(long)]
    pub(crate) force: bool,
}

/// Which server, and how to reach it.
#[derive(Debug, Group)]
pub(crate) struct Server {
    /// The suite that declares the server [default: mcptest.yaml or mcptest.yml].
    #[arg(long, value_name = "FILE", conflicts_with_all = ["command", "url", "words"])]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) direct: Direct,
}

/// A server that is named on the command line.
#[derive(Debug, Group)]
pub(crate) struct Direct {
    /// Start the server with this command line: `--command "npx my-server --fast"`.
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["url", "words"])]
    pub(crate) command: Option<String>,
    /// Connect to a server on streamable HTTP.
    #[arg(long, value_name = "URL", conflicts_with = "words")]
    pub(crate) url: Option<String>,
    /// Send this header with every HTTP request; repeatable.
    #[arg(long, value_name = "NAME: VALUE")]
    pub(crate) header: Vec<String>,
    /// Set an environment variable of the server; repeatable.
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) env: Vec<String>,
    /// The era of the MCP protocol [default: auto].
    #[arg(long, value_name = "ERA", value_parser = one_of(&ERAS))]
    pub(crate) era: Option<EraOption>,
    /// Time limit, such as 500ms, 30s or 2m: for `tools` and `call` as a whole, else for each request and the first
    /// answer.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) timeout: Option<std::time::Duration>,
    /// Time limit for the server's first answer; `--timeout` is then for each request [default: --timeout, or 60s].
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) connect_timeout: Option<std::time::Duration>,
    /// Start the server with the command after `--`.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) words: Vec<String>,
}

/// A protocol era as `--era` takes it; `None` finds it out.
type EraOption = Option<Era>;

const ERAS: [Word<EraOption>; 3] = [
    ("auto", None, "Detect the era"),
    (
        Era::Legacy.as_str(),
        Some(Era::Legacy),
        "Handshake with `initialize`, and sessions",
    ),
    (
        Era::Modern.as_str(),
        Some(Era::Modern),
        "Stateless requests",
    ),
];

fn families_help() -> String {
    let names: Vec<&str> = mcptest_core::provider::FAMILIES
        .iter()
        .map(|family| family.name)
        .collect();
    format!(
        "Report what PROVIDER refuses in the tools' schemas, and what is sent instead [providers: {}]",
        names.join(", ")
    )
}

pub(crate) fn reporters_help<R>(known: &[Reporter<R>]) -> String {
    let kinds: Vec<&str> = known
        .iter()
        .map(|reporter| reporter.key)
        .chain([AUTO])
        .collect();
    format!(
        "Write a report to FILE or standard output; repeatable [kinds: {}]",
        kinds.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::Args;
    use clap::{CommandFactory, Parser};
    use std::path::Path;

    /// The test that tries every command reads the others from the help.
    #[test]
    fn one_command_is_hidden() {
        let command = Args::command();
        let hidden = command
            .get_subcommands()
            .filter(|one| one.is_hide_set())
            .map(clap::Command::get_name);
        assert_eq!(hidden.collect::<Vec<_>>(), ["bridge"]);
    }

    /// The words of a command, as a POSIX shell takes them.
    fn words(command: &str) -> Vec<String> {
        let mut words = vec![String::new()];
        let mut is_quoted = false;
        let mut letters = command.chars();
        while let Some(letter) = letters.next() {
            match letter {
                '\'' => is_quoted = !is_quoted,
                ' ' if !is_quoted => words.push(String::new()),
                '\\' if !is_quoted => words.last_mut().unwrap().extend(letters.next()),
                letter => words.last_mut().unwrap().push(letter),
            }
        }
        words
    }

    /// What the cases print after `$`, and between backticks where it is no part of a sentence.
    fn printed(case: &str) -> Vec<&str> {
        let after_dollar = case
            .lines()
            .filter_map(|line| line.trim_start_matches('!').strip_prefix("  $ "));
        let advised = case
            .lines()
            .filter(|line| line.contains("help: "))
            .flat_map(|line| line.split('`'));
        after_dollar
            .chain(advised.filter(|part| part.starts_with("mcptest run ")))
            .collect()
    }

    #[test]
    fn every_command_that_a_report_advises_is_accepted() {
        let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases");
        let mut commands = 0;
        for group in std::fs::read_dir(&cases).unwrap() {
            for case in std::fs::read_dir(group.unwrap().path()).unwrap() {
                let Ok(text) = std::fs::read_to_string(case.unwrap().path().join("case.txt"))
                else {
                    continue;
                };
                for command in printed(&text) {
                    commands += 1;
                    let parsed = Args::try_parse_from(words(command));
                    assert!(parsed.is_ok(), "{command}\n{}", parsed.err().unwrap());
                }
            }
        }
        assert!(commands > 100, "{commands}");
    }
}
