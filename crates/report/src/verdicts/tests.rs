//! Do the rows of a report contain its verdict and all of its checks?

use super::*;
use crate::sample;
use mcptest_core::report::Status;
use serde_json::{Value, json};

fn rows(test: &TestReport, trace_ids: &[&str]) -> Vec<Value> {
    let judged = Judged {
        suite: "gates.yml",
        group: (trace_ids.len() > 1).then_some("g"),
        trace_ids,
        span_id: None,
    };
    let mut lines = Vec::new();
    each_row(test, &judged, &mut |row| row.write(&mut lines));
    String::from_utf8(lines)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn of_kind<'r>(rows: &'r [Value], kind: &str) -> Vec<&'r Value> {
    rows.iter().filter(|row| row["kind"] == kind).collect()
}

#[test]
fn every_report_has_one_verdict_and_a_row_for_each_check() {
    for test in &sample::report().tests {
        let ids: Vec<String> = test.runs.iter().map(|run| run.index.to_string()).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let rows = rows(test, &ids);
        assert_eq!(of_kind(&rows, "verdict").len(), 1);
        let checks: usize = test.runs.iter().map(|run| run.expectations.len()).sum();
        assert_eq!(of_kind(&rows, "expect").len(), checks);
        for gate in &test.gates {
            let own: Vec<&Value> = rows
                .iter()
                .filter(|row| row["kind"] == "gate" && row["gate"] == gate.key.as_str())
                .collect();
            for target in gate.targets.keys() {
                assert_eq!(
                    own.iter()
                        .filter(|row| row["target"] == target.as_str())
                        .count(),
                    1
                );
            }
            let has_failed = own
                .iter()
                .any(|row| row["status"] != "passed" && row["status"] != "unchecked");
            assert_eq!(has_failed, gate.status != Status::Passed, "{}", gate.key);
        }
        for row in &rows {
            let is_bad = row["status"] == "failed" || row["status"] == "error";
            assert!(!is_bad || row["message"].is_string(), "{row}");
        }
    }
}

#[test]
fn rows_fit_their_schema() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    for test in &sample::report().tests {
        for ids in [&["a"][..], &["a", "b"][..]] {
            for row in rows(test, ids) {
                assert!(schema.is_valid(&row), "{row}");
            }
        }
    }
}

#[test]
fn the_traces_of_a_group_keep_their_ids() {
    let mut test = sample::report().tests.remove(0);
    let run = test.runs[0].clone();
    test.runs = vec![run.clone(), run];
    test.runs[1].index = 2;
    test.runs[0].index = 1;
    let rows = rows(&test, &["first", "second"]);
    let runs: Vec<&Value> = of_kind(&rows, "run")
        .iter()
        .map(|row| &row["trace_id"])
        .collect();
    assert_eq!(runs, [&json!("first"), &json!("second")]);
    assert_eq!(of_kind(&rows, "verdict")[0]["trace_id"], Value::Null);
    assert!(rows.iter().all(|row| row["group"] == "g"));
}

#[test]
fn a_long_value_is_cut_and_a_short_one_is_not() {
    let long = Value::from("é".repeat(900));
    let RowValue::Cut(cut) = RowValue::from_json(Some(&long)) else {
        panic!("not cut")
    };
    assert_eq!(cut.chars().count(), 501);
    let list = json!(vec![7; 600]);
    assert!(matches!(RowValue::from_json(Some(&list)), RowValue::Cut(_)));
    let short = json!({"a": [1, 2]});
    assert_eq!(RowValue::from_json(Some(&short)), RowValue::Json(&short));
}
