//! Runs that lead a library to the right state, and runs that do not.

use super::super::trial::{findings, judged, problems, value};
use crate::report::Evidence;
use serde_json::{Value, json};

/// A library of pages: one may be opened, and an open one deleted.
const WORLD: &str = "
scenario:
  seed: { pages: { a: shut, b: shut, c: locked } }
  transitions:
    - tool: open_page
      when: { 'pages.{id}': shut }
      effect: { set: { 'pages.{id}': open } }
    - tool: delete_page
      when: { 'pages.{id}': open }
      effect: { unset: ['pages.{id}'] }
";

fn block(more: &str) -> String {
    format!("prompt: p{WORLD}  {}", more.trim().replace('\n', "\n  "))
}

fn call(tool: &str, id: &str) -> Value {
    json!({"name": tool, "server": "docs", "args": {"id": id}})
}

fn run(calls: &[Value], failed: &[usize]) -> Value {
    let results =
        (0..calls.len()).map(|at| json!({"call_index": at, "is_error": failed.contains(&at)}));
    json!({"tool_calls": calls, "tool_results": results.collect::<Vec<_>>(), "final_response": "Done."})
}

const GOLDEN: &str = "
golden:
  calls:
    - search
    - { tool: docs.open_page, args: { id: a } }
    - { tool: open_page, args: { id: b } }
    - { tool: delete_page, args: { id: b } }
  alternates:
    - [{ tool: open_page, args: { id: a } }]
";

#[test]
fn the_state_decides_and_not_the_order_of_calls() {
    let right = [
        call("open_page", "b"),
        call("search", "x"),
        call("delete_page", "b"),
        call("open_page", "a"),
    ];
    let report = judged(
        &block(GOLDEN),
        None,
        &[run(&right, &[]), run(&right[3..], &[])],
    );
    assert_eq!(value(&report, "scenario.passed"), Some(1.0));
    assert_eq!(value(&report, "scenario.diverged_at"), Some(0.0));
    assert_eq!(value(&report, "scenario.escalations"), None);
    let report = judged(&block(GOLDEN), None, &[run(&right[..2], &[])]);
    assert_eq!(
        value(&report, "scenario.state_differences"),
        Some(2.0),
        "a is shut, and b is not gone"
    );
    assert_eq!(
        value(&report, "scenario.diverged_at"),
        Some(0.0),
        "it stopped on the path"
    );
    let golden_none = block("golden: { calls: [] }");
    assert!(
        judged(&golden_none, None, &[run(&[], &[])])
            .not_exercised
            .is_some()
    );
}

#[test]
fn a_failed_call_changes_nothing_and_an_invalid_one_is_counted() {
    let calls = [
        call("open_page", "c"),
        call("open_page", "a"),
        call("open_page", "a"),
    ];
    let report = judged(&block(GOLDEN), None, &[run(&calls, &[0, 1])]);
    assert_eq!(value(&report, "scenario.passed"), Some(1.0));
    assert_eq!(value(&report, "scenario.invalid_actions"), Some(1.0));
    assert_eq!(value(&report, "scenario.recovery_attempts"), Some(2.0));
    assert_eq!(
        findings(&report),
        ["run 1: call 1 `open_page` cannot be made: `pages.c` is \"locked\", and must be \"shut\""]
    );
    let report = judged(&block(GOLDEN), None, &[run(&calls[1..], &[])]);
    assert!(
        findings(&report)[0].ends_with("; yet its result is no error"),
        "{:?}",
        findings(&report)
    );
}

#[test]
fn the_call_that_leaves_every_golden_path_is_named_unless_the_state_comes_back() {
    let wrong = [
        call("open_page", "b"),
        call("open_page", "a"),
        call("delete_page", "a"),
    ];
    let report = judged(&block(GOLDEN), None, &[run(&wrong, &[])]);
    assert_eq!(value(&report, "scenario.diverged_at"), Some(3.0));
    assert_eq!(
        findings(&report),
        [
            "run 1: call 3 `delete_page` leaves every golden path",
            "run 1: the run did not end in the expected state"
        ]
    );
    assert_eq!(report.explanation[1].diff[0].pointer, "/pages/a");
    assert_eq!(
        report.explanation[1].diff.len(),
        2,
        "a is gone, and b is still there"
    );
}

#[test]
fn a_forbidden_call_fails_the_run_whatever_it_leads_to() {
    let policy = format!(
        "{GOLDEN}forbidden:\n  - tool: delete_page\n    when: {{ args.id: b, pages.a: shut }}\n    reason: a goes first\n"
    );
    // The golden path itself opens a first.
    let right = [
        call("open_page", "a"),
        call("open_page", "b"),
        call("delete_page", "b"),
    ];
    assert_eq!(
        value(
            &judged(&block(&policy), None, &[run(&right, &[])]),
            "scenario.passed"
        ),
        Some(1.0)
    );
    let wrong = [
        call("open_page", "b"),
        call("docs__delete_page", "b"),
        call("open_page", "a"),
    ];
    let report = judged(&block(&policy), None, &[run(&wrong, &[])]);
    assert_eq!(value(&report, "scenario.state_matched"), Some(1.0));
    assert_eq!(value(&report, "scenario.passed"), Some(0.0));
    assert_eq!(
        findings(&report),
        ["run 1: call 2 `delete_page` is forbidden: a goes first"]
    );
}

