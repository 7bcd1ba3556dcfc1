//! `mcptest run`: judge the recorded runs, after recording if requested.

use super::dry_run;
use super::update::{self, Answer};
use super::watch;
use crate::{Mode, Options, RunOutcome, Which};
use clap::Args;
use mcptest_command::reports::Reports;
use mcptest_command::suites::{LoadedSuites, Suites, TraceFiles, TracesFolder};
use mcptest_command::value::{Word, one_of, parse_dollars, parse_duration};
use mcptest_command::{
    Deny, Destination, EXIT_BROKEN, EXIT_NOTHING_SELECTED, EXIT_OVER_BUDGET, Failure, Group,
    Program, Progress, RunCommand, Selecting, interrupt, output, suites, typed,
};
use mcptest_core::escape::{escape, escape_path};
use mcptest_core::eval::Gates;
use mcptest_core::report::{Embed, Report, TestReport};
use mcptest_core::row::{ReasonKind, Row};
use mcptest_core::suite::{Loaded, Model, OverrideError, Suite};
use mcptest_core::words::count;
use mcptest_replay::{CoverageFloor, Interrupted, LastRun, Plan, Selection, Shard};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The number of tests from the last failure to name.
const NAMED: usize = 10;

/// Selects the rows of the plan that a command handles.
pub(super) type IsWanted = fn(&Row<'_>, Mode) -> bool;

/// Arguments of `run`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate option")]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) suites: Suites,
    /// Judge the transcripts in a folder instead of the recorded runs, one row per subfolder or single file.
    #[arg(long, value_name = "DIR", help_heading = "Select tests", conflicts_with_all = ["record", "live"])]
    pub(crate) traces: Option<PathBuf>,
    /// With `--traces`, judge the runs of all files that have the same KEY in their trace, such as `labels.task_id`, as
    /// one row.
    #[arg(
        long,
        value_name = "KEY",
        help_heading = "Select tests",
        requires = "traces"
    )]
    pub(crate) group_by: Option<String>,
    #[command(flatten)]
    pub(crate) trace_files: TraceFiles,
    /// Refuse transcripts of which something would be dropped.
    #[arg(long, help_heading = "Select tests", requires = "traces")]
    pub(crate) strict: bool,
    #[command(flatten)]
    pub(crate) selecting: Selecting,
    /// Judge affected tests again whenever a suite or a recording changes, until Ctrl-C.
    #[arg(long, help_heading = "Select tests", conflicts_with_all = ["record", "live", "dry_run", "traces", "list", "update", "last_failed", "coverage", "coverage_threshold", "fail_fast"])]
    pub(crate) watch: bool,
    /// Judge only tests that failed or had an error the last time, or all if none did.
    #[arg(
        long,
        visible_alias = "lf",
        help_heading = "Select tests",
        conflicts_with = "traces"
    )]
    pub(crate) last_failed: bool,
    /// Judge one part of the tests, such as 1/4, to share them among machines.
    #[arg(long, value_name = "I/N", help_heading = "Select tests")]
    pub(crate) shard: Option<Shard>,
    /// List the selected tests without judging them.
    #[arg(long, help_heading = "Select tests")]
    pub(crate) list: bool,
    /// Stop at the first test that fails.
    #[arg(long, help_heading = "Verdict")]
    pub(crate) fail_fast: bool,
    #[command(flatten)]
    pub(crate) calling: Calling,
    /// Update expected calls and baselines to match the recorded runs, or with `--live` the recordings of tool tests;
    /// show the changes and ask before writing.
    #[arg(long, short, help_heading = "Change the suite", conflicts_with_all = ["record", "traces", "list", "dry_run"])]
    pub(crate) update: bool,
    /// Write the changes of `--update` without asking.
    #[arg(long, help_heading = "Change the suite", requires = "update")]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) deny: Deny,
    /// Report which tools, parameters, values and error paths of their servers the tests exercise.
    #[arg(long, help_heading = "Verdict", conflicts_with_all = ["list", "dry_run"])]
    pub(crate) coverage: bool,
    /// Exit with 6 when fewer than PERCENT of the tools were called; implies `--coverage`.
    #[arg(long, value_name = "PERCENT", help_heading = "Verdict", value_parser = clap::value_parser!(u8).range(1..=100), conflicts_with_all = ["list", "dry_run"])]
    pub(crate) coverage_threshold: Option<u8>,
    #[command(flatten)]
    pub(crate) reporters: Reports,
}

