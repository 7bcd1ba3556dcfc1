//! A walk through the document on choosing a method: its suite, and that every method it lists is a block.

mod walk;

use mcptest_core::eval::GATES;
use mcptest_core::eval::stats::certified_lower;
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
