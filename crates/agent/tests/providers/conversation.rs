//! Both sides of a conversation, in every dialect.

use crate::asking::{Table, models, results, tool, user};
use mcptest_agent::dialect::{Answered, Arguments, Ask, Message, Part, Stop};
use mcptest_agent::provider::Deadlines;
use mcptest_provider_stub::{Call, Script, Step, Tokens};
use serde_json::json;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::time::Instant;

const LONG: Duration = Duration::from_secs(60);

fn shown(arguments: &Arguments) -> String {
    match arguments {
        Arguments::Json(raw) => raw.to_string(),
        Arguments::Text(text) => format!("text: {text}"),
    }
}

#[tokio::test]
async fn a_text_is_told_with_what_it_cost() {
    for model in models() {
        let usage = Tokens {
            prompt: 120,
            cached: 100,
            completion: 33,
            thoughts: 30,
            ..Tokens::default()
        };
        let step = Step {
            usage: Some(usage),
            ..Step::text("It is sunny.")
        };
        let table = Table::new(model, Script::of([step]));
        let reply = table.ask(&[user("How is the weather?")]).await.unwrap();
        assert_eq!(reply.text, "It is sunny.", "{model}");
        assert_eq!(reply.stop, Stop::EndTurn, "{model}");
        let counted = (
            reply.usage.prompt,
            reply.usage.cache_read,
            reply.usage.completion,
        );
        assert_eq!(counted, (Some(120), Some(100), Some(33)), "{model}");
        assert!(reply.calls.is_empty());
    }
}

#[tokio::test]
async fn parallel_calls_beside_a_text_are_answered_and_the_conversation_goes_on() {
    for model in models() {
        let calls = Step {
            thinking: Some("Two cities.".to_owned()),
            text: Some("Let me look.".to_owned()),
            ..Step::calls([
                Call::new("weather__get_forecast", json!({"city": "Oslo"})),
                Call::new("get_alerts", json!({})),
            ])
        };
        let table = Table::new(
            model,
            Script::of([calls, Step::text("It said: {{last_result}}")]),
        );
        let mut messages = vec![user("How is the weather?")];
        let reply = table
            .ask(&messages)
            .await
            .unwrap_or_else(|error| panic!("{model}: {error}"));
        assert_eq!(reply.stop, Stop::ToolUse, "{model}");
        assert_eq!(reply.text, "Let me look.", "{model}");
        let names: Vec<&str> = reply.calls.iter().map(|call| call.name.as_str()).collect();
        assert_eq!(names, ["weather__get_forecast", "weather__get_alerts"]);
        assert_eq!(
            shown(&reply.calls[0].arguments),
            r#"{"city":"Oslo"}"#,
            "{model}"
        );
        assert_eq!(shown(&reply.calls[1].arguments), "{}", "{model}");
        assert_eq!(
            reply
                .calls
                .iter()
                .map(|call| &call.id)
                .collect::<BTreeSet<_>>()
                .len(),
            2,
            "{model}"
        );

        let answered = results(&reply, &["sunny", "no alerts, the service is down"]);
        messages.extend([Message::Assistant(reply.message), answered]);
        let reply = table
            .ask(&messages)
            .await
            .unwrap_or_else(|error| panic!("{model}: {error}"));
        assert!(
            reply.text.ends_with("no alerts, the service is down"),
            "{model}: {}",
            reply.text
        );

        messages.extend([Message::Assistant(reply.message), user("Thanks!")]);
        assert_eq!(table.ask(&messages).await.unwrap().text, "ok", "{model}");
    }
}

