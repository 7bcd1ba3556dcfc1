//! The reference servers: through the client, the commands, the proxy, and again from the proxy's tape.

use crate::installed::{node, path, peer};
use crate::programs::{mcptest, start, start_on_a_free_port};
use crate::transcript::{Call, assert_same, transcript};
use mcptest_mcp::client::{Endpoint, ServerSpec};
use mcptest_mcp::era::Era;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// A reference server, a call, and the expected value in its result.
struct Real {
    name: &'static str,
    words: Vec<String>,
    env: Vec<(String, String)>,
    tools: &'static [&'static str],
    calls: Vec<Call>,
    expected: Vec<(&'static str, Value)>,
    era: Era,
}

impl Real {
    fn spec(&self) -> ServerSpec {
        self.spec_behind(&[])
    }

    /// The server behind another program, whose command line begins with these words.
    fn spec_behind(&self, before: &[&str]) -> ServerSpec {
        let words = before
            .iter()
            .map(ToString::to_string)
            .chain(self.words.clone())
            .collect();
        ServerSpec::new(
            self.name,
            Endpoint::Command {
                words,
                env: self.env.clone(),
                cwd: None,
            },
        )
    }

    fn assert_fits(&self, transcript: &[Value]) {
        let (tools, results) = transcript.split_at(transcript.len() - self.calls.len());
        let names: Vec<&str> = tools
            .iter()
            .filter_map(|tool| tool["name"].as_str())
            .collect();
        for tool in self.tools {
            assert!(
                names.contains(tool),
                "{}: no {tool} among {names:?}",
                self.name
            );
        }
        for ((call, result), (pointer, expected)) in
            self.calls.iter().zip(results).zip(&self.expected)
        {
            let found = result.pointer(pointer).unwrap_or(&Value::Null);
            assert_eq!(
                found, expected,
                "{}: {pointer} of {call:?} in {result}",
                self.name
            );
        }
    }
}

