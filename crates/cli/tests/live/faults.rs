//! Are injected faults recorded, without waiting for them?

use crate::bench::LiveFolder;
use mcptest_core::fault::{FaultEntry, FaultKind};
use serde_json::{Value, json};

/// A desk with state, so that the next call shows whether the previous one reached it.
const DESK: &str = "
mock_server:
  store: { tickets: { id: 'T-${next}' } }
  tools:
    - { name: create_ticket, response: { create: tickets, record: { title: '${args.title}' } } }
    - { name: list_tickets, response: { list: tickets } }
";

/// Longer than a run may take, so that waiting for a fault fails the test.
const TEN_MINUTES_MS: u64 = 600_000;

const SCRIPT: &str = "
steps:
  - calls: [{ name: create_ticket, args: { title: The door is stuck } }]
  - calls: [{ name: list_tickets }]
  - text: Done.
";

fn suite(kind: &str, rest: &str) -> String {
    format!(
        "servers:\n  desk: {{ command: [./server, mock, --tools-from, manifest.yml], timeout: 10m }}\n\
         faults:\n  - {{ name: f, target: {{ tool: create_ticket }}, kind: \"{kind}\"{rest} }}\n\
         agents:\n  - name: opens a ticket\n    model: claude-sonnet-4-5\n    servers: [desk]\n    inject: [f]\n    prompt: The door is stuck.\n    time_budget: 60s\n    cassette: a.jsonl\n    expect:\n      - {{ target: stop_reason, matcher: {{ exact: end_turn }} }}\n    recovery: {{ max_detection_ms: 3000 }}\n"
    )
}

/// The kind with its number, if it needs one. Delays are far beyond every budget.
fn written(entry: &FaultEntry) -> String {
    let with = |number: u64| format!("{}:{number}", entry.name);
    match entry.example {
        FaultKind::Slow { .. } | FaultKind::ReplyAfterCancel { .. } => with(TEN_MINUTES_MS),
        FaultKind::RateLimit { .. } => with(0),
        FaultKind::RecoverAfter { .. } => with(1),
        kind => kind.to_string(),
    }
}

/// Whether the tool does its work despite the fault, and whether the agent gets a success.
fn expected(kind: FaultKind) -> (bool, bool) {
    match kind {
        FaultKind::None => (true, false),
        FaultKind::Slow { .. }
        | FaultKind::ReplyAfterCancel { .. }
        | FaultKind::Malformed
        | FaultKind::LostResponse => (true, true),
        FaultKind::Hang
        | FaultKind::Wedged
        | FaultKind::RecoverAfter { .. }
        | FaultKind::Error { .. }
        | FaultKind::RateLimit { .. }
        | FaultKind::Disconnect => (false, true),
        kind => panic!("{kind} cannot be injected"),
    }
}

#[test]
fn every_kind_of_fault_is_met_in_virtual_time_and_recorded_as_what_it_is() {
    let kinds: Vec<&FaultEntry> = FaultKind::ALL
        .iter()
        .filter(|entry| entry.is_injectable())
        .collect();
    std::thread::scope(|scope| {
        for half in kinds.chunks(kinds.len().div_ceil(2)) {
            scope.spawn(move || half.iter().for_each(|kind| meet(&written(kind))));
        }
    });
}

fn meet(written: &str) {
    let kind: FaultKind = written.parse().unwrap();
    let (reaches, detected) = expected(kind);
    let mut text = suite(written, "");
    if kind == FaultKind::None {
        // A gate that can only say that the fault was never met is refused when the suite is loaded.
        text = text.replace("    recovery: { max_detection_ms: 3000 }\n", "");
    }
    let bench = LiveFolder::with(&text, SCRIPT, DESK);
    let words = [
        "--record",
        "--reporter",
        "json=recorded.json",
        "--reporter",
        "pretty",
    ];
    let recorded = bench.record(&words, 0);
    let trace = bench.trace("a.jsonl");
    let told = &trace["tool_results"][0];
    assert_eq!(told["is_error"], detected, "{written}: {trace:#}");
    let tickets = trace["tool_results"][1]["structured"]["tickets"]
        .as_array()
        .map(Vec::len);
    assert_eq!(tickets, Some(usize::from(reaches)), "{written}: {trace:#}");
    let mut event = json!({ "name": "f", "kind": written, "call_index": 0, "detected": detected });
    if matches!(
        kind,
        FaultKind::Slow { .. } | FaultKind::ReplyAfterCancel { .. }
    ) {
        event["virtual_ms"] = json!(TEN_MINUTES_MS);
    }
    let events = if kind == FaultKind::None {
        json!([])
    } else {
        json!([event])
    };
    assert_eq!(trace["faults"], events, "{written}");
    std::fs::rename(bench.path("recorded.json"), bench.path("before.json")).unwrap();
    let again = bench.run(&[
        "run",
        "suite.yml",
        "--reporter",
        "json=recorded.json",
        "--reporter",
        "pretty",
    ]);
    assert_eq!(
        (again.exit, &again.stdout),
        (recorded.exit, &recorded.stdout),
        "{written}"
    );
    assert_eq!(
        bench.read("recorded.json"),
        bench.read("before.json"),
        "{written}"
    );
}