#[tokio::test]
async fn what_a_model_said_is_sent_back_as_it_was_where_that_is_taken() {
    for model in ["claude-sonnet-4-5", "gpt-5", "gemini-3-pro"] {
        let step = Step {
            thinking: Some("Hm.".to_owned()),
            ..Step::calls([Call::new(
                "get_forecast",
                json!({"city": "Oslo", "days": 1.50}),
            )])
        };
        let table = Table::new(model, Script::of([step]));
        let reply = table.ask(&[user("go")]).await.unwrap();
        let (said, answered) = (reply.message.clone(), results(&reply, &["fine"]));
        table
            .ask(&[user("go"), Message::Assistant(reply.message), answered])
            .await
            .unwrap();
        let log = table.stub.log();
        let sent = log[1].body.to_string();
        let said: serde_json::Value = serde_json::from_str(said.get()).unwrap();
        let said = said.to_string();
        assert!(
            sent.contains(said.trim_matches(['[', ']'])),
            "{model}: {said} is not in {sent}"
        );
    }
}

#[tokio::test]
async fn arguments_that_cannot_be_read_are_kept_as_a_text_and_the_rest_of_the_reply_stands() {
    for model in ["gpt-5", "mistral-large-latest", "local/llama3"] {
        let broken = |text: &str| Call {
            name: "get_alerts".into(),
            args_text: Some(text.into()),
            ..Call::default()
        };
        let calls = [
            broken("{\"city\": \"Os"),
            broken("[1, 2]"),
            broken(""),
            broken("{\"city\":\n\"Rome\"}"),
            Call::new("get_forecast", json!({"city": "Oslo"})),
        ];
        let table = Table::new(model, Script::of([Step::calls(calls), Step::text("sorry")]));
        let reply = table.ask(&[user("go")]).await.unwrap();
        let arguments: Vec<String> = reply
            .calls
            .iter()
            .map(|call| shown(&call.arguments))
            .collect();
        assert_eq!(
            arguments,
            [
                "text: {\"city\": \"Os",
                "text: [1, 2]",
                "{}",
                "{\"city\": \"Rome\"}",
                "{\"city\":\"Oslo\"}"
            ],
            "{model}"
        );
        let answered = results(&reply, &["no such city", "no such city", "a", "b", "c"]);
        let reply = table
            .ask(&[user("go"), Message::Assistant(reply.message), answered])
            .await
            .unwrap();
        assert_eq!(reply.text, "sorry", "{model}");
    }
}

#[tokio::test]
async fn the_caller_of_a_call_is_kept() {
    let caller = json!({"type": "code_execution_20250825", "tool_id": "srvtoolu_1"});
    for model in ["claude-sonnet-4-5", "gpt-5", "local/llama3"] {
        let call = Call {
            caller: Some(caller.clone()),
            ..Call::new("get_forecast", json!({}))
        };
        let table = Table::new(
            model,
            Script::of([Step::calls([call, Call::new("get_alerts", json!({}))])]),
        );
        let reply = table.ask(&[user("go")]).await.unwrap();
        let kept = reply.calls[0]
            .caller
            .as_ref()
            .unwrap_or_else(|| panic!("{model}"));
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(kept.get()).unwrap(),
            caller,
            "{model}"
        );
        assert!(reply.calls[1].caller.is_none(), "{model}");
    }
}

#[tokio::test]
async fn code_that_waits_for_a_result_goes_on_in_its_container_only() {
    let step = Step {
        code: Some("get_alerts()".into()),
        ..Step::calls([Call::new("get_alerts", json!({}))])
    };
    let table = Table::new("claude-sonnet-4-5", Script::of([step, Step::text("done")]));
    let tools = [tool("weather__get_forecast"), tool("weather__get_alerts")];
    let deadlines = Deadlines {
        run: Instant::now() + LONG,
        answer: LONG,
    };
    let asks = async |messages: &[Message], container: Option<&str>| {
        let ask = Ask {
            code_execution: true,
            container,
            ..table.question(messages, &tools)
        };
        table.provider.ask(&ask, deadlines, &mut |_| {}).await
    };
    let first = asks(&[user("go")], None).await.unwrap();
    let container = first.container.clone().unwrap();
    let answered = results(&first, &["none"]);
    let messages = [user("go"), Message::Assistant(first.message), answered];
    let refused = asks(&messages, None).await.unwrap_err().to_string();
    let words =
        "container_id is required when there are pending tool uses generated by code execution";
    assert!(refused.contains(words), "{refused}");
    assert!(
        asks(&messages, Some("another"))
            .await
            .unwrap_err()
            .to_string()
            .contains("not found")
    );
    assert!(asks(&messages, Some(&container)).await.is_ok());
}

