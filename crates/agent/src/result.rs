//! What a call came back with: for the recording, and for the model.

use crate::dialect::Part;
use crate::shown::{cut, part_of};
use mcptest_core::trace::{RecordedFailure, RecordedResult, unkeepable};
use mcptest_mcp::client::{CallFailure, Called};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::fmt::Display;

/// What a call came back with, and what its server told meanwhile.
#[derive(Debug)]
pub(crate) struct ToolOutcome {
    end: End,
    progress: Vec<Box<RawValue>>,
    log: Vec<Box<RawValue>>,
}

#[derive(Debug)]
enum End {
    /// A result, as the server wrote it.
    Answer(ToolAnswer),
    /// None.
    Refused(RecordedFailure),
}

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

impl ToolOutcome {
    pub(crate) fn of(called: Called) -> Self {
        let kept = |mut said: Vec<Box<RawValue>>| {
            said.retain(|said| unkeepable(said.get()).is_none());
            said
        };
        let (progress, log) = (kept(called.progress()), kept(called.log()));
        let unread =
            |why: &dyn Display| Self::refused(None, format!("the server's answer cannot be read: {why}"));
        let outcome = match called.outcome {
            Ok(result) => match (unkeepable(result.get()), serde_json::from_str(result.get())) {
                (Some(why), _) => unread(&why),
                (None, Err(error)) => unread(&error),
                (None, Ok(answer)) => Self::from(End::Answer(answer)),
            },
            Err(CallFailure::Rpc(error)) => Self::refused(Some(error.code), error.message),
            Err(CallFailure::Wire(error)) => Self::refused(None, error.to_string()),
        };
        Self { progress, log, ..outcome }
    }

    pub(crate) fn refused(code: Option<i64>, message: String) -> Self {
        Self::from(End::Refused(RecordedFailure { code, message }))
    }

    pub(crate) fn is_failure(&self) -> bool {
        match &self.end {
            End::Answer(answer) => answer.is_error == Some(Value::Bool(true)),
            End::Refused(_) => true,
        }
    }

    pub(crate) fn into_recorded(self, call_index: usize) -> RecordedResult {
        let is_error = self.is_failure();
        let (answer, error) = match self.end {
            End::Answer(answer) => (answer, None),
            End::Refused(error) => (ToolAnswer::default(), Some(error)),
        };
        RecordedResult {
            call_index,
            is_error,
            content: answer.content,
            structured: answer.structured_content,
            error,
            progress: self.progress,
            log: self.log,
            ..RecordedResult::default()
        }
    }
}

impl From<End> for ToolOutcome {
    fn from(end: End) -> Self {
        Self { end, progress: Vec::new(), log: Vec::new() }
    }
}

/// What the model is told, up to so many characters: the content blocks, else the structured content, else the error's
/// message.
pub(crate) fn parts_of(outcome: &ToolOutcome, most: usize) -> Vec<Part> {
    cut(all_parts(outcome), most)
}

fn all_parts(outcome: &ToolOutcome) -> Vec<Part> {
    let answer = match &outcome.end {
        End::Refused(failure) => return vec![Part::Text(failure_text(failure))],
        End::Answer(answer) => answer,
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
