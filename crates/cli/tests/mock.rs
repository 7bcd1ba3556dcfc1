//! `mcptest mock` through the binary: what does a user type and see?

#![allow(clippy::unwrap_used, missing_docs)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

const MANIFEST: &str =
    "mock_server: {name: m, tools: [{name: hi, description: Greets., response: hello}]}";
const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hi","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;

fn mock(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcptest"));
    command.current_dir(folder).arg("mock").args(args);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn answered(folder: &Path, args: &[&str], input: &str) -> Output {
    let mut child = mock(folder, args).spawn().unwrap();
    // A server that ends at once may not read it.
    let _unread = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("m.yml"), MANIFEST).unwrap();
    folder
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_manifest_is_served_on_standard_streams_until_the_input_ends() {
    let output = answered(
        folder().path(),
        &["--tools-from", "m.yml"],
        &format!("{CALL}\n"),
    );
    assert!(
        text(&output.stdout).contains(r#""text":"hello""#),
        "{}",
        text(&output.stdout)
    );
    assert_eq!(
        (output.status.code(), text(&output.stderr)),
        (Some(0), String::new())
    );
}

#[test]
fn a_bad_manifest_is_refused_with_every_problem_and_its_place() {
    let folder = folder();
    std::fs::write(
        folder.path().join("m.yml"),
        "mock_server:\n  tools:\n    - nmae: a\n    - {name: b, respons: x}\n",
    )
    .unwrap();
    let output = answered(folder.path(), &["--tools-from", "m.yml"], "");
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("m.yml:3:7") && said.contains("m.yml:4:17"),
        "{said}"
    );
}

#[test]
fn a_bad_fault_lists_the_kinds() {
    let output = answered(
        folder().path(),
        &["--tools-from", "m.yml", "--fault", "hnag"],
        "",
    );
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("did you mean `hang`? the kinds are none, hang, wedged, slow:<ms>"),
        "{said}"
    );
}

#[test]
fn a_scope_without_a_fault_is_refused_since_it_would_do_nothing() {
    let output = answered(
        folder().path(),
        &["--tools-from", "m.yml", "--fault-scope", "all"],
        "",
    );
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("--fault <KIND>"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn a_tape_that_is_none_is_refused_with_the_reason() {
    let output = answered(folder().path(), &["--from-cassette", "m.yml"], "");
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).starts_with("error: m.yml: line 1, column 1: this is not JSON"),
        "{output:?}"
    );
    let output = answered(folder().path(), &[], "");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn disconnect_ends_the_process() {
    let output = answered(
        folder().path(),
        &["--tools-from", "m.yml", "--fault", "disconnect"],
        &format!("{CALL}\n"),
    );
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
}

#[test]
fn flood_stderr_floods_and_answers() {
    let output = answered(
        folder().path(),
        &["--tools-from", "m.yml", "--fault", "flood-stderr"],
        &format!("{CALL}\n"),
    );
    assert!(output.stderr.len() > 4_000_000, "{}", output.stderr.len());
    assert!(text(&output.stdout).contains("hello"));
}

struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ended = self.0.kill();
        let _reaped = self.0.wait();
    }
}

