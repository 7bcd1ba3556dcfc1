//! Are tool tests recorded once and judged the same ever after, through the program and with a real server?

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

fn server() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/servers/weather.py")
}

/// A folder with a suite of these tests, each `(name, tool, what it says)`.
fn suite(tests: &[(&str, &str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut text = format!(
        "servers:\n  weather:\n    command: [python3, {}]\n    env: {{ API_KEY: '${{KEY:-}}', CALLS: '{}' }}\n    \
         responses: {{ elicitation: [{{ when: {{ message: Your name? }}, accept: {{ name: Ada }} }}] }}\ntools:\n",
        server().display(),
        folder.path().join("calls.txt").display(),
    );
    for (name, tool, more) in tests {
        text.push_str(&format!("  - {{ name: {name}, server: weather, tool: {tool}, {more} }}\n"));
    }
    fs::write(folder.path().join("mcptest.yml"), text).unwrap();
    folder
}

const FINE: &str = "expect: [{ target: result.isError, matcher: { exact: false } }]";
const OSLO: &str =
    "args: { city: Oslo }, expect: [{ target: 'result.content[0].text', matcher: { contains: Oslo } }]";
const BAD: &str = "args: { city: Oslo }, expect: [{ target: error.code, matcher: { exact: 1 } }]";

fn command(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcptest"));
    command.args(words).current_dir(folder).stdin(Stdio::null()).env("KEY", "a-long-secret-value");
    command
}

fn mcptest(folder: &TempDir, words: &[&str]) -> Output {
    command(folder.path(), words).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The tools that were called since the last time one looked.
fn calls(folder: &TempDir) -> Vec<String> {
    let file = folder.path().join("calls.txt");
    let mut calls: Vec<String> =
        fs::read_to_string(&file).unwrap_or_default().lines().map(str::to_owned).collect();
    let _none = fs::remove_file(&file);
    calls.sort();
    calls
}

fn recordings(folder: &TempDir) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder.path().join("cassettes/mcptest"));
    let mut files: Vec<PathBuf> = entries.into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn recording_and_replaying_say_the_same_in_every_format() {
    let slow = "timeout: 300ms, expect: [{ target: duration_ms, matcher: { gte: 0 } }]";
    let folder = suite(&[
        ("fine", "get_weather", OSLO),
        ("bad", "get_weather", BAD),
        ("lies", "lie", FINE),
        ("hangs", "hang", slow),
        ("dies", "die", FINE),
    ]);
    let recorded = mcptest(&folder, &["run", "--record", "--reporter", "json", "--reporter", "junit=a.xml"]);
    assert_eq!(recorded.status.code(), Some(2), "{}", text(&recorded.stderr));
    assert_eq!(calls(&folder).len(), 5);
    // No server can be started without a PATH, and none is.
    let mut replay = command(folder.path(), &["run", "--reporter", "json", "--reporter", "junit=b.xml"]);
    let replayed = replay.env_clear().output().unwrap();
    assert_eq!(replayed.status.code(), Some(2));
    assert_eq!(text(&recorded.stdout), text(&replayed.stdout));
    let file = |name: &str| fs::read(folder.path().join(name)).unwrap();
    assert!(file("a.xml") == file("b.xml"));
    assert!(calls(&folder).is_empty());
}

#[test]
fn live_calls_everything_and_writes_nothing() {
    let folder = suite(&[("fine", "get_weather", OSLO), ("asks", "ask", FINE)]);
    let live = mcptest(&folder, &["run", "--live"]);
    assert_eq!(live.status.code(), Some(0), "{}", text(&live.stdout));
    assert_eq!(calls(&folder), ["ask", "get_weather"]);
    assert!(!folder.path().join("cassettes").exists());
}

#[test]
fn only_what_is_asked_for_is_recorded_again() {
    let folder = suite(&[("fine", "get_weather", OSLO), ("bad", "echo", BAD)]);
    mcptest(&folder, &["run", "--record=missing"]);
    assert_eq!(calls(&folder), ["echo", "get_weather"]);
    mcptest(&folder, &["run", "--record=missing"]);
    mcptest(&folder, &["run", "--record=stale"]);
    assert!(calls(&folder).is_empty(), "nothing is missing or stale");
    mcptest(&folder, &["run", "--record=failed"]);
    assert_eq!(calls(&folder), ["echo"]);
    let path = folder.path().join("mcptest.yml");
    let changed = fs::read_to_string(&path).unwrap().replacen("city: Oslo", "city: 'Oslo, Norway'", 1);
    fs::write(&path, changed).unwrap();
    mcptest(&folder, &["run", "--record=stale"]);
    assert_eq!(calls(&folder), ["get_weather"]);
    mcptest(&folder, &["run", "--record", "--filter", "fine"]);
    assert_eq!(calls(&folder), ["get_weather"]);
}

#[test]
fn a_secret_reaches_neither_the_recording_nor_a_report() {
    let folder =
        suite(&[("tells", "secret", "expect: [{ target: result.content, matcher: { exact: [] } }]")]);
    for words in [&["run", "--live", "--reporter", "json"][..], &["run", "--record", "--reporter", "json"]] {
        let output = mcptest(&folder, words);
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output.stdout).contains("the key is "), "the result is quoted");
        assert!(!text(&output.stdout).contains("a-long-secret-value"));
    }
    let recording = fs::read_to_string(&recordings(&folder)[0]).unwrap();
    assert!(recording.contains("${KEY}") && !recording.contains("a-long-secret-value"), "{recording}");
    let elsewhere = command(folder.path(), &["run"]).env("KEY", "another-long-secret").output().unwrap();
    assert_eq!(elsewhere.status.code(), Some(1), "another value of the environment makes nothing stale");
}

