//! Does every report say the same of a run that a gate fails?

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

#[path = "../../core/tests/outcome/blocks.rs"]
mod blocks;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use blocks::{ASKS_JUDGES, BLOCKS, RIGHT, WRONG};
use flate2::read::GzDecoder;
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;
use std::process::Command;

/// Gates that may pass with failed runs: the key that sets the required share of runs.
const FLOORS: [(&str, &str); 7] = [
    ("trajectory", "min_pass_rate: 0.5"),
    ("trajectory_axes", "min_pass_rate: 0.5"),
    ("golden_path", "min_pass_rate: 0.5"),
    ("narrative", "min_pass_rate: 0.5"),
    ("tool_selection", "min_selection_rate: 0.5"),
    ("scenario", "min_pass_rate: 0.5"),
    ("recovery", "min_pass_rate: 0.5"),
];

/// A report's description of the row of one gate, for a correct and a wrong run.
#[derive(Debug, PartialEq)]
struct Told {
    has_failed: bool,
    /// The number of passed runs, in reports that have one for such a row.
    passed_runs: Option<usize>,
}

/// Finds the row of a gate in a report.
type Reader = fn(&str, &str) -> Told;

/// The reader of each format.
const READERS: &[(&str, Reader)] = &[
    ("pretty", in_pretty),
    ("json", in_json),
    ("junit", in_junit),
    ("ndjson", in_ndjson),
    ("md", in_md),
    ("html", in_html),
    ("github", in_github),
    ("gitlab", in_gitlab),
    ("sarif", in_sarif),
    ("tap", in_tap),
    ("agent", in_agent),
];

fn in_pretty(report: &str, name: &str) -> Told {
    let is_row = |line: &&str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        line.starts_with("  ") && words.get(1) == Some(&name) && words.get(3) == Some(&"runs,")
    };
    let row = report
        .lines()
        .find(is_row)
        .unwrap_or_else(|| panic!("{name}: {report}"));
    let words: Vec<&str> = row.split_whitespace().collect();
    Told {
        has_failed: words[0] == "✗",
        passed_runs: words[4].parse().ok(),
    }
}

fn in_test(test: &Value) -> Told {
    let runs = test["runs"].as_array().unwrap();
    let passed = runs.iter().filter(|run| run["status"] == "passed");
    Told {
        has_failed: test["status"] == "failed",
        passed_runs: Some(passed.count()),
    }
}

fn in_json(report: &str, name: &str) -> Told {
    let report: Value = serde_json::from_str(report).unwrap();
    let tests = report["tests"].as_array().unwrap();
    in_test(tests.iter().find(|test| test["name"] == name).unwrap())
}

fn in_junit(report: &str, name: &str) -> Told {
    let class = format!("classname=\"suite.yml::{name}\"");
    let cases: Vec<&str> = report
        .split("<testcase ")
        .filter(|case| case.contains(&class))
        .collect();
    let is_passed = |case: &&&str| case.contains("name=\"run.status\" value=\"passed\"");
    Told {
        has_failed: cases.iter().any(|case| case.contains("<failure ")),
        passed_runs: Some(cases.iter().filter(is_passed).count()),
    }
}

fn in_ndjson(report: &str, name: &str) -> Told {
    let lines = report
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let tests = lines.filter(|line: &Value| line["type"] == "test");
    in_test(&tests.into_iter().find(|test| test["name"] == name).unwrap())
}

fn in_md(report: &str, name: &str) -> Told {
    let passed = format!("- ✅ {name} (1 of 2 runs passed)");
    let failed = format!("| ❌ | {name}<br>");
    Told {
        has_failed: report.contains(&failed),
        passed_runs: report.contains(&passed).then_some(1),
    }
}

fn in_html(report: &str, name: &str) -> Told {
    let mark = "<script type=\"text/plain\" id=\"report\">";
    let (_, packed) = report.split_once(mark).unwrap();
    let (packed, _) = packed.split_once("</script>").unwrap();
    let bytes = STANDARD.decode(packed).unwrap();
    let mut json = String::new();
    GzDecoder::new(&*bytes).read_to_string(&mut json).unwrap();
    in_json(&json, name)
}

/// A format that lists failed rows only.
fn in_list(is_listed: bool) -> Told {
    Told {
        has_failed: is_listed,
        passed_runs: None,
    }
}

fn in_github(report: &str, name: &str) -> Told {
    in_list(report.contains(&format!(",title={name}::{name}: ")))
}

fn in_gitlab(report: &str, name: &str) -> Told {
    let issues: Value = serde_json::from_str(report).unwrap();
    let mut issues = issues.as_array().unwrap().iter();
    in_list(issues.any(|issue| issue["check_name"] == name))
}

