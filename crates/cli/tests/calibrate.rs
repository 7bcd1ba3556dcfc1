//! Do the floors that `mcptest calibrate` prints load in a suite, and do the good runs pass them?

#![allow(clippy::unwrap_used, missing_docs)]

use mcptest_core::suite::yaml_to_json;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// A run that looks things up and refunds. A bad run also searches repeatedly and claims things
/// that it did not do.
fn trace(at: usize, is_good: bool) -> Value {
    let mut names = vec!["search", "get_invoice"];
    names.extend(if is_good {
        vec!["refund_invoice"]
    } else {
        vec!["search"; 1 + at % 3]
    });
    let calls: Vec<Value> = names
        .iter()
        .map(|name| json!({ "name": name, "args": { "id": at } }))
        .collect();
    let results: Vec<Value> = (0..names.len())
        .map(|call| json!({ "call_index": call, "is_error": false }))
        .collect();
    let said = if at.is_multiple_of(4) {
        "Anything else?"
    } else {
        "I have refunded the invoice."
    };
    json!({ "tool_calls": calls, "tool_results": results, "final_response": said })
}

const SUITE: &str = "agents:
  - name: refunds
    golden_path: { calls: [search, get_invoice, refund_invoice], expect: [{ target: golden_path.passed, matcher: { gte: 1 } }] }
";

fn mcptest(folder: &Path, words: &[&str]) -> (String, Option<i32>) {
    let done = Command::new(env!("CARGO_BIN_EXE_mcptest"))
        .args(words)
        .current_dir(folder)
        .output()
        .unwrap();
    let text = [done.stdout, done.stderr]
        .map(|bytes| String::from_utf8(bytes).unwrap())
        .concat();
    (text, done.status.code())
}

/// Twelve good runs in rows of four, and twelve bad runs.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut labels = String::new();
    for at in 0..60 {
        let is_good = at < 48;
        let name = if is_good {
            format!("good/task{}/{at}.json", at / 4)
        } else {
            format!("bad/task{}/{at}.json", at / 4)
        };
        let path = folder.path().join("runs").join(&name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, trace(at, is_good).to_string()).unwrap();
        labels.push_str(&format!(
            "{}\n",
            json!({ "source": name, "label": is_good })
        ));
    }
    std::fs::write(folder.path().join("labels.jsonl"), labels).unwrap();
    std::fs::write(folder.path().join("suite.yml"), SUITE).unwrap();
    folder
}

#[test]
fn the_floors_load_in_the_suite_and_the_good_runs_pass_them() {
    let folder = folder();
    let measure = [
        "calibrate",
        "suite.yml",
        "--traces",
        "runs",
        "--labels",
        "labels.jsonl",
    ];
    let (yaml, code) = mcptest(folder.path(), &[&measure[..], &["--yaml"]].concat());
    assert_eq!(code, Some(0), "{yaml}");
    assert!(
        yaml.contains("# 48 good runs meet it; it fails 12 of 12 bad ones"),
        "{yaml}"
    );
    let Value::Object(floors) = yaml_to_json(&yaml).unwrap() else {
        panic!("{yaml}")
    };
    assert!(
        floors.contains_key("golden_path") && floors.len() > 2,
        "{yaml}"
    );
    // As a user would: gates that the suite has keep their keys, and get this `expect:`.
    let mut suite = yaml_to_json(SUITE).unwrap();
    for (gate, block) in floors {
        suite["agents"][0][&gate]["expect"] = block["expect"].clone();
    }
    std::fs::write(folder.path().join("calibrated.yml"), suite.to_string()).unwrap();
    let run = |traces: &str| {
        mcptest(
            folder.path(),
            &["run", "calibrated.yml", "--traces", traces],
        )
    };
    let (report, code) = run("runs/good");
    assert_eq!(code, Some(0), "{yaml}\n{report}");
    let (report, code) = run("runs/bad");
    assert_eq!(code, Some(1), "{yaml}\n{report}");
    assert!(report.contains("3 tests: 3 failed"), "{report}");
}

#[test]
fn the_json_has_the_same_bytes_twice_and_needs_no_suite() {
    let folder = folder();
    std::fs::remove_file(folder.path().join("suite.yml")).unwrap();
    let measure = [
        "calibrate",
        "--traces",
        "runs",
        "--labels",
        "labels.jsonl",
        "--json",
    ];
    let (text, code) = mcptest(folder.path(), &measure);
    assert_eq!(code, Some(0), "{text}");
    let measured: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&measured["counts"]["good"], &measured["counts"]["bad"]),
        (&json!(48), &json!(12))
    );
    assert_eq!(text, mcptest(folder.path(), &measure).0);
}
