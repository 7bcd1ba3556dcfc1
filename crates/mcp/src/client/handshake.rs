//! Which era does the server speak, and who is it?

use super::conversation::{Conversation, Tap};
use super::http::Http;
use super::link::{Asking, Deadline, Link};
use super::params::{Params, capabilities, client_info};
use super::stdio::Stdio;
use super::{CallFailure, Endpoint, Failure, Misbehaviour, Observed, ServerInfo, ServerSpec, WireError};
use crate::era::{Era, LATEST_LEGACY, LATEST_MODERN, VERSIONS};
use crate::jsonrpc::{RpcError, code};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use std::pin::pin;
use std::time::Duration;
use tokio::time::timeout;

/// A server that says nothing is spoken to in the older era after this.
const PROBE: Duration = Duration::from_secs(5);
/// A server that says nothing for this long is asked whether it is there at all.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long an answer to the probe may come after one to a later question.
const OUT_OF_ORDER: Duration = Duration::from_millis(200);

/// Connects, in the era that the server speaks.
pub(super) async fn connect(spec: &ServerSpec, tap: Option<Tap>) -> Result<(Link, ServerInfo), WireError> {
    match spec.era {
        Some(Era::Legacy) => {
            let link = open(spec, tap, Era::Legacy)?;
            let info = initialize(&link, Deadline::after(spec.connect_timeout)).await?;
            Ok(ready(link, info).await)
        }
        Some(Era::Modern) => {
            let link = open(spec, tap, Era::Modern)?;
            match discover(&link, Deadline::after(spec.connect_timeout)).await {
                Discovered::Modern(info) => Ok(ready(link, info).await),
                Discovered::Failed { error, .. } => Err(error),
            }
        }
        None => find_out(spec, tap).await,
    }
}

async fn find_out(spec: &ServerSpec, tap: Option<Tap>) -> Result<(Link, ServerInfo), WireError> {
    // The limit is one for both eras.
    let deadline = Deadline::after(spec.connect_timeout);
    let link = open(spec, tap.clone(), Era::Modern)?;
    let (error, was_silent) = match probe(&link, PROBE.min(spec.connect_timeout / 2)).await {
        Discovered::Modern(info) => return Ok(ready(link, info).await),
        Discovered::Failed { error, next: Next::GiveUp } => return Err(error),
        Discovered::Failed { error, next } => (error, next == Next::WasSilent),
    };
    let seen = link.conversation().observed();
    // A process that does not end by itself is killed when this is dropped.
    let _killed = timeout(spec.connect_timeout / 4, link.discard()).await;
    let link = open(spec, tap, Era::Legacy)?;
    for observed in seen {
        link.conversation().observe(observed);
    }
    link.conversation().observe(Observed::FellBack { reason: reason(&error) });
    match initialize(&link, deadline).await {
        Ok(info) => Ok(ready(link, info).await),
        // A modern server may only have been slow to start.
        Err(refused) if was_silent && matches!(refused.misbehaviour, Misbehaviour::Refused { .. }) => {
            link.set_era(Era::Modern);
            match discover(&link, deadline).await {
                Discovered::Modern(info) => Ok(ready(link, info).await),
                Discovered::Failed { .. } => Err(refused),
            }
        }
        Err(error) => Err(error),
    }
}

fn reason(error: &WireError) -> String {
    error.misbehaviour.sentence(&error.method)
}

fn open(spec: &ServerSpec, tap: Option<Tap>, era: Era) -> Result<Link, WireError> {
    let conversation = Conversation::new(&spec.name, spec.max_message_bytes, tap, spec.responses.clone());
    let opened = match &spec.endpoint {
        Endpoint::Url { url, headers } => Http::open(url, headers, spec.connect_timeout, era, conversation)
            .map(|http| {
                let end_tasks = http.end_tasks();
                Link::Http(http, Some(end_tasks))
            }),
        endpoint => Stdio::open(endpoint, conversation).map(Link::Stdio),
    };
    opened.map_err(|misbehaviour| {
        WireError::from(Failure {
            server: spec.name.clone(),
            method: String::new(),
            misbehaviour,
            instead: Vec::new(),
            stderr: String::new(),
            exit: None,
            missed_variables: Vec::new(),
        })
    })
}

