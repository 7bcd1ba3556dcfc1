//! A request on a tape, and everything that followed from it.

use crate::manifest::{AskRequest, Declared, Inputs, Notice};
use mcptest_mcp::jsonrpc::RpcResult;
use std::borrow::Cow;

/// A request on a tape, and everything that followed from it.
#[derive(Debug)]
pub(super) struct RecordedRequest {
    pub(super) method: String,
    /// The request without parts that differ between clients, as JSON text.
    pub(super) params: String,
    /// Names this recording among all of the tape.
    pub(super) fingerprint: String,
    pub(super) notices: Vec<Notice>,
    /// The server's requests, round by round, with unique names.
    pub(super) rounds: Vec<Vec<AskRequest>>,
    pub(super) outcome: RpcResult<String>,
}

impl RecordedRequest {
    /// The questions of the first unanswered round, except questions that the client cannot answer.
    pub(super) fn requests(&self, inputs: &Inputs, declared: Declared<'_>) -> Vec<AskRequest> {
        let open = |round: &Vec<AskRequest>| -> Vec<AskRequest> {
            let open = round
                .iter()
                .filter(|ask| !inputs.contains_key(&ask.name) && declared(ask.kind));
            open.cloned().collect()
        };
        self.rounds
            .iter()
            .map(open)
            .find(|open| !open.is_empty())
            .unwrap_or_default()
    }

    pub(super) fn answer(&self) -> RpcResult<Cow<'_, str>> {
        self.outcome
            .as_ref()
            .map(|result| result.as_str().into())
            .map_err(Clone::clone)
    }
}
