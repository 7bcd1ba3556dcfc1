//! How does the legacy protocol work: the handshake, the methods that only sessions have, and the
//! discovery that replaced them?

use super::catalog::{Catalog, Source};
use super::engine::in_era;
use super::incoming::Request;
use super::modern::SUPPORTED;
use super::params::{Capabilities, Params};
use super::session::{Agreed, Session};
use crate::manifest::LogLevel;
use mcptest_mcp::era::{Era, LATEST_LEGACY, VERSIONS, meta};
use mcptest_mcp::jsonrpc::{self, RpcError, RpcResult, code};

/// Negotiates a version: the client's if it is known, otherwise the newest with a handshake.
pub(super) fn initialize(
    catalog: &Catalog,
    session: &Session,
    params: &Params<'_>,
) -> RpcResult<String> {
    let Some(asked) = &params.protocol_version else {
        return Err(RpcError::new(
            code::INVALID_PARAMS,
            "`params.protocolVersion` is missing",
        ));
    };
    let known = VERSIONS.iter().find(|version| *version == asked);
    let version = known
        .filter(|version| Era::from_version(version) == Some(Era::Legacy))
        .copied();
    let version = version.unwrap_or(LATEST_LEGACY);
    let capabilities = Capabilities::read(params.capabilities);
    if session
        .agreed
        .set(Agreed {
            version,
            capabilities,
        })
        .is_err()
    {
        return Err(RpcError::new(
            code::INVALID_REQUEST,
            "this session is already initialized",
        ));
    }
    let identity = &catalog.identity;
    let mut text = format!(
        r#"{{"protocolVersion":"{version}","capabilities":{},"serverInfo":{}"#,
        identity.capabilities, identity.info
    );
    push_instructions(&mut text, identity.instructions.as_deref());
    Ok(text)
}

/// The result of `server/discover`.
pub(super) fn discovery(catalog: &Catalog) -> String {
    let identity = &catalog.identity;
    let versions = serde_json::json!(SUPPORTED);
    let mut text = format!(
        r#"{{"supportedVersions":{versions},"capabilities":{}"#,
        identity.capabilities
    );
    push_instructions(&mut text, identity.instructions.as_deref());
    text
}

fn push_instructions(text: &mut String, instructions: Option<&str>) {
    if let Some(instructions) = instructions {
        text.push_str(&format!(
            r#","instructions":{}"#,
            jsonrpc::write_text(instructions)
        ));
    }
    text.push('}');
}

/// The refusal of a request before `initialize`.
pub(super) fn not_initialized() -> RpcError {
    let message = format!(
        "no session has begun: send `initialize` first, or name the version in `_meta[\"{}\"]`",
        meta::PROTOCOL_VERSION
    );
    RpcError::new(code::INVALID_REQUEST, message)
}

pub(super) fn set_level(session: &Session, params: &Params<'_>) -> RpcResult {
    let level = params.level.as_deref().unwrap_or_default();
    let level = LogLevel::named(level).ok_or_else(|| {
        let message = format!(
            "`{level}` is not a log level: {}",
            LogLevel::NAMES.join(", ")
        );
        RpcError::new(code::INVALID_PARAMS, message)
    })?;
    *session.level.lock() = level;
    Ok(())
}

pub(super) fn subscribe(catalog: &Catalog, session: &Session, request: &Request<'_>) -> RpcResult {
    let Some(uri) = &request.params.uri else {
        return Err(RpcError::new(
            code::INVALID_PARAMS,
            "`params.uri` is missing",
        ));
    };
    if let Source::Manifest(mock) = &catalog.source {
        if !catalog.lists.contains_key("resources/list") {
            let message = format!("Method not found: {}", request.method);
            return Err(RpcError::new(code::METHOD_NOT_FOUND, message));
        }
        mock.manifest
            .resource(uri)
            .map_err(|error| in_era(error, Era::Legacy))?;
    }
    let mut subscriptions = session.subscriptions.lock();
    if &*request.method == "resources/subscribe" {
        subscriptions.insert(uri.clone());
    } else {
        subscriptions.remove(uri);
    }
    Ok(())
}