fn in_sarif(report: &str, name: &str) -> Told {
    let log: Value = serde_json::from_str(report).unwrap();
    let mut results = log["runs"][0]["results"].as_array().unwrap().iter();
    in_list(results.any(|result| result["ruleId"] == name))
}

fn in_tap(report: &str, name: &str) -> Told {
    let point = format!(" - suite.yml: {name}");
    let mut lines = report.lines().skip_while(|line| !line.ends_with(&point));
    let has_failed = lines.next().unwrap().starts_with("not ok ");
    let behind = lines.next().unwrap_or_default();
    Told {
        has_failed,
        passed_runs: (behind == "# 1 of 2 runs passed").then_some(1),
    }
}

fn in_agent(report: &str, name: &str) -> Told {
    in_list(report.contains(&format!(". {name} (suite.yml:")))
}

/// A folder with a suite: for each of these gates an agent with its name and a right and a wrong run.
fn folder(blocks: &[(&str, String)], second: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let runs = format!("{}\n{}\n", one_line(RIGHT), one_line(second));
    std::fs::write(folder.path().join("runs.jsonl"), runs).unwrap();
    let agents: Vec<String> = blocks
        .iter()
        .map(|(gate, block)| {
            format!(
                "  - name: {gate}\n    model: m\n    prompt: Find the page.\n    servers: [docs]\n    \
                 cassette: [runs.jsonl]\n    {block}\n"
            )
        })
        .collect();
    let suite = format!(
        "servers: {{ docs: {{ command: [docs-server] }} }}\nagents:\n{}",
        agents.concat()
    );
    std::fs::write(folder.path().join("suite.yml"), suite).unwrap();
    folder
}

fn one_line(json: &str) -> String {
    json.replace('\n', " ")
}

/// Every gate with the block that a wrong run fails.
fn strict() -> Vec<(&'static str, String)> {
    let own = BLOCKS.iter();
    own.map(|(gate, block)| (*gate, (*block).to_owned()))
        .collect()
}

/// The gates that may pass with failed runs, each with a block that does.
fn tolerant() -> Vec<(&'static str, String)> {
    let floored = FLOORS.iter().map(|(gate, floor)| {
        let (_, block) = BLOCKS.iter().find(|(other, _)| other == gate).unwrap();
        let block = block.replace("min_selection_rate: 1.0", "");
        let block = block.replacen(": {", &format!(": {{ {floor},"), 1);
        (*gate, without_expect(&block).replace(",}", " }"))
    });
    floored.collect()
}

/// Removes a written `expect:`, which would replace the gate's own floor.
fn without_expect(block: &str) -> String {
    match block.split_once(", expect:") {
        Some((before, _)) => format!("{before} }}"),
        None => block.to_owned(),
    }
}

fn mcptest(folder: &Path, words: &[&str]) -> (Option<i32>, String) {
    let done = Command::new(env!("CARGO_BIN_EXE_mcptest"))
        .args(words)
        .current_dir(folder)
        .output()
        .unwrap();
    let text = String::from_utf8(done.stdout).unwrap();
    (
        done.status.code(),
        text + &String::from_utf8_lossy(&done.stderr),
    )
}

/// Every format of one judgement, by its key.
fn reports(folder: &Path, exit_code: i32) -> Vec<(&'static str, String)> {
    let files: Vec<String> = mcptest_report::REPORTERS
        .iter()
        .map(|reporter| format!("{}=told.{}", reporter.key, reporter.key))
        .collect();
    let mut words = vec!["run", "suite.yml"];
    words.extend(files.iter().flat_map(|file| ["--reporter", file]));
    let (code, said) = mcptest(folder, &words);
    assert_eq!(code, Some(exit_code), "{said}");
    let read = |key: &str| std::fs::read_to_string(folder.join(format!("told.{key}"))).unwrap();
    mcptest_report::REPORTERS
        .iter()
        .map(|reporter| (reporter.key, read(reporter.key)))
        .collect()
}

