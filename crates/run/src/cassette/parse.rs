//! Which runs, and which header, are in this text?

use super::check::check_json;
use super::explain::{explain, other_than_object};
use super::problem::{Fault, Place, Problem};
use super::text::clipped;
use mcptest_core::trace::{Header, Trace};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeSet;

/// A cassette, borrowed from its text.
#[derive(Debug, Clone)]
pub struct Cassette<'a> {
    /// What the runs were recorded with; `None` for a plain trace.
    pub header: Option<Header>,
    /// The runs in order.
    pub runs: Vec<CassetteRun<'a>>,
}

impl Cassette<'_> {
    /// Whether the cassette says with a fingerprint what it was recorded with.
    pub fn is_pinned(&self) -> bool {
        self.header.as_ref().is_some_and(|header| header.fingerprint.is_some())
    }
}

/// One run of a cassette.
#[derive(Debug, Clone)]
pub struct CassetteRun<'a> {
    /// The run's number, from 1.
    pub number: usize,
    /// The line it begins on, from 1.
    pub line: usize,
    /// What happened, or why that cannot be read; other runs are not affected.
    pub trace: Result<Trace<'a>, Problem>,
}

/// Reads a cassette: JSON Lines with a header, JSON Lines without one, or a single trace as one document.
///
/// `Err` is for what concerns the whole file; a bad run line is an `Err` in its run.
pub fn parse(bytes: &[u8]) -> Result<Cassette<'_>, Problem> {
    let source = Source::new(bytes);
    let mut lines = source.lines();
    let Some(first) = lines.next() else {
        return Err(Problem { place: None, fault: Fault::Empty });
    };
    let is_only_line = lines.next().is_none();
    match source.peek_line(&first) {
        Ok((_, peek)) if peek.is_header() => source.pinned(&first, &peek),
        Ok((text, peek)) if is_only_line => source.document(text, &peek, first.number),
        Ok(_) => Ok(source.unpinned()),
        Err(problem) if is_only_line || first.bytes.starts_with(b"[") => Err(problem),
        Err(problem) => source.over_many_lines(&first, problem),
    }
}

/// Reads the trace of one run, as `parse` does.
pub(super) fn parse_trace(text: &str) -> Result<Trace<'_>, Problem> {
    Source::new(text.as_bytes()).trace(text)
}

/// The top of a JSON object: which of the accepted shapes is it?
#[derive(Deserialize)]
struct Peek<'a> {
    #[serde(borrow, default)]
    format: Option<&'a RawValue>,
    #[serde(borrow, default)]
    version: Option<&'a RawValue>,
    #[serde(borrow, default)]
    run: Option<&'a RawValue>,
    #[serde(borrow, default)]
    trace: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_calls: Option<&'a RawValue>,
    #[serde(borrow, default)]
    conversation: Option<&'a RawValue>,
}

impl Peek<'_> {
    fn is_header(&self) -> bool {
        self.format.is_some_and(|format| {
            format.get() == "\"mcptest-cassette\"" || (self.trace.is_none() && !self.is_trace())
        })
    }

    fn is_trace(&self) -> bool {
        self.tool_calls.is_some() || self.conversation.is_some()
    }
}

/// The bytes of a file after its byte order mark.
struct Source<'a> {
    bytes: &'a [u8],
    skipped: usize,
}

/// A line that is not blank, without white space around it.
struct Line<'a> {
    number: usize,
    bytes: &'a [u8],
}

impl Line<'_> {
    fn mentions_format(&self) -> bool {
        let name = Header::FORMAT.as_bytes();
        self.bytes.windows(name.len()).take(200).any(|part| part == name)
    }
}

