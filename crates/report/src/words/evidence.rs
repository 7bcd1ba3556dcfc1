//! What does a failed assertion, finding or row say for itself?

use super::matcher::required;
use super::value::{clipped, fits, pair, shown};
use super::{Limits, count};
use mcptest_core::report::{
    AssertionDiff, Expectation, Finding, GateReport, Number, RunReport, Side, Status, TestReport,
};
use serde_json::{Value, json};

/// The requirement on the target and its value: `must be at least 1, got 0`.
pub(crate) fn headline(
    expectation: &Expectation,
    gate: Option<&GateReport>,
    limits: Limits,
) -> String {
    let expected = required(&expectation.matcher, limits);
    let target = gate.and_then(|gate| gate.targets.get(&expectation.target));
    match (&expectation.actual, target) {
        (Some(_), Some(Some(number))) if !is_hidden_by_rounding(*number, &expected) => {
            format!("{expected}, got {number}")
        }
        (Some(actual), _) => format!("{expected}, got {}", shown(actual, limits)),
        (None, Some(None)) => format!("{expected}, but it was not measured"),
        (None, _) if expectation.passed => format!("{expected}, but it has no value"),
        (None, _) => match &expectation.reason {
            Some(why) => format!("{expected}, but {}", about_it(why, expectation, limits)),
            None => format!("{expected}, but it has no value"),
        },
    }
}

/// The reason for a missing value, after a sentence that has named the target.
fn about_it(why: &str, expectation: &Expectation, limits: Limits) -> String {
    let named = format!("`{}` ", expectation.target);
    match why.strip_prefix(&named) {
        Some(rest) => clipped(&format!("it {rest}"), limits.text),
        None => clipped(why, limits.text),
    }
}

/// Returns true if rounding would give `must be at least 1, got 1`, so that every digit is shown.
fn is_hidden_by_rounding(number: Number, expected: &str) -> bool {
    let rounded = number.to_string();
    rounded.parse() != Ok(number.as_f64()) && expected.split(' ').any(|word| word == rounded)
}

/// A gate's unmet requirements, in sentences, without the requirements that the findings explain better.
pub(crate) fn unmet(gate: &GateReport, limits: Limits) -> Vec<String> {
    let failed = gate.expectations.iter().filter(|one| !one.passed);
    let mut said = Vec::new();
    for expectation in failed {
        if !is_explained(expectation, gate) {
            said.push(format!(
                "{} {}",
                clipped(bare(gate, &expectation.target), limits.value),
                headline(expectation, Some(gate), limits)
            ));
        }
        said.extend(
            expectation
                .message
                .as_ref()
                .map(|message| clipped(message.trim(), limits.text)),
        );
    }
    said
}

/// The name of a target without the key of its gate.
fn bare<'t>(gate: &GateReport, target: &'t str) -> &'t str {
    let rest = target.strip_prefix(gate.key.as_str());
    rest.and_then(|rest| rest.strip_prefix('.'))
        .unwrap_or(target)
}

/// Returns true if the gate's findings say more than the number: of a flag that only means "failed", and of a count or
/// a share of which the gate itself asks for none or all, unless the gate sums up its numbers.
fn is_explained(failed: &Expectation, gate: &GateReport) -> bool {
    let is_any_of = |known: &[Value], one: &Value| known.contains(one);
    let is_unset = failed
        .actual
        .as_ref()
        .is_some_and(|actual| is_any_of(&[json!(0), json!(false)], actual));
    let is_outcome = failed.target.ends_with("passed")
        && is_any_of(
            &[json!({"exact": 1}), json!({"exact": true})],
            &failed.matcher,
        );
    if is_unset && (*failed.matcher == json!({"gte": 1}) || is_outcome) {
        return !gate.explanation.is_empty();
    }
    let is_default = failed.suite_line.is_none() && gate.summary.is_none();
    let none_or_all = [json!({"lte": 0}), json!({"gte": 1})];
    let mut explained = gate.explanation.iter().flat_map(|one| &one.targets);
    is_default
        && is_any_of(&none_or_all, &failed.matcher)
        && explained.any(|one| *one == failed.target)
}

