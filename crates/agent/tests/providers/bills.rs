//! What do the answers of each provider cost? Every bill is calculated by hand from the provider's
//! price page.

use crate::asking::{Table, user};
use mcptest_core::price::shipped_price;
use mcptest_provider_stub::{Script, Step};

/// The model, the `usage` of an answer, and the bill in millionths of a dollar.
const BILLS: [(&str, &str, f64); 19] = [
    // Sonnet 4.5: $3 in, $15 out. 1000 x 3 + 500 x 15.
    (
        "claude-sonnet-4-5",
        r#"{"input_tokens":1000,"output_tokens":500}"#,
        10_500.0,
    ),
    // The cache is counted beside the input: reads at 0.1, writes at 1.25. 50 x 3 + 10000 x 0.3 + 2000 x 3.75 + 500 x 15.
    (
        "claude-sonnet-4-5",
        r#"{"input_tokens":50,"cache_read_input_tokens":10000,"cache_creation_input_tokens":2000,"output_tokens":500}"#,
        18_150.0,
    ),
    // Of 2000 that are written, 1500 for an hour, at 2. 50 x 3 + 500 x 3.75 + 1500 x 6 + 500 x 15.
    (
        "claude-sonnet-4-5",
        r#"{"input_tokens":50,"cache_read_input_tokens":0,"cache_creation_input_tokens":2000,"cache_creation":{"ephemeral_5m_input_tokens":500,"ephemeral_1h_input_tokens":1500},"output_tokens":500}"#,
        18_525.0,
    ),
    // Opus 4.1: $15 in, $1.50 from a cache, $75 out. 100 x 15 + 20000 x 1.5 + 1000 x 75.
    (
        "claude-opus-4-1",
        r#"{"input_tokens":100,"cache_read_input_tokens":20000,"cache_creation_input_tokens":0,"output_tokens":1000}"#,
        106_500.0,
    ),
    // Haiku 4.5: $1 in, $5 out, $1.25 to a cache. 10 x 1 + 4000 x 1.25 + 100 x 5.
    (
        "claude-haiku-4-5",
        r#"{"input_tokens":10,"cache_read_input_tokens":0,"cache_creation_input_tokens":4000,"output_tokens":100}"#,
        5_510.0,
    ),
    // GPT-5: $1.25 in, $0.125 from a cache, $10 out. 2000 x 1.25 + 300 x 10.
    (
        "gpt-5",
        r#"{"input_tokens":2000,"output_tokens":300,"total_tokens":2300}"#,
        5_500.0,
    ),
    // What is cached is within the input, and thoughts within the output. 500 x 1.25 + 1500 x 0.125 + 300 x 10.
    (
        "gpt-5",
        r#"{"input_tokens":2000,"input_tokens_details":{"cached_tokens":1500},"output_tokens":300,"output_tokens_details":{"reasoning_tokens":256},"total_tokens":2300}"#,
        3_812.5,
    ),
    // GPT-4.1: cached at a quarter. 1000 x 2 + 3000 x 0.5 + 100 x 8.
    (
        "gpt-4.1",
        r#"{"input_tokens":4000,"input_tokens_details":{"cached_tokens":3000},"output_tokens":100,"total_tokens":4100}"#,
        4_300.0,
    ),
    // GPT-4o: cached at a half. 1000 x 2.5 + 3000 x 1.25 + 100 x 10.
    (
        "gpt-4o",
        r#"{"input_tokens":4000,"input_tokens_details":{"cached_tokens":3000},"output_tokens":100,"total_tokens":4100}"#,
        7_250.0,
    ),
    // o4-mini: $1.10 in, $0.275 from a cache, $4.40 out. 1000 x 1.1 + 1000 x 0.275 + 2000 x 4.4.
    (
        "o4-mini",
        r#"{"input_tokens":2000,"input_tokens_details":{"cached_tokens":1000},"output_tokens":2000,"output_tokens_details":{"reasoning_tokens":1900},"total_tokens":4000}"#,
        10_175.0,
    ),
    // Gemini 2.5 Pro: $1.25 in, $10 out. 1000 x 1.25 + 100 x 10.
    (
        "gemini-2.5-pro",
        r#"{"promptTokenCount":1000,"candidatesTokenCount":100,"totalTokenCount":1100}"#,
        2_250.0,
    ),
    // Thoughts are counted beside the answer and cost the same. 1000 x 1.25 + (100 + 900) x 10.
    (
        "gemini-2.5-pro",
        r#"{"promptTokenCount":1000,"candidatesTokenCount":100,"thoughtsTokenCount":900,"totalTokenCount":2000}"#,
        11_250.0,
    ),
    // What is cached is within the prompt, at $0.125. 200 x 1.25 + 800 x 0.125 + 100 x 10.
    (
        "gemini-2.5-pro",
        r#"{"promptTokenCount":1000,"cachedContentTokenCount":800,"candidatesTokenCount":100,"totalTokenCount":1100}"#,
        1_350.0,
    ),
    // What tools of Google's read is beside the prompt. (1000 + 400) x 0.3 + 100 x 2.5.
    (
        "gemini-2.5-flash",
        r#"{"promptTokenCount":1000,"toolUsePromptTokenCount":400,"candidatesTokenCount":100,"totalTokenCount":1500}"#,
        670.0,
    ),
    // Mistral Large: $0.50 in, $1.50 out. 1000 x 0.5 + 200 x 1.5.
    (
        "mistral-large-2512",
        r#"{"prompt_tokens":1000,"completion_tokens":200,"total_tokens":1200}"#,
        800.0,
    ),
    // No price for its cache is known: at the full price, never below the bill.
    (
        "mistral-large-2512",
        r#"{"prompt_tokens":1000,"completion_tokens":200,"total_tokens":1200,"prompt_tokens_details":{"cached_tokens":900}}"#,
        800.0,
    ),
    // Chat Completions with GPT-5 behind it: cached within the prompt, thoughts within the completion.
    (
        "local/gpt-5",
        r#"{"prompt_tokens":2000,"prompt_tokens_details":{"cached_tokens":1500},"completion_tokens":300,"completion_tokens_details":{"reasoning_tokens":256},"total_tokens":2300}"#,
        3_812.5,
    ),
    // Thoughts beside the completion, as the total shows. 2000 x 1.25 + (300 + 256) x 10.
    (
        "local/gpt-5",
        r#"{"prompt_tokens":2000,"completion_tokens":300,"completion_tokens_details":{"reasoning_tokens":256},"total_tokens":2556}"#,
        8_060.0,
    ),
    // A cache told in DeepSeek's way. 500 x 1.25 + 1500 x 0.125 + 300 x 10.
    (
        "local/gpt-5",
        r#"{"prompt_tokens":2000,"prompt_cache_hit_tokens":1500,"prompt_cache_miss_tokens":500,"completion_tokens":300,"total_tokens":2300}"#,
        3_812.5,
    ),
];

