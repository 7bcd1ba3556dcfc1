//! Which classes are reached, and which calls are strays?

use super::*;
use crate::trace::Trace;
use serde_json::{Value, json};

fn classes(classes: &[(&str, &[&str])]) -> Vec<Class> {
    let class = |(name, members): &(&str, &[&str])| Class {
        name: (*name).to_owned(),
        members: members.iter().map(|member| (*member).to_owned()).collect(),
    };
    classes.iter().map(class).collect()
}

fn counts(names: &[&str], of: &[(&str, &[&str])]) -> (usize, usize, usize) {
    let calls: Vec<Value> = names.iter().map(|name| json!({ "name": name })).collect();
    let selection = score_selection(&calls, &classes(of));
    (
        selection.true_positives,
        selection.false_positives,
        selection.false_negatives,
    )
}

fn gate(of: &[(&str, &[&str])]) -> EqualFunctionSets {
    EqualFunctionSets {
        classes: classes(of),
    }
}

fn judge(gate: &EqualFunctionSets, runs: &[&[&str]]) -> Scores {
    let texts: Vec<String> = runs
        .iter()
        .map(|names| {
            let calls: Vec<Value> = names.iter().map(|name| json!({ "name": name })).collect();
            json!({ "tool_calls": calls }).to_string()
        })
        .collect();
    let traces: Vec<Trace<'_>> = texts
        .iter()
        .map(|text| Trace::read(text).unwrap())
        .collect();
    let runs: Vec<Run<'_>> = Run::all(&traces);
    gate.score(&runs)
}

fn value(scores: &Scores, target: &str) -> i64 {
    match scores.value(&format!("tool_selection.{target}")) {
        Some(Number::Int(value)) => value,
        other => panic!("{target} is {other:?}"),
    }
}

const SEARCH_AND_MAIL: &[(&str, &[&str])] = &[
    ("search", &["web.search", "google.search"]),
    ("mail", &["gmail.send", "outlook.send"]),
];

#[test]
fn any_member_reaches_its_class_and_further_ones_are_ignored() {
    assert_eq!(
        counts(&["google.search", "outlook.send"], SEARCH_AND_MAIL),
        (2, 0, 0)
    );
    assert_eq!(
        counts(
            &["web.search", "google.search", "web.search"],
            SEARCH_AND_MAIL
        ),
        (1, 0, 1)
    );
}

#[test]
fn each_call_in_no_class_counts() {
    assert_eq!(counts(&["x.y", "x.y"], SEARCH_AND_MAIL), (0, 2, 2));
}

#[test]
fn a_tool_of_two_classes_serves_the_one_that_has_no_other() {
    assert_eq!(
        counts(&["a", "b"], &[("x", &["a", "b"]), ("y", &["a"])]),
        (2, 0, 0)
    );
    assert_eq!(
        counts(&["a", "a"], &[("x", &["a"]), ("y", &["a"])]),
        (2, 0, 0)
    );
    assert_eq!(counts(&["a"], &[("x", &["a"]), ("y", &["a"])]), (1, 0, 1));
}

#[test]
fn members_may_name_the_server() {
    let calls = [
        json!({"name": "search", "server": "web"}),
        json!({"name": "send", "server": "gmail"}),
    ];
    for member in ["search", "web.search", "web__search"] {
        let selection = score_selection(
            &calls,
            &classes(&[("find", &[member]), ("mail", &["gmail.send"])]),
        );
        assert_eq!(selection.f1_percent(), 100, "{member}");
    }
    assert_eq!(
        score_selection(&calls, &classes(&[("find", &["docs.search"])])).false_positives,
        2
    );
}

#[test]
fn nothing_over_nothing_is_100_only_when_there_is_nothing_at_all() {
    let nothing = Selection::default();
    assert_eq!(
        (
            nothing.precision_percent(),
            nothing.recall_percent(),
            nothing.f1_percent()
        ),
        (100, 100, 100)
    );
    let missed = Selection {
        false_negatives: 2,
        ..nothing
    };
    assert_eq!(
        (
            missed.precision_percent(),
            missed.recall_percent(),
            missed.f1_percent()
        ),
        (0, 0, 0)
    );
    let strays = Selection {
        false_positives: 1,
        ..nothing
    };
    assert_eq!(
        (
            strays.precision_percent(),
            strays.recall_percent(),
            strays.f1_percent()
        ),
        (0, 0, 0)
    );
}

#[test]
fn percents_are_floored() {
    let one_miss = Selection {
        true_positives: 1,
        false_positives: 0,
        false_negatives: 1,
    };
    assert_eq!(one_miss.f1_percent(), 66);
    assert!((one_miss.f1() - 2.0 / 3.0).abs() < 1e-12);
}

#[test]
fn the_counts_of_all_runs_are_pooled_before_the_percents() {
    let scores = judge(
        &gate(SEARCH_AND_MAIL),
        &[
            &["web.search", "gmail.send"],
            &["web.search"],
            &["web.search", "gmail.send", "calc.add"],
        ],
    );
    let counts =
        ["true_positives", "false_positives", "false_negatives"].map(|name| value(&scores, name));
    assert_eq!(counts, [5, 1, 1]);
    assert_eq!(
        ["precision", "recall", "f1"].map(|name| value(&scores, name)),
        [83, 83, 83]
    );
}

#[test]
fn what_was_missed_and_what_was_extra_is_said_with_its_run() {
    let scores = judge(
        &gate(&[
            ("x", &["a"]),
            ("y", &["a"]),
            ("mail", &["gmail.send", "outlook.send"]),
        ]),
        &[&["a", "b", "outlook.send"], &["a", "a"]],
    );
    let said: Vec<(Option<usize>, &str)> = scores
        .findings
        .iter()
        .map(|finding| (finding.run, finding.message.as_str()))
        .collect();
    assert_eq!(
        said,
        [
            (
                Some(1),
                "class `y` was not reached: every call of `a` counts for another class"
            ),
            (Some(1), "call 2 `b` is in no class"),
            (
                Some(2),
                "class `mail` was not reached: no call to `gmail.send` or `outlook.send`"
            ),
        ]
    );
}

#[test]
fn long_lists_are_cut() {
    let strays: Vec<&str> = vec!["x"; 23];
    let scores = judge(
        &gate(&[("all", &["a", "b", "c", "d", "e", "f", "g"])]),
        &[&strays],
    );
    assert_eq!(scores.findings.len(), 22);
    assert!(
        scores.findings[0]
            .message
            .ends_with("no call to `a`, `b`, `c`, `d`, `e` or 2 others"),
        "{:?}",
        scores.findings[0]
    );
    assert_eq!(scores.findings[21].message, "3 more calls are in no class");
}

#[test]
fn a_run_without_calls_is_marked_and_no_runs_measure_nothing() {
    let scores = judge(&gate(SEARCH_AND_MAIL), &[&[], &["web.search"]]);
    assert_eq!(
        scores.not_exercised.as_deref(),
        Some("the run made no calls (in 1 of 2 runs: #1)")
    );
    assert_eq!(
        judge(&gate(SEARCH_AND_MAIL), &[]).value("tool_selection.f1"),
        None
    );
}

#[test]
fn no_classes_forbid_every_call() {
    assert_eq!(value(&judge(&gate(&[]), &[&[]]), "f1"), 100);
    assert_eq!(value(&judge(&gate(&[]), &[&["a"]]), "f1"), 0);
}
