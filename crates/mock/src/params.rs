//! Which parameters does an MCP request have, and what does its client support?

use crate::manifest::AskKind;
use mcptest_mcp::era::meta;
use mcptest_mcp::jsonrpc::{RpcError, RpcResult, code, present};
use serde::de::{Error as _, IgnoredAny};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The parameters of MCP's methods, verbatim.
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
    /// Reads the parameters; absent ones are empty.
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

/// The contents of `_meta`.
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

/// The kinds of requests that a client accepts.
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
