//! Conversations as the text of a cassette: the header says what is true of all of them, each run is a line.

use super::json::Payload;
use super::transcript::{Call, Delegation, RunError, Tokens, Tool, Transcript, Turn};
use mcptest_core::trace::Header;
use mcptest_redact::Redactor;
use serde::Serialize;
use std::sync::LazyLock;

static REDACTOR: LazyLock<Option<Redactor>> = LazyLock::new(|| Redactor::builder().build().ok());

#[derive(Serialize)]
struct FirstLine<'a> {
    #[serde(flatten)]
    header: Header,
    #[serde(skip_serializing_if = "Option::is_none")]
    catalogue: Option<&'a [Tool]>,
}

#[derive(Serialize)]
struct Run<'a> {
    run: usize,
    trace: Trace<'a>,
}

#[derive(Serialize)]
struct Trace<'a> {
    tool_calls: &'a [Call],
    tool_results: Vec<CallResult<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    final_response: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop_reason: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    errors: &'a [RunError],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    delegations: &'a [Delegation],
    conversation: Conversation<'a>,
}

#[derive(Serialize)]
struct CallResult<'a> {
    call_index: usize,
    is_error: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<&'a Payload>,
    #[serde(skip_serializing_if = "Option::is_none")]
    structured: Option<&'a Payload>,
}

#[derive(Serialize)]
struct Conversation<'a> {
    tokens: Tokens,
    turns: &'a [Turn],
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<u64>,
    message_count: usize,
}

/// The cassette of these conversations, without secrets of known shape.
///
/// A header speaks for every run: what the conversations differ in is left out.
pub(super) fn cassette(transcripts: &[Transcript], agent: &str) -> String {
    let header = Header {
        format: Header::FORMAT.to_owned(),
        version: Header::VERSION,
        agent: agent.to_owned(),
        model: shared(transcripts, model).flatten().map(str::to_owned),
        prompt: shared(transcripts, prompt).unwrap_or_default().to_vec(),
        system_prompt: shared(transcripts, system_prompt).flatten(),
        ..Header::default()
    };
    let same_tools = shared(transcripts, tools).flatten().is_some();
    let catalogue = transcripts.first().and_then(|one| one.tools.as_deref()).filter(|_| same_tools);
    let mut text = line(&FirstLine { header, catalogue });
    for (index, transcript) in transcripts.iter().enumerate() {
        text.push_str(&line(&Run { run: index + 1, trace: trace(transcript) }));
    }
    text
}

/// What these conversations differ in.
pub(super) fn disagreed(transcripts: &[Transcript]) -> Vec<&'static str> {
    let differs = [
        ("model", shared(transcripts, model).is_none()),
        ("prompt", shared(transcripts, prompt).is_none()),
        ("system prompt", shared(transcripts, system_prompt).is_none()),
        ("tool catalogue", shared(transcripts, tools).is_none()),
    ];
    differs.into_iter().filter_map(|(what, differs)| differs.then_some(what)).collect()
}

fn model(one: &Transcript) -> Option<&str> {
    one.model.as_deref()
}

fn prompt(one: &Transcript) -> &[String] {
    &one.prompt
}

fn system_prompt(one: &Transcript) -> Option<String> {
    Some(one.system_prompt.join("\n\n")).filter(|text| !text.is_empty())
}

fn tools(one: &Transcript) -> Option<String> {
    one.tools.as_ref().map(|tools| Payload::of(tools).text().to_owned())
}

/// What is the same in all of them.
fn shared<'t, T: PartialEq>(transcripts: &'t [Transcript], of: impl Fn(&'t Transcript) -> T) -> Option<T> {
    let mut all = transcripts.iter().map(of);
    let first = all.next()?;
    all.all(|other| other == first).then_some(first)
}

fn trace(transcript: &Transcript) -> Trace<'_> {
    let answered = transcript.answers.iter().enumerate();
    let results = answered.filter_map(|(call_index, answer)| {
        let answer = answer.as_ref()?;
        Some(CallResult {
            call_index,
            is_error: answer.is_error,
            content: answer.content.as_ref(),
            structured: answer.structured.as_ref(),
        })
    });
    Trace {
        tool_calls: &transcript.calls,
        tool_results: results.collect(),
        final_response: transcript.final_response(),
        stop_reason: transcript.stop_reason.as_deref(),
        errors: &transcript.errors,
        delegations: &transcript.delegations,
        conversation: Conversation {
            tokens: transcript.tokens,
            turns: &transcript.turns,
            duration_ms: transcript.duration_ms,
            message_count: transcript.turns.len(),
        },
    }
}

fn line(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value).unwrap_or_default();
    let clean = match &*REDACTOR {
        Some(redactor) => redactor.json(&text).into_owned(),
        None => text,
    };
    clean + "\n"
}
