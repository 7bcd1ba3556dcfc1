//! A single request without a handshake, like one from `curl`: who does the handshake?
//!
//! A client of the protocol always accepts event streams. A program that does not only wants an
//! answer. The proxy then acts as its client library, on one connection for all such requests.

use crate::client::{CallFailure, Client, Misbehaviour, ServerSpec, WireError};
use crate::jsonrpc::{self, Body, RpcError, code};
use crate::wire::CallParams;
use http::request::Parts;
use http::{Method, StatusCode, header};
use mcptest_http::response::{OwnResponse, json};
use serde_json::value::RawValue;
use std::sync::Arc;
use tokio::sync::Mutex;

/// The code of client libraries for a broken connection.
pub const CONNECTION_CLOSED: i64 = -32000;
/// The code of client libraries for a missing answer.
pub const REQUEST_TIMEOUT: i64 = -32001;

/// A server for requests without a handshake.
pub(super) struct Bare {
    spec: ServerSpec,
    client: Mutex<Option<Arc<Client>>>,
}

impl Bare {
    pub(super) fn new(spec: ServerSpec) -> Self {
        Self {
            spec,
            client: Mutex::default(),
        }
    }

    /// Returns true if a message arrived without a session.
    pub(super) fn is_meant(parts: &Parts, body: &Body<'_>) -> bool {
        let accepts_events = parts.headers.get_all(header::ACCEPT).iter().any(|value| {
            value
                .to_str()
                .is_ok_and(|value| value.contains("text/event-stream"))
        });
        let is_plain = match body {
            Body::Request { method, .. } => method != "initialize",
            Body::Notification { .. } => true,
            _ => false,
        };
        parts.method == Method::POST && !accepts_events && is_plain
    }

    pub(super) async fn answer(&self, body: &Body<'_>) -> OwnResponse {
        let (id, method, params) = match body {
            Body::Request { id, method, params } => (Some(id), method, *params),
            Body::Notification { method, params } => (None, method, *params),
            _ => return json(StatusCode::BAD_REQUEST, String::new()),
        };
        let outcome = match self.client().await {
            Ok(client) if id.is_none() => {
                client.notify(
                    method,
                    params.and_then(|params| serde_json::from_str(params.get()).ok()),
                );
                return json(StatusCode::ACCEPTED, String::new());
            }
            Ok(client) => {
                let outcome = ask(&client, method, params).await;
                if let Err(CallFailure::Wire(error)) = &outcome {
                    self.forget(error).await;
                }
                outcome
            }
            Err(error) => Err(CallFailure::Wire(error)),
        };
        let text = match (id, outcome) {
            (Some(id), Ok(result)) => jsonrpc::result(id, result.get()),
            (id, Ok(_)) => jsonrpc::error(id, &RpcError::new(code::INTERNAL_ERROR, "no request")),
            (id, Err(CallFailure::Rpc(error))) => jsonrpc::error(id, &error),
            (id, Err(CallFailure::Wire(error))) => {
                let code = match error.misbehaviour {
                    Misbehaviour::NoAnswer { .. } | Misbehaviour::NoFirstAnswer { .. } => {
                        REQUEST_TIMEOUT
                    }
                    _ => CONNECTION_CLOSED,
                };
                jsonrpc::error(id, &RpcError::new(code, error.to_string()))
            }
        };
        json(StatusCode::OK, text)
    }

    async fn client(&self) -> Result<Arc<Client>, WireError> {
        let mut client = self.client.lock().await;
        if let Some(client) = &*client {
            return Ok(Arc::clone(client));
        }
        let connected = Arc::new(Client::connect(&self.spec, None).await?);
        *client = Some(Arc::clone(&connected));
        Ok(connected)
    }

    /// A connection that broke is made again for the next request.
    async fn forget(&self, error: &WireError) {
        if !matches!(error.misbehaviour, Misbehaviour::NoAnswer { .. }) {
            self.client.lock().await.take();
        }
    }

    /// Ends the connection.
    pub(super) async fn close(&self) {
        if let Some(client) = self.client.lock().await.take().and_then(Arc::into_inner) {
            client.close().await;
        }
    }
}

async fn ask(
    client: &Client,
    method: &str,
    params: Option<&RawValue>,
) -> Result<Box<RawValue>, CallFailure> {
    let call = params
        .filter(|_| method == "tools/call")
        .and_then(CallParams::read);
    if let Some(CallParams {
        name, arguments, ..
    }) = call
    {
        let none = RawValue::from_string("{}".to_owned()).unwrap_or_default();
        return client
            .call_tool(&name, arguments.unwrap_or(&none), None)
            .await
            .outcome;
    }
    let params = params.and_then(|params| serde_json::from_str(params.get()).ok());
    client.request(method, params).await
}
