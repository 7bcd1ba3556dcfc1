//! Which texts of a suite's environment must reach neither a recording nor a report?

use mcptest_core::hidden::{hide_in, withheld};
use mcptest_core::report::TestReport;
use mcptest_core::row::{Reason, ReasonKind};
use mcptest_core::suite::{RedactPattern, Suite};
use mcptest_redact::{Builder, RedactError, Redactor};
use parking_lot::Mutex;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, OnceLock};

/// The redactor for suites without their own secrets.
pub static BARE: LazyLock<Option<Redactor>> = LazyLock::new(|| Redactor::builder().build().ok());

/// The redactors of the suites of one invocation, each built when first needed.
#[derive(Default)]
pub struct Secrets {
    by_suite: Mutex<BTreeMap<PathBuf, Arc<SuiteSecrets>>>,
}

/// The secrets of one suite.
pub struct SuiteSecrets {
    values: BTreeMap<String, String>,
    patterns: Vec<RedactPattern>,
    redactor: OnceLock<Result<Redactor, Reason>>,
}

/// The redactor for a suite, with the current values of its variables.
pub fn redactor_of(suite: &Suite) -> Result<Redactor, Reason> {
    Secrets::default().of(suite).redactor().cloned()
}

/// A string of a suite without texts that look like a secret. Values of the environment play no part: a recording
/// must not be stale if they are unset.
pub(crate) fn without_tokens(text: &str) -> String {
    BARE.as_ref()
        .map_or_else(|| text.to_owned(), |bare| bare.text(text).into_owned())
}

/// Like `without_tokens`, but for a value, and also removes values under a secret name; `None` if
/// the value has no secret. Other literals stay, because the suite next to the recording contains
/// them too.
pub(crate) fn without_secret_names<T: Serialize + DeserializeOwned>(value: &T) -> Option<T> {
    let text = serde_json::to_string(value).ok()?;
    let Cow::Owned(clean) = BARE.as_ref()?.json(&text) else {
        return None;
    };
    serde_json::from_str(&clean).ok()
}

/// Why secrets cannot be separated from other texts.
pub fn refused(problems: &[RedactError]) -> Reason {
    let message = problems
        .first()
        .map(ToString::to_string)
        .unwrap_or_default();
    Reason::new(ReasonKind::RedactionFailed, message)
}

impl SuiteSecrets {
    /// The redactor. Without it, nothing may be written.
    pub fn redactor(&self) -> Result<&Redactor, Reason> {
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

    /// A string for display; a fixed text if secrets cannot be separated.
    pub fn hidden_in(&self, text: &str) -> String {
        self.redactor()
            .map(|redactor| redactor.text(text).into_owned())
            .unwrap_or_default()
    }

    /// The row for display: even an old recording can contain a token.
    pub fn hide_in(&self, report: TestReport) -> TestReport {
        let redactor = match &*BARE {
            Some(bare) if self.values.is_empty() && self.patterns.is_empty() => Ok(bare),
            _ => self.redactor(),
        };
        match redactor {
            Ok(redactor) => hide_in(redactor, report),
            Err(reason) => withheld(report, reason),
        }
    }
}

impl Secrets {
    /// The secrets of this suite.
    pub fn of(&self, suite: &Suite) -> Arc<SuiteSecrets> {
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

/// The row of a refused suite for display.
pub(crate) fn hide_what_is_known(report: TestReport) -> TestReport {
    match crate::redaction::redactor() {
        Some(redactor) => hide_in(&redactor, report),
        None => withheld(report, refused(&[])),
    }
}
