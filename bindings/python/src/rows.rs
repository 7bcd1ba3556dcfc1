//! The columns of verdict rows, for a table.

use mcptest_core::escape;
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// JSON Lines without characters that control a terminal, as `mcptest score` prints them.
pub(crate) fn escaped(lines: Vec<u8>) -> Vec<u8> {
    let text = String::from_utf8_lossy(&lines);
    match escape::escape_lines(&text, false) {
        Cow::Owned(escaped) => escaped.into_bytes(),
        Cow::Borrowed(_) => lines,
    }
}

/// The same for the rows of a table.
#[pyfunction]
pub(crate) fn escape_lines(lines: &str) -> Cow<'_, str> {
    escape::escape_lines(lines, false)
}

/// A row as it was written.
#[derive(Deserialize)]
struct WrittenRow<'l> {
    trace_id: Option<String>,
    group: Option<String>,
    suite: String,
    agent: Option<String>,
    kind: String,
    gate: Option<String>,
    target: Option<String>,
    #[serde(borrow)]
    value: Option<&'l RawValue>,
    status: String,
    message: Option<String>,
}

/// The rows of a table, column by column. Python receives it as a dictionary.
#[derive(Default, IntoPyObject)]
pub(crate) struct Columns {
    trace_id: Vec<Option<String>>,
    group: Vec<Option<String>>,
    suite: Vec<String>,
    agent: Vec<Option<String>>,
    kind: Vec<String>,
    gate: Vec<Option<String>>,
    target: Vec<Option<String>>,
    /// JSON.
    value: Vec<Option<String>>,
    /// The value, if it is a number or a truth value.
    number: Vec<Option<f64>>,
    status: Vec<String>,
    message: Vec<Option<String>>,
}

impl Columns {
    /// Reads rows that were written as JSON Lines.
    pub(crate) fn read(lines: &[u8]) -> serde_json::Result<Self> {
        let mut columns = Self::default();
        let lines = lines.split(|byte| *byte == b'\n');
        for line in lines.filter(|line| !line.is_empty()) {
            columns.add(serde_json::from_slice(line)?);
        }
        Ok(columns)
    }

    fn add(&mut self, row: WrittenRow<'_>) {
        let value = row
            .value
            .map(RawValue::get)
            .filter(|value| *value != "null");
        self.trace_id.push(row.trace_id);
        self.group.push(row.group);
        self.suite.push(row.suite);
        self.agent.push(row.agent);
        self.kind.push(row.kind);
        self.gate.push(row.gate);
        self.target.push(row.target);
        self.value.push(value.map(str::to_owned));
        self.number.push(value.and_then(number));
        self.status.push(row.status);
        self.message.push(row.message);
    }
}

/// The number of a value. A truth value is 0 or 1.
fn number(value: &str) -> Option<f64> {
    match serde_json::from_str(value).ok()? {
        Value::Bool(flag) => Some(f64::from(u8::from(flag))),
        Value::Number(number) => number.as_f64(),
        _ => None,
    }
}
