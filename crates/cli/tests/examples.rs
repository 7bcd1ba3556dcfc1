//! Do the examples pass for everyone, and can each of their gates fail?

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod failing;
mod provider;

use failing::{Failing, failing, is_pins, with_failing_runs};
use mcptest_core::schema::JsonSchema;
use provider::{copy_beside, entries, is_grades, provider_of, repository, stem};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;

/// Runs the program in this folder, with an empty environment.
fn mcptest(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcptest"));
    command
        .current_dir(folder)
        .env_clear()
        .args(arguments)
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn suites() -> Vec<PathBuf> {
    let is_suite = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "yml");
    entries(&repository().join("examples"))
        .into_iter()
        .filter(is_suite)
        .collect()
}

fn report(folder: &Path, suite: &str) -> (Option<i32>, Value) {
    let output = mcptest(folder, &["run", suite, "--reporter", "json"]);
    let report = serde_json::from_slice(&output.stdout);
    (
        output.status.code(),
        report.unwrap_or_else(|_| panic!("{suite}: {}", text(&output.stderr))),
    )
}

/// The failed parts: the keys of gates, and `expect` for runs.
fn failed_parts(report: &Value) -> BTreeSet<String> {
    let is_bad = |part: &&Value| part["status"] != "passed";
    let mut failed = BTreeSet::new();
    for test in report["tests"].as_array().unwrap() {
        let gates: Vec<&Value> = test["gates"]
            .as_array()
            .unwrap()
            .iter()
            .filter(is_bad)
            .collect();
        failed.extend(
            gates
                .iter()
                .map(|gate| gate["key"].as_str().unwrap().to_owned()),
        );
        if test["status"] == "failed" && gates.is_empty() {
            failed.insert("expect".to_owned());
        }
    }
    failed
}

#[test]
fn every_example_passes_without_set_up_or_warning_and_measures_something() {
    let all = mcptest(&repository(), &["run", "examples/", "--deny-vacuous"]);
    assert_eq!(
        all.status.code(),
        Some(0),
        "{}{}",
        text(&all.stdout),
        text(&all.stderr)
    );
    let manifests = "examples/intents/weather.yml, examples/servers/tickets.tools.yml, examples/servers/weather.tools.yml";
    assert_eq!(
        text(&all.stderr),
        format!("note: not suites, skipped: {manifests}\n")
    );
    for suite in suites() {
        let one = mcptest(&repository(), &["run", suite.to_str().unwrap()]);
        assert_eq!(
            one.status.code(),
            Some(0),
            "{}: {}",
            suite.display(),
            text(&one.stdout)
        );
    }
}

#[test]
fn judging_twice_gives_the_same_bytes_in_every_format() {
    for reporter in mcptest_report::REPORTERS
        .iter()
        .map(|reporter| reporter.key)
    {
        for folder in ["examples/", "demo/red/"] {
            let judge = || {
                mcptest(
                    &repository(),
                    &["run", folder, "--verbose", "--reporter", reporter],
                )
                .stdout
            };
            let first = judge();
            assert!(!first.is_empty());
            assert!(first == judge(), "{reporter} of {folder} differs each time");
        }
    }
}

#[test]
fn the_demo_shows_every_kind_of_red() {
    let (code, report) = report(&repository(), "demo/red/");
    assert_eq!(
        code,
        Some(2),
        "a stale recording is an error, and an error never hides behind a failure"
    );
    assert_eq!(
        failed_parts(&report),
        ["expect", "golden_path", "trajectory"]
            .map(String::from)
            .into()
    );
    let tests = report["tests"].as_array().unwrap();
    let statuses: Vec<&Value> = tests.iter().map(|test| &test["status"]).collect();
    assert_eq!(statuses, ["failed", "failed", "failed", "error"]);
}

/// If findings of a failed gate name their targets, the first is about a failed target.
fn leads_with_what_failed(report: &Value, key: &str) {
    let tests = report["tests"].as_array().unwrap().iter();
    let gates = tests.flat_map(|test| test["gates"].as_array().unwrap());
    for gate in gates.filter(|gate| gate["key"] == key && gate["status"] == "failed") {
        let failed = gate["expectations"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|one| one["passed"] == false);
        let failed: Vec<&Value> = failed.map(|one| &one["target"]).collect();
        let findings = gate["explanation"].as_array().unwrap();
        let is_about_one = |finding: &Value| {
            finding["targets"]
                .as_array()
                .is_some_and(|about| about.iter().any(|name| failed.contains(&name)))
        };
        assert!(
            is_about_one(&findings[0])
                || findings.iter().all(|finding| finding["targets"].is_null()),
            "{key} failed on {failed:?}, and says {findings:?}"
        );
    }
}

