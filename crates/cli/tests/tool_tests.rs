//! Are tool tests recorded once and judged equally afterwards, through the program and with a real
//! server?

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use base64::Engine;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

fn server() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/servers/weather.py")
}

/// A folder with a suite of these tests, each `(name, tool, text)`.
fn suite(tests: &[(&str, &str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut text = format!(
        "servers:\n  weather:\n    command: [python3, {}]\n    env: {{ API_KEY: '${{KEY:-}}', CALLS: '{}' }}\n    \
         responses: {{ elicitation: [{{ when: {{ message: Your name? }}, accept: {{ name: Ada }} }}] }}\ntools:\n",
        server().display(),
        folder.path().join("calls.txt").display(),
    );
    for (name, tool, more) in tests {
        text.push_str(&format!(
            "  - {{ name: {name}, server: weather, tool: {tool}, {more} }}\n"
        ));
    }
    fs::write(folder.path().join("mcptest.yml"), text).unwrap();
    folder
}

const FINE: &str = "expect: [{ target: result.isError, matcher: { exact: false } }]";
const OSLO: &str = "args: { city: Oslo }, expect: [{ target: 'result.content[0].text', matcher: { contains: Oslo } }]";
const BAD: &str = "args: { city: Oslo }, expect: [{ target: error.code, matcher: { exact: 1 } }]";

fn command(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcptest"));
    command
        .args(words)
        .current_dir(folder)
        .stdin(Stdio::null())
        .env("KEY", "a-long-secret-value");
    command
}

fn mcptest(folder: &TempDir, words: &[&str]) -> Output {
    command(folder.path(), words).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The tools that were called since the last time one looked.
fn calls(folder: &TempDir) -> Vec<String> {
    let file = folder.path().join("calls.txt");
    let mut calls: Vec<String> = fs::read_to_string(&file)
        .unwrap_or_default()
        .lines()
        .map(str::to_owned)
        .collect();
    let _none = fs::remove_file(&file);
    calls.sort();
    calls
}

fn recordings(folder: &TempDir) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder.path().join("cassettes/mcptest"));
    let mut files: Vec<PathBuf> = entries
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
}

#[test]
fn recording_and_replaying_say_the_same_in_every_format() {
    let slow = "timeout: 300ms, expect: [{ target: duration_ms, matcher: { gte: 0 } }]";
    let folder = suite(&[
        ("fine", "get_weather", OSLO),
        ("bad", "get_weather", BAD),
        ("lies", "lie", FINE),
        ("hangs", "hang", slow),
        ("dies", "die", FINE),
    ]);
    let recorded = mcptest(
        &folder,
        &[
            "run",
            "--record",
            "--reporter",
            "json",
            "--reporter",
            "junit=a.xml",
        ],
    );
    assert_eq!(
        recorded.status.code(),
        Some(2),
        "{}",
        text(&recorded.stderr)
    );
    assert_eq!(calls(&folder).len(), 5);
    // No server can be started without a PATH, and none is.
    let mut replay = command(
        folder.path(),
        &["run", "--reporter", "json", "--reporter", "junit=b.xml"],
    );
    let replayed = replay.env_clear().output().unwrap();
    assert_eq!(replayed.status.code(), Some(2));
    assert_eq!(text(&recorded.stdout), text(&replayed.stdout));
    let file = |name: &str| fs::read(folder.path().join(name)).unwrap();
    assert!(file("a.xml") == file("b.xml"));
    assert!(calls(&folder).is_empty());
}

#[test]
fn coverage_is_the_same_when_recorded_and_when_replayed_without_the_server() {
    let folder = suite(&[
        ("fine", "get_weather", OSLO),
        (
            "echoes",
            "echo",
            "args: { on: true }, expect: [{ target: result.isError, matcher: { exact: false } }]",
        ),
    ]);
    let recorded = mcptest(&folder, &["run", "--record", "--coverage-threshold", "20"]);
    assert_eq!(
        recorded.status.code(),
        Some(0),
        "{}",
        text(&recorded.stderr)
    );
    let mut replay = command(folder.path(), &["run", "--coverage-threshold", "20"]);
    let replayed = replay.env_clear().output().unwrap();
    assert_eq!(text(&recorded.stdout), text(&replayed.stdout));
    let page = text(&replayed.stdout);
    assert!(page.contains("2 of 10 tools called (20%)"), "{page}");
    assert!(
        page.contains("weather.echo         1 call, without n, tags, on=false, an error"),
        "{page}"
    );
    let below = mcptest(&folder, &["run", "--record", "--coverage-threshold", "21"]);
    assert_eq!(below.status.code(), Some(6));
}

#[test]
fn live_calls_everything_and_writes_nothing() {
    let folder = suite(&[("fine", "get_weather", OSLO), ("asks", "ask", FINE)]);
    let live = mcptest(&folder, &["run", "--live"]);
    assert_eq!(live.status.code(), Some(0), "{}", text(&live.stdout));
    assert_eq!(calls(&folder), ["ask", "get_weather"]);
    assert!(!folder.path().join("cassettes").exists());
}

#[test]
fn only_what_is_asked_for_is_recorded_again() {
    let folder = suite(&[("fine", "get_weather", OSLO), ("bad", "echo", BAD)]);
    mcptest(&folder, &["run", "--record=missing"]);
    assert_eq!(calls(&folder), ["echo", "get_weather"]);
    mcptest(&folder, &["run", "--record=missing"]);
    mcptest(&folder, &["run", "--record=stale"]);
    assert!(calls(&folder).is_empty(), "nothing is missing or stale");
    mcptest(&folder, &["run", "--record=failed"]);
    assert_eq!(calls(&folder), ["echo"]);
    let path = folder.path().join("mcptest.yml");
    let changed =
        fs::read_to_string(&path)
            .unwrap()
            .replacen("city: Oslo", "city: 'Oslo, Norway'", 1);
    fs::write(&path, changed).unwrap();
    mcptest(&folder, &["run", "--record=stale"]);
    assert_eq!(calls(&folder), ["get_weather"]);
    mcptest(&folder, &["run", "--record", "--filter", "fine"]);
    assert_eq!(calls(&folder), ["get_weather"]);
}

#[test]
fn a_secret_reaches_neither_the_recording_nor_a_report() {
    let folder = suite(&[(
        "tells",
        "secret",
        "expect: [{ target: result.content, matcher: { exact: [] } }]",
    )]);
    for words in [
        &["run", "--live", "--reporter", "json"][..],
        &["run", "--record", "--reporter", "json"],
    ] {
        let output = mcptest(&folder, words);
        assert_eq!(output.status.code(), Some(1));
        assert!(
            text(&output.stdout).contains("the key is "),
            "the result is quoted"
        );
        assert!(!text(&output.stdout).contains("a-long-secret-value"));
    }
    let recording = fs::read_to_string(&recordings(&folder)[0]).unwrap();
    assert!(
        recording.contains("${KEY}") && !recording.contains("a-long-secret-value"),
        "{recording}"
    );
    let elsewhere = command(folder.path(), &["run"])
        .env("KEY", "another-long-secret")
        .output()
        .unwrap();
    assert_eq!(
        elsewhere.status.code(),
        Some(1),
        "another value of the environment makes nothing stale"
    );
}

#[test]
fn what_the_server_asked_is_answered_as_scripted_and_kept() {
    let folder = suite(&[(
        "asks",
        "ask",
        "expect: [{ target: 'result.content[0].text', matcher: { contains: Ada } }]",
    )]);
    assert_eq!(
        mcptest(&folder, &["run", "--record"]).status.code(),
        Some(0)
    );
    let recording = fs::read_to_string(&recordings(&folder)[0]).unwrap();
    assert!(
        recording.contains(r#""server_requests":[{"method":"elicitation/create""#),
        "{recording}"
    );
}

/// A folder with this suite, `PROGRAM` standing for the path of the server.
fn written(suite: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("mcptest.yml"),
        suite.replace("PROGRAM", &server().display().to_string()),
    )
    .unwrap();
    folder
}

fn rewrite(folder: &TempDir, from: &str, to: &str) {
    let path = folder.path().join("mcptest.yml");
    let before = fs::read_to_string(&path).unwrap();
    let after = before.replace(from, to);
    assert_ne!(before, after);
    fs::write(path, after).unwrap();
}

#[test]
fn a_variable_that_the_suite_names_anywhere_is_written_nowhere() {
    let echo =
        "expect: [{ target: 'result.content[0].text', matcher: { contains: nothing of it } }]";
    let folder = written(&format!(
        "servers:
  weather: {{ command: [python3, PROGRAM] }}
  other: {{ url: 'http://127.0.0.1:9', headers: {{ X-Key: {{ env: OF_A_HEADER }} }}, auth: {{ bearer_token_env: OF_A_TOKEN }} }}
  third: {{ command: [x], env: {{ A: '${{OF_ANOTHER_SERVER}}' }} }}
providers: {{ p: {{ type: openai, api_key_env: OF_A_PROVIDER }} }}
tools:
  - {{ name: args, server: weather, tool: echo, args: {{ city: '${{OF_ARGS}}' }}, {echo} }}
  - {{ name: header, server: weather, tool: echo, args: {{ city: header-value }}, {echo} }}
  - {{ name: token, server: weather, tool: echo, args: {{ city: bearer-value }}, {echo} }}
  - {{ name: server, server: weather, tool: echo, args: {{ city: another-value }}, {echo} }}
  - {{ name: provider, server: weather, tool: echo, args: {{ city: provider-value }}, {echo} }}
  - {{ name: expected, server: weather, tool: echo, expect: [{{ target: 'result.content[0].text', matcher: {{ contains: '${{OF_EXPECT}}' }} }}] }}
"
    ));
    let values = [
        ("OF_ARGS", "argument-value"),
        ("OF_A_HEADER", "header-value"),
        ("OF_A_TOKEN", "bearer-value"),
        ("OF_ANOTHER_SERVER", "another-value"),
        ("OF_A_PROVIDER", "provider-value"),
        ("OF_EXPECT", "expected-value"),
    ];
    let run = |words: &[&str]| {
        let mut command = command(folder.path(), words);
        text(&command.envs(values).output().unwrap().stdout)
    };
    for mode in ["--live", "--record", "--verbose"] {
        for reporter in mcptest_report::REPORTERS
            .iter()
            .map(|reporter| reporter.key)
        {
            let said = unpacked(&run(&["run", mode, "--reporter", reporter]));
            for (name, value) in values {
                assert!(!said.contains(value), "{mode} {reporter} {name}: {said}");
            }
            // Markdown has its brackets escaped.
            assert!(
                said.replace('\\', "").contains("[redacted:OF_ARGS]"),
                "{mode} {reporter}: {said}"
            );
        }
    }
    let kept: String = recordings(&folder)
        .iter()
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    assert!(
        kept.contains("[redacted:OF_ARGS]") && kept.contains("${OF_ARGS}"),
        "{kept}"
    );
    // Those of the other rows are in the suite itself, in plain text, and so in the headers.
    let outcomes: Vec<&str> = kept
        .lines()
        .filter(|line| line.contains("duration_ms"))
        .collect();
    assert!(
        values
            .iter()
            .all(|(_, value)| !outcomes.iter().any(|line| line.contains(value))),
        "{kept}"
    );
    let recorded = run(&["run", "--record", "--reporter", "json"]);
    assert_eq!(recorded, run(&["run", "--reporter", "json"]));
}

#[test]
fn an_ordinary_literal_is_no_secret_and_one_under_a_secret_name_is() {
    let folder = written(
        "servers: { weather: { command: [python3, PROGRAM], env: { MODE: production, API_KEY: production } } }
tools:
  - { name: literal, server: weather, tool: echo, args: { mode: staging-area }, expect: [{ target: 'result.content[0].text', matcher: { contains: staging-area } }] }
  - { name: hidden, server: weather, tool: secret, expect: [{ target: 'result.content[0].text', matcher: { exact: the key is production } }] }
",
    );
    let said = text(&mcptest(&folder, &["run", "--record"]).stdout);
    assert!(
        said.contains("✓ literal") && said.contains("✗ hidden"),
        "{said}"
    );
    assert!(
        said.contains("the value has a placeholder where a secret was: see docs/redaction.md"),
        "{said}"
    );
    rewrite(&folder, ", API_KEY: production", "");
    rewrite(&folder, "env: {", "env: { MODE2: staging-area,");
    let said = text(&mcptest(&folder, &["run", "--record", "--filter", "literal"]).stdout);
    assert!(
        said.contains("✓ literal"),
        "a value of `env` is not redacted from the result: {said}"
    );
}

#[test]
fn every_changed_text_of_the_entry_makes_the_recording_stale() {
    let folder = written(
        "servers: { weather: { command: [python3, PROGRAM], env: { MODE: production, PASSWORD: first-password, REGION: '${REGION:-north-east}' } } }
tools: [{ name: echoes, server: weather, tool: echo, expect: [{ target: result.isError, matcher: { exact: false } }] }]
",
    );
    assert_eq!(
        mcptest(&folder, &["run", "--record"]).status.code(),
        Some(0)
    );
    let recording = fs::read_to_string(&recordings(&folder)[0]).unwrap();
    assert!(!recording.contains("first-password"), "{recording}");
    for (from, to, says) in [
        (
            "production",
            "development",
            r#"env.MODE: recorded "production", now "development""#,
        ),
        (
            "first-password",
            "other-password",
            "servers.weather or args: a redacted value has changed",
        ),
        ("north-east", "north-west", "env.REGION: recorded"),
    ] {
        rewrite(&folder, from, to);
        let output = mcptest(&folder, &["run"]);
        assert_eq!(output.status.code(), Some(2), "{from}");
        assert!(
            text(&output.stdout).contains(says),
            "{from}: {}",
            text(&output.stdout)
        );
        rewrite(&folder, to, from);
        assert_eq!(mcptest(&folder, &["run"]).status.code(), Some(0), "{from}");
    }
}

#[test]
fn one_broken_server_is_one_broken_row_and_a_failure_to_start_replaces_no_recording() {
    let folder = suite(&[
        ("fine", "get_weather", OSLO),
        ("other", "get_weather", OSLO),
    ]);
    assert_eq!(
        mcptest(&folder, &["run", "--record"]).status.code(),
        Some(0)
    );
    let good: Vec<_> = recordings(&folder)
        .iter()
        .map(|path| fs::read(path).unwrap())
        .collect();
    let gone = ["no-such-program-anywhere", "sh, -c, exit 3"];
    for command in gone {
        let path = folder.path().join("mcptest.yml");
        let before = fs::read_to_string(&path).unwrap();
        rewrite(
            &folder,
            "{ name: fine, server: weather",
            "{ name: fine, server: gone",
        );
        rewrite(
            &folder,
            "tools:\n",
            &format!("  gone: {{ command: [{command}] }}\ntools:\n"),
        );
        let recorded = mcptest(&folder, &["run", "--record", "--reporter", "json"]);
        let said = text(&recorded.stdout);
        assert!(
            said.contains("\"errors\": 1") && said.contains("\"passed\": 1"),
            "{said}"
        );
        assert!(
            said.contains("nothing was recorded; the previous recording, if any, is unchanged"),
            "{said}"
        );
        fs::write(path, before).unwrap();
        let kept: Vec<_> = recordings(&folder)
            .iter()
            .map(|path| fs::read(path).unwrap())
            .collect();
        assert!(
            kept.iter().filter(|text| good.contains(text)).count() >= 1,
            "the good recording is left alone"
        );
        assert_eq!(mcptest(&folder, &["run"]).status.code(), Some(0));
    }
}

/// A server with one tool, which takes as many seconds to answer as `NAP` says.
const NAPS: &str = r#"
import json, os, sys, time
for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    answer = {"error": {"code": -32601, "message": "no"}}
    if request["method"] == "initialize":
        version = request["params"]["protocolVersion"]
        answer = {"result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "naps", "version": "1"}}}
    elif request["method"] == "tools/list":
        answer = {"result": {"tools": [{"name": "report", "inputSchema": {"type": "object"}}]}}
    elif request["method"] == "tools/call":
        time.sleep(float(os.environ["NAP"]))
        answer = {"result": {"content": [{"type": "text", "text": "done"}]}}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer}), flush=True)
