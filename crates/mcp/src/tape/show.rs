//! What happened on this tape, for a person to read?

use super::pair::{TapeRequest, messages, requests};
use super::{Direction, Entry, Event, Tape};
use crate::jsonrpc::{Body, Id, parse};
use crate::wire::CallResult;
use mcptest_core::escape::{clipped, escape};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;

const CLIP: usize = 100;
/// The number of consecutive lines of standard error to show: the last lines contain the reason.
const STDERR: usize = 3;

/// Limits on the shown part of a tape.
#[derive(Debug, Clone, Copy, Default)]
pub struct ShowOptions {
    /// Only the session with this number.
    pub session: Option<u64>,
    /// Everything, without cutting long texts short.
    pub full: bool,
    /// Use colour.
    pub colour: bool,
}

/// The style of a line, with the colours of a run's report.
#[derive(Clone, Copy)]
enum Look {
    /// A message.
    Plain,
    /// An event that is not a message.
    Dim,
    /// A failure.
    Bad,
}

/// A line of the timeline, without its time.
struct Sentence {
    look: Look,
    text: String,
}

/// The tape as a timeline; whatever the sides wrote cannot steer the terminal.
pub fn timeline(tape: &Tape, options: ShowOptions) -> String {
    let asked = requests(tape);
    let mut page = Page::new(&asked, options);
    page.header(tape, &asked);
    let is_shown = |entry: &Entry| options.session.is_none() || entry.session == options.session;
    let mut shown: Vec<_> = tape
        .entries
        .iter()
        .enumerate()
        .filter(|(_, entry)| is_shown(entry))
        .collect();
    // Streams of a server are written to the tape as they are read.
    shown.sort_by_key(|(_, entry)| entry.at_us);
    for stretch in shown.chunk_by(|(_, one), (_, next)| is_stderr(one) && is_stderr(next)) {
        page.stretch(stretch);
    }
    if tape.is_cut {
        page.text.push_str(
            "\nThe recording was cut off in the middle of its last line, which is omitted.\n",
        );
    }
    page.text
}

struct Page<'t> {
    text: String,
    options: ShowOptions,
    requests: BTreeMap<usize, Vec<&'t TapeRequest<'t>>>,
    answers: BTreeMap<usize, Vec<&'t TapeRequest<'t>>>,
    /// The number of calls in each session so far.
    calls: RefCell<BTreeMap<Option<u64>, usize>>,
}

fn is_stderr(entry: &Entry) -> bool {
    matches!(entry.event, Some(Event::Stderr { .. }))
}

impl<'t> Page<'t> {
    fn new(asked: &'t [TapeRequest<'t>], options: ShowOptions) -> Self {
        let mut page = Self {
            text: String::new(),
            options,
            answers: BTreeMap::new(),
            requests: BTreeMap::new(),
            calls: RefCell::default(),
        };
        for asked in asked {
            page.requests.entry(asked.entry).or_default().push(asked);
            if let Some(answer) = &asked.answer {
                page.answers.entry(answer.entry).or_default().push(asked);
            }
        }
        page
    }
}

