//! The client's side of a tape, sent again: what comes back now?

use super::catalogue::{self, KINDS, ListKind};
use super::drift::{Drift, Findings, LeftOut, Subject, Tier};
use super::ignore::Ignore;
use super::recorded::{
    RecordedAnswer, RecordedList, client_capabilities, era_of, final_answer, items_of, read,
    recorded_items, responses, why_left_out, without_meta,
};
use super::value;
use crate::client::{CallFailure, Client, Misbehaviour, ServerSpec, WireError};
use crate::era::Era;
use crate::jsonrpc::RpcError;
use crate::tape::{Direction, Tape, TapeRequest, requests, sessions};
use crate::wire::CallParams;
use mcptest_redact::{Redactor, has_placeholder};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::BTreeSet;

const MOST_PAGES: usize = 1000;
/// Not repeated: the handshake is the client's own, and an open stream has no answer.
const OWN: &[&str] = &[
    "initialize",
    "server/discover",
    "ping",
    "subscriptions/listen",
];

/// Resends a tape's requests to a live server in order, and compares the answers. Each session is replayed on a
/// separate connection, with the protocol of its recording unless the server has a fixed one, and with the capabilities
/// of the recorded client: a server may list other tools to a client that can do more. A tape without requests
/// contacts no server.
pub async fn replay(
    tape: &Tape,
    spec: ServerSpec,
    ignored: Vec<Ignore>,
    redactor: &Redactor,
    tell: &(dyn Fn(&str) + Sync),
) -> Result<Drift, WireError> {
    let asked = requests(tape);
    let sessions: Vec<Vec<TapeRequest<'_>>> = sessions(tape)
        .iter()
        .map(|session| of_session(&asked, *session))
        .collect();
    let (mut findings, mut drift) = (Findings::new(ignored), Drift::default());
    for (at, asked) in sessions.iter().enumerate() {
        if asked.iter().all(|asked| asked.from != Direction::Client) {
            continue;
        }
        let run = if sessions.len() > 1 {
            format!("run {}: ", at + 1)
        } else {
            String::new()
        };
        let client = match Client::connect(&spec_of_session(&spec, asked), None).await {
            Ok(client) => client,
            Err(error) if !drift.is_anything_checked && drift.replayed == 0 => return Err(error),
            Err(error) => {
                let what = format!("the session cannot begin: {error}");
                findings
                    .of("", run.trim_end_matches(": "))
                    .add(Tier::Breaking, "", what);
                continue;
            }
        };
        let mut replay = Replay {
            client: &client,
            redactor,
            tell,
            run,
            findings: &mut findings,
            drift: &mut drift,
            is_over: false,
        };
        replay.handshake(asked);
        replay.requests(asked).await;
        client.close().await;
    }
    drift.is_anything_checked |= drift.replayed > 0;
    drift.unused_ignores = findings.unused_ignores();
    drift.findings = findings.found;
    drift.findings.sort_by_key(|finding| finding.tier);
    Ok(drift)
}

fn of_session<'t>(asked: &[TapeRequest<'t>], session: Option<u64>) -> Vec<TapeRequest<'t>> {
    let is_of_session = |asked: &&TapeRequest<'_>| asked.session == session;
    asked.iter().filter(is_of_session).cloned().collect()
}

