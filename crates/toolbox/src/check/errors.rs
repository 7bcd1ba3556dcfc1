//! ERRORS: does the server refuse invalid requests in a way that clients understand?

use super::answer::Answer;
use super::bench::{Callable, ServerUnderTest};
use super::finding::Finding;
use super::{Probe, ProbeOutcome, skip};
use mcptest_mcp::jsonrpc::code;
use serde_json::{Value, json};

const NO_SUCH_TOOL: &str = "mcptest_no_such_tool";
const NOT_JSON: &str = r#"{"jsonrpc": "2.0", "id": "check-json", "method": "tools/li"#;
const NO_REQUEST: &str = r#"{"jsonrpc": "2.0", "id": "check-request", "verb": "tools/list"}"#;

pub(super) const PROBES: &[Probe] = &[
    Probe {
        id: "ERRORS-unknown-method",
        title: "the server refuses an unknown method",
        says: "messages must follow JSON-RPC 2.0, in which a method that does not exist is the error -32601",
        sections: ["basic, Messages", "basic, Error Codes"],
        help: "answer an unknown method with the error -32601",
        run: |bench| Box::pin(unknown_method(bench)),
    },
    Probe {
        id: "ERRORS-unknown-tool",
        title: "the server refuses an unknown tool",
        says: "an unknown tool is a protocol error, as -32602; tool execution errors are for the tools' own failures",
        sections: ["server/tools, Error Handling"; 2],
        help: "answer a call of an unlisted tool with the error -32602",
        run: |bench| Box::pin(unknown_tool(bench)),
    },
    Probe {
        id: "ERRORS-call-without-name",
        title: "the server refuses a call that names no tool",
        says: "a request that fails to satisfy the schema of CallToolRequest is a protocol error",
        sections: ["server/tools, Error Handling"; 2],
        help: "answer a `tools/call` without `name` with the error -32602",
        run: |bench| Box::pin(call_without_name(bench)),
    },
    Probe {
        id: "ERRORS-missing-arguments",
        title: "the server refuses a call without its required arguments",
        says: "servers must validate all tool inputs; a bad input is a result with `isError: true` or a protocol error",
        sections: ["server/tools, Security Considerations"; 2],
        help: "check the arguments against the tool's inputSchema first",
        run: |bench| Box::pin(missing_arguments(bench)),
    },
    Probe {
        id: "ERRORS-wrong-arguments",
        title: "the server refuses an argument of the wrong type",
        says: "servers must validate all tool inputs; a bad input is a result with `isError: true` or a protocol error",
        sections: ["server/tools, Security Considerations"; 2],
        help: "check the arguments against the tool's inputSchema first",
        run: |bench| Box::pin(wrong_arguments(bench)),
    },
    Probe {
        id: "ERRORS-invalid-json",
        title: "the server refuses or ignores text that is not JSON, and continues",
        says: "messages must follow JSON-RPC 2.0, in which invalid JSON is the error -32700 without an id",
        sections: ["basic, Messages", "basic, Error Codes"],
        help: "answer with the error -32700, over HTTP with status 400, and continue",
        run: |bench| Box::pin(unreadable(bench, NOT_JSON, "text that is not JSON")),
    },
    Probe {
        id: "ERRORS-invalid-request",
        title: "the server refuses or ignores a message that is not a request, and continues",
        says: "messages must follow JSON-RPC 2.0, in which JSON that is not a request is the error -32600",
        sections: ["basic, Messages", "basic, Error Codes"],
        help: "answer with the error -32600, over HTTP with status 400, and continue",
        run: |bench| {
            Box::pin(unreadable(
                bench,
                NO_REQUEST,
                "a message that is not a request",
            ))
        },
    },
];

async fn unknown_method(bench: &mut ServerUnderTest) -> ProbeOutcome {
    let method = "mcptest/no-such-method";
    let answer = bench.ask(method, json!({})).await;
    let finding = match &answer {
        Answer::Error(code::METHOD_NOT_FOUND, _) => Finding::held(),
        Answer::Error(code, _) => Finding::weak(format!("the error is {code}, not -32601")),
        Answer::Result(_) => Finding::broken("the server answered an unknown method with a result"),
        Answer::None(_) => Finding::broken("the server did not answer an unknown method"),
    };
    Ok(finding.sent(method).came(answer.words()))
}

