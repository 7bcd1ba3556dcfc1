//! Anthropic messages: content blocks `tool_use` and `tool_result`.

use crate::Importer;
use crate::catalogue::read_tools;
use crate::claude_code;
use crate::content::{Part, answer_of, part, refuse_calls_of_others, text_of, unknown};
use crate::exchange::{Exchange, chains, signed};
use crate::json::{Fields, Json, Misfit, object_of};
use crate::sample::{Sample, has_part};
use crate::transcript::{Dropped, Transcript};
use crate::unit::{Unit, units};
use crate::usage;
use mcptest_core::trace::RecordedCall;
use std::borrow::Cow;

pub(crate) const IMPORTER: Importer = Importer {
    key: "anthropic",
    name: "anthropic",
    doc: "messages whose content has `tool_use` and `tool_result` blocks, or a response of `type: message`",
    also_reads: &[],
    sniff,
    read,
};

/// Blocks about the conversation, without calls.
pub(crate) const HARMLESS: [&str; 5] = [
    "compaction",
    "fallback",
    "mcp_tool_listing",
    "tool_addition",
    "tool_removal",
];

fn sniff(sample: &Sample<'_>) -> bool {
    let has_schema = |tool: &Json<'_>| tool.object().is_some_and(|tool| tool.has("input_schema"));
    let is_block = |kind: &str| {
        kind.ends_with("tool_use") || kind.ends_with("tool_result") || kind.ends_with("thinking")
    };
    sample.records.iter().any(|record| {
        let tools = record.get("tools").and_then(Json::list).unwrap_or_default();
        record.has("anthropic_version")
            || (record.has("messages") && (record.has("system") || tools.iter().any(has_schema)))
    }) || sample.messages.iter().any(|message| {
        let is_response =
            message.has("role") && message.string("type").is_some_and(|kind| kind == "message");
        is_response && message.has("stop_reason") || has_part(message, is_block)
    })
}

/// A whole response, rather than a message that was sent.
fn is_response(fields: &Fields<'_>) -> bool {
    fields.has("stop_reason") || fields.has("usage")
}

/// The conversation of these messages.
pub(crate) fn conversation(messages: Vec<Json<'_>>) -> Result<Transcript, Misfit> {
    transcript(&[Exchange {
        messages,
        ..Exchange::default()
    }])
}

fn read(values: &[Json<'_>]) -> Result<Vec<Transcript>, Misfit> {
    if claude_code::has_session(values) {
        return claude_code::read(values);
    }
    let mut exchanges = Vec::new();
    for unit in units(values, &|fields| fields.has("role"))? {
        match unit {
            Unit::Messages(messages) => {
                let all_responses = messages
                    .iter()
                    .all(|one| one.object().is_some_and(|one| is_response(&one)));
                if all_responses {
                    exchanges.extend(messages.into_iter().map(|reply| Exchange {
                        response: reply.object().unwrap_or_default(),
                        reply: Some(reply),
                        ..Exchange::default()
                    }));
                } else {
                    exchanges.push(Exchange {
                        messages,
                        ..Exchange::default()
                    });
                }
            }
            Unit::Record(record) => exchanges.push(exchange(&record)?),
        }
    }
    chains(exchanges, signature)
        .iter()
        .map(|chain| transcript(chain))
        .collect()
}

fn exchange<'a>(record: &Fields<'a>) -> Result<Exchange<'a>, Misfit> {
    let request = record.side("request")?;
    let request = request.part("params").unwrap_or(request);
    let messages = request.list("messages")?;
    let response = match record.first(&["response", "message", "result"]) {
        Some(value) => object_of(value, "the response")?
            .first(&["body", "message"])
            .or(Some(value)),
        None => None,
    };
    let fields = response
        .map(|value| object_of(value, "the response"))
        .transpose()?;
    let is_message = fields.as_ref().is_some_and(|fields| fields.has("content"));
    let is_failure = fields.as_ref().is_some_and(|fields| fields.has("error"));
    if messages.is_none() && !is_message && !is_failure {
        return Err(record.misfit("`messages` is missing, and this is not a response".to_owned()));
    }
    let reply = response.filter(|_| is_message);
    Ok(Exchange {
        request,
        messages: messages.unwrap_or_default(),
        response: fields.unwrap_or_default(),
        reply,
    })
}

fn signature(message: Json<'_>) -> Option<String> {
    let fields = message.object()?;
    if fields
        .string("role")
        .is_some_and(|role| role != "assistant")
    {
        return None;
    }
    let content = fields.get("content")?;
    let is_list = content.list().is_some();
    let text = || {
        if is_list {
            Some(content.each("text").concat())
        } else {
            content.string().map(Cow::into_owned)
        }
    };
    signed(&content.each("id"), text)
}

