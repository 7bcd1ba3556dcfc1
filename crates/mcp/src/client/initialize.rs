//! `initialize`: which version do a legacy server and the client agree on?

use super::discover::{Implementation, supported_versions};
use super::link::{Asking, Deadline, Link};
use super::params::{Params, client_info};
use super::{CallFailure, Misbehaviour, ServerInfo, WireError};
use crate::era::{Era, LATEST_LEGACY, VERSIONS};
use crate::jsonrpc::RpcError;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

const METHOD: &str = "initialize";

/// The older handshake: `initialize`, an agreed version, `notifications/initialized`.
pub(super) async fn initialize(link: &Link, deadline: Deadline) -> Result<ServerInfo, WireError> {
    let info = agree(link, deadline).await?;
    confirm(link, &info).await;
    Ok(info)
}

/// Agrees on a version: ours, or else the newest of the server's that we speak too.
async fn agree(link: &Link, deadline: Deadline) -> Result<ServerInfo, WireError> {
    let error = match offer(link, LATEST_LEGACY, deadline).await? {
        Offered::Agreed(info) => return Ok(info),
        Offered::Refused(error) => error,
    };
    let older = supported_versions(&error).unwrap_or_default();
    let refused = || link.error(METHOD, Misbehaviour::Refused { error }, Vec::new());
    let is_offered =
        |known: &&&str| **known < LATEST_LEGACY && older.iter().any(|version| version == **known);
    let Some(version) = VERSIONS.iter().rev().find(is_offered) else {
        return Err(refused());
    };
    match offer(link, version, deadline).await? {
        Offered::Agreed(info) => Ok(info),
        Offered::Refused(_) => Err(refused()),
    }
}

/// Tells the server that the handshake is done.
async fn confirm(link: &Link, info: &ServerInfo) {
    link.set_version(&info.protocol_version);
    link.notify_first("notifications/initialized").await;
}

/// The answer to an offered version.
enum Offered {
    Agreed(ServerInfo),
    Refused(RpcError),
}

async fn offer(link: &Link, version: &str, deadline: Deadline) -> Result<Offered, WireError> {
    let params = Params::new(Era::Legacy, link.capabilities()).with_value(json!({
        "protocolVersion": version,
        "capabilities": link.capabilities(),
        "clientInfo": client_info(),
    }));
    let asking = Asking {
        method: METHOD,
        asked: METHOD,
        params: &params,
        headers: &[],
        deadline,
    };
    match link.ask(asking).await.outcome {
        Ok(result) => initialized(&result, version)
            .map(Offered::Agreed)
            .map_err(|why| link.error(METHOD, why, Vec::new())),
        Err(CallFailure::Rpc(error)) => Ok(Offered::Refused(error)),
        Err(CallFailure::Wire(error)) => Err(error),
    }
}

/// The result of `initialize`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Initialized {
    protocol_version: String,
    capabilities: Option<Box<RawValue>>,
    server_info: Option<Implementation>,
    instructions: Option<String>,
}

fn initialized(result: &RawValue, offered: &str) -> Result<ServerInfo, Misbehaviour> {
    let bad = |why: String| Misbehaviour::BadResult { why };
    let answer: Initialized = serde_json::from_str(result.get())
        .map_err(|error| bad(format!("cannot be read: {error}")))?;
    let version = answer.protocol_version;
    match Era::from_version(&version) {
        Some(Era::Legacy) => {}
        Some(Era::Modern) => {
            return Err(bad(format!(
                "has the protocol version {version:?}, which has no `initialize`"
            )));
        }
        None => {
            return Err(Misbehaviour::UnknownVersion {
                offered: offered.to_owned(),
                answered: version,
            });
        }
    }
    let capabilities = answer
        .capabilities
        .ok_or_else(|| bad("has no `capabilities`".to_owned()))?;
    let server = answer.server_info.unwrap_or_default();
    Ok(ServerInfo {
        name: server.name,
        version: server.version,
        protocol_version: version,
        era: Era::Legacy,
        capabilities,
        instructions: answer.instructions,
        raw: result.to_owned(),
    })
}
