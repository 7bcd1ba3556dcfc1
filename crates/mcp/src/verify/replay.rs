//! The client's side of a tape, sent again: what comes back now?

use super::catalogue::{self, KINDS, ListKind};
use super::drift::{Drift, Findings, LeftOut, Tier};
use super::ignore::Ignore;
use super::value;
use crate::client::{
    CallFailure, Client, Misbehaviour, Responses, Scripted, ServerSpec, WireError,
};
use crate::era::{Era, meta};
use crate::jsonrpc::RpcError;
use crate::tape::{Direction, Tape, TapeRequest, requests, sessions};
use crate::wire::CallParams;
use mcptest_redact::Redactor;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

const MOST_PAGES: usize = 1000;
/// Not asked again: the handshake is the client's own, and a stream that stays open answers nothing.
const OWN: &[&str] = &[
    "initialize",
    "server/discover",
    "ping",
    "subscriptions/listen",
];

/// What a recorded request was answered with.
type Recorded<'a> = Result<&'a RawValue, RpcError>;

/// Sends a tape's requests to a live server, one after the other, and compares. Each session is replayed on a
/// connection of its own, in the era it was recorded in unless the server has a fixed one; without requests no server
/// is asked.
pub async fn replay(
    tape: &Tape,
    spec: ServerSpec,
    ignored: Vec<Ignore>,
    redactor: &Redactor,
) -> Result<Drift, WireError> {
    let asked = requests(tape);
    let of_session = |session: &Option<u64>| -> Vec<TapeRequest<'_>> {
        asked
            .iter()
            .filter(|asked| asked.session == *session)
            .cloned()
            .collect()
    };
    let has_question =
        |asked: &Vec<TapeRequest<'_>>| asked.iter().any(|asked| asked.from == Direction::Client);
    let sessions: Vec<Vec<TapeRequest<'_>>> = sessions(tape).iter().map(of_session).collect();
    let (mut findings, mut drift) = (Findings::new(ignored), Drift::default());
    for (at, asked) in sessions
        .iter()
        .enumerate()
        .filter(|(_, asked)| has_question(asked))
    {
        let run = if sessions.len() > 1 {
            format!("run {}: ", at + 1)
        } else {
            String::new()
        };
        let spec = ServerSpec {
            era: spec.era.or_else(|| era_of(asked)),
            responses: responses(asked),
            ..spec.clone()
        };
        match Client::connect(&spec, None).await {
            Ok(client) => {
                let (findings, drift) = (&mut findings, &mut drift);
                let mut replay = Replay {
                    client: &client,
                    redactor,
                    run,
                    findings,
                    drift,
                    is_over: false,
                };
                replay.handshake(asked);
                replay.requests(asked).await;
                client.close().await;
            }
            Err(error) if !drift.is_anything_checked && drift.replayed == 0 => return Err(error),
            Err(error) => {
                let what = format!("cannot begin now: {error}");
                findings
                    .of("", run.trim_end_matches(": "))
                    .add(Tier::Breaking, "", what);
            }
        }
    }
    drift.is_anything_checked |= drift.replayed > 0;
    drift.unused_ignores = findings.unused_ignores();
    drift.findings = findings.found;
    drift.findings.sort_by_key(|finding| finding.tier);
    Ok(drift)
}

/// The era that was recorded, so that like is compared with like.
fn era_of(asked: &[TapeRequest<'_>]) -> Option<Era> {
    let of_client = |method: &str| {
        asked.iter().any(|asked| {
            asked.method == method
                && asked
                    .answer
                    .as_ref()
                    .is_some_and(|answer| answer.outcome.is_ok())
        })
    };
    match (of_client("initialize"), of_client("server/discover")) {
        (true, false) => Some(Era::Legacy),
        (false, true) => Some(Era::Modern),
        _ => None,
    }
}

struct Replay<'r> {
    client: &'r Client,
    redactor: &'r Redactor,
    /// Which run it is, when the tape has several.
    run: String,
    findings: &'r mut Findings,
    drift: &'r mut Drift,
    /// The server's process has ended.
    is_over: bool,
}

