//! What does an imported run cost? Every bill is calculated by hand from the provider's price page.

use crate::told::fidelity;
use mcptest_core::price::shipped_price;
use mcptest_core::trace::Tokens;
use mcptest_import::import;
use mcptest_replay::{cassette::parse, clean};
use serde_json::{Value, json};

/// The counts of the only run in a transcript.
fn tokens(transcript: &Value) -> Tokens {
    let imported = import(transcript.to_string().as_bytes(), None)
        .unwrap_or_else(|error| panic!("{error}\n{transcript}"));
    let cassette = imported.into_cassette("a", &clean);
    let cassette = parse(cassette.as_bytes()).unwrap();
    let [run] = &cassette.runs[..] else {
        panic!("{} runs: {transcript}", cassette.runs.len());
    };
    run.trace.as_ref().unwrap().conversation.tokens
}

fn assert_costs(name: &str, transcript: &Value, model: &str, dollars: f64) {
    let tokens = tokens(transcript);
    let cost = shipped_price(model).unwrap().cost_usd(tokens).unwrap();
    assert!(
        (cost - dollars).abs() < 1e-9,
        "{name}: ${cost} instead of ${dollars}, of {tokens:?}"
    );
}

const SONNET: &str = "claude-sonnet-4-5";

/// $3 in, $0.30 from the cache, $3.75 and for an hour $6 to it, $15 out:
/// 10 x 3 + 100000 x 0.3 + 400 x 3.75 + 600 x 6 + 200 x 15 millionths.
const BILL_OF_SONNET: f64 = 0.03813;

fn usage_of_anthropic() -> Value {
    json!({ "input_tokens": 10, "cache_read_input_tokens": 100_000, "cache_creation_input_tokens": 1_000,
            "cache_creation": { "ephemeral_5m_input_tokens": 400, "ephemeral_1h_input_tokens": 600 },
            "output_tokens": 200 })
}

/// $1.25 in, $0.125 from the cache, $10 out: 10000 x 1.25 + 90000 x 0.125 + 500 x 10 millionths.
const BILL_OF_GPT: f64 = 0.02875;

fn said() -> Value {
    json!({ "role": "assistant", "content": "Done." })
}

#[test]
fn a_transcript_of_anthropic_costs_what_its_bill_says() {
    let message = json!({ "id": "msg_1", "type": "message", "role": "assistant", "model": SONNET,
        "content": [{ "type": "text", "text": "Done." }], "stop_reason": "end_turn", "usage": usage_of_anthropic() });
    let logged = json!({ "request": { "model": SONNET, "system": "s", "messages": [{ "role": "user", "content": "go" }] },
                         "response": message });
    let of_claude_code = json!({ "sessionId": "s", "type": "assistant", "message": message });
    for (name, transcript) in [
        ("a response", &message),
        ("a request and its response", &logged),
        ("a session of Claude Code", &of_claude_code),
    ] {
        assert_costs(name, transcript, SONNET, BILL_OF_SONNET);
    }
}

#[test]
fn a_transcript_of_openai_costs_what_its_bill_says() {
    let chat = json!({ "model": "gpt-5", "choices": [{ "message": said(), "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 100_000, "completion_tokens": 500, "total_tokens": 100_500,
                   "prompt_tokens_details": { "cached_tokens": 90_000 } } });
    let responses = json!({ "object": "response", "model": "gpt-5", "status": "completed",
        "output": [{ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "Done." }] }],
        "usage": { "input_tokens": 100_000, "input_tokens_details": { "cached_tokens": 90_000 },
                   "output_tokens": 500, "total_tokens": 100_500 } });
    assert_costs("a chat completion", &chat, "gpt-5", BILL_OF_GPT);
    assert_costs("a response", &responses, "gpt-5", BILL_OF_GPT);
}

