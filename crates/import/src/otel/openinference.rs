//! `OpenInference` attributes under the names of the GenAI conventions, so that one reader handles
//! both.

use super::attributes::Attributes;
use super::span::reread;
use crate::Importer;
use crate::anthropic;
use crate::content::{Part, could_be_a_call, part};
use crate::json::{Fields, Json};
use crate::sample::Sample;
use std::borrow::Cow;

pub(crate) const IMPORTER: Importer = Importer {
    key: "openinference",
    name: "openinference",
    doc: "spans with `openinference.span.kind`, in OTLP JSON or as Phoenix exports them",
    also_reads: &["otel"],
    sniff,
    read: super::read,
};

/// The kinds of spans here and in OpenInference.
const KINDS: [(&str, &str); 3] = [
    ("LLM", "chat"),
    ("TOOL", "execute_tool"),
    ("AGENT", "invoke_agent"),
];

/// Attributes with equal meaning.
const NAMES: [(&str, &str); 13] = [
    ("llm.response.model_name", "gen_ai.response.model"),
    ("llm.model_name", "gen_ai.response.model"),
    ("llm.token_count.prompt", "gen_ai.usage.input_tokens"),
    ("llm.token_count.completion", "gen_ai.usage.output_tokens"),
    ("llm.token_count.total", "gen_ai.usage.total_tokens"),
    (
        "llm.token_count.prompt_details.cache_read",
        "gen_ai.usage.cache_read.input_tokens",
    ),
    (
        "llm.token_count.prompt_details.cache_input",
        "gen_ai.usage.cache_read.input_tokens",
    ),
    (
        "llm.token_count.prompt_details.cache_write",
        "gen_ai.usage.cache_creation.input_tokens",
    ),
    (
        "llm.token_count.completion_details.reasoning",
        "gen_ai.usage.reasoning.output_tokens",
    ),
    ("agent.name", "gen_ai.agent.name"),
    ("tool.name", "gen_ai.tool.name"),
    ("tool_call.id", "gen_ai.tool.call.id"),
    ("tool.id", "gen_ai.tool.call.id"),
];

