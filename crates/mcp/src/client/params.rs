//! How are the parameters of a request written, with the `_meta` of its protocol?

use crate::era::{Era, LATEST_MODERN, meta};
use crate::jsonrpc::{one_line, write_text};
use serde_json::{Map, Value, json};
use std::fmt;

/// Members of `params` as JSON text, and entries of `_meta`.
#[derive(Debug, Clone, Default)]
pub(super) struct Params {
    members: Vec<(String, String)>,
    meta: Map<String, Value>,
    wants_progress: bool,
}

impl Params {
    /// Parameters for a protocol. In the modern protocol, every request names its client and the client's capabilities.
    pub(super) fn new(era: Era, capabilities: &Value) -> Self {
        let mut params = Self::default();
        if era == Era::Modern {
            params
                .meta
                .insert(meta::PROTOCOL_VERSION.to_owned(), json!(LATEST_MODERN));
            params
                .meta
                .insert(meta::CLIENT_INFO.to_owned(), client_info());
            params
                .meta
                .insert(meta::CLIENT_CAPABILITIES.to_owned(), capabilities.clone());
        }
        params
    }

    /// Adds the members of an object, and merges its `_meta`.
    pub(super) fn with_value(mut self, value: Value) -> Self {
        if let Value::Object(members) = value {
            for (key, value) in members {
                match value {
                    Value::Object(own) if key == "_meta" => self.meta.extend(own),
                    value => self.members.push((key, value.to_string())),
                }
            }
        }
        self
    }

    /// Adds a member of JSON text.
    pub(super) fn with(mut self, key: &str, json: &str) -> Self {
        self.members
            .push((key.to_owned(), one_line(json).into_owned()));
        self
    }

    /// Requests progress, and log messages in the modern protocol, while the request is served.
    pub(super) fn and_notices(mut self) -> Self {
        self.wants_progress = true;
        if self.meta.contains_key(meta::PROTOCOL_VERSION) {
            self.meta.insert(meta::LOG_LEVEL.to_owned(), json!("debug"));
        }
        self
    }

    /// The text of `params` for the request with this id. `None` without parameters.
    pub(super) fn text(&self, id: i64) -> Option<String> {
        let member = |key: &str, json: &dyn fmt::Display| format!("{}:{json}", write_text(key));
        let mut meta: Vec<String> = self
            .meta
            .iter()
            .map(|(key, value)| member(key, value))
            .collect();
        if self.wants_progress && !self.meta.contains_key("progressToken") {
            meta.insert(0, member("progressToken", &id));
        }
        let mut members: Vec<String> = self
            .members
            .iter()
            .map(|(key, json)| member(key, json))
            .collect();
        if !meta.is_empty() {
            members.push(format!("\"_meta\":{{{}}}", meta.join(",")));
        }
        (!members.is_empty()).then(|| format!("{{{}}}", members.join(",")))
    }
}

/// Our name and version.
pub(super) fn client_info() -> Value {
    json!({ "name": "mcptest", "version": env!("CARGO_PKG_VERSION") })
}

/// Our own capabilities. Requests without a scripted answer are declined.
pub(super) fn own_capabilities() -> Value {
    json!({ "roots": {}, "sampling": {}, "elicitation": { "form": {}, "url": {} } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_callers_meta_is_kept_beside_ours_and_lines_stay_whole() {
        let params = Params::new(Era::Legacy, &json!({}))
            .with_value(json!({"a": 1, "_meta": {"x": true}}))
            .with("b", "{\n  \"c\": 2\n}")
            .and_notices();
        let text = params.text(7).unwrap();
        assert!(!text.contains('\n'));
        assert_eq!(
            serde_json::from_str::<Value>(&text).unwrap(),
            json!({"a": 1, "b": {"c": 2}, "_meta": {"progressToken": 7, "x": true}})
        );
        assert_eq!(Params::new(Era::Legacy, &json!({})).text(1), None);
    }
}
