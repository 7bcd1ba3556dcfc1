//! Messages as one line of text, around parts that are JSON already.

use super::{Id, RpcError};

/// A request. `params` is JSON text.
pub fn request(id: &Id, method: &str, params: Option<&str>) -> String {
    with_params(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{}"#, text(method), id = id_text(id)), params)
}

/// A notification. `params` is JSON text.
pub fn notification(method: &str, params: Option<&str>) -> String {
    with_params(format!(r#"{{"jsonrpc":"2.0","method":{}"#, text(method)), params)
}

/// A good answer. `result` is JSON text.
pub fn result(id: &Id, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, id_text(id))
}

/// A refusal; without an id when the request had none that could be read.
pub fn error(id: Option<&Id>, error: &RpcError) -> String {
    let id = id.map_or_else(|| "null".to_owned(), id_text);
    let data = error.data.as_ref().map_or_else(String::new, |data| format!(r#","data":{}"#, data.get()));
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

fn id_text(id: &Id) -> String {
    match id {
        Id::Number(number) => number.to_string(),
        Id::Text(id) => text(id),
    }
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
        let line = request(&Id::Text("a\"b".into()), "tools/call", Some(r#"{"name":"x"}"#));
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
