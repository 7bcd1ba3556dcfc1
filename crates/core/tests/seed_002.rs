//! A walk through the document on stability within a session: its code, its suites and its claims.
//!
//! Elsewhere: commands (recording the example, `mcptest model-baseline diff`, the row in each
//! report) are in `cli/tests/seeds.rs`; the targets that compare runs are in `seed_000`.
//!
//! Not run: prose and links to papers. Differences from the document, as documented on the gate's
//! page: without `premises: none`, a score counts in the gate only if its premise holds, and the
//! default gate also requires that the runs took the same path.

mod walk;

use mcptest_core::eval::stability::agent_stability as by_its_module_path;
use mcptest_core::eval::{StabilityFloors, agent_stability, agent_stability_across, drift_flags};
use mcptest_core::report::Status;
use mcptest_core::trace::ConversationTrace;
use serde_json::{Value, json};

fn session(calls: usize, distinct: usize, lengths: &[usize], tokens: u64) -> Value {
    let calls: Vec<Value> = (0..calls)
        .map(|at| json!({ "name": "search", "server": "docs", "args": { "q": at % distinct } }))
        .collect();
    let turns: Vec<Value> = lengths
        .iter()
        .map(|&length| json!({ "role": "assistant", "content": "x".repeat(length) }))
        .collect();
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
    assert_eq!(
        report.weakest_score(),
        1.0,
        "one turn and one call show no progression"
    );
    assert_eq!(by_its_module_path(&trace_envelope).weakest_score(), 1.0);
}

fn of_tools(tools: &[&str]) -> Value {
    let calls: Vec<Value> = tools
        .iter()
        .zip(0..)
        .map(|(name, q)| json!({ "name": name, "args": { "q": q } }))
        .collect();
    json!({ "tool_calls": calls })
}

#[test]
fn the_four_formulas_are_those_of_the_table() {
    let repertoire = |tools: &[&str]| agent_stability(&of_tools(tools)).tool_usage_stability;
    assert_eq!(repertoire(&["a", "a", "b", "a", "c"]), 1.0 - 2.0 / 4.0);
    assert_eq!(
        (
            repertoire(&["a", "b", "c"]),
            repertoire(&["a", "a"]),
            repertoire(&["a"])
        ),
        (0.0, 1.0, 1.0)
    );
    let lengths =
        |lengths: &[usize]| agent_stability(&session(2, 2, lengths, 0)).response_consistency;
    // 10 and 30 have the mean 20 and the population deviation 10.
    assert!((lengths(&[10, 30]) - 0.5).abs() < 1e-12);
    assert_eq!(
        (lengths(&[10]), lengths(&[0, 0]), lengths(&[7, 7])),
        (1.0, 1.0, 1.0)
    );
    assert_eq!(lengths(&[0, 0, 0, 100]), 0.0, "no further down than 0");
    assert_eq!(agent_stability(&session(4, 3, &[], 0)).redundancy, 0.75);
    assert_eq!(agent_stability(&session(0, 1, &[9, 9], 0)).redundancy, 1.0);
    let cost =
        |calls, tokens| agent_stability(&session(calls, 2, &[9, 9], tokens)).cost_per_progress;
    assert_eq!(
        (cost(4, 4000), cost(4, 8000), cost(4, 0), cost(0, 10)),
        (1.0, 0.5, 1.0, 0.0)
    );
}

#[test]
fn an_empty_trace_and_the_envelope_of_no_run_are_steady() {
    for envelope in [
        json!({}),
        json!({ "tool_calls": [] }),
        ConversationTrace::default().to_envelope(),
    ] {
        let report = agent_stability(&envelope);
        let scores = [
            report.tool_usage_stability,
            report.response_consistency,
            report.redundancy,
            report.cost_per_progress,
        ];
        assert_eq!(scores, [1.0; 4], "{envelope}");
    }
}

#[test]
fn the_headline_is_the_lowest_of_four_and_the_summary_has_them_on_one_line() {
    let report = agent_stability(&session(4, 3, &[10, 30], 24_000));
    assert_eq!(report.weakest_score(), 0.25);
    let summary = report.summary();
    assert_eq!(summary.lines().count(), 1);
    for name in [
        "tool_usage_stability",
        "response_consistency",
        "redundancy",
        "cost_per_progress",
    ] {
        assert!(summary.contains(name), "{summary}");
    }
}

#[test]
fn a_floor_of_nothing_never_fires_and_a_floor_of_one_flags_all_that_is_short_of_it() {
    let floors = |floor| StabilityFloors {
        tool_usage_stability: floor,
        response_consistency: floor,
        redundancy: floor,
        cost_per_progress: floor,
    };
    let worst = agent_stability(&json!({
        "tool_calls": [],
        "conversation": { "tokens": { "total": 10 }, "turns": [
            { "role": "assistant", "content": "" }, { "role": "assistant", "content": "x" },
        ] },
    }));
    assert_eq!(worst.cost_per_progress, 0.0);
    assert!(
        drift_flags(&worst, &floors(0.0)).is_empty(),
        "0 is not strictly below 0"
    );
    let nearly = agent_stability(&session(10, 9, &[10, 10], 0));
    assert_eq!(
        drift_flags(&nearly, &floors(1.0)),
        ["redundancy"],
        "0.9, and 1 is not below 1"
    );
    assert_eq!(StabilityFloors::default(), floors(0.5));
}

