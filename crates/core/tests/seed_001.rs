//! A walk through the document on choosing a method: its suite, and each method of its map with the
//! numbers it names.
//!
//! Elsewhere: recording and `mcptest eval --explain` are in `cli/tests/seeds.rs`; the match modes
//! and the path penalty are in `seed_000`.
//!
//! Not run: prose, links to papers and accuracies quoted from them.

mod walk;

use mcptest_core::eval::GATES;
use mcptest_core::eval::stats::certified_lower;
use mcptest_core::report::Status;
use serde_json::json;

const WORKED: &str = "
agents:
  - name: weather lookup is correct and efficient
    model: claude-sonnet-4-5
    servers: [weather]
    prompt: What is the weather in Sacramento?
    max_turns: 3
    max_tokens: 256
    # Did the right call happen, in an acceptable order?
    trajectory:
      mode: subsequence
      calls:
        - name: get_weather
          args:
            subset: { city: Sacramento }
    # Did it happen without backtracks or repeats?
    golden_path:
      calls: [get_weather]
";

#[test]
fn the_worked_example_layers_two_gates() {
    let suite = walk::suite(&["weather"], WORKED);
    let sacramento = ("get_weather", json!({"city": "Sacramento", "units": "F"}));
    let gates = walk::gates(&suite, &[walk::trace(std::slice::from_ref(&sacramento))]);
    assert!(walk::passes(&gates, "trajectory") && walk::passes(&gates, "golden_path"));
    let gates = walk::gates(&suite, &[walk::trace(&[sacramento.clone(), sacramento])]);
    assert!(
        walk::passes(&gates, "trajectory") && !walk::passes(&gates, "golden_path"),
        "right, but wasteful"
    );
    let gates = walk::gates(
        &suite,
        &[walk::trace(&[("get_weather", json!({"city": "Lisbon"}))])],
    );
    assert!(
        !walk::passes(&gates, "trajectory") && walk::passes(&gates, "golden_path"),
        "efficient, but wrong"
    );
}

#[test]
fn every_method_of_the_map_is_a_block() {
    for key in [
        "equal_function_sets",
        "distractors",
        "trajectory",
        "trajectory_axes",
        "golden_path",
        "tool_edges",
        "discovery",
        "stability",
        "eval",
    ] {
        assert!(GATES.iter().any(|gate| gate.key == key), "{key}");
    }
}

/// The gates of a block over runs that made these calls.
fn judged(gate: &str, runs: &[&[&str]]) -> Vec<mcptest_core::report::GateReport> {
    let agent = format!(
        "agents:\n  - {{ name: map, model: claude-sonnet-4-5, servers: [web], prompt: Look it up., runs: {}, {gate} }}\n",
        runs.len()
    );
    let calls = |names: &&[&str]| {
        walk::trace(
            &names
                .iter()
                .map(|name| (*name, json!({})))
                .collect::<Vec<_>>(),
        )
    };
    walk::gates(
        &walk::suite(&["web"], &agent),
        &runs.iter().map(calls).collect::<Vec<_>>(),
    )
}

#[test]
fn any_member_of_a_class_is_the_right_tool_and_misses_and_extras_both_show() {
    let classes = "equal_function_sets: { classes: [{ name: search, members: [web.search, google.search] }, { name: mail, members: [send] }] }";
    for search in ["web.search", "google.search"] {
        assert!(
            walk::passes(
                &judged(classes, &[&[search, "send"]]),
                "equal_function_sets"
            ),
            "{search}"
        );
    }
    let gates = judged(classes, &[&["google.search", "delete"]]);
    for target in ["precision", "recall", "f1"] {
        assert_eq!(
            walk::value(&gates, &format!("tool_selection.{target}")),
            50.0,
            "{target}"
        );
    }
    assert!(!walk::passes(&gates, "equal_function_sets"));
}

#[test]
fn a_policy_allows_restricts_and_declares_hand_offs() {
    let policy = "tool_edges: { allowed: [search], restricted: [delete], delegation: [{ from: planner, to: worker }] }";
    let gates = judged(policy, &[&["search"], &["search", "delete"]]);
    assert_eq!(walk::value(&gates, "edges.allowed_pct"), 100.0);
    assert_eq!(walk::value(&gates, "edges.restricted_attempts"), 1.0);
    assert_eq!(
        walk::value(&gates, "edges.delegation_pct"),
        0.0,
        "nobody handed over"
    );
    assert!(!walk::passes(&gates, "tool_edges"));
    assert!(walk::passes(&judged(policy, &[&["search"]]), "tool_edges"));
}

