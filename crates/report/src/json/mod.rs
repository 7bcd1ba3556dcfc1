//! `json`: the whole report, for other tools and for rendering it again.

use crate::bound::{bounded, embedding};
use crate::{Options, Reporter};
use mcptest_core::eval::GATES;
use mcptest_core::json::document::{Placed, Source, TextFault, Words};
use mcptest_core::json::{Layout, write};
use mcptest_core::report::{Embed, Report, SCHEMA_VERSION, TestReport};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The JSON Schema of the report (draft 2020-12).
pub const SCHEMA: &str = include_str!("report.schema.json");

pub(crate) const REPORTER: Reporter = Reporter {
    embeds: Some(Embed::None),
    ..Reporter::new(
        "json",
        "the whole report as JSON, which `mcptest report` renders again",
        "json",
        render,
    )
};

fn render(report: &Report, options: &Options) -> Vec<u8> {
    let report = embedding(report, options.embed);
    (bounded(&report).to_json(Layout::Indented) + "\n").into_bytes()
}

/// All of a document, indented.
pub fn whole<R: Serialize>(document: &R, _: &Options) -> Vec<u8> {
    (write(document, Layout::Indented) + "\n").into_bytes()
}

/// Why a saved report cannot be read, with the place.
pub type ReadError = Placed<ReadFault>;

const WORDS: Words = Words {
    shape: "a report is one JSON object, as `mcptest run --reporter json=FILE` writes it",
    again: "write it again with `mcptest run --reporter json=FILE`",
};

/// A problem with a saved report.
#[derive(Debug, thiserror::Error)]
pub enum ReadFault {
    /// A problem of the text.
    #[error("{}", .0.said(&WORDS))]
    Text(TextFault),
    /// JSON of a different kind.
    #[error("this is not a report of mcptest: it has no integer `schema_version`")]
    NotReport,
    /// The right version, but a field is missing or of the wrong type.
    #[error("the report is broken ({0}); {again}", again = WORDS.again)]
    Broken(String),
}

impl From<TextFault> for ReadFault {
    fn from(fault: TextFault) -> Self {
        Self::Text(fault)
    }
}

/// Reads a saved report, and recalculates its totals from its tests.
pub fn read(text: &str) -> Result<Report, ReadError> {
    #[derive(Deserialize)]
    struct SchemaVersion<'a> {
        #[serde(borrow)]
        schema_version: Option<&'a RawValue>,
    }
    let source = Source::new(text.as_bytes());
    let text = source.text()?;
    if text.is_empty() {
        return Err(ReadError::nowhere(TextFault::Empty));
    }
    let named: SchemaVersion<'_> = source.object(text, |_| ReadFault::NotReport)?;
    if named
        .schema_version
        .is_none_or(|version| version.get().parse::<u64>().is_err())
    {
        return Err(source.fault_here(ReadFault::NotReport));
    }
    source.version(named.schema_version, u64::from(SCHEMA_VERSION))?;
    let report = Report::from_json(text);
    let mut report = report.map_err(|error| source.explained(text, &error, ReadFault::Broken))?;
    // An earlier version left the runs as their own checks had them.
    report.tests.iter_mut().for_each(TestReport::settle_runs);
    let mut counted = Report::new(report.tests, GATES);
    (counted.coverage, counted.version, counted.command) =
        (report.coverage, report.version, report.command);
    // What an earlier version says of its gates holds for its numbers.
    counted.gates.extend(report.gates);
    Ok(counted)
}

#[cfg(test)]
mod tests;
