//! `mcptest eval`: request missing or stale grades, then judge; or estimate the cost.

use crate::show::check_plan::explained;
use crate::{EvalOptions, Evaluated, GradeOptions, WhichGrades, eval, plan};
use clap::Args;
use mcptest_command::reports::Reports;
use mcptest_command::suites::{LoadedSuites, Suites, inputs};
use mcptest_command::value::{Word, one_of, parse_dollars};
use mcptest_command::{
    Deny, Destination, EXIT_BROKEN, EXIT_NOTHING_SELECTED, EXIT_OVER_BUDGET, Failure, Group,
    Program, Progress, RunCommand, Selecting, interrupt, output, typed,
};
use mcptest_core::judge::Judging;
use mcptest_core::report::Report;
use mcptest_core::row::Row;
use mcptest_replay::JudgeOptions;
use std::path::PathBuf;
use std::time::Instant;

/// Arguments of `eval`.
#[derive(Debug, Args)]
pub(crate) struct Eval {
    #[command(flatten)]
    suites: Suites,
    /// Grade the transcripts in a folder instead of the recorded runs, one row per subfolder or single file.
    #[arg(long, value_name = "DIR")]
    traces: Option<PathBuf>,
    /// Print criteria, thresholds, judges, the number of calls and their estimated cost without asking a judge.
    #[arg(long, conflicts_with = "reporters")]
    explain: bool,
    /// Grade only these [default: what is missing or stale].
    #[arg(long, value_name = "WHICH", value_parser = one_of(&GRADES), require_equals = true)]
    record: Option<WhichGrades>,
    #[command(flatten)]
    selecting: Selecting,
    /// Stop grading with exit code 5 once this many dollars are spent.
    #[arg(long, value_name = "USD", value_parser = parse_dollars)]
    max_cost: Option<f64>,
    /// Number of grades to ask for at once [default: 4 or the number of cores, whichever is more].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Do not show progress while grading.
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    deny: Deny,
    #[command(flatten)]
    reporters: Reports,
}

/// The values of `--grades`.
const GRADES: [Word<WhichGrades>; 3] = [
    ("missing", WhichGrades::MISSING, "Runs without a grade"),
    (
        "stale",
        WhichGrades::STALE,
        "Runs whose rubric, judges or recording changed since they were graded",
    ),
    ("all", WhichGrades::ALL, "Every run"),
];

impl RunCommand for Eval {
    const NAME: &'static str = "eval";
    const GROUP: Group = Group::Test;
    const SUMMARY: &'static str =
        "Ask judges for the grades that recorded runs lack, then judge the runs";
    const EXAMPLE: &'static str = "mcptest eval examples/judges.yml --explain";

    fn run(self, program: &Program) -> Result<u8, Failure> {
        let destinations = Destination::from_arguments(&self.reporters, program.gates)?;
        let begun = Instant::now();
        let suites = LoadedSuites::load(&self.suites, self.traces.as_deref(), program.gates)
            .map_err(|failure| {
                if self.explain {
                    return failure;
                }
                Destination::discard_for(&destinations, self.suites.named(), failure)
            })?;
        let mut rows = suites.plan(&self.selecting.selection());
        Destination::refuse_inputs(&destinations, inputs(&suites.loaded).chain(rows.files()))?;
        rows.rows.retain(asks_judges);
        if rows.rows.is_empty() {
            return Err(nothing_to_grade());
        }
        let which = self.record.unwrap_or(WhichGrades::NEEDED);
        if self.explain {
            let is_refused = rows.rows.iter().any(Row::is_refused);
            output::stdout(explained(&plan(&rows, which)).as_bytes())?;
            return Ok(if is_refused { EXIT_BROKEN } else { 0 });
        }
        Destination::discard_earlier(&destinations)?;
        let progress = Progress::begin(self.quiet, false);
        let options = self.options(which, &destinations);
        let evaluated = eval(&rows, options, &progress.watch(), interrupt::listen());
        progress.end();
        let Evaluated {
            mut report,
            over_budget,
        } = evaluated.map_err(Failure::interrupted)?;
        report.command = Some(typed());
        let elapsed = Some(begun.elapsed());
        Destination::write_all(&destinations, &report, self.suites.verbose, elapsed)?;
        match over_budget {
            Some(why) => Err(Failure::ended(
                EXIT_OVER_BUDGET,
                format!("grading was stopped: {why}"),
            )),
            None => Ok(report.exit_code()),
        }
    }
}

impl Eval {
    fn options(&self, which: WhichGrades, destinations: &[Destination<Report>]) -> EvalOptions {
        EvalOptions {
            grading: GradeOptions {
                jobs: self.jobs.map(usize::from),
                ..GradeOptions::new(which)
            },
            max_cost_usd: self.max_cost,
            judging: JudgeOptions {
                row: Judging {
                    deny_vacuous: self.deny.deny_vacuous,
                    deny_unpinned: self.deny.deny_unpinned,
                    evidence: Destination::evidence(destinations),
                    ..Judging::default()
                },
                ..JudgeOptions::default()
            },
        }
    }
}

fn nothing_to_grade() -> Failure {
    let why = "nothing to grade: no selected test asks a judge or a scorer";
    let help = "tests ask a judge with `llm-judge`, `llm-jury` or `similar` in `expect:`, or with the gate `eval:` (`mcptest explain eval`); `scorers:` are your own programs";
    Failure::ended(EXIT_NOTHING_SELECTED, format!("{why}\n  help: {help}"))
}

/// Returns true if a row asks judges, or cannot be judged.
fn asks_judges(row: &Row<'_>) -> bool {
    row.is_refused() || !row.questions().is_empty()
}
