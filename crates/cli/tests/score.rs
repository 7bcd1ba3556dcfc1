//! Does `mcptest score` give the verdicts of `mcptest run --traces`, whatever the input is?

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn mcptest(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcptest"));
    command.current_dir(folder).args(arguments);
    command
}

fn score(folder: &Path, arguments: &[&str], input: &[u8]) -> Output {
    let mut command = mcptest(folder, &["score"]);
    command.args(arguments).stdin(Stdio::piped());
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writing = std::thread::spawn(move || {
        let _closed = stdin.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    writing.join().unwrap();
    output
}

fn rows(output: &Output) -> Vec<Value> {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let rows = text.lines().map(|line| serde_json::from_str(line).unwrap());
    rows.collect()
}

const GATES: &str = "agents:\n  - name: a\n    expect: [{ target: final_response, matcher: { contains: ok } }]\n    \
                     golden_path: { calls: [look] }\n";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("gates.yml"), GATES).unwrap();
    folder
}

fn trace(number: usize) -> String {
    let answer = if number.is_multiple_of(3) { "no" } else { "ok" };
    json!({"id": number, "trace": {"tool_calls": [{"name": "look", "args": {"n": number}}], "final_response": answer}})
        .to_string()
        + "\n"
}

/// What a report and rows say of one number: `golden_path.passed` and its value, or `expect` and its target.
type Said = BTreeMap<(String, String), (Value, Value)>;

fn said_by_report(test: &Value) -> Said {
    let mut said = Said::new();
    for gate in test["gates"].as_array().unwrap() {
        for (target, value) in gate["targets"].as_object().unwrap() {
            let checks = gate["expectations"].as_array().unwrap().iter();
            let own: Vec<bool> = checks
                .filter(|check| check["target"] == target.as_str())
                .map(|check| check["passed"].as_bool().unwrap())
                .collect();
            let status = match &own[..] {
                [] => "unchecked",
                all if all.iter().all(|passed| *passed) => "passed",
                _ => "failed",
            };
            let key = (gate["key"].as_str().unwrap().to_owned(), target.clone());
            said.insert(key, (json!(status), value.clone()));
        }
    }
    for (at, run) in test["runs"].as_array().unwrap().iter().enumerate() {
        for (check, expectation) in run["expectations"].as_array().unwrap().iter().enumerate() {
            let status = if expectation["passed"] == true {
                "passed"
            } else {
                "failed"
            };
            said.insert(
                (format!("expect {at}"), check.to_string()),
                (json!(status), Value::Null),
            );
        }
    }
    said.insert(
        (String::new(), String::new()),
        (test["status"].clone(), Value::Null),
    );
    said
}

fn said_by_rows(rows: &[&Value]) -> Said {
    let mut said = Said::new();
    let mut ids: Vec<&Value> = Vec::new();
    let mut checks: BTreeMap<usize, usize> = BTreeMap::new();
    for row in rows {
        match row["kind"].as_str().unwrap() {
            "verdict" => drop(said.insert(
                (String::new(), String::new()),
                (row["status"].clone(), Value::Null),
            )),
            "gate" if row["target"].is_string() => {
                let key = (
                    row["gate"].as_str().unwrap().to_owned(),
                    row["target"].as_str().unwrap().to_owned(),
                );
                said.insert(key, (row["status"].clone(), row["value"].clone()));
            }
            "run" if !ids.contains(&&row["trace_id"]) => ids.push(&row["trace_id"]),
            "expect" => {
                let run = ids
                    .iter()
                    .position(|id| **id == row["trace_id"])
                    .unwrap_or_default();
                let check = checks.entry(run).or_default();
                said.insert(
                    (format!("expect {run}"), check.to_string()),
                    (row["status"].clone(), Value::Null),
                );
                *check += 1;
            }
            _ => {}
        }
    }
    said
}

