//! How is coverage shown as properties of a separate suite, and as a testcase for its threshold?

use super::xml;
use mcptest_core::coverage::Coverage;
use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};

pub(super) fn suite(coverage: &Coverage) -> TestSuite {
    let mut suite = TestSuite::new("coverage");
    for (name, value) in properties(coverage) {
        suite.add_property((xml(name), xml(&value)));
    }
    if coverage.threshold.is_some() {
        let status = coverage.miss().map_or_else(TestCaseStatus::success, |why| {
            let mut missed = TestCaseStatus::non_success(NonSuccessKind::Failure);
            missed.set_message(xml(&why)).set_type("coverage");
            missed
        });
        suite.add_test_case(TestCase::new("coverage threshold", status));
    }
    suite
}

fn properties(coverage: &Coverage) -> Vec<(&'static str, String)> {
    let percent = coverage
        .percent
        .map_or_else(|| "not measured".to_owned(), |percent| percent.to_string());
    let mut properties = vec![("coverage.percent", percent)];
    if let Some(threshold) = coverage.threshold {
        properties.push(("coverage.threshold", threshold.to_string()));
    }
    properties.extend([
        ("coverage.tools", coverage.tools.to_string()),
        ("coverage.parameters", coverage.parameters.to_string()),
        ("coverage.values", coverage.values.to_string()),
        ("coverage.successes", coverage.successes.to_string()),
        ("coverage.errors", coverage.errors.to_string()),
    ]);
    let unmeasured = coverage.unmeasured.iter();
    properties.extend(unmeasured.map(|server| ("coverage.unmeasured", server.clone())));
    for server in &coverage.servers {
        let not_called = server.tools.iter().filter(|tool| tool.calls == 0);
        properties.extend(not_called.map(|tool| ("coverage.not_called", server.full_name(tool))));
    }
    properties
}
