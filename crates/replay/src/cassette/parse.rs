//! Which runs, and which header, are in this text?

use super::order::Order;
use super::problem::{Fault, Problem};
use mcptest_core::escape::clipped;
use mcptest_core::json::document::{Source, TextFault};
use mcptest_core::trace::{BareFault, Header, Trace, read_bare, seal_of};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeSet;

/// A cassette, borrowed from its text.
#[derive(Debug, Clone)]
pub struct Cassette<'a> {
    /// The header of the recording. `None` for a plain trace.
    pub header: Option<Header>,
    /// The runs in the order of their numbers.
    pub runs: Vec<CassetteRun<'a>>,
    /// The early stop of the recording, unless runs were added later.
    pub stopped: Option<Stopped>,
}

/// Recording stopped because no remaining run could change a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stopped {
    /// The number of runs made.
    pub after: usize,
    /// The number of runs requested.
    pub of: usize,
}

impl Stopped {
    /// Its line in a cassette.
    pub fn line(self) -> String {
        format!(
            "{{\"stopped\":{{\"after\":{},\"of\":{}}}}}\n",
            self.after, self.of
        )
    }
}

impl Cassette<'_> {
    /// Returns true if the cassette has a fingerprint.
    pub fn is_pinned(&self) -> bool {
        self.header
            .as_ref()
            .is_some_and(|header| header.fingerprint.is_some())
    }

    /// The number of readable runs.
    pub fn whole_runs(&self) -> usize {
        self.runs.iter().filter(|run| run.trace.is_ok()).count()
    }

    /// The numbers up to `of` without a run. Lines of handwritten files may have any numbers.
    pub fn missing(&self, of: usize) -> Vec<usize> {
        if self.header.is_none() {
            return (self.runs.len() + 1..=of).collect();
        }
        let recorded: BTreeSet<usize> = self.runs.iter().map(|run| run.number).collect();
        (1..=of).filter(|run| !recorded.contains(run)).collect()
    }
}

/// One run of a cassette.
#[derive(Debug, Clone)]
pub struct CassetteRun<'a> {
    /// The run's number, from 1.
    pub number: usize,
    /// The line it begins on, from 1.
    pub line: usize,
    /// The trace, or the reason that it cannot be read. Other runs are not affected.
    pub trace: Result<Trace<'a>, Problem>,
}

/// Reads a cassette: JSON Lines with a header, JSON Lines without one, or a single trace as one
/// document.
///
/// `Err` is for problems of the whole file; a bad run line is an `Err` in its run.
pub fn parse(bytes: &[u8]) -> Result<Cassette<'_>, Problem> {
    let file = Source::new(bytes);
    let mut lines = file.lines();
    let Some(first) = lines.next() else {
        return Err(Problem::nowhere(TextFault::Empty));
    };
    let is_only_line = lines.next().is_none();
    match top_members(first) {
        Ok((_, members)) if members.is_header() => read_lines(file, Some(header(first)?)),
        Ok((text, members)) if is_only_line => document(first, text, &members),
        Ok(_) => read_lines(file, None),
        Err(problem)
            if is_only_line || first.content().starts_with(b"[") || problem.fault.is_conflict() =>
        {
            Err(problem)
        }
        Err(problem) => over_many_lines(file, first, problem),
    }
}

/// Reads the trace of one run.
pub(super) fn parse_trace(text: &str) -> Result<Trace<'_>, Problem> {
    trace(Source::new(text.as_bytes()), text)
}

/// The top of a JSON object: which of the accepted shapes is it?
#[derive(Deserialize)]
struct TopMembers<'a> {
    #[serde(borrow, default)]
    format: Option<&'a RawValue>,
    #[serde(borrow, default)]
    run: Option<&'a RawValue>,
    #[serde(borrow, default)]
    trace: Option<&'a RawValue>,
    #[serde(borrow, default)]
    seal: Option<&'a RawValue>,
    #[serde(borrow, default, alias = "toolCalls")]
    tool_calls: Option<&'a RawValue>,
    #[serde(borrow, default)]
    conversation: Option<&'a RawValue>,
    #[serde(borrow, default)]
    stopped: Option<&'a RawValue>,
}

impl TopMembers<'_> {
    fn is_header(&self) -> bool {
        self.format.is_some_and(|format| {
            format.get() == "\"mcptest-cassette\"" || (self.trace.is_none() && !self.is_trace())
        })
    }

    fn is_trace(&self) -> bool {
        self.tool_calls.is_some() || self.conversation.is_some()
    }
}

