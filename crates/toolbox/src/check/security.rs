//! SECURITY: can a web page, a path or an error get more from a server than it should give?

use super::answer::Answer;
use super::bench::{CANARY, Callable, ServerUnderTest};
use super::finding::Finding;
use super::{NotSent, Probe, ProbeOutcome, does_not_apply, skip};
use mcptest_mcp::client::Endpoint;
use regex::Regex;
use serde_json::{Value, json};
use std::future::ready;

const FOREIGN: &str = "mcptest.example";
const FOREIGN_ORIGIN: &str = "http://mcptest.example";
const OVERSIZED: usize = 16 << 20;
const SHORTEST_ID: usize = 16;
const MOST_PATHS: usize = 12;
/// Files of every system of a kind, each with text that only it contains.
const OUTSIDE: [(&str, &str); 4] = [
    ("../../../../../../../../../../etc/passwd", "root:x:0:0:"),
    ("/etc/passwd", "root:x:0:0:"),
    ("file:///etc/passwd", "root:x:0:0:"),
    (
        "..\\..\\..\\..\\..\\..\\..\\..\\Windows\\win.ini",
        "[fonts]",
    ),
];

pub(super) const PROBES: &[Probe] = &[
    Probe {
        id: "SECURITY-origin",
        title: "the server refuses a request from a foreign web page",
        says: "servers must validate the Origin header; if it is present and invalid, they must respond with HTTP 403",
        sections: [
            "basic/transports, Security Warning",
            "basic/transports/streamable-http, Security & Endpoint",
        ],
        help: "compare `Origin` with a list of allowed origins, and answer 403 to all others",
        run: |bench| Box::pin(origin(bench)),
    },
    Probe {
        id: "SECURITY-rebinding",
        title: "the server refuses a foreign name that leads to this machine",
        says: "servers must validate the Origin header to prevent DNS rebinding, in which Host and Origin agree",
        sections: [
            "basic/transports, Security Warning",
            "basic/transports/streamable-http, Security & Endpoint",
        ],
        help: "compare `Host` and `Origin` with fixed names, not with each other",
        run: |bench| Box::pin(rebinding(bench)),
    },
    Probe {
        id: "SECURITY-oversized-body",
        title: "the server refuses or survives a body of 16 MiB",
        says: "servers must validate all tool inputs; input that is too large is refused, and the server continues",
        sections: ["server/tools, Security Considerations"; 2],
        help: "limit the size of a request, and answer 413 above it",
        run: |bench| Box::pin(oversized_body(bench)),
    },
    Probe {
        id: "SECURITY-session-id",
        title: "session ids cannot be guessed",
        says: "the session ID should be globally unique and cryptographically secure, and must be visible ASCII",
        sections: ["basic/transports, Session Management", ""],
        help: "use a random UUID",
        run: |bench| Box::pin(session_id(bench)),
    },
    Probe {
        id: "SECURITY-unknown-session",
        title: "the server refuses a session that never began",
        says: "a server must respond to requests of a session that has ended with HTTP 404",
        sections: ["basic/transports, Session Management", ""],
        help: "answer an unknown `Mcp-Session-Id` with 404",
        run: |bench| Box::pin(unknown_session(bench)),
    },
    Probe {
        id: "SECURITY-path-traversal",
        title: "a path in an argument does not lead out of its folder",
        says: "servers must validate all tool inputs and implement proper access controls",
        sections: ["server/tools, Security Considerations"; 2],
        help: "resolve the path, links included, and refuse paths outside the allowed folders",
        run: |bench| Box::pin(path_traversal(bench)),
    },
];

/// The probes that judge all observed errors.
pub(super) const AT_THE_END: &[Probe] = &[
    Probe {
        id: "SECURITY-secrets-in-errors",
        title: "no error contains a variable of the environment",
        says: "servers must sanitize tool outputs",
        sections: ["server/tools, Security Considerations"; 2],
        help: "never put the environment into an error",
        run: |bench| Box::pin(ready(secrets_in_errors(bench))),
    },
    Probe {
        id: "SECURITY-stack-trace",
        title: "no error contains a stack trace with paths of the machine",
        says: "servers must sanitize tool outputs",
        sections: ["server/tools, Security Considerations"; 2],
        help: "answer with a sentence, and write the trace to standard error",
        run: |bench| Box::pin(ready(stack_trace(bench))),
    },
];

