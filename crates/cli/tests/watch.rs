//! Does `run --watch` judge again what a change touches, and nothing else?

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use tempfile::TempDir;

const SUITE: &str = "agents:
  - { name: first, cassette: [a.json], expect: [{ target: final_response, matcher: { contains: sunny } }] }
  - { name: second, cassette: [b.json], expect: [{ target: final_response, matcher: { contains: sunny } }] }
";

/// A watching program, with the lines of both streams.
struct Watching {
    folder: TempDir,
    program: Child,
    lines: Receiver<String>,
}

impl Watching {
    fn begin() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write("mcptest.yml", SUITE);
        write("a.json", r#"{"tool_calls": [], "final_response": "sunny"}"#);
        write("b.json", r#"{"tool_calls": [], "final_response": "sunny"}"#);
        let mut program = Command::new(env!("CARGO_BIN_EXE_mcptest"))
            .args(["run", "--watch"])
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, lines) = channel();
        let out: [Box<dyn std::io::Read + Send>; 2] = [
            Box::new(program.stdout.take().unwrap()),
            Box::new(program.stderr.take().unwrap()),
        ];
        for stream in out {
            let sender = sender.clone();
            std::thread::spawn(move || {
                for line in BufReader::new(stream).lines().map_while(Result::ok) {
                    let _ended = sender.send(line);
                }
            });
        }
        Self {
            folder,
            program,
            lines,
        }
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(name), text).unwrap();
    }

    /// Reads the output up to the line with the number of judged tests.
    fn round(&self) -> String {
        let mut said = String::new();
        loop {
            let line = self
                .lines
                .recv_timeout(Duration::from_secs(60))
                .expect(&said);
            said.push_str(&format!("{line}\n"));
            if line.starts_with("judged ") {
                return said;
            }
        }
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ended = self.program.kill();
    }
}

#[test]
fn a_change_is_judged_again_and_a_broken_suite_is_waited_for() {
    let mut watching = Watching::begin();
    let first = watching.round();
    assert!(
        first.contains("judged 2 of 2 tests; watching 3 files"),
        "{first}"
    );
    watching.write(
        "b.json",
        r#"{"tool_calls": [], "final_response": "it rains"}"#,
    );
    let recording = watching.round();
    assert!(recording.contains("--- changed: b.json ---"), "{recording}");
    assert!(recording.contains("judged 1 of 2 tests"), "{recording}");
    watching.write("mcptest.yml", "agents: [{ nme: x }]\n");
    let broken = watching.round();
    assert!(broken.contains("`nme`"), "{broken}");
    watching.write("mcptest.yml", &SUITE.replace("sunny", "rain"));
    let mended = watching.round();
    assert!(mended.contains("judged 2 of 2 tests"), "{mended}");
    kill(
        Pid::from_raw(watching.program.id().try_into().unwrap()),
        Signal::SIGINT,
    )
    .unwrap();
    assert_eq!(watching.program.wait().unwrap().code(), Some(130));
}
