//! What does a span describe, and what does it contain about a chat, a tool or an agent?

use super::attributes::Attributes;
use super::messages::{Message, Side, indexed_messages, listed_messages, message_of_event};
use super::openinference::translate;
use crate::json::{Fields, Json, Misfit, on_one_line, raw};
use crate::sub_agent::AgentCaller;
use mcptest_core::trace::{Tokens, usage};
use serde::Serialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

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
    /// Events without a message.
    pub(super) other_events: usize,
    /// The error, if any.
    pub(super) error: Option<String>,
    pub(super) name: String,
    /// The place of the span in the file.
    pub(super) address: usize,
    /// True if only log records show this request.
    pub(super) is_logged: bool,
    /// The sides whose messages are from log records.
    pub(super) logged: LoggedSides,
}

/// Which sides of a request are from log records, one for each message?
#[derive(Debug, Default)]
pub(super) struct LoggedSides {
    has_input: bool,
    has_output: bool,
}

const TOOL_NAME: [&str; 3] = ["gen_ai.tool.name", "mcp.tool.name", "tool_name"];
const AGENT_ID: [&str; 2] = ["gen_ai.agent.id", "agent_id"];
const SKILL_NAME: [&str; 2] = ["gen_ai.skill.name", "skill_name"];
const ARGUMENTS: [&str; 5] = [
    "gen_ai.tool.call.arguments",
    "gen_ai.tool.arguments",
    "gen_ai.tool.input",
    "tool_arguments",
    "tool_input",
];
const RESULT: [&str; 4] = [
    "gen_ai.tool.call.result",
    "gen_ai.tool.result",
    "gen_ai.tool.output",
    "tool_response",
];

const CACHE_READ: [&str; 5] = [
    "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.cache_read_input_tokens",
    "gen_ai.usage.input_tokens.cached",
    "gen_ai.usage.details.cache_read_tokens",
    "cache_read_tokens",
];
const CACHE_WRITE: [&str; 4] = [
    "gen_ai.usage.cache_creation.input_tokens",
    "gen_ai.usage.cache_creation_input_tokens",
    "gen_ai.usage.details.cache_write_tokens",
    "cache_creation_tokens",
];
const CACHE_WRITE_1H: [&str; 2] = [
    "gen_ai.usage.cache_creation.ephemeral_1h_input_tokens",
    "gen_ai.usage.cache_creation_ephemeral_1h_input_tokens",
];
const REASONING: [&str; 6] = [
    "gen_ai.usage.reasoning.output_tokens",
    "gen_ai.usage.reasoning_tokens",
    "gen_ai.usage.output_tokens.reasoning",
    "gen_ai.usage.details.reasoning_tokens",
    "llm.usage.reasoning_tokens",
    "reasoning_tokens",
];

impl Span {
    pub(super) fn read(fields: &Fields<'_>) -> Result<Self, Misfit> {
        let parent = fields
            .optional_string("parentSpanId")?
            .or(fields.optional_string("parent_id")?)
            .filter(|parent| !parent.is_empty());
        let name = fields.string("name").unwrap_or_default().into_owned();
        let kind = fields.string("span_kind");
        let mut attributes = Attributes::read(fields)?;
        translate(&mut attributes, kind.as_deref(), &name)
            .map_err(|message| fields.misfit(message))?;
        let mut span = Self {
            trace: read_id(fields, "traceId", "trace_id")?,
            id: read_id(fields, "spanId", "span_id")?,
            parent: parent.map(|parent| hexadecimal(&parent)),
            start: read_time(fields, "startTimeUnixNano", "start_time").unwrap_or_default(),
            end: read_time(fields, "endTimeUnixNano", "end_time").unwrap_or_default(),
            attributes,
            name,
            address: fields.misfit(String::new()).address,
            ..Self::default()
        };
        span.read_events(fields)?;
        span.kind = span.find_kind();
        span.error = span.find_error(fields);
        span.read_sides()
            .map_err(|message| fields.misfit(message))?;
        Ok(span)
    }

    /// Reads the messages of each side that the attributes have.
    fn read_sides(&mut self) -> Result<(), String> {
        let keys = ["gen_ai.input.messages", "gen_ai.prompt"];
        if let Some(input) = self.read_messages(Side::Input, &keys, "gen_ai.prompt.")? {
            self.input = input;
        }
        let keys = ["gen_ai.output.messages", "gen_ai.completion"];
        if let Some(output) = self.read_messages(Side::Output, &keys, "gen_ai.completion.")? {
            self.output = output;
        }
        Ok(())
    }

