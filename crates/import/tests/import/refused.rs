//! Are unknown parts refused with their place? A call that is not read would be missed.

use mcptest_import::{find, import};

/// A format, a text, the place of its problem, and the error.
type Refused = (&'static str, &'static str, &'static str, &'static str);

const REFUSED: &[Refused] = &[
    (
        "anthropic",
        r#"[{"role":"user","content":"a"},
{"role":"assistant","content":[{"type":"hologram","name":"t"}]}]"#,
        "line 2, column 32",
        "a content block is of an unknown `type`, `hologram`; it could be a call: if it is not, remove it",
    ),
    (
        "anthropic",
        r#"[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"t","input":{}}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":"x"}]}]"#,
        "line 2, column 27",
        "this result has no call: no earlier call has the id `b`; export the whole conversation, or remove the result",
    ),
    (
        "anthropic",
        r#"[{"role":"assistant","content":"Let me look.","tool_calls":[{"id":"a"}]}]"#,
        "line 1, column 60",
        "messages of this format have no `tool_calls`; mcptest would miss calls in it",
    ),
    (
        "openai-chat",
        r#"[{"role":"user","content":[{"type":"text","text":"a"},{"type":"hologram"}]}]"#,
        "line 1, column 55",
        "a part of `content` is of an unknown `type`, `hologram`",
    ),
    (
        "openai-chat",
        r#"[{"role":"user","content":"a"},{"role":"tool","tool_call_id":"b","content":"x"}]"#,
        "line 1, column 32",
        "no earlier call has the id `b`",
    ),
    (
        "openai-chat",
        r#"[{"role":"assistant","content":"","toolCalls":[{"name":"t"}]}]"#,
        "line 1, column 47",
        "messages of this format have no `toolCalls`",
    ),
    (
        "openai-chat",
        r#"{"messages":[{"role":"user","content":"a"}],"choices":[{"delta":{"tool_calls":[{"index":0}]}}]}"#,
        "line 1, column 56",
        "this is a piece of a streamed answer; log the whole answer",
    ),
    (
        "openai-responses",
        r#"[{"type":"function_call","call_id":"a","name":"t","arguments":"{}"},{"type":"hologram"}]"#,
        "line 1, column 69",
        "an item is of an unknown `type`, `hologram`",
    ),
    (
        "openai-responses",
        r#"[{"type":"function_call_output","call_id":"b","output":"x"}]"#,
        "line 1, column 2",
        "no earlier call has the id `b`",
    ),
    (
        "langchain",
        r#"[{"type":"ai","content":[{"type":"hologram"}]}]"#,
        "line 1, column 26",
        "a part of `content` is of an unknown `type`, `hologram`",
    ),
    (
        "langchain",
        r#"[{"type":"human","content":"a"},{"type":"tool","content":"x","tool_call_id":"b"}]"#,
        "line 1, column 33",
        "no earlier call has the id `b`",
    ),
    (
        "otel",
        r#"{"resourceSpans":[{"scopeSpans":[{"spans":[
{"traceId":"a","spanId":"b","attributes":{"gen_ai.operation.name":"chat","gen_ai.output.messages":[{"role":"assistant","parts":[{"type":"hologram"}]}]}}]}]}]}"#,
        "line 2, column 1",
        "a part of a message is of an unknown `type`, `hologram`",
    ),
    (
        "otel",
        r#"{"resourceSpans":[{"scopeSpans":[{"spans":[
{"traceId":"a","spanId":"b","attributes":{"gen_ai.operation.name":"chat","gen_ai.input.messages":[{"role":"tool","parts":[{"type":"tool_call_response","id":"b","response":"x"}]}]}}]}]}]}"#,
        "line 2, column 1",
        "no earlier call has the id `b`",
    ),
    (
        "ai-sdk",
        r#"[{"role":"user","content":"a"},
{"role":"assistant","content":[{"type":"tool-hologram","toolName":"t"}]}]"#,
        "line 2, column 32",
        "a part is of an unknown `type`, `tool-hologram`; it could be a call",
    ),
    (
        "ai-sdk",
        r#"[{"role":"tool","content":[{"type":"tool-result","toolCallId":"b","toolName":"t","output":{"type":"text","value":"x"}}]}]"#,
        "line 1, column 28",
        "no earlier call has the id `b`",
    ),
    (
        "ai-sdk",
        r#"[{"role":"assistant","parts":[{"type":"tool-t","toolCallId":"a","state":"output-guessed","input":{}}]}]"#,
        "line 1, column 31",
        "the `state` of a call is `output-guessed`, which is unknown",
    ),
    (
        "ai-sdk",
        r#"[{"role":"assistant","content":[{"type":"tool-call","toolCallId":"a","toolName":"t","input":{}}]},
{"role":"tool","content":[{"type":"tool-result","toolCallId":"a","toolName":"t","output":{"type":"hologram"}}]}]"#,
        "line 2, column 90",
        "the output of a tool is of an unknown `type`, `hologram`",
    ),
    (
        "ai-sdk",
        r#"[{"role":"assistant","content":"","tool_calls":[{"id":"a"}]}]"#,
        "line 1, column 48",
        "messages of this format have no `tool_calls`",
    ),
    (
        "ai-sdk",
        r#"{"messages":[{"role":"user","content":"a"}],"response":{"messages":[]},"toolCalls":[{"toolName":"t"}]}"#,
        "line 1, column 84",
        "no message has these calls; log all messages",
    ),
    (
        "gemini",
        r#"{"contents":[{"role":"model","parts":[{"hologram":{"name":"t"}}]}]}"#,
        "line 1, column 51",
        "a part has an unknown key, `hologram`; it could be a call",
    ),
    (
        "gemini",
        r#"{"contents":[{"role":"user","parts":[{"functionResponse":{"name":"t","response":{}}}]}]}"#,
        "line 1, column 58",
        "this result has no call: no earlier call of `t` waits for a result",
    ),
    (
        "gemini",
        r#"[{"responseId":"r","candidates":[{"content":{"role":"model","parts":[{"text":"a"}]}}]},
{"responseId":"r","candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"t"}}]}}]}]"#,
        "line 2, column 1",
        "this is one more piece of a streamed response",
    ),
    (
        "gemini",
        r#"[{"role":"assistant","parts":[{"text":"a"}]}]"#,
        "line 1, column 2",
        "`role` is `assistant`; it is user or model",
    ),
    (
        "atif",
        r#"{"schema_version":"ATIF-v1.7","steps":[{"source":"agent","message":"","observation":{"results":[{"source_call_id":"b","content":"x"}]}}]}"#,
        "line 1, column 97",
        "no earlier call has the id `b`",
    ),
    (
        "atif",
        r#"{"schema_version":"ATIF-v1.7","steps":[{"source":"agent","message":"","tool_calls":[{"tool_call_id":"a","function_name":"t","arguments":{}}],"observation":{"results":[{"content":"x"},{"content":"y"}]}}]}"#,
        "line 1, column 40",
        "2 results without `source_call_id` follow 1 call",
    ),
    (
        "atif",
        r#"{"schema_version":"ATIF-v1.7","steps":[{"source":"user","message":"x","tool_calls":[{"function_name":"t"}]}]}"#,
        "line 1, column 40",
        "only a step of the agent has `tool_calls`",
    ),
    (
        "codex",
        r#"{"type":"session_meta","payload":{"id":"a"}}
{"type":"response_item","payload":{"type":"hologram"}}"#,
        "line 2, column 35",
        "an item is of an unknown `type`, `hologram`",
    ),
    (
        "codex",
        r#"{"type":"response_item","payload":{"type":"function_call_output","call_id":"b","output":"x"}}"#,
        "line 1, column 35",
        "no earlier call has the id `b`",
    ),
    (
        "inspect",
        r#"{"eval":{},"samples":[{"id":1,"epoch":1,"messages":[{"role":"assistant","content":[{"type":"hologram"}]}]}]}"#,
        "line 1, column 84",
        "a part of `content` is of an unknown `type`, `hologram`",
    ),
    (
        "copilot",
        r#"{"type":"tool.execution_complete","data":{"toolCallId":"b","success":true},"timestamp":"t"}"#,
        "line 1, column 42",
        "no earlier call has the id `b`",
    ),
    (
        "inspect",
        r#"{"eval":{},"samples":[{"id":1,"epoch":1,"messages":[{"role":"tool","tool_call_id":"b","content":"x"}]}]}"#,
        "line 1, column 53",
        "no earlier call has the id `b`",
    ),
    (
        "pydantic-ai",
        r#"[{"kind":"response","parts":[{"part_kind":"hologram"}]}]"#,
        "line 1, column 30",
        "a part is of an unknown `part_kind`, `hologram`; it could be a call",
    ),
    (
        "pydantic-ai",
        r#"[{"kind":"request","parts":[{"part_kind":"tool-return","tool_name":"t","tool_call_id":"b","content":"x"}]}]"#,
        "line 1, column 29",
        "no earlier call has the id `b`",
    ),
    (
        "otel",
        r#"{"context":{"trace_id":"0xa","span_id":"0xb"},"attributes":{"gen_ai.operation.name":"chat","gen_ai.output.messages":"[{\"role\":\"assistant\",\"parts\":[{\"type\":\"hologram\"}]}]"}}"#,
        "line 1, column 1",
        "a part of a message is of an unknown `type`, `hologram`",
    ),
    (
        "openinference",
        r#"{"context":{"trace_id":"a","span_id":"b"},"attributes":{"openinference.span.kind":"LLM","llm.output_messages.0.message.contents.0.message_content.type":"hologram"}}"#,
        "line 1, column 1",
        "a part of a message is of an unknown type, `hologram`; it could be a call",
    ),
    (
        "openinference",
        r#"{"context":{"trace_id":"a","span_id":"b"},"attributes":{"openinference.span.kind":"LLM","llm.input_messages.0.message.role":"tool","llm.input_messages.0.message.tool_call_id":"b"}}"#,
        "line 1, column 1",
        "no earlier call has the id `b`",
    ),
    (
        "tau-bench",
        r#"[{"task_id":1,"reward":1.0,"traj":[{"role":"user","content":"a"},
{"role":"tool","tool_call_id":"b","content":"x"}]}]"#,
        "line 2, column 1",
        "no earlier call has the id `b`",
    ),
    (
        "tau-bench",
        r#"{"simulations":[{"id":"s","messages":[],"ticks":[{}]}]}"#,
        "line 1, column 17",
        "this is a simulation by voice, whose messages are in `ticks`",
    ),
    (
        "agentdojo",
        r#"{"suite_name":"s","pipeline_name":"p","messages":[{"role":"assistant","content":[{"type":"hologram"}]}]}"#,
        "line 1, column 82",
        "a part of `content` is of an unknown `type`, `hologram`",
    ),
    (
        "agentdojo",
        r#"{"suite_name":"s","pipeline_name":"p","messages":[{"role":"tool","content":[],"tool_call_id":"b","error":null}]}"#,
        "line 1, column 51",
        "no earlier call has the id `b`",
    ),
    (
        "ag-ui",
        r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}
{"type":"TOOL_CALL_HOLOGRAM","toolCallId":"a"}"#,
        "line 2, column 1",
        "an event is of an unknown `type`, `TOOL_CALL_HOLOGRAM`; it could be a call",
    ),
    (
        "ag-ui",
        r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"b","content":"x"}"#,
        "line 1, column 1",
        "no earlier call has the id `b`",
    ),
];

#[test]
fn what_is_not_understood_and_a_result_without_a_call_are_refused_with_their_place() {
    let mut wrong = Vec::new();
    for (key, text, place, expected) in REFUSED {
        let told = match import(text.as_bytes(), find(key)) {
            Ok(imported) => format!("read: {}", imported.fidelity()),
            Err(error) => error.to_string(),
        };
        if !told.starts_with(place) || !told.contains(expected) {
            wrong.push(format!("{key}: {text}\n  {told}\n  {place}: {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_list_without_a_message_is_never_a_run_without_calls() {
    for key in mcptest_import::keys() {
        for text in [
            "[]",
            "{}",
            "[{}]",
            r#"[{"note":1}]"#,
            r#"{"messages":[]}"#,
            r#"{"messages":[{"note":1}]}"#,
            r#"{"contents":[{"note":1}]}"#,
            r#"{"resourceSpans":[]}"#,
        ] {
            let read = import(text.as_bytes(), find(key));
            assert!(read.is_err(), "{key}: {text}: {}", read.unwrap().fidelity());
        }
    }
}