/// The options for calling servers and models instead of reading recordings.
#[derive(Debug, Args)]
pub(crate) struct Calling {
    /// Run agents and call tools, record what happens, then judge the recordings; all tests unless WHICH is given.
    #[arg(help_heading = "Record", long, value_name = "WHICH", value_parser = one_of(&RECORD), num_args = 0..=1, require_equals = true, default_missing_value = "all")]
    pub(crate) record: Option<Which>,
    /// Run agents and call tools without writing recordings.
    #[arg(help_heading = "Record", long, conflicts_with = "record")]
    pub(crate) live: bool,
    /// Number of runs to record at once [default: 4 or the number of cores, whichever is more], or of tests to judge at
    /// once [default: the number of cores].
    #[arg(help_heading = "Record", long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,
    /// Override `runs:` of every agent.
    #[arg(help_heading = "Record", long, visible_alias = "repeat", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) runs: Option<u32>,
    /// Override the models of every agent that has one: MODEL or PROVIDER/MODEL, separated by commas.
    #[arg(
        help_heading = "Record",
        long,
        value_name = "MODEL",
        value_delimiter = ','
    )]
    pub(crate) models: Vec<String>,
    /// Stop recording with exit code 5 once this many dollars are spent.
    #[arg(help_heading = "Record", long, value_name = "USD", value_parser = parse_dollars)]
    pub(crate) max_cost: Option<f64>,
    /// Override `connect_timeout:` of every server, the time limit for its first answer.
    #[arg(help_heading = "Record", long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) connect_timeout: Option<Duration>,
    /// Estimate the calls, tokens and cost of recording without recording.
    #[arg(help_heading = "Record", long, conflicts_with_all = ["live", "list", "reporters"])]
    pub(crate) dry_run: bool,
    /// Do not show progress while recording.
    #[arg(help_heading = "Record", long, short)]
    pub(crate) quiet: bool,
}

/// The values of `--record`.
const RECORD: [Word<Which>; 4] = [
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

impl RunCommand for Run {
    const NAME: &'static str = "run";
    const GROUP: Group = Group::Test;
    const SUMMARY: &'static str =
        "Judge the recorded runs of suites, offline; record them with `--record`";
    const EXAMPLE: &'static str = "mcptest run examples/ --filter weather";

    fn run(self, program: &Program) -> Result<u8, Failure> {
        run(Invocation {
            args: &self,
            gates: program.gates,
            is_wanted: |_, _| true,
        })
    }
}

/// The command line, and the command whose it is.
#[derive(Clone, Copy)]
pub(super) struct Invocation<'a> {
    pub(super) args: &'a Run,
    pub(super) gates: Gates,
    pub(super) is_wanted: IsWanted,
}

