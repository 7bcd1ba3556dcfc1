//! A client that is a reliable witness: it sends requests to a server, and reports exactly what it
//! receives.

mod call;
mod conversation;
mod discover;
mod handshake;
mod http;
mod info;
mod initialize;
mod input_required;
mod link;
mod misbehaviour;
mod observed;
mod param_headers;
mod params;
mod raw;
mod responses;
mod sentence;
mod spec;
mod stdio;
mod suite;
mod tool_result;
mod tools;
mod wire_error;

pub use crate::tape::Direction;
pub use conversation::Tap;
pub use info::{Called, Closing, Note, ServerInfo, Tool, Tools};
pub use misbehaviour::{Misbehaviour, Moment};
pub use observed::{Observed, ToolFlaw};
pub use raw::RawAnswer;
pub use responses::{Responses, Scripted};
pub(crate) use spec::OpenedPipe;
pub use spec::{
    BoxedReader, BoxedWriter, DEFAULT_CONNECT_TIMEOUT, DEFAULT_TIMEOUT, Endpoint, OnLate, Pipe,
    ServerSpec, TellLate, TimeoutScope,
};
pub use suite::SpecError;
pub use tool_result::faults as result_faults;
pub use wire_error::{CallFailure, Failure, WireError};

use link::{Deadline, Link};
use param_headers::ParamHeader;
use params::Params;
use parking_lot::Mutex;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::time::Duration;

/// A connection to one server, after the handshake. Many requests may be open at once.
///
/// Dropping it ends a server that it started immediately; [`close`](Self::close) first lets the
/// server end by itself.
pub struct Client {
    link: Link,
    info: ServerInfo,
    timeout: Duration,
    /// The deadline of all requests together, if they share a limit.
    whole: Option<Deadline>,
    /// The arguments of each tool that are repeated as headers; `None` until the tools are known.
    param_headers: Mutex<Option<BTreeMap<String, Vec<ParamHeader>>>>,
}

impl Client {
    /// Connects to a server and shakes hands with it. The tap sees every message.
    pub async fn connect(spec: &ServerSpec, tap: Option<Tap>) -> Result<Self, WireError> {
        let whole = (spec.timeout_scope == TimeoutScope::WholeConnection)
            .then(|| Deadline::after(spec.timeout));
        let (link, info) = handshake::connect(spec, tap).await?;
        Ok(Self {
            link,
            info,
            timeout: spec.timeout,
            whole,
            param_headers: Mutex::new(None),
        })
    }

    /// The server's description of itself.
    pub fn server(&self) -> &ServerInfo {
        &self.info
    }

    /// All tools, over all pages. A tool that breaks the rules is a complaint and is omitted.
    pub async fn list_tools(&self) -> Result<Tools, WireError> {
        let listed = tools::list(self).await?;
        *self.param_headers.lock() = Some(listed.param_headers);
        Ok(listed.tools)
    }

    /// Calls a tool; `arguments` is a JSON object. After the timeout (the server's, unless given),
    /// the call is cancelled and the connection stays usable.
    pub async fn call_tool(
        &self,
        name: &str,
        arguments: &RawValue,
        timeout: Option<Duration>,
    ) -> Called {
        let deadline = timeout.map_or_else(|| self.deadline(), Deadline::after);
        call::call_tool(self, name, arguments, deadline).await
    }

    /// Calls any method of the protocol, such as `resources/read`.
    pub async fn request(
        &self,
        method: &str,
        params: Option<serde_json::Value>,
    ) -> Result<Box<RawValue>, CallFailure> {
        call::request(self, method, params, self.deadline()).await
    }

    /// Sends a notification.
    pub fn notify(&self, method: &str, params: Option<serde_json::Value>) {
        let params = params.map(|params| params.to_string());
        self.link.notify(method, params.as_deref());
    }

    /// All observations that did not fail a request, the server's requests with their answers, and
    /// the end of its standard error.
    pub fn observed(&self) -> Vec<Observed> {
        self.link.observed()
    }

    /// Ends the connection cleanly: the session, or the server's input and then its process group.
    ///
    /// If a shared deadline has passed, it ends at once.
    pub async fn close(self) -> Closing {
        let Some(whole) = self.whole else {
            return self.link.close().await;
        };
        let observed = self.observed();
        let closed = tokio::time::timeout_at(whole.at, self.link.close()).await;
        closed.unwrap_or_else(|_| Closing {
            observed,
            process: mcptest_process::Closing::default(),
        })
    }

    /// Parameters of a request in the protocol of the session.
    fn params(&self) -> Params {
        Params::new(self.info.era, self.link.capabilities())
    }

    /// Until when a request that is sent now must be answered.
    fn deadline(&self) -> Deadline {
        self.whole.unwrap_or_else(|| Deadline::after(self.timeout))
    }
}
