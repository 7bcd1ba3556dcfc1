//! One recorded run: its calls, results and conversation, borrowed from the recorded text.

mod bare;
mod ending;
mod error_word;
pub mod fields;
mod header;
mod label;
mod read;
mod record;
mod seal;
mod spelling;
mod tokens;
mod tool;
mod tool_schema;
pub mod usage;

pub use bare::{BareFault, read_bare};
pub use ending::error_in_words;
pub use error_word::reports_error;
pub use header::{CatalogueTool, Header, full_name};
pub use label::{is_good_label, label_words};
pub(crate) use record::is_direct;
pub use record::{
    ConversationTrace, RecordedCall, RecordedConversation, RecordedDelegation, RecordedError,
    RecordedFailure, RecordedFault, RecordedResult, RecordedServer, RecordedTurn, run_line,
    unkeepable,
};
pub use seal::{seal_of, sealed_run_line};
pub(crate) use spelling::other_names;
pub use spelling::slips;
pub use tokens::Tokens;
pub use tool::splits;
pub(crate) use tool::{KnownTools, ServerNames, WrittenNames};
pub use tool::{Tool, is_tool};
pub use tool_schema::ToolSchema;

use crate::fault::RecordedKind;
use crate::grade::Found;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// One recorded run. It does not say whether it was live, replayed or imported.
///
/// ```
/// use mcptest_core::Trace;
///
/// let trace = Trace::read(r#"{"tool_calls": [{"name": "get_weather"}], "final_response": "Rain."}"#)?;
/// assert_eq!(trace.tool_names().collect::<Vec<_>>(), ["get_weather"]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, Deserialize)]
#[non_exhaustive]
#[serde(expecting = "a trace, which is an object")]
pub struct Trace<'a> {
    /// Every tool call, in the order they were made.
    #[serde(
        borrow,
        default,
        deserialize_with = "read::objects",
        alias = "toolCalls"
    )]
    pub tool_calls: Vec<Call<'a>>,
    /// One result per call, in call order.
    #[serde(
        borrow,
        default,
        deserialize_with = "read::objects",
        alias = "toolResults"
    )]
    pub tool_results: Vec<CallResult<'a>>,
    /// Calls that the model wrote and that were never made: no gate counts them.
    #[serde(
        borrow,
        default,
        deserialize_with = "read::objects",
        alias = "unmadeCalls"
    )]
    pub unmade_calls: Vec<Call<'a>>,
    /// The agent's closing message.
    #[serde(
        borrow,
        default,
        deserialize_with = "read::borrowed",
        alias = "finalResponse"
    )]
    pub final_response: Option<Cow<'a, str>>,
    /// Why the run ended.
    #[serde(
        borrow,
        default,
        deserialize_with = "read::borrowed",
        alias = "stopReason"
    )]
    pub stop_reason: Option<Cow<'a, str>>,
    /// The run's name in its source: the id of its trace.
    #[serde(
        borrow,
        default,
        deserialize_with = "read::borrowed",
        alias = "traceId"
    )]
    pub trace_id: Option<Cow<'a, str>>,
    /// Provider and transport errors.
    #[serde(borrow, default, deserialize_with = "read::or_default")]
    pub errors: Vec<&'a RawValue>,
    /// Hand-offs between agents; `None` if the trace does not record them.
    #[serde(borrow, default, deserialize_with = "read::maybe_objects")]
    pub delegations: Option<Vec<Delegation<'a>>>,
    /// Injected faults that affected calls; `None` if the trace does not record them.
    #[serde(borrow, default, deserialize_with = "read::maybe_objects")]
    pub faults: Option<Vec<FaultEvent<'a>>>,
    /// The servers with the protocols used, if the trace has them.
    #[serde(default, deserialize_with = "read::objects")]
    pub servers: Vec<RecordedServer>,
    /// The final state of the world that the run acted on, if one was recorded.
    #[serde(borrow, default, alias = "finalState")]
    pub final_state: Option<&'a RawValue>,
    /// Facts about the run from its source, such as a reward or the id of its task: an object.
    #[serde(borrow, default)]
    pub labels: Option<&'a RawValue>,
    /// Turns, tokens and totals.
    #[serde(borrow, default, deserialize_with = "read::object")]
    pub conversation: Conversation<'a>,
    /// The whole envelope as recorded: unknown fields are kept here.
    #[serde(skip)]
    pub text: &'a str,
}