/// The server, with the protocol, the capabilities and the answers of a recorded session's client.
fn spec_of_session(spec: &ServerSpec, asked: &[TapeRequest<'_>]) -> ServerSpec {
    ServerSpec {
        era: spec.era.or_else(|| era_of(asked)),
        capabilities: client_capabilities(asked),
        responses: responses(asked),
        ..spec.clone()
    }
}

struct Replay<'r> {
    client: &'r Client,
    redactor: &'r Redactor,
    /// Receives what the replay waits for.
    tell: &'r (dyn Fn(&str) + Sync),
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
        let mut numbers = Numbers::default();
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
            let question = Question {
                asked: one,
                subject: format!("{}{}", self.run, numbers.next(one, call.as_ref())),
                call,
            };
            self.question(&question, final_answer(asked, one)).await;
        }
    }

    /// Repeats a request, or notes the reason why not.
    async fn question(&mut self, question: &Question<'_>, recorded: Option<&RecordedAnswer<'_>>) {
        let reason = if self.is_over {
            Some("the server was gone")
        } else {
            why_left_out(question.asked, recorded)
        };
        if let Some(reason) = reason {
            self.drift.left_out.push(LeftOut {
                request: question.subject.clone(),
                reason: reason.to_owned(),
            });
            return;
        }
        let Some(recorded) = recorded else { return };
        (self.tell)(&format!("the answer to {}", question.subject));
        let outcome = self.ask(question).await;
        self.drift.replayed += 1;
        let live = match outcome {
            Ok(live) => Ok(self.read(&live)),
            Err(CallFailure::Rpc(error)) => Err(error),
            Err(CallFailure::Wire(error)) => {
                return self.no_answer(question.name(), &question.subject, &error);
            }
        };
        let mut subject = self.findings.of(question.name(), &question.subject);
        compare_answers(&mut subject, recorded, live);
    }

    async fn ask(&self, question: &Question<'_>) -> Result<Box<RawValue>, CallFailure> {
        let Some(call) = &question.call else {
            let params = without_meta(question.asked.params);
            return self.client.request(&question.asked.method, params).await;
        };
        let empty = RawValue::from_string("{}".to_owned()).unwrap_or_default();
        let arguments = call.arguments.unwrap_or(&empty);
        let called = self.client.call_tool(&call.name, arguments, None).await;
        called.outcome
    }

    fn no_answer(&mut self, name: &str, subject: &str, error: &WireError) {
        self.is_over |= matches!(error.misbehaviour, Misbehaviour::Exited { .. });
        self.findings
            .of(name, subject)
            .add(Tier::Breaking, "", format!("has no answer: {error}"));
    }

    async fn list(&mut self, kind: &ListKind, asked: &[TapeRequest<'_>]) {
        (self.tell)(&format!("the answer to `{}`", kind.method));
        let recorded = recorded_items(kind, asked);
        let text = format!("`{}`", kind.method);
        let live = match self.live_items(kind, recorded.as_ref()).await {
            Ok(live) => live,
            Err(CallFailure::Rpc(error)) => {
                if let Some(recorded) = &recorded {
                    let count = recorded.items.len();
                    let message = format!("listed {count}, but is now refused: {error}");
                    self.findings
                        .of(kind.method, &text)
                        .add(Tier::Breaking, "error", message);
                }
                return;
            }
            Err(CallFailure::Wire(error)) => return self.no_answer(kind.method, &text, &error),
        };
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

    /// The items that the server lists now, up to the last recorded item if the client read no further.
    async fn live_items(
        &self,
        kind: &ListKind,
        recorded: Option<&RecordedList>,
    ) -> Result<Vec<Value>, CallFailure> {
        let is_read = |live: &[Value]| match recorded {
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
            let answer = self.client.request(kind.method, params).await?;
            let page = self.read(&answer);
            live.extend(items_of(&page, kind).cloned());
            cursor = page
                .get("nextCursor")
                .filter(|next| next.is_string())
                .cloned();
            if cursor.is_none() || is_read(&live) {
                break;
            }
        }
        Ok(live)
    }

    /// The answer, without the parts that a tape lacks too.
    fn read(&self, raw: &RawValue) -> Value {
        serde_json::from_str(&self.redactor.json(raw.get())).unwrap_or_default()
    }
}

/// A request to repeat.
struct Question<'t> {
    asked: &'t TapeRequest<'t>,
    call: Option<CallParams<'t>>,
    /// In findings, as ``call 2 `search` ``.
    subject: String,
}

impl Question<'_> {
    /// The name with which ignored paths may begin.
    fn name(&self) -> &str {
        match &self.call {
            Some(call) => &call.name,
            None => &self.asked.method,
        }
    }
}

/// The numbers of requests. Calls have the numbers that they have in a run.
#[derive(Default)]
struct Numbers {
    calls: usize,
    others: usize,
}

impl Numbers {
    fn next(&mut self, asked: &TapeRequest<'_>, call: Option<&CallParams<'_>>) -> String {
        if let Some(call) = call {
            self.calls += 1;
            return format!("call {} `{}`", self.calls, call.name);
        }
        self.others += 1;
        format!("request {} `{}`", self.others, asked.method)
    }
}

fn compare_answers(
    subject: &mut Subject<'_>,
    recorded: &RecordedAnswer<'_>,
    live: Result<Value, RpcError>,
) {
    match (recorded, live) {
        (Ok(old), Ok(new)) => compare_results(subject, &read(old), &new),
        (Ok(_), Err(error)) => {
            let what = format!("succeeded, but is now refused: {error}");
            subject.add(Tier::Breaking, "error", what);
        }
        (Err(error), Ok(_)) => {
            let what = format!("was refused ({error}), but now succeeds");
            subject.add(Tier::Changed, "error", what);
        }
        (Err(old), Err(new)) => compare_errors(subject, old, &new),
    }
}

fn compare_errors(subject: &mut Subject<'_>, old: &RpcError, new: &RpcError) {
    if old.code != new.code {
        let what = format!("changed from {} to {}", old.code, new.code);
        subject.add(Tier::Changed, "error.code", what);
    }
    if old.message != new.message && !has_placeholder(&old.message) {
        let (old, new) = (json!(old.message), json!(new.message));
        value::compare(subject, "error.message", &old, &new);
    }
}

fn compare_results(subject: &mut Subject<'_>, old: &Value, new: &Value) {
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
                format!("succeeded, but now fails: {why}"),
            );
        }
        (true, false) => subject.add(Tier::Breaking, "result.isError", "failed, but now succeeds"),
        _ => {
            value::compare(subject, "result", &plain(old), &plain(new));
        }
    }
}

/// A result without `_meta`, and without `isError: false`, which equals its absence.
fn plain(result: &Value) -> Value {
    let mut result = result.clone();
    if let Some(object) = result.as_object_mut() {
        object.retain(|key, value| {
            !(key == "isError" && value == &Value::Bool(false)) && key != "_meta"
        });
    }
    result
}
