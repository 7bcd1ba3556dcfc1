//! Does `mcptest check` find each defect by the family that claims it, and nothing in a correct server?
//!
//! The correct servers are the mock, those on the official SDKs in target/peers, and the healthy row of
//! tests/misbehaviour/server.py; the defects are the other rows of it, the mock's faults, and a server of this file.

#![allow(clippy::unwrap_used, missing_docs)]

use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

fn at(path: &str) -> String {
    let place = repository().join(path);
    assert!(place.exists(), "{path} is missing: run tests/peers/install");
    place.display().to_string()
}

fn mcptest() -> String {
    env!("CARGO_BIN_EXE_mcptest").to_owned()
}

fn check(words: &[&str]) -> Output {
    let bin = repository().join("target/peers/node_modules/.bin");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new(mcptest());
    // Where a defect is planted it may be one that is waited for.
    let mut limit: Vec<&str> = Vec::new();
    if words.contains(&"--strict") {
        limit.extend(["--timeout", "2s"]);
        if !words.contains(&"--connect-timeout") {
            limit.extend(["--connect-timeout", "60s"]);
        }
    }
    command
        .arg("check")
        .args(&limit)
        .args(words)
        .env("PATH", path)
        .env_remove("HTTP_PROXY");
    command.stdin(Stdio::null()).output().unwrap()
}