/// A call that cannot reach a tool: a protocol error is required, a failed result is tolerated.
fn refused(answer: &Answer, what: &str) -> Finding {
    match answer {
        Answer::Error(code::INVALID_PARAMS, _) => Finding::held(),
        Answer::Error(code, _) => Finding::weak(format!("the error is {code}, not -32602")),
        answer if answer.is_tool_error() => Finding::weak(format!(
            "the server answered {what} with a result with `isError: true`, not with an error"
        )),
        Answer::Result(_) => Finding::broken(format!(
            "the server answered {what} with a result that reports no error"
        )),
        Answer::None(_) => Finding::broken(format!("the server did not answer {what}")),
    }
}

async fn unknown_tool(bench: &mut ServerUnderTest) -> ProbeOutcome {
    bench.listed().await?;
    let answer = bench.call(NO_SUCH_TOOL, &json!({})).await;
    let finding = refused(&answer, "an unknown tool");
    Ok(finding
        .sent(format!("tools/call {NO_SUCH_TOOL} {{}}"))
        .came(answer.words()))
}

async fn call_without_name(bench: &mut ServerUnderTest) -> ProbeOutcome {
    bench.listed().await?;
    let answer = bench.ask("tools/call", json!({ "arguments": {} })).await;
    // Over HTTP in the modern era a header is missing as well, which has a code of its own.
    let finding = match &answer {
        Answer::Error(code::HEADER_MISMATCH, _) if bench.is_http() => Finding::held(),
        answer => refused(answer, "a call without a name"),
    };
    Ok(finding
        .sent(r#"tools/call {"arguments": {}}"#)
        .came(answer.words()))
}

/// A call whose arguments the tool's own schema refuses.
async fn bad_call(
    bench: &ServerUnderTest,
    tool: &Callable,
    arguments: &Value,
    what: &str,
) -> ProbeOutcome {
    let answer = bench.call(&tool.name, arguments).await;
    let finding = match &answer {
        answer if answer.is_refusal() => Finding::held(),
        Answer::None(_) => Finding::broken(format!("the server did not answer {what}")),
        _ => Finding::broken(format!(
            "`{}` accepted {what} and answered with a result",
            tool.name
        )),
    };
    Ok(finding
        .sent(format!("tools/call {} {arguments}", tool.name))
        .came(answer.words()))
}

async fn missing_arguments(bench: &mut ServerUnderTest) -> ProbeOutcome {
    let tools = bench.callable().await?;
    let has_required = |tool: &&Callable| {
        tool.input["required"]
            .as_array()
            .is_some_and(|names| !names.is_empty())
    };
    match tools.iter().find(has_required) {
        Some(tool) => {
            bad_call(
                bench,
                tool,
                &json!({}),
                "a call without its required arguments",
            )
            .await
        }
        None => skip("no callable tool has required arguments"),
    }
}

async fn wrong_arguments(bench: &mut ServerUnderTest) -> ProbeOutcome {
    let tools = bench.callable().await?;
    match tools.iter().find_map(|tool| Some((tool, spoiled(tool)?))) {
        Some((tool, arguments)) => {
            bad_call(bench, tool, &arguments, "an argument of the wrong type").await
        }
        None => skip("no callable tool has an argument of a plain type"),
    }
}

/// Valid arguments except one, which is an object although a string, a number or a flag is
/// declared.
fn spoiled(tool: &Callable) -> Option<Value> {
    let mut arguments = tool.arguments.clone()?;
    let properties = tool.input["properties"].as_object()?;
    let is_plain = |schema: &Value| {
        matches!(
            schema["type"].as_str(),
            Some("string" | "integer" | "number" | "boolean")
        )
    };
    let (name, _) = properties.iter().find(|(_, schema)| is_plain(schema))?;
    arguments[name] = json!({ "mcptest": ["not", "a", "plain", "value"] });
    Some(arguments)
}

/// Sends a string that no client should send. Any refusal is fine, but the server must continue.
async fn unreadable(bench: &mut ServerUnderTest, text: &str, what: &str) -> ProbeOutcome {
    let came = match bench.raw_and_on(text, &[]).await {
        Ok(came) => came,
        Err(why) => {
            return Ok(
                Finding::broken(format!("the server did not continue after {what}"))
                    .sent(text)
                    .came(why.to_string()),
            );
        }
    };
    let finding = match (came.answer(), came.status) {
        (Some(Answer::Result(_)), _) => Finding::weak(format!(
            "the server answered {what} with a \
        result"
        )),
        (_, Some(200..=299)) => {
            Finding::weak(format!("the server answered {what} with a success status"))
        }
        (_, Some(500..)) => Finding::weak(format!(
            "the server reports {what} as its own internal error"
        )),
        _ => Finding::held(),
    };
    Ok(finding.sent(text).came(came.words()))
}