impl Page<'_> {
    /// Writes related entries: one entry, or lines of standard error, of which only the last are
    /// shown.
    fn stretch(&mut self, entries: &[(usize, &Entry)]) {
        let [(_, first), ..] = entries else { return };
        let folded = if self.options.full || !is_stderr(first) {
            0
        } else {
            entries.len().saturating_sub(STDERR)
        };
        // A line in the place of one line saves nothing.
        let from = if folded > 1 { folded } else { 0 };
        if from > 0 {
            let sentence = format!("stderr: {folded} lines; --full shows them");
            self.line(first, "·", Look::Dim, &sentence);
        }
        for (index, entry) in &entries[from..] {
            self.entry(*index, entry);
        }
    }

    fn header(&mut self, tape: &Tape, asked: &[TapeRequest<'_>]) {
        let server = &tape.header.server;
        if let Some(name) = &server.name {
            self.labelled("server", name);
        }
        if !server.command.is_empty() {
            self.labelled("command", &server.command.join(" "));
        }
        if let Some(url) = &server.url {
            self.labelled("url", url);
        }
        let unanswered = asked.iter().filter(|asked| asked.answer.is_none()).count();
        let messages = tape
            .entries
            .iter()
            .filter(|entry| entry.message.is_some())
            .count();
        let mut summary = format!("{messages} messages, {} requests", asked.len());
        if unanswered > 0 {
            summary.push_str(&format!(", {unanswered} without an answer"));
        }
        self.labelled("recorded", &summary);
        let sessions = tape
            .entries
            .iter()
            .filter_map(|entry| entry.session)
            .max()
            .unwrap_or_default();
        if sessions > 1 {
            self.labelled("sessions", &sessions.to_string());
        }
        self.text.push('\n');
    }

    fn labelled(&mut self, label: &str, value: &str) {
        let value = self.clipped(value);
        let label = self.painted(Look::Dim, &format!("{label:10}"));
        let _ = writeln!(self.text, "{label}{value}");
    }

    fn entry(&mut self, index: usize, entry: &Entry) {
        if let Some(event) = &entry.event {
            let look = if matches!(event, Event::Fault { .. }) {
                Look::Bad
            } else {
                Look::Dim
            };
            self.line(entry, "·", look, &self.event(event, entry));
            return;
        }
        let arrow = if entry.from == Some(Direction::Client) {
            "→"
        } else {
            "←"
        };
        if let Some(text) = &entry.text {
            let long = entry
                .bytes
                .map(|bytes| format!(" (the beginning of {bytes} bytes)"));
            let sentence = format!(
                "not a message{}: {}",
                long.unwrap_or_default(),
                self.clipped(text)
            );
            self.line(entry, arrow, Look::Bad, &sentence);
            return;
        }
        for (at, message) in messages(entry).into_iter().enumerate() {
            let Sentence { look, text } = self.message(index, at, entry, message);
            self.line(entry, arrow, look, &text);
        }
    }

    fn message(&self, index: usize, at: usize, entry: &Entry, text: &str) -> Sentence {
        let body = match parse(text) {
            Ok(message) => message.body,
            Err(why) => {
                return Sentence {
                    look: Look::Bad,
                    text: format!("not JSON-RPC, {why}: {}", self.clipped(text)),
                };
            }
        };
        let mut look = Look::Plain;
        let text = match body {
            Body::Request { method, params, id } => {
                let asked = self.asked(index, at, &id);
                let fate = match asked {
                    Some(asked) if asked.is_cancelled => "  (cancelled)",
                    Some(asked) if asked.answer.is_none() => "  (never answered)",
                    _ => "",
                };
                if !fate.is_empty() {
                    look = Look::Bad;
                }
                format!("{}{fate}", self.what(&method, params, asked, entry.session))
            }
            Body::Notification { method, params } => self.what(&method, params, None, None),
            Body::Result { id, result } => {
                let (name, took) = self.answered(index, Some(&id));
                let is_error =
                    CallResult::read(result).is_ok_and(|result| result.is_error == Some(true));
                let word = if is_error { "failed" } else { "ok" };
                if is_error {
                    look = Look::Bad;
                }
                format!("{name}  {word}{took}  {}", self.clipped(&essence(result)))
            }
            Body::Error { id, error } => {
                let (name, took) = self.answered(index, id.as_ref());
                look = Look::Bad;
                format!(
                    "{name}  error {}{took}  {}",
                    error.code,
                    self.clipped(&error.message)
                )
            }
        };
        Sentence { look, text }
    }

    /// The request with this id in an entry, otherwise the one at the same position.
    fn asked(&self, index: usize, at: usize, id: &Id) -> Option<&TapeRequest<'_>> {
        let asked = self.requests.get(&index)?;
        let with_id = asked.iter().copied().find(|asked| asked.id == *id);
        with_id.or_else(|| asked.get(at).copied())
    }

    /// The answer and its delay.
    fn answered(&self, index: usize, id: Option<&Id>) -> (String, String) {
        let asked = self
            .answers
            .get(&index)
            .and_then(|all| all.iter().find(|asked| Some(&asked.id) == id));
        let Some(asked) = asked else {
            let id = id.map_or_else(|| "null".to_owned(), ToString::to_string);
            return (
                format!(
                    "an answer to {}, which is not a request of the client",
                    escape(&id)
                ),
                String::new(),
            );
        };
        let tool = asked
            .call()
            .map(|call| format!(" {}", escape(&call.name)))
            .unwrap_or_default();
        let took = asked.duration_us().map(milliseconds).unwrap_or_default();
        (format!("{}{tool}", escape(&asked.method)), took)
    }

    fn what(
        &self,
        method: &str,
        params: Option<&RawValue>,
        asked: Option<&TapeRequest<'_>>,
        session: Option<u64>,
    ) -> String {
        if let Some(call) = asked.and_then(TapeRequest::call) {
            let arguments = call.arguments.map_or("", RawValue::get);
            let mut calls = self.calls.borrow_mut();
            let number = calls
                .entry(session)
                .and_modify(|number| *number += 1)
                .or_insert(1);
            let (method, name) = (escape(method), self.clipped(&call.name));
            return format!("{method} {number} {name} {}", self.clipped(arguments))
                .trim_end()
                .to_owned();
        }
        let params = params.map_or("", RawValue::get);
        format!("{} {}", self.clipped(method), self.clipped(params))
            .trim_end()
            .to_owned()
    }

    fn event(&self, event: &Event, entry: &Entry) -> String {
        let side = |by: Direction| {
            if by == Direction::Client {
                "client"
            } else {
                "server"
            }
        };
        match event {
            Event::HttpRequest { method, path } => {
                format!("{} {}", self.clipped(method), self.clipped(path))
            }
            Event::HttpStatus { status } => match &entry.text {
                Some(text) => format!("HTTP {status}: {}", self.clipped(text)),
                None => format!("HTTP {status}"),
            },
            Event::Stderr { line } => format!("stderr: {}", self.clipped(line)),
            Event::Exit { status } => format!("the server exited: {}", self.clipped(status)),
            Event::Closed { by } => format!("the {} closed the connection", side(*by)),
            Event::Fault { fault } => format!("injected fault: {}", self.clipped(fault)),
            Event::Stopped { reason } => {
                format!("the recording was stopped: {}", self.clipped(reason))
            }
        }
    }

    fn line(&mut self, entry: &Entry, mark: &str, look: Look, sentence: &str) {
        let at = format!(
            "{}.{:03}",
            entry.at_us / 1_000_000,
            entry.at_us / 1000 % 1000
        );
        let session = entry
            .session
            .map(|session| format!("#{session} "))
            .unwrap_or_default();
        let at = self.painted(Look::Dim, &format!("{at:>9}"));
        let sentence = self.painted(look, sentence);
        let _ = writeln!(self.text, "{at}  {session}{mark} {sentence}");
    }

    fn painted(&self, look: Look, text: &str) -> String {
        let code = match look {
            Look::Dim => "2",
            Look::Bad => "1;31",
            Look::Plain => return text.to_owned(),
        };
        if self.options.colour {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }

    fn clipped(&self, text: &str) -> String {
        clipped(text, if self.options.full { usize::MAX } else { CLIP })
    }
}

fn milliseconds(us: u64) -> String {
    if us >= 10_000 {
        format!(" {} ms", us / 1000)
    } else {
        format!(" {}.{} ms", us / 1000, us / 100 % 10)
    }
}

/// The text of a tool's only content block; otherwise the JSON.
fn essence(result: &RawValue) -> String {
    #[derive(Deserialize)]
    struct Content {
        content: Vec<Block>,
    }
    #[derive(Deserialize)]
    struct Block {
        text: String,
    }
    match serde_json::from_str::<Content>(result.get()).map(|result| result.content) {
        Ok(content) if content.len() == 1 => content.into_iter().map(|block| block.text).collect(),
        _ => result.get().to_owned(),
    }
}
