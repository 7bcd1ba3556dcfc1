//! The vectors of the trajectory gates.

use super::Metric;
use super::input::{Input, text};
use mcptest_core::eval::{
    Dependency, ExpectedArgs, ExpectedCall, ExpectedTrace, GoldenPath, Order, TrajectoryAxes,
    golden_path_coverage, score_golden_path, score_trajectory_axes, validate_trace,
};
use serde_json::{Value, json};

pub(super) const METRICS: &[Metric] = &[
    ("trajectory", trajectory),
    ("trajectory_axes", trajectory_axes),
    ("golden_path", golden_path),
];

fn trajectory(input: &Input<'_>) -> Result<Value, String> {
    let calls = input
        .list("expected")?
        .iter()
        .map(expected_call)
        .collect::<Result<Vec<_>, _>>()?;
    let expected = match input.value("mode")?.as_str().unwrap_or_default() {
        "strict" | "exact-sequence" | "exact_sequence" => ExpectedTrace::strict(calls),
        "subsequence" => ExpectedTrace::subsequence(calls),
        "unordered" => ExpectedTrace::unordered(calls),
        "superset" => ExpectedTrace::superset(calls),
        "subset" => ExpectedTrace::subset(calls),
        other => return Err(format!("`{other}` is not a mode")),
    };
    let validation = validate_trace(input.list("recorded")?, &expected).map_err(text)?;
    Ok(json!({ "passed": validation.passed, "mismatch_count": validation.mismatches.len() }))
}

fn expected_call(call: &Value) -> Result<ExpectedCall, String> {
    let name = call["name"]
        .as_str()
        .ok_or("an expected call has no name")?
        .to_owned();
    Ok(ExpectedCall {
        name,
        args: expected_args(call.get("args"))?,
    })
}

fn expected_args(shape: Option<&Value>) -> Result<ExpectedArgs, String> {
    let Some(shape) = shape else {
        return Ok(ExpectedArgs::Any);
    };
    match shape.as_str() {
        Some("any") => return Ok(ExpectedArgs::Any),
        Some("ignore") => return Ok(ExpectedArgs::Ignore),
        _ => {}
    }
    let (key, value) = shape
        .as_object()
        .and_then(|map| map.iter().next())
        .ok_or("not an argument shape")?;
    match key.as_str() {
        "exact" => Ok(ExpectedArgs::Exact(value.clone())),
        "subset" => Ok(ExpectedArgs::Subset(value.clone())),
        "schema" => Ok(ExpectedArgs::Schema(value.clone())),
        "one_of" => {
            let shapes = value.as_array().ok_or("`one_of` is not a list")?;
            Ok(ExpectedArgs::OneOf(
                shapes
                    .iter()
                    .map(|shape| expected_args(Some(shape)))
                    .collect::<Result<_, _>>()?,
            ))
        }
        other => Err(format!("`{other}` is not an argument shape")),
    }
}

fn trajectory_axes(input: &Input<'_>) -> Result<Value, String> {
    let name = |edge: &Value, key: &str| edge[key].as_str().unwrap_or_default().to_owned();
    let axes = TrajectoryAxes {
        dependencies: input
            .list_or_empty("dependencies")?
            .iter()
            .map(|edge| Dependency {
                producer: name(edge, "producer"),
                consumer: name(edge, "consumer"),
            })
            .collect(),
        order: input
            .list_or_empty("order")?
            .iter()
            .map(|edge| Order {
                first: name(edge, "first"),
                second: name(edge, "second"),
            })
            .collect(),
        require_present: input
            .0
            .get("require_present")
            .and_then(Value::as_bool)
            .unwrap_or(false),
    };
    let score = score_trajectory_axes(&named_calls(input.list("calls")?), &axes);
    let passed = score.dependency_satisfaction == 100 && score.order_satisfaction == 100;
    Ok(json!({
        "dependency_satisfaction": score.dependency_satisfaction,
        "order_satisfaction": score.order_satisfaction,
        "default_gate_passed": passed,
    }))
}

fn golden_path(input: &Input<'_>) -> Result<Value, String> {
    let flag = |key: &str, default| input.0.get(key).and_then(Value::as_bool).unwrap_or(default);
    let golden = GoldenPath {
        allow_extra_steps: flag("allow_extra_steps", false),
        penalize_backtracking: flag("penalize_backtracking", true),
        penalize_repeated_tools: flag("penalize_repeated_tools", true),
        ..GoldenPath::new(input.texts("golden")?)
    };
    let score = score_golden_path(&named_calls(input.list("calls")?), &golden);
    let coverage = golden_path_coverage(&named_calls(input.list("calls")?), &golden);
    Ok(json!({
        "coverage": coverage,
        "extra_steps": score.extra_steps,
        "backtracks": score.backtracks,
        "repeated_tools": score.repeated_tools,
        "penalty": score.penalty,
        "passed": score.passed,
    }))
}

/// Calls given as names, or as objects.
fn named_calls(calls: &[Value]) -> Vec<Value> {
    calls
        .iter()
        .map(|call| {
            if call.is_string() {
                json!({ "name": call })
            } else {
                call.clone()
            }
        })
        .collect()
}