/// The prefix of the suite's own message.
pub(crate) const MESSAGE: &str = "message: ";

/// The lines below: the suite's message, the reason, and the differences.
pub(crate) fn details(expectation: &Expectation, limits: Limits) -> Vec<String> {
    let message = expectation
        .message
        .iter()
        .flat_map(|message| message.trim_end().lines());
    let labels = std::iter::once(MESSAGE).chain(std::iter::repeat("         "));
    let mut lines: Vec<_> = labels
        .zip(message)
        .map(|(label, line)| format!("{label}{}", clipped(line, limits.text)))
        .collect();
    // The headline has the reason for a missing value.
    let reason = expectation.actual.as_ref().and(expectation.reason.as_ref());
    lines.extend(reason.map(|reason| clipped(reason, limits.text)));
    if !is_said_already(expectation, limits) {
        lines.extend(differences(&expectation.diff, limits));
    }
    lines
}

/// One difference at the root repeats the headline, unless the headline cut it short.
fn is_said_already(expectation: &Expectation, limits: Limits) -> bool {
    matches!((expectation.diff.as_slice(), &expectation.actual), ([only], Some(actual))
        if only.pointer.is_empty() && only.actual == *actual
            && fits(actual, limits) && fits(&only.expected, limits))
}

/// The finding as a sentence, with its run if there are several, and its differences.
pub(crate) fn finding(
    finding: &Finding,
    test: &TestReport,
    limits: Limits,
) -> (String, Vec<String>) {
    let sentence = labelled(&finding.message, finding.run.as_slice(), test, limits);
    (sentence, differences(&finding.diff, limits))
}

/// The text, with its runs if there are several.
pub(crate) fn labelled(text: &str, runs: &[usize], test: &TestReport, limits: Limits) -> String {
    let text = clipped(text, limits.text);
    if runs.is_empty() || test.runs.len() < 2 {
        text
    } else {
        format!("{}: {text}", label(test, runs, limits))
    }
}

/// `run 3`, `run 3 (nightly/3.json)`, `runs 1-4, 7`, `runs 1, 3 (nightly/1.json; nightly/3.json)`.
pub(crate) fn label(test: &TestReport, runs: &[usize], limits: Limits) -> String {
    if let [run] = runs {
        return clipped(&test.run_label(*run), limits.text);
    }
    let mut spans: Vec<(usize, usize)> = Vec::new();
    for &run in runs {
        match spans.last_mut() {
            Some((_, last)) if (*last..=*last + 1).contains(&run) => *last = run,
            _ => spans.push((run, run)),
        }
    }
    let span = |(from, to): &(usize, usize)| {
        if from == to {
            from.to_string()
        } else {
            format!("{from}-{to}")
        }
    };
    let spans: Vec<String> = spans.iter().map(span).collect();
    format!("runs {}{}", spans.join(", "), origins(test, runs, limits))
}

/// The files of several runs or the ids of their traces in parentheses, if each has its own.
fn origins(test: &TestReport, runs: &[usize], limits: Limits) -> String {
    let mut known: Vec<String> = runs
        .iter()
        .filter_map(|run| test.run_origin(*run))
        .collect();
    let more = known.len().saturating_sub(limits.origins);
    known.truncate(limits.origins);
    known.extend((more > 0).then(|| format!("and {more} more")));
    if known.is_empty() {
        String::new()
    } else {
        clipped(&format!(" ({})", known.join("; ")), limits.text)
    }
}

/// The differences of two values, one line each.
pub(crate) fn differences(diffs: &[AssertionDiff], limits: Limits) -> Vec<String> {
    let shown = diffs.iter().take(limits.diffs);
    let mut lines: Vec<_> = shown.map(|diff| difference(diff, limits)).collect();
    if let Some(more @ 1..) = diffs.len().checked_sub(limits.diffs) {
        lines.push(format!("… and {}", count(more, "more difference")));
    }
    lines
}