#[test]
fn the_function_across_runs_has_the_three_numbers_of_the_targets() {
    let runs = [session(4, 4, &[], 0), session(4, 2, &[], 0)];
    let across = agent_stability_across(&runs).unwrap();
    assert_eq!(
        (across.score, across.weakest_score, across.variance),
        (0.75, 0.5, 0.0625)
    );
    let suite = walk::suite(
        &["weather"],
        &EXPLICIT
            .replace("runs: 5", "runs: 2")
            .replace("expect:", "premises: none\n      expect:"),
    );
    let gates = walk::gates(&suite, &runs);
    for (target, value) in [
        ("score", 0.75),
        ("weakest_score", 0.5),
        ("variance", 0.0625),
    ] {
        assert_eq!(
            walk::value(&gates, &format!("stability.{target}")),
            value,
            "{target}"
        );
    }
    assert!(
        !walk::passes(&gates, "stability"),
        "they swing by more than 0.05"
    );
}

#[test]
fn a_loop_shows_in_redundancy_and_in_cost() {
    let looping = agent_stability(&session(6, 1, &[10, 10], 60_000));
    assert!((looping.redundancy - 1.0 / 6.0).abs() < 1e-12);
    assert!((looping.cost_per_progress - 2_000.0 / 60_000.0).abs() < 1e-12);
    assert_eq!(
        drift_flags(&looping, &StabilityFloors::default()),
        ["redundancy", "cost_per_progress"]
    );
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
    assert!(walk::passes(
        &walk::gates(&suite, &vec![good.clone(); 5]),
        "stability"
    ));
    let mut one_bad = vec![good; 4];
    one_bad.push(bad);
    let gates = walk::gates(&suite, &one_bad);
    assert!(
        !walk::passes(&gates, "stability"),
        "one bad run drives the weakest score down"
    );
    assert!(walk::value(&gates, "stability.score") > 0.5);
}

#[test]
fn explicit_expectations_replace_the_default_gate() {
    let suite = walk::suite(&["weather"], EXPLICIT);
    let good = session(4, 4, &[10, 12], 400);
    assert!(walk::passes(
        &walk::gates(&suite, &vec![good.clone(); 5]),
        "stability"
    ));
    let mut one_half = vec![good; 4];
    one_half.push(session(6, 1, &[10, 12], 400));
    let gates = walk::gates(&suite, &one_half);
    let failed = walk::gate(&gates, "stability")
        .expectations
        .iter()
        .filter(|one| !one.passed)
        .count();
    assert_eq!(
        failed, 2,
        "the mean holds; the worst run and the swing do not"
    );
}

#[test]
fn without_the_block_nothing_is_computed() {
    let suite = walk::suite(
        &["weather"],
        SMALLEST.split("    stability").next().unwrap(),
    );
    assert!(walk::gates(&suite, &vec![session(6, 1, &[], 0); 5]).is_empty());
}

#[test]
fn a_single_run_and_a_model_graded_matcher_are_load_errors() {
    for runs in ["    runs: 1\n", ""] {
        let one_run = SMALLEST.replace("    runs: 5\n", runs);
        let refused = walk::refused(&format!(
            "servers: {{weather: {{command: [w]}}}}\n{one_run}"
        ));
        assert!(
            refused.iter().any(|message| message.contains("run")),
            "{refused:?}"
        );
    }
    for matcher in [
        "llm-judge: polite",
        "llm-jury: { rubric: r, jurors: [gpt-5] }",
        "similar: { to: a, model: m }",
    ] {
        let graded = EXPLICIT.replace(
            "matcher: { schema: { minimum: 0.7 } }",
            &format!("matcher: {{ {matcher} }}"),
        );
        let refused = walk::refused(&format!("servers: {{weather: {{command: [w]}}}}\n{graded}"));
        assert!(
            refused
                .iter()
                .any(|message| message.contains("asks a model")),
            "{matcher}: {refused:?}"
        );
    }
}

#[test]
fn a_judge_of_the_meaning_stands_beside_the_gate_and_neither_moves_the_other() {
    let judged =
        "    expect: [{ target: final_response, matcher: { llm-judge: It is coherent. } }]\n";
    let suite = walk::suite(
        &["weather"],
        &format!("judge: {{ model: gpt-5 }}{SMALLEST}{judged}"),
    );
    let name = "weather session stays stable";
    let said = |mut session: Value| {
        session["final_response"] = json!("It is sunny.");
        vec![session; 5]
    };
    let (good, bad) = (
        said(session(4, 4, &[10, 12], 400)),
        said(session(6, 1, &[10, 12], 400)),
    );
    for (runs, score, stable, status) in [
        (&good, 0.9, true, Status::Passed),
        (&good, 0.1, true, Status::Failed),
        (&bad, 0.9, false, Status::Failed),
    ] {
        let report = walk::graded(&suite, name, runs, score);
        assert_eq!(
            (walk::passes(&report.gates, "stability"), report.status),
            (stable, status)
        );
    }
}
