//! Does any command leak a secret, or let foreign text control a terminal or a CI runner?
//!
//! Every command that clap knows has invocations in [`INVOCATIONS`]; a command without any fails.
//! The files that they read contain secrets and hostile text in every place.

#![cfg(unix)]
#![allow(clippy::unwrap_used, missing_docs)]

mod failing;
mod provider;

use failing::{Failing, failing, is_pins, with_failing_runs};
use mcptest_core::trace::sealed_run_line;
use provider::is_grades;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Text that begins a line with a CI command, sets the clipboard, and reverses the direction.
const HOSTILE: &str = "\n::error::owned\n  ##[group]owned \u{1b}]52;c;eA==\u{7}\u{1b}[31m\u{202e}\r\n::set-output name=a::b";
/// Under a secret's name in the environment.
const NAMED: &str = "planted-named-0a1b2c";
/// A value under an innocent name that suites use.
const ASKED: &str = "planted-asked-3d4e5f";
const HEADER: &str = "planted-header-9z8y7x";
const WORD: &str = "planted-word-5v6w7u";
const PASSWORD: &str = "planted-password-1q2w3e";
const LINES: [&str; 2] = [
    "plantedline1MIIEvQIBADANBgkqhkiG9w0B",
    "plantedline2AQEFAASCBKcwggSjAgEAAoIB",
];

fn token() -> String {
    format!("ghp_planted{}", "a1B2c3D4e5F6".repeat(3))
}

/// Parts of the secrets that must not be seen, however a secret was cut.
fn secrets() -> Vec<&'static str> {
    ["planted-", "ghp_planted", "plantedline", "D4e5F6a1B2"].to_vec()
}

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        place.write("server.py", &server());
        place.write("broken.sh", "#!/bin/sh\necho \"env $API_TOKEN $SIGNING_KEY $*\" >&2\nprintf '%s\\n' \"$HOSTILE\" >&2\nexit 3\n");
        for (at, part) in suite_parts().iter().enumerate() {
            place.write(&format!("refused-{at}.yml"), part);
        }
        place.write("suite.yml", &suite());
        place.write(
            &format!("odd{HOSTILE}.yml"),
            &format!("{}\n{HOSTILE}: 1\n", suite()),
        );
        place.write("runs/one.json", &trace().to_string());
        place.write(&format!("runs/odd{HOSTILE}.json"), &trace().to_string());
        place.write("cassette.jsonl", &cassette());
        place.write("tape.jsonl", &tape());
        place.write("openai.json", &openai().to_string());
        place.write(&format!("odd{HOSTILE}.json"), &openai().to_string());
        place.write("not.json", &format!("{{\"a\": \"{}{HOSTILE}\"", token()));
        place.write(
            "manifest.yml",
            &format!(
                "tools:\n  - name: {}\n    nope: {}\n",
                json!(HOSTILE),
                json!(token())
            ),
        );
        let labels = json!([{ "source": hostile("file"), "label": "good" }, { "row": hostile("row"), "run": 1, "label": hostile("x") }]);
        place.write("labels.json", &labels.to_string());
        place.write(
            "labels.csv",
            &format!("source,label\none.json,good\n{},{}\n", token(), token()),
        );
        place.write("report.json", &report());
        place
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn run(&self, words: &[String]) -> (String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcptest"));
        command
            .args(words)
            .current_dir(self.folder.path())
            .stdin(Stdio::null());
        command
            .env("API_TOKEN", NAMED)
            .env("ASKED", ASKED)
            .env("HOSTILE", HOSTILE);
        command.env(
            "SIGNING_KEY",
            format!(
                "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n",
                LINES.join("\n")
            ),
        );
        let done = command.output().unwrap();
        (
            String::from_utf8_lossy(&done.stdout).into_owned(),
            String::from_utf8_lossy(&done.stderr).into_owned(),
        )
    }

    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        fn walk(folder: &Path, into: &mut BTreeMap<PathBuf, Vec<u8>>) {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    walk(&path, into);
                } else {
                    into.insert(path.clone(), std::fs::read(path).unwrap());
                }
            }
        }
        let mut files = BTreeMap::new();
        walk(self.folder.path(), &mut files);
        files
    }
}

