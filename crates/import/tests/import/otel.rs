//! Are spans of one call one call, however many instruments report it, and spans of two calls two?

use crate::told::{fidelity, told};
use serde_json::{Value, json};

struct Trace(Vec<Value>);

impl Trace {
    fn new() -> Self {
        Self(Vec::new())
    }

    /// A span with this id, inside `parent` (0 is none), from and to these milliseconds.
    fn span(mut self, id: u64, parent: u64, time: (u64, u64), attributes: Value) -> Self {
        let attributes: Vec<Value> = attributes
            .as_object()
            .unwrap()
            .iter()
            .map(|(key, value)| json!({ "key": key, "value": { "stringValue": value } }))
            .collect();
        self.0.push(json!({
            "traceId": "aa", "spanId": format!("{id:x}"), "name": "span",
            "parentSpanId": if parent == 0 { String::new() } else { format!("{parent:x}") },
            "startTimeUnixNano": (time.0 * 1_000_000).to_string(), "endTimeUnixNano": (time.1 * 1_000_000).to_string(),
            "attributes": attributes,
        }));
        self
    }

    fn chat(self, id: u64, parent: u64, time: (u64, u64), parts: &Value) -> Self {
        let messages = json!([{ "role": "assistant", "parts": parts }]).to_string();
        self.span(
            id,
            parent,
            time,
            json!({ "gen_ai.operation.name": "chat", "gen_ai.output.messages": messages }),
        )
    }

