//! Which rows does a block of input lead to?

use super::cut::{Block, Contents, Piece};
use super::otlp::Records;
use mcptest_core::guard::guarded;
use mcptest_core::judge::RecordedRun;
use mcptest_core::report::{Status, TestReport};
use mcptest_core::row::{Reason, ReasonKind};
use mcptest_core::score::{Arrangement, Scorer};
use mcptest_core::trace::{Header, Trace};
use mcptest_files as files;
use mcptest_import::{FirstLine, LineError, LineRun, TraceLine};
use mcptest_replay::cassette::Recording;
use mcptest_report::verdicts::{Judged, RowKind, RowStatus, RowValue, VerdictRow, each_row};
use std::borrow::Cow;
use std::cell::Cell;
use std::path::Path;

/// The rows of a block, ready to be written.
#[derive(Default)]
pub(super) struct Rows {
    /// The number of the block.
    pub(super) number: usize,
    /// The rows as JSON Lines, without secrets.
    pub(super) lines: String,
    /// The same rows as a request of OTLP, if they are exported.
    pub(super) records: Option<String>,
    pub(super) tally: Tally,
}

/// The number of verdicts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Traces, or groups, that were judged.
    pub(super) judged: usize,
    /// Verdicts that failed.
    pub(super) failed: usize,
    /// Verdicts and inputs that are errors.
    pub(super) errors: usize,
}

impl Tally {
    pub(super) fn add(&mut self, other: Self) {
        self.judged += other.judged;
        self.failed += other.failed;
        self.errors += other.errors;
    }
}

/// Everything that workers share.
pub(super) struct Judging<'s> {
    pub(super) scorer: &'s Scorer<'s>,
    pub(super) arrangement: Arrangement,
    pub(super) suite: String,
    /// True if no text of the suite contains a secret. Rows repeat texts of the suite.
    pub(super) is_suite_clean: bool,
    /// Makes records of OTLP, if rows are exported.
    pub(super) records: Option<Records>,
}

impl Judging<'_> {
    /// Judges a block. A bug in mcptest is an error of this block alone.
    pub(super) fn judge(&self, block: &Block) -> Rows {
        let number = block.number;
        let judged = guarded(|| {
            let mut writing = Writing::new(self);
            for piece in &block.pieces {
                writing.piece(piece, &block.bytes[piece.bytes.clone()]);
            }
            writing.finish(number)
        });
        judged.unwrap_or_else(|panic| {
            let mut writing = Writing::new(self);
            writing.unreadable(None, None, &panic.to_string());
            writing.finish(number)
        })
    }
}

/// The rows of a block that is being judged.
struct Writing<'w> {
    judging: &'w Judging<'w>,
    lines: Vec<u8>,
    records: Vec<u8>,
    tally: Tally,
    /// True if rows without a search for secrets would be safe: neither the suite, nor the names of
    /// inputs, nor the trace that is being judged contain one.
    is_clean: Cell<bool>,
}

/// The names of a trace.
#[derive(Clone, Copy)]
struct Named<'n> {
    /// The name of the line or file.
    place: &'n str,
    id: Option<&'n str>,
    span: Option<&'n str>,
    group: Option<&'n str>,
}

impl<'w> Writing<'w> {
    fn new(judging: &'w Judging<'w>) -> Self {
        Self {
            judging,
            lines: Vec::new(),
            records: Vec::new(),
            tally: Tally::default(),
            is_clean: Cell::new(judging.is_suite_clean),
        }
    }