fn difference(diff: &AssertionDiff, limits: Limits) -> String {
    let (expected, actual) = pair(&diff.expected, &diff.actual, limits);
    let pointer = if diff.pointer.is_empty() {
        "(whole value)"
    } else {
        &diff.pointer
    };
    let pointer = clipped(pointer, limits.value);
    match diff.absent {
        Some(Side::Actual) => format!("{pointer}: expected {expected}, but it has no value"),
        Some(Side::Expected) => format!("{pointer}: expected nothing, got {actual}"),
        None => format!("{pointer}: expected {expected}, got {actual}"),
    }
}

/// The shortest explanation of a row that did not pass.
pub(crate) fn first_reason(test: &TestReport, limits: Limits) -> Option<String> {
    if let Some(reason) = &test.reason {
        return Some(clipped(&reason.message, limits.text));
    }
    let is_cause = |run: &&RunReport| run.status == test.status && run.fails_by_itself();
    let run = test.runs.iter().find(is_cause);
    let gate = test.gates.iter().find(|gate| gate.status == test.status);
    let of_run = run.and_then(|run| {
        let said = first_sentence_of_run(run, limits)?;
        let label = label(test, &[run.index], limits);
        Some(if test.runs.len() > 1 {
            format!("{label}: {said}")
        } else {
            said
        })
    });
    of_run.or_else(|| {
        let gate = gate?;
        Some(format!(
            "{}: {}",
            clipped(&gate.key, limits.value),
            first_sentence_of_gate(gate, test, limits)?
        ))
    })
}

/// Why the run is an error, or its first failed assertion.
pub(crate) fn first_sentence_of_run(run: &RunReport, limits: Limits) -> Option<String> {
    if let Some(reason) = &run.reason {
        return Some(clipped(&reason.message, limits.text));
    }
    first_failed(&run.expectations, None, limits)
}

/// The reasons for which gates fail this run: each gate's key, with its findings.
pub(crate) fn of_failing_gates<'t>(
    test: &'t TestReport,
    run: &'t RunReport,
    limits: Limits,
) -> impl Iterator<Item = (&'t str, String)> {
    run.failed_by.iter().map(move |key| {
        let gate = test.gates.iter().find(|gate| gate.key == *key);
        let found = gate.and_then(|gate| {
            let own = |one: &&Finding| one.run == Some(run.index);
            let table = gate.tables.iter().find(|one| one.run == Some(run.index));
            let finding = gate.explanation.iter().find(own);
            let finding = finding.map(|one| one.message.as_str());
            table.map(|table| table.summary.as_str()).or(finding)
        });
        let found = found.unwrap_or("the run does not meet the gate's requirements for each run");
        (key.as_str(), clipped(found, limits.text))
    })
}

/// The gate's shortest finding, otherwise its first failed assertion.
pub(crate) fn first_sentence_of_gate(
    gate: &GateReport,
    test: &TestReport,
    limits: Limits,
) -> Option<String> {
    if let Some(first) = unmet(gate, limits).into_iter().next() {
        return Some(first);
    }
    match (gate.explanation.first(), &gate.not_exercised) {
        (Some(first), _) => Some(finding(first, test, limits).0),
        (None, Some(reason)) if gate.status != Status::Passed => {
            Some(format!("not exercised: {}", clipped(reason, limits.text)))
        }
        _ => first_failed(&gate.expectations, Some(gate), limits),
    }
}

fn first_failed(
    expectations: &[Expectation],
    gate: Option<&GateReport>,
    limits: Limits,
) -> Option<String> {
    let failed = expectations
        .iter()
        .find(|expectation| !expectation.passed)?;
    Some(format!(
        "{} {}",
        clipped(&failed.target, limits.value),
        headline(failed, gate, limits)
    ))
}

#[cfg(test)]
mod tests {
    use super::super::SCREEN;
    use super::*;
    use crate::sample::{absent, broken, diff, gate, test};

    fn ratio_gate(value: f64) -> GateReport {
        gate(
            "g",
            Status::Failed,
            &[("g.ratio", Some(Number::Float(value)))],
        )
    }