#[test]
fn what_the_server_asked_is_answered_as_scripted_and_kept() {
    let folder = suite(&[(
        "asks",
        "ask",
        "expect: [{ target: 'result.content[0].text', matcher: { contains: Ada } }]",
    )]);
    assert_eq!(mcptest(&folder, &["run", "--record"]).status.code(), Some(0));
    let recording = fs::read_to_string(&recordings(&folder)[0]).unwrap();
    assert!(recording.contains(r#""server_requests":[{"method":"elicitation/create""#), "{recording}");
}

#[test]
fn one_broken_server_is_one_broken_row_and_leaves_its_recording_alone() {
    let folder = suite(&[("fine", "get_weather", OSLO)]);
    assert_eq!(mcptest(&folder, &["run", "--record"]).status.code(), Some(0));
    let path = folder.path().join("mcptest.yml");
    let broken = "  gone: { command: [no-such-program-anywhere] }\ntools:\n  - { name: gone, server: gone, tool: x, expect: [{ target: result.isError, matcher: { exact: false } }] }\n";
    let both = fs::read_to_string(&path).unwrap().replace("tools:\n", broken);
    fs::write(&path, both).unwrap();
    let output = mcptest(&folder, &["run", "--record"]);
    let said = text(&output.stdout);
    assert!(said.contains("2 tests: 1 passed, 0 failed, 1 error"), "{said}");
    assert!(said.contains("there is no program `no-such-program-anywhere`"), "{said}");
    assert_eq!(recordings(&folder).len(), 1);
}

#[test]
fn a_recording_of_a_newer_version_is_never_overwritten() {
    let folder = suite(&[("fine", "get_weather", OSLO)]);
    mcptest(&folder, &["run", "--record"]);
    let path = &recordings(&folder)[0];
    let newer = fs::read_to_string(path).unwrap().replacen("\"version\":1", "\"version\":9", 1);
    fs::write(path, &newer).unwrap();
    let output = mcptest(&folder, &["run", "--record"]);
    assert!(text(&output.stdout).contains("this recording has version 9"));
    assert_eq!(fs::read_to_string(path).unwrap(), newer);
}

#[test]
fn rows_stand_in_the_order_of_the_suite_however_many_run_at_once() {
    let names: Vec<String> = (1..=8).map(|number| format!("test {number}")).collect();
    let tests: Vec<_> = names.iter().map(|name| (name.as_str(), "get_weather", OSLO)).collect();
    let folder = suite(&tests);
    let said = text(&mcptest(&folder, &["run", "--live", "--jobs", "4"]).stdout);
    let shown: Vec<&str> = said.lines().filter_map(|line| line.split("PASS  ").nth(1)).collect();
    assert_eq!(shown, names);
}

#[cfg(unix)]
#[test]
fn an_interrupt_keeps_what_was_recorded_and_leaves_no_process_and_no_report() {
    let folder = suite(&[("fine", "get_weather", OSLO), ("hangs", "hang", FINE)]);
    let words = ["run", "--record", "--jobs", "1", "--reporter", "junit=report.xml"];
    let child = command(folder.path(), &words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let calls = folder.path().join("calls.txt");
    for _ in 0..600 {
        if fs::read_to_string(&calls).unwrap_or_default().contains("hang") {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let said = text(&output.stderr);
    assert!(said.contains("1 of 2 tool tests had been called, and their recordings are kept"), "{said}");
    assert!(output.stdout.is_empty() && !folder.path().join("report.xml").exists());
    assert_eq!(recordings(&folder).len(), 1, "and no temporary file or lock");
    let marked = folder.path().join("calls.txt").display().to_string();
    let left =
        Command::new("ps").args(["axeww"]).output().map(|output| text(&output.stdout)).unwrap_or_default();
    assert!(!left.contains(&marked), "a server is left behind");
}

#[test]
fn agents_are_replayed_only_and_say_so_while_tools_are_recorded() {
    let folder = suite(&[("fine", "get_weather", OSLO)]);
    let path = folder.path().join("mcptest.yml");
    let agent = "agents:\n  - { name: asks, model: m, prompt: p, expect: [{ target: tool_names, matcher: { exact: [] } }] }\n";
    fs::write(&path, fs::read_to_string(&path).unwrap() + agent).unwrap();
    let output = mcptest(&folder, &["run", "--record"]);
    let said = text(&output.stdout);
    assert!(said.contains("this version records tool tests; agents are replayed only"), "{said}");
    assert!(said.contains("PASS  fine"), "{said}");
    assert_eq!(output.status.code(), Some(2));
}

/// What `mcptest call` prints, says beside it, and exits with.
fn call(words: &[&str]) -> (String, String, Option<i32>) {
    let server = format!("python3 {}", server().display());
    let folder = tempfile::tempdir().unwrap();
    let output = command(folder.path(), words).args(["--command", &server]).output().unwrap();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

#[test]
fn a_call_prints_what_the_tool_answers() {
    let structured = "21 degrees in Oslo\n{\n  \"degrees\": 21,\n  \"sky\": \"clear\"\n}\n";
    assert_eq!(call(&["call", "get_weather", "city=Oslo"]), (structured.into(), String::new(), Some(0)));
    let echo = ["call", "echo", "n=3", "on=true", "tags=[\"a\"]"];
    assert_eq!(call(&echo).0, "{\"n\": 3, \"on\": true, \"tags\": [\"a\"]}\n");
    assert_eq!(call(&["call", "picture"]).0, "[image image/png 5 bytes]\n");
    let raw = call(&["call", "get_weather", "--args", "{\"city\": \"Rome\"}", "--json"]).0;
    assert!(raw.starts_with(r#"{"content": [{"type": "text", "text": "21 degrees in Rome"}]"#), "{raw}");
}

#[test]
fn a_call_that_fails_says_how_and_exits_accordingly() {
    let (out, err, code) = call(&["call", "fail"]);
    assert_eq!((out.as_str(), code), ("no data for today\n", Some(1)));
    assert_eq!(err, "error: the tool says that it failed (isError)\n");
    let (_, err, code) = call(&["call", "get_weather", "citty=Oslo"]);
    assert_eq!(
        err,
        "note: `get_weather` has no argument `citty`; did you mean `city`?\nnote: `get_weather` requires `city`\n\
         error -32602 city is missing\n"
    );
    assert_eq!(code, Some(1));
    let (_, err, code) = call(&["call", "get_wether"]);
    assert!(err.contains("the server lists no tool `get_wether`; did you mean `get_weather`?"), "{err}");
    assert_eq!(code, Some(1));
    let (_, err, code) = call(&["call", "hang", "--timeout", "300ms"]);
    assert_eq!(
        (err.as_str(), code),
        ("error: server \"python3\": no answer to tools/call hang within 300 ms\n", Some(2))
    );
    let (_, err, code) = call(&["call", "die"]);
    assert!(err.contains("it exited with code 3") && err.contains("out of memory"), "{err}");
    assert_eq!(code, Some(2));
    assert_eq!(call(&["call", "echo", "n=three"]).2, Some(2));
}

#[test]
fn tools_are_listed_for_people_and_as_they_were_sent() {
    let (out, err, code) = call(&["tools"]);
    assert_eq!((err.as_str(), code), ("", Some(0)));
    assert!(out.starts_with("weather 1.2.0 (MCP 2025-06-18, legacy): 10 tools\n\n"), "{out}");
    assert!(
        out.contains("get_weather  The weather in a city.\n    city  string  required  Where\n"),
        "{out}"
    );
    let (json, _, _) = call(&["tools", "--json"]);
    let tools: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(tools["tools"][0]["description"], "The weather in a city.\nNow.");
    let saved = tempfile::tempdir().unwrap();
    fs::write(saved.path().join("tools.json"), json).unwrap();
    fs::write(saved.path().join("mcptest.yml"), "servers: { saved: { mock: tools.json } }\n").unwrap();
    let again = mcptest(&saved, &["tools"]);
    assert!(text(&again.stdout).contains("10 tools"), "{}", text(&again.stderr));
}

#[test]
fn a_server_is_looked_up_in_the_suite() {
    let folder = suite(&[("fine", "get_weather", OSLO)]);
    assert!(text(&mcptest(&folder, &["tools", "weather"]).stdout).contains("10 tools"));
    assert!(
        text(&mcptest(&folder, &["call", "ask"]).stdout).contains("Ada"),
        "the only server is the one meant"
    );
    let slip = mcptest(&folder, &["tools", "wether"]);
    let said = "error: nothing under `servers:` of mcptest.yml is called `wether`\n  help: did you mean `weather`?\n";
    assert_eq!((text(&slip.stderr).as_str(), slip.status.code()), (said, Some(2)));
    let nowhere = tempfile::tempdir().unwrap();
    assert!(text(&mcptest(&nowhere, &["tools"]).stderr).starts_with("error: no server is named"));
}

#[test]
fn nobody_reading_the_list_is_no_error() {
    let folder = suite(&[("fine", "get_weather", OSLO)]);
    let mut child =
        command(folder.path(), &["tools"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