async fn ready(link: Link, info: ServerInfo) -> (Link, ServerInfo) {
    link.conversation().set_ready();
    if let Link::Http(http, _) = &link {
        http.listen().await;
    }
    (link, info)
}

enum Discovered {
    Modern(ServerInfo),
    Failed { error: WireError, next: Next },
}

/// What a failed probe means.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    /// The server speaks the older era, as far as one can tell.
    FallBack,
    /// The server said nothing.
    WasSilent,
    /// The older era would not help.
    GiveUp,
}

/// Asks a server of unknown era. One that is slow to start is waited for; one that answers something else, and has
/// passed over the probe, is not.
async fn probe(link: &Link, limit: Duration) -> Discovered {
    let mut discovering = pin!(discover(link, Deadline::after(limit)));
    if let Link::Http(..) = link {
        return discovering.await;
    }
    if let Ok(discovered) = timeout(PATIENCE.min(limit / 4), &mut discovering).await {
        return discovered;
    }
    let (method, params) = ("ping", Params::new(Era::Modern));
    let deadline = Deadline::after(limit);
    let asking = Asking { method, asked: method, params: &params, headers: &[], deadline };
    tokio::select! {
        biased;
        discovered = &mut discovering => return discovered,
        _ = link.ask(asking) => {}
    }
    timeout(OUT_OF_ORDER, discovering).await.unwrap_or_else(|_| {
        let why = "is missing, though ping was answered".to_owned();
        let error = link.error("server/discover", Misbehaviour::BadResult { why }, Vec::new());
        Discovered::Failed { error, next: Next::WasSilent }
    })
}

async fn discover(link: &Link, deadline: Deadline) -> Discovered {
    let method = "server/discover";
    let failed = |why, next| Discovered::Failed { error: link.error(method, why, Vec::new()), next };
    let mut answer = ask_to_discover(link, deadline).await;
    if matches!(&answer, Err(CallFailure::Rpc(error)) if offers_our_version(error)) {
        answer = ask_to_discover(link, deadline).await;
    }
    match answer {
        Ok(result) => match discovered(&result) {
            Ok(info) => Discovered::Modern(info),
            Err(why) => failed(why, Next::FallBack),
        },
        Err(CallFailure::Rpc(error)) => {
            let next = after_refusal(&error);
            failed(supported(&error).map_or(Misbehaviour::Refused { error }, no_common), next)
        }
        Err(CallFailure::Wire(error)) => {
            let next = after_failure(&error.misbehaviour);
            Discovered::Failed { error, next }
        }
    }
}

async fn ask_to_discover(link: &Link, deadline: Deadline) -> Result<Box<RawValue>, CallFailure> {
    let params = Params::new(Era::Modern);
    let method = "server/discover";
    link.ask(Asking { method, asked: method, params: &params, headers: &[], deadline }).await.outcome
}

/// True for a refusal of the version that names the very version: it is asked once more.
fn offers_our_version(error: &RpcError) -> bool {
    error.code == code::UNSUPPORTED_VERSION
        && supported(error).is_some_and(|versions| versions.iter().any(|version| version == LATEST_MODERN))
}

fn no_common(supported: Vec<String>) -> Misbehaviour {
    Misbehaviour::NoCommonVersion { supported }
}

fn after_refusal(error: &RpcError) -> Next {
    match error.code {
        code::HEADER_MISMATCH | code::MISSING_CLIENT_CAPABILITY => Next::GiveUp,
        code::UNSUPPORTED_VERSION => {
            let speaks_legacy = supported(error)
                .is_some_and(|versions| versions.iter().any(|version| Era::of(version) == Some(Era::Legacy)));
            if speaks_legacy { Next::FallBack } else { Next::GiveUp }
        }
        _ => Next::FallBack,
    }
}