    /// A text without secrets. If it contained one, the rows are searched too.
    fn clean<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if !mcptest_replay::may_be_unclean(text) {
            return Cow::Borrowed(text);
        }
        let clean = mcptest_replay::clean(text);
        if matches!(clean, Cow::Owned(_)) {
            self.is_clean.set(false);
        }
        clean
    }

    /// Reads a line or a document whose rows have names from this source.
    fn read<'a>(&self, is_source_clean: bool, bytes: &'a [u8]) -> Result<TraceLine<'a>, LineError> {
        self.is_clean.set(is_source_clean);
        let line = TraceLine::read(bytes, &|text| self.clean(text))?;
        for name in [&line.id, &line.group, &line.span_id].into_iter().flatten() {
            self.clean(name);
        }
        // Imported runs were searched.
        for run in line.runs.iter().filter(|run| run.header.is_none()) {
            self.clean(&run.text);
        }
        Ok(line)
    }

    fn finish(self, number: usize) -> Rows {
        let lines = String::from_utf8(self.lines).unwrap_or_default();
        let records =
            self.judging.records.as_ref().map(|records| {
                records.request(&String::from_utf8(self.records).unwrap_or_default())
            });
        Rows {
            number,
            lines: escaped(lines),
            records,
            tally: self.tally,
        }
    }

    fn piece(&mut self, piece: &Piece, bytes: &[u8]) {
        self.is_clean.set(self.judging.is_suite_clean);
        self.clean(&piece.source);
        let is_source_clean = self.is_clean.get();
        match &piece.contents {
            Contents::Lines => {
                let lines = bytes.split(|byte| *byte == b'\n');
                for (number, line) in (piece.line..).zip(lines) {
                    if !line.trim_ascii().is_empty() {
                        let read = self.read(is_source_clean, line);
                        self.one_by_one(&place(piece, number), read);
                    }
                }
            }
            Contents::Group(group) => self.group(piece, group, bytes, is_source_clean),
            Contents::Document => self.document(&piece.source, bytes, is_source_clean),
            Contents::File(path) => self.file(&piece.source, path, is_source_clean),
            Contents::Unreadable { why, group } => {
                let place = place(piece, piece.line);
                self.unreadable(Some(&place), group.as_deref(), why);
            }
        }
    }

    /// Judges the traces of a line, or of a document, one by one.
    fn one_by_one(&mut self, place: &str, read: Result<TraceLine<'_>, LineError>) {
        let line = match read {
            Ok(line) => line,
            Err(error) => return self.unreadable(Some(place), None, &said(&error)),
        };
        for (at, run) in line.runs.iter().enumerate() {
            let several = (line.runs.len() > 1).then_some(at + 1);
            let place = numbered(place, several);
            let id = line.id.as_deref().map(|id| numbered(id, several));
            let named = Named {
                place: &place,
                id: id.as_deref(),
                span: line.span_id.as_deref(),
                group: line.group.as_deref(),
            };
            match run.trace() {
                Ok(trace) => self.alone(named, &trace, run.header.as_ref()),
                Err(error) => {
                    self.unreadable(Some(named.id.unwrap_or(&place)), named.group, &said(&error));
                }
            }
        }
    }

    fn alone(&mut self, named: Named<'_>, trace: &Trace<'_>, header: Option<&Header>) {
        let id = named
            .id
            .or(trace.trace_id.as_deref())
            .unwrap_or(named.place);
        if self.judging.arrangement == Arrangement::Grouped {
            let refusals = self.judging.scorer.refusals(Arrangement::Alone);
            let why = refusals.first().map(ToString::to_string);
            return self.unreadable(Some(id), named.group, &why.unwrap_or_default());
        }
        let run = RecordedRun {
            number: 1,
            trace: Ok(trace),
            source: None,
            line: None,
            header,
        };
        let reports = self.judge(vec![run]);
        self.add(
            &reports,
            &Judged {
                suite: &self.judging.suite,
                group: named.group,
                trace_ids: &[id],
                span_id: named.span,
            },
        );
    }

    fn judge(&self, runs: Vec<RecordedRun<'_>>) -> Vec<TestReport> {
        if self.is_clean.get() {
            self.judging.scorer.judge_clean(runs)
        } else {
            self.judging.scorer.judge(runs)
        }
    }

    /// Judges the traces of a group together.
    fn group(&mut self, piece: &Piece, group: &str, bytes: &[u8], is_source_clean: bool) {
        let mut is_clean = is_source_clean;
        let lines = bytes.split(|byte| *byte == b'\n');
        let lines = (piece.line..).zip(lines);
        let read: Vec<(String, Result<TraceLine<'_>, LineError>)> = lines
            .filter(|(_, line)| !line.trim_ascii().is_empty())
            .map(|(number, line)| {
                let read = self.read(is_source_clean, line);
                is_clean &= read.is_ok() && self.is_clean.get();
                (place(piece, number), read)
            })
            .collect();
        self.is_clean.set(is_clean);
        let runs: Vec<ReadRun<'_>> = read
            .iter()
            .flat_map(|(place, line)| ReadRun::of_line(place, line))
            .collect();
        let ids: Vec<&str> = runs.iter().map(|run| run.id.as_str()).collect();
        let recorded = (1..).zip(&runs).map(|(number, run)| RecordedRun {
            number,
            trace: run.trace.as_ref().map_err(Clone::clone),
            source: None,
            line: None,
            header: run.header,
        });
        let reports = self.judge(recorded.collect());
        self.add(
            &reports,
            &Judged {
                suite: &self.judging.suite,
                group: Some(group),
                trace_ids: &ids,
                span_id: None,
            },
        );
    }

    fn document(&mut self, name: &str, bytes: &[u8], is_source_clean: bool) {
        let read = self.read(is_source_clean, bytes);
        self.one_by_one(name, read);
    }

    /// Judges the traces of a file. Only files that mcptest wrote are read as cassettes.
    fn file(&mut self, name: &str, path: &Path, is_source_clean: bool) {
        let bytes = match files::read(path, files::RECORDING) {
            Ok(bytes) => bytes,
            Err(error) => return self.unreadable(Some(name), None, &files::reason(&error)),
        };
        let first = bytes
            .split(|byte| *byte == b'\n')
            .next()
            .unwrap_or_default();
        if FirstLine::read(first) != FirstLine::Header {
            return self.document(name, &bytes, is_source_clean);
        }
        drop(bytes);
        // Its header was not searched.
        self.is_clean.set(false);
        let recording = match Recording::open(path) {
            Ok(recording) => recording,
            Err(error) => return self.unreadable(Some(name), None, &error.fault.to_string()),
        };
        let cassette = match recording.cassette() {
            Ok(cassette) => cassette,
            Err(error) => return self.unreadable(Some(name), None, &error.fault.to_string()),
        };
        for run in &cassette.runs {
            let place = numbered(name, Some(run.number));
            let named = Named {
                place: &place,
                id: None,
                span: None,
                group: None,
            };
            match &run.trace {
                Ok(trace) => self.alone(named, trace, cassette.header.as_ref()),
                Err(problem) => self.unreadable(Some(&place), None, &problem.to_string()),
            }
        }
    }

    fn add(&mut self, reports: &[TestReport], judged: &Judged<'_>) {
        for report in reports {
            self.tally.judged += 1;
            match report.status {
                Status::Failed => self.tally.failed += 1,
                Status::Error => self.tally.errors += 1,
                Status::Passed | Status::Skipped => {}
            }
            each_row(report, judged, &mut |row| self.write(row));
        }
    }

    /// Writes a row, and its record.
    fn write(&mut self, row: &VerdictRow<'_>) {
        let start = self.lines.len();
        row.write(&mut self.lines);
        self.search(start, |own| &mut own.lines);
        if let Some(otlp) = &self.judging.records {
            otlp.separate(&mut self.records);
            let start = self.records.len();
            otlp.add(row, &mut self.records);
            self.search(start, |own| &mut own.records);
        }
    }

    /// Removes secrets from the end of the output, unless it has none.
    fn search(&mut self, start: usize, output: fn(&mut Self) -> &mut Vec<u8>) {
        if self.is_clean.get() {
            return;
        }
        let output = output(self);
        let text = String::from_utf8_lossy(&output[start..]);
        if let Cow::Owned(clean) = mcptest_replay::clean(&text) {
            output.truncate(start);
            output.extend_from_slice(clean.as_bytes());
        }
    }

    /// Adds the row of an input that no agent can judge.
    fn unreadable(&mut self, id: Option<&str>, group: Option<&str>, why: &str) {
        self.tally.errors += 1;
        // The reason may quote the input.
        self.is_clean.set(false);
        let row = VerdictRow {
            trace_id: id,
            span_id: None,
            group,
            suite: &self.judging.suite,
            agent: None,
            kind: RowKind::Input,
            gate: None,
            target: None,
            value: RowValue::None,
            status: RowStatus::Error,
            message: Some(Cow::Borrowed(why)),
        };
        self.write(&row);
    }
}

