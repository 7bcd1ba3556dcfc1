//! A string from a client: which message is it, of which era?

use crate::manifest::AskKind;
use mcptest_mcp::era::{Era, meta};
use mcptest_mcp::jsonrpc::{Body, Id, Malformed, RpcError, RpcResult, code, parse, present};
use serde::de::{Error as _, IgnoredAny};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What a client sent.
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
    /// Reads a message. `version` is what an HTTP header says.
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

/// Each request says its era: a modern one names its version, or asks what only modern servers know.
fn era_of(method: &str, params: &Params<'_>, header: Option<&str>) -> Era {
    let is_modern = params.modern_version().is_some()
        || method == "server/discover"
        || header.is_some_and(|version| Era::of(version) != Some(Era::Legacy));
    if is_modern { Era::Modern } else { Era::Legacy }
}

fn refusal(malformed: &Malformed) -> RpcError {
    let code = match malformed {
        Malformed::NotJson(_) => code::PARSE_ERROR,
        _ => code::INVALID_REQUEST,
    };
    RpcError::new(code, format!("this is not a JSON-RPC message: {malformed}"))
}

/// The parameters that the methods of MCP have, each as it was written.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Params<'a> {
    pub(super) name: Option<String>,
    pub(super) uri: Option<String>,
    pub(super) cursor: Option<String>,
    pub(super) level: Option<String>,
    #[serde(borrow)]
    pub(super) arguments: Option<&'a RawValue>,
    #[serde(rename = "requestState")]
    pub(super) request_state: Option<String>,
    #[serde(borrow, rename = "inputResponses")]
    pub(super) input_responses: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) notifications: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) capabilities: Option<&'a RawValue>,
    #[serde(rename = "protocolVersion")]
    pub(super) protocol_version: Option<String>,
    #[serde(borrow, rename = "ref")]
    pub(super) reference: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) argument: Option<&'a RawValue>,
    #[serde(borrow, rename = "_meta")]
    pub(super) meta: Option<Meta<'a>>,
}

impl<'a> Params<'a> {
    /// Reads them; absent ones are empty.
    pub(super) fn read(raw: Option<&'a RawValue>) -> RpcResult<Self> {
        let Some(raw) = raw.filter(|raw| raw.get() != "null") else {
            return Ok(Self::default());
        };
        serde_json::from_str(raw.get()).map_err(|error| {
            RpcError::new(code::INVALID_PARAMS, format!("invalid params: {error}"))
        })
    }

    /// The version that `_meta` names.
    pub(super) fn modern_version(&self) -> Option<&str> {
        self.meta.as_ref()?.version.as_deref()
    }
}

/// What `_meta` says.
#[derive(Debug, Default, Deserialize)]
#[serde(expecting = "`_meta` as an object")]
pub(super) struct Meta<'a> {
    #[serde(
        default,
        deserialize_with = "present",
        rename = "io.modelcontextprotocol/protocolVersion"
    )]
    pub(super) version: Option<String>,
    #[serde(
        borrow,
        default,
        deserialize_with = "object",
        rename = "io.modelcontextprotocol/clientCapabilities"
    )]
    pub(super) capabilities: Option<&'a RawValue>,
    #[serde(
        default,
        deserialize_with = "present",
        rename = "io.modelcontextprotocol/logLevel"
    )]
    pub(super) log_level: Option<String>,
    /// The progress token as JSON text.
    #[serde(
        borrow,
        default,
        deserialize_with = "present",
        rename = "progressToken"
    )]
    pub(super) progress_token: Option<&'a RawValue>,
}

fn object<'de, D: Deserializer<'de>>(value: D) -> Result<Option<&'de RawValue>, D::Error> {
    let raw = <&RawValue>::deserialize(value)?;
    if !raw.get().starts_with('{') {
        return Err(D::Error::custom(format!(
            "`{}` is not an object",
            meta::CLIENT_CAPABILITIES
        )));
    }
    Ok(Some(raw))
}

/// What a client can be asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Capabilities(Vec<AskKind>);

impl Capabilities {
    pub(super) fn read(raw: Option<&RawValue>) -> Self {
        let declared = raw.and_then(|raw| serde_json::from_str(raw.get()).ok());
        let declared: BTreeMap<String, Option<IgnoredAny>> = declared.unwrap_or_default();
        let is_declared =
            |kind: &AskKind| declared.get(kind.capability()).is_some_and(Option::is_some);
        Self(AskKind::ALL.into_iter().filter(is_declared).collect())
    }

    pub(super) fn has(&self, kind: AskKind) -> bool {
        self.0.contains(&kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read_and_unknown_ones_are_passed_over() {
        let text = r#"{"name":"a","arguments":{"x":[1]},"later":{},"_meta":{"progressToken":7,"x/y":null,
            "io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"roots":{}}}}"#;
        let raw: &RawValue = serde_json::from_str(text).unwrap();
        let params = Params::read(Some(raw)).unwrap();
        assert!(params.name.as_deref() == Some("a"));
        assert_eq!(params.arguments.unwrap().get(), r#"{"x":[1]}"#);
        assert_eq!(params.modern_version(), Some("2026-07-28"));
        let meta = params.meta.unwrap();
        assert_eq!(meta.progress_token.unwrap().get(), "7");
        assert!(Capabilities::read(meta.capabilities).has(AskKind::Roots));
    }

    #[test]
    fn a_parameter_of_another_type_is_refused_with_the_reason() {
        let raw: &RawValue = serde_json::from_str(r#"{"name":7}"#).unwrap();
        let error = Params::read(Some(raw)).unwrap_err();
        assert_eq!(error.code, -32602);
        assert!(
            error.message.contains("expected a string"),
            "{}",
            error.message
        );
        let list: &RawValue = serde_json::from_str("[1]").unwrap();
        assert!(
            Params::read(Some(list)).is_err() || Params::read(Some(list)).unwrap().name.is_none()
        );
    }
}