fn hostile(about: &str) -> String {
    format!("{about} {} {HOSTILE}", token())
}

/// A server on stdio that answers everything with secrets and hostile text.
fn server() -> String {
    let text = |about: &str| {
        json!(format!(
            "{about} {} {NAMED} {} {HOSTILE}",
            token(),
            LINES.join("\n")
        ))
        .to_string()
    };
    let tool = json!({ "name": format!("look{HOSTILE}"), "description": hostile("does"),
        "inputSchema": { "type": "object", "properties": { hostile("key"): { "type": HOSTILE, "description": hostile("d") } } } });
    let read = r#"import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked: continue
    method, answer = asked["method"], {}
    if method == "initialize":
        answer = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": NAME, "version": NAME}}
    elif method == "tools/list":
        answer = {"tools": [TOOL]}
    elif method == "tools/call" and asked["params"]["name"] == "fail":
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": 5, "message": NAME, "data": NAME}}), flush=True)
        continue
    elif method == "tools/call":
        answer = {"content": [{"type": "text", "text": NAME}], "structuredContent": {NAME: NAME}, "isError": True}
    print(NAME, file=sys.stderr, flush=True)
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": answer}), flush=True)
"#;
    let read = read.replace("TOOL", &tool.to_string().replace("true", "True"));
    format!("NAME = {}\n{read}", text("server"))
}

fn suite() -> String {
    let name = json!(hostile("agent"));
    format!(
        "servers:\n  one: {{ command: [python3, server.py], env: {{ API_TOKEN: \"${{API_TOKEN}}\", X: \"${{ASKED}}\" }} }}\n\
         agents:\n  - name: {name}\n    servers: [one]\n    cassette: cassette.jsonl\n    expect:\n      - {{ target: final_response, matcher: {{ exact: {name} }} }}\n\
         \x20   tool_calls: {{}}\n"
    ).replace("    tool_calls: {}\n", "")
        + &format!("tools:\n  - {{ name: {}, server: one, tool: {} , args: {{}}, expect: [{{ target: result.isError, matcher: {{ exact: true }} }}] }}\n", json!(HOSTILE), json!(format!("look{HOSTILE}")))
}

/// Suites that are refused because of the value of a variable.
fn suite_parts() -> Vec<String> {
    let agent = "agents:\n  - name: a\n    prompt: hi\n    model: gpt-5\n    servers: [s]\n";
    vec![
        format!("servers:\n  s: {{ url: \"${{ASKED}} ${{API_TOKEN}}\" }}\n{agent}"),
        format!(
            "servers:\n  s: {{ command: [x] }}\n{agent}    expect:\n      - {{ target: \"${{ASKED}}${{API_TOKEN}}\", matcher: {{ exact: 1 }} }}\n"
        ),
        format!(
            "imports: [\"${{ASKED}}\", \"${{API_TOKEN}}.yml\"]\nservers:\n  s: {{ command: [x] }}\n{agent}"
        ),
        format!("servers:\n  s: {{ mock: \"${{ASKED}}${{API_TOKEN}}.yml\" }}\n{agent}"),
        format!(
            "servers:\n  s: {{ command: [x] }}\n{agent}    time_budget: \"${{ASKED}}\"\n    temperature: \"${{SIGNING_KEY}}\"\n    expect:\n      - {{ target: final_response, matcher: {{ schema: {{ type: \"${{ASKED}}${{API_TOKEN}}\" }} }} }}\n"
        ),
        format!(
            "servers:\n  s: {{ command: [x] }}\n{agent}    model: \"${{ASKED}}\"\n    {}: \"${{HOSTILE}}\"\n",
            json!(HOSTILE)
        ),
    ]
}

