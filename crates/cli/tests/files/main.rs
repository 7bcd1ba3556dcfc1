//! Which files are found, read and overwritten, even if some are unusual?

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, missing_docs)]

mod folders;
mod odd;
mod overwriting;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

const TRACE: &str = r#"{"tool_calls":[{"name":"search","args":{}}],"final_response":"found"}"#;

/// A suite with one agent and this recording.
fn suite(cassette: &str) -> String {
    format!(
        "agents:\n  - name: searches\n    cassette: \"{cassette}\"\n    expect:\n      - {{ target: tool_names, matcher: \
         {{ contains: search }} }}\n"
    )
}

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn link(to: &str, at: &Path) {
    symlink(to, at).unwrap();
}

fn pipe(at: &Path) {
    assert!(Command::new("mkfifo").arg(at).status().unwrap().success());
}

/// Runs the program for at most 20 seconds, which only ends a hang. Memory is limited far above
/// what threads reserve at their start, so that a flood fails the test and harms nothing.
fn mcptest(folder: &Path, words: &[&str]) -> Output {
    answer(folder, words, Stdio::null())
}

fn answer(folder: &Path, words: &[&str], stdin: Stdio) -> Output {
    let limited = "ulimit -v 800000; exec timeout -k 5 20 \"$@\"";
    let mut command = Command::new("sh");
    command
        .args(["-c", limited, "sh", env!("CARGO_BIN_EXE_mcptest")])
        .args(words);
    // Each thread takes a share of the limit, and some machines have many.
    let few = [
        "RAYON_NUM_THREADS",
        "TOKIO_WORKER_THREADS",
        "MALLOC_ARENA_MAX",
    ]
    .map(|name| (name, "2"));
    command
        .envs(few)
        .current_dir(folder)
        .stdin(stdin)
        .output()
        .unwrap()
}

fn said(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// Asserts the exit code and all parts of the output, regardless of spaces and wrapping.
fn assert_says(output: &Output, code: i32, parts: &[&str]) {
    let said = said(output);
    assert_eq!(output.status.code(), Some(code), "{said}");
    let on_one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in parts {
        assert!(
            on_one_line(&said).contains(&on_one_line(part)),
            "{part:?} is not in\n{said}"
        );
    }
}