impl<'a> Trace<'a> {
    /// Reads a trace envelope; the trace borrows from `text`.
    pub fn read(text: &'a str) -> Result<Self, serde_json::Error> {
        Ok(serde_json::from_str::<Self>(text)?.with_text(text))
    }

    /// Completes a trace deserialised from `text`: makes names bare, and keeps unknown fields
    /// reachable.
    #[must_use]
    pub fn with_text(mut self, text: &'a str) -> Self {
        self.text = text;
        self.conversation.tokens = self.conversation.tokens.totalled();
        self.tool_calls
            .iter_mut()
            .chain(&mut self.unmade_calls)
            .for_each(Call::strip_own_prefix);
        self
    }

    /// The names of the calls in order, repeats included.
    pub fn tool_names(&self) -> impl Iterator<Item = &str> {
        self.tool_calls.iter().map(|call| call.name.as_ref())
    }

    /// The result of each call, by `call_index`, otherwise in order.
    pub fn results_by_call(&self) -> Vec<Option<&CallResult<'a>>> {
        let mut results = vec![None; self.tool_calls.len()];
        for (at, result) in self.tool_results.iter().enumerate() {
            if let Some(of_call) = results.get_mut(result.call_index.unwrap_or(at)) {
                *of_call = Some(result);
            }
        }
        results
    }
}

/// One tool call as the agent made it.
///
/// ```
/// use mcptest_core::Trace;
///
/// let trace = Trace::read(r#"{"tool_calls": [{"name": "get_weather", "args": {"city": "Oslo"}}]}"#)?;
/// let call = &trace.tool_calls[0];
/// assert_eq!(call.name, "get_weather");
/// assert_eq!(call.args.map(|args| args.get()), Some(r#"{"city": "Oslo"}"#));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Deserialize)]
#[non_exhaustive]
#[serde(expecting = "a call, which is an object with a `name`")]
pub struct Call<'a> {
    /// The tool's name, without the `<server>__` prefix.
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    /// The server the call went to.
    #[serde(borrow, default, deserialize_with = "read::borrowed")]
    pub server: Option<Cow<'a, str>>,
    /// The arguments, as JSON. A written null is kept, because it differs from absent arguments.
    #[serde(borrow, default, deserialize_with = "read::kept", alias = "arguments")]
    pub args: Option<&'a RawValue>,
    /// The arguments as the model wrote them, if they are not JSON.
    #[serde(
        borrow,
        default,
        deserialize_with = "read::borrowed",
        alias = "argsText"
    )]
    pub args_text: Option<Cow<'a, str>>,
    /// The provider's id of the call.
    #[serde(borrow, default, deserialize_with = "read::borrowed")]
    pub id: Option<Cow<'a, str>>,
    /// The assistant turn of the call. A call without one is a separate turn.
    pub turn: Option<u64>,
    /// The caller, if generated code or a sub-agent made the call.
    #[serde(borrow, default)]
    pub caller: Option<&'a RawValue>,
    /// True if the tool was an injected distractor.
    #[serde(default, deserialize_with = "read::or_default")]
    pub distractor: bool,
    /// True if several servers have a tool of this name, and the call does not name its server.
    #[serde(skip)]
    pub(crate) is_of_several: bool,
}

