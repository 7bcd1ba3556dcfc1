//! `json`: the whole report, for other tools and for rendering it again.

use crate::bound::bounded;
use crate::{Options, Reporter};
use mcptest_core::report::{Report, SCHEMA_VERSION};
use serde::Deserialize;

/// The JSON Schema of the report (draft 2020-12).
pub const SCHEMA: &str = include_str!("report.schema.json");

pub(crate) const REPORTER: Reporter = Reporter {
    key: "json",
    doc: "the whole report as JSON, which `mcptest report` renders again",
    extension: "json",
    render,
};

#[expect(clippy::expect_used, reason = "writing to memory cannot fail and every key is a string")]
fn render(report: &Report, _: &Options) -> Vec<u8> {
    let mut out = serde_json::to_vec_pretty(&*bounded(report)).expect("a report is JSON");
    out.push(b'\n');
    out
}

/// Why a saved report cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The text ends early.
    #[error("the report is empty or cut off: {0}")]
    CutOff(serde_json::Error),
    /// The text is not JSON at all.
    #[error("this is not a JSON report: {0}")]
    NotJson(serde_json::Error),
    /// JSON, but of something else.
    #[error("this is not a report of mcptest: it has no whole number `schema_version`")]
    NotReport,
    /// A version that this build does not know yet.
    #[error("the report has schema_version {found}, this build reads {SCHEMA_VERSION}: use a newer mcptest")]
    Newer {
        /// The version in the file.
        found: u64,
    },
    /// A version that never was.
    #[error("the report has schema_version {found}, which no mcptest writes")]
    Unknown {
        /// The version in the file.
        found: u64,
    },
    /// The right version, but a field is missing or of the wrong type.
    #[error("the report is broken: {0}")]
    Broken(serde_json::Error),
}

/// A saved report; its totals are counted anew from its tests.
pub fn read(text: &str) -> Result<Report, ReadError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match version(text)? {
        found if found == u64::from(SCHEMA_VERSION) => {}
        found if found > u64::from(SCHEMA_VERSION) => return Err(ReadError::Newer { found }),
        found => return Err(ReadError::Unknown { found }),
    }
    let report: Report = serde_json::from_str(text).map_err(ReadError::Broken)?;
    Ok(Report::new(report.tests))
}

fn version(text: &str) -> Result<u64, ReadError> {
    #[derive(Deserialize)]
    struct Probe {
        schema_version: Option<u64>,
    }
    match serde_json::from_str::<Probe>(text) {
        Ok(probe) => probe.schema_version.ok_or(ReadError::NotReport),
        Err(error) if error.is_data() => Err(ReadError::NotReport),
        Err(error) if error.is_eof() => Err(ReadError::CutOff(error)),
        Err(error) => Err(ReadError::NotJson(error)),
    }
}

#[cfg(test)]
mod tests;