"#;

#[test]
fn a_tool_that_is_too_slow_fails_its_test_and_replaces_no_answer() {
    let folder = written(
        "servers: { naps: { command: [python3, naps.py], env: { NAP: '${NAP}' } } }\ntools:\n  - { name: reports, server: \
         naps, tool: report, timeout: 2s, expect: [{ target: 'result.content[0].text', matcher: { exact: done } }] }\n",
    );
    fs::write(folder.path().join("naps.py"), NAPS).unwrap();
    let run = |words: &[&str], nap: &str| {
        let run = command(folder.path(), words)
            .env("NAP", nap)
            .output()
            .unwrap();
        (run.status.code(), text(&run.stdout))
    };
    assert_eq!(run(&["run", "--record"], "0").0, Some(0));
    let answer = fs::read(&recordings(&folder)[0]).unwrap();
    let (code, said) = run(&["run", "--record"], "60");
    assert_eq!(code, Some(1), "{said}");
    for part in [
        "the call had no answer within its `timeout:` of 2000 ms",
        "no answer to tools/call report within 2 s",
        "the previous recording, which has one, is unchanged",
        "$ mcptest run mcptest.yml --record --filter reports",
    ] {
        assert!(said.contains(part), "{part}\n{said}");
    }
    let (code, said) = run(&["run", "--live", "--update", "--yes"], "60");
    assert_eq!(code, Some(1), "{said}");
    assert_eq!(fs::read(&recordings(&folder)[0]).unwrap(), answer);
    assert_eq!(run(&["run"], "60").0, Some(0));

    // Without an answer to keep, the slow call is the evidence.
    fs::remove_file(&recordings(&folder)[0]).unwrap();
    assert_eq!(run(&["run", "--record"], "60").0, Some(1));
    let (code, said) = run(&["run"], "0");
    assert_eq!(code, Some(1), "{said}");
    assert_eq!(
        run(&["run", "--record"], "0").0,
        Some(0),
        "an answer replaces it"
    );
}

