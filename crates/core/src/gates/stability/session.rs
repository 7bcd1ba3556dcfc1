//! Which parts of one run does stability measure: its calls, the lengths of the agent's turns, and its tokens?

use crate::hashed::HashSet;
use crate::json;
use crate::trace::{Call, Trace};
use serde_json::Value;

/// One run, read from a trace or from an envelope.
pub(super) struct Session<'a> {
    pub(super) calls: Vec<Step<'a>>,
    /// The length of each assistant turn, in Unicode characters.
    pub(super) turn_lengths: Vec<usize>,
    /// The lengths of turns that answer the user: turns with text and without calls.
    pub(super) answer_lengths: Vec<usize>,
    /// All tokens of the run; 0 if none are recorded.
    pub(super) tokens: f64,
    /// Tokens that were read from a cache.
    pub(super) cached_tokens: f64,
    /// The number of different tools that were called, by name.
    pub(super) tools: usize,
    /// The number of calls that differ in name, server or arguments.
    pub(super) distinct_calls: usize,
}

/// The tokens of a run, and the cached part.
#[derive(Clone, Copy)]
struct Spent {
    total: f64,
    cached: f64,
}

impl Spent {
    fn from_envelope(envelope: &Value) -> Self {
        let count = |key: &str| {
            let pointer = format!("/conversation/tokens/{key}");
            let tokens = envelope.pointer(&pointer).and_then(Value::as_f64);
            tokens.map(|tokens| tokens.max(0.0))
        };
        let both = || Some(count("prompt")? + count("completion")?);
        Self {
            total: count("total").or_else(both).unwrap_or_default(),
            cached: count("cache_read").unwrap_or_default(),
        }
    }
}

/// One call. Calls are equal if name, server and arguments are.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Step<'a> {
    pub(super) name: &'a str,
    server: Option<&'a str>,
    pub(super) args: u128,
}

impl<'a> Session<'a> {
    pub(super) fn from_trace(trace: &'a Trace<'_>) -> Self {
        let assistant = trace
            .conversation
            .turns
            .iter()
            .filter(|turn| turn.role == "assistant");
        let lengths = assistant.map(|turn| {
            let content = turn
                .content
                .and_then(|raw| serde_json::from_str(raw.get()).ok());
            content.map_or(0, |content: Value| text_length(&content))
        });
        let tokens = trace.conversation.tokens.totalled();
        let tokens = Spent {
            total: tokens.total.unwrap_or_default() as f64,
            cached: tokens.cache_read.unwrap_or_default() as f64,
        };
        let turns = trace
            .tool_calls
            .iter()
            .filter_map(|call| call.turn)
            .collect();
        Self::new(
            trace.tool_calls.iter().map(Step::from_call).collect(),
            lengths.collect(),
            &turns,
            tokens,
        )
    }

    /// Reads an envelope, or a run line that has it under `trace`. Missing or malformed parts count
    /// as absent.
    pub(super) fn from_envelope(envelope: &'a Value) -> Self {
        let is_bare = envelope.get("tool_calls").is_some();
        let inner = envelope
            .get("trace")
            .filter(|trace| trace.is_object() && !is_bare);
        let envelope = inner.unwrap_or(envelope);
        let list = |pointer: &str| {
            envelope
                .pointer(pointer)
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
        };
        let calls = list("/tool_calls").map(Step::from_value).collect();
        let assistant = list("/conversation/turns").filter(|turn| turn["role"] == "assistant");
        let lengths = assistant
            .map(|turn| text_length(&turn["content"]))
            .collect();
        let tokens = Spent::from_envelope(envelope);
        let turns = list("/tool_calls")
            .filter_map(|call| call["turn"].as_u64())
            .collect();
        Self::new(calls, lengths, &turns, tokens)
    }

    fn new(
        calls: Vec<Step<'a>>,
        turn_lengths: Vec<usize>,
        calling: &HashSet<u64>,
        tokens: Spent,
    ) -> Self {
        let answers = turn_lengths.iter().enumerate();
        let answers =
            answers.filter(|(turn, length)| **length > 0 && !calling.contains(&(*turn as u64)));
        let answer_lengths = answers.map(|(_, length)| *length).collect();
        let tools = calls
            .iter()
            .map(|call| call.name)
            .collect::<HashSet<_>>()
            .len();
        let distinct_calls = calls.iter().collect::<HashSet<_>>().len();
        Self {
            calls,
            turn_lengths,
            answer_lengths,
            tokens: tokens.total,
            cached_tokens: tokens.cached,
            tools,
            distinct_calls,
        }
    }

    /// Returns true if a run has nothing to compare: at most one turn and one call.
    pub(super) fn is_short(&self) -> bool {
        self.turn_lengths.len() <= 1 && self.calls.len() <= 1
    }
}

impl<'a> Step<'a> {
    fn from_call(call: &'a Call<'_>) -> Self {
        let args = match (call.args, &call.args_text) {
            (Some(args), _) => json::hash(args.get()),
            (None, Some(text)) => json::hash(text),
            (None, None) => json::hash_value(&Value::Null),
        };
        Self {
            name: &call.name,
            server: call.server.as_deref(),
            args,
        }
    }

    fn from_value(call: &'a Value) -> Self {
        let text = |key: &str| call.get(key).and_then(Value::as_str);
        let args = match (call.get("args"), text("args_text")) {
            (Some(args), _) => json::hash_value(args),
            (None, Some(text)) => json::hash(text),
            (None, None) => json::hash_value(&Value::Null),
        };
        Self {
            name: text("name").unwrap_or_default(),
            server: text("server"),
            args,
        }
    }
}

/// The characters of a string, or of all text among content blocks.
fn text_length(content: &Value) -> usize {
    match content {
        Value::String(text) => text.chars().count(),
        Value::Array(blocks) => blocks.iter().map(text_length).sum(),
        Value::Object(block) => match block.get("type").and_then(Value::as_str) {
            None | Some("text" | "output_text") => block.get("text").map_or(0, text_length),
            Some(_) => 0,
        },
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn both_doors_see_the_same_run() {
        let envelope = json!({
            "tool_calls": [
                { "name": "a", "server": "s", "args": { "x": 1, "y": [1.0] } },
                { "name": "a", "server": "s", "args": { "y": [1], "x": 1 } },
                { "name": "a", "args_text": "{x" },
                { "name": "b" },
            ],
            "conversation": {
                "tokens": { "total": 12 },
                "turns": [
                    { "role": "user", "content": "hello" },
                    { "role": "assistant", "content": [
                        { "type": "text", "text": "größe" },
                        { "type": "tool_use", "text": "not said" },
                        { "type": "text", "text": "!" },
                    ] },
                    { "role": "assistant", "content": "ab" },
                    { "role": "assistant" },
                ],
            },
        });
        let text = envelope.to_string();
        let trace = Trace::read(&text).unwrap();
        let wrapped = json!({ "trace": envelope });
        for session in [
            Session::from_trace(&trace),
            Session::from_envelope(&wrapped),
        ] {
            assert_eq!(session.turn_lengths, [6, 2, 0]);
            assert_eq!(
                (session.calls.len(), session.tools, session.distinct_calls),
                (4, 2, 3)
            );
            assert!((session.tokens - 12.0).abs() < f64::EPSILON);
        }
    }

    #[test]
    fn an_odd_envelope_counts_as_nothing() {
        for envelope in [
            json!(null),
            json!([1]),
            json!({ "tool_calls": 3, "conversation": { "turns": {} } }),
        ] {
            let session = Session::from_envelope(&envelope);
            assert!(session.is_short() && session.calls.is_empty());
        }
    }
}
