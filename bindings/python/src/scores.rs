//! What do the gates score, each as a function over JSON values?

use crate::json::Json;
use mcptest_core::eval::recovery::{
    RecoveryLimits, RecoveryMarks, RecoveryReport, score_recovery as recovery_of_marks,
    score_recovery_in_trace as recovery_in_trace,
};
use mcptest_core::eval::{
    self, DelegationEdge, Dependency, ExpectedArgs, ExpectedCall, ExpectedTrace, Extraction,
    GoldenPath, MatchMode, Narrative, Order, StabilityFloors, StabilityReport, ToolEdges,
    TrajectoryAxes,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Display;

fn value_error(problem: impl Display) -> PyErr {
    PyValueError::new_err(problem.to_string())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GoldenPathSettings {
    golden: Vec<String>,
    allow_extra_steps: bool,
    penalize_backtracking: bool,
    penalize_repeated_tools: bool,
}

#[pyfunction]
pub(crate) fn score_golden_path(
    calls: Json<Vec<Value>>,
    settings: Json<GoldenPathSettings>,
) -> Json<Value> {
    let Json(settings) = settings;
    let golden = GoldenPath {
        calls: settings.golden,
        allow_extra_steps: settings.allow_extra_steps,
        penalize_backtracking: settings.penalize_backtracking,
        penalize_repeated_tools: settings.penalize_repeated_tools,
    };
    let score = eval::score_golden_path(&calls.0, &golden);
    Json(json!({
        "passed": score.passed,
        "extra_steps": score.extra_steps,
        "backtracks": score.backtracks,
        "repeated_tools": score.repeated_tools,
        "penalty": score.penalty,
    }))
}

#[pyfunction]
pub(crate) fn golden_path_coverage(calls: Json<Vec<Value>>, golden: Vec<String>) -> f64 {
    eval::golden_path_coverage(&calls.0, &GoldenPath::new(golden))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NarrativeSettings {
    mutating_tools: Vec<String>,
    readonly_tools: Vec<String>,
    max_divergence_score: Option<f64>,
    extra_verbs: Vec<String>,
    synonyms: BTreeMap<String, Vec<String>>,
    extraction: ExtractionName,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum ExtractionName {
    Rules,
    Literal,
}

#[pyfunction]
pub(crate) fn score_narrative(
    answer: &str,
    calls: Json<Vec<Value>>,
    settings: Json<NarrativeSettings>,
) -> Json<Value> {
    let Json(settings) = settings;
    let narrative = Narrative {
        mutating_tools: settings.mutating_tools,
        readonly_tools: settings.readonly_tools,
        max_divergence_score: settings.max_divergence_score,
        extra_verbs: settings.extra_verbs,
        synonyms: settings.synonyms,
        extraction: match settings.extraction {
            ExtractionName::Rules => Extraction::Rules,
            ExtractionName::Literal => Extraction::Literal,
        },
    };
    let score = eval::score_narrative(answer, &calls.0, &narrative);
    Json(json!({
        "claims": score.claims,
        "claimed_but_absent": score.claimed_but_absent,
        "claimed_but_failed": score.claimed_but_failed,
        "unverified": score.unverified,
        "present_but_unclaimed": score.present_but_unclaimed,
        "arg_mismatch": score.arg_mismatch,
        "denied_but_present": score.denied_but_present,
        "divergence_score": score.divergence_score,
        "mutating_divergence_score": score.mutating_divergence_score,
        "gate_passed": score.gate_passed,
    }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AxesSettings {
    /// Pairs of producer and consumer.
    dependencies: Vec<(String, String)>,
    /// Pairs of the first tool and the second.
    order: Vec<(String, String)>,
    require_present: bool,
}

#[pyfunction]
pub(crate) fn score_trajectory_axes(
    calls: Json<Vec<Value>>,
    settings: Json<AxesSettings>,
) -> Json<Value> {
    let Json(settings) = settings;
    let dependency = |(producer, consumer)| Dependency { producer, consumer };
    let order = |(first, second)| Order { first, second };
    let axes = TrajectoryAxes {
        dependencies: settings.dependencies.into_iter().map(dependency).collect(),
        order: settings.order.into_iter().map(order).collect(),
        require_present: settings.require_present,
    };
    let score = eval::score_trajectory_axes(&calls.0, &axes);
    Json(json!({
        "dependency_satisfaction": score.dependency_satisfaction,
        "order_satisfaction": score.order_satisfaction,
    }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EdgesSettings {
    allowed: Vec<String>,
    restricted: Vec<String>,
    /// Pairs of the agent that hands over and the agent that takes over.
    delegation: Vec<(String, String)>,
    closed: bool,
}

#[pyfunction]
pub(crate) fn score_tool_edges(
    envelopes: Json<Vec<Value>>,
    settings: Json<EdgesSettings>,
) -> PyResult<Json<Value>> {
    let Json(settings) = settings;
    let edge = |(from, to)| DelegationEdge { from, to };
    let edges = ToolEdges {
        allowed: settings.allowed,
        restricted: settings.restricted,
        delegation: settings.delegation.into_iter().map(edge).collect(),
        closed: settings.closed,
    };
    let score = eval::score_tool_edges(&envelopes.0, &edges).map_err(value_error)?;
    Ok(Json(json!({
        "allowed_pct": score.allowed_pct,
        "restricted_attempts": score.restricted_attempts,
        "delegation_pct": score.delegation_pct,
        "undeclared_delegations": score.undeclared_delegations,
        "gate_passed": score.gate_passed,
        "unlisted_calls": score.unlisted_calls,
    })))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LimitSettings {
    max_detection_ms: u64,
    max_recovery_ms: Option<u64>,
    require_clean_timeout: bool,
}

impl LimitSettings {
    fn limits(&self) -> RecoveryLimits {
        RecoveryLimits {
            max_detection_ms: self.max_detection_ms,
            max_recovery_ms: self.max_recovery_ms,
            require_clean_timeout: self.require_clean_timeout,
        }
    }
}

#[pyfunction]
pub(crate) fn score_recovery(
    call_start_ms: u64,
    detected_at_ms: Option<u64>,
    recovered_at_ms: Option<u64>,
    limits: Json<LimitSettings>,
) -> Json<RecoveryReport> {
    let marks = RecoveryMarks {
        call_start_ms,
        detected_at_ms,
        recovered_at_ms,
    };
    Json(recovery_of_marks(&marks, &limits.0.limits()))
}

#[pyfunction]
pub(crate) fn score_recovery_in_trace(
    envelope: Json<Value>,
    injected: Vec<String>,
    limits: Json<LimitSettings>,
) -> PyResult<Json<Value>> {
    let injected: Vec<&str> = injected.iter().map(String::as_str).collect();
    let recovery =
        recovery_in_trace(&envelope.0, &injected, &limits.0.limits()).map_err(value_error)?;
    Ok(Json(serde_json::to_value(&recovery).map_err(value_error)?))
}

fn stability(report: &StabilityReport) -> Value {
    json!({
        "tool_usage_stability": report.tool_usage_stability,
        "response_consistency": report.response_consistency,
        "redundancy": report.redundancy,
        "cost_per_progress": report.cost_per_progress,
    })
}

#[pyfunction]
pub(crate) fn agent_stability(envelope: Json<Value>) -> Json<Value> {
    Json(stability(&eval::agent_stability(&envelope.0)))
}

/// The four numbers of a session, as scores or as floors.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StabilityNumbers {
    tool_usage_stability: f64,
    response_consistency: f64,
    redundancy: f64,
    cost_per_progress: f64,
}

#[pyfunction]
pub(crate) fn drift_flags(
    scores: Json<StabilityNumbers>,
    floors: Json<StabilityNumbers>,
) -> Vec<&'static str> {
    let (Json(scores), Json(floors)) = (scores, floors);
    let report = StabilityReport {
        tool_usage_stability: scores.tool_usage_stability,
        response_consistency: scores.response_consistency,
        redundancy: scores.redundancy,
        cost_per_progress: scores.cost_per_progress,
    };
    let floors = StabilityFloors {
        tool_usage_stability: floors.tool_usage_stability,
        response_consistency: floors.response_consistency,
        redundancy: floors.redundancy,
        cost_per_progress: floors.cost_per_progress,
    };
    eval::drift_flags(&report, &floors)
}

#[pyfunction]
pub(crate) fn agent_stability_across(envelopes: Json<Vec<Value>>) -> PyResult<Json<Value>> {
    let across = eval::agent_stability_across(&envelopes.0).map_err(value_error)?;
    Ok(Json(json!({
        "score": across.score,
        "weakest_score": across.weakest_score,
        "variance": across.variance,
        "tool_sequence_similarity": across.tool_sequence_similarity,
        "argument_consistency": across.argument_consistency,
        "aligned_argument_consistency": across.aligned_argument_consistency,
        "early_divergence": across.early_divergence,
    })))
}

/// An expected call: the name of a tool, or its name with the shape of its arguments.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum WrittenCall {
    Name(String),
    Call {
        name: String,
        #[serde(default)]
        args: Option<WrittenArgs>,
    },
}

/// The shape of arguments, in the words of a suite.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WrittenArgs {
    Any,
    Ignore,
    Exact(Value),
    ExactBags(Value),
    Subset(Value),
    Schema(Value),
    OneOf(Vec<WrittenArgs>),
}

impl WrittenArgs {
    fn expected(self) -> ExpectedArgs {
        match self {
            Self::Any => ExpectedArgs::Any,
            Self::Ignore => ExpectedArgs::Ignore,
            Self::Exact(value) => ExpectedArgs::Exact(value),
            Self::ExactBags(value) => ExpectedArgs::ExactBags(value),
            Self::Subset(value) => ExpectedArgs::Subset(value),
            Self::Schema(value) => ExpectedArgs::Schema(value),
            Self::OneOf(shapes) => {
                ExpectedArgs::OneOf(shapes.into_iter().map(Self::expected).collect())
            }
        }
    }
}

impl WrittenCall {
    fn expected(self) -> ExpectedCall {
        match self {
            Self::Name(name) => ExpectedCall::by_name(name),
            Self::Call { name, args } => ExpectedCall {
                name,
                args: args.map_or(ExpectedArgs::Any, WrittenArgs::expected),
            },
        }
    }
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ModeName {
    Strict,
    Subsequence,
    Unordered,
    Superset,
    Subset,
    Set,
}

impl ModeName {
    fn mode(self) -> MatchMode {
        match self {
            Self::Strict => MatchMode::Strict,
            Self::Subsequence => MatchMode::Subsequence,
            Self::Unordered => MatchMode::Unordered,
            Self::Superset => MatchMode::Superset,
            Self::Subset => MatchMode::Subset,
            Self::Set => MatchMode::Set,
        }
    }
}

#[pyfunction]
pub(crate) fn validate_trace(
    calls: Json<Vec<Value>>,
    expected: Json<Vec<WrittenCall>>,
    mode: Json<ModeName>,
) -> PyResult<Json<Value>> {
    let expected = ExpectedTrace {
        mode: mode.0.mode(),
        calls: expected.0.into_iter().map(WrittenCall::expected).collect(),
    };
    let result = eval::validate_trace(&calls.0, &expected).map_err(value_error)?;
    let mismatches: Vec<Value> = result
        .mismatches
        .iter()
        .map(|mismatch| {
            json!({
                "expected_index": mismatch.expected_index,
                "recorded_index": mismatch.recorded_index,
                "diffs": mismatch.diffs,
                "reason": mismatch.reason,
            })
        })
        .collect();
    Ok(Json(json!({
        "passed": result.passed,
        "mismatches": mismatches,
    })))
}

#[pyfunction]
pub(crate) fn tool_calls_from_envelope(envelope: Json<Value>) -> Json<Vec<Value>> {
    Json(eval::tool_calls_from_envelope(&envelope.0))
}
