//! Is an agent better or worse in one report than in another, or is the difference chance?

mod calls;
mod model;
mod models;
mod row;
mod sentence;
mod sides;
mod targets;
#[cfg(test)]
mod tests;

pub use model::{
    Compared, ComparedSide, FirstDifference, ReportDiff, Several, TargetChange, TestChange,
    ToolChange,
};
pub use models::leave_models_out;

use crate::comparison::pass_rate::{
    PassRates, RowPassRate, Tallies, pass_rates, pass_rates_of_sides,
};
use crate::comparison::{Comparison, RowPair, names};
use mcptest_core::report::leaderboard::{Verdict, leaderboard};
use mcptest_core::report::{Report, Status, TestReport, checks};
use sides::leaderboard_of_sides;

/// The version of the JSON of a comparison.
pub const SCHEMA_VERSION: u32 = 1;

/// A report and its name.
pub type Named<'r> = (&'r Report, &'r str);

/// The rows of two reports.
type ReportComparison<'r> = Comparison<'r, TestReport>;

/// Compares two reports. `most_k` is the most runs that the leaderboard speaks of.
pub fn compare(a: Named<'_>, b: Named<'_>, most_k: u64) -> ReportDiff {
    let comparison = Comparison::new(&a.0.tests, &b.0.tests);
    let rates = pass_rates(&comparison.tallies());
    ReportDiff {
        leaderboard: leaderboard(&models::groups(a, b), most_k),
        ..diff((a, b), &comparison, &rates)
    }
}

/// Compares each of several reports with the first.
pub fn compare_several(first: Named<'_>, others: &[Named<'_>], most_k: u64) -> Several {
    let comparisons: Vec<ReportComparison<'_>> = others
        .iter()
        .map(|(report, _)| Comparison::new(&first.0.tests, &report.tests))
        .collect();
    let tallies: Vec<Vec<Tallies>> = comparisons.iter().map(Comparison::tallies).collect();
    let tallies: Vec<&[Tallies]> = tallies.iter().map(Vec::as_slice).collect();
    let rates = pass_rates_of_sides(&tallies);
    let sides: Vec<ReportDiff> = others
        .iter()
        .zip(comparisons.iter().zip(&rates))
        .map(|(other, (comparison, rates))| diff((first, *other), comparison, rates))
        .collect();
    Several {
        schema_version: SCHEMA_VERSION,
        first: side(first),
        verdict: verdict_of_sides(&sides),
        leaderboard: leaderboard_of_sides(first, others, &comparisons, &sides, most_k),
        sides,
    }
}

/// Worse if any side is worse; otherwise better if any is; otherwise no evidence of change.
fn verdict_of_sides(sides: &[ReportDiff]) -> Verdict {
    let has = |verdict: &Verdict| sides.iter().any(|side| side.verdict == *verdict);
    [Verdict::Worse, Verdict::Better, Verdict::NoEvidence]
        .into_iter()
        .find(has)
        .unwrap_or(Verdict::NotEnoughRuns)
}

/// The differences between two reports, ignoring models.
fn diff(
    (a, b): (Named<'_>, Named<'_>),
    comparison: &ReportComparison<'_>,
    rates: &PassRates,
) -> ReportDiff {
    let reach = rates.reach();
    let unshown = match reach {
        Some(reach) if reach.could_show => Verdict::NoEvidence,
        _ => Verdict::NotEnoughRuns,
    };
    let shown_together = rates.shown_together();
    let mut diff = ReportDiff {
        schema_version: SCHEMA_VERSION,
        a: side(a),
        b: side(b),
        verdict: rates.shown().unwrap_or(unshown),
        together: shown_together.unwrap_or(unshown),
        sentence: String::new(),
        change: rates.change,
        p_holm: rates.p_among_sides(),
        smallest_drop: reach.and_then(|reach| reach.smallest_drop),
        more_runs: reach
            .filter(|_| shown_together.is_none())
            .and_then(|reach| reach.more_runs),
        tests: comparison
            .rows
            .iter()
            .zip(&rates.rows)
            .map(|(row, rate)| test_change([a.0, b.0], row, *rate))
            .collect(),
        only_a: names(&comparison.only_before),
        only_b: names(&comparison.only_after),
        leaderboard: None,
    };
    diff.sentence = sentence::sentence(&diff);
    diff
}

fn side((report, name): Named<'_>) -> ComparedSide {
    let runs = report.tests.iter().map(|test| test.tally().runs).sum();
    ComparedSide {
        name: name.to_owned(),
        tests: report.tests.len(),
        runs,
    }
}

/// A test of both reports.
fn test_change(
    reports: [&Report; 2],
    row: &RowPair<'_, TestReport>,
    rate: RowPassRate,
) -> TestChange {
    let (a, b) = (row.before, row.after);
    let (before, now) = (a.tally(), b.tally());
    let is_compared = rate.answer.is_some();
    TestChange {
        suite: a.suite.file.clone(),
        name: a.name.clone(),
        model: a.model.clone(),
        variant: a.variant,
        row: a.row_name(),
        status_a: a.status,
        status_b: b.status,
        runs_a: before.runs,
        runs_b: now.runs,
        passed_a: before.passed,
        passed_b: now.passed,
        broken_a: a.broken_runs() as u64,
        broken_b: b.broken_runs() as u64,
        change: rate.change,
        p_holm: rate.answer.and_then(|answer| answer.p),
        verdict: rate.answer.map(|answer| answer.verdict),
        has_regressed: has_regressed(a, b),
        not_compared: row.not_compared.clone(),
        no_longer_exercised: no_longer_exercised(a, b),
        targets: targets::targets(reports, a, b),
        calls: if is_compared {
            calls::tools(a, b)
        } else {
            Vec::new()
        },
        first_difference: calls::first_difference(a, b).filter(|_| is_compared),
    }
}

/// The gates that measured something in the first report and nothing in the second.
fn no_longer_exercised(a: &TestReport, b: &TestReport) -> Vec<String> {
    let was_exercised = |key: &str| {
        let mut gates = a.gates.iter();
        gates.any(|gate| gate.key == key && gate.not_exercised.is_none())
    };
    let marked = b.gates.iter().filter(|gate| gate.not_exercised.is_some());
    marked
        .filter(|gate| was_exercised(&gate.key))
        .map(|gate| gate.key.clone())
        .collect()
}

/// Returns true if the test passed and now fails, with equal checks.
fn has_regressed(a: &TestReport, b: &TestReport) -> bool {
    let (passed, failed) = (Status::Passed, Status::Failed);
    checks::changed(a, b).is_none() && (a.status, b.status) == (passed, failed)
}
