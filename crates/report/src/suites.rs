//! Which tests are written in which suite file?

use mcptest_core::report::{Report, TestReport};
use std::collections::BTreeMap;

/// The tests of each suite file, in the order in which the files first occur.
pub(crate) fn by_suite(report: &Report) -> Vec<(&str, Vec<&TestReport>)> {
    let mut places = BTreeMap::new();
    let mut suites: Vec<(&str, Vec<&TestReport>)> = Vec::new();
    for test in &report.tests {
        let file = test.suite.file.as_str();
        let place = *places.entry(file).or_insert_with(|| {
            suites.push((file, Vec::new()));
            suites.len() - 1
        });
        suites[place].1.push(test);
    }
    suites
}
