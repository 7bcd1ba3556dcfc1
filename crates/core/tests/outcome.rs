//! Is a run's outcome the same for every gate and every count?

#![allow(clippy::unwrap_used, missing_docs)]

#[path = "outcome/blocks.rs"]
mod blocks;
mod walk;

use blocks::{ASKS_JUDGES, BLOCKS, RIGHT, WRONG};
use mcptest_core::judge::{Judging, Recorded, judge_row};
use mcptest_core::report::{Status, TestReport};
use mcptest_core::trace::Trace;
use serde_json::Value;
use std::collections::BTreeSet;

/// The verdict of an agent with these blocks on these runs.
fn judged(blocks: &str, runs: &[&str]) -> TestReport {
    let indented: Vec<String> = blocks.lines().map(|line| format!("    {line}\n")).collect();
    let agents = format!(
        "agents:\n  - name: t\n    model: m\n    prompt: Find the page.\n    servers: [docs]\n    runs: {}\n{}",
        runs.len(),
        indented.concat()
    );
    let suite = walk::suite(&["docs"], &agents);
    let traces: Vec<Trace<'_>> = runs.iter().map(|text| Trace::read(text).unwrap()).collect();
    let row = suite.rows().into_iter().next().unwrap();
    judge_row(&row, &Recorded::from_traces(&traces), Judging::default())
}

#[test]
fn every_gate_that_can_fail_a_run_is_tried() {
    let tried = BLOCKS.iter().map(|(key, _)| *key).chain([ASKS_JUDGES]);
    let tried: BTreeSet<&str> = tried.collect();
    let known = mcptest_core::eval::GATES.iter();
    let known = known.filter(|kind| kind.fails_runs()).map(|kind| kind.key);
    assert_eq!(tried, known.collect());
}

#[test]
fn a_run_that_a_gate_fails_has_failed_and_names_the_gate() {
    for (gate, block) in BLOCKS {
        let test = judged(block, &[RIGHT, WRONG]);
        let outcomes: Vec<(Status, &[String])> = test
            .runs
            .iter()
            .map(|run| (run.status, &run.failed_by[..]))
            .collect();
        let by_gate = [gate.to_owned()];
        assert_eq!(
            outcomes,
            [(Status::Passed, &[][..]), (Status::Failed, &by_gate[..])],
            "{gate}: {test:?}"
        );
        assert_eq!((test.tally().passed, test.tally().runs), (1, 2), "{gate}");
    }
}

#[test]
fn reliability_counts_the_outcome_that_the_report_has() {
    for (gate, block) in BLOCKS {
        let block = format!(
            "{block}\nreliability: {{ expect: [{{ target: reliability.pass_rate, matcher: {{ gte: 0.5 }} }}] }}"
        );
        let test = judged(&block, &[RIGHT, WRONG]);
        let reliability = test.gates.iter().find(|gate| gate.key == "reliability");
        let rate = reliability.unwrap().targets["reliability.pass_rate"].unwrap();
        assert_eq!(Value::from(rate.as_f64()), Value::from(0.5), "{gate}");
    }
}

#[test]
fn a_row_may_pass_with_failed_runs() {
    let floor = "tool_selection: { expected_tool: search, min_selection_rate: 0.5 }";
    let test = judged(floor, &[RIGHT, WRONG]);
    assert_eq!(test.status, Status::Passed, "{test:?}");
    assert_eq!(test.runs[1].status, Status::Failed);
    let rate = "trajectory: { mode: strict, calls: [search, open_page], min_pass_rate: 0.5 }";
    let test = judged(rate, &[RIGHT, WRONG]);
    assert_eq!(test.status, Status::Passed, "{test:?}");
    assert_eq!(test.passed_runs(), 1);
}

#[test]
fn a_number_that_the_block_tolerates_fails_no_run() {
    let tolerant = "tool_edges: { restricted: [delete_page], expect: [{ target: edges.restricted_attempts, matcher: { lte: 2 } }] }";
    let test = judged(tolerant, &[RIGHT, WRONG]);
    assert_eq!((test.status, test.passed_runs()), (Status::Passed, 2));
}

#[test]
fn a_sum_that_all_runs_are_to_reach_is_asked_of_no_run_alone() {
    let sum = "equal_function_sets: { classes: [{ name: find, members: [search] }], \
               expect: [{ target: tool_selection.true_positives, matcher: { gte: 2 } }, \
               { target: tool_selection.false_positives, matcher: { lte: 9 } }] }";
    let test = judged(sum, &[RIGHT, RIGHT]);
    assert_eq!((test.status, test.passed_runs()), (Status::Passed, 2));
}

#[test]
fn a_saved_report_of_an_earlier_version_is_read_with_outcomes() {
    let mut test = judged(BLOCKS[0].1, &[RIGHT, WRONG]);
    let settled = test.clone();
    test.runs[1].status = Status::Passed;
    test.runs[1].failed_by.clear();
    test.settle_runs();
    assert_eq!(test, settled);
}
