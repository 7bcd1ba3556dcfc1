//! When does the gate pass?

use crate::baseline::{Baseline, FORMAT, RunBaseline, TestBaseline, VERSION, capture, of_question};
use mcptest_core::gates::{Gates, OUTCOME_GATES, RUN_GATES};
use mcptest_core::judge::{Judging, Recorded, judge_row};
use mcptest_core::report::{Status, TestReport};
use mcptest_core::suite::{Host, Loaded, load, load_to_capture};
use mcptest_core::trace::{Run, Trace};
use serde_json::{Value, json};
use std::path::Path;

const AGENT: &str = "prompt: Find it.\nruns: 3\nmodel_compat: { baseline: base/m.json }";

static ALL: Gates = Gates::new(&[RUN_GATES, OUTCOME_GATES, crate::GATES]);

#[test]
fn the_entry_keeps_every_rule_of_the_registry() {
    for kind in crate::GATES {
        assert_eq!(mcptest_core::gates::check(kind, ALL), Vec::<String>::new());
    }
}

/// A suite with this agent, whose only server is `docs`.
fn suite(agent: &str) -> String {
    let indented = agent.trim_end().replace('\n', "\n    ");
    format!(
        "servers:\n  docs: {{ command: [docs] }}\nagents:\n  - name: t\n    model: m\n    servers: [docs]\n    {indented}\n"
    )
}

