//! Exchanges on HTTP become entries of a tape: which messages, of which session?

use crate::frame::DEFAULT_MAX_MESSAGE_BYTES;
use crate::jsonrpc::{self, Body};
use crate::proxy::lines::{Kept, Line, entry, excerpt};
use crate::proxy::record::ToEntries;
use crate::sse;
use crate::tape::{Direction, Entry, Event};
use crate::wire::CommonParams;
use bytes::Bytes;
use http::StatusCode;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::fmt::Display;

/// The end of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyEnd {
    Whole,
    CutBySender,
    CutByReader,
}

/// An observation on HTTP, with the number of its exchange.
pub(super) type Seen = (u64, HttpSeen);

/// An observation on HTTP.
#[derive(Debug)]
pub(super) enum HttpSeen {
    Begin {
        method: String,
        path: String,
        session: Option<String>,
    },
    Bytes {
        from: Direction,
        bytes: Bytes,
    },
    End {
        from: Direction,
        end: BodyEnd,
    },
    Head(AnswerHead),
    Refused {
        status: u16,
        sentence: String,
    },
    /// The client left while it waited.
    Abandoned,
    /// An event outside any exchange.
    Event(Event),
}

/// The head of an answer.
#[derive(Debug)]
pub(super) struct AnswerHead {
    pub(super) status: u16,
    pub(super) content_type: Option<String>,
    pub(super) encoding: Option<String>,
    pub(super) session: Option<String>,
}

/// Follows every exchange until it ends.
#[derive(Debug, Default)]
pub(super) struct HttpEntries {
    open: BTreeMap<u64, Exchange>,
    sessions: TapeSessions,
}

/// An exchange under way.
#[derive(Debug, Default)]
struct Exchange {
    method: String,
    path: String,
    session_id: Option<String>,
    session: Option<u64>,
    request: Line,
    is_asked: bool,
    answer: AnswerReader,
}

#[derive(Debug, Default)]
enum AnswerReader {
    #[default]
    None,
    Whole {
        body: Line,
        encoding: Option<String>,
    },
    Events(sse::Parser),
    Unreadable,
}

impl ToEntries for HttpEntries {
    type Seen = Seen;

    fn note(&mut self, at_us: u64, (number, seen): Seen, entries: &mut Vec<Entry>) {
        let is_over = match &seen {
            HttpSeen::End { from, .. } => *from == Direction::Server,
            HttpSeen::Refused { .. } | HttpSeen::Abandoned => true,
            _ => false,
        };
        if matches!(seen, HttpSeen::Begin { .. }) {
            self.open.insert(number, Exchange::default());
        }
        // The rest of a request can come in after its exchange was given up.
        let Some(exchange) = self.open.get_mut(&number) else {
            if let HttpSeen::Event(event) = seen {
                entries.push(happened(at_us, event));
            }
            return;
        };
        let from = entries.len();
        exchange.note(at_us, seen, &mut self.sessions, entries);
        for entry in &mut entries[from..] {
            entry.exchange = Some(number);
            entry.session = exchange.session;
        }
        if is_over {
            self.open.remove(&number);
        }
    }
}

impl Exchange {
    fn note(
        &mut self,
        at_us: u64,
        seen: HttpSeen,
        sessions: &mut TapeSessions,
        entries: &mut Vec<Entry>,
    ) {
        match seen {
            HttpSeen::Begin {
                method,
                path,
                session,
            } => {
                (self.method, self.path, self.session_id) = (method, path, session);
            }
            HttpSeen::Bytes { from, bytes } => match from {
                Direction::Client => self.request.push(&bytes),
                Direction::Server => self.answer.feed(at_us, &bytes, entries),
            },
            HttpSeen::End { from, end } => match from {
                Direction::Client => self.asked(at_us, sessions, entries),
                Direction::Server => self.answered(at_us, end, entries),
            },
            HttpSeen::Head(head) => self.answer_began(at_us, head, sessions, entries),
            HttpSeen::Refused { status, sentence } => {
                if status == StatusCode::FORBIDDEN.as_u16() {
                    self.turned_away(at_us, entries);
                }
                self.asked(at_us, sessions, entries);
                entries.push(refused(at_us, status, sentence));
            }
            HttpSeen::Abandoned => {
                self.asked(at_us, sessions, entries);
                entries.push(closed(at_us, Direction::Client));
            }
            HttpSeen::Event(event) => entries.push(happened(at_us, event)),
        }
    }

    fn answer_began(
        &mut self,
        at_us: u64,
        head: AnswerHead,
        sessions: &mut TapeSessions,
        entries: &mut Vec<Entry>,
    ) {
        self.asked(at_us, sessions, entries);
        if let (Some(id), Some(number)) = (head.session, self.session) {
            sessions.bind(id, number);
        }
        let status = head.status;
        if self.method == "DELETE" && (200..300).contains(&status) {
            sessions.end(self.session);
        }
        if status != 200 {
            entries.push(happened(at_us, Event::HttpStatus { status }));
        }
        self.answer = AnswerReader::new(head.content_type.as_deref(), head.encoding);
    }

