//! Calls that lower each axis, and axes with nothing to count.

use crate::engine::trial::{findings, header, judged, value};
use crate::report::{GateReport, Status};
use crate::trace::Header;
use serde_json::{Value, json};

const AGENT: &str = "prompt: x
orchestration:
  classes:
    - { name: find, members: [search, docs.open_page] }
    - { name: remove, members: [delete_page] }
";

fn catalogue() -> Header {
    let query =
        json!({"type": "object", "required": ["q"], "properties": {"q": {"type": "string"}}});
    header(json!([
        {"name": "search", "server": "docs", "input_schema": query},
        {"name": "open_page", "server": "docs", "input_schema": {"type": "objekt"}},
        {"name": "delete_page"},
    ]))
}

fn run(calls: &[(&str, Value, bool)]) -> Value {
    let called = |(name, args, _): &(&str, Value, bool)| json!({"name": name, "server": "docs", "args": args});
    let result = |(_, _, failed): &(&str, Value, bool)| json!({ "is_error": failed });
    json!({
        "tool_calls": calls.iter().map(called).collect::<Vec<_>>(),
        "tool_results": calls.iter().map(result).collect::<Vec<_>>(),
    })
}

fn axes(report: &GateReport) -> [f64; 5] {
    [
        "discovery",
        "parameterization",
        "syntax",
        "error_recovery",
        "efficiency",
    ]
    .map(|axis| value(report, &format!("orchestration.{axis}")).unwrap())
}

#[test]
fn each_axis_counts_over_all_calls_of_all_runs() {
    let first = run(&[
        ("search", json!({"q": 3}), true),
        ("open_page", json!({"id": 1}), false),
        ("open_page", json!({"id": 1.0}), false),
    ]);
    let second = run(&[
        ("serach", json!({"q": "x"}), true),
        ("search", json!({"q": "x"}), false),
    ]);
    let report = judged(AGENT, Some(&catalogue()), &[first, second]);
    assert_eq!(axes(&report), [50.0, 50.0, 80.0, 50.0, 80.0]);
    assert_eq!(report.status, Status::Passed, "it is only reported");
    assert_eq!(
        findings(&report),
        [
            "run 1: call 1 `search` has arguments that do not fit its schema",
            "run 1: call 3 `open_page` repeats call 2",
            "run 2: call 1 `serach` names no tool of the catalogue",
            "run 2: call 1 `serach` failed, and no later call of its kind succeeded",
            "no run reaches the class `remove` (delete_page)",
        ]
    );
    assert_eq!(report.explanation[0].diff[0].pointer, "/q");
}

#[test]
fn a_finding_that_is_not_shown_leaves_the_others_as_they_are() {
    let mut calls: Vec<(&str, Value, bool)> = (0..20)
        .map(|q| ("search", json!({ "q": q }), false))
        .collect();
    calls.push(("search", json!({}), false));
    let report = judged(AGENT, Some(&catalogue()), &[run(&calls)]);
    let last = report
        .explanation
        .iter()
        .rfind(|found| !found.diff.is_empty())
        .unwrap();
    assert!(
        last.message.starts_with("call 20 `search` "),
        "{}",
        last.message
    );
    assert_eq!(last.diff[0].pointer, "/q");
}

#[test]
fn the_same_call_in_another_run_is_not_a_repeat() {
    let once = run(&[("search", json!({"q": "x"}), false)]);
    let report = judged(AGENT, Some(&catalogue()), &[once.clone(), once]);
    assert_eq!(value(&report, "orchestration.efficiency"), Some(100.0));
}

