//! What survives, what does not, and what was never tried?

use crate::engine::trial::{findings, judged, problems, suite, value};
use crate::engine::{SideRun, SideRuns};
use crate::report::Evidence;
use crate::report::evidence::FaultCell;
use crate::trace::{Header, Run, Trace};
use serde_json::{Value, json};

const EXPECT: &str =
    "prompt: p\nexpect: [{ target: final_response, matcher: { contains: done } }]\n";

fn header(combinations: &[&str]) -> Header {
    Header {
        parameters: [("fault_matrix".to_owned(), json!(combinations))].into(),
        ..Header::default()
    }
}

fn run(fault: Option<(&str, usize)>, results: &[bool]) -> Value {
    let calls: Vec<Value> = (0..results.len())
        .map(|turn| json!({ "name": "search", "turn": turn }))
        .collect();
    let results: Vec<Value> = results
        .iter()
        .map(|is_error| json!({ "is_error": is_error }))
        .collect();
    let faults: Vec<Value> = fault
        .iter()
        .map(|(kind, at)| json!({ "name": format!("{kind}@{}", at + 1), "kind": kind, "call_index": at, "detected": true }))
        .collect();
    json!({ "tool_calls": calls, "tool_results": results, "final_response": "done", "faults": faults })
}

fn of(agent: &str, runs: &[Value]) -> Vec<SideRun> {
    let loaded = crate::engine::trial::loaded(&suite(agent));
    let texts: Vec<String> = runs.iter().map(Value::to_string).collect();
    let traces: Vec<Trace<'_>> = texts
        .iter()
        .map(|text| Trace::read(text).unwrap())
        .collect();
    let runs: Vec<Run<'_>> = Run::all(&traces);
    SideRuns::wanted(&loaded.suite.unwrap().agents[0], &runs)
        .map(|side| side.runs)
        .unwrap_or_default()
}

fn shown(combinations: &[SideRun]) -> Vec<String> {
    combinations.iter().map(ToString::to_string).collect()
}

#[test]
fn the_combinations_are_every_kind_at_every_call_of_the_first_run() {
    let listed = format!("{EXPECT}fault_matrix: {{ kinds: [hang, recover_after:2] }}");
    let combinations = of(&listed, &[run(None, &[false, false]), run(None, &[false])]);
    assert_eq!(
        shown(&combinations),
        ["hang@1", "hang@2", "recover-after:2@1", "recover-after:2@2"]
    );
    let all = of(
        &format!("{EXPECT}fault_matrix: true"),
        &[run(None, &[false; 30])],
    );
    assert_eq!(all.len(), 60, "six kinds at ten calls");
    assert!(of(&format!("{EXPECT}fault_matrix: true"), &[run(None, &[])]).is_empty());
    assert_eq!(
        of(
            &format!("{EXPECT}fault_matrix: {{ kinds: [hang], calls: 3 }}"),
            &[]
        )
        .len(),
        3
    );
    assert!(
        of(
            &format!("{EXPECT}fault_matrix: false"),
            &[run(None, &[false])]
        )
        .is_empty()
    );
    assert!(of(EXPECT, &[run(None, &[false])]).is_empty());
}

#[test]
fn without_expectations_a_later_success_is_survival_and_what_was_never_reached_counts_for_neither()
{
    let agent = "prompt: p\nfault_matrix: { kinds: [hang], calls: 3 }";
    let runs = [
        run(Some(("hang", 0)), &[true, false]),
        run(Some(("hang", 1)), &[false, true]),
        run(None, &[false, false]),
    ];
    let report = judged(agent, Some(&header(&["hang@1", "hang@2", "hang@3"])), &runs);
    assert_eq!(value(&report, "fault_matrix.combinations"), Some(3.0));
    assert_eq!(value(&report, "fault_matrix.reached"), Some(2.0));
    assert_eq!(value(&report, "fault_matrix.survived"), Some(1.0));
    assert_eq!(value(&report, "fault_matrix.survival_rate"), Some(50.0));
    assert_eq!(
        findings(&report),
        [
            "run 2: hang@2 (`search`) was not survived: no later call succeeded",
            "never reached, since the call was not made: hang@3"
        ]
    );
    assert_eq!(
        report.summary.as_deref(),
        Some("survived 1 of 2 faults (50%): not hang@2; 1 of 3 never reached: hang@3")
    );
}