/// Loads a suite with this baseline.
fn loaded(agent: &str, baseline: Option<&str>, purpose: fn(&Path, &Host<'_>) -> Loaded) -> Loaded {
    let text = suite(agent);
    let read = |path: &Path| match path.to_str() {
        Some("suite.yml") => Ok(text.as_bytes().to_vec()),
        _ => baseline
            .map(|text| text.as_bytes().to_vec())
            .ok_or_else(|| "no such file".to_owned()),
    };
    purpose(
        Path::new("suite.yml"),
        &Host {
            gates: ALL,
            ..Host::new(&read, &|_| None)
        },
    )
}

fn envelope(tools: &[&str]) -> Value {
    let calls: Vec<Value> = tools
        .iter()
        .map(|tool| json!({"name": tool, "server": "docs"}))
        .collect();
    json!({"tool_calls": calls, "final_response": "Done.", "stop_reason": "end_turn"})
}

fn with_traces<T>(envelopes: &[Value], judge: impl FnOnce(&[Trace<'_>]) -> T) -> T {
    let texts: Vec<String> = envelopes.iter().map(Value::to_string).collect();
    let traces: Vec<Trace<'_>> = texts
        .iter()
        .map(|text| Trace::read(text).unwrap())
        .collect();
    judge(&traces)
}

/// The baseline of an agent with these runs.
fn baseline(agent: &str, envelopes: &[Value]) -> String {
    let suite = loaded(agent, None, load_to_capture).suite.unwrap();
    let runs = with_traces(envelopes, |traces| {
        Run::all(traces).iter().map(RunBaseline::of).collect()
    });
    let test = TestBaseline {
        runs,
        ..of_question(&suite.path, &suite.agents[0], None)
    };
    let (format, model) = (FORMAT.to_owned(), Some("m".to_owned()));
    Baseline {
        format,
        version: VERSION,
        model,
        tests: vec![test],
    }
    .to_text()
}

fn judged(agent: &str, before: &[Value], after: &[Value]) -> TestReport {
    let loaded = loaded(agent, Some(&baseline(agent, before)), load);
    let suite = loaded
        .suite
        .unwrap_or_else(|| panic!("{:?}", loaded.problems));
    let rows = suite.rows();
    with_traces(after, |traces| {
        judge_row(&rows[0], &Recorded::from_traces(traces), Judging::default())
    })
}

#[test]
fn a_row_fails_when_a_tool_is_gone_and_passes_when_words_change() {
    let steady = vec![envelope(&["search", "open_page"]); 3];
    let same = judged(AGENT, &steady, &steady);
    assert_eq!(same.status, Status::Passed, "{same:?}");
    assert_eq!(
        same.gates[0].summary.as_deref(),
        Some("0 of 6 invariants of 3 runs of m broken, 0 undecided, 0 numbers shifted")
    );
    let gone = judged(AGENT, &steady, &vec![envelope(&["open_page"]); 3]);
    assert_eq!(gone.status, Status::Failed);
    let said: Vec<&str> = gone.gates[0]
        .explanation
        .iter()
        .map(|one| one.message.as_str())
        .collect();
    assert_eq!(
        said,
        ["FAIL: `docs.search` is no longer called (held in 3 of 3 runs, now in 0 of 3)"]
    );
}

#[test]
fn with_fewer_than_three_runs_the_suite_is_warned_of_and_the_row_is_not_exercised() {
    let agent = AGENT.replace("runs: 3", "runs: 2");
    let steady = vec![envelope(&["search", "open_page"]); 3];
    let warned = loaded(&agent, Some(&baseline(&agent, &steady)), load);
    let said: Vec<&str> = warned
        .problems
        .iter()
        .map(|problem| problem.message.as_str())
        .collect();
    assert_eq!(
        said,
        [
            "`model_compat:` cannot find anything broken: an invariant is broken only with 3 runs or more on each \
             side; this takes 1 more run now"
        ]
    );
    let gone = judged(&agent, &steady, &vec![envelope(&["open_page"]); 2]);
    assert_eq!(gone.status, Status::Passed);
    assert!(gone.gates[0].not_exercised.is_some(), "{gone:?}");
}

#[test]
fn a_number_of_another_gate_that_gets_worse_fails_unless_that_is_allowed() {
    let agent = |more: &str| {
        let compat = format!("model_compat: {{ baseline: base/m.json{more} }}");
        format!(
            "prompt: Find it.\nruns: 8\ngolden_path:\n  calls: [search]\n  expect: [{{ target: golden_path.coverage, matcher: {{ gte: 1 }} }}]\n{compat}"
        )
    };
    let before = vec![envelope(&["search"]); 8];
    let after = vec![envelope(&["search", "search", "search"]); 8];
    // The numbers of the baseline are those of its runs.
    let with_numbers = |agent: &str| {
        let suite = loaded(agent, None, load_to_capture).suite.unwrap();
        let row = suite.agent_rows().next().unwrap();
        let test = with_traces(&before, |traces| capture(row, &Run::all(traces)));
        let (format, model) = (FORMAT.to_owned(), None);
        Baseline {
            format,
            version: VERSION,
            model,
            tests: vec![test],
        }
        .to_text()
    };
    let judged = |agent: &str| {
        let suite = loaded(agent, Some(&with_numbers(agent)), load)
            .suite
            .unwrap();
        let rows = suite.rows();
        with_traces(&after, |traces| {
            judge_row(&rows[0], &Recorded::from_traces(traces), Judging::default())
        })
    };
    let failed = judged(&agent(""));
    let gate = failed.gates.last().unwrap();
    assert_eq!(gate.status, Status::Failed, "{gate:?}");
    assert!(
        gate.explanation
            .iter()
            .any(|one| one.message.contains("golden_path.extra_steps went from")),
        "{gate:?}"
    );
    assert_eq!(
        judged(&agent(", allow_drift: true"))
            .gates
            .last()
            .unwrap()
            .status,
        Status::Passed
    );
}

#[test]
fn a_baseline_that_is_missing_stale_or_broken_refuses_the_suite_and_says_how_to_make_it() {
    let problems = |agent: &str, baseline: Option<&str>| {
        let loaded = loaded(agent, baseline, load);
        assert!(loaded.is_refused());
        let problem = loaded.problems[0].clone();
        (problem.message, problem.help.unwrap())
    };
    let good = baseline(AGENT, &[envelope(&["search"])]);
    let (message, help) = problems(AGENT, None);
    assert_eq!(
        message,
        "cannot read the baseline base/m.json: no such file"
    );
    assert!(
        help.contains("`mcptest model-baseline capture suite.yml -o base`"),
        "{help}"
    );
    let asked = AGENT.replace("Find it.", "Find another.");
    assert!(
        problems(&asked, Some(&good))
            .0
            .contains("is stale: the prompts, servers or parameters of `t` changed")
    );
    assert!(problems(AGENT, Some("{")).0.contains("base/m.json: line 1"));
    assert!(
        problems(
            AGENT,
            Some(&good.replace("\"version\": 1", "\"version\": 7"))
        )
        .0
        .contains("version 7")
    );
    let named = AGENT.replace("base/m.json", "base/m.json, test: tt");
    assert!(problems(&named, Some(&good)).0.contains("no test `tt`"));
}
