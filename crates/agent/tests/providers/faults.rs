//! What does the user read when a provider fails?

use crate::asking::{Table, models, user};
use mcptest_agent::provider::AskErrorKind::{
    self, Hung, Malformed, Refused, Rejected, Unavailable,
};
use mcptest_provider_stub::{Fault, Script, Step, Stub};
use std::time::Duration;

fn fault(step: impl Fn(&mut Step)) -> Step {
    let mut fault = Step::text("never seen");
    step(&mut fault);
    fault
}

async fn failure(model: &str, step: Step) -> (AskErrorKind, String, usize) {
    let table = Table::new(
        model,
        Script::of([Step {
            times: Some(99),
            ..step
        }]),
    );
    let error = table.ask(&[user("go")]).await.unwrap_err();
    let message = error.message.replace(&table.stub.url(), "URL");
    assert_eq!(error.tries as usize, table.stub.count(), "{message}");
    (error.kind, message, table.stub.count())
}

#[tokio::test]
async fn a_page_for_people_is_quoted() {
    for model in models() {
        let (kind, message, tries) = failure(model, Step::fault(Fault::Html)).await;
        assert_eq!((kind, tries), (Malformed, 5), "{message}");
        let said = "an HTML page arrived instead of JSON: <!DOCTYPE html> <html><head><title>502 Bad Gateway</title></head></html>; given up after 5 tries";
        assert!(message.ends_with(said), "{message}");
    }
}

#[tokio::test]
async fn json_that_is_cut_off_is_quoted() {
    for model in models() {
        let (kind, message, tries) = failure(model, Step::fault(Fault::Truncated)).await;
        assert_eq!((kind, tries), (Malformed, 5), "{message}");
        assert!(
            message.contains(": the JSON of the answer is cut off: {\""),
            "{message}"
        );
    }
}

#[tokio::test]
async fn a_connection_that_dies_is_tried_again_and_given_up_in_the_end() {
    let (kind, message, tries) = failure("claude-x", Step::fault(Fault::Close)).await;
    assert_eq!((kind, tries), (Unavailable, 5), "{message}");
    assert!(
        message.starts_with("anthropic at URL closed the connection without an answer: "),
        "{message}"
    );
    assert!(message.ends_with("; given up after 5 tries"), "{message}");
    let (kind, message, tries) = failure("gpt-5", Step::fault(Fault::Cut)).await;
    assert_eq!((kind, tries), (Unavailable, 5), "{message}");
    assert!(
        message.starts_with("openai: the answer broke off after "),
        "{message}"
    );
}

