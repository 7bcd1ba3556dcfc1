//! A server over an in-memory pipe that answers each message with a function.

use mcptest_mcp::client::{Endpoint, ServerSpec};
use mcptest_mcp::era::Era;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

/// Lines to write for a received message.
pub(crate) type Script = dyn Fn(&Value) -> Vec<String> + Send + Sync;

/// A server that follows the script; every connection is new.
pub(crate) fn server(script: impl Fn(&Value) -> Vec<String> + Send + Sync + 'static) -> ServerSpec {
    server_that_starts_in(Duration::ZERO, script)
}

/// A server whose connections are not read for a while.
pub(crate) fn server_that_starts_in(
    start: Duration,
    script: impl Fn(&Value) -> Vec<String> + Send + Sync + 'static,
) -> ServerSpec {
    let script: Arc<Script> = Arc::new(script);
    let open = move || {
        let (near, far) = tokio::io::duplex(1 << 16);
        let script = Arc::clone(&script);
        tokio::spawn(async move {
            tokio::time::sleep(start).await;
            let (reader, mut writer) = tokio::io::split(far);
            let mut lines = BufReader::new(reader).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                let message: Value = serde_json::from_str(&line).unwrap();
                for reply in script(&message) {
                    if reply == HANG_UP {
                        return;
                    }
                    writer
                        .write_all(format!("{reply}\n").as_bytes())
                        .await
                        .unwrap();
                }
            }
        });
        let (reader, writer) = tokio::io::split(near);
        (Box::new(reader) as _, Box::new(writer) as _)
    };
    let mut spec = ServerSpec::new("weather", Endpoint::Pipe(Arc::new(open)));
    spec.era = Some(Era::Legacy);
    spec.timeout = Duration::from_secs(5);
    spec
}

pub(crate) const HANG_UP: &str = "hang up";

/// A healthy legacy server that answers tool calls with this function.
pub(crate) fn tool_server(
    call: impl Fn(&Value) -> Vec<String> + Send + Sync + 'static,
) -> ServerSpec {
    server(move |message| match message["method"].as_str() {
        Some("initialize") => vec![result(message, &initialized("2025-11-25"))],
        Some("tools/list") => {
            let schema = json!({"type": "object"});
            vec![result(
                message,
                &json!({"tools": [{"name": "get_weather", "inputSchema": schema}]}),
            )]
        }
        _ => call(message),
    })
}

pub(crate) fn initialized(version: &str) -> Value {
    let info = json!({"name": "scripted", "version": "1"});
    json!({"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info})
}

pub(crate) fn result(message: &Value, result: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string()
}

pub(crate) fn error(message: &Value, code: i64, text: &str) -> String {
    json!({"jsonrpc": "2.0", "id": message["id"], "error": {"code": code, "message": text}})
        .to_string()
}
