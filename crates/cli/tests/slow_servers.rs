//! Does a slowly starting server get the same protocol as a fast one, with no extra starts?

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

const FINE: &str = "[{ target: 'result.content[0].text', matcher: { contains: call } }]";

/// A folder with a suite of these servers, `(name, era, seconds, more of the entry)`, and tests, `(name, server, tool)`.
fn suite(servers: &[(&str, &str, u32, &str)], tests: &[(&str, &str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/servers/slow.py");
    let mut text = "servers:\n".to_owned();
    for (name, era, seconds, more) in servers {
        let starts = folder.path().join(format!("starts-{name}"));
        text.push_str(&format!(
            "  {name}: {{ command: [python3, {}, {era}, '{seconds}'], env: {{ STARTS: '{}' }}{more} }}\n",
            program.display(),
            starts.display(),
        ));
    }
    text.push_str("tools:\n");
    for (name, server, tool) in tests {
        text.push_str(&format!(
            "  - {{ name: {name}, server: {server}, tool: {tool}, expect: {FINE} }}\n"
        ));
    }
    fs::write(folder.path().join("mcptest.yml"), text).unwrap();
    folder
}

fn mcptest(folder: &TempDir, words: &[&str]) -> (String, Option<i32>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcptest"));
    let output = command
        .args(words)
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    (said, output.status.code())
}

fn starts(folder: &TempDir, server: &str) -> usize {
    fs::read_to_string(folder.path().join(format!("starts-{server}")))
        .unwrap_or_default()
        .lines()
        .count()
}

/// The verdict, the protocol and the number of starts do not depend on how long the server takes.
fn is_the_same_however_slow(seconds: &[u32]) {
    let eras = [
        ("modern", "modern"),
        ("legacy", "legacy"),
        ("silent", "legacy"),
    ];
    let named: Vec<(String, &str, &str, u32)> = eras
        .iter()
        .flat_map(|(kind, era)| {
            seconds
                .iter()
                .map(move |s| (format!("{kind}{s}"), *kind, *era, *s))
        })
        .collect();
    let servers: Vec<_> = named
        .iter()
        .map(|(name, kind, _, s)| (name.as_str(), *kind, *s, ""))
        .collect();
    let tests: Vec<_> = named
        .iter()
        .map(|(name, ..)| (name.as_str(), name.as_str(), "count"))
        .collect();
    let folder = suite(&servers, &tests);
    let (said, code) = mcptest(
        &folder,
        &[
            "run",
            "--record",
            "--jobs",
            "20",
            "--reporter",
            "json=report.json",
        ],
    );
    assert_eq!(code, Some(0), "{said}");
    let report = fs::read_to_string(folder.path().join("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    for ((name, kind, era, _), test) in named.iter().zip(report["tests"].as_array().unwrap()) {
        // One that ignores the probe gets the other question on a fresh process.
        let expected = if *kind == "silent" { 2 } else { 1 };
        assert_eq!(starts(&folder, name), expected, "{name}");
        assert_eq!(
            (&test["name"], &test["servers"][0]["era"]),
            (&name.as_str().into(), &(*era).into())
        );
    }
    let (again, code) = mcptest(&folder, &["run", "--reporter", "json=replayed.json"]);
    assert_eq!(code, Some(0), "{again}");
    assert!(
        fs::read(folder.path().join("report.json")).unwrap()
            == fs::read(folder.path().join("replayed.json")).unwrap()
    );
}

#[test]
fn a_server_is_spoken_to_in_the_same_era_however_slowly_it_starts() {
    is_the_same_however_slow(&[0, 1, 3, 8]);
}

#[test]
#[ignore = "takes 20 s"]
fn a_server_that_takes_twenty_seconds_is_no_different() {
    is_the_same_however_slow(&[20]);
}

#[test]
fn another_era_than_that_of_the_recording_is_told() {
    let folder = suite(&[("desk", "legacy", 0, "")], &[("one", "desk", "count")]);
    let (said, code) = mcptest(&folder, &["run", "--record", "--verbose"]);
    assert!(code == Some(0) && !said.contains("now uses"), "{said}");
    let path = folder.path().join("mcptest.yml");
    fs::write(
        &path,
        fs::read_to_string(&path)
            .unwrap()
            .replace("legacy, '0'", "modern, '0'"),
    )
    .unwrap();
    let change = "server \"desk\" now uses the modern protocol; the previous recording used the legacy protocol";
    let (said, code) = mcptest(&folder, &["run", "--record", "--verbose"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .contains(change),
        "{said}"
    );
    let (said, code) = mcptest(&folder, &["run", "--record", "--verbose"]);
    assert!(code == Some(0) && !said.contains("now uses"), "{said}");
}

#[test]
fn a_limit_that_is_too_short_is_named_with_its_key_and_its_option() {
    let folder = suite(&[("late", "legacy", 600, "")], &[("one", "late", "count")]);
    let (said, code) = mcptest(&folder, &["run", "--record", "--connect-timeout", "300ms"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("raise `connect_timeout` or `--connect-timeout`"),
        "{said}"
    );
    let (said, code) = mcptest(&folder, &["run", "--connect-timeout", "3s"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("judging recordings starts none"), "{said}");
}

#[test]
fn each_tool_test_has_a_server_of_its_own_unless_the_suite_shares_it() {
    let tests = [
        ("one", "desk", "count"),
        ("two", "desk", "count"),
        ("three", "desk", "count"),
    ];
    for (more, started) in [("", 3), (", shared: false", 3), (", shared: true", 1)] {
        let folder = suite(&[("desk", "legacy", 0, more)], &tests);
        for jobs in ["1", "8"] {
            let _none = fs::remove_file(folder.path().join("starts-desk"));
            let (said, code) = mcptest(&folder, &["run", "--record", "--jobs", jobs]);
            assert_eq!(
                (code, starts(&folder, "desk")),
                (Some(0), started),
                "{more}: {said}"
            );
        }
        let third = fs::read_dir(folder.path().join("cassettes/mcptest")).unwrap();
        let third = third.map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap());
        let third = third
            .into_iter()
            .find(|text| text.contains("\"test\":\"three\""))
            .unwrap();
        assert!(
            third.contains(if started == 1 { "call 3" } else { "call 1" }),
            "in the order of the suite: {third}"
        );
        assert_eq!(mcptest(&folder, &["run"]).1, Some(0));
    }
}

#[test]
fn a_shared_server_that_dies_breaks_its_own_row_and_those_after_it() {
    let tests = [
        ("before", "desk", "count"),
        ("kills", "desk", "die"),
        ("after", "desk", "count"),
    ];
    let folder = suite(&[("desk", "legacy", 0, ", shared: true")], &tests);
    let (said, code) = mcptest(&folder, &["run", "--record"]);
    assert_eq!((code, starts(&folder, "desk")), (Some(2), 1), "{said}");
    assert!(
        said.contains("it exited with code 3 while tools/call die was open"),
        "{said}"
    );
    assert!(
        said.contains("it exited with code 3 before tools/list was sent"),
        "{said}"
    );
    assert!(
        said.contains("out of memory") && said.contains("nothing was recorded"),
        "{said}"
    );
    let (said, code) = mcptest(&folder, &["run", "--filter", "before"]);
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn a_shared_server_that_does_not_start_is_tried_once() {
    let folder = suite(
        &[("desk", "legacy", 0, ", shared: true")],
        &[("one", "desk", "count"), ("two", "desk", "count")],
    );
    let path = folder.path().join("mcptest.yml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("legacy, '0'", "legacy, none")).unwrap();
    let (said, code) = mcptest(&folder, &["run", "--record"]);
    // One that ends on the probe is started a second time, and no more.
    assert_eq!((code, starts(&folder, "desk")), (Some(2), 2), "{said}");
    assert!(said.contains("could not convert string to float"), "{said}");
}
