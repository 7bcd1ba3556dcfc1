//! Does a comparison of git revisions read the committed files, whatever the work tree contains?

#![cfg(unix)]
#![allow(clippy::unwrap_used, missing_docs)]

use std::path::Path;
use std::process::{Command, Output};

const SUITE: &str = "agents:\n  - name: refunds\n    cassette: [runs/refunds.jsonl]\n    expect: [{ target: final_response, matcher: { contains: Done } }]\n";

fn git(folder: &Path, words: &[&str]) {
    let mut command = Command::new("git");
    command.args([
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@localhost",
        "-c",
        "commit.gpgsign=false",
    ]);
    let done = command.args(words).current_dir(folder).output().unwrap();
    assert!(
        done.status.success(),
        "{words:?}: {}",
        String::from_utf8_lossy(&done.stderr)
    );
}

/// Commits ten runs, of which `good` pass.
fn commit(folder: &Path, good: usize) {
    let run = |said: &str| {
        format!("{{\"tool_calls\":[],\"tool_results\":[],\"final_response\":\"{said}\"}}\n")
    };
    let runs = format!(
        "{}{}",
        run("Done.").repeat(good),
        run("Sorry.").repeat(10 - good)
    );
    write(&folder.join("desk/runs/refunds.jsonl"), &runs);
    git(folder, &["add", "-A"]);
    git(folder, &["commit", "-q", "-m", "runs"]);
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn compare(folder: &Path, words: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcptest"));
    let Output {
        status,
        stdout,
        stderr,
    } = command
        .arg("compare")
        .args(words)
        .current_dir(folder)
        .output()
        .unwrap();
    (
        status.code(),
        String::from_utf8_lossy(&[stdout, stderr].concat()).into_owned(),
    )
}

#[test]
fn revisions_are_compared_without_the_work_tree() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path();
    git(folder, &["init", "-q", "-b", "main"]);
    write(&folder.join("desk/suite.yml"), SUITE);
    commit(folder, 10);
    commit(folder, 2);
    write(
        &folder.join("desk/runs/refunds.jsonl"),
        "not committed, and no recording",
    );

    let (code, said) = compare(folder, &["HEAD~1", "HEAD", "--fail-on", "worse"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains("desk/suite.yml · refunds: worse\n  10 of 10 runs passed, now 2 of 10"),
        "{said}"
    );
    assert!(said.contains("\nHEAD is worse than HEAD~1: "), "{said}");
    let (code, said) = compare(
        &folder.join("desk"),
        &[
            "HEAD~1",
            "HEAD~1",
            "--suite",
            "suite.yml",
            "--fail-on",
            "worse",
        ],
    );
    assert_eq!(code, Some(0), "{said}");

    // A report and a folder have the same tests from wherever they are compared.
    let report = "json=report.json";
    let mut judged = Command::new(env!("CARGO_BIN_EXE_mcptest"));
    git(folder, &["checkout", "-q", "--", "."]);
    judged
        .args(["run", "suite.yml", "--reporter", report])
        .current_dir(folder.join("desk"))
        .output()
        .unwrap();
    for (here, words) in [
        (folder.to_owned(), ["desk/report.json", "."]),
        (folder.join("desk"), ["report.json", "HEAD"]),
    ] {
        let (_, said) = compare(&here, &[words[0], words[1], "-v"]);
        assert!(
            said.contains("\ndesk/suite.yml · refunds: no evidence"),
            "{said}"
        );
        let (_, said) = compare(&here, &[words[1], words[0], "-v"]);
        assert!(
            said.contains("\ndesk/suite.yml · refunds: no evidence"),
            "{said}"
        );
    }
    write(
        &folder.join("desk/runs/refunds.jsonl"),
        "not committed, and no recording",
    );

    // The work tree is a folder, and its own broken recording one row.
    let (code, said) = compare(folder, &["HEAD", ".", "--fail-on", "worse"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("it could not be judged in the second"),
        "{said}"
    );

    git(folder, &["rm", "-q", "-f", "desk/runs/refunds.jsonl"]);
    git(folder, &["commit", "-q", "-m", "gone"]);
    let (_, said) = compare(folder, &["HEAD~1", "HEAD"]);
    assert!(
        said.contains("HEAD:desk/runs/refunds.jsonl"),
        "no path of a temporary folder: {said}"
    );

    std::fs::create_dir(folder.join("main")).unwrap();
    let (code, said) = compare(folder, &["main", "HEAD"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains(
            "`main` is a folder and a git revision\n  help: write `./main` for the folder"
        ),
        "{said}"
    );
}

const CHOICES: &str = "agents:\n  - name: weather\n    cassette: [runs.jsonl]\n    tool_selection: { expected_tool: get_weather, min_selection_rate: 0.9 }\n";

/// A folder with this suite and runs that call the expected tool, call another tool, or end in an
/// error.
fn choices(folder: &Path, suite: &str, right: usize, wrong: usize, broken: usize) {
    let call = |tool: &str| {
        format!(
            "{{\"tool_calls\":[{{\"name\":\"{tool}\"}}],\"tool_results\":[{{\"call_index\":0,\"is_error\":false}}]}}\n"
        )
    };
    let error =
        "{\"tool_calls\":[],\"stop_reason\":\"error\",\"errors\":[\"the provider died\"]}\n";
    let runs = call("get_weather").repeat(right) + &call("search").repeat(wrong);
    write(&folder.join("suite.yml"), suite);
    write(&folder.join("runs.jsonl"), &(runs + &error.repeat(broken)));
}

#[test]
fn a_model_that_no_longer_selects_the_tool_is_worse() {
    let place = tempfile::tempdir().unwrap();
    choices(&place.path().join("old"), CHOICES, 10, 0, 0);
    choices(&place.path().join("new"), CHOICES, 0, 10, 0);
    let (code, said) = compare(place.path(), &["old", "new", "--fail-on", "worse"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains("weather: worse\n  10 of 10 runs passed, now 0 of 10"),
        "{said}"
    );
}

#[test]
fn runs_that_ended_in_errors_do_not_make_a_side_look_good() {
    let place = tempfile::tempdir().unwrap();
    choices(&place.path().join("old"), CHOICES, 10, 0, 0);
    choices(&place.path().join("new"), CHOICES, 4, 0, 6);
    let (code, said) = compare(place.path(), &["old", "new", "--fail-on", "worse"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("10 of 10 runs passed, now 4 of 10 (6 ended in errors)"),
        "{said}"
    );
}

#[test]
fn a_side_that_asserts_less_is_not_compared() {
    let place = tempfile::tempdir().unwrap();
    choices(&place.path().join("old"), CHOICES, 10, 0, 0);
    let lax = CHOICES.replace("min_selection_rate: 0.9", "min_selection_rate: 0.1");
    choices(&place.path().join("new"), &lax, 5, 5, 0);
    let (code, said) = compare(place.path(), &["old", "new", "--fail-on", "worse"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("the two sides assert different things: `tool_selection:` was changed"),
        "{said}"
    );
}

#[test]
fn a_test_that_passed_and_now_fails_ends_with_1_though_chance_explains_it() {
    let place = tempfile::tempdir().unwrap();
    choices(&place.path().join("old"), CHOICES, 10, 0, 0);
    choices(&place.path().join("new"), CHOICES, 8, 2, 0);
    let (code, said) = compare(place.path(), &["old", "new", "--fail-on", "worse"]);
    assert_eq!(code, Some(1), "{said}");
    let words: Vec<&str> = said.split_whitespace().collect();
    assert!(
        words.join(" ").contains("1 test passed and now fails."),
        "{said}"
    );
    let (code, said) = compare(place.path(), &["old", "new"]);
    assert_eq!(code, Some(0), "{said}");
}
