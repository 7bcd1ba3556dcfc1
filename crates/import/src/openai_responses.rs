//! OpenAI Responses: items of `input` and `output`, `function_call` and `function_call_output`.

use crate::Importer;
use crate::catalogue::{read_tools, tool};
use crate::content::{answer_of, call_at, call_of, refuse_calls_of_others, text_of, unknown};
use crate::json::{Fields, Json, Misfit, object_of, on_one_line};
use crate::sample::{Sample, has_part};
use crate::transcript::{Dropped, ImportedAnswer, Transcript};
use crate::unit::{Unit, units};
use crate::usage;
use mcptest_core::trace::RecordedCall;
use std::borrow::Cow;
use std::collections::BTreeMap;

pub(crate) const IMPORTER: Importer = Importer {
    key: "openai-responses",
    name: "openai responses",
    doc: "a response with `output`, or items such as `function_call`",
    also_reads: &[],
    sniff,
    read,
};

/// Items about the conversation, and programs of the model whose calls are separate items.
const HARMLESS: [&str; 10] = [
    "item_reference",
    "compaction",
    "compaction_trigger",
    "configuration_update",
    "additional_tools",
    "mcp_approval_request",
    "mcp_approval_response",
    "program",
    "program_output",
    "tool_search_output",
];

fn sniff(sample: &Sample<'_>) -> bool {
    let is_item = |kind: &str| {
        kind.starts_with("function_call")
            || kind.starts_with("custom_tool_call")
            || kind.starts_with("mcp_")
            || (kind.ends_with("_call") && kind != "tool_call")
    };
    let is_part = |kind: &str| {
        matches!(
            kind,
            "input_text" | "output_text" | "input_image" | "input_file"
        )
    };
    sample.records.iter().any(|record| {
        let is_response = record
            .string("object")
            .is_some_and(|object| object == "response");
        let is_request = record.has("input") && (record.has("model") || record.has("instructions"));
        is_response || is_request || (record.has("output") && !record.has("messages"))
    }) || sample.messages.iter().any(|message| {
        message.string("type").is_some_and(|kind| is_item(&kind)) || has_part(message, is_part)
    })
}

fn is_item(fields: &Fields<'_>) -> bool {
    fields.has("role") || (fields.has("type") && !fields.has("object"))
}

fn read(values: &[Json<'_>]) -> Result<Vec<Transcript>, Misfit> {
    let mut exchanges = Vec::new();
    for unit in units(values, &is_item)? {
        exchanges.push(match unit {
            Unit::Messages(input) => Exchange {
                input,
                ..Exchange::default()
            },
            Unit::Record(record) => Exchange::read(&record)?,
        });
    }
    conversations(exchanges)
        .iter()
        .map(|steps| transcript(steps))
        .collect()
}

/// One request and its response.
#[derive(Default)]
struct Exchange<'a> {
    request: Fields<'a>,
    input: Vec<Json<'a>>,
    prompt: Option<Cow<'a, str>>,
    response: Fields<'a>,
    output: Vec<Json<'a>>,
}

impl<'a> Exchange<'a> {
    fn read(record: &Fields<'a>) -> Result<Self, Misfit> {
        let (request, response) = (record.side("request")?, record.side("response")?);
        let prompt = request.string("input");
        let input = if prompt.is_some() {
            None
        } else {
            request.list("input")?
        };
        let output = response.list("output")?;
        if prompt.is_none() && input.is_none() && output.is_none() && !response.has("error") {
            return Err(record.misfit("`input` and `output` are missing".to_owned()));
        }
        let (input, output) = (input.unwrap_or_default(), output.unwrap_or_default());
        Ok(Self {
            request,
            input,
            prompt,
            response,
            output,
        })
    }

    fn previous(&self) -> Option<Cow<'a, str>> {
        let of = |fields: &Fields<'a>| fields.string("previous_response_id");
        of(&self.response).or_else(|| of(&self.request))
    }
}

/// A step of a conversation: an exchange, and the number of its input items that earlier steps
/// contain.
struct ConversationStep<'a> {
    exchange: Exchange<'a>,
    repeated: usize,
}

/// Exchanges joined by `previous_response_id`, or because the input repeats the calls of an earlier
/// output.
fn conversations(exchanges: Vec<Exchange<'_>>) -> Vec<Vec<ConversationStep<'_>>> {
    let mut conversations = Conversations::default();
    for exchange in exchanges {
        conversations.add(exchange);
    }
    conversations.all
}

#[derive(Default)]
struct Conversations<'a> {
    all: Vec<Vec<ConversationStep<'a>>>,
    /// The conversation of each response, by its id.
    by_response: BTreeMap<String, usize>,
    /// The conversation of each call, by its id.
    by_call: BTreeMap<String, usize>,
}