#[test]
fn a_delay_beyond_the_budget_of_a_call_is_a_timeout_and_one_within_it_is_an_answer() {
    let clean = "max_detection_ms: 3000, require_clean_timeout: true";
    for (kind, is_told) in [
        ("slow:9000", true),
        ("reply-after-cancel:9000", true),
        ("slow:2000", false),
        ("reply-after-cancel:2000", false),
    ] {
        let text = suite(kind, "").replace("max_detection_ms: 3000", clean);
        let bench = LiveFolder::with(&text, SCRIPT, DESK);
        // Whoever never met a failure has proved nothing about getting over one.
        bench.record(&["--record"], i32::from(!is_told));
        let trace = bench.trace("a.jsonl");
        assert_eq!(trace["tool_results"][0]["is_error"], is_told, "{kind}");
        assert_eq!(trace["faults"][0]["detected"], is_told, "{kind}");
        bench.replay(i32::from(!is_told));
    }
}

#[test]
fn a_fault_that_is_real_holds_the_call_for_its_true_length() {
    for (kind, real, held) in [
        ("slow:1500", true, true),
        ("slow:1500", false, false),
        ("hang", true, true),
    ] {
        let text = suite(kind, if real { ", real: true" } else { "" });
        let bench = LiveFolder::with(&text.replace("10m", "1500ms"), SCRIPT, DESK);
        bench.run(&["run", "suite.yml", "--record"]);
        let trace = bench.trace("a.jsonl");
        assert_eq!(trace["faults"][0]["kind"], kind);
        let took = trace["tool_results"][0]["duration_ms"].as_u64().unwrap();
        assert_eq!(took >= 1500, held, "{kind}, real: {real}: {took} ms");
    }
}

#[test]
fn a_fault_strikes_as_often_as_it_says_and_only_where_it_aims() {
    let script = "
steps:
  - calls: [{ name: create_ticket, args: { title: a } }, { name: list_tickets }]
  - calls: [{ name: create_ticket, args: { title: b } }]
  - calls: [{ name: create_ticket, args: { title: c } }]
  - text: Done.
";
    let errors = |kind: &str| {
        let bench = LiveFolder::with(&suite(kind, ""), script, DESK);
        bench.run(&["run", "suite.yml", "--record"]);
        let trace = bench.trace("a.jsonl");
        let events = trace["faults"].as_array().unwrap();
        let at: Vec<u64> = events
            .iter()
            .filter_map(|event| event["call_index"].as_u64())
            .collect();
        let results = trace["tool_results"].as_array().unwrap();
        let failed: Vec<u64> = results
            .iter()
            .filter(|result| result["is_error"] == true)
            .filter_map(index)
            .collect();
        assert_eq!(at, failed, "{kind}: {trace:#}");
        failed
    };
    assert_eq!(errors("hang"), [0, 2, 3]);
    assert_eq!(errors("recover-after:2"), [0, 2]);
    assert_eq!(errors("rate-limit:1"), [2]);
    assert_eq!(errors("error:-32000"), [0, 2, 3]);
}

fn index(result: &Value) -> Option<u64> {
    result["call_index"].as_u64()
}

const MATRIX: &str = "
servers:
  desk: { command: [./server, mock, --tools-from, manifest.yml] }
agents:
  - name: opens a ticket
    model: claude-sonnet-4-5
    servers: [desk]
    prompt: The door is stuck.
    cassette: a.jsonl
    runs: 2
    expect: [{ target: final_response, matcher: { exact: Done. } }]
    fault_matrix: true
";