impl<'a> Source<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        let text = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
        Self { bytes: text, skipped: bytes.len() - text.len() }
    }

    fn lines(&self) -> impl Iterator<Item = Line<'a>> + use<'a> {
        let lines = self.bytes.split(|byte| *byte == b'\n').enumerate();
        lines
            .map(|(index, bytes)| Line { number: index + 1, bytes: bytes.trim_ascii() })
            .filter(|line| !line.bytes.is_empty())
    }

    /// The offset of a part of these bytes.
    fn offset_of(&self, part: &[u8]) -> usize {
        (part.as_ptr() as usize).saturating_sub(self.bytes.as_ptr() as usize)
    }

    fn problem(&self, offset: usize, fault: Fault) -> Problem {
        Problem { place: Some(Place::at(self.bytes, offset)), fault }
    }

    /// The text of a part, and the problem when it is not UTF-8; a character cut off at the end is a cut.
    fn text(&self, part: &'a [u8]) -> Result<&'a str, Problem> {
        std::str::from_utf8(part).map_err(|error| {
            let offset = self.offset_of(part) + error.valid_up_to();
            match error.error_len() {
                None => self.problem(offset, Fault::CutOff),
                Some(_) => self.problem(offset, Fault::NotUtf8 { offset: self.skipped + offset }),
            }
        })
    }

    /// Reads one JSON object into `T`; `describe` names what does not fit.
    fn object<T: Deserialize<'a>>(
        &self,
        text: &'a str,
        describe: impl Fn(String) -> Fault,
    ) -> Result<T, Problem> {
        let start = self.offset_of(text.as_bytes());
        if let Some(found) = other_than_object(text) {
            return Err(self.problem(start, Fault::NotAnObject { found }));
        }
        serde_json::from_str(text).map_err(|error| {
            let (offset, fault) = explain(text, &error, describe);
            self.problem(start + offset, fault)
        })
    }

    fn peek_line(&self, line: &Line<'a>) -> Result<(&'a str, Peek<'a>), Problem> {
        let text = self.text(line.bytes)?;
        let peek = self.object(text, |reason| Fault::BadTrace { reason })?;
        Ok((text, peek))
    }

    fn check(&self, text: &str) -> Result<(), Problem> {
        let start = self.offset_of(text.as_bytes());
        check_json(text).map_err(|(offset, fault)| self.problem(start + offset, fault))
    }

    /// The file is one document over many lines, or lines of which the first is damaged.
    fn over_many_lines(&self, first: &Line<'a>, damage: Problem) -> Result<Cassette<'a>, Problem> {
        let whole = self.text(self.bytes).and_then(|text| {
            let text = text.trim_ascii();
            let peek: Peek<'_> = self.object(text, |reason| Fault::BadTrace { reason })?;
            Ok((text, peek))
        });
        match whole {
            Ok((text, peek)) if peek.is_header() => {
                let reason = "it does not stand on one line; `jq -c .` puts it there".to_owned();
                Err(self.problem(self.offset_of(text.as_bytes()), Fault::BadHeader { reason }))
            }
            Ok((text, peek)) => self.document(text, &peek, first.number),
            Err(problem) if problem.fault == Fault::Scattered => Err(problem),
            Err(_) if first.mentions_format() => Err(damage),
            Err(_) if self.lines().skip(1).any(|line| self.is_run(&line)) => Ok(self.unpinned()),
            Err(problem) => Err(problem),
        }
    }

    fn is_run(&self, line: &Line<'a>) -> bool {
        let peek = self.peek_line(line);
        peek.is_ok_and(|(_, peek)| peek.is_trace() || (peek.run.is_some() && peek.trace.is_some()))
    }

    /// A single trace as one document.
    fn document(&self, text: &'a str, peek: &Peek<'a>, line: usize) -> Result<Cassette<'a>, Problem> {
        let trace = self.trace(peek.trace.map_or(text, RawValue::get))?;
        Ok(Cassette { header: None, runs: vec![CassetteRun { number: 1, line, trace: Ok(trace) }] })
    }

    fn trace(&self, text: &'a str) -> Result<Trace<'a>, Problem> {
        let mut trace: Trace<'a> = self.object(text, |reason| Fault::BadTrace { reason })?;
        trace.text = text;
        let is_bare = trace.tool_calls.is_empty() && trace.conversation.turns.is_empty();
        if is_bare && !serde_json::from_str(text).is_ok_and(|peek: Peek<'_>| peek.is_trace()) {
            return Err(self.problem(self.offset_of(text.as_bytes()), Fault::NotATrace));
        }
        self.check(text)?;
        Ok(trace)
    }

    fn pinned(&self, first: &Line<'a>, peek: &Peek<'a>) -> Result<Cassette<'a>, Problem> {
        let header = self.header(self.text(first.bytes)?, peek)?;
        let mut order = Order { expected: 1, seen: BTreeSet::new(), is_strict: true };
        let runs = self.lines().skip(1).map(|line| self.run(&line, &mut order)).collect();
        Ok(Cassette { header: Some(header), runs })
    }

    fn unpinned(&self) -> Cassette<'a> {
        let mut order = Order { expected: 1, seen: BTreeSet::new(), is_strict: false };
        let runs = self.lines().map(|line| self.run(&line, &mut order)).collect();
        Cassette { header: None, runs }
    }

    fn header(&self, text: &'a str, peek: &Peek<'a>) -> Result<Header, Problem> {
        let format = peek.format.map_or("null", RawValue::get);
        let version = peek.version.map_or("missing", RawValue::get);
        let fault = match version.parse::<u64>() {
            _ if format != "\"mcptest-cassette\"" => Fault::WrongFormat { found: clipped(format, 60) },
            Ok(version) if version == u64::from(Header::VERSION) => {
                self.check(text)?;
                return self.object(text, |reason| Fault::BadHeader { reason });
            }
            Ok(version) if version > u64::from(Header::VERSION) => Fault::NewerVersion { version },
            _ => Fault::UnknownVersion { found: clipped(version, 60) },
        };
        Err(self.problem(self.offset_of(text.as_bytes()), fault))
    }

    fn run(&self, line: &Line<'a>, order: &mut Order) -> CassetteRun<'a> {
        let (written, trace) = self.run_line(line);
        let number = written.unwrap_or(order.expected);
        let at_line = |fault| self.problem(self.offset_of(line.bytes), fault);
        let in_order = order.take(number).map_err(at_line);
        let trace = trace.and_then(|trace| in_order.map(|()| trace));
        CassetteRun { number, line: line.number, trace }
    }

    /// The number as written, if it can be read, and the trace.
    fn run_line(&self, line: &Line<'a>) -> (Option<usize>, Result<Trace<'a>, Problem>) {
        let text = match self.text(line.bytes) {
            Ok(text) => text,
            Err(problem) => return (None, Err(problem)),
        };
        if let Some((number, trace)) = as_written(text)
            && let Ok(trace) = self.trace(trace)
        {
            return (Some(number), Ok(trace));
        }
        let peek: Peek<'_> = match self.object(text, |reason| Fault::BadTrace { reason }) {
            Ok(peek) => peek,
            Err(problem) => return (None, Err(problem)),
        };
        if peek.is_header() {
            return (None, Err(self.problem(self.offset_of(line.bytes), Fault::SecondHeader)));
        }
        let number = match peek.run.map(|run| (run, run.get().parse::<usize>())) {
            None => None,
            Some((_, Ok(number))) if number > 0 => Some(number),
            Some((run, _)) => {
                let fault = Fault::BadRunNumber { found: clipped(run.get(), 60) };
                return (None, Err(self.problem(self.offset_of(run.get().as_bytes()), fault)));
            }
        };
        (number, self.trace(peek.trace.map_or(text, RawValue::get)))
    }
}