#[tokio::test]
async fn every_reason_to_stop_has_one_word() {
    let table_of = |model: &str| -> Vec<(&'static str, Stop)> {
        match model {
            "claude-sonnet-4-5" => vec![
                ("end_turn", Stop::EndTurn),
                ("max_tokens", Stop::MaxTokens),
                ("stop_sequence", Stop::StopSequence),
                ("pause_turn", Stop::Pause),
                ("refusal", Stop::Refusal),
                ("context_window", Stop::ContextWindow),
                ("something_new", Stop::Other("something_new".into())),
            ],
            "gpt-5" => vec![
                ("max_tokens", Stop::MaxTokens),
                ("content_filter", Stop::Refusal),
                ("refusal", Stop::Refusal),
            ],
            "gemini-2.5-pro" => vec![
                ("max_tokens", Stop::MaxTokens),
                ("refusal", Stop::Refusal),
                ("RECITATION", Stop::Refusal),
                ("malformed_call", Stop::MalformedCall),
                ("LANGUAGE", Stop::Other("language".into())),
            ],
            _ => vec![
                ("end_turn", Stop::EndTurn),
                ("max_tokens", Stop::MaxTokens),
                ("content_filter", Stop::Refusal),
                ("refusal", Stop::Refusal),
                ("context_window", Stop::ContextWindow),
                ("error", Stop::Other("error".into())),
            ],
        }
    };
    for model in models() {
        let wanted = table_of(model);
        let steps = wanted.iter().map(|(word, _)| Step {
            stop: Some((*word).into()),
            ..Step::text("well")
        });
        let table = Table::new(model, Script::of(steps));
        let mut messages = vec![user("go")];
        for (word, stop) in &wanted {
            let reply = table
                .ask(&messages)
                .await
                .unwrap_or_else(|error| panic!("{model} {word}: {error}"));
            assert_eq!(
                (reply.stop, reply.text.as_str()),
                (stop.clone(), "well"),
                "{model}: {word}"
            );
            messages.extend([Message::Assistant(reply.message), user("and?")]);
        }
    }
}

#[tokio::test]
async fn a_message_without_words_is_no_stumbling_block() {
    for model in models() {
        let table = Table::new(
            model,
            Script::of([Step::default(), Step::text("here I am")]),
        );
        let reply = table
            .ask(&[user("go")])
            .await
            .unwrap_or_else(|error| panic!("{model}: {error}"));
        assert_eq!(
            (reply.text.as_str(), reply.stop),
            ("", Stop::EndTurn),
            "{model}"
        );
        let reply = table
            .ask(&[
                user("go"),
                Message::Assistant(reply.message),
                user("hello?"),
            ])
            .await;
        assert_eq!(
            reply
                .unwrap_or_else(|error| panic!("{model}: {error}"))
                .text,
            "here I am",
            "{model}"
        );
    }
}

#[tokio::test]
async fn calls_that_come_without_an_id_get_one_that_no_other_call_has() {
    let call = || Call {
        id: Some(String::new()),
        ..Call::new("get_forecast", json!({}))
    };
    let table = Table::new(
        "gemini-3-pro",
        Script::of([Step::calls([call(), call()]), Step::calls([call()])]),
    );
    let reply = table.ask(&[user("go")]).await.unwrap();
    let mut ids: Vec<String> = reply.calls.iter().map(|call| call.id.clone()).collect();
    let answered = results(&reply, &["a", "b"]);
    let messages = [user("go"), Message::Assistant(reply.message), answered];
    let reply = table.ask(&messages).await.unwrap();
    ids.extend(reply.calls.iter().map(|call| call.id.clone()));
    assert_eq!(ids, ["call_0", "call_1", "call_2"]);
    let sent = table.stub.log()[1].body["contents"][2]["parts"].clone();
    assert_eq!(
        sent[0],
        json!({"functionResponse": {"name": "weather__get_forecast", "response": {"output": "a"}}})
    );
}