fn trace() -> Value {
    let secret = hostile(&format!("https://u:{PASSWORD}@db {NAMED}"));
    json!({
        "tool_calls": [{ "tool": format!("look{HOSTILE}"), "args": { "password": PASSWORD, "note": secret, format!("https://u:{PASSWORD}@h{HOSTILE}"): 1 } }],
        "tool_results": [{ "call_index": 0, "content": [{ "type": "text", "text": secret }] }],
        "final_response": secret,
        "errors": [secret],
    })
}

fn cassette() -> String {
    let header = json!({ "format": "mcptest-cassette", "version": 1, "agent": hostile("agent") });
    let mut recorded = trace();
    recorded.as_object_mut().unwrap().remove("errors");
    format!("{header}\n{}\n", json!({ "run": 1, "trace": recorded }))
}

fn tape() -> String {
    let said = hostile(&format!("{NAMED} https://u:{PASSWORD}@db"));
    let header = json!({ "format": "mcptest-tape", "version": 1, "server": { "name": "docs", "command": ["docs", "--api-key", WORD] } });
    let asked = |id: u64, method: &str, params: Value| {
        json!({ "at_us": id * 10, "from": "client",
        "message": { "jsonrpc": "2.0", "id": id, "method": method, "params": params } })
    };
    let answered = |id: u64, result: Value| {
        json!({ "at_us": id * 10 + 5, "from": "server",
        "message": { "jsonrpc": "2.0", "id": id, "result": result } })
    };
    let info = json!({ "name": said, "version": said });
    let lines = [
        header,
        asked(
            0,
            "initialize",
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info }),
        ),
        answered(
            0,
            json!({ "protocolVersion": "2025-11-25", "capabilities": { "tools": {} }, "serverInfo": info }),
        ),
        asked(
            1,
            "tools/call",
            json!({ "name": format!("look{HOSTILE}"), "arguments": { "password": PASSWORD, "a": said } }),
        ),
        answered(1, json!({ "content": [{ "type": "text", "text": said }] })),
        json!({ "at_us": 90, "from": "server", "event": { "kind": "stderr", "line": said } }),
    ];
    lines.map(|line| line.to_string() + "\n").concat()
}

fn openai() -> Value {
    json!({ "messages": [
        { "role": "user", "content": hostile("ask") },
        { "role": "assistant", "content": null, "tool_calls": [{ "id": "1", "type": "function", "function": { "name": "look", "arguments": json!({ "password": PASSWORD, "a": hostile("x") }).to_string() } }] },
        { "role": "tool", "tool_call_id": "1", "content": hostile("result") },
        { "role": "assistant", "content": hostile("done") },
    ] })
}

fn report() -> String {
    let said = hostile(&format!("{NAMED} https://u:{PASSWORD}@db"));
    let expectation = json!({ "target": format!("a{HOSTILE}"), "matcher": { "exact": said }, "passed": false, "actual": said,
        "diff": [{ "pointer": format!("/https:~1~1u:{PASSWORD}@h"), "expected": said, "actual": said }] });
    let run = json!({ "index": 1, "status": "failed", "tool_names": [said], "calls": 1, "expectations": [expectation] });
    let row = json!({ "name": said, "suite": { "file": format!("a{HOSTILE}.yml"), "line": 1 }, "model": said, "status": "failed",
        "unpinned": true, "rerun": said, "runs": [run], "gates": [] });
    let summary = json!({ "tests": 1, "passed": 0, "failed": 1, "errors": 0, "skipped": 0, "runs": 1, "gates": 0, "not_exercised": 0 });
    json!({ "schema_version": 1, "summary": summary, "tests": [row] }).to_string()
}

