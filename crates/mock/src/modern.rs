//! What must hold for a stateless request before it is answered?

use super::catalog::{Catalog, RepeatedArgument};
use super::incoming::Request;
use super::params::Capabilities;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use mcptest_mcp::era::{LATEST_MODERN, VERSIONS, meta};
use mcptest_mcp::jsonrpc::{RpcError, RpcResult, code};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::borrow::Cow;

/// The versions that are spoken without a handshake.
pub(super) const SUPPORTED: [&str; 1] = [LATEST_MODERN];

/// Checks `_meta`, the version and, over HTTP, the headers. Returns the client's capabilities.
pub(super) fn check(
    request: &Request<'_>,
    catalog: &Catalog,
    headers: Option<&HeaderMap>,
) -> RpcResult<Capabilities> {
    let meta = request.params.meta.as_ref();
    if request.params.modern_version().is_none()
        && let Some(error) = headers.and_then(unknown_version)
    {
        return Err(error);
    }
    let version = meta
        .and_then(|meta| meta.version.as_deref())
        .ok_or_else(|| missing(meta::PROTOCOL_VERSION))?;
    let capabilities = meta
        .and_then(|meta| meta.capabilities)
        .ok_or_else(|| missing(meta::CLIENT_CAPABILITIES))?;
    if let Some(headers) = headers {
        same(headers, "mcp-protocol-version", version)?;
    }
    if !SUPPORTED.contains(&version) {
        let data = json!({ "supported": SUPPORTED, "requested": version });
        let message = format!("Unsupported protocol version: {version}");
        return Err(RpcError::new(code::UNSUPPORTED_VERSION, message).with_data(&data));
    }
    if let Some(headers) = headers {
        check_headers(request, catalog, headers)?;
    }
    Ok(Capabilities::read(Some(capabilities)))
}

/// The refusal of an unknown version in a header, for both protocols.
pub(super) fn unknown_version(headers: &HeaderMap) -> Option<RpcError> {
    let named = headers
        .get("mcp-protocol-version")?
        .to_str()
        .unwrap_or("\u{fffd}")
        .trim();
    if VERSIONS.contains(&named) {
        return None;
    }
    let message = format!(
        "Unsupported protocol version: {named}; this server speaks {}",
        VERSIONS.join(", ")
    );
    let data = json!({ "supported": VERSIONS, "requested": named });
    Some(RpcError::new(code::UNSUPPORTED_VERSION, message).with_data(&data))
}

fn missing(key: &str) -> RpcError {
    RpcError::new(
        code::INVALID_PARAMS,
        format!("`params._meta` lacks `{key}`, which every request must have"),
    )
}

fn check_headers(request: &Request<'_>, catalog: &Catalog, headers: &HeaderMap) -> RpcResult {
    same(headers, "mcp-method", &request.method)?;
    let name = match &*request.method {
        "tools/call" | "prompts/get" => request.params.name.as_deref(),
        "resources/read" => request.params.uri.as_deref(),
        _ => None,
    };
    let Some(name) = name else { return Ok(()) };
    same(headers, "mcp-name", name)?;
    match (&*request.method, catalog.headers.get(name)) {
        ("tools/call", Some(repeated)) => check_arguments(request, repeated, headers),
        _ => Ok(()),
    }
}

fn check_arguments(
    request: &Request<'_>,
    repeated: &[RepeatedArgument],
    headers: &HeaderMap,
) -> RpcResult {
    let arguments = request.params.arguments.map_or("{}", RawValue::get);
    let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
    for RepeatedArgument { argument, header } in repeated {
        let said = match arguments.get(argument) {
            None | Some(Value::Null) => {
                if headers.contains_key(header) {
                    let message =
                        format!("the header `{header}` repeats `{argument}`, which the body lacks");
                    return Err(RpcError::new(code::HEADER_MISMATCH, message));
                }
                continue;
            }
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        };
        same(headers, header, &said)?;
    }
    Ok(())
}

/// Requires a header that equals the body's value.
fn same(headers: &HeaderMap, name: &str, body: &str) -> RpcResult {
    let mismatch = |what: String| RpcError::new(code::HEADER_MISMATCH, what);
    let Some(value) = headers.get(name) else {
        return Err(mismatch(format!(
            "the header `{name}` is missing; the body has `{body}`"
        )));
    };
    let text = std::str::from_utf8(value.as_bytes())
        .unwrap_or("\u{fffd}")
        .trim();
    let said = decoded(text)
        .ok_or_else(|| mismatch(format!("the header `{name}` is not valid base64: `{text}`")))?;
    if said == body {
        return Ok(());
    }
    Err(mismatch(format!(
        "the header `{name}` is `{said}`, but the body has `{body}`"
    )))
}

/// A header's value as text: `=?base64?…?=` is decoded, strictly.
fn decoded(text: &str) -> Option<Cow<'_, str>> {
    match text
        .strip_prefix("=?base64?")
        .and_then(|rest| rest.strip_suffix("?="))
    {
        None => Some(text.into()),
        Some(encoded) => String::from_utf8(STANDARD.decode(encoded).ok()?)
            .ok()
            .map(Cow::Owned),
    }
}

/// The HTTP status that an error of a modern request has.
pub(super) fn status(code: i64, is_about_meta: bool) -> u16 {
    match code {
        code::METHOD_NOT_FOUND => 404,
        code::HEADER_MISMATCH | code::MISSING_CLIENT_CAPABILITY | code::UNSUPPORTED_VERSION => 400,
        _ if is_about_meta => 400,
        _ => 200,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_may_be_base64_and_must_then_be_padded() {
        assert_eq!(decoded("=?base64?SGVsbG8=?=").as_deref(), Some("Hello"));
        assert_eq!(decoded("=?base64?SGVsbG8?="), None);
        assert_eq!(decoded("=?base64?SGVs!!!bG8=?="), None);
        assert_eq!(
            decoded("=?base64?SGVsbG8=").as_deref(),
            Some("=?base64?SGVsbG8=")
        );
        assert_eq!(decoded("SGVsbG8=").as_deref(), Some("SGVsbG8="));
    }
}