#[tokio::test]
async fn a_picture_in_a_result_is_shown_and_what_cannot_be_is_named() {
    for model in models() {
        let table = Table::new(
            model,
            Script::of([Step::calls([Call::new("get_forecast", json!({}))])]),
        );
        let reply = table.ask(&[user("go")]).await.unwrap();
        let content = vec![
            Part::Text("a map".into()),
            Part::Image {
                media_type: "image/png".into(),
                data: "iVBORw0KGgo=".into(),
            },
            Part::Image {
                media_type: "image/svg+xml".into(),
                data: "PHN2Zz4=".into(),
            },
        ];
        let call = &reply.calls[0];
        let answered = Answered {
            call_id: call.id.clone(),
            name: call.name.clone(),
            content,
            is_error: false,
        };
        let messages = [
            user("go"),
            Message::Assistant(reply.message),
            Message::Results(vec![answered]),
        ];
        table
            .ask(&messages)
            .await
            .unwrap_or_else(|error| panic!("{model}: {error}"));
        let sent = table.stub.log()[1].body.to_string();
        assert!(
            sent.contains("iVBORw0KGgo=") && sent.contains("a map"),
            "{model}: {sent}"
        );
        assert!(
            sent.contains("[image/svg+xml, 8 characters of base64]"),
            "{model}: {sent}"
        );
    }
}

#[tokio::test]
async fn an_error_of_a_tool_is_told_as_one() {
    for model in models() {
        let table = Table::new(
            model,
            Script::of([Step::calls([Call::new("get_forecast", json!({}))])]),
        );
        let reply = table.ask(&[user("go")]).await.unwrap();
        let answered = results(&reply, &["no such city"]);
        table
            .ask(&[user("go"), Message::Assistant(reply.message), answered])
            .await
            .unwrap();
        let sent = table.stub.log()[1].body.to_string();
        let mark = match model {
            "claude-sonnet-4-5" => r#""is_error":true"#,
            "gemini-2.5-pro" => r#"{"error":"no such city"}"#,
            _ => "Error: no such city",
        };
        assert!(sent.contains(mark), "{model}: {sent}");
    }
}

#[tokio::test]
async fn the_stub_refuses_what_a_provider_would() {
    for model in models() {
        let table = Table::new(
            model,
            Script::of([Step::calls([Call::new("get_forecast", json!({}))])]),
        );
        let reply = table.ask(&[user("go")]).await.unwrap();
        let error = table
            .ask(&[user("go"), Message::Assistant(reply.message), user("and?")])
            .await
            .unwrap_err();
        assert_eq!(error.status, Some(400), "{model}: {error}");
    }
}

#[tokio::test]
async fn a_script_is_chosen_by_the_run_and_the_prompt_and_a_run_keeps_its_own() {
    let script = Script::parse(
        "rules:
  - when: {prompt: weather, run: 1, every: 2}
    steps: [{fault: close}, {text: \"odd {{run}}\"}, {text: still odd}]
  - when: {prompt: weather}
    steps: [{text: \"even {{run}}\"}, {text: still even}]
steps: [{text: other}]
then: repeat
",
    )
    .unwrap();
    for model in models() {
        let table = Table::new(model, script.clone());
        let mut runs = Vec::new();
        for said in ["even 0", "odd 1", "even 2", "odd 3"] {
            let reply = table.ask(&[user("the weather?")]).await.unwrap();
            assert_eq!(reply.text, said, "{model}");
            runs.push([
                user("the weather?"),
                Message::Assistant(reply.message),
                user("and now?"),
            ]);
        }
        for (messages, said) in runs
            .iter()
            .zip(["still even", "still odd", "still even", "still odd"])
            .rev()
        {
            assert_eq!(table.ask(messages).await.unwrap().text, said, "{model}");
        }
        for _ in 0..2 {
            assert_eq!(
                table.ask(&[user("hello")]).await.unwrap().text,
                "other",
                "{model}"
            );
        }
    }
}
