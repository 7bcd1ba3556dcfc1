//! A run being recorded: the owned side of a trace, which becomes its envelope.

use serde::Serialize;
use serde_json::Value;

/// A run as a recorder collects it.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ConversationTrace {
    /// Every tool call, in order.
    pub tool_calls: Vec<RecordedCall>,
    /// One result per call, in call order.
    pub tool_results: Vec<RecordedResult>,
    /// The agent's closing message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub final_response: Option<String>,
    /// Why the run ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// Provider and transport errors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<Value>,
    /// Turns and totals.
    pub conversation: RecordedConversation,
}

impl ConversationTrace {
    /// The trace envelope: the JSON that cassettes keep and gates read.
    pub fn to_envelope(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// A call being recorded.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RecordedCall {
    /// The tool's bare name.
    pub name: String,
    /// The server it went to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<Value>,
    /// The arguments as written, when they are not JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args_text: Option<String>,
    /// The provider's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The assistant turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
    /// Who made the call, when generated code did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caller: Option<Value>,
}

/// A result being recorded.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RecordedResult {
    /// The call it answers.
    pub call_index: usize,
    /// Whether the tool reported an error.
    pub is_error: bool,
    /// The content blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Value>,
    /// The structured content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured: Option<Value>,
}

/// The conversation being recorded.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RecordedConversation {
    /// Token counts.
    pub tokens: RecordedTokens,
    /// The turns.
    pub turns: Vec<RecordedTurn>,
}

/// Token counts being recorded.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RecordedTokens {
    /// Sent to the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<u64>,
    /// Written by the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion: Option<u64>,
    /// Both together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
}

/// A turn being recorded.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RecordedTurn {
    /// Who spoke.
    pub role: String,
    /// What was said.
    pub content: String,
}
