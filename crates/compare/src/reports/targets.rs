//! Every number of a test on both sides.

use super::model::TargetChange;
use mcptest_core::gates::Better;
use mcptest_core::report::{GateReport, Number, Report, TestReport};
use mcptest_core::words::distinct;
use mcptest_stats::{Stratum, shift, six_decimals};
use serde_json::Value;
use std::collections::BTreeSet;

/// The targets of the gates, then the scorers' numbers.
pub(super) fn targets(reports: [&Report; 2], a: &TestReport, b: &TestReport) -> Vec<TargetChange> {
    let mut all = Vec::new();
    for gate in distinct(a.gates.iter().chain(&b.gates).map(|gate| gate.key.as_str())) {
        let (one, other) = (of_gate(a, gate), of_gate(b, gate));
        let names: BTreeSet<&String> = one
            .iter()
            .chain(&other)
            .flat_map(|gate| gate.targets.keys())
            .collect();
        let number =
            |gate: Option<&GateReport>, name: &str| gate?.targets.get(name).copied().flatten();
        all.extend(names.into_iter().map(|target| TargetChange {
            gate: Some(gate.to_owned()),
            target: target.clone(),
            a: number(one, target),
            b: number(other, target),
            better: better(reports, gate, target),
            p: None,
        }));
    }
    all.extend(scores(a, b));
    all
}

fn of_gate<'r>(test: &'r TestReport, key: &str) -> Option<&'r GateReport> {
    test.gates.iter().find(|gate| gate.key == key)
}

/// Which values of a gate's number are better, according to the reports.
fn better(reports: [&Report; 2], gate: &str, target: &str) -> Option<Better> {
    let definition = |report: &Report| Some(report.gates.get(gate)?.targets.get(target)?.better);
    reports.into_iter().find_map(definition)
}

fn scores(a: &TestReport, b: &TestReport) -> Vec<TargetChange> {
    let names: BTreeSet<&String> = a
        .runs
        .iter()
        .chain(&b.runs)
        .flat_map(|run| run.scores.keys())
        .collect();
    let number = |score: &Value| {
        score
            .as_f64()
            .or_else(|| score.as_bool().map(|yes| f64::from(u8::from(yes))))
    };
    let values = |test: &TestReport, name: &str| -> Vec<f64> {
        test.runs
            .iter()
            .filter_map(|run| number(run.scores.get(name)?))
            .collect()
    };
    let mean = |values: &[f64]| {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        (!values.is_empty()).then(|| Number::Float(six_decimals(mean)))
    };
    let change = |name: &String| {
        let (before, after) = (values(a, name), values(b, name));
        let found = shift(&[Stratum {
            before: &before,
            after: &after,
        }])
        .ok();
        TargetChange {
            gate: None,
            target: name.clone(),
            a: mean(&before),
            b: mean(&after),
            better: None,
            p: found.map(|found| six_decimals(found.mid_p)),
        }
    };
    names.into_iter().map(change).collect()
}