#[test]
fn every_failing_recording_fails_the_gate_it_is_named_after_and_no_other() {
    for failing in failing() {
        let folder = with_failing_runs(&failing);
        let (code, report) = report(folder.path(), &format!("{}.yml", failing.suite));
        let shown = failing.path.display();
        assert_eq!(
            failed_parts(&report),
            BTreeSet::from([failing.gate.clone()]),
            "{shown}"
        );
        leads_with_what_failed(&report, &failing.gate);
        assert_eq!(code, Some(1), "{shown}");
    }
}

#[test]
fn every_gate_has_an_example_that_passes_and_one_that_fails() {
    let (_, report) = report(&repository(), "examples/");
    let tests = report["tests"].as_array().unwrap().iter();
    let gates = tests.flat_map(|test| test["gates"].as_array().unwrap());
    let passing: BTreeSet<&str> = gates.map(|gate| gate["key"].as_str().unwrap()).collect();
    let failing = failing();
    for gate in mcptest::GATES {
        assert!(
            passing.contains(gate.key),
            "no example shows `{}:`",
            gate.key
        );
        let can_fail = failing.iter().any(|failing| failing.gate == gate.key);
        assert!(
            can_fail,
            "no recording in examples/failing makes `{}:` fail",
            gate.key
        );
    }
    let index = fs::read_to_string(repository().join("examples/README.md")).unwrap();
    for suite in suites() {
        let name = suite.file_name().unwrap().to_string_lossy().into_owned();
        assert!(
            index.contains(&format!("]({name})")),
            "{name} is not in examples/README.md"
        );
        let can_fail = failing.iter().any(|failing| failing.suite == stem(&suite));
        assert!(
            can_fail,
            "no recording in examples/failing makes {} fail",
            suite.display()
        );
    }
}

/// The runs of a report that this gate fails, each with the name of its test.
fn runs_failed_by<'r>(report: &'r Value, gate: &str) -> Vec<(&'r Value, &'r Value)> {
    let tests = report["tests"].as_array().unwrap().iter();
    let runs = tests.flat_map(|test| {
        let runs = test["runs"].as_array().unwrap().iter();
        runs.map(move |run| (&test["name"], run))
    });
    let is_its = |(_, run): &(&Value, &Value)| {
        run["failed_by"]
            .as_array()
            .is_some_and(|gates| gates.iter().any(|key| key == gate))
    };
    runs.filter(is_its).collect()
}

#[test]
fn a_run_that_a_gate_fails_has_failed_in_every_report_and_comparison() {
    let here = tempfile::tempdir().unwrap();
    for failing in failing() {
        let Some(gate) = mcptest::GATES
            .iter()
            .find(|gate| gate.key == failing.gate && gate.fails_runs())
        else {
            continue;
        };
        let shown = failing.path.display();
        let folder = with_failing_runs(&failing);
        let suite = format!("{}.yml", failing.suite);
        let run = |reporter: &str| {
            let output = mcptest(folder.path(), &["run", &suite, "--reporter", reporter]);
            text(&output.stdout)
        };
        let report: Value = serde_json::from_str(&run("json")).unwrap();
        let failed = runs_failed_by(&report, gate.key);
        assert!(!failed.is_empty(), "{shown}: no run is failed by the gate");
        for (test, run) in &failed {
            assert_eq!(run["status"], "failed", "{shown}: {test}");
        }
        let lines: Vec<Value> = run("ndjson")
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let (_, tests) = lines.split_last().unwrap();
        assert_eq!(
            runs_failed_by(&serde_json::json!({ "tests": tests }), gate.key),
            failed,
            "{shown}"
        );
        // A failed run of a row that passes is told without turning the build red.
        let junit = run("junit");
        let bad = junit.matches("<failure ").count() + junit.matches("<flakyFailure ").count();
        assert!(bad > failed.len(), "{shown}: {bad} failures in JUnit");

        let (good, worse) = (
            here.path().join("good.json"),
            here.path().join("worse.json"),
        );
        let passing = format!("examples/{suite}");
        let as_json = |file: &Path| format!("json={}", file.display());
        mcptest(
            &repository(),
            &["run", &passing, "--reporter", &as_json(&good)],
        );
        run(&as_json(&worse));
        let sides = [good.to_str().unwrap(), worse.to_str().unwrap()];
        let words = ["compare", sides[0], sides[1], "--reporter", "json"];
        let compared = text(&mcptest(here.path(), &words).stdout);
        let compared: Value = serde_json::from_str(&compared).unwrap();
        let tests = compared["tests"].as_array().unwrap().iter();
        let lost =
            |test: &Value| test["runs_b"].as_u64().unwrap() - test["passed_b"].as_u64().unwrap();
        assert!(
            tests.map(lost).sum::<u64>() >= failed.len() as u64,
            "{shown}: {compared}"
        );
    }
}