#[tokio::test]
async fn nobody_at_the_address_is_told_with_the_address() {
    let mut table = Table::new("claude-x", Script::default());
    let url = table.stub.url();
    drop(std::mem::replace(
        &mut table.stub,
        Stub::start(Script::default()).unwrap(),
    ));
    let address = url.strip_prefix("http://").unwrap();
    while tokio::net::TcpStream::connect(address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    let error = table.ask(&[user("go")]).await.unwrap_err();
    assert_eq!((error.kind, error.tries), (Unavailable, 5));
    assert!(
        error
            .message
            .starts_with(&format!("anthropic cannot be reached at {url}: ")),
        "{error}"
    );
}

#[tokio::test]
async fn a_provider_that_hangs_is_waited_for_no_longer_than_there_is_time() {
    for model in models() {
        let table = Table::new(model, Script::of([Step::fault(Fault::Hang)]));
        let (reply, retries) = table.watch(&[user("go")], Duration::from_millis(40)).await;
        let error = reply.unwrap_err();
        assert_eq!((error.kind, retries.len()), (Hung, 0), "{error}");
        assert!(error.message.contains(": no answer within "), "{error}");
    }
}

#[tokio::test]
async fn a_storm_of_429_is_waited_out() {
    for model in models() {
        let storm = Step {
            status: Some(429),
            times: Some(4),
            retry_after_ms: Some(3),
            ..Step::default()
        };
        let table = Table::new(model, Script::of([storm, Step::text("at last")]));
        let (reply, retries) = table.watch(&[user("go")], Duration::from_secs(30)).await;
        assert_eq!(reply.unwrap().text, "at last", "{model}");
        assert_eq!(
            retries
                .iter()
                .map(|retry| retry.attempt)
                .collect::<Vec<_>>(),
            [1, 2, 3, 4]
        );
        assert!(
            retries
                .iter()
                .all(|retry| retry.wait >= Duration::from_millis(3)),
            "{retries:?}"
        );
        assert!(
            retries[0]
                .why
                .ends_with("answered 429: This request would exceed your rate limit."),
            "{retries:?}"
        );
    }
}

#[tokio::test]
async fn a_storm_without_an_end_is_given_up() {
    let (kind, message, tries) = failure("claude-x", Step::status(529)).await;
    assert_eq!((kind, tries), (Unavailable, 5));
    assert_eq!(
        message,
        "anthropic answered 529: Overloaded; given up after 5 tries"
    );
}

#[tokio::test]
async fn a_wait_past_the_deadline_fails_at_once() {
    let told = |after: &str| Step {
        retry_after: Some(after.into()),
        ..Step::status(429)
    };
    for after in ["3600", "Wed, 21 Oct 2099 07:28:00 GMT"] {
        let (kind, message, tries) = failure("claude-x", told(after)).await;
        assert_eq!((kind, tries), (Unavailable, 1), "{message}");
        assert!(message.contains("; it asks to wait "), "{message}");
        assert!(
            message.ends_with(", which is longer than the remaining time"),
            "{message}"
        );
    }
}

#[tokio::test]
async fn when_one_is_told_to_wait_the_others_do_not_ask_either() {
    let told = Step {
        retry_after: Some("3600".into()),
        ..Step::status(429)
    };
    let table = Table::new("claude-x", Script::of([told]));
    table.ask(&[user("go")]).await.unwrap_err();
    let error = table.ask(&[user("another run")]).await.unwrap_err();
    assert_eq!((error.kind, error.tries), (Unavailable, 0));
    assert!(
        error.message.starts_with("anthropic asked to wait "),
        "{error}"
    );
    assert_eq!(table.stub.count(), 1);
}

#[tokio::test]
async fn a_key_that_is_not_let_in_is_traced_to_its_variable_and_not_repeated() {
    for family in mcptest_core::provider::FAMILIES {
        let (model, variable) = (family.model, family.keys[0]);
        let step = Step {
            message: Some("bad key stub-key-0123456789".into()),
            ..Step::status(401)
        };
        let (kind, message, tries) = failure(model, step).await;
        assert_eq!((kind, tries), (Rejected, 1));
        assert!(
            message.ends_with(&format!(
                "answered 401: bad key ${{{variable}}} (the key is taken from {variable})"
            )),
            "{message}"
        );
    }
    let (_, message, _) = failure("local/llama3", Step::status(401)).await;
    assert_eq!(
        message,
        "local answered 401: invalid x-api-key (no key was sent: name the variable that holds it as `api_key_env` of the provider `local`)"
    );
}

#[tokio::test]
async fn a_bad_key_that_google_calls_a_bad_request_is_traced_to_its_variable() {
    let raw = r#"{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}"#;
    let (_, message, _) = failure(
        "gemini-3-pro",
        Step {
            raw: Some(raw.into()),
            ..Step::status(400)
        },
    )
    .await;
    assert_eq!(
        message,
        "gemini answered 400: API key not valid. (the key is taken from GEMINI_API_KEY)"
    );
}

#[tokio::test]
async fn a_model_that_is_not_there_is_named_with_the_address() {
    let script = Script {
        models: vec!["claude-y".into()],
        ..Script::default()
    };
    let table = Table::new("claude-x", script);
    let error = table.ask(&[user("go")]).await.unwrap_err();
    assert_eq!((error.kind, error.status), (Rejected, Some(404)));
    let message = error.message.replace(&table.stub.url(), "URL");
    assert_eq!(
        message,
        "anthropic answered 404: model: claude-x (is `claude-x` the id of a model there, and URL the right base URL?)"
    );
}

#[tokio::test]
async fn a_prompt_that_is_held_back_is_told_why() {
    let blocked = || fault(|step| step.blocked = Some("PROHIBITED_CONTENT".into()));
    let (kind, message, _) = failure("gemini-3-pro", blocked()).await;
    assert_eq!(
        (kind, message.as_str()),
        (
            Refused,
            "gemini: the provider refused the prompt: PROHIBITED_CONTENT"
        )
    );
    let (kind, message, _) = failure("gpt-5", blocked()).await;
    assert_eq!(
        (kind, message.as_str()),
        (
            Rejected,
            "openai: the provider reports an error: PROHIBITED_CONTENT"
        )
    );
    let (kind, message, _) = failure("local/llama3", blocked()).await;
    assert_eq!(kind, Malformed);
    assert!(message.contains("(`choices` is empty)"), "{message}");
}

#[tokio::test]
async fn an_error_under_a_good_status_and_a_redirect_are_told() {
    let raw = |text: &str| fault(|step| step.raw = Some(text.into()));
    for model in models() {
        let (kind, message, tries) = failure(
            model,
            raw(r#"{"error":{"message":"out of cheese","code":502}}"#),
        )
        .await;
        assert_eq!((kind, tries), (Unavailable, 5), "{message}");
        assert!(
            message.contains(": the provider reports an error: out of cheese; given up"),
            "{message}"
        );
        let refused = raw(r#"{"error":{"message":"no such model","code":400}}"#);
        let (kind, message, tries) = failure(model, refused).await;
        assert_eq!((kind, tries), (Rejected, 1), "{message}");
        let (kind, message, _) = failure(model, raw(r#"{"hello": "world"}"#)).await;
        assert_eq!(kind, Malformed);
        assert!(
            message.contains(": the answer is not what this kind of provider sends ("),
            "{message}"
        );
        let (kind, message, _) = failure(model, raw("")).await;
        assert_eq!(kind, Malformed);
        assert!(
            message.contains(": the answer is empty; given up after 5 tries"),
            "{message}"
        );
        let (kind, message, _) = failure(
            model,
            Step {
                raw: Some("<html>moved</html>".into()),
                ..Step::status(302)
            },
        )
        .await;
        assert_eq!(kind, Rejected);
        assert!(
            message.ends_with(" (it redirects: make that the base URL)"),
            "{message}"
        );
    }
}

#[tokio::test]
async fn money_that_is_spent_does_not_come_back_by_trying() {
    let step = Step {
        raw: Some(
            r#"{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}"#.into(),
        ),
        ..Step::status(429)
    };
    let (kind, message, tries) = failure("gpt-5", step).await;
    assert_eq!((kind, tries), (Rejected, 1));
    assert_eq!(
        message,
        "openai answered 429: You exceeded your current quota"
    );
}

#[tokio::test]
async fn two_hundred_runs_at_once_are_answered_each_in_its_own_order() {
    let first = Step {
        gather: 200,
        ..Step::text("one")
    };
    let table = Table::new(
        "claude-x",
        Script::of([first, Step::text("two"), Step::text("three")]),
    );
    let table = std::sync::Arc::new(table);
    let mut runs = tokio::task::JoinSet::new();
    for run in 0..200 {
        let table = std::sync::Arc::clone(&table);
        runs.spawn(async move {
            let mut messages = vec![user(&format!("run {run}"))];
            let mut said = Vec::new();
            for _ in 0..3 {
                let reply = table.ask(&messages).await.unwrap();
                said.push(reply.text);
                messages.extend([
                    mcptest_agent::dialect::Message::Assistant(reply.message),
                    user("next"),
                ]);
            }
            said
        });
    }
    while let Some(said) = runs.join_next().await {
        assert_eq!(said.unwrap(), ["one", "two", "three"]);
    }
    assert_eq!(table.stub.count(), 600);
    assert_eq!(table.stub.most_under_way(), 200);
}