/// The failed rows and the rows with warnings.
fn findings(words: &[&str]) -> (Vec<String>, Vec<String>) {
    let mut all = vec!["--reporter", "json"];
    all.extend(words);
    let output = check(&all);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let report: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{words:?}: {said}"));
    let ids = |is_it: fn(&Value) -> bool| {
        let tests = report["tests"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|test| is_it(test));
        tests
            .map(|test| test["name"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let failed = ids(|test| test["status"] == "failed");
    assert_eq!(
        output.status.code(),
        Some(i32::from(!failed.is_empty())),
        "{words:?}: {said}"
    );
    (failed, ids(|test| test["probe"]["warning"].is_string()))
}

/// A server over HTTP that prints its address in the first line of standard output or standard
/// error.
struct Served(Child, String);

impl Served {
    fn start(words: &[&str]) -> Self {
        let mut command = Command::new("sh");
        command
            .args(["-c", "exec \"$@\" 2>&1", "sh"])
            .args(words)
            .stdout(Stdio::piped())
            .stdin(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut url)
            .unwrap();
        Self(child, url.trim().to_owned())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn manifest() -> String {
    at("tests/misbehaviour/notes.yml")
}

const NOTHING: (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());

#[test]
fn a_mock_has_no_finding_in_either_era_on_stdio_and_on_http() {
    let (mcptest, manifest) = (mcptest(), manifest());
    let served = Served::start(&[
        &mcptest,
        "mock",
        "--tools-from",
        &manifest,
        "--http",
        "127.0.0.1:0",
    ]);
    for era in ["legacy", "modern"] {
        let stdio = [
            "--allow-writes",
            "--era",
            era,
            "--",
            &mcptest,
            "mock",
            "--tools-from",
            &manifest,
        ];
        assert_eq!(findings(&stdio), NOTHING, "{era}");
        let http = ["--allow-writes", "--era", era, "--url", &served.1];
        assert_eq!(findings(&http), NOTHING, "{era}, HTTP");
    }
}

#[test]
fn servers_on_the_official_sdks_break_no_rule() {
    let (python, script) = (
        at("target/peers/python/bin/python3"),
        at("tests/peers/sdk_server.py"),
    );
    let served = Served::start(&[&python, &script, "http"]);
    let folder = tempfile::tempdir().unwrap();
    let (files, folder) = (
        at("target/peers/node_modules/.bin/mcp-server-filesystem"),
        folder.path().display().to_string(),
    );
    let time = at("target/peers/python/bin/mcp-server-time");
    for words in [
        &["--allow-writes", "--era", "legacy", "--", &python, &script] as &[&str],
        &["--allow-writes", "--era", "modern", "--", &python, &script],
        &["--allow-writes", "--era", "legacy", "--url", &served.1],
        &["--allow-writes", "--era", "modern", "--url", &served.1],
        &["--", &files, &folder],
        &["--", &time],
    ] {
        let (failed, warned) = findings(words);
        assert_eq!(failed, Vec::<String>::new(), "{words:?}");
        // The SDKs answer an unknown tool with a result, and the one for Node a call without a name with -32603.
        let known = ["ERRORS-unknown-tool", "ERRORS-call-without-name"];
        assert!(
            warned.iter().all(|id| known.contains(&id.as_str())),
            "{words:?}: {warned:?}"
        );
    }
}

/// A row of tests/misbehaviour/server.py, and the probe that finds its defect.
const PLANTED: &[(&str, &str)] = &[
    ("banner-before-the-handshake", "LIFECYCLE-messages"),
    ("text-only", "LIFECYCLE-handshake"),
    ("no-answer-to-initialize", "LIFECYCLE-handshake"),
    ("unknown-protocol-version", "LIFECYCLE-handshake"),
    ("initialize-without-a-version", "LIFECYCLE-handshake"),
    ("initialize-refused", "LIFECYCLE-handshake"),
    ("duplicate-reply", "LIFECYCLE-messages"),
    ("text-instead-of-the-answer", "LIFECYCLE-messages"),
    ("wrong-id", "LIFECYCLE-messages"),
    ("broken-json", "LIFECYCLE-messages"),
    ("ignores-the-end", "LIFECYCLE-shutdown"),
    ("tool-without-a-schema", "TOOLS-list"),
    ("schema-that-is-a-text", "TOOLS-list"),
    ("tool-without-a-name", "TOOLS-list"),
    ("tools-that-are-no-list", "TOOLS-list"),
    ("same-tool-twice", "TOOLS-list"),
    ("repeating-cursor", "TOOLS-list"),
    ("endless-pages", "TOOLS-list"),
    ("exit-on-the-list", "TOOLS-list"),
    ("no-jsonrpc", "TOOLS-call"),
    ("result-and-error", "TOOLS-call"),
    ("exit-in-a-call", "TOOLS-call"),
    ("closed-stdout", "TOOLS-call"),
    ("result-that-is-a-text", "TOOLS-call"),
    ("result-without-content", "TOOLS-call"),
    ("result-of-odd-parts", "TOOLS-call"),
    ("result-that-breaks-its-schema", "SCHEMA-structured-content"),
    (
        "result-without-what-its-schema-says",
        "SCHEMA-structured-content",
    ),
    ("no-answer-to-a-call", "EDGE-hang"),
    ("answer-after-the-timeout", "EDGE-cancel"),
    ("grandchild-beside-a-good-answer", "EDGE-disconnect"),
];

#[test]
fn each_planted_defect_is_found_by_the_family_that_claims_it() {
    let server = at("tests/misbehaviour/server.py");
    assert_eq!(findings(&["--", "python3", &server, "healthy"]), NOTHING);
    side_by_side(PLANTED, |(row, probe)| {
        let server = ["--connect-timeout", "3s", "--", "python3", &server, row];
        assert_found(row, probe, &server);
    });
}

/// Fails if the probe does not find the defect. Tools are called in every family, so other probes
/// may also find defects in messages.
fn assert_found(defect: &str, probe: &str, server: &[&str]) {
    let mut words = vec![
        "--strict",
        "--only",
        "TOOLS",
        "--only",
        probe.split('-').next().unwrap(),
    ];
    words.extend(server);
    let (failed, _) = findings(&words);
    assert!(
        failed.iter().any(|id| id == probe),
        "{defect}: {probe} is not among {failed:?}"
    );
}

/// Calls `test` for each row, four at a time: most of the time is spent waiting for servers that do not answer.
fn side_by_side<T: Sync>(rows: &[T], test: impl Fn(&T) + Sync) {
    std::thread::scope(|scope| {
        for rows in rows.chunks(rows.len().div_ceil(4)) {
            scope.spawn(|| rows.iter().for_each(&test));
        }
    });
}

#[test]
fn the_mocks_faults_are_found() {
    let (mcptest, manifest) = (mcptest(), manifest());
    let faults = [
        ("hang", "EDGE-hang"),
        ("malformed", "LIFECYCLE-messages"),
        ("wedged", "EDGE-hang"),
        ("wrong-id", "LIFECYCLE-messages"),
        ("lost-response", "EDGE-hang"),
        ("disconnect", "TOOLS-call"),
        ("reply-after-cancel:800", "EDGE-cancel"),
        ("duplicate-reply", "LIFECYCLE-messages"),
    ];
    side_by_side(&faults, |(fault, probe)| {
        let server = [
            "--",
            &mcptest,
            "mock",
            "--tools-from",
            &manifest,
            "--fault",
            fault,
        ];
        assert_found(fault, probe, &server);
    });
    // What is slow, or refuses, breaks no rule.
    for fault in ["slow:50", "error:-32000", "rate-limit:1", "flood-stderr"] {
        let words = [
            "--",
            &mcptest,
            "mock",
            "--tools-from",
            &manifest,
            "--fault",
            fault,
        ];
        assert_eq!(findings(&words).0, Vec::<String>::new(), "{fault}");
    }
}

#[test]
fn each_defect_of_arguments_errors_and_secrets_is_found() {
    let server = at("tests/misbehaviour/careless.py");
    let (failed, _) = findings(&["--strict", "--", "python3", &server]);
    let expected = [
        "LIFECYCLE-handshake",
        "LIFECYCLE-version",
        "LIFECYCLE-ping",
        "LIFECYCLE-text-id",
        "TOOLS-capability",
        "TOOLS-names",
        "SCHEMA-input",
        "SCHEMA-output",
        "ERRORS-unknown-method",
        "ERRORS-unknown-tool",
        "ERRORS-call-without-name",
        "ERRORS-missing-arguments",
        "ERRORS-wrong-arguments",
        "ERRORS-invalid-json",
        "EDGE-unknown-notification",
        "EDGE-huge-argument",
        "EDGE-odd-text",
        "SECURITY-path-traversal",
        "SECURITY-secrets-in-errors",
        "SECURITY-stack-trace",
    ];
    for id in expected {
        assert!(
            failed.iter().any(|found| found == id),
            "{id} is not among {failed:?}"
        );
    }
}

#[test]
fn a_server_that_answers_every_web_page_is_found() {
    let served = Served::start(&[
        "python3",
        &at("tests/misbehaviour/server.py"),
        "--http",
        "http-healthy",
    ]);
    let (failed, warned) = findings(&["--url", &served.1]);
    assert_eq!(failed, ["SECURITY-origin", "SECURITY-rebinding"]);
    assert_eq!(warned, ["SECURITY-session-id", "SECURITY-unknown-session"]);
}

#[test]
fn a_tool_that_does_not_say_that_it_reads_is_not_called() {
    let place = tempfile::tempdir().unwrap();
    let noted = place.path().join("calls");
    let env = format!("CARELESS_CALLS={}", noted.display());
    let server = at("tests/misbehaviour/careless.py");
    check(&["--env", &env, "--", "python3", &server]);
    let calls = std::fs::read_to_string(&noted).unwrap();
    assert!(
        calls.contains("read") && !calls.contains("write"),
        "{calls}"
    );
    check(&[
        "--env",
        &env,
        "--allow-writes",
        "--only",
        "TOOLS-call",
        "--",
        "python3",
        &server,
    ]);
    assert!(std::fs::read_to_string(&noted).unwrap().contains("write"));
}

#[test]
fn a_check_that_could_send_nothing_is_not_green() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = folder.path().join("mock.yml");
    let text = "mock_server:\n  name: notes\n  version: '1'\n  tools: [{ name: write_note, response: ok }]\n";
    std::fs::write(&manifest, text).unwrap();
    let (mcptest, manifest) = (mcptest(), manifest.display().to_string());
    let server = ["--", &mcptest, "mock", "--tools-from", &manifest];
    let run = |options: &[&str]| {
        let output = check(&[options, &server[..]].concat());
        let said = String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr);
        (said, output.status.code())
    };
    let (said, code) = run(&["--only", "SECURITY"]);
    assert_eq!(code, Some(7), "{said}");
    assert!(
        said.contains("8 probes selected, but none could be sent"),
        "{said}"
    );
    let (said, code) = run(&["--only", "SECURITY", "--deny-skipped"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains("it could not run, which `--deny-skipped` forbids"),
        "{said}"
    );
    // What is about servers on HTTP does not apply to one on stdio.
    let skipped = "- for servers on HTTP only: SECURITY-origin";
    assert!(said.contains(skipped), "{said}");
}

#[test]
fn a_warning_has_a_mark_of_its_own_and_is_counted() {
    let served = Served::start(&[
        "python3",
        &at("tests/misbehaviour/server.py"),
        "--http",
        "http-healthy",
    ]);
    let only = "SECURITY-session-id,SECURITY-unknown-session";
    let run = |options: &[&str]| {
        let output = check(&[&["--only", only, "--url", &served.1], options].concat());
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8(output.stdout).unwrap()
    };
    let said = run(&[]);
    assert!(said.contains("▲ SECURITY-session-id"), "{said}");
    assert!(!said.contains('✓'), "{said}");
    assert!(
        said.contains("2 tests: 2 passed, 2 of them with a warning"),
        "{said}"
    );
    let report: Value = serde_json::from_str(&run(&["--reporter", "json"])).unwrap();
    assert_eq!(report["summary"]["warnings"], 2);
    assert!(run(&["--reporter", "tap"]).contains("# warning: "));
    assert!(run(&["--reporter", "md"]).contains("2 with a warning"));
}

/// A server that ends the process that another start of it left running, as servers with a port of their own do.
const ONLY_ONE: &str = r#"
import json, os, signal, sys
pid = sys.argv[1]
if os.path.exists(pid):
    try:
        os.kill(int(open(pid).read()), signal.SIGKILL)
    except ProcessLookupError:
        pass
with open(pid, "w") as file:
    file.write(str(os.getpid()))
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    answer = {"jsonrpc": "2.0", "id": message["id"]}
    if message["method"] == "initialize":
        info = {"name": "only-one", "version": "1"}
        answer["result"] = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": info}
    elif message["method"] == "ping":
        answer["result"] = {}
    else:
        answer["error"] = {"code": -32601, "message": "Method not found"}
    print(json.dumps(answer), flush=True)
"#;

#[test]
fn a_server_that_ends_in_a_probe_is_named_there_and_started_again_for_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let (program, pid) = (folder.path().join("server.py"), folder.path().join("pid"));
    std::fs::write(&program, ONLY_ONE).unwrap();
    let (program, pid) = (program.display().to_string(), pid.display().to_string());
    let only = "LIFECYCLE-version,LIFECYCLE-ping,LIFECYCLE-text-id";
    let (failed, warned) = findings(&["--only", only, "--", "python3", &program, &pid]);
    assert_eq!(failed, Vec::<String>::new());
    assert_eq!(
        warned,
        ["LIFECYCLE-version"],
        "it opens a second connection, which ends the first"
    );
}

#[test]
fn a_choice_of_nothing_and_a_server_that_does_not_start_have_their_own_exit_codes() {
    let output = check(&["--only", "edg", "--", "true"]);
    assert_eq!(output.status.code(), Some(7));
    assert!(String::from_utf8_lossy(&output.stderr).contains("did you mean `EDGE`?"));
    assert_eq!(
        check(&["--", "no-such-program-anywhere"]).status.code(),
        Some(2)
    );
    let server = at("tests/misbehaviour/server.py");
    assert_eq!(
        check(&["--", "python3", &server, "exit-before-the-handshake"])
            .status
            .code(),
        Some(2)
    );
}

#[test]
fn a_report_for_ci_has_a_case_for_each_probe() {
    let server = at("tests/misbehaviour/server.py");
    let words = [
        "--only",
        "TOOLS",
        "--reporter",
        "junit",
        "--",
        "python3",
        &server,
        "result-without-content",
    ];
    let text = String::from_utf8(check(&words).stdout).unwrap();
    assert_eq!(text.matches("<testcase").count(), 7, "{text}");
    assert!(
        text.contains(r#"<testcase name="TOOLS-call""#) && text.contains("has no `content`"),
        "{text}"
    );
    assert!(text.contains("server/tools, Tool Result"), "{text}");
}

#[test]
fn a_finding_for_code_hosts_is_named_by_its_probe() {
    let server = at("tests/misbehaviour/server.py");
    let words = [
        "--only",
        "TOOLS",
        "--reporter",
        "sarif",
        "--",
        "python3",
        &server,
        "result-without-content",
    ];
    let document: serde_json::Value = serde_json::from_slice(&check(&words).stdout).unwrap();
    let results = document["runs"][0]["results"].as_array().unwrap();
    let ids: Vec<&str> = results
        .iter()
        .map(|result| result["ruleId"].as_str().unwrap())
        .collect();
    assert!(ids.contains(&"TOOLS-call"), "{ids:?}");
}

#[test]
fn nothing_is_found_in_the_server_for_coding_agents() {
    let program = mcptest();
    assert_eq!(findings(&["--", &program, "mcp"]), (Vec::new(), Vec::new()));
    assert_eq!(
        findings(&["--era", "legacy", "--", &program, "mcp"]),
        (Vec::new(), Vec::new())
    );
    let linted = Command::new(&program)
        .args(["lint-tools", "--", &program, "mcp"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&linted.stdout);
    assert!(
        linted.status.success() && said.contains("0 critical, 0 warnings"),
        "{said}"
    );
}