fn top_members(source: Source<'_>) -> Result<(&str, TopMembers<'_>), Problem> {
    let text = source.text()?;
    let members = source.object(text, |reason| Fault::BadTrace { reason })?;
    Ok((text, members))
}

/// The file is one document over several lines, or lines of which the first is damaged.
fn over_many_lines<'a>(
    file: Source<'a>,
    first: Source<'a>,
    damage: Problem,
) -> Result<Cassette<'a>, Problem> {
    match top_members(file) {
        Ok((_, members)) if members.is_header() => {
            let reason = "it is not on one line; `jq -c .` fixes that".to_owned();
            Err(file.fault_here(Fault::BadHeader { reason }))
        }
        Ok((text, members)) => document(file, text, &members),
        Err(problem) if problem.fault == Fault::Text(TextFault::Scattered) => Err(problem),
        Err(_) if mentions_format(first) => Err(damage),
        Err(_) if file.lines().skip(1).any(is_run) => read_lines(file, None),
        Err(problem) => Err(problem),
    }
}

fn mentions_format(line: Source<'_>) -> bool {
    let name = Header::FORMAT.as_bytes();
    line.content()
        .windows(name.len())
        .take(200)
        .any(|part| part == name)
}

fn is_run(line: Source<'_>) -> bool {
    let is_run = |members: TopMembers<'_>| {
        members.is_trace() || (members.run.is_some() && members.trace.is_some())
    };
    line.content().starts_with(b"{") && serde_json::from_slice(line.content()).is_ok_and(is_run)
}

fn document<'a>(
    source: Source<'a>,
    text: &'a str,
    members: &TopMembers<'a>,
) -> Result<Cassette<'a>, Problem> {
    let trace = trace(source, members.trace.map_or(text, RawValue::get))?;
    let run = CassetteRun {
        number: 1,
        line: source.start().line,
        trace: Ok(trace),
    };
    Ok(Cassette {
        header: None,
        runs: vec![run],
        stopped: None,
    })
}

fn trace<'a>(source: Source<'a>, text: &'a str) -> Result<Trace<'a>, Problem> {
    read_bare(source, text).map_err(|problem| Problem {
        place: problem.place,
        fault: match problem.fault {
            BareFault::Text(fault) => Fault::Text(fault),
            BareFault::Field { reason } => Fault::BadTrace { reason },
            BareFault::NotATrace => Fault::NotATrace,
        },
    })
}

fn header(line: Source<'_>) -> Result<Header, Problem> {
    line.header((Header::FORMAT, u64::from(Header::VERSION)), |reason| {
        Fault::BadHeader { reason }
    })
}

/// The runs of the lines, after the header if it exists.
fn read_lines(file: Source<'_>, header: Option<Header>) -> Result<Cassette<'_>, Problem> {
    let has_header = header.is_some();
    let has_seals = header
        .as_ref()
        .is_some_and(|header| header.seals && header.fingerprint.is_some());
    let mut order = Order::default();
    let mut runs = Vec::new();
    let mut stopped = None;
    for line in file.lines().skip(usize::from(has_header)) {
        stopped = None;
        match numbered(line) {
            Ok(Line::Run(written)) => runs.push(written.into_run(line, has_seals, &mut order)),
            Ok(Line::Stopped(mark)) if has_header => stopped = Some(mark),
            Ok(Line::Stopped(_)) => {
                let problem = line.fault_here(Fault::NotATrace);
                runs.push(run(line, None, Err(problem), &mut order));
            }
            Err(problem) if problem.fault.is_conflict() => return Err(problem),
            Err(problem) if has_header => runs.push(unnumbered(line, problem)),
            Err(problem) => runs.push(run(line, None, Err(problem), &mut order)),
        }
    }
    Ok(Cassette {
        header,
        runs: order.sorted(runs),
        stopped,
    })
}

/// A line without a readable number, which gets a number that no other run has.
fn unnumbered(line: Source<'_>, problem: Problem) -> CassetteRun<'_> {
    CassetteRun {
        number: 0,
        line: line.start().line,
        trace: Err(problem),
    }
}

fn run<'a>(
    line: Source<'a>,
    number: Option<usize>,
    trace: Result<Trace<'a>, Problem>,
    order: &mut Order,
) -> CassetteRun<'a> {
    let number = number.unwrap_or(order.next());
    let trace = match order.take(number) {
        Ok(()) => trace,
        Err(fault) => Err(line.fault_here(fault)),
    };
    CassetteRun {
        number,
        line: line.start().line,
        trace,
    }
}

