//! A walk through the document on stability within a session: its code, its suites and its claims.

mod walk;

use mcptest_core::eval::{StabilityFloors, agent_stability, drift_flags};
use mcptest_core::report::Status;
use serde_json::{Value, json};

fn session(calls: usize, distinct: usize, lengths: &[usize], tokens: u64) -> Value {
    let calls: Vec<Value> = (0..calls)
        .map(|at| json!({ "name": "search", "server": "docs", "args": { "q": at % distinct } }))
        .collect();
    let turns: Vec<Value> =
        lengths.iter().map(|&length| json!({ "role": "assistant", "content": "x".repeat(length) })).collect();
    json!({ "tool_calls": calls, "conversation": { "tokens": { "total": tokens }, "turns": turns } })
}

#[test]
fn the_code_of_the_document_compiles_and_holds() {
    let trace_envelope = json!({
        "tool_calls": [{ "name": "search", "server": "docs", "args": { "q": "a" } }],
        "conversation": {
            "tokens": { "total": 3000 },
            "turns": [{ "role": "assistant", "content": "..." }]
        }
    });

    let report = agent_stability(&trace_envelope);
    let flags = drift_flags(&report, &StabilityFloors::default());
    assert!(flags.is_empty(), "within-session drift on: {flags:?}");
    assert_eq!(report.weakest_score(), 1.0, "one turn and one call show no progression");
    assert!(report.summary().contains("redundancy"));
}

#[test]
fn a_loop_shows_in_redundancy_and_in_cost() {
    let looping = agent_stability(&session(6, 1, &[10, 10], 60_000));
    assert!((looping.redundancy - 1.0 / 6.0).abs() < 1e-12);
    assert!((looping.cost_per_progress - 2_000.0 / 60_000.0).abs() < 1e-12);
    assert_eq!(drift_flags(&looping, &StabilityFloors::default()), ["redundancy", "cost_per_progress"]);
}

#[test]
fn shuffled_keys_are_still_a_repeat() {
    let envelope = json!({ "tool_calls": [
        { "name": "search", "args": { "q": "a", "page": 1 } },
        { "name": "search", "args": { "page": 1, "q": "a" } },
    ] });
    assert_eq!(agent_stability(&envelope).redundancy, 0.5);
}

const SMALLEST: &str = "
agents:
  - name: weather session stays stable
    model: claude-sonnet-4-5
    servers: [weather]
    prompt: What is the weather in Sacramento?
    runs: 5
    stability: {} # default gate: stability.weakest_score >= 0.5
";

const EXPLICIT: &str = "
agents:
  - name: weather session is stable on every dimension
    model: claude-sonnet-4-5
    servers: [weather]
    prompt: What is the weather in Sacramento?
    runs: 5
    stability:
      expect:
        - target: stability.score
          matcher: { schema: { minimum: 0.7 } }
        - target: stability.weakest_score
          matcher: { schema: { minimum: 0.5 } }
        - target: stability.variance
          matcher: { schema: { maximum: 0.05 } }
";

#[test]
fn the_default_gate_is_the_half_degraded_line() {
    let suite = walk::suite(&["weather"], SMALLEST);
    let good = session(4, 4, &[10, 12], 400);
    let bad = session(6, 1, &[10, 12], 400);
    assert!(walk::passes(&walk::gates(&suite, &vec![good.clone(); 5]), "stability"));
    let mut one_bad = vec![good; 4];
    one_bad.push(bad);
    let gates = walk::gates(&suite, &one_bad);
    assert!(!walk::passes(&gates, "stability"), "one bad run drives the weakest score down");
    assert!(walk::value(&gates, "stability.score") > 0.5);
}

#[test]
fn explicit_expectations_replace_the_default_gate() {
    let suite = walk::suite(&["weather"], EXPLICIT);
    let good = session(4, 4, &[10, 12], 400);
    assert!(walk::passes(&walk::gates(&suite, &vec![good; 5]), "stability"));
}

#[test]
fn a_single_run_and_a_model_graded_matcher_are_load_errors() {
    let one_run = SMALLEST.replace("runs: 5", "runs: 1");
    let refused = walk::refused(&format!("servers: {{weather: {{command: [w]}}}}\n{one_run}"));
    assert!(refused.iter().any(|message| message.contains("run")), "{refused:?}");
    for matcher in
        ["llm-judge: polite", "llm-jury: { rubric: r, jurors: [gpt-5] }", "similar: { to: a, model: m }"]
    {
        let graded =
            EXPLICIT.replace("matcher: { schema: { minimum: 0.7 } }", &format!("matcher: {{ {matcher} }}"));
        let refused = walk::refused(&format!("servers: {{weather: {{command: [w]}}}}\n{graded}"));
        assert!(refused.iter().any(|message| message.contains("asks a model")), "{matcher}: {refused:?}");
    }
}

#[test]
fn a_judge_of_the_meaning_stands_beside_the_gate_and_neither_moves_the_other() {
    let judged = "    expect: [{ target: final_response, matcher: { llm-judge: It is coherent. } }]\n";
    let suite = walk::suite(&["weather"], &format!("judge: {{ model: gpt-5 }}{SMALLEST}{judged}"));
    let name = "weather session stays stable";
    let said = |mut session: Value| {
        session["final_response"] = json!("It is sunny.");
        vec![session; 5]
    };
    let (good, bad) = (said(session(4, 4, &[10, 12], 400)), said(session(6, 1, &[10, 12], 400)));
    for (runs, score, stable, status) in [
        (&good, 0.9, true, Status::Passed),
        (&good, 0.1, true, Status::Failed),
        (&bad, 0.9, false, Status::Failed),
    ] {
        let report = walk::graded(&suite, name, runs, score);
        assert_eq!((walk::passes(&report.gates, "stability"), report.status), (stable, status));
    }
}
