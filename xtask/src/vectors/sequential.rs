//! The vectors of stopping early.

use super::Metric;
use super::input::{Input, text};
use mcptest_core::eval::stats;
use serde_json::{Value, json};

pub(super) const METRICS: &[Metric] = &[
    ("curtailed", curtailed),
    ("sprt", sprt),
    ("e_value_floor", e_value_floor),
];

fn curtailed(input: &Input<'_>) -> Result<Value, String> {
    let (runs, rate) = (input.count("runs")?, input.decimal("min_rate")?);
    let found = stats::curtailed(runs, rate, &input.flags("outcomes")?).map_err(text)?;
    Ok(json!({"verdict": found.verdict, "stopped_at": found.stopped_at, "saved": found.saved}))
}

fn sprt(input: &Input<'_>) -> Result<Value, String> {
    let (p0, p1) = (input.number("p0")?, input.number("p1")?);
    let (alpha, beta) = (input.number("alpha")?, input.number("beta")?);
    let found = stats::sprt(p0, p1, alpha, beta, &input.flags("outcomes")?).map_err(text)?;
    Ok(json!({
        "verdict": found.verdict,
        "stopped_at": found.stopped_at,
        "llr": found.log_ratio,
        "upper": found.upper,
        "lower": found.lower,
    }))
}

fn e_value_floor(input: &Input<'_>) -> Result<Value, String> {
    let found =
        stats::e_value_above(input.number("p0")?, &input.flags("outcomes")?).map_err(text)?;
    Ok(json!({"e_value": found}))
}