pub(super) fn run(invocation: Invocation<'_>) -> Result<u8, Failure> {
    let Invocation { args, gates, .. } = invocation;
    let destinations = Destination::from_arguments(&args.reporters, gates)?;
    if args.watch {
        return watch::run(invocation, &destinations);
    }
    refuse_loose_mode(args)?;
    let begun = Instant::now();
    refuse_idle_options(&args.calling)?;
    update::refuse(args)?;
    let suites = invocation.load().map_err(|failure| {
        if args.list {
            return failure;
        }
        Destination::discard_for(&destinations, args.suites.named(), failure)
    })?;
    let plan = invocation.plan(&suites);
    if let Some(shard) = args.shard.filter(|_| plan.rows.is_empty()) {
        let tests = invocation.selected(&suites).rows.len();
        if !args.list && !args.calling.dry_run {
            Destination::refuse_inputs(&destinations, suites::inputs(&suites.loaded))?;
            Destination::discard_earlier(&destinations)?;
        }
        return empty_shard(shard, tests);
    }
    let inputs = suites::inputs(&suites.loaded).chain(plan.files());
    Destination::refuse_inputs(&destinations, inputs)?;
    if plan.rows.is_empty() {
        refuse_to_record_one_run(args)?;
        output::stderr(nothing_to_judge(&suites.loaded));
    }
    if args.list {
        return list(&plan);
    }
    let options = options(args, Destination::evidence(&destinations));
    if args.calling.dry_run {
        return dry_run::run(&plan, &options);
    }
    Destination::discard_earlier(&destinations)?;
    let outcome = watched(&plan, options, args.calling.quiet)?;
    let judged = if args.update {
        invocation.update(&suites, &plan, outcome, options)?
    } else {
        Judged {
            report: outcome.report,
            over_budget: outcome.over_budget,
            answer: Answer::Nothing,
        }
    };
    if args.traces.is_none() && options.mode != Mode::Live {
        LastRun::keep(&plan, &judged.report);
    }
    let elapsed = Some(begun.elapsed());
    Destination::write_all(&destinations, &judged.report, args.suites.verbose, elapsed)?;
    let code = exit_code(args, &judged);
    // The program ends here, and the system takes all memory back at once: to free it piece by piece is lost time.
    std::mem::forget((judged, plan));
    std::mem::forget(suites);
    Ok(code)
}

/// The written report, and other facts for the exit code.
struct Judged {
    report: Report,
    over_budget: Option<String>,
    answer: Answer,
}

impl Invocation<'_> {
    /// Loads the suites, with the overrides of the command line.
    pub(super) fn load(self) -> Result<LoadedSuites, Failure> {
        let args = self.args;
        let (folder, group_by) = (args.traces.as_deref(), args.group_by.as_deref());
        let traces = TracesFolder::named(folder, group_by, &args.trace_files)?;
        let mut suites = LoadedSuites::load(&args.suites, traces, self.gates)?;
        if args.strict {
            suites.refuse_drops();
        }
        put_in_place(&mut suites.loaded, &args.calling)?;
        Ok(suites)
    }

    /// The rows that the command line selects.
    pub(super) fn plan(self, suites: &LoadedSuites) -> Plan<'_> {
        let mut plan = self.selected(suites);
        if let Some(shard) = self.args.shard {
            plan.rows
                .retain(|row| shard.has(&mcptest_replay::id_of(row)));
        }
        plan
    }

    /// The rows that all shards share.
    fn selected(self, suites: &LoadedSuites) -> Plan<'_> {
        let Self {
            args, is_wanted, ..
        } = self;
        let selects_runs = mode(&args.calling) == Mode::Replay && !args.update;
        let mut plan = suites.plan(&Selection {
            selects_runs,
            ..args.selecting.selection()
        });
        let calls_tools_alone = args.update && args.calling.live;
        plan.rows.retain(|row| {
            is_wanted(row, mode(&args.calling)) && (!calls_tools_alone || row.agent_row().is_none())
        });
        // The command that a report gives to judge a row again repeats what overrides the suite.
        plan.rows
            .iter_mut()
            .for_each(|row| row.rerun.overrides.extend(overrides(args)));
        if args.last_failed {
            keep_last_failed(&mut plan);
        }
        plan
    }

    /// Offers the changes of `--update`, and judges the written suites again.
    fn update(
        self,
        suites: &LoadedSuites,
        plan: &Plan<'_>,
        outcome: RunOutcome,
        options: Options,
    ) -> Result<Judged, Failure> {
        let changes = match options.mode {
            Mode::Live => crate::recorded_changes(outcome.called),
            _ => crate::changes(&suites.loaded, plan, &outcome.report),
        };
        let answer = update::offer(&changes, self.args.yes)?;
        let report = if answer == Answer::Written {
            let replay = Options {
                mode: Mode::Replay,
                ..options
            };
            self.judge_again(replay)?
        } else {
            outcome.report
        };
        Ok(Judged {
            report,
            over_budget: outcome.over_budget,
            answer,
        })
    }

    /// Judges the recordings after changes were accepted.
    fn judge_again(self, options: Options) -> Result<Report, Failure> {
        let suites = self.load()?;
        let plan = self.plan(&suites);
        Ok(watched(&plan, options, true)?.report)
    }
}

