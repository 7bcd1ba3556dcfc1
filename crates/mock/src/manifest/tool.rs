//! One tool of a mock server: its list entry, its arguments, its answers.

use super::answer::{
    Call, Inputs, Plan, Replied, ToolReply, cut, error_of_arguments, output_fault, text_result,
};
use super::ask::{Ask, Asks, Declared};
use super::condition::Condition;
use super::content::one_text;
use super::context::Context;
use super::faults;
use super::json::Json;
use super::listed::Listed;
use super::notice::{Aside, Notice, ServerChange};
use super::path::{STATE, Values};
use super::response::Answers;
use super::scope::Scope;
use super::state::{State, StateNow};
use mcptest_core::fault::FaultKind;
use mcptest_core::schema::JsonSchema;
use mcptest_core::schema::sample;
use mcptest_core::suite::read::{Block, Field};
use mcptest_core::trace::{CatalogueTool, ToolSchema};
use mcptest_mcp::jsonrpc::{RpcError, RpcResult, code};
use serde_json::Value;
use std::borrow::Cow;
use std::cell::OnceCell;

/// A tool.
#[derive(Debug, Default)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// Its entry of `tools/list`, as JSON text.
    pub listing: String,
    /// The delay of its answer.
    pub delay_ms: u64,
    /// The faults of its calls.
    pub faults: Vec<FaultKind>,
    /// The delay for reconnecting, if the answer comes on a stream that the client must resume.
    pub reconnect_ms: Option<u64>,
    /// The requests to the client before the answer.
    pub ask: Ask,
    pub(super) aside: Aside,
    pub(super) description: Option<String>,
    pub(super) input_schema: Option<ToolSchema>,
    pub(super) input: Option<JsonSchema>,
    pub(super) output: Option<JsonSchema>,
    pub(super) cases: Vec<Case>,
    pub(super) who: String,
}

/// One answer, and its condition.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) when: Option<Condition>,
    pub(super) plan: Plan,
}

impl Case {
    /// An answer without a condition.
    pub(super) fn always(plan: Plan) -> Self {
        Self { when: None, plan }
    }
}

impl Tool {
    /// Refuses arguments that do not match the tool's schema.
    pub fn check(&self, arguments: &Value) -> RpcResult {
        match &self.input {
            Some(schema) if !schema.is_valid(arguments) => {
                Err(error_of_arguments(&self.who, &schema.reasons(arguments)))
            }
            _ => Ok(()),
        }
    }

    /// The requests to make now, for clients that have `declared` their capabilities: the first
    /// round that `inputs` does not answer. Empty if the tool can be called.
    pub fn requests(&self, arguments: &Value, inputs: &Inputs, declared: Declared<'_>) -> Asks {
        self.ask
            .next(&self.who, &values(arguments, inputs), inputs, declared)
    }

    /// The notifications before the answer, in order.
    pub fn notices(&self, arguments: &Value) -> RpcResult<Vec<Notice>> {
        self.aside
            .notices(&self.who, &Values::new([("args", arguments)]))
    }

    /// The changes after the call.
    pub fn changes(&self, arguments: &Value) -> RpcResult<Vec<ServerChange>> {
        self.aside
            .changes(&self.who, &Values::new([("args", arguments)]))
    }

