//! The vectors of intervals, certified floors, plans and flake budgets.

use super::Metric;
use super::input::{Input, text};
use mcptest_core::eval::stats::{self, Interval, StatsError};
use serde_json::{Value, json};

pub(super) const METRICS: &[Metric] = &[
    ("wilson", |input| interval(input, stats::wilson)),
    ("clopper_pearson", |input| {
        interval(input, stats::clopper_pearson)
    }),
    ("jeffreys", |input| interval(input, stats::jeffreys)),
    ("confidence_sequence", |input| {
        interval(input, stats::confidence_sequence)
    }),
    ("newcombe_diff", newcombe_diff),
    ("certified_lower", certified_lower),
    ("max_certifiable_floor", max_certifiable_floor),
    ("min_runs_for_floor", min_runs_for_floor),
    ("gate_oc", gate_oc),
    ("mde_drop", mde_drop),
    ("flake_budget", flake_budget),
];

fn interval(
    input: &Input<'_>,
    method: fn(u64, u64, f64) -> Result<Interval, StatsError>,
) -> Result<Value, String> {
    let found = method(
        input.count("passes")?,
        input.count("runs")?,
        input.confidence()?,
    )
    .map_err(text)?;
    Ok(json!({"lower": found.lower, "upper": found.upper}))
}

fn newcombe_diff(input: &Input<'_>) -> Result<Value, String> {
    let first = (input.count("x1")?, input.count("n1")?);
    let second = (input.count("x2")?, input.count("n2")?);
    let found = stats::newcombe_difference(first, second, input.confidence()?).map_err(text)?;
    Ok(
        json!({"diff": found.difference, "lower": found.interval.lower, "upper": found.interval.upper}),
    )
}

fn certified_lower(input: &Input<'_>) -> Result<Value, String> {
    let (passes, runs) = (input.count("passes")?, input.count("runs")?);
    stats::certified_lower(passes, runs, input.confidence()?)
        .map_err(text)
        .map(floor)
}

fn max_certifiable_floor(input: &Input<'_>) -> Result<Value, String> {
    stats::max_certifiable_floor(input.count("runs")?, input.confidence()?)
        .map_err(text)
        .map(floor)
}

fn floor(lower: f64) -> Value {
    json!({"lower": lower, "pct_floor": stats::percent_of(lower)})
}

fn min_runs_for_floor(input: &Input<'_>) -> Result<Value, String> {
    let (floor, failures) = (input.number("floor")?, input.count("failures")?);
    Ok(
        json!({"runs": stats::min_runs_for_floor(floor, failures, input.confidence()?).map_err(text)?}),
    )
}

fn gate_oc(input: &Input<'_>) -> Result<Value, String> {
    let (runs, rate) = (input.count("runs")?, input.decimal("min_rate")?);
    let found = stats::gate_characteristic(runs, rate, input.number("true_p")?).map_err(text)?;
    Ok(
        json!({"required_passes": found.required_passes, "pass_probability": found.pass_probability}),
    )
}

fn mde_drop(input: &Input<'_>) -> Result<Value, String> {
    let (runs, baseline) = (input.count("runs")?, input.number("baseline")?);
    let (alpha, power) = (
        input.number_or("alpha", 0.05)?,
        input.number_or("power", 0.8)?,
    );
    let found = stats::minimum_detectable_drop(runs, baseline, alpha, power).map_err(text)?;
    Ok(json!({"reject_at_or_below": found.reject_at_or_below, "mde": found.drop}))
}

fn flake_budget(input: &Input<'_>) -> Result<Value, String> {
    let (window, flakes) = (input.count("window_runs")?, input.count("flakes")?);
    let rate = input.decimal("budget_rate")?;
    let found = stats::flake_budget(window, flakes, rate, input.confidence()?).map_err(text)?;
    Ok(json!({
        "allowed": found.allowed,
        "remaining": found.remaining,
        "rate_lower": found.rate_lower,
        "rate_upper": found.rate_upper,
        "state": found.state,
    }))
}
