//! Which messages of a tape belong to which request?

use super::catalog::Identity;
use super::recorded::RecordedRequest;
use super::tape::comparable;
use crate::manifest::{AskKind, AskRequest, LogLevel, Notice, NoticeKind};
use mcptest_core::json::Members;
use mcptest_mcp::jsonrpc::{Body, Id, RpcResult, parse};
use mcptest_mcp::tape::{Direction, Entry, Tape};
use mcptest_mcp::wire::CommonParams;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The contents of a tape, sorted by request.
#[derive(Debug, Default)]
pub(super) struct Index {
    pub(super) identity: Option<Identity>,
    pub(super) recorded: Vec<RecordedRequest>,
}

/// Requests that are not answered yet, newest last.
#[derive(Default)]
struct TapeReader {
    index: Index,
    open: Vec<TapedRequest>,
    /// Calls that were answered with questions, by method and parameters.
    chains: Vec<TapedRequest>,
    count: usize,
}

/// The place of a message on the tape.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct TapePlace {
    session: Option<u64>,
    exchange: Option<u64>,
}

impl TapePlace {
    fn from_entry(entry: &Entry) -> Self {
        Self {
            session: entry.session,
            exchange: entry.exchange,
        }
    }
}

#[derive(Default)]
struct TapedRequest {
    method: String,
    params: String,
    id: Option<Id>,
    place: TapePlace,
    token: Option<String>,
    notices: Vec<Notice>,
    rounds: Vec<Vec<AskRequest>>,
}

pub(super) fn read(tape: &Tape) -> Index {
    let mut reader = TapeReader::default();
    for entry in &tape.entries {
        let Some(message) = &entry.message else {
            continue;
        };
        let Ok(message) = parse(message.get()) else {
            continue;
        };
        match (entry.from, message.body) {
            (Some(Direction::Client), Body::Request { id, method, params }) => {
                reader.begin(entry, id, &method, params);
            }
            (Some(Direction::Server), Body::Request { method, params, .. }) => {
                reader.asked(entry, &method, params);
            }
            (Some(Direction::Server), Body::Notification { method, params }) => {
                reader.notified(entry, &method, params, message.raw);
            }
            (Some(Direction::Server), Body::Result { id, result }) => {
                reader.end(entry, &id, Ok(result.get()));
            }
            (
                Some(Direction::Server),
                Body::Error {
                    id: Some(id),
                    error,
                },
            ) => {
                reader.end(entry, &id, Err(error));
            }
            _ => {}
        }
    }
    reader.index
}

impl TapeReader {
    fn begin(&mut self, entry: &Entry, id: Id, method: &str, params: Option<&RawValue>) {
        let raw = params.map(RawValue::get);
        let comparable = comparable(method, raw);
        let common = CommonParams::read(params);
        let chain = self
            .chains
            .iter()
            .position(|chain| chain.method == method && chain.params == comparable);
        let mut open = match chain {
            Some(at) if common.is_continued() => self.chains.remove(at),
            _ => TapedRequest {
                method: method.to_owned(),
                params: comparable,
                ..TapedRequest::default()
            },
        };
        open.id = Some(id);
        open.place = TapePlace::from_entry(entry);
        open.token = common.wants_progress().map(|token| token.get().to_owned());
        self.open.push(open);
    }

    /// The request of a server's message: the one of its exchange, or the newest.
    fn current(&mut self, entry: &Entry) -> Option<&mut TapedRequest> {
        let at = self.newest(entry, |_| true)?;
        self.open.get_mut(at)
    }

    /// The place of the newest matching open request: of the entry's exchange, otherwise of its
    /// session.
    fn newest(&self, entry: &Entry, is_like: impl Fn(&TapedRequest) -> bool) -> Option<usize> {
        let place = TapePlace::from_entry(entry);
        let of_exchange = |open: &TapedRequest| is_like(open) && open.place == place;
        let of_session = |open: &TapedRequest| is_like(open) && open.place.session == place.session;
        self.open
            .iter()
            .rposition(of_exchange)
            .or_else(|| self.open.iter().rposition(of_session))
    }

    fn asked(&mut self, entry: &Entry, method: &str, params: Option<&RawValue>) {
        let Some(kind) = kind_of(method) else { return };
        let params = params.map_or("{}", RawValue::get).to_owned();
        if let Some(open) = self.current(entry).filter(|open| may_ask(&open.method)) {
            let name = open.unique(kind.capability());
            open.rounds.push(vec![AskRequest { name, kind, params }]);
        }
    }

    fn notified(&mut self, entry: &Entry, method: &str, params: Option<&RawValue>, raw: &str) {
        let kind = match method {
            "notifications/progress" => return self.progressed(params),
            "notifications/subscriptions/acknowledged" => return,
            "notifications/message" => {
                let text = params.map_or("{}", RawValue::get).to_owned();
                NoticeKind::Log {
                    level: log_level(params),
                    params: text,
                }
            }
            _ => NoticeKind::Other(raw.to_owned()),
        };
        if let Some(open) = self.current(entry) {
            open.notices.push(Notice { delay_ms: 0, kind });
        }
    }

