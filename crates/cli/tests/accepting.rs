//! Does `run --update` write what it shows, and only after confirmation?

#![cfg(unix)]
#![allow(clippy::unwrap_used, missing_docs)]

use std::fs;
use std::process::Command;

const SUITE: &str = "agents:\n  - name: looks\n    cassette: [runs.jsonl]\n    \
                     trajectory: { mode: strict, calls: [open] }\n";
const RUN: &str =
    r#"{"tool_calls":[{"id":"1","name":"look","args":{}}],"tool_results":[],"final_response":""}"#;

/// Runs a program at a terminal, and types when it asks.
const TYPES: &str = r#"
import os, pty, sys
keys, program = sys.argv[1].encode(), sys.argv[2:]
child, terminal = pty.fork()
if child == 0:
    os.execv(program[0], program)
said = b""
while True:
    try:
        more = os.read(terminal, 65536)
    except OSError:
        break
    if not more:
        break
    had_asked = b"[y/N] " in said
    said += more
    if not had_asked and b"[y/N] " in said:
        os.write(terminal, keys)
sys.stdout.write(said.decode().replace("\r\n", "\n"))
sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"#;

/// The exit code, the terminal's output, and the suite afterwards.
fn typed(keys: &str) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mcptest.yml"), SUITE).unwrap();
    fs::write(folder.path().join("runs.jsonl"), RUN).unwrap();
    let program = [
        "-c",
        TYPES,
        keys,
        env!("CARGO_BIN_EXE_mcptest"),
        "--color",
        "never",
        "run",
        "-u",
    ];
    let output = Command::new("python3")
        .args(program)
        .current_dir(folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    (
        output.status.code(),
        said,
        fs::read_to_string(folder.path().join("mcptest.yml")).unwrap(),
    )
}

#[test]
fn a_yes_at_a_terminal_writes_what_was_shown_and_judges_by_it() {
    for keys in ["y\n", "Yes\n"] {
        let (code, said, suite) = typed(keys);
        assert_eq!(code, Some(0), "{said}");
        let asked = format!("write 1 file? [y/N] {keys}wrote mcptest.yml\nmcptest.yml\n  ✓ looks");
        assert!(said.contains(&asked), "{said}");
        assert!(
            suite.contains("calls: [{ name: look") && !suite.contains("open"),
            "{suite}"
        );
    }
}

#[test]
fn anything_else_writes_nothing() {
    // The last is the end of the input, which ends no line.
    for keys in ["n\n", "\n", "yellow\n", "\u{4}"] {
        let (code, said, suite) = typed(keys);
        assert_eq!((code, suite.as_str()), (Some(1), SUITE), "{said}");
        assert!(
            said.contains("\nnothing was written\nmcptest.yml\n  ✗ looks"),
            "{said}"
        );
    }
}