/// Gates with their own picture, drawn from their evidence.
const WITH_EVIDENCE: [&str; 14] = [
    "golden_path",
    "stability",
    "reliability",
    "recovery",
    "fault_matrix",
    "narrative",
    "distractors",
    "tool_edges",
    "scenario",
    "trajectory_axes",
    "token_efficiency",
    "tool_selection",
    "ablate",
    "tool_quality",
];

#[test]
fn every_example_says_what_is_behind_the_numbers_of_gates_with_a_picture() {
    let (_, report) = report(&repository(), "examples/");
    let tests = report["tests"].as_array().unwrap().iter();
    let gates: Vec<_> = tests
        .flat_map(|test| test["gates"].as_array().unwrap())
        .collect();
    for key in WITH_EVIDENCE {
        let of_kind: Vec<_> = gates.iter().filter(|gate| gate["key"] == key).collect();
        assert!(!of_kind.is_empty(), "no example shows `{key}:`");
        assert!(
            of_kind.iter().all(|gate| gate["evidence"]["kind"] == key),
            "{key}"
        );
    }
}

#[test]
fn the_id_and_the_suite_of_a_test_are_the_same_from_every_folder_of_its_repository() {
    let folder = tempfile::tempdir().unwrap();
    let suites = folder.path().join("desk/suites");
    fs::create_dir_all(&suites).unwrap();
    let suite = "agents:\n  - name: refunds\n    cassette: runs.jsonl\n    \
                 expect: [{ target: final_response, matcher: { contains: Done } }]\n";
    fs::write(suites.join("a.yml"), suite).unwrap();
    fs::write(
        suites.join("runs.jsonl"),
        "{\"tool_calls\":[],\"tool_results\":[],\"final_response\":\"Done\"}\n",
    )
    .unwrap();
    let ids = || {
        let (desk, elsewhere) = (folder.path().join("desk"), folder.path().join("desk/other"));
        fs::create_dir_all(&elsewhere).unwrap();
        let places = [
            (folder.path(), "desk/suites/a.yml"),
            (&desk, "./suites/a.yml"),
            (&suites, "a.yml"),
            (&elsewhere, "../suites/a.yml"),
        ];
        places.map(|(here, suite)| {
            let test = &report(here, suite).1["tests"][0];
            [&test["id"], &test["suite"]["file"]].map(|text| text.as_str().unwrap().to_owned())
        })
    };
    let without = ids();
    assert_ne!(
        without[0], without[2],
        "without a repository the folder is the root"
    );
    fs::create_dir(folder.path().join(".git")).unwrap();
    let within = ids();
    assert!(within.iter().all(|test| *test == without[0]), "{within:?}");
    // A person reads the path that leads there from the folder they are in.
    let said = Command::new(env!("CARGO_BIN_EXE_mcptest"))
        .args(["run", "a.yml"])
        .current_dir(&suites)
        .output();
    assert!(
        String::from_utf8(said.unwrap().stdout)
            .unwrap()
            .starts_with("a.yml\n")
    );
}

/// A published schema, with every object closed: a field that it does not name is an error.
fn published(which: &str) -> JsonSchema {
    fn close(node: &mut Value) {
        match node {
            Value::Object(map) => {
                map.values_mut().for_each(close);
                if map.contains_key("properties") && map.contains_key("type") {
                    map.insert("additionalProperties".to_owned(), Value::Bool(false));
                }
            }
            Value::Array(items) => items.iter_mut().for_each(close),
            _ => {}
        }
    }
    let printed = mcptest(&repository(), &["schema", which]).stdout;
    let mut schema = serde_json::from_slice(&printed).unwrap();
    close(&mut schema);
    JsonSchema::compile_as_declared(&schema).unwrap()
}

