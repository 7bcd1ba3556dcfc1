//! What do the tests of every format need?

use mcptest_core::report::{Status, TestReport};
use mcptest_report::{Options, Reporter};
use serde_json::{Value, json};

pub(crate) fn test(
    file: &str,
    line: usize,
    name: &str,
    status: Status,
    fill: impl FnOnce(&mut TestReport),
) -> TestReport {
    let mut test: TestReport = serde_json::from_value(json!({
        "name": name,
        "suite": { "file": file, "line": line },
        "status": status,
        "rerun": format!("mcptest run {file} --filter '{name}'"),
        "runs": [],
        "gates": [],
    }))
    .unwrap();
    fill(&mut test);
    test
}

/// A reporter's output, checked to be deterministic.
pub(crate) fn rendered<R>(
    reporters: &[Reporter<R>],
    key: &str,
    of: &R,
    options: &Options,
) -> String {
    let reporter = reporters
        .iter()
        .find(|reporter| reporter.key == key)
        .unwrap();
    let bytes = (reporter.render)(of, options);
    assert_eq!(
        bytes,
        (reporter.render)(of, options),
        "{key} differs each time"
    );
    String::from_utf8(bytes).unwrap()
}

/// Checks the JSON against its schema.
#[expect(
    clippy::disallowed_methods,
    reason = "the schema is ours, and this is a test"
)]
pub(crate) fn fitting(schema: &str, json: &str) -> Value {
    let validator = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
    let shown: Value = serde_json::from_str(json).unwrap();
    let problems: Vec<String> = validator
        .iter_errors(&shown)
        .map(|problem| problem.to_string())
        .collect();
    assert!(problems.is_empty(), "{problems:?}");
    shown
}
