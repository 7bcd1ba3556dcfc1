//! A walk through the document on choosing a method: its suite, and that every method it lists is a block.

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
    let gates = walk::gates(&suite, &[walk::trace(&[("get_weather", json!({"city": "Lisbon"}))])]);
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

#[test]
fn one_perfect_run_certifies_about_five_percent() {
    assert!((certified_lower(1, 1, 0.95).unwrap() - 0.05).abs() < 1e-9);
}

/// The three ways to ask a model, with the caps that the document advises, beside an exact floor.
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
        assert!(report.runs.iter().all(|run| run.expectations.iter().all(|one| one.grade.is_some())));
        assert_eq!(walk::gate(&report.gates, "eval").status, graded);
        assert!(walk::passes(&report.gates, "trajectory"), "no grade moves what is exact");
        assert_eq!(walk::graded(&suite, "prose", &runs, score).status, graded);
    }
    let wrong = walk::trace(&[("get_weather", json!({"city": "Lisbon"}))]);
    let report = walk::graded(&suite, "weather lookup reads well", &[wrong.clone(), wrong], 1.0);
    assert_eq!(report.status, Status::Failed, "a judge that is won over does not lift the floor");
}