fn after_failure(misbehaviour: &Misbehaviour) -> Next {
    match misbehaviour {
        Misbehaviour::NoAnswer { .. } => Next::WasSilent,
        Misbehaviour::CannotStart(_)
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

/// The versions that a refusal says would do.
fn supported(error: &RpcError) -> Option<Vec<String>> {
    #[derive(Deserialize)]
    struct Data {
        supported: Vec<String>,
    }
    serde_json::from_str::<Data>(error.data.as_ref()?.get()).ok().map(|data| data.supported)
}

#[derive(Deserialize)]
struct Implementation {
    #[serde(default)]
    name: String,
    #[serde(default)]
    version: String,
}

fn discovered(result: &RawValue) -> Result<ServerInfo, Misbehaviour> {
    #[derive(Deserialize)]
    struct Meta {
        #[serde(rename = "io.modelcontextprotocol/serverInfo")]
        server_info: Option<Implementation>,
    }
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
    let discovery: Discovery = serde_json::from_str(result.get())
        .map_err(|error| Misbehaviour::BadResult { why: format!("cannot be read: {error}") })?;
    if !discovery.supported_versions.iter().any(|version| version == LATEST_MODERN) {
        return Err(no_common(discovery.supported_versions));
    }
    let server = discovery.meta.and_then(|meta| meta.server_info).or(discovery.server_info);
    let (name, version) = server.map(|server| (server.name, server.version)).unwrap_or_default();
    Ok(ServerInfo {
        name,
        version,
        protocol_version: LATEST_MODERN.to_owned(),
        era: Era::Modern,
        capabilities: discovery.capabilities,
        instructions: discovery.instructions,
        raw: result.to_owned(),
    })
}

/// The older handshake: `initialize`, an agreed version, `notifications/initialized`.
pub(super) async fn initialize(link: &Link, deadline: Deadline) -> Result<ServerInfo, WireError> {
    let info = match offer(link, LATEST_LEGACY, deadline).await? {
        Ok(info) => info,
        Err(error) => {
            let refused =
                || link.error("initialize", Misbehaviour::Refused { error: error.clone() }, Vec::new());
            let older = supported(&error).unwrap_or_default();
            let Some(version) = VERSIONS
                .iter()
                .rev()
                .find(|known| **known < LATEST_LEGACY && older.iter().any(|version| version == *known))
            else {
                return Err(refused());
            };
            offer(link, version, deadline).await?.map_err(|_| refused())?
        }
    };
    link.set_version(&info.protocol_version);
    link.notify_first("notifications/initialized").await;
    Ok(info)
}

async fn offer(
    link: &Link,
    version: &str,
    deadline: Deadline,
) -> Result<Result<ServerInfo, RpcError>, WireError> {
    let params = Params::new(Era::Legacy).with_value(json!({
        "protocolVersion": version,
        "capabilities": capabilities(),
        "clientInfo": client_info(),
    }));
    let method = "initialize";
    let asking = Asking { method, asked: method, params: &params, headers: &[], deadline };
    match link.ask(asking).await.outcome {
        Ok(result) => {
            initialized(&result, version).map(Ok).map_err(|why| link.error(method, why, Vec::new()))
        }
        Err(CallFailure::Rpc(error)) => Ok(Err(error)),
        Err(CallFailure::Wire(error)) => Err(error),
    }
}

fn initialized(result: &RawValue, offered: &str) -> Result<ServerInfo, Misbehaviour> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Initialized {
        protocol_version: String,
        capabilities: Option<Box<RawValue>>,
        server_info: Option<Implementation>,
        instructions: Option<String>,
    }
    let bad = |why: String| Misbehaviour::BadResult { why };
    let answer: Initialized =
        serde_json::from_str(result.get()).map_err(|error| bad(format!("cannot be read: {error}")))?;
    let version = answer.protocol_version;
    match Era::of(&version) {
        Some(Era::Legacy) => {}
        Some(Era::Modern) => {
            return Err(bad(format!(
                "has the protocol version {version:?}, in which there is no `initialize`"
            )));
        }
        None => {
            return Err(Misbehaviour::UnknownVersion { offered: offered.to_owned(), answered: version });
        }
    }
    let capabilities = answer.capabilities.ok_or_else(|| bad("has no `capabilities`".to_owned()))?;
    let (name, server_version) =
        answer.server_info.map(|server| (server.name, server.version)).unwrap_or_default();
    Ok(ServerInfo {
        name,
        version: server_version,
        protocol_version: version,
        era: Era::Legacy,
        capabilities,
        instructions: answer.instructions,
        raw: result.to_owned(),
    })
}
