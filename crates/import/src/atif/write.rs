//! How is a recorded run written as a trajectory of ATIF?

use super::OWN;
use crate::json::{Json, raw};
use mcptest_core::trace::{Call, CallResult, CatalogueTool, Header, Tokens, Trace};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The version of ATIF that is written.
const VERSION: &str = "ATIF-v1.7";

/// A trajectory needs the version of its agent, which a recording does not have.
const UNKNOWN_VERSION: &str = "unknown";

/// The run of a recording as a trajectory of ATIF, in one line of JSON.
pub fn atif(trace: &Trace<'_>, header: Option<&Header>) -> String {
    raw(&Trajectory::new(trace, header)).get().to_owned()
}

/// The parts of a run that a trajectory has no place for.
pub fn left_out_of_atif(trace: &Trace<'_>) -> Vec<&'static str> {
    let is_timed = |result: &CallResult<'_>| result.duration_ms.is_some();
    [
        (
            "injected faults",
            trace
                .faults
                .as_ref()
                .is_some_and(|faults| !faults.is_empty()),
        ),
        ("protocols of servers", !trace.servers.is_empty()),
        ("final state", trace.final_state.is_some()),
        (
            "durations of calls",
            trace.tool_results.iter().any(is_timed),
        ),
    ]
    .into_iter()
    .filter_map(|(what, is_there)| is_there.then_some(what))
    .collect()
}

#[derive(Serialize)]
struct Trajectory<'a> {
    schema_version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<&'a str>,
    agent: Agent<'a>,
    steps: Vec<Step<'a>>,
    final_metrics: Metrics<Totals>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    extra: BTreeMap<&'static str, OwnOfRun<'a>>,
}

#[derive(Serialize)]
struct Agent<'a> {
    name: &'a str,
    version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    model_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_definitions: Option<Vec<ToolDefinition<'a>>>,
}

#[derive(Serialize)]
struct ToolDefinition<'a> {
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<&'a mcptest_core::trace::ToolSchema>,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<&'a str>,
}

/// Facts of a run without a field in ATIF.
#[derive(Default, PartialEq, Serialize)]
struct OwnOfRun<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    stop_reason: Option<&'a str>,
    /// The closing message, if it is not the last message of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    final_response: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    no_final_response: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    conversation_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    labels: Option<Verbatim<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<Verbatim<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    delegations: Vec<HandOff<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unmade_calls: Vec<UnmadeCall<'a>>,
}

#[derive(PartialEq, Serialize)]
struct HandOff<'a> {
    from: &'a str,
    to: &'a str,
}

#[derive(PartialEq, Serialize)]
struct UnmadeCall<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<Verbatim<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    args_text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    turn: Option<u64>,
}

#[derive(Serialize)]
struct Step<'a> {
    #[serde(rename = "step_id")]
    number: usize,
    source: &'static str,
    message: Cow<'a, str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<ToolCall<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    observation: Option<Observation<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metrics: Option<Metrics<Parts>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    extra: BTreeMap<&'static str, OwnOfStep>,
}

/// Facts of a step without a field in ATIF.
#[derive(Default, PartialEq, Serialize)]
struct OwnOfStep {
    /// True for a call of which no message of the model is recorded.
    no_message: bool,
}

#[derive(Serialize)]
struct ToolCall<'a> {
    #[serde(rename = "tool_call_id")]
    id: Cow<'a, str>,
    function_name: &'a str,
    arguments: Arguments<'a>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    extra: BTreeMap<&'static str, OwnOfCall<'a>>,
}

/// ATIF takes only an object.
#[derive(Serialize)]
#[serde(untagged)]
enum Arguments<'a> {
    Object(&'a RawValue),
    Empty {},
}

/// Facts of a call without a field in ATIF.
#[derive(Default, PartialEq, Serialize)]
struct OwnOfCall<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    caller: Option<Verbatim<'a>>,
    /// Arguments that are not an object.
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<Verbatim<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    args_text: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    distractor: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    no_arguments: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    no_id: bool,
}

/// JSON to the letter.
#[derive(Clone, Copy, Serialize)]
#[serde(transparent)]
struct Verbatim<'a>(&'a RawValue);

impl PartialEq for Verbatim<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.0.get() == other.0.get()
    }
}

#[derive(Serialize)]
struct Observation<'a> {
    results: Vec<ObservedResult<'a>>,
}

