//! Why did a test not pass, one sentence for each cause? Shared by the formats that programs and pages read.

use super::evidence::{details, headline, of_failing_gates, unmet};
use super::{Limits, clipped};
use crate::failures::kind;
use crate::suites::grouped;
use mcptest_core::report::{Cause, Expectation, GateReport, Status, TestReport};

/// The most causes of one test.
const MOST: usize = 50;

/// The causes that keep a test from passing: the reason why it could not be judged, its gates, and the checks of its runs.
pub(crate) fn causes(test: &TestReport, limits: Limits) -> Vec<Cause> {
    if !matches!(test.status, Status::Failed | Status::Error) {
        return Vec::new();
    }
    let reason = test.reason.iter().map(|reason| {
        let mut cause = Cause::new(&kind(reason), clipped(&reason.message, limits.text));
        cause.details = clipped_all(&reason.details, limits);
        cause
    });
    let bad = test
        .gates
        .iter()
        .filter(|gate| matches!(gate.status, Status::Failed | Status::Error));
    let gates = bad.map(|gate| of_gate(gate, test, limits));
    let mut all: Vec<Cause> = reason.chain(of_runs(test, limits)).chain(gates).collect();
    all.truncate(MOST);
    all
}

/// The causes that failed single runs: their own errors, missed expectations, and gates that pass for the row. Each
/// cause appears once, with its runs.
fn of_runs(test: &TestReport, limits: Limits) -> Vec<Cause> {
    let mut found: Vec<Cause> = Vec::new();
    for run in &test.runs {
        let said = test.reason.as_ref();
        let own = run.reason.iter().filter(|own| {
            // What the row could not be judged for stands once.
            said.is_none_or(|said| said.message != own.message)
        });
        found.extend(own.map(|reason| {
            let mut cause = Cause::new(&kind(reason), clipped(&reason.message, limits.text));
            cause.details = clipped_all(&reason.details, limits);
            cause.runs = vec![run.index];
            cause
        }));
        let missed = run.expectations.iter().filter(|one| !one.passed);
        found.extend(missed.map(|one| of_expectation(one, run.index, limits)));
        let has_failed = |key: &str| {
            let mut gates = test.gates.iter();
            gates.any(|gate| gate.key == key && gate.status != Status::Passed)
        };
        let by_gates = of_failing_gates(test, run, limits).filter(|(key, _)| !has_failed(key));
        found.extend(by_gates.map(|(key, message)| {
            let mut cause = Cause::new(key, message);
            cause.runs = vec![run.index];
            cause
        }));
    }
    let alike = grouped(&found, |one| {
        Some((&one.key, &one.message, &one.details, one.suite_line))
    });
    let merged = alike.into_iter().map(|same| {
        let mut cause = same[0].clone();
        cause.runs = same.iter().flat_map(|one| one.runs.clone()).collect();
        cause
    });
    merged.collect()
}

fn of_expectation(missed: &Expectation, run: usize, limits: Limits) -> Cause {
    let message = format!(
        "{} {}",
        clipped(&missed.target, limits.value),
        headline(missed, None, limits)
    );
    let mut cause = Cause::new("expect", message);
    cause.details = details(missed, limits);
    cause.runs = vec![run];
    cause.target = Some(missed.target.clone());
    cause.suite_line = missed.suite_line;
    cause
}

/// The gate's unmet requirements; what its findings explain better begins with the first of them.
fn of_gate(gate: &GateReport, test: &TestReport, limits: Limits) -> Cause {
    let mut missed = gate.expectations.iter().filter(|one| !one.passed);
    let suite_line = missed.find_map(|one| one.suite_line).or(gate.suite_line);
    let mut said = unmet(gate, limits);
    let mut runs = Vec::new();
    if said.is_empty() {
        let leading = leading(gate);
        runs = leading.runs;
        said.push(clipped(&leading.message, limits.text));
    }
    let mut cause = Cause::new(&gate.key, said.remove(0));
    if runs.len() < test.runs.len() {
        cause.runs = runs;
    }
    let table = gate.tables.first();
    let of_table = gate
        .explanation
        .iter()
        .filter(|one| table.is_some_and(|table| one.run == table.run));
    said.extend(of_table.map(|one| clipped(&one.message, limits.text)));
    cause.details = said;
    cause.suite_line = suite_line;
    cause
}