impl Replay<'_> {
    fn handshake(&mut self, asked: &[TapeRequest<'_>]) {
        let method = match self.client.server().era {
            Era::Legacy => "initialize",
            Era::Modern => "server/discover",
        };
        let mut recorded = asked.iter().filter(|asked| asked.method == method);
        let recorded = recorded.find_map(|asked| asked.answer.as_ref()?.outcome.clone().ok());
        if let Some(recorded) = recorded {
            self.drift.is_anything_checked = true;
            let live = self.read(&self.client.server().raw);
            catalogue::server(self.findings, &read(recorded), &live);
        }
    }

    async fn requests(&mut self, asked: &[TapeRequest<'_>]) {
        let mut listed = BTreeSet::new();
        let (mut calls, mut others) = (0, 0);
        for one in asked.iter().filter(|asked| asked.from == Direction::Client) {
            if OWN.contains(&one.method.as_ref()) {
                continue;
            }
            if let Some(kind) = KINDS.iter().find(|kind| kind.method == one.method) {
                if !self.is_over && listed.insert(kind.method) {
                    self.list(kind, asked).await;
                }
                continue;
            }
            let call = one.call();
            if call.as_ref().is_some_and(CallParams::is_continued) {
                continue;
            }
            let name = call
                .as_ref()
                .map_or_else(|| one.method.to_string(), |call| call.name.to_string());
            // Calls have the numbers that they have in a run.
            let (what, number) = if call.is_some() {
                ("call", &mut calls)
            } else {
                ("request", &mut others)
            };
            *number += 1;
            let subject = format!("{}{what} {number} `{name}`", self.run);
            let reason = if self.is_over {
                Some("the server was gone")
            } else {
                why_left_out(one, final_answer(asked, one))
            };
            if let Some(reason) = reason {
                self.drift.left_out.push(LeftOut {
                    request: subject,
                    reason: reason.to_owned(),
                });
                continue;
            }
            let recorded = final_answer(asked, one).cloned();
            self.ask(one, call.as_ref(), (&name, &subject), recorded)
                .await;
        }
    }

    async fn ask(
        &mut self,
        asked: &TapeRequest<'_>,
        call: Option<&CallParams<'_>>,
        (name, subject): (&str, &str),
        recorded: Option<Recorded<'_>>,
    ) {
        let Some(recorded) = recorded else { return };
        let outcome = match call {
            Some(call) => {
                let empty = RawValue::from_string("{}".to_owned()).unwrap_or_default();
                let arguments = call.arguments.unwrap_or(&empty);
                self.client
                    .call_tool(&call.name, arguments, None)
                    .await
                    .outcome
            }
            None => {
                self.client
                    .request(&asked.method, without_meta(asked.params))
                    .await
            }
        };
        self.drift.replayed += 1;
        let live = match outcome {
            Ok(live) => Ok(self.read(&live)),
            Err(CallFailure::Rpc(error)) => Err(error),
            Err(CallFailure::Wire(error)) => return self.no_answer(name, subject, &error),
        };
        let mut subject = self.findings.of(name, subject);
        match (recorded, live) {
            (Ok(old), Ok(new)) => result(&mut subject, &read(old), &new),
            (Ok(_), Err(error)) => {
                subject.add(
                    Tier::Breaking,
                    "error",
                    format!("succeeded and is refused now: {error}"),
                );
            }
            (Err(error), Ok(_)) => {
                subject.add(
                    Tier::Changed,
                    "error",
                    format!("was refused ({error}) and succeeds now"),
                );
            }
            (Err(old), Err(new)) => {
                if old.code != new.code {
                    subject.add(
                        Tier::Changed,
                        "error.code",
                        format!("was {} and is {}", old.code, new.code),
                    );
                }
                if old.message != new.message && !value::has_hidden(&old.message) {
                    let (old, new) = (json!(old.message), json!(new.message));
                    value::compare(&mut subject, "error.message", &old, &new);
                }
            }
        }
    }

    fn no_answer(&mut self, name: &str, subject: &str, error: &WireError) {
        self.is_over |= matches!(error.misbehaviour, Misbehaviour::Exited { .. });
        self.findings.of(name, subject).add(
            Tier::Breaking,
            "",
            format!("has no answer now: {error}"),
        );
    }

    async fn list(&mut self, kind: &ListKind, asked: &[TapeRequest<'_>]) {
        let recorded = recorded_items(kind, asked);
        let is_read = |live: &[Value]| match &recorded {
            Some(recorded) if !recorded.is_whole => recorded.items.iter().all(|old| {
                live.iter()
                    .any(|new| new.get(kind.key) == old.get(kind.key))
            }),
            _ => false,
        };
        let mut live: Vec<Value> = Vec::new();
        let mut cursor: Option<Value> = None;
        for _ in 0..MOST_PAGES {
            let params = cursor.take().map(|cursor| json!({ "cursor": cursor }));
            let page = match self.client.request(kind.method, params).await {
                Ok(page) => self.read(&page),
                Err(CallFailure::Rpc(error)) => {
                    if let Some(recorded) = &recorded {
                        let text = format!("`{}`", kind.method);
                        let message = format!(
                            "listed {} and is refused now: {error}",
                            recorded.items.len()
                        );
                        self.findings
                            .of(kind.method, &text)
                            .add(Tier::Breaking, "error", message);
                    }
                    return;
                }
                Err(CallFailure::Wire(error)) => {
                    return self.no_answer(kind.method, &format!("`{}`", kind.method), &error);
                }
            };
            live.extend(
                page.get(kind.items)
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten()
                    .cloned(),
            );
            cursor = page
                .get("nextCursor")
                .filter(|next| next.is_string())
                .cloned();
            if cursor.is_none() || is_read(&live) {
                break;
            }
        }
        self.drift.replayed += 1;
        if let Some(recorded) = recorded {
            catalogue::compare(
                self.findings,
                kind,
                &recorded.items,
                &live,
                recorded.is_whole,
            );
        }
    }

    /// What came back, without what a tape would not have either.
    fn read(&self, raw: &RawValue) -> Value {
        serde_json::from_str(&self.redactor.json(raw.get())).unwrap_or_default()
    }
}

fn read(raw: &RawValue) -> Value {
    serde_json::from_str(raw.get()).unwrap_or_default()
}

fn result(subject: &mut super::drift::Subject<'_>, old: &Value, new: &Value) {
    let failed = |value: &Value| {
        value
            .get("isError")
            .and_then(Value::as_bool)
            .unwrap_or_default()
    };
    match (failed(old), failed(new)) {
        (false, true) => {
            let why = new
                .pointer("/content/0/text")
                .map(value::brief)
                .unwrap_or_default();
            subject.add(
                Tier::Breaking,
                "result.isError",
                format!("succeeded and fails now: {why}"),
            );
        }
        (true, false) => subject.add(Tier::Breaking, "result.isError", "failed and succeeds now"),
        _ => {
            let plain = |value: &Value| {
                let mut value = value.clone();
                if let Some(object) = value.as_object_mut() {
                    // Absent, it says the same.
                    object.retain(|key, value| {
                        !(key == "isError" && value == &Value::Bool(false)) && key != "_meta"
                    });
                }
                value
            };
            value::compare(subject, "result", &plain(old), &plain(new));
        }
    }
}

/// What a recorded client saw of a list.
struct RecordedList {
    /// The latest of each name.
    items: Vec<Value>,
    /// False when it never asked for the last page: what else there was is not known.
    is_whole: bool,
}

/// Everything that was listed; `None` when no list came back.
fn recorded_items(kind: &ListKind, asked: &[TapeRequest<'_>]) -> Option<RecordedList> {
    let mut items: Vec<Value> = Vec::new();
    let (mut is_listed, mut is_whole) = (false, false);
    for one in asked
        .iter()
        .filter(|asked| asked.method == kind.method && asked.faults.is_empty())
    {
        let Some(page) = one.result() else { continue };
        is_listed = true;
        let page = read(page);
        is_whole |= !page.get("nextCursor").is_some_and(Value::is_string);
        for item in page
            .get(kind.items)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            match items
                .iter_mut()
                .find(|known| known.get(kind.key) == item.get(kind.key))
            {
                Some(known) => *known = item.clone(),
                None => items.push(item.clone()),
            }
        }
    }
    is_listed.then_some(RecordedList { items, is_whole })
}

/// The answer to a request, or to the last of the requests that carried it on.
fn final_answer<'t, 'a>(
    asked: &'t [TapeRequest<'a>],
    one: &'t TapeRequest<'a>,
) -> Option<&'t Recorded<'a>> {
    let answer = &one.answer.as_ref()?.outcome;
    let needs_input = matches!(answer, Ok(result) if read(result).get("resultType") == Some(&json!("input_required")));
    if !needs_input {
        return Some(answer);
    }
    let call = one.call()?;
    let next = asked.iter().find(|later| {
        later.entry > one.entry
            && later.session == one.session
            && later
                .call()
                .is_some_and(|later| later.is_continued() && later.name == call.name)
    });
    next.and_then(|next| final_answer(asked, next))
}

fn why_left_out(asked: &TapeRequest<'_>, answer: Option<&Recorded<'_>>) -> Option<&'static str> {
    if !asked.faults.is_empty() {
        return Some("a fault was injected into it");
    }
    if asked.is_cancelled {
        return Some("it was cancelled");
    }
    if answer.is_none() {
        return Some("it has no answer on the tape");
    }
    let is_hidden = asked
        .params
        .is_some_and(|params| value::has_hidden(params.get()));
    is_hidden.then_some("an argument is hidden on the tape")
}