#[derive(Serialize)]
struct ObservedResult<'a> {
    source_call_id: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<ObservedContent<'a>>,
    extra: ExtraOfResult<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum ObservedContent<'a> {
    Text(Cow<'a, str>),
    /// Blocks of text.
    Parts(&'a RawValue),
}

#[derive(Serialize)]
struct ExtraOfResult<'a> {
    is_error: bool,
    #[serde(rename = "mcptest", skip_serializing_if = "Option::is_none")]
    own: Option<OwnOfResult<'a>>,
}

/// Facts of a result without a field in ATIF.
#[derive(Default, PartialEq, Serialize)]
struct OwnOfResult<'a> {
    /// Content that is not a list of plain texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<Verbatim<'a>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    no_content: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    structured: Option<Verbatim<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<OwnFailure<'a>>,
}

/// A protocol error, and whether the result beside it was marked as an error.
#[derive(PartialEq, Serialize)]
struct OwnFailure<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<i64>,
    message: &'a str,
    is_error: bool,
}

/// Token counts and costs of a step or of the whole run.
#[derive(Default, PartialEq, Serialize)]
struct Metrics<Counts> {
    #[serde(flatten)]
    counts: Counts,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    extra: BTreeMap<&'static str, u64>,
}

#[derive(Default, PartialEq, Serialize)]
struct Parts {
    #[serde(rename = "prompt_tokens", skip_serializing_if = "Option::is_none")]
    prompt: Option<u64>,
    #[serde(rename = "completion_tokens", skip_serializing_if = "Option::is_none")]
    completion: Option<u64>,
    #[serde(rename = "cached_tokens", skip_serializing_if = "Option::is_none")]
    cached: Option<u64>,
}

#[derive(Serialize)]
struct Totals {
    #[serde(
        rename = "total_prompt_tokens",
        skip_serializing_if = "Option::is_none"
    )]
    prompt: Option<u64>,
    #[serde(
        rename = "total_completion_tokens",
        skip_serializing_if = "Option::is_none"
    )]
    completion: Option<u64>,
    #[serde(
        rename = "total_cached_tokens",
        skip_serializing_if = "Option::is_none"
    )]
    cached: Option<u64>,
    #[serde(rename = "total_cost_usd", skip_serializing_if = "Option::is_none")]
    cost_usd: Option<f64>,
    #[serde(rename = "total_steps")]
    steps: usize,
}

/// The counts that ATIF keeps under `extra`, by the names of providers.
fn other_counts(tokens: &Tokens) -> BTreeMap<&'static str, u64> {
    let sum = Tokens::without_total(tokens.prompt, tokens.completion).totalled();
    [
        (
            "total_tokens",
            tokens.total.filter(|_| tokens.total != sum.total),
        ),
        ("cache_creation_input_tokens", tokens.cache_write),
        ("ephemeral_1h_input_tokens", tokens.cache_write_1h),
        ("reasoning_tokens", tokens.reasoning),
    ]
    .into_iter()
    .filter_map(|(name, count)| Some((name, count?)))
    .collect()
}

impl<'a> Trajectory<'a> {
    fn new(trace: &'a Trace<'a>, header: Option<&'a Header>) -> Self {
        let steps = StepWriter::new(trace).steps(header);
        let tokens = &trace.conversation.tokens;
        let closing = trace.final_response.as_deref();
        let differs = last_message(&steps).as_deref() != closing;
        let own = OwnOfRun {
            stop_reason: trace.stop_reason.as_deref(),
            final_response: closing.filter(|_| differs),
            no_final_response: differs && closing.is_none(),
            duration_ms: trace.conversation.duration_ms,
            conversation_id: trace.conversation.id.as_deref(),
            labels: trace.labels.map(Verbatim),
            errors: trace.errors.iter().copied().map(Verbatim).collect(),
            delegations: hand_offs(trace),
            unmade_calls: trace.unmade_calls.iter().map(unmade_call).collect(),
        };
        Self {
            schema_version: VERSION,
            session_id: trace.trace_id.as_deref(),
            agent: Agent {
                name: header.map_or("agent", |header| &header.agent),
                version: UNKNOWN_VERSION,
                model_name: header.and_then(|header| header.model.as_deref()),
                tool_definitions: header
                    .and_then(|header| header.catalogue.as_ref())
                    .map(|tools| tools.iter().map(tool_definition).collect()),
            },
            final_metrics: Metrics {
                counts: Totals {
                    prompt: tokens.prompt,
                    completion: tokens.completion,
                    cached: tokens.cache_read,
                    cost_usd: trace.conversation.cost_usd,
                    steps: steps.len(),
                },
                extra: other_counts(tokens),
            },
            steps,
            extra: beside(own),
        }
    }
}

