//! `mcptest judge-check`: how reliable is a judge on runs of known outcome?

use crate::judge_quality::JudgeCheck;
use crate::show::judge_check;
use crate::{CheckOptions, Checked, Mislabelled, PlannedCheck, UncheckedJudge, check, plan_check};
use clap::Args;
use mcptest_command::suites::{LoadedSuites, Suites};
use mcptest_command::value::parse_dollars;
use mcptest_command::{
    EXIT_BROKEN, EXIT_DRIFT, EXIT_NOTHING_SELECTED, EXIT_OVER_BUDGET, Failure, Group, Program,
    Progress, RunCommand, interrupt, output,
};
use mcptest_replay::{Filter, LeftOut, Selection};
use std::path::PathBuf;

/// Arguments of `judge-check`.
#[derive(Debug, Args)]
pub(crate) struct CheckJudges {
    #[command(flatten)]
    suites: Suites,
    /// Labels of the runs, as JSON, JSON Lines or CSV [default: whether the observable part of `expect:` holds].
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// Use the transcripts in a folder instead of the recorded runs, one row per subfolder or single file.
    #[arg(long, value_name = "DIR")]
    traces: Option<PathBuf>,
    /// Use only tests whose name contains TEXT or matches PATTERN; repeat to require all.
    #[arg(long, value_name = "TEXT|re:PATTERN")]
    filter: Vec<Filter>,
    /// Number of runs to ask about again in each other form, such as shuffled or reworded; 0 for none.
    #[arg(long, value_name = "N", default_value_t = 20)]
    sample: usize,
    /// Print the number of calls without asking a judge.
    #[arg(long)]
    explain: bool,
    /// Exit with 6 when kappa is below this.
    #[arg(long, value_name = "KAPPA", value_parser = rate)]
    min_kappa: Option<f64>,
    /// Exit with 6 when the judge lets a larger share of the bad runs pass.
    #[arg(long, value_name = "SHARE", value_parser = rate)]
    max_false_pass: Option<f64>,
    /// Exit with 6 when added words persuade the judge to pass a larger share of the bad runs that it failed.
    #[arg(long, value_name = "SHARE", value_parser = rate)]
    max_persuaded: Option<f64>,
    /// Stop with exit code 5 once this many dollars are spent.
    #[arg(long, value_name = "USD", value_parser = parse_dollars)]
    max_cost: Option<f64>,
    /// Number of grades to ask for at once [default: 4 or the number of cores, whichever is more].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Do not show progress.
    #[arg(long, short)]
    quiet: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

fn rate(text: &str) -> Result<f64, String> {
    let rate = text
        .parse::<f64>()
        .ok()
        .filter(|rate| (0.0..=1.0).contains(rate));
    rate.ok_or_else(|| "expected a number from 0 to 1".to_owned())
}

impl RunCommand for CheckJudges {
    const NAME: &'static str = "judge-check";
    const GROUP: Group = Group::Compare;
    const SUMMARY: &'static str = "Measure how often judges are right about runs of known outcome, and how easily a run persuades them";
    const EXAMPLE: &'static str = "mcptest judge-check examples/judges.yml --explain";