    #[test]
    fn a_gates_number_reads_as_in_its_line() {
        let third = broken("g.ratio", json!({"gte": 0.5}), Some(json!(1.0 / 3.0)));
        assert_eq!(
            headline(&third, Some(&ratio_gate(1.0 / 3.0)), SCREEN),
            "must be at least 0.5, got 0.333333"
        );
    }

    #[test]
    fn rounding_does_not_hide_why_a_number_failed() {
        let almost = broken("g.ratio", json!({"gte": 1}), Some(json!(0.999_999_9)));
        assert_eq!(
            headline(&almost, Some(&ratio_gate(0.999_999_9)), SCREEN),
            "must be at least 1, got 0.9999999"
        );
    }

    #[test]
    fn a_share_that_the_gate_itself_asks_for_is_said_by_its_finding() {
        let missed = "walked 1 of 3 steps; missing: `charge`, `confirm`";
        let coverage = "golden_path.coverage";
        let of_line = |suite_line| {
            let mut gate = gate("golden_path", Status::Failed, &[(coverage, None)]);
            gate.explanation = vec![Finding {
                targets: vec![coverage.to_owned()],
                ..Finding::new(Some(1), missed.to_owned())
            }];
            gate.expectations = vec![Expectation {
                suite_line,
                ..broken(coverage, json!({"gte": 1}), Some(json!(0.25)))
            }];
            unmet(&gate, SCREEN)
        };
        assert!(of_line(None).is_empty(), "the finding leads");
        assert_eq!(of_line(Some(7)), ["coverage must be at least 1, got 0.25"]);
    }

    #[test]
    fn a_seen_null_is_not_called_nothing() {
        let seen = Expectation {
            diff: vec![diff("/a", json!(1), json!(null)), absent("/b", json!(2))],
            ..broken(
                "x",
                json!({"exact": {"a": 1, "b": 2}}),
                Some(json!({"a": null})),
            )
        };
        let lines = details(&seen, SCREEN);
        assert_eq!(
            lines,
            [
                "/a: expected 1, got null",
                "/b: expected 2, but it has no value"
            ]
        );
    }

    #[test]
    fn a_difference_that_the_headline_cut_short_is_shown() {
        let (want, got) = (json!("x".repeat(500) + "a"), json!("x".repeat(500) + "b"));
        let exact = Expectation {
            diff: vec![diff("", want.clone(), got.clone())],
            ..broken("final_response", json!({"exact": want}), Some(got))
        };
        let lines = details(&exact, SCREEN);
        let tail = "x".repeat(40);
        let place = "(from character 461)";
        assert_eq!(
            lines,
            [format!(
                "(whole value): expected …\"{tail}a\" {place}, got …\"{tail}b\" {place}"
            )]
        );
    }

    #[test]
    fn a_message_of_several_lines_keeps_its_shape() {
        let said = Expectation {
            message: Some("first\nsecond\n".into()),
            ..broken("x", json!({}), None)
        };
        assert_eq!(
            details(&said, SCREEN),
            ["message: first", "         second"]
        );
    }

    #[test]
    fn only_the_first_differences_are_shown_on_a_screen() {
        let many = (0..8)
            .map(|place| diff(&format!("/{place}"), json!(1), json!(2)))
            .collect();
        let lines = details(
            &Expectation {
                diff: many,
                ..broken("x", json!({}), None)
            },
            SCREEN,
        );
        assert_eq!(
            (lines.len(), lines[5].as_str()),
            (6, "… and 3 more differences")
        );
    }

    #[test]
    fn a_row_is_explained_by_the_part_that_decided_it() {
        let row = test("a.yml", 1, "row", Status::Failed, |test| {
            test.gates = vec![gate("fine", Status::Passed, &[]), ratio_gate(0.5)];
            test.gates[1].expectations =
                vec![broken("g.ratio", json!({"gte": 1}), Some(json!(0.5)))];
        });
        assert_eq!(
            first_reason(&row, SCREEN).as_deref(),
            Some("g: ratio must be at least 1, got 0.5")
        );
    }
}