    fn answered(&mut self, at_us: u64, end: BodyEnd, entries: &mut Vec<Entry>) {
        self.answer.end(at_us, entries);
        match end {
            BodyEnd::Whole => {}
            BodyEnd::CutBySender => entries.push(closed(at_us, Direction::Server)),
            BodyEnd::CutByReader => entries.push(closed(at_us, Direction::Client)),
        }
    }

    /// Records a client that is refused. It belongs to no session.
    fn turned_away(&mut self, at_us: u64, entries: &mut Vec<Entry>) {
        self.is_asked = true;
        entries.push(self.without_message(at_us));
    }

    fn without_message(&self, at_us: u64) -> Entry {
        let event = Event::HttpRequest {
            method: self.method.clone(),
            path: self.path.clone(),
        };
        happened(at_us, event)
    }

    /// The request has ended, complete or not.
    fn asked(&mut self, at_us: u64, sessions: &mut TapeSessions, entries: &mut Vec<Entry>) {
        if std::mem::replace(&mut self.is_asked, true) {
            return;
        }
        let mut message = None;
        self.request
            .end(|line| message = entry(at_us, Direction::Client, line));
        let Some(message) = message else {
            self.session = self
                .session_id
                .take()
                .map(|id| sessions.named(id))
                .or_else(|| sessions.latest());
            entries.push(self.without_message(at_us));
            return;
        };
        self.session = sessions.find_or_begin(self.session_id.take(), message.message.as_deref());
        entries.push(message);
    }
}

impl AnswerReader {
    fn new(content_type: Option<&str>, encoding: Option<String>) -> Self {
        let encoding = encoding.filter(|encoding| !encoding.eq_ignore_ascii_case("identity"));
        let is_events =
            content_type.is_some_and(|kind| kind.trim_start().starts_with("text/event-stream"));
        if is_events && encoding.is_none() {
            return Self::Events(sse::Parser::new(DEFAULT_MAX_MESSAGE_BYTES));
        }
        Self::Whole {
            body: Line::default(),
            encoding,
        }
    }

    fn feed(&mut self, at_us: u64, bytes: &[u8], entries: &mut Vec<Entry>) {
        match self {
            Self::Whole { body, .. } => body.push(bytes),
            Self::Events(parser) => match parser.feed(bytes) {
                Ok(events) => entries.extend(
                    events
                        .into_iter()
                        .filter_map(|event| event.data)
                        .filter_map(|data| message(at_us, &data)),
                ),
                Err(error) => {
                    entries.push(unrecorded_rest(at_us, &error));
                    *self = Self::Unreadable;
                }
            },
            Self::None | Self::Unreadable => {}
        }
    }

    fn end(&mut self, at_us: u64, entries: &mut Vec<Entry>) {
        let Self::Whole { body, encoding } = self else {
            return;
        };
        body.end(|line| {
            entries.extend(match encoding {
                Some(encoding) => Some(encoded(at_us, &line, encoding)),
                None => entry(at_us, Direction::Server, line),
            });
        });
    }
}

fn happened(at_us: u64, event: Event) -> Entry {
    Entry {
        event: Some(event),
        ..Entry::at(at_us)
    }
}

/// The answer of the proxy instead of the target.
fn refused(at_us: u64, status: u16, sentence: String) -> Entry {
    Entry {
        text: Some(sentence),
        ..happened(at_us, Event::HttpStatus { status })
    }
}

fn closed(at_us: u64, by: Direction) -> Entry {
    happened(at_us, Event::Closed { by })
}

fn unrecorded_rest(at_us: u64, error: &impl Display) -> Entry {
    Entry {
        from: Some(Direction::Server),
        text: Some(format!("the rest of the stream is not recorded: {error}")),
        ..Entry::at(at_us)
    }
}

fn message(at_us: u64, data: &str) -> Option<Entry> {
    entry(
        at_us,
        Direction::Server,
        Kept {
            bytes: data.as_bytes(),
            length: data.len(),
        },
    )
}

fn encoded(at_us: u64, line: &Kept<'_>, encoding: &str) -> Entry {
    let text = format!("a body in the encoding `{encoding}`, which mcptest does not record");
    let (_, bytes) = excerpt(&Kept {
        bytes: &[],
        length: line.length,
    });
    Entry {
        from: Some(Direction::Server),
        text: Some(text),
        bytes,
        ..Entry::at(at_us)
    }
}

/// Numbers for sessions: each `initialize` begins one. Without session ids, each kind of client is
/// one session.
#[derive(Debug, Default)]
struct TapeSessions {
    count: u64,
    named: BTreeMap<String, u64>,
    clients: BTreeMap<String, u64>,
    latest: Option<u64>,
    /// True if the client ended the latest session: messages without a session then belong to none.
    is_ended: bool,
}

