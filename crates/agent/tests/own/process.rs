//! What does the program receive, what may it do wrong, and does nothing of it survive?

use crate::support::{Run, is_running, json, plain, sh, shop, words};
use serde_json::json;
use std::time::Duration;

#[tokio::test(flavor = "multi_thread")]
async fn the_prompt_is_on_stdin_and_in_a_variable_and_stdout_is_the_answer() {
    let script =
        r#"read -r line; rest=$(cat); echo "$line|$rest|$MCPTEST_PROMPT|$GREETING"; echo; echo"#;
    let run = Run {
        command: sh(script),
        prompt: "one\ntwo",
        env: vec![("GREETING".into(), "hi".into())],
        ..Run::default()
    };
    let outcome = run.go().await;
    assert_eq!(
        outcome.trace.final_response.as_deref(),
        Some("one|two|one\ntwo|hi")
    );
    assert_eq!(outcome.trace.stop_reason.as_deref(), Some("end_turn"));
    let turns = &json(&outcome)["conversation"]["turns"];
    assert_eq!(
        (&turns[0]["role"], &turns[1]["role"]),
        (&json!("user"), &json!("assistant"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn usage_is_read_and_a_broken_one_is_an_error_of_the_run() {
    let written = |text: &str| Run {
        command: sh(&format!(
            r#"printf '%s' '{text}' > "$MCPTEST_USAGE"; echo done"#
        )),
        ..Run::default()
    };
    let outcome =
        written(r#"{"input_tokens": 9, "output_tokens": 2, "model": "m", "cost_usd": 0.5}"#)
            .go()
            .await;
    let trace = json(&outcome);
    assert_eq!(
        trace["conversation"]["tokens"],
        json!({"prompt": 9, "completion": 2, "total": 11})
    );
    assert_eq!(
        (outcome.model.as_deref(), &trace["conversation"]["cost_usd"]),
        (Some("m"), &json!(0.5))
    );
    let outcome = written(r#"{"prompt_tokens": "lots"}"#).go().await;
    assert_eq!(outcome.trace.final_response.as_deref(), Some("done"));
    assert_eq!(outcome.trace.errors[0].kind, "agent");
    assert!(
        outcome.trace.errors[0].message.contains("MCPTEST_USAGE"),
        "{:?}",
        outcome.trace.errors
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_fails_or_is_not_there_is_an_error_with_its_last_words() {
    let outcome = Run {
        command: sh("echo so far; echo boom >&2; exit 3"),
        ..Run::default()
    }
    .go()
    .await;
    assert_eq!(outcome.trace.stop_reason.as_deref(), Some("error"));
    assert_eq!(outcome.trace.final_response.as_deref(), Some("so far"));
    let said = &outcome.trace.errors[0].message;
    assert!(said.contains("code 3") && said.contains("boom"), "{said}");
    assert_eq!(outcome.stderr, "boom");
    let outcome = Run {
        command: sh("kill -9 $$"),
        ..Run::default()
    }
    .go()
    .await;
    assert!(
        outcome.trace.errors[0].message.contains("SIGKILL"),
        "{:?}",
        outcome.trace.errors
    );
    let refused = Run {
        command: words(&["no-such-agent-qqq"]),
        ..Run::default()
    }
    .try_go(|_, _| {})
    .await;
    assert!(
        refused
            .unwrap_err()
            .to_string()
            .contains("`no-such-agent-qqq`")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_hangs_and_ignores_sigterm_ends_with_its_time_and_takes_its_grandchildren_along()
 {
    let script = "trap '' TERM; sh -c 'trap \"\" TERM; exec sleep 98761' & (setsid sleep 98762 &); echo partly; while :; do sleep 98763; done";
    let budget = Some(Duration::from_secs(2));
    let outcome = Run {
        command: sh(script),
        time_budget: budget,
        ..Run::default()
    }
    .go()
    .await;
    assert_eq!(outcome.trace.stop_reason.as_deref(), Some("time_budget"));
    assert_eq!(outcome.trace.final_response.as_deref(), Some("partly"));
    for left in ["98761", "98762", "98763"] {
        assert!(!is_running(left), "sleep {left} is still there");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_grandchild_that_holds_the_output_open_does_not_hold_up_the_run() {
    let outcome = Run {
        command: sh("sleep 98764 & echo answer"),
        ..Run::default()
    }
    .go()
    .await;
    assert_eq!(outcome.trace.stop_reason.as_deref(), Some("end_turn"));
    assert_eq!(outcome.trace.final_response.as_deref(), Some("answer"));
    assert!(!is_running("98764"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_never_reads_its_input_or_floods_its_outputs_is_no_trouble() {
    let prompt = "x".repeat(1 << 20);
    let script =
        "head -c 50000000 /dev/zero | tr '\\0' e >&2; head -c 50000000 /dev/zero | tr '\\0' o";
    let outcome = Run {
        command: sh(script),
        prompt: &prompt,
        ..Run::default()
    }
    .go()
    .await;
    assert_eq!(outcome.trace.stop_reason.as_deref(), Some("end_turn"));
    assert_eq!(
        outcome.trace.final_response.as_ref().unwrap().len(),
        16 << 20
    );
    assert!(
        outcome.trace.errors[0].message.contains("50000000 bytes"),
        "{:?}",
        outcome.trace.errors
    );
    assert!(outcome.stderr.len() <= 64 << 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_list_of_servers_is_for_the_agent_alone_and_gone_after_the_run() {
    let script = r#"stat -c %a "$MCPTEST_MCP_CONFIG" "$(dirname "$MCPTEST_MCP_CONFIG")"; echo "$MCPTEST_MCP_CONFIG""#;
    let outcome = Run {
        command: sh(script),
        servers: vec![shop()],
        ..Run::default()
    }
    .go()
    .await;
    let said = outcome.trace.final_response.unwrap();
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines[..2], ["600", "700"]);
    assert!(!std::path::Path::new(lines[2]).exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_dropped_leaves_nothing() {
    let (ready, mut is_ready) = tokio::sync::mpsc::unbounded_channel();
    let steps = json!([{"server": "shop", "method": "tools/call", "params": {"name": "count"}}, {"hang": true}]);
    let mut command = plain(&steps);
    command.push("dropped-98765".to_owned());
    let run = Run {
        command,
        servers: vec![shop()],
        ..Run::default()
    };
    let running = tokio::spawn(run.heard(move |_, _| ready.send(()).unwrap_or_default()));
    is_ready.recv().await.unwrap();
    assert!(is_running("dropped-98765"));
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled());
    for _ in 0..200 {
        if !is_running("dropped-98765") {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the agent is still there");
}
