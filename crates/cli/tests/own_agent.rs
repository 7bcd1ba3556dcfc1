//! Agents of one's own through the binary: recorded, judged from the recording, interrupted.

#![cfg(unix)]
#![allow(clippy::unwrap_used, missing_docs)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

fn mcptest(folder: &Path) -> Command {
    let python = repository().join("target/peers/python/bin");
    assert!(
        python.exists(),
        "target/peers/python is missing: run tests/peers/install"
    );
    let path = format!(
        "{}:{}",
        python.display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcptest"));
    command
        .current_dir(folder)
        .env("PATH", path)
        .stdin(Stdio::null());
    command
}

fn text(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from)
        .unwrap()
        .map(Result::unwrap)
        .filter(|entry| entry.path().is_file())
    {
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

#[test]
fn the_examples_can_be_recorded_anew_and_judged_without_their_programs() {
    let folder = tempfile::tempdir().unwrap();
    let examples = repository().join("examples");
    for part in ["mocks", "own-agent"] {
        copy(&examples.join(part), &folder.path().join(part));
    }
    let recorded = mcptest(folder.path())
        .args(["run", "own-agent", "--record"])
        .output()
        .unwrap();
    assert_eq!(recorded.status.code(), Some(0), "{}", text(&recorded));
    for program in ["agent.sh", "sdk_agent.py"] {
        fs::remove_file(folder.path().join("own-agent").join(program)).unwrap();
    }
    let judged = mcptest(folder.path())
        .args(["run", "own-agent", "--deny-vacuous"])
        .output()
        .unwrap();
    assert_eq!(judged.status.code(), Some(0), "{}", text(&judged));
    let secret = |text: &str| text.contains("MCPTEST_BRIDGE_TOKEN") || text.contains("127.0.0.1");
    for cassette in ["shell", "sdk"] {
        for file in fs::read_dir(folder.path().join("own-agent/cassettes").join(cassette)).unwrap()
        {
            let path = file.unwrap().path();
            assert!(
                !secret(&fs::read_to_string(&path).unwrap()),
                "{}",
                path.display()
            );
        }
    }
}

#[test]
fn distractors_are_in_the_catalogue_of_the_recording_and_do_not_lead_astray() {
    let folder = tempfile::tempdir().unwrap();
    copy(
        &repository().join("examples/mocks"),
        &folder.path().join("mocks"),
    );
    copy(&repository().join("examples/own-agent"), folder.path());
    let suite = r"
servers:
  library: { mock: mocks/library.yml }
agents:
  - name: in a crowd
    agent: { command: [./agent.sh] }
    servers: [library]
    prompt: Lend Dune to Ada.
    cassette: crowd.jsonl
    distractors: { count: 6, correct: [find_book] }
";
    fs::write(folder.path().join("crowd.yml"), suite).unwrap();
    let recorded = mcptest(folder.path())
        .args(["run", "crowd.yml", "--record"])
        .output()
        .unwrap();
    assert_eq!(recorded.status.code(), Some(0), "{}", text(&recorded));
    let cassette = fs::read_to_string(folder.path().join("crowd.jsonl")).unwrap();
    assert_eq!(
        cassette
            .lines()
            .next()
            .unwrap()
            .matches("\"distractor\":true")
            .count(),
        6
    );
}

#[test]
fn a_changed_script_makes_its_recording_stale_and_changed_back_it_is_fresh() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let suite = "
agents:
  - name: greets
    agent: { command: [sh, greet.sh] }
    prompt: Greet Ada.
    expect: [{ target: final_response, matcher: { contains: Ada } }]
";
    write("greet.yml", suite);
    write("greet.sh", "echo Hello Ada\n");
    let run = |more: &[&str]| {
        let output = mcptest(folder.path())
            .args(["run", "greet.yml"])
            .args(more)
            .output()
            .unwrap();
        (output.status.code(), text(&output))
    };
    assert_eq!(run(&["--record"]).0, Some(0));
    write("greet.sh", "echo Good day Ada\n");
    let (code, said) = run(&[]);
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("files.greet.sh: it changed after the recording"),
        "{said}"
    );
    write("greet.sh", "echo Hello Ada\r\n");
    assert_eq!(run(&[]).0, Some(0), "other line ends are no change");
    write("greet.sh", "echo Good day Ada\n");
    assert_eq!(run(&["--record=stale"]).0, Some(0));
    assert_eq!(run(&[]).0, Some(0));
}