#[test]
fn every_report_and_every_comparison_has_what_its_published_schema_names_and_nothing_else() {
    let (of_reports, of_comparisons) = (published("--report"), published("--compare"));
    let hold = |schema: &JsonSchema, folder: &Path, words: &[&str]| {
        let said = mcptest(folder, words);
        let document: Value = serde_json::from_slice(&said.stdout)
            .unwrap_or_else(|_| panic!("{words:?}: {}", text(&said.stderr)));
        let complaints = schema.reasons(&document);
        assert!(complaints.is_empty(), "{words:?}: {complaints:?}");
        document
    };
    let judge = |folder: &Path, suite: &str| {
        let words = [
            "run",
            suite,
            "--coverage",
            "--embed",
            "all",
            "--reporter",
            "json",
        ];
        hold(&of_reports, folder, &words)
    };
    let kept = tempfile::tempdir().unwrap();
    let place = kept.path().join("examples.json");
    let all = judge(&repository(), "examples/");
    assert!(
        all["tests"]
            .as_array()
            .unwrap()
            .iter()
            .any(|test| test["runs"][0]["trace"].is_object())
    );
    fs::write(&place, all.to_string()).unwrap();
    judge(&repository(), "demo/red/");
    let good = place.to_str().unwrap();
    for failing in failing() {
        let folder = with_failing_runs(&failing);
        let bad = judge(folder.path(), &format!("{}.yml", failing.suite));
        fs::write(folder.path().join("bad.json"), bad.to_string()).unwrap();
        let two = ["compare", good, "bad.json", "--reporter", "json"];
        hold(&of_comparisons, folder.path(), &two);
    }
    let three = [
        "compare",
        good,
        "examples",
        "HEAD=examples",
        "--reporter",
        "json",
    ];
    let mut found = hold(&of_comparisons, &repository(), &three);
    assert_eq!(found["leaderboard"]["models"].as_array().unwrap().len(), 3);
    found["sides"][0]["tests"][0]["unnamed"] = Value::Null;
    assert!(!of_comparisons.reasons(&found).is_empty());
}

/// Recordings that no model loop can make: hand-offs, which a user's program reports.
const NOT_FROM_A_LOOP: [&str; 1] = ["the planner delegates the rollout"];

/// Failing recordings that were written by hand because no script can produce them.
const BY_HAND: [&str; 5] = [
    "fault-injection-recovery recovery",
    "name-free-discovery discovery",
    "rows-of-data expect",
    "tool-edges tool_edges",
    "tool-tests expect",
];

/// Serializes tests: one writes the files that another reads.
static RECORDING: Mutex<()> = Mutex::new(());

/// A folder in which an example is recorded again, against its mocks and a provider that repeats
/// the recorded messages.
fn recorded_anew(suite: &Path, other: Option<&Path>) -> (tempfile::TempDir, Output) {
    let folder = tempfile::tempdir().unwrap();
    let name = suite.file_name().unwrap();
    fs::copy(suite, folder.path().join(name)).unwrap();
    copy_beside(folder.path());
    let stub = provider_of(
        &repository().join("examples/cassettes").join(stem(suite)),
        other,
    );
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcptest"));
    command
        .current_dir(folder.path())
        .env_clear()
        .envs(stub.environment())
        .arg("run")
        .arg(name);
    let recorded = command
        .args(["--record", "--jobs", "1", "--quiet"])
        .output()
        .unwrap();
    (folder, recorded)
}

/// A line of a recording without its times, which differ in each recording.
fn without_times(line: &str) -> String {
    let mut line = line.to_owned();
    for key in [",\"start_ms\":", ",\"duration_ms\":"] {
        while let Some(at) = line.find(key) {
            let rest = line[at + key.len()..].trim_start_matches(|c: char| c.is_ascii_digit());
            line = format!("{}{rest}", &line[..at]);
        }
    }
    line
}

/// The line of a run with a new seal; any other line is unchanged.
fn sealed_again(line: String) -> String {
    let parts = line
        .strip_prefix("{\"run\":")
        .and_then(|rest| rest.split_once(",\"seal\":\""))
        .and_then(|(run, rest)| Some((run, rest.split_once("\",\"trace\":")?.1)));
    let Some((run, trace)) = parts else {
        return line;
    };
    let trace = trace.strip_suffix('}').unwrap();
    mcptest_core::trace::sealed_run_line(run.parse().unwrap(), trace)
}

