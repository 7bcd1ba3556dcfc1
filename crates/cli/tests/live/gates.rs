//! Every gate: recorded against the stub, then replayed without network, environment and servers.
//!
//! `gates/<key>/` has a suite in which the gate passes once and fails once. If the shared script
//! and manifest do not suit the gate, the folder has its own.

use crate::bench::{LiveFolder, SERVER};
use crate::sealed::run_sealed;
use mcptest::GATES;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/live/gates")
}

#[test]
fn every_gate_of_the_registry_has_a_suite_to_record_and_no_suite_is_without_a_gate() {
    let entries = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap());
    let folders: BTreeSet<String> = entries
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    let gates: BTreeSet<String> = GATES.iter().map(|gate| gate.key.to_owned()).collect();
    assert_eq!(folders, gates);
}

#[test]
fn what_was_recorded_is_replayed_to_the_byte_without_network_environment_or_server() {
    // Two at a time: the gates are many, and the cores are few.
    let (even, odd): (Vec<_>, Vec<_>) = GATES.iter().enumerate().partition(|(at, _)| at % 2 == 0);
    std::thread::scope(|scope| {
        for half in [even, odd] {
            scope.spawn(move || {
                for (_, gate) in half {
                    record_and_replay(gate.key);
                }
            });
        }
    });
}

fn record_and_replay(key: &str) {
    let own_or_shared = |name: &str| {
        let own = std::fs::read_to_string(folder().join(key).join(name));
        let read = own.or_else(|_| std::fs::read_to_string(folder().join(name)));
        read.unwrap_or_else(|_| panic!("gates/{key}/{name} is missing"))
    };
    let [suite, script, manifest] = ["suite.yml", "script.yml", "manifest.yml"].map(own_or_shared);
    let bench = LiveFolder::with(&suite, &script, &manifest);
    // What a gate compares with cannot be recorded here.
    if let Ok(baseline) = std::fs::read_to_string(folder().join(key).join("baseline.json")) {
        bench.write("baseline.json", &baseline);
    }
    let reported = |name: &str| {
        let json = format!("json={name}.json");
        let junit = format!("junit={name}.xml");
        [
            "run",
            "suite.yml",
            "-v",
            "--reporter",
            "pretty",
            "--reporter",
            &json,
            "--reporter",
            &junit,
        ]
        .map(str::to_owned)
        .to_vec()
    };
    let words = reported("recorded");
    let words: Vec<&str> = words
        .iter()
        .map(String::as_str)
        .chain(["--record"])
        .collect();
    let recorded = bench.run(&words);
    assert_eq!(
        recorded.exit,
        Some(1),
        "{key}: {}{}",
        recorded.stdout,
        recorded.stderr
    );
    assert_passes_and_fails(key, &bench.report("recorded.json"));
    bench.remove(SERVER);
    bench.remove("manifest.yml");
    for again in ["replayed", "replayed_again"] {
        let words = reported(again);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let replayed = run_sealed(&bench, &words);
        assert_eq!(
            replayed.exit, recorded.exit,
            "{key}: {}{}",
            replayed.stdout, replayed.stderr
        );
        assert_eq!(replayed.stdout, recorded.stdout, "{key}");
        for format in ["json", "xml"] {
            let read = |name: &str| bench.read(&format!("{name}.{format}"));
            assert_eq!(read(again), read("recorded"), "{key} as {format}");
        }
    }
}

/// Asserts that the gate passes and fails once each, and measures something both times.
fn assert_passes_and_fails(key: &str, report: &Value) {
    let gates = report["tests"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|test| test["gates"].as_array().unwrap());
    let of_key: Vec<&Value> = gates.filter(|gate| gate["key"] == key).collect();
    let statuses: BTreeSet<&str> = of_key
        .iter()
        .filter_map(|gate| gate["status"].as_str())
        .collect();
    assert_eq!(
        statuses,
        BTreeSet::from(["failed", "passed"]),
        "{key}: {report:#}"
    );
    let exercised = of_key
        .iter()
        .filter(|gate| gate["not_exercised"].is_null())
        .count();
    assert!(exercised >= 2, "{key} measured nothing: {report:#}");
}
