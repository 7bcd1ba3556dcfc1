//! Is an agent better or worse in one report than in another, or is it chance?

mod calls;
mod join;
mod model;
mod sentence;
mod sides;
mod targets;
#[cfg(test)]
mod tests;

pub use join::leave_models_out;
pub use mcptest_core::report::leaderboard::change::{Shown, ShownTest, shown};
pub use model::{
    Compared, ComparedSide, Comparison, FirstDifference, Several, TargetChange, TestChange,
    ToolChange,
};

use join::{Joined, join};
use mcptest_core::report::leaderboard::change::{reach, shown_beside, with_runs};
use mcptest_core::report::leaderboard::{Group, Verdict, by_model, leaderboard};
use mcptest_core::report::{Report, Status, TestReport, checks};
use mcptest_stats::Tally;
use sides::leaderboard_of_sides;

/// The version of the JSON of a comparison.
pub const SCHEMA_VERSION: u32 = 1;

/// A report and what it is called.
pub type Named<'r> = (&'r Report, &'r str);

/// Compares two reports. `most_k` is the most runs that the leaderboard speaks of.
pub fn compare(a: Named<'_>, b: Named<'_>, most_k: u64) -> Comparison {
    let same = Same::of(a.0, b.0);
    let shown = shown(&same.tallies);
    let leaderboard = leaderboard(&groups(a, b), most_k);
    Comparison {
        leaderboard,
        ..same.compared((a, b), &shown, 1)
    }
}

/// Compares each of several reports with the first.
pub fn compare_several(first: Named<'_>, others: &[Named<'_>], most_k: u64) -> Several {
    let same: Vec<Same<'_>> = others
        .iter()
        .map(|(report, _)| Same::of(first.0, report))
        .collect();
    let tallies: Vec<&[(Tally, Tally)]> = same.iter().map(|same| &same.tallies[..]).collect();
    let shown = shown_beside(&tallies);
    let all = same.into_iter().zip(others).zip(shown);
    let all =
        all.map(|((same, other), shown)| same.compared((first, *other), &shown, others.len()));
    let sides: Vec<Comparison> = all.collect();
    let has = |verdict: &Verdict| sides.iter().any(|side| side.verdict == *verdict);
    let telling = [Verdict::Worse, Verdict::Better, Verdict::NoEvidence];
    let reports: Vec<Named<'_>> = [first].iter().chain(others).copied().collect();
    Several {
        schema_version: SCHEMA_VERSION,
        first: side(first),
        verdict: telling
            .into_iter()
            .find(has)
            .unwrap_or(Verdict::NotEnoughRuns),
        leaderboard: leaderboard_of_sides(&reports, &sides, most_k),
        sides,
    }
}

/// The tests of two reports that are the same, and what their runs came to.
struct Same<'r> {
    joined: Joined<'r>,
    tallies: Vec<(Tally, Tally)>,
}

impl<'r> Same<'r> {
    fn of(a: &'r Report, b: &'r Report) -> Self {
        let joined = join(&a.tests, &b.tests);
        let tallies = joined
            .pairs
            .iter()
            .map(|(a, b)| match checks::changed(a, b) {
                Some(_) => (Tally::default(), Tally::default()),
                None => (a.tally(), b.tally()),
            })
            .collect();
        Self { joined, tallies }
    }

    /// What they show, where so many sides are compared with the first.
    fn compared(self, (a, b): (Named<'_>, Named<'_>), shown: &Shown, sides: usize) -> Comparison {
        let Self { joined, tallies } = self;
        let reach = shown
            .change
            .as_ref()
            .map(|change| reach(&with_runs(&tallies), change, sides));
        let could_show = reach.as_ref().is_some_and(|reach| reach.could_show);
        let unshown = if could_show {
            Verdict::NoEvidence
        } else {
            Verdict::NotEnoughRuns
        };
        let pairs = joined.pairs.iter().zip(&shown.tests);
        let names = |tests: Vec<&TestReport>| tests.into_iter().map(in_words).collect();
        let mut comparison = Comparison {
            schema_version: SCHEMA_VERSION,
            a: side(a),
            b: side(b),
            verdict: shown.verdict().unwrap_or(unshown),
            sentence: String::new(),
            change: shown.change,
            p_holm: shown.p_holm.filter(|_| sides > 1),
            smallest_drop: reach.as_ref().and_then(|reach| reach.smallest_drop),
            more_runs: reach
                .and_then(|reach| reach.more_runs)
                .filter(|_| shown.together.is_none()),
            tests: pairs
                .map(|((one, other), shown)| of_test([a.0, b.0], [one, other], *shown))
                .collect(),
            only_a: names(joined.only_a),
            only_b: names(joined.only_b),
            leaderboard: None,
        };
        comparison.sentence = sentence::sentence(&comparison, shown.together.unwrap_or(unshown));
        comparison
    }
}
fn side((report, name): Named<'_>) -> ComparedSide {
    let runs = report.tests.iter().map(|test| test.tally().runs).sum();
    ComparedSide {
        name: name.to_owned(),
        tests: report.tests.len(),
        runs,
    }
}

/// `examples/a.yml · refunds [gpt-5]`.
fn in_words(test: &TestReport) -> String {
    format!("{} · {}", test.suite.file, test.row_name())
}

/// The models of both sides; where both have one model, the sides by their names too.
fn groups<'r>((a, name_a): Named<'r>, (b, name_b): Named<'r>) -> Vec<Group<'r>> {
    let (of_a, of_b) = (by_model(&a.tests), by_model(&b.tests));
    let is_in_both = of_a
        .iter()
        .any(|(model, _)| of_b.iter().any(|(other, _)| other == model));
    let named = |groups: Vec<Group<'r>>, side: &str| -> Vec<Group<'r>> {
        let name = |model: String| {
            if is_in_both {
                format!("{model} ({side})")
            } else {
                model
            }
        };
        groups
            .into_iter()
            .map(|(model, tests)| (name(model), tests))
            .collect()
    };
    named(of_a, name_a)
        .into_iter()
        .chain(named(of_b, name_b))
        .collect()
}

/// A test of both reports.
fn of_test(reports: [&Report; 2], [a, b]: [&TestReport; 2], shown: ShownTest) -> TestChange {
    let (before, now) = (a.tally(), b.tally());
    let is_compared = shown.verdict.is_some();
    let changed_checks = checks::changed(a, b);
    let has_regressed =
        changed_checks.is_none() && (a.status, b.status) == (Status::Passed, Status::Failed);
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
        change: shown.change,
        p_holm: shown.p_holm,
        verdict: shown.verdict,
        has_regressed,
        not_compared: why_not(a, "first")
            .or_else(|| why_not(b, "second"))
            .or(changed_checks),
        targets: targets::targets(reports, a, b),
        calls: if is_compared {
            calls::tools(a, b)
        } else {
            Vec::new()
        },
        first_difference: calls::first_difference(a, b).filter(|_| is_compared),
    }
}

/// Why a side says nothing of a test.
fn why_not(test: &TestReport, side: &str) -> Option<String> {
    let said = test
        .reason
        .as_ref()
        .map(|reason| format!(": {}", reason.message))
        .unwrap_or_default();
    let what = match test.status {
        Status::Error => "could not be judged",
        Status::Skipped => "was skipped",
        _ => "has no runs",
    };
    (test.tally().runs == 0).then(|| format!("it {what} in the {side}{said}"))
}
