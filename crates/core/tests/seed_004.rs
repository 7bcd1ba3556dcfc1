//! A walk through the document on multi-run agents and the selection floor: its suites and its
//! claims.
//!
//! Elsewhere: recording the example, the names of the rows, exit code 1 and `--coverage-threshold`
//! are in `cli/tests/seeds.rs`.
//!
//! Not run: prose. Differences from the document: a cassette has all runs, and replay judges each
//! of them; a test is selected and recorded again with all its runs, never one of them.

mod walk;

use mcptest_core::eval::selection::{SelectionFloor, aggregate_selection};
use serde_json::{Value, json};

const RUNS: &str = "
agents:
  - name: weather selection
    model: claude-sonnet-4-5
    servers: [weather]
    prompt: What is the weather in Sacramento?
    runs: 10
";

const FLOOR: &str = "
    tool_selection:
      expected_tool: get_weather
      min_selection_rate: 0.8
      max_total_tokens: 2000
";

fn run(tool: &str, tokens: u64) -> Value {
    json!({ "tool_calls": [{ "name": tool }], "conversation": { "tokens": { "total": tokens } } })
}

fn runs(selected: usize, tokens: u64) -> Vec<Value> {
    (0..10)
        .map(|at| {
            run(
                if at < selected {
                    "get_weather"
                } else {
                    "web_search"
                },
                if at == 3 { tokens } else { 1500 },
            )
        })
        .collect()
}

#[test]
fn runs_are_counted_and_none_from_a_typo_is_one() {
    assert_eq!(walk::suite(&["weather"], RUNS).agents[0].runs, 10);
    assert_eq!(
        walk::suite(&["weather"], &RUNS.replace("runs: 10", "runs: 0")).agents[0].runs,
        1
    );
    assert_eq!(
        walk::suite(&["weather"], &RUNS.replace("    runs: 10\n", "")).agents[0].runs,
        1
    );
}

#[test]
fn the_line_is_printed_to_the_letter() {
    let suite = walk::suite(&["weather"], &format!("{}{}", RUNS.trim_end(), FLOOR));
    let gates = walk::gates(&suite, &runs(9, 1840));
    assert!(walk::passes(&gates, "tool_selection"));
    assert_eq!(
        walk::gate(&gates, "tool_selection").line.as_deref(),
        Some(
            "tool-selection floor [PASS] weather selection: selection 9/10 (90%), pass^k 90%, max tokens 1840"
        )
    );
}

#[test]
fn the_rate_and_the_budget_both_fail_the_floor() {
    let suite = walk::suite(&["weather"], &format!("{}{}", RUNS.trim_end(), FLOOR));
    assert!(
        walk::passes(&walk::gates(&suite, &runs(8, 1500)), "tool_selection"),
        "0.8 is met at 8 of 10"
    );
    assert!(!walk::passes(
        &walk::gates(&suite, &runs(7, 1500)),
        "tool_selection"
    ));
    assert!(
        !walk::passes(&walk::gates(&suite, &runs(10, 2001)), "tool_selection"),
        "one run over the cap is enough"
    );
}

#[test]
fn a_cap_without_a_recorded_count_fails() {
    let suite = walk::suite(&["weather"], &format!("{}{}", RUNS.trim_end(), FLOOR));
    let unmeasured: Vec<Value> = (0..10)
        .map(|_| json!({ "tool_calls": [{ "name": "get_weather" }] }))
        .collect();
    assert!(!walk::passes(
        &walk::gates(&suite, &unmeasured),
        "tool_selection"
    ));
}

#[test]
fn the_library_function_is_where_the_document_says() {
    let floor = |rate: &str, cap| SelectionFloor {
        expected_tool: "get_weather".into(),
        min_selection_rate: rate.parse().unwrap(),
        max_total_tokens: cap,
    };
    let summary = aggregate_selection(&runs(9, 1840), &floor("0.8", Some(2000)));
    assert!(summary.passed);
    assert_eq!(
        (summary.selected, summary.runs, summary.max_tokens),
        (9, 10, Some(1840))
    );
    assert_eq!(
        (summary.selection_percent(), summary.pass_hat_k()),
        (90, 90)
    );
    assert!(!aggregate_selection(&runs(9, 1840), &floor("0.91", None)).passed);
    assert!(
        aggregate_selection(&runs(10, 9_000_000), &floor("1.0", None)).passed,
        "no cap, no budget"
    );
}

#[test]
fn a_run_selects_the_tool_by_any_of_its_calls() {
    let suite = walk::suite(
        &["weather"],
        &format!("{}{}", RUNS.trim_end(), FLOOR).replace("runs: 10", "runs: 1"),
    );
    let second = json!({
        "tool_calls": [{ "name": "geocode" }, { "name": "get_weather" }],
        "conversation": { "tokens": { "total": 10 } },
    });
    assert!(walk::passes(
        &walk::gates(&suite, &[second]),
        "tool_selection"
    ));
}

#[test]
fn the_floor_and_the_expectations_of_a_run_are_independent() {
    let expect =
        "    expect: [{ target: \"tool_calls[0].name\", matcher: { exact: get_weather } }]\n";
    let suite = walk::suite(&["weather"], &format!("{}{FLOOR}{expect}", RUNS.trim_end()));
    let nine = runs(9, 1500);
    assert!(
        walk::passes(&walk::gates(&suite, &nine), "tool_selection"),
        "a floor over all runs"
    );
    assert_eq!(
        walk::expectations(&suite, &nine[9]),
        [false],
        "the shape of one run"
    );
    let without = walk::suite(&["weather"], RUNS);
    assert!(walk::gates(&without, &nine).is_empty(), "no block, no gate");
}

#[test]
fn a_rate_is_between_nothing_and_one() {
    for (rate, is_rate) in [
        ("0.0", true),
        ("1.0", true),
        ("1.1", false),
        ("-0.1", false),
    ] {
        let text = format!("{}{}", RUNS.trim_end(), FLOOR.replace("0.8", rate));
        let text = format!("servers: {{weather: {{command: [w]}}}}\n{text}");
        if is_rate {
            walk::accepted(&text);
        } else {
            assert!(!walk::refused(&text).is_empty(), "{rate}");
        }
    }
    let uncapped = FLOOR.replace("      max_total_tokens: 2000\n", "");
    walk::suite(&["weather"], &format!("{}{uncapped}", RUNS.trim_end()));
}

#[test]
fn the_fields_that_are_required_are_required() {
    for field in ["expected_tool: get_weather", "min_selection_rate: 0.8"] {
        let without = format!(
            "{}{}",
            RUNS.trim_end(),
            FLOOR.replace(&format!("      {field}\n"), "")
        );
        assert!(
            !walk::refused(&format!(
                "servers: {{weather: {{command: [w]}}}}\n{without}"
            ))
            .is_empty(),
            "{field}"
        );
    }
}