/// A recording for the repository: its times are those of the recording that it replaces.
fn settled(recorded: &str, shipped: &str) -> String {
    let mut lines = shipped
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap_or_default());
    let mut settled = String::new();
    for line in recorded.lines() {
        let before = lines.next().unwrap_or_default();
        let mut line = without_times(line);
        for (place, time) in [
            (
                ",\"message_count\":",
                &before["trace"]["conversation"]["duration_ms"],
            ),
            (",\"server\":{\"name\"", &before["duration_ms"]),
        ] {
            if let Some(at) = line.rfind(place).filter(|_| time.is_u64()) {
                line.insert_str(at, &format!(",\"duration_ms\":{time}"));
            }
        }
        settled.push_str(&sealed_again(line));
        settled.push('\n');
    }
    settled
}

/// With this variable the recordings are written anew.
fn updates() -> bool {
    std::env::var_os("MCPTEST_UPDATE_EXAMPLES").is_some()
}

/// The recording ships as the loop made it.
fn is_shipped(path: &Path, settled: &str, shipped: &str) {
    if updates() {
        fs::write(path, settled).unwrap();
    } else {
        let help = "MCPTEST_UPDATE_EXAMPLES=1 cargo test --test examples";
        assert!(
            settled == shipped,
            "{} is not what is recorded now: {help}",
            path.display()
        );
    }
}

/// The recording of this name that was made in a folder, with the times that it ships with.
fn made_in(folder: &Path, suite: &str, name: &Path, shipped: &str) -> String {
    let place = folder
        .join("cassettes")
        .join(suite)
        .join(name.file_name().unwrap());
    settled(&fs::read_to_string(place).unwrap_or_default(), shipped)
}

#[test]
fn every_example_is_what_is_recorded_against_its_mocks() {
    let _alone = RECORDING.lock();
    for suite in suites() {
        let (folder, recorded) = recorded_anew(&suite, None);
        let (_, judged) = report(folder.path(), suite.file_name().unwrap().to_str().unwrap());
        for test in judged["tests"].as_array().unwrap() {
            let is_known = NOT_FROM_A_LOOP.contains(&test["name"].as_str().unwrap());
            assert!(
                is_known || test["status"] == "passed",
                "{}{}",
                text(&recorded.stdout),
                text(&recorded.stderr)
            );
        }
        let shipped = entries(&repository().join("examples/cassettes").join(stem(&suite)));
        // What the judges said is told by the verdict: the stand-in has one answer for each of them.
        for path in shipped.into_iter().filter(|path| !is_grades(path)) {
            let shipped = fs::read_to_string(&path).unwrap();
            if !NOT_FROM_A_LOOP.iter().any(|name| shipped.contains(name)) {
                is_shipped(
                    &path,
                    &made_in(folder.path(), &stem(&suite), &path, &shipped),
                    &shipped,
                );
            }
        }
    }
}

#[test]
fn a_failing_recording_is_what_is_recorded_unless_its_servers_do_what_no_mock_does() {
    let _alone = RECORDING.lock();
    let mut by_hand = Vec::new();
    let has_runs = |failing: &Failing| !is_grades(&failing.path) && !is_pins(&failing.path);
    for failing in failing().into_iter().filter(has_runs) {
        let suite = repository()
            .join("examples")
            .join(format!("{}.yml", failing.suite));
        let (folder, _) = recorded_anew(&suite, Some(&failing.path));
        let (_, judged) = report(folder.path(), suite.file_name().unwrap().to_str().unwrap());
        let delegates = fs::read_to_string(&failing.path)
            .unwrap()
            .contains("\"delegations\"");
        if delegates || failed_parts(&judged) != BTreeSet::from([failing.gate.clone()]) {
            by_hand.push(format!("{} {}", failing.suite, failing.gate));
            continue;
        }
        let shipped = fs::read_to_string(&failing.path).unwrap();
        let made = made_in(
            folder.path(),
            &failing.suite,
            &failing.path,
            &format!("\n{shipped}"),
        );
        is_shipped(&failing.path, made.split_once('\n').unwrap().1, &shipped);
    }
    assert_eq!(by_hand, BY_HAND);
}
