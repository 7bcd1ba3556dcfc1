//! An invented conversation, in each format.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// A conversation: the user's request, the model's turns, and the closing message.
#[derive(Debug, Clone)]
pub(crate) struct Conversation {
    pub(crate) prompt: String,
    pub(crate) turns: Vec<Turn>,
    pub(crate) answer: String,
}

/// One message of the model, with calls.
#[derive(Debug, Clone)]
pub(crate) struct Turn {
    pub(crate) text: String,
    pub(crate) calls: Vec<Call>,
    /// True if the answers arrive in reverse order.
    pub(crate) is_reversed: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) name: String,
    pub(crate) args: Value,
    /// `None` for a call without an answer.
    pub(crate) result: Option<String>,
    pub(crate) is_error: bool,
}

fn text() -> impl Strategy<Value = String> {
    "[ -~äß天\n]{0,12}".prop_map(|text| text.trim().to_owned())
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e9..1e9_f64).prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-e]{1,2}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn object() -> impl Strategy<Value = Value> {
    prop::collection::btree_map("[a-e]{1,2}", value(), 0..4)
        .prop_map(|map| Value::Object(map.into_iter().collect::<Map<_, _>>()))
}

fn call() -> impl Strategy<Value = Call> {
    (
        "[a-d]{1,3}",
        object(),
        prop::option::weighted(0.9, text()),
        any::<bool>(),
    )
        .prop_map(|(name, args, result, is_error)| Call {
            name,
            args,
            result,
            is_error,
        })
}

pub(crate) fn conversation() -> impl Strategy<Value = Conversation> {
    let turn = (text(), prop::collection::vec(call(), 1..4), any::<bool>()).prop_map(
        |(text, calls, is_reversed)| Turn {
            text,
            calls,
            is_reversed,
        },
    );
    (
        "[a-z]{1,8}",
        prop::collection::vec(turn, 0..4),
        "[a-z]{1,8}",
    )
        .prop_map(|(prompt, turns, answer)| Conversation {
            prompt,
            turns,
            answer,
        })
}

impl Conversation {
    /// The calls with the turn each was made in and its id, in order.
    pub(crate) fn calls(&self) -> Vec<(usize, String, &Call)> {
        let turns = self.turns.iter().enumerate();
        turns
            .flat_map(|(turn, one)| {
                one.calls
                    .iter()
                    .enumerate()
                    .map(move |(at, call)| (turn, format!("call_{turn}_{at}"), call))
            })
            .collect()
    }

    pub(crate) fn of_turn(&self, turn: usize) -> Vec<(String, &Call)> {
        let calls = self.calls().into_iter().filter(|(of, ..)| *of == turn);
        calls.map(|(_, id, call)| (id, call)).collect()
    }

    /// The answers of a turn in order of arrival.
    pub(crate) fn answers(&self, turn: usize) -> Vec<(String, &Call, &str)> {
        let mut answers: Vec<_> = self
            .of_turn(turn)
            .into_iter()
            .filter_map(|(id, call)| Some((id, call, call.result.as_deref()?)))
            .collect();
        if self.turns[turn].is_reversed {
            answers.reverse();
        }
        answers
    }

    pub(crate) fn openai_chat(&self) -> Vec<Value> {
        let mut messages = vec![json!({ "role": "user", "content": self.prompt })];
        for (at, turn) in self.turns.iter().enumerate() {
            let calls = self.of_turn(at).into_iter().map(|(id, call)| {
                json!({ "id": id, "type": "function",
                        "function": { "name": call.name, "arguments": call.args.to_string() } })
            });
            messages.push(
                json!({ "role": "assistant", "content": turn.text, "tool_calls": calls.collect::<Vec<_>>() }),
            );
            for (id, _, result) in self.answers(at) {
                messages.push(json!({ "role": "tool", "tool_call_id": id, "content": result }));
            }
        }
        messages.push(json!({ "role": "assistant", "content": self.answer }));
        messages
    }

    /// Every request of the conversation, each with all earlier messages.
    pub(crate) fn openai_chat_log(&self) -> Vec<Value> {
        let messages = self.openai_chat();
        let replies = messages
            .iter()
            .enumerate()
            .filter(|(_, message)| message["role"] == "assistant");
        replies
            .map(|(at, reply)| {
                json!({ "request": { "model": "m", "messages": messages[..at] },
                        "response": { "choices": [{ "message": reply, "finish_reason": "stop" }] } })
            })
            .collect()
    }

    pub(crate) fn openai_responses(&self) -> Vec<Value> {
        let mut items = vec![json!({ "role": "user", "content": self.prompt })];
        for (at, turn) in self.turns.iter().enumerate() {
            let said = json!([{ "type": "output_text", "text": turn.text }]);
            items.push(json!({ "type": "message", "role": "assistant", "content": said }));
            for (id, call) in self.of_turn(at) {
                let arguments = call.args.to_string();
                items.push(
                    json!({ "type": "function_call", "call_id": id, "name": call.name, "arguments": arguments }),
                );
            }
            // Without an answer between them, items of two turns cannot be told apart.
            items.push(json!({ "type": "item_reference", "id": "x" }));
            for (id, _, result) in self.answers(at) {
                items.push(
                    json!({ "type": "function_call_output", "call_id": id, "output": result }),
                );
            }
        }
        let said = json!([{ "type": "output_text", "text": self.answer }]);
        items.push(json!({ "type": "message", "role": "assistant", "content": said }));
        items
    }

