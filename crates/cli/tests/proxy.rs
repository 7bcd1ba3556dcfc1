//! The proxy as a host runs it: the real program, with signals and kills.

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

fn mcptest(folder: &Path, words: &[&str]) -> std::process::Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcptest"));
    command
        .args(words)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn line(output: &mut impl BufRead) -> String {
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    line.trim().to_owned()
}

fn kill(signal: &str, pid: &str) {
    assert!(
        Command::new("kill")
            .args([signal, pid])
            .status()
            .unwrap()
            .success()
    );
}

fn is_alive(pid: &str) -> bool {
    match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(status) => !status
            .rsplit(')')
            .next()
            .unwrap()
            .trim_start()
            .starts_with('Z'),
        Err(_) => Command::new("kill")
            .args(["-0", pid])
            .stderr(Stdio::null())
            .status()
            .unwrap()
            .success(),
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
    proxy
        .stdin
        .as_mut()
        .unwrap()
        .write_all(b"{\"jsonrpc\":\"2.0\",\"method\":\"hello\"}\n")
        .unwrap();
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
    proxy
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut errors)
        .unwrap();
    assert_eq!((all.as_str(), errors.as_str()), ("bye\n", "why\n"));
    assert_eq!(proxy.wait().unwrap().code(), Some(9));
}

#[test]
fn a_secret_in_the_command_is_nowhere_on_the_tape() {
    let secret = "abcd1234EFGH5678ijkl";
    for words in [
        &["--api-key=V"][..],
        &["--token=V"],
        &["--password=V"],
        &["--api_key=V"],
        &["--header=X-Api-Key:V"],
        &["--apikey", "V"],
        &["API_KEY=V"],
    ] {
        let folder = tempfile::tempdir().unwrap();
        let words: Vec<String> = words.iter().map(|word| word.replace('V', secret)).collect();
        let echo = r#"printf '{"heard":"%s"}\n' "$V"; echo "$V" >&2"#;
        let ran = Command::new(env!("CARGO_BIN_EXE_mcptest"))
            .args(["proxy", "--out", "tape.jsonl", "--", "sh", "-c", echo, "sh"])
            .args(&words)
            .env("V", secret)
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(
            String::from_utf8_lossy(&ran.stdout).contains(secret),
            "the wire is left alone"
        );
        let tape = std::fs::read_to_string(folder.path().join("tape.jsonl")).unwrap();
        assert!(!tape.contains(secret), "{words:?}: {tape}");
        assert!(tape.contains("heard") && tape.contains("stderr"), "{tape}");
    }
}

#[test]
fn the_banner_of_the_proxy_does_not_print_secrets_of_the_target() {
    let folder = tempfile::tempdir().unwrap();
    let mut proxy = Command::new(env!("CARGO_BIN_EXE_mcptest"))
        .args(["proxy", "--out", "tape.jsonl", "--target"])
        .arg("http://bob:hunter2@127.0.0.1:9/mcp?api_key=abcd1234EFGH&page=2")
        .current_dir(folder.path())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let banner = line(&mut BufReader::new(proxy.stderr.take().unwrap()));
    kill("-TERM", &proxy.id().to_string());
    proxy.wait().unwrap();
    assert!(
        !banner.contains("hunter2") && !banner.contains("abcd1234EFGH"),
        "{banner}"
    );
    assert!(
        banner.contains("forwards to http://bob:") && banner.contains("page=2"),
        "{banner}"
    );
}

#[test]
fn a_proxy_that_cannot_start_leaves_the_files_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    let tape = "{\"format\":\"mcptest-tape\",\"version\":1,\"server\":{}}\n{\"at_us\":1}\n";
    std::fs::write(folder.path().join("good.jsonl"), tape).unwrap();
    std::fs::write(folder.path().join("notes.txt"), "mine").unwrap();
    let run = |words: &[&str]| {
        let ran = Command::new(env!("CARGO_BIN_EXE_mcptest"))
            .args(["proxy", "--out"])
            .args(words)
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert_eq!(ran.status.code(), Some(2), "{words:?}");
        String::from_utf8(ran.stderr).unwrap()
    };
    run(&["good.jsonl", "--", "no-such-command-there-is"]);
    run(&[
        "good.jsonl",
        "--listen",
        &taken,
        "--target",
        "http://127.0.0.1:9/mcp",
    ]);
    run(&["new.jsonl", "--", "no-such-command-there-is"]);
    let refused = run(&["notes.txt", "--", "true"]);
    assert!(
        refused.contains("notes.txt") && refused.contains("--out"),
        "{refused}"
    );
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(
        (read("good.jsonl").as_str(), read("notes.txt").as_str()),
        (tape, "mine")
    );
    assert!(!folder.path().join("new.jsonl").exists());
}

