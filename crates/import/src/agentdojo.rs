//! Runs of `AgentDojo`: messages whose calls name a `function`, and whether task and attack succeeded.

use crate::Importer;
use crate::content::{answer_of, call_at, text_of};
use crate::json::{Fields, Json, Misfit, object_of};
use crate::sample::Sample;
use crate::transcript::{ImportedAnswer, Transcript};

pub(crate) const IMPORTER: Importer = Importer {
    key: "agentdojo",
    name: "agentdojo",
    doc: "runs of AgentDojo, with `suite_name` and `messages` whose calls name a `function`",
    also_reads: &[],
    sniff,
    read,
};

/// The facts about a run in its file.
const LABELS: [&str; 7] = [
    "suite_name",
    "pipeline_name",
    "user_task_id",
    "injection_task_id",
    "attack_type",
    "utility",
    "security",
];

fn sniff(sample: &Sample<'_>) -> bool {
    sample
        .records
        .iter()
        .any(|record| record.has("suite_name") && record.has("pipeline_name"))
        || sample.messages.iter().any(|message| {
            let calls = message.get("tool_calls").and_then(Json::list);
            let mut calls = calls.into_iter().flatten().filter_map(Json::object);
            message.has("role")
                && (message.part("tool_call").is_some_and(|call| is_call(&call))
                    || calls.any(|call| is_call(&call)))
        })
}

/// Returns true for a call whose function is a name.
fn is_call(call: &Fields<'_>) -> bool {
    call.string("function").is_some() && call.has("args")
}

fn read(values: &[Json<'_>]) -> Result<Vec<Transcript>, Misfit> {
    let mut transcripts = Vec::new();
    let mut loose = Vec::new();
    for value in values {
        let items = value.list().unwrap_or_else(|| vec![*value]);
        let mut messages = Vec::new();
        for item in items {
            let fields = object_of(item, "a run")?;
            if fields.has("role") {
                messages.push(fields);
            } else {
                transcripts.push(read_run(&fields)?);
            }
        }
        // Messages on separate lines are one conversation.
        if value.list().is_none() {
            loose.extend(messages);
        } else if !messages.is_empty() {
            transcripts.push(read_messages(&messages)?);
        }
    }
    if !loose.is_empty() {
        transcripts.push(read_messages(&loose)?);
    }
    Ok(transcripts)
}

fn read_run(run: &Fields<'_>) -> Result<Transcript, Misfit> {
    let Some(messages) = run.list("messages")? else {
        return Err(run.misfit("`messages` is missing".to_owned()));
    };
    let messages = messages
        .into_iter()
        .map(|message| object_of(message, "a message"))
        .collect::<Result<Vec<_>, _>>()?;
    let mut transcript = read_messages(&messages)?;
    transcript.label(run, &LABELS);
    transcript.duration_ms = run.get("duration").and_then(Json::seconds_as_ms);
    if let Some(error) = run.owned("error") {
        transcript.end_in_error(error);
    }
    Ok(transcript)
}

fn read_messages(messages: &[Fields<'_>]) -> Result<Transcript, Misfit> {
    let mut transcript = Transcript::default();
    transcript.marks_errors = true;
    for message in messages {
        read_message(message, &mut transcript)?;
    }
    Ok(transcript)
}

fn read_message(message: &Fields<'_>, transcript: &mut Transcript) -> Result<(), Misfit> {
    let role = message.required_string("role", "a message")?;
    if role == "tool" {
        return read_result(message, transcript);
    }
    let text = match message.get("content") {
        Some(content) => text_of(content, transcript)?,
        None => "".into(),
    };
    match &*role {
        "system" => transcript.system(&text),
        "user" => transcript.user(&text),
        "assistant" => {
            transcript.assistant();
            transcript.say(&text);
            for call in message.list("tool_calls")?.unwrap_or_default() {
                let call = object_of(call, "a call of `tool_calls`")?;
                let call = call_at(&call, "function", "id", call.get("args"))?;
                transcript.call(call);
            }
        }
        other => {
            let problem = format!("`role` is `{other}`; it is system, user, assistant or tool");
            return Err(message.misfit(problem));
        }
    }
    Ok(())
}

/// A result, which echoes its call. The message of an error is beside an empty content.
fn read_result(message: &Fields<'_>, transcript: &mut Transcript) -> Result<(), Misfit> {
    let error = message.optional_string("error")?;
    let answer = answer_of(message.get("content"), error.is_some(), transcript);
    let answer = match error {
        Some(error) if answer.text.is_empty() => ImportedAnswer::from_text(error, true),
        _ => answer,
    };
    let echoed = message.object("tool_call")?.unwrap_or_default();
    let name = echoed.string("function");
    transcript.answer(message, "tool_call_id", name.as_deref(), answer)
}
