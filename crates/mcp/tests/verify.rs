//! Is drift between a tape and a live server found, with the right tier?

#![allow(clippy::unwrap_used, missing_docs)]

use mcptest_mcp::client::{Endpoint, ServerSpec};
use mcptest_mcp::jsonrpc::{self, Body, RpcError};
use mcptest_mcp::proxy::redactor;
use mcptest_mcp::tape::Tape;
use mcptest_mcp::verify::{Drift, Ignore, Tier, human, replay};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, duplex};

type Answers = fn(&str, &Value) -> Result<Value, RpcError>;

/// A server in this process that answers by a table.
fn server(answers: Answers) -> ServerSpec {
    let connect = move || {
        let (ours, theirs) = duplex(1 << 16);
        let (read, write) = tokio::io::split(theirs);
        tokio::spawn(async move {
            let (reader, mut writer) = tokio::io::split(ours);
            let mut lines = BufReader::new(reader).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                let Ok(message) = jsonrpc::parse(&line) else {
                    continue;
                };
                let Body::Request { id, method, params } = message.body else {
                    continue;
                };
                let params = params
                    .map(|raw| serde_json::from_str(raw.get()).unwrap())
                    .unwrap_or_default();
                let mut answer = match answers(&method, &params) {
                    Ok(result) => jsonrpc::result(&id, &result.to_string()),
                    Err(error) => jsonrpc::error(Some(&id), &error),
                };
                answer.push('\n');
                if writer.write_all(answer.as_bytes()).await.is_err() {
                    return;
                }
            }
        });
        (Box::new(read) as _, Box::new(write) as _)
    };
    ServerSpec::new("live", Endpoint::Pipe(Arc::new(connect)))
}

fn initialized() -> Value {
    json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}})
}

fn tool(name: &str, schema: &Value) -> Value {
    json!({"name": name, "description": "Does it", "inputSchema": schema})
}

fn plain() -> Value {
    json!({"type": "object", "properties": {"q": {"type": "string"}}})
}

fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}], "structuredContent": {"n": 1, "at": text}})
}

/// The table of the server that was recorded.
fn recorded(method: &str, params: &Value) -> Result<Value, RpcError> {
    match method {
        "initialize" => Ok(initialized()),
        "tools/list" => Ok(json!({"tools": [tool("find", &plain()), tool("drop", &plain())]})),
        "tools/call" if params["name"] == "find" => Ok(text("then")),
        "tools/call" => Err(RpcError::new(-32000, "not now")),
        _ => Err(RpcError::new(-32601, "no such method")),
    }
}

fn tape() -> Tape {
    let asked = [
        ("initialize", json!({"protocolVersion": "2025-11-25"})),
        ("tools/list", json!({})),
        (
            "tools/call",
            json!({"name": "find", "arguments": {"q": "x"}}),
        ),
        (
            "tools/call",
            json!({"name": "drop", "arguments": {"q": "x"}}),
        ),
        (
            "tools/call",
            json!({"name": "find", "arguments": {"q": "[redacted:token]"}}),
        ),
    ];
    tape_of(&asked, recorded)
}

