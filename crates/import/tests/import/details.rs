//! How are unusual parts of the formats read?

use crate::told::{fidelity, told};
use serde_json::json;

#[test]
fn a_server_in_a_name_is_cut_off_only_where_the_transcript_is_certain_of_it() {
    let call = |name: &str| json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": "a", "name": name, "input": {} }] });
    let request = json!({ "mcp_servers": [{ "name": "docs" }], "messages": [call("docs__search"), call("web__search")] });
    assert_eq!(
        told(&request.to_string()),
        ["run: -", "docs.search{} #a @0", "web__search{} #a @1"]
    );
    let request = json!([call("mcp__docs__search"), call("docs__search")]);
    assert_eq!(
        told(&request.to_string()),
        ["run: -", "docs.search{} #a @0", "docs__search{} #a @1"]
    );
}

#[test]
fn functions_of_older_chats_are_calls_and_meet_their_answers_by_name() {
    let messages = json!([
        { "role": "user", "content": "a" },
        { "role": "assistant", "content": null, "function_call": { "name": "add", "arguments": "{\"a\":1}" } },
        { "role": "function", "name": "add", "content": "2" },
        { "role": "assistant", "content": "2" },
    ]);
    assert_eq!(
        told(&messages.to_string()),
        ["run: 2", "add{\"a\":1} @0 = 2"]
    );
    assert!(fidelity(&messages.to_string()).contains("no call ids"));
}

#[test]
fn arguments_are_json_in_a_string_or_as_they_are_or_what_the_model_wrote() {
    let call = |arguments: serde_json::Value| json!({ "role": "assistant", "tool_calls": [{ "id": "a", "function": { "name": "t", "arguments": arguments } }] });
    let messages = json!([
        call(json!({ "a": 1 })),
        call(json!("[1, 2]")),
        call(json!("{a: 1}")),
        call(json!("")),
        call(json!("1e999"))
    ]);
    assert_eq!(
        told(&messages.to_string()),
        [
            "run: -",
            "t{\"a\":1} #a @0",
            "t[1,2] #a @1",
            "t{a: 1} #a @2",
            "t #a @3",
            "t1e999 #a @4"
        ]
    );
    assert!(fidelity(&messages.to_string()).contains("arguments that are not JSON in 2"));
}