/// The recorded runs of every example, by suite and cassette, as bare traces.
fn recorded() -> BTreeMap<(String, PathBuf), Vec<Value>> {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(examples.join("cassettes")).unwrap() {
        let folder = entry.unwrap().path();
        let suite = folder.file_name().unwrap().to_str().unwrap().to_owned();
        for path in fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
        {
            let text = fs::read_to_string(&path).unwrap();
            let lines = text
                .lines()
                .filter_map(|line| serde_json::from_str::<Value>(line).ok());
            let traces: Vec<Value> = lines
                .filter_map(|line| {
                    line.get("trace")
                        .filter(|trace| trace["tool_calls"].is_array())
                        .cloned()
                })
                .collect();
            if !traces.is_empty() {
                found.insert((suite.clone(), path), traces);
            }
        }
    }
    found
}

/// The suite of an example without the agents that `score` refuses.
fn copied_examples() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let copied = Command::new("cp")
        .args(["-r"])
        .arg(examples)
        .arg(place.path())
        .status();
    assert!(copied.unwrap().success());
    place
}

#[test]
fn the_examples_get_the_verdicts_of_run() {
    let place = copied_examples();
    let examples = place.path().join("examples");
    let mut gates = BTreeSet::new();
    for ((suite, path), traces) in recorded() {
        let suite = format!("{suite}.yml");
        if !examples.join(&suite).exists() {
            continue;
        }
        let logs = place.path().join("logs");
        let _old = fs::remove_dir_all(&logs);
        fs::create_dir_all(logs.join("g")).unwrap();
        let mut lines = String::new();
        for (at, trace) in traces.iter().enumerate() {
            fs::write(logs.join(format!("g/{at}.json")), trace.to_string()).unwrap();
            lines += &format!("{}\n", json!({"id": at, "group": "g", "trace": trace}));
        }
        let logs = logs.to_str().unwrap();
        let run = mcptest(
            &examples,
            &["run", &suite, "--traces", logs, "--reporter", "json"],
        )
        .output()
        .unwrap();
        let scored = score(&examples, &[&suite, "-"], lines.as_bytes());
        let error = String::from_utf8_lossy(&scored.stderr).into_owned();
        if scored.stdout.is_empty() {
            assert!(
                error.contains("writes its own recordings"),
                "{suite}: {error}"
            );
            continue;
        }
        let report: Value = serde_json::from_slice(&run.stdout).unwrap();
        let rows = rows(&scored);
        let is_grouped = rows.iter().any(|row| row["kind"] == "run");
        for test in report["tests"].as_array().unwrap() {
            let agent = test["name"].as_str().unwrap().strip_suffix(" [g]").unwrap();
            let own: Vec<&Value> = rows.iter().filter(|row| row["agent"] == agent).collect();
            if own.is_empty() {
                assert_eq!(test["status"], "skipped", "{suite}: {agent}");
                continue;
            }
            gates.extend(
                own.iter()
                    .filter_map(|row| row["gate"].as_str())
                    .map(str::to_owned),
            );
            if is_grouped || traces.len() == 1 {
                assert_eq!(
                    said_by_rows(&own),
                    said_by_report(test),
                    "{suite}, {}: {agent}",
                    path.display()
                );
            }
        }
        if !is_grouped {
            each_trace_alone(&examples, &suite, &traces, &rows, place.path());
        }
    }
    for gate in mcptest::GATES {
        let is_refused = ["fault_matrix", "ablate"].contains(&gate.key);
        let has_no_cassette = ["tool_quality", "eval", "scenario"].contains(&gate.key);
        assert!(
            gates.contains(gate.key) || is_refused || has_no_cassette,
            "`{}:` was not compared",
            gate.key
        );
    }
}

