//! What is a span about, and what does it contain about a chat, a tool or an agent?

use super::attributes::Attributes;
use super::messages::{Message, of_event, of_indexed, of_list};
use super::openinference::translate;
use crate::json::{Fields, Json, Misfit, on_one_line};
use mcptest_core::trace::{Tokens, usage};
use serde_json::value::RawValue;

/// The subject of a span.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum SpanKind {
    /// A request to a model.
    Chat,
    /// The execution of a tool.
    Tool,
    /// A `tools/call` of MCP, at the client or the server.
    Mcp,
    /// A whole agent.
    Agent,
    /// Anything else.
    #[default]
    Other,
}

/// A span as far as a conversation needs it.
#[derive(Debug, Default)]
pub(super) struct Span {
    pub(super) trace: String,
    pub(super) id: String,
    pub(super) parent: Option<String>,
    pub(super) kind: SpanKind,
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) attributes: Attributes,
    pub(super) input: Vec<Message>,
    pub(super) output: Vec<Message>,
    /// Message lists that were cut off, as exporters do with long values.
    pub(super) cut_lists: usize,
    /// The error, if the span has one.
    pub(super) error: Option<String>,
    name: String,
    /// The place of the span in the file.
    address: usize,
}

const TOOL_NAME: [&str; 2] = ["gen_ai.tool.name", "mcp.tool.name"];
const ARGUMENTS: [&str; 4] = [
    "gen_ai.tool.call.arguments",
    "gen_ai.tool.arguments",
    "gen_ai.tool.input",
    "tool_arguments",
];
const RESULT: [&str; 4] = [
    "gen_ai.tool.call.result",
    "gen_ai.tool.result",
    "gen_ai.tool.output",
    "tool_response",
];

const CACHE_READ: [&str; 4] = [
    "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.cache_read_input_tokens",
    "gen_ai.usage.input_tokens.cached",
    "gen_ai.usage.details.cache_read_tokens",
];
const CACHE_WRITE: [&str; 3] = [
    "gen_ai.usage.cache_creation.input_tokens",
    "gen_ai.usage.cache_creation_input_tokens",
    "gen_ai.usage.details.cache_write_tokens",
];
const CACHE_WRITE_1H: [&str; 2] = [
    "gen_ai.usage.cache_creation.ephemeral_1h_input_tokens",
    "gen_ai.usage.cache_creation_ephemeral_1h_input_tokens",
];
const REASONING: [&str; 5] = [
    "gen_ai.usage.reasoning.output_tokens",
    "gen_ai.usage.reasoning_tokens",
    "gen_ai.usage.output_tokens.reasoning",
    "gen_ai.usage.details.reasoning_tokens",
    "llm.usage.reasoning_tokens",
];

impl Span {
    pub(super) fn read(fields: &Fields<'_>) -> Result<Self, Misfit> {
        let context = fields.part("context").unwrap_or_default();
        let id = |own: &str, inner: &str| -> Result<String, Misfit> {
            let found = context
                .string(inner)
                .or_else(|| fields.string(&format!("context.{inner}")));
            found
                .map_or_else(|| fields.required_string(own, "a span"), Ok)
                .map(|id| hexadecimal(&id))
        };
        let parent = fields
            .optional_string("parentSpanId")?
            .or(fields.optional_string("parent_id")?);
        let time =
            |own: &str, written: &str| fields.count(own).or_else(|| time_of(fields.get(written)?));
        let name = fields.string("name").unwrap_or_default().into_owned();
        let mut attributes = Attributes::read(fields)?;
        translate(
            &mut attributes,
            fields.string("span_kind").as_deref(),
            &name,
        )
        .map_err(|message| fields.misfit(message))?;
        let mut span = Self {
            trace: id("traceId", "trace_id")?,
            id: id("spanId", "span_id")?,
            parent: parent
                .filter(|parent| !parent.is_empty())
                .map(|parent| hexadecimal(&parent)),
            start: time("startTimeUnixNano", "start_time").unwrap_or_default(),
            end: time("endTimeUnixNano", "end_time").unwrap_or_default(),
            attributes,
            name,
            address: fields.misfit(String::new()).address,
            ..Self::default()
        };
        span.read_events(fields)?;
        span.kind = span.find_kind();
        span.error = span.find_error(fields);
        span.read_messages()
            .map_err(|message| fields.misfit(message))?;
        Ok(span)
    }

