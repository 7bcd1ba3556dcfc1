//! Does every command of the five documents that define the gates work as typed there?
//!
//! `core/tests/seed_00*.rs` contain their suites, code, tables and formulas, and the reason for
//! each part that is not run.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod provider;

use mcptest_provider_stub::{Script, Stub};
use provider::{copy_beside, copy_of_examples, provider_of, repository};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Runs a typed command in this folder, with only this environment.
fn typed(folder: &Path, line: &str, environment: &BTreeMap<String, String>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcptest"));
    let words = line.strip_prefix("mcptest ").unwrap().split(' ');
    let words = words.map(|word| {
        if word == "mcptest" {
            env!("CARGO_BIN_EXE_mcptest")
        } else {
            word
        }
    });
    command
        .args(words)
        .current_dir(folder)
        .env_clear()
        .envs(environment)
        .stdin(Stdio::null());
    command.output().unwrap()
}

fn offline(folder: &Path, line: &str) -> Output {
    typed(folder, line, &BTreeMap::new())
}

/// Both streams, for a message.
fn said(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// Asserts the exit code of the command and returns its output.
fn ends(folder: &Path, line: &str, code: i32) -> String {
    let output = offline(folder, line);
    assert_eq!(
        output.status.code(),
        Some(code),
        "{line}\n{}",
        said(&output)
    );
    said(&output)
}

/// The names of the test cases in a report of the kind `junit`.
fn test_cases(report: &str) -> Vec<&str> {
    report
        .split("<testcase name=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap())
        .collect()
}

/// A folder with this suite, and a cassette with these runs.
fn with_runs(suite: &str, runs: &[Value]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mcptest.yml"), suite).unwrap();
    let line =
        |(at, trace): (usize, &Value)| format!("{}\n", json!({ "run": at + 1, "trace": trace }));
    let lines: String = runs.iter().enumerate().map(line).collect();
    fs::write(folder.path().join("runs.jsonl"), lines).unwrap();
    folder
}

fn run_of(tool: &str, tokens: u64) -> Value {
    json!({ "tool_calls": [{ "name": tool }], "conversation": { "tokens": { "total": tokens } } })
}

/// The examples that the documents record with a key and judge again without one.
const RECORDED: [&str; 4] = [
    "offline-trace-validation",
    "agent-stability",
    "fault-injection-recovery",
    "agent-multi-run-tool-selection",
];

#[test]
fn each_example_of_the_documents_is_recorded_once_and_judged_again_offline() {
    for name in RECORDED {
        let folder = tempfile::tempdir().unwrap();
        let examples = folder.path().join("examples");
        copy_beside(&examples);
        let suite = format!("examples/{name}.yml");
        fs::copy(repository().join(&suite), folder.path().join(&suite)).unwrap();
        let stub = provider_of(&repository().join("examples/cassettes").join(name), None);
        let environment = stub.environment();
        assert!(environment.contains_key("ANTHROPIC_API_KEY"));
        let again = format!("mcptest run --config {suite}");
        ends(folder.path(), &again, 2);
        let recorded = typed(
            folder.path(),
            &format!("mcptest run --record --config {suite}"),
            &environment,
        );
        assert_eq!(
            recorded.status.code(),
            Some(0),
            "{name}: {}",
            said(&recorded)
        );
        let asked = stub.log().len();
        let first = ends(folder.path(), &again, 0);
        assert_eq!(ends(folder.path(), &again, 0), first, "{name}");
        assert!(
            asked > 0 && stub.log().len() == asked,
            "{name}: replay asks nobody"
        );
    }
}

/// The requests to a mock: connect, list, call twice, cancel the second call, and list something
/// else.
const ASKED: &str = concat!(
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"walk","version":"1"}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search"}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"search"}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":4,"method":"resources/list"}"#,
    "\n",
);

/// The requests that a mock with this fault answers with a result.
fn answered(folder: &Path, fault: &str) -> BTreeSet<u64> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcptest"));
    command
        .args(["mock", "--tools-from", "./tools.yml", "--fault", fault])
        .current_dir(folder)
        .env_clear();
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(ASKED.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{fault}");
    let answers = String::from_utf8(output.stdout).unwrap();
    let answers = answers
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    answers
        .filter(|answer| answer.get("result").is_some())
        .filter_map(|answer| answer["id"].as_u64())
        .collect()
}

