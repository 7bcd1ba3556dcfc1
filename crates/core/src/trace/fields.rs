//! Which fields does a trace have? Targets, the documentation and the JSON Schema come from this table.

use super::other_names;
use Presence::{Derived, Optional, Required};
use Shape::{Any, Flag, List, Number, Record, Text, Whole};
use serde_json::{Map, Value, json};

/// A field of a recording.
pub struct Field {
    /// Its key.
    pub name: &'static str,
    /// The shape of its value.
    pub(crate) shape: Shape,
    presence: Presence,
    /// Its meaning, in a line.
    pub doc: &'static str,
}

/// The shape of a field's value.
pub(crate) enum Shape {
    Text,
    /// A number from 0 without a fraction.
    Whole,
    Number,
    Flag,
    Any,
    List(&'static Shape),
    Record(&'static [Field]),
}

enum Presence {
    Required,
    Optional,
    /// No part of the recording: a target alone.
    Derived,
}

/// An optional field.
pub(crate) const fn optional(name: &'static str, shape: Shape, doc: &'static str) -> Field {
    Field {
        name,
        shape,
        presence: Optional,
        doc,
    }
}

const fn required(name: &'static str, shape: Shape, doc: &'static str) -> Field {
    Field {
        name,
        shape,
        presence: Required,
        doc,
    }
}

/// The fields of a JSON-RPC error.
pub(crate) static ERROR: &[Field] = &[
    optional("code", Number, "the JSON-RPC code"),
    optional("message", Text, "what happened"),
    optional("data", Any, "other data from the server"),
];

static CALL: Shape = Record(&[
    required("name", Text, "the tool's name, without a server prefix"),
    optional("server", Text, "the server the call went to"),
    optional("args", Any, "the arguments, as JSON"),
    optional(
        "args_text",
        Text,
        "the arguments as the model wrote them, if they are not JSON",
    ),
    optional("id", Text, "the provider's id of the call"),
    optional(
        "turn",
        Whole,
        "the assistant turn, from 0; a call without one is a separate turn",
    ),
    optional(
        "caller",
        Any,
        "the caller, if generated code or a sub-agent made the call",
    ),
    optional(
        "distractor",
        Flag,
        "whether the tool was an injected distractor",
    ),
]);

static RESULT: Shape = Record(&[
    optional(
        "call_index",
        Whole,
        "the call it answers, from 0; results without one answer in order",
    ),
    optional("is_error", Flag, "whether the tool reported an error"),
    optional("content", Any, "the content blocks"),
    optional("structured", Any, "the structured content"),
    optional(
        "error",
        Record(ERROR),
        "a protocol error instead of a result",
    ),
    optional(
        "progress",
        List(&Any),
        "the progress notifications during the call, without the token",
    ),
    optional("log", List(&Any), "the log messages during the call"),
    optional(
        "start_ms",
        Whole,
        "when the call was made, counted from the start of the run",
    ),
    optional("duration_ms", Whole, "how long the call took"),
]);

static DELEGATION: Shape = Record(&[
    required("from", Text, "the agent that handed over"),
    required("to", Text, "the agent that took over"),
]);

static FAULT: Shape = Record(&[
    required("name", Text, "the fault's name in the suite"),
    required("kind", Text, "its kind, such as `hang` or `slow:250`"),
    required("call_index", Whole, "the call it hit"),
    optional(
        "virtual_ms",
        Whole,
        "its measured cost; if omitted, it follows from the kind and the block",
    ),
    optional("detected", Flag, "true if the agent received the failure"),
]);

static SERVER: Shape = Record(&[
    required("name", Text, "its name in the suite"),
    required("era", Text, "the protocol, `legacy` or `modern`"),
    required("protocol_version", Text, "the protocol revision"),
]);

static TOKENS: &[Field] = &[
    optional("prompt", Whole, "tokens that the model read"),
    optional("completion", Whole, "tokens that it wrote"),
    optional("total", Whole, "both together"),
    optional(
        "cache_read",
        Whole,
        "tokens of the prompt that were read from a cache",
    ),
    optional(
        "cache_write",
        Whole,
        "tokens of the prompt that were written to a cache",
    ),
    optional(
        "cache_write_1h",
        Whole,
        "tokens that were written to a cache for an hour",
    ),
    optional(
        "reasoning",
        Whole,
        "tokens of the completion that the model used for reasoning",
    ),
];

static TURN: Shape = Record(&[
    required("role", Text, "`user`, `assistant`, `tool` or `system`"),
    optional("content", Any, "the text: a string, or content blocks"),
    optional(
        "tokens",
        Record(TOKENS),
        "token counts of this answer of the model",
    ),
    optional("cost_usd", Number, "what this answer cost"),
    optional(
        "start_ms",
        Whole,
        "when it began, counted from the start of the run",
    ),
    optional(
        "duration_ms",
        Whole,
        "how long the model took to answer, including retries",
    ),
]);

static CONVERSATION: &[Field] = &[
    optional(
        "id",
        Text,
        "the id of the conversation at its origin, which may have several traces",
    ),
    optional("tokens", Record(TOKENS), "token counts"),
    optional("turns", List(&TURN), "every message with its text"),
    optional("duration_ms", Whole, "how long the run took"),
    optional("message_count", Whole, "how many messages were exchanged"),
    optional("cost_usd", Number, "what the run cost"),
];

static FIELDS: &[Field] = &[
    optional(
        "tool_calls",
        List(&CALL),
        "every tool call, in the order they were made",
    ),
    optional(
        "tool_results",
        List(&RESULT),
        "the results of the calls: one per call, in call order",
    ),
    optional(
        "unmade_calls",
        List(&CALL),
        "calls that the model wrote but that were not made: calls of an answer that was cut off, \
        and calls past `max_tool_calls`; no gate counts them",
    ),
    Field {
        name: "tool_names",
        shape: List(&Text),
        presence: Derived,
        doc: "the names of the calls; not part of the recording",
    },
    optional("final_response", Text, "the closing message"),
    optional(
        "stop_reason",
        Text,
        "why the run ended; `error` makes the run an error",
    ),
    optional(
        "trace_id",
        Text,
        "the id of the run at its origin, such as the trace id of OpenTelemetry",
    ),
    optional(
        "errors",
        List(&Any),
        "provider, server and agent errors; the run is an error if it also lacks a final response \
        and a stop reason",
    ),
    optional("delegations", List(&DELEGATION), "hand-offs between agents"),
    optional(
        "faults",
        List(&FAULT),
        "injected faults that affected calls",
    ),
    optional(
        "servers",
        List(&SERVER),
        "the servers, with the protocols used",
    ),
    optional(
        "final_state",
        Any,
        "the final state of the world that the run acted on",
    ),
    optional(
        "labels",
        Any,
        "facts about the run from its source, such as `labels.reward` or `labels.task_id`",
    ),
    optional(
        "conversation",
        Record(CONVERSATION),
        "the messages of the run and their totals",
    ),
];

/// A trace.
pub(crate) static TRACE: Shape = Record(FIELDS);

/// Every field of a trace as a target, with its shape and its meaning.
pub fn documentation() -> Vec<(String, &'static str, String)> {
    let mut rows = Vec::new();
    document(FIELDS, "", &mut rows);
    rows
}

fn document(fields: &[Field], before: &str, rows: &mut Vec<(String, &'static str, String)>) {
    for Field {
        name,
        shape,
        presence,
        doc,
    } in fields
    {
        let path = format!("{before}{name}");
        let (kind, inner) = match shape {
            List(Record(inner)) => ("list", Some((*inner, "[]."))),
            Record(inner) => ("object", Some((*inner, "."))),
            List(_) => ("list", None),
            Text => ("text", None),
            Whole | Number => ("number", None),
            Flag => ("`true` or `false`", None),
            Any => ("JSON", None),
        };
        let kind = if matches!(presence, Derived) {
            "list, only as a target"
        } else {
            kind
        };
        let others: Vec<String> = other_names(name)
            .map(|other| format!("`{other}`"))
            .collect();
        let doc = if others.is_empty() {
            (*doc).to_owned()
        } else {
            format!("{doc}; also read as {}", others.join(", "))
        };
        rows.push((path.clone(), kind, doc));
        if let Some((inner, step)) = inner {
            document(inner, &format!("{path}{step}"), rows);
        }
    }
}

/// The JSON Schema of a trace. Fields that mcptest does not know are allowed.
pub fn json_schema() -> Value {
    let mut schema = record(FIELDS);
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    schema["title"] = "A trace: the record of one run of an agent".into();
    schema
}

/// The schema of a field under each of its aliases.
fn other_spellings(field: &'static Field) -> impl Iterator<Item = (String, Value)> {
    other_names(field.name).map(|other| {
        let mut schema = of_shape(&field.shape);
        schema["description"] = format!("as `{}`", field.name).into();
        (other.to_owned(), schema)
    })
}

fn property(field: &'static Field) -> Value {
    let mut schema = of_shape(&field.shape);
    let is_required = matches!(field.presence, Required);
    // A null says the same as a field that is not there.
    if let (false, Some(kind)) = (is_required, schema.get_mut("type")) {
        *kind = json!([kind.take(), "null"]);
    }
    schema["description"] = field.doc.into();
    schema
}

fn record(fields: &'static [Field]) -> Value {
    let stored = || {
        fields
            .iter()
            .filter(|field| !matches!(field.presence, Derived))
    };
    let mut properties: Map<String, Value> = stored()
        .map(|field| (field.name.to_owned(), property(field)))
        .collect();
    properties.extend(fields.iter().flat_map(other_spellings));
    let required: Vec<&str> = stored()
        .filter(|field| matches!(field.presence, Required))
        .map(|field| field.name)
        .collect();
    let mut schema = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

fn of_shape(shape: &'static Shape) -> Value {
    match shape {
        Text => json!({ "type": "string" }),
        Whole => json!({ "type": "integer", "minimum": 0 }),
        Number => json!({ "type": "number" }),
        Flag => json!({ "type": "boolean" }),
        Any => json!({}),
        List(item) => json!({ "type": "array", "items": of_shape(item) }),
        Record(fields) => record(fields),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::JsonSchema;
    use crate::trace::{
        ConversationTrace, RecordedCall, RecordedConversation, RecordedDelegation, RecordedError,
        RecordedFailure, RecordedFault, RecordedResult, RecordedServer, RecordedTurn, Tokens,
        Trace,
    };
    use serde_json::value::RawValue;

    fn json() -> Option<Box<RawValue>> {
        RawValue::from_string("{\"a\": 1.50}".to_owned()).ok()
    }

    fn fault() -> RecordedFault {
        RecordedFault {
            name: "late".into(),
            kind: "slow:250".into(),
            call_index: 0,
            virtual_ms: Some(250),
            detected: true,
        }
    }

    /// A trace with every field.
    fn full() -> ConversationTrace {
        let call = RecordedCall {
            name: "search".into(),
            server: Some("docs".into()),
            args: json(),
            args_text: Some("{".into()),
            id: Some("1".into()),
            turn: Some(0),
            caller: json(),
            distractor: true,
        };
        let result = RecordedResult {
            call_index: 0,
            is_error: true,
            content: json(),
            structured: json(),
            error: Some(RecordedFailure {
                code: Some(-32603),
                message: "no".into(),
            }),
            progress: json().into_iter().collect(),
            log: json().into_iter().collect(),
            start_ms: Some(5),
            duration_ms: Some(7),
        };
        let tokens = Tokens {
            cache_read: Some(1),
            cache_write: Some(0),
            cache_write_1h: Some(0),
            reasoning: Some(1),
            ..Tokens::new(Some(1), Some(2), None)
        };
        let turn = RecordedTurn {
            tokens: Some(tokens),
            cost_usd: Some(0.5),
            start_ms: Some(0),
            duration_ms: Some(4),
            ..RecordedTurn::new("assistant", "hi")
        };
        ConversationTrace {
            tool_calls: vec![call.clone()],
            unmade_calls: vec![call],
            tool_results: vec![result],
            final_response: Some("done".into()),
            stop_reason: Some("end_turn".into()),
            trace_id: Some("4bf92f3577b34da6a3ce929d0e0e4736".into()),
            errors: vec![RecordedError::new("server", "odd")],
            delegations: vec![RecordedDelegation {
                from: "a".into(),
                to: "b".into(),
            }],
            faults: Some(vec![fault()]),
            servers: vec![RecordedServer::default()],
            final_state: Some(json!({ "orders": {} })),
            labels: [("reward".to_owned(), json!(1.0))].into(),
            conversation: RecordedConversation {
                id: Some("thread-1".into()),
                tokens: Some(tokens),
                turns: Some(vec![turn]),
                duration_ms: Some(9),
                message_count: Some(1),
                cost_usd: Some(0.5),
            },
        }
    }

    fn unwritten(fields: &'static [Field], written: &Value, before: &str) -> Vec<String> {
        let mut missing = Vec::new();
        for field in fields
            .iter()
            .filter(|field| !matches!(field.presence, Derived))
        {
            let Some(value) = written.get(field.name) else {
                missing.push(format!("{before}{}", field.name));
                continue;
            };
            let step = format!("{before}{}.", field.name);
            match &field.shape {
                Record(inner) => missing.extend(unwritten(inner, value, &step)),
                List(Record(inner)) => missing.extend(unwritten(inner, &value[0], &step)),
                _ => {}
            }
        }
        let known: Vec<&str> = fields.iter().map(|field| field.name).collect();
        let unknown = written
            .as_object()
            .unwrap()
            .keys()
            .filter(|key| !known.contains(&key.as_str()));
        missing.extend(unknown.map(|key| format!("unknown {before}{key}")));
        missing
    }

    #[test]
    fn what_is_written_is_what_the_table_has() {
        assert_eq!(
            unwritten(FIELDS, &full().to_envelope(), ""),
            ["tool_results.error.data"]
        );
    }

    #[test]
    fn what_is_written_fits_the_schema_and_is_read_again_to_the_letter() {
        let schema = JsonSchema::compile(&json_schema()).unwrap();
        for trace in [full(), ConversationTrace::default()] {
            assert_eq!(schema.reasons(&trace.to_envelope()), []);
        }
        let text = full().to_json();
        let trace = Trace::read(&text).unwrap();
        assert_eq!(
            trace.tool_calls[0].args.map(RawValue::get),
            Some("{\"a\": 1.50}")
        );
        assert_eq!(trace.tool_results[0].duration_ms, Some(7));
    }
}