#[test]
fn thoughts_that_a_total_shows_beside_the_completion_are_paid_for() {
    let chat = json!({ "model": "gpt-5", "choices": [{ "message": said(), "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 1_000, "completion_tokens": 100, "total_tokens": 1_500,
                   "completion_tokens_details": { "reasoning_tokens": 400 } } });
    // 1000 x 1.25 + 500 x 10 millionths.
    assert_costs("thoughts beside", &chat, "gpt-5", 0.00625);
}

#[test]
fn a_transcript_of_the_ai_sdk_costs_what_its_bill_says() {
    let record = |rest: Value| {
        let mut record = json!({ "responseMessages": [said()], "messages": [{ "role": "user", "content": "go" }] });
        record
            .as_object_mut()
            .unwrap()
            .extend(rest.as_object().unwrap().clone());
        record
    };
    let of_6 = record(
        json!({ "totalUsage": { "inputTokens": 100_000, "outputTokens": 500, "totalTokens": 100_500,
        "inputTokenDetails": { "cacheReadTokens": 90_000, "noCacheTokens": 10_000 } } }),
    );
    let of_5 = record(
        json!({ "totalUsage": { "inputTokens": 100_000, "outputTokens": 500, "totalTokens": 100_500, "cachedInputTokens": 90_000 } }),
    );
    assert_costs("version 6", &of_6, "gpt-5", BILL_OF_GPT);
    assert_costs("version 5", &of_5, "gpt-5", BILL_OF_GPT);
    let own_words = json!({ "anthropic": { "usage": usage_of_anthropic(), "cacheCreationInputTokens": 1_000 } });
    let counted = json!({ "inputTokens": 10, "outputTokens": 200, "totalTokens": 210, "cachedInputTokens": 100_000 });
    let whole = record(json!({ "usage": counted, "providerMetadata": own_words }));
    let steps = record(
        json!({ "steps": [{ "usage": counted, "providerMetadata": own_words }], "totalUsage": counted }),
    );
    assert_costs("Anthropic in version 5", &whole, SONNET, BILL_OF_SONNET);
    assert_costs("its steps", &steps, SONNET, BILL_OF_SONNET);
}

#[test]
fn a_transcript_of_langchain_costs_what_its_bill_says() {
    let message = |counted: Value, metadata: Value| {
        json!([{ "type": "human", "content": "go" },
               { "type": "ai", "content": "Done.", "usage_metadata": counted, "response_metadata": metadata }])
    };
    let of_gpt = message(
        json!({ "input_tokens": 100_000, "output_tokens": 500, "total_tokens": 100_500, "input_token_details": { "cache_read": 90_000 } }),
        json!({}),
    );
    let details = |whole: u64| json!({ "cache_read": 100_000, "cache_creation": whole, "ephemeral_5m_input_tokens": 400, "ephemeral_1h_input_tokens": 600 });
    let of_sonnet = |whole: u64| {
        message(
            json!({ "input_tokens": 101_010, "output_tokens": 200, "total_tokens": 101_210, "input_token_details": details(whole) }),
            json!({}),
        )
    };
    let in_own_words = message(Value::Null, json!({ "usage": usage_of_anthropic() }));
    let of_chat = message(
        Value::Null,
        json!({ "token_usage": { "prompt_tokens": 100_000, "completion_tokens": 500, "total_tokens": 100_500,
                                 "prompt_tokens_details": { "cached_tokens": 90_000 } } }),
    );
    assert_costs("GPT", &of_gpt, "gpt-5", BILL_OF_GPT);
    assert_costs("GPT in its own words", &of_chat, "gpt-5", BILL_OF_GPT);
    assert_costs("Sonnet", &of_sonnet(1_000), SONNET, BILL_OF_SONNET);
    assert_costs("Sonnet by parts", &of_sonnet(0), SONNET, BILL_OF_SONNET);
    assert_costs(
        "Sonnet in its own words",
        &in_own_words,
        SONNET,
        BILL_OF_SONNET,
    );
}

#[test]
fn a_transcript_of_pydantic_ai_costs_what_its_bill_says() {
    let response = |usage: Value| {
        json!([{ "kind": "request", "parts": [{ "part_kind": "user-prompt", "content": "go" }] },
               { "kind": "response", "parts": [{ "part_kind": "text", "content": "Done." }], "usage": usage }])
    };
    let of_1 = response(
        json!({ "input_tokens": 100_000, "cache_read_tokens": 90_000, "cache_write_tokens": 0, "output_tokens": 500, "details": {} }),
    );
    let before_1 = response(
        json!({ "request_tokens": 100_000, "response_tokens": 500, "total_tokens": 100_500, "details": { "cached_tokens": 90_000 } }),
    );
    let of_sonnet = response(
        json!({ "input_tokens": 101_010, "cache_read_tokens": 100_000, "cache_write_tokens": 1_000,
                "cache_write_1h_tokens": 600, "output_tokens": 200, "output_reasoning_tokens": 0, "details": {} }),
    );
    assert_costs("version 1", &of_1, "gpt-5", BILL_OF_GPT);
    assert_costs("before version 1", &before_1, "gpt-5", BILL_OF_GPT);
    assert_costs("Sonnet", &of_sonnet, SONNET, BILL_OF_SONNET);
}

#[test]
fn a_transcript_of_gemini_costs_what_its_bill_says() {
    let response = |usage: Value, key: &str| {
        let mut response = json!({ "candidates": [{ "content": { "role": "model", "parts": [{ "text": "Done." }] } }] });
        response[key] = usage;
        response
    };
    let of_api = response(
        json!({ "promptTokenCount": 100_000, "cachedContentTokenCount": 90_000, "candidatesTokenCount": 100,
                "thoughtsTokenCount": 400, "totalTokenCount": 100_500 }),
        "usageMetadata",
    );
    let of_python = response(
        json!({ "prompt_token_count": 100_000, "cached_content_token_count": 90_000, "candidates_token_count": 100,
                "thoughts_token_count": 400, "total_token_count": 100_500 }),
        "usage_metadata",
    );
    // $0.30 in, $0.03 from the cache, $2.50 out: 10000 x 0.3 + 90000 x 0.03 + 500 x 2.5 millionths.
    assert_costs("the API", &of_api, "gemini-2.5-flash", 0.00695);
    assert_costs(
        "the Python library",
        &of_python,
        "gemini-2.5-flash",
        0.00695,
    );
}

#[test]
fn spans_cost_what_their_bill_says() {
    let span = |attributes: Value| {
        json!({ "name": "chat", "context": { "trace_id": "0x1", "span_id": "0x1" },
        "start_time": "2026-01-01T00:00:00Z", "end_time": "2026-01-01T00:00:01Z", "attributes": attributes })
    };
    let otel = span(
        json!({ "gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 100_000,
        "gen_ai.usage.cache_read.input_tokens": 90_000, "gen_ai.usage.output_tokens": 500,
        "gen_ai.output.messages": "[{\"role\":\"assistant\",\"parts\":[{\"type\":\"text\",\"content\":\"Done.\"}]}]" }),
    );
    let openinference = span(
        json!({ "openinference.span.kind": "LLM", "llm.token_count.prompt": 100_000,
        "llm.token_count.prompt_details.cache_read": 90_000, "llm.token_count.completion": 500, "llm.token_count.total": 100_500,
        "llm.output_messages.0.message.role": "assistant", "llm.output_messages.0.message.content": "Done." }),
    );
    let beside = span(
        json!({ "gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 10_000,
        "gen_ai.usage.cache_read_input_tokens": 90_000, "gen_ai.usage.output_tokens": 500,
        "gen_ai.output.messages": "[{\"role\":\"assistant\",\"parts\":[{\"type\":\"text\",\"content\":\"Done.\"}]}]" }),
    );
    assert_costs("OpenTelemetry", &otel, "gpt-5", BILL_OF_GPT);
    assert_costs("OpenInference", &openinference, "gpt-5", BILL_OF_GPT);
    assert_costs("counted beside", &beside, "gpt-5", BILL_OF_GPT);
}

/// An answer with one call in it that stopped at the limit of tokens, in each format.
fn cut_off() -> Vec<(&'static str, Value)> {
    let call = json!({ "id": "c", "type": "function", "function": { "name": "get", "arguments": "{\"q\": \"a" } });
    vec![
        (
            "openai-chat",
            json!({ "choices": [{ "message": { "role": "assistant", "content": "Let me see.", "tool_calls": [call] }, "finish_reason": "length" }] }),
        ),
        (
            "openai-responses",
            json!({ "object": "response", "status": "incomplete", "incomplete_details": { "reason": "max_output_tokens" },
                "output": [{ "type": "message", "role": "assistant", "content": "Let me see." },
                           { "type": "function_call", "call_id": "c", "name": "get", "arguments": "{\"q\": \"a" }] }),
        ),
        (
            "anthropic",
            json!({ "id": "msg_1", "type": "message", "role": "assistant", "stop_reason": "max_tokens",
                "content": [{ "type": "text", "text": "Let me see." }, { "type": "tool_use", "id": "c", "name": "get", "input": {} }] }),
        ),
        (
            "gemini",
            json!({ "candidates": [{ "finishReason": "MAX_TOKENS", "content": { "role": "model",
                "parts": [{ "text": "Let me see." }, { "functionCall": { "name": "get", "args": {} } }] } }] }),
        ),
        (
            "langchain",
            json!([{ "type": "human", "content": "go" },
                { "type": "ai", "content": "Let me see.", "tool_calls": [{ "id": "c", "name": "get", "args": {} }],
                  "response_metadata": { "finish_reason": "length" } }]),
        ),
        (
            "pydantic-ai",
            json!([{ "kind": "response", "finish_reason": "length", "parts": [{ "part_kind": "text", "content": "Let me see." },
                { "part_kind": "tool-call", "tool_name": "get", "tool_call_id": "c", "args": "{\"q" }] }]),
        ),
        (
            "ai-sdk",
            json!({ "finishReason": "length", "messages": [{ "role": "user", "content": "go" }],
                "responseMessages": [{ "role": "assistant", "content": [{ "type": "text", "text": "Let me see." },
                    { "type": "tool-call", "toolCallId": "c", "toolName": "get", "input": {} }] }] }),
        ),
        (
            "otel",
            json!({ "name": "chat", "context": { "trace_id": "0x1", "span_id": "0x1" },
                "start_time": "2026-01-01T00:00:00Z", "end_time": "2026-01-01T00:00:01Z",
                "attributes": { "gen_ai.operation.name": "chat", "gen_ai.response.finish_reasons": ["length"],
                "gen_ai.output.messages": json!([{ "role": "assistant", "parts": [{ "type": "text", "content": "Let me see." },
                    { "type": "tool_call", "id": "c", "name": "get", "arguments": {} }] }]).to_string() } }),
        ),
    ]
}

#[test]
fn a_call_of_an_answer_that_was_cut_off_is_a_call_that_nobody_made() {
    for (format, transcript) in cut_off() {
        let text = transcript.to_string();
        let imported = import(text.as_bytes(), mcptest_import::find(format)).unwrap();
        let told = imported.fidelity().to_string();
        let cassette = imported.into_cassette("a", &clean);
        let cassette = parse(cassette.as_bytes()).unwrap();
        let trace = cassette.runs[0].trace.as_ref().unwrap();
        let names: Vec<&str> = trace.unmade_calls.iter().map(|call| &*call.name).collect();
        assert_eq!(
            (trace.tool_calls.len(), &names[..]),
            (0, &["get"][..]),
            "{format}"
        );
        assert_eq!(
            trace.final_response.as_deref(),
            Some("Let me see."),
            "{format}"
        );
        assert!(
            told.contains("1 call of answers that were cut off, which were never made"),
            "{told}"
        );
    }
}

#[test]
fn a_call_of_an_answer_that_was_cut_off_was_made_if_it_has_a_result() {
    let messages = json!([
        { "id": "m", "type": "message", "role": "assistant", "stop_reason": "max_tokens", "usage": {},
          "content": [{ "type": "tool_use", "id": "c", "name": "get", "input": {} }, { "type": "tool_use", "id": "d", "name": "get", "input": {} }] },
        { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "d", "content": "yes" }] },
    ]);
    assert_eq!(
        crate::told::told(&messages.to_string()),
        ["run: -", "get{} #d @0 = yes"]
    );
    assert!(fidelity(&messages.to_string()).contains("1 call, 1 result"));
}