/// Which run number comes next.
struct Order {
    expected: usize,
    seen: BTreeSet<usize>,
    /// A recorder leaves no gaps; lines put together by hand may.
    is_strict: bool,
}

impl Order {
    fn take(&mut self, run: usize) -> Result<(), Fault> {
        let expected = self.expected;
        self.expected = expected.max(run.saturating_add(1));
        if !self.seen.insert(run) {
            Err(Fault::DuplicateRun { run })
        } else if run < expected || (self.is_strict && run > expected) {
            Err(Fault::RunOutOfOrder { run, expected })
        } else {
            Ok(())
        }
    }
}

/// The number and the trace of a line that is byte for byte as a recorder writes it, if its trace is JSON:
/// what stands around the trace is then known, and one pass over the line is enough.
fn as_written(line: &str) -> Option<(usize, &str)> {
    let rest = line.strip_prefix("{\"run\":")?;
    let (number, _) = rest.as_bytes().get(..21)?.split_at_checked(rest.find(',')?)?;
    let trace = rest[number.len()..].strip_prefix(",\"trace\":")?.strip_suffix('}')?;
    let is_plain =
        number.first().is_some_and(|digit| *digit != b'0') && number.iter().all(u8::is_ascii_digit);
    let number = std::str::from_utf8(number).ok()?.parse().ok()?;
    (is_plain && trace.starts_with('{')).then_some((number, trace))
}