#[test]
fn a_provider_that_failed_is_an_error_of_the_run() {
    for text in [
        r#"{"request":{"messages":[{"role":"user","content":"a"}]},"response":{"error":{"message":"overloaded"}}}"#,
        r#"{"request":{"model":"m","input":"a"},"response":{"object":"response","status":"failed","error":{"code":"x","message":"overloaded"},"output":[]}}"#,
        r#"{"request":{"system":"s","messages":[{"role":"user","content":"a"}]},"response":{"type":"error","error":{"type":"x","message":"overloaded"}}}"#,
        r#"{"run_type":"chain","inputs":{"messages":[["human","a"]]},"outputs":null,"error":"overloaded"}"#,
    ] {
        let cassette = mcptest_import::import(text.as_bytes(), None)
            .unwrap()
            .into_cassette("a", &mcptest_replay::clean);
        assert!(
            cassette.contains(r#""errors":[{"kind":"provider","message":"overloaded"}]"#),
            "{cassette}"
        );
    }
}

#[test]
fn conversations_that_differ_leave_the_header_without_what_is_not_true_of_all() {
    let text = "{\"model\":\"a\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}\n{\"model\":\"b\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}\n";
    let imported = mcptest_import::import(text.as_bytes(), None).unwrap();
    assert!(
        imported
            .fidelity()
            .to_string()
            .ends_with("; not in the header, since conversations differ: model")
    );
    let header = imported
        .into_cassette("a", &mcptest_replay::clean)
        .lines()
        .next()
        .unwrap()
        .to_owned();
    assert!(
        !header.contains("model") && header.contains(r#""prompt":["x"]"#),
        "{header}"
    );
}

#[test]
fn runs_of_tools_alone_are_calls_too() {
    let text = r#"{"id":"1","trace_id":"t","run_type":"tool","name":"add","dotted_order":"2","inputs":{"a":1},"outputs":{"output":"2"}}
{"id":"2","trace_id":"t","run_type":"tool","name":"sub","dotted_order":"1","inputs":{"input":"{\"a\":1}"},"error":"no"}"#;
    assert_eq!(
        told(text),
        ["run: -", "sub{\"a\":1} = !no", "add{\"a\":1} = 2"]
    );
}

#[test]
fn a_helper_that_was_given_the_same_messages_does_not_double_their_calls() {
    let history = r#"{"type":"human","content":"a"},{"type":"ai","content":"","tool_calls":[{"name":"t","args":{},"id":"c"}]},{"type":"tool","content":"r","tool_call_id":"c"}"#;
    let run = |id: &str, said: &str| {
        format!(
            r#"{{"id":"{id}","trace_id":"t","parent_run_id":"t","run_type":"llm","dotted_order":"{id}","inputs":{{"messages":[[{history}]]}},"outputs":{{"generations":[[{{"message":{{"type":"ai","content":"{said}"}}}}]]}}}}"#
        )
    };
    let text = format!("{}\n{}\n", run("1", "a title"), run("2", "the answer"));
    assert_eq!(told(&text), ["run: the answer", "t{} #c @0 = r"]);
}

#[test]
fn the_session_of_a_coding_agent_is_one_conversation_whose_pieces_are_counted_once() {
    let line = |kind: &str, message: serde_json::Value| json!({ "parentUuid": null, "isSidechain": false, "sessionId": "s", "type": kind, "message": message, "uuid": "u" });
    let usage = json!({ "input_tokens": 10, "output_tokens": 5 });
    let piece = |block: serde_json::Value| {
        line(
            "assistant",
            json!({ "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [block], "stop_reason": null, "usage": usage }),
        )
    };
    let lines = [
        json!({ "type": "summary", "summary": "Files", "leafUuid": "x" }),
        json!({ "type": "system", "subtype": "informational", "content": "Resumed.", "sessionId": "s" }),
        line("user", json!({ "role": "user", "content": "List them." })),
        piece(json!({ "type": "text", "text": "Looking." })),
        piece(
            json!({ "type": "tool_use", "id": "t1", "name": "mcp__fs__list", "input": { "path": "." } }),
        ),
        piece(json!({ "type": "tool_use", "id": "t2", "name": "Read", "input": {} })),
        line(
            "user",
            json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "t1", "content": "a.txt" }] }),
        ),
        line(
            "assistant",
            json!({ "id": "msg_2", "role": "assistant", "content": [{ "type": "text", "text": "a.txt" }], "stop_reason": "end_turn", "usage": usage }),
        ),
    ];
    let text = lines
        .iter()
        .map(serde_json::Value::to_string)
        .collect::<Vec<_>>()
        .join("\n");
    assert_eq!(
        told(&text),
        [
            "run: a.txt",
            "fs.list{\"path\":\".\"} #t1 @0 = a.txt",
            "Read{} #t2 @0"
        ]
    );
    let cassette = mcptest_import::import(text.as_bytes(), None)
        .unwrap()
        .into_cassette("a", &mcptest_replay::clean);
    assert!(
        cassette.contains(r#""tokens":{"prompt":20,"completion":10,"total":30}"#),
        "{cassette}"
    );
}

#[test]
fn the_rows_of_a_table_that_has_the_latest_first_are_told_from_the_first_on() {
    let row = |id: u64, time: &str, name: &str| {
        json!({ "name": name, "span_kind": "TOOL", "context.span_id": id.to_string(), "context.trace_id": "t",
                "start_time": time, "attributes.input.value": "{}", "attributes.output.value": id.to_string() })
    };
    let rows = json!([
        row(3, "2026-01-01T00:00:00.002Z", "c"),
        row(2, "2026-01-01T00:00:00.001Z", "b"),
        row(1, "2026-01-01T00:00:00.001Z", "a"),
    ]);
    assert_eq!(
        told(&rows.to_string()),
        ["run: -", "a{} = 1", "b{} = 2", "c{} = 3"]
    );
    let in_order = json!([row(1, "x", "a"), row(2, "x", "b")]);
    assert_eq!(
        told(&in_order.to_string()),
        ["run: -", "a{} = 1", "b{} = 2"]
    );
}

#[test]
fn the_json_of_a_function_is_not_taken_for_content_blocks_but_an_mcp_result_is() {
    let call = json!({ "role": "assistant", "content": [{ "type": "tool-call", "toolCallId": "a", "toolName": "t", "input": {} }] });
    let answered = |value: serde_json::Value| {
        let output = json!({ "type": "json", "value": value });
        let result =
            json!({ "type": "tool-result", "toolCallId": "a", "toolName": "t", "output": output });
        told(&json!([call, { "role": "tool", "content": [result] }]).to_string())[1].clone()
    };
    assert_eq!(
        answered(json!([{ "type": "file", "path": "a" }])),
        r#"t{} #a @0 = [{"path":"a","type":"file"}]"#
    );
    let content = json!([{ "type": "text", "text": "no" }]);
    assert_eq!(
        answered(json!({ "content": content, "isError": true })),
        "t{} #a @0 = !no"
    );
    assert_eq!(
        answered(json!({ "content": content, "title": "x" })),
        r#"t{} #a @0 = {"content":[{"text":"no","type":"text"}],"title":"x"}"#
    );
}

#[test]
fn a_gemini_answer_without_the_id_of_its_call_meets_it_by_name_in_order() {
    let contents = json!([
        { "role": "model", "parts": [{ "functionCall": { "id": "1", "name": "a" } }, { "functionCall": { "name": "b" } },
                                     { "functionCall": { "id": "3", "name": "a" } }] },
        { "role": "user", "parts": [{ "functionResponse": { "id": "9", "name": "b", "response": { "output": "y" } } },
                                    { "functionResponse": { "name": "a", "response": { "result": "x" } } },
                                    { "functionResponse": { "id": "3", "name": "a", "response": { "error": "z" } } }] },
    ]);
    assert_eq!(
        told(&contents.to_string()),
        ["run: -", "a #1 @0 = x", "b @0 = y", "a #3 @0 = !z"]
    );
}

#[test]
fn responses_alone_are_conversations_of_their_own() {
    let response = |id: &str| {
        format!(
            r#"{{"type":"message","role":"assistant","id":"{id}","content":[{{"type":"tool_use","id":"{id}","name":"t","input":{{}}}}],"stop_reason":"tool_use","usage":{{"input_tokens":1,"output_tokens":1}}}}"#
        )
    };
    let text = format!("{}\n{}\n", response("a"), response("b"));
    assert_eq!(told(&text), ["run: -", "t{} #a @0", "run: -", "t{} #b @0"]);
}