/// The result of a call.
///
/// ```
/// use mcptest_core::Trace;
///
/// let text = r#"{
///     "tool_calls": [{"name": "get_weather"}],
///     "tool_results": [{"call_index": 0, "is_error": true}]
/// }"#;
/// let trace = Trace::read(text)?;
/// assert!(trace.tool_results[0].is_failure());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, Deserialize)]
#[non_exhaustive]
#[serde(expecting = "a result, which is an object")]
pub struct CallResult<'a> {
    /// The call this answers, as an index into `tool_calls`; results without one answer in order.
    #[serde(alias = "callIndex")]
    pub call_index: Option<usize>,
    /// True if the tool reported an error.
    #[serde(default, deserialize_with = "read::or_default", alias = "isError")]
    pub is_error: bool,
    /// The content blocks.
    #[serde(borrow, default)]
    pub content: Option<&'a RawValue>,
    /// The structured content.
    #[serde(
        borrow,
        default,
        alias = "structuredContent",
        alias = "structured_content"
    )]
    pub structured: Option<&'a RawValue>,
    /// A protocol error, if the call got one instead of a result.
    #[serde(borrow, default)]
    pub error: Option<ProtocolError<'a>>,
    /// The duration of the call.
    #[serde(alias = "durationMs")]
    pub duration_ms: Option<u64>,
}

impl Call<'_> {
    /// The name of the sub-agent that made the call, if one did.
    ///
    /// ```
    /// use mcptest_core::Trace;
    ///
    /// let text = r#"{"tool_calls": [{"name": "search", "caller": {"type": "agent", "agent": "Explore"}}]}"#;
    /// assert_eq!(Trace::read(text)?.tool_calls[0].sub_agent().as_deref(), Some("Explore"));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn sub_agent(&self) -> Option<String> {
        #[derive(Deserialize)]
        struct Caller {
            agent: String,
        }
        let caller: Caller = serde_json::from_str(self.caller?.get()).ok()?;
        Some(caller.agent)
    }

    /// The arguments as JSON, if they are JSON. Some programs encode them twice: a text with an object is that
    /// object.
    pub(crate) fn decoded_args(&self) -> Option<Value> {
        let args = serde_json::from_str(self.args?.get()).ok()?;
        let decoded = match &args {
            Value::String(text) => serde_json::from_str(text).ok().filter(Value::is_object),
            _ => None,
        };
        Some(decoded.unwrap_or(args))
    }
}

impl CallResult<'_> {
    /// Returns true if the call failed, by the tool's report or by the protocol.
    pub fn is_failure(&self) -> bool {
        self.is_error || self.error.is_some()
    }

    /// Its text: the text of its content, otherwise its structured content as JSON.
    pub(crate) fn text(&self) -> Option<String> {
        let content = self
            .content
            .map(content_text)
            .filter(|text| !text.is_empty());
        content.or_else(|| {
            self.structured
                .map(|structured| structured.get().to_owned())
        })
    }
}

/// The text of a message or a result: a string, or the texts of its content blocks.
pub(crate) fn content_text(content: &RawValue) -> String {
    #[derive(Deserialize)]
    struct ContentBlock {
        text: Option<String>,
    }
    if let Ok(text) = serde_json::from_str::<String>(content.get()) {
        return text;
    }
    let blocks: Vec<ContentBlock> = serde_json::from_str(content.get()).unwrap_or_default();
    blocks
        .into_iter()
        .filter_map(|block| block.text)
        .collect::<Vec<_>>()
        .join("\n")
}

/// A JSON-RPC error that answered a call.
#[derive(Debug, Clone, Deserialize)]
#[serde(expecting = "an error, which is an object with `code` and `message`")]
pub struct ProtocolError<'a> {
    /// The JSON-RPC error code.
    pub code: Option<i64>,
    /// The error's message.
    #[serde(borrow, default, deserialize_with = "read::borrowed")]
    pub message: Option<Cow<'a, str>>,
}

/// A hand-off from one agent to another.
#[derive(Debug, Clone, Deserialize)]
#[serde(expecting = "a hand-off, which is an object with `from` and `to`")]
pub struct Delegation<'a> {
    /// The agent that handed over.
    #[serde(borrow)]
    pub from: Cow<'a, str>,
    /// The agent that took over.
    #[serde(borrow)]
    pub to: Cow<'a, str>,
}