#[test]
fn a_fault_of_the_mock_touches_calls_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = "mock_server:\n  tools: [{ name: search, description: Searches., response: found }]\n  resources: [{ uri: 'note://one', name: one, text: First. }]\n";
    fs::write(folder.path().join("tools.yml"), manifest).unwrap();
    // Request 3 is given up: a mock that is only slow may or may not be done with it by then.
    for (fault, always, never) in [
        ("none", &[2][..], &[][..]),
        ("hang", &[], &[2, 3]),
        ("wedged", &[], &[2, 3]),
        ("slow:200", &[2], &[]),
        ("recover-after:2", &[], &[2, 3]),
        ("reply-after-cancel:200", &[2, 3], &[]),
    ] {
        let answered = answered(folder.path(), fault);
        assert!(
            [0, 1, 4]
                .iter()
                .chain(always)
                .all(|id| answered.contains(id)),
            "{fault}: {answered:?}"
        );
        assert!(
            !never.iter().any(|id| answered.contains(id)),
            "{fault}: {answered:?}"
        );
    }
    assert!(
        !answered(folder.path(), "recover-after:1").contains(&2),
        "the first call hangs"
    );
}

const INVOICE: &str = "
judge: { model: claude-sonnet-4-5 }
agents:
  - name: invoice
    cassette: runs.jsonl
    runs: 3
    eval:
      rubric:
        criteria: [{ name: grounded, text: Every fact is in a result. }, { name: short, text: It is short. }]
      threshold: 0.7
";

#[test]
fn the_scoring_plan_of_a_rubric_is_printed_without_asking_a_provider() {
    let folder = with_runs(
        INVOICE,
        &vec![json!({ "tool_calls": [], "final_response": "Paid." }); 3],
    );
    let plan = ends(folder.path(), "mcptest eval --explain", 0);
    for part in [
        "grounded",
        "short",
        "threshold  0.7",
        "claude-sonnet-4-5",
        "3 runs × 2 criteria × 1 judge = 6",
        "no judge was called",
    ] {
        assert!(plan.contains(part), "{part}\n{plan}");
    }
    let files = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(files, 2, "nothing is written");
}

const SELECTION: &str = "
agents:
  - name: weather selection
    cassette: runs.jsonl
    runs: 10
    tool_selection:
      expected_tool: get_weather
      min_selection_rate: 0.8
      max_total_tokens: 2000
";

fn ten_runs(selected: usize, most_tokens: u64) -> tempfile::TempDir {
    let tool = |at| {
        if at < selected {
            "get_weather"
        } else {
            "search_web"
        }
    };
    let runs: Vec<Value> = (0..10)
        .map(|at| run_of(tool(at), if at == 0 { most_tokens } else { 900 }))
        .collect();
    with_runs(SELECTION, &runs)
}

#[test]
fn a_floor_prints_its_line_and_a_breach_ends_with_the_code_of_a_failed_test() {
    let line = "tool-selection floor [PASS] weather selection: selection 9/10 (90%), pass^k 90%, max tokens 1840";
    assert!(
        ends(ten_runs(9, 1840).path(), "mcptest run -v", 0)
            .lines()
            .any(|said| said == line)
    );
    let breached = ends(ten_runs(7, 1840).path(), "mcptest run", 1);
    assert!(
        breached.contains("tool-selection floor [FAIL] weather selection: selection 7/10 (70%)"),
        "{breached}"
    );
    ends(ten_runs(10, 2001).path(), "mcptest run", 1);
    let unfloored = SELECTION.split("    tool_selection").next().unwrap();
    let folder = ten_runs(0, 9000);
    fs::write(folder.path().join("mcptest.yml"), unfloored).unwrap();
    assert!(
        !ends(folder.path(), "mcptest run", 0).contains("floor"),
        "no block, no gate"
    );
}