#[test]
fn a_tape_without_requests_verifies_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let header = "{\"format\":\"mcptest-tape\",\"version\":1,\"server\":{}}\n";
    std::fs::write(folder.path().join("tape.jsonl"), header).unwrap();
    let ran = mcptest(folder.path(), &["verify", "tape.jsonl", "--", "true"]);
    let errors = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert_eq!(ran.status.code(), Some(2), "{errors}");
    assert!(
        errors.contains("tape.jsonl: nothing was checked"),
        "{errors}"
    );
}

const LIBRARY: &str =
    "mock_server:\n  name: library\n  tools: [{ name: find_book, response: 2 on the shelf }]\n";

#[test]
fn a_server_is_named_by_a_text_or_a_suite_and_takes_what_it_takes_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let program = env!("CARGO_BIN_EXE_mcptest");
    std::fs::write(folder.path().join("library.yml"), LIBRARY).unwrap();
    std::fs::write(
        folder.path().join("suite.yml"),
        "servers:\n  library: { mock: library.yml }\n",
    )
    .unwrap();
    let mock = format!("'{program}' mock --tools-from library.yml");
    let proxied = ["proxy", "--out", "tape.jsonl", "--command", &mock];
    let called = mcptest(
        folder.path(),
        &[&["call", "find_book", "--", program], &proxied[..]].concat(),
    );
    assert_eq!(String::from_utf8_lossy(&called.stdout), "2 on the shelf\n");
    for server in [
        &["--command", &mock][..],
        &["--config", "suite.yml"],
        &["--config", "suite.yml", "--server", "library"],
        &[
            "--env",
            "LEVEL=1",
            "--",
            program,
            "mock",
            "--tools-from",
            "library.yml",
        ],
    ] {
        let ran = mcptest(folder.path(), &[&["verify", "tape.jsonl"], server].concat());
        let report = String::from_utf8_lossy(&ran.stdout).into_owned();
        assert!(
            report.contains("2 requests replayed: 0 breaking, 0 changed"),
            "{server:?}: {report}"
        );
    }
    std::fs::write(
        folder.path().join("library.yml"),
        LIBRARY.replace("on the shelf", "lent"),
    )
    .unwrap();
    let ran = mcptest(
        folder.path(),
        &[
            "verify",
            "tape.jsonl",
            "--config",
            "suite.yml",
            "--deny",
            "changed",
        ],
    );
    let report = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(
        ran.status.code() == Some(1) && report.contains("  call 1 `find_book`: result.content"),
        "{report}"
    );
}

#[test]
fn verify_refuses_a_broken_path_and_no_time_at_all_and_gives_up_on_a_silent_handshake() {
    let folder = tempfile::tempdir().unwrap();
    let request = "{\"at_us\":1,\"from\":\"client\",\"message\":{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}}";
    let tape =
        format!("{{\"format\":\"mcptest-tape\",\"version\":1,\"server\":{{}}}}\n{request}\n");
    std::fs::write(folder.path().join("tape.jsonl"), tape).unwrap();
    let refused = |words: &[&str]| {
        let words: Vec<&str> = [&["verify", "tape.jsonl"], words, &["--", "sleep", "600"]].concat();
        let ran = mcptest(folder.path(), &words);
        assert_eq!(ran.status.code(), Some(2), "{words:?}");
        String::from_utf8_lossy(&ran.stderr).into_owned()
    };
    let errors = refused(&["--ignore", "nosuch["]);
    assert!(errors.contains("it has a `[` without its `]`"), "{errors}");
    for (timeout, why) in [
        ("0", "give a unit"),
        ("0s", "longer than 0"),
        ("30", "give a unit"),
    ] {
        let errors = refused(&["--timeout", timeout]);
        assert!(errors.contains(why), "{errors}");
    }
    let errors = refused(&["--connect-timeout", "300ms"]);
    assert!(errors.contains("300") || errors.contains("0.3"), "{errors}");
}

