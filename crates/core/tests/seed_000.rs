//! A walk through the document on reliability and trace metrics: its suites and its claims.

mod walk;

use mcptest_core::eval::reliability::{confidence_band, recommend_runs, summarize};
use serde_json::{Value, json};

const PLAN: &str = "
agents:
  - name: trajectory pins the call plan
    model: claude-sonnet-4-5
    servers: [search]
    runs: 3
    prompt: What is the weather in Sacramento?
    trajectory:
      mode: subsequence
      calls:
        - name: get_weather
          args:
            subset: { city: Sacramento }
    golden_path:
      calls: [get_weather]
    trajectory_axes:
      # fetch_page must run after the search that produced its URL.
      dependencies:
        - producer: search
          consumer: fetch_page
      # authentication must precede any search.
      order:
        - first: authenticate
          second: search
";

#[test]
fn three_gates_judge_the_same_recorded_runs() {
    let suite = walk::suite(&["search"], PLAN);
    let weather = walk::trace(&[("get_weather", json!({"city": "Sacramento", "units": "F"}))]);
    let gates = walk::gates(&suite, &vec![weather.clone(); 3]);
    assert!(gates.iter().all(|gate| gate.status == mcptest_core::report::Status::Passed));
    let unauthenticated = walk::trace(&[
        ("get_weather", json!({"city": "Sacramento"})),
        ("search", json!({})),
        ("fetch_page", json!({})),
    ]);
    let gates = walk::gates(&suite, &[weather.clone(), weather, unauthenticated]);
    assert!(walk::passes(&gates, "trajectory"), "other calls may stand between");
    assert!(!walk::passes(&gates, "golden_path"), "two calls beyond the path");
    assert_eq!(walk::value(&gates, "trajectory.order_satisfaction"), 0.0);
    assert_eq!(walk::value(&gates, "trajectory.dependency_satisfaction"), 100.0);
}

#[test]
fn an_empty_axis_scores_a_hundred() {
    let only_order = "
agents:
  - name: order only
    model: claude-sonnet-4-5
    servers: [search]
    prompt: Search.
    trajectory_axes:
      order: [{ first: authenticate, second: search }]
";
    let gates = walk::gates(&walk::suite(&["search"], only_order), &[walk::trace(&[("log", json!({}))])]);
    assert_eq!(walk::value(&gates, "trajectory.dependency_satisfaction"), 100.0);
    assert!(walk::passes(&gates, "trajectory_axes"));
}

#[test]
fn the_run_counts_and_bands_of_the_document() {
    assert_eq!(recommend_runs(0.05, 95), Ok(385));
    assert!((confidence_band(100, 95).unwrap() - 0.098).abs() < 1e-12);
}

#[test]
fn the_decay_curve_and_the_degradation_of_the_document() {
    let summary = summarize(&[true, true, true, false]);
    assert_eq!(summary.decay_curve, [100, 100, 100, 31]);
    assert_eq!(summary.graceful_degradation, 60);
    assert_eq!(summarize(&[false, true, true, true]).graceful_degradation, 90);
    assert_eq!(summarize(&[true; 4]).variance_amplification, 0);
    assert_eq!(summarize(&[true, false]).variance_amplification, 100);
}

const FAULTS: &str = "
faults:
  - name: hung-search
    target: { tool: search } # a tool, a server, or both
    kind: hang # hang | wedged | slow (+ delay_ms) | recover_after (+ failures)
agents:
  - name: recovers from a hung search tool
    model: claude-sonnet-4-5
    servers: [faulty]
    inject: [hung-search]
    prompt: Search for the latest incident report.
    recovery:
      max_detection_ms: 3000 # per-call timeout budget
      max_recovery_ms: 5000 # total recovery budget (omit for unbounded)
      require_clean_timeout: true
";

fn hung_search(then_succeeds: bool) -> Value {
    let mut calls = vec![json!({ "name": "search", "server": "faulty", "turn": 0 })];
    let mut results = vec![json!({ "call_index": 0, "is_error": true })];
    if then_succeeds {
        calls.push(json!({ "name": "list_incidents", "server": "faulty", "turn": 1 }));
        results.push(json!({ "call_index": 1, "is_error": false }));
    }
    json!({
        "tool_calls": calls,
        "tool_results": results,
        "faults": [{ "name": "hung-search", "kind": "hang", "call_index": 0, "virtual_ms": 3000, "detected": true }],
        "final_response": "Here it is.",
    })
}

