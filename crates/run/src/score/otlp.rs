//! How is a verdict written as a log record of OpenTelemetry?

use mcptest_report::verdicts::{RowKind, RowStatus, VerdictRow};
use serde_json::{Value, json};
use std::time::{SystemTime, UNIX_EPOCH};

/// The name of the event in the conventions for generative AI.
const EVENT: &str = "gen_ai.evaluation.result";

/// Makes log records of one invocation.
pub(super) struct Records {
    /// The time of the invocation, in nanoseconds.
    observed: String,
}

impl Records {
    /// Records that are observed now.
    pub(super) fn new() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        Self {
            observed: now.unwrap_or_default().as_nanos().to_string(),
        }
    }

    /// Appends the separator of two records.
    #[expect(clippy::unused_self, reason = "records belong to an invocation")]
    pub(super) fn separate(&self, records: &mut Vec<u8>) {
        if !records.is_empty() {
            records.push(b',');
        }
    }

    /// Appends the record of a row.
    pub(super) fn add(&self, row: &VerdictRow<'_>, records: &mut Vec<u8>) {
        // Writing to memory cannot fail, and every key is a string.
        let _ = serde_json::to_writer(records, &self.record(row));
    }

    /// The request with these records; empty without any.
    #[expect(clippy::unused_self, reason = "a request belongs to an invocation")]
    pub(super) fn request(&self, records: &str) -> String {
        if records.is_empty() {
            return String::new();
        }
        let resource = json!({ "attributes": [text("service.name", "mcptest")] });
        let scope = json!({ "name": "mcptest", "version": env!("CARGO_PKG_VERSION") });
        format!(
            "{{\"resourceLogs\":[{{\"resource\":{resource},\"scopeLogs\":[{{\"scope\":{scope},\"logRecords\":[{records}]}}]}}]}}\n"
        )
    }

    fn record(&self, row: &VerdictRow<'_>) -> Value {
        let mut attributes = vec![
            text("gen_ai.evaluation.name", &name(row)),
            text("mcptest.suite", row.suite),
        ];
        attributes.extend(score(row).map(|score| {
            json!({ "key": "gen_ai.evaluation.score.value", "value": { "doubleValue": score } })
        }));
        let optional = [
            ("gen_ai.evaluation.score.label", label(row.status)),
            ("gen_ai.evaluation.explanation", row.message.as_deref()),
            ("error.type", error_type(row)),
            ("mcptest.agent", row.agent),
            ("mcptest.group", row.group),
            ("mcptest.trace_id", row.trace_id),
        ];
        let written = optional.into_iter();
        attributes.extend(written.filter_map(|(key, value)| Some(text(key, value?))));
        let mut record = json!({
            "observedTimeUnixNano": self.observed,
            "eventName": EVENT,
            "severityNumber": 9,
            "attributes": attributes,
        });
        if let Some(trace) = row.trace_id.filter(|id| is_hex(id, 32)) {
            record["traceId"] = json!(trace);
            if let Some(span) = row.span_id.filter(|id| is_hex(id, 16)) {
                record["spanId"] = json!(span);
            }
        }
        record
    }
}

fn text(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

/// The name of the evaluation: the number of a gate, the path of an assertion, or the verdict.
fn name(row: &VerdictRow<'_>) -> String {
    match (row.kind, row.gate, row.target) {
        (RowKind::Verdict, ..) => "mcptest.verdict".to_owned(),
        (RowKind::Run, ..) => "mcptest.run".to_owned(),
        (RowKind::Input, ..) => "mcptest.input".to_owned(),
        (RowKind::Expect, _, Some(target)) => format!("expect.{target}"),
        (_, _, Some(target)) => target.to_owned(),
        (_, gate, None) => gate.unwrap_or("mcptest").to_owned(),
    }
}

/// The number of a row; a verdict is 1 if it passed.
fn score(row: &VerdictRow<'_>) -> Option<f64> {
    if matches!(row.kind, RowKind::Gate) && row.target.is_some() {
        return row.value.as_number();
    }
    match row.status {
        RowStatus::Passed => Some(1.0),
        RowStatus::Failed => Some(0.0),
        RowStatus::Error | RowStatus::Skipped | RowStatus::Unchecked => None,
    }
}

fn label(status: RowStatus) -> Option<&'static str> {
    match status {
        RowStatus::Passed => Some("pass"),
        RowStatus::Failed => Some("fail"),
        RowStatus::Error | RowStatus::Skipped | RowStatus::Unchecked => None,
    }
}

fn error_type(row: &VerdictRow<'_>) -> Option<&'static str> {
    (row.status == RowStatus::Error).then_some("not_judged")
}

fn is_hex(id: &str, length: usize) -> bool {
    id.len() == length && id.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcptest_core::report::Number;
    use mcptest_report::verdicts::RowValue;
    use std::borrow::Cow;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

    fn row() -> VerdictRow<'static> {
        VerdictRow {
            trace_id: Some(TRACE),
            span_id: Some("00f067aa0ba902b7"),
            group: None,
            suite: "gates.yml",
            agent: Some("support"),
            kind: RowKind::Gate,
            gate: Some("golden_path"),
            target: Some("golden_path.extra_steps"),
            value: RowValue::Number(Number::Int(2)),
            status: RowStatus::Failed,
            message: Some(Cow::Borrowed("must be at most 0, got 2")),
        }
    }

    fn record(row: &VerdictRow<'_>) -> Value {
        let records = Records {
            observed: "7".to_owned(),
        };
        let mut written = Vec::new();
        records.add(row, &mut written);
        let request = records.request(&String::from_utf8(written).unwrap());
        let request: Value = serde_json::from_str(&request).unwrap();
        request["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0].clone()
    }

    fn attribute(record: &Value, key: &str) -> Value {
        let attributes = record["attributes"].as_array().unwrap();
        let found = attributes.iter().find(|one| one["key"] == key);
        found.map_or(Value::Null, |one| one["value"].clone())
    }

    #[test]
    fn a_row_is_an_evaluation_result_under_its_span() {
        let record = record(&row());
        assert_eq!(record["eventName"], EVENT);
        assert_eq!(
            (&record["traceId"], &record["spanId"]),
            (&json!(TRACE), &json!("00f067aa0ba902b7"))
        );
        for (key, value) in [
            (
                "gen_ai.evaluation.name",
                json!({"stringValue": "golden_path.extra_steps"}),
            ),
            ("gen_ai.evaluation.score.value", json!({"doubleValue": 2.0})),
            (
                "gen_ai.evaluation.score.label",
                json!({"stringValue": "fail"}),
            ),
            (
                "gen_ai.evaluation.explanation",
                json!({"stringValue": "must be at most 0, got 2"}),
            ),
            ("error.type", Value::Null),
            ("mcptest.agent", json!({"stringValue": "support"})),
        ] {
            assert_eq!(attribute(&record, key), value, "{key}");
        }
    }

    #[test]
    fn an_error_has_a_type_and_no_score() {
        let broken = VerdictRow {
            trace_id: Some("calls.jsonl:3"),
            kind: RowKind::Input,
            gate: None,
            target: None,
            value: RowValue::None,
            status: RowStatus::Error,
            ..row()
        };
        let record = record(&broken);
        assert_eq!(
            attribute(&record, "error.type"),
            json!({"stringValue": "not_judged"})
        );
        assert_eq!(
            attribute(&record, "gen_ai.evaluation.score.value"),
            Value::Null
        );
        assert_eq!(record["traceId"], Value::Null);
    }

    #[test]
    fn nothing_judged_is_no_request() {
        assert_eq!(Records::new().request(""), "");
    }
}