#[test]
fn the_whole_of_a_stdio_tape_is_its_run_1() {
    let folder = tempfile::tempdir().unwrap();
    mcptest(
        folder.path(),
        &["proxy", "--out", "tape.jsonl", "--", "echo", "{}"],
    );
    let all = mcptest(folder.path(), &["show", "tape.jsonl"]);
    let first = mcptest(folder.path(), &["show", "tape.jsonl", "--run", "1"]);
    assert!(first.status.success() && all.stdout == first.stdout);
    let second = mcptest(folder.path(), &["show", "tape.jsonl", "--run", "2"]);
    assert!(String::from_utf8_lossy(&second.stderr).contains("has no session 2; it has 1"));
}

#[test]
fn the_help_names_the_mark_for_a_number() {
    for option in ["-h", "--help"] {
        let help = mcptest(Path::new("."), &["proxy", option]).stdout;
        assert!(
            String::from_utf8_lossy(&help).contains("`{number}` in the name"),
            "{}",
            String::from_utf8_lossy(&help)
        );
    }
}

#[test]
fn a_fault_that_breaks_the_connection_is_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    let mut proxy = Command::new(env!("CARGO_BIN_EXE_mcptest"))
        .args([
            "proxy",
            "--out",
            "tape.jsonl",
            "--fault",
            "disconnect",
            "--",
            "cat",
        ])
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = proxy.stdin.take().unwrap();
    input
        .write_all(format!("{}\n", SCRIPT[2]).as_bytes())
        .unwrap();
    assert_eq!(proxy.wait().unwrap().code(), Some(1));
}

#[test]
fn a_cassette_is_written_into_a_folder_that_was_not_there_as_a_tape_is() {
    let folder = tempfile::tempdir().unwrap();
    mcptest(
        folder.path(),
        &["proxy", "--out", "tapes/new/tape.jsonl", "--", "echo", "{}"],
    );
    let ran = mcptest(
        folder.path(),
        &[
            "trace-from",
            "tapes/new/tape.jsonl",
            "-o",
            "cassettes/new/run.jsonl",
        ],
    );
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    assert!(folder.path().join("cassettes/new/run.jsonl").exists());
}

fn peers() -> Vec<Vec<String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/peers");
    let servers: [(&str, &[&str]); 3] = [
        ("node_modules/.bin/mcp-server-everything", &["stdio"]),
        ("node_modules/.bin/mcp-server-memory", &[]),
        ("python/bin/mcp-server-time", &[]),
    ];
    servers
        .iter()
        .map(|(program, words)| {
            let program = root.join(program);
            assert!(
                program.exists(),
                "{} is not there: run tests/peers/install",
                program.display()
            );
            let program = program.to_string_lossy().into_owned();
            std::iter::once(program)
                .chain(words.iter().map(|word| (*word).to_owned()))
                .collect()
        })
        .collect()
}

const SCRIPT: [&str; 4] = [
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"script","version":"1"}}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"message":"hi"}}}"#,
    r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"convert_time","arguments":{"source_timezone":"UTC","time":"10:00","target_timezone":"Asia/Tokyo"}}}"#,
];

/// The answers to the script, line by line.
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
            assert!(
                !answer.is_empty(),
                "{words:?} ended before it answered {request}"
            );
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
        let proxied: Vec<String> = std::iter::once(mcptest.clone())
            .chain(before)
            .chain(words.iter().cloned())
            .collect();
        assert_eq!(
            transcript(folder.path(), &words),
            transcript(folder.path(), &proxied),
            "{words:?}"
        );
        let verified = Command::new(&mcptest)
            .args(["verify", "tape.jsonl", "--"])
            .args(&words)
            .current_dir(folder.path())
            .output()
            .unwrap();
        let report = String::from_utf8_lossy(&verified.stdout).into_owned();
        assert!(
            verified.status.success() && report.contains("0 breaking, 0 changed"),
            "{words:?}: {report}"
        );
    }
}