/// The answer to a call at this address, as a request for this host.
fn asked(address: &str, host: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let head = "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: hi\r\nConnection: close";
    let length = CALL.len();
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nHost: {host}\r\n{head}\r\nContent-Length: {length}\r\n\r\n{CALL}"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_name_is_let_in_only_where_it_is_allowed_and_the_refusal_says_how() {
    let folder = folder();
    let args = [
        "--tools-from",
        "m.yml",
        "--http",
        "127.0.0.1:0",
        "--allow-host",
        "mock",
    ];
    let mut child = Killed(mock(folder.path(), &args).spawn().unwrap());
    let url = BufReader::new(child.0.stderr.take().unwrap())
        .lines()
        .next()
        .unwrap()
        .unwrap();
    let address = url
        .strip_prefix("http://")
        .and_then(|url| url.strip_suffix("/mcp"))
        .unwrap();
    assert!(asked(address, "mock:8080").contains(r#""text":"hello""#));
    let refused = asked(address, "evil.example");
    assert!(
        refused.starts_with("HTTP/1.1 403")
            && refused.contains("start the mock with --allow-host evil.example")
    );
}

#[test]
fn an_address_that_others_can_reach_needs_a_host_name() {
    let folder = folder();
    let args = ["--tools-from", "m.yml", "--http", "0.0.0.0:0"];
    let refused = mock(folder.path(), &args).output().unwrap();
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("--allow-host mock.internal"), "{said}");
    let mut child = Killed(
        mock(
            folder.path(),
            &[&args[..], &["--allow-host", "mock"]].concat(),
        )
        .spawn()
        .unwrap(),
    );
    let first = BufReader::new(child.0.stderr.take().unwrap())
        .lines()
        .next()
        .unwrap()
        .unwrap();
    let port = first.trim_end_matches("/mcp").rsplit(':').next().unwrap();
    assert!(asked(&format!("127.0.0.1:{port}"), "mock:8080").contains(r#""text":"hello""#));
}

#[test]
fn over_http_the_first_line_is_the_address_and_a_change_of_the_file_is_served() {
    let folder = folder();
    let mut child = Killed(
        mock(
            folder.path(),
            &["--tools-from", "m.yml", "--http", "127.0.0.1:0"],
        )
        .spawn()
        .unwrap(),
    );
    let mut said = BufReader::new(child.0.stderr.take().unwrap()).lines();
    let url = said.next().unwrap().unwrap();
    let address = url
        .strip_prefix("http://")
        .and_then(|url| url.strip_suffix("/mcp"))
        .unwrap()
        .to_owned();
    let ask = || asked(&address, &address);
    assert!(ask().contains(r#""text":"hello""#));
    std::fs::write(
        folder.path().join("m.yml"),
        MANIFEST.replace("hello", "goodbye"),
    )
    .unwrap();
    assert_eq!(said.next().unwrap().unwrap(), "m.yml was read again");
    assert!(ask().contains(r#""text":"goodbye""#));
}

#[test]
fn a_request_that_names_another_host_in_any_way_is_refused() {
    let folder = folder();
    let mut server = Killed(
        mock(
            folder.path(),
            &["--tools-from", "m.yml", "--http", "127.0.0.1:0"],
        )
        .spawn()
        .unwrap(),
    );
    let mut url = String::new();
    BufReader::new(server.0.stderr.take().unwrap())
        .read_line(&mut url)
        .unwrap();
    let address = url
        .trim()
        .strip_prefix("http://")
        .and_then(|url| url.strip_suffix("/mcp"))
        .unwrap()
        .to_owned();
    let status = |target: &str, hosts: &[&str]| {
        let hosts: String = hosts
            .iter()
            .map(|host| ["Host: ", host, "\r\n"].concat())
            .collect();
        let mut stream = TcpStream::connect(&address).unwrap();
        write!(
            stream,
            "GET {target} HTTP/1.1\r\n{hosts}Connection: close\r\n\r\n"
        )
        .unwrap();
        let mut said = String::new();
        let _cut = stream.read_to_string(&mut said);
        said.split(' ').nth(1).unwrap_or_default().to_owned()
    };
    assert_eq!(status("/mcp", &["localhost", "evil.example"]), "400");
    for (target, hosts) in [
        ("http://evil.example/mcp", ["localhost"].as_slice()),
        ("http://localhost/mcp", &["evil.example"]),
        ("/mcp", &["[::1]evil"]),
        ("/mcp", &["localhost:80:evil"]),
        ("/mcp", &["127.0.0.1.evil.example"]),
    ] {
        assert_eq!(status(target, hosts), "403", "{target} {hosts:?}");
    }
    assert_ne!(status("/mcp", &["localhost"]), "403");
}