    pub(crate) fn anthropic(&self) -> Vec<Value> {
        let mut messages = vec![json!({ "role": "user", "content": self.prompt })];
        for (at, turn) in self.turns.iter().enumerate() {
            let mut blocks = vec![json!({ "type": "text", "text": turn.text })];
            blocks.extend(self.of_turn(at).into_iter().map(
                |(id, call)| json!({ "type": "tool_use", "id": id, "name": call.name, "input": call.args }),
            ));
            messages.push(json!({ "role": "assistant", "content": blocks }));
            let results: Vec<Value> = self
                .answers(at)
                .into_iter()
                .map(|(id, call, result)| {
                    json!({ "type": "tool_result", "tool_use_id": id, "content": result, "is_error": call.is_error })
                })
                .collect();
            if !results.is_empty() {
                messages.push(json!({ "role": "user", "content": results }));
            }
        }
        messages.push(
            json!({ "role": "assistant", "content": [{ "type": "text", "text": self.answer }] }),
        );
        messages
    }

    /// `shape` 0 is flat, 1 has `data`, 2 is serialized.
    pub(crate) fn langchain(&self, shape: usize) -> Vec<Value> {
        let message = |kind: &str, class: &str, fields: Value| match shape {
            0 => {
                let mut flat = fields;
                flat["type"] = json!(kind);
                flat
            }
            1 => json!({ "type": kind, "data": fields }),
            _ => {
                let id = json!(["langchain", "schema", "messages", class]);
                json!({ "lc": 1, "type": "constructor", "id": id, "kwargs": fields })
            }
        };
        let mut messages = vec![message(
            "human",
            "HumanMessage",
            json!({ "content": self.prompt }),
        )];
        for (at, turn) in self.turns.iter().enumerate() {
            let calls: Vec<Value> = self
                .of_turn(at)
                .into_iter()
                .map(|(id, call)| json!({ "name": call.name, "args": call.args, "id": id, "type": "tool_call" }))
                .collect();
            let fields = json!({ "content": turn.text, "tool_calls": calls });
            messages.push(message("ai", "AIMessage", fields));
            for (id, call, result) in self.answers(at) {
                let status = if call.is_error { "error" } else { "success" };
                let fields = json!({ "content": result, "tool_call_id": id, "status": status });
                messages.push(message("tool", "ToolMessage", fields));
            }
        }
        messages.push(message(
            "ai",
            "AIMessage",
            json!({ "content": self.answer }),
        ));
        messages
    }

    /// Chat spans with the messages, and a tool span for each answered call with its MCP request
    /// inside or beside it, all in one trace in random order.
    pub(crate) fn otel(&self, trace: usize, order: usize) -> Vec<Value> {
        let mut spans = Vec::new();
        let mut time = 1_000 * (trace as u64 + 1);
        let mut history =
            vec![json!({ "role": "user", "parts": [{ "type": "text", "content": self.prompt }] })];
        for turn in 0..=self.turns.len() {
            let said = self.turns.get(turn).map_or(&self.answer, |turn| &turn.text);
            let mut parts = vec![json!({ "type": "text", "content": said })];
            let calls = if turn < self.turns.len() {
                self.of_turn(turn)
            } else {
                Vec::new()
            };
            parts.extend(calls.iter().map(
                |(id, call)| json!({ "type": "tool_call", "id": id, "name": call.name, "arguments": call.args }),
            ));
            let reply = json!({ "role": "assistant", "parts": parts });
            spans.push(span(
                trace,
                spans.len(),
                None,
                (time, time + 1),
                &json!({
                    "gen_ai.operation.name": "chat",
                    "gen_ai.input.messages": json!(history).to_string(),
                    "gen_ai.output.messages": json!([reply]).to_string(),
                }),
            ));
            history.push(reply);
            time += 2;
            for (id, call, result) in if turn < self.turns.len() {
                self.answers(turn)
            } else {
                Vec::new()
            } {
                let mut attributes = json!({
                    "gen_ai.operation.name": "execute_tool",
                    "gen_ai.tool.name": call.name,
                    "gen_ai.tool.call.id": id,
                    "gen_ai.tool.call.result": result,
                });
                if call.is_error {
                    attributes["error.type"] = json!("tool_error");
                }
                let tool = spans.len();
                spans.push(span(trace, tool, None, (time, time + 9), &attributes));
                let request =
                    json!({ "mcp.method.name": "tools/call", "gen_ai.tool.name": call.name });
                let parent = (call.args.as_object().unwrap().len() % 2 == 0).then_some(tool);
                spans.push(span(
                    trace,
                    spans.len(),
                    parent,
                    (time + 1, time + 8),
                    &request,
                ));
                history.push(json!({ "role": "tool", "parts": [{ "type": "tool_call_response", "id": id, "response": result }] }));
                time += 10;
            }
        }
        let at = order % spans.len();
        spans.rotate_left(at);
        spans
    }
}

fn span(
    trace: usize,
    id: usize,
    parent: Option<usize>,
    (start, end): (u64, u64),
    attributes: &Value,
) -> Value {
    let attributes: Vec<Value> = attributes
        .as_object()
        .unwrap()
        .iter()
        .map(|(key, value)| json!({ "key": key, "value": { "stringValue": value } }))
        .collect();
    json!({
        "traceId": format!("{trace:032x}"),
        "spanId": format!("{:016x}", id + 1),
        "parentSpanId": parent.map_or(String::new(), |parent| format!("{:016x}", parent + 1)),
        "name": "span",
        "startTimeUnixNano": start.to_string(),
        "endTimeUnixNano": end.to_string(),
        "attributes": attributes,
    })
}

/// Each value on a separate line.
pub(crate) fn lines(values: &[Value]) -> String {
    values
        .iter()
        .map(Value::to_string)
        .collect::<Vec<_>>()
        .join("\n")
}
