//! A walk through the document on offline trace validation: its code and its claims.
//!
//! Elsewhere: the two commands (recording, and judging again offline) are in `cli/tests/seeds.rs`;
//! the same rules in a suite are in `seed_000`.
//!
//! Not run: prose and the origin of the idea. Differences from the document: it calls the validator
//! a library without a block, but `trajectory:` and `golden_path:` are blocks; `MatchMode` has one
//! variant for its two names.

mod walk;

use mcptest_core::eval::trace_validation::validate_trace as by_its_module_path;
use mcptest_core::eval::{
    ExpectedArgs, ExpectedCall, ExpectedTrace, GoldenPath, MatchMode, PathScore, TraceMismatch,
    TraceValidation, score_golden_path, tool_calls_from_envelope, validate_trace,
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
        ExpectedCall {
            name: "search".into(),
            args: ExpectedArgs::Subset(serde_json::json!({"q": "rust"})),
        },
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
    let calls: Vec<Value> = ["search", "open", "summarize"]
        .iter()
        .map(|name| json!({ "name": name }))
        .collect();

    let golden = GoldenPath {
        calls: vec!["search".into(), "open".into(), "summarize".into()],
        allow_extra_steps: false,    // penalize calls beyond the path length
        penalize_backtracking: true, // penalize returning to an earlier tool
        penalize_repeated_tools: true, // penalize consecutive duplicate calls
    };
    let score = score_golden_path(&calls, &golden);
    assert!(score.passed); // true only when penalty == 1.0
    assert_eq!(score.penalty, 1.0);
    assert_eq!(golden, GoldenPath::new(["search", "open", "summarize"]));
    assert_eq!(
        (score.extra_steps, score.backtracks, score.repeated_tools),
        (0, 0, 0)
    );
}

#[test]
fn calls_are_found_under_a_cassette_at_the_root_or_nowhere() {
    assert_eq!(tool_calls_from_envelope(&cassette_value()).len(), 4);
    assert_eq!(
        tool_calls_from_envelope(&cassette_value()["trace"]).len(),
        4
    );
    assert!(tool_calls_from_envelope(&json!({})).is_empty());
}

#[test]
fn a_mismatch_names_both_indices_the_diffs_and_a_reason() {
    let calls = [
        json!({"name": "search", "args": {"q": "rst"}}),
        json!({"name": "close", "args": {}}),
    ];
    let expected = ExpectedTrace::strict(vec![
        ExpectedCall {
            name: "search".into(),
            args: ExpectedArgs::Subset(json!({"q": "rust"})),
        },
        ExpectedCall::by_name("open"),
        ExpectedCall::by_name("summarize"),
    ]);
    let result = validate_trace(&calls, &expected).unwrap();
    assert!(!result.passed);
    let [wrong_argument, wrong_name, ran_out] = &result.mismatches[..] else {
        panic!("{:?}", result.mismatches)
    };
    assert_eq!(
        (wrong_argument.expected_index, wrong_argument.recorded_index),
        (0, Some(0))
    );
    assert!(wrong_argument.diffs[0].pointer.ends_with("/q"));
    assert_eq!(wrong_name.diffs[0].pointer, "/name");
    assert_eq!((ran_out.expected_index, ran_out.recorded_index), (2, None));
    assert!(
        result
            .mismatches
            .iter()
            .all(|mismatch| !mismatch.reason.is_empty())
    );
}

#[test]
fn only_a_malformed_schema_is_an_error() {
    let calls = [json!({"name": "f", "args": {}})];
    let with = |schema: Value| {
        ExpectedTrace::strict(vec![ExpectedCall {
            name: "f".into(),
            args: ExpectedArgs::Schema(schema),
        }])
    };
    assert!(validate_trace(&calls, &with(json!({"type": 12}))).is_err());
    assert!(
        !validate_trace(&calls, &with(json!({"required": ["q"]})))
            .unwrap()
            .passed
    );
}

#[test]
fn the_five_modes_relate_as_the_document_says() {
    let calls: Vec<Value> = ["a", "x", "b"]
        .iter()
        .map(|name| json!({ "name": name }))
        .collect();
    let named = |names: &[&str]| {
        names
            .iter()
            .map(|name| ExpectedCall::by_name(*name))
            .collect::<Vec<_>>()
    };
    let passes = |expected: &ExpectedTrace| validate_trace(&calls, expected).unwrap().passed;
    assert!(!passes(&ExpectedTrace::strict(named(&["a", "b"]))));
    assert!(passes(&ExpectedTrace::strict(named(&["a", "x", "b"]))));
    assert!(passes(&ExpectedTrace::subsequence(named(&["a", "b"]))));
    assert!(!passes(&ExpectedTrace::subsequence(named(&["b", "a"]))));
    assert!(passes(&ExpectedTrace::unordered(named(&["b", "a"]))));
    assert!(passes(&ExpectedTrace::superset(named(&["b", "a"]))));
    assert!(!passes(&ExpectedTrace::subset(named(&["a", "b"]))));
    assert!(passes(&ExpectedTrace::subset(named(&[
        "x", "b", "a", "more"
    ]))));
    for empty in [
        ExpectedTrace::strict(vec![]),
        ExpectedTrace::subsequence(vec![]),
        ExpectedTrace::unordered(vec![]),
        ExpectedTrace::superset(vec![]),
    ] {
        assert!(passes(&empty));
    }
    assert!(!passes(&ExpectedTrace::subset(vec![])));
    assert!(
        validate_trace(&[], &ExpectedTrace::subset(vec![]))
            .unwrap()
            .passed
    );
}