/// A run of a group.
struct ReadRun<'l> {
    id: String,
    trace: Result<Trace<'l>, Reason>,
    header: Option<&'l Header>,
}

impl<'l> ReadRun<'l> {
    fn of_line(place: &str, line: &'l Result<TraceLine<'_>, LineError>) -> Vec<Self> {
        let line = match line {
            Ok(line) => line,
            Err(error) => {
                return vec![Self {
                    id: place.to_owned(),
                    trace: Err(unreadable_run(error)),
                    header: None,
                }];
            }
        };
        let is_several = line.runs.len() > 1;
        let run = |(at, run): (usize, &'l LineRun<'_>)| {
            let trace = run.trace().map_err(|error| unreadable_run(&error));
            let own = trace
                .as_ref()
                .ok()
                .and_then(|trace| trace.trace_id.as_deref());
            let id = line.id.as_deref().or(own).unwrap_or(place);
            Self {
                id: numbered(id, is_several.then_some(at + 1)),
                trace,
                header: run.header.as_ref(),
            }
        };
        line.runs.iter().enumerate().map(run).collect()
    }
}

fn unreadable_run(error: &LineError) -> Reason {
    Reason::new(ReasonKind::RecordingUnreadable, said(error))
}

/// `calls.jsonl:17`, the name of a line.
fn place(piece: &Piece, line: usize) -> String {
    format!("{}:{line}", piece.source)
}

/// The name with the number of one of several traces.
fn numbered(name: &str, number: Option<usize>) -> String {
    match number {
        Some(number) => format!("{name}#{number}"),
        None => name.to_owned(),
    }
}

/// The problem of a line. Its number is in its name already.
fn said(error: &LineError) -> String {
    match error.place {
        Some(place) if place.line == 1 => format!("column {}: {}", place.column, error.fault),
        Some(place) => format!(
            "line {}, column {}: {}",
            place.line, place.column, error.fault
        ),
        None => error.fault.to_string(),
    }
}

/// The rows without characters that control a terminal.
fn escaped(lines: String) -> String {
    match mcptest_core::escape::escape_lines(&lines, false) {
        Cow::Borrowed(_) => lines,
        Cow::Owned(escaped) => escaped,
    }
}
