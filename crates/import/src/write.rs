//! Conversations as the text of a cassette: the header has the common fields, and each run is a
//! line.

use crate::json::raw;
use crate::transcript::{ImportedAnswer, Transcript};
use mcptest_core::trace::{
    ConversationTrace, Header, RecordedConversation, RecordedResult, run_line,
};
use std::borrow::Cow;

/// The cassette of these conversations. Each line passes through `clean`. A header describes every
/// run, so it omits fields in which the conversations differ.
pub(crate) fn cassette(
    transcripts: &[Transcript],
    agent: &str,
    clean: &dyn Fn(&str) -> Cow<'_, str>,
) -> String {
    let same_tools = shared(transcripts, tools).flatten().is_some();
    let header = Header {
        model: shared(transcripts, model).flatten().map(str::to_owned),
        prompt: shared(transcripts, prompt).unwrap_or_default().to_vec(),
        system_prompt: shared(transcripts, system_prompt).flatten(),
        catalogue: transcripts
            .first()
            .and_then(|one| one.tools.clone())
            .filter(|_| same_tools),
        ..Header::new(agent)
    };
    let mut text = clean(raw(&header).get()).into_owned() + "\n";
    for (index, transcript) in transcripts.iter().enumerate() {
        text.push_str(&clean(&run_line(index + 1, &trace(transcript).to_json())));
        text.push('\n');
    }
    text
}

/// The fields in which these conversations differ.
pub(crate) fn disagreed(transcripts: &[Transcript]) -> Vec<&'static str> {
    let differs = [
        ("model", shared(transcripts, model).is_none()),
        ("prompt", shared(transcripts, prompt).is_none()),
        (
            "system prompt",
            shared(transcripts, system_prompt).is_none(),
        ),
        ("tool catalogue", shared(transcripts, tools).is_none()),
    ];
    differs
        .into_iter()
        .filter_map(|(what, differs)| differs.then_some(what))
        .collect()
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
    one.tools.as_ref().map(|tools| raw(tools).get().to_owned())
}

/// The value that all of them share.
fn shared<'t, T: PartialEq>(
    transcripts: &'t [Transcript],
    of: impl Fn(&'t Transcript) -> T,
) -> Option<T> {
    let mut all = transcripts.iter().map(of);
    let first = all.next()?;
    all.all(|other| other == first).then_some(first)
}

fn trace(transcript: &Transcript) -> ConversationTrace {
    let answered = transcript.answers.iter().enumerate();
    let results = answered.filter_map(|(call_index, answer)| {
        let ImportedAnswer {
            is_error,
            content,
            structured,
            ..
        } = answer.clone()?;
        Some(RecordedResult {
            call_index,
            is_error,
            content,
            structured,
            ..RecordedResult::default()
        })
    });
    ConversationTrace {
        tool_calls: transcript.calls.clone(),
        tool_results: results.collect(),
        unmade_calls: transcript.unmade_calls.clone(),
        final_response: transcript.final_response().map(str::to_owned),
        stop_reason: transcript.stop_reason.clone(),
        trace_id: transcript.trace_id.clone(),
        errors: transcript.errors.clone(),
        delegations: transcript.delegations.clone(),
        conversation: RecordedConversation {
            tokens: Some(transcript.tokens),
            turns: Some(transcript.turns.clone()),
            duration_ms: transcript.duration_ms,
            message_count: Some(transcript.turns.len() as u64),
            cost_usd: None,
        },
        ..ConversationTrace::default()
    }
}
