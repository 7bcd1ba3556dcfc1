//! How much memory does judging one large transcript take?

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

const LARGE_BYTES: usize = 16 << 20;

/// A session of Claude Code: one conversation, a line for each message.
fn session(bytes: usize) -> String {
    let message = |kind: &str, message: Value| json!({"type": kind, "sessionId": "s", "version": "2.0.0", "isSidechain": false, "message": message});
    let first = message(
        "user",
        json!({"role": "user", "content": "Find all orders"}),
    );
    let mut text = format!("{first}\n");
    for number in 0.. {
        let id = format!("toolu_{number}");
        let call = json!([{"type": "tool_use", "id": id, "name": "find_order", "input": {"order": number}}]);
        let answer = json!([{"type": "tool_result", "tool_use_id": id, "content": "lorem ipsum dolor ".repeat(80)}]);
        let call = json!({"role": "assistant", "model": "claude-sonnet-4-5", "content": call});
        let _ = writeln!(text, "{}", message("assistant", call));
        let _ = writeln!(
            text,
            "{}",
            message("user", json!({"role": "user", "content": answer}))
        );
        if text.len() > bytes {
            break;
        }
    }
    text
}

/// Short conversations in the format of Chat Completions, one on each line.
fn chats(bytes: usize) -> String {
    let mut text = String::new();
    for number in 0.. {
        let id = format!("call_{number}");
        let call = json!({"id": id, "type": "function", "function": {"name": "find_order", "arguments": "{\"order\": 1}"}});
        let messages = json!([
            {"role": "user", "content": "Please look up the order. ".repeat(8)},
            {"role": "assistant", "content": null, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": id, "content": "lorem ipsum dolor ".repeat(50)},
            {"role": "assistant", "content": "The order is on its way. ".repeat(12)},
        ]);
        let _ = writeln!(text, "{}", json!({"model": "gpt-5", "messages": messages}));
        if text.len() > bytes {
            break;
        }
    }
    text
}

/// The largest memory of `mcptest run` on this transcript, as the system counts it.
fn peak_bytes(folder: &Path, transcript: &str) -> usize {
    const MEASURED: &str = "import resource, subprocess, sys\n\
        subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)\n\
        print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)";
    std::fs::write(folder.join("t.jsonl"), transcript).unwrap();
    let suite =
        "agents:\n  - { name: t, cassette: [t.jsonl], tool_edges: { restricted: [refund] } }\n";
    std::fs::write(folder.join("mcptest.yml"), suite).unwrap();
    let measured = Command::new("python3")
        .args(["-c", MEASURED, env!("CARGO_BIN_EXE_mcptest"), "run"])
        .current_dir(folder)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&measured.stdout).into_owned();
    let counted: usize = said
        .trim()
        .parse()
        .unwrap_or_else(|_| panic!("{measured:?}"));
    // Linux counts in KiB, macOS in bytes.
    if cfg!(target_os = "macos") {
        counted
    } else {
        counted << 10
    }
}

/// The memory that a large transcript takes beyond a small one, per byte of it.
fn times_its_size(of: fn(usize) -> String) -> f64 {
    let folder = tempfile::tempdir().unwrap();
    let small = peak_bytes(folder.path(), &of(1000));
    let large = of(LARGE_BYTES);
    (peak_bytes(folder.path(), &large) - small) as f64 / large.len() as f64
}

#[test]
fn a_long_session_takes_at_most_four_times_its_size() {
    let times = times_its_size(session);
    assert!(times <= 4.0, "{times:.1} times its size");
}

/// Many short conversations take more: each has its own report.
#[test]
fn many_short_conversations_take_at_most_six_times_their_size() {
    let times = times_its_size(chats);
    assert!(times <= 6.0, "{times:.1} times their size");
}
