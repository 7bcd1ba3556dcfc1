//! The vectors of run planning and the reliability summary.

use super::Metric;
use super::input::{Input, text};
use mcptest_core::eval::reliability;
use serde_json::{Value, json};

pub(super) const METRICS: &[Metric] = &[
    ("decay_curve", decay_curve),
    ("reliability_summary", summary),
    ("variance_amplification", variance_amplification),
    ("graceful_degradation", graceful_degradation),
    ("recommend_runs", recommend_runs),
    ("confidence_band", confidence_band),
];

fn decay_curve(input: &Input<'_>) -> Result<Value, String> {
    Ok(json!({"curve": reliability::decay_curve(&input.flags("outcomes")?)}))
}

fn summary(input: &Input<'_>) -> Result<Value, String> {
    serde_json::to_value(reliability::summarize(&input.flags("outcomes")?)).map_err(text)
}

fn variance_amplification(input: &Input<'_>) -> Result<Value, String> {
    let value = reliability::variance_amplification(input.count("passes")?, input.count("runs")?);
    Ok(json!({"value": value}))
}

fn graceful_degradation(input: &Input<'_>) -> Result<Value, String> {
    Ok(json!({"value": reliability::graceful_degradation(&input.flags("outcomes")?)}))
}

fn recommend_runs(input: &Input<'_>) -> Result<Value, String> {
    let runs =
        reliability::recommend_runs(input.number("half_width")?, percent(input)?).map_err(text)?;
    Ok(json!({"runs": runs}))
}

fn confidence_band(input: &Input<'_>) -> Result<Value, String> {
    let half_width =
        reliability::confidence_band(input.count("runs")?, percent(input)?).map_err(text)?;
    Ok(json!({"half_width": half_width}))
}

fn percent(input: &Input<'_>) -> Result<u32, String> {
    u32::try_from(input.count("confidence")?).map_err(text)
}
