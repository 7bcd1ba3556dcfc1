//! Does any path from a coding agent, or from a suite, lead `mcptest mcp` out of its folder?

#![allow(clippy::unwrap_used, missing_docs)]

use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

const SECRET: &str = "sesame-4711";

/// The text of the tool's answer.
fn answer(folder: &Path, tool: &str, arguments: &Value) -> String {
    let mut child = Command::new(env!("CARGO_BIN_EXE_mcptest"))
        .arg("mcp")
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let initialize = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        },
    });
    let call = json!({
        "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    });
    let mut input = child.stdin.take().unwrap();
    writeln!(input, "{initialize}").unwrap();
    writeln!(
        input,
        "{}",
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"})
    )
    .unwrap();
    writeln!(input, "{call}").unwrap();
    drop(input);
    let output = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    let line = output.lines().find(|line| line.contains(r#""id":2"#));
    line.unwrap_or_else(|| panic!("{output}")).to_owned()
}

/// A folder with a subfolder, and files beside it that nothing in the subfolder may read.
fn place() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(place.path().join(name), text).unwrap();
    fs::create_dir(place.path().join("in")).unwrap();
    let run = format!(
        r#"{{"tool_calls": [], "tool_results": [], "final_response": "{SECRET}", "stop_reason": "end_turn"}}"#
    );
    write("run.json", &run);
    write(
        "imported.yml",
        &format!("servers:\n  {SECRET}: {{ command: [x] }}\nagents: [{SECRET}]\n"),
    );
    write(
        "mock.yml",
        &format!("mock_server: {{ tools: [{{ {SECRET}: 1 }}] }}\n"),
    );
    write("baseline.json", &format!("{{{SECRET}"));
    write("data.csv", &format!("{SECRET}\nrow\n"));
    place
}

fn suite(agent: &str) -> String {
    format!(
        "servers: {{ s: {{ command: [nope] }} }}\nagents:\n  - name: t\n    servers: [s]\n    model: m\n    prompt: go\n    expect: [{{ target: final_response, matcher: {{ exact: no }} }}]\n{agent}"
    )
}

#[test]
fn no_file_that_a_suite_names_is_read_outside_of_the_folder() {
    let place = place();
    let folder = place.path().join("in");
    let absolute = place.path().join("run.json").display().to_string();
    let own = "    cassette: own.json\n";
    let run = fs::read_to_string(place.path().join("run.json")).unwrap();
    fs::write(folder.join("own.json"), run.replace(SECRET, "own words")).unwrap();
    let cassette = |path: &str| suite(&format!("    cassette: {path}\n"));
    let suites = [
        ("a cassette", cassette("../run.json")),
        ("an absolute cassette", cassette(&absolute)),
        ("a list of cassettes", cassette("[../run.json]")),
        ("a pattern", cassette("'../*.json'")),
        ("standard input", cassette("/dev/stdin")),
        (
            "an import",
            format!("imports: [../imported.yml]\n{}", suite(own)),
        ),
        (
            "a mock",
            suite(own).replace("{ command: [nope] }", "{ mock: ../mock.yml }"),
        ),
        (
            "a baseline",
            suite(&format!(
                "{own}    model_compat: {{ baseline: ../baseline.json }}\n"
            )),
        ),
        (
            "rows of data",
            suite(own).replace("- name: t", "- each: ../data.csv\n    name: t"),
        ),
        (
            "pinned tools",
            suite(&format!(
                "{own}    tool_quality: {{ baseline: ../baseline.json }}\n"
            )),
        ),
    ];
    for (what, text) in suites {
        fs::write(folder.join("mcptest.yml"), &text).unwrap();
        let said = answer(&folder, "run", &json!({}));
        assert!(!said.contains(SECRET), "{what}: {said}");
        // Replay reads no mock, so that the suite is judged without it.
        let is_refused = ["outside", "the suite is refused", "own words"]
            .iter()
            .any(|words| said.contains(words));
        assert!(is_refused, "{what}: {said}");
    }
    fs::write(folder.join("mcptest.yml"), suite(own)).unwrap();
    let said = answer(&folder, "run", &json!({}));
    assert!(
        said.contains("own words"),
        "a file in the folder is read: {said}"
    );
}

#[test]
#[cfg(unix)]
fn no_link_and_no_argument_leads_out_of_the_folder() {
    let place = place();
    let folder = place.path().join("in");
    std::os::unix::fs::symlink("../run.json", folder.join("link.json")).unwrap();
    fs::write(
        folder.join("mcptest.yml"),
        suite("    cassette: link.json\n"),
    )
    .unwrap();
    fs::write(
        place.path().join("out.yml"),
        suite("    cassette: run.json\n"),
    )
    .unwrap();
    for (tool, arguments) in [
        ("run", json!({})),
        ("run", json!({"paths": ["../out.yml"]})),
        ("run", json!({"paths": ["../not-there.yml"]})),
        ("show_failure", json!({"test": "t", "paths": [".."]})),
        ("draft_suite", json!({"cassette": "../run.json"})),
        ("draft_suite", json!({"cassette": "link.json"})),
    ] {
        let said = answer(&folder, tool, &arguments);
        assert!(!said.contains(SECRET), "{tool} {arguments}: {said}");
        assert!(said.contains("outside"), "{tool} {arguments}: {said}");
    }
}
