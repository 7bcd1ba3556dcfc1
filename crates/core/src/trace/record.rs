//! A recorded or imported run before it becomes an envelope, with verbatim JSON.

use super::Tokens;
use crate::json::check_within;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// A run on its way to the envelope that cassettes keep and gates read. `None` means not recorded.
///
/// ```
/// use mcptest_core::{ConversationTrace, Trace};
///
/// let recorded = ConversationTrace { final_response: Some("Rain.".into()), ..ConversationTrace::default() };
/// let line = recorded.to_json();
/// assert_eq!(Trace::read(&line)?.final_response.as_deref(), Some("Rain."));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, Serialize)]
pub struct ConversationTrace {
    /// Every tool call, in the order they were made.
    pub tool_calls: Vec<RecordedCall>,
    /// One result per call, in call order.
    pub tool_results: Vec<RecordedResult>,
    /// Calls that the model wrote and that were never made.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unmade_calls: Vec<RecordedCall>,
    /// The agent's closing message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub final_response: Option<String>,
    /// Why the run ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// The run's name in its source: the id of its trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
    /// Provider, server and agent errors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<RecordedError>,
    /// Hand-offs between agents.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub delegations: Vec<RecordedDelegation>,
    /// Injected faults that affected calls; `None` if none were injected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub faults: Option<Vec<RecordedFault>>,
    /// The servers with the protocols used. Empty if unknown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<RecordedServer>,
    /// The final state of the world that the run acted on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub final_state: Option<Value>,
    /// Facts about the run from its source, such as a reward or the id of its task.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, Value>,
    /// Turns and totals.
    pub conversation: RecordedConversation,
}

/// A server with the protocol used.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedServer {
    /// Its name in the suite.
    pub name: String,
    /// The protocol, `legacy` or `modern`.
    pub era: String,
    /// The protocol revision.
    #[serde(alias = "protocolVersion")]
    pub protocol_version: String,
}

impl ConversationTrace {
    /// The trace envelope: the JSON shape that cassettes keep, and that the functions of [`crate::eval`] read.
    ///
    /// ```
    /// use mcptest_core::eval::tool_calls_from_envelope;
    /// use mcptest_core::trace::{ConversationTrace, RecordedCall};
    ///
    /// let call = RecordedCall { name: "search".into(), server: Some("docs".into()), ..RecordedCall::default() };
    /// let trace = ConversationTrace { tool_calls: vec![call], ..ConversationTrace::default() };
    /// let envelope = trace.to_envelope();
    /// assert_eq!(envelope["tool_calls"][0]["server"], "docs");
    /// assert_eq!(tool_calls_from_envelope(&envelope).len(), 1);
    /// ```
    pub fn to_envelope(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// The envelope as one line of JSON, with verbatim arguments and content.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The cassette line of this run, without a line break.
pub fn run_line(run: usize, trace: &str) -> String {
    format!("{{\"run\":{run},\"trace\":{trace}}}")
}

/// The number of lists and objects around a value of a trace, in a cassette or a report.
const AROUND: usize = 16;

/// The reason that some JSON cannot be kept in a trace, if any: it could not be read again.
pub fn unkeepable(json: &str) -> Option<String> {
    check_within(json, AROUND)
        .err()
        .map(|problem| problem.to_string())
}

/// A call.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RecordedCall {
    /// The tool's bare name; the verbatim name if no server has such a tool.
    pub name: String,
    /// The server of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<Box<RawValue>>,
    /// The arguments as the model wrote them, if they are not JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args_text: Option<String>,
    /// The provider's id of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The assistant turn, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
    /// The caller, if generated code or a sub-agent made the call. Omitted for the model's own calls.
    #[serde(skip_serializing_if = "is_not_said")]
    pub caller: Option<Box<RawValue>>,
    /// True if the tool was an injected distractor.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub distractor: bool,
}

#[expect(clippy::ref_option, reason = "serde hands it over so")]
fn is_not_said(caller: &Option<Box<RawValue>>) -> bool {
    is_direct(caller.as_deref())
}

/// Returns true if the agent made the call itself, without generated code.
pub(crate) fn is_direct(caller: Option<&RawValue>) -> bool {
    let Some(caller) = caller else { return true };
    serde_json::from_str::<Value>(caller.get()).is_ok_and(|caller| caller["type"] == "direct")
}

/// The result of a call.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RecordedResult {
    /// The call it answers.
    pub call_index: usize,
    /// True if the tool reported an error, or the call never reached it.
    pub is_error: bool,
    /// The content blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Box<RawValue>>,
    /// The structured content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured: Option<Box<RawValue>>,
    /// A protocol or transport error instead of a result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<RecordedFailure>,
    /// The server's progress notifications during the call.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub progress: Vec<Box<RawValue>>,
    /// The server's log messages during the call.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub log: Vec<Box<RawValue>>,
    /// The time of the call, from the start of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_ms: Option<u64>,
    /// The duration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

/// Why a call has no result.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RecordedFailure {
    /// The JSON-RPC code, if the server sent one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<i64>,
    /// The message.
    pub message: String,
}

/// An error outside the calls.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RecordedError {
    /// `provider`, `server` or `agent`.
    pub kind: String,
    /// The message.
    pub message: String,
}

impl RecordedError {
    /// An error of the `provider`, a `server` or the `agent`.
    pub fn new(kind: &str, message: impl Into<String>) -> Self {
        Self {
            kind: kind.to_owned(),
            message: message.into(),
        }
    }
}

/// A hand-off between agents.
#[derive(Debug, Clone, Serialize)]
pub struct RecordedDelegation {
    /// The agent that handed over.
    pub from: String,
    /// The agent that took over.
    pub to: String,
}

/// A call that ran into an injected fault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecordedFault {
    /// The fault's name in the suite.
    pub name: String,
    /// Its kind, as `slow:250`.
    pub kind: String,
    /// The call.
    pub call_index: usize,
    /// The delay of the answer. Omitted if it follows from the judging block's budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub virtual_ms: Option<u64>,
    /// True if the agent received the failure.
    pub detected: bool,
}

/// The messages and their totals.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RecordedConversation {
    /// The id of the conversation at its origin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Token counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
    /// The messages, turn by turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns: Option<Vec<RecordedTurn>>,
    /// The duration of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// The number of messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_count: Option<u64>,
    /// The cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

/// One message.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct RecordedTurn {
    /// `user`, `assistant` or `tool`.
    pub role: String,
    /// The text.
    pub content: String,
    /// Token counts of this answer of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
    /// The cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// The start, from the start of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_ms: Option<u64>,
    /// The time of the model, with all tries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

impl RecordedTurn {
    /// A message of the `user`, the `assistant` or a `tool`.
    pub fn new(role: &str, content: impl Into<String>) -> Self {
        Self {
            role: role.to_owned(),
            content: content.into(),
            ..Self::default()
        }
    }
}