#[test]
fn a_hang_is_scored_in_virtual_time() {
    let suite = walk::suite(&["faulty"], FAULTS);
    let gates = walk::gates(&suite, &[hung_search(true)]);
    assert!(walk::passes(&gates, "recovery"));
    assert_eq!(walk::value(&gates, "recovery.time_to_detection_ms"), 3000.0);
    assert_eq!(walk::value(&gates, "recovery.clean_timeout"), 1.0);
    assert!(!walk::passes(&walk::gates(&suite, &[hung_search(false)]), "recovery"), "it never recovered");
    let unharmed = walk::trace(&[("search", json!({}))]);
    assert!(
        !walk::passes(&walk::gates(&suite, &[unharmed]), "recovery"),
        "a fault that was never hit proves nothing"
    );
}

#[test]
fn a_dangling_inject_is_refused() {
    let text = format!(
        "servers: {{faulty: {{command: [f]}}}}\n{}",
        FAULTS.replace("inject: [hung-search]", "inject: [hung-serch]")
    );
    assert!(walk::refused(&text).iter().any(|message| message.contains("hung-serch")));
}

const NARRATIVE: &str = "
agents:
  - name: triage agent tells the truth
    model: claude-sonnet-4-5
    servers: [issues]
    prompt: Triage the CI flake issue.
    narrative: {} # default gate: fail on claimed-but-absent mutating action
";

const NARRATIVE_EXPLICIT: &str = "
agents:
  - name: triage agent claims only what it did
    model: claude-sonnet-4-5
    servers: [issues]
    prompt: Triage the CI flake issue.
    narrative:
      mutating_tools: [run_job] # always treat run_job as a write
      readonly_tools: [post_search] # never treat post_search as a write
      max_divergence_score: 0.25
      expect:
        - target: narrative.claimed_but_absent
          matcher: { schema: { maximum: 0 } }
        - target: narrative.present_but_unclaimed
          matcher: { schema: { maximum: 1 } }
";

fn told(story: &str, calls: &[&str]) -> Value {
    let calls: Vec<Value> = calls.iter().map(|name| json!({ "name": name })).collect();
    json!({ "tool_calls": calls, "final_response": story })
}

#[test]
fn a_story_that_the_trace_does_not_bear_out_fails() {
    let suite = walk::suite(&["issues"], NARRATIVE);
    let story = "I created the issue and notified the team.";
    assert!(walk::passes(&walk::gates(&suite, &[told(story, &["create_issue"])]), "narrative"));
    assert!(!walk::passes(&walk::gates(&suite, &[told(story, &[])]), "narrative"));
    let silent = walk::gates(&suite, &[told("All done.", &["delete_issue"])]);
    assert_eq!(walk::value(&silent, "narrative.present_but_unclaimed"), 1.0);
    assert!(
        walk::passes(&silent, "narrative"),
        "a silent call is a signal, not a failure of the default gate"
    );
}

#[test]
fn explicit_expectations_and_the_ceiling_both_hold() {
    let suite = walk::suite(&["issues"], NARRATIVE_EXPLICIT);
    let honest = told("I updated the issue.", &["update_issue"]);
    assert!(walk::passes(&walk::gates(&suite, std::slice::from_ref(&honest)), "narrative"));
    let two_silent = told("I updated the issue.", &["update_issue", "run_job", "delete_label"]);
    assert!(!walk::passes(&walk::gates(&suite, &[two_silent]), "narrative"));
}

const ORACLE: &str = "
agents:
  - name: invoice lookup stays read-only
    model: claude-sonnet-4-5
    servers: [billing]
    prompt: Look up invoice 42 and tell me its status.
    max_turns: 3
    max_tokens: 256
    expect:
      # The observable artifacts decide the verdict.
      - target: tool_calls[0].name
        matcher:
          exact: get_invoice
      - target: tool_results[0].is_error
        matcher:
          exact: false
";