fn transcript(chain: &[Exchange<'_>]) -> Result<Transcript, Misfit> {
    let mut transcript = Transcript::default();
    transcript.marks_errors = true;
    for exchange in chain {
        read_request(&exchange.request, &mut transcript)?;
        transcript.fail_as(&exchange.response);
    }
    let Some(last) = chain.last() else {
        return Ok(transcript);
    };
    // In a log, what a reply cost stands with its own exchange, and a later request may repeat it.
    let has_ends_in_messages = chain.len() == 1;
    read_conversation(last, has_ends_in_messages, &mut transcript)?;
    if !has_ends_in_messages {
        for exchange in chain {
            read_end(&exchange.response, &mut transcript);
        }
        transcript.answer_ended(last.response.string("stop_reason").as_deref());
    }
    Ok(transcript)
}

/// The messages of an exchange. A message that came in pieces is one turn, and each piece says what the whole cost so
/// far.
fn read_conversation(
    exchange: &Exchange<'_>,
    has_ends_in_messages: bool,
    transcript: &mut Transcript,
) -> Result<(), Misfit> {
    let mut messages = exchange.messages.iter().chain(&exchange.reply).peekable();
    let mut before = None;
    while let Some(message) = messages.next() {
        let message = object_of(*message, "a message")?;
        if claude_code::is_outage(&message) {
            transcript.end_in_error(claude_code::outage(&message));
            continue;
        }
        let id = message.string("id").filter(|_| message.has("usage"));
        let is_continued = id.is_some() && before == id;
        read_parts(&message, is_continued, transcript)?;
        let next = messages
            .peek()
            .and_then(|next| next.object())
            .and_then(|next| next.string("id"));
        let is_last_piece = id.is_none() || next != id;
        if has_ends_in_messages && is_last_piece {
            read_end(&message, transcript);
            transcript.answer_ended(message.string("stop_reason").as_deref());
        }
        before = id;
    }
    Ok(())
}

fn read_request(request: &Fields<'_>, transcript: &mut Transcript) -> Result<(), Misfit> {
    if let Some(system) = request.get("system") {
        let text = text_of(system, transcript)?;
        transcript.system(&text);
    }
    if let Some(tools) = request.list("tools")? {
        read_tools(&tools, transcript)?;
    }
    for server in request.list("mcp_servers")?.unwrap_or_default() {
        transcript
            .servers
            .extend(server.object().and_then(|server| server.owned("name")));
    }
    transcript.set_model(request.owned("model"));
    Ok(())
}

/// A response's fields besides its content. The last of several responses has the stop reason of
/// the run.
pub(crate) fn read_end(response: &Fields<'_>, transcript: &mut Transcript) {
    if let Some(usage) = response.part("usage") {
        transcript.tokens.add(usage::anthropic(&usage));
    }
    transcript.set_model(
        response
            .owned("model")
            .filter(|model| model != claude_code::NO_MODEL),
    );
    transcript.stopped(response.owned("stop_reason"));
}

/// Reads one message, with content blocks or plain text.
pub(crate) fn read_message(
    message: &Fields<'_>,
    transcript: &mut Transcript,
) -> Result<(), Misfit> {
    read_parts(message, false, transcript)
}

/// The blocks of a message, which may continue the previous message.
fn read_parts(
    message: &Fields<'_>,
    is_continued: bool,
    transcript: &mut Transcript,
) -> Result<(), Misfit> {
    let role = message.required_string("role", "a message")?;
    refuse_calls_of_others(message, &[])?;
    let Some(content) = message.get("content") else {
        return Err(message.misfit("a message has no `content`".to_owned()));
    };
    match &*role {
        "assistant" if !is_continued => transcript.assistant(),
        "assistant" | "user" => {}
        "system" => {
            let text = text_of(content, transcript)?;
            transcript.system(&text);
            return Ok(());
        }
        other => {
            return Err(message.misfit(format!("`role` is `{other}`; it is user or assistant")));
        }
    }
    let is_model = role == "assistant";
    let Some(blocks) = content.list() else {
        let text = text_of(content, transcript)?;
        return transcript.say_parts(is_model, [text], |text, _| Ok(Some(text)));
    };
    transcript.say_parts(is_model, blocks, |block, transcript| {
        read_block(&object_of(block, "a content block")?, transcript)
    })
}

/// Reads one block. Returns a text; adds everything else to the transcript.
pub(crate) fn read_block<'a>(
    block: &Fields<'a>,
    transcript: &mut Transcript,
) -> Result<Option<Cow<'a, str>>, Misfit> {
    let kind = block.required_string("type", "a content block")?;
    match part(&kind, block) {
        Part::Text(text) => return Ok(Some(text)),
        Part::Dropped(what) => {
            transcript.drop(what);
            return Ok(None);
        }
        Part::Other => {}
    }
    if kind.ends_with("tool_use") {
        read_call(block, transcript)?;
    } else if kind.ends_with("tool_result") {
        read_result(block, transcript)?;
    } else if HARMLESS.contains(&&*kind) {
        transcript.drop(Dropped::Other);
    } else {
        return Err(unknown(block, "a content block", &kind));
    }
    Ok(None)
}

fn read_call(block: &Fields<'_>, transcript: &mut Transcript) -> Result<(), Misfit> {
    let server = block.optional_owned("server_name")?;
    transcript.servers.extend(server.clone());
    transcript.call(RecordedCall {
        name: block.required_string("name", "a call")?.into_owned(),
        server,
        args: block.get("input").map(Json::compact),
        id: block.optional_owned("id")?,
        caller: block.get("caller").map(Json::compact),
        ..RecordedCall::default()
    });
    Ok(())
}

fn read_result(block: &Fields<'_>, transcript: &mut Transcript) -> Result<(), Misfit> {
    let content = block.get("content");
    // A tool of the provider's own says so in the type of its content.
    let inner = content
        .and_then(Json::object)
        .and_then(|inner| inner.string("type"));
    let is_error = block
        .get("is_error")
        .and_then(Json::flag)
        .unwrap_or_default()
        || inner.is_some_and(|kind| kind.ends_with("_error"));
    let answer = answer_of(content, is_error, transcript);
    transcript.answer(block, "tool_use_id", None, answer)
}