/// Compares the rows of each trace with a run on a folder that has each trace in a file.
fn each_trace_alone(examples: &Path, suite: &str, traces: &[Value], rows: &[Value], place: &Path) {
    let logs = place.join("alone");
    let _old = fs::remove_dir_all(&logs);
    fs::create_dir_all(&logs).unwrap();
    for (at, trace) in traces.iter().enumerate() {
        fs::write(logs.join(format!("t{at}.json")), trace.to_string()).unwrap();
    }
    let arguments = [
        "run",
        suite,
        "--traces",
        logs.to_str().unwrap(),
        "--reporter",
        "json",
    ];
    let run = mcptest(examples, &arguments).output().unwrap();
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    for test in report["tests"].as_array().unwrap() {
        let name = test["name"].as_str().unwrap();
        let (agent, id) = name.strip_suffix(']').unwrap().rsplit_once(" [t").unwrap();
        let own: Vec<&Value> = rows
            .iter()
            .filter(|row| row["agent"] == agent && row["trace_id"] == id)
            .collect();
        assert_eq!(said_by_rows(&own), said_by_report(test), "{suite}: {name}");
    }
}

#[test]
fn rows_are_in_the_order_of_the_input_whatever_jobs_is() {
    let folder = folder();
    let input: String = (0..4000).map(trace).collect();
    let one = score(
        folder.path(),
        &["gates.yml", "--jobs", "1"],
        input.as_bytes(),
    );
    assert_eq!(one.status.code(), Some(1));
    let verdicts: Vec<Value> = rows(&one)
        .into_iter()
        .filter(|row| row["kind"] == "verdict")
        .collect();
    let ids: Vec<&str> = verdicts
        .iter()
        .map(|row| row["trace_id"].as_str().unwrap())
        .collect();
    let wanted: Vec<String> = (0..4000).map(|number: usize| number.to_string()).collect();
    assert_eq!(ids, wanted);
    let many = score(
        folder.path(),
        &["gates.yml", "--jobs", "7"],
        input.as_bytes(),
    );
    assert!(one.stdout == many.stdout, "other bytes with other jobs");
    fs::write(folder.path().join("in.jsonl"), &input).unwrap();
    let file = score(folder.path(), &["gates.yml", "in.jsonl"], b"");
    assert!(file.stdout == one.stdout, "other bytes from a file");
}

#[test]
fn a_bad_line_is_an_error_row_and_the_rest_is_judged() {
    let folder = folder();
    let deep = format!(
        "{{\"tool_calls\":[],\"x\":{}{}}}\n",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let mut long = b"{\"tool_calls\":[],\"x\":\"".to_vec();
    long.extend(vec![b'x'; 40 << 20]);
    long.extend(b"\"}\n");
    let bad: [&[u8]; 8] = [
        b"{\"id\":1,\"trace\":{\"tool_ca\n",
        b"{\"tool_calls\":[\"\xff\xfe\"]}\n",
        b"\0\0\n",
        deep.as_bytes(),
        &long,
        b"[1]\n",
        b"{\"trace\":null}\n",
        b"{\"id\":{},\"trace\":{\"tool_calls\":[]}}\n",
    ];
    let mut input = trace(1).into_bytes();
    for (number, bad) in (2..).zip(bad) {
        input.extend_from_slice(bad);
        input.extend_from_slice(trace(number * 3 + 1).as_bytes());
    }
    let scored = score(folder.path(), &["gates.yml"], &input);
    assert_eq!(scored.status.code(), Some(2));
    let rows = rows(&scored);
    let good = rows
        .iter()
        .filter(|row| row["kind"] == "verdict" && row["status"] == "passed");
    assert_eq!(good.count(), bad.len() + 1);
    let errors: Vec<&Value> = rows.iter().filter(|row| row["kind"] == "input").collect();
    let lines: Vec<&str> = errors
        .iter()
        .map(|row| row["trace_id"].as_str().unwrap())
        .collect();
    let wanted: Vec<String> = (1..=bad.len())
        .map(|bad| format!("stdin:{}", bad * 2))
        .collect();
    assert_eq!(lines, wanted);
    for row in errors {
        assert_eq!(row["status"], "error");
        assert!(
            row["message"]
                .as_str()
                .is_some_and(|message| message.len() < 400),
            "{row}"
        );
    }
}

#[test]
fn a_closed_pipe_ends_it_quietly_and_a_full_disk_is_an_error() {
    let folder = folder();
    let mut child = mcptest(folder.path(), &["score", "gates.yml"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writing = std::thread::spawn(move || {
        // It ends when its reader closes the pipe.
        for number in 0.. {
            if stdin.write_all(trace(number).as_bytes()).is_err() {
                return;
            }
        }
    });
    let mut first = String::new();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut first).unwrap();
    assert!(first.starts_with("{\"trace_id\":\"0\""), "{first}");
    drop(out);
    let ended = child.wait_with_output().unwrap();
    writing.join().unwrap();
    assert!(
        ended.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&ended.stderr)
    );
    assert!(
        matches!(ended.status.code(), Some(0 | 1)),
        "{:?}",
        ended.status
    );

    if Path::new("/dev/full").exists() {
        fs::write(folder.path().join("in.jsonl"), trace(1)).unwrap();
        let full = fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .unwrap();
        let command = &mut mcptest(folder.path(), &["score", "gates.yml", "in.jsonl"]);
        let full = command.stdout(full).output().unwrap();
        assert_eq!(full.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&full.stderr).contains("cannot write to standard output"));
    }
}

