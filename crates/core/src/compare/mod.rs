//! Is an agent better or worse in one report than in another, or is it chance?

mod calls;
mod change;
mod join;
pub mod leaderboard;
mod model;
mod sentence;
mod targets;
#[cfg(test)]
mod tests;

pub use model::{Change, Comparison, FirstDifference, Side, TargetChange, TestChange, ToolChange, Verdict};

use crate::eval::stats::{Tally, holm, six_decimals};
use crate::report::{Report, Status, TestReport};
use change::{Reach, change_of, could_show, reach, verdict};
use leaderboard::{Group, by_model, leaderboard};

/// The version of the JSON of a comparison.
pub const SCHEMA_VERSION: u32 = 1;

/// Compares two reports, each with what it is called. `most_k` is the most runs that the leaderboard speaks of.
pub fn compare((a, name_a): (&Report, &str), (b, name_b): (&Report, &str), most_k: u64) -> Comparison {
    let joined = join::join(&a.tests, &b.tests);
    let mut tests: Vec<TestChange> = joined.pairs.iter().map(|(a, b)| of_test(a, b)).collect();
    let tallies: Vec<(Tally, Tally)> = joined.pairs.iter().map(|(a, b)| (a.tally(), b.tally())).collect();
    judge(&mut tests, &tallies);
    let compared: Vec<(Tally, Tally)> =
        tallies.into_iter().filter(|(a, b)| a.runs > 0 && b.runs > 0).collect();
    let change = change_of(&compared);
    let reach = change.as_ref().map(|change| reach(&compared, change));
    let could_show = reach.as_ref().is_some_and(|reach| reach.could_show);
    let overall = verdict(
        change.map(|change| change.p),
        change.map(|change| change.difference).unwrap_or_default(),
        could_show,
    );
    let any = |wanted: Verdict| overall == wanted || tests.iter().any(|test| test.verdict == Some(wanted));
    let verdict = [Verdict::Worse, Verdict::Better].into_iter().find(|one| any(*one)).unwrap_or(overall);
    let is_shown = matches!(overall, Verdict::Worse | Verdict::Better);
    let names = |tests: Vec<&TestReport>| tests.into_iter().map(in_words).collect();
    let mut comparison = Comparison {
        schema_version: SCHEMA_VERSION,
        a: side(a, name_a),
        b: side(b, name_b),
        verdict,
        sentence: String::new(),
        change,
        smallest_drop: reach.as_ref().and_then(|reach| reach.smallest_drop),
        more_runs: reach.and_then(|reach: Reach| reach.more_runs).filter(|_| !is_shown),
        tests,
        only_a: names(joined.only_a),
        only_b: names(joined.only_b),
        leaderboard: leaderboard(&groups((a, name_a), (b, name_b)), most_k),
    };
    comparison.sentence = sentence::sentence(&comparison, overall);
    comparison
}

fn side(report: &Report, name: &str) -> Side {
    let runs = report.tests.iter().map(|test| test.tally().runs).sum();
    Side { name: name.to_owned(), tests: report.tests.len(), runs }
}

/// `examples/a.yml · refunds [gpt-5]`.
fn in_words(test: &TestReport) -> String {
    format!("{} · {}", test.suite.file, test.row_name())
}

/// The models of both sides; where both have one model, the sides by their names too.
fn groups<'r>((a, name_a): (&'r Report, &str), (b, name_b): (&'r Report, &str)) -> Vec<Group<'r>> {
    let (of_a, of_b) = (by_model(&a.tests), by_model(&b.tests));
    let is_in_both = of_a.iter().any(|(model, _)| of_b.iter().any(|(other, _)| other == model));
    let named = |groups: Vec<Group<'r>>, side: &str| -> Vec<Group<'r>> {
        let name = |model: String| if is_in_both { format!("{model} ({side})") } else { model };
        groups.into_iter().map(|(model, tests)| (name(model), tests)).collect()
    };
    named(of_a, name_a).into_iter().chain(named(of_b, name_b)).collect()
}

fn of_test(a: &TestReport, b: &TestReport) -> TestChange {
    let (before, now) = (a.tally(), b.tally());
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
        change: change_of(&[(before, now)]),
        p_holm: None,
        verdict: None,
        not_compared: why_not(a, "first").or_else(|| why_not(b, "second")),
        targets: targets::targets(a, b),
        calls: calls::tools(a, b),
        first_difference: calls::first_difference(a, b),
    }
}

/// Why a side says nothing of a test.
fn why_not(test: &TestReport, side: &str) -> Option<String> {
    let said = test.reason.as_ref().map(|reason| format!(": {}", reason.message)).unwrap_or_default();
    let what = match test.status {
        Status::Error => "could not be judged",
        Status::Skipped => "was skipped",
        _ => "has no runs",
    };
    (test.tally().runs == 0).then(|| format!("it {what} in the {side}{said}"))
}

/// Says what the runs of each test say, among all tests that could have shown a change.
fn judge(tests: &mut [TestChange], tallies: &[(Tally, Tally)]) {
    let asked: Vec<bool> = tallies.iter().map(|pair| could_show(*pair)).collect();
    let is_asked = |at: usize| asked.get(at).copied().unwrap_or_default();
    let p_values: Vec<f64> = tests
        .iter()
        .enumerate()
        .filter(|(at, _)| is_asked(*at))
        .filter_map(|(_, test)| Some(test.change?.p))
        .collect();
    let mut adjusted = holm(&p_values).unwrap_or_default().into_iter();
    for (at, test) in tests.iter_mut().enumerate() {
        let Some(change) = test.change else { continue };
        let p = if is_asked(at) { adjusted.next() } else { None };
        test.verdict = Some(verdict(p, change.difference, is_asked(at)));
        test.p_holm = p.map(six_decimals);
    }
}
