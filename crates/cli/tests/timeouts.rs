//! Does `--timeout` alone end `tools`, `call` and `check`, wherever a server hangs?
//!
//! No test here measures time: a limit that does not hold would be a server's default of 60 s, and
//! the error names the limit that was used.

#![cfg(unix)]
#![allow(clippy::unwrap_used, missing_docs)]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

/// The output and the exit code of a command.
fn mcptest(words: &[&str]) -> (String, Option<i32>) {
    let output = Command::new(env!("CARGO_BIN_EXE_mcptest"))
        .args(words)
        .env_remove("HTTP_PROXY")
        .env_remove("HTTPS_PROXY")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    (said, output.status.code())
}

fn hangs() -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/servers/hangs.py");
    file.display().to_string()
}

#[test]
fn a_server_on_stdio_that_hangs_at_any_stage_ends_the_command() {
    let hangs = hangs();
    for (command, stage, said) in [
        (
            &["tools"][..],
            "start",
            "no answer to server/discover and initialize within 1 s",
        ),
        (&["call", "wait"], "start", "within 1 s"),
        (&["check"], "start", "within 1 s"),
        (&["tools"], "list", "no answer to tools/list within 1 s"),
        (
            &["call", "wait"],
            "list",
            "no answer to tools/list within 1 s",
        ),
        (
            &["call", "wait"],
            "call",
            "no answer to tools/call wait within 1 s",
        ),
        (
            &["check", "--only", "EDGE-hang", "--connect-timeout", "60s"],
            "call",
            "`wait` gave no answer within 1 s",
        ),
        (
            &["check", "--only", "EDGE-hang"],
            "call",
            "the probe did not finish: the time limit of the check, 1 s, has passed",
        ),
        (
            &["call", "wait"],
            "flood",
            "no answer to tools/call wait within 1 s",
        ),
    ] {
        let mut words = command.to_vec();
        words.extend(["--timeout", "1s", "--", "python3", &hangs, stage]);
        let (found, code) = mcptest(&words);
        assert!(found.contains(said), "{words:?}: {found}");
        assert!(matches!(code, Some(1 | 2)), "{words:?}: {code:?}");
    }
}

#[test]
fn a_check_that_runs_out_of_time_is_an_error_and_says_so_once() {
    let hangs = hangs();
    let words = ["check", "--timeout", "3s", "--", "python3", &hangs, "call"];
    let (said, code) = mcptest(&words);
    assert!(
        said.contains("the time limit of the check, 3 s, has passed"),
        "{said}"
    );
    assert_eq!(
        said.matches("help: give the check more time").count(),
        1,
        "{said}"
    );
    assert_eq!(code, Some(2), "{said}");
}

#[test]
fn tools_that_fail_slowly_do_not_use_up_the_check() {
    let hangs = hangs();
    let limits = ["--timeout", "1s", "--connect-timeout", "60s"];
    let words = [
        &["check", "--only", "TOOLS,SCHEMA,EDGE-hang"][..],
        &limits,
        &["--", "python3", &hangs, "offline"],
    ];
    let (said, code) = mcptest(&words.concat());
    assert!(said.contains("✓ TOOLS-call"), "{said}");
    assert!(said.contains("✓ EDGE-hang"), "{said}");
    assert!(!said.contains("not finished"), "{said}");
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn a_draft_waits_longer_for_the_list_of_tools_than_for_a_call() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("mcptest.yml").display().to_string();
    let hangs = hangs();
    let (said, code) = mcptest(&["init", "--out", &out, "--", "python3", &hangs, "late-list"]);
    assert!(said.contains("1 tool of hangs"), "{said}");
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn a_probe_without_a_result_in_time_is_not_finished() {
    let hangs = hangs();
    let only = ["--only", "EDGE-cancel,EDGE-hang", "--timeout", "1s"];
    let words = [&["check"][..], &only, &["--", "python3", &hangs, "call"]].concat();
    let (said, code) = mcptest(&words);
    assert!(said.contains("… EDGE-hang  not finished:"), "{said}");
    assert!(
        said.contains("- the time limit of the check, 1 s, has passed: EDGE-cancel"),
        "{said}"
    );
    assert!(
        said.contains("2 tests: 1 not finished, 1 skipped"),
        "{said}"
    );
    assert!(!said.contains('✗'), "{said}");
    assert_eq!(code, Some(2), "{said}");
}

#[test]
fn a_server_that_does_not_end_is_ended_with_the_limit() {
    let hangs = hangs();
    let (said, code) = mcptest(&["tools", "--timeout", "2s", "--", "python3", &hangs, "end"]);
    assert!(said.contains("wait"), "{said}");
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn a_flood_of_notifications_is_printed_in_part() {
    let hangs = hangs();
    let words = [
        "call",
        "wait",
        "--timeout",
        "2s",
        "--",
        "python3",
        &hangs,
        "flood",
    ];
    let (said, _) = mcptest(&words);
    assert_eq!(said.matches("log: info: again").count(), 200, "{said}");
    assert!(said.contains(" more notification"), "{said}");
}

/// Serves each connection on a separate thread, for as long as the test runs.
fn listen(serve: fn(TcpStream)) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || serve(stream));
        }
    });
    port
}

/// Accepts everything and never answers.
fn is_silent(mut stream: TcpStream) {
    let _read = stream.read_to_end(&mut Vec::new());
}

/// Answers a request with the head of an event stream without events.
fn streams_nothing(mut stream: TcpStream) {
    let mut request = [0; 4096];
    let _read = stream.read(&mut request);
    let head =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let _written = stream.write_all(head.as_bytes());
    is_silent(stream);
}

#[test]
fn a_server_on_http_that_hangs_at_any_stage_ends_the_command() {
    let silent = listen(is_silent);
    let plain = format!("http://127.0.0.1:{silent}/mcp");
    let tls = format!("https://127.0.0.1:{silent}/mcp");
    let stream = format!("http://127.0.0.1:{}/mcp", listen(streams_nothing));
    for url in [&plain, &tls, &stream] {
        for command in [&["tools"][..], &["call", "wait"], &["check"]] {
            let mut words = command.to_vec();
            words.extend(["--timeout", "1s", "--url", url]);
            let (said, code) = mcptest(&words);
            assert!(said.contains("within 1 s"), "{words:?}: {said}");
            assert!(matches!(code, Some(1 | 2)), "{words:?}: {code:?}");
        }
    }
}

#[test]
fn a_connect_timeout_beside_it_leaves_the_timeout_to_each_request() {
    let hangs = hangs();
    let words = [
        "tools",
        "--timeout",
        "1s",
        "--connect-timeout",
        "30s",
        "--",
        "python3",
        &hangs,
        "list",
    ];
    let (said, _) = mcptest(&words);
    assert!(
        said.contains("no answer to tools/list within 1 s"),
        "{said}"
    );
}