/// Returns true if every test is skipped, and one of them because its files are not traces.
fn has_no_trace(report: &Report) -> bool {
    let is_other = |test: &TestReport| {
        let kind = test.reason.as_ref().map(|reason| reason.kind);
        kind == Some(ReasonKind::NotATrace)
    };
    report.summary.skipped == report.summary.tests && report.tests.iter().any(is_other)
}

/// The exit code, which may differ from the report's own, with the reason.
fn exit_code(args: &Run, judged: &Judged) -> u8 {
    let report = &judged.report;
    if let Some(why) = &judged.over_budget {
        output::stderr(&format!("recording was stopped: {why}\n"));
        return EXIT_OVER_BUDGET;
    }
    if args.deny.deny_vacuous
        && report.summary.skipped == report.summary.tests
        && !report.tests.is_empty()
    {
        output::stderr("every test is skipped, which `--deny-vacuous` forbids\n");
        return EXIT_NOTHING_SELECTED;
    }
    if let Some(folder) = &args.traces
        && has_no_trace(report)
    {
        let folder = escape_path(folder);
        output::stderr(&format!(
            "error: nothing was judged: no file in {folder} is a trace\n"
        ));
        return EXIT_BROKEN;
    }
    report
        .exit_code()
        .max(u8::from(judged.answer == Answer::Declined))
}

/// Ends a shard that has no test. More shards than tests are a mistake.
fn empty_shard(shard: Shard, tests: usize) -> Result<u8, Failure> {
    if tests == 0 || shard.parts() <= tests as u64 {
        output::stderr(&format!("note: no test is in shard {shard}\n"));
        return Ok(0);
    }
    let why = format!(
        "nothing was selected: no test is in shard {shard}; only {} are selected",
        count(tests, "test")
    );
    let help = format!(
        "use at most {}, as in `--shard 1/{tests}`",
        count(tests, "shard")
    );
    Err(Failure::ended(
        EXIT_NOTHING_SELECTED,
        format!("{why}\n  help: {help}"),
    ))
}

/// Keeps the rows that failed the last time, and names them; keeps all if none is known to have
/// failed.
fn keep_last_failed(plan: &mut Plan<'_>) {
    let last = LastRun::read();
    let had_failed = |row: &Row<'_>| last.as_ref().is_some_and(|last| last.had_failed(row));
    let failed: Vec<String> = plan
        .rows
        .iter()
        .filter(|row| had_failed(row))
        .map(|row| escape(&row.name).into_owned())
        .collect();
    let all = plan.rows.len();
    if failed.is_empty() {
        output::stderr(&format!(
            "note: no recent failure of these tests is known; all {all} are judged\n"
        ));
        return;
    }
    plan.rows.retain(had_failed);
    let more = failed.len().saturating_sub(NAMED);
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    let named = failed[..failed.len().min(NAMED)].join(", ");
    output::stderr(&format!(
        "note: {} of {all} tests failed the last time: {named}{more}\n",
        failed.len()
    ));
}

