//! Runs that keep to a policy, runs that do not, and policies that say nothing.

use super::super::trial::{findings, header, judged, problems, value};
use super::*;
use crate::report::Evidence;
use crate::report::Status;
use crate::report::evidence::EdgeShown;
use serde_json::{Value, json};

const POLICY: &str = "prompt: x
tool_edges:
  allowed: [search, docs.open_page]
  restricted: [delete_page]
";

fn run(names: &[&str]) -> Value {
    let calls: Vec<Value> = names
        .iter()
        .map(|name| json!({"name": name, "server": "docs"}))
        .collect();
    json!({ "tool_calls": calls })
}

#[test]
fn allowed_tools_are_counted_over_all_runs_and_attempts_add_up() {
    let passed = judged(
        POLICY,
        None,
        &[run(&["search"]), run(&["open_page", "other"])],
    );
    assert_eq!(passed.status, Status::Passed);
    assert_eq!(value(&passed, "edges.allowed_pct"), Some(100.0));
    assert_eq!(value(&passed, "edges.unlisted_calls"), Some(1.0));

    let failed = judged(
        POLICY,
        None,
        &[
            run(&["delete_page"]),
            run(&["search", "delete_page", "delete_page"]),
        ],
    );
    assert_eq!(failed.status, Status::Failed);
    assert_eq!(value(&failed, "edges.restricted_attempts"), Some(3.0));
    assert_eq!(value(&failed, "edges.allowed_pct"), Some(50.0));
    assert_eq!(
        findings(&failed),
        [
            "run 1: call 1 `delete_page` is restricted",
            "run 2: call 2 `delete_page` is restricted",
            "run 2: call 3 `delete_page` is restricted",
            "no run calls the allowed tool `docs.open_page`",
        ]
    );
}

#[test]
fn a_closed_policy_fails_on_a_tool_of_neither_list() {
    let closed = format!("{POLICY}  closed: true\n");
    let failed = judged(&closed, None, &[run(&["search", "other"])]);
    assert_eq!(failed.status, Status::Failed);
    assert_eq!(value(&failed, "edges.gate_passed"), Some(0.0));
    assert_eq!(
        findings(&failed)[0],
        "run 1: call 2 `other` is not on the list of allowed tools"
    );
    assert_eq!(
        judged(&closed, None, &[run(&["search", "open_page"])]).status,
        Status::Passed
    );
}

#[test]
fn a_hand_off_is_what_the_trace_records_or_else_two_calls_in_a_row() {
    let edges = ToolEdges {
        delegation: vec![DelegationEdge {
            from: "planner".into(),
            to: "worker".into(),
        }],
        ..ToolEdges::default()
    };
    let percent = |envelope: Value| {
        score_tool_edges(&[envelope], &edges)
            .unwrap()
            .delegation_pct
    };
    assert_eq!(percent(run(&["planner", "worker"])), 100);
    assert_eq!(percent(run(&["planner", "x", "worker"])), 0);
    assert_eq!(percent(run(&["worker", "planner"])), 0);
    let mut recorded = run(&["planner", "worker"]);
    recorded["delegations"] = json!([{"from": "planner", "to": "critic"}]);
    assert_eq!(
        percent(recorded.clone()),
        0,
        "neighbours mean nothing where hand-offs are recorded"
    );
    recorded["delegations"] = json!([{"from": "planner", "to": "worker"}]);
    recorded["tool_calls"] = json!([]);
    assert_eq!(percent(recorded), 100);
    let both = [run(&["planner", "worker"]), run(&["worker"])];
    assert_eq!(
        score_tool_edges(&both, &edges).unwrap().delegation_pct,
        0,
        "the worst run decides"
    );
}