    /// Events carry what newer conventions put on the span: all messages at once, or one event each.
    fn read_events(&mut self, fields: &Fields<'_>) -> Result<(), Misfit> {
        for event in fields.list("events")?.unwrap_or_default() {
            let Some(event) = event.object() else {
                continue;
            };
            let name = event.string("name").unwrap_or_default();
            if !name.starts_with("gen_ai.") {
                continue;
            }
            let attributes = Attributes::read(&event)?;
            match of_event(&name, &attributes).map_err(|message| event.misfit(message))? {
                Some((true, message)) => self.output.push(message),
                Some((false, message)) => self.input.push(message),
                None => self.attributes.add_missing(attributes),
            }
        }
        Ok(())
    }

    fn read_messages(&mut self) -> Result<(), String> {
        for (is_output, keys, prefix) in [
            (
                false,
                ["gen_ai.input.messages", "gen_ai.prompt"],
                "gen_ai.prompt.",
            ),
            (
                true,
                ["gen_ai.output.messages", "gen_ai.completion"],
                "gen_ai.completion.",
            ),
        ] {
            let listed = self.attributes.json(&keys);
            let list = listed
                .as_deref()
                .map(|text| of_list(text, is_output))
                .transpose()?;
            let messages = match (listed.as_deref(), list.flatten()) {
                (_, Some(messages)) => messages,
                (Some(text), None) => {
                    let text: String = serde_json::from_str(text).unwrap_or_default();
                    if text.is_empty() || text.starts_with(['[', '{']) {
                        self.cut_lists += 1;
                        continue;
                    }
                    let role = if is_output { "assistant" } else { "user" };
                    vec![Message {
                        role: role.to_owned(),
                        text,
                        ..Message::default()
                    }]
                }
                (None, None) => of_indexed(&self.attributes, prefix),
            };
            let side = if is_output {
                &mut self.output
            } else {
                &mut self.input
            };
            if !messages.is_empty() {
                *side = messages;
            }
        }
        Ok(())
    }

    fn find_kind(&self) -> SpanKind {
        let operation = self
            .attributes
            .text(&["gen_ai.operation.name"])
            .unwrap_or_default();
        if let Some(method) = self.attributes.text(&["mcp.method.name"]) {
            return if method == "tools/call" {
                SpanKind::Mcp
            } else {
                SpanKind::Other
            };
        }
        match operation.as_str() {
            "execute_tool" => SpanKind::Tool,
            "chat" | "generate_content" | "text_completion" => SpanKind::Chat,
            "invoke_agent" | "invoke_workflow" => SpanKind::Agent,
            "" if self.attributes.has("gen_ai.tool.name")
                || self.name.starts_with("execute_tool ") =>
            {
                SpanKind::Tool
            }
            "" if self.name.starts_with("invoke_agent") => SpanKind::Agent,
            "" => {
                let tells = [
                    "gen_ai.request.model",
                    "gen_ai.response.model",
                    "gen_ai.input.messages",
                ];
                let is_chat = tells.iter().any(|key| self.attributes.has(key))
                    || self.attributes.has_under("gen_ai.usage.")
                    || !self.output.is_empty();
                if is_chat {
                    SpanKind::Chat
                } else {
                    SpanKind::Other
                }
            }
            _ => SpanKind::Other,
        }
    }

    fn find_error(&self, fields: &Fields<'_>) -> Option<String> {
        let status = fields.part("status").unwrap_or_default();
        let code = status.first(&["code", "status_code"]);
        let is_error = code
            .or_else(|| fields.get("status_code"))
            .is_some_and(|code| {
                let is_named = |code: &str| matches!(code, "ERROR" | "STATUS_CODE_ERROR");
                code.count() == Some(2) || code.string().is_some_and(|code| is_named(&code))
            });
        let message = status
            .string("message")
            .or_else(|| status.string("description"));
        let message = message
            .or_else(|| fields.string("status_message"))
            .filter(|text| !text.is_empty());
        let kind = self.attributes.text(&["error.type"]);
        (is_error || kind.is_some()).then(|| {
            let message = message
                .map(std::borrow::Cow::into_owned)
                .or_else(|| self.attributes.text(&["error.message"]));
            message
                .or(kind)
                .unwrap_or_else(|| "the span says only that it failed".to_owned())
        })
    }

