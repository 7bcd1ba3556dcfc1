//! The page as a local server serves it: it requests the traces that are opened, and changes.

use super::{CLOSING, POLICY, begun, block, docs, explained, traces_of};
use crate::bound::{bounded, embedding};
use crate::failures::verdict;
use crate::{Clean, Options};
use mcptest_core::eval::Gates;
use mcptest_core::json::Layout;
use mcptest_core::report::{Embed, Report, TestReport};
use serde_json::Value;

/// The page of a report with the pages of these gates. `version` is the state of the report.
pub fn served_page(report: &Report, gates: Gates, version: u64, clean: Clean) -> Vec<u8> {
    let policy = format!("{POLICY}; connect-src 'self'");
    let options = Options {
        clean: Some(clean),
        gates,
        ..Options::default()
    };
    let attributes = format!(" data-version=\"{version}\"");
    let data = block("report", &without_traces(report), &options);
    // The gates of the report may change while the page is open.
    let docs = docs(|_| true, &options);
    (begun(&verdict(report), &policy, &attributes, &data) + &docs + CLOSING).into_bytes()
}

/// The answer for a page that shows another version. `live` describes the rows that are being recorded.
pub fn served_report(report: &Report, version: u64, live: &Value, clean: Clean) -> Vec<u8> {
    let report = without_traces(report);
    let text = format!("{{\"version\":{version},\"live\":{live},\"report\":{report}}}");
    clean(&text).into_owned().into_bytes()
}

/// The traces of a test's runs by their numbers.
pub fn served_traces(test: &TestReport, clean: Clean) -> Vec<u8> {
    clean(&traces_of(test).unwrap_or_else(|| "{}".to_owned()))
        .into_owned()
        .into_bytes()
}

fn without_traces(report: &Report) -> String {
    explained(&bounded(&embedding(report, Embed::None))).to_json(Layout::Compact)
}
