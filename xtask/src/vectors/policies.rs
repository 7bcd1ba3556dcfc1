//! The vectors of tool policies and of recovery from faults.

use super::Metric;
use super::input::{Input, text};
use mcptest_core::eval::recovery::{
    RecoveryLimits, RecoveryMarks, score_recovery, score_recovery_in_trace,
};
use mcptest_core::eval::{DelegationEdge, ToolEdges, score_tool_edges};
use serde_json::{Value, json};

pub(super) const METRICS: &[Metric] = &[
    ("tool_edges", tool_edges),
    ("recovery_score", recovery_score),
    ("recovery_virtual", recovery_virtual),
];

fn tool_edges(input: &Input<'_>) -> Result<Value, String> {
    let names =
        |key: &str| Ok::<_, String>(input.texts(key)?.into_iter().map(str::to_owned).collect());
    let name = |edge: &Value, key: &str| edge[key].as_str().unwrap_or_default().to_owned();
    let delegation = input.list("delegation")?.iter();
    let edges = ToolEdges {
        allowed: names("allowed")?,
        restricted: names("restricted")?,
        delegation: delegation
            .map(|edge| DelegationEdge {
                from: name(edge, "from"),
                to: name(edge, "to"),
            })
            .collect(),
        closed: flag(input, "closed"),
    };
    let calls = input.list("calls")?.iter();
    let calls: Vec<Value> = calls
        .map(|call| {
            if call.is_string() {
                json!({ "name": call })
            } else {
                call.clone()
            }
        })
        .collect();
    let envelope = json!({ "tool_calls": calls, "delegations": input.0.get("delegations") });
    let score = score_tool_edges(&[envelope], &edges).map_err(text)?;
    Ok(json!({
        "allowed_pct": score.allowed_pct,
        "restricted_attempts": score.restricted_attempts,
        "delegation_pct": score.delegation_pct,
        "gate_passed": u8::from(score.gate_passed),
        "unlisted_calls": score.unlisted_calls,
    }))
}

fn recovery_score(input: &Input<'_>) -> Result<Value, String> {
    let marks = RecoveryMarks {
        call_start_ms: input.count("call_start_ms")?,
        detected_at_ms: mark(input, "detected_at_ms"),
        recovered_at_ms: mark(input, "recovered_at_ms"),
    };
    serde_json::to_value(score_recovery(&marks, &limits(input, "timeout_budget_ms")?)).map_err(text)
}

/// Each event is a call in a separate turn: a success, or its fault.
fn recovery_virtual(input: &Input<'_>) -> Result<Value, String> {
    let events = input.texts("events")?;
    let faulty = || {
        events
            .iter()
            .enumerate()
            .filter(|(_, event)| **event != "success")
    };
    let fault = |(at, event): (usize, &&str)| {
        let kind = if *event == "timeout" { "hang" } else { event };
        json!({ "name": "fault", "kind": kind, "call_index": at, "detected": true })
    };
    let result = |event: &&str| json!({ "is_error": *event != "success" });
    let envelope = json!({
        "tool_calls": events.iter().map(|_| json!({ "name": "tool" })).collect::<Vec<_>>(),
        "tool_results": events.iter().map(result).collect::<Vec<_>>(),
        "faults": faulty().map(fault).collect::<Vec<_>>(),
    });
    let limits = limits(input, "max_detection_ms")?;
    let run = score_recovery_in_trace(&envelope, &["fault"], &limits).map_err(text)?;
    let mut found = serde_json::to_value(&run.report).map_err(text)?;
    if found.is_null() {
        found = json!({});
    }
    found["exercised"] = json!(run.exercised);
    found["gate_passed"] = json!(run.gate_passed);
    found["reasons"] = serde_json::to_value(&run.reasons).map_err(text)?;
    Ok(found)
}

fn limits(input: &Input<'_>, budget: &str) -> Result<RecoveryLimits, String> {
    Ok(RecoveryLimits {
        max_detection_ms: input.count(budget)?,
        max_recovery_ms: mark(input, "max_recovery_ms"),
        require_clean_timeout: flag(input, "require_clean_timeout"),
    })
}

fn mark(input: &Input<'_>, key: &str) -> Option<u64> {
    input.0.get(key).and_then(Value::as_u64)
}

fn flag(input: &Input<'_>, key: &str) -> bool {
    input.0.get(key).and_then(Value::as_bool).unwrap_or(false)
}