    /// Something wrong with the span.
    pub(super) fn misfit(&self, message: String) -> Misfit {
        Misfit {
            address: self.address,
            message,
        }
    }

    pub(super) fn is_call(&self) -> bool {
        matches!(self.kind, SpanKind::Tool | SpanKind::Mcp)
    }

    /// The tool that was called.
    pub(super) fn tool(&self) -> String {
        let in_name = || {
            self.name
                .split_once(' ')
                .map(|(_, target)| target.to_owned())
        };
        self.attributes
            .text(&TOOL_NAME)
            .or_else(in_name)
            .unwrap_or_else(|| self.name.clone())
    }

    pub(super) fn call_id(&self) -> Option<String> {
        self.attributes.text(&["gen_ai.tool.call.id"])
    }

    pub(super) fn arguments(&self) -> Option<Box<RawValue>> {
        self.attributes
            .json(&ARGUMENTS)
            .map(|text| on_one_line(&text))
    }

    pub(super) fn result(&self) -> Option<Box<RawValue>> {
        self.attributes.as_it_stands(&RESULT)
    }

    pub(super) fn agent(&self) -> Option<String> {
        self.attributes.text(&["gen_ai.agent.name"])
    }

    pub(super) fn tokens(&self) -> Tokens {
        let count = |keys: &[&str]| self.attributes.count(keys);
        let total = count(&["gen_ai.usage.total_tokens", "llm.usage.total_tokens"]);
        let counted = Tokens {
            cache_read: count(&CACHE_READ),
            cache_write: count(&CACHE_WRITE),
            cache_write_1h: count(&CACHE_WRITE_1H),
            reasoning: count(&REASONING),
            ..Tokens::of(
                count(&["gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"]),
                count(&[
                    "gen_ai.usage.output_tokens",
                    "gen_ai.usage.completion_tokens",
                ]),
            )
        };
        let counted = counted.with_cached_in_prompt().with_thoughts_by(total);
        Tokens {
            total: total.or_else(|| usage::sum([counted.prompt, counted.completion])),
            ..counted
        }
    }

    pub(super) fn finish_reason(&self) -> Option<String> {
        let listed = self.attributes.json(&["gen_ai.response.finish_reasons"]);
        let last = listed.and_then(|text| {
            let value: Vec<String> = serde_json::from_str(&text).ok()?;
            value.last().cloned()
        });
        last.or_else(|| {
            self.output
                .iter()
                .rev()
                .find_map(|message| message.finish_reason.clone())
        })
    }

    /// Returns true if the other span lies within this one's time.
    pub(super) fn encloses(&self, other: &Self) -> bool {
        self.start > 0 && other.end > 0 && self.start <= other.start && other.end <= self.end
    }
}

/// An id without the mark that Python puts before it.
fn hexadecimal(id: &str) -> String {
    id.strip_prefix("0x").unwrap_or(id).to_lowercase()
}

/// Nanoseconds of a date in words, or of a count whose size reveals its unit.
fn time_of(value: Json<'_>) -> Option<u64> {
    if let Some(text) = value.string() {
        let time = chrono::DateTime::parse_from_rfc3339(&text).ok()?;
        return time.timestamp_nanos_opt()?.try_into().ok();
    }
    let mut count = value.count().filter(|count| *count > 0)?;
    while count < 1_000_000_000_000_000_000 {
        count = count.checked_mul(1000)?;
    }
    Some(count)
}

/// A value that was kept as text, to be read again.
pub(super) fn reread(text: &str) -> Option<Json<'_>> {
    let raw: &serde_json::value::RawValue = serde_json::from_str(text).ok()?;
    Some(Json::of(raw))
}