#[test]
fn each_run_is_a_row_of_its_own_also_of_each_model() {
    let report = ends(ten_runs(9, 1840).path(), "mcptest run --reporter junit", 0);
    let rows: Vec<String> = (1..=10)
        .map(|run| format!("weather selection #{run}"))
        .collect();
    assert_eq!(test_cases(&report)[..10], rows, "replay judges every run");
    let from_a_typo = with_runs(
        &SELECTION.replace("runs: 10", "runs: 0"),
        &[run_of("get_weather", 1)],
    );
    let report = ends(from_a_typo.path(), "mcptest run --reporter junit", 0);
    assert_eq!(
        test_cases(&report).len(),
        2,
        "one run and its floor: {report}"
    );
    let matrix = ends(
        &repository(),
        "mcptest run --config examples/model-compatibility.yml --reporter junit",
        0,
    );
    let row = "the overdue invoice is found and named [claude-haiku-4-5] #3";
    assert!(test_cases(&matrix).contains(&row), "{matrix}");
}

#[test]
fn the_first_example_is_recorded_with_one_key() {
    let text = std::fs::read_to_string(repository().join("examples/offline-trace-validation.yml"));
    let text = text.unwrap();
    let models = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("model"));
    for model in models {
        assert!(model.contains("claude-"), "model{model}");
        assert!(!model.contains("gpt"), "model{model}");
    }
}

#[test]
fn a_floor_of_coverage_ends_with_a_code_of_its_own() {
    let suite =
        "mcptest run --config examples/agent-multi-run-tool-selection.yml --coverage-threshold";
    let (met, missed) = (
        ends(&repository(), &format!("{suite} 50"), 0),
        ends(&repository(), &format!("{suite} 100"), 6),
    );
    assert!(
        met.contains("tools called (") && missed.contains("the threshold is 100%"),
        "{missed}"
    );
}

const STABILITY: &str = "
agents:
  - name: weather session stays stable
    cassette: runs.jsonl
    runs: 5
    stability: {}
";

#[test]
fn the_verdict_of_stability_is_a_row_in_every_report() {
    let looping = json!({ "tool_calls": vec![json!({ "name": "get_weather", "args": { "city": "Oslo" } }); 6] });
    let steady = json!({ "tool_calls": [{ "name": "get_weather", "args": { "city": "Oslo" } }] });
    for (last, code, status) in [(&steady, 0, "passed"), (&looping, 1, "failed")] {
        let runs: Vec<Value> = [vec![steady.clone(); 4], vec![last.clone()]].concat();
        let folder = with_runs(STABILITY, &runs);
        let pretty = ends(folder.path(), "mcptest run -v", code);
        let line = if code == 0 {
            "✓ stability  weakest_score 1"
        } else {
            "stability: weakest_score must be at least 0.5"
        };
        assert!(
            pretty.lines().any(|said| said.trim().starts_with(line)),
            "{pretty}"
        );
        let junit = ends(folder.path(), "mcptest run --reporter junit", code);
        assert!(
            test_cases(&junit)
                .iter()
                .any(|row| row.ends_with("stability")),
            "{junit}"
        );
        let report: Value =
            serde_json::from_str(&ends(folder.path(), "mcptest run --reporter json", code))
                .unwrap();
        let gate = &report["tests"][0]["gates"][0];
        assert_eq!(
            (&gate["key"], &gate["status"]),
            (&json!("stability"), &json!(status))
        );
    }
    let single = with_runs(
        &STABILITY.replace("runs: 5", "runs: 1"),
        std::slice::from_ref(&steady),
    );
    for command in ["mcptest run", "mcptest validate"] {
        ends(single.path(), command, 2);
    }
}

const HUNG: &str = "
servers: { faulty: { command: [faulty-server] } }
faults:
  - name: hung-search
    target: { tool: search }
    kind: hang
agents:
  - name: recovers from a hung search tool
    cassette: runs.jsonl
    servers: [faulty]
    inject: [hung-search]
    recovery:
      max_detection_ms: 3000
      max_recovery_ms: 5000
      require_clean_timeout: true
";