/// The place of an exchange among the conversations.
struct Continuation {
    conversation: usize,
    /// The number of input items up to the last repeated call.
    repeated: usize,
}

impl<'a> Conversations<'a> {
    fn add(&mut self, exchange: Exchange<'a>) {
        let Continuation {
            conversation,
            repeated,
        } = self.continuation(&exchange);
        if let Some(id) = exchange.response.string("id") {
            self.by_response.insert(id.into_owned(), conversation);
        }
        for id in exchange.output.iter().filter_map(|item| call_id(*item)) {
            self.by_call.insert(id, conversation);
        }
        let step = ConversationStep {
            repeated: up_to_first_answer(&exchange, repeated),
            exchange,
        };
        match self.all.get_mut(conversation) {
            Some(known) => known.push(step),
            None => self.all.push(vec![step]),
        }
    }

    fn continuation(&self, exchange: &Exchange<'a>) -> Continuation {
        let linked = exchange
            .previous()
            .and_then(|previous| self.by_response.get(&*previous).copied());
        if let Some(conversation) = linked {
            return Continuation {
                conversation,
                repeated: 0,
            };
        }
        let of_call = |item: Json<'_>| self.by_call.get(&call_id(item)?).copied();
        let last_repeated = exchange
            .input
            .iter()
            .enumerate()
            .rev()
            .find_map(|(at, item)| Some((at, of_call(*item)?)));
        match last_repeated {
            Some((at, conversation)) => Continuation {
                conversation,
                repeated: at + 1,
            },
            None => Continuation {
                conversation: self.all.len(),
                repeated: 0,
            },
        }
    }
}

/// The number of repeated input items. Reasoning and messages may be behind the last repeated call: all items up to the
/// first answer are repeated.
fn up_to_first_answer(exchange: &Exchange<'_>, repeated: usize) -> usize {
    if repeated == 0 {
        return 0;
    }
    let is_model_item = |item: &&Json<'_>| item.object().is_some_and(|item| is_of_model(&item));
    let behind = exchange.input[repeated..].iter();
    repeated + behind.take_while(is_model_item).count()
}

fn call_id(item: Json<'_>) -> Option<String> {
    let fields = item.object()?;
    let is_call = matches!(
        &*fields.string("type")?,
        "function_call" | "custom_tool_call"
    );
    is_call.then(|| fields.owned("call_id")).flatten()
}

/// Returns true if the model wrote this item, so that adjacent items belong to the same turn.
fn is_of_model(item: &Fields<'_>) -> bool {
    let kind = item.string("type").unwrap_or_default();
    match &*kind {
        "message" | "" => item.string("role").is_some_and(|role| role == "assistant"),
        kind => {
            !kind.ends_with("_output")
                && kind != "mcp_approval_response"
                && kind != "item_reference"
        }
    }
}

