//! A report as JSON, and back. Only this module compiles the serialization code of reports.

use super::{Report, TestReport};
use crate::json::{Layout, write};

impl Report {
    /// The report as JSON.
    pub fn to_json(&self, layout: Layout) -> String {
        write(self, layout)
    }

    /// Reads a report from its JSON, unchanged.
    pub fn from_json(text: &str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }
}

impl TestReport {
    /// The entry of the report as JSON on one line.
    pub fn to_json(&self) -> String {
        write(self, Layout::Compact)
    }

    /// An entry that was written as JSON.
    pub fn from_json(text: &str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }
}
