//! Which protocol does the server use, and how does it describe itself?

use super::conversation::{Conversation, Tap};
use super::discover::{Next, Undiscovered, discover};
use super::http::Http;
use super::initialize::{agree, confirm, initialize};
use super::link::{Deadline, Link};
use super::stdio::Stdio;
use super::{Endpoint, Failure, Misbehaviour, Observed, ServerInfo, ServerSpec, WireError};
use crate::era::Era;
use std::pin::pin;
use std::time::Duration;
use tokio::time::timeout;

/// A server that does not answer `server/discover` for this time also gets `initialize`: some servers never answer
/// unknown requests. This decides the requests, never the protocol.
const PATIENCE: Duration = Duration::from_secs(2);
/// After this a server is late.
const LATE: Duration = Duration::from_secs(3);
/// The time after the answer to the later request in which an answer to the probe may still arrive.
const OUT_OF_ORDER: Duration = Duration::from_millis(200);

/// Connects with the protocol that the server uses.
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

/// One process and one connection: the first answer decides the protocol. Only a server that exits on the probe is
/// started again.
async fn find_out(
    spec: &ServerSpec,
    tap: Option<Tap>,
    deadline: Deadline,
) -> Result<(Link, ServerInfo), WireError> {
    let link = open(spec, tap.clone(), Era::Modern)?;
    let fell_back = |link: &Link, why| link.conversation().observe(Observed::FellBack { why });
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

/// The first answer of a server.
enum FirstAnswer {
    Modern(ServerInfo),
    /// With why it is not taken for a modern one.
    Legacy {
        info: ServerInfo,
        reason: String,
    },
}

/// Asks a server whose protocol is unknown. A server that stays silent is slow to start, or ignores the probe: it
/// also gets the legacy question. Servers answer in order, and the second question does not confuse a modern server.
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

/// The failure to answer the probe, for a server that got the requests of both protocols.
fn to_both(error: &WireError) -> WireError {
    Failure {
        method: "server/discover and initialize".to_owned(),
        ..(**error).clone()
    }
    .into()
}