    /// Returns true if log records of this span belong to its request to a model.
    pub(super) fn is_request(&self) -> bool {
        self.is_logged || self.kind == SpanKind::Chat
    }

    /// Adds a message that a log record has. Messages of the span itself count alone.
    pub(super) fn add_message(&mut self, side: Side, message: Message) {
        match side {
            Side::Input if self.logged.has_input || self.input.is_empty() => {
                self.logged.has_input = true;
                self.input.push(message);
            }
            Side::Output if self.logged.has_output || self.output.is_empty() => {
                self.logged.has_output = true;
                self.output.push(message);
            }
            _ => {}
        }
    }

    /// Adds the attributes that a log record has of the same request.
    pub(super) fn add_details(&mut self, attributes: Attributes) -> Result<(), Misfit> {
        self.attributes.add_missing(attributes);
        let cut_lists = std::mem::take(&mut self.cut_lists);
        self.read_sides().map_err(|message| self.misfit(message))?;
        self.cut_lists = self.cut_lists.max(cut_lists);
        Ok(())
    }

    /// Finds the kind and the error of a request of which only log records tell.
    pub(super) fn settle(&mut self) {
        if !self.is_logged {
            return;
        }
        self.kind = match self.find_kind() {
            SpanKind::Other => SpanKind::Chat,
            kind => kind,
        };
        self.error = self.attributes.text(&["error.message", "error.type"]);
    }

    /// Reads events, which older conventions use for the messages: all at once, or one event each.
    fn read_events(&mut self, fields: &Fields<'_>) -> Result<(), Misfit> {
        for event in fields.list("events")?.unwrap_or_default() {
            let Some(event) = event.object() else {
                continue;
            };
            let name = event.string("name").unwrap_or_default();
            if name == "exception" {
                let exception = Attributes::read(&event)?;
                if let Some(message) = exception.as_it_stands(&["exception.message"]) {
                    self.attributes
                        .insert("error.message", message.get().to_owned());
                }
                continue;
            }
            if !name.starts_with("gen_ai.") {
                self.other_events += 1;
                continue;
            }
            let attributes = Attributes::read(&event)?;
            match message_of_event(&name, &attributes).map_err(|message| event.misfit(message))? {
                Some(message) if Side::from_event(&name) == Side::Output => {
                    self.output.push(message);
                }
                Some(message) => self.input.push(message),
                None => self.attributes.add_missing(attributes),
            }
        }
        Ok(())
    }

    /// The messages of one side, if the span has any: as a list under one key, or under separate
    /// keys.
    fn read_messages(
        &mut self,
        side: Side,
        keys: &[&str],
        prefix: &str,
    ) -> Result<Option<Vec<Message>>, String> {
        let Some(listed) = self.attributes.json(keys) else {
            let messages = indexed_messages(&self.attributes, prefix, side);
            return Ok(Some(messages).filter(|messages| !messages.is_empty()));
        };
        if let Some(messages) = listed_messages(&listed, side)? {
            return Ok(Some(messages).filter(|messages| !messages.is_empty()));
        }
        let text: String = serde_json::from_str(&listed).unwrap_or_default();
        if text.is_empty() || text.starts_with(['[', '{']) {
            self.cut_lists += 1;
            return Ok(None);
        }
        Ok(Some(vec![Message {
            role: side.default_role().to_owned(),
            text,
            ..Message::default()
        }]))
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
            skill if skill.contains("skill") => SpanKind::Tool,
            "" if self.attributes.has("gen_ai.tool.name")
                || self.attributes.has("gen_ai.skill.name")
                || self.is_tool_of_claude_code()
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
        let code = status
            .first(&["code", "status_code"])
            .or_else(|| fields.get("status_code"));
        let kind = self.attributes.text(&["error.type"]);
        if !code.is_some_and(is_error_code) && kind.is_none() {
            return None;
        }
        let described = status
            .string("message")
            .or_else(|| status.string("description"))
            .or_else(|| fields.string("status_message"))
            .filter(|text| !text.is_empty())
            .map(Cow::into_owned);
        described
            .or_else(|| self.attributes.text(&["error.message"]))
            .or(kind)
            .or_else(|| Some("the span gives no reason for its failure".to_owned()))
    }

