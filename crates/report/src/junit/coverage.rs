//! How is coverage shown as properties of a separate suite, and as a testcase for its threshold?

use super::xml;
use mcptest_core::coverage::Coverage;
use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};

pub(super) fn suite(coverage: &Coverage) -> TestSuite {
    let mut suite = TestSuite::new("coverage");
    let percent = coverage
        .percent
        .map_or_else(|| "not measured".to_owned(), |percent| percent.to_string());
    let threshold = coverage
        .threshold
        .map(|threshold| ("coverage.threshold", threshold.to_string()));
    let shares = [
        ("coverage.tools", coverage.tools),
        ("coverage.parameters", coverage.parameters),
        ("coverage.values", coverage.values),
        ("coverage.successes", coverage.successes),
        ("coverage.errors", coverage.errors),
    ];
    let tools = coverage
        .servers
        .iter()
        .flat_map(|server| server.tools.iter().map(move |tool| (server, tool)));
    let not_called = tools.filter(|(_, tool)| tool.calls == 0);
    let not_called =
        not_called.map(|(server, tool)| ("coverage.not_called", server.full_name(tool)));
    let unmeasured = coverage
        .unmeasured
        .iter()
        .map(|server| ("coverage.unmeasured", server.clone()));
    let properties = [("coverage.percent", percent)].into_iter().chain(threshold);
    let properties = properties.chain(shares.map(|(name, share)| (name, share.to_string())));
    for (name, value) in properties.chain(unmeasured).chain(not_called) {
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