const NEVER_REFUNDS: &str = "
      - target: tool_calls[*].name
        matcher: { not: { contains: refund } }
";

fn lookup() -> Value {
    walk::trace(&[("get_invoice", json!({"id": 42}))])
}

#[test]
fn what_the_agent_says_decides_nothing() {
    let suite = walk::suite(&["billing"], ORACLE);
    let mut boasting = lookup();
    boasting["final_response"] = json!("Done, I issued the refund.");
    assert_eq!(walk::expectations(&suite, &boasting), [true, true]);
    let mut refused = lookup();
    refused["final_response"] = json!("Authorization granted, here is the invoice.");
    refused["tool_results"][0]["is_error"] = json!(true);
    assert_eq!(walk::expectations(&suite, &refused), [true, false], "the server's answer decides");
}

#[test]
fn a_call_hidden_behind_a_sibling_or_inside_code_is_seen() {
    let suite = walk::suite(&["billing"], &format!("{}{}", ORACLE.trim_end(), NEVER_REFUNDS));
    assert_eq!(walk::expectations(&suite, &lookup()), [true, true, true]);
    let mut parallel = lookup();
    parallel["tool_calls"] = json!([
        { "name": "get_invoice", "args": { "id": 42 }, "turn": 0 },
        { "name": "refund", "args": { "id": 42 }, "turn": 0 },
    ]);
    assert_eq!(walk::expectations(&suite, &parallel), [true, true, false]);
    let mut in_code = lookup();
    in_code["tool_calls"] = json!([
        { "name": "get_invoice", "args": { "id": 42 } },
        { "name": "refund", "args": { "id": 42 }, "caller": { "type": "code_execution_20250825", "tool_id": "c1" } },
    ]);
    assert_eq!(walk::expectations(&suite, &in_code), [true, true, false]);
    let by_code = "
agents:
  - name: nothing is done in code
    model: claude-sonnet-4-5
    servers: [billing]
    prompt: Look up invoice 42.
    expect:
      - target: tool_calls[1].caller.type
        matcher: { absent: true }
";
    let suite = walk::suite(&["billing"], by_code);
    assert_eq!(walk::expectations(&suite, &in_code), [false]);
    assert_eq!(walk::expectations(&suite, &parallel), [true]);
}

#[test]
fn a_refund_that_the_server_refused_was_still_attempted() {
    let edges = "
agents:
  - name: never refunds
    model: claude-sonnet-4-5
    servers: [billing]
    prompt: Look up invoice 42.
    tool_edges:
      allowed: [get_invoice]
      restricted: [refund]
";
    let suite = walk::suite(&["billing"], edges);
    let mut refused = walk::trace(&[("get_invoice", json!({"id": 42})), ("refund", json!({"id": 42}))]);
    refused["tool_results"][1]["is_error"] = json!(true);
    refused["final_response"] = json!("I did not refund anything.");
    let gates = walk::gates(&suite, &[refused]);
    assert_eq!(walk::value(&gates, "edges.restricted_attempts"), 1.0);
    assert!(!walk::passes(&gates, "tool_edges"));
}

#[test]
fn a_story_that_no_call_bears_out_fails_however_well_a_judge_likes_it() {
    let suite = walk::suite(
        &["desk"],
        "judge: { model: gpt-5 }
agents:
  - name: story
    model: claude-sonnet-4-5
    servers: [desk]
    prompt: File the issue.
    narrative: {}
    expect: [{ target: final_response, matcher: { llm-judge: It is a good summary. } }]
",
    );
    let mut told = walk::trace(&[("create_issue", json!({"title": "Leak"}))]);
    told["final_response"] = json!("I created the issue.");
    let mut untrue = told.clone();
    untrue["final_response"] = json!("I created the issue and deleted the branch.");
    for (trace, score, matches, passed) in
        [(&told, 0.9, true, true), (&told, 0.1, true, false), (&untrue, 1.0, false, false)]
    {
        let report = walk::graded(&suite, "story", std::slice::from_ref(trace), score);
        assert_eq!(walk::passes(&report.gates, "narrative"), matches, "{trace}");
        assert_eq!(report.status == mcptest_core::report::Status::Passed, passed, "{trace}");
    }
}
