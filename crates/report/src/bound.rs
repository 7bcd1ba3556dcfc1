//! How much of one value does a file for machines hold?

use mcptest_core::report::{AssertionDiff, Embed, Expectation, Reason, Report, TestReport};
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;

/// The longest text, and the longest value as JSON, in bytes.
const LONGEST: usize = 64 << 10;

/// The report without the traces that are not to be in it.
pub(crate) fn embedding(report: &Report, embed: Embed) -> Cow<'_, Report> {
    let has_others =
        |test: &TestReport| !embed.takes(test) && test.runs.iter().any(|run| run.trace.is_some());
    let mut copy = Cow::Borrowed(report);
    if report.tests.iter().any(has_others) {
        copy.to_mut()
            .tests
            .iter_mut()
            .for_each(|test| embed.keep_in(test));
    }
    copy
}

/// The report without traces, lines of suites, and what is behind the numbers of gates.
pub(crate) fn numbers_alone(report: &Report) -> Cow<'_, Report> {
    let mut copy = embedding(report, Embed::None);
    let has_evidence = |test: &TestReport| {
        !test.excerpts.is_empty() || test.gates.iter().any(|gate| gate.evidence.is_some())
    };
    if report.tests.iter().any(has_evidence) {
        for test in &mut copy.to_mut().tests {
            test.excerpts.clear();
            test.gates.iter_mut().for_each(|gate| gate.evidence = None);
        }
    }
    copy
}

/// The report with longer texts and values cut. A cut value ends with its full length and a hash
/// (BLAKE3) of all of it.
pub(crate) fn bounded(report: &Report) -> Cow<'_, Report> {
    let mut copy = Cow::Borrowed(report);
    for (at, test) in report.tests.iter().enumerate() {
        if texts(test).any(|text| text.len() > LONGEST) || values(test).any(is_long) {
            cut_test(&mut copy.to_mut().tests[at]);
        }
    }
    copy
}

fn expectations(test: &TestReport) -> impl Iterator<Item = &Expectation> {
    let of_runs = test.runs.iter().flat_map(|run| &run.expectations);
    of_runs.chain(test.gates.iter().flat_map(|gate| &gate.expectations))
}

fn values(test: &TestReport) -> impl Iterator<Item = &Value> {
    let findings = test
        .gates
        .iter()
        .flat_map(|gate| &gate.explanation)
        .flat_map(|finding| &finding.diff);
    let rows = || {
        test.gates
            .iter()
            .flat_map(|gate| &gate.tables)
            .flat_map(|table| &table.rows)
    };
    let diffs = expectations(test).flat_map(|one| &one.diff).chain(findings);
    let diffs = diffs.chain(rows().flat_map(|row| &row.diff));
    let own = expectations(test).flat_map(|one| one.actual.iter().chain([&*one.matcher]));
    let args = rows()
        .flat_map(|row| row.expected.iter().chain(&row.recorded))
        .filter_map(|call| call.args.as_ref());
    let evidence = test.gates.iter().filter_map(|gate| gate.evidence.as_ref());
    let evidence = evidence.flat_map(|evidence| evidence.values());
    own.chain(diffs.flat_map(|diff| [&diff.expected, &diff.actual]))
        .chain(args)
        .chain(evidence)
}

fn texts(test: &TestReport) -> impl Iterator<Item = &str> {
    let reasons = test
        .reason
        .iter()
        .chain(test.runs.iter().filter_map(|run| run.reason.as_ref()));
    let reasons = reasons.flat_map(|reason| reason.details.iter().chain([&reason.message]));
    let said = expectations(test).filter_map(|one| one.reason.as_ref());
    let found = test
        .gates
        .iter()
        .flat_map(|gate| &gate.explanation)
        .map(|finding| &finding.message);
    let advice = test.advice.iter().map(|advice| &advice.message);
    test.notes
        .iter()
        .chain(advice)
        .chain(reasons)
        .chain(said)
        .chain(found)
        .map(String::as_str)
}

fn cut_test(test: &mut TestReport) {
    test.notes.iter_mut().for_each(cut_text);
    test.advice
        .iter_mut()
        .for_each(|advice| cut_text(&mut advice.message));
    test.reason.iter_mut().for_each(cut_reason);
    for run in &mut test.runs {
        run.reason.iter_mut().for_each(cut_reason);
        run.expectations.iter_mut().for_each(cut_expectation);
    }
    for gate in &mut test.gates {
        gate.expectations.iter_mut().for_each(cut_expectation);
        gate.evidence
            .iter_mut()
            .flat_map(|evidence| evidence.values_mut())
            .for_each(cut_value);
        for finding in &mut gate.explanation {
            cut_text(&mut finding.message);
            finding.diff.iter_mut().for_each(cut_diff);
        }
        for row in gate.tables.iter_mut().flat_map(|table| &mut table.rows) {
            let calls = row.expected.iter_mut().chain(&mut row.recorded);
            calls
                .filter_map(|call| call.args.as_mut())
                .for_each(cut_value);
            row.diff.iter_mut().for_each(cut_diff);
        }
    }
}