#[test]
fn a_variable_that_is_not_set_records_nothing_and_says_so() {
    let folder = suite(&[("fine", "get_weather", OSLO)]);
    assert_eq!(
        mcptest(&folder, &["run", "--record"]).status.code(),
        Some(0)
    );
    let before = fs::read_to_string(&recordings(&folder)[0]).unwrap();
    rewrite(&folder, "${KEY:-}", "${SET_BY_NOBODY}");
    let output = mcptest(&folder, &["run", "--record"]);
    let said = text(&output.stdout);
    assert!(
        said.contains("needs the environment variable SET_BY_NOBODY"),
        "{said}"
    );
    assert!(
        said.contains("nothing was recorded; the previous recording, if any, is unchanged"),
        "{said}"
    );
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(fs::read_to_string(&recordings(&folder)[0]).unwrap(), before);
}

#[test]
fn without_expect_the_tools_own_schema_decides_and_nothing_checked_is_an_error() {
    let folder = suite(&[
        ("fits", "get_weather", "args: { city: Oslo }"),
        ("lies", "lie", "tags: [a]"),
        ("echoes", "echo", "tags: [a]"),
        ("fails", "fail", "tags: [a]"),
    ]);
    let output = mcptest(&folder, &["run", "--live"]);
    let said = text(&output.stdout);
    assert!(said.contains("✓ fits") && said.contains("✗ lies"), "{said}");
    assert!(
        said.contains(
            "nothing was checked: the test has no `expect:`, and the tool declares no outputSchema"
        ),
        "{said}"
    );
    let on_one_line = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        on_one_line.contains("an error result is not checked against the tool's outputSchema"),
        "{said}"
    );
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_recorded_tool_test_is_shown_as_a_timeline() {
    let folder = suite(&[
        ("asks", "ask", FINE),
        ("refused", "get_weather", BAD),
        ("dies", "die", FINE),
    ]);
    rewrite(&folder, "args: { city: Oslo }, ", "");
    mcptest(&folder, &["run", "--record"]);
    let show = |name: &str| {
        let files = recordings(&folder);
        let file = files
            .iter()
            .find(|path| path.display().to_string().contains(name))
            .unwrap();
        let output = mcptest(&folder, &["show", &file.display().to_string()]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let asks = show("asks");
    assert!(
        asks.starts_with("tool test   asks\nserver      weather {\"command\":"),
        "{asks}"
    );
    assert!(
        asks.contains("answered by weather 1.2.0 (MCP 2025-06-18, legacy)\n\n  → weather.ask\n"),
        "{asks}"
    );
    assert!(
        asks.contains("    ← elicitation/create {\"message\""),
        "{asks}"
    );
    assert!(
        asks.contains("(scripted)\n  ← ok {\"action\": \"accept\""),
        "{asks}"
    );
    assert!(show("refused").contains("  ← protocol error -32602 city is missing\n  duration    "));
    assert!(show("dies").contains("  ← no answer: server \"weather\": it exited with code 3"));
}

#[test]
fn a_mode_of_record_that_became_a_path_is_explained() {
    let folder = suite(&[("fine", "get_weather", OSLO)]);
    let output = mcptest(&folder, &["run", "--record", "missing"]);
    let said = "error: no such file or folder: missing\n  help: did you mean `--record=missing`?\n";
    assert_eq!(
        (text(&output.stderr).as_str(), output.status.code()),
        (said, Some(2))
    );
}

#[test]
fn a_recording_of_a_newer_version_is_never_overwritten() {
    let folder = suite(&[("fine", "get_weather", OSLO)]);
    mcptest(&folder, &["run", "--record"]);
    let path = &recordings(&folder)[0];
    let newer = fs::read_to_string(path)
        .unwrap()
        .replacen("\"version\":1", "\"version\":9", 1);
    fs::write(path, &newer).unwrap();
    let output = mcptest(&folder, &["run", "--record"]);
    assert!(text(&output.stdout).contains("this file has version 9"));
    assert_eq!(fs::read_to_string(path).unwrap(), newer);
}

#[test]
fn rows_stand_in_the_order_of_the_suite_however_many_run_at_once() {
    let names: Vec<String> = (1..=8).map(|number| format!("test {number}")).collect();
    let tests: Vec<_> = names
        .iter()
        .map(|name| (name.as_str(), "get_weather", OSLO))
        .collect();
    let folder = suite(&tests);
    let said = text(&mcptest(&folder, &["run", "--live", "--jobs", "4"]).stdout);
    let shown: Vec<&str> = said
        .lines()
        .filter_map(|line| line.split("✓ ").nth(1))
        .collect();
    assert_eq!(shown, names);
}

#[cfg(unix)]
#[test]
fn an_interrupt_keeps_what_was_recorded_and_leaves_no_process_and_no_report() {
    let folder = suite(&[("fine", "get_weather", OSLO), ("hangs", "hang", FINE)]);
    let words = [
        "run",
        "--record",
        "--jobs",
        "1",
        "--reporter",
        "junit=report.xml",
    ];
    let child = command(folder.path(), &words)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let calls = folder.path().join("calls.txt");
    for _ in 0..600 {
        if fs::read_to_string(&calls)
            .unwrap_or_default()
            .contains("hang")
        {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let id = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &id])
            .status()
            .unwrap()
            .success()
    );
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let said = text(&output.stderr);
    assert!(
        said.contains("1 of 2 tool tests had ended, which are kept"),
        "{said}"
    );
    assert!(output.stdout.is_empty() && !folder.path().join("report.xml").exists());
    assert_eq!(
        recordings(&folder).len(),
        1,
        "and no temporary file or lock"
    );
    let marked = folder.path().join("calls.txt").display().to_string();
    let left = Command::new("ps")
        .args(["axeww"])
        .output()
        .map(|output| text(&output.stdout))
        .unwrap_or_default();
    assert!(!left.contains(&marked), "a server is left behind");
}

#[test]
fn an_agent_that_cannot_be_asked_is_its_own_row_while_tools_are_recorded() {
    let folder = suite(&[("fine", "get_weather", OSLO)]);
    let path = folder.path().join("mcptest.yml");
    let agent = "agents:\n  - { name: asks, model: m, prompt: p, expect: [{ target: tool_names, matcher: { exact: [] } }] }\n";
    fs::write(&path, fs::read_to_string(&path).unwrap() + agent).unwrap();
    let output = mcptest(&folder, &["run", "--record"]);
    let said = text(&output.stdout);
    assert!(said.contains("unknown model `m`"), "{said}");
    assert!(said.contains("✓ fine"), "{said}");
    assert_eq!(output.status.code(), Some(2));
}

/// The standard output, standard error and exit code of `mcptest call`.
fn call(words: &[&str]) -> (String, String, Option<i32>) {
    let server = format!("python3 {}", server().display());
    let folder = tempfile::tempdir().unwrap();
    let output = command(folder.path(), words)
        .args(["--command", &server])
        .output()
        .unwrap();
    (
        text(&output.stdout),
        text(&output.stderr),
        output.status.code(),
    )
}

#[test]
fn a_call_prints_what_the_tool_answers() {
    let structured = "21 degrees in Oslo\n{\n  \"degrees\": 21,\n  \"sky\": \"clear\"\n}\n";
    assert_eq!(
        call(&["call", "get_weather", "city=Oslo"]),
        (structured.into(), String::new(), Some(0))
    );
    let echo = ["call", "echo", "n=3", "on=true", "tags=[\"a\"]"];
    assert_eq!(
        call(&echo).0,
        "{\"n\": 3, \"on\": true, \"tags\": [\"a\"]}\n"
    );
    assert_eq!(call(&["call", "picture"]).0, "[image image/png 5 bytes]\n");
    let raw = call(&[
        "call",
        "get_weather",
        "--args",
        "{\"city\": \"Rome\"}",
        "--json",
    ])
    .0;
    assert!(
        raw.starts_with(r#"{"content": [{"type": "text", "text": "21 degrees in Rome"}]"#),
        "{raw}"
    );
}

#[test]
fn a_call_that_fails_says_how_and_exits_accordingly() {
    let (out, err, code) = call(&["call", "fail"]);
    assert_eq!((out.as_str(), code), ("no data for today\n", Some(1)));
    assert_eq!(err, "error: the tool reports a failure (isError)\n");
    let (_, err, code) = call(&["call", "get_weather", "citty=Oslo"]);
    assert_eq!(
        err,
        "note: `get_weather` has no argument `citty`; did you mean `city`?\nnote: `get_weather` requires `city`\n\
         error -32602 city is missing\n"
    );
    assert_eq!(code, Some(1));
    let (_, err, code) = call(&["call", "get_wether"]);
    assert!(
        err.contains("the server lists no tool `get_wether`; did you mean `get_weather`?"),
        "{err}"
    );
    assert_eq!(code, Some(1));
    let (_, err, code) = call(&["call", "hang", "--timeout", "4s"]);
    assert_eq!(
        (err.as_str(), code),
        (
            "error: server \"python3\": no answer to tools/call hang within 4 s\n",
            Some(2)
        )
    );
    let (_, err, code) = call(&["call", "die"]);
    assert!(
        err.contains("it exited with code 3") && err.contains("out of memory"),
        "{err}"
    );
    assert_eq!(code, Some(2));
    assert_eq!(call(&["call", "echo", "n=three"]).2, Some(2));
}

#[test]
fn tools_are_listed_for_people_and_as_they_were_sent() {
    let (out, err, code) = call(&["tools"]);
    assert_eq!((err.as_str(), code), ("", Some(0)));
    assert!(
        out.starts_with("weather 1.2.0 (MCP 2025-06-18, legacy): 10 tools\n\n"),
        "{out}"
    );
    assert!(
        out.contains("get_weather  The weather in a city.\n    city  string  required  Where\n"),
        "{out}"
    );
    let (json, _, _) = call(&["tools", "--json"]);
    let tools: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        tools["tools"][0]["description"],
        "The weather in a city.\nNow."
    );
    let saved = tempfile::tempdir().unwrap();
    fs::write(saved.path().join("tools.json"), json).unwrap();
    fs::write(
        saved.path().join("mcptest.yml"),
        "servers: { saved: { mock: tools.json } }\n",
    )
    .unwrap();
    let again = mcptest(&saved, &["tools"]);
    assert!(
        text(&again.stdout).contains("10 tools"),
        "{}",
        text(&again.stderr)
    );
}

#[test]
fn a_server_is_looked_up_in_the_suite() {
    let folder = suite(&[("fine", "get_weather", OSLO)]);
    assert!(text(&mcptest(&folder, &["tools", "weather"]).stdout).contains("10 tools"));
    assert!(
        text(&mcptest(&folder, &["call", "ask"]).stdout).contains("Ada"),
        "the only server is the one meant"
    );
    let slip = mcptest(&folder, &["tools", "wether"]);
    let said = "error: `servers:` of mcptest.yml has no server `wether`\n  help: did you mean `weather`?\n";
    assert_eq!(
        (text(&slip.stderr).as_str(), slip.status.code()),
        (said, Some(2))
    );
    let nowhere = tempfile::tempdir().unwrap();
    assert!(text(&mcptest(&nowhere, &["tools"]).stderr).starts_with("error: no server is given"));
}

#[test]
fn nobody_reading_the_list_is_no_error() {
    let folder = suite(&[("fine", "get_weather", OSLO)]);
    let mut child = command(folder.path(), &["tools"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn what_a_pattern_of_the_suite_matches_reaches_neither_the_recording_nor_a_report() {
    let folder = tempfile::tempdir().unwrap();
    let bank =
        "mock_server:\n  tools:\n    - {name: balance, response: 'account 4711 of C-123456'}\n";
    fs::write(folder.path().join("bank.yml"), bank).unwrap();
    let suite = "servers: { bank: { mock: bank.yml } }\nredact: ['account (?<account>[0-9]+)', { name: customer, pattern: 'C-[0-9]+' }]\ntools:\n  \
                 - { name: asks, server: bank, tool: balance, expect: [{ target: 'result.content[0].text', matcher: { exact: none } }] }\n";
    fs::write(folder.path().join("mcptest.yml"), suite).unwrap();
    for words in [
        &["run", "--record"][..],
        &["run"],
        &["run", "--live"],
        &["run", "--reporter", "json"],
    ] {
        let said = text(&mcptest(&folder, words).stdout);
        assert!(
            said.contains("account [redacted:account] of [redacted:customer]"),
            "{said}"
        );
        assert!(
            !said.contains("4711") && !said.contains("C-123456"),
            "{said}"
        );
    }
    let recording = fs::read_to_string(&recordings(&folder)[0]).unwrap();
    assert!(
        recording.contains("account [redacted:account] of [redacted:customer]"),
        "{recording}"
    );
}

#[test]
fn update_shows_what_a_live_call_came_to_and_writes_it_only_when_told_to() {
    let folder = suite(&[("fine", "get_weather", OSLO)]);
    mcptest(&folder, &["run", "--record"]);
    let same = mcptest(&folder, &["run", "--live", "--update", "--yes"]);
    assert_eq!(
        (
            same.status.code(),
            text(&same.stderr).contains("nothing to accept")
        ),
        (Some(0), true)
    );
    let path = recordings(&folder).remove(0);
    let right = fs::read_to_string(&path).unwrap();
    fs::write(&path, right.replace("21 degrees", "19 degrees")).unwrap();
    let old = fs::read_to_string(&path).unwrap();
    assert_ne!(old, right);
    let shown = mcptest(&folder, &["run", "--live", "--update"]);
    let said = text(&shown.stderr);
    assert_eq!(shown.status.code(), Some(1), "{said}");
    assert!(
        said.contains("\n-") && said.contains("\n+") && said.contains("--live --update --yes"),
        "{said}"
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), old);
    let accepted = mcptest(&folder, &["run", "--live", "--update", "--yes"]);
    assert_eq!(
        accepted.status.code(),
        Some(0),
        "{}",
        text(&accepted.stderr)
    );
    assert!(!fs::read_to_string(&path).unwrap().contains("19 degrees"));
}

/// A report with the packed data of its page as plain text.
fn unpacked(said: &str) -> String {
    let packed = said.split("<script type=\"text/plain\"").skip(1);
    let texts = packed.filter_map(|rest| {
        let data = rest.split_once('>')?.1.split('<').next()?;
        let bytes = base64::engine::general_purpose::STANDARD
            .decode(data)
            .unwrap();
        let mut text = String::new();
        flate2::read::GzDecoder::new(&bytes[..])
            .read_to_string(&mut text)
            .unwrap();
        Some(text)
    });
    std::iter::once(said.to_owned()).chain(texts).collect()
}
