//! How do the rules see a recorded call, from a suite or from the library?

use crate::json::{hash, hash_value};
use crate::trace::{Call, Tool};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// One recorded call.
#[derive(Debug, Clone, Copy)]
pub(super) struct RecordedCall<'a> {
    /// Its number in the run, from 1.
    pub(super) number: usize,
    pub(super) tool: Tool<'a>,
    pub(super) args: Arguments<'a>,
}

/// The arguments of a call, not parsed before someone needs their parts.
#[derive(Debug, Clone, Copy)]
pub(super) enum Arguments<'a> {
    Absent,
    NotJson(&'a str),
    Text(&'a str),
    Value(&'a Value),
}

impl<'a> From<(usize, &'a Call<'_>)> for RecordedCall<'a> {
    fn from((at, call): (usize, &'a Call<'_>)) -> Self {
        let args = match (call.args, &call.args_text) {
            (Some(args), _) => Arguments::Text(args.get()),
            (None, Some(text)) => Arguments::NotJson(text),
            (None, None) => Arguments::Absent,
        };
        Self {
            number: at + 1,
            tool: call.into(),
            args,
        }
    }
}

impl<'a> From<(usize, &'a Value)> for RecordedCall<'a> {
    fn from((at, call): (usize, &'a Value)) -> Self {
        let text = |key: &str| call.get(key).and_then(Value::as_str);
        let args = match (call.get("args"), text("args_text")) {
            (None | Some(Value::Null), Some(text)) => Arguments::NotJson(text),
            (None, None) => Arguments::Absent,
            (Some(args), _) => Arguments::Value(args),
        };
        Self {
            number: at + 1,
            tool: Tool::from_json(call),
            args,
        }
    }
}

impl<'a> Arguments<'a> {
    /// The structural hash; absent arguments are null.
    pub(super) fn hash(self) -> Option<u128> {
        match self {
            Self::Absent => Some(hash_value(&Value::Null)),
            Self::NotJson(_) => None,
            Self::Text(text) => Some(hash(text)),
            Self::Value(value) => Some(hash_value(value)),
        }
    }

    /// The arguments as JSON; absent arguments are null.
    pub(super) fn value(self) -> Option<Cow<'a, Value>> {
        match self {
            Self::Absent => Some(Cow::Owned(Value::Null)),
            Self::NotJson(_) => None,
            Self::Text(text) => serde_json::from_str(text).ok().map(Cow::Owned),
            Self::Value(value) => Some(Cow::Borrowed(value)),
        }
    }

    /// The arguments as JSON; an empty object if they are absent.
    pub(super) fn value_or_empty(self) -> Option<Cow<'a, Value>> {
        match self {
            Self::Absent => Some(Cow::Owned(Value::Object(Map::new()))),
            _ => self.value(),
        }
    }

    /// The text to show for arguments that are not JSON.
    pub(super) fn as_text(self) -> &'a str {
        match self {
            Self::NotJson(text) | Self::Text(text) => text,
            Self::Absent | Self::Value(_) => "",
        }
    }
}
