//! Servers as processes: how they start, fail, and end with all that they started.
#![cfg(unix)]

use mcptest_mcp::client::{Client, ServerSpec};
use mcptest_mcp::era::Era;
use std::path::Path;
use std::time::{Duration, Instant};

/// A legacy server in shell: answers `initialize`, then runs the rest of the script.
fn shell(rest: &str) -> ServerSpec {
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"sh","version":"1"}}}"#;
    let mut spec = ServerSpec::command(
        "shell",
        [
            "sh",
            "-c",
            &format!("read -r line; echo '{answer}'; {rest}"),
        ],
    );
    spec.era = Some(Era::Legacy);
    spec
}

async fn refusal(script: &str) -> String {
    let spec = ServerSpec::command("shell", ["sh", "-c", script]);
    Client::connect(&spec, None)
        .await
        .err()
        .unwrap()
        .to_string()
}

fn is_alive(pid: &str) -> bool {
    // A zombie has ended; only its parent has not asked yet.
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

async fn becomes(what: &str, holds: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(10);
    while !holds() {
        assert!(Instant::now() < until, "{what} did not happen");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn pid_in(path: &Path) -> String {
    becomes("the pid file", || {
        std::fs::read_to_string(path).is_ok_and(|text| text.ends_with('\n'))
    })
    .await;
    std::fs::read_to_string(path).unwrap().trim().to_owned()
}

#[tokio::test]
async fn an_exit_before_the_handshake_is_told_with_status_and_stderr() {
    let text = refusal("echo 'no config file' >&2; exit 3").await;
    assert_eq!(
        text,
        "server \"shell\": it exited with code 3 before it answered initialize; it wrote to stderr: no config file"
    );
    let text = refusal("kill -SEGV $$").await;
    assert!(
        text.contains("it exited with signal 11 (SIGSEGV) before it answered initialize"),
        "{text}"
    );
}

/// The number of starts of a server that answers each line with the script's output.
async fn starts(on_each_line: &str) -> (Era, usize) {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("starts");
    let script = format!(
        "echo started >> {}; while read -r line; do {on_each_line}; done",
        log.display()
    );
    let client = Client::connect(&ServerSpec::command("shell", ["sh", "-c", &script]), None)
        .await
        .unwrap();
    let era = client.server().era;
    client.close().await;
    (era, std::fs::read_to_string(&log).unwrap().lines().count())
}

#[tokio::test]
async fn a_session_is_one_process_in_either_era_and_a_server_that_ends_on_the_probe_gets_a_second()
{
    let id = r#"id=$(echo "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')"#;
    let say = |what: &str| format!(r#"echo '{{"jsonrpc":"2.0","id":'$id',{what}}}'"#);
    let hello = say(
        r#""result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"sh","version":"1"}}"#,
    );
    let modern = say(r#""result":{"supportedVersions":["2026-07-28"],"capabilities":{}}"#);
    let refused = say(r#""error":{"code":-32601,"message":"Method not found"}"#);
    let on = |probe: &str| {
        format!("{id}; case $line in *server/discover*) {probe};; *initialize\\\"*) {hello};; esac")
    };
    assert_eq!(starts(&on(&modern)).await, (Era::Modern, 1));
    assert_eq!(starts(&on(&refused)).await, (Era::Legacy, 1));
    assert_eq!(
        starts(&on(":")).await,
        (Era::Legacy, 2),
        "silent on what it does not know"
    );
    assert_eq!(starts(&on("exit 1")).await, (Era::Legacy, 2));
}

/// The lines that a server got until it was connected to, which reads the first of them only after a while.
async fn lines_of_a_slow_start(answer_to_probe: &str) -> (Era, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("lines");
    let script = format!(
        r#"echo started >> {0}; sleep 2; while read -r line; do echo "$line" >> {0}; {answer_to_probe}; done"#,
        log.display()
    );
    let mut spec = ServerSpec::command("shell", ["sh", "-c", &script]);
    // A server that has read the probe has a quarter of this to answer.
    spec.connect_timeout = Duration::from_secs(6);
    let client = Client::connect(&spec, None).await.unwrap();
    let era = client.server().era;
    client.close().await;
    let lines = std::fs::read_to_string(&log).unwrap();
    (era, lines.lines().map(str::to_owned).collect())
}

#[tokio::test]
async fn a_server_that_is_slow_to_start_gets_one_question_at_a_time() {
    let reply = |id: u8, what: &str| format!(r#"echo '{{"jsonrpc":"2.0","id":{id},{what}}}'"#);
    let modern = reply(
        1,
        r#""result":{"supportedVersions":["2026-07-28"],"capabilities":{}}"#,
    );
    let (era, lines) = lines_of_a_slow_start(&modern).await;
    assert_eq!((era, lines.len()), (Era::Modern, 2), "{lines:?}");
    assert!(lines[1].contains("server/discover"), "{lines:?}");

    let refused = reply(1, r#""error":{"code":-32601,"message":"Method not found"}"#);
    let hello = reply(
        2,
        r#""result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"sh","version":"1"}}"#,
    );
    let answer =
        format!(r#"case $line in *server/discover*) {refused};; *initialize\"*) {hello};; esac"#);
    let (era, lines) = lines_of_a_slow_start(&answer).await;
    assert_eq!(era, Era::Legacy);
    let methods = [
        "started",
        "server/discover",
        "initialize",
        "notifications/initialized",
    ];
    assert_eq!(lines.len(), methods.len(), "{lines:?}");
    for (line, method) in lines.iter().zip(methods) {
        assert!(line.contains(method), "{lines:?}");
    }
}

#[tokio::test]
async fn an_exit_during_a_call_is_told_with_what_was_written() {
    let spec = shell("read -r l; read -r l; echo 'panic: oops'; echo bye >&2; exit 1");
    let client = Client::connect(&spec, None).await.unwrap();
    let text = client
        .request("tools/list", None)
        .await
        .unwrap_err()
        .to_string();
    assert!(
        text.starts_with(
            "server \"shell\": it exited with code 1 while tools/list was open; it sent \"panic: oops\""
        ),
        "{text}"
    );
    assert!(text.ends_with("it wrote to stderr: bye"), "{text}");
    let text = client
        .request("tools/list", None)
        .await
        .unwrap_err()
        .to_string();
    assert!(
        text.contains("it exited with code 1 before tools/list was sent"),
        "{text}"
    );
}

#[tokio::test]
async fn a_flood_on_stderr_does_not_block_the_server() {
    let spec = shell(
        "yes 'a line of noise' | head -c 3000000 >&2; read -r l; read -r l; echo '{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}'; read -r l",
    );
    let client = Client::connect(&spec, None).await.unwrap();
    client.request("ping", None).await.unwrap();
    let closing = client.close().await;
    assert_eq!(closing.process.status.as_deref(), Some("code 1"));
    assert!(!closing.process.terminated);
}

#[tokio::test]
async fn grandchildren_end_with_the_server_on_close_and_on_drop() {
    for is_dropped in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pid");
        let spec = shell(&format!(
            "(trap '' TERM; while :; do sleep 1; done) >/dev/null 2>&1 & echo $! > {}; read -r l; read -r l",
            file.display()
        ));
        let client = Client::connect(&spec, None).await.unwrap();
        let grandchild = pid_in(&file).await;
        assert!(is_alive(&grandchild));
        if is_dropped {
            drop(client);
        } else {
            assert!(client.close().await.process.left_processes);
        }
        becomes("the end of the grandchild", || !is_alive(&grandchild)).await;
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_left_the_group_of_the_server_ends_with_it_too() {
    for is_dropped in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pid");
        let spec = shell(&format!(
            "setsid sh -c 'trap \"\" TERM; echo $$ > {}; while :; do sleep 1; done' >/dev/null 2>&1 & read -r l; read -r l",
            file.display()
        ));
        let client = Client::connect(&spec, None).await.unwrap();
        let other = Client::connect(&shell("read -r l; read -r l; read -r l"), None)
            .await
            .unwrap();
        let stray = pid_in(&file).await;
        assert!(is_alive(&stray));
        if is_dropped {
            drop(client);
        } else {
            assert!(client.close().await.process.left_processes);
        }
        becomes("the end of the stray", || !is_alive(&stray)).await;
        let closing = other.close().await;
        assert!(
            !closing.process.left_processes && !closing.process.killed,
            "another server is left alone: {closing:?}"
        );
    }
}

#[tokio::test]
async fn a_server_that_ignores_the_end_of_input_and_sigterm_is_killed() {
    let client = Client::connect(&shell("trap '' TERM; while :; do sleep 0.1; done"), None)
        .await
        .unwrap();
    let closing = client.close().await;
    assert!(
        closing.process.terminated && closing.process.killed,
        "{closing:?}"
    );
    assert_eq!(
        closing.process.status.as_deref(),
        Some("signal 9 (SIGKILL)")
    );
}

/// The process that the next test kills, not a separate test.
#[tokio::test]
#[ignore = "started by another test"]
async fn holds_a_server() {
    let Ok(file) = std::env::var("MCPTEST_PID_FILE") else {
        return;
    };
    let spec = shell(&format!(
        "sleep 600 >/dev/null 2>&1 & echo $! > {file}.sleep; \
         if command -v setsid >/dev/null; then setsid sh -c 'echo $$ > {file}.stray; exec sleep 600' >/dev/null 2>&1 & \
         else echo 0 > {file}.stray; fi; echo $$ > {file}; while :; do sleep 0.1; done"
    ));
    let _client = Client::connect(&spec, None).await.unwrap();
    tokio::select! {
        () = tokio::time::sleep(Duration::from_secs(60)) => {}
        code = mcptest_process::interrupted() => {
            mcptest_process::end_all();
            std::process::exit(code.into());
        }
    }
}

/// A process that holds a server, the server, and the server's child.
async fn start_holder(folder: &Path) -> (std::process::Child, Vec<String>) {
    let file = folder.join("pid");
    let holder = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "process::holds_a_server"])
        .env("MCPTEST_PID_FILE", &file)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let mut held = vec![pid_in(&file).await, pid_in(&folder.join("pid.sleep")).await];
    if cfg!(target_os = "linux") {
        held.push(pid_in(&folder.join("pid.stray")).await);
    }
    assert!(held.iter().all(|pid| is_alive(pid)));
    (holder, held)
}

#[tokio::test]
async fn killing_us_leaves_no_server_behind() {
    let folder = tempfile::tempdir().unwrap();
    let (mut holder, held) = start_holder(folder.path()).await;
    holder.kill().unwrap();
    holder.wait().unwrap();
    becomes("the end of the server", || {
        !held.iter().any(|pid| is_alive(pid))
    })
    .await;
}

#[tokio::test]
async fn interrupting_us_leaves_no_server_behind() {
    let folder = tempfile::tempdir().unwrap();
    let (mut holder, held) = start_holder(folder.path()).await;
    // The handler is in place only once the holder waits for it.
    tokio::time::sleep(Duration::from_millis(300)).await;
    let pid = nix::unistd::Pid::from_raw(i32::try_from(holder.id()).unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).unwrap();
    assert_eq!(holder.wait().unwrap().code(), Some(130));
    becomes("the end of the server", || {
        !held.iter().any(|pid| is_alive(pid))
    })
    .await;
}
