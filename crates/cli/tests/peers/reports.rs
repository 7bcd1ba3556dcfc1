//! Is every report of hostile recordings inert, and do `JUnit` and SARIF match their published
//! schemas?

use crate::installed::{peer, repository};
use crate::programs::mcptest;
use serde_json::json;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

const HOSTILE: &str = "<script>alert(1)</script>\n::error::planted\n##[error]planted ]]> \u{1b}[31mred\u{1b}[0m \u{202e}txt.exe\u{0}\u{7f} &amp; \"'` | a | ${X}";

/// Every reporter that writes text.
const KINDS: [&str; 11] = [
    "pretty", "json", "junit", "ndjson", "md", "html", "github", "gitlab", "sarif", "tap", "agent",
];

/// A folder with a suite whose names, arguments, results and messages are hostile.
fn hostile() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let long = format!("{HOSTILE}{}", "A".repeat(1 << 20));
    let call = json!({ "name": HOSTILE, "server": HOSTILE, "args": { HOSTILE: [HOSTILE, { "x": HOSTILE }] } });
    let result = json!({ "call_index": 0, "is_error": true, "content": [{ "type": "text", "text": long.as_str() }] });
    let trace = json!({ "tool_calls": [call], "tool_results": [result], "final_response": long, "error": null });
    fs::write(folder.path().join("run.json"), trace.to_string()).unwrap();
    fs::write(
        folder.path().join("lone.json"),
        r#"{"tool_calls":[{"name":"\ud800"}],"final_response":"\udc00"}"#,
    )
    .unwrap();
    // A name of a test has no control characters; the rest of it is as bad.
    let name = HOSTILE.replace(char::is_control, " ").replace("${", "$${");
    let expected = HOSTILE.replace('\u{7f}', "").replace("${", "$${");
    let agent = |name: &str, cassette: &str| {
        json!({
            "name": name,
            "cassette": [cassette],
            "tags": [name],
            "expect": [
                { "target": "final_response", "matcher": { "exact": expected } },
                { "target": "tool_calls[0].args", "matcher": { "exact": { expected.as_str(): 1 } } },
            ],
            "trajectory": { "mode": "strict", "calls": [{ "name": expected, "args": { "exact": { "q": expected } } }] },
        })
    };
    let suite = json!({ "agents": [
        agent(&name, "run.json"),
        agent("lone", "lone.json"),
        { "name": "passes", "cassette": ["run.json"],
          "expect": [{ "target": "final_response", "matcher": { "contains": "script" } }] },
        { "name": "skipped", "skip": name.as_str(), "cassette": ["run.json"],
          "expect": [{ "target": "final_response", "matcher": { "contains": "script" } }] },
    ] });
    // JSON is YAML.
    fs::write(folder.path().join("mcptest.yml"), suite.to_string()).unwrap();
    folder
}

/// Judges a folder and writes every report, also to standard output.
fn reports(folder: &Path) -> Vec<(String, String)> {
    let mut reports = Vec::new();
    for kind in KINDS {
        let file = folder.join(format!("report.{kind}"));
        let written = format!("{kind}={}", file.display());
        let words = ["run", "-vv", "--reporter", &written, "--reporter", kind];
        let output = mcptest(&words)
            .current_dir(folder)
            .env("GITHUB_ACTIONS", "")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert_eq!(
            output.status.code(),
            Some(2),
            "{kind}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(
            !said.contains("suite refused"),
            "{kind}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        reports.push((kind.to_owned(), said));
        reports.push((kind.to_owned(), fs::read_to_string(file).unwrap()));
    }
    reports
}

#[test]
fn a_report_of_hostile_recordings_is_inert_in_every_format() {
    let folder = hostile();
    for (kind, text) in reports(folder.path()) {
        let is_data = matches!(
            kind.as_str(),
            "json" | "ndjson" | "gitlab" | "sarif" | "html" | "junit"
        );
        // JSON and XML leave DEL as it is, and only programs read them.
        let steers = |c: char| {
            c.is_control() && !matches!(c, '\n' | '\t' | '\r') && !(is_data && c == '\u{7f}')
        };
        assert!(!text.contains(steers), "{kind} has a control character");
        let commands = text
            .lines()
            .filter(|line| line.trim_start().starts_with("::"));
        let foreign: Vec<&str> = commands
            .filter(|line| kind != "github" || line.starts_with("::error::planted"))
            .collect();
        assert!(foreign.is_empty(), "{kind}: {foreign:?}");
        assert!(
            !text
                .lines()
                .any(|line| line.trim_start().starts_with("##[")),
            "{kind}"
        );
        if matches!(kind.as_str(), "html" | "md" | "junit") {
            // Within a fence nothing is markup.
            let outside: Vec<&str> = text.split("\n```").step_by(2).collect();
            assert!(!outside.concat().contains("<script>alert"), "{kind}");
        }
        assert!(
            is_data || !text.contains('\u{202e}'),
            "{kind} turns the direction of text"
        );
    }
}

#[test]
fn junit_and_sarif_hold_to_their_published_schemas() {
    let hostile = hostile();
    reports(hostile.path());
    let red = tempfile::tempdir().unwrap();
    let (junit, sarif) = (
        red.path().join("report.junit"),
        red.path().join("report.sarif"),
    );
    let kinds = [
        format!("junit={}", junit.display()),
        format!("sarif={}", sarif.display()),
    ];
    let words = [
        "run",
        "demo/red",
        "examples",
        "--reporter",
        &kinds[0],
        "--reporter",
        &kinds[1],
    ];
    mcptest(&words)
        .current_dir(repository())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    for folder in [hostile.path(), red.path()] {
        let checked = Command::new(peer("python/bin/python"))
            .arg(repository().join("tests/peers/validate_reports.py"))
            .args([peer("schemas"), folder.display().to_string()])
            .output()
            .unwrap();
        assert!(
            checked.status.success(),
            "{}",
            String::from_utf8_lossy(&checked.stderr)
        );
    }
}