#[test]
fn with_expectations_an_answer_that_keeps_them_is_survival_and_a_run_that_dies_is_not() {
    let agent = format!("{EXPECT}fault_matrix: true");
    let gave_up = run(Some(("hang", 0)), &[true]);
    let mut died = gave_up.clone();
    died["stop_reason"] = json!("error");
    died["errors"] = json!(["exited with 1"]);
    let report = judged(
        &agent,
        Some(&header(&["hang@1", "hang@1"])),
        &[gave_up, died],
    );
    assert_eq!(value(&report, "fault_matrix.survived"), Some(1.0));
    assert_eq!(
        findings(&report),
        ["run 2: hang@1 (`search`) was not survived: the run ended in an error: exited with 1"]
    );
}

#[test]
fn a_matrix_that_no_call_met_is_marked() {
    let report = judged(
        &format!("{EXPECT}fault_matrix: true"),
        None,
        &[run(None, &[false])],
    );
    assert_eq!(
        report.not_exercised.as_deref(),
        Some("no combination made a call fail")
    );
    assert_eq!(value(&report, "fault_matrix.survival_rate"), None);
    let report = judged(&format!("{EXPECT}fault_matrix: true"), None, &[]);
    assert_eq!(
        report.not_exercised.as_deref(),
        Some("the first run made no call that could fail")
    );
}

#[test]
fn kinds_that_are_none_or_come_twice_are_refused() {
    let of = |kinds: &str| problems(&format!("{EXPECT}fault_matrix: {{ kinds: [{kinds}] }}"));
    assert_eq!(of("none, hang"), ["error: `none` is not a fault"]);
    assert_eq!(of("hang, hang"), ["error: `hang` is listed twice"]);
    let unknown =
        "error: `hnag` is not a kind of fault (did you mean `hang`? the kinds are none, hang, ";
    assert!(of("hnag, hang")[0].starts_with(unknown));
    assert!(
        of("wrong-id")[0]
            .starts_with("error: `wrong-id` cannot be injected into the calls of an agent")
    );
    assert_eq!(
        of(""),
        ["error: `kinds` is empty (omit it for one of each kind that fails a call)"]
    );
    assert!(of("hang").is_empty());
    assert!(
        problems("prompt: p\nfault_matrix: true")[0]
            .starts_with("warning: without `expect:`, a run survives")
    );
}

#[test]
fn a_delay_that_the_call_survives_is_neither_reached_nor_survived() {
    let agent = "prompt: p\nfault_matrix: { kinds: [hang, slow:5], calls: 1 }";
    let runs = [
        run(Some(("hang", 0)), &[true, false]),
        run(Some(("slow:5", 0)), &[false, false]),
    ];
    let report = judged(agent, Some(&header(&["hang@1", "slow:5@1"])), &runs);
    assert_eq!(value(&report, "fault_matrix.reached"), Some(1.0));
    assert_eq!(value(&report, "fault_matrix.survived"), Some(1.0));
    assert_eq!(value(&report, "fault_matrix.combinations"), Some(2.0));
    assert_eq!(findings(&report), ["did not make the call fail: slow:5@1"]);
}

#[test]
fn the_cells_add_up_to_the_targets() {
    let agent = "prompt: p\nfault_matrix: { kinds: [hang], calls: 3 }";
    let runs = [
        run(Some(("hang", 0)), &[true, false]),
        run(Some(("hang", 1)), &[false, true]),
        run(None, &[false, false]),
    ];
    let report = judged(agent, Some(&header(&["hang@1", "hang@2", "hang@3"])), &runs);
    let Some(Evidence::FaultMatrix { cells, faults, .. }) = report.evidence.as_deref() else {
        panic!()
    };
    let sum = |count: fn(&FaultCell) -> usize| Some(cells.iter().map(count).sum::<usize>() as f64);
    assert_eq!(
        sum(|cell| cell.runs),
        value(&report, "fault_matrix.combinations")
    );
    assert_eq!(sum(|cell| cell.met), value(&report, "fault_matrix.reached"));
    assert_eq!(
        sum(|cell| cell.recovered),
        value(&report, "fault_matrix.survived")
    );
    assert_eq!(faults, &["hang"]);
}
