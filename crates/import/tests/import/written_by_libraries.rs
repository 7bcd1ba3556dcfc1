//! An invented conversation, as written by libraries.

use crate::written::{Call, Conversation};
use serde_json::{Map, Value, json};

impl Conversation {
    pub(crate) fn ai_sdk(&self) -> Vec<Value> {
        let mut messages = vec![json!({ "role": "user", "content": self.prompt })];
        for (at, turn) in self.turns.iter().enumerate() {
            let mut parts = vec![json!({ "type": "text", "text": turn.text })];
            parts.extend(self.of_turn(at).into_iter().map(|(id, call)| {
                json!({ "type": "tool-call", "toolCallId": id, "toolName": call.name, "input": call.args })
            }));
            messages.push(json!({ "role": "assistant", "content": parts }));
            let result = |(id, call, result): (String, &Call, &str)| {
                let kind = if call.is_error { "error-text" } else { "text" };
                json!({ "type": "tool-result", "toolCallId": id, "toolName": call.name,
                        "output": { "type": kind, "value": result } })
            };
            messages.push(
                json!({ "role": "tool", "content": self.answers(at).into_iter().map(result).collect::<Vec<_>>() }),
            );
        }
        messages.push(
            json!({ "role": "assistant", "content": [{ "type": "text", "text": self.answer }] }),
        );
        messages
    }

    pub(crate) fn ai_sdk_ui(&self) -> Vec<Value> {
        let mut parts = Vec::new();
        for (at, turn) in self.turns.iter().enumerate() {
            parts.push(json!({ "type": "step-start" }));
            parts.push(json!({ "type": "text", "text": turn.text, "state": "done" }));
            for (id, call) in self.of_turn(at) {
                let mut part = match at % 2 {
                    0 => json!({ "type": format!("tool-{}", call.name) }),
                    _ => json!({ "type": "dynamic-tool", "toolName": call.name }),
                };
                let (state, key) = match (&call.result, call.is_error) {
                    (None, _) => ("input-available", "none"),
                    (Some(_), false) => ("output-available", "output"),
                    (Some(_), true) => ("output-error", "errorText"),
                };
                part["toolCallId"] = json!(id);
                part["input"] = call.args.clone();
                part["state"] = json!(state);
                if let Some(result) = &call.result {
                    part[key] = json!(result);
                }
                parts.push(part);
            }
        }
        parts.push(json!({ "type": "step-start" }));
        parts.push(json!({ "type": "text", "text": self.answer, "state": "done" }));
        let prompt = json!([{ "type": "text", "text": self.prompt }]);
        vec![
            json!({ "id": "1", "role": "user", "parts": prompt }),
            json!({ "id": "2", "role": "assistant", "parts": parts }),
        ]
    }

    pub(crate) fn gemini(&self, is_python: bool) -> Vec<Value> {
        let [called, answered] = if is_python {
            ["function_call", "function_response"]
        } else {
            ["functionCall", "functionResponse"]
        };
        let mut contents = vec![json!({ "role": "user", "parts": [{ "text": self.prompt }] })];
        for (at, turn) in self.turns.iter().enumerate() {
            let mut parts = vec![json!({ "text": turn.text })];
            parts.extend(self.of_turn(at).into_iter().map(
                |(id, call)| json!({ called: { "id": id, "name": call.name, "args": call.args } }),
            ));
            contents.push(json!({ "role": "model", "parts": parts }));
            let answer = |(id, call, result): (String, &Call, &str)| {
                let key = if call.is_error { "error" } else { "result" };
                json!({ answered: { "id": id, "name": call.name, "response": { key: result } } })
            };
            contents.push(json!({ "role": "user", "parts": self.answers(at).into_iter().map(answer).collect::<Vec<_>>() }));
        }
        contents.push(json!({ "role": "model", "parts": [{ "text": self.answer }] }));
        contents
    }

    pub(crate) fn pydantic_ai(&self) -> Vec<Value> {
        let prompt = json!([{ "part_kind": "user-prompt", "content": self.prompt }]);
        let mut messages = vec![json!({ "kind": "request", "parts": prompt })];
        for (at, turn) in self.turns.iter().enumerate() {
            let mut parts = vec![json!({ "part_kind": "text", "content": turn.text })];
            parts.extend(self.of_turn(at).into_iter().map(|(id, call)| {
                json!({ "part_kind": "tool-call", "tool_name": call.name, "args": call.args, "tool_call_id": id })
            }));
            messages.push(json!({ "kind": "response", "parts": parts }));
            let answer = |(id, call, result): (String, &Call, &str)| {
                let outcome = if call.is_error { "failed" } else { "success" };
                json!({ "part_kind": "tool-return", "tool_name": call.name, "content": result, "tool_call_id": id, "outcome": outcome })
            };
            let parts: Vec<Value> = self.answers(at).into_iter().map(answer).collect();
            messages.push(json!({ "kind": "request", "parts": parts }));
        }
        let parts = json!([{ "part_kind": "text", "content": self.answer }]);
        messages.push(json!({ "kind": "response", "parts": parts }));
        messages
    }