/// The closing message that the steps show: the text of the last step, unless that makes calls.
fn last_message(steps: &[Step<'_>]) -> Option<String> {
    let last = steps.iter().rfind(|step| step.source == "agent")?;
    let text = last.message.trim_end();
    (last.tool_calls.is_empty() && !text.is_empty()).then(|| text.to_owned())
}

fn hand_offs<'a>(trace: &'a Trace<'a>) -> Vec<HandOff<'a>> {
    let all = trace.delegations.iter().flatten();
    all.map(|one| HandOff {
        from: &one.from,
        to: &one.to,
    })
    .collect()
}

fn unmade_call<'a>(call: &'a Call<'a>) -> UnmadeCall<'a> {
    UnmadeCall {
        name: &call.name,
        server: call.server.as_deref(),
        args: call.args.map(Verbatim),
        args_text: call.args_text.as_deref(),
        id: call.id.as_deref(),
        turn: call.turn,
    }
}

fn tool_definition(tool: &CatalogueTool) -> ToolDefinition<'_> {
    ToolDefinition {
        r#type: "function",
        function: Function {
            name: Cow::Borrowed(&tool.name),
            description: tool.description.as_deref(),
            parameters: tool.input_schema.as_ref(),
            server: tool.server.as_deref(),
        },
    }
}

/// The facts of turns that the typed trace omits.
#[derive(Default, Deserialize)]
struct Envelope {
    #[serde(default)]
    conversation: CountedConversation,
}

#[derive(Default, Deserialize)]
struct CountedConversation {
    #[serde(default)]
    turns: Vec<CountedTurn>,
}

#[derive(Default, Deserialize)]
struct CountedTurn {
    #[serde(default)]
    tokens: Option<Tokens>,
}

struct StepWriter<'a> {
    trace: &'a Trace<'a>,
    results: Vec<Option<&'a CallResult<'a>>>,
    steps: Vec<Step<'a>>,
    /// The next call to write.
    next: usize,
}

impl<'a> StepWriter<'a> {
    fn new(trace: &'a Trace<'a>) -> Self {
        Self {
            trace,
            results: trace.results_by_call(),
            steps: Vec::new(),
            next: 0,
        }
    }

    fn steps(mut self, header: Option<&'a Header>) -> Vec<Step<'a>> {
        let turns = &self.trace.conversation.turns;
        if let Some(system_prompt) = header.and_then(|header| header.system_prompt.as_deref()) {
            self.step("system", system_prompt.into());
        }
        let prompts = header.map(|header| &header.prompt[..]).unwrap_or_default();
        if turns.iter().all(|turn| turn.role != "user") {
            for prompt in prompts {
                self.step("user", prompt.into());
            }
        }
        let envelope: Envelope = serde_json::from_str(self.trace.text).unwrap_or_default();
        let mut counted = envelope.conversation.turns.into_iter();
        let mut number = 0;
        for turn in turns {
            let tokens = counted.next().and_then(|turn| turn.tokens);
            let text = turn.content.map(text_of).unwrap_or_default();
            match &*turn.role {
                "user" => self.step("user", text),
                "assistant" => {
                    self.calls_before(number);
                    self.answer(number, text);
                    if let Some(step) = self.steps.last_mut() {
                        step.metrics = tokens.as_ref().map(metrics);
                    }
                    number += 1;
                }
                // The text of a tool is in its result, and the system prompt in the header.
                _ => {}
            }
        }
        self.calls_before(u64::MAX);
        self.closing_message();
        self.steps
    }

    fn step(&mut self, source: &'static str, message: Cow<'a, str>) {
        self.steps.push(Step {
            number: self.steps.len() + 1,
            source,
            message,
            tool_calls: Vec::new(),
            observation: None,
            metrics: None,
            extra: BTreeMap::new(),
        });
    }

    fn step_without_message(&mut self) {
        self.step("agent", "".into());
        if let Some(step) = self.steps.last_mut() {
            step.extra = beside(OwnOfStep { no_message: true });
        }
    }

    /// A message of the model with the calls of its turn.
    fn answer(&mut self, turn: u64, message: Cow<'a, str>) {
        self.step("agent", message);
        while let Some(call) = self.trace.tool_calls.get(self.next)
            && call.turn == Some(turn)
        {
            self.call(call);
        }
    }

    /// Writes the calls before the calls of this turn, without a message of the model.
    fn calls_before(&mut self, turn: u64) {
        while let Some(call) = self.trace.tool_calls.get(self.next)
            && call.turn.is_none_or(|of_call| of_call < turn)
        {
            let before = self.next.checked_sub(1);
            let before = before.map(|before| self.trace.tool_calls[before].turn);
            let is_of_last_step = before == Some(call.turn);
            match call.turn {
                None => self.step_without_message(),
                Some(_) if is_of_last_step => {}
                Some(_) => self.step("agent", "".into()),
            }
            self.call(call);
        }
    }

    /// Adds a call with its result to the last step.
    fn call(&mut self, call: &'a Call<'a>) {
        let index = self.next;
        self.next += 1;
        let id = match &call.id {
            Some(id) => Cow::Borrowed(&**id),
            None => Cow::Owned(format!("call_{index}")),
        };
        let result = self.results[index].map(|result| observed(result, id.clone()));
        let Some(step) = self.steps.last_mut() else {
            return;
        };
        step.tool_calls.push(tool_call(call, id));
        if let Some(result) = result {
            let observation = step.observation.get_or_insert(Observation {
                results: Vec::new(),
            });
            observation.results.push(result);
        }
    }

    /// The closing message, unless it is the last message of the model.
    fn closing_message(&mut self) {
        let Some(closing) = self.trace.final_response.as_deref() else {
            return;
        };
        let last = self.steps.iter().rfind(|step| step.source == "agent");
        if last.is_none_or(|step| step.message.trim_end() != closing.trim_end()) {
            self.step("agent", closing.into());
        }
    }
}

fn metrics(tokens: &Tokens) -> Metrics<Parts> {
    Metrics {
        counts: Parts {
            prompt: tokens.prompt,
            completion: tokens.completion,
            cached: tokens.cache_read,
        },
        extra: other_counts(tokens),
    }
}

/// The text of a message: a string, or the texts of its blocks.
fn text_of(content: &RawValue) -> Cow<'_, str> {
    let content = Json::new(content);
    content
        .string()
        .unwrap_or_else(|| content.each("text").join("\n").into())
}

