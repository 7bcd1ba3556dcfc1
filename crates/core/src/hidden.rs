//! How is a report, or a value in an explanation, shown without secrets?

use crate::judge::Recorded;
use crate::report::{AssertionDiff, Expectation, Status, TestReport};
use crate::row::{Reason, ReasonKind};
use mcptest_redact::{NamedSecrets, Redactor, is_secret_name};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::sync::LazyLock;

/// Finds universal secrets: tokens of known shapes, and values under secret names.
static EVERYWHERE: LazyLock<Option<Redactor>> = LazyLock::new(|| Redactor::builder().build().ok());

/// A value for an explanation, redacted by its structure before it becomes words.
pub(crate) fn shown(value: &Value) -> Cow<'_, Value> {
    let Some(redactor) = &*EVERYWHERE else {
        return Cow::Owned(Value::Null);
    };
    match redactor.json(&value.to_string()) {
        Cow::Borrowed(_) => Cow::Borrowed(value),
        Cow::Owned(clean) => Cow::Owned(serde_json::from_str(&clean).unwrap_or_default()),
    }
}

/// A value with this name, for an explanation.
pub(crate) fn shown_under<'v>(name: &str, value: &'v Value) -> Cow<'v, Value> {
    match &*EVERYWHERE {
        Some(redactor) if is_secret_name(name) => Cow::Owned(named(redactor, name, value.clone())),
        _ => shown(value),
    }
}

/// A value at this JSON pointer, for an explanation.
pub(crate) fn shown_at<'v>(pointer: &str, value: &'v Value) -> Cow<'v, Value> {
    match name_at(pointer) {
        Some((name, true)) => {
            let items = json!([value]);
            let shown = shown_under(name, &items);
            Cow::Owned(shown.get(0).cloned().unwrap_or_default())
        }
        Some((name, false)) => shown_under(name, value),
        None => shown(value),
    }
}

/// Adds the values under secret names in a recorded text.
pub(crate) fn collect_named(text: &str, into: &mut NamedSecrets) {
    if let Some(redactor) = &*EVERYWHERE
        && redactor.may_find(text)
    {
        redactor.collect_named(text, into);
    }
}

/// A JSON text without universal secrets and without these values; `null` if they cannot be
/// searched for.
pub(crate) fn without(secrets: &NamedSecrets, text: &str) -> String {
    let own =
        (!secrets.is_empty()).then(|| Redactor::builder().named_secrets(secrets).build().ok());
    let redactor = match &own {
        Some(own) => own.as_ref(),
        None => EVERYWHERE.as_ref(),
    };
    redactor.map_or_else(
        || "null".to_owned(),
        |redactor| redactor.json(text).into_owned(),
    )
}

/// The last name of a JSON pointer, and whether an index of a list follows it.
fn name_at(pointer: &str) -> Option<(&str, bool)> {
    let mut steps = pointer.rsplit('/').filter(|step| !step.is_empty());
    let is_index = |step: &str| step.bytes().all(|byte| byte.is_ascii_digit());
    let last = steps.next()?;
    if is_index(last) {
        let before = steps.next()?;
        return (!is_index(before)).then_some((before, true));
    }
    Some((last, false))
}

/// The report of a row without the values that its recordings have under secret names, wherever
/// they appear.
///
/// Every explanation passes through here. A gate may show a value without its name, or under
/// another one.
pub(crate) fn without_named_secrets(report: TestReport, recorded: &Recorded<'_>) -> TestReport {
    if !has_something_to_hide_in(&report) {
        return report;
    }
    let mut secrets = NamedSecrets::default();
    recorded.each_text(&mut |text| collect_named(text, &mut secrets));
    if secrets.is_empty() {
        return report;
    }
    match Redactor::builder().named_secrets(&secrets).build() {
        Ok(redactor) => hide_in(&redactor, report),
        Err(problems) => {
            let message = problems.first().map(ToString::to_string);
            let reason = Reason::new(ReasonKind::RedactionFailed, message.unwrap_or_default());
            withheld(report, reason)
        }
    }
}

/// Returns true if the report shows more of the recordings than the names of tools.
fn has_something_to_hide_in(report: &TestReport) -> bool {
    let is_telling_run = report
        .runs
        .iter()
        .any(|run| run.trace.is_some() || run.status != Status::Passed);
    let is_telling_gate = report
        .gates
        .iter()
        .any(|gate| !gate.explanation.is_empty() || gate.evidence.is_some());
    report.status != Status::Passed || is_telling_run || is_telling_gate || !report.notes.is_empty()
}

/// The row without its secrets. Its place stays, and so does the command that judges it alone, unless the row's own
/// name contains a secret.
pub fn hide_in(redactor: &Redactor, mut report: TestReport) -> TestReport {
    hide_values(redactor, &mut report);
    // What a pattern makes of a variant could not be read back, and a number of distractors is no secret.
    let variant = report.variant.take();
    let text = report.to_json();
    report.variant = variant;
    let Cow::Owned(clean) = redactor.document(&text) else {
        return report;
    };
    match TestReport::from_json(&clean) {
        Ok(mut clean) => {
            if clean.name == report.name {
                clean.rerun = report.rerun;
            }
            clean.suite = report.suite;
            clean.variant = report.variant;
            clean
        }
        Err(error) => {
            let message = format!("the row cannot be shown without its secrets: {error}");
            let reason = Reason::new(ReasonKind::RedactionFailed, message)
                .help("a pattern of `redact:` matches words that every report has; narrow it");
            withheld(report, reason)
        }
    }
}