fn everything_calls() -> (Vec<Call>, Vec<(&'static str, Value)>) {
    let calls = vec![
        ("echo", json!({ "message": "héllo\n" })),
        ("get-sum", json!({ "a": 2, "b": 3 })),
        ("get-structured-content", json!({ "location": "Chicago" })),
        ("get-tiny-image", json!({})),
        ("echo", json!({})),
    ];
    let expected = vec![
        ("/content/0/text", json!("Echo: héllo\n")),
        ("/content/0/text", json!("The sum of 2 and 3 is 5.")),
        ("/structuredContent/temperature", json!(36)),
        ("/content/1/mimeType", json!("image/png")),
        ("/isError", json!(true)),
    ];
    (calls, expected)
}

const EVERYTHING: &[&str] = &[
    "echo",
    "get-sum",
    "get-structured-content",
    "trigger-long-running-operation",
];

/// All reference servers, working in `folder`.
fn real_servers(folder: &Path) -> Vec<Real> {
    std::fs::write(folder.join("note.txt"), "from a file").unwrap();
    let note = folder.join("note.txt").display().to_string();
    let (calls, expected) = everything_calls();
    let ada = json!({ "name": "Ada", "entityType": "person", "observations": ["likes engines"] });
    let memory = folder.join("memory.json");
    // Every run begins with an empty memory.
    let _ = std::fs::remove_file(&memory);
    vec![
        Real {
            name: "everything",
            words: vec![node("mcp-server-everything"), "stdio".to_owned()],
            env: vec![path()],
            tools: EVERYTHING,
            calls,
            expected,
            era: Era::Legacy,
        },
        Real {
            name: "filesystem",
            words: vec![node("mcp-server-filesystem"), folder.display().to_string()],
            env: vec![path()],
            tools: &["read_text_file", "write_file", "list_directory"],
            calls: vec![
                ("read_text_file", json!({ "path": note })),
                ("read_text_file", json!({ "path": "/somewhere/else" })),
            ],
            expected: vec![
                ("/content/0/text", json!("from a file")),
                ("/isError", json!(true)),
            ],
            era: Era::Legacy,
        },
        Real {
            name: "memory",
            words: vec![node("mcp-server-memory")],
            env: vec![
                path(),
                ("MEMORY_FILE_PATH".to_owned(), memory.display().to_string()),
            ],
            tools: &["create_entities", "read_graph"],
            calls: vec![
                ("create_entities", json!({ "entities": [ada] })),
                ("read_graph", json!({})),
            ],
            expected: vec![
                ("/structuredContent/entities/0/name", json!("Ada")),
                ("/structuredContent/entities/0", ada),
            ],
            era: Era::Legacy,
        },
        Real {
            name: "time",
            words: vec![peer("python/bin/mcp-server-time")],
            env: Vec::new(),
            tools: &["get_current_time", "convert_time"],
            calls: vec![(
                "convert_time",
                json!({ "source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo" }),
            )],
            expected: vec![("/structuredContent/time_difference", json!("+9.0h"))],
            era: Era::Modern,
        },
    ]
}

#[tokio::test]
async fn the_client_lists_and_calls_on_stdio() {
    let folder = tempfile::tempdir().unwrap();
    for server in real_servers(folder.path()) {
        server.assert_fits(&transcript(&server.spec(), &server.calls).await);
    }
}

#[tokio::test]
async fn the_era_of_each_is_found_out() {
    let folder = tempfile::tempdir().unwrap();
    for server in real_servers(folder.path()) {
        let client = mcptest_mcp::client::Client::connect(&server.spec(), None)
            .await
            .unwrap();
        assert_eq!(client.server().era, server.era, "{}", server.name);
        client.close().await;
    }
}

/// A tape gives the recorded results in the protocol of the recording. A client with the other
/// protocol gets them translated.
async fn assert_served_again(mut tape: ServerSpec, server: &Real, direct: &[Value]) {
    let found_out = transcript(&tape, &server.calls).await;
    assert_same(
        &without_envelope(found_out),
        &without_envelope(direct.to_vec()),
        "the tape, era found out",
    );
    tape.era = Some(server.era);
    assert_same(&transcript(&tape, &server.calls).await, direct, "the tape");
}

fn without_envelope(mut results: Vec<Value>) -> Vec<Value> {
    for result in results.iter_mut().filter_map(Value::as_object_mut) {
        result.retain(|key, _| !matches!(key.as_str(), "_meta" | "resultType"));
    }
    results
}

#[tokio::test]
async fn the_proxy_changes_nothing_and_its_tape_serves_the_same_client() {
    let folder = tempfile::tempdir().unwrap();
    let direct_folder = folder.path().join("data");
    std::fs::create_dir(&direct_folder).unwrap();
    let names: Vec<&str> = real_servers(&direct_folder)
        .iter()
        .map(|server| server.name)
        .collect();
    for (at, name) in names.into_iter().enumerate() {
        let fresh = || real_servers(&direct_folder).swap_remove(at);
        let server = fresh();
        let direct = transcript(&server.spec(), &server.calls).await;
        server.assert_fits(&direct);
        let tape = folder
            .path()
            .join(format!("{name}.jsonl"))
            .display()
            .to_string();
        let binary = env!("CARGO_BIN_EXE_mcptest");
        let server = fresh();
        let behind = server.spec_behind(&[binary, "proxy", "--out", &tape, "--"]);
        assert_same(
            &transcript(&behind, &server.calls).await,
            &direct,
            &format!("{name} behind the proxy"),
        );
        let again = ServerSpec::command(name, [binary, "mock", "--from-cassette", &tape]);
        assert_served_again(again, &server, &direct).await;
    }
}

#[tokio::test]
async fn everything_over_http_directly_behind_the_proxy_and_from_its_tape() {
    let (calls, expected) = everything_calls();
    let mut command = Command::new(node("mcp-server-everything"));
    command.arg("streamableHttp").envs([path()]);
    let server = start_on_a_free_port(command);
    let direct = transcript(&ServerSpec::url("everything", &server.url), &calls).await;
    let real = Real {
        name: "everything",
        words: Vec::new(),
        env: Vec::new(),
        tools: EVERYTHING,
        calls: calls.clone(),
        expected,
        era: Era::Legacy,
    };
    real.assert_fits(&direct);
    let folder = tempfile::tempdir().unwrap();
    let tape = folder.path().join("tape.jsonl").display().to_string();
    let proxy = start(
        mcptest(&[
            "proxy",
            "--listen",
            "127.0.0.1:0",
            "--target",
            &server.url,
            "--out",
            &tape,
        ]),
        true,
    );
    assert_same(
        &transcript(&ServerSpec::url("everything", &proxy.url), &calls).await,
        &direct,
        "behind the proxy",
    );
    proxy.interrupt();
    let mock = start(
        mcptest(&["mock", "--from-cassette", &tape, "--http", "127.0.0.1:0"]),
        true,
    );
    assert_served_again(ServerSpec::url("everything", &mock.url), &real, &direct).await;
}

/// The binary's output for these words before `-- SERVER`.
fn printed(server: &Real, words: &[&str]) -> (Option<i32>, String) {
    let mut command = mcptest(words);
    // A server gets of our own environment only what every server needs.
    for (name, value) in &server.env {
        command.arg("--env").arg(format!("{name}={value}"));
    }
    command.arg("--").args(&server.words);
    let output = command.output().unwrap();
    (
        output.status.code(),
        String::from_utf8(output.stdout).unwrap(),
    )
}

#[test]
fn tools_and_call_show_what_the_server_has() {
    let folder = tempfile::tempdir().unwrap();
    for server in real_servers(folder.path()) {
        let (code, listed) = printed(&server, &["tools", "--json"]);
        assert_eq!(code, Some(0), "{}", server.name);
        let listed: Value = serde_json::from_str(&listed).unwrap();
        let mut transcript: Vec<Value> = listed["tools"].as_array().unwrap().clone();
        for (tool, arguments) in &server.calls {
            let (code, result) = printed(
                &server,
                &["call", tool, "--json", "--args", &arguments.to_string()],
            );
            let result: Value = serde_json::from_str(&result).unwrap();
            let is_error = result["isError"] == true;
            assert_eq!(code, Some(i32::from(is_error)), "{} {tool}", server.name);
            transcript.push(result);
        }
        server.assert_fits(&transcript);
        let (code, listed) = printed(&server, &["tools"]);
        assert_eq!(code, Some(0));
        for tool in server.tools {
            assert!(listed.contains(tool), "{}: {listed}", server.name);
        }
    }
}

/// The calls as tool tests of a suite. YAML accepts JSON unchanged.
fn suite(servers: &[Real]) -> Value {
    let mut entries = serde_json::Map::new();
    let mut tests = Vec::new();
    for server in servers {
        let env: serde_json::Map<String, Value> = server
            .env
            .iter()
            .map(|(name, value)| (name.clone(), json!(value)))
            .collect();
        entries.insert(
            server.name.to_owned(),
            json!({ "command": server.words[0], "args": server.words[1..], "env": env }),
        );
        for (at, ((tool, arguments), (pointer, expected))) in
            server.calls.iter().zip(&server.expected).enumerate()
        {
            tests.push(json!({
                "name": format!("{} {at}: {tool}", server.name),
                "server": server.name,
                "tool": tool,
                "args": arguments,
                "expect": [{ "target": target_of(pointer), "matcher": { "exact": expected } }],
            }));
        }
    }
    json!({ "servers": entries, "tools": tests })
}

/// `/content/0/text` as `result.content[0].text`.
fn target_of(pointer: &str) -> String {
    pointer
        .split('/')
        .skip(1)
        .fold("result".to_owned(), |target, key| {
            match key.parse::<usize>() {
                Ok(index) => format!("{target}[{index}]"),
                Err(_) => format!("{target}.{key}"),
            }
        })
}

#[test]
fn tool_tests_pass_live_and_recorded_and_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("mcptest.yml").display().to_string();
    for words in [
        &["run", "--live", &place][..],
        &["run", "--record", &place],
        &["run", &place],
    ] {
        let servers = real_servers(folder.path());
        std::fs::write(&place, suite(&servers).to_string()).unwrap();
        let output = mcptest(words).output().unwrap();
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert_eq!(output.status.code(), Some(0), "{words:?}: {said}");
        let count: usize = servers.iter().map(|server| server.calls.len()).sum();
        assert!(
            said.contains(&format!("{count} passed")),
            "{words:?}: {said}"
        );
    }
}
