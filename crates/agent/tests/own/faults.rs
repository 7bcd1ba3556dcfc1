//! Faults of every kind, in virtual time and for their true length, on pipes and over HTTP.

use crate::support::{Run, SHOP, faults, got, json, mock, plain, shop};
use mcptest_agent::own::OwnOutcome;
use mcptest_mcp::client::ServerSpec;
use mcptest_mock::http::serve_on_loopback;
use serde_json::{Value, json};

fn counts(how_often: usize, patience: Option<f64>) -> Value {
    let mut step = json!({"server": "shop", "method": "tools/call", "params": {"name": "count", "arguments": {}}});
    if let Some(patience) = patience {
        step["patience"] = json!(patience);
    }
    Value::Array(vec![step; how_often])
}

async fn struck(steps: &Value, kind: &str, real: bool) -> OwnOutcome {
    let faults = faults(&format!(
        "[{{name: f, target: {{tool: count}}, kind: '{kind}', real: {real}}}]"
    ));
    Run {
        command: plain(steps),
        servers: vec![shop()],
        faults,
        ..Run::default()
    }
    .go()
    .await
}

fn text(answer: &Value) -> &str {
    answer["content"][0]["text"]
        .as_str()
        .unwrap_or_else(|| panic!("{answer}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn in_virtual_time_the_agent_is_told_at_once_and_the_connection_stays() {
    // The kind, the code and the words that the agent gets, what the second call gets, and whether the tool ran.
    let timed_out = r#"server "shop": no answer to tools/call count within 30 s"#;
    let broken = r#"server "shop": the answer to tools/call count is not a JSON-RPC message: it is not JSON"#;
    for (kind, code, message, second) in [
        ("hang", -32001, timed_out, None),
        ("wedged", -32001, timed_out, None),
        ("lost-response", -32001, timed_out, None),
        ("reply-after-cancel:60000", -32001, timed_out, None),
        ("recover-after:1", -32001, timed_out, Some("one")),
        ("error:-32050", -32050, "Server error", None),
        (
            "rate-limit:0",
            -32029,
            "too many requests: try again in 1 s",
            None,
        ),
        ("malformed", -32700, broken, None),
        (
            "disconnect",
            -32000,
            r#"server "shop": it exited while tools/call count was open"#,
            None,
        ),
    ] {
        let outcome = struck(&counts(2, None), kind, false).await;
        let seen = got(&outcome);
        assert_eq!(seen[0]["code"], json!(code), "{kind}");
        assert!(
            seen[0]["message"].as_str().unwrap().starts_with(message),
            "{kind}: {seen:?}"
        );
        match second {
            Some(second) => assert_eq!(text(&seen[1]), second, "{kind}"),
            None => assert_eq!(seen[1]["code"], seen[0]["code"], "{kind}"),
        }
        let trace = json(&outcome);
        assert_eq!(
            trace["tool_results"][0]["error"]["message"], seen[0]["message"],
            "{kind}"
        );
        let fault = &trace["faults"][0];
        assert_eq!(fault["name"], json!("f"));
        assert_eq!(
            (&fault["kind"], &fault["call_index"], &fault["detected"]),
            (&json!(kind), &json!(0), &json!(true))
        );
        let struck = if second.is_some() { 1 } else { 2 };
        assert_eq!(trace["faults"].as_array().unwrap().len(), struck, "{kind}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_answer_comes_at_once_and_its_virtual_time_is_recorded() {
    let outcome = struck(&counts(1, None), "slow:20000", false).await;
    assert_eq!(text(&got(&outcome)[0]), "one");
    let fault = &json(&outcome)["faults"][0];
    assert_eq!(
        (&fault["virtual_ms"], &fault["detected"]),
        (&json!(20_000), &json!(false))
    );
    let outcome = struck(&counts(1, None), "slow:3600000", false).await;
    assert_eq!(
        got(&outcome)[0]["message"],
        json!(r#"server "shop": no answer to tools/call count within 30 s"#)
    );
    let fault = &json(&outcome)["faults"][0];
    assert_eq!(
        (&fault["virtual_ms"], &fault["detected"]),
        (&json!(3_600_000), &json!(true))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn only_calls_whose_answer_was_lost_or_broken_reached_the_server() {
    for (kind, next) in [
        ("hang", "one"),
        ("error:-1", "one"),
        ("lost-response", "two"),
        ("malformed", "two"),
    ] {
        let plan = mcptest_agent::FaultPlan::at_call("f".to_owned(), kind.parse().unwrap(), 0);
        let steps = counts(2, None);
        let setup = mcptest_agent::own::OwnSetup {
            hidden: Vec::new(),
            command: &plain(&steps),
            env: &[],
            cwd: None,
            prompt: "",
            servers: vec![shop()],
            faults: plan,
            distractors: None,
            time_budget: crate::support::PATIENCE,
            program: &crate::support::program(),
            on_call: std::sync::Arc::new(|_| {}),
        };
        let outcome = mcptest_agent::own::run(setup).await.unwrap();
        assert_eq!(text(&got(&outcome)[1]), next, "{kind}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn faults_strike_a_server_with_a_url_too() {
    let serving = serve_on_loopback(mock(SHOP)).await.unwrap();
    for (kind, code) in [
        ("hang", -32001),
        ("lost-response", -32001),
        ("malformed", -32700),
        ("disconnect", -32000),
        ("error:-7", -7),
    ] {
        let faults = faults(&format!(
            "[{{name: f, target: {{server: shop}}, kind: '{kind}'}}]"
        ));
        let mut steps = counts(1, None);
        steps[0]["via"] = json!("url");
        let servers = vec![ServerSpec::url("shop", &serving.url)];
        let outcome = Run {
            command: plain(&steps),
            servers,
            faults,
            ..Run::default()
        }
        .go()
        .await;
        assert_eq!(got(&outcome)[0]["code"], json!(code), "{kind}");
        assert_eq!(json(&outcome)["faults"][0]["kind"], json!(kind));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn held_for_its_true_length_silence_lasts_until_the_agent_gives_up() {
    for kind in [
        "hang",
        "lost-response",
        "reply-after-cancel:300",
        "slow:60000",
    ] {
        let outcome = struck(&counts(1, Some(0.2)), kind, true).await;
        assert_eq!(got(&outcome)[0], json!("gave up"), "{kind}");
        let trace = json(&outcome);
        let said = trace["tool_results"][0]["error"]["message"]
            .as_str()
            .unwrap();
        assert!(
            said.starts_with("the agent gave up after "),
            "{kind}: {said}"
        );
        assert_eq!(trace["faults"][0]["detected"], json!(true), "{kind}");
        assert!(trace["faults"][0]["virtual_ms"].is_u64(), "{kind}: {trace}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn held_for_its_true_length_an_agent_that_waits_for_ever_has_found_out_nothing() {
    let faults = faults("[{name: f, target: {tool: count}, kind: hang, real: true}]");
    let time_budget = Some(std::time::Duration::from_secs(3));
    let run = Run {
        command: plain(&counts(1, Some(600.0))),
        servers: vec![shop()],
        faults,
        time_budget,
        ..Run::default()
    };
    let outcome = run.go().await;
    let trace = json(&outcome);
    assert_eq!(trace["stop_reason"], json!("time_budget"));
    assert_eq!(trace["faults"][0]["detected"], json!(false), "{trace}");
    assert_eq!(
        trace["tool_results"][0]["error"]["message"],
        json!("no answer came before the agent ended")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn held_for_its_true_length_an_answer_is_late_broken_or_cut_off() {
    for kind in ["slow:150", "reply-after-cancel:150"] {
        let outcome = struck(&counts(2, None), kind, true).await;
        assert_eq!(
            (text(&got(&outcome)[0]), text(&got(&outcome)[1])),
            ("one", "two")
        );
        let trace = json(&outcome);
        assert_eq!(
            trace["tool_results"][0]["content"][0]["text"],
            json!("one"),
            "{kind}"
        );
        assert_eq!(trace["tool_calls"][1]["turn"], json!(1), "{kind}");
    }
    let outcome = struck(&counts(1, Some(0.5)), "malformed", true).await;
    let seen = got(&outcome);
    assert_eq!(seen[0], json!("gave up"));
    assert!(
        seen[1].as_str().unwrap().starts_with("{\"jsonrpc\""),
        "half of an answer: {seen}"
    );
    let outcome = struck(&counts(2, None), "disconnect", true).await;
    assert_eq!(got(&outcome), json!(["closed", "closed"]));
    assert_eq!(outcome.trace.tool_calls.len(), 2);
}
