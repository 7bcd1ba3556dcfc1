//! `mcptest eval`: ask the judges for grades that are missing or stale, then judge; or say what that would take.

use crate::{CheckPlan, EvalOptions, Evaluated, GradeOptions, WhichGrades, eval, plan};
use clap::Args;
use mcptest_command::progress::words::{count_grouped, dollars, grouped};
use mcptest_command::reports::Reports;
use mcptest_command::suites::{LoadedSuites, Suites, inputs};
use mcptest_command::value::{Word, one_of, parse_dollars};
use mcptest_command::{
    Deny, Destination, EXIT_BROKEN, EXIT_NOTHING_SELECTED, EXIT_OVER_BUDGET, Failure, Group,
    Program, Progress, RunCommand, Selecting, interrupt, output, typed,
};
use mcptest_core::escape::escape;
use mcptest_core::grade::{Asks, Criterion, Question, Sees};
use mcptest_core::judge::Judging;
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
        let destinations = Destination::of(&self.reporters, program.gates)?;
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
        let which = self.record.unwrap_or(WhichGrades::NEEDED);
        let options = EvalOptions {
            grading: GradeOptions {
                jobs: self.jobs.map(usize::from),
                ..GradeOptions::new(which)
            },
            max_cost_usd: self.max_cost,
            judging: JudgeOptions {
                row: Judging {
                    deny_vacuous: self.deny.deny_vacuous,
                    deny_unpinned: self.deny.deny_unpinned,
                    evidence: Destination::evidence(&destinations),
                    ..Judging::default()
                },
                ..JudgeOptions::default()
            },
        };
        if rows.rows.is_empty() {
            let why = "nothing to grade: no selected test asks a judge or a scorer";
            let help = "`llm-judge`, `llm-jury` and `similar` in `expect:` do, and so does the gate `eval:` (`mcptest explain eval`); `scorers:` are your own programs";
            return Err(Failure::ended(
                EXIT_NOTHING_SELECTED,
                format!("{why}\n  help: {help}"),
            ));
        }
        if self.explain {
            let is_refused = rows.rows.iter().any(Row::is_refused);
            output::stdout(explained(&plan(&rows, which)).as_bytes())?;
            return Ok(if is_refused { EXIT_BROKEN } else { 0 });
        }
        Destination::discard_earlier(&destinations)?;
        let progress = Progress::begin(self.quiet, false);
        let evaluated = eval(&rows, options, &progress.watch(), interrupt::listen());
        progress.end();
        let Evaluated {
            mut report,
            over_budget,
        } = evaluated.map_err(Failure::interrupted)?;
        report.command = Some(typed());
        Destination::write_all(
            &destinations,
            &report,
            self.suites.verbose,
            Some(begun.elapsed()),
        )?;
        match over_budget {
            Some(why) => Err(Failure::ended(
                EXIT_OVER_BUDGET,
                format!("grading was stopped: {why}"),
            )),
            None => Ok(report.exit_code()),
        }
    }
}

/// Returns true if a row asks judges, or cannot be judged at all.
fn asks_judges(row: &Row<'_>) -> bool {
    row.is_refused() || !row.questions().is_empty()
}