fn tool_call<'a>(call: &'a Call<'a>, id: Cow<'a, str>) -> ToolCall<'a> {
    let object = call.args.filter(|args| args.get().starts_with('{'));
    let own = OwnOfCall {
        server: call.server.as_deref(),
        caller: call.caller.map(Verbatim),
        args: call.args.filter(|_| object.is_none()).map(Verbatim),
        args_text: call.args_text.as_deref(),
        distractor: call.distractor,
        no_arguments: call.args.is_none(),
        no_id: call.id.is_none(),
    };
    ToolCall {
        id,
        function_name: &call.name,
        arguments: object.map_or(Arguments::Empty {}, Arguments::Object),
        extra: beside(own),
    }
}

/// The object `extra`, empty without facts.
fn beside<Own: Default + PartialEq>(own: Own) -> BTreeMap<&'static str, Own> {
    let is_empty = own == Own::default();
    BTreeMap::from_iter((!is_empty).then_some((OWN, own)))
}

fn observed<'a>(result: &'a CallResult<'a>, id: Cow<'a, str>) -> ObservedResult<'a> {
    let plain = result.content.and_then(plain_content);
    let verbatim = result.content.filter(|_| plain.is_none());
    let instead = || match (verbatim, &result.error, result.structured) {
        (Some(content), ..) => Some(text_of(content)),
        (None, Some(error), _) => error.message.as_deref().map(Cow::Borrowed),
        (None, None, structured) => structured.map(|value| Cow::Borrowed(value.get())),
    };
    let own = OwnOfResult {
        content: verbatim.map(Verbatim),
        no_content: result.content.is_none(),
        structured: result.structured.map(Verbatim),
        error: result.error.as_ref().map(|error| OwnFailure {
            code: error.code,
            message: error.message.as_deref().unwrap_or_default(),
            is_error: result.is_error,
        }),
    };
    ObservedResult {
        source_call_id: id,
        content: plain.or_else(|| instead().map(ObservedContent::Text)),
        extra: ExtraOfResult {
            is_error: result.is_failure(),
            own: (own != OwnOfResult::default()).then_some(own),
        },
    }
}

/// Content that ATIF can have unchanged: only blocks of text.
fn plain_content(content: &RawValue) -> Option<ObservedContent<'_>> {
    let blocks = Json::new(content).list()?;
    let text = |block: &Json<'_>| {
        let block = block.object()?;
        let is_text = block.string("type")? == "text" && block.keys().count() == 2;
        is_text.then(|| block.owned("text")).flatten()
    };
    let texts: Vec<String> = blocks.iter().map(text).collect::<Option<_>>()?;
    match &texts[..] {
        [] => None,
        [_] => texts
            .into_iter()
            .next()
            .map(|text| ObservedContent::Text(text.into())),
        _ => Some(ObservedContent::Parts(content)),
    }
}
