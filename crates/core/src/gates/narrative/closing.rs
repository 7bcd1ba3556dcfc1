//! What is the closing message of a run, and which calls did the run make before it?

use super::score::RunCall;
use crate::engine::success::Success;
use crate::trace::{Call, CallResult, Tool, Trace, content_text, reports_error};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The closing message: `final_response`, or in a trace that records none the text of the last assistant turn.
pub(super) fn closing_message<'t>(trace: &'t Trace<'_>) -> Cow<'t, str> {
    if let Some(message) = &trace.final_response {
        return Cow::Borrowed(message);
    }
    let mut turns = trace.conversation.turns.iter().rev();
    let last = turns.find(|turn| turn.role == "assistant");
    match last.and_then(|turn| turn.content) {
        Some(content) => Cow::Owned(content_text(content)),
        None => Cow::Borrowed(""),
    }
}

/// The calls of a trace. A call failed if its result is an error or reports one, or does not meet the suite's condition
/// for success.
pub(super) fn steps<'t>(trace: &'t Trace<'_>, successful: Option<&Success>) -> Vec<RunCall<'t>> {
    let came_to_nothing = |result: &CallResult<'_>| match successful {
        Some(successful) => !successful.holds(result),
        None => result.is_failure() || result.reads_as_error(),
    };
    let step = |call: &'t Call<'_>| RunCall {
        name: &call.name,
        server: call.server.as_deref(),
        input: call
            .args
            .map_or(call.args_text.as_deref().unwrap_or(""), RawValue::get)
            .into(),
        ..RunCall::default()
    };
    let mut steps: Vec<RunCall<'t>> = trace.tool_calls.iter().map(step).collect();
    for (at, result) in trace.tool_results.iter().enumerate() {
        if let Some(step) = steps.get_mut(result.call_index.unwrap_or(at)) {
            let content = result.content.or(result.structured);
            step.output = content.map_or(Cow::Borrowed(""), |content| Cow::Borrowed(content.get()));
            step.is_error |= came_to_nothing(result);
        }
    }
    steps
}

/// Returns true if the text of a result reports an error, although no mark does.
fn is_refusal(result: &Value) -> bool {
    let text = match result {
        Value::Array(blocks) => blocks.iter().find_map(|block| block["text"].as_str()),
        other => other.as_str(),
    };
    text.is_some_and(reports_error)
}

/// Calls as JSON objects with `name`, `server`, `args`, `result` and `is_error`.
pub(super) fn steps_of_values(calls: &[Value]) -> Vec<RunCall<'_>> {
    let json = |call: &Value, key: &str| {
        call.get(key)
            .map_or(Cow::Borrowed(""), |at| at.to_string().into())
    };
    calls
        .iter()
        .map(|call| {
            let is_marked = call.get("is_error").and_then(Value::as_bool);
            RunCall {
                name: Tool::from_json(call).name,
                server: Tool::from_json(call).server,
                input: json(call, "args"),
                is_error: is_marked.unwrap_or_default() || is_refusal(&call["result"]),
                output: json(call, "result"),
            }
        })
        .collect()
}
