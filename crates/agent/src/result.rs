//! What is the result of a call, for the recording and for the model?

use crate::dialect::Part;
use crate::shown::{cut, part_of};
use mcptest_core::trace::{RecordedFailure, RecordedResult, unkeepable};
use mcptest_mcp::client::{CallFailure, Called};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::fmt::Display;

/// A result of `tools/call`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolAnswer {
    #[serde(default)]
    is_error: Option<Value>,
    #[serde(default)]
    content: Option<Box<RawValue>>,
    #[serde(default)]
    structured_content: Option<Box<RawValue>>,
}

/// The result of a call, and its server's notifications during the call.
pub(crate) fn recorded(called: Called) -> RecordedResult {
    let kept = |mut said: Vec<Box<RawValue>>| {
        said.retain(|said| unkeepable(said.get()).is_none());
        said
    };
    let (progress, log) = (kept(called.progress()), kept(called.log()));
    let unread =
        |why: &dyn Display| refused(None, format!("the server's answer cannot be read: {why}"));
    let result = match called.outcome {
        Ok(result) => match (
            unkeepable(result.get()),
            serde_json::from_str::<ToolAnswer>(result.get()),
        ) {
            (Some(why), _) => unread(&why),
            (None, Err(error)) => unread(&error),
            (None, Ok(answer)) => RecordedResult {
                is_error: answer.is_error == Some(Value::Bool(true)),
                content: answer.content,
                structured: answer.structured_content,
                ..RecordedResult::default()
            },
        },
        Err(CallFailure::Rpc(error)) => refused(Some(error.code), error.message),
        Err(CallFailure::Wire(error)) => refused(None, error.to_string()),
    };
    RecordedResult {
        progress,
        log,
        ..result
    }
}

/// The record of a call without a result.
pub(crate) fn refused(code: Option<i64>, message: String) -> RecordedResult {
    let error = Some(RecordedFailure { code, message });
    RecordedResult {
        is_error: true,
        error,
        ..RecordedResult::default()
    }
}

/// The model's view, up to this number of characters: the content blocks, otherwise the structured content, otherwise
/// the error's message.
pub(crate) fn parts_of(result: &RecordedResult, most: usize) -> Vec<Part> {
    cut(all_parts(result), most)
}

fn all_parts(result: &RecordedResult) -> Vec<Part> {
    if let Some(RecordedFailure { code, message }) = &result.error {
        let code = code.map(|code| format!(" {code}")).unwrap_or_default();
        return vec![Part::Text(format!("error{code}: {message}"))];
    }
    let blocks = result
        .content
        .as_ref()
        .and_then(|content| serde_json::from_str(content.get()).ok());
    let blocks: Vec<Value> = blocks.unwrap_or_default();
    let mut parts: Vec<Part> = blocks.iter().map(part_of).collect();
    if parts.is_empty() {
        let structured = result.structured.as_ref();
        parts.extend(structured.map(|structured| Part::Text(structured.get().to_owned())));
    }
    parts
}
