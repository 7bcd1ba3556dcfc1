//! Which evidence do all runs of a gate give together?

use serde::{Deserialize, Serialize};

/// A dimension of stability.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dimension {
    /// The target.
    pub name: String,
    /// The value of the target.
    pub value: f64,
    /// The lowest value of a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// The highest value of a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

/// The chance that k runs in a row all pass.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// The number of runs.
    pub k: usize,
    /// The pass rate to the power of k.
    pub power: f64,
    /// The lower end of the 95% interval of the pass rate, to the power of k.
    pub low: f64,
    /// The upper end, to the power of k.
    pub high: f64,
    /// The chance that k drawn runs all passed; null if k runs cannot be drawn.
    pub unbiased: Option<f64>,
}

/// The rate of correct choices among a number of distractors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChoicePoint {
    /// The number of distractors.
    pub count: usize,
    /// Runs that chose correctly.
    pub correct: usize,
    /// Runs that were judged.
    pub runs: usize,
    /// Among the runs that chose, the share that chose correctly; absent if none chose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<f64>,
    /// The lower end of the 95% interval of the correct runs among all.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// The calls of one agent to one tool, over all runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EdgeShown {
    /// The caller: `agent`, `code` for generated code, or the name of a sub-agent.
    pub caller: String,
    /// The tool.
    pub tool: String,
    /// The number of calls.
    pub calls: usize,
    /// True if the tool is restricted.
    pub restricted: bool,
    /// True if the policy forbids these calls.
    pub failed: bool,
}

/// The hand-offs from one agent to another, over all runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Handoff {
    /// The agent that hands over.
    pub from: String,
    /// The agent that takes over.
    pub to: String,
    /// The number of recorded hand-offs. 0 for a declared one that never occurred.
    pub count: usize,
    /// True if it is expected.
    pub declared: bool,
}

/// The outcome of one kind of fault in the calls of one tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FaultCell {
    /// The tool of the call that should fail; `?` if it was not made.
    pub tool: String,
    /// The kind of fault.
    pub fault: String,
    /// The number of combinations.
    pub runs: usize,
    /// The number of combinations that made a call fail.
    pub met: usize,
    /// The number of failures that the agent recovered from.
    pub recovered: usize,
    /// survived: the agent survived every fault that it met. lost: it did not survive one. unmet: no fault made a call fail.
    pub status: CellStatus,
}

/// The upper bound on a target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LimitShown {
    /// The target.
    pub target: String,
    /// The highest allowed value.
    pub most: f64,
}

/// The number of times that one tool was chosen, over all runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SelectedTool {
    /// The tool.
    pub name: String,
    /// Runs that called a needed class.
    pub right: usize,
    /// Runs that did not call a needed class.
    pub missed: usize,
    /// Calls in no class.
    pub extra: usize,
}

/// The differences without one set of tools.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AblationRow {
    /// The tools that were removed.
    pub tool: String,
    /// Runs without them.
    pub runs: usize,
    /// The successful runs.
    pub passed: usize,
    /// Success with the tools less success without them, in points.
    pub drop: i64,
    /// The lower end of the 95% interval of the drop, in points.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The number of additional calls of a run without them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<f64>,
    /// The number of additional tokens of a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<f64>,
    /// The additional dollars of a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// The tool that is called in their place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead: Option<String>,
}

/// The finding of a rule for one tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolFinding {
    /// The server of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The tool.
    pub tool: String,
    /// The rule.
    pub rule: String,
    /// The severity.
    pub level: String,
    /// The problem.
    pub message: String,
}

/// The outcome of the faults of one cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CellStatus {
    /// All that made a call fail were got over.
    Survived,
    /// The agent did not survive one of them.
    Lost,
    /// None made a call fail.
    Unmet,
}
