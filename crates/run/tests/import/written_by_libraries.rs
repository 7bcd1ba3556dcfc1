//! A conversation that is made up, and how libraries write it down.

use crate::written::{Call, Conversation};
use serde_json::{Value, json};

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
        messages.push(json!({ "role": "assistant", "content": [{ "type": "text", "text": self.answer }] }));
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
            parts.extend(
                self.of_turn(at)
                    .into_iter()
                    .map(|(id, call)| json!({ called: { "id": id, "name": call.name, "args": call.args } })),
            );
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
}