/// The sentence that a gate's explanation begins with, and the runs with this finding.
struct Leading {
    message: String,
    runs: Vec<usize>,
}

fn leading(gate: &GateReport) -> Leading {
    let of_table = gate.tables.first();
    let of_finding = gate.explanation.first();
    let message = match (&gate.summary, of_table, of_finding) {
        (Some(summary), ..) => {
            return Leading {
                message: summary.clone(),
                runs: Vec::new(),
            };
        }
        (None, Some(table), _) => &table.summary,
        (None, None, Some(finding)) => &finding.message,
        (None, None, None) => {
            let why = gate.not_exercised.as_deref();
            return Leading {
                message: why.unwrap_or("the gate did not pass").to_owned(),
                runs: Vec::new(),
            };
        }
    };
    let of_tables = gate.tables.iter().filter(|one| one.summary == *message);
    let of_findings = gate
        .explanation
        .iter()
        .filter(|one| one.message == *message);
    let runs = of_tables
        .filter_map(|one| one.run)
        .chain(of_findings.filter_map(|one| one.run));
    Leading {
        message: message.clone(),
        runs: runs.collect(),
    }
}

fn clipped_all(lines: &[String], limits: Limits) -> Vec<String> {
    let lines = lines.iter();
    lines.map(|line| clipped(line, limits.text)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::SCREEN;
    use super::*;
    use crate::sample::{broken, gate, run, test};
    use mcptest_core::report::{Finding, Number};
    use serde_json::json;

    fn failing(change: impl FnOnce(&mut TestReport)) -> TestReport {
        test("a.yml", 1, "row", Status::Failed, change)
    }

    fn restricted(message: &str, run: usize) -> Finding {
        Finding {
            targets: vec!["edges.restricted_attempts".to_owned()],
            ..Finding::new(Some(run), message.to_owned())
        }
    }

    fn edges(suite_line: Option<usize>) -> GateReport {
        let mut gate = gate(
            "tool_edges",
            Status::Failed,
            &[("edges.restricted_attempts", Some(Number::Int(2)))],
        );
        let missed = broken(
            "edges.restricted_attempts",
            json!({"lte": 0}),
            Some(json!(2)),
        );
        gate.expectations = vec![Expectation {
            suite_line,
            ..missed
        }];
        let said = "called `delete_order` (call 1), which is restricted";
        gate.explanation = vec![restricted(said, 2), restricted(said, 3)];
        gate.suite_line = Some(7);
        gate
    }

    fn three_runs() -> Vec<mcptest_core::report::RunReport> {
        let of = |index| run(index, &["search"], vec![]);
        (1..=3).map(of).collect()
    }

    #[test]
    fn a_count_that_nobody_wrote_a_limit_for_is_said_by_what_was_found() {
        let row = failing(|test| {
            test.runs = three_runs();
            test.gates = vec![edges(None)];
        });
        let [cause] = &causes(&row, SCREEN)[..] else {
            panic!("one cause");
        };
        assert_eq!(
            cause.message,
            "called `delete_order` (call 1), which is restricted"
        );
        assert_eq!((&cause.runs[..], cause.suite_line), (&[2, 3][..], Some(7)));
    }

    #[test]
    fn a_limit_that_the_suite_writes_is_named_with_its_line() {
        let row = failing(|test| test.gates = vec![edges(Some(9))]);
        let cause = &causes(&row, SCREEN)[0];
        assert_eq!(
            cause.message,
            "edges.restricted_attempts must be at most 0, got 2"
        );
        assert_eq!(cause.suite_line, Some(9));
    }

    #[test]
    fn runs_that_fail_alike_are_one_cause() {
        let missed = || {
            vec![Expectation {
                suite_line: Some(4),
                ..broken(
                    "stop_reason",
                    json!({"exact": "end"}),
                    Some(json!("length")),
                )
            }]
        };
        let row = failing(|test| {
            test.runs = three_runs();
            test.runs[0].expectations = missed();
            test.runs[2].expectations = missed();
        });
        let [cause] = &causes(&row, SCREEN)[..] else {
            panic!("one cause");
        };
        assert_eq!(cause.message, r#"stop_reason must be "end", got "length""#);
        assert_eq!((&cause.runs[..], cause.suite_line), (&[1, 3][..], Some(4)));
    }
}
