//! Gemini contents: parts with `functionCall` and `functionResponse`, in the case of the API or of the Python library.

use crate::Importer;
use crate::catalogue::read_tools;
use crate::content::{could_be_a_call, value_of};
use crate::exchange::{Exchange, chains};
use crate::json::{Fields, Json, Misfit, object_of};
use crate::sample::Sample;
use crate::transcript::{Dropped, ImportedAnswer, Transcript};
use crate::unit::{Unit, units};
use crate::usage;
use mcptest_core::trace::RecordedCall;
use std::borrow::Cow;
use std::collections::BTreeSet;

pub(crate) const IMPORTER: Importer = Importer {
    key: "gemini",
    name: "gemini",
    doc: "`contents` whose parts have `functionCall` and `functionResponse`, or a response with `candidates`",
    also_reads: &[],
    sniff,
    read,
};

/// The keys for a tool's answer. Errors are under `error`.
const WRAPPERS: [&str; 2] = ["result", "output"];

/// Keys that describe a part and are not parts themselves.
const ABOUT: [&str; 7] = [
    "thoughtSignature",
    "videoMetadata",
    "mediaResolution",
    "partMetadata",
    "audioTranscription",
    "mediaProcessing",
    "speechMetadata",
];

/// The value at this key, or at the key in Python's spelling.
fn at<'a>(fields: &Fields<'a>, key: &str) -> Option<Json<'a>> {
    fields.get(key).or_else(|| fields.get(&snake(key)))
}

fn snake(key: &str) -> String {
    let mut snake = String::new();
    for letter in key.chars() {
        if letter.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

fn text_at<'a>(fields: &Fields<'a>, key: &str) -> Option<Cow<'a, str>> {
    at(fields, key)?.string()
}

fn object_at<'a>(fields: &Fields<'a>, key: &str) -> Result<Option<Fields<'a>>, Misfit> {
    at(fields, key)
        .map(|value| object_of(value, &format!("`{key}`")))
        .transpose()
}

fn is_content(fields: &Fields<'_>) -> bool {
    let parts = fields.get("parts").and_then(Json::list).unwrap_or_default();
    let is_other = |part: &Fields<'_>| part.has("type") || part.has("part_kind");
    parts
        .first()
        .and_then(|part| part.object())
        .is_some_and(|part| !is_other(&part))
}

fn sniff(sample: &Sample<'_>) -> bool {
    sample
        .records
        .iter()
        .any(|record| record.has("contents") || record.has("candidates") || is_content(record))
        || sample.messages.iter().any(is_content)
}

fn read(values: &[Json<'_>]) -> Result<Vec<Transcript>, Misfit> {
    let mut exchanges = Vec::new();
    let mut responses = BTreeSet::new();
    for unit in units(values, &|fields| fields.has("parts"))? {
        let exchange = match unit {
            Unit::Messages(messages) => Exchange {
                messages,
                ..Exchange::default()
            },
            Unit::Record(record) => exchange(&record)?,
        };
        if text_at(&exchange.response, "responseId").is_some_and(|id| !responses.insert(id)) {
            let problem = "this is one more piece of a streamed response; log the whole response";
            return Err(exchange.response.misfit(problem.to_owned()));
        }
        exchanges.push(exchange);
    }
    chains(exchanges, signature)
        .iter()
        .map(|chain| transcript(chain))
        .collect()
}

fn exchange<'a>(record: &Fields<'a>) -> Result<Exchange<'a>, Misfit> {
    let (request, response) = (record.side("request")?, record.side("response")?);
    let sent = request
        .get("contents")
        .or_else(|| at(&response, "automaticFunctionCallingHistory"));
    let candidates = response.list("candidates")?;
    let is_answer =
        candidates.is_some() || response.has("error") || at(&response, "promptFeedback").is_some();
    let messages = match sent {
        Some(one) if one.object().is_some() || one.string().is_some() => vec![one],
        Some(list) => list.list().ok_or_else(|| {
            Misfit::at(list, format!("`contents` is {}, not a list", list.kind()))
        })?,
        None if is_answer => Vec::new(),
        None => {
            return Err(record.misfit("`contents` and `candidates` are missing".to_owned()));
        }
    };
    let first = candidates
        .iter()
        .flatten()
        .next()
        .map(|one| object_of(*one, "a candidate"))
        .transpose()?;
    let reply = first.and_then(|candidate| candidate.get("content"));
    Ok(Exchange {
        request,
        messages,
        response,
        reply,
    })
}

