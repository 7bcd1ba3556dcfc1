//! Results and errors as messages: static text spliced around the id.

use crate::manifest::Cache;
use mcptest_mcp::era::Era;
use mcptest_mcp::jsonrpc::{self, Id, RpcError};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Keys that only modern results have.
const MODERN_KEYS: [&str; 3] = ["resultType", "ttlMs", "cacheScope"];
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// The additional fields of a result in the modern protocol.
#[derive(Debug, Clone, Default)]
pub(super) struct Dressing {
    plain: String,
    cached: String,
    server_info: String,
    ttl_ms: String,
    cache_scope: String,
}

impl Dressing {
    /// `info` is the server's name and version as JSON text.
    pub(super) fn new(info: &str, cache: Cache) -> Self {
        let meta = format!(r#""_meta":{{"{SERVER_INFO}":{info}}}"#);
        let scope = if cache.is_public { "public" } else { "private" };
        let ttl_ms = cache.ttl_ms;
        Self {
            plain: format!(r#""resultType":"complete",{meta}"#),
            cached: format!(
                r#""resultType":"complete","ttlMs":{ttl_ms},"cacheScope":"{scope}",{meta}"#
            ),
            server_info: info.to_owned(),
            ttl_ms: ttl_ms.to_string(),
            cache_scope: format!(r#""{scope}""#),
        }
    }

    /// A good answer. `result` is a JSON object as text, without line breaks.
    pub(super) fn result(&self, era: Era, id: &Id, method: &str, result: &str) -> String {
        let mut text = String::with_capacity(result.len() + self.cached.len() + 64);
        push_head(&mut text, id);
        match era {
            Era::Legacy => push_legacy(&mut text, result),
            Era::Modern => self.push_modern(&mut text, result, is_cacheable(method)),
        }
        text.push('}');
        text
    }

    fn push_modern(&self, text: &mut String, result: &str, is_cached: bool) {
        if mentions(result, &["_meta", "resultType", "ttlMs", "cacheScope"]) {
            return text.push_str(&self.merged(result, is_cached));
        }
        let Some(rest) = result.strip_prefix('{') else {
            return text.push_str(result);
        };
        text.push('{');
        text.push_str(if is_cached { &self.cached } else { &self.plain });
        if rest.trim_start() != "}" {
            text.push(',');
        }
        text.push_str(rest);
    }

    /// Adds the keys to a result that has some of them: its own values win. Slower than the usual
    /// way.
    fn merged(&self, result: &str, is_cached: bool) -> String {
        let Ok(mut members) = serde_json::from_str::<BTreeMap<String, &RawValue>>(result) else {
            return result.to_owned();
        };
        let meta = members.remove("_meta").map_or("{}", RawValue::get);
        let mut text = format!(r#"{{"_meta":{}"#, self.with_server_info(meta));
        if !members.contains_key("resultType") {
            text.push_str(r#","resultType":"complete""#);
        }
        let is_complete = members
            .get("resultType")
            .is_none_or(|kind| kind.get() == r#""complete""#);
        if is_cached && is_complete {
            for (key, hint) in [("ttlMs", &self.ttl_ms), ("cacheScope", &self.cache_scope)] {
                if !members.contains_key(key) {
                    let _infallible = write!(text, r#","{key}":{hint}"#);
                }
            }
        }
        push_members(&mut text, &members);
        text.push('}');
        text
    }

    fn with_server_info(&self, meta: &str) -> String {
        let Ok(mut members) = serde_json::from_str::<BTreeMap<String, &RawValue>>(meta) else {
            return meta.to_owned();
        };
        let own = members
            .remove(SERVER_INFO)
            .map_or(self.server_info.as_str(), RawValue::get);
        let mut text = format!(r#"{{"{SERVER_INFO}":{own}"#);
        push_members(&mut text, &members);
        text.push('}');
        text
    }
}

fn push_head(text: &mut String, id: &Id) {
    text.push_str(r#"{"jsonrpc":"2.0","id":"#);
    text.push_str(&jsonrpc::id_text(id));
    text.push_str(r#","result":"#);
}

fn push_members(text: &mut String, members: &BTreeMap<String, &RawValue>) {
    for (key, value) in members {
        if !text.ends_with('{') {
            text.push(',');
        }
        text.push_str(&jsonrpc::write_text(key));
        text.push(':');
        text.push_str(value.get());
    }
}

fn mentions(text: &str, keys: &[&str]) -> bool {
    keys.iter()
        .any(|key| memchr::memmem::find(text.as_bytes(), key.as_bytes()).is_some())
}

fn push_legacy(text: &mut String, result: &str) {
    let members = if mentions(result, &["resultType"]) {
        serde_json::from_str::<BTreeMap<String, &RawValue>>(result).ok()
    } else {
        None
    };
    let Some(mut members) = members.filter(|members| members.contains_key("resultType")) else {
        return text.push_str(result);
    };
    for key in MODERN_KEYS {
        members.remove(key);
    }
    let own_meta = members.remove("_meta").and_then(|meta| {
        let mut meta: BTreeMap<String, &RawValue> = serde_json::from_str(meta.get()).ok()?;
        meta.remove(SERVER_INFO);
        (!meta.is_empty()).then_some(meta)
    });
    text.push('{');
    if let Some(meta) = own_meta {
        text.push_str(r#""_meta":{"#);
        push_members(text, &meta);
        text.push('}');
    }
    push_members(text, &members);
    text.push('}');
}

/// Returns true for lists, reads and the discovery, which declare how long they are valid.
fn is_cacheable(method: &str) -> bool {
    matches!(
        method,
        "server/discover"
            | "tools/list"
            | "prompts/list"
            | "resources/list"
            | "resources/templates/list"
            | "resources/read"
    )
}

/// A refusal. It has no id if the request had no readable one, because MCP has no null ids.
pub(super) fn error(id: Option<&Id>, error: &RpcError) -> String {
    match id {
        Some(_) => jsonrpc::error(id, error),
        None => {
            format!(
                r#"{{"jsonrpc":"2.0","error":{}}}"#,
                serde_json::to_string(error).unwrap_or_default()
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn dressed(era: Era, method: &str, result: &str) -> Value {
        let dressing = Dressing::new(r#"{"name":"m","version":"1"}"#, Cache::default());
        serde_json::from_str(&dressing.result(era, &Id::Number(1), method, result)).unwrap()
    }

    #[test]
    fn a_modern_result_says_that_it_is_complete_and_who_gave_it() {
        let info = json!({ SERVER_INFO: { "name": "m", "version": "1" } });
        let call = dressed(Era::Modern, "tools/call", r#"{"content":[]}"#);
        assert_eq!(
            call["result"],
            json!({ "resultType": "complete", "_meta": info, "content": [] })
        );
        let list = dressed(Era::Modern, "tools/list", "{}");
        assert_eq!(
            list["result"],
            json!({ "resultType": "complete", "ttlMs": 0, "cacheScope": "private", "_meta": info })
        );
    }

    #[test]
    fn what_a_result_says_itself_is_kept() {
        let own = dressed(
            Era::Modern,
            "tools/call",
            r#"{"resultType":"input_required","_meta":{"a/b":1},"inputRequests":{}}"#,
        );
        assert_eq!(own["result"]["resultType"], "input_required");
        assert_eq!(own["result"]["_meta"]["a/b"], 1);
        assert!(own["result"].get("ttlMs").is_none());
        let text = dressed(
            Era::Modern,
            "tools/call",
            r#"{"content":[{"type":"text","text":"ttlMs _meta"}]}"#,
        );
        assert_eq!(text["result"]["resultType"], "complete");
        assert_eq!(text["result"]["content"][0]["text"], "ttlMs _meta");
    }

    #[test]
    fn a_legacy_client_sees_no_modern_keys() {
        let result = r#"{"resultType":"complete","ttlMs":5,"cacheScope":"public","tools":[],"_meta":{"io.modelcontextprotocol/serverInfo":{}}}"#;
        assert_eq!(
            dressed(Era::Legacy, "tools/list", result)["result"],
            json!({ "tools": [] })
        );
        let said = r#"{"content":[{"type":"text","text":"resultType"}]}"#;
        assert_eq!(
            dressed(Era::Legacy, "tools/call", said)["result"]["content"][0]["text"],
            "resultType"
        );
    }

    #[test]
    fn an_error_without_an_id_has_none() {
        assert_eq!(
            error(None, &RpcError::new(-32700, "no \"JSON\"")),
            r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"no \"JSON\""}}"#
        );
    }
}
