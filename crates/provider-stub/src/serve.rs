//! The stub on its socket: checks and logs every request, and answers by the script.

use crate::active_runs::{self, ActiveRuns};
use crate::body::AnswerBody;
use crate::log::Logged;
use crate::script::{Fault, Script, Step};
use crate::wire::{Answering, ProviderRequest, Seen, WIRES, Wire, Wrong};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::{Method, Response};
use mcptest_core::provider::{FAMILIES, Family};
use mcptest_http::{Guard, Limits};
use parking_lot::Mutex;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::runtime::Runtime;

/// Longer than any client waits.
const FOREVER: Duration = Duration::from_secs(3600);

/// Requests that have not met by then never will.
const GATHERING: Duration = Duration::from_secs(60);

/// A provider on a port of the loopback address, in separate threads, until it is dropped.
#[derive(Debug)]
pub struct Stub {
    address: SocketAddr,
    state: Arc<StubState>,
    runtime: Option<Runtime>,
}

#[derive(Debug)]
struct StubState {
    script: Script,
    active_runs: Mutex<ActiveRuns>,
    log: Mutex<Vec<Logged>>,
    under_way: AtomicUsize,
    most_under_way: AtomicUsize,
}

impl StubState {
    /// Waits, for a limited time, until this many requests are in progress.
    async fn gathered(&self, wanted: usize) {
        let meeting = async {
            while self.most_under_way.load(Ordering::SeqCst) < wanted {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        let _too_few = tokio::time::timeout(GATHERING, meeting).await;
    }
}

impl Stub {
    /// Starts on a free port.
    pub fn start(script: Script) -> io::Result<Self> {
        Self::start_on(0, script)
    }

    /// Starts on this port.
    pub fn start_on(port: u16, script: Script) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()?;
        let listener = {
            let _entered = runtime.enter();
            mcptest_http::listen(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?
        };
        let address = listener.local_addr()?;
        let state = Arc::new(StubState {
            script,
            active_runs: Mutex::default(),
            log: Mutex::default(),
            under_way: AtomicUsize::new(0),
            most_under_way: AtomicUsize::new(0),
        });
        let shared = Arc::clone(&state);
        let exchange = move |request| {
            let state = Arc::clone(&shared);
            async move { answer(&state, request).await }
        };
        runtime.spawn(mcptest_http::serve(
            listener,
            limits(),
            exchange,
            std::future::pending::<()>(),
        ));
        Ok(Self {
            address,
            state,
            runtime: Some(runtime),
        })
    }

    /// Its base URL, for every dialect.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The environment that points every known family to this stub.
    pub fn environment(&self) -> BTreeMap<String, String> {
        let key = self
            .state
            .script
            .key
            .clone()
            .unwrap_or_else(|| "stub-key-0123456789".to_owned());
        let of_family = |family: &Family| {
            [
                (family.base_urls[0].to_owned(), self.url()),
                (family.keys[0].to_owned(), key.clone()),
            ]
        };
        FAMILIES.iter().flat_map(of_family).collect()
    }

    /// Every request so far, in the order of their answers.
    pub fn log(&self) -> Vec<Logged> {
        self.state.log.lock().clone()
    }

    /// The number of requests.
    pub fn count(&self) -> usize {
        self.state.log.lock().len()
    }

    /// The most requests that were under way at once.
    pub fn most_under_way(&self) -> usize {
        self.state.most_under_way.load(Ordering::SeqCst)
    }
}

/// Limits for requests: a conversation may carry tool results of any size.
fn limits() -> Limits {
    Limits {
        body_bytes: 64 << 20,
        ..Limits::default()
    }
}

impl Drop for Stub {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// One request that counts as under way while this lives.
struct UnderWay<'s>(&'s StubState);

impl<'s> UnderWay<'s> {
    fn new(state: &'s StubState) -> Self {
        let now = state.under_way.fetch_add(1, Ordering::SeqCst) + 1;
        state.most_under_way.fetch_max(now, Ordering::SeqCst);
        Self(state)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.under_way.fetch_sub(1, Ordering::SeqCst);
    }
}

async fn answer(
    state: &StubState,
    request: hyper::Request<Incoming>,
) -> io::Result<Response<AnswerBody>> {
    let _under_way = UnderWay::new(state);
    let (parts, body) = request.into_parts();
    if let Some((status, sentence)) =
        Guard::for_address(Ipv4Addr::LOCALHOST.into()).refusal(&parts.uri, &parts.headers)
    {
        return refused(status.as_u16(), sentence);
    }
    let body = match limits().read(body).await {
        Ok(body) => body,
        Err(error) => return refused(error.status().as_u16(), error.to_string()),
    };
    let value: Value = serde_json::from_slice(&body).unwrap_or_default();
    let headers = texts_of(&parts.headers);
    let path = parts.uri.path().to_owned();
    let wire = WIRES.iter().find(|wire| (wire.is_at)(&path));
    let request = ProviderRequest {
        path: &path,
        headers: &headers,
        body: &value,
    };
    let act = match wire {
        Some(wire) if parts.method == Method::POST => act(state, wire, &request),
        _ => Act::send(404, "404 page not found"),
    };
    state.log.lock().push(Logged {
        dialect: wire.map_or("none", |wire| wire.name),
        path,
        headers,
        text: String::from_utf8_lossy(&body).into_owned(),
        body: value,
        status: act.status(),
    });
    act.perform(state).await
}

fn texts_of(headers: &HeaderMap) -> BTreeMap<String, String> {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    headers
        .iter()
        .map(|(name, value)| (name.to_string(), text(value)))
        .collect()
}

fn refused(status: u16, sentence: String) -> io::Result<Response<AnswerBody>> {
    Response::builder()
        .status(status)
        .body(AnswerBody::whole(sentence))
        .map_err(io::Error::other)
}

/// The reaction to a request.
enum Act {
    Hang,
    Close,
    Cut {
        body: String,
        step: Step,
    },
    Send {
        status: u16,
        body: String,
        step: Step,
    },
}

/// Decides the answer; waiting comes later.
fn act(state: &StubState, wire: &Wire, request: &ProviderRequest<'_>) -> Act {
    match admit(&state.script, wire, request) {
        Ok(seen) => next_step(state, wire, &seen),
        Err(wrong) => {
            let body = (wire.error)(wrong.status, &wrong.message);
            Act::send(wrong.status, body.to_string())
        }
    }
}

/// Reads a request that the provider lets in.
fn admit(script: &Script, wire: &Wire, request: &ProviderRequest<'_>) -> Result<Seen, Wrong> {
    let_in(script, wire, request.headers)?;
    let seen = (wire.check)(request)?;
    if script.models.is_empty() || script.models.contains(&seen.model) {
        return Ok(seen);
    }
    Err(Wrong {
        status: 404,
        message: format!("model: {}", seen.model),
    })
}

/// The next step of the run that the request belongs to.
fn next_step(state: &StubState, wire: &Wire, seen: &Seen) -> Act {
    let mut active_runs = state.active_runs.lock();
    let run = active_runs.take(seen);
    let step = active_runs::step(&state.script, seen, &run);
    let mut answer = (wire.answer)(&Answering {
        model: &seen.model,
        seen,
        step: &step,
        serial: format!("stub{}x{}", run.number, run.step),
    });
    if let Some(body) = answer.body.as_object_mut().filter(|_| step.uncounted) {
        body.retain(|key, _| !matches!(key.as_str(), "usage" | "usageMetadata"));
    }
    let body = answer.body.to_string();
    if step.is_fault() {
        active_runs.failed(seen, run, &step);
        return faulty(wire, step, body);
    }
    active_runs.answered(seen, run, &answer.message);
    Act::Send {
        status: 200,
        body,
        step,
    }
}

const HTML: &str = "<!DOCTYPE html>\n<html><head><title>502 Bad Gateway</title></head></html>";

/// The action of a faulty step instead of sending the whole answer.
fn faulty(wire: &Wire, step: Step, body: String) -> Act {
    let status = step.status.unwrap_or(200);
    let body = match step.fault {
        Some(Fault::Hang) => return Act::Hang,
        Some(Fault::Close) => return Act::Close,
        Some(Fault::Cut) => return Act::Cut { body, step },
        Some(Fault::Truncated) => body.chars().take(body.chars().count() / 2).collect(),
        Some(Fault::Html) => HTML.to_owned(),
        _ => instead(wire, status, &step),
    };
    Act::Send { status, body, step }
}

/// A blocked prompt, a verbatim body, or an error.
fn instead(wire: &Wire, status: u16, step: &Step) -> String {
    if let Some(reason) = &step.blocked {
        return (wire.blocked)(reason).to_string();
    }
    if let Some(raw) = &step.raw {
        return raw.clone();
    }
    let message = step.message.as_deref().unwrap_or(usual_message(status));
    (wire.error)(status, message).to_string()
}

fn let_in(script: &Script, wire: &Wire, headers: &BTreeMap<String, String>) -> Result<(), Wrong> {
    let (name, before) = wire.key;
    let sent = headers
        .get(name)
        .and_then(|value| value.strip_prefix(before));
    let is_right = match (&script.key, sent) {
        (Some(key), sent) => sent == Some(key),
        (None, None) => script.keyless || wire.name == "openai",
        (None, Some(_)) => true,
    };
    let message = if sent.is_some() {
        "invalid x-api-key"
    } else {
        "You didn't provide an API key."
    };
    if is_right {
        Ok(())
    } else {
        Err(Wrong {
            status: 401,
            message: message.to_owned(),
        })
    }
}

fn usual_message(status: u16) -> &'static str {
    match status {
        401 => "invalid x-api-key",
        429 => "This request would exceed your rate limit.",
        529 => "Overloaded",
        500.. => "Internal server error",
        _ => "Something is wrong with the request.",
    }
}

impl Act {
    /// An answer at once.
    fn send(status: u16, body: impl Into<String>) -> Self {
        Self::Send {
            status,
            body: body.into(),
            step: Step::default(),
        }
    }

    fn status(&self) -> u16 {
        match self {
            Self::Send { status, .. } => *status,
            Self::Cut { .. } => 200,
            Self::Hang | Self::Close => 0,
        }
    }

    async fn perform(self, state: &StubState) -> io::Result<Response<AnswerBody>> {
        let (status, body, step) = match self {
            Self::Hang => {
                tokio::time::sleep(FOREVER).await;
                return Err(io::Error::other("hung on purpose"));
            }
            Self::Close => return Err(io::Error::other("closed on purpose")),
            Self::Cut { body, step } => (200, AnswerBody::cut(&body), step),
            Self::Send { status, body, step } => (status, AnswerBody::whole(body), step),
        };
        state.gathered(step.gather).await;
        tokio::time::sleep(Duration::from_millis(step.delay_ms)).await;
        let kind = if step.fault == Some(Fault::Html) {
            "text/html"
        } else {
            "application/json"
        };
        let mut response = Response::builder()
            .status(status)
            .header(CONTENT_TYPE, kind);
        if let Some(after) = &step.retry_after {
            response = response.header("retry-after", after);
        }
        if let Some(millis) = step.retry_after_ms {
            response = response.header("retry-after-ms", millis);
        }
        response.body(body).map_err(io::Error::other)
    }
}