fn tape_of(asked: &[(&str, Value)], recorded: Answers) -> Tape {
    let mut lines =
        vec![r#"{"format":"mcptest-tape","version":1,"server":{"command":["srv"]}}"#.to_owned()];
    for (id, (method, params)) in asked.iter().enumerate() {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let mut answer = json!({"jsonrpc": "2.0", "id": id});
        match recorded(method, params) {
            Ok(result) => answer["result"] = result,
            Err(error) => answer["error"] = json!({"code": error.code, "message": error.message}),
        }
        lines.push(json!({"at_us": id * 10, "from": "client", "message": request}).to_string());
        lines.push(json!({"at_us": id * 10 + 1, "from": "server", "message": answer}).to_string());
    }
    Tape::read(&(lines.join("\n") + "\n")).unwrap()
}

fn drift(answers: Answers, ignored: &[&str]) -> Drift {
    drift_from(&tape(), answers, ignored)
}

fn drift_from(tape: &Tape, answers: Answers, ignored: &[&str]) -> Drift {
    let ignored: Vec<Ignore> = ignored.iter().map(|path| path.parse().unwrap()).collect();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let redactor = redactor(&[], std::iter::empty(), &[]).unwrap();
    runtime
        .block_on(replay(tape, server(answers), ignored, &redactor, &|_| {}))
        .unwrap()
}

fn counts(drift: &Drift) -> [usize; 3] {
    Tier::ALL.map(|tier| drift.count(tier))
}

#[test]
fn the_same_server_has_not_drifted() {
    let drift = drift(recorded, &[]);
    assert_eq!(counts(&drift), [0, 0, 0], "{}", human(&drift));
    assert_eq!((drift.replayed, drift.left_out.len()), (3, 1));
    assert_eq!(
        drift.left_out[0].reason,
        "an argument is hidden on the tape"
    );
}

/// A server that says more to a client that can do more, as the reference server does.
fn answers_by_capabilities(method: &str, params: &Value) -> Result<Value, RpcError> {
    let of_request = &params["_meta"]["io.modelcontextprotocol/clientCapabilities"];
    match method {
        "initialize" => {
            let mut answer = initialized();
            answer["instructions"] = json!(params["capabilities"].to_string());
            Ok(answer)
        }
        "server/discover" => Ok(
            json!({"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}),
        ),
        "tools/list" if of_request.get("sampling").is_some() => {
            Ok(json!({"tools": [tool("find", &plain()), tool("ask_the_model", &plain())]}))
        }
        "tools/list" => Ok(json!({"tools": [tool("find", &plain())]})),
        _ => Err(RpcError::new(-32601, "no such method")),
    }
}

#[test]
fn an_unchanged_server_that_looks_at_the_clients_capabilities_has_not_drifted() {
    let legacy = json!({"protocolVersion": "2025-11-25", "capabilities": {"roots": {}}});
    let modern = json!({"_meta": {"io.modelcontextprotocol/clientCapabilities": {}}});
    for asked in [
        [("initialize", legacy), ("tools/list", json!({}))],
        [("server/discover", modern.clone()), ("tools/list", modern)],
    ] {
        let tape = tape_of(&asked, answers_by_capabilities);
        let drift = drift_from(&tape, answers_by_capabilities, &[]);
        assert_eq!(counts(&drift), [0, 0, 0], "{}", human(&drift));
        assert!(drift.is_anything_checked);
    }
}

#[test]
fn a_tool_that_is_gone_and_a_call_that_fails_now_break() {
    let drift = drift(
        |method, params| match method {
            "tools/list" => Ok(json!({"tools": [tool("find", &plain()), tool("new", &plain())]})),
            "tools/call" if params["name"] == "find" => {
                Ok(json!({"content": [{"type": "text", "text": "no"}], "isError": true}))
            }
            _ => recorded(method, params),
        },
        &[],
    );
    assert_eq!(counts(&drift), [2, 0, 1], "{}", human(&drift));
    let shown = human(&drift);
    assert!(shown.contains("tool `drop` is gone"), "{shown}");
    assert!(
        shown.contains("call 1 `find`: result.isError succeeded, but now fails"),
        "{shown}"
    );
    assert!(
        shown.ends_with("3 requests replayed: 2 breaking, 0 changed, 1 added\n"),
        "{shown}"
    );
}

#[test]
fn each_session_is_replayed_in_its_own_era_and_its_calls_are_numbered_as_in_a_run() {
    fn both(method: &str, params: &Value) -> Result<Value, RpcError> {
        let is_modern = params["_meta"]["io.modelcontextprotocol/protocolVersion"].is_string();
        match method {
            "server/discover" => Ok(
                json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
                "resultType": "complete", "serverInfo": {"name": "s", "version": "1"}}),
            ),
            "tools/call" => Ok(text(if is_modern { "modern" } else { "legacy" })),
            _ => recorded(method, params),
        }
    }
    let message = |session: u64, at: usize, from: &str, message: Value| {
        json!({"at_us": at, "session": session, "from": from, "message": message}).to_string()
    };
    let call = json!({"name": "find", "arguments": {"q": "x"}});
    let mut modern = call.clone();
    modern["_meta"] = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
    let mut lines =
        vec![r#"{"format":"mcptest-tape","version":1,"server":{"url":"http://h/mcp"}}"#.to_owned()];
    let sessions = [
        (
            1,
            "initialize",
            json!({"protocolVersion": "2025-11-25"}),
            call,
        ),
        (2, "server/discover", json!({}), modern),
    ];
    for (session, begins, params, call) in sessions {
        for (id, (method, params)) in [(begins, params), ("tools/call", call)]
            .into_iter()
            .enumerate()
        {
            let answer = both(method, &params).unwrap();
            lines.push(message(
                session,
                id,
                "client",
                json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}),
            ));
            lines.push(message(
                session,
                id,
                "server",
                json!({"jsonrpc": "2.0", "id": id, "result": answer}),
            ));
        }
    }
    let tape = Tape::read(&(lines.join("\n") + "\n")).unwrap();
    let same = drift_from(&tape, both, &[]);
    assert_eq!(
        (same.replayed, counts(&same)),
        (2, [0, 0, 0]),
        "{}",
        human(&same)
    );
    let other = drift_from(
        &tape,
        |method, params| {
            if method == "tools/call" {
                Err(RpcError::new(-32000, "not now"))
            } else {
                both(method, params)
            }
        },
        &[],
    );
    let shown = human(&other);
    for part in [
        "run 1: call 1 `find`: error succeeded",
        "run 2: call 1 `find`: error succeeded",
    ] {
        assert!(shown.contains(part), "{shown}");
    }
}