#[test]
fn the_fault_matrix_tries_every_kind_at_every_call_and_says_what_is_survived() {
    let gives_up =
        "steps: [{ calls: [{ name: create_ticket, args: { title: x } }] }, { text: No. }]";
    let script = format!(
        "rules:\n  - {{ when: {{ run: 4 }}, {gives_up} }}\n  - {{ when: {{ run: 5 }}, {gives_up} }}\n{SCRIPT}"
    );
    let bench = LiveFolder::with(MATRIX, &script, DESK);
    let recorded = bench.record(&["--record", "--jobs", "1", "-vv"], 0);
    recorded.says("survived 10 of 11 faults (90%)");
    recorded.says("error:-32603@1 (`create_ticket`) was not survived: its `expect:` did not hold");
    recorded.says("never reached, since the call was not made: error:-32603@2");
    let (header, runs) = bench.cassette("a.faults.jsonl");
    let combinations: Vec<&str> = header["parameters"]["fault_matrix"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert_eq!(
        (combinations.len(), runs.len()),
        (12, 12),
        "{combinations:?}"
    );
    for (number, trace) in &runs {
        let combination = combinations[*number as usize - 1];
        let event = trace["faults"][0].clone();
        if *number == 4 {
            // It stopped before the second call.
            assert!(
                event.is_null() && combination.ends_with("@2"),
                "{combination}: {trace:#}"
            );
            continue;
        }
        assert_eq!(event["name"], combination);
        assert!(combination.ends_with(&format!("@{}", event["call_index"].as_u64().unwrap() + 1)));
    }
    assert_eq!(
        bench
            .traces("a.jsonl")
            .iter()
            .filter(|trace| trace["faults"].is_null())
            .count(),
        2
    );
    assert_eq!(
        bench.run(&["run", "suite.yml", "-vv"]).stdout,
        recorded.stdout
    );
}

#[test]
fn a_fault_matrix_that_was_cut_short_goes_on_where_it_was() {
    let bench = LiveFolder::with(MATRIX, SCRIPT, DESK);
    bench.record(&["--record"], 0);
    let text = bench.read("a.faults.jsonl");
    let ordinary = bench.read("a.jsonl");
    let cut: String = text.split_inclusive('\n').take(6).collect();
    bench.write("a.faults.jsonl", &cut);
    bench
        .replay(2)
        .says("of the fault matrix, 5 of 12 runs are recorded")
        .says("--record=missing");
    let asked = bench.stub.count();
    bench.record(&["--record=missing"], 0);
    assert_eq!(
        bench.stub.count() - asked,
        7 * 3,
        "seven runs of three messages"
    );
    assert!(bench.read("a.faults.jsonl").starts_with(&cut));
    assert_eq!(bench.read("a.jsonl"), ordinary);
    std::fs::remove_file(bench.path("a.faults.jsonl")).unwrap();
    bench
        .replay(2)
        .says("the fault matrix has no recording")
        .says("--record=missing");
    bench.record(&["--record=missing"], 0);
    assert_eq!(bench.read("a.jsonl"), ordinary);
    assert_eq!(bench.traces("a.faults.jsonl").len(), 12);
}

#[test]
fn a_live_fault_matrix_is_judged_and_written_nowhere() {
    let text = MATRIX.replace(
        "fault_matrix: true",
        "fault_matrix: { kinds: [hang, 'recover-after:2'] }",
    );
    let bench = LiveFolder::with(&text, SCRIPT, DESK);
    let before = bench.files();
    bench
        .record(&["--live", "-v"], 0)
        .says("survived 4 of 4 faults (100%)");
    assert_eq!(bench.files(), before);
    bench.record(&["--record"], 0);
    let struck = |trace: &Value| trace["faults"].as_array().unwrap().len();
    assert_eq!(
        bench
            .traces("a.faults.jsonl")
            .iter()
            .map(struck)
            .collect::<Vec<_>>(),
        [1, 1, 2, 1]
    );
}

#[test]
fn a_fault_matrix_of_other_kinds_is_stale_and_recorded_again_as_that() {
    let bench = LiveFolder::with(MATRIX, SCRIPT, DESK);
    bench.record(&["--record"], 0);
    bench.write(
        "suite.yml",
        &MATRIX.replace("fault_matrix: true", "fault_matrix: { kinds: [hang] }"),
    );
    bench.replay(2).says("a.faults.jsonl is stale");
    bench.record(&["--record=missing"], 2);
    bench
        .record(&["--record=stale", "-v"], 0)
        .says("survived 2 of 2 faults (100%)");
    assert_eq!(bench.traces("a.faults.jsonl").len(), 2);
    bench.replay(0);
}
