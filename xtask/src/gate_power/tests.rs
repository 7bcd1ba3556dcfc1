//! Does each edit change the run, and only what it says?

use super::edits::{EDITS, Original};
use mcptest_core::trace::{CatalogueTool, Trace};
use serde_json::{Value, json};
use std::path::Path;

fn original() -> Value {
    json!({
        "tool_calls": [
            {"name": "search", "server": "docs", "args": {"q": "a", "limit": 3, "deep": {"exact/now": true}}, "id": "1", "turn": 0},
            {"name": "open", "server": "docs", "args": {"page": 1.5}, "id": "2", "turn": 1},
            {"name": "open", "server": "docs", "args": {"page": 1.5}, "id": "3", "turn": 2},
        ],
        "tool_results": [{"is_error": false, "content": "first"}, {"is_error": true, "error": {"code": -32000}}, {"is_error": false}],
        "faults": [{"name": "hung", "kind": "hang", "call_index": 1, "detected": true}],
        "delegations": [{"from": "planner", "to": "worker"}],
        "final_response": "Found it.",
        "conversation": {
            "tokens": {"prompt": 10, "completion": 2, "total": 12}, "cost_usd": 0.5,
            "turns": [{"role": "user", "content": "Find it."}, {"role": "assistant", "content": "Found it."}],
        },
    })
}

fn mutants(name: &str) -> Vec<Value> {
    let edit = EDITS.iter().find(|edit| edit.name == name).unwrap();
    let tool = |name: &str, distractor: bool| CatalogueTool {
        name: name.to_owned(),
        server: Some("docs".to_owned()),
        distractor,
        ..CatalogueTool::default()
    };
    let catalogue = [
        tool("search", false),
        tool("open", false),
        tool("find", true),
    ];
    edit.mutants(Original {
        trace: &original(),
        catalogue: &catalogue,
    })
}

fn names(trace: &Value) -> Vec<&str> {
    trace["tool_calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| call["name"].as_str().unwrap())
        .collect()
}

fn at(trace: &Value, place: &str) -> Value {
    trace.pointer(place).cloned().unwrap_or_default()
}

#[test]
fn every_edit_has_a_place_changes_the_run_and_leaves_it_readable() {
    for edit in EDITS {
        let mutants = mutants(edit.name);
        assert!(!mutants.is_empty(), "{}", edit.name);
        for mutant in mutants {
            assert_ne!(mutant, original(), "{}", edit.name);
            let text = mutant.to_string();
            let trace = Trace::read(&text).unwrap();
            let results = trace.results_by_call();
            assert_eq!(results.len(), trace.tool_results.len(), "{}", edit.name);
            assert!(results.iter().all(Option::is_some), "{}", edit.name);
        }
    }
}

#[test]
fn an_edit_finds_no_place_in_an_empty_run() {
    for edit in EDITS {
        let empty = json!({"tool_calls": []});
        assert!(
            edit.mutants(Original {
                trace: &empty,
                catalogue: &[]
            })
            .is_empty(),
            "{}",
            edit.name
        );
    }
}

#[test]
fn a_dropped_call_takes_its_result_and_its_fault_with_it() {
    let dropped = mutants("drop a call");
    assert_eq!(names(&dropped[0]), ["open", "open"]);
    assert_eq!(at(&dropped[0], "/tool_results/0/error/code"), -32000);
    assert_eq!(at(&dropped[0], "/faults/0/call_index"), 0);
    assert_eq!(at(&dropped[1], "/faults"), json!([]));
    assert_eq!(at(&dropped[1], "/tool_results/1/call_index"), 1);
}

#[test]
fn swapped_calls_keep_their_results_and_the_turns_stay_in_order() {
    let swapped = mutants("swap two calls");
    assert_eq!(swapped.len(), 1, "the last two calls are alike");
    assert_eq!(names(&swapped[0]), ["open", "search", "open"]);
    assert_eq!(at(&swapped[0], "/tool_results/1/content"), "first");
    assert_eq!(at(&swapped[0], "/faults/0/call_index"), 0);
    assert_eq!(
        [0, 1, 2].map(|call| at(&swapped[0], &format!("/tool_calls/{call}/turn"))),
        [0, 1, 2]
    );
}

#[test]
fn a_repeated_call_has_the_result_and_the_fault_again() {
    let repeated = mutants("repeat a call");
    assert_eq!(names(&repeated[1]), ["search", "open", "open", "open"]);
    assert_eq!(at(&repeated[1], "/tool_results/2/error/code"), -32000);
    assert_eq!(
        [0, 1].map(|fault| at(&repeated[1], &format!("/faults/{fault}/call_index"))),
        [1, 2]
    );
    assert_eq!(at(&repeated[0], "/faults/0/call_index"), 2);
}

#[test]
fn a_call_goes_to_each_other_tool_of_the_catalogue_in_turn() {
    let called: Vec<Value> = mutants("call another tool");
    let first: Vec<&str> = called.iter().take(2).map(|trace| names(trace)[0]).collect();
    assert_eq!(first, ["open", "find"]);
    assert_eq!(at(&called[0], "/tool_calls/0/distractor"), false);
    assert_eq!(at(&called[1], "/tool_calls/0/distractor"), true);
    assert_eq!(called.len(), 6);
}

#[test]
fn each_value_of_the_arguments_is_changed_by_itself() {
    let changed: Vec<Value> = mutants("change an argument")
        .iter()
        .map(|trace| at(trace, "/tool_calls/0/args"))
        .take(3)
        .collect();
    assert_eq!(
        changed[0],
        json!({"q": "a", "limit": 3, "deep": {"exact/now": false}})
    );
    assert_eq!(
        changed[1],
        json!({"q": "a", "limit": 4, "deep": {"exact/now": true}})
    );
    assert_eq!(
        changed[2],
        json!({"q": "a and more", "limit": 3, "deep": {"exact/now": true}})
    );
    assert_eq!(
        at(&mutants("change an argument")[3], "/tool_calls/1/args/page"),
        2.5
    );
}

#[test]
fn a_failure_becomes_a_success_and_a_success_a_failure() {
    let flipped = mutants("flip is_error");
    assert_eq!(at(&flipped[0], "/tool_results/0/is_error"), true);
    assert_eq!(flipped[1]["tool_results"][1], json!({"is_error": false}));
}

#[test]
fn the_answer_is_blank_in_both_places_and_the_tokens_are_tenfold() {
    let blank = &mutants("blank the answer")[0];
    assert_eq!(
        (
            at(blank, "/final_response"),
            at(blank, "/conversation/turns/1/content")
        ),
        (json!(""), json!(""))
    );
    let dear = &mutants("ten times the tokens")[0];
    assert_eq!(
        at(dear, "/conversation/tokens"),
        json!({"prompt": 100, "completion": 20, "total": 120})
    );
    assert_eq!(at(dear, "/conversation/cost_usd"), 5.0);
}

#[test]
fn the_prompt_names_each_called_tool_once() {
    let said: Vec<Value> = mutants("name a tool in the prompt")
        .iter()
        .map(|trace| at(trace, "/conversation/turns/0/content"))
        .collect();
    assert_eq!(said, ["Find it. Use open.", "Find it. Use search."]);
}

#[test]
fn every_gate_sees_what_its_page_and_the_table_say() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let complaints = super::check(&repository, false).unwrap();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
