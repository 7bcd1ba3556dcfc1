//! What does a request say, without a tree of the whole of it?

use crate::era::meta;
use crate::jsonrpc::{RpcError, code};
use crate::manifest::AskKind;
use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// The parameters that the methods of MCP have, each as it was written.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Params<'a> {
    #[serde(borrow, default)]
    pub(super) name: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) uri: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) cursor: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) level: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) arguments: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "requestState")]
    pub(super) request_state: Option<Text<'a>>,
    #[serde(borrow, default, rename = "inputResponses")]
    pub(super) input_responses: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) notifications: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) capabilities: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "protocolVersion")]
    pub(super) protocol_version: Option<Text<'a>>,
    #[serde(borrow, default, rename = "ref")]
    pub(super) reference: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) argument: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "_meta")]
    pub(super) meta: Option<Meta<'a>>,
}

impl<'a> Params<'a> {
    /// Reads them; absent ones are empty.
    pub(super) fn read(raw: Option<&'a RawValue>) -> Result<Self, RpcError> {
        let Some(raw) = raw.filter(|raw| raw.get() != "null") else { return Ok(Self::default()) };
        serde_json::from_str(raw.get())
            .map_err(|error| RpcError::new(code::INVALID_PARAMS, format!("invalid params: {error}")))
    }

    /// The version that `_meta` names.
    pub(super) fn modern_version(&self) -> Option<&str> {
        self.meta.as_ref()?.version.as_ref().map(Text::as_str)
    }
}

/// What `_meta` says.
#[derive(Debug, Default)]
pub(super) struct Meta<'a> {
    pub(super) version: Option<Text<'a>>,
    pub(super) capabilities: Option<&'a RawValue>,
    pub(super) log_level: Option<Text<'a>>,
    /// The progress token as JSON text.
    pub(super) progress_token: Option<&'a RawValue>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Meta<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MetaVisitor<'a>(std::marker::PhantomData<&'a ()>);
        impl<'de: 'a, 'a> Visitor<'de> for MetaVisitor<'a> {
            type Value = Meta<'a>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`_meta` as an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut read = Meta::default();
                while let Some(key) = map.next_key::<Text<'de>>()? {
                    match key.as_str() {
                        meta::PROTOCOL_VERSION => read.version = Some(map.next_value()?),
                        meta::CLIENT_CAPABILITIES => {
                            let raw: &'a RawValue = map.next_value()?;
                            if !raw.get().starts_with('{') {
                                return Err(A::Error::custom(format!("`{key}` is not an object")));
                            }
                            read.capabilities = Some(raw);
                        }
                        meta::LOG_LEVEL => read.log_level = Some(map.next_value()?),
                        "progressToken" => read.progress_token = Some(map.next_value()?),
                        _ => {
                            map.next_value::<IgnoredAny>()?;
                        }
                    }
                }
                Ok(read)
            }
        }
        deserializer.deserialize_map(MetaVisitor(std::marker::PhantomData))
    }
}

/// A string, borrowed from the request where it has no escapes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Text<'a>(pub(super) Cow<'a, str>);

impl Text<'_> {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor<'a>(std::marker::PhantomData<&'a ()>);
        impl<'de: 'a, 'a> Visitor<'de> for TextVisitor<'a> {
            type Value = Text<'a>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(TextVisitor(std::marker::PhantomData))
    }
}

/// What a client can be asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Capabilities(Vec<AskKind>);

impl Capabilities {
    pub(super) fn read(raw: Option<&RawValue>) -> Self {
        let declared = raw.and_then(|raw| serde_json::from_str(raw.get()).ok());
        let declared: BTreeMap<String, Option<IgnoredAny>> = declared.unwrap_or_default();
        let is_declared = |kind: &AskKind| declared.get(kind.capability()).is_some_and(Option::is_some);
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
    fn parameters_are_borrowed_and_unknown_ones_are_passed_over() {
        let text = r#"{"name":"a","arguments":{"x":[1]},"later":{},"_meta":{"progressToken":7,"x/y":null,
            "io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"roots":{}}}}"#;
        let raw: &RawValue = serde_json::from_str(text).unwrap();
        let params = Params::read(Some(raw)).unwrap();
        assert!(matches!(&params.name, Some(Text(Cow::Borrowed("a")))));
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
        assert!(error.message.contains("expected a string"), "{}", error.message);
        let list: &RawValue = serde_json::from_str("[1]").unwrap();
        assert!(Params::read(Some(list)).is_err() || Params::read(Some(list)).unwrap().name.is_none());
    }
}