#[test]
fn a_closed_policy_fails_on_a_hand_off_that_is_not_declared() {
    let policy = format!("{POLICY}  delegation: [{{ from: planner, to: worker }}]\n");
    let mut handed = run(&["search"]);
    handed["delegations"] =
        json!([{"from": "planner", "to": "worker"}, {"from": "worker", "to": "root"}]);
    let open = judged(&policy, None, std::slice::from_ref(&handed));
    assert_eq!(
        (open.status, value(&open, "edges.undeclared_delegations")),
        (Status::Passed, Some(1.0))
    );
    let closed = judged(&format!("{policy}  closed: true\n"), None, &[handed]);
    assert_eq!(
        (closed.status, value(&closed, "edges.gate_passed")),
        (Status::Failed, Some(0.0))
    );
    assert_eq!(
        findings(&closed)[0],
        "run 1: `worker` hands over to `root`, which is not declared"
    );
}

#[test]
fn what_was_not_exercised_is_marked() {
    let marked = |agent: &str, runs: &[Value]| judged(agent, None, runs).not_exercised;
    assert_eq!(
        marked(POLICY, &[run(&[])]).unwrap(),
        "the run made no calls"
    );
    assert_eq!(marked(POLICY, &[run(&["search"])]), None);
    assert_eq!(
        marked("prompt: x\ntool_edges: {}", &[run(&["a"])]).unwrap(),
        "nothing is declared"
    );
    let elsewhere = header(json!([{"name": "search", "server": "docs"}]));
    let report = judged(POLICY, Some(&elsewhere), &[run(&["search"])]);
    assert_eq!(
        report.not_exercised.unwrap(),
        "no tool of the recorded catalogue is `delete_page`, nor `docs.open_page`"
    );
}

#[test]
fn a_policy_that_contradicts_itself_or_forbids_nothing_is_said_at_load() {
    let said = problems("prompt: x\ntool_edges: { allowed: [docs.search], restricted: [search] }");
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].starts_with("error: `docs.search` is both allowed and restricted (remove it"));
    let said = problems("prompt: x\ntool_edges: { allowed: [search], restricted: [docs.search] }");
    assert!(
        said.is_empty(),
        "allowed everywhere but on one server: {said:?}"
    );
    let said = problems("prompt: x\ntool_edges: { allowed: [search] }");
    assert!(
        said[0].starts_with("warning: nothing is forbidden here"),
        "{said:?}"
    );
    let said = problems("prompt: x\ntool_edges: {}");
    assert!(
        said[0].starts_with("warning: `tool_edges:` declares nothing"),
        "{said:?}"
    );
    let said = problems("prompt: x\ntool_edges: { restricted: [docs.delet_page] }");
    assert_eq!(
        said,
        [
            "warning: none of the agent's servers has a tool `docs.delet_page` (did you mean `delete_page`?)"
        ]
    );
}

#[test]
fn calls_that_the_policy_forbids_are_as_many_as_the_targets_say() {
    let agent =
        "prompt: p\ntool_edges: { allowed: [search], restricted: [delete_page], closed: true }";
    let calls =
        ["search", "search", "delete_page", "open_page"].map(|name| json!({ "name": name }));
    let run = json!({ "tool_calls": calls, "delegations": [{ "from": "a", "to": "b" }] });
    let report = judged(agent, None, &[run.clone(), run]);
    let Some(Evidence::ToolEdges { edges, handoffs }) = report.evidence.as_deref() else {
        panic!()
    };
    let calls = |is_meant: &dyn Fn(&EdgeShown) -> bool| -> usize {
        edges
            .iter()
            .filter(|edge| is_meant(edge))
            .map(|edge| edge.calls)
            .sum()
    };
    let target = |name: &str| value(&report, name).unwrap() as usize;
    assert_eq!(
        calls(&|edge| edge.restricted),
        target("edges.restricted_attempts")
    );
    assert_eq!(
        calls(&|edge| edge.failed && !edge.restricted),
        target("edges.unlisted_calls")
    );
    assert_eq!(calls(&|_| true), 8);
    let undeclared: usize = handoffs
        .iter()
        .filter(|one| !one.declared)
        .map(|one| one.count)
        .sum();
    assert_eq!(undeclared, target("edges.undeclared_delegations"));
}