/// The invocations of each command. `REFUSED`, `SUITE`, `FILE` and `SERVER` are replaced by each of
/// the words of [`SETS`].
const INVOCATIONS: &str = "
run REFUSED
run REFUSED --list
run REFUSED --dry-run
run REFUSED --record --quiet
run REFUSED --reporter json
run REFUSED --reporter json=out/refused.json --reporter junit=out/refused.xml
run SUITE
run SUITE --list
run SUITE --dry-run
run SUITE --live
run SUITE --traces runs
run SUITE --traces runs --group-by final_response
run SUITE --filter ODD
run SUITE --reporter ODD
run SUITE --verbose --reporter json=out/x.json --reporter junit=out/x.xml --reporter ndjson
run SUITE --reporter junit
run SUITE --coverage-threshold 50 --verbose --reporter json=out/c.json
run SUITE --coverage --reporter junit
score SUITE FILE
score REFUSED FILE
score suite.yml -
score suite.yml FILE --otel out/verdicts.jsonl --jobs 1
score suite.yml runs --filter ODD
score suite.yml ODD --otel nothing/ODD/x
scenario run suite.yml
eval suite.yml
eval suite.yml --explain
eval ODD.yml --explain --filter ODD
validate REFUSED
validate SUITE
validate SUITE --traces runs
validate SUITE --traces runs --group-by ODD
show FILE
show --full FILE
show --run 7 FILE
show --check-secrets FILE
show --check-secrets --config suite.yml FILE
import FILE
import FILE --force -o out/imported.jsonl
import FILE --agent ODD
export FILE --format atif
export FILE --format atif --force -o out/exported.jsonl
init --force -o out/drafted.yml --from-cassette FILE
init -o suite.yml --from-cassette FILE
init --force --timeout 2s -o out/suite.yml SERVER
trace-from FILE
trace-from FILE --force -o out/traced.jsonl
trace-from FILE --prompt ODD
report FILE
report report.json
report report.json --reporter json
report report.json --reporter junit --verbose
report report.json --reporter json=out/again.json
view nothing-ODD
view --http ODD
tools --config REFUSED
tools --config suite.yml
tools nope-ODD --config suite.yml
tools --command ODD
tools --timeout 2s SERVER
tools --timeout 2s --json SERVER
tool-bench FILE --from cassette.jsonl
tool-bench intents-ODD.yml --timeout 2s SERVER
lint-tools --from FILE
lint-tools --from cassette.jsonl --write-baseline out/pins.json
lint-tools --from cassette.jsonl --baseline FILE
lint-tools --config REFUSED
lint-tools --timeout 2s SERVER
lint-tools --timeout 2s --json -v SERVER
lint-tools --ignore ODD --from FILE
call look --timeout 2s SERVER
call fail --timeout 2s --json SERVER
call fail -- python3 server.py
call look a=ODD --json -- python3 server.py
call look a:=ODD -- python3 server.py
call ODD --config suite.yml
check --timeout 2s SERVER
check --timeout 2s --allow-writes --strict -vv --reporter json=out/check.json --reporter junit -- python3 server.py
check --config suite.yml
check --only ODD -- true
check --list
mcp
mock --from-cassette FILE
mock --tools-from FILE
mock --tools-from manifest.yml
mock --tools-from manifest.yml --http 127.0.0.1:1 --fault ODD
proxy -o out/proxied.jsonl -- ./ODD
proxy -o /nowhere/ODD.jsonl -- true
proxy -o out/url.jsonl --target ODD
proxy -o out/pattern.jsonl --redact ( -- true
verify tape.jsonl --timeout 2s -- python3 server.py
verify tape.jsonl --timeout 2s -- sh broken.sh --api-key WORD
verify tape.jsonl --timeout 2s --url http://u:PASSWORD@127.0.0.1:1/mcp?token=PASSWORD
verify tape.jsonl --ignore ODD -- true
verify FILE -- true
explain
explain golden_path
explain matchers
explain ODD
schema
schema --report
schema --manifest
schema --calibration
schema --baseline-diff
schema --compare
schema --verdicts
schema --ODD
calibrate REFUSED
calibrate SUITE
calibrate SUITE --json
calibrate SUITE --traces runs --verbose
calibrate --traces runs --labels FILE
calibrate --traces runs --labels labels.json
calibrate --traces runs --labels labels.csv --yaml
calibrate suite.yml --filter ODD
judge-check SUITE --traces runs --labels labels.json --quiet
judge-check suite.yml --traces runs --labels FILE
judge-check REFUSED --explain
model-baseline capture SUITE -o out/baselines
model-baseline capture SUITE --traces runs --group-by final_response --allow-failed -o out/traces
model-baseline capture REFUSED
model-baseline capture suite.yml --models ODD
model-baseline diff FILE out/baselines/default.json
model-baseline diff out/baselines/default.json out/baselines/default.json -vv --reporter md
model-baseline diff ODD FILE --reporter ODD
compare report.json report.json
compare report.json report.json -v --reporter md
compare report.json FILE --reporter json=out/compared.json
compare report.json --models ODD,nope
compare . . --suite SUITE
compare cassette.jsonl cassette.jsonl --suite suite.yml
compare . . --suite REFUSED
compare --traces runs --traces runs --suite SUITE --group-by final_response
compare ODD report.json --reporter ODD
plan-runs --floor 0.9
plan-runs --half-width ODD
plan-runs --floor 7
completions bash
completions ODD
man out/man
man suite.yml/ODD
bridge 127.0.0.1:1
bridge ODD
--help
--ODD
ODD
";

/// Tests whose output shows a placeholder: their files contain a secret.
const SHOWN: [&str; 10] = [
    "score suite.yml openai.json",
    "show cassette.jsonl",
    "show --full tape.jsonl",
    "report report.json",
    "run suite.yml",
    "run refused-1.yml",
    "import openai.json",
    "trace-from tape.jsonl",
    "call look --timeout 2s -- python3 server.py",
    "tools --timeout 2s --json -- python3 server.py",
];

const SETS: [(&str, &[&str]); 4] = [
    (
        "REFUSED",
        &[
            "refused-0.yml",
            "refused-1.yml",
            "refused-2.yml",
            "refused-3.yml",
            "refused-4.yml",
            "refused-5.yml",
        ],
    ),
    ("SUITE", &["suite.yml", "ODD.yml", "nothing-ODD", "."]),
    (
        "FILE",
        &[
            "cassette.jsonl",
            "runs/one.json",
            "runs/ODD.json",
            "tape.jsonl",
            "openai.json",
            "not.json",
            "ODD.json",
            "nothing-ODD",
            ".",
        ],
    ),
    (
        "SERVER",
        &[
            "-- python3 server.py",
            "-- sh broken.sh --api-key WORD",
            "-- sh broken.sh --token=WORD",
            "-- ./ODD --api-key WORD",
            "--header X-Key:HEADER -- sh broken.sh",
            "--url http://u:PASSWORD@127.0.0.1:1/mcp?token=PASSWORD --header X-Key:HEADER",
            "--url http://u:PASSWORD@127.0.0.1:1/mcp --header Bad",
        ],
    ),
];

fn invocations() -> Vec<String> {
    let mut lines: Vec<String> = INVOCATIONS.trim().lines().map(str::to_owned).collect();
    for (set, members) in SETS {
        let each = |line: String| -> Vec<String> {
            let times = if line.contains(set) {
                members
            } else {
                &members[..1]
            };
            times
                .iter()
                .map(|member| line.replace(set, member))
                .collect()
        };
        lines = lines.into_iter().flat_map(each).collect();
    }
    lines
}

fn words(line: &str) -> Vec<String> {
    let odd = format!("odd{HOSTILE}");
    let plant = |word: &str| {
        let word = word.replace("ODD", &odd).replace("HEADER", HEADER);
        word.replace("WORD", "\0")
            .replace("PASS\0", PASSWORD)
            .replace('\0', WORD)
    };
    line.split(' ').map(plant).collect()
}

/// Calls `seen` with each invocation: its words, standard output and error, and the files that it
/// wrote.
fn walk(mut seen: impl FnMut(&str, &str, &str, &BTreeMap<PathBuf, Vec<u8>>)) {
    let place = Place::new();
    for line in invocations() {
        let before = place.files();
        let (out, err) = place.run(&words(&line));
        let mut after = place.files();
        after.retain(|path, bytes| before.get(path) != Some(bytes));
        seen(&line, &out, &err, &after);
    }
}

#[test]
fn every_command_is_tried() {
    let tried = invocations();
    for kind in mcptest::COMMANDS {
        let command = kind.name;
        let is_tried = |line: &String| line.split(' ').next() == Some(command);
        assert!(
            tried.iter().any(is_tried),
            "`{command}` needs its invocations here"
        );
    }
}

#[test]
fn no_command_lets_a_secret_or_a_command_of_a_runner_out() {
    let mut faults = Vec::new();
    walk(|line, out, err, files| {
        if SHOWN.contains(&line) && !format!("{out}{err}").contains("[redacted:") {
            faults.push(format!("{line}\n  hides nothing: {out}\n{err}"));
        }
        let written = files.iter().map(|(path, bytes)| {
            (
                path.display().to_string(),
                String::from_utf8_lossy(bytes).into_owned(),
            )
        });
        let streams = [
            ("stdout".to_owned(), out.to_owned()),
            ("stderr".to_owned(), err.to_owned()),
        ];
        for (place, text) in streams.iter().cloned().chain(written) {
            for secret in secrets() {
                if let Some(at) = text.find(secret) {
                    let from = text[..at]
                        .char_indices()
                        .rev()
                        .nth(60)
                        .map_or(0, |(at, _)| at);
                    let to = (at + 60..text.len())
                        .find(|at| text.is_char_boundary(*at))
                        .unwrap_or(text.len());
                    faults.push(format!(
                        "{line}\n  {place} has {secret}: {:?}",
                        &text[from..to]
                    ));
                }
            }
        }
        for (place, text) in &streams {
            let steers = |c: char| (c.is_control() && !matches!(c, '\n' | '\t')) || c == '\u{202e}';
            for shown in text.lines() {
                let start = shown.trim_start();
                // What a tool says is printed as it is, and its lines are its own.
                let is_of_a_tool = line.starts_with("call") && place == "stdout";
                let made_a_line = start.starts_with("\\u003a:") && !is_of_a_tool;
                if start.starts_with("::")
                    || start.contains("##[")
                    || shown.contains(steers)
                    || made_a_line
                {
                    faults.push(format!("{line}\n  {place} has the line {shown:?}"));
                }
            }
        }
    });
    assert!(
        faults.is_empty(),
        "{} faults\n{}",
        faults.len(),
        faults.join("\n")
    );
}

/// Values that only their names identify as secrets. The second is so short that elsewhere it is
/// found only as a whole word.
const UNDER_SECRET_NAMES: [(&str, &str); 3] = [
    ("api_key", "kk-planted-7654321"),
    ("client_secret", "cs-P9x"),
    ("password", "planted\"pass\\word-9"),
];

/// A recorded run whose calls carry secrets under secret names and under other names, as a foreign
/// trace may.
fn with_secrets(line: &str) -> String {
    let mut run: Value = serde_json::from_str(line).unwrap();
    let mut said = String::new();
    for call in run["trace"]["tool_calls"]
        .as_array_mut()
        .into_iter()
        .flatten()
    {
        let args = call["args"].as_object_mut().into_iter();
        for args in args {
            let mut nested = json!({});
            for (name, secret) in UNDER_SECRET_NAMES {
                nested[name] = json!(secret);
            }
            args.insert("note".to_owned(), json!(UNDER_SECRET_NAMES[1].1));
            args.insert("api_key".to_owned(), json!([UNDER_SECRET_NAMES[0].1]));
            args.insert("nested".to_owned(), nested);
        }
    }
    for (name, secret) in UNDER_SECRET_NAMES {
        said.push_str(&format!(" {name}: {secret}. note = \"{secret}\"."));
    }
    let closing = run["trace"]["final_response"].as_str().unwrap_or_default();
    run["trace"]["final_response"] = json!(format!("{closing}{said}"));
    let number = run["run"].as_u64().unwrap() as usize;
    sealed_run_line(number, &run["trace"].to_string())
}

/// Plants the secrets in the runs that fail.
fn plant(failing: &Failing, folder: &Path) {
    let cassette = folder
        .join("cassettes")
        .join(&failing.suite)
        .join(failing.path.file_name().unwrap());
    let text = std::fs::read_to_string(&cassette).unwrap();
    let mut lines = text.lines();
    let header = lines.next().unwrap().to_owned();
    let runs = lines.map(with_secrets);
    let planted: Vec<String> = std::iter::once(header).chain(runs).collect();
    std::fs::write(cassette, planted.join("\n") + "\n").unwrap();
}

#[test]
fn no_gate_explains_a_failure_with_what_stands_under_a_secret_name() {
    let mut faults = Vec::new();
    let mut told = BTreeSet::new();
    for failing in failing() {
        if is_pins(&failing.path) || is_grades(&failing.path) {
            continue;
        }
        let folder = with_failing_runs(&failing);
        let first = std::fs::read_to_string(&failing.path).unwrap();
        if !first.contains("\"tool_calls\"") {
            continue;
        }
        plant(&failing, folder.path());
        let mut arguments = vec![
            "run".to_owned(),
            format!("{}.yml", failing.suite),
            "-vv".to_owned(),
        ];
        arguments.extend(["--reporter".to_owned(), "pretty".to_owned()]);
        for reporter in mcptest_report::REPORTERS
            .iter()
            .filter(|one| one.key != "pretty")
        {
            arguments.push("--reporter".to_owned());
            arguments.push(format!("{}=out/{}", reporter.key, reporter.key));
        }
        std::fs::create_dir_all(folder.path().join("out")).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcptest"));
        let done = command
            .current_dir(folder.path())
            .env_clear()
            .args(&arguments)
            .output()
            .unwrap();
        let mut texts = vec![
            ("stdout".to_owned(), done.stdout),
            ("stderr".to_owned(), done.stderr),
        ];
        for reporter in mcptest_report::REPORTERS
            .iter()
            .filter(|one| one.key != "pretty")
        {
            let written = std::fs::read(folder.path().join("out").join(reporter.key));
            let written = written.unwrap_or_else(|_| panic!("{} of {arguments:?}", reporter.key));
            texts.push((reporter.key.to_owned(), written));
        }
        let json = &texts.iter().find(|(key, _)| key == "json").unwrap().1;
        let report: Value = serde_json::from_slice(json).unwrap();
        for gate in report["tests"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|test| test["gates"].as_array().unwrap())
        {
            if gate["status"] == "failed" {
                told.insert(gate["key"].as_str().unwrap().to_owned());
            }
        }
        for (place, text) in &texts {
            let text = String::from_utf8_lossy(text);
            for secret in ["kk-planted", "cs-P9x", "word-9"] {
                if let Some(at) = text.find(secret) {
                    let from = text[..at]
                        .char_indices()
                        .rev()
                        .nth(80)
                        .map_or(0, |(at, _)| at);
                    faults.push(format!(
                        "{} {}: {place} has {:?}",
                        failing.suite,
                        failing.gate,
                        &text[from..at + secret.len()]
                    ));
                }
            }
        }
    }
    assert!(
        faults.is_empty(),
        "{} faults\n{}",
        faults.len(),
        faults.join("\n")
    );
    let without_runs = ["eval", "tool_quality"];
    for gate in mcptest::GATES {
        assert!(
            told.contains(gate.key) || without_runs.contains(&gate.key),
            "no failure of `{}:` was tried",
            gate.key
        );
    }
}