    /// Progress belongs to the request with its token, wherever it stands.
    fn progressed(&mut self, params: Option<&RawValue>) {
        let mut members = members_of(params);
        let token = members.remove("progressToken").map(RawValue::get);
        let of_token = self
            .open
            .iter_mut()
            .rev()
            .find(|open| open.token.as_deref() == token);
        if let Some(open) = of_token {
            let params = serde_json::to_string(&members).unwrap_or_default();
            open.notices.push(Notice {
                delay_ms: 0,
                kind: NoticeKind::Progress(params),
            });
        }
    }

    fn end(&mut self, entry: &Entry, id: &Id, outcome: RpcResult<&str>) {
        let is_answered = |open: &TapedRequest| open.id.as_ref() == Some(id);
        let Some(at) = self.newest(entry, is_answered) else {
            return;
        };
        let mut open = self.open.remove(at);
        if let Ok(result) = &outcome
            && let Some(questions) = questions(result)
        {
            let named = questions
                .into_iter()
                .map(|ask| AskRequest {
                    name: open.unique(&ask.name),
                    ..ask
                })
                .collect();
            open.rounds.push(named);
            self.chains.push(open);
            return;
        }
        match (open.method.as_str(), &outcome) {
            ("initialize" | "server/discover", Ok(result)) => {
                self.index.identity = identity(result).or(self.index.identity.take());
            }
            ("initialize" | "server/discover" | "subscriptions/listen", _) => {}
            _ => self.finish(open, outcome),
        }
    }

    fn finish(&mut self, open: TapedRequest, outcome: RpcResult<&str>) {
        self.count += 1;
        self.index.recorded.push(RecordedRequest {
            method: open.method,
            params: open.params,
            fingerprint: format!("tape {}", self.count),
            notices: open.notices,
            rounds: open.rounds,
            outcome: outcome.map(|result| mcptest_mcp::jsonrpc::one_line(result).into_owned()),
        });
    }
}

impl TapedRequest {
    /// A name that no earlier question has.
    fn unique(&self, name: &str) -> String {
        let is_taken = |name: &str| self.rounds.iter().flatten().any(|ask| ask.name == name);
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        std::iter::once(name.to_owned())
            .chain(numbered)
            .find(|name| !is_taken(name))
            .unwrap_or_default()
    }
}

fn members_of(params: Option<&RawValue>) -> BTreeMap<String, &RawValue> {
    params
        .and_then(|params| serde_json::from_str(params.get()).ok())
        .unwrap_or_default()
}

fn log_level(params: Option<&RawValue>) -> LogLevel {
    members_of(params)
        .get("level")
        .and_then(|level| serde_json::from_str::<String>(level.get()).ok())
        .and_then(|level| LogLevel::named(&level))
        .unwrap_or_default()
}

fn may_ask(method: &str) -> bool {
    matches!(method, "tools/call" | "prompts/get" | "resources/read")
}

fn kind_of(method: &str) -> Option<AskKind> {
    AskKind::ALL
        .into_iter()
        .find(|kind| kind.method() == method)
}

/// The questions of an `input_required` result.
fn questions(result: &str) -> Option<Vec<AskRequest>> {
    #[derive(Deserialize)]
    struct Asking {
        #[serde(rename = "resultType")]
        result_type: String,
        #[serde(default, rename = "inputRequests")]
        requests: Members,
    }
    let asking: Asking = serde_json::from_str(result).ok()?;
    if asking.result_type != "input_required" {
        return None;
    }
    let mut requests = Vec::new();
    for (name, ask) in &asking.requests.0 {
        let ask: Ask<'_> = serde_json::from_str(ask.get()).ok()?;
        let params = ask.params.map_or("{}", RawValue::get).to_owned();
        requests.extend(kind_of(&ask.method).map(|kind| AskRequest {
            name: name.clone(),
            kind,
            params,
        }));
    }
    Some(requests)
}

#[derive(Deserialize)]
struct Ask<'a> {
    method: String,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
}

fn identity(result: &str) -> Option<Identity> {
    let result: BTreeMap<String, &RawValue> = serde_json::from_str(result).ok()?;
    let meta = result
        .get("_meta")
        .and_then(|meta| serde_json::from_str::<BTreeMap<String, &RawValue>>(meta.get()).ok());
    let in_meta = meta.and_then(|meta| meta.get("io.modelcontextprotocol/serverInfo").copied());
    let info = result
        .get("serverInfo")
        .copied()
        .or(in_meta)
        .map(RawValue::get);
    Some(Identity {
        info: info
            .unwrap_or(r#"{"name":"tape","version":"0.0.0"}"#)
            .to_owned(),
        capabilities: result
            .get("capabilities")
            .map_or("{}", |raw| raw.get())
            .to_owned(),
        instructions: result
            .get("instructions")
            .and_then(|raw| serde_json::from_str(raw.get()).ok()),
    })
}