#[test]
fn a_session_that_ended_in_an_outage_is_a_broken_run_of_the_model_that_spoke_before() {
    let line = |message: Value, rest: Value| {
        let mut line = json!({ "sessionId": "s", "type": "assistant", "message": message });
        line.as_object_mut()
            .unwrap()
            .extend(rest.as_object().unwrap().clone());
        line
    };
    let answer = |id: &str, model: &str, text: &str| {
        json!({ "id": id, "type": "message", "role": "assistant", "model": model, "stop_reason": "stop_sequence",
                "content": [{ "type": "text", "text": text }], "usage": { "input_tokens": 1, "output_tokens": 1 } })
    };
    let outage = line(
        answer("m2", "<synthetic>", "You're out of extra usage"),
        json!({ "isApiErrorMessage": true, "error": "rate_limit" }),
    );
    let first = line(answer("m1", "claude-x", "Looking."), json!({}));
    let later = line(answer("m3", "claude-x", "Done."), json!({}));
    let cassette = |lines: &[&Value]| {
        let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
        let text = lines.join(
            "
",
        );
        import(text.as_bytes(), None)
            .unwrap()
            .into_cassette("a", &clean)
    };
    let ended = cassette(&[&first, &outage]);
    for part in [
        r#""model":"claude-x""#,
        r#""stop_reason":"error""#,
        r#""message":"rate_limit: You're out of extra usage""#,
    ] {
        assert!(ended.contains(part), "{ended}");
    }
    assert!(!ended.contains("final_response"), "{ended}");
    let went_on = cassette(&[&first, &outage, &later]);
    assert!(
        went_on.contains(r#""final_response":"Done.","stop_reason":"stop_sequence""#),
        "{went_on}"
    );
}

#[test]
fn a_tool_error_of_the_ai_sdk_is_the_failed_result_of_its_call() {
    for error in [
        json!("no such invoice"),
        json!({ "name": "Error", "message": "no such invoice" }),
    ] {
        let messages = json!([{ "role": "assistant", "content": [
            { "type": "tool-call", "toolCallId": "c", "toolName": "find", "input": {} },
            { "type": "tool-error", "toolCallId": "c", "toolName": "find", "input": {}, "error": error }] }]);
        assert_eq!(
            crate::told::told(&messages.to_string()),
            ["run: -", "find{} #c @0 = !no such invoice"]
        );
    }
}