/// Every check with what it asks, of whom, and what that takes; then all together.
fn explained(checks: &[CheckPlan<'_>]) -> String {
    let mut text: String = checks.iter().map(of_check).collect();
    let calls: usize = checks.iter().map(|check| check.calls).sum();
    let cost: Option<f64> = checks.iter().map(|check| check.cost_usd).sum();
    let unrecorded = |check: &CheckPlan<'_>| check.unrecorded > 0 && check.calls > 0;
    let (when, cost) = if checks.iter().any(unrecorded) {
        let known = cost.filter(|cost| *cost > 0.0);
        let known =
            known.map(|cost| format!(", about {} of them for what is recorded", dollars(cost)));
        (
            " once all runs are recorded",
            format!("at an unknown cost until then{}", known.unwrap_or_default()),
        )
    } else {
        let unknown = || "at an unknown cost".to_owned();
        (
            "",
            cost.map_or_else(unknown, |cost| format!("about {}", dollars(cost))),
        )
    };
    text.push_str(&format!(
        "{} to judges{when}, {cost}; no judge was called\n",
        count_grouped(calls as u64, "call")
    ));
    text
}

fn of_check(check: &CheckPlan<'_>) -> String {
    let question = check.question;
    let mut lines = vec![format!("{}  {}", escape(&check.row_name), check.check)];
    let mut put =
        |name: &str, value: String| lines.push(format!("  {name:<10} {}", escape(&value)));
    if let Some(scorer) = question.scorer() {
        put("command", scorer.program.command.join(" "));
        let runs = check.runs + check.unrecorded;
        put("runs", format!("{runs}{}", graded_already(check)));
        return lines.join("\n") + "\n\n";
    }
    for (at, line) in rubric(question).into_iter().enumerate() {
        put(if at == 0 { "rubric" } else { "" }, line);
    }
    let quorum = if check.judges.len() > 1 {
        format!(", quorum {}", question.quorum)
    } else {
        String::new()
    };
    put("threshold", format!("{}{quorum}", question.threshold));
    let judges: Vec<&str> = check
        .judges
        .iter()
        .map(|(label, _)| label.as_str())
        .collect();
    let often = if question.samples > 1 {
        format!(", {} times each", question.samples)
    } else {
        String::new()
    };
    put(
        if judges.len() == 1 { "judge" } else { "jurors" },
        format!("{}{often}", judges.join(", ")),
    );
    put(
        "sees",
        if question.sees == Sees::Run {
            "task, calls, results, text"
        } else {
            "the text alone"
        }
        .to_owned(),
    );
    put("calls", calls(check));
    let tokens = format!("{} tokens", grouped(check.tokens));
    let unpriced = || format!("unknown: no price is known for {}", unpriced(check));
    let cost = match check.cost_usd {
        None => unpriced(),
        Some(_) if check.runs == 0 && check.unrecorded > 0 => {
            "unknown until the runs are recorded".to_owned()
        }
        Some(cost) if check.unrecorded > 0 => format!(
            "about {} ({tokens}) for {}, unknown for the others",
            dollars(cost),
            count_grouped(check.runs as u64, "recorded run")
        ),
        Some(cost) => format!("about {} ({tokens})", dollars(cost)),
    };
    put("cost", cost);
    if let Some(limit) = question.max_cost_usd {
        put("max_cost", dollars(limit));
    }
    lines.join("\n") + "\n\n"
}

fn unpriced(check: &CheckPlan<'_>) -> String {
    let unpriced = check.judges.iter().filter(|(_, price)| price.is_none());
    unpriced
        .map(|(label, _)| format!("`{label}`"))
        .collect::<Vec<_>>()
        .join(", ")
}

/// `3 runs × 2 criteria × 1 judge = 6`, and what is graded already.
fn calls(check: &CheckPlan<'_>) -> String {
    let question = check.question;
    let of_rubric = match &question.asks {
        Asks::Rubric(rubric) if rubric.tree.is_some() => "1 tree".to_owned(),
        Asks::Rubric(rubric) if rubric.criteria.len() == 1 => "1 criterion".to_owned(),
        Asks::Rubric(rubric) => format!("{} criteria", rubric.criteria.len()),
        Asks::Similar(_) => "1 comparison".to_owned(),
        Asks::Scorer(_) => "1 program".to_owned(),
    };
    let runs = check.runs + check.unrecorded;
    let mut factors = vec![count_grouped(runs as u64, "run"), of_rubric];
    factors.push(count_grouped(check.judges.len() as u64, "judge"));
    factors.extend((question.samples > 1).then(|| format!("{} samples", question.samples)));
    format!(
        "{} = {}{}",
        factors.join(" × "),
        check.calls,
        graded_already(check)
    )
}

fn graded_already(check: &CheckPlan<'_>) -> String {
    let graded = check.recorded - check.runs;
    let mut parts = Vec::new();
    if check.recorded == 0 && check.unrecorded == 0 {
        parts.push("nothing is recorded that could be graded".to_owned());
    }
    parts.extend((check.unrecorded > 0).then(|| {
        format!(
            "{} not recorded yet",
            count_grouped(check.unrecorded as u64, "run")
        )
    }));
    parts.extend(
        (graded > 0).then(|| format!("{} graded already", count_grouped(graded as u64, "run"))),
    );
    let mut told = String::new();
    for part in parts {
        told.push_str("; ");
        told.push_str(&part);
    }
    told
}

fn rubric(question: &Question) -> Vec<String> {
    let rubric = match &question.asks {
        Asks::Similar(to) => return vec![format!("near to: {to}")],
        Asks::Scorer(_) => return Vec::new(),
        Asks::Rubric(rubric) => rubric,
    };
    if let Some(tree) = &rubric.tree {
        return (1..)
            .zip(tree.questions())
            .map(|(number, ask)| format!("{number}. {ask}"))
            .collect();
    }
    let of_criterion = |criterion: &Criterion| {
        let mut marks = Vec::new();
        marks.extend((criterion.weight != 1.0).then(|| format!("weight {}", criterion.weight)));
        marks.extend(criterion.required.then(|| "required".to_owned()));
        marks.extend(rubric.strict.then(|| "yes or no".to_owned()));
        let marks = if marks.is_empty() {
            String::new()
        } else {
            format!(" ({})", marks.join(", "))
        };
        format!("{}{marks}: {}", criterion.name, criterion.text.trim())
    };
    rubric.criteria.iter().map(of_criterion).collect()
}