    fn run(self, program: &Program) -> Result<u8, Failure> {
        let suites = LoadedSuites::load(&self.suites, self.traces.as_deref(), program.gates)?;
        let plan = suites.plan(&Selection {
            filters: self.filter.clone(),
            ..Selection::default()
        });
        let labels = self.labels.as_deref();
        let planned =
            plan_check(&plan, labels, self.sample).map_err(|mislabelled| refused(&mislabelled))?;
        if planned.labelled == 0 {
            return nothing_to_check(&planned);
        }
        if self.explain {
            return explain(&planned);
        }
        let progress = Progress::begin(self.quiet, false);
        let checked = check(
            &plan,
            labels,
            self.options(),
            &progress.watch(),
            interrupt::listen(),
        );
        progress.end();
        let checked = checked.map_err(|unchecked| match unchecked {
            UncheckedJudge::Mislabelled(mislabelled) => refused(&mislabelled),
            UncheckedJudge::Interrupted(interrupted) => Failure::interrupted(interrupted),
        })?;
        output::stdout(&if self.json {
            judge_check::json(&checked.checks, &checked.left_out)
        } else {
            let options = output::report_options(self.suites.verbose);
            judge_check::text(&checked.checks, &options)
        })?;
        Ok(ended(&self, &checked))
    }
}

impl CheckJudges {
    fn options(&self) -> CheckOptions {
        CheckOptions {
            sample: self.sample,
            jobs: self.jobs.map(usize::from),
            max_cost_usd: self.max_cost,
        }
    }
}

/// The error if no run has a label: the error of an unreadable row, if any.
fn nothing_to_check(planned: &PlannedCheck) -> Result<u8, Failure> {
    if !planned.left_out.is_empty() {
        say_left_out(&planned.left_out);
        return Ok(EXIT_BROKEN);
    }
    let why = "nothing to check: no run has both a judge and a label";
    let help = "name a file of labels with `--labels FILE`, in the format of `mcptest calibrate`";
    Err(Failure::ended(
        EXIT_NOTHING_SELECTED,
        format!("{why}\n  help: {help}"),
    ))
}

/// Prints the cost of a check, without asking a judge.
fn explain(planned: &PlannedCheck) -> Result<u8, Failure> {
    let (grades, calls) = (planned.labelled, planned.calls);
    let text =
        format!("{grades} labelled grades; at most {calls} calls to judges; no judge was called\n");
    output::stdout(text.as_bytes())?;
    say_left_out(&planned.left_out);
    Ok(if planned.left_out.is_empty() {
        0
    } else {
        EXIT_BROKEN
    })
}

fn say_left_out(left_out: &[LeftOut]) {
    for one in left_out {
        output::stderr(&format!("skipped: {}: {}\n", one.row, one.reason));
    }
}

fn refused(mislabelled: &Mislabelled) -> Failure {
    Failure::of_problems(&mislabelled.problems, &mislabelled.sources)
}

/// Reports missed thresholds and returns the exit code. A failed request comes before the measures.
fn ended(args: &CheckJudges, checked: &Checked) -> u8 {
    if let Some(why) = &checked.over_budget {
        output::stderr(&format!("grading was stopped: {why}\n"));
        return EXIT_OVER_BUDGET;
    }
    say_left_out(&checked.left_out);
    for why in &checked.failures {
        output::stderr(&format!("no grade: {why}\n"));
    }
    if !checked.failures.is_empty() || !checked.left_out.is_empty() {
        return EXIT_BROKEN;
    }
    let missed: Vec<String> = checked
        .checks
        .iter()
        .flat_map(|one| missed(args, one))
        .collect();
    for why in &missed {
        output::stderr(&format!("{why}\n"));
    }
    if missed.is_empty() { 0 } else { EXIT_DRIFT }
}

/// The bounds that a judge does not keep.
fn missed(args: &CheckJudges, check: &JudgeCheck) -> Vec<String> {
    let false_passes = HighestShare {
        limit: args.max_false_pass,
        share: Some(check.false_passes.rate()).filter(|_| check.bad > 0),
        what: "false passes are",
        unmeasured: "false passes were not measured: no bad run has a grade",
    };
    let persuaded = HighestShare {
        limit: args.max_persuaded,
        share: check.persuaded(),
        what: "persuaded in",
        unmeasured: "no attempt to persuade the judge was made: it failed no bad run, or `--sample` is 0",
    };
    let missed = [
        missed_kappa(args.min_kappa, check.kappa),
        false_passes.missed(),
        persuaded.missed(),
    ];
    missed
        .into_iter()
        .flatten()
        .map(|why| format!("{}: {why}", check.check))
        .collect()
}

fn missed_kappa(least: Option<f64>, kappa: Option<f64>) -> Option<String> {
    let least = least.filter(|least| kappa.is_none_or(|kappa| kappa < *least))?;
    let kappa = kappa.map_or_else(|| "not defined".to_owned(), |kappa| format!("{kappa:.2}"));
    Some(format!("kappa is {kappa}, {least} is required"))
}

/// A bound on a share. A bound on an unmeasured share is missed.
struct HighestShare {
    limit: Option<f64>,
    share: Option<f64>,
    what: &'static str,
    unmeasured: &'static str,
}

impl HighestShare {
    fn missed(&self) -> Option<String> {
        let limit = self.limit?;
        if self.share.is_some_and(|share| share <= limit) {
            return None;
        }
        let is = match self.share {
            Some(share) => format!("{} {:.0}%", self.what, share * 100.0),
            None => self.unmeasured.to_owned(),
        };
        Some(format!("{is}, at most {:.0}% is allowed", limit * 100.0))
    }
}
