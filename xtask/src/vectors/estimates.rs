//! The vectors of pass@k and pass^k.

use super::Metric;
use super::input::{Input, text};
use mcptest_core::eval::stats;
use serde_json::{Value, json};

pub(super) const METRICS: &[Metric] = &[
    ("pass_hat_k_unbiased", pass_hat_k_unbiased),
    ("pass_at_k_unbiased", pass_at_k_unbiased),
    ("pass_hat_k_plugin", pass_hat_k_plugin),
    ("pass_at_k_plugin", pass_at_k_plugin),
    ("suite_pass_hat_k", suite_pass_hat_k),
];

fn pass_hat_k_unbiased(input: &Input<'_>) -> Result<Value, String> {
    let (n, c, k) = counts(input)?;
    Ok(json!({"value": stats::pass_hat_k_unbiased(n, c, k).map_err(text)?}))
}

fn pass_at_k_unbiased(input: &Input<'_>) -> Result<Value, String> {
    let (n, c, k) = counts(input)?;
    Ok(json!({"value": stats::pass_at_k_unbiased(n, c, k).map_err(text)?}))
}

fn pass_hat_k_plugin(input: &Input<'_>) -> Result<Value, String> {
    let (n, c, k) = counts(input)?;
    let found = stats::pass_hat_k_plugin(n, c, k).map_err(text)?;
    Ok(json!({"value": found.value, "pct_floor": found.percent}))
}

fn pass_at_k_plugin(input: &Input<'_>) -> Result<Value, String> {
    let (n, c, k) = counts(input)?;
    Ok(json!({"value": stats::pass_at_k_plugin(n, c, k).map_err(text)?}))
}

fn suite_pass_hat_k(input: &Input<'_>) -> Result<Value, String> {
    let read = |task| Ok((Input(task).count("n")?, Input(task).count("c")?));
    let tasks = input
        .list("tasks")?
        .iter()
        .map(read)
        .collect::<Result<Vec<_>, String>>()?;
    Ok(json!({"value": stats::suite_pass_hat_k(&tasks, input.count("k")?).map_err(text)?}))
}

fn counts(input: &Input<'_>) -> Result<(u64, u64, u64), String> {
    Ok((input.count("n")?, input.count("c")?, input.count("k")?))
}