#[test]
fn other_words_changed_and_paths_can_be_ignored() {
    let answers: Answers = |method, params| match method {
        "tools/call" if params["name"] == "find" => Ok(text("now")),
        _ => recorded(method, params),
    };
    assert_eq!(counts(&drift(answers, &[])), [0, 2, 0]);
    assert_eq!(
        counts(&drift(answers, &["result.content[*].text", "**.at"])),
        [0, 0, 0]
    );
    assert_eq!(counts(&drift(answers, &["find:result"])), [0, 0, 0]);
    let drift = drift(answers, &["find:result", "**.text", "result.nosuch"]);
    assert_eq!(drift.unused_ignores, ["result.nosuch"]);
    assert!(
        human(&drift).contains("ignored, but not found\n  result.nosuch\n"),
        "{}",
        human(&drift)
    );
}

#[test]
fn a_refusal_where_there_was_a_result_breaks_and_the_other_way_changed() {
    let drift = drift(
        |method, params| match method {
            "tools/call" if params["name"] == "find" => {
                Err(RpcError::new(-32602, "no such argument"))
            }
            "tools/call" => Ok(text("dropped")),
            _ => recorded(method, params),
        },
        &[],
    );
    assert_eq!(counts(&drift), [1, 1, 0], "{}", human(&drift));
}

/// A server with three pages of one tool each, whose cursors differ for the live client.
fn paged(params: &Value, cursors: [&str; 2], names: [&str; 3]) -> Value {
    let page = cursors
        .iter()
        .position(|cursor| params["cursor"] == **cursor)
        .map_or(0, |at| at + 1);
    let mut answer = json!({"tools": [tool(names[page], &plain())]});
    if let Some(next) = cursors.get(page) {
        answer["nextCursor"] = json!(next);
    }
    answer
}

#[test]
fn pages_that_the_client_never_read_are_no_drift() {
    let then: Answers = |method, params| match method {
        "tools/list" => Ok(paged(params, ["then-2", "then-3"], ["a", "b", "c"])),
        _ => recorded(method, params),
    };
    let now: Answers = |method, params| match method {
        "tools/list" => Ok(paged(params, ["now-2", "now-3"], ["a", "b", "c"])),
        _ => recorded(method, params),
    };
    let changed: Answers = |method, params| match method {
        "tools/list" => Ok(paged(params, ["now-2", "now-3"], ["new", "other", "b"])),
        _ => recorded(method, params),
    };
    let first = ("tools/list", json!({}));
    let pages = [
        first,
        ("tools/list", json!({"cursor": "then-2"})),
        ("tools/list", json!({"cursor": "then-3"})),
    ];
    for read in 1..=3 {
        let drift = drift_from(&tape_of(&pages[..read], then), now, &[]);
        assert_eq!(counts(&drift), [0, 0, 0], "{read}: {}", human(&drift));
    }
    let drift = drift_from(&tape_of(&pages[..2], then), changed, &[]);
    assert!(
        human(&drift).contains("tool `a` is gone"),
        "{}",
        human(&drift)
    );
    assert_eq!(
        counts(&drift),
        [1, 0, 0],
        "what stands on other pages is not known: {}",
        human(&drift)
    );
}