/// An answer of the model's provider with this usage.
fn answer(model: &str, usage: &str) -> String {
    match model {
        model if model.starts_with("claude-") => {
            format!(
                r#"{{"type":"message","role":"assistant","content":[{{"type":"text","text":"ok"}}],"stop_reason":"end_turn","usage":{usage}}}"#
            )
        }
        model if model.starts_with("gemini-") => {
            format!(
                r#"{{"candidates":[{{"content":{{"role":"model","parts":[{{"text":"ok"}}]}},"finishReason":"STOP"}}],"usageMetadata":{usage}}}"#
            )
        }
        model if model.starts_with("mistral-") || model.starts_with("local/") => {
            format!(
                r#"{{"choices":[{{"message":{{"role":"assistant","content":"ok"}},"finish_reason":"stop"}}],"usage":{usage}}}"#
            )
        }
        _ => format!(
            r#"{{"status":"completed","output":[{{"type":"message","role":"assistant","content":[{{"type":"output_text","text":"ok"}}]}}],"usage":{usage}}}"#
        ),
    }
}

#[tokio::test]
async fn costs_agree_with_bills_made_by_hand() {
    for (model, usage, bill) in BILLS {
        let raw = Step {
            raw: Some(answer(model, usage)),
            ..Step::default()
        };
        let table = Table::new(model, Script::of([raw]));
        let reply = table
            .ask(&[user("go")])
            .await
            .unwrap_or_else(|error| panic!("{model}: {error}"));
        let price = shipped_price(model.trim_start_matches("local/")).unwrap();
        let cost = price.cost_usd(reply.usage).unwrap();
        assert!(
            (cost * 1e6 - bill).abs() < 1e-3,
            "{model} {usage}: {} instead of {bill}",
            cost * 1e6
        );
    }
}
