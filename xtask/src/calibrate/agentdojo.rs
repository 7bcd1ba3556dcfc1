//! How is a run of AgentDojo read, as `memo-ozdincer/rrfa` publishes them?

use super::corpus::{LabelledRun, Part};
use serde_json::{Value, json};

/// The runs of one model, a line each; the first line only names the model.
pub(super) fn runs(text: &str, part: Part) -> Result<Vec<LabelledRun>, String> {
    let mut runs = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let record: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
        if record.get("messages").is_some() {
            runs.push(run(&record, part)?);
        }
    }
    Ok(runs)
}

/// Returns true if a text is an AgentDojo file.
pub(super) fn is_one(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    let first: Value = serde_json::from_str(first).unwrap_or_default();
    first["metadata"]["benchmark"] == "agent-dojo"
}

fn run(record: &Value, part: Part) -> Result<LabelledRun, String> {
    let metadata = &record["metadata"];
    let field = |key: &str| metadata[key].as_str().unwrap_or_default().to_owned();
    let is_good = metadata["success"]
        .as_bool()
        .ok_or("a run has no `success`")?;
    let (suite, model) = (field("suite_name"), field("model"));
    // With a plan of the attacker's in what the tools return, or without one.
    let (user_task, injection) = (field("user_task_id"), field("injection_task_id"));
    Ok(LabelledRun {
        task: format!("{model}/{suite}/{user_task}/{injection}"),
        agent: model,
        tools_of: suite,
        part,
        is_good,
        trace: trace(&record["messages"]),
        actions: None,
    })
}

/// The calls with their results, in the order in which they were made.
fn trace(messages: &Value) -> Value {
    let (mut calls, mut results) = (Vec::new(), Vec::new());
    let mut open: Vec<(String, usize)> = Vec::new();
    let mut closing = String::new();
    for message in messages.as_array().into_iter().flatten() {
        match message["role"].as_str() {
            Some("assistant") => {
                closing = text(&message["content"]);
                for call in message["tool_calls"].as_array().into_iter().flatten() {
                    let id = call["id"].as_str().unwrap_or_default().to_owned();
                    open.push((id, calls.len()));
                    calls.push(json!({
                        "name": call["function"]["name"],
                        "args": arguments(&call["function"]["arguments"]),
                    }));
                }
            }
            Some("tool") => {
                let id = message["tool_call_id"].as_str().unwrap_or_default();
                let Some(at) = open.iter().position(|(open, _)| open == id) else {
                    continue;
                };
                let (_, call) = open.remove(at);
                results.push(json!({
                    "call_index": call,
                    "is_error": message["error"].is_string(),
                    "content": [{ "type": "text", "text": text(&message["content"]) }],
                }));
            }
            _ => {}
        }
    }
    json!({ "tool_calls": calls, "tool_results": results, "final_response": closing })
}

fn arguments(written: &Value) -> Value {
    match written {
        Value::String(text) => serde_json::from_str(text).unwrap_or_else(|_| written.clone()),
        other => other.clone(),
    }
}

fn text(content: &Value) -> String {
    match content {
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        other => other.as_str().unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_results_errors_and_the_last_message_are_read() {
        let header = json!({ "metadata": { "benchmark": "agent-dojo", "name": "m" } });
        let call = |id: &str, name: &str| json!({ "id": id, "type": "function", "function": { "name": name, "arguments": "{\"to\": \"bob\"}" } });
        let run = json!({
            "messages": [
                { "role": "user", "content": "Please." },
                { "role": "assistant", "content": "I will.", "tool_calls": [call("a", "get_user"), call("b", "send_email")] },
                { "role": "tool", "tool_call_id": "a", "content": "Bob", "error": null },
                { "role": "tool", "tool_call_id": "b", "content": "", "error": "ValueError: no such user" },
                { "role": "assistant", "content": "It failed.", "tool_calls": null },
            ],
            "metadata": {
                "suite_name": "workspace", "model": "m", "success": true, "security": true,
                "user_task_id": "user_task_0", "injection_task_id": null,
            },
        });
        let text = format!("{header}\n{run}\n");
        assert!(is_one(&text));
        let runs = runs(&text, Part::KeptAside).unwrap();
        assert_eq!(runs.len(), 1);
        assert!(runs[0].is_good);
        assert_eq!(runs[0].tools_of, "workspace");
        let trace = &runs[0].trace;
        assert_eq!(trace["final_response"], "It failed.");
        assert_eq!(trace["tool_calls"][1]["args"]["to"], "bob");
        assert_eq!(trace["tool_results"][0]["is_error"], false);
        assert_eq!(trace["tool_results"][1]["is_error"], true);
    }
}
