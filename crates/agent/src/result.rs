//! What a call came back with: for the recording, and for the model.

use crate::dialect::Part;
use crate::shown::{cut, part_of};
use mcptest_core::trace::{RecordedFailure, RecordedResult, unkeepable};
use mcptest_mcp::client::CallFailure;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// What a call came back with.
#[derive(Debug)]
pub(crate) enum ToolOutcome {
    /// A result, as the server wrote it.
    Answer(ToolAnswer),
    /// None.
    Refused(RecordedFailure),
}

/// A result of `tools/call`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ToolAnswer {
    #[serde(default)]
    is_error: Option<Value>,
    #[serde(default)]
    content: Option<Box<RawValue>>,
    #[serde(default)]
    structured_content: Option<Box<RawValue>>,
}

impl ToolOutcome {
    pub(crate) fn of(outcome: Result<Box<RawValue>, CallFailure>) -> Self {
        match outcome {
            Ok(result) => match unkeepable(result.get()) {
                None => match serde_json::from_str(result.get()) {
                    Ok(answer) => Self::Answer(answer),
                    Err(error) => Self::refused(None, format!("the server's answer cannot be read: {error}")),
                },
                Some(why) => Self::refused(None, format!("the server's answer cannot be read: {why}")),
            },
            Err(CallFailure::Rpc(error)) => Self::refused(Some(error.code), error.message),
            Err(CallFailure::Wire(error)) => Self::refused(None, error.to_string()),
        }
    }

    pub(crate) fn refused(code: Option<i64>, message: String) -> Self {
        Self::Refused(RecordedFailure { code, message })
    }

    pub(crate) fn is_failure(&self) -> bool {
        match self {
            Self::Answer(answer) => answer.is_error == Some(Value::Bool(true)),
            Self::Refused(_) => true,
        }
    }

    pub(crate) fn into_recorded(self, call_index: usize) -> RecordedResult {
        let is_error = self.is_failure();
        match self {
            Self::Answer(answer) => RecordedResult {
                call_index,
                is_error,
                content: answer.content,
                structured: answer.structured_content,
                ..RecordedResult::default()
            },
            Self::Refused(error) => {
                RecordedResult { call_index, is_error, error: Some(error), ..RecordedResult::default() }
            }
        }
    }
}

/// What the model is told, up to so many characters: the content blocks, else the structured content, else the error's
/// message.
pub(crate) fn parts_of(outcome: &ToolOutcome, most: usize) -> Vec<Part> {
    cut(all_parts(outcome), most)
}

fn all_parts(outcome: &ToolOutcome) -> Vec<Part> {
    let answer = match outcome {
        ToolOutcome::Refused(failure) => return vec![Part::Text(failure_text(failure))],
        ToolOutcome::Answer(answer) => answer,
    };
    let blocks: Vec<Value> = answer
        .content
        .as_ref()
        .and_then(|content| serde_json::from_str(content.get()).ok())
        .unwrap_or_default();
    let mut parts: Vec<Part> = blocks.iter().map(part_of).collect();
    if parts.is_empty() {
        parts.extend(
            answer.structured_content.as_ref().map(|structured| Part::Text(structured.get().to_owned())),
        );
    }
    parts
}

fn failure_text(failure: &RecordedFailure) -> String {
    match failure.code {
        Some(code) => format!("error {code}: {}", failure.message),
        None => format!("error: {}", failure.message),
    }
}