/// Hides values that are secret by the name at the end of their path, which is in another text of
/// the report.
fn hide_values(redactor: &Redactor, report: &mut TestReport) {
    let of_runs = report.runs.iter_mut().flat_map(|run| &mut run.expectations);
    of_runs.for_each(|expectation| hide_under_names(redactor, expectation));
    for gate in &mut report.gates {
        for expectation in &mut gate.expectations {
            hide_under_names(redactor, expectation);
        }
        let findings = gate.explanation.iter_mut();
        hide_in_diffs(redactor, findings.flat_map(|finding| &mut finding.diff));
        for row in gate.tables.iter_mut().flat_map(|table| &mut table.rows) {
            hide_in_diffs(redactor, &mut row.diff);
            let calls = row.expected.iter_mut().chain(&mut row.recorded);
            calls
                .filter_map(|call| call.args.as_mut())
                .for_each(|args| hide_in_arguments(redactor, args));
        }
        let evidence = gate.evidence.iter_mut();
        hide_in_diffs(
            redactor,
            evidence.flat_map(|evidence| evidence.differences_mut()),
        );
    }
}

/// Hides a value at a path that ends in a secret's name.
fn hide_under_names(redactor: &Redactor, expectation: &mut Expectation) {
    let name = expectation
        .target
        .rsplit(['.', '['])
        .next()
        .unwrap_or_default();
    let name = name.trim_matches(['"', '\'', ']']).to_owned();
    if is_secret_name(&name) {
        expectation.actual = expectation
            .actual
            .take()
            .map(|value| named(redactor, &name, value));
        for diff in &mut expectation.diff {
            diff.actual = named(redactor, &name, diff.actual.take());
        }
    }
    hide_in_diffs(redactor, &mut expectation.diff);
}

fn hide_in_diffs<'d>(redactor: &Redactor, diffs: impl IntoIterator<Item = &'d mut AssertionDiff>) {
    for diff in diffs {
        hide_in_diff(redactor, diff);
    }
}

fn hide_in_diff(redactor: &Redactor, diff: &mut AssertionDiff) {
    let Some((name, is_item)) = name_at(&diff.pointer).filter(|(name, _)| is_secret_name(name))
    else {
        return;
    };
    for value in [&mut diff.expected, &mut diff.actual] {
        *value = if is_item {
            let mut items = named(redactor, name, json!([value.take()]));
            items[0].take()
        } else {
            named(redactor, name, value.take())
        };
    }
}

/// Redacts arguments by their paths, which may end in a secret's name.
fn hide_in_arguments(redactor: &Redactor, args: &mut Value) {
    for (path, value) in args.as_object_mut().into_iter().flatten() {
        let name = path.rsplit('.').next().unwrap_or_default();
        let (name, is_item) = name
            .split_once('[')
            .map_or((name, false), |(name, _)| (name, true));
        if !is_secret_name(name) {
            continue;
        }
        *value = if is_item {
            named(redactor, name, json!([value.take()]))[0].take()
        } else {
            named(redactor, name, value.take())
        };
    }
}

/// A value as shown next to its name.
fn named(redactor: &Redactor, name: &str, value: Value) -> Value {
    let text = json!({ name: &value }).to_string();
    let Cow::Owned(clean) = redactor.json(&text) else {
        return value;
    };
    let mut clean: Value = serde_json::from_str(&clean).unwrap_or_default();
    clean[name].take()
}

/// The row without texts that may contain secrets.
pub fn withheld(mut report: TestReport, reason: Reason) -> TestReport {
    report.status = Status::Error;
    report.reason = Some(reason);
    report.notes.clear();
    report.advice.clear();
    report.runs.clear();
    report.gates.clear();
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_shown_without_what_stands_under_secret_names() {
        let args = json!({"user": "bob", "api_key": "kk-1", "nested": {"client_secret": "s"}, "passcode": 12});
        let hidden = json!({"user": "bob", "api_key": "[redacted:api-key]",
            "nested": {"client_secret": "[redacted:secret]"}, "passcode": "[redacted:password]"});
        assert_eq!(*shown(&args), hidden);
        for (pointer, value) in [
            ("/api_key", json!("kk-1")),
            ("/nested/api_key", json!("kk-1")),
            ("/api_key/0", json!("kk-1")),
            ("/cookies/1", json!("a=b")),
        ] {
            let shown = shown_at(pointer, &value).to_string();
            assert!(shown.starts_with("\"[redacted:"), "{pointer}: {shown}");
        }
        for (pointer, value) in [
            ("/user", json!("bob")),
            ("", json!(1)),
            ("/0/1", json!("x")),
        ] {
            assert_eq!(*shown_at(pointer, &value), value);
        }
    }
}
