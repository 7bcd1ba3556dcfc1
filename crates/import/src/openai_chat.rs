//! OpenAI Chat Completions, and compatible formats: `role`, `tool_calls`, `tool_call_id`.

use crate::Importer;
use crate::catalogue::read_tools;
use crate::content::{answer_of, call_of, refuse_calls_of_others, text_of};
use crate::exchange::{Exchange, chains, signed};
use crate::json::{Fields, Json, Misfit, object_of};
use crate::sample::Sample;
use crate::transcript::{Dropped, Transcript};
use crate::unit::{Unit, units};
use crate::usage;
use mcptest_core::trace::RecordedCall;

pub(crate) const IMPORTER: Importer = Importer {
    key: "openai-chat",
    name: "openai chat",
    doc: "messages with `role`, or chat completions with `choices`",
    also_reads: &[],
    sniff,
    read,
};

fn sniff(sample: &Sample<'_>) -> bool {
    sample.messages.iter().any(|message| message.has("role"))
        || sample
            .records
            .iter()
            .any(|record| record.has("choices") || record.has("messages"))
}

fn read(values: &[Json<'_>]) -> Result<Vec<Transcript>, Misfit> {
    let mut exchanges = Vec::new();
    for unit in units(values, &|fields| fields.has("role"))? {
        exchanges.push(match unit {
            Unit::Messages(messages) => Exchange {
                messages,
                ..Exchange::default()
            },
            Unit::Record(record) => exchange(&record)?,
        });
    }
    chains(exchanges, signature)
        .iter()
        .map(|chain| transcript(chain))
        .collect()
}

fn exchange<'a>(record: &Fields<'a>) -> Result<Exchange<'a>, Misfit> {
    let (request, response) = (record.side("request")?, record.side("response")?);
    let messages = request.list("messages")?;
    let choices = response.list("choices")?;
    if messages.is_none() && choices.is_none() && !response.has("error") {
        return Err(record.misfit("`messages` and `choices` are missing".to_owned()));
    }
    let first = choices
        .iter()
        .flatten()
        .next()
        .map(|choice| object_of(*choice, "a choice"))
        .transpose()?;
    if let Some(piece) = first
        .as_ref()
        .filter(|choice| choice.has("delta") && !choice.has("message"))
    {
        return Err(
            piece.misfit("this is a piece of a streamed answer; log the whole answer".to_owned())
        );
    }
    let reply = first.and_then(|choice| choice.get("message"));
    Ok(Exchange {
        request,
        messages: messages.unwrap_or_default(),
        response,
        reply,
    })
}

fn signature(message: Json<'_>) -> Option<String> {
    let fields = message.object().filter(|fields| {
        fields
            .string("role")
            .is_some_and(|role| role == "assistant")
    })?;
    let ids = fields
        .get("tool_calls")
        .map(|calls| calls.each("id"))
        .unwrap_or_default();
    signed(&ids, || fields.owned("content"))
}

fn transcript(chain: &[Exchange<'_>]) -> Result<Transcript, Misfit> {
    let mut transcript = Transcript::default();
    for exchange in chain {
        for key in ["tools", "functions"] {
            if let Some(tools) = exchange.request.list(key)? {
                read_tools(&tools, &mut transcript)?;
            }
        }
        read_response(&exchange.response, &mut transcript)?;
        transcript.set_model(
            exchange
                .response
                .owned("model")
                .or_else(|| exchange.request.owned("model")),
        );
    }
    let Some(last) = chain.last() else {
        return Ok(transcript);
    };
    for message in last.messages.iter().chain(&last.reply) {
        read_message(&object_of(*message, "a message")?, &mut transcript)?;
    }
    if last.reply.is_some() {
        let reason = transcript.stop_reason.clone();
        transcript.answer_ended(reason.as_deref());
    }
    Ok(transcript)
}

fn read_response(response: &Fields<'_>, transcript: &mut Transcript) -> Result<(), Misfit> {
    if let Some(usage) = response.object("usage")? {
        transcript.tokens.add(usage::tokens(&usage));
    }
    transcript.fail_as(response);
    let choices = response.list("choices")?.unwrap_or_default();
    choices
        .iter()
        .skip(1)
        .for_each(|_| transcript.drop(Dropped::Choice));
    if let Some(choice) = choices.first().and_then(|choice| choice.object()) {
        transcript.stop_reason = choice.owned("finish_reason");
    }
    Ok(())
}

/// One message of a chat.
pub(crate) fn read_message(
    message: &Fields<'_>,
    transcript: &mut Transcript,
) -> Result<(), Misfit> {
    let role = message.required_string("role", "a message")?;
    refuse_calls_of_others(message, &["tool_calls", "function_call"])?;
    let content = message.get("content");
    match &*role {
        "system" | "developer" => {
            if let Some(content) = content {
                let text = text_of(content, transcript)?;
                transcript.system(&text);
            }
        }
        "user" => {
            let text = content
                .map(|content| text_of(content, transcript))
                .transpose()?
                .unwrap_or_default();
            transcript.user(&text);
        }
        "assistant" => read_assistant(message, content, transcript)?,
        "tool" | "function" => {
            let answer = answer_of(content, false, transcript);
            transcript.answer(
                message,
                "tool_call_id",
                message.string("name").as_deref(),
                answer,
            )?;
        }
        other => {
            let message_of = format!(
                "`role` is `{other}`; it is system, developer, user, assistant, tool or function"
            );
            return Err(message.misfit(message_of));
        }
    }
    Ok(())
}

fn read_assistant(
    message: &Fields<'_>,
    content: Option<Json<'_>>,
    transcript: &mut Transcript,
) -> Result<(), Misfit> {
    transcript.assistant();
    if let Some(content) = content {
        let text = text_of(content, transcript)?;
        transcript.say(&text);
    }
    if let Some(refusal) = message.string("refusal") {
        transcript.say(&refusal);
    }
    if message.has("reasoning_content") || message.has("reasoning") {
        transcript.drop(Dropped::Reasoning);
    }
    if message.has("audio") {
        transcript.drop(Dropped::Audio);
    }
    for call in message.list("tool_calls")?.unwrap_or_default() {
        let call = read_call(&object_of(call, "a call of `tool_calls`")?)?;
        transcript.call(call);
    }
    if let Some(function) = message.object("function_call")? {
        transcript.call(named_call(&function)?);
    }
    Ok(())
}

/// One entry of `tool_calls`.
pub(crate) fn read_call(call: &Fields<'_>) -> Result<RecordedCall, Misfit> {
    let function = call
        .object("function")?
        .or(call.object("custom")?)
        .unwrap_or_else(|| call.clone());
    let id = call.optional_owned("id")?;
    let caller = call.get("caller").map(Json::compact);
    Ok(RecordedCall {
        id,
        caller,
        ..named_call(&function)?
    })
}

fn named_call(function: &Fields<'_>) -> Result<RecordedCall, Misfit> {
    let name = function.required_string("name", "a call")?.into_owned();
    Ok(call_of(name, None, function.first(&["arguments", "input"])))
}
