//! Synthetic runs with known answers.

use super::*;
use mcptest_core::gates::{Better, GATES};
use mcptest_core::suite::{Host, Suite, load_for_traces};
use mcptest_core::trace::Trace;
use serde_json::{Value, json};
use std::path::Path;

const SUITE: &str = "agents:
  - name: a
    golden_path: { calls: [search, open] }
    reliability: {}
";

fn suite() -> Suite {
    let read = |_: &Path| Ok(SUITE.as_bytes().to_vec());
    let loaded = load_for_traces(Path::new("suite.yml"), &Host::new(&read, &|_| None));
    loaded
        .suite
        .unwrap_or_else(|| panic!("{:?}", loaded.problems))
}

/// Rows of one run each. A bad run makes this number of extra calls.
fn measured(good: usize, bad: &[usize]) -> Calibration {
    let suite = suite();
    let (defaults, of) = (Defaults::new(GATES), suite.agent_rows().next().unwrap());
    let mut calibrator = Calibrator::new(&defaults);
    let wasted = std::iter::repeat_n(0, good).chain(bad.iter().copied());
    for (at, wasted) in wasted.enumerate() {
        let names = ["search", "open"]
            .into_iter()
            .chain(std::iter::repeat_n("search", wasted));
        let calls: Vec<Value> = names.map(|name| json!({ "name": name })).collect();
        let text = json!({ "tool_calls": calls }).to_string();
        let trace = Trace::read(&text).unwrap();
        calibrator.add(
            of,
            &[LabelledRun {
                run: Run::new(&trace),
                is_good: at < good,
            }],
        );
    }
    calibrator.finish("expect".to_owned(), Vec::new(), 0)
}

fn target<'c>(calibration: &'c Calibration, name: &str) -> &'c TargetCalibration {
    let mut targets = calibration.gates.iter().flat_map(|gate| &gate.targets);
    targets.find(|target| target.target == name).unwrap()
}

#[test]
fn a_number_that_parts_good_from_bad_gets_a_floor_at_the_worst_good_run() {
    let measured = measured(12, &[1, 1, 2, 3, 3]);
    let penalty = target(&measured, "golden_path.penalty");
    let found = penalty.separated.as_ref().unwrap();
    assert!(
        found.auc >= 1.0 && found.tells_apart() && found.lower < 0.95,
        "{found:?}"
    );
    assert_eq!(
        (found.kept, found.caught, penalty.better),
        (12, 5, Better::High)
    );
    let floor = penalty.floor.as_ref().unwrap();
    assert_eq!(
        (&floor.matcher, floor.good, floor.caught, floor.bad),
        (&json!({ "gte": 1 }), 12, 5, 5)
    );
    let extra = target(&measured, "golden_path.extra_steps");
    assert_eq!(extra.floor.as_ref().unwrap().matcher, json!({ "lte": 0 }));
    let gate = &measured.gates[0];
    assert_eq!(
        (gate.good.failed, gate.bad.failed, gate.unit),
        (Some(0), Some(5), JudgedUnit::Run)
    );
    assert!(measured.notes.is_empty(), "{:?}", measured.notes);
}

#[test]
fn too_few_runs_are_told_of_and_say_nothing() {
    let few = measured(9, &[1, 2, 3]);
    assert!(!few.has_floors());
    assert!(
        few.gates
            .iter()
            .flat_map(|gate| &gate.targets)
            .all(|target| target.separated.is_none())
    );
    assert_eq!(
        few.notes,
        [
            "3 bad runs: too few for an AUC, which needs 5",
            "9 good runs: a floor needs 10 or more"
        ]
    );
    let text = serde_json::to_string(&measured(0, &[])).unwrap();
    assert!(
        text.contains("no good runs: nothing can be told apart") && !text.contains("NaN"),
        "{text}"
    );
}

#[test]
fn runs_that_are_all_good_support_what_the_gate_asks_by_itself() {
    let good = measured(10, &[]);
    assert_eq!(good.notes, ["no bad runs: nothing can be told apart"]);
    let floor = |name| {
        target(&good, name)
            .floor
            .as_ref()
            .map(|floor| (floor.matcher.clone(), floor.good))
    };
    assert_eq!(floor("golden_path.passed"), Some((json!({ "gte": 1 }), 10)));
    assert_eq!(floor("golden_path.penalty"), None);
}

#[test]
fn every_gate_is_measured_or_said_not_to_be() {
    let measured = measured(10, &[1; 5]);
    let named = measured.gates.iter().map(|gate| &gate.gate);
    let named = named
        .chain(measured.unmeasured.iter().map(|one| &one.gate))
        .collect::<Vec<_>>();
    assert_eq!(named.len(), GATES.iter().count(), "{named:?}");
    let why = |key: &str| {
        measured
            .unmeasured
            .iter()
            .find(|one| one.gate == key)
            .map(|one| one.reason.as_str())
    };
    assert_eq!(
        why("reliability"),
        Some("it counts passed runs, which the labels already give")
    );
    assert_eq!(
        why("stability"),
        Some("it compares the runs of a row, but no row has two labelled runs")
    );
}
