//! The proxy as a host runs it: the program itself, with signals and kills.

#![cfg(unix)]
#![allow(clippy::unwrap_used, missing_docs)]

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

fn start(folder: &Path, script: &str) -> (Child, BufReader<ChildStdout>) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_mcptest"))
        .args(["proxy", "--out", "tape.jsonl", "--", "sh", "-c", script])
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    (child, output)
}

fn line(output: &mut impl BufRead) -> String {
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    line.trim().to_owned()
}

fn kill(signal: &str, pid: &str) {
    assert!(Command::new("kill").args([signal, pid]).status().unwrap().success());
}

fn is_alive(pid: &str) -> bool {
    match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(status) => !status.rsplit(')').next().unwrap().trim_start().starts_with('Z'),
        Err(_) => Command::new("kill").args(["-0", pid]).stderr(Stdio::null()).status().unwrap().success(),
    }
}

fn is_gone_soon(pid: &str) -> bool {
    let until = Instant::now() + Duration::from_secs(20);
    while Instant::now() < until {
        if !is_alive(pid) {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    false
}

const STUBBORN: &str = "echo $$; sleep 600 & echo $!; while :; do read -r _ || sleep 0.1; done";

#[test]
fn a_proxy_that_is_killed_leaves_no_server_and_a_tape_that_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let (mut proxy, mut output) = start(folder.path(), STUBBORN);
    let pids = [line(&mut output), line(&mut output)];
    proxy.stdin.as_mut().unwrap().write_all(b"{\"jsonrpc\":\"2.0\",\"method\":\"hello\"}\n").unwrap();
    let tape = || std::fs::read_to_string(folder.path().join("tape.jsonl")).unwrap();
    let until = Instant::now() + Duration::from_secs(20);
    while !tape().contains("hello") && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    kill("-9", &proxy.id().to_string());
    proxy.wait().unwrap();
    for pid in pids {
        assert!(is_gone_soon(&pid), "{pid} lives on");
    }
    assert!(tape().contains("hello"));
    let shown = Command::new(env!("CARGO_BIN_EXE_mcptest"))
        .args(["show", "tape.jsonl"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(shown.status.success());
}

#[test]
fn a_signal_to_the_proxy_ends_the_server_too() {
    for signal in ["-TERM", "-INT"] {
        let folder = tempfile::tempdir().unwrap();
        let (mut proxy, mut output) = start(folder.path(), STUBBORN);
        let pids = [line(&mut output), line(&mut output)];
        kill(signal, &proxy.id().to_string());
        assert!(!proxy.wait().unwrap().success());
        for pid in pids {
            assert!(is_gone_soon(&pid), "{pid} lives on after {signal}");
        }
        let tape = std::fs::read_to_string(folder.path().join("tape.jsonl")).unwrap();
        assert!(tape.contains("stopped") && tape.ends_with("}\n"), "{tape}");
    }
}

#[test]
fn the_clients_side_closes_when_the_server_exits_and_the_code_is_the_servers() {
    let folder = tempfile::tempdir().unwrap();
    let (mut proxy, mut output) = start(folder.path(), "echo bye; echo why >&2; exit 9");
    let mut all = String::new();
    output.read_to_string(&mut all).unwrap();
    let mut errors = String::new();
    proxy.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    assert_eq!((all.as_str(), errors.as_str()), ("bye\n", "why\n"));
    assert_eq!(proxy.wait().unwrap().code(), Some(9));
}

/// The real servers that `tests/peers/install` brings, if it was run.
fn peers() -> Vec<Vec<String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/peers");
    let servers: [(&str, &[&str]); 3] = [
        ("node_modules/.bin/mcp-server-everything", &["stdio"]),
        ("node_modules/.bin/mcp-server-memory", &[]),
        ("python/bin/mcp-server-time", &[]),
    ];
    let there = servers.iter().filter(|(program, _)| root.join(program).exists());
    there
        .map(|(program, words)| {
            let program = root.join(program).to_string_lossy().into_owned();
            std::iter::once(program).chain(words.iter().map(|word| (*word).to_owned())).collect()
        })
        .collect()
}

const SCRIPT: [&str; 4] = [
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"script","version":"1"}}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"message":"hi"}}}"#,
    r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"convert_time","arguments":{"source_timezone":"UTC","time":"10:00","target_timezone":"Asia/Tokyo"}}}"#,
];

/// The answers to the script, line by line as they came.
fn transcript(folder: &Path, words: &[String]) -> Vec<String> {
    let mut server = Command::new(&words[0])
        .args(&words[1..])
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(server.stdout.take().unwrap());
    let mut answers = Vec::new();
    for (id, request) in SCRIPT.iter().enumerate() {
        let input = server.stdin.as_mut().unwrap();
        input.write_all(format!("{request}\n").as_bytes()).unwrap();
        if id == 0 {
            let initialized = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";
            input.write_all(initialized.as_bytes()).unwrap();
        }
        loop {
            let answer = line(&mut output);
            assert!(!answer.is_empty(), "{words:?} ended before it answered {request}");
            let message: serde_json::Value = serde_json::from_str(&answer).unwrap();
            if message.get("id").and_then(serde_json::Value::as_u64) == Some(id as u64) {
                answers.push(answer);
                break;
            }
        }
    }
    drop(server.stdin.take());
    server.wait().unwrap();
    answers
}

#[test]
fn real_servers_answer_the_same_with_and_without_the_proxy_and_have_not_drifted() {
    for words in peers() {
        let folder = tempfile::tempdir().unwrap();
        let mcptest = env!("CARGO_BIN_EXE_mcptest").to_owned();
        let before = ["proxy", "--out", "tape.jsonl", "--"].map(str::to_owned);
        let proxied: Vec<String> =
            std::iter::once(mcptest.clone()).chain(before).chain(words.iter().cloned()).collect();
        assert_eq!(transcript(folder.path(), &words), transcript(folder.path(), &proxied), "{words:?}");
        let verified = Command::new(&mcptest)
            .args(["verify", "tape.jsonl", "--"])
            .args(&words)
            .current_dir(folder.path())
            .output()
            .unwrap();
        let report = String::from_utf8_lossy(&verified.stdout).into_owned();
        assert!(verified.status.success() && report.contains("0 breaking, 0 changed"), "{words:?}: {report}");
    }
}
