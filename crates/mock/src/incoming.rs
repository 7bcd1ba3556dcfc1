//! Which message, of which protocol, is a string from a client?

use super::params::Params;
use mcptest_mcp::era::Era;
use mcptest_mcp::jsonrpc::{Body, Id, Malformed, RpcError, code, parse};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// A message from a client.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "it is taken apart at once")]
pub(super) enum Incoming<'a> {
    Request(Request<'a>),
    News(Body<'a>),
}

/// Something to answer.
#[derive(Debug)]
pub(super) struct Request<'a> {
    pub(super) id: Id,
    pub(super) method: Cow<'a, str>,
    pub(super) params: Params<'a>,
    pub(super) raw: Option<&'a RawValue>,
    pub(super) era: Era,
}

/// A string that is refused before anything is done.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) id: Option<Id>,
    pub(super) error: RpcError,
}

impl<'a> Incoming<'a> {
    /// Reads a message. `version` is the value of an HTTP header.
    pub(super) fn read(text: &'a str, version: Option<&str>) -> Result<Self, Refused> {
        let refused = |id, error| Refused { id, error };
        match parse(text)
            .map_err(|malformed| refused(None, refusal(&malformed)))?
            .body
        {
            Body::Request { id, method, params } => {
                let raw = params;
                let params = Params::read(raw).map_err(|error| refused(Some(id.clone()), error))?;
                let era = era_of(&method, &params, version);
                Ok(Self::Request(Request {
                    id,
                    method,
                    params,
                    raw,
                    era,
                }))
            }
            body => Ok(Self::News(body)),
        }
    }
}

/// Each request reveals its protocol: a modern one names its version, or uses a method that only modern servers have.
fn era_of(method: &str, params: &Params<'_>, header: Option<&str>) -> Era {
    let is_modern = params.modern_version().is_some()
        || method == "server/discover"
        || header.is_some_and(|version| Era::from_version(version) != Some(Era::Legacy));
    if is_modern { Era::Modern } else { Era::Legacy }
}

fn refusal(malformed: &Malformed) -> RpcError {
    let code = match malformed {
        Malformed::NotJson(_) => code::PARSE_ERROR,
        _ => code::INVALID_REQUEST,
    };
    RpcError::new(code, format!("this is not a JSON-RPC message: {malformed}"))
}
