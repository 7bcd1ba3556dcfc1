//! What is printed about a calibration?

use super::*;
use crate::calibration::{Calibrator, Defaults, Separated, TargetCalibration, Verdicts};
use mcptest_core::gates::{Better, GATES};
use serde_json::json;

fn sample() -> Calibration {
    let defaults = Defaults::new(GATES);
    let mut sample = Calibrator::new(&defaults).finish("labels.csv".to_owned(), Vec::new(), 2);
    sample.notes.clear();
    sample.counts.good = 20;
    sample.counts.bad = 10;
    let verdicts = |of, failed| Verdicts {
        of,
        failed,
        lower: Some(0.02),
        upper: Some(0.3),
        not_exercised: 1,
    };
    let found = |auc: f64, best| Separated {
        auc,
        lower: auc - 0.1,
        upper: 0.99,
        best,
        kept: 19,
        caught: 8,
    };
    let target = |name: &str, separated, floor| TargetCalibration {
        target: name.to_owned(),
        better: Better::High,
        good: 20,
        bad: 10,
        separated: Some(separated),
        floor,
    };
    let floor = Floor {
        matcher: json!({ "gte": 0.62 }),
        good: 20,
        caught: 7,
        bad: 10,
    };
    sample.gates = vec![GateCalibration {
        gate: "some_gate".to_owned(),
        is_written: true,
        unit: JudgedUnit::Run,
        good: verdicts(20, Some(1)),
        bad: verdicts(10, Some(8)),
        targets: vec![
            target("some_gate.noise", found(0.5, None), None),
            target(
                "some_gate.telling",
                found(0.9, Some(json!({ "gte": 0.7 }))),
                Some(floor),
            ),
        ],
    }];
    sample.unmeasured.truncate(2);
    sample
}

#[test]
fn what_tells_good_from_bad_is_shown_and_the_rest_is_counted() {
    let text = String::from_utf8(text(&sample(), &Options::default())).unwrap();
    insta::assert_snapshot!(text);
}

#[test]
fn the_lines_are_no_wider_than_the_terminal() {
    let options = Options {
        width: Some(60),
        verbose: 1,
        ..Options::default()
    };
    let text = String::from_utf8(page::render(&sample(), &options)).unwrap();
    assert!(
        text.lines().all(|line| line.chars().count() <= 60),
        "{text}"
    );
    assert!(text.contains("noise    AUC 0.50"), "{text}");
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the schema is ours, and this is a test"
)]
fn the_json_fits_its_schema() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let shown: Value = serde_json::from_str(&json(&sample())).unwrap();
    let problems: Vec<String> = validator
        .iter_errors(&shown)
        .map(|problem| problem.to_string())
        .collect();
    assert!(problems.is_empty(), "{problems:?}");
    assert!(
        shown["gates"][0]["targets"][1]["floor"]["matcher"]["gte"] == 0.62,
        "{shown}"
    );
}
