//! What does a server make of a string that no client would send?

use super::http::Http;
use super::{Client, Link, Misbehaviour, ServerInfo, ServerSpec, Tap, WireError, handshake};
use crate::era::{Era, LATEST_LEGACY, LATEST_MODERN};
use crate::jsonrpc::{self, Id};
use parking_lot::Mutex;
use serde_json::Value;
use serde_json::value::RawValue;

/// An HTTP server's raw answer.
#[derive(Debug, Clone)]
pub struct RawAnswer {
    /// The HTTP status.
    pub status: u16,
    /// The beginning of its body. For a stream, its first event.
    pub body: String,
}

impl Client {
    /// A connection without a handshake.
    pub fn without_handshake(
        spec: &ServerSpec,
        era: Era,
        tap: Option<Tap>,
    ) -> Result<Self, WireError> {
        let link = handshake::open(spec, tap, era)?;
        let version = if era == Era::Modern {
            LATEST_MODERN
        } else {
            LATEST_LEGACY
        };
        let info = ServerInfo {
            name: String::new(),
            version: String::new(),
            protocol_version: version.to_owned(),
            era,
            capabilities: RawValue::NULL.to_owned(),
            instructions: None,
            raw: RawValue::NULL.to_owned(),
        };
        Ok(Self {
            link,
            info,
            timeout: spec.timeout,
            whole: None,
            param_headers: Mutex::new(None),
        })
    }

    /// A request as a line, with the `_meta` of the protocol.
    pub fn request_line(&self, id: &str, method: &str, params: Value) -> String {
        let params = self.params().with_value(params).text(0);
        jsonrpc::request(&Id::Text(id.to_owned()), method, params.as_deref())
    }

    /// Sends a string verbatim. On stdio, an answer goes to the tap; over HTTP, it is returned. The headers replace
    /// the session's headers.
    pub async fn send_raw(
        &self,
        text: &str,
        headers: &[(&str, &str)],
    ) -> Result<Option<RawAnswer>, Misbehaviour> {
        match &self.link {
            Link::Stdio(stdio) => {
                stdio.send(text.to_owned());
                Ok(None)
            }
            Link::Http(http, _) => Http::post_raw(http, text, headers).await.map(Some),
        }
    }

    /// True if no more messages will arrive.
    pub fn has_ended(&self) -> bool {
        self.link.conversation().has_ended()
    }

    /// The session that an HTTP server gave us.
    pub fn session_id(&self) -> Option<String> {
        match &self.link {
            Link::Stdio(_) => None,
            Link::Http(http, _) => http.session.lock().id.clone(),
        }
    }
}