    /// The answer to a call with checked arguments: a `tools/call` result as JSON text, and whether it is sent
    /// verbatim.
    pub fn reply<'m>(&'m self, arguments: &Value, state: &State, inputs: &Inputs) -> Replied<'m> {
        let answer = || self.answer_in(arguments, state, inputs);
        let called = (state.server(), self.name.as_str());
        match state.world().call(called, arguments, answer, has_failed) {
            Ok(answered) => answered,
            Err(why) => {
                let text = text_result(&format!("this cannot be done now: {why}"), true);
                Ok(Cow::<str>::Owned(text).into())
            }
        }
    }

    fn answer_in<'m>(&'m self, arguments: &Value, state: &State, inputs: &Inputs) -> Replied<'m> {
        if let Some(text) = self.fixed_answer() {
            return Ok(Cow::Borrowed(text).into());
        }
        let now = StateNow {
            state,
            found: OnceCell::new(),
        };
        let values = values(arguments, inputs).and_state(&now);
        let holds = |case: &&Case| case.when.as_ref().is_none_or(|when| when.holds(&values));
        let Some(case) = self.cases.iter().find(holds) else {
            let shown = arguments.to_string();
            let message = format!(
                "{} has no response for the arguments {}",
                self.who,
                cut(&shown)
            );
            return Err(RpcError::new(code::INVALID_PARAMS, message));
        };
        let reply = case.plan.answer(&Call {
            who: &self.who,
            arguments,
            values,
            state,
        })?;
        self.check_output(&reply)?;
        Ok(reply)
    }

    /// The text of the only answer, if it has no holes and no condition.
    fn fixed_answer(&self) -> Option<&str> {
        match self.cases.as_slice() {
            [
                Case {
                    when: None,
                    plan: Plan::Result(json),
                },
            ] => json.as_static(),
            _ => None,
        }
    }

    /// Refuses a filled-in result that does not match the output schema. A literal result was
    /// checked when it was read.
    fn check_output(&self, reply: &ToolReply<'_>) -> RpcResult {
        let (Cow::Owned(text), false) = (&reply.text, reply.is_raw) else {
            return Ok(());
        };
        let Some(schema) = &self.output else {
            return Ok(());
        };
        match output_fault(text, schema) {
            Some(fault) => {
                let message = format!(
                    "the result of {} does not match its output schema: {fault}",
                    self.who
                );
                Err(RpcError::new(code::INTERNAL_ERROR, message))
            }
            None => Ok(()),
        }
    }

    /// The tool as recordings list it.
    pub(super) fn to_catalogue(&self) -> CatalogueTool {
        CatalogueTool {
            name: self.name.clone(),
            description: self.description.clone(),
            input_schema: self.input_schema.clone(),
            ..CatalogueTool::default()
        }
    }

    pub(super) fn read(field: &mut Field<'_>, context: &Context<'_>) -> Option<Self> {
        field.define("tool", |field| {
            field.try_block(|block| Self::read_block(block, context))
        })
    }

    fn read_block(block: &mut Block<'_>, context: &Context<'_>) -> Option<Self> {
        let name = block.required("name", "The tool's name, unique in the manifest", |f| {
            context.own_name("tool", f)
        });
        let listed = Listed::read(block, name.as_deref());
        let delivery = Delivery::read(block);
        let arguments = Scope::of_schema(listed.input.as_ref().map(|schema| &schema.value));
        let aside = Aside::read(block, &arguments);
        let ask = Ask::read(block, context, &arguments);
        let scope = arguments.with(ask.names()).with([STATE]);
        let output = listed
            .output
            .as_ref()
            .and_then(|schema| schema.compiled.clone());
        let answers = Answers {
            context,
            scope: &scope,
            output: output.as_ref(),
        };
        let cases = read_cases(block, answers);
        let name = name?;
        let is_silent = !block.has("response") && !block.has("responses");
        let written = listed
            .output
            .as_ref()
            .and_then(|schema| Some((&schema.value, schema.compiled.as_ref()?)));
        let cases = if is_silent {
            default_answer(&name, written)
        } else {
            cases?
        };
        Some(Self {
            input_schema: listed.input_schema(),
            listing: listed.listing.into_static(),
            who: format!("the tool `{name}`"),
            delay_ms: delivery.delay_ms,
            faults: delivery.faults,
            reconnect_ms: delivery.reconnect_ms,
            ask,
            aside,
            input: listed.input.and_then(|schema| schema.compiled),
            description: listed.description,
            output,
            cases,
            name,
        })
    }
}

/// When and how the answer to a call is sent.
struct Delivery {
    delay_ms: u64,
    faults: Vec<FaultKind>,
    reconnect_ms: Option<u64>,
}

impl Delivery {
    fn read(block: &mut Block<'_>) -> Self {
        Self {
            delay_ms: block.or_default("delay", "The delay of the answer, such as `50ms`", |f| {
                f.duration_ms()
            }),
            faults: block.or_default(
                "fault",
                "Faults of its calls, such as `slow:500`; one or a list",
                faults::read_of_tool,
            ),
            reconnect_ms: block.optional(
                "reconnect",
                "Close the stream of the call; answer when the client resumes it after this time",
                |f| f.duration_ms(),
            ),
        }
    }
}

/// Returns true if a call got no result, or an error.
fn has_failed(answered: &RpcResult<ToolReply<'_>>) -> bool {
    let is_error = |text: &str| {
        let result: Value = serde_json::from_str(text).unwrap_or_default();
        result.get("isError").and_then(Value::as_bool) == Some(true)
    };
    answered
        .as_ref()
        .map_or(true, |reply| is_error(&reply.text))
}

fn read_cases(block: &mut Block<'_>, answers: Answers<'_>) -> Option<Vec<Case>> {
    let response = block.optional(
        "response",
        "The answer: a string, a result, an error, a sequence or records",
        |f| answers.read(f),
    );
    let responses = block.optional(
        "responses",
        "Answers with conditions: the first whose `when` holds is used",
        |f| answers.read_cases(f),
    );
    block.at_most_one_of(&["response", "responses"]);
    response.map(|plan| vec![Case::always(plan)]).or(responses)
}

pub(super) fn values<'v>(arguments: &'v Value, inputs: &'v Inputs) -> Values<'v> {
    let inputs = inputs.iter().map(|(name, value)| (name.as_str(), value));
    Values::new(inputs.chain([("args", arguments)]))
}

/// The answer of a tool without a response: a text, and a value that matches its output schema.
pub(super) fn default_answer(name: &str, output: Option<(&Value, &JsonSchema)>) -> Vec<Case> {
    let structured = output.and_then(|(written, schema)| sample(written, schema));
    let result = match structured {
        Some(value) => {
            let value = Json::raw(value.to_string());
            let content = one_text(Json::quoted(value.clone()));
            Json::object([
                ("content", Some(content)),
                ("structuredContent", Some(value)),
            ])
        }
        None => Json::raw(text_result(&format!("{name} was called"), false)),
    };
    vec![Case::always(Plan::Result(result))]
}
