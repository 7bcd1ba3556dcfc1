//! Which texts of a suite's environment must reach neither a recording nor a report?

use mcptest_core::redact::{Builder, Redactor};
use mcptest_core::report::{Reason, Status, TestReport};
use mcptest_core::suite::Suite;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The redactors of the suites of one invocation, each made when it is first needed.
#[derive(Default)]
pub(crate) struct Secrets {
    by_suite: Mutex<BTreeMap<PathBuf, Arc<OfSuite>>>,
}

/// What is secret in one suite.
pub(crate) struct OfSuite {
    values: BTreeMap<String, String>,
    redactor: OnceLock<Result<Redactor, Reason>>,
}

impl OfSuite {
    /// What takes the secrets out; without it nothing may be written.
    pub(crate) fn redactor(&self) -> Result<&Redactor, Reason> {
        let made = self.redactor.get_or_init(|| {
            let add = |builder: Builder, (name, value): (&String, &String)| builder.value(name, value);
            self.values.iter().fold(Redactor::builder(), add).build().map_err(|problems| {
                let message = problems.first().map(ToString::to_string).unwrap_or_default();
                Reason { message, ..Reason::default() }
            })
        });
        made.as_ref().map_err(Clone::clone)
    }

    /// The row as it may be shown. Where no variable that the suite names has a value, that costs nothing.
    pub(crate) fn hide_in(&self, report: TestReport) -> TestReport {
        if self.values.is_empty() {
            return report;
        }
        match self.redactor() {
            Ok(redactor) => hidden(redactor, report),
            Err(reason) => withheld(report, reason),
        }
    }
}

impl Secrets {
    /// What is secret in this suite.
    pub(crate) fn of(&self, suite: &Suite) -> Arc<OfSuite> {
        let mut kept = self.by_suite.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept.get(&suite.path) {
            return Arc::clone(known);
        }
        let values = suite.secret_values(crate::host().environment);
        let made = Arc::new(OfSuite { values, redactor: OnceLock::new() });
        kept.insert(suite.path.clone(), Arc::clone(&made));
        made
    }
}

/// The row without its secrets. Where it is written stays, and so does the command that judges it alone, unless the
/// row's own name has a secret in it.
fn hidden(redactor: &Redactor, report: TestReport) -> TestReport {
    let Ok(text) = serde_json::to_string(&report) else { return report };
    let Cow::Owned(clean) = redactor.json(&text) else { return report };
    match serde_json::from_str::<TestReport>(&clean) {
        Ok(clean) => {
            let rerun = if clean.name == report.name { report.rerun } else { clean.rerun };
            TestReport { suite: report.suite, rerun, ..clean }
        }
        Err(error) => {
            let message = format!("the row cannot be shown without its secrets: {error}");
            withheld(report, Reason { message, ..Reason::default() })
        }
    }
}

fn withheld(report: TestReport, reason: Reason) -> TestReport {
    TestReport {
        status: Status::Error,
        reason: Some(reason),
        notes: Vec::new(),
        runs: Vec::new(),
        gates: Vec::new(),
        ..report
    }
}