pub(super) fn options(args: &Run, evidence: Option<Embed>) -> Options {
    Options {
        mode: mode(&args.calling),
        jobs: args.calling.jobs.map(usize::from),
        max_cost_usd: args.calling.max_cost,
        fail_fast: args.fail_fast,
        deny_vacuous: args.deny.deny_vacuous,
        deny_unpinned: args.deny.deny_unpinned,
        coverage: (args.coverage || args.coverage_threshold.is_some())
            .then(|| CoverageFloor(args.coverage_threshold.map(usize::from))),
        evidence,
    }
}

/// The options that override the suites.
fn overrides(args: &Run) -> Vec<(&'static str, String)> {
    let (calling, files) = (&args.calling, &args.trace_files);
    let include = files.include.iter().map(|glob| ("--include", glob.clone()));
    let exclude = files.exclude.iter().map(|glob| ("--exclude", glob.clone()));
    let runs = calling.runs.map(|runs| ("--runs", runs.to_string()));
    let models = (!calling.models.is_empty()).then(|| ("--models", calling.models.join(",")));
    let of_files = include.chain(exclude);
    of_files.chain(runs).chain(models).collect()
}

fn mode(calling: &Calling) -> Mode {
    match calling.record {
        _ if calling.live => Mode::Live,
        None if calling.dry_run => Mode::Record(Which::All),
        None => Mode::Replay,
        Some(which) => Mode::Record(which),
    }
}

/// Judges the plan, and shows the progress of recording.
pub(super) fn watched(
    plan: &Plan<'_>,
    options: Options,
    is_quiet: bool,
) -> Result<RunOutcome, Failure> {
    let ended = if options.mode == Mode::Replay {
        let unwatched = mcptest_replay::unwatched();
        crate::run(plan, options, &unwatched, mcptest_replay::uninterrupted())
    } else {
        with_progress(plan, options, is_quiet)
    };
    let mut outcome = ended.map_err(Failure::interrupted)?;
    outcome.report.command = Some(typed());
    Ok(outcome)
}

fn with_progress(
    plan: &Plan<'_>,
    options: Options,
    is_quiet: bool,
) -> Result<RunOutcome, Interrupted> {
    let progress = Progress::begin(is_quiet, options.mode == Mode::Live);
    let outcome = crate::run(plan, options, &progress.watch(), interrupt::listen());
    progress.end();
    outcome
}

/// Applies `--connect-timeout`, `--runs` and `--models` to the suites.
fn put_in_place(loaded: &mut [(String, Loaded)], calling: &Calling) -> Result<(), Failure> {
    if let Some(limit) = calling.connect_timeout {
        override_connect_timeout(loaded, limit);
    }
    if calling.runs.is_none() && calling.models.is_empty() {
        return Ok(());
    }
    if let Some(runs) = calling.runs {
        refuse_fewer_runs(calling)?;
        suites_of(loaded).for_each(|suite| suite.override_runs(runs as usize));
    }
    if !calling.models.is_empty() {
        override_models(loaded, &calling.models)?;
    }
    for (_, loaded) in loaded {
        let new = mcptest_replay::check_again(loaded);
        if !new.is_empty() {
            output::problems(&new, &loaded.sources);
        }
    }
    Ok(())
}

fn suites_of(loaded: &mut [(String, Loaded)]) -> impl Iterator<Item = &mut Suite> {
    loaded
        .iter_mut()
        .filter_map(|(_, loaded)| loaded.suite.as_mut())
}

fn override_connect_timeout(loaded: &mut [(String, Loaded)], limit: Duration) {
    let limit_ms = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
    suites_of(loaded)
        .flat_map(|suite| suite.servers.values_mut())
        .for_each(|server| server.connect_timeout_ms = Some(limit_ms));
}

fn refuse_fewer_runs(calling: &Calling) -> Result<(), Failure> {
    if calling.record != Some(Which::Failed) {
        return Ok(());
    }
    let why = "`--record=failed` records all runs of a row: fewer runs would make a failed row look better";
    let help = "omit `--runs`, or record everything with `--record --runs N`";
    Err(Failure::with_help(why, help))
}