fn transcript(steps: &[ConversationStep<'_>]) -> Result<Transcript, Misfit> {
    let mut reader = ItemReader {
        transcript: Transcript::default(),
        in_turn: false,
    };
    for ConversationStep { exchange, repeated } in steps {
        let (request, response) = (&exchange.request, &exchange.response);
        for fields in [request, response] {
            reader.read_around(fields)?;
        }
        if let Some(prompt) = &exchange.prompt {
            reader.transcript.user(prompt);
        }
        for item in exchange.input.iter().skip(*repeated) {
            reader.item(&object_of(*item, "an item of `input`")?)?;
        }
        reader.in_turn = false;
        for item in &exchange.output {
            reader.item(&object_of(*item, "an item of `output`")?)?;
        }
        reader.in_turn = false;
        reader.read_end(response)?;
    }
    Ok(reader.transcript)
}

#[derive(Default)]
pub(crate) struct ItemReader {
    pub(crate) transcript: Transcript,
    /// True if the previous item was the model's, in the same answer.
    pub(crate) in_turn: bool,
}

impl ItemReader {
    /// The fields around the items.
    fn read_around(&mut self, fields: &Fields<'_>) -> Result<(), Misfit> {
        self.transcript.set_model(fields.owned("model"));
        if let Some(instructions) = fields.string("instructions") {
            self.transcript.system(&instructions);
        }
        if let Some(tools) = fields.list("tools")? {
            read_tools(&tools, &mut self.transcript)?;
        }
        Ok(())
    }

    /// The end of the response.
    fn read_end(&mut self, response: &Fields<'_>) -> Result<(), Misfit> {
        if let Some(usage) = response.object("usage")? {
            self.transcript.tokens.add(usage::tokens(&usage));
        }
        self.transcript.fail_as(response);
        let incomplete = response
            .part("incomplete_details")
            .and_then(|details| details.owned("reason"));
        let reason = incomplete.or_else(|| response.owned("status"));
        self.transcript.answer_ended(reason.as_deref());
        self.transcript.stopped(reason);
        Ok(())
    }

    pub(crate) fn item(&mut self, item: &Fields<'_>) -> Result<(), Misfit> {
        let is_of_model = is_of_model(item);
        if is_of_model && !self.in_turn {
            self.transcript.assistant();
        }
        self.in_turn = is_of_model;
        let kind = item.string("type").unwrap_or_default();
        match &*kind {
            "message" | "" => self.message(item)?,
            "function_call" | "custom_tool_call" => {
                let caller = item.get("caller").map(Json::compact);
                let call = call_at(item, "name", "call_id", item.first(&["arguments", "input"]))?;
                self.transcript.call(RecordedCall { caller, ..call });
                self.transcript
                    .answer_ended(item.string("status").as_deref());
            }
            "mcp_call" => self.mcp_call(item)?,
            "mcp_list_tools" => self.mcp_tools(item)?,
            "reasoning" => self.transcript.drop(Dropped::Reasoning),
            output if output.ends_with("_call_output") => {
                let answer = answer_of(item.get("output"), false, &mut self.transcript);
                self.transcript.answer(item, "call_id", None, answer)?;
            }
            hosted if hosted.ends_with("_call") => {
                self.hosted_call(item, hosted.trim_end_matches("_call"));
            }
            harmless if HARMLESS.contains(&harmless) => self.transcript.drop(Dropped::Other),
            other => return Err(unknown(item, "an item", other)),
        }
        Ok(())
    }

    fn message(&mut self, item: &Fields<'_>) -> Result<(), Misfit> {
        let role = item.required_string("role", "a message")?;
        refuse_calls_of_others(item, &[])?;
        let content = item.get("content");
        let text = content
            .map(|content| text_of(content, &mut self.transcript))
            .transpose()?
            .unwrap_or_default();
        match &*role {
            "system" | "developer" => self.transcript.system(&text),
            "user" => self.transcript.user(&text),
            "assistant" => self.transcript.say(&text),
            other => {
                let message =
                    format!("`role` is `{other}`; it is system, developer, user or assistant");
                return Err(item.misfit(message));
            }
        }
        Ok(())
    }

    /// A call that the provider made to an MCP server, with its answer.
    fn mcp_call(&mut self, item: &Fields<'_>) -> Result<(), Misfit> {
        let server = item.optional_owned("server_label")?;
        self.transcript.servers.extend(server.clone());
        let call = call_at(item, "name", "id", item.get("arguments"))?;
        let index = self.transcript.call(RecordedCall { server, ..call });
        let error = item.get("error");
        if let Some(said) = error.or(item.get("output")) {
            let answer = answer_of(Some(said), error.is_some(), &mut self.transcript);
            self.transcript.marks_errors = true;
            self.transcript.answer_call(index, answer);
        }
        Ok(())
    }

    fn mcp_tools(&mut self, item: &Fields<'_>) -> Result<(), Misfit> {
        let server = item.optional_string("server_label")?;
        self.transcript
            .servers
            .extend(server.as_deref().map(str::to_owned));
        self.transcript.tools.get_or_insert_default();
        for value in item.list("tools")?.unwrap_or_default() {
            let fields = object_of(value, "a tool")?;
            if let Some(tool) = tool(&fields, server.as_deref()) {
                self.transcript.tool(tool);
            }
        }
        Ok(())
    }

    /// Reads a call of a provider's tool, which describes its work in separate keys.
    fn hosted_call(&mut self, item: &Fields<'_>, name: &str) {
        let id = item.owned("call_id").or_else(|| item.owned("id"));
        let mut call = call_of(name.to_owned(), id, item.first(&["action", "arguments"]));
        if call.args.is_none() {
            let work = item
                .entries()
                .find(|(key, _)| matches!(*key, "queries" | "code" | "input" | "operation"));
            call.args =
                work.map(|(key, value)| on_one_line(&format!("{{\"{key}\":{}}}", value.text())));
        }
        let index = self.transcript.call(call);
        if let Some(results) = item.first(&["results", "outputs"]) {
            let text = results.compact().get().to_owned();
            self.transcript
                .answer_call(index, ImportedAnswer::from_text(text.into(), false));
        }
    }
}
