//! Conversations as the text of a cassette: the header has the common fields, and each run is a
//! line.

use crate::json::raw;
use crate::transcript::{ImportedAnswer, Transcript};
use mcptest_core::trace::{ConversationTrace, Header, RecordedConversation, RecordedResult};
use serde::Serialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::slice;

/// The cassette of these conversations. Each line passes through `clean`. A header describes every
/// run, so it omits fields in which the conversations differ.
pub(crate) fn cassette(
    transcripts: Vec<Transcript>,
    agent: &str,
    clean: &dyn Fn(&str) -> Cow<'_, str>,
) -> String {
    let header = clean(raw(&header(&transcripts, agent)).get()).into_owned();
    let expected: usize = transcripts.iter().map(expected_bytes).sum();
    let mut text = Vec::with_capacity(header.len() + 1 + expected);
    text.extend_from_slice(header.as_bytes());
    text.push(b'\n');
    for (index, transcript) in transcripts.into_iter().enumerate() {
        append_run(&mut text, index + 1, trace(transcript), clean);
    }
    text.shrink_to_fit();
    String::from_utf8(text).unwrap_or_default()
}

/// One conversation as a run that is judged by itself.
#[derive(Debug)]
pub(crate) struct ImportedRun {
    /// The header of a cassette with this run alone.
    pub(crate) header: Header,
    /// The trace as JSON.
    pub(crate) trace: String,
}

/// Each conversation as the only run of a cassette. Both parts pass through `clean`.
pub(crate) fn runs(
    transcripts: Vec<Transcript>,
    clean: &dyn Fn(&str) -> Cow<'_, str>,
) -> Vec<ImportedRun> {
    let run = |transcript: Transcript| {
        let header = header_of_one(&transcript, clean);
        let text = raw(&trace(transcript));
        ImportedRun {
            header,
            trace: clean(text.get()).into_owned(),
        }
    };
    transcripts.into_iter().map(run).collect()
}

/// The header of a cassette with this conversation alone.
fn header_of_one(transcript: &Transcript, clean: &dyn Fn(&str) -> Cow<'_, str>) -> Header {
    const AGENT: &str = "imported";
    if transcript.tools.is_some() {
        let header = raw(&header(slice::from_ref(transcript), AGENT));
        // The redactor keeps the types of the fields.
        return serde_json::from_str(&clean(header.get())).unwrap_or_default();
    }
    let text = |text: &String| clean(text).into_owned();
    Header {
        model: transcript.model.as_ref().map(text),
        prompt: transcript.prompt.iter().map(text).collect(),
        system_prompt: system_prompt(transcript).as_ref().map(text),
        ..Header::new(AGENT)
    }
}

/// Appends the line of a run, as `run_line` writes it, and releases its trace. The line is copied only if a secret is
/// in it.
fn append_run(
    text: &mut Vec<u8>,
    run: usize,
    trace: ConversationTrace,
    clean: &dyn Fn(&str) -> Cow<'_, str>,
) {
    #[derive(Serialize)]
    struct RunLine {
        run: usize,
        trace: ConversationTrace,
    }
    let start = text.len();
    let written = serde_json::to_writer(&mut *text, &RunLine { run, trace });
    let line = str::from_utf8(&text[start..]).unwrap_or_default();
    let cleaned = match clean(line) {
        _ if written.is_err() => Some(String::new()),
        Cow::Borrowed(_) => None,
        Cow::Owned(cleaned) => Some(cleaned),
    };
    if let Some(cleaned) = cleaned {
        text.truncate(start);
        text.extend_from_slice(cleaned.as_bytes());
    }
    text.push(b'\n');
}

/// About how long the line of this conversation will be. A text that grows by doubling leaves as much memory unused.
fn expected_bytes(transcript: &Transcript) -> usize {
    const AROUND: usize = 160;
    let turns = transcript
        .turns
        .iter()
        .map(|turn| turn.content.len() + AROUND);
    let contents = transcript.answers.iter().flatten().map(|answer| {
        let parts = [&answer.content, &answer.structured];
        parts
            .iter()
            .filter_map(|part| Some(part.as_ref()?.get().len()))
            .sum::<usize>()
            + AROUND
    });
    let calls = transcript
        .calls
        .iter()
        .map(|call| call.args.as_ref().map_or(0, |args| args.get().len()) + AROUND);
    let texts: usize = turns.chain(contents).chain(calls).sum();
    // Quotes and line breaks in texts take two bytes.
    texts + texts / 8 + 4 * AROUND
}

fn header(transcripts: &[Transcript], agent: &str) -> Header<Box<RawValue>> {
    let same_tools = shared(transcripts, tools).flatten().is_some();
    Header {
        model: shared(transcripts, model).flatten().map(str::to_owned),
        prompt: shared(transcripts, prompt).unwrap_or_default().to_vec(),
        system_prompt: shared(transcripts, system_prompt).flatten(),
        catalogue: transcripts
            .first()
            .and_then(|one| one.tools.clone())
            .filter(|_| same_tools),
        ..Header::new(agent)
    }
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

fn trace(transcript: Transcript) -> ConversationTrace {
    let final_response = transcript.final_response().map(str::to_owned);
    let message_count = transcript.turns.len() as u64;
    let answered = transcript.answers.into_iter().enumerate();
    let results = answered.filter_map(|(call_index, answer)| {
        let ImportedAnswer {
            is_error,
            content,
            structured,
            failure,
            ..
        } = answer?;
        Some(RecordedResult {
            call_index,
            is_error,
            content,
            structured,
            error: failure,
            ..RecordedResult::default()
        })
    });
    ConversationTrace {
        tool_calls: transcript.calls,
        tool_results: results.collect(),
        unmade_calls: transcript.unmade_calls,
        final_response,
        stop_reason: transcript.stop_reason,
        trace_id: transcript.trace_id,
        errors: transcript.errors,
        delegations: transcript.delegations,
        labels: transcript.labels,
        conversation: RecordedConversation {
            id: transcript.conversation_id,
            tokens: Some(transcript.tokens),
            turns: Some(transcript.turns),
            duration_ms: transcript.duration_ms,
            message_count: Some(message_count),
            cost_usd: transcript.cost_usd,
        },
        ..ConversationTrace::default()
    }
}