impl TapeSessions {
    /// The session of a message, by the id in its headers or by its contents.
    fn find_or_begin(&mut self, id: Option<String>, message: Option<&RawValue>) -> Option<u64> {
        if let Some(id) = id {
            return Some(self.named(id));
        }
        let asked = message.and_then(|message| jsonrpc::parse(message.get()).ok());
        match asked.map(|message| message.body) {
            Some(Body::Request { method, .. }) if method == "initialize" => Some(self.next()),
            Some(Body::Request { params, .. } | Body::Notification { params, .. }) => {
                match CommonParams::read(params).modern_client() {
                    Some(client) => Some(self.client(client)),
                    None => self.latest_or_first(),
                }
            }
            _ => self.latest_or_first(),
        }
    }

    fn latest_or_first(&mut self) -> Option<u64> {
        if self.is_ended {
            None
        } else {
            Some(self.latest.unwrap_or_else(|| self.next()))
        }
    }

    /// The client has ended a session.
    fn end(&mut self, session: Option<u64>) {
        self.is_ended |= session.is_some() && session == self.latest;
    }

    fn next(&mut self) -> u64 {
        self.count += 1;
        (self.latest, self.is_ended) = (Some(self.count), false);
        self.count
    }

    fn latest(&self) -> Option<u64> {
        self.latest.filter(|_| !self.is_ended)
    }

    fn named(&mut self, id: String) -> u64 {
        if let Some(&number) = self.named.get(&id) {
            return number;
        }
        let number = self.next();
        self.bind(id, number);
        number
    }

    fn bind(&mut self, id: String, number: u64) {
        self.named.insert(id, number);
    }

    fn client(&mut self, client: &str) -> u64 {
        if let Some(&number) = self.clients.get(client) {
            return number;
        }
        let number = self.next();
        self.clients.insert(client.to_owned(), number);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::era::meta;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    #[test]
    fn each_initialize_begins_a_session_that_its_id_names_from_then_on() {
        let mut sessions = TapeSessions::default();
        let initialize = raw(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#);
        let (first, second) = (
            sessions.find_or_begin(None, Some(&initialize)),
            sessions.find_or_begin(None, Some(&initialize)),
        );
        sessions.bind("b".into(), second.unwrap());
        sessions.bind("a".into(), first.unwrap());
        assert_eq!((first, second), (Some(1), Some(2)));
        assert_eq!(
            (sessions.named("a".into()), sessions.named("c".into())),
            (1, 3)
        );
    }

    #[test]
    fn where_no_session_is_named_each_client_is_one() {
        let mut sessions = TapeSessions::default();
        let call = |client: &str| {
            raw(&format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"_meta":{{"{}":"2026-07-28","{}":{{"name":"{client}"}}}}}}}}"#,
                meta::PROTOCOL_VERSION,
                meta::CLIENT_INFO
            ))
        };
        let numbers =
            ["a", "b", "a"].map(|client| sessions.find_or_begin(None, Some(&call(client))));
        assert_eq!(numbers, [Some(1), Some(2), Some(1)]);
    }

    #[test]
    fn what_names_no_session_after_the_end_of_one_belongs_to_none() {
        let mut to_entries = HttpEntries::default();
        let mut entries = Vec::new();
        let mut exchange =
            |number: u64, method: &str, id: Option<&str>, body: &str, status: u16| {
                let begin = HttpSeen::Begin {
                    method: method.to_owned(),
                    path: "/mcp".to_owned(),
                    session: id.map(str::to_owned),
                };
                let request = HttpSeen::Bytes {
                    from: Direction::Client,
                    bytes: body.to_owned().into(),
                };
                let answer = match status {
                    403 => HttpSeen::Refused {
                        status,
                        sentence: "no".to_owned(),
                    },
                    _ => HttpSeen::Head(AnswerHead {
                        status,
                        content_type: None,
                        encoding: None,
                        session: Some("s-1".to_owned()).filter(|_| number == 1),
                    }),
                };
                for seen in [begin, request, answer] {
                    to_entries.note(1, (number, seen), &mut entries);
                }
            };
        let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
        let initialize = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#;
        exchange(1, "POST", None, initialize, 200);
        exchange(2, "POST", None, "", 403);
        exchange(3, "POST", None, call, 200);
        exchange(4, "DELETE", Some("s-1"), "", 200);
        exchange(5, "POST", None, call, 400);
        exchange(6, "GET", None, "", 405);
        exchange(7, "POST", None, initialize, 200);
        let sessions: BTreeMap<_, _> = entries
            .iter()
            .map(|entry| (entry.exchange, entry.session))
            .collect();
        let sessions: Vec<_> = sessions.into_values().collect();
        assert_eq!(
            sessions,
            [Some(1), None, Some(1), Some(1), None, None, Some(2)]
        );
    }
}
