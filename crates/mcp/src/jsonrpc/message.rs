//! How does a line or body become a message whose parts are still text?

use super::{Id, Malformed, RpcError};
use crate::wire::CommonParams;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// One message: its parsed outline and its text.
#[derive(Debug, Clone)]
pub struct Message<'a> {
    /// The received text.
    pub raw: &'a str,
    /// The content.
    pub body: Body<'a>,
}

/// The four kinds of message.
#[derive(Debug, Clone)]
pub enum Body<'a> {
    /// Something to answer.
    Request {
        /// Ties the answer to it.
        id: Id,
        /// The requested method.
        method: Cow<'a, str>,
        /// Its parameters.
        params: Option<&'a RawValue>,
    },
    /// Something to know.
    Notification {
        /// The event.
        method: Cow<'a, str>,
        /// Its parameters.
        params: Option<&'a RawValue>,
    },
    /// A good answer.
    Result {
        /// The request's id.
        id: Id,
        /// The answer.
        result: &'a RawValue,
    },
    /// A refusal. It has no id if the request could not be read.
    Error {
        /// The request's id.
        id: Option<Id>,
        /// The refusal.
        error: RpcError,
    },
}

impl Body<'_> {
    /// The request that the message answers, if it does.
    pub fn answered_id(&self) -> Option<&Id> {
        match self {
            Self::Result { id, .. } | Self::Error { id: Some(id), .. } => Some(id),
            _ => None,
        }
    }

    /// The request that the message cancels, if it does.
    pub fn cancelled_id(&self) -> Option<Id> {
        match self {
            Self::Notification { method, params } if method == "notifications/cancelled" => {
                CommonParams::read(*params).request_id()
            }
            _ => None,
        }
    }
}

/// Parses one message, or reports why the text is not a message.
pub fn parse(text: &str) -> Result<Message<'_>, Malformed> {
    let trimmed = text.trim_ascii();
    match trimmed.as_bytes().first() {
        Some(b'{') => {}
        Some(b'[') if serde_json::from_str::<&RawValue>(trimmed).is_ok() => {
            return Err(Malformed::Batch);
        }
        _ => return Err(not_an_object(trimmed)),
    }
    let outline: Outline<'_> = serde_json::from_str(trimmed).map_err(|error| {
        match error
            .to_string()
            .strip_prefix("duplicate field `")
            .and_then(|rest| rest.split('`').next())
        {
            Some(key) => Malformed::DuplicateKey(key.to_owned()),
            None => Malformed::NotJson(error.to_string()),
        }
    })?;
    Ok(Message {
        raw: text,
        body: outline.body()?,
    })
}

fn not_an_object(text: &str) -> Malformed {
    match serde_json::from_str::<&RawValue>(text) {
        Err(error) => Malformed::NotJson(error.to_string()),
        Ok(raw) => Malformed::NotObject(match raw.get().as_bytes().first() {
            Some(b'"') => "a string",
            Some(b't' | b'f') => "a boolean",
            Some(b'n') => "null",
            _ => "a number",
        }),
    }
}

/// The keys that decide what a message is, verbatim. `null` is a value here, not an absence.
#[derive(Deserialize)]
struct Outline<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

/// Reads a member that may be `null`, which differs from an absent member.
pub fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    value: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(value).map(Some)
}

impl<'a> Outline<'a> {
    fn body(self) -> Result<Body<'a>, Malformed> {
        match self.jsonrpc.map(RawValue::get) {
            Some("\"2.0\"") => {}
            Some(found) => return Err(Malformed::WrongVersion(excerpt(found))),
            None => return Err(Malformed::NoVersion),
        }
        match self.method {
            Some(method) => self.request(method),
            None => self.answer(),
        }
    }

    fn request(self, method: &'a RawValue) -> Result<Body<'a>, Malformed> {
        let method: Cow<'a, str> = borrowed_text(method).ok_or(Malformed::BadMethod)?;
        Ok(match self.id {
            None => Body::Notification {
                method,
                params: self.params,
            },
            Some(id) => Body::Request {
                id: valid_id(id)?,
                method,
                params: self.params,
            },
        })
    }

    fn answer(self) -> Result<Body<'a>, Malformed> {
        match (self.result, self.error) {
            (Some(_), Some(_)) => Err(Malformed::BothResultAndError),
            (None, None) => Err(Malformed::Neither),
            (Some(result), None) => {
                let id = self
                    .id
                    .ok_or_else(|| Malformed::BadId("missing".to_owned()))?;
                Ok(Body::Result {
                    id: valid_id(id)?,
                    result,
                })
            }
            (None, Some(error)) => {
                let id = self
                    .id
                    .filter(|id| id.get() != "null")
                    .map(valid_id)
                    .transpose()?;
                Ok(Body::Error {
                    id,
                    error: valid_error(error)?,
                })
            }
        }
    }
}