#[test]
fn no_recovery_is_a_failure_and_a_name_that_leads_nowhere_is_an_error() {
    let fault = json!({ "name": "hung-search", "kind": "hang", "call_index": 0, "virtual_ms": 3000, "detected": true });
    let run = |recovers: bool| {
        json!({
            "tool_calls": [
                { "name": "search", "server": "faulty", "turn": 0 },
                { "name": "list_incidents", "server": "faulty", "turn": 1 },
            ],
            "tool_results": [{ "call_index": 0, "is_error": true }, { "call_index": 1, "is_error": !recovers }],
            "faults": [fault],
            "final_response": "Here it is.",
        })
    };
    ends(with_runs(HUNG, &[run(true)]).path(), "mcptest run", 0);
    ends(with_runs(HUNG, &[run(false)]).path(), "mcptest run", 1);
    let dangling = with_runs(
        &HUNG.replace("inject: [hung-search]", "inject: [hung-serch]"),
        &[run(true)],
    );
    for command in ["mcptest run", "mcptest validate"] {
        assert!(ends(dangling.path(), command, 2).contains("hung-serch"));
    }
}

/// Records an agent that searches and then lists, with this fault. Returns the exit code and the
/// failed calls.
fn recorded_with(target: &str, kind: &str) -> (Option<i32>, Vec<bool>) {
    let folder = tempfile::tempdir().unwrap();
    let tools = "mock_server:\n  tools:\n    - { name: search, description: Searches., response: found }\n    - { name: list_incidents, description: Lists., response: one }\n";
    fs::write(folder.path().join("tools.yml"), tools).unwrap();
    let suite = HUNG
        .replace("command: [faulty-server]", "mock: tools.yml")
        .replace("{ tool: search }", target)
        .replace("kind: hang", kind)
        .replace(
            "cassette: runs.jsonl",
            "model: claude-sonnet-4-5\n    prompt: Search for the report.\n    cassette: runs.jsonl",
        );
    fs::write(folder.path().join("mcptest.yml"), suite).unwrap();
    let call = |name: &str| json!({ "calls": [{ "name": name, "args": {} }] });
    let script =
        json!({ "steps": [call("search"), call("list_incidents"), { "text": "Here it is." }] });
    let stub = Stub::start(Script::parse(&script.to_string()).unwrap()).unwrap();
    let output = typed(folder.path(), "mcptest run --record", &stub.environment());
    let cassette = fs::read_to_string(folder.path().join("runs.jsonl")).unwrap();
    let run: Value = serde_json::from_str(cassette.lines().nth(1).unwrap()).unwrap();
    let results = run["trace"]["tool_results"].as_array().unwrap().iter();
    (
        output.status.code(),
        results.map(|result| result["is_error"] == true).collect(),
    )
}

#[test]
fn a_target_is_a_tool_a_server_or_both_and_no_call_is_waited_for() {
    for target in ["{ tool: search }", "{ server: faulty, tool: search }"] {
        for kind in [
            "kind: hang",
            "kind: wedged",
            "kind: slow\n    delay_ms: 4000",
            "kind: recover_after\n    failures: 1",
        ] {
            assert_eq!(
                recorded_with(target, kind),
                (Some(0), vec![true, false]),
                "{target} {kind}"
            );
        }
    }
    let (code, failed) = recorded_with("{ server: faulty }", "kind: hang");
    assert_eq!(
        (code, failed),
        (Some(1), vec![true, true]),
        "every tool of the server, so nothing recovers"
    );
}

#[test]
fn a_server_that_cannot_be_reached_is_an_error_of_the_infrastructure() {
    let folder = tempfile::tempdir().unwrap();
    let suite = HUNG
        .replace("[faulty-server]", "[./no-such-server]")
        .replace(
            "cassette: runs.jsonl",
            "model: claude-sonnet-4-5\n    prompt: Search for the report.",
        );
    fs::write(folder.path().join("mcptest.yml"), suite).unwrap();
    let stub = Stub::start(Script::default()).unwrap();
    let output = typed(folder.path(), "mcptest run --record", &stub.environment());
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(
        said(&output).contains("no-such-server"),
        "{}",
        said(&output)
    );
}

