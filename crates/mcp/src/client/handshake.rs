//! Which protocol does the server use, and how does it describe itself?

use super::conversation::{Conversation, Tap};
use super::discover::{Next, Undiscovered, discover};
use super::http::Http;
use super::initialize::initialize;
use super::link::{Deadline, Link};
use super::stdio::Stdio;
use super::{Endpoint, Failure, Misbehaviour, Observed, ServerInfo, ServerSpec, WireError};
use crate::era::Era;
use std::pin::pin;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

/// A server that has read `server/discover` and does not answer for this time seems to ignore it, as some servers ignore
/// all unknown requests.
const PATIENCE: Duration = Duration::from_secs(5);
/// After this a server is late.
const LATE: Duration = Duration::from_secs(3);
/// The interval between looks at whether the server has read the probe.
const LOOK: Duration = Duration::from_millis(20);

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
    let (mut link, info) = connected.map_err(before_ready)?;
    link.begin_session();
    if let Link::Http(http, _) = &link {
        http.listen().await;
    }
    Ok((link, info))
}

/// Asks for the protocol. A process or connection gets a second question only after it has answered the first.
///
/// A server that stays silent on the probe gets `initialize` on a fresh connection. If it answers that sooner than the
/// client waited for the probe, it ignores the probe. Otherwise it is slow, and gets the probe again, with more patience:
/// a slow start does not decide the protocol.
async fn find_out(
    spec: &ServerSpec,
    tap: Option<Tap>,
    deadline: Deadline,
) -> Result<(Link, ServerInfo), WireError> {
    let mut patience = PATIENCE.min(deadline.after / 4);
    let mut link = open(spec, tap.clone(), Era::Modern)?;
    loop {
        let Undiscovered { error, next } = match probe(&link, patience, deadline).await {
            Ok(info) => return Ok((link, info)),
            Err(undiscovered) => undiscovered,
        };
        let why = error.misbehaviour.sentence(&error.method);
        match next {
            Next::GiveUp => return Err(error),
            Next::FallBack => link.set_era(Era::Legacy),
            Next::StartAgain | Next::AskAfresh => {
                link = open_again(link, spec, tap.clone(), Era::Legacy).await?;
            }
        }
        link.conversation().observe(Observed::FellBack { why });
        let (answer, took) = timed_since_read(&link, initialize(&link, deadline)).await;
        let info = match answer {
            Ok(info) => info,
            Err(refused) if next == Next::AskAfresh => return Err(to_both(&refused)),
            Err(refused) => return Err(refused),
        };
        if next != Next::AskAfresh || took < patience {
            return Ok((link, info));
        }
        patience = took * 2;
        link = open_again(link, spec, tap.clone(), Era::Modern).await?;
    }
}

/// Asks with `server/discover`, until the server answers or seems to ignore it.
///
/// Over HTTP a server that is there answers every request, so this waits for the answer.
async fn probe(
    link: &Link,
    patience: Duration,
    deadline: Deadline,
) -> Result<ServerInfo, Undiscovered> {
    if let Link::Http(..) = link {
        return discover(link, deadline).await;
    }
    tokio::select! {
        biased;
        discovered = discover(link, deadline) => discovered,
        () = ignored(link, patience) => {
            let silence = Misbehaviour::NoAnswer { after: patience, unread: false };
            Err(Undiscovered {
                error: link.error("server/discover", silence, Vec::new()),
                next: Next::AskAfresh,
            })
        }
    }
}

/// Waits until the server has had this much time for a request that it has read.
async fn ignored(link: &Link, patience: Duration) {
    sleep(LOOK.min(patience)).await;
    while link.holds_unread_input() {
        sleep(LOOK).await;
    }
    sleep(patience).await;
}

/// The answer, and the time that the server took for it since it read the request.
async fn timed_since_read<T>(link: &Link, asking: impl Future<Output = T>) -> (T, Duration) {
    let mut asking = pin!(asking);
    let mut read = Instant::now();
    loop {
        if let Ok(answer) = timeout(LOOK, &mut asking).await {
            return (answer, read.elapsed());
        }
        if link.holds_unread_input() {
            read = Instant::now();
        }
    }
}

/// Ends a connection that was only tried, and opens another, which remembers what was seen.
async fn open_again(
    link: Link,
    spec: &ServerSpec,
    tap: Option<Tap>,
    era: Era,
) -> Result<Link, WireError> {
    let seen = link.conversation().observed();
    // A process that does not end by itself is killed when this is dropped.
    let _killed = timeout(spec.connect_timeout / 4, link.discard()).await;
    let link = open(spec, tap, era)?;
    for observed in seen {
        link.conversation().observe(observed);
    }
    Ok(link)
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

pub(super) fn open(spec: &ServerSpec, tap: Option<Tap>, era: Era) -> Result<Link, WireError> {
    let conversation = Conversation::new(spec, tap);
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

/// The failure to answer the probe, for a server that got the requests of both protocols.
fn to_both(error: &WireError) -> WireError {
    Failure {
        method: "server/discover and initialize".to_owned(),
        ..(**error).clone()
    }
    .into()
}
