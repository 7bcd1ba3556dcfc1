//! What did the agent say at the end of a run, and which calls had it made?

use super::score::RunCall;
use crate::trace::{Call, Tool, Trace, content_text};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The closing message: `final_response`, or in a trace that records none the text of the last assistant turn.
pub(super) fn closing_message<'t>(trace: &'t Trace<'_>) -> Cow<'t, str> {
    if let Some(message) = &trace.final_response {
        return Cow::Borrowed(message);
    }
    let last = trace.conversation.turns.iter().rev().find(|turn| turn.role == "assistant");
    last.and_then(|turn| turn.content).map_or(Cow::Borrowed(""), |content| Cow::Owned(content_text(content)))
}

/// The calls of a trace.
pub(super) fn steps<'t>(trace: &'t Trace<'_>) -> Vec<RunCall<'t>> {
    let step = |call: &'t Call<'_>| RunCall {
        name: &call.name,
        server: call.server.as_deref(),
        input: call.args.map_or(call.args_text.as_deref().unwrap_or(""), RawValue::get).into(),
        ..RunCall::default()
    };
    let mut steps: Vec<RunCall<'t>> = trace.tool_calls.iter().map(step).collect();
    for (at, result) in trace.tool_results.iter().enumerate() {
        if let Some(step) = steps.get_mut(result.call_index.unwrap_or(at)) {
            step.is_error |= result.is_failure();
            let content = result.content.or(result.structured);
            step.output = content.map_or(Cow::Borrowed(""), |content| Cow::Borrowed(content.get()));
        }
    }
    steps
}

/// Calls as JSON objects with `name`, `server`, `args`, `result` and `is_error`.
pub(super) fn steps_of_values(calls: &[Value]) -> Vec<RunCall<'_>> {
    let json = |call: &Value, key: &str| call.get(key).map_or(Cow::Borrowed(""), |at| at.to_string().into());
    calls
        .iter()
        .map(|call| RunCall {
            name: Tool::of_json(call).name,
            server: Tool::of_json(call).server,
            input: json(call, "args"),
            output: json(call, "result"),
            is_error: call.get("is_error").and_then(Value::as_bool).unwrap_or_default(),
        })
        .collect()
}
