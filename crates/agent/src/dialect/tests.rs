//! Conversations for the tests of all dialects.

use super::{Answered, Ask, Dialect, Message, Offered, Part, Reply, ToolChoice};
use serde_json::{Value, json};

/// A question with this conversation and one tool.
pub(super) fn sent(dialect: &Dialect, model: &str, messages: &[Message]) -> Value {
    sent_with(
        dialect,
        model,
        messages,
        json!({ "temperature": 0.5 }),
        None,
    )
}

/// A question with these parameters.
fn sent_with(
    dialect: &Dialect,
    model: &str,
    messages: &[Message],
    parameters: Value,
    choice: Option<&ToolChoice>,
) -> Value {
    let tools = [Offered {
        name: "weather__get".to_owned(),
        full_name: "weather.get".to_owned(),
        description: Some("The weather".to_owned()),
        input_schema: serde_json::from_str(
            r#"{"type":"object","properties":{"city":{"type":"string"}}}"#,
        )
        .unwrap(),
    }];
    let parameters = serde_json::from_value(parameters).unwrap();
    let ask = Ask {
        system: Some("Be brief."),
        tools: &tools,
        max_tokens: Some(64),
        parameters: &parameters,
        tool_choice: choice,
        ..Ask::new(model, messages)
    };
    serde_json::from_str(&(dialect.body)(&ask)).unwrap()
}

/// The reply to an answer after these messages.
pub(super) fn read_after(dialect: &Dialect, messages: &[Message], body: &str) -> Reply {
    (dialect.read)(&Ask::new("m", messages), body).unwrap()
}

pub(super) fn read(dialect: &Dialect, body: &str) -> Reply {
    read_after(dialect, &[], body)
}

pub(super) fn refusal(dialect: &Dialect, body: &str) -> String {
    (dialect.read)(&Ask::new("m", &[]), body)
        .unwrap_err()
        .to_string()
}

pub(super) fn user(text: &str) -> Message {
    Message::User(text.to_owned())
}

pub(super) fn assistant(raw: &str) -> Message {
    Message::Assistant(serde_json::from_str(raw).unwrap())
}

pub(super) fn result(call_id: &str, text: &str, is_error: bool) -> Answered {
    let content = vec![Part::Text(text.to_owned())];
    Answered {
        call_id: call_id.to_owned(),
        name: "weather__get".to_owned(),
        content,
        is_error,
    }
}

/// All parameters, as a dialect has them for a model; each choice in turn.
fn asked(dialect: &Dialect, model: &str, parameters: &Value) -> Vec<Value> {
    let choices = [
        ToolChoice::Auto,
        ToolChoice::Required,
        ToolChoice::None,
        ToolChoice::Tool("weather__get".to_owned()),
    ];
    let of = |choice: &ToolChoice| {
        let mut body = sent_with(
            dialect,
            model,
            &[user("hi")],
            parameters.clone(),
            Some(choice),
        );
        let own = [
            "model",
            "messages",
            "input",
            "contents",
            "system",
            "instructions",
            "systemInstruction",
        ];
        body.as_object_mut()
            .unwrap()
            .retain(|key, _| key != "tools" && !own.contains(&key.as_str()));
        body
    };
    choices.iter().map(of).collect()
}