/// A call that ran into an injected fault.
#[derive(Debug, Clone, Deserialize)]
#[serde(expecting = "a fault, which is an object with `name`, `kind` and `call_index`")]
pub struct FaultEvent<'a> {
    /// The fault's name in the suite.
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    /// The fault's kind, as `hang` or `slow`.
    #[serde(borrow)]
    pub kind: RecordedKind<'a>,
    /// The call it hit.
    #[serde(alias = "callIndex")]
    pub call_index: usize,
    /// The cost of the fault, in virtual milliseconds.
    #[serde(alias = "virtualMs")]
    pub virtual_ms: Option<u64>,
    /// True if the agent received the failure.
    #[serde(default, deserialize_with = "read::or_default")]
    pub detected: bool,
}

/// The messages of a run and their totals.
///
/// ```
/// use mcptest_core::Trace;
///
/// let trace = Trace::read(r#"{"conversation": {"duration_ms": 1200, "cost_usd": 0.002}}"#)?;
/// assert_eq!(trace.conversation.duration_ms, Some(1200));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, Deserialize)]
#[non_exhaustive]
#[serde(expecting = "a conversation, which is an object")]
pub struct Conversation<'a> {
    /// The id of the conversation at its origin.
    #[serde(borrow, default, deserialize_with = "read::borrowed")]
    pub id: Option<Cow<'a, str>>,
    /// Token counts.
    #[serde(default, deserialize_with = "read::object")]
    pub tokens: Tokens,
    /// Every turn with its text.
    #[serde(borrow, default, deserialize_with = "read::objects")]
    pub turns: Vec<Turn<'a>>,
    /// The duration of the run.
    #[serde(alias = "durationMs")]
    pub duration_ms: Option<u64>,
    /// The number of messages.
    #[serde(alias = "messageCount")]
    pub message_count: Option<u64>,
    /// The cost of the run.
    #[serde(alias = "costUsd")]
    pub cost_usd: Option<f64>,
}

/// One message of the conversation.
///
/// ```
/// use mcptest_core::Trace;
///
/// let text = r#"{"conversation": {"turns": [{"role": "user", "content": "Will it rain?"}]}}"#;
/// let trace = Trace::read(text)?;
/// assert_eq!(trace.conversation.turns[0].role, "user");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Deserialize)]
#[non_exhaustive]
#[serde(expecting = "a turn, which is an object with `role` and `content`")]
pub struct Turn<'a> {
    /// `user`, `assistant`, `tool` or `system`.
    #[serde(borrow)]
    pub role: Cow<'a, str>,
    /// The message's content: a string, or content blocks.
    #[serde(borrow, default)]
    pub content: Option<&'a RawValue>,
}

/// One recorded run as a gate sees it: its number, the trace, the header it was recorded under, its `expect:` verdict.
///
/// ```
/// use mcptest_core::Trace;
/// use mcptest_core::gates::Run;
///
/// let trace = Trace::read(r#"{"final_response": "Rain."}"#)?;
/// let run = Run::new(&trace);
/// assert_eq!((run.number, run.passed), (1, true));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Run<'a> {
    /// Its number, from 1: a gate does not see runs that cannot be read.
    pub number: usize,
    /// The trace.
    pub trace: &'a Trace<'a>,
    /// The recording's header, if it has one.
    pub header: Option<&'a Header>,
    /// True if the run's `expect:` held, and its agent did not crash.
    pub as_expected: bool,
    /// Its outcome: it meets its `expect:`, and no gate that scores run by run fails it.
    pub passed: bool,
    /// The judges' grades, for the checks that ask judges.
    pub grades: &'a [Found],
}

