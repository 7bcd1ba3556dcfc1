//! Which era does the server speak, and who is it?

use super::conversation::{Conversation, Tap};
use super::http::Http;
use super::link::{Asking, Deadline, Link};
use super::params::{Params, capabilities, client_info};
use super::stdio::Stdio;
use super::{
    CallFailure, Endpoint, Failure, Misbehaviour, Observed, ServerInfo, ServerSpec, WireError,
};
use crate::era::{Era, LATEST_LEGACY, LATEST_MODERN, VERSIONS};
use crate::jsonrpc::{RpcError, code};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use std::pin::pin;
use std::time::Duration;
use tokio::time::timeout;

/// A server that says nothing for this long to `server/discover` is asked `initialize` as well: some never answer what
/// they do not know. This decides what is asked, never the era.
const PATIENCE: Duration = Duration::from_secs(2);
/// After this a server is late.
const LATE: Duration = Duration::from_secs(3);
/// How long an answer to the probe may come after one to the later question.
const OUT_OF_ORDER: Duration = Duration::from_millis(200);

/// Connects, in the era that the server speaks.
pub(super) async fn connect(
    spec: &ServerSpec,
    tap: Option<Tap>,
) -> Result<(Link, ServerInfo), WireError> {
    let mut connecting = pin!(shake_hands(spec, tap));
    if let Ok(connected) = timeout(LATE, &mut connecting).await {
        return connected;
    }
    if let Some(tell) = &spec.on_late.0 {
        tell(spec);
    }
    connecting.await
}

async fn shake_hands(spec: &ServerSpec, tap: Option<Tap>) -> Result<(Link, ServerInfo), WireError> {
    // The limit is one for all that is asked until the server is known.
    let deadline = Deadline::after(spec.connect_timeout);
    let connected = match spec.era {
        Some(Era::Legacy) => begin_legacy(open(spec, tap, Era::Legacy)?, deadline).await,
        Some(Era::Modern) => {
            let link = open(spec, tap, Era::Modern)?;
            match discover(&link, deadline).await {
                Ok(info) => Ok((link, info)),
                Err(Undiscovered { error, .. }) => Err(error),
            }
        }
        None => find_out(spec, tap, deadline).await,
    };
    let (link, info) = connected.map_err(before_ready)?;
    link.conversation().set_ready();
    if let Link::Http(http, _) = &link {
        http.listen().await;
    }
    Ok((link, info))
}

/// One process and one connection: the first answer decides the era. Only a server that ends on the probe is started again.
async fn find_out(
    spec: &ServerSpec,
    tap: Option<Tap>,
    deadline: Deadline,
) -> Result<(Link, ServerInfo), WireError> {
    let link = open(spec, tap.clone(), Era::Modern)?;
    let fell_back = |link: &Link, reason| link.conversation().observe(Observed::FellBack(reason));
    let Undiscovered { error, next } = match first_answer(&link, deadline).await {
        Ok(FirstAnswer::Modern(info)) => return Ok((link, info)),
        Ok(FirstAnswer::Legacy { info, reason }) => {
            fell_back(&link, reason);
            confirm(&link, &info).await;
            return Ok((link, info));
        }
        Err(undiscovered) => undiscovered,
    };
    let link = match next {
        Next::GiveUp => return Err(error),
        Next::FallBack => {
            link.set_era(Era::Legacy);
            link
        }
        Next::StartAgain => {
            let seen = link.conversation().observed();
            // A process that does not end by itself is killed when this is dropped.
            let _killed = timeout(spec.connect_timeout / 4, link.discard()).await;
            let link = open(spec, tap, Era::Legacy)?;
            for observed in seen {
                link.conversation().observe(observed);
            }
            link
        }
    };
    fell_back(&link, reason(&error));
    begin_legacy(link, deadline).await
}

async fn begin_legacy(link: Link, deadline: Deadline) -> Result<(Link, ServerInfo), WireError> {
    let info = initialize(&link, deadline).await?;
    Ok((link, info))
}