#[test]
fn each_dialect_has_its_own_words_for_a_parameter_and_extra_fills_in() {
    use super::{ANTHROPIC, GEMINI, MISTRAL, OPENAI_CHAT, OPENAI_RESPONSES};
    let parameters = json!({
        "temperature": 0.5, "top_p": 0.9, "seed": 7, "reasoning_effort": "low",
        "extra": {
            "top_k": 4, "reasoning": { "summary": "auto" }, "generationConfig": { "topK": 4 },
            "temperature": 2, "max_tokens": 1,
        },
    });
    let of = |dialect, model| asked(dialect, model, &parameters);
    let choices = |bodies: &[Value], key: &str| {
        bodies
            .iter()
            .map(|body| body[key].clone())
            .collect::<Vec<_>>()
    };

    let sent = of(&OPENAI_CHAT, "llama3");
    assert_eq!(sent[0]["temperature"], 0.5, "what is there already stays");
    assert_eq!(
        (&sent[0]["top_p"], &sent[0]["seed"]),
        (&json!(0.9), &json!(7))
    );
    assert_eq!(
        (&sent[0]["reasoning_effort"], &sent[0]["max_tokens"]),
        (&json!("low"), &json!(64))
    );
    assert_eq!(sent[0]["top_k"], 4);
    let named = json!({ "type": "function", "function": { "name": "weather__get" } });
    assert_eq!(
        choices(&sent, "tool_choice"),
        [
            json!("auto"),
            json!("required"),
            json!("none"),
            named.clone()
        ]
    );

    let sent = of(&MISTRAL, "mistral-small-latest");
    assert_eq!(
        (&sent[0]["random_seed"], sent[0].get("seed")),
        (&json!(7), None)
    );
    assert_eq!(
        choices(&sent, "tool_choice"),
        [json!("auto"), json!("any"), json!("none"), named]
    );

    let sent = of(&OPENAI_RESPONSES, "gpt-5.2");
    assert_eq!(
        sent[0]["reasoning"],
        json!({ "effort": "low", "summary": "auto" })
    );
    assert_eq!(
        (sent[0].get("seed"), &sent[0]["max_output_tokens"]),
        (None, &json!(64))
    );
    let named = json!({ "type": "function", "name": "weather__get" });
    assert_eq!(
        choices(&sent, "tool_choice"),
        [json!("auto"), json!("required"), json!("none"), named]
    );

    let sent = of(&ANTHROPIC, "claude-sonnet-4-6");
    assert_eq!(sent[0]["output_config"], json!({ "effort": "low" }));
    assert_eq!(sent[0]["thinking"], json!({ "type": "adaptive" }));
    assert_eq!(of(&ANTHROPIC, "claude-opus-4-5")[0].get("thinking"), None);
    let words = choices(&sent, "tool_choice");
    assert_eq!(
        words[..3],
        ["auto", "any", "none"].map(|word| json!({ "type": word }))
    );
    assert_eq!(words[3], json!({ "type": "tool", "name": "weather__get" }));

    let sent = of(&GEMINI, "gemini-3-pro");
    assert_eq!(
        sent[0]["generationConfig"],
        json!({
            "temperature": 0.5, "topP": 0.9, "seed": 7, "maxOutputTokens": 64, "topK": 4,
            "thinkingConfig": { "thinkingLevel": "low" },
        })
    );
    let before = &of(&GEMINI, "gemini-2.5-flash")[0];
    assert_eq!(
        before["generationConfig"]["thinkingConfig"],
        json!({ "thinkingBudget": 1024 })
    );
    let modes = choices(&sent, "toolConfig");
    let modes: Vec<&Value> = modes
        .iter()
        .map(|mode| &mode["functionCallingConfig"])
        .collect();
    assert_eq!(*modes[1], json!({ "mode": "ANY" }));
    assert_eq!(
        *modes[3],
        json!({ "mode": "ANY", "allowedFunctionNames": ["weather__get"] })
    );
}

#[test]
fn anthropic_is_told_what_to_cache_unless_that_is_switched_off() {
    let said = assistant(
        r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"weather__get","input":{}}]}"#,
    );
    let results = Message::Results(vec![result("a", "sunny", false)]);
    let marks = |messages: &[Message], parameters: Value| {
        let sent = sent_with(&super::ANTHROPIC, "claude-x", messages, parameters, None);
        let is_marked = |at: &str| {
            sent.pointer(at)
                .is_some_and(|block| block.get("cache_control").is_some())
        };
        let blocks = [
            "/tools/0",
            "/system/0",
            "/messages/0/content/0",
            "/messages/2/content/0",
        ];
        assert_eq!(
            sent.to_string().matches("cache_control").count(),
            blocks.iter().filter(|at| is_marked(at)).count(),
            "{sent}"
        );
        blocks.map(is_marked)
    };
    let (first, second) = ([user("hi")], [user("hi"), said, results]);
    assert_eq!(marks(&first, json!({})), [true, true, true, false]);
    assert_eq!(
        marks(&second, json!({})),
        [true, true, false, true],
        "the mark moves on"
    );
    assert_eq!(
        marks(&second, json!({ "prompt_caching": false })),
        [false; 4]
    );
}
