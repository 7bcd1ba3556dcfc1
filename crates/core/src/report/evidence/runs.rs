//! What did single runs do, as a gate saw it?

use crate::report::AssertionDiff;
use crate::trace::Tokens;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The edges of both axes in one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AxesRun {
    /// The run, from 1.
    pub run: usize,
    /// The tools called, in order.
    pub calls: Vec<String>,
    /// The number of omitted calls.
    #[serde(default)]
    pub calls_left_out: usize,
    /// The order edges.
    pub order: Vec<OrderEdge>,
    /// The dependencies.
    pub data: Vec<DataEdge>,
}

/// A tool that must not run before another tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OrderEdge {
    /// The tool that runs first.
    pub before: String,
    /// The tool that must run after it.
    pub after: String,
    /// The first call of the earlier tool, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_call: Option<usize>,
    /// The call of the later tool that came too soon, otherwise its first, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_call: Option<usize>,
    /// True if the edge holds.
    pub held: bool,
}

/// A tool that reads the output of another tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DataEdge {
    /// The tool whose output is read.
    pub from: String,
    /// The tool that reads it.
    pub to: String,
    /// The first successful call of the earlier tool, otherwise its last failed one, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_call: Option<usize>,
    /// The call of the later tool that came too soon, otherwise its first, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_call: Option<usize>,
    /// True if the edge holds.
    pub held: bool,
    /// The reason that it does not hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
}

/// A run's calls along the path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PathRun {
    /// The run, from 1.
    pub run: usize,
    /// Its calls, in order.
    pub calls: Vec<PathCall>,
    /// The number of omitted calls.
    #[serde(default)]
    pub calls_left_out: usize,
    /// The steps of the path that it did not walk, from 1.
    pub missed: Vec<usize>,
}

/// A call next to the path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PathCall {
    /// Its number, from 1.
    pub number: usize,
    /// The tool.
    pub tool: String,
    /// The step of the path that it walks, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<usize>,
    /// True if it is not a step of the path.
    pub detour: bool,
}

/// The failures in one run, and their recovery.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecoveryRun {
    /// The run, from 1.
    pub run: usize,
    /// Each failure until the agent got past it.
    pub encounters: Vec<Encounter>,
}

/// A failure, from the first call that failed until the agent got past it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Encounter {
    /// The injected fault, by its name; absent if the call failed on its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// The kind of the fault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The first call that failed, from 1.
    pub call: usize,
    /// The time at which that call began.
    pub at_ms: u64,
    /// The time that it hung before the agent received the failure or recovered.
    pub wait_ms: u64,
    /// True if the agent received the failure.
    pub detected: bool,
    /// The time from the call to the agent's receipt of the failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detected_ms: Option<u64>,
    /// The time from the call to the success of a later call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovered_ms: Option<u64>,
    /// The call that succeeded, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovered_by_call: Option<usize>,
    /// The maximum time of recovery.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_ms: Option<u64>,
    /// `recovered`, or the failure: `not_recovered`, `recovery_too_slow`, `unclean_timeout`;
    /// `gave_up` if that is allowed.
    pub outcome: String,
}

/// The claims of one run, and their support.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NarrativeRun {
    /// The run, from 1.
    pub run: usize,
    /// The closing message; a long one is cut.
    pub text: String,
    /// The claims, in the order of the text.
    pub claims: Vec<ClaimShown>,
    /// Calls that it never mentions.
    pub unmentioned: Vec<CallNamed>,
}

/// One claim of a string.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClaimShown {
    /// Its start, in code points from 0.
    pub start: usize,
    /// Its end.
    pub end: usize,
    /// supported: a call did it. failed: its calls were made and failed. absent: no call did it. unverified: the calls neither show nor refute it. denied: it denies what a call did.
    pub verdict: ClaimVerdict,
    /// The calls that it is about, from 1.
    pub calls: Vec<usize>,
    /// Why, in a few words.
    pub ground: String,
}

/// One call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallNamed {
    /// Its number, from 1.
    pub number: usize,
    /// The tool.
    pub tool: String,
}

/// The tokens of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TokensOfRun {
    /// The run, from 1.
    pub run: usize,
    /// Of the tools that were offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surface: Option<u64>,
    /// Tokens read and written by the model, and their sum.
    #[serde(flatten)]
    pub tokens: Tokens,
}

/// The final state of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorldRun {
    /// The run, from 1.
    pub run: usize,
    /// The state before the first call: any JSON value.
    pub before: Value,
    /// The state after the last: any JSON value.
    pub after: Value,
    /// The closest expected state, if a whole state is expected: any JSON value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<Value>,
    /// The call, from 1, at which the state left every golden path for good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_at_call: Option<usize>,
    /// The differences between the final and the expected state.
    pub differences: Vec<AssertionDiff>,
}

/// The verdict of the calls on a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClaimVerdict {
    /// A call did it.
    Supported,
    /// Its calls were made and failed.
    Failed,
    /// No call did it.
    Absent,
    /// The calls neither show nor refute it.
    Unverified,
    /// The claim denies what a call did.
    Denied,
}