fn borrowed_text(raw: &RawValue) -> Option<Cow<'_, str>> {
    serde_json::from_str::<&str>(raw.get())
        .map(Cow::Borrowed)
        .or_else(|_| serde_json::from_str(raw.get()).map(Cow::Owned))
        .ok()
}

fn valid_id(raw: &RawValue) -> Result<Id, Malformed> {
    Id::of(raw).ok_or_else(|| Malformed::BadId(excerpt(raw.get())))
}

fn valid_error(raw: &RawValue) -> Result<RpcError, Malformed> {
    let bad = |found: String| Malformed::BadError(found);
    if !raw.get().starts_with('{') {
        return Err(bad(format!("{} instead of an object", excerpt(raw.get()))));
    }
    serde_json::from_str(raw.get()).map_err(|_| {
        bad(format!(
            "{}, which lacks an integer `code` or a `message` string",
            excerpt(raw.get())
        ))
    })
}

/// The first 80 characters, for a message.
pub fn excerpt(text: &str) -> String {
    mcptest_core::words::cut(text, 80)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        parse(text).unwrap_err().to_string()
    }

    #[test]
    fn the_four_kinds_are_told_apart() {
        let body = |text| parse(text).unwrap().body;
        assert!(matches!(
            body(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#),
            Body::Request {
                id: Id::Number(1),
                ..
            }
        ));
        assert!(matches!(
            body(r#"{"jsonrpc":"2.0","method":"x","params":{}}"#),
            Body::Notification { .. }
        ));
        assert!(matches!(
            body(r#"{"jsonrpc":"2.0","id":"a","result":null}"#),
            Body::Result { result, .. } if result.get() == "null"
        ));
        assert!(matches!(
            body(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}"#),
            Body::Error { id: None, .. }
        ));
    }

    #[test]
    fn each_way_to_be_malformed_is_named() {
        assert!(refusal("Server started").starts_with("it is not JSON"));
        assert_eq!(
            refusal("42"),
            "it is JSON, but a number instead of an object"
        );
        assert_eq!(
            refusal("[{}]"),
            "it is a batch (a list of messages), which MCP does not support"
        );
        assert_eq!(
            refusal(r#"{"id":1,"result":{}}"#),
            "it has no `jsonrpc: \"2.0\"`"
        );
        assert_eq!(
            refusal(r#"{"jsonrpc":"1.0","id":1,"result":{}}"#),
            "its `jsonrpc` is \"1.0\" instead of \"2.0\""
        );
        assert_eq!(
            refusal(r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#),
            "it has both `result` and `error`"
        );
        assert_eq!(
            refusal(r#"{"jsonrpc":"2.0","id":1}"#),
            "it has neither `method` nor `result` nor `error`"
        );
        assert_eq!(
            refusal(r#"{"jsonrpc":"2.0","id":1,"error":"boom"}"#),
            "its `error` is \"boom\" instead of an object"
        );
        assert_eq!(
            refusal(r#"{"jsonrpc":"2.0","id":1.5,"result":{}}"#),
            "its `id` is 1.5"
        );
        assert_eq!(
            refusal(r#"{"jsonrpc":"2.0","result":{}}"#),
            "its `id` is missing"
        );
        assert_eq!(
            refusal(r#"{"jsonrpc":"2.0","method":7}"#),
            "its `method` is not a string"
        );
        assert_eq!(
            refusal(r#"{"jsonrpc":"2.0","id":1,"id":2,"result":{}}"#),
            "it has the key `id` twice"
        );
    }

    #[test]
    fn deep_nesting_is_read_past_without_recursion() {
        let deep = format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{}{}}}"#,
            "[".repeat(100_000),
            "]".repeat(100_000)
        );
        assert!(parse(&deep).is_ok());
    }
}
