//! How does a report summarize a comparison in a sentence or two?

use super::model::ReportDiff;
use mcptest_core::report::leaderboard::change::drawn_in_words;
use mcptest_core::report::leaderboard::{RateChange, Verdict, p_value, points};
use mcptest_core::words::count;

/// The verdict with its basis.
pub(super) fn sentence(of: &ReportDiff) -> String {
    format!("{}{}", of_rates(of), beside_rates(of))
}

/// Findings that do not depend on the rates.
fn beside_rates(of: &ReportDiff) -> String {
    let mut said = String::new();
    match of.regressed() {
        0 => {}
        1 => said.push_str(" 1 test passed and now fails."),
        more => said.push_str(&format!(" {more} tests passed and now fail.")),
    }
    match of.broken_runs() as usize {
        0 => {}
        1 => said.push_str(" 1 run ended in an error and counts as not passed."),
        more => said.push_str(&format!(
            " {more} runs ended in errors and count as not passed."
        )),
    }
    said
}

fn of_rates(of: &ReportDiff) -> String {
    let Some(change) = of.change else {
        let (a, b) = (&of.a.name, &of.b.name);
        let has_runs = of
            .tests
            .iter()
            .any(|test| test.runs_a > 0 && test.runs_b > 0);
        let asserted = if has_runs {
            " and asserts the same"
        } else {
            ""
        };
        return format!(
            "Nothing could be compared: no test has runs in both {a} and {b}{asserted}."
        );
    };
    let (a, b, rates) = (&of.a.name, &of.b.name, rates(of, &change));
    match (of.verdict, of.together) {
        (verdict @ (Verdict::Better | Verdict::Worse), together) if verdict == together => {
            format!("{b} is {} than {a}: {rates}.{}", verdict.words(), also(of))
        }
        (verdict @ (Verdict::Better | Verdict::Worse), together) => {
            let tests = in_tests(of, verdict);
            let over_all = format!("over all tests {}, {rates}", over_all(together));
            format!(
                "{b} is {} than {a} in {tests}; {over_all}.",
                verdict.words()
            )
        }
        (Verdict::NoEvidence, _) => {
            format!("No evidence of change: {rates}.{}{}", could(of), more(of))
        }
        (Verdict::NotEnoughRuns, _) => {
            let why = "too few runs to show even the largest change four times in five";
            format!("Not enough runs: {rates}; {why}.{}", more(of))
        }
    }
}

fn over_all(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "it is better",
        Verdict::Worse => "it is worse",
        Verdict::NoEvidence | Verdict::NotEnoughRuns => "no evidence of change",
    }
}

/// `90% of the runs pass in the first, 62.5% in the second (-27.5 points, 95% interval -43 to -10,
/// p = 0.003)`; with names and the adjusted p-value for several sides.
fn rates(of: &ReportDiff, change: &RateChange) -> String {
    let RateChange {
        rate_a,
        rate_b,
        difference,
        low,
        high,
        p,
        p_is_drawn,
    } = change;
    let (a, b, p) = match &of.p_holm {
        Some(p_holm) => (of.a.name.as_str(), of.b.name.as_str(), p_holm),
        None => ("the first", "the second", p),
    };
    let interval = format!("95% interval {} to {}", points(*low), points(*high));
    let moved = format!(
        "{} points, {interval}, {}{}",
        points(*difference),
        p_value(*p),
        drawn_in_words(*p_is_drawn)
    );
    format!(
        "{}% of the runs pass in {a}, {}% in {b} ({moved})",
        points(*rate_a),
        points(*rate_b)
    )
}

/// Single tests whose own runs are evidence of a change.
fn also(of: &ReportDiff) -> String {
    let said = [Verdict::Worse, Verdict::Better]
        .into_iter()
        .filter(|verdict| of.count(*verdict) > 0);
    let said: Vec<String> = said
        .map(|verdict| format!("{} {}", in_tests(of, verdict), verdict.words()))
        .collect();
    if said.is_empty() {
        String::new()
    } else {
        format!(" One by one: {}.", said.join(", "))
    }
}

fn in_tests(of: &ReportDiff, verdict: Verdict) -> String {
    let all = of.tests.len() - of.not_compared();
    format!("{} of {}", of.count(verdict), count(all, "test"))
}

fn could(of: &ReportDiff) -> String {
    let said = |drop: f64| {
        format!(
            " A drop of {} points would be shown four times in five.",
            points(drop)
        )
    };
    of.smallest_drop.map(said).unwrap_or_default()
}

fn more(of: &ReportDiff) -> String {
    let Some(more) = of.more_runs else {
        return String::new();
    };
    let what = match of.change {
        Some(change) if change.difference.abs() > 0.0 => "a difference as large as this one",
        _ => "a change from all to none",
    };
    format!(
        " To show {what} takes {} of each test on each side.",
        count(more as usize, "more run")
    )
}
