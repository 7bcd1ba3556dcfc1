//! Which messages of a tape belong to which request?

use super::catalog::Identity;
use super::tape::comparable;
use crate::manifest::{AskKind, AskRequest, Declared, Inputs, LogLevel, Notice, NoticeKind};
use mcptest_core::json::Members;
use mcptest_mcp::jsonrpc::{Body, Id, RpcResult, parse};
use mcptest_mcp::tape::{Direction, Entry, Tape};
use mcptest_mcp::wire::CommonParams;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A request of a tape, and everything that followed from it.
#[derive(Debug)]
pub(super) struct RecordedRequest {
    /// The request without what changes from client to client, as JSON text.
    pub(super) params: String,
    /// Names this recording among all of the tape.
    pub(super) fingerprint: String,
    pub(super) notices: Vec<Notice>,
    /// What the server asked, round by round; names are unique.
    pub(super) rounds: Vec<Vec<AskRequest>>,
    pub(super) outcome: RpcResult<String>,
}

impl RecordedRequest {
    /// The questions of the first round that is not answered; a client is not asked what it cannot answer.
    pub(super) fn requests(&self, inputs: &Inputs, declared: Declared<'_>) -> Vec<AskRequest> {
        let open = |round: &Vec<AskRequest>| -> Vec<AskRequest> {
            let open = round
                .iter()
                .filter(|ask| !inputs.contains_key(&ask.name) && declared(ask.kind));
            open.cloned().collect()
        };
        self.rounds
            .iter()
            .map(open)
            .find(|open| !open.is_empty())
            .unwrap_or_default()
    }

    pub(super) fn answer(&self) -> RpcResult<Cow<'_, str>> {
        self.outcome
            .as_ref()
            .map(|result| result.as_str().into())
            .map_err(Clone::clone)
    }
}

/// What a tape holds, sorted by request.
#[derive(Debug, Default)]
pub(super) struct Index {
    pub(super) identity: Option<Identity>,
    pub(super) recorded: Vec<(String, RecordedRequest)>,
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

#[derive(Default)]
struct TapedRequest {
    method: String,
    params: String,
    id: Option<Id>,
    place: (Option<u64>, Option<u64>),
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
                reader.said(entry, &method, params, message.raw);
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
        open.place = (entry.session, entry.exchange);
        open.token = common.wants_progress().map(|token| token.get().to_owned());
        self.open.push(open);
    }

    /// The request that a message of the server belongs to: that of its exchange, or the newest.
    fn current(&mut self, entry: &Entry) -> Option<&mut TapedRequest> {
        let place = (entry.session, entry.exchange);
        let at = self.open.iter().rposition(|open| open.place == place);
        let at = at.or_else(|| {
            self.open
                .iter()
                .rposition(|open| open.place.0 == entry.session)
        })?;
        self.open.get_mut(at)
    }

    fn asked(&mut self, entry: &Entry, method: &str, params: Option<&RawValue>) {
        let Some(kind) = kind_of(method) else { return };
        let params = params.map_or("{}", RawValue::get).to_owned();
        if let Some(open) = self.current(entry).filter(|open| may_ask(&open.method)) {
            let name = open.unique(kind.capability());
            open.rounds.push(vec![AskRequest { name, kind, params }]);
        }
    }

    fn said(&mut self, entry: &Entry, method: &str, params: Option<&RawValue>, raw: &str) {
        let members = params
            .and_then(|raw| serde_json::from_str::<BTreeMap<String, &RawValue>>(raw.get()).ok());
        let mut members = members.unwrap_or_default();
        let kind = match method {
            "notifications/progress" => {
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
                return;
            }
            "notifications/message" => {
                let level = members
                    .get("level")
                    .and_then(|level| serde_json::from_str::<String>(level.get()).ok());
                let level = level
                    .and_then(|level| LogLevel::named(&level))
                    .unwrap_or_default();
                NoticeKind::Log(level, params.map_or("{}", RawValue::get).to_owned())
            }
            "notifications/subscriptions/acknowledged" => return,
            _ => NoticeKind::Other(raw.to_owned()),
        };
        if let Some(open) = self.current(entry) {
            open.notices.push(Notice { delay_ms: 0, kind });
        }
    }

    fn end(&mut self, entry: &Entry, id: &Id, outcome: RpcResult<&str>) {
        let place = (entry.session, entry.exchange);
        let is_of = |open: &TapedRequest| open.id.as_ref() == Some(id);
        let at = self
            .open
            .iter()
            .rposition(|open| is_of(open) && open.place == place);
        let at = at.or_else(|| {
            self.open
                .iter()
                .rposition(|open| is_of(open) && open.place.0 == entry.session)
        });
        let Some(at) = at else { return };
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
        let recorded = RecordedRequest {
            params: open.params,
            fingerprint: format!("tape {}", self.count),
            notices: open.notices,
            rounds: open.rounds,
            outcome: outcome.map(|result| mcptest_mcp::jsonrpc::one_line(result).into_owned()),
        };
        self.index.recorded.push((open.method, recorded));
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