/// Sends a harmless request with these headers, and returns the status of its answer; 0 if the
/// connection was closed.
async fn with_headers(
    bench: &mut ServerUnderTest,
    headers: &[(&str, &str)],
) -> Result<(String, u16), NotSent> {
    bench.only_over(true)?;
    let id = bench.next_id();
    let (client, method) = (bench.client()?, bench.harmless());
    let line = client.request_line(&id, method, json!({}));
    let mut all = vec![("mcp-method", method)];
    all.extend(headers);
    let came = bench.raw(client, &line, &all, &id).await;
    let named: Vec<String> = headers
        .iter()
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    Ok((
        format!("{method} with {}", named.join(", ")),
        came.status.unwrap_or_default(),
    ))
}

fn is_local(bench: &ServerUnderTest) -> bool {
    let Endpoint::Url { url, .. } = &bench.spec.endpoint else {
        return false;
    };
    let url = reqwest::Url::parse(url).ok();
    let host = url
        .as_ref()
        .and_then(|url| url.host_str())
        .unwrap_or_default();
    ["localhost", "127.0.0.1", "[::1]"].contains(&host)
}

async fn origin(bench: &mut ServerUnderTest) -> ProbeOutcome {
    let (sent, status) = with_headers(bench, &[("origin", FOREIGN_ORIGIN)]).await?;
    let finding = match status {
        403 | 0 => Finding::held(),
        200..=299 if is_local(bench) => {
            Finding::broken("the server answered a request from a foreign web page")
        }
        // Who serves the whole web may mean to serve every page of it.
        200..=299 => Finding::weak("the server answered a request from a foreign web page"),
        status => Finding::weak(format!("it was answered with HTTP {status}, not 403")),
    };
    Ok(finding.sent(sent).came(format!("HTTP {status}")))
}

async fn rebinding(bench: &mut ServerUnderTest) -> ProbeOutcome {
    let (sent, status) =
        with_headers(bench, &[("host", FOREIGN), ("origin", FOREIGN_ORIGIN)]).await?;
    if !is_local(bench) {
        return does_not_apply("it applies only to servers on this machine");
    }
    let is_served = (200..=299).contains(&status);
    let why = "the server answered a request for a foreign name";
    let finding = if is_served {
        Finding::broken(why)
    } else {
        Finding::held()
    };
    Ok(finding.sent(sent).came(format!("HTTP {status}")))
}

async fn oversized_body(bench: &mut ServerUnderTest) -> ProbeOutcome {
    bench.only_over(true)?;
    let id = bench.next_id();
    let client = bench.client()?;
    let params =
        json!({ "name": "mcptest_no_such_tool", "arguments": { "text": "x".repeat(OVERSIZED) } });
    let line = client.request_line(&id, "tools/call", params);
    let headers = [
        ("mcp-method", "tools/call"),
        ("mcp-name", "mcptest_no_such_tool"),
    ];
    let came = bench.raw(client, &line, &headers, &id).await;
    let finding = match bench.is_alive().await {
        Ok(()) => Finding::held(),
        Err(_) => Finding::broken("the server did not continue after a body of 16 MiB"),
    };
    Ok(finding
        .sent("tools/call mcptest_no_such_tool with a string of 16 MiB")
        .came(came.words()))
}

async fn session_id(bench: &mut ServerUnderTest) -> ProbeOutcome {
    bench.only_over(true)?;
    let first = bench
        .client()?
        .session_id()
        .ok_or("the server gives no session id")?;
    let second = match bench.another().await {
        Ok(other) => {
            let id = other.session_id();
            other.close().await;
            id.unwrap_or_default()
        }
        Err(error) => {
            return Ok(Finding::broken("the server does not serve a second client")
                .came(error.to_string()));
        }
    };
    let finding = if !first.bytes().all(|byte| (0x21..=0x7e).contains(&byte)) {
        Finding::broken("the session id has characters that are not visible ASCII")
    } else if first == second {
        Finding::weak("two sessions have the same id")
    } else if first.len() < SHORTEST_ID {
        Finding::weak(format!(
            "a session id of {} characters can be guessed",
            first.len()
        ))
    } else {
        Finding::held()
    };
    // An id lets whoever has it into the session.
    let came = format!("ids of {} and {} characters", first.len(), second.len());
    Ok(finding.sent("initialize, twice").came(came))
}