#[test]
fn arguments_that_are_no_object_and_refusals_of_the_protocol_break_syntax() {
    let mut broken = run(&[
        ("search", json!("x"), false),
        ("search", json!(null), false),
        ("delete_page", json!({}), false),
        ("delete_page", json!({"a": 1}), false),
    ]);
    broken["tool_calls"][1] = json!({"name": "search", "args_text": "{q:"});
    broken["tool_results"][2] = json!({"error": {"code": -32602, "message": "no"}});
    broken["tool_results"][3] = json!({"error": {"code": -32603, "message": "no"}});
    let report = judged(AGENT, Some(&catalogue()), &[broken]);
    assert_eq!(value(&report, "orchestration.syntax"), Some(25.0));
    assert_eq!(value(&report, "orchestration.parameterization"), Some(0.0));
    assert_eq!(
        findings(&report)[2],
        "run 1: call 3 `delete_page` was refused by the protocol with -32602"
    );
}

#[test]
fn nothing_to_count_is_a_hundred_and_marked_where_it_is_asserted() {
    let calm = run(&[("search", json!({"q": "x"}), false)]);
    let reported = judged(AGENT, None, std::slice::from_ref(&calm));
    assert_eq!(axes(&reported), [50.0, 100.0, 100.0, 100.0, 100.0]);
    assert_eq!(reported.not_exercised, None);
    let asserting = format!(
        "{AGENT}  expect:\n    - {{ target: orchestration.error_recovery, matcher: {{ exact: 100 }} }}\n"
    );
    let asserted = judged(&asserting, None, &[calm]);
    assert_eq!(
        asserted.not_exercised.unwrap(),
        "`orchestration.error_recovery`: no call failed"
    );
    let silent = judged(AGENT, None, &[json!({})]);
    assert_eq!(silent.not_exercised.unwrap(), "the run made no calls");
    let elsewhere = run(&[("rm", json!({}), false)]);
    let found = run(&[("search", json!({"q": "x"}), false)]);
    let idle = judged(AGENT, Some(&catalogue()), &[found, elsewhere]);
    assert_eq!(
        idle.not_exercised.unwrap(),
        "the run called no tool of its catalogue (in 1 of 2 runs: #2)"
    );
}

#[test]
fn an_expectation_makes_it_a_gate() {
    let asserting = format!(
        "{AGENT}  expect:\n    - {{ target: orchestration.discovery, matcher: {{ gte: 100 }} }}\n"
    );
    let half = run(&[("search", json!({"q": "x"}), false)]);
    assert_eq!(
        judged(&asserting, None, std::slice::from_ref(&half)).status,
        Status::Failed
    );
    let rest = run(&[("delete_page", json!({}), false)]);
    let report = judged(&asserting, None, &[half, rest]);
    assert_eq!(
        value(&report, "orchestration.discovery"),
        Some(50.0),
        "no run reaches both"
    );
    assert_eq!(
        findings(&report)[0],
        "1 of 2 runs reach the class `find` (search, docs.open_page)"
    );
    let whole = run(&[
        ("search", json!({"q": "x"}), false),
        ("delete_page", json!({}), false),
    ]);
    assert_eq!(
        judged(&asserting, None, &[whole.clone(), whole]).status,
        Status::Passed
    );
}

#[test]
fn what_lowers_the_axis_that_failed_comes_first_however_much_else_is_found() {
    let mut calls = vec![("search", json!({"q": 3}), false); 30];
    for (at, call) in calls.iter_mut().enumerate() {
        call.1 = json!({ "q": at });
    }
    calls.extend([
        ("open_page", json!({}), false),
        ("open_page", json!({}), false),
    ]);
    let agent = format!(
        "{AGENT}  expect:\n    - {{ target: orchestration.efficiency, matcher: {{ gte: 100 }} }}\n"
    );
    let report = judged(&agent, Some(&catalogue()), &[run(&calls)]);
    assert_eq!(report.status, Status::Failed);
    assert_eq!(
        findings(&report)[0],
        "run 1: call 32 `open_page` repeats call 31"
    );
}

#[test]
fn classes_come_from_the_sibling_when_there_are_none() {
    let agent = "prompt: x
equal_function_sets:
  classes: [{ name: find, members: [search] }, { name: remove, members: [delete_page] }]
orchestration: {}
";
    let report = judged(agent, None, &[run(&[("search", json!({"q": "x"}), false)])]);
    assert_eq!(value(&report, "orchestration.discovery"), Some(50.0));
}
