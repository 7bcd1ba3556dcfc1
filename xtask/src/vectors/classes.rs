//! The vectors of tool selection by classes.

use super::Metric;
use super::input::Input;
use mcptest_core::eval::equal_function_sets::{Class, score_selection};
use serde_json::{Value, json};

pub(super) const METRICS: &[Metric] = &[("selection_f1", selection_f1)];

fn selection_f1(input: &Input<'_>) -> Result<Value, String> {
    let classes = input
        .list("classes")?
        .iter()
        .map(class)
        .collect::<Result<Vec<Class>, String>>()?;
    let calls: Vec<Value> = input
        .texts("calls")?
        .iter()
        .map(|name| json!({ "name": name }))
        .collect();
    let found = score_selection(&calls, &classes);
    Ok(json!({
        "tp": found.true_positives,
        "fp": found.false_positives,
        "fn": found.false_negatives,
        "precision": found.precision(),
        "recall": found.recall(),
        "f1": found.f1(),
        "precision_pct": found.precision_percent(),
        "recall_pct": found.recall_percent(),
        "f1_pct": found.f1_percent(),
    }))
}

fn class(class: &Value) -> Result<Class, String> {
    let class = Input(class);
    let name = class
        .value("name")?
        .as_str()
        .ok_or("`name` is not a text")?
        .to_owned();
    let members = class
        .texts("tools")?
        .into_iter()
        .map(str::to_owned)
        .collect();
    Ok(Class { name, members })
}
