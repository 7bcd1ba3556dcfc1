//! Is output the same bytes every time, without a panic when the pipe is closed?

#![allow(clippy::unwrap_used, missing_docs)]

mod case;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

fn mcptest(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcptest"));
    command
        .args(words)
        .current_dir(folder)
        .env_clear()
        .stdin(Stdio::null());
    command
}

/// Forty tests, every third of which fails, so that several threads judge them.
fn many_tests() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut suite = String::from("agents:\n");
    for at in 0..40 {
        let wanted = if at % 3 == 0 { "open" } else { "search" };
        suite.push_str(&format!(
            "  - name: test {at}\n    cassette: run.json\n    golden_path: {{ calls: [{wanted}] }}\n    expect:\n      \
             - target: tool_names\n        matcher: {{ exact: [{wanted}] }}\n"
        ));
    }
    fs::write(folder.path().join("mcptest.yml"), suite).unwrap();
    fs::write(
        folder.path().join("run.json"),
        r#"{"tool_calls":[{"name":"search"}]}"#,
    )
    .unwrap();
    folder
}

#[test]
fn replaying_twice_gives_the_same_bytes_in_every_format() {
    let folder = many_tests();
    for reporter in mcptest_report::REPORTERS
        .iter()
        .map(|reporter| reporter.key)
    {
        let run = || {
            mcptest(folder.path(), &["run", "--reporter", reporter])
                .output()
                .unwrap()
        };
        let first = run();
        assert_eq!(first.status.code(), Some(1));
        assert!(
            first.stdout.len() > 1000 && first.stderr.is_empty(),
            "{reporter}"
        );
        for _ in 0..5 {
            assert_eq!(run().stdout, first.stdout, "{reporter}");
        }
    }
}

#[test]
fn a_saved_report_is_rendered_to_the_bytes_of_the_run() {
    let folder = many_tests();
    let output = |words: &[&str]| mcptest(folder.path(), words).output().unwrap();
    output(&["run", "--reporter", "json=run-1.json", "--embed", "failed"]);
    for reporter in mcptest_report::REPORTERS
        .iter()
        .map(|reporter| reporter.key)
    {
        let run = output(&["run", "--reporter", reporter]);
        let again = output(&["report", "run-1.json", "--reporter", reporter]);
        assert_eq!(
            (again.stdout, again.status.code()),
            (run.stdout, run.status.code()),
            "{reporter}"
        );
    }
}

#[test]
fn a_reader_that_goes_away_is_silent_and_changes_nothing() {
    let folder = many_tests();
    let refused = case::named("suites/many-problems-at-once").set_up();
    let commands: [(&Path, &[&str], i32); 9] = [
        (folder.path(), &["run"], 1),
        (folder.path(), &["run", "--reporter", "json"], 1),
        (folder.path(), &["run", "--reporter", "junit"], 1),
        (folder.path(), &["run", "--reporter", "ndjson"], 1),
        (folder.path(), &["run", "--list"], 0),
        (folder.path(), &["schema"], 0),
        (folder.path(), &["explain"], 0),
        (folder.path(), &["--help"], 0),
        (refused.path(), &["validate"], 2),
    ];
    for (folder, words, code) in commands {
        let mut child = mcptest(folder, words)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{words:?}");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(
            !stderr.contains("panicked") && !stderr.contains("standard output"),
            "{words:?}: {stderr}"
        );
    }
}

#[test]
fn nobody_reading_the_problems_is_silent_too() {
    let refused = case::named("suites/many-problems-at-once").set_up();
    let mut child = mcptest(refused.path(), &["run"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop((child.stdout.take(), child.stderr.take()));
    assert_eq!(child.wait().unwrap().code(), Some(2));
}

#[cfg(target_os = "linux")]
#[test]
fn a_report_that_cannot_be_written_is_an_error() {
    let folder = many_tests();
    let full = fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let output = mcptest(folder.path(), &["run"])
        .stdout(full)
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot write to standard output"));
}

#[test]
fn auto_chooses_the_reports_that_fit_the_environment() {
    let folder = many_tests();
    let run = |set: &[(&str, &str)]| {
        let mut command = mcptest(folder.path(), &["run", "--reporter", "auto"]);
        let output = command.envs(set.iter().copied()).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stdout).unwrap()
    };
    let terminal = run(&[]);
    assert!(
        terminal.starts_with("mcptest.yml\n") && !terminal.contains("::error"),
        "{terminal}"
    );
    assert!(
        run(&[("CLAUDECODE", "1")])
            .starts_with("FAILED: 14 of 40 tests failed, 14 gates not exercised\n")
    );

    let summary = folder.path().join("summary.md");
    fs::write(&summary, "# Before\n").unwrap();
    let github = run(&[
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_STEP_SUMMARY", "summary.md"),
    ]);
    assert!(github.starts_with(&terminal), "{github}");
    let commands = &github[terminal.len()..];
    assert!(
        commands.lines().all(|line| line.starts_with("::error ")),
        "{commands}"
    );
    let summary = fs::read_to_string(&summary).unwrap();
    assert!(
        summary.starts_with(
            "# Before\n\n## ❌ mcptest: 14 of 40 tests failed, 14 gates not exercised\n"
        ),
        "{summary}"
    );

    assert_eq!(run(&[("GITLAB_CI", "true")]), terminal);
    let report = fs::read_to_string(folder.path().join("gl-code-quality-report.json")).unwrap();
    let entries: Vec<serde_json::Value> = serde_json::from_str(&report).unwrap();
    assert_eq!(entries.len(), 14, "one cause for each failed test");
}
