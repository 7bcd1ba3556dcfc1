//! Which traces does a report hold, and how?

use super::{RunReport, Status, TestReport};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The recorded text of a trace envelope.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RawTrace(Box<RawValue>);

impl RawTrace {
    /// A trace from its text. `None` if it is not JSON.
    pub fn new(text: &str) -> Option<Self> {
        RawValue::from_string(text.trim().to_owned()).ok().map(Self)
    }

    /// The JSON.
    pub fn text(&self) -> &str {
        self.0.get()
    }
}

impl PartialEq for RawTrace {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

/// Which traces a report contains.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Embed {
    /// None.
    #[default]
    None,
    /// Tests that did not pass.
    Failed,
    /// All.
    All,
}

impl Embed {
    /// Returns true if the traces of this test are kept.
    pub fn takes(self, test: &TestReport) -> bool {
        let is_bad = matches!(test.status, Status::Failed | Status::Error);
        self == Self::All || (self == Self::Failed && is_bad)
    }

    /// Removes the traces that are not kept.
    pub fn keep_in(self, test: &mut TestReport) {
        if !self.takes(test) {
            test.runs
                .iter_mut()
                .for_each(|run: &mut RunReport| run.trace = None);
        }
    }
}