impl<'a> Run<'a> {
    /// A run of which nothing but the trace is known.
    pub fn new(trace: &'a Trace<'a>) -> Self {
        Self {
            number: 1,
            trace,
            header: None,
            as_expected: true,
            passed: true,
            grades: &[],
        }
    }

    /// Runs with only traces, numbered in this order.
    pub fn all(traces: &'a [Trace<'a>]) -> Vec<Self> {
        (1..)
            .zip(traces)
            .map(|(number, trace)| Self {
                number,
                ..Self::new(trace)
            })
            .collect()
    }

    /// The offered tools, if the recording has them.
    pub fn catalogue(&self) -> Option<&'a [CatalogueTool]> {
        self.header.and_then(|header| header.catalogue.as_deref())
    }

    /// Why a run shows nothing about its tools.
    pub(crate) fn why_idle(&self) -> Option<&'static str> {
        let calls = &self.trace.tool_calls;
        let is_listed = |call: &Call<'_>, catalogue: &[CatalogueTool]| {
            catalogue.iter().any(|tool| {
                let is_elsewhere = tool
                    .server
                    .as_deref()
                    .zip(call.server.as_deref())
                    .is_some_and(|(a, b)| a != b);
                tool.name == call.name && !is_elsewhere
            })
        };
        if calls.is_empty() {
            return Some("the run made no calls");
        }
        let is_idle = self
            .catalogue()
            .is_some_and(|catalogue| !calls.iter().any(|call| is_listed(call, catalogue)));
        is_idle.then_some("the run called no tool of its catalogue")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_borrows_its_text_and_keeps_what_it_does_not_know() {
        let text =
            r#"{"tool_calls":[{"name":"search","server":"docs","args":{"q":"a"}}],"mood":"calm"}"#;
        let trace = Trace::read(text).unwrap();
        assert_eq!(trace.tool_names().collect::<Vec<_>>(), ["search"]);
        assert!(matches!(trace.tool_calls[0].name, Cow::Borrowed(_)));
        assert!(matches!(trace.tool_calls[0].server, Some(Cow::Borrowed(_))));
        assert!(trace.text.contains("calm"));
    }

    #[test]
    fn results_answer_their_calls_by_index_or_in_order() {
        let text = r#"{"tool_calls":[{"name":"a"},{"name":"b"},{"name":"c"}],
            "tool_results":[{"call_index":1,"error":{"code":-32603}},{"call_index":0},{"call_index":9}]}"#;
        let trace = Trace::read(text).unwrap();
        let failed: Vec<_> = trace
            .results_by_call()
            .iter()
            .map(|result| result.map(CallResult::is_failure))
            .collect();
        assert_eq!(failed, [Some(false), Some(true), None]);
    }

    #[test]
    fn a_call_recorded_as_on_the_wire_has_its_bare_name() {
        let text =
            r#"{"tool_calls":[{"name":"docs__search","server":"docs"},{"name":"docs__search"}]}"#;
        let trace = Trace::read(text).unwrap();
        assert_eq!(
            trace.tool_names().collect::<Vec<_>>(),
            ["search", "docs__search"]
        );
    }

    #[test]
    fn a_list_is_not_taken_for_an_object() {
        for text in [
            r#"{"tool_calls":[["search"]]}"#,
            r#"{"conversation":[]}"#,
            r#"{"conversation":{"turns":[["user"]]}}"#,
        ] {
            assert!(
                Trace::read(text)
                    .unwrap_err()
                    .to_string()
                    .contains("expected an object"),
                "{text}"
            );
        }
    }

    #[test]
    fn null_is_absent_except_in_arguments() {
        let text = r#"{"tool_calls":[{"name":"a","args":null}],"tool_results":null,"errors":null,
            "conversation":{"tokens":null,"turns":null},"final_response":null}"#;
        let trace = Trace::read(text).unwrap();
        assert!(trace.tool_results.is_empty() && trace.conversation.tokens.total.is_none());
        assert_eq!(trace.tool_calls[0].args.map(RawValue::get), Some("null"));
    }
}
