//! Does the client pass the official conformance suite?
//!
//! The suite starts this program with its server's address as the last argument and the scenario in
//! the environment. With `auto` before the address, the client detects the protocol.

use mcptest_mcp::client::{Client, Responses, Scripted, ServerSpec, Tool, Tools};
use mcptest_mcp::era::Era;
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::error::Error;

type Outcome<T> = Result<T, Box<dyn Error>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (url, before) = arguments
        .split_last()
        .ok_or("usage: conformance_client [auto] URL")?;
    let client = Client::connect(&spec(url, before)?, None).await?;
    let tools = client.list_tools().await?;
    let done = play(&client, &tools).await;
    client.close().await;
    done
}

fn spec(url: &str, before: &[String]) -> Outcome<ServerSpec> {
    let mut spec = ServerSpec::url("conformance", url);
    spec.era = match std::env::var("MCP_CONFORMANCE_PROTOCOL_VERSION")?.as_str() {
        _ if before.iter().any(|word| word == "auto") => None,
        "2025-11-25" => Some(Era::Legacy),
        _ => Some(Era::Modern),
    };
    let accept = Scripted {
        when: None,
        answer: Ok(json!({ "action": "accept" })),
    };
    spec.responses = Responses {
        scripted: BTreeMap::from([("elicitation/create".to_owned(), vec![accept])]),
    };
    Ok(spec)
}

/// The scenario's calls; a scenario that names none wants every tool called.
async fn play(client: &Client, tools: &Tools) -> Outcome<()> {
    match std::env::var("MCP_CONFORMANCE_SCENARIO")?.as_str() {
        "tools_call" => call(client, "add_numbers", &json!({ "a": 5, "b": 3 })).await,
        "http-custom-headers" => call_from_context(client).await,
        "http-standard-headers" => {
            call(client, "test_headers", &json!({})).await?;
            read_all(
                client,
                "resources",
                "resources/list",
                "resources/read",
                "uri",
            )
            .await?;
            read_all(client, "prompts", "prompts/list", "prompts/get", "name").await
        }
        "json-schema-2020-12-preservation" => {
            let tool = tools
                .tools
                .iter()
                .find(|tool| tool.name == "json_schema_2020_12_tool");
            let schema = &tool.ok_or("the tool is not listed")?.input_schema;
            let arguments = RawValue::from_string(format!("{{\"schema\":{schema}}}"))?;
            call_raw(client, "json_schema_echo", &arguments).await
        }
        "json-schema-ref-no-deref" => Ok(()),
        _ => {
            for tool in &tools.tools {
                call(client, &tool.name, &plain_arguments(tool)?).await?;
            }
            Ok(())
        }
    }
}

async fn call(client: &Client, name: &str, arguments: &Value) -> Outcome<()> {
    call_raw(client, name, &to_raw_value(arguments)?).await
}

async fn call_raw(client: &Client, name: &str, arguments: &RawValue) -> Outcome<()> {
    client.call_tool(name, arguments, None).await.outcome?;
    Ok(())
}

async fn call_from_context(client: &Client) -> Outcome<()> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Context {
        tool_calls: Vec<ToolCall>,
    }
    #[derive(Deserialize)]
    struct ToolCall {
        name: String,
        arguments: Box<RawValue>,
    }
    let context: Context = serde_json::from_str(&std::env::var("MCP_CONFORMANCE_CONTEXT")?)?;
    for ToolCall { name, arguments } in context.tool_calls {
        call_raw(client, &name, &arguments).await?;
    }
    Ok(())
}

/// Lists the entries under `key`, and reads each by its `by`.
async fn read_all(client: &Client, key: &str, list: &str, read: &str, by: &str) -> Outcome<()> {
    let listed: Value = serde_json::from_str(client.request(list, None).await?.get())?;
    for entry in listed[key].as_array().ok_or("no list")? {
        client.request(read, Some(json!({ by: entry[by] }))).await?;
    }
    Ok(())
}

/// A value of the right type for each argument.
fn plain_arguments(tool: &Tool) -> Outcome<Value> {
    let schema: Value = serde_json::from_str(tool.input_schema.get())?;
    let properties = schema["properties"]
        .as_object()
        .cloned()
        .unwrap_or_default();
    let value = |property: &Value| match property["type"].as_str() {
        Some("boolean") => json!(true),
        Some("integer" | "number") => json!(1),
        _ => json!("x"),
    };
    let arguments: Map<String, Value> = properties
        .iter()
        .map(|(name, property)| (name.clone(), value(property)))
        .collect();
    Ok(Value::Object(arguments))
}