/// The identity of a reply: its calls, otherwise its text.
fn signature(content: Json<'_>) -> Option<String> {
    let fields = content
        .object()
        .filter(|fields| fields.string("role").is_some_and(|role| role == "model"))?;
    let (mut calls, mut said) = (String::new(), String::new());
    for part in fields.get("parts")?.list()? {
        let part = part.object()?;
        if let Some(call) = at(&part, "functionCall").and_then(Json::object) {
            let args = call
                .get("args")
                .map(|args| mcptest_core::json::hash(args.text()).to_string());
            calls += &format!(" {}({})", call.string("name")?, args.unwrap_or_default());
        }
        said += &part.string("text").unwrap_or_default();
    }
    Some(if calls.is_empty() {
        format!("text {said}")
    } else {
        format!("calls{calls}")
    })
}

fn transcript(chain: &[Exchange<'_>]) -> Result<Transcript, Misfit> {
    let mut transcript = Transcript::default();
    transcript.marks_errors = true;
    for exchange in chain {
        read_request(&exchange.request, &mut transcript)?;
        read_response(&exchange.response, &mut transcript)?;
    }
    let Some(last) = chain.last() else {
        return Ok(transcript);
    };
    for content in last.messages.iter().chain(&last.reply) {
        read_content(*content, &mut transcript)?;
    }
    if last.reply.is_some() {
        let reason = transcript.stop_reason.clone();
        transcript.answer_ended(reason.as_deref());
    }
    Ok(transcript)
}

fn read_request(request: &Fields<'_>, transcript: &mut Transcript) -> Result<(), Misfit> {
    let config = request.part("config").unwrap_or_else(|| request.clone());
    if let Some(system) = at(&config, "systemInstruction") {
        let parts = system.object().and_then(|system| system.get("parts"));
        let text = parts
            .map(|parts| parts.each("text"))
            .unwrap_or_default()
            .join("\n\n");
        transcript.system(&system.string().unwrap_or(text.into()));
    }
    if let Some(tools) = config.list("tools")? {
        read_tools(&tools, transcript)?;
    }
    transcript.set_model(request.owned("model"));
    Ok(())
}

fn read_response(response: &Fields<'_>, transcript: &mut Transcript) -> Result<(), Misfit> {
    // A response with the calls that the library made has the count of its last request alone.
    let is_last = at(response, "automaticFunctionCallingHistory").is_some();
    if let Some(usage) = object_at(response, "usageMetadata")?.filter(|_| !is_last) {
        transcript.tokens.add(usage::gemini(&usage));
    }
    transcript.set_model(text_at(response, "modelVersion").map(Cow::into_owned));
    let candidates = response.list("candidates")?.unwrap_or_default();
    candidates
        .iter()
        .skip(1)
        .for_each(|_| transcript.drop(Dropped::Choice));
    let reason = candidates
        .first()
        .and_then(|one| text_at(&one.object()?, "finishReason"));
    transcript.stopped(reason.map(Cow::into_owned));
    transcript.fail_as(response);
    let feedback = object_at(response, "promptFeedback")?.unwrap_or_default();
    if let Some(reason) = text_at(&feedback, "blockReason") {
        transcript.fail(format!("the prompt was blocked: {reason}"));
    }
    Ok(())
}

fn read_content(content: Json<'_>, transcript: &mut Transcript) -> Result<(), Misfit> {
    if let Some(text) = content.string() {
        transcript.user(&text);
        return Ok(());
    }
    let fields = object_of(content, "a content")?;
    let role = fields.optional_string("role")?.unwrap_or("user".into());
    let is_model = match &*role {
        "model" => true,
        "user" | "function" | "tool" => false,
        other => return Err(fields.misfit(format!("`role` is `{other}`; it is user or model"))),
    };
    if is_model {
        transcript.assistant();
    } else if !fields.has("parts") {
        return Err(fields.misfit("a content has no `parts`".to_owned()));
    }
    transcript.say_parts(
        is_model,
        fields.list("parts")?.unwrap_or_default(),
        |part, transcript| read_part(&object_of(part, "a part")?, transcript),
    )
}

/// Reads one part. Returns a text; adds everything else to the transcript.
fn read_part<'a>(
    part: &Fields<'a>,
    transcript: &mut Transcript,
) -> Result<Option<Cow<'a, str>>, Misfit> {
    let is_thought = part.get("thought").and_then(Json::flag).unwrap_or_default();
    if is_thought && part.has("text") {
        transcript.drop(Dropped::Reasoning);
        return Ok(None);
    }
    if let Some(text) = part.optional_string("text")? {
        return Ok(Some(text));
    }
    if let Some(call) = object_at(part, "functionCall")? {
        let name = call.required_string("name", "a call")?.into_owned();
        read_call(&call, name, transcript)?;
    } else if let Some(response) = object_at(part, "functionResponse")? {
        let name = response.required_string("name", "a `functionResponse`")?;
        read_answer(&response, &name, transcript)?;
    } else if let Some(call) = object_at(part, "toolCall")? {
        read_call(&call, tool_type(&call).into_owned(), transcript)?;
    } else if let Some(response) = object_at(part, "toolResponse")? {
        read_answer(&response, &tool_type(&response), transcript)?;
    } else if let Some(code) = at(part, "executableCode") {
        read_code(code, transcript);
    } else if let Some(result) = object_at(part, "codeExecutionResult")? {
        read_code_result(&result, transcript)?;
    } else if let Some(data) = at(part, "inlineData").or_else(|| at(part, "fileData")) {
        transcript.drop(kind_of_data(data));
    } else {
        refuse_unknown_keys(part)?;
        transcript.drop(Dropped::Other);
    }
    Ok(None)
}

