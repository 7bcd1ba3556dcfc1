//! The vectors of the tool selection floor.

use super::Metric;
use super::input::Input;
use mcptest_core::eval::selection::{SelectionFloor, aggregate_selection, floor_line};
use serde_json::{Value, json};

pub(super) const METRICS: &[Metric] = &[("tool_selection", tool_selection)];

fn tool_selection(input: &Input<'_>) -> Result<Value, String> {
    let floor = SelectionFloor {
        expected_tool: input
            .value("expected_tool")?
            .as_str()
            .unwrap_or_default()
            .to_owned(),
        min_selection_rate: input.decimal("min_selection_rate")?,
        max_total_tokens: input.0.get("max_total_tokens").and_then(Value::as_u64),
    };
    let runs = input
        .list("runs")?
        .iter()
        .map(envelope)
        .collect::<Result<Vec<_>, String>>()?;
    let found = aggregate_selection(&runs, &floor);
    let name = input
        .0
        .get("name")
        .and_then(Value::as_str)
        .unwrap_or_default();
    Ok(json!({
        "selected": found.selected,
        "runs": found.runs,
        "selection_pct": found.selection_percent(),
        "pass_hat_k_pct": found.pass_hat_k(),
        "max_tokens": found.max_tokens,
        "passed": found.passed,
        "line": floor_line(name, found.passed, &found.numbers()),
    }))
}

fn envelope(run: &Value) -> Result<Value, String> {
    let calls: Vec<Value> = Input(run)
        .texts("tool_names")?
        .into_iter()
        .map(|name| json!({"name": name}))
        .collect();
    Ok(json!({"tool_calls": calls, "conversation": {"tokens": {"total": run.get("total_tokens")}}}))
}