fn cut_reason(reason: &mut Reason) {
    cut_text(&mut reason.message);
    reason.details.iter_mut().for_each(cut_text);
}

fn cut_expectation(expectation: &mut Expectation) {
    cut_value(Arc::make_mut(&mut expectation.matcher));
    expectation.actual.iter_mut().for_each(cut_value);
    expectation.diff.iter_mut().for_each(cut_diff);
    expectation.reason.iter_mut().for_each(cut_text);
}

fn cut_diff(diff: &mut AssertionDiff) {
    cut_value(&mut diff.expected);
    cut_value(&mut diff.actual);
}

/// Cuts the texts in a value. If it is still too long, it becomes the start of its JSON, as a
/// string.
fn cut_value(value: &mut Value) {
    if !is_long(value) {
        return;
    }
    let whole = if value.is_string() {
        String::new()
    } else {
        value.to_string()
    };
    cut_texts_in(value);
    if is_long(value) && !value.is_string() {
        *value = Value::String(cut(&whole));
    }
}

fn cut_texts_in(value: &mut Value) {
    match value {
        Value::String(text) => cut_text(text),
        Value::Array(items) => items.iter_mut().for_each(cut_texts_in),
        Value::Object(fields) => fields.values_mut().for_each(cut_texts_in),
        _ => {}
    }
}

fn cut_text(text: &mut String) {
    if text.len() > LONGEST {
        *text = cut(text);
    }
}

/// The text, cut if it is too long.
pub(crate) fn bounded_text(text: &str) -> Cow<'_, str> {
    if text.len() > LONGEST {
        Cow::Owned(cut(text))
    } else {
        Cow::Borrowed(text)
    }
}

fn cut(text: &str) -> String {
    let mut end = LONGEST.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let hash = blake3::hash(text.as_bytes()).to_hex();
    format!(
        "{}… (cut: {} bytes in all, blake3:{})",
        &text[..end],
        text.len(),
        &hash[..32]
    )
}

/// Returns true if the JSON of a value is too long, by an estimate that stops early. A cut string
/// is not longer.
fn is_long(value: &Value) -> bool {
    const NOTE: usize = 128;
    fn spend(value: &Value, left: &mut usize) -> bool {
        let own = match value {
            Value::String(text) => text.len(),
            Value::Array(_) | Value::Object(_) => 2,
            _ => 4,
        };
        let Some(rest) = left.checked_sub(own) else {
            return true;
        };
        *left = rest;
        match value {
            Value::Array(items) => items.iter().any(|item| spend(item, left)),
            Value::Object(fields) => fields.iter().any(|(key, item)| {
                *left = left.saturating_sub(key.len());
                *left == 0 || spend(item, left)
            }),
            _ => false,
        }
    }
    match value {
        Value::String(text) => text.len() > LONGEST,
        other => spend(other, &mut (LONGEST + NOTE)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, find};
    use serde_json::json;

    fn failing(actual: Value) -> Report {
        let mut report = crate::sample::report();
        let expectations = report.tests.iter_mut().flat_map(|test| &mut test.runs);
        let one = expectations
            .flat_map(|run| &mut run.expectations)
            .find(|one| !one.passed)
            .unwrap();
        one.diff = vec![AssertionDiff {
            pointer: String::new(),
            expected: json!(1),
            actual: actual.clone(),
            absent: None,
        }];
        one.actual = Some(actual);
        report
    }

    #[test]
    fn a_report_of_ordinary_values_is_left_as_it_is() {
        assert!(matches!(
            bounded(&crate::sample::report()),
            Cow::Borrowed(_)
        ));
        assert!(matches!(
            bounded(&failing(json!("x".repeat(LONGEST)))),
            Cow::Borrowed(_)
        ));
    }

    #[test]
    fn a_huge_value_is_cut_in_every_file_and_its_length_and_hash_are_said() {
        for value in [
            json!("é".repeat(3 << 20)),
            json!({"text": "x".repeat(6 << 20)}),
            json!(vec![12345; 2 << 20]),
        ] {
            let report = failing(value);
            // The first is for people, and cuts values anyway.
            for reporter in &crate::REPORTERS[1..] {
                let bytes = (reporter.render)(&report, &Options::default());
                assert!(bytes.len() < 400 << 10, "{}: {}", reporter.key, bytes.len());
            }
            let bytes = (find("json").unwrap().render)(&report, &Options::default());
            let text = String::from_utf8(bytes).unwrap();
            assert!(text.contains(" bytes in all, blake3:"), "{}", &text[..2000]);
            assert!(crate::json::read(&text).is_ok());
        }
    }

    #[test]
    fn a_short_part_of_a_long_value_stays_what_it_is() {
        let report = failing(json!({"text": "x".repeat(1 << 20), "n": 7}));
        let cut = bounded(&report).into_owned();
        let mut seen = cut
            .tests
            .iter()
            .flat_map(expectations)
            .filter_map(|one| one.actual.as_ref());
        assert!(seen.any(|value| value.get("n") == Some(&json!(7))));
    }
}