    /// The spans of this conversation with the attributes of OpenInference.
    pub(crate) fn openinference(&self, trace: usize, order: usize) -> Vec<Value> {
        let mut spans = Vec::new();
        let mut history = vec![json!({ "message.role": "user", "message.content": self.prompt })];
        let mut time = 1_000 * (trace as u64 + 1);
        for turn in 0..=self.turns.len() {
            let said = self.turns.get(turn).map_or(&self.answer, |turn| &turn.text);
            let calls = if turn < self.turns.len() {
                self.of_turn(turn)
            } else {
                Vec::new()
            };
            let calls: Vec<Value> = calls
                .iter()
                .map(|(id, call)| {
                    json!({ "tool_call.id": id, "tool_call.function.name": call.name,
                            "tool_call.function.arguments": call.args.to_string() })
                })
                .collect();
            let mut reply = json!({ "message.role": "assistant", "message.content": said });
            if !calls.is_empty() {
                reply["message.tool_calls"] = json!(calls);
            }
            let mut attributes = Map::new();
            flatten("llm.input_messages", &json!(history), &mut attributes);
            flatten("llm.output_messages", &json!([reply]), &mut attributes);
            attributes.insert("openinference.span.kind".to_owned(), json!("LLM"));
            spans.push(row(trace, spans.len(), time, attributes));
            history.push(reply);
            time += 2;
            for (id, call, result) in if turn < self.turns.len() {
                self.answers(turn)
            } else {
                Vec::new()
            } {
                let attributes = json!({ "openinference.span.kind": "TOOL", "tool.name": call.name, "tool_call.id": id,
                                         "input.value": call.args.to_string(), "output.value": result });
                let mut span = row(
                    trace,
                    spans.len(),
                    time,
                    attributes.as_object().unwrap().clone(),
                );
                span["status_code"] = json!(if call.is_error { "ERROR" } else { "OK" });
                spans.push(span);
                history.push(
                    json!({ "message.role": "tool", "message.tool_call_id": id, "message.content": result }),
                );
                time += 2;
            }
        }
        let at = order % spans.len();
        spans.rotate_left(at);
        spans
    }
}

fn flatten(key: &str, value: &Value, into: &mut Map<String, Value>) {
    match value {
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(at, item)| flatten(&format!("{key}.{at}"), item, into));
        }
        Value::Object(fields) => {
            fields
                .iter()
                .for_each(|(inner, value)| flatten(&format!("{key}.{inner}"), value, into));
        }
        other => {
            into.insert(key.to_owned(), other.clone());
        }
    }
}

fn row(trace: usize, id: usize, time: u64, attributes: Map<String, Value>) -> Value {
    json!({
        "name": "span",
        "context": { "trace_id": format!("{trace:032x}"), "span_id": format!("{:016x}", id + 1) },
        "parent_id": null,
        "start_time": date(time),
        "end_time": date(time + 1),
        "attributes": attributes,
    })
}

fn date(nanoseconds: u64) -> String {
    format!("1970-01-01T00:00:00.{nanoseconds:09}Z")
}

/// A span of OTLP as the Python library prints it.
pub(crate) fn printed(span: &Value) -> String {
    let text = |key: &str| span[key].as_str().unwrap();
    let pairs = span["attributes"].as_array().unwrap().iter();
    let attributes: Map<String, Value> = pairs
        .map(|pair| {
            (
                pair["key"].as_str().unwrap().to_owned(),
                pair["value"]["stringValue"].clone(),
            )
        })
        .collect();
    let parent = Some(text("parentSpanId"))
        .filter(|id| !id.is_empty())
        .map(|id| format!("0x{id}"));
    let time = |key: &str| date(text(key).parse().unwrap());
    let value = json!({
        "name": span["name"],
        "context": { "trace_id": format!("0x{}", text("traceId")), "span_id": format!("0x{}", text("spanId")), "trace_state": "[]" },
        "kind": "SpanKind.INTERNAL",
        "parent_id": parent,
        "start_time": time("startTimeUnixNano"),
        "end_time": time("endTimeUnixNano"),
        "status": { "status_code": "UNSET" },
        "attributes": attributes,
        "events": [],
    });
    format!("{value:#}")
}

