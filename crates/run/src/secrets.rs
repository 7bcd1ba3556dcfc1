//! Which texts of a suite's environment must reach neither a recording nor a report?

use mcptest_core::report::{AssertionDiff, Expectation, Status, TestReport};
use mcptest_core::row::{Reason, ReasonKind};
use mcptest_core::suite::{RedactPattern, Suite};
use mcptest_redact::{Builder, RedactError, Redactor, is_secret_name};
use parking_lot::Mutex;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, OnceLock};

/// For the rows of suites that have no secrets of their own.
pub(crate) static BARE: LazyLock<Option<Redactor>> =
    LazyLock::new(|| Redactor::builder().build().ok());

/// The redactors of the suites of one invocation, each made when it is first needed.
#[derive(Default)]
pub(crate) struct Secrets {
    by_suite: Mutex<BTreeMap<PathBuf, Arc<SuiteSecrets>>>,
}

/// What is secret in one suite.
pub(crate) struct SuiteSecrets {
    values: BTreeMap<String, String>,
    patterns: Vec<RedactPattern>,
    redactor: OnceLock<Result<Redactor, Reason>>,
}

/// What takes the secrets of a suite out of a string, with the values that its variables have now.
pub fn redactor_of(suite: &Suite) -> Result<Redactor, Reason> {
    Secrets::default().of(suite).redactor().cloned()
}

/// A string of a suite without what looks like a secret. Values of the environment play no part: a recording must not be
/// stale where they are not set.
pub(crate) fn without_tokens(text: &str) -> String {
    BARE.as_ref()
        .map_or_else(|| text.to_owned(), |bare| bare.text(text).into_owned())
}

/// The same for a value, in which also goes what stands under a secret name; `None` when there is nothing to take out.
/// Other literals stay: the suite beside the recording says them too.
pub(crate) fn without_secret_names<T: Serialize + DeserializeOwned>(value: &T) -> Option<T> {
    let text = serde_json::to_string(value).ok()?;
    let Cow::Owned(clean) = BARE.as_ref()?.json(&text) else {
        return None;
    };
    serde_json::from_str(&clean).ok()
}

/// Why secrets cannot be told from other texts.
pub(crate) fn refused(problems: &[RedactError]) -> Reason {
    let message = problems
        .first()
        .map(ToString::to_string)
        .unwrap_or_default();
    Reason::new(ReasonKind::RedactionFailed, message)
}

impl SuiteSecrets {
    /// What takes the secrets out; without it nothing may be written.
    pub(crate) fn redactor(&self) -> Result<&Redactor, Reason> {
        let made = self.redactor.get_or_init(|| {
            let add =
                |builder: Builder, (name, value): (&String, &String)| builder.value(name, value);
            let builder = self.values.iter().fold(Redactor::builder(), add);
            let builder = self
                .patterns
                .iter()
                .fold(builder, |builder, pattern| pattern.add_to(builder));
            builder.build().map_err(|problems| refused(&problems))
        });
        made.as_ref().map_err(Clone::clone)
    }

    /// A string as it may be shown; nothing of it when secrets cannot be told apart.
    pub(crate) fn hidden_in(&self, text: &str) -> String {
        self.redactor()
            .map(|redactor| redactor.text(text).into_owned())
            .unwrap_or_default()
    }

    /// The row as it may be shown: also an old recording can have a token in it.
    pub(crate) fn hide_in(&self, report: TestReport) -> TestReport {
        let redactor = match &*BARE {
            Some(bare) if self.values.is_empty() && self.patterns.is_empty() => Ok(bare),
            _ => self.redactor(),
        };
        match redactor {
            Ok(redactor) => hidden(redactor, report),
            Err(reason) => withheld(report, reason),
        }
    }
}

impl Secrets {
    /// What is secret in this suite.
    pub(crate) fn of(&self, suite: &Suite) -> Arc<SuiteSecrets> {
        let mut kept = self.by_suite.lock();
        if let Some(known) = kept.get(&suite.path) {
            return Arc::clone(known);
        }
        let values = suite.secret_values(crate::host().environment);
        let patterns = suite.redact.clone();
        let made = Arc::new(SuiteSecrets {
            values,
            patterns,
            redactor: OnceLock::new(),
        });
        kept.insert(suite.path.clone(), Arc::clone(&made));
        made
    }
}

/// The row of a refused suite as it may be shown.
pub(crate) fn hide_what_is_known(report: TestReport) -> TestReport {
    match crate::exit::redactor() {
        Some(redactor) => hidden(&redactor, report),
        None => withheld(report, refused(&[])),
    }
}

/// The row without its secrets. Where it is written stays, and so does the command that judges it alone, unless the
/// row's own name has a secret in it.
fn hidden(redactor: &Redactor, mut report: TestReport) -> TestReport {
    for run in &mut report.runs {
        run.expectations
            .iter_mut()
            .for_each(|one| hide_under_names(redactor, one));
    }
    for gate in &mut report.gates {
        gate.expectations
            .iter_mut()
            .for_each(|one| hide_under_names(redactor, one));
        let diffs = gate
            .explanation
            .iter_mut()
            .flat_map(|finding| &mut finding.diff);
        diffs.for_each(|diff| hide_in_diff(redactor, diff));
        for row in gate.tables.iter_mut().flat_map(|table| &mut table.rows) {
            row.diff
                .iter_mut()
                .for_each(|diff| hide_in_diff(redactor, diff));
            let calls = row.expected.iter_mut().chain(&mut row.recorded);
            calls
                .filter_map(|call| call.args.as_mut())
                .for_each(|args| hide_in_arguments(redactor, args));
        }
        let diffs = gate
            .evidence
            .iter_mut()
            .flat_map(|evidence| evidence.differences_mut());
        diffs.for_each(|diff| hide_in_diff(redactor, diff));
    }
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

/// What stands at a path that ends in a secret's name, of which the value alone does not tell.
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
    expectation
        .diff
        .iter_mut()
        .for_each(|diff| hide_in_diff(redactor, diff));
}

fn hide_in_diff(redactor: &Redactor, diff: &mut AssertionDiff) {
    let name = diff
        .pointer
        .rsplit('/')
        .next()
        .unwrap_or_default()
        .to_owned();
    if is_secret_name(&name) {
        diff.expected = named(redactor, &name, diff.expected.take());
        diff.actual = named(redactor, &name, diff.actual.take());
    }
}

/// Arguments by their paths, each of which may end in a secret's name.
fn hide_in_arguments(redactor: &Redactor, args: &mut Value) {
    for (path, value) in args.as_object_mut().into_iter().flatten() {
        let name = path.rsplit('.').next().unwrap_or_default();
        if is_secret_name(name) {
            *value = named(redactor, name, value.take());
        }
    }
}

/// A value as it is shown where its name stands beside it.
fn named(redactor: &Redactor, name: &str, value: Value) -> Value {
    let text = json!({ name: &value }).to_string();
    let Cow::Owned(clean) = redactor.json(&text) else {
        return value;
    };
    let mut clean: Value = serde_json::from_str(&clean).unwrap_or_default();
    clean[name].take()
}

fn withheld(mut report: TestReport, reason: Reason) -> TestReport {
    report.status = Status::Error;
    report.reason = Some(reason);
    report.notes.clear();
    report.advice.clear();
    report.runs.clear();
    report.gates.clear();
    report
}