    fn tool(self, (id, parent): (u64, u64), time: (u64, u64), name: &str, more: &Value) -> Self {
        let mut attributes =
            json!({ "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name });
        attributes
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        self.span(id, parent, time, attributes)
    }

    fn mcp(self, (id, parent): (u64, u64), time: (u64, u64), name: &str, more: &Value) -> Self {
        let mut attributes = json!({ "mcp.method.name": "tools/call", "gen_ai.tool.name": name });
        attributes
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        self.span(id, parent, time, attributes)
    }

    fn text(&self) -> String {
        json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": self.0 }] }] }).to_string()
    }
}

fn none() -> Value {
    json!({})
}

#[test]
fn a_tool_its_request_and_the_servers_side_are_one_call() {
    let trace = Trace::new()
        .tool(
            (1, 0),
            (10, 90),
            "docs__search",
            &json!({ "gen_ai.tool.call.id": "c" }),
        )
        .mcp(
            (2, 1),
            (20, 80),
            "search",
            &json!({ "gen_ai.tool.call.arguments": "{\"q\":1}" }),
        )
        .mcp(
            (3, 2),
            (30, 70),
            "search",
            &json!({ "gen_ai.tool.call.result": "found" }),
        );
    assert_eq!(
        told(&trace.text()),
        ["run: -", "docs.search{\"q\":1} #c = found"]
    );
}

#[test]
fn a_request_beside_its_tool_belongs_to_the_tool_that_ran_at_that_time() {
    let trace = Trace::new()
        .tool((1, 0), (10, 50), "search", &none())
        .tool((2, 0), (12, 52), "search", &none())
        .mcp((3, 0), (15, 40), "search", &none())
        .mcp((4, 0), (20, 45), "search", &none())
        .mcp((5, 0), (60, 70), "search", &none());
    assert_eq!(
        told(&trace.text()).len(),
        1 + 3,
        "two tools with their requests, and a request of its own"
    );
}

#[test]
fn a_retry_inside_a_tool_is_one_call_of_the_model() {
    let trace = Trace::new()
        .tool(
            (1, 0),
            (10, 90),
            "search",
            &json!({ "gen_ai.tool.call.result": "found" }),
        )
        .mcp(
            (2, 1),
            (20, 40),
            "search",
            &json!({ "error.type": "timeout" }),
        )
        .mcp((3, 1), (50, 80), "search", &none());
    assert_eq!(told(&trace.text()), ["run: -", "search = found"]);
}

#[test]
fn a_tool_that_calls_others_or_asks_a_model_makes_calls_of_their_own() {
    let code = Trace::new()
        .tool(
            (1, 0),
            (10, 90),
            "run_code",
            &json!({ "gen_ai.tool.call.arguments": "{\"code\":\"x\"}" }),
        )
        .mcp(
            (2, 1),
            (20, 30),
            "search",
            &json!({ "gen_ai.tool.call.arguments": "{\"q\":1}" }),
        )
        .mcp(
            (3, 1),
            (40, 50),
            "open",
            &json!({ "gen_ai.tool.call.arguments": "{\"p\":2}" }),
        );
    assert_eq!(told(&code.text()).len(), 1 + 3);
    let agent = Trace::new()
        .tool((1, 0), (10, 90), "ask", &none())
        .chat(
            2,
            1,
            (20, 30),
            &json!([{ "type": "tool_call", "id": "x", "name": "ask", "arguments": {} }]),
        )
        .tool(
            (3, 2),
            (40, 50),
            "ask",
            &json!({ "gen_ai.tool.call.id": "x" }),
        );
    assert_eq!(
        told(&agent.text()).len(),
        1 + 2,
        "a model stands between the two"
    );
}

#[test]
fn a_lone_request_of_another_name_is_the_tools_own_and_is_counted() {
    let trace = Trace::new()
        .tool((1, 0), (10, 90), "find_pages", &none())
        .mcp((2, 1), (20, 80), "search", &none());
    assert_eq!(told(&trace.text()), ["run: -", "find_pages = "]);
    assert!(fidelity(&trace.text()).ends_with("dropped 1 call inside a tool"));
}

#[test]
fn calls_of_the_model_and_spans_of_tools_meet_by_id_or_by_name_and_arguments() {
    let parts = json!([
        { "type": "tool_call", "name": "search", "arguments": { "q": 1 } },
        { "type": "tool_call", "name": "search", "arguments": { "q": 2 } },
        { "type": "tool_call", "id": "z", "name": "open", "arguments": { "p": 3 } },
    ]);
    let span = |q: u64| json!({ "gen_ai.tool.call.arguments": format!("{{\"q\": {q}}}"), "gen_ai.tool.call.result": format!("r{q}") });
    let trace = Trace::new()
        .chat(1, 0, (1, 5), &parts)
        .tool((2, 0), (10, 20), "search", &span(2))
        .tool((3, 0), (11, 20), "search", &span(1))
        .tool(
            (4, 0),
            (12, 20),
            "open",
            &json!({ "gen_ai.tool.call.id": "z", "error.type": "gone" }),
        )
        .tool(
            (5, 0),
            (13, 20),
            "open",
            &json!({ "gen_ai.tool.call.id": "other" }),
        );
    assert_eq!(
        told(&trace.text()),
        [
            "run: -",
            "search{\"q\":1} @0 = r1",
            "search{\"q\":2} @0 = r2",
            "open{\"p\":3} #z @0 = !gone",
            "open #other @0 = "
        ]
    );
}

#[test]
fn an_instrument_inside_another_tells_of_one_request_to_the_model() {
    let usage = json!({ "gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": "10", "gen_ai.usage.output_tokens": "5" });
    let answer =
        json!([{ "role": "assistant", "parts": [{ "type": "text", "content": "Done." }] }])
            .to_string();
    let mut outer = usage.clone();
    outer["gen_ai.output.messages"] = json!(answer);
    let trace = Trace::new()
        .span(1, 0, (1, 50), outer)
        .span(2, 1, (2, 49), usage);
    let text = trace.text();
    assert_eq!(told(&text), ["run: Done."]);
    let cassette = mcptest_import::import(text.as_bytes(), None)
        .unwrap()
        .into_cassette("a", &mcptest_replay::clean);
    assert!(
        cassette.contains(r#""tokens":{"prompt":10,"completion":5,"total":15}"#),
        "{cassette}"
    );
}

#[test]
fn calls_of_earlier_traces_that_are_sent_again_are_history() {
    let history = json!([
        { "role": "user", "parts": [{ "type": "text", "content": "first" }] },
        { "role": "assistant", "parts": [{ "type": "tool_call", "id": "old", "name": "search", "arguments": {} }] },
        { "role": "tool", "parts": [{ "type": "tool_call_response", "id": "old", "response": "x" }] },
        { "role": "user", "parts": [{ "type": "text", "content": "second" }] },
    ]);
    let said = json!([{ "role": "assistant", "parts": [{ "type": "tool_call", "id": "new", "name": "open", "arguments": {} }] }]);
    let chat = json!({ "gen_ai.operation.name": "chat", "gen_ai.input.messages": history.to_string(), "gen_ai.output.messages": said.to_string() });
    let trace = Trace::new().span(1, 0, (1, 5), chat);
    assert_eq!(told(&trace.text()), ["run: -", "open{} #new @0"]);
    let answered = json!([{ "role": "assistant", "parts": [{ "type": "text", "content": "ok" }] }]);
    let chat = json!({ "gen_ai.operation.name": "chat", "gen_ai.input.messages": history.to_string(), "gen_ai.output.messages": answered.to_string() });
    let trace = Trace::new().span(1, 0, (1, 5), chat);
    assert_eq!(
        told(&trace.text()),
        ["run: ok", "search{} #old @0 = x"],
        "there is no other record of the call"
    );
}

#[test]
fn an_mcp_result_is_taken_apart_and_a_list_that_was_cut_off_is_counted() {
    let result =
        json!({ "content": [{ "type": "text", "text": "no such page" }], "isError": true })
            .to_string();
    let chat = json!({ "gen_ai.operation.name": "chat", "gen_ai.output.messages": "[{\"role\":\"assistant\",\"par" });
    let trace = Trace::new().span(1, 0, (1, 5), chat).mcp(
        (2, 0),
        (10, 20),
        "open",
        &json!({ "gen_ai.tool.call.result": result }),
    );
    assert_eq!(told(&trace.text()), ["run: -", "open @0 = !no such page"]);
    assert!(fidelity(&trace.text()).ends_with("dropped 1 message list that was cut off"));
}

#[test]
fn what_a_tool_answered_stays_as_it_was_written() {
    for result in ["\"\"", "{\"a\": 1}", "[ 1 ]", " 5", "plain"] {
        let trace = Trace::new().tool(
            (1, 0),
            (1, 2),
            "t",
            &json!({ "gen_ai.tool.call.result": result }),
        );
        assert_eq!(
            told(&trace.text()),
            ["run: -".to_owned(), format!("t = {result}")]
        );
    }
}

#[test]
fn events_of_older_conventions_are_messages() {
    let event = |name: &str, attributes: Value| {
        let attributes: Vec<Value> = attributes
            .as_object()
            .unwrap()
            .iter()
            .map(|(key, value)| json!({ "key": key, "value": { "stringValue": value } }))
            .collect();
        json!({ "name": name, "attributes": attributes })
    };
    let calls = json!({ "role": "assistant", "tool_calls": [{ "id": "c", "type": "function", "function": { "name": "add", "arguments": "{\"a\":1}" } }] });
    let mut trace = Trace::new().span(
        1,
        0,
        (1, 5),
        json!({ "gen_ai.system": "openai", "gen_ai.operation.name": "chat" }),
    );
    trace.0[0]["events"] = json!([
        event("gen_ai.user.message", json!({ "content": "Add." })),
        event(
            "gen_ai.choice",
            json!({ "finish_reason": "tool_calls", "message": calls.to_string() })
        ),
    ]);
    assert_eq!(told(&trace.text()), ["run: -", "add{\"a\":1} #c @0"]);
    assert!(fidelity(&trace.text()).contains("prompt, stop reason"));
}

#[test]
fn parents_that_go_in_a_circle_end() {
    let trace = Trace::new()
        .tool((1, 2), (10, 20), "a", &none())
        .tool((2, 1), (10, 20), "b", &none())
        .chat(3, 4, (30, 40), &json!([]))
        .chat(4, 3, (30, 40), &json!([]));
    assert_eq!(told(&trace.text()).len(), 1 + 2);
}
