//! A run being recorded: what a cassette keeps of it.

use mcptest_core::json::check_within;
use serde::Serialize;
use serde_json::value::RawValue;

/// One run, which becomes the trace of a cassette.
#[derive(Debug, Default, Serialize)]
pub struct RunTrace {
    /// Every call, in order.
    pub tool_calls: Vec<TracedCall>,
    /// What the calls came back with, in call order.
    pub tool_results: Vec<TracedResult>,
    /// The closing message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub final_response: Option<String>,
    /// Why the run ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// Provider and transport errors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<TracedError>,
    /// Injected faults that calls ran into; `None` when none were injected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub faults: Option<Vec<TracedFault>>,
    /// Turns and totals.
    pub conversation: TracedConversation,
}

impl RunTrace {
    /// The trace as one line of JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// How many lists and objects a value of a trace stands within, in a cassette or a report.
const AROUND: usize = 16;

/// Why some JSON cannot be kept in a trace, when it cannot: nobody could read it again.
pub(crate) fn unkeepable(json: &str) -> Option<String> {
    check_within(json, AROUND).err().map(|problem| problem.to_string())
}

/// A call.
#[derive(Debug, Default, Serialize)]
pub struct TracedCall {
    /// The tool's bare name; the name as written where no server has such a tool.
    pub name: String,
    /// The server it went to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<Box<RawValue>>,
    /// What was written in place of arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args_text: Option<String>,
    /// The provider's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The assistant turn, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
    /// Who called, when generated code did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caller: Option<Box<RawValue>>,
    /// Whether the tool was put there to distract.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub distractor: bool,
}

/// What a call came back with.
#[derive(Debug, Default, Serialize)]
pub struct TracedResult {
    /// The call.
    pub call_index: usize,
    /// Whether the tool reported an error, or the call never reached it.
    pub is_error: bool,
    /// The content blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Box<RawValue>>,
    /// The structured content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured: Option<Box<RawValue>>,
    /// A protocol or transport error in place of a result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<TracedFailure>,
    /// How long it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

/// Why a call has no result.
#[derive(Debug, Clone, Default, Serialize)]
pub struct TracedFailure {
    /// The JSON-RPC code, where the server gave one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<i64>,
    /// What happened.
    pub message: String,
}

/// What went wrong with the provider or a server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TracedError {
    /// `provider`, `server` or `agent`.
    pub kind: String,
    /// What happened.
    pub message: String,
}

/// A call that ran into an injected fault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TracedFault {
    /// The fault's name in the suite.
    pub name: String,
    /// Its kind, as `slow:250`.
    pub kind: String,
    /// The call.
    pub call_index: usize,
    /// How late the answer was; left out where that follows from the budget of the one who judges.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub virtual_ms: Option<u64>,
    /// Whether the agent was told.
    pub detected: bool,
}

/// The messages and their totals.
#[derive(Debug, Default, Serialize)]
pub struct TracedConversation {
    /// Token counts.
    pub tokens: TracedTokens,
    /// What was said, turn by turn.
    pub turns: Vec<TracedTurn>,
    /// How long the run took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// How many messages were exchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_count: Option<u64>,
    /// What it cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

/// Token counts, absent where nobody counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct TracedTokens {
    /// Read by the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<u64>,
    /// Written by the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion: Option<u64>,
    /// Both together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
}

/// One message.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TracedTurn {
    /// `user`, `assistant` or `tool`.
    pub role: String,
    /// What was said.
    pub content: String,
}