fn sniff(sample: &Sample<'_>) -> bool {
    sample.records.iter().any(|record| {
        let is_span = super::is_span(record);
        let names_kind = || record.text().contains("\"openinference.span.kind\"");
        (is_span && (record.has("span_kind") || record.has("attributes.openinference.span.kind")))
            || ((is_span || super::is_export(record)) && names_kind())
    })
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

/// Adds a span's attributes under the names of the GenAI conventions. `kind` is the span's kind in
/// a table of spans.
pub(super) fn translate(
    attributes: &mut Attributes,
    kind: Option<&str>,
    name: &str,
) -> Result<(), String> {
    let kind = attributes
        .text(&["openinference.span.kind"])
        .or(kind.map(str::to_owned));
    let Some(kind) = kind else { return Ok(()) };
    if let Some((_, operation)) = KINDS.iter().find(|(here, _)| *here == kind) {
        attributes.insert("gen_ai.operation.name", quoted(operation));
    }
    for (here, there) in NAMES {
        if let Some(text) = attributes.text(&[here]) {
            attributes.insert(there, quoted(&text));
        }
    }
    if let Some(reason) = attributes.text(&["llm.finish_reason"]) {
        let reasons = format!("[{}]", quoted(&reason));
        attributes.insert("gen_ai.response.finish_reasons", reasons);
    }
    match &*kind {
        "TOOL" => translate_tool(attributes, name),
        "AGENT" => translate_agent(attributes),
        _ => {}
    }
    translate_tools(attributes);
    translate_messages(attributes, "llm.input_messages.", "gen_ai.prompt.")?;
    translate_messages(attributes, "llm.output_messages.", "gen_ai.completion.")
}

fn translate_tool(attributes: &mut Attributes, name: &str) {
    attributes.insert("gen_ai.tool.name", quoted(name));
    for (here, there) in [
        ("input.value", "gen_ai.tool.call.arguments"),
        ("output.value", "gen_ai.tool.call.result"),
    ] {
        if let Some(value) = attributes.as_it_stands(&[here]) {
            attributes.insert(there, value.get().to_owned());
        }
    }
}

/// An agent's input and output are a string, or JSON of its framework. Only a string is a message.
fn translate_agent(attributes: &mut Attributes) {
    for (here, there) in [
        ("input.value", "gen_ai.prompt"),
        ("output.value", "gen_ai.completion"),
    ] {
        let is_message = attributes
            .text(&[here])
            .is_some_and(|text| !text.starts_with(['{', '[']));
        if is_message && let Some(value) = attributes.as_it_stands(&[here]) {
            attributes.insert(there, value.get().to_owned());
        }
    }
}

fn translate_tools(attributes: &mut Attributes) {
    let schemas = attributes
        .under("llm.tools.")
        .filter(|(key, _)| key.ends_with(".tool.json_schema"));
    let schema = |(_, json): (&str, &str)| {
        let written = reread(json).and_then(Json::string);
        written.map_or_else(|| json.to_owned(), Cow::into_owned)
    };
    let schemas: Vec<String> = schemas
        .map(schema)
        .filter(|text| Json::inside(text).is_some())
        .collect();
    if !schemas.is_empty() {
        attributes.insert(
            "gen_ai.tool.definitions",
            format!("[{}]", schemas.join(",")),
        );
    }
}

/// `0.message.tool_calls.1.tool_call.function.name` becomes `0.tool_calls.1.name`.
fn translate_messages(attributes: &mut Attributes, here: &str, there: &str) -> Result<(), String> {
    let mut roles = Vec::new();
    let mut translated = Vec::new();
    let mut texts: Vec<PartText> = Vec::new();
    for (key, value) in attributes.under(here) {
        let Some((message, field)) = key.split_once(".message.") else {
            continue;
        };
        let there = format!("{there}{message}.");
        if let Some(part) = field.strip_prefix("contents.") {
            let own = format!("{here}{message}.message.");
            if let Some(index) = index_of_text(attributes, &own, part)? {
                texts.push(PartText {
                    key: format!("{there}content"),
                    index,
                    text: serde_json::from_str(value).unwrap_or_default(),
                });
            }
            continue;
        }
        // Whoever sent it, a message with an id of a call is its answer.
        if field == "tool_call_id" {
            roles.push((format!("{there}role"), quoted("tool")));
        }
        translated.push((there + &renamed(field), value.to_owned()));
    }
    for (key, value) in roles.into_iter().chain(translated) {
        attributes.insert(key, value);
    }
    texts.sort();
    for of_message in texts.chunk_by(|one, other| one.key == other.key) {
        let whole: String = of_message.iter().map(|part| part.text.as_str()).collect();
        attributes.insert(of_message[0].key.clone(), quoted(&whole));
    }
    Ok(())
}

/// The text of one part of a message, in the order of the messages and their parts.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct PartText {
    /// The key of the message's content.
    key: String,
    index: usize,
    text: String,
}

/// The index of the part of a message whose text `key` names, such as `1.message_content.text`. `own` is the prefix
/// of the message's keys.
fn index_of_text(attributes: &Attributes, own: &str, key: &str) -> Result<Option<usize>, String> {
    let Some((at, field)) = key.split_once(".message_content.") else {
        return Ok(None);
    };
    let kind = attributes.text(&[&format!("{own}contents.{at}.message_content.type")]);
    let kind = kind.as_deref().unwrap_or("text");
    let has_calls = attributes.has_under(&format!("{own}tool_calls."));
    if !is_known(kind, has_calls) {
        return Err(could_be_a_call(&format!(
            "a part of a message is of an unknown type, `{kind}`"
        )));
    }
    let is_text = field == "text" && kind == "text";
    Ok(is_text.then(|| at.parse().unwrap_or_default()))
}

fn renamed(field: &str) -> String {
    match field {
        "function_call_name" => "tool_calls.0.name".to_owned(),
        "function_call_arguments_json" => "tool_calls.0.arguments".to_owned(),
        field => field
            .replace(".tool_call.function.", ".")
            .replace(".tool_call.", "."),
    }
}

/// Returns true if a part is a string, calls nothing, or repeats a call of its message.
fn is_known(kind: &str, has_calls: bool) -> bool {
    kind == "text"
        || matches!(part(kind, &Fields::default()), Part::Dropped(_))
        || anthropic::HARMLESS.contains(&kind)
        || kind.ends_with("tool_result")
        || (kind.ends_with("tool_use") && has_calls)
}
