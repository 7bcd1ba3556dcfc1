//! A server of the rmcp SDK for both protocols, as a reference: `rmcp_echo` on stdio, `rmcp_echo
//! --http [ADDR:PORT]` on HTTP.
//!
//! On HTTP, the first line of output is the address, such as `http://127.0.0.1:40123/mcp`. `--json`
//! answers with plain JSON instead of event streams, without sessions.

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rmcp::handler::server::tool::{InputResponses, RequestState};
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{
    CallToolResponse, CallToolResult, ContentBlock, ElicitRequest, ElicitRequestParams,
    InputRequest, InputRequests, InputRequiredResult, ProgressNotificationParam, RequestMetaObject,
};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, Peer, RoleServer, ServiceExt, schemars, tool, tool_router};
use std::convert::Infallible;
use std::error::Error;
use std::io::Write;
use std::time::Duration;

#[derive(Clone)]
struct Echo;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct EchoArguments {
    text: String,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct SlowArguments {
    delay_ms: u64,
}

/// Characters that a state echoed byte for byte must survive.
const STATE: &str = "st.ate/with+special=chars and spaces \"quotes\"\n\ttab é";

#[tool_router(server_handler)]
impl Echo {
    /// Returns the text.
    #[tool]
    async fn echo(&self, Parameters(arguments): Parameters<EchoArguments>) -> String {
        arguments.text
    }

    /// Answers after a while, with progress on the way.
    #[tool]
    async fn slow(
        &self,
        Parameters(arguments): Parameters<SlowArguments>,
        meta: RequestMetaObject,
        client: Peer<RoleServer>,
    ) -> String {
        for step in 0..4_u32 {
            tokio::time::sleep(Duration::from_millis(arguments.delay_ms / 4)).await;
            if let Some(token) = meta.get_progress_token() {
                let progress =
                    ProgressNotificationParam::new(token, f64::from(step)).with_total(4.0);
                let _ = client.notify_progress(progress).await;
            }
        }
        "done".to_owned()
    }

    /// Fails.
    #[tool]
    async fn fail(&self) -> CallToolResult {
        CallToolResult::error(vec![ContentBlock::text("it failed on purpose")])
    }

    /// Asks for a name first, like modern servers.
    #[tool]
    async fn greet(
        &self,
        RequestState(state): RequestState,
        InputResponses(responses): InputResponses,
    ) -> Result<CallToolResponse, ErrorData> {
        if state.is_none() {
            return Ok(InputRequiredResult::new(Some(question()?), Some(STATE.to_owned())).into());
        }
        if state.as_deref() != Some(STATE) {
            return Err(ErrorData::invalid_params(
                format!("the state came back as {state:?}"),
                None,
            ));
        }
        let answer = responses
            .as_ref()
            .and_then(|responses| responses.get("name"));
        let text = match answer.and_then(|answer| answer["content"]["name"].as_str()) {
            Some(name) => format!("Hello, {name}!"),
            None => "Hello, stranger!".to_owned(),
        };
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

fn question() -> Result<InputRequests, ErrorData> {
    let schema =
        serde_json::json!({ "type": "object", "properties": { "name": { "type": "string" } } });
    let requested_schema = serde_json::from_value(schema)
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    let params = ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: "Your name?".to_owned(),
        requested_schema,
    };
    Ok(InputRequests::from([(
        "name".to_owned(),
        InputRequest::Elicitation(ElicitRequest::new(params)),
    )]))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_json = arguments.iter().any(|argument| argument == "--json");
    match arguments.iter().position(|argument| argument == "--http") {
        None => {
            Echo.serve(rmcp::transport::stdio())
                .await?
                .waiting()
                .await?;
            Ok(())
        }
        Some(at) => {
            let address = arguments
                .get(at + 1)
                .filter(|argument| !argument.starts_with("--"));
            serve_http(address.map_or("127.0.0.1:0", String::as_str), is_json).await
        }
    }
}

async fn serve_http(address: &str, is_json: bool) -> Result<(), Box<dyn Error>> {
    let listener = tokio::net::TcpListener::bind(address).await?;
    let mut stdout = std::io::stdout();
    writeln!(stdout, "http://{}/mcp", listener.local_addr()?)?;
    stdout.flush()?;
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(!is_json)
        .with_json_response(is_json);
    let service: StreamableHttpService<Echo, LocalSessionManager> =
        StreamableHttpService::new(|| Ok(Echo), LocalSessionManager::default().into(), config);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let service = service.clone();
        tokio::spawn(async move {
            let answer = service_fn(|request: hyper::Request<Incoming>| {
                let service = service.clone();
                async move {
                    Ok::<hyper::Response<BoxBody<Bytes, Infallible>>, Infallible>(
                        service.handle(request).await,
                    )
                }
            });
            let connection = hyper::server::conn::http1::Builder::new();
            let _ = connection
                .serve_connection(TokioIo::new(stream), answer)
                .await;
        });
    }
}