async fn unknown_session(bench: &mut ServerUnderTest) -> ProbeOutcome {
    bench.only_over(true)?;
    bench
        .client()?
        .session_id()
        .ok_or("the server gives no session id")?;
    let made_up = "00000000-0000-4000-8000-6d6370746573";
    let (sent, status) = with_headers(bench, &[("mcp-session-id", made_up)]).await?;
    let finding = match status {
        200..=299 => Finding::weak("the server answered a request of a session that never began"),
        500.. => Finding::weak("a request of a session that never began broke the server"),
        _ => Finding::held(),
    };
    Ok(finding.sent(sent).came(format!("HTTP {status}")))
}

async fn path_traversal(bench: &mut ServerUnderTest) -> ProbeOutcome {
    let tools = bench.callable().await?;
    // Not even with `--allow-writes`: a tool that writes would write there.
    let readers = tools.iter().filter(|tool| tool.is_read_only);
    let tried: Vec<(&Callable, Value, &str)> = readers
        .flat_map(|tool| {
            let made = move |(path, marker)| Some((tool, path_argument(tool, path)?, marker));
            OUTSIDE.into_iter().filter_map(made)
        })
        .take(MOST_PATHS)
        .collect();
    let Some((first, arguments, _)) = tried.first() else {
        return skip("no tool that says `readOnlyHint: true` takes a path");
    };
    let sent = format!("tools/call {} {arguments}", first.name);
    let mut came = String::new();
    for (tool, arguments, marker) in &tried {
        let answer = bench.call(&tool.name, arguments).await;
        if matches!(&answer, Answer::Result(result) if result.to_string().contains(marker)) {
            let why = format!("`{}` gives the contents of a file of the system", tool.name);
            return Ok(Finding::broken(why)
                .sent(format!("tools/call {} {arguments}", tool.name))
                .came(answer.words()));
        }
        came = answer.words();
    }
    Ok(Finding::held().sent(sent).came(came))
}

/// Valid arguments with this path as the one that looks like a path.
fn path_argument(tool: &Callable, path: &str) -> Option<Value> {
    let mut arguments = tool.arguments.clone()?;
    let is_path = |name: &str| {
        let name = name.to_ascii_lowercase();
        ["path", "file", "dir", "folder", "uri"]
            .iter()
            .any(|part| name.contains(part))
    };
    let properties = tool.input["properties"].as_object()?;
    let value = |schema: &Value| match schema["type"].as_str() {
        Some("string") if schema.get("enum").is_none() => Some(json!(path)),
        Some("array") if schema["items"]["type"] == "string" => Some(json!([path])),
        _ => None,
    };
    let mut found = properties.iter().filter(|(name, _)| is_path(name));
    let (name, value) = found.find_map(|(name, schema)| Some((name, value(schema)?)))?;
    arguments[name] = value;
    Some(arguments)
}

/// Everything that claims to be an error.
fn errors(bench: &ServerUnderTest) -> Vec<String> {
    let is_error =
        |text: &String| Answer::in_message(text).is_some_and(|answer| answer.is_refusal());
    bench.said().into_iter().filter(is_error).collect()
}

fn secrets_in_errors(bench: &ServerUnderTest) -> ProbeOutcome {
    bench.only_over(false)?;
    let errors = errors(bench);
    let finding = match errors.iter().find(|text| text.contains(CANARY)) {
        Some(text) => {
            Finding::broken("an error contains the value of an environment variable").came(text)
        }
        None if errors.is_empty() => return skip("no error was seen"),
        None => Finding::held().came(format!("{} errors", errors.len())),
    };
    Ok(finding.sent("a variable MCPTEST_CANARY_TOKEN, and all probes before this one"))
}

fn stack_trace(bench: &ServerUnderTest) -> ProbeOutcome {
    let errors = errors(bench);
    // A frame as Python, JavaScript, Java and Rust write it, with a path from the root.
    let frame = r#"File \\?"/[^"]+", line \d+|\bat .{0,120}\(?(file://)?(/[\w.@-]+){2,}:\d+:\d+\)?|\bat [\w.$]+\([\w]+\.java:\d+\)|panicked at /"#;
    let Ok(frame) = Regex::new(frame) else {
        return skip("the pattern is wrong");
    };
    let finding = match errors.iter().find(|text| frame.is_match(text)) {
        Some(text) => Finding::weak("an error contains a stack trace").came(text),
        None if errors.is_empty() => return skip("no error was seen"),
        None => Finding::held().came(format!("{} errors", errors.len())),
    };
    Ok(finding.sent("all probes before this one"))
}