/// Silence before the first answer is a matter of the limit on connecting.
fn before_ready(error: WireError) -> WireError {
    match error.misbehaviour {
        Misbehaviour::NoAnswer { after, unread } => Failure {
            misbehaviour: Misbehaviour::NoFirstAnswer { after, unread },
            ..(*error).clone()
        }
        .into(),
        _ => error,
    }
}

fn reason(error: &WireError) -> String {
    error.misbehaviour.sentence(&error.method)
}

pub(super) fn open(spec: &ServerSpec, tap: Option<Tap>, era: Era) -> Result<Link, WireError> {
    let conversation = Conversation::new(
        &spec.name,
        spec.max_message_bytes,
        tap,
        spec.responses.clone(),
    );
    let opened = match &spec.endpoint {
        Endpoint::Url { url, headers } => {
            Http::open(url, headers, spec.connect_timeout, era, conversation).map(|http| {
                let end_tasks = http.end_tasks();
                Link::Http(http, Some(end_tasks))
            })
        }
        endpoint => Stdio::open(endpoint, conversation).map(Link::Stdio),
    };
    opened.map_err(|misbehaviour| Failure::new(&spec.name, "", misbehaviour).into())
}

/// What the first answer of a server says.
enum FirstAnswer {
    Modern(ServerInfo),
    /// With why it is not taken for a modern one.
    Legacy {
        info: ServerInfo,
        reason: String,
    },
}

/// A probe that found no modern server.
struct Undiscovered {
    error: WireError,
    next: Next,
}

/// What a failed probe means.
#[derive(Clone, Copy)]
enum Next {
    /// The server speaks the older era, as far as one can tell.
    FallBack,
    /// The server has ended, as some of the older era do.
    StartAgain,
    /// The older era would not help.
    GiveUp,
}

/// Asks a server of unknown era. One that says nothing is slow to start, or passes over the probe: it is asked in the
/// older era as well. Servers answer in order, and a modern one is not confused by the second question.
///
/// Over HTTP a server that is there answers every request, so this waits for the probe's answer.
async fn first_answer(link: &Link, deadline: Deadline) -> Result<FirstAnswer, Undiscovered> {
    let mut discovering = pin!(discover(link, deadline));
    if let Link::Http(..) = link {
        return discovering.await.map(FirstAnswer::Modern);
    }
    if let Ok(discovered) = timeout(PATIENCE.min(deadline.after / 4), &mut discovering).await {
        return discovered.map(FirstAnswer::Modern);
    }
    let give_up = |error| Undiscovered {
        error,
        next: Next::GiveUp,
    };
    let mut initializing = pin!(agree(link, deadline));
    tokio::select! {
        biased;
        discovered = &mut discovering => match discovered {
            Ok(info) => Ok(FirstAnswer::Modern(info)),
            Err(Undiscovered { error, next: Next::FallBack }) => match initializing.await {
                Ok(info) => Ok(FirstAnswer::Legacy { info, reason: reason(&error) }),
                Err(error) => Err(give_up(error)),
            },
            Err(Undiscovered { error, next: Next::GiveUp }) => Err(give_up(to_both(&error))),
            Err(ended) => Err(ended),
        },
        initialized = &mut initializing => match initialized {
            Ok(info) => {
                let late = timeout(OUT_OF_ORDER, discovering).await.ok().and_then(Result::ok);
                let reason = "it answered initialize and not server/discover".to_owned();
                Ok(late.map_or(FirstAnswer::Legacy { info, reason }, FirstAnswer::Modern))
            }
            // As a modern server does, whose answer to the probe is still to come.
            Err(refused) => match discovering.await {
                Ok(info) => Ok(FirstAnswer::Modern(info)),
                Err(Undiscovered { next: Next::StartAgain, error }) => {
                    Err(Undiscovered { next: Next::StartAgain, error })
                }
                Err(_) => Err(give_up(refused)),
            },
        },
    }
}

/// The failure to answer the probe, of a server that was asked in both eras.
fn to_both(error: &WireError) -> WireError {
    Failure {
        method: "server/discover and initialize".to_owned(),
        ..(**error).clone()
    }
    .into()
}

