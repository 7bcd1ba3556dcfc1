//! rmcp as the client: a reference by other authors, with both protocols, on a pipe and over HTTP.

use crate::support::{WEATHER, server, soon};
use mcptest_mock::http::{Serving, serve_on_loopback};
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ElicitRequestParams,
    ElicitResult, ElicitationAction, ErrorData, Implementation, ProtocolVersion,
    ReadResourceRequestParams,
};
use rmcp::service::{RequestContext, RoleClient, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt};
use serde_json::{Value, json};

#[derive(Clone)]
struct Ada;

impl ClientHandler for Ada {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder().enable_elicitation().build();
        ClientConfig::new(capabilities, Implementation::new("peer", "1"))
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(json!({ "name": "Ada" })))
    }
}

type Client = RunningService<RoleClient, Ada>;

fn modes() -> [ClientLifecycleMode; 3] {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    [
        ClientLifecycleMode::Initialize,
        ClientLifecycleMode::Discover {
            preferred_versions: preferred_versions.clone(),
        },
        ClientLifecycleMode::Auto {
            preferred_versions,
            legacy_version: None,
        },
    ]
}

async fn on_pipe(mode: ClientLifecycleMode) -> Client {
    let pipe = server(WEATHER, &[]).connect();
    soon(Ada.serve_with_lifecycle(pipe, mode))
        .await
        .expect("a handshake")
}

async fn on_http(mode: ClientLifecycleMode) -> (Serving, Client) {
    let _installed_once = rustls::crypto::ring::default_provider().install_default();
    let serving = serve_on_loopback(server(WEATHER, &[])).await.unwrap();
    let transport = StreamableHttpClientTransport::from_uri(serving.url.clone());
    let client = soon(Ada.serve_with_lifecycle(transport, mode))
        .await
        .expect("a handshake");
    (serving, client)
}

fn text(result: &CallToolResult) -> String {
    let result = serde_json::to_value(result).unwrap();
    result["content"][0]["text"]
        .as_str()
        .unwrap_or_else(|| panic!("{result}"))
        .to_owned()
}

async fn call(client: &Client, tool: &'static str, arguments: Value) -> CallToolResult {
    let mut params = CallToolRequestParams::new(tool);
    params.arguments = arguments.as_object().cloned();
    soon(client.call_tool(params))
        .await
        .unwrap_or_else(|error| panic!("{tool}: {error}"))
}

async fn everything(client: Client) {
    let tools = soon(client.list_all_tools()).await.unwrap();
    assert_eq!(tools[0].name, "get_weather");
    assert_eq!(
        text(&call(&client, "get_weather", json!({ "city": "Oslo" })).await),
        "Sunny in Oslo."
    );
    assert_eq!(text(&call(&client, "count", json!({})).await), "one");
    assert_eq!(text(&call(&client, "count", json!({})).await), "two");
    assert_eq!(text(&call(&client, "work", json!({})).await), "worked");
    assert_eq!(text(&call(&client, "greet", json!({})).await), "Hello Ada!");
    let refused = soon(client.call_tool(CallToolRequestParams::new("get_weather")))
        .await
        .unwrap_err();
    assert!(refused.to_string().contains("required"), "{refused}");
    assert_eq!(soon(client.list_all_prompts()).await.unwrap().len(), 1);
    let read = soon(client.read_resource(ReadResourceRequestParams::new("note://one")))
        .await
        .unwrap();
    assert!(serde_json::to_string(&read).unwrap().contains("First."));
    soon(client.cancel()).await.unwrap();
}

#[tokio::test]
async fn rmcp_is_served_on_a_pipe_in_every_mode() {
    for mode in modes() {
        everything(on_pipe(mode).await).await;
    }
}

#[tokio::test]
async fn rmcp_is_served_over_http_in_every_mode() {
    for mode in modes() {
        let (serving, client) = on_http(mode).await;
        everything(client).await;
        drop(serving);
    }
}
