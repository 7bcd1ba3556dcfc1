//! Shared by the walks through the documents: a suite from text, and its verdict over traces.

#![allow(dead_code, clippy::unwrap_used, clippy::panic)]

use mcptest_core::grade::{Grade, Numbers, Vote, wanted};
use mcptest_core::judge::{Judging, Recorded, judge_row};
use mcptest_core::problem::{Level, render};
use mcptest_core::report::{GateReport, Status, TestReport};
use mcptest_core::suite::{Host, Suite, load};
use mcptest_core::trace::{Header, Run, Tokens, Trace};
use serde_json::{Value, json};
use std::path::Path;

/// The agents of a document with the servers they name.
pub(crate) fn suite(servers: &[&str], agents: &str) -> Suite {
    let servers: Vec<String> = servers
        .iter()
        .map(|name| format!("  {name}: {{ command: [{name}-server] }}\n"))
        .collect();
    let servers = servers.concat();
    accepted(&format!("servers:\n{servers}{agents}"))
}

/// A suite that loads without an error.
pub(crate) fn accepted(text: &str) -> Suite {
    let loaded = loaded(text);
    let problems = render(&loaded.problems, &loaded.sources, false);
    loaded
        .suite
        .unwrap_or_else(|| panic!("refused:\n{problems}"))
}

/// The messages of a refused suite.
pub(crate) fn refused(text: &str) -> Vec<String> {
    let loaded = loaded(text);
    assert!(loaded.suite.is_none(), "accepted");
    loaded
        .problems
        .into_iter()
        .filter(|problem| problem.level == Level::Error)
        .map(|problem| problem.message)
        .collect()
}

fn loaded(text: &str) -> mcptest_core::suite::Loaded {
    let read = |_: &Path| Ok(text.as_bytes().to_vec());
    load(Path::new("suite.yml"), &Host::new(&read, &|_| None))
}

/// The gates of the first agent over these traces, in the order they are listed in the registry.
pub(crate) fn gates(suite: &Suite, traces: &[Value]) -> Vec<GateReport> {
    gates_under(suite, traces, None)
}

/// The gates' reports, with a header for the runs.
pub(crate) fn gates_under(
    suite: &Suite,
    traces: &[Value],
    header: Option<&Header>,
) -> Vec<GateReport> {
    let texts: Vec<String> = traces.iter().map(Value::to_string).collect();
    let traces: Vec<Trace<'_>> = texts
        .iter()
        .map(|text| Trace::read(text).unwrap())
        .collect();
    let agent = &suite.agents[0];
    let runs: Vec<Run<'_>> = Run::all(&traces)
        .into_iter()
        .map(|run| Run {
            header,
            passed: agent
                .expect
                .iter()
                .all(|assertion| assertion.check(run.trace).passed),
            ..run
        })
        .collect();
    agent
        .gates
        .iter()
        .map(|gate| gate.judge(&agent.name, &runs))
        .collect()
}

/// The row with this name over these traces. Every judge gives this score.
pub(crate) fn graded(suite: &Suite, row_name: &str, traces: &[Value], score: f64) -> TestReport {
    let texts: Vec<String> = traces.iter().map(Value::to_string).collect();
    let traces: Vec<Trace<'_>> = texts
        .iter()
        .map(|text| Trace::read(text).unwrap())
        .collect();
    let row = suite
        .rows()
        .into_iter()
        .find(|row| row.name == row_name)
        .unwrap();
    let mut recorded = Recorded::from_traces(&traces);
    let asked = wanted(&row, &recorded);
    let Recorded::Runs(runs) = &mut recorded else {
        panic!("no runs")
    };
    for one in asked {
        let vote = |model: &String| Vote {
            model: model.clone(),
            sample: 1,
            score,
            answers: Vec::new(),
            tokens: Tokens::default(),
            cost_usd: None,
        };
        let votes = one.asked.judges.iter().map(vote).collect();
        let fingerprint = one.asked.fingerprint();
        runs.grades.put(Grade {
            run: one.run,
            check: one.check,
            fingerprint,
            asked: one.asked,
            votes,
            scores: Numbers::new(),
            seal: None,
        });
    }
    judge_row(&row, &recorded, Judging::default())
}

/// The gate with this key.
pub(crate) fn gate<'g>(gates: &'g [GateReport], key: &str) -> &'g GateReport {
    gates
        .iter()
        .find(|gate| gate.key == key)
        .unwrap_or_else(|| panic!("no gate {key}"))
}

/// Whether the gate with this key passed.
pub(crate) fn passes(gates: &[GateReport], key: &str) -> bool {
    gate(gates, key).status == Status::Passed
}

/// The value of a target.
pub(crate) fn value(gates: &[GateReport], target: &str) -> f64 {
    let found = gates
        .iter()
        .find_map(|gate| gate.targets.get(target))
        .unwrap_or_else(|| panic!("no target {target}"));
    found
        .unwrap_or_else(|| panic!("{target} was not measured"))
        .as_f64()
}

/// Whether each of the first agent's expectations holds in a trace.
pub(crate) fn expectations(suite: &Suite, trace: &Value) -> Vec<bool> {
    let text = trace.to_string();
    let trace = Trace::read(&text).unwrap();
    suite.agents[0]
        .expect
        .iter()
        .map(|assertion| assertion.check(&trace).passed)
        .collect()
}

/// A trace of calls, each with a separate turn and a result without an error.
pub(crate) fn trace(calls: &[(&str, Value)]) -> Value {
    let results: Vec<Value> = (0..calls.len())
        .map(|at| json!({ "call_index": at, "is_error": false }))
        .collect();
    let calls: Vec<Value> = calls
        .iter()
        .enumerate()
        .map(|(turn, (name, args))| json!({ "name": name, "args": args, "turn": turn }))
        .collect();
    json!({ "tool_calls": calls, "tool_results": results, "final_response": "Done." })
}