#[test]
fn the_rows_of_a_slow_input_are_not_late() {
    let folder = folder();
    let mut child = mcptest(folder.path(), &["score", "gates.yml"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    for number in 0..3 {
        stdin.write_all(trace(number).as_bytes()).unwrap();
        loop {
            let mut row = String::new();
            out.read_line(&mut row).unwrap();
            let row: Value = serde_json::from_str(&row).unwrap();
            assert_eq!(row["trace_id"], number.to_string());
            if row["target"] == "golden_path.repeated_tools" {
                break;
            }
        }
    }
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

#[test]
fn every_transcript_is_read_alone_on_a_line_as_in_its_file() {
    let folder = folder();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/import");
    let mut tried = 0;
    for format in fs::read_dir(fixtures)
        .unwrap()
        .map(|entry| entry.unwrap().path())
    {
        if !format.is_dir() {
            continue;
        }
        for path in fs::read_dir(&format)
            .unwrap()
            .map(|entry| entry.unwrap().path())
        {
            if path.extension().is_none_or(|ending| ending != "json") {
                continue;
            }
            let whole = score(folder.path(), &["gates.yml", path.to_str().unwrap()], b"");
            let text = fs::read(&path).unwrap();
            let Ok(value) = serde_json::from_slice::<Value>(&text) else {
                continue;
            };
            let line = format!("{}\n", json!({ "trace": value }));
            let line = score(folder.path(), &["gates.yml", "-"], line.as_bytes());
            let without_names = |output: &Output| -> Vec<Value> {
                let mut rows = rows(output);
                for row in &mut rows {
                    row["trace_id"] = Value::Null;
                    if row["kind"] == "input" {
                        row["message"] = Value::Null;
                    }
                }
                rows
            };
            assert_eq!(
                without_names(&whole),
                without_names(&line),
                "{}",
                path.display()
            );
            tried += 1;
        }
    }
    assert!(tried > 5, "{tried} transcripts");
}

#[test]
fn verdicts_are_exported_as_records_of_opentelemetry() {
    let folder = folder();
    let id = "4bf92f3577b34da6a3ce929d0e0e4736";
    let line = json!({"id": id, "span_id": "00f067aa0ba902b7", "trace": {"tool_calls": [], "final_response": "ok"}});
    let scored = score(
        folder.path(),
        &["gates.yml", "-", "--otel", "out/v.jsonl"],
        format!("{line}\n").as_bytes(),
    );
    let written = fs::read_to_string(folder.path().join("out/v.jsonl")).unwrap();
    let request: Value = serde_json::from_str(written.trim_end()).unwrap();
    let records = request["resourceLogs"][0]["scopeLogs"][0]["logRecords"]
        .as_array()
        .unwrap();
    assert_eq!(records.len(), rows(&scored).len());
    for record in records {
        assert_eq!(record["eventName"], "gen_ai.evaluation.result");
        assert_eq!(
            (&record["traceId"], &record["spanId"]),
            (&json!(id), &json!("00f067aa0ba902b7"))
        );
    }
}