/// The same conversation, as benchmarks and protocols write it.
impl Conversation {
    pub(crate) fn tau_bench(&self) -> Value {
        json!({ "task_id": 1, "reward": 1.0, "info": {}, "traj": self.openai_chat(), "trial": 0 })
    }

    pub(crate) fn tau2(&self) -> Value {
        let mut messages = vec![json!({ "role": "user", "content": self.prompt })];
        for (at, turn) in self.turns.iter().enumerate() {
            let calls = self.of_turn(at).into_iter().map(|(id, call)| {
                json!({ "id": id, "name": call.name, "arguments": call.args, "requestor": "assistant" })
            });
            messages.push(json!({ "role": "assistant", "content": turn.text, "tool_calls": calls.collect::<Vec<_>>() }));
            messages.extend(self.answers(at).into_iter().map(|(id, call, result)| {
                json!({ "role": "tool", "id": id, "content": result, "requestor": "assistant", "error": call.is_error })
            }));
        }
        messages.push(json!({ "role": "assistant", "content": self.answer }));
        json!({ "id": "s", "task_id": "1", "termination_reason": "agent_stop", "messages": messages })
    }

    pub(crate) fn agentdojo(&self) -> Value {
        let text = |text: &str| json!([{ "type": "text", "content": text }]);
        let mut messages = vec![json!({ "role": "user", "content": text(&self.prompt) })];
        for (at, turn) in self.turns.iter().enumerate() {
            let written = |id: &str, call: &Call| json!({ "function": call.name, "args": call.args, "id": id });
            let calls: Vec<Value> = self
                .of_turn(at)
                .iter()
                .map(|(id, call)| written(id, call))
                .collect();
            messages.push(
                json!({ "role": "assistant", "content": text(&turn.text), "tool_calls": calls }),
            );
            messages.extend(self.answers(at).into_iter().map(|(id, call, result)| {
                let (content, error) = if call.is_error {
                    ("", json!(result))
                } else {
                    (result, Value::Null)
                };
                json!({ "role": "tool", "content": text(content), "tool_call_id": id,
                        "tool_call": written(&id, call), "error": error })
            }));
        }
        messages.push(
            json!({ "role": "assistant", "content": text(&self.answer), "tool_calls": null }),
        );
        json!({ "suite_name": "s", "pipeline_name": "p", "user_task_id": "u", "messages": messages,
                "utility": true, "security": true })
    }

    /// The events of this conversation, with arguments in pieces.
    pub(crate) fn ag_ui(&self, thread: &str) -> Vec<Value> {
        let input =
            json!({ "messages": [{ "id": "prompt", "role": "user", "content": self.prompt }] });
        let mut events = vec![
            json!({ "type": "RUN_STARTED", "threadId": thread, "runId": "r", "input": input }),
        ];
        for turn in 0..=self.turns.len() {
            let said = self.turns.get(turn).map_or(&self.answer, |turn| &turn.text);
            let message = format!("m{turn}");
            events.push(
                json!({ "type": "TEXT_MESSAGE_START", "messageId": message, "role": "assistant" }),
            );
            events.push(
                json!({ "type": "TEXT_MESSAGE_CONTENT", "messageId": message, "delta": said }),
            );
            events.push(json!({ "type": "TEXT_MESSAGE_END", "messageId": message }));
            if turn == self.turns.len() {
                break;
            }
            for (id, call) in self.of_turn(turn) {
                events.push(json!({ "type": "TOOL_CALL_START", "toolCallId": id, "toolCallName": call.name, "parentMessageId": message }));
                let arguments = call.args.to_string();
                let half = (0..=arguments.len() / 2)
                    .rev()
                    .find(|at| arguments.is_char_boundary(*at))
                    .unwrap();
                for piece in [&arguments[..half], &arguments[half..]] {
                    events.push(
                        json!({ "type": "TOOL_CALL_ARGS", "toolCallId": id, "delta": piece }),
                    );
                }
                events.push(json!({ "type": "TOOL_CALL_END", "toolCallId": id }));
            }
            for (id, _, result) in self.answers(turn) {
                events.push(json!({ "type": "TOOL_CALL_RESULT", "messageId": format!("r{id}"), "toolCallId": id, "content": result }));
            }
        }
        events.push(json!({ "type": "RUN_FINISHED", "threadId": thread, "runId": "r" }));
        events
    }
}