async fn discover(link: &Link, deadline: Deadline) -> Result<ServerInfo, Undiscovered> {
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
            (
                supported(&error)
                    .map_or(Misbehaviour::Refused(error), Misbehaviour::NoCommonVersion),
                next,
            )
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
    let params = Params::new(Era::Modern);
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

/// True for a refusal of the version that names the very version: it is asked once more.
fn offers_our_version(error: &RpcError) -> bool {
    error.code == code::UNSUPPORTED_VERSION
        && supported(error)
            .is_some_and(|versions| versions.iter().any(|version| version == LATEST_MODERN))
}

fn after_refusal(error: &RpcError) -> Next {
    match error.code {
        code::HEADER_MISMATCH | code::MISSING_CLIENT_CAPABILITY => Next::GiveUp,
        code::UNSUPPORTED_VERSION => {
            let speaks_legacy = supported(error).is_some_and(|versions| {
                versions
                    .iter()
                    .any(|version| Era::of(version) == Some(Era::Legacy))
            });
            if speaks_legacy {
                Next::FallBack
            } else {
                Next::GiveUp
            }
        }
        _ => Next::FallBack,
    }
}

fn after_failure(misbehaviour: &Misbehaviour) -> Next {
    match misbehaviour {
        Misbehaviour::Exited { .. } | Misbehaviour::ClosedOutput(_) => Next::StartAgain,
        // Silence is no answer: a server that starts slowly speaks the same era as one that does not.
        Misbehaviour::NoAnswer { .. }
        | Misbehaviour::CannotStart(_)
        | Misbehaviour::ConnectionRefused(_)
        | Misbehaviour::ConnectTimeout { .. }
        | Misbehaviour::UnknownHost(_)
        | Misbehaviour::Tls { .. }
        | Misbehaviour::BadAddress { .. }
        | Misbehaviour::BadHeader(_)
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
    serde_json::from_str::<Data>(error.data.as_ref()?.get())
        .ok()
        .map(|data| data.supported)
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
        .map_err(|error| Misbehaviour::BadResult(format!("cannot be read: {error}")))?;
    if !discovery
        .supported_versions
        .iter()
        .any(|version| version == LATEST_MODERN)
    {
        return Err(Misbehaviour::NoCommonVersion(discovery.supported_versions));
    }
    let server = discovery
        .meta
        .and_then(|meta| meta.server_info)
        .or(discovery.server_info);
    let (name, version) = server
        .map(|server| (server.name, server.version))
        .unwrap_or_default();
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
    let info = agree(link, deadline).await?;
    confirm(link, &info).await;
    Ok(info)
}

async fn agree(link: &Link, deadline: Deadline) -> Result<ServerInfo, WireError> {
    let error = match offer(link, LATEST_LEGACY, deadline).await? {
        Ok(info) => return Ok(info),
        Err(error) => error,
    };
    let refused = || {
        link.error(
            "initialize",
            Misbehaviour::Refused(error.clone()),
            Vec::new(),
        )
    };
    let older = supported(&error).unwrap_or_default();
    let is_offered =
        |known: &&&str| **known < LATEST_LEGACY && older.iter().any(|version| version == **known);
    let Some(version) = VERSIONS.iter().rev().find(is_offered) else {
        return Err(refused());
    };
    offer(link, version, deadline).await?.map_err(|_| refused())
}

async fn confirm(link: &Link, info: &ServerInfo) {
    link.set_version(&info.protocol_version);
    link.notify_first("notifications/initialized").await;
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
    let asking = Asking {
        method,
        asked: method,
        params: &params,
        headers: &[],
        deadline,
    };
    match link.ask(asking).await.outcome {
        Ok(result) => initialized(&result, version)
            .map(Ok)
            .map_err(|why| link.error(method, why, Vec::new())),
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
    let bad = |why: String| Misbehaviour::BadResult(why);
    let answer: Initialized = serde_json::from_str(result.get())
        .map_err(|error| bad(format!("cannot be read: {error}")))?;
    let version = answer.protocol_version;
    match Era::of(&version) {
        Some(Era::Legacy) => {}
        Some(Era::Modern) => {
            return Err(bad(format!(
                "has the protocol version {version:?}, in which there is no `initialize`"
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
    let (name, server_version) = answer
        .server_info
        .map(|server| (server.name, server.version))
        .unwrap_or_default();
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