/// Lists the tools of its only server and calls one of them, in one session.
const LISTS_AND_CALLS: &str = r#"
import asyncio, json, os, sys
from mcp import Client, StdioServerParameters

async def main():
    entry = json.load(open(os.environ["MCPTEST_MCP_CONFIG"]))["mcpServers"]["desk"]
    stdio = StdioServerParameters(command=entry["command"], args=entry["args"], env=entry["env"])
    async with Client(stdio if sys.argv[1] == "stdio" else os.environ["MCPTEST_SERVER_DESK_URL"]) as client:
        await client.list_tools()
        result = await client.call_tool("count", {})
        print(result.content[0].text)

asyncio.run(main())
"#;

fn suite_with(era: &str, way: &str) -> String {
    let server = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/servers/slow.py");
    format!(
        "servers:\n  desk: {{ command: [python3, {}, {era}, '0'], env: {{ STARTS: starts }} }}\n\
         agents:\n  - name: counts\n    agent: {{ command: [python, agent.py, {way}] }}\n    servers: [desk]\n    \
         prompt: Count.\n    expect: [{{ target: final_response, matcher: {{ exact: call 1 }} }}]\n",
        server.display()
    )
}

#[test]
fn a_session_of_the_agent_is_one_process_and_its_era_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("agent.py", LISTS_AND_CALLS);
    let record = |more: &[&str]| {
        let words = [
            &[
                "run",
                "desk.yml",
                "--verbose",
                "--reporter",
                "pretty",
                "--reporter",
                "json=report.json",
            ],
            more,
        ]
        .concat();
        let output = mcptest(folder.path()).args(words).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        let report = fs::read_to_string(folder.path().join("report.json")).unwrap();
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        (text(&output), report["tests"][0]["servers"].clone())
    };
    for way in ["stdio", "url"] {
        for (era, version) in [("legacy", "2025-11-25"), ("modern", "2026-07-28")] {
            write("desk.yml", &suite_with(era, way));
            let _none = fs::remove_file(folder.path().join("starts"));
            let (said, servers) = record(&["--record"]);
            let starts = fs::read_to_string(folder.path().join("starts")).unwrap();
            assert_eq!(starts.lines().count(), 1, "{way} {era}: {said}");
            let spoken =
                serde_json::json!([{ "name": "desk", "era": era, "protocol_version": version }]);
            assert_eq!(servers, spoken, "{way}");
            assert_eq!(record(&[]).1, spoken, "from the recording alone");
            let change = "server \"desk\" now uses the modern protocol; the previous recording used the \
                          legacy protocol";
            let is_said = said
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
                .contains(change);
            assert_eq!(is_said, era == "modern", "{way} {era}: {said}");
        }
    }
}

fn is_running(word: &str) -> bool {
    fs::read_dir("/proc").unwrap().flatten().any(|process| {
        fs::read(process.path().join("cmdline")).is_ok_and(|command| {
            command
                .split(|byte| *byte == 0)
                .any(|part| part == word.as_bytes())
        })
    })
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..600 {
        if holds() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("{what}");
}

#[test]
fn an_interrupt_leaves_neither_a_process_nor_a_file() {
    let (folder, scratch) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    copy(
        &repository().join("examples/mocks"),
        &folder.path().join("mocks"),
    );
    let suite = r#"
servers:
  library: { mock: mocks/library.yml }
  other: { command: [sh, -c, "sleep 98771"], connect_timeout: 100ms }
agents:
  - name: sleeps
    agent: { command: [sh, -c, "(setsid sleep 98772 &) ; sleep 98773"] }
    servers: [library, other]
    prompt: Sleep.
    expect: [{ target: final_response, matcher: { contains: x } }]
"#;
    fs::write(folder.path().join("mcptest.yml"), suite).unwrap();
    let mut command = mcptest(folder.path());
    command
        .args(["run", "--live"])
        .env("TMPDIR", scratch.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut running = command.spawn().unwrap();
    wait_until("the agent starts", || {
        is_running("98773") && is_running("98772")
    });
    let killed = Command::new("kill")
        .args(["-INT", &running.id().to_string()])
        .status()
        .unwrap();
    assert!(killed.success());
    assert_eq!(running.wait().unwrap().code(), Some(130));
    wait_until("all of it ends", || {
        !["98771", "98772", "98773"]
            .iter()
            .any(|word| is_running(word))
    });
    let left: Vec<_> = fs::read_dir(scratch.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert_eq!(left, Vec::<PathBuf>::new());
}