#[test]
fn the_edge_family_probes_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let tools = "mock_server: { tools: [{ name: search, annotations: { readOnlyHint: true }, description: Searches., response: found }] }";
    fs::write(folder.path().join("tools.yml"), tools).unwrap();
    let found = ends(
        folder.path(),
        "mcptest check --only EDGE -- mcptest mock --tools-from tools.yml",
        0,
    );
    assert!(
        found.contains("✓ EDGE-hang") && found.contains("✓ EDGE-cancel"),
        "{found}"
    );
}

#[test]
fn the_run_count_of_the_document_is_what_the_planner_says() {
    let planned = ends(&repository(), "mcptest plan-runs --half-width 0.05", 0);
    assert_eq!(planned.lines().next(), Some("385"));
}

#[test]
fn two_baselines_are_compared_across_releases() {
    let folder = tempfile::tempdir().unwrap();
    let suite = "model-compatibility.yml";
    fs::copy(
        repository().join("examples").join(suite),
        folder.path().join(suite),
    )
    .unwrap();
    copy_beside(folder.path());
    copy_of_examples(Path::new("cassettes/model-compatibility"), folder.path());
    ends(
        folder.path(),
        &format!("mcptest model-baseline capture {suite} -o now"),
        0,
    );
    let diff = "mcptest model-baseline diff now/claude-sonnet-4-5.json now/claude-haiku-4-5.json";
    assert!(ends(folder.path(), diff, 0).contains("invariants"));
}

/// The names in the documents, each with the example that shows it.
const REFERRED: [(&str, &str); 14] = [
    ("equal_function_sets", "selection-f1"),
    ("distractors", "distractors"),
    ("discovery", "name-free-discovery"),
    ("token_efficiency", "token-efficiency"),
    ("tool_quality", "tool-quality"),
    ("tool_edges", "tool-edges"),
    ("ablate", "ablation"),
    ("scenario", "worlds"),
    ("model_compat", "model-compatibility"),
    ("eval", "judges"),
    ("reliability", "reliability"),
    ("narrative", "narrative-vs-trace"),
    ("fault_matrix", "fault-matrix"),
    ("recovery", "fault-injection-recovery"),
];

#[test]
fn every_method_that_is_referred_to_has_an_example_that_runs_a_page_and_an_explanation() {
    for (gate, example) in REFERRED {
        let line = format!("mcptest run --config examples/{example}.yml --reporter json");
        let report: Value = serde_json::from_slice(&offline(&repository(), &line).stdout).unwrap();
        let tests = report["tests"].as_array().unwrap().iter();
        let mut gates = tests.flat_map(|test| test["gates"].as_array().unwrap());
        assert!(
            gates.any(|found| found["key"] == gate && found["status"] == "passed"),
            "{gate} in {example}"
        );
        let page =
            fs::read_to_string(repository().join(format!("docs/reference/{gate}.md"))).unwrap();
        let explained = ends(&repository(), &format!("mcptest explain {gate}"), 0);
        assert!(page.contains(explained.lines().next().unwrap()), "{gate}");
    }
}

#[test]
fn every_page_that_is_referred_to_is_there_and_the_pages_lead_to_each_other() {
    let page = |name: &str| fs::read_to_string(repository().join("docs").join(name)).unwrap();
    for (name, about) in [
        ("tool-surface.md", "tool_quality:"),
        ("evaluation.md", "llm-jury"),
        ("model-compatibility.md", "mcptest model-baseline diff"),
        ("worlds.md", "scenarios:"),
        ("oracle.md", "tool_calls"),
        ("coverage.md", "--coverage-threshold"),
        ("choosing.md", "trajectory_axes:"),
        ("mock.md", "--fault"),
    ] {
        assert!(
            page(name).contains(about),
            "docs/{name} says nothing of {about}"
        );
    }
    let map = page("choosing.md");
    for target in [
        "worlds.md",
        "evaluation.md",
        "reference/ablate.md",
        "reference/stability.md",
    ] {
        assert!(map.contains(&format!("({target}")), "{target}");
    }
}
