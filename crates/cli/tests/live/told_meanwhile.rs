//! Are messages that a server sends during a call shown, kept and judged?

use crate::bench::{LiveFolder, Ran};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const SUITE: &str = "
servers:
  everything: { command: [./everything, stdio], env: { PATH: \"${PEERS}:/usr/bin:/bin\" } }
  desk: { command: [python3, SLOW, legacy, '0'] }
tools:
  - name: long
    server: everything
    tool: trigger-long-running-operation
    args: { duration: 0.1, steps: 2 }
    expect: PROGRESS
  - name: talks
    server: desk
    tool: work
    expect:
      - { target: 'progress[*].message', matcher: { exact: [step 1, step 2] } }
      - { target: 'log[0]', matcher: { exact: { level: warning, logger: work, data: { left: 0 } } } }
      - { target: log.length, matcher: { exact: 1 } }
agents:
  - name: agent
    model: claude-sonnet-4-5
    servers: [everything, desk]
    prompt: Go.
    cassette: a.jsonl
    expect:
      - { target: 'tool_results[0].progress[*].progress', matcher: { exact: [1, 2] } }
      - { target: 'tool_results[0].log', matcher: { absent: true } }
      - { target: 'tool_results[1].progress.length', matcher: { exact: 2 } }
      - { target: 'tool_results[1].log[0].data.left', matcher: { exact: 0 } }
";

const SCRIPT: &str = "
steps:
  - calls: [{ name: everything__trigger-long-running-operation, args: { duration: 0.1, steps: 2 } }, { name: desk__work }]
  - text: done
";

fn peers() -> PathBuf {
    let peers = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../target/peers/node_modules/.bin")
        .canonicalize();
    peers.expect("target/peers is missing: run tests/peers/install")
}

fn bench() -> LiveFolder {
    let (tests, peers) = (Path::new(env!("CARGO_MANIFEST_DIR")), peers());
    let slow = tests.join("tests/servers/slow.py");
    let told = "[{ target: progress, matcher: { exact: [{ progress: 1, total: 2 }, { progress: 2, total: 2 }] } }]";
    let suite = SUITE
        .replace("SLOW", &slow.display().to_string())
        .replace("PROGRESS", told);
    let bench = LiveFolder::with(
        &suite.replace("${PEERS}", &peers.display().to_string()),
        SCRIPT,
        "",
    );
    std::os::unix::fs::symlink(
        peers.join("mcp-server-everything"),
        bench.path("everything"),
    )
    .unwrap();
    bench
}

#[test]
fn progress_and_log_of_a_call_are_kept_and_judged_from_the_recording_alone() {
    let bench = bench();
    bench.record(&["--record"], 0);
    let results = bench.trace("a.jsonl")["tool_results"].clone();
    assert_eq!(
        results[0]["progress"],
        json!([{ "progress": 1, "total": 2 }, { "progress": 2, "total": 2 }])
    );
    assert_eq!(
        results[0]["log"],
        Value::Null,
        "what is not told is not written"
    );
    let logged = json!([{ "level": "warning", "logger": "work", "data": { "left": 0 } }]);
    assert_eq!(results[1]["log"], logged);
    bench.remove("everything");
    bench.replay(0);
    // What was told is evidence: another expectation fails on the same recording.
    bench.write(
        "suite.yml",
        &bench
            .read("suite.yml")
            .replace("[step 1, step 2]", "[step 1]"),
    );
    bench.replay(1).says("progress[*].message");
}

#[test]
fn progress_and_log_of_a_call_are_shown_while_it_runs() {
    let bench = bench();
    let call = |tool: &str| {
        let server = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/servers/slow.py")
            .display()
            .to_string();
        let ran = bench.run(&["call", tool, "--", "python3", &server, "legacy", "0"]);
        assert_eq!(ran.exit, Some(0), "{ran:?}");
        ran.stderr
    };
    let told =
        "progress: 1 of 2, step 1\nprogress: 2 of 2, step 2\nlog: warning work: {\"left\":0}\n";
    assert_eq!(call("work"), told);
    let odd = "log: {\"message\":\"data is missing\"}\nlog: a message that says nothing\n";
    assert_eq!(call("mumble"), odd);
    let operation = [
        "call",
        "trigger-long-running-operation",
        "duration=0.1",
        "steps=2",
        "--",
        "./everything",
        "stdio",
    ];
    let ran = Ran::of(
        &bench
            .command(&operation)
            .env("PATH", format!("{}:/usr/bin:/bin", peers().display()))
            .output()
            .unwrap(),
    );
    assert_eq!(ran.exit, Some(0), "{ran:?}");
    ran.says("progress: 1 of 2 progress: 2 of 2");
}