#[test]
fn strict_and_exact_sequence_are_one_mode_and_the_result_has_the_fields_of_the_document() {
    assert_eq!(
        MatchMode::named("exact_sequence"),
        MatchMode::named("strict")
    );
    assert_eq!(MatchMode::named("exact-sequence"), Some(MatchMode::Strict));
    let expected = ExpectedTrace {
        mode: MatchMode::Strict,
        calls: vec![ExpectedCall::by_name("open")],
    };
    let TraceValidation { passed, mismatches } = validate_trace(&[], &expected).unwrap();
    let [
        TraceMismatch {
            expected_index,
            recorded_index,
            diffs,
            reason,
        },
    ] = &mismatches[..]
    else {
        panic!("{mismatches:?}")
    };
    assert_eq!((passed, *expected_index, *recorded_index), (false, 0, None));
    assert!(diffs.is_empty() && !reason.is_empty());
}

#[test]
fn the_shapes_of_arguments_hold_as_the_table_says() {
    let passes = |recorded: Value, args: ExpectedArgs| {
        let expected = ExpectedTrace::strict(vec![ExpectedCall {
            name: "f".into(),
            args,
        }]);
        validate_trace(&[recorded], &expected).unwrap().passed
    };
    let given = || json!({ "name": "f", "args": { "q": "rust", "tags": ["a", "b", "b"] } });
    for args in [
        ExpectedArgs::Any,
        ExpectedArgs::Ignore,
        ExpectedArgs::Exact(json!({ "tags": ["a", "b", "b"], "q": "rust" })),
        ExpectedArgs::Subset(json!({ "tags": ["b", "a"] })),
        ExpectedArgs::Schema(json!({ "required": ["q"] })),
    ] {
        assert!(passes(given(), args.clone()), "{args:?}");
    }
    for args in [
        ExpectedArgs::Exact(json!({ "q": "rust" })),
        ExpectedArgs::Subset(json!({ "tags": ["a", "a"] })),
        ExpectedArgs::Schema(json!({ "properties": { "q": { "maxLength": 3 } } })),
    ] {
        assert!(!passes(given(), args.clone()), "{args:?}");
    }
    for args in [ExpectedArgs::Any, ExpectedArgs::Ignore] {
        assert!(
            passes(json!({ "name": "f" }), args),
            "absent arguments are anything as well"
        );
    }
}

#[test]
fn waste_is_counted_even_where_it_is_not_penalized() {
    let score = |names: &[&str], golden: &GoldenPath| {
        score_golden_path(
            &names
                .iter()
                .map(|name| json!({ "name": name }))
                .collect::<Vec<_>>(),
            golden,
        )
    };
    let strictest = GoldenPath::new(["search", "open"]);
    let wasteful = ["search", "search", "open", "search"];
    let PathScore {
        passed,
        extra_steps,
        backtracks,
        repeated_tools,
        penalty,
    } = score(&wasteful, &strictest);
    assert_eq!(
        (passed, extra_steps, backtracks, repeated_tools),
        (false, 2, 1, 1)
    );
    assert_eq!(penalty, 1.0 / (1.0 + 0.5 * 4.0));
    let lenient = GoldenPath {
        allow_extra_steps: true,
        penalize_backtracking: false,
        penalize_repeated_tools: false,
        ..strictest.clone()
    };
    let forgiven = score(&wasteful, &lenient);
    assert_eq!(
        (
            forgiven.extra_steps,
            forgiven.backtracks,
            forgiven.repeated_tools
        ),
        (2, 1, 1)
    );
    assert!(forgiven.passed && forgiven.penalty == 1.0);
    let mut before = 1.0;
    for repeats in 1..6 {
        let wasted = score(
            &[&["search", "open"][..], &vec!["open"; repeats]].concat(),
            &strictest,
        )
        .penalty;
        assert!(wasted < before && wasted > 0.0, "more waste, less left");
        before = wasted;
    }
    assert_eq!(
        score(&["search"], &strictest).extra_steps,
        0,
        "a short run has no steps too many"
    );
}

#[test]
fn the_nesting_of_a_cassette_is_looked_at_first() {
    let both = json!({ "tool_calls": [{ "name": "root" }], "trace": { "tool_calls": [{ "name": "nested" }] } });
    assert_eq!(
        tool_calls_from_envelope(&both),
        [json!({ "name": "nested" })]
    );
}
