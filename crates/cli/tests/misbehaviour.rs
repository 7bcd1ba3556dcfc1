//! For every way in which a server can misbehave: does the user read what happened, within the
//! timeout, and does no process survive?
//!
//! Each row of `tests/misbehaviour/server.py` is listed and called, and its output is pinned in
//! `tests/misbehaviour/expected/ROW.txt`. `cargo test --test misbehaviour NAME` runs the rows whose
//! name contains NAME. `MCPTEST_UPDATE_CASES=1` replaces the expectations: read the diff before you
//! keep it.

#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Rows run side by side: nearly all of their time is waiting for a timeout.
const AT_ONCE: usize = 6;

/// The time limit of a row: 10 s to connect, 1 s for a call, and some time to end a server.
const NEVER_LONGER: Duration = Duration::from_secs(60);

fn main() -> ExitCode {
    let filters: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let rows: Vec<String> = rows()
        .into_iter()
        .filter(|row| {
            filters.is_empty() || filters.iter().any(|filter| row.contains(filter.as_str()))
        })
        .collect();
    let (next, faults) = (AtomicUsize::new(0), Mutex::new(vec![None; rows.len()]));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some((at, row)) = take(&next, &rows) {
                    faults.lock().unwrap()[at] = judge(row).err();
                }
            });
        }
    });
    let mut failed = 0;
    for (row, fault) in rows.iter().zip(faults.into_inner().unwrap()) {
        match fault {
            None => println!("row {row} ... ok"),
            Some(fault) => {
                failed += 1;
                println!("row {row} ... FAILED\n{fault}");
            }
        }
    }
    println!(
        "\n{} rows: {} passed, {failed} failed",
        rows.len(),
        rows.len() - failed
    );
    ExitCode::from(u8::from(failed > 0))
}

fn take<'r>(next: &AtomicUsize, rows: &'r [String]) -> Option<(usize, &'r String)> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    rows.get(at).map(|row| (at, row))
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/misbehaviour")
        .canonicalize()
        .unwrap()
}

fn rows() -> Vec<String> {
    let output = Command::new("python3")
        .arg(folder().join("server.py"))
        .arg("--list")
        .output();
    let text = String::from_utf8(output.unwrap().stdout).unwrap();
    let mut rows: Vec<String> = text.lines().map(str::to_owned).collect();
    rows.extend(ADDRESSES.iter().map(|(row, _)| (*row).to_owned()));
    rows.extend(COMMANDS.iter().map(|(row, _)| (*row).to_owned()));
    assert!(rows.len() > 40, "the table has {} rows", rows.len());
    rows
}

/// Rows without a server: addresses on which none listens.
const ADDRESSES: [(&str, &str); 3] = [
    ("http-nobody-listens", "http://127.0.0.1:1/mcp"),
    ("http-unknown-host", "http://no-such-host.invalid/mcp"),
    ("http-not-a-url", "127.0.0.1/mcp"),
];

/// Rows without a server of ours: entries that cannot be started.
const COMMANDS: [(&str, &str); 3] = [
    ("no-such-command", "{command: [no-such-command-anywhere]}"),
    (
        "no-such-folder",
        "{command: [python3], cwd: no/such/folder}",
    ),
    ("not-a-program", "{command: [./suite.yml]}"),
];

/// A row's server over HTTP, and its processes.
struct Started {
    server: String,
    child: Option<Child>,
}

fn start(row: &str, pids: &Path) -> Started {
    let script = folder().join("server.py");
    let limits = "timeout: 1s, connect_timeout: 10s, max_message_bytes: 100000";
    if let Some((_, entry)) = COMMANDS.iter().find(|(name, _)| *name == row) {
        return Started {
            server: (*entry).to_owned(),
            child: None,
        };
    }
    if let Some((_, url)) = ADDRESSES.iter().find(|(name, _)| *name == row) {
        return Started {
            server: format!("{{url: \"{url}\", {limits}}}"),
            child: None,
        };
    }
    if !row.starts_with("http-") {
        let env = format!(
            "env: {{MISBEHAVIOUR_PIDS: {:?}}}",
            pids.display().to_string()
        );
        let command = format!(
            "command: [python3, {:?}, {row}]",
            script.display().to_string()
        );
        return Started {
            server: format!("{{{command}, {env}, {limits}}}"),
            child: None,
        };
    }
    let mut child = Command::new("python3")
        .arg(script)
        .args(["--http", row])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut url = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut url)
        .unwrap();
    Started {
        server: format!("{{url: {:?}, {limits}}}", url.trim()),
        child: Some(child),
    }
}

fn judge(row: &str) -> Result<(), String> {
    let place = tempfile::tempdir().unwrap();
    let pids = place.path().join("pids");
    let mut started = start(row, &pids);
    fs::write(
        place.path().join("suite.yml"),
        format!("servers:\n  bad: {}\n", started.server),
    )
    .unwrap();
    let mut seen = String::new();
    let mut left = Vec::new();
    for words in [
        ["tools", "bad"].as_slice(),
        &["call", "echo", "--server", "bad"],
    ] {
        seen.push_str(&format!("$ mcptest {}\n", words.join(" ")));
        seen.push_str(&run(words, place.path())?);
        left.extend(alive(&pids));
    }
    let url = started.server.split('"').nth(1).unwrap_or("-").to_owned();
    if let Some(child) = &mut started.child {
        let _ = child.kill();
        let _ = child.wait();
        seen = seen.replace(
            url.trim_start_matches("http://").trim_end_matches("/mcp"),
            "127.0.0.1:PORT",
        );
    }
    let seen = seen.replace(&folder().display().to_string(), "…");
    if !left.is_empty() {
        return Err(format!("processes left behind: {left:?}\n{seen}"));
    }
    compare(row, &seen)
}

fn run(words: &[&str], place: &Path) -> Result<String, String> {
    let begun = Instant::now();
    let output = Command::new(env!("CARGO_BIN_EXE_mcptest"))
        .args(words)
        .args(["--config", "suite.yml"])
        .current_dir(place)
        .env_remove("HTTP_PROXY")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    if begun.elapsed() > NEVER_LONGER {
        return Err(format!("{words:?} took {:?}", begun.elapsed()));
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let code = output
        .status
        .code()
        .map_or("killed".to_owned(), |code| code.to_string());
    Ok(format!(
        "{}{}exit {code}\n",
        text(&output.stdout),
        text(&output.stderr)
    ))
}

/// The noted processes that still run. A dead process may take a moment to disappear.
fn alive(pids: &Path) -> Vec<String> {
    let running = |pid: &&str| {
        fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
            !stat
                .rsplit(')')
                .next()
                .unwrap_or_default()
                .trim_start()
                .starts_with('Z')
        })
    };
    let text = fs::read_to_string(pids).unwrap_or_default();
    let begun = Instant::now();
    loop {
        let left: Vec<String> = text.lines().filter(running).map(str::to_owned).collect();
        if left.is_empty() || begun.elapsed() > Duration::from_secs(5) {
            return left;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn compare(row: &str, seen: &str) -> Result<(), String> {
    let path = folder().join("expected").join(format!("{row}.txt"));
    if std::env::var_os("MCPTEST_UPDATE_CASES").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, seen).unwrap();
        return Ok(());
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    if expected == seen {
        Ok(())
    } else {
        Err(format!("expected:\n{expected}\nseen:\n{seen}"))
    }
}