    /// Returns true if Claude Code wrote this span of a call.
    fn is_tool_of_claude_code(&self) -> bool {
        self.attributes.has("tool_name")
            && self
                .attributes
                .text(&["span.type"])
                .is_some_and(|kind| kind == "tool")
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
        let skill_operation = || {
            self.attributes
                .text(&["gen_ai.operation.name"])
                .filter(|operation| operation.contains("skill"))
        };
        self.attributes
            .text(&TOOL_NAME)
            .or_else(skill_operation)
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
            .or_else(|| self.skill())
    }

    /// The skill that this span loads or runs, as arguments.
    fn skill(&self) -> Option<Box<RawValue>> {
        #[derive(Serialize)]
        struct Skill {
            skill: String,
            #[serde(skip_serializing_if = "Option::is_none")]
            resource: Option<String>,
        }
        Some(raw(&Skill {
            skill: self.attributes.text(&SKILL_NAME)?,
            resource: self.attributes.text(&["gen_ai.skill.resource.name"]),
        }))
    }

    pub(super) fn result(&self) -> Option<Box<RawValue>> {
        self.attributes.as_it_stands(&RESULT)
    }

    pub(super) fn agent(&self) -> Option<String> {
        self.attributes.text(&["gen_ai.agent.name"])
    }

    pub(super) fn agent_id(&self) -> Option<String> {
        self.attributes.text(&AGENT_ID)
    }

    /// The sub-agent that Claude Code names on the spans of its sub-agents alone.
    pub(super) fn named_sub_agent(&self) -> Option<AgentCaller> {
        let id = self.attributes.text(&["agent_id"])?;
        Some(AgentCaller {
            name: self.agent().unwrap_or_else(|| id.clone()),
            id: Some(id),
            tool_id: None,
        })
    }

    /// The id of the conversation, which may have several traces.
    pub(super) fn conversation(&self) -> Option<String> {
        self.attributes.text(&["gen_ai.conversation.id"])
    }

    pub(super) fn tokens(&self) -> Tokens {
        let count = |keys: &[&str]| self.attributes.count(keys);
        let total = count(&["gen_ai.usage.total_tokens", "llm.usage.total_tokens"]);
        let counted = Tokens {
            cache_read: count(&CACHE_READ),
            cache_write: count(&CACHE_WRITE),
            cache_write_1h: count(&CACHE_WRITE_1H),
            reasoning: count(&REASONING),
            ..Tokens::without_total(
                count(&[
                    "gen_ai.usage.input_tokens",
                    "gen_ai.usage.prompt_tokens",
                    "input_tokens",
                ]),
                count(&[
                    "gen_ai.usage.output_tokens",
                    "gen_ai.usage.completion_tokens",
                    "output_tokens",
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

    /// Returns true if the other span is within this span's time.
    pub(super) fn encloses(&self, other: &Self) -> bool {
        self.start > 0 && other.end > 0 && self.start <= other.start && other.end <= self.end
    }
}

/// An id of the span, which some formats write into its `context`.
fn read_id(fields: &Fields<'_>, key: &str, key_in_context: &str) -> Result<String, Misfit> {
    let context = fields.part("context").unwrap_or_default();
    let in_context = context
        .string(key_in_context)
        .or_else(|| fields.string(&format!("context.{key_in_context}")));
    let id = match in_context {
        Some(id) => id,
        None => fields.required_string(key, "a span")?,
    };
    Ok(hexadecimal(&id))
}

/// A time as a count of nanoseconds, or as a date under another key.
fn read_time(fields: &Fields<'_>, key: &str, key_of_date: &str) -> Option<u64> {
    fields
        .count(key)
        .or_else(|| time_of(fields.get(key_of_date)?))
}

fn is_error_code(code: Json<'_>) -> bool {
    let name = code.string();
    code.count() == Some(2) || matches!(name.as_deref(), Some("ERROR" | "STATUS_CODE_ERROR"))
}

/// An id without the mark that Python puts before it.
pub(super) fn hexadecimal(id: &str) -> String {
    id.strip_prefix("0x").unwrap_or(id).to_lowercase()
}

/// The nanoseconds of a date, or of a count whose size shows its unit.
pub(super) fn time_of(value: Json<'_>) -> Option<u64> {
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
    Some(Json::new(raw))
}
