//! `junit`: a testcase per run and per gate, for CI servers.

mod body;
mod case;
mod coverage;

use crate::suites::by_suite;
use crate::words::escape;
use crate::{Options, Reporter};
use mcptest_core::report::Report;
use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite, XmlString};

pub(crate) const REPORTER: Reporter = Reporter::new(
    "junit",
    "JUnit XML for CI servers: a testcase per run and per gate",
    "xml",
    render,
);

fn render(report: &Report, _: &Options) -> Vec<u8> {
    let suites = by_suite(report).into_iter().map(|(file, tests)| {
        let mut suite = TestSuite::new(xml(file));
        suite.add_test_cases(tests.into_iter().flat_map(case::cases));
        suite
    });
    document(
        "mcptest",
        suites.chain(report.coverage.as_ref().map(coverage::suite)),
    )
}

/// Only recorded times and no timestamps: the same report gives the same bytes.
#[expect(clippy::expect_used, reason = "writing to memory cannot fail")]
pub fn document(name: &str, suites: impl IntoIterator<Item = TestSuite>) -> Vec<u8> {
    let mut document = quick_junit::Report::new(name);
    document.add_test_suites(suites);
    let mut out = Vec::new();
    document.serialize(&mut out).expect("a report is XML");
    out
}

/// A testcase that did not pass. Each line of its body is escaped separately.
pub fn bad(kind: NonSuccessKind, word: &str, message: &str, body: String) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status
        .set_message(xml(message))
        .set_type(xml(word))
        .set_description(XmlString::new(body));
    status
}

/// Adds properties to a testcase.
pub fn describe<'n>(case: &mut TestCase, properties: impl IntoIterator<Item = (&'n str, String)>) {
    case.add_properties(
        properties
            .into_iter()
            .map(|(name, value)| (xml(name), xml(&value))),
    );
}

/// Text without characters that XML cannot contain.
pub fn xml(text: &str) -> XmlString {
    XmlString::new(escape(text))
}

#[cfg(test)]
mod tests;