#[test]
fn every_gate_and_every_report_is_tried() {
    let tried = BLOCKS.iter().map(|(gate, _)| *gate).chain([ASKS_JUDGES]);
    let tried: BTreeSet<&str> = tried.collect();
    let known = mcptest::GATES.iter().filter(|kind| kind.fails_runs());
    assert_eq!(tried, known.map(|kind| kind.key).collect());
    let read: BTreeSet<&str> = READERS.iter().map(|(key, _)| *key).collect();
    let known = mcptest_report::REPORTERS.iter().map(|known| known.key);
    assert_eq!(read, known.collect());
    let floored: BTreeSet<&str> = FLOORS.iter().map(|(gate, _)| *gate).collect();
    let has_rate = |gate: &&str| {
        let kind = mcptest::GATES
            .iter()
            .find(|kind| kind.key == *gate)
            .unwrap();
        let mut targets = kind.targets.iter();
        targets.any(|target| target.name.ends_with("_rate"))
    };
    let rated = BLOCKS.iter().map(|(gate, _)| *gate).filter(has_rate);
    assert_eq!(floored, rated.collect());
}

#[test]
fn every_report_has_the_failed_run_of_a_failed_row() {
    let blocks = strict();
    let folder = folder(&blocks, WRONG);
    for (key, report) in reports(folder.path(), 1) {
        let (_, read) = READERS.iter().find(|(reader, _)| *reader == key).unwrap();
        for (gate, _) in &blocks {
            let told = read(&report, gate);
            assert!(told.has_failed, "{key}: {gate}: {report}");
            assert!(
                matches!(told.passed_runs, None | Some(1)),
                "{key}: {gate}: {told:?}"
            );
        }
    }
}

#[test]
fn every_report_passes_a_row_that_may_have_failed_runs_and_says_that_there_are_some() {
    let blocks = tolerant();
    let folder = folder(&blocks, WRONG);
    for (key, report) in reports(folder.path(), 0) {
        let (_, read) = READERS.iter().find(|(reader, _)| *reader == key).unwrap();
        for (gate, _) in &blocks {
            let told = read(&report, gate);
            assert!(!told.has_failed, "{key}: {gate}: {report}");
            assert!(
                matches!(told.passed_runs, None | Some(1)),
                "{key}: {gate}: {told:?}"
            );
        }
        // Formats of problems alone are empty when everything passed.
        let says = match key {
            "gitlab" | "sarif" => continue,
            "github" | "agent" => report.contains("7 tests passed, 7 with failed runs"),
            _ => read(&report, blocks[0].0).passed_runs == Some(1),
        };
        assert!(says, "{key}: {report}");
    }
}

/// A run in which most gates have nothing to measure.
const IDLE: &str = r#"{"tool_calls": [], "tool_results": [], "final_response": "Hello."}"#;

/// The blocks that idle runs pass, because the gate has nothing to measure in them.
fn vacuous() -> Vec<(&'static str, String)> {
    let folder = idle_folder(&strict());
    let (_, report) = mcptest(folder.path(), &["run", "suite.yml", "--reporter", "json"]);
    let report: Value = serde_json::from_str(&report).unwrap();
    let is_vacuous =
        |test: &Value| test["status"] == "passed" && test["gates"][0]["not_exercised"].is_string();
    let tests = report["tests"].as_array().unwrap();
    let judged = strict().into_iter().zip(tests);
    let vacuous = judged.filter(|(_, test)| is_vacuous(test));
    vacuous.map(|(block, _)| block).collect()
}

/// A folder like that of [`folder`], in which all runs are idle.
fn idle_folder(blocks: &[(&str, String)]) -> tempfile::TempDir {
    let folder = folder(blocks, IDLE);
    std::fs::write(
        folder.path().join("runs.jsonl"),
        format!("{IDLE}\n{IDLE}\n"),
    )
    .unwrap();
    folder
}

#[test]
fn every_report_of_passed_rows_marks_the_gates_that_measured_nothing() {
    let blocks = vacuous();
    assert!(blocks.len() >= 3, "{blocks:?}");
    let folder = idle_folder(&blocks);
    let count = format!("{} gates not exercised", blocks.len());
    for (key, report) in reports(folder.path(), 0) {
        for (gate, _) in &blocks {
            let says = match key {
                // The JSON has the mark anyway. Formats of problems alone do not list passed rows.
                "json" | "ndjson" | "html" | "gitlab" | "sarif" => continue,
                "github" | "agent" => report.contains(&count),
                "junit" => report.contains("name=\"not exercised\""),
                "md" => report.contains(&format!("- ✅ {gate} · {gate} not exercised\n")),
                "tap" => report.contains(&format!("suite.yml: {gate}\n# {gate} not exercised\n")),
                _ => report.contains(&format!("{gate} not exercised")),
            };
            assert!(says, "{key}: {gate}: {report}");
        }
    }
}