/// At least one suite must have an agent with a model.
fn override_models(loaded: &mut [(String, Loaded)], written: &[String]) -> Result<(), Failure> {
    let mut without_model = None;
    let mut has_model = false;
    for suite in suites_of(loaded) {
        let models: Vec<Model> = written.iter().map(|one| suite.model(one)).collect();
        match suite.override_models(&models) {
            Ok(()) => has_model = true,
            Err(error @ OverrideError::NoModel { .. }) => without_model = Some(error),
            Err(error) => return Err(error.into()),
        }
    }
    match without_model {
        Some(error) if !has_model => Err(error.into()),
        _ => Ok(()),
    }
}

/// Refuses `--record missing`: for the shell these are two words, and `missing` would be a path.
fn refuse_loose_mode(args: &Run) -> Result<(), Failure> {
    let is_mode = |path: &&PathBuf| RECORD.iter().any(|(word, ..)| path.as_os_str() == *word);
    match args
        .suites
        .paths
        .iter()
        .find(|path| is_mode(path) && !path.exists())
    {
        Some(path) if args.calling.record.is_some() => {
            let (mode, help) = (
                escape_path(path),
                format!("did you mean `--record={}`?", escape_path(path)),
            );
            Err(Failure::with_help(
                format!("no such file or folder: {mode}"),
                help,
            ))
        }
        _ => Ok(()),
    }
}

/// All runs of a row are recorded together: one run recorded again alone would make an agent look reliable.
fn refuse_to_record_one_run(args: &Run) -> Result<(), Failure> {
    if mode(&args.calling) == Mode::Replay || !args.selecting.selection().names_a_run() {
        return Ok(());
    }
    let why = "one run cannot be recorded alone: all runs of a row are recorded together";
    let help = "remove the number of the run from `--filter`";
    Err(Failure::with_help(why, help))
}

/// Refuses options that limit recording if nothing is recorded.
fn refuse_idle_options(calling: &Calling) -> Result<(), Failure> {
    let records = calling.record.is_some() || calling.live;
    let why = if calling.max_cost.is_some() && !records && !calling.dry_run {
        "`--max-cost` limits recording, but judging recordings costs nothing"
    } else if calling.connect_timeout.is_some() && !records {
        "`--connect-timeout` limits the start of servers, but judging recordings starts none"
    } else {
        return Ok(());
    };
    Err(Failure::with_help(why, "omit it, or add `--record`"))
}

fn nothing_to_judge(loaded: &[(String, Loaded)]) -> &'static str {
    let has_tests = |suite: &Suite| !suite.agents.is_empty() || !suite.tools.is_empty();
    if loaded
        .iter()
        .filter_map(|(_, loaded)| loaded.suite.as_ref())
        .any(has_tests)
    {
        "nothing was selected: no test matches\n  help: `mcptest run --list` shows the tests\n"
    } else {
        "nothing to judge: `agents:` and `tools:` are empty\n"
    }
}

fn list(plan: &Plan<'_>) -> Result<u8, Failure> {
    let mut text = String::new();
    for row in &plan.rows {
        let skipped = row
            .skip
            .as_ref()
            .map(|why| format!("  (skipped: {})", why.message))
            .unwrap_or_default();
        let line = format!(
            "{}:{}: {}{skipped}",
            row.place.file, row.place.line, row.name
        );
        text.push_str(&format!("{}\n", escape(&line)));
    }
    output::stdout(text.as_bytes())?;
    Ok(unjudged(plan))
}

/// The exit code of a plan that is only shown.
pub(super) fn unjudged(plan: &Plan<'_>) -> u8 {
    match &plan.rows[..] {
        [] => EXIT_NOTHING_SELECTED,
        rows if rows.iter().any(Row::is_refused) => EXIT_BROKEN,
        _ => 0,
    }
}
