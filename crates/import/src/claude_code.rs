//! Session files of Claude Code: which lines are messages, and which session do they belong to?
//! `anthropic.rs` reads the messages.

use crate::json::{Fields, Json};
use crate::unit::grouped;
use std::borrow::Cow;

/// The model name in messages that Claude Code wrote itself.
pub(crate) const NO_MODEL: &str = "<synthetic>";

/// Returns true if a line is a message of a session.
pub(crate) fn has_session(values: &[Json<'_>]) -> bool {
    values.iter().any(|value| of_session(*value).is_some())
}

/// The messages of each session.
pub(crate) fn sessions<'a>(values: &[Json<'a>]) -> Vec<Vec<Json<'a>>> {
    grouped(values.iter().filter_map(|value| of_session(*value)))
}

/// A message, and its session. Lines of helper agents and lines about the program are skipped.
fn of_session(value: Json<'_>) -> Option<(String, Json<'_>)> {
    let line = value.object().filter(|line| line.has("sessionId"))?;
    let message = line.get("message")?;
    let is_message = message.object().is_some_and(|message| message.has("role"));
    let is_helper = line
        .get("isSidechain")
        .and_then(Json::flag)
        .unwrap_or_default();
    let kept = if is_outage(&line) { value } else { message };
    (is_message && !is_helper).then_some((line.string("sessionId")?.into_owned(), kept))
}

/// Returns true if the program, not the model, wrote this line: its provider gave no answer.
pub(crate) fn is_outage(line: &Fields<'_>) -> bool {
    line.get("isApiErrorMessage")
        .and_then(Json::flag)
        .unwrap_or_default()
}

/// The program's message instead of an answer.
pub(crate) fn outage(line: &Fields<'_>) -> String {
    let content = line
        .part("message")
        .and_then(|message| message.get("content"));
    let said = content.map(|content| match content.string() {
        Some(text) => text.into_owned(),
        None => content.each("text").concat(),
    });
    let said = said.filter(|said| !said.is_empty());
    match (line.string("error"), said) {
        (Some(kind), Some(said)) => format!("{kind}: {said}"),
        (kind, said) => said
            .or(kind.map(Cow::into_owned))
            .unwrap_or_else(|| "the provider gave no answer".to_owned()),
    }
}
