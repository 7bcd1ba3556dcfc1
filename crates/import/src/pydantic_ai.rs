//! Pydantic AI messages: `kind: request | response`, with parts of different `part_kind`.

use crate::Importer;
use crate::content::{Part, call_at, could_be_a_call, part, value_of};
use crate::json::{Fields, Json, Misfit, object_of};
use crate::sample::Sample;
use crate::transcript::{Dropped, Transcript};
use crate::unit::{Unit, units};
use crate::usage;
use mcptest_core::trace::RecordedTurn;
use std::borrow::Cow;

pub(crate) const IMPORTER: Importer = Importer {
    key: "pydantic-ai",
    name: "pydantic ai",
    doc: "messages of `kind` request and response, with parts that have a `part_kind`",
    also_reads: &[],
    sniff,
    read,
};

/// Parts about the conversation, without calls.
const HARMLESS: [&str; 8] = [
    "instruction",
    "instruction-delta",
    "instruction-baseline",
    "instruction-digest",
    "tool-availability-delta",
    "capability-load-delta",
    "model-settings-delta",
    "compaction",
];

fn is_message(fields: &Fields<'_>) -> bool {
    let kind = fields.string("kind");
    kind.is_some_and(|kind| matches!(&*kind, "request" | "response")) && fields.has("parts")
}

fn sniff(sample: &Sample<'_>) -> bool {
    sample.records.iter().any(is_message)
}

fn read(values: &[Json<'_>]) -> Result<Vec<Transcript>, Misfit> {
    let mut transcripts = Vec::new();
    for unit in units(values, &is_message)? {
        let messages = match unit {
            Unit::Messages(messages) => messages,
            Unit::Record(record) => record.list("messages")?.ok_or_else(|| {
                record.misfit("this is not a message, and has no `messages`".to_owned())
            })?,
        };
        let mut transcript = Transcript::default();
        transcript.marks_errors = true;
        for message in messages {
            read_message(&object_of(message, "a message")?, &mut transcript)?;
        }
        transcripts.push(transcript);
    }
    Ok(transcripts)
}

fn read_message(message: &Fields<'_>, transcript: &mut Transcript) -> Result<(), Misfit> {
    let kind = message.required_string("kind", "a message")?;
    match &*kind {
        "request" => message
            .string("instructions")
            .iter()
            .for_each(|text| transcript.system(text)),
        "response" => read_response(message, transcript),
        other => {
            return Err(message.misfit(format!("`kind` is `{other}`; it is request or response")));
        }
    }
    for part in message.list("parts")?.unwrap_or_default() {
        let part = object_of(part, "a part")?;
        read_part(&part, kind == "response", transcript)?;
    }
    if kind == "response" {
        transcript.answer_ended(message.string("finish_reason").as_deref());
    }
    Ok(())
}

/// Reads the fields next to the parts of the model's message.
fn read_response(message: &Fields<'_>, transcript: &mut Transcript) {
    transcript.assistant();
    let counted = usage::tokens(&message.part("usage").unwrap_or_default());
    // A model that counts nothing is written with zeros.
    if counted.total != Some(0) {
        transcript.tokens.add(counted);
    }
    transcript.set_model(message.owned("model_name"));
    transcript.stop_reason = message.owned("finish_reason");
}

fn read_part(
    fields: &Fields<'_>,
    is_model: bool,
    transcript: &mut Transcript,
) -> Result<(), Misfit> {
    let kind = fields.required_string("part_kind", "a part")?;
    match &*kind {
        "system-prompt" => transcript.system(&fields.string("content").unwrap_or_default()),
        "user-prompt" => {
            let text = prompt(fields, transcript)?;
            transcript.user(&text);
        }
        "text" => transcript.say(&fields.string("content").unwrap_or_default()),
        "speech" => read_speech(fields, is_model, transcript),
        "thinking" => transcript.drop(Dropped::Reasoning),
        "file" => transcript.drop(Dropped::File),
        "tool-call" | "builtin-tool-call" => {
            let arguments = fields.get("args");
            transcript.call(call_at(fields, "tool_name", "tool_call_id", arguments)?);
        }
        "tool-return" | "builtin-tool-return" => {
            let is_error = fields
                .string("outcome")
                .is_some_and(|outcome| outcome != "success");
            read_answer(fields, is_error, transcript)?;
        }
        "retry-prompt" if fields.has("tool_name") => read_answer(fields, true, transcript)?,
        "retry-prompt" | "retry-feedback" => read_retry(fields, transcript),
        kind if HARMLESS.contains(&kind) => transcript.drop(Dropped::Other),
        other => {
            let problem = format!("a part is of an unknown `part_kind`, `{other}`");
            return Err(fields.misfit(could_be_a_call(&problem)));
        }
    }
    Ok(())
}

fn read_speech(fields: &Fields<'_>, is_model: bool, transcript: &mut Transcript) {
    transcript.drop(Dropped::Audio);
    let said = fields.string("transcript").unwrap_or_default();
    if is_model {
        transcript.say(&said);
    } else {
        transcript.user(&said);
    }
}

/// Reads a retry, which the framework requests instead of the user.
fn read_retry(fields: &Fields<'_>, transcript: &mut Transcript) {
    let text = fields
        .get("content")
        .map(|content| content.string().unwrap_or_else(|| content.text().into()));
    let turn = RecordedTurn::new("user", text.unwrap_or_default());
    transcript.turns.push(turn);
}

fn read_answer(
    fields: &Fields<'_>,
    is_error: bool,
    transcript: &mut Transcript,
) -> Result<(), Misfit> {
    let answer = value_of(fields.get("content"), is_error, transcript);
    transcript.answer(
        fields,
        "tool_call_id",
        fields.string("tool_name").as_deref(),
        answer,
    )
}

/// The text of a prompt. Its `kind` identifies other parts.
fn prompt<'a>(fields: &Fields<'a>, transcript: &mut Transcript) -> Result<Cow<'a, str>, Misfit> {
    let Some(content) = fields.get("content") else {
        return Ok(Cow::Borrowed(""));
    };
    if let Some(text) = content.string() {
        return Ok(text);
    }
    let mut whole = Cow::Borrowed("");
    for value in fields.list("content")?.unwrap_or_default() {
        if let Some(text) = value.string() {
            whole += text;
            continue;
        }
        let inner = object_of(value, "a part of `content`")?;
        let kind = inner.string("kind").unwrap_or_default();
        match (&*kind, part(&kind, &inner)) {
            ("text-content" | "structured-content", _) => {
                whole += inner.string("content").unwrap_or_default();
            }
            ("cache-point", _) => {}
            (_, Part::Dropped(what)) => transcript.drop(what),
            _ => {
                return Err(inner.misfit(format!(
                    "a part of `content` is of an unknown `kind`, `{kind}`"
                )));
            }
        }
    }
    Ok(whole)
}
