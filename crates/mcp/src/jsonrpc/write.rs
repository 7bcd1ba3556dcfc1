//! Messages as one line of text, with parts that are already JSON.

use super::{Id, RpcError};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// A request. `params` is JSON text.
pub fn request(id: &Id, method: &str, params: Option<&str>) -> String {
    with_params(
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":{}"#,
            text(method),
            id = id_text(id)
        ),
        params,
    )
}

/// A notification. `params` is JSON text.
pub fn notification(method: &str, params: Option<&str>) -> String {
    with_params(
        format!(r#"{{"jsonrpc":"2.0","method":{}"#, text(method)),
        params,
    )
}

/// A good answer. `result` is JSON text.
pub fn result(id: &Id, result: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#,
        id_text(id)
    )
}

/// A refusal. It has no id if the request had no readable one.
pub fn error(id: Option<&Id>, error: &RpcError) -> String {
    let id = id.map_or_else(|| "null".to_owned(), id_text);
    let data = error
        .data
        .as_ref()
        .map_or_else(String::new, |data| format!(r#","data":{}"#, data.get()));
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{},"message":{}{data}}}}}"#,
        error.code,
        text(&error.message)
    )
}

fn with_params(mut head: String, params: Option<&str>) -> String {
    if let Some(params) = params {
        head.push_str(r#","params":"#);
        head.push_str(params);
    }
    head.push('}');
    head
}

/// The id as JSON text.
pub fn id_text(id: &Id) -> String {
    match id {
        Id::Number(number) => number.to_string(),
        Id::Text(id) => text(id),
    }
}

/// The message with a new id, derived from the old one; otherwise unchanged.
pub(crate) fn with_id(message: &str, new: impl FnOnce(Option<Id>) -> String) -> String {
    #[derive(Deserialize)]
    struct WithId<'a> {
        #[serde(borrow)]
        id: &'a RawValue,
    }
    let Ok(WithId { id: old }) = serde_json::from_str(message) else {
        return message.to_owned();
    };
    let start = old.get().as_ptr() as usize - message.as_ptr() as usize;
    format!(
        "{}{}{}",
        &message[..start],
        new(Id::of(old)),
        &message[start + old.get().len()..]
    )
}

/// The JSON on one line: a line break would end the message.
pub fn one_line(json: &str) -> Cow<'_, str> {
    if memchr::memchr2(b'\n', b'\r', json.as_bytes()).is_none() {
        return json.into();
    }
    // Inside a JSON string a line break is always escaped, so each one here is white space.
    json.replace(['\n', '\r'], " ").into()
}

/// A JSON string literal.
pub fn text(value: &str) -> String {
    serde_json::Value::String(value.to_owned()).to_string()
}

#[cfg(test)]
mod tests {
    use super::super::{Body, parse};
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let line = request(
            &Id::Text("a\"b".into()),
            "tools/call",
            Some(r#"{"name":"x"}"#),
        );
        assert!(matches!(
            parse(&line).unwrap().body,
            Body::Request { id: Id::Text(id), method, params: Some(params) }
                if id == "a\"b" && method == "tools/call" && params.get() == r#"{"name":"x"}"#
        ));
        let refusal = RpcError::new(-32601, "no \"x\"");
        assert!(matches!(
            parse(&error(None, &refusal)).unwrap().body,
            Body::Error { id: None, error } if error == refusal
        ));
    }
}