/// A line after the header.
#[expect(
    clippy::large_enum_variant,
    reason = "there is only ever one, on the stack"
)]
enum Line<'a> {
    Run(WrittenRun<'a>),
    Stopped(Stopped),
}

/// A run as its line has it.
struct WrittenRun<'a> {
    number: Option<usize>,
    /// The seal, if written.
    seal: Option<&'a str>,
    /// The verbatim trace.
    text: &'a str,
    trace: Result<Trace<'a>, Problem>,
}

impl<'a> WrittenRun<'a> {
    /// The run of this line, in the order of the file.
    fn into_run(self, line: Source<'a>, has_seals: bool, order: &mut Order) -> CassetteRun<'a> {
        let number = self.number.unwrap_or(order.next());
        let trace = if has_seals && self.is_edited(number) {
            Err(line.fault_here(Fault::EditedRun { run: number }))
        } else {
            self.trace
        };
        run(line, Some(number), trace, order)
    }

    /// Returns true if the line differs from the recorded one with this number.
    fn is_edited(&self, number: usize) -> bool {
        self.seal != Some(&seal_of(number, self.text))
    }
}

/// The contents of a line. `Err` if not even the run's number can be read.
fn numbered(line: Source<'_>) -> Result<Line<'_>, Problem> {
    let text = line.text()?;
    if let Some(plain) = PlainLine::read(text)
        && let Ok(trace) = trace(line, plain.trace)
    {
        return Ok(Line::Run(WrittenRun {
            number: Some(plain.number),
            seal: plain.seal,
            text: plain.trace,
            trace: Ok(trace),
        }));
    }
    let members: TopMembers<'_> = line.object(text, |reason| Fault::BadTrace { reason })?;
    if members.is_header() {
        return Err(line.fault_here(Fault::SecondHeader));
    }
    if let Some(mark) = members
        .stopped
        .filter(|_| members.trace.is_none() && !members.is_trace())
    {
        let mark = line.object(mark.get(), |reason| Fault::BadStop { reason })?;
        return Ok(Line::Stopped(mark));
    }
    let number = members
        .run
        .map(|run| run_number(line, run.get()))
        .transpose()?;
    let written = members.trace.map_or(text, RawValue::get);
    let seal = members.seal.map(RawValue::get);
    Ok(Line::Run(WrittenRun {
        number,
        seal: seal.and_then(|seal| seal.strip_prefix('"')?.strip_suffix('"')),
        text: written,
        trace: trace(line, written),
    }))
}

fn run_number(line: Source<'_>, written: &str) -> Result<usize, Problem> {
    let number = written.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| {
        line.fault(
            written,
            Fault::BadRunNumber {
                found: clipped(written, 60),
            },
        )
    })
}

/// A line in the exact bytes of a recorder, if its trace is JSON. The text around the trace is then
/// certain, and reading the line once is enough.
struct PlainLine<'a> {
    number: usize,
    seal: Option<&'a str>,
    trace: &'a str,
}

impl<'a> PlainLine<'a> {
    /// `{"run":1,"seal":"…","trace":{…}}`, with an optional seal.
    fn read(line: &'a str) -> Option<Self> {
        let after_key = line.strip_prefix("{\"run\":")?;
        let comma = after_key.find(',')?;
        let (number, fields) = after_key.split_at_checked(comma)?;
        let (seal, fields) = match fields.strip_prefix(",\"seal\":\"") {
            Some(sealed) => {
                let (seal, fields) = sealed.split_once('"')?;
                (Some(seal), fields)
            }
            None => (None, fields),
        };
        let trace = fields.strip_prefix(",\"trace\":")?.strip_suffix('}')?;
        let is_plain = is_plain_number(number) && trace.starts_with('{');
        is_plain.then_some(Self {
            number: number.parse().ok()?,
            seal,
            trace,
        })
    }
}

/// A whole number above 0, without a sign or zeros before it.
fn is_plain_number(text: &str) -> bool {
    !text.starts_with('0') && !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
