//! A walk through the document on offline trace validation: its code and its claims.

mod walk;

use mcptest_core::eval::trace_validation::validate_trace as by_its_module_path;
use mcptest_core::eval::{
    ExpectedArgs, ExpectedCall, ExpectedTrace, GoldenPath, score_golden_path, tool_calls_from_envelope,
    validate_trace,
};
use serde_json::{Value, json};

fn cassette_value() -> Value {
    json!({ "trace": walk::trace(&[
        ("login", json!({})),
        ("search", json!({"q": "rust", "page": 1})),
        ("log_event", json!({})),
        ("open", json!({"id": 1})),
    ]) })
}

#[test]
fn the_calls_of_a_cassette_are_validated_as_written() -> Result<(), Box<dyn std::error::Error>> {
    let cassette_value = cassette_value();

    let calls = tool_calls_from_envelope(&cassette_value);
    let expected = ExpectedTrace::subsequence(vec![
        ExpectedCall { name: "search".into(), args: ExpectedArgs::Subset(serde_json::json!({"q": "rust"})) },
        ExpectedCall::by_name("open"),
    ]);
    let result = validate_trace(&calls, &expected)?;
    assert!(result.passed);
    assert!(result.mismatches.is_empty());
    assert!(by_its_module_path(&calls, &expected)?.passed);
    Ok(())
}

#[test]
fn the_golden_path_is_scored_as_written() {
    let calls: Vec<Value> =
        ["search", "open", "summarize"].iter().map(|name| json!({ "name": name })).collect();

    let golden = GoldenPath {
        calls: vec!["search".into(), "open".into(), "summarize".into()],
        allow_extra_steps: false,      // penalize calls beyond the path length
        penalize_backtracking: true,   // penalize returning to an earlier tool
        penalize_repeated_tools: true, // penalize consecutive duplicate calls
    };
    let score = score_golden_path(&calls, &golden);
    assert!(score.passed); // true only when penalty == 1.0
    assert_eq!(score.penalty, 1.0);
    assert_eq!(golden, GoldenPath::new(["search", "open", "summarize"]));
    assert_eq!((score.extra_steps, score.backtracks, score.repeated_tools), (0, 0, 0));
}

#[test]
fn calls_are_found_under_a_cassette_at_the_root_or_nowhere() {
    assert_eq!(tool_calls_from_envelope(&cassette_value()).len(), 4);
    assert_eq!(tool_calls_from_envelope(&cassette_value()["trace"]).len(), 4);
    assert!(tool_calls_from_envelope(&json!({})).is_empty());
}

#[test]
fn a_mismatch_names_both_indices_the_diffs_and_a_reason() {
    let calls = [json!({"name": "search", "args": {"q": "rst"}}), json!({"name": "close", "args": {}})];
    let expected = ExpectedTrace::strict(vec![
        ExpectedCall { name: "search".into(), args: ExpectedArgs::Subset(json!({"q": "rust"})) },
        ExpectedCall::by_name("open"),
        ExpectedCall::by_name("summarize"),
    ]);
    let result = validate_trace(&calls, &expected).unwrap();
    assert!(!result.passed);
    let [wrong_argument, wrong_name, ran_out] = &result.mismatches[..] else {
        panic!("{:?}", result.mismatches)
    };
    assert_eq!((wrong_argument.expected_index, wrong_argument.recorded_index), (0, Some(0)));
    assert!(wrong_argument.diffs[0].pointer.ends_with("/q"));
    assert_eq!(wrong_name.diffs[0].pointer, "/name");
    assert_eq!((ran_out.expected_index, ran_out.recorded_index), (2, None));
    assert!(result.mismatches.iter().all(|mismatch| !mismatch.reason.is_empty()));
}

#[test]
fn only_a_malformed_schema_is_an_error() {
    let calls = [json!({"name": "f", "args": {}})];
    let with = |schema: Value| {
        ExpectedTrace::strict(vec![ExpectedCall { name: "f".into(), args: ExpectedArgs::Schema(schema) }])
    };
    assert!(validate_trace(&calls, &with(json!({"type": 12}))).is_err());
    assert!(!validate_trace(&calls, &with(json!({"required": ["q"]}))).unwrap().passed);
}

#[test]
fn the_five_modes_relate_as_the_document_says() {
    let calls: Vec<Value> = ["a", "x", "b"].iter().map(|name| json!({ "name": name })).collect();
    let named = |names: &[&str]| names.iter().map(|name| ExpectedCall::by_name(*name)).collect::<Vec<_>>();
    let passes = |expected: &ExpectedTrace| validate_trace(&calls, expected).unwrap().passed;
    assert!(!passes(&ExpectedTrace::strict(named(&["a", "b"]))));
    assert!(passes(&ExpectedTrace::strict(named(&["a", "x", "b"]))));
    assert!(passes(&ExpectedTrace::subsequence(named(&["a", "b"]))));
    assert!(!passes(&ExpectedTrace::subsequence(named(&["b", "a"]))));
    assert!(passes(&ExpectedTrace::unordered(named(&["b", "a"]))));
    assert!(passes(&ExpectedTrace::superset(named(&["b", "a"]))));
    assert!(!passes(&ExpectedTrace::subset(named(&["a", "b"]))));
    assert!(passes(&ExpectedTrace::subset(named(&["x", "b", "a", "more"]))));
    for empty in [
        ExpectedTrace::strict(vec![]),
        ExpectedTrace::subsequence(vec![]),
        ExpectedTrace::unordered(vec![]),
        ExpectedTrace::superset(vec![]),
    ] {
        assert!(passes(&empty));
    }
    assert!(!passes(&ExpectedTrace::subset(vec![])));
    assert!(validate_trace(&[], &ExpectedTrace::subset(vec![])).unwrap().passed);
}