#[test]
fn every_report_of_passed_rows_marks_a_row_without_an_assertion() {
    let folder = folder(&[("orchestration", "orchestration: {}".to_owned())], RIGHT);
    for (key, report) in reports(folder.path(), 0) {
        let says = match key {
            "json" | "ndjson" | "html" | "junit" | "gitlab" | "sarif" => continue,
            "github" | "agent" => report.contains("1 test passed, 1 without an assertion"),
            _ => report.contains("nothing asserted"),
        };
        assert!(says, "{key}: {report}");
    }
}

#[test]
fn a_report_in_which_every_test_is_skipped_says_so_and_not_that_they_passed() {
    let folder = folder(&strict()[..1], RIGHT);
    let suite = std::fs::read_to_string(folder.path().join("suite.yml")).unwrap();
    let skipped = suite.replace("model: m\n", "model: m\n    skip: later\n");
    std::fs::write(folder.path().join("suite.yml"), skipped).unwrap();
    for (key, report) in reports(folder.path(), 0) {
        let says = match key {
            "agent" => report.starts_with("SKIPPED: "),
            "md" => report.starts_with("## ⏭️ mcptest: "),
            "github" => report.starts_with("::warning title=mcptest::"),
            _ => continue,
        };
        assert!(says, "{key}: {report}");
    }
}

#[test]
fn comparisons_and_leaderboards_count_the_same_runs() {
    let blocks = strict();
    let (before, after) = (folder(&blocks, RIGHT), folder(&blocks, WRONG));
    let folders = [before.path(), after.path()].map(|path| path.to_string_lossy().into_owned());
    let words = [
        "compare",
        &folders[0],
        &folders[1],
        "--fail-on",
        "worse",
        "--reporter",
        "json",
    ];
    let (code, said) = mcptest(before.path(), &words);
    assert_eq!(code, Some(1), "{said}");
    let compared: Value = serde_json::from_str(&said).unwrap();
    let tests = compared["tests"].as_array().unwrap();
    assert_eq!(tests.len(), blocks.len());
    for test in tests {
        let passed = (&test["passed_a"], &test["passed_b"]);
        assert_eq!(passed, (&2.into(), &1.into()), "{test}");
        assert_eq!(test["status_b"], "failed", "{test}");
    }
    let sides = compared["leaderboard"]["models"].as_array().unwrap();
    let rates: Vec<Option<f64>> = sides.iter().map(|side| side["pass_1"].as_f64()).collect();
    assert_eq!(rates, [Some(1.0), Some(0.5)], "{compared}");
}

#[test]
fn a_comparison_names_the_gates_that_no_longer_measure_anything() {
    let block = [(
        "tool_edges",
        "tool_edges: { restricted: [delete_page] }".to_owned(),
    )];
    let (before, after) = (folder(&block, RIGHT), idle_folder(&block));
    let folders = [before.path(), after.path()].map(|path| path.to_string_lossy().into_owned());
    let compare = |reporter: &str| {
        let words = ["compare", &folders[0], &folders[1], "--reporter", reporter];
        mcptest(before.path(), &words).1
    };
    let compared: Value = serde_json::from_str(&compare("json")).unwrap();
    let gates = &compared["tests"][0]["no_longer_exercised"];
    assert_eq!(gates, &serde_json::json!(["tool_edges"]), "{compared}");
    for reporter in ["pretty", "md"] {
        let text = compare(reporter).replace('\\', "");
        assert!(text.contains("tool_edges is no longer exercised"), "{text}");
    }
}

#[test]
fn a_table_of_models_counts_the_same_runs() {
    for (gate, block) in strict() {
        let folder = folder(&[(gate, block)], WRONG);
        let suite = std::fs::read_to_string(folder.path().join("suite.yml")).unwrap();
        let models = suite.replace("model: m\n", "models: [good, weak]\n");
        let models = models.replace("[runs.jsonl]", "['{model}.jsonl']");
        std::fs::write(folder.path().join("mcptest.yml"), models).unwrap();
        let runs = |second| format!("{}\n{}\n", one_line(RIGHT), one_line(second));
        std::fs::write(folder.path().join("good.jsonl"), runs(RIGHT)).unwrap();
        std::fs::write(folder.path().join("weak.jsonl"), runs(WRONG)).unwrap();
        let (code, said) = mcptest(folder.path(), &["run", "--reporter", "json"]);
        assert_eq!(code, Some(1), "{gate}: {said}");
        let report: Value = serde_json::from_str(&said).unwrap();
        let models = report["leaderboard"]["models"].as_array().unwrap();
        let rates = models.iter().map(|model| model["pass_1"].as_f64());
        let rates: Vec<Option<f64>> = rates.collect();
        assert_eq!(rates, [Some(1.0), Some(0.5)], "{gate}: {said}");
    }
}