/// The name of a tool that the provider runs.
fn tool_type<'a>(call: &Fields<'a>) -> Cow<'a, str> {
    text_at(call, "toolType").unwrap_or("tool".into())
}

fn read_code(code: Json<'_>, transcript: &mut Transcript) {
    transcript.call(RecordedCall {
        name: CODE.to_owned(),
        args: Some(code.compact()),
        ..RecordedCall::default()
    });
}

fn read_code_result(result: &Fields<'_>, transcript: &mut Transcript) -> Result<(), Misfit> {
    let is_error = result
        .string("outcome")
        .is_some_and(|outcome| outcome != "OUTCOME_OK");
    let answer = ImportedAnswer::from_text(result.string("output").unwrap_or_default(), is_error);
    transcript
        .meet(None, Some(CODE), answer)
        .map_err(|message| result.misfit(message))
}

fn kind_of_data(data: Json<'_>) -> Dropped {
    let kind = data
        .object()
        .and_then(|data| text_at(&data, "mimeType"))
        .unwrap_or_default();
    match kind.split('/').next() {
        Some("image") => Dropped::Image,
        Some("audio") => Dropped::Audio,
        _ => Dropped::File,
    }
}

/// A part of an unknown kind could be a call.
fn refuse_unknown_keys(part: &Fields<'_>) -> Result<(), Misfit> {
    let is_about = |key: &str| {
        key == "thought"
            || ABOUT
                .iter()
                .any(|about| *about == key || snake(about) == key)
    };
    let unknown = part
        .entries()
        .find(|(key, value)| !is_about(key) && value.text() != "null");
    match unknown {
        Some((key, value)) => Err(Misfit::at(
            value,
            could_be_a_call(&format!("a part has an unknown key, `{key}`")),
        )),
        None => Ok(()),
    }
}

/// The provider's own tool that runs the model's code.
const CODE: &str = "code_execution";

fn read_call(call: &Fields<'_>, name: String, transcript: &mut Transcript) -> Result<(), Misfit> {
    let id = call.optional_owned("id")?;
    let args = call.get("args").map(Json::compact);
    transcript.call(RecordedCall {
        name,
        id,
        args,
        ..RecordedCall::default()
    });
    Ok(())
}

fn read_answer(
    response: &Fields<'_>,
    name: &str,
    transcript: &mut Transcript,
) -> Result<(), Misfit> {
    let value = response.get("response");
    let fields = value.and_then(Json::object).unwrap_or_default();
    let error = fields.get("error");
    let alone = WRAPPERS
        .iter()
        .find_map(|key| fields.get(key))
        .filter(|_| fields.keys().count() == 1);
    let answer = value_of(error.or(alone).or(value), error.is_some(), transcript);
    for _ in response.list("parts")?.unwrap_or_default() {
        transcript.drop(Dropped::File);
    }
    transcript.answer(response, "id", Some(name), answer)
}
