//! Is each file of a suite opened once, however many models are judged?

#![allow(clippy::unwrap_used, missing_docs)]

use mcptest_core::report::Status;
use mcptest_core::suite::{Host, load};
use mcptest_replay::{JudgeOptions, Plan, Selection, replay};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const SUITE: &str = "
servers:
  docs: { mock: docs.tools.yml }
  same: { mock: ./docs.tools.yml }
faults:
  - { name: hung, target: { tool: search }, kind: hang }
agents:
  - name: searches
    models: [one, two, three]
    servers: [docs, same]
    prompt: Search.
    inject: [hung]
    cassette: '{model}.json'
    recovery: { max_detection_ms: 1000 }
";

const TRACE: &str = r#"{
  "tool_calls": [{ "name": "search", "turn": 1 }, { "name": "search", "turn": 2 }],
  "tool_results": [{ "is_error": true }, { "is_error": false }],
  "faults": [{ "name": "hung", "kind": "hang", "call_index": 0, "detected": true }]
}"#;

#[test]
fn a_replay_of_three_models_reads_a_manifest_once_and_never_while_it_judges() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("suite.yml"), SUITE).unwrap();
    fs::write(at("docs.tools.yml"), "tools: [{ name: search }]").unwrap();
    for model in ["one", "two", "three"] {
        fs::write(at(&format!("{model}.json")), TRACE).unwrap();
    }
    let opened: RefCell<BTreeMap<PathBuf, usize>> = RefCell::default();
    let read = |path: &Path| {
        *opened
            .borrow_mut()
            .entry(path.canonicalize().unwrap())
            .or_default() += 1;
        fs::read(path).map_err(|error| error.to_string())
    };
    let host = Host {
        mock: &mcptest_mock::manifest::catalogue,
        ..Host::new(&read, &|_| None)
    };
    let loaded = load(&at("suite.yml"), &host);
    assert!(!loaded.is_refused(), "{:#?}", loaded.problems);
    assert_eq!(
        opened.into_inner().into_values().collect::<Vec<_>>(),
        [1, 1]
    );

    // Whoever opened it again would find that the fault hits no tool any more.
    fs::write(at("docs.tools.yml"), "tools: [{ name: other }]").unwrap();
    let loaded = [("suite.yml".to_owned(), loaded)];
    let plan = Plan::new(&loaded, &Selection::default());
    let report = replay(&plan, JudgeOptions::default());
    let judged: Vec<_> = report
        .tests
        .iter()
        .map(|test| (test.status, test.reason.as_ref()))
        .collect();
    assert_eq!(judged, [(Status::Passed, None); 3]);
}

#[test]
fn a_program_of_two_agents_is_read_once() {
    let folder = tempfile::tempdir().unwrap();
    let agent = |name: &str| {
        format!(
            "  - {{ name: {name}, agent: {{ command: [python3, agent.py] }}, prompt: Search., cassette: a.jsonl }}\n"
        )
    };
    let suite = format!("agents:\n{}{}", agent("one"), agent("two"));
    fs::write(folder.path().join("suite.yml"), suite).unwrap();
    fs::write(folder.path().join("agent.py"), "print('hello')\n").unwrap();
    let opened = RefCell::new(0);
    let read = |path: &Path| {
        *opened.borrow_mut() += usize::from(path.ends_with("agent.py"));
        fs::read(path).map_err(|error| error.to_string())
    };
    let loaded = load(
        &folder.path().join("suite.yml"),
        &Host::new(&read, &|_| None),
    );
    assert_eq!(
        loaded.suite.unwrap().agents.len(),
        2,
        "{:#?}",
        loaded.problems
    );
    assert_eq!(opened.into_inner(), 1);
}