#[test]
fn a_prompt_that_names_a_tool_tests_no_discovery() {
    // The name of a server is a word like any other: the documents ask a server `weather` for the weather.
    walk::accepted(
        "servers: { web: { command: [w] } }\nagents:\n  - { name: map, model: m, servers: [web], prompt: Use web to look it up., discovery: {} }\n",
    );
    assert!(walk::passes(
        &judged("discovery: {}", &[&["search"]]),
        "discovery"
    ));
    assert!(
        !walk::passes(
            &judged("discovery: {}", &[&["look"], &["look_it_up"]]),
            "discovery"
        ),
        "named by the prompt"
    );
}

#[test]
fn one_perfect_run_certifies_about_five_percent_and_a_high_floor_needs_a_sample() {
    assert!((certified_lower(1, 1, 0.95).unwrap() - 0.05).abs() < 1e-9);
    let crowd = "distractors: { count: 5, correct: [search] }";
    for runs in [1, 30] {
        let gates = judged(crowd, &vec![&["search"][..]; runs]);
        let floor = walk::value(&gates, "distractors.certified_lower");
        assert!(
            (floor - 0.05_f64.powf(1.0 / runs as f64)).abs() < 1e-5,
            "{floor} of {runs}"
        );
        assert_eq!(walk::value(&gates, "distractors.accuracy"), 100.0);
    }
    // Clopper and Pearson, not Wald, which would say 1 of a perfect sample.
    assert!(certified_lower(30, 30, 0.95).unwrap() < 0.91);
}

/// The three ways to ask a model, with the document's recommended caps, and an exact floor.
const GRADED: &str = "
judge: { model: claude-sonnet-4-5 }
agents:
  - name: weather lookup reads well
    model: claude-sonnet-4-5
    servers: [weather]
    prompt: What is the weather in Sacramento?
    runs: 2
    expect:
      - target: final_response
        matcher: { llm-judge: It answers the question. }
      - target: final_response
        matcher:
          llm-jury:
            rubric: It is faithful to what the tool said.
            jurors: [{ model: claude-sonnet-4-5 }, { model: gpt-5 }, { model: gemini-2.5-pro }]
            quorum: 0.67
            max_cost: 0.25
    eval:
      rubric: It reads well.
      threshold: 0.7
    trajectory:
      mode: subsequence
      calls: [{ name: get_weather, args: { subset: { city: Sacramento } } }]
evals:
  - name: prose
    agent: weather lookup reads well
    rubric: It reads well.
    jurors: [claude-sonnet-4-5, gpt-5]
    max_cost: 0.1
";

#[test]
fn the_model_graded_surface_stands_beside_an_exact_floor() {
    let suite = walk::suite(&["weather"], GRADED);
    let right = walk::trace(&[("get_weather", json!({"city": "Sacramento"}))]);
    let runs = [right.clone(), right];
    for (score, graded) in [(0.9, Status::Passed), (0.3, Status::Failed)] {
        let report = walk::graded(&suite, "weather lookup reads well", &runs, score);
        assert_eq!(report.status, graded, "{:?}", report.reason);
        assert!(
            report
                .runs
                .iter()
                .all(|run| run.expectations.iter().all(|one| one.grade.is_some()))
        );
        assert_eq!(walk::gate(&report.gates, "eval").status, graded);
        assert!(
            walk::passes(&report.gates, "trajectory"),
            "no grade moves what is exact"
        );
        assert_eq!(walk::graded(&suite, "prose", &runs, score).status, graded);
    }
    let wrong = walk::trace(&[("get_weather", json!({"city": "Lisbon"}))]);
    let report = walk::graded(
        &suite,
        "weather lookup reads well",
        &[wrong.clone(), wrong],
        1.0,
    );
    assert_eq!(
        report.status,
        Status::Failed,
        "a judge that is won over does not lift the floor"
    );
}
