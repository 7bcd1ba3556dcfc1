//! `server/discover`: how does a server of the modern protocol describe itself, and what does a
//! missing answer mean?

use super::link::{Asking, Deadline, Link};
use super::params::Params;
use super::{CallFailure, Misbehaviour, ServerInfo, WireError};
use crate::era::{Era, LATEST_MODERN};
use crate::jsonrpc::{RpcError, code};
use serde::Deserialize;
use serde_json::value::RawValue;

/// A probe that found no modern server.
pub(super) struct Undiscovered {
    pub(super) error: WireError,
    pub(super) next: Next,
}

/// The meaning of a failed probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// The server apparently uses the legacy protocol.
    FallBack,
    /// The server has exited, as some legacy servers do.
    StartAgain,
    /// The server has read the probe and stays silent: `initialize` goes to a fresh one.
    AskAfresh,
    /// The legacy protocol would not help.
    GiveUp,
}

/// Asks a server of the modern protocol to describe itself.
pub(super) async fn discover(link: &Link, deadline: Deadline) -> Result<ServerInfo, Undiscovered> {
    let method = "server/discover";
    let mut answer = ask_to_discover(link, deadline).await;
    if matches!(&answer, Err(CallFailure::Rpc(error)) if offers_our_version(error)) {
        answer = ask_to_discover(link, deadline).await;
    }
    let (why, next) = match answer {
        Ok(result) => match discovered(&result) {
            Ok(info) => return Ok(info),
            Err(why) => (why, Next::FallBack),
        },
        Err(CallFailure::Rpc(error)) => {
            let next = after_refusal(&error);
            let why = match supported_versions(&error) {
                Some(supported) => Misbehaviour::NoCommonVersion { supported },
                None => Misbehaviour::Refused { error },
            };
            (why, next)
        }
        Err(CallFailure::Wire(error)) => {
            let next = after_failure(&error.misbehaviour);
            return Err(Undiscovered { error, next });
        }
    };
    Err(Undiscovered {
        error: link.error(method, why, Vec::new()),
        next,
    })
}

async fn ask_to_discover(link: &Link, deadline: Deadline) -> Result<Box<RawValue>, CallFailure> {
    let params = Params::new(Era::Modern, link.capabilities());
    let method = "server/discover";
    link.ask(Asking {
        method,
        asked: method,
        params: &params,
        headers: &[],
        deadline,
    })
    .await
    .outcome
}

/// True for a refusal that offers the requested version: the client tries once more.
fn offers_our_version(error: &RpcError) -> bool {
    error.code == code::UNSUPPORTED_VERSION
        && supported_versions(error)
            .is_some_and(|versions| versions.iter().any(|version| version == LATEST_MODERN))
}

fn after_refusal(error: &RpcError) -> Next {
    match error.code {
        code::HEADER_MISMATCH | code::MISSING_CLIENT_CAPABILITY => Next::GiveUp,
        code::UNSUPPORTED_VERSION if !speaks_legacy(error) => Next::GiveUp,
        _ => Next::FallBack,
    }
}

/// Returns true for a refusal that names a version of the legacy protocol.
fn speaks_legacy(error: &RpcError) -> bool {
    supported_versions(error).is_some_and(|versions| {
        versions
            .iter()
            .any(|version| Era::from_version(version) == Some(Era::Legacy))
    })
}

fn after_failure(misbehaviour: &Misbehaviour) -> Next {
    match misbehaviour {
        Misbehaviour::Exited { .. } | Misbehaviour::ClosedOutput { .. } => Next::StartAgain,
        // Silence is no answer: a server that starts slowly speaks the same era as one that does not.
        Misbehaviour::NoAnswer { .. }
        | Misbehaviour::CannotStart(_)
        | Misbehaviour::ConnectionRefused { .. }
        | Misbehaviour::ConnectTimeout { .. }
        | Misbehaviour::UnknownHost { .. }
        | Misbehaviour::Tls { .. }
        | Misbehaviour::BadAddress { .. }
        | Misbehaviour::BadHeader { .. }
        | Misbehaviour::Redirect { .. }
        | Misbehaviour::Unauthorized { .. } => Next::GiveUp,
        _ => Next::FallBack,
    }
}

/// The versions that a refusal offers.
pub(super) fn supported_versions(error: &RpcError) -> Option<Vec<String>> {
    #[derive(Deserialize)]
    struct Data {
        supported: Vec<String>,
    }
    serde_json::from_str::<Data>(error.data.as_ref()?.get())
        .ok()
        .map(|data| data.supported)
}

/// The server's description of itself.
#[derive(Default, Deserialize)]
pub(super) struct Implementation {
    #[serde(default)]
    pub(super) name: String,
    #[serde(default)]
    pub(super) version: String,
}

#[derive(Deserialize)]
struct Meta {
    #[serde(rename = "io.modelcontextprotocol/serverInfo")]
    server_info: Option<Implementation>,
}

/// The result of `server/discover`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Discovery {
    supported_versions: Vec<String>,
    capabilities: Box<RawValue>,
    instructions: Option<String>,
    server_info: Option<Implementation>,
    #[serde(rename = "_meta")]
    meta: Option<Meta>,
}

fn discovered(result: &RawValue) -> Result<ServerInfo, Misbehaviour> {
    let discovery: Discovery =
        serde_json::from_str(result.get()).map_err(|error| Misbehaviour::BadResult {
            why: format!("cannot be read: {error}"),
        })?;
    if !discovery
        .supported_versions
        .iter()
        .any(|version| version == LATEST_MODERN)
    {
        return Err(Misbehaviour::NoCommonVersion {
            supported: discovery.supported_versions,
        });
    }
    let server = discovery
        .meta
        .and_then(|meta| meta.server_info)
        .or(discovery.server_info)
        .unwrap_or_default();
    Ok(ServerInfo {
        name: server.name,
        version: server.version,
        protocol_version: LATEST_MODERN.to_owned(),
        era: Era::Modern,
        capabilities: discovery.capabilities,
        instructions: discovery.instructions,
        raw: result.to_owned(),
    })
}
