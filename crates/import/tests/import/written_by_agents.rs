//! An invented conversation, as written by agents and their harnesses.

use crate::written::{Call, Conversation};
use serde_json::{Value, json};

impl Conversation {
    pub(crate) fn atif(&self) -> Value {
        let mut steps = vec![json!({ "source": "user", "message": self.prompt })];
        for (at, turn) in self.turns.iter().enumerate() {
            let calls: Vec<Value> = self
                .of_turn(at)
                .into_iter()
                .map(|(id, call)| {
                    json!({ "tool_call_id": id, "function_name": call.name, "arguments": call.args })
                })
                .collect();
            let result = |(id, call, result): (String, &Call, &str)| json!({ "source_call_id": id, "content": result, "extra": { "is_error": call.is_error } });
            let results: Vec<Value> = self.answers(at).into_iter().map(result).collect();
            steps.push(
                json!({ "source": "agent", "message": turn.text, "tool_calls": calls,
                               "observation": { "results": results } }),
            );
        }
        steps.push(json!({ "source": "agent", "message": self.answer }));
        for (at, step) in steps.iter_mut().enumerate() {
            step["step_id"] = json!(at + 1);
        }
        json!({ "schema_version": "ATIF-v1.7", "agent": { "name": "a", "version": "1" }, "steps": steps })
    }

    /// The lines of a rollout. The ends of calls are before or after their outputs.
    pub(crate) fn codex(&self, is_end_first: bool) -> Vec<Value> {
        let line = |kind: &str, payload: Value| json!({ "timestamp": "t", "type": kind, "payload": payload });
        let said = |role: &str, kind: &str, text: &str| {
            let content = json!([{ "type": kind, "text": text }]);
            line(
                "response_item",
                json!({ "type": "message", "role": role, "content": content }),
            )
        };
        let mut lines = vec![
            line("session_meta", json!({ "id": self.prompt })),
            said(
                "user",
                "input_text",
                "<environment_context></environment_context>",
            ),
            said("user", "input_text", &self.prompt),
        ];
        for (at, turn) in self.turns.iter().enumerate() {
            lines.push(said("assistant", "output_text", &turn.text));
            for (id, call) in self.of_turn(at) {
                lines.push(line(
                    "response_item",
                    json!({ "type": "function_call", "call_id": id,
                    "name": call.name, "arguments": call.args.to_string() }),
                ));
            }
            lines.push(line(
                "token_usage_record",
                json!({ "usage": { "input_tokens": 1 } }),
            ));
            for (id, call, result) in self.answers(at) {
                let status = if call.is_error { "failed" } else { "completed" };
                let end = line(
                    "event_msg",
                    json!({ "type": "item_completed",
                    "item": { "type": "DynamicToolCall", "id": id, "status": status } }),
                );
                let output = line(
                    "response_item",
                    json!({ "type": "function_call_output",
                    "call_id": id, "output": result }),
                );
                lines.extend(if is_end_first {
                    [end, output]
                } else {
                    [output, end]
                });
            }
        }
        lines.push(said("assistant", "output_text", &self.answer));
        lines.push(line("event_msg", json!({ "type": "task_complete" })));
        lines
    }

    /// A sample of a log.
    pub(crate) fn inspect(&self, epoch: usize) -> Value {
        let mut messages = vec![json!({ "role": "user", "content": self.prompt })];
        for (at, turn) in self.turns.iter().enumerate() {
            let calls: Vec<Value> = self
                .of_turn(at)
                .into_iter()
                .map(
                    |(id, call)| json!({ "id": id, "function": call.name, "arguments": call.args }),
                )
                .collect();
            messages
                .push(json!({ "role": "assistant", "content": turn.text, "tool_calls": calls }));
            for (id, call, result) in self.answers(at) {
                let mut message = json!({ "role": "tool", "tool_call_id": id, "content": result });
                if call.is_error {
                    message["error"] = json!({ "type": "unknown", "message": result });
                }
                messages.push(message);
            }
        }
        messages.push(json!({ "role": "assistant", "content": self.answer }));
        json!({ "id": "s", "epoch": epoch, "messages": messages })
    }
}