/// The parameters without what belongs to the recorded client.
fn without_meta(params: Option<&RawValue>) -> Option<Value> {
    let mut params = read(params?);
    if let Some(object) = params.as_object_mut() {
        let is_empty = object
            .get_mut("_meta")
            .and_then(Value::as_object_mut)
            .is_some_and(|kept| {
                for key in [
                    meta::PROTOCOL_VERSION,
                    meta::CLIENT_CAPABILITIES,
                    meta::CLIENT_INFO,
                    "progressToken",
                ] {
                    kept.remove(key);
                }
                kept.is_empty()
            });
        if is_empty {
            object.remove("_meta");
        }
    }
    Some(params)
}

/// What the recorded client answered when the server asked.
fn responses(asked: &[TapeRequest<'_>]) -> Responses {
    let mut responses = Responses::default();
    let mut add = |method: &str, params: Option<Value>, answer: Result<Value, RpcError>| {
        let when = params
            .map(without_progress)
            .filter(|params| params != &Value::Object(Map::new()));
        responses
            .scripted
            .entry(method.to_owned())
            .or_default()
            .push(Scripted { when, answer });
    };
    for one in asked.iter().filter(|asked| asked.from == Direction::Server) {
        let Some(answer) = &one.answer else { continue };
        add(
            &one.method,
            one.params.map(read),
            answer.outcome.clone().map(read),
        );
    }
    for (at, one) in asked.iter().enumerate() {
        let Some(result) = one.result() else { continue };
        let Some(Value::Object(wanted)) = read(result).get("inputRequests").cloned() else {
            continue;
        };
        let given = asked[at + 1..]
            .iter()
            .filter_map(|later| later.params.map(read))
            .find_map(|params| {
                params
                    .get("inputResponses")
                    .and_then(Value::as_object)
                    .cloned()
            });
        for (key, request) in wanted {
            let Some(answer) = given.as_ref().and_then(|given| given.get(&key)) else {
                continue;
            };
            let Some(method) = request.get("method").and_then(Value::as_str) else {
                continue;
            };
            add(method, request.get("params").cloned(), Ok(answer.clone()));
        }
    }
    responses
}

fn without_progress(mut params: Value) -> Value {
    if let Some(object) = params.as_object_mut() {
        object.remove("_meta");
    }
    params
}
