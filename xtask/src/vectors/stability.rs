//! The vectors of the stability of sessions and of their agreement.

use super::Metric;
use super::input::{Input, text};
use mcptest_core::eval::stability::{
    StabilityAcross, StabilityFloors, StabilityReport, agent_stability, agent_stability_across,
    drift_flags, spread,
};
use serde_json::{Value, json};

pub(super) const METRICS: &[Metric] = &[
    ("stability_run", run),
    ("stability_aggregate", aggregate),
    ("stability_across", across),
    ("cross_run", cross_run),
    ("drift_flags", flags),
];

fn run(input: &Input<'_>) -> Result<Value, String> {
    let report = agent_stability(input.value("envelope")?);
    let mut got = serde_json::to_value(report).map_err(text)?;
    got["weakest_score"] = json!(report.weakest_score());
    Ok(got)
}

fn aggregate(input: &Input<'_>) -> Result<Value, String> {
    let found = spread(&input.numbers("weakest")?).map_err(text)?;
    Ok(json!({"score": found.mean, "weakest_score": found.lowest, "variance": found.variance}))
}

fn across(input: &Input<'_>) -> Result<Value, String> {
    agent_stability_across(input.list("runs")?)
        .map(shown)
        .map_err(text)
}

fn cross_run(input: &Input<'_>) -> Result<Value, String> {
    let envelopes: Vec<Value> = input
        .list("seqs")?
        .iter()
        .map(|calls| json!({"tool_calls": calls}))
        .collect();
    agent_stability_across(&envelopes).map(shown).map_err(text)
}

fn shown(found: StabilityAcross) -> Value {
    json!({
        "score": found.score,
        "weakest_score": found.weakest_score,
        "variance": found.variance,
        "default_gate_passed": found.weakest_score >= 0.5,
        "tool_sequence_similarity": found.tool_sequence_similarity,
        "argument_consistency": found.argument_consistency,
        "early_divergence": u8::from(found.early_divergence),
    })
}

fn flags(input: &Input<'_>) -> Result<Value, String> {
    let scores = Input(input.value("scores")?);
    let report = StabilityReport {
        tool_usage_stability: scores.number("tool_usage_stability")?,
        response_consistency: scores.number("response_consistency")?,
        redundancy: scores.number("redundancy")?,
        cost_per_progress: scores.number("cost_per_progress")?,
    };
    let nothing = json!({});
    let written = Input(input.0.get("floors").unwrap_or(&nothing));
    let default = StabilityFloors::default();
    let floors = StabilityFloors {
        tool_usage_stability: written
            .number_or("tool_usage_stability", default.tool_usage_stability)?,
        response_consistency: written
            .number_or("response_consistency", default.response_consistency)?,
        redundancy: written.number_or("redundancy", default.redundancy)?,
        cost_per_progress: written.number_or("cost_per_progress", default.cost_per_progress)?,
    };
    Ok(json!({"flags": drift_flags(&report, &floors)}))
}