#[test]
fn refusals_and_escalations_are_held_to_what_is_expected() {
    let idle = run(&[call("search", "x")], &[]);
    let acts = run(&[call("open_page", "c")], &[0]);
    let passed = |block_of: &str, run: &Value| {
        value(
            &judged(&block(block_of), None, std::slice::from_ref(run)),
            "scenario.passed",
        ) == Some(1.0)
    };
    assert!(passed("refusal: true", &idle) && !passed("refusal: true", &acts));
    assert!(
        !passed("refusal: true", &json!({"tool_calls": []})),
        "it said nothing"
    );
    assert!(!passed("refusal: false", &idle) && passed("refusal: false", &acts));
    let hands_over = "escalation: { tool: search }";
    assert!(passed(hands_over, &idle) && !passed(hands_over, &acts));
    assert!(!passed(
        "escalation: { tool: search, expected: false }",
        &idle
    ));
    let report = judged(&block(hands_over), None, std::slice::from_ref(&idle));
    assert_eq!(report.not_exercised, None, "handing over is an act");
}

#[test]
fn guards_on_the_final_state_take_the_place_of_the_golden_state() {
    let expected =
        "expect_state: { pages.a: open, pages.b: { exists: true }, pages.c: { ne: open } }";
    let report = judged(
        &block(expected),
        None,
        &[run(&[call("open_page", "a")], &[])],
    );
    assert_eq!(value(&report, "scenario.passed"), Some(1.0));
    let report = judged(
        &block(expected),
        None,
        &[run(&[call("open_page", "b")], &[])],
    );
    assert_eq!(value(&report, "scenario.state_differences"), Some(1.0));
    assert_eq!(report.explanation[0].diff[0].pointer, "/pages/a");
}

#[test]
fn a_recorded_state_that_the_calls_do_not_lead_to_fails_the_run() {
    let mut recorded = run(&[call("open_page", "a")], &[]);
    recorded["final_state"] = json!({"pages": {"a": "open", "b": "shut", "c": "locked"}});
    assert_eq!(
        value(
            &judged(&block(GOLDEN), None, &[recorded.clone()]),
            "scenario.passed"
        ),
        Some(1.0)
    );
    recorded["final_state"]["pages"]["b"] = json!("open");
    let report = judged(&block(GOLDEN), None, &[recorded]);
    assert_eq!(value(&report, "scenario.passed"), Some(0.0));
    assert_eq!(
        findings(&report),
        ["run 1: the recorded final state is not the one that the recorded calls lead to"]
    );
}

#[test]
fn a_golden_path_that_the_world_does_not_allow_is_refused_and_so_is_a_block_that_judges_nothing() {
    let first = |more: &str| {
        problems(&block(more))
            .into_iter()
            .next()
            .unwrap_or_default()
    };
    assert_eq!(
        first(""),
        "error: nothing says what a right run is, so no run could fail (write `expect_state:` or `golden:`)"
    );
    assert_eq!(
        first("golden: { calls: [{ tool: delete_page, args: { id: a } }] }"),
        "error: call 1 of this golden path, `delete_page`, cannot be made: `pages.a` is \"shut\", and must be \"open\""
    );
    assert_eq!(
        first(
            "forbidden: [{ tool: open_page, reason: no }]\ngolden: { calls: [{ tool: open_page, args: { id: a } }] }"
        ),
        "error: call 1 of this golden path, `open_page`, is forbidden: no"
    );
    assert!(
        first("expect_state: { 'pages.{id}': open }").contains("no argument can be named here")
    );
}

#[test]
fn the_states_that_are_drawn_differ_as_often_as_the_target_says() {
    let wrong = [
        call("open_page", "b"),
        call("open_page", "a"),
        call("delete_page", "a"),
    ];
    let report = judged(&block(GOLDEN), None, &[run(&wrong, &[])]);
    let Some(Evidence::Scenario { runs, left_out: 0 }) = report.evidence.as_deref() else {
        panic!()
    };
    let run = &runs[0];
    assert_eq!(
        Some(run.differences.len() as f64),
        value(&report, "scenario.state_differences")
    );
    assert_eq!(
        run.left_at_call.map(|call| call as f64),
        value(&report, "scenario.diverged_at")
    );
    assert_eq!(run.before["pages"]["a"], "shut");
    assert_eq!(run.after["pages"], json!({ "b": "open", "c": "locked" }));
    for one in &run.differences {
        let at = |state: &Value| state.pointer(&one.pointer).cloned().unwrap_or_default();
        assert_eq!(
            (at(run.expected.as_ref().unwrap()), at(&run.after)),
            (one.expected.clone(), one.actual.clone())
        );
    }
}
