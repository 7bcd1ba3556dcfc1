//! Which runs are in the opened recordings of a row, and do they fit its suite?

use crate::advice;
use crate::cassette::{Cassette, CassetteRun, ReadError, ReadFault};
use crate::header::expected_header;
use crate::open::{OpenedFile, OpenedRow, OpenedRuns};
use crate::remarks::{imported, remarks};
use crate::staleness::{tolerated_differences, tolerated_staleness};
use crate::tool_test::ParsedCall;
use crate::walk::not_entered;
use mcptest_core::eval::SideRuns;
use mcptest_core::judge::{Recorded, RecordedRun, RecordedRuns, RecordedSideRuns, is_read_only};
use mcptest_core::row::{Reason, ReasonKind, RowOfAgent, Transcripts};
use mcptest_core::trace::{Header, Run};
use std::path::Path;
use std::slice;

/// The recordings of a row as traces that borrow from the opened bytes, and their mismatches with
/// the suite.
pub enum ParsedRow<'o> {
    /// The runs of an agent's row.
    Runs(ParsedRuns<'o>),
    /// The call of a tool test.
    Call(ParsedCall<'o>),
    /// No run can be judged, for this reason.
    Nothing(Reason),
}

/// The runs of an agent's row.
pub struct ParsedRuns<'o> {
    opened: &'o OpenedRuns<'o>,
    files: Vec<ParsedFile<'o>>,
    /// The side runs, if a gate needs any.
    side: Option<ParsedSide<'o>>,
    /// The differences between the recordings and the suite that are tolerated, or why they are not.
    tolerated: Result<Vec<String>, Reason>,
    remarks: Vec<String>,
}

/// A recording, or the reason why it cannot be read.
struct ParsedFile<'o> {
    path: &'o Path,
    cassette: Result<Cassette<'o>, Reason>,
}

/// The recording of the side runs.
struct ParsedSide<'o> {
    file: ParsedFile<'o>,
    /// The differences between it and the suite that are tolerated, or why it cannot be judged.
    tolerated: Result<Vec<String>, Reason>,
}

impl OpenedRow<'_> {
    /// Splits the bytes into runs, and compares their headers with the suite.
    pub fn parse(&self) -> ParsedRow<'_> {
        match self {
            Self::Runs(opened) => opened
                .parse()
                .map_or_else(ParsedRow::Nothing, ParsedRow::Runs),
            Self::Call(opened) => opened
                .parse()
                .map_or_else(ParsedRow::Nothing, ParsedRow::Call),
            Self::Nothing(reason) => ParsedRow::Nothing(reason.clone()),
        }
    }
}

impl ParsedRow<'_> {
    /// The recordings to judge the row by.
    pub fn recorded(&self) -> Recorded<'_> {
        match self {
            Self::Runs(parsed) => Recorded::Runs(parsed.recorded()),
            Self::Call(parsed) => Recorded::Call(parsed.recorded()),
            Self::Nothing(reason) => Recorded::Nothing(reason.clone()),
        }
    }
}

impl OpenedRuns<'_> {
    fn parse(&self) -> Result<ParsedRuns<'_>, Reason> {
        let files: Vec<ParsedFile<'_>> = self
            .files
            .iter()
            .map(|file| self.parse_file(file))
            .collect();
        // One broken file of several is one broken run; a broken file alone is the row's own error.
        if let [
            ParsedFile {
                cassette: Err(reason),
                ..
            },
        ] = &files[..]
        {
            return Err(reason.clone());
        }
        let readable: Vec<(&Path, &Cassette<'_>)> = files
            .iter()
            .filter_map(|file| Some((file.path, file.cassette.as_ref().ok()?)))
            .collect();
        if let Some(reason) = mixed(&readable) {
            return Err(reason);
        }
        let recorder = self.recorder();
        let expected = expected_header(recorder.of);
        let tolerated = tolerated_differences(recorder, &expected, &readable);
        let mut notes = remarks(recorder, &expected, &readable);
        notes.extend(not_entered(&self.linked));
        notes.extend(imported(&self.files));
        let group = self.row.row.transcripts.as_ref();
        notes.extend(group.map(Transcripts::remarks).unwrap_or_default());
        notes.extend(self.skipped.iter().map(|why| format!("skipped: {why}")));
        Ok(ParsedRuns {
            opened: self,
            side: self.parse_side(expected, first_run(&files)),
            tolerated,
            remarks: notes,
            files,
        })
    }

    fn parse_file<'o>(&self, file: &'o OpenedFile) -> ParsedFile<'o> {
        let cassette = match &file.recording {
            Ok(recording) => recording
                .cassette()
                .map_err(|error| self.unreadable(&error)),
            Err(reason) => Err(reason.clone()),
        };
        ParsedFile {
            path: &file.path,
            cassette,
        }
    }

    /// The wanted side runs depend on the first run.
    fn parse_side(&self, expected: Header, first: Option<Run<'_>>) -> Option<ParsedSide<'_>> {
        let wanted = SideRuns::wanted(self.row.of.agent, first.as_slice())?;
        if wanted.runs.is_empty() {
            return None;
        }
        let file = self.parse_file(self.side.as_ref()?);
        let tolerated = match &file.cassette {
            Ok(cassette) => {
                let mut expected = expected;
                wanted.name_in(&mut expected);
                tolerated_staleness(self.row, &expected, &[(file.path, cassette)])
            }
            Err(reason) => Err(reason.clone()),
        };
        Some(ParsedSide { file, tolerated })
    }

    fn unreadable(&self, error: &ReadError) -> Reason {
        let RowOfAgent { row, of } = self.recorder();
        advice::unreadable(error, row, is_read_only(of))
    }
}

impl ParsedRuns<'_> {
    fn recorded(&self) -> RecordedRuns<'_> {
        let cassettes: Vec<&Cassette<'_>> = self
            .files
            .iter()
            .filter_map(|file| file.cassette.as_ref().ok())
            .collect();
        let stopped = match (&cassettes[..], &self.files[..]) {
            ([cassette], [_]) => cassette.stopped,
            _ => None,
        };
        let (stale, mut notes) = match &self.tolerated {
            Ok(notes) => (None, notes.clone()),
            Err(reason) => (Some(reason.clone()), Vec::new()),
        };
        let is_stale = !notes.is_empty();
        notes.extend(self.remarks.iter().cloned());
        RecordedRuns {
            runs: self.runs_of(&self.files),
            headers: cassettes
                .iter()
                .filter_map(|cassette| cassette.header.as_ref())
                .collect(),
            stopped_after: stopped.map(|stopped| stopped.after),
            unpinned: self.is_unpinned(&cassettes),
            stale,
            is_stale,
            notes,
            side_runs: self.side.as_ref().map(|side| self.recorded_side(side)),
            is_live: self.opened.is_live,
            grades: self.opened.grades.clone(),
        }
    }

    /// Returns true if one of the recordings has no fingerprint.
    fn is_unpinned(&self, cassettes: &[&Cassette<'_>]) -> bool {
        let side = self
            .side
            .as_ref()
            .and_then(|side| side.file.cassette.as_ref().ok());
        let mut all = cassettes.iter().copied().chain(side);
        all.any(|cassette| !cassette.is_pinned())
    }

    fn recorded_side<'p>(
        &'p self,
        side: &'p ParsedSide<'_>,
    ) -> Result<RecordedSideRuns<'p>, Reason> {
        Ok(RecordedSideRuns {
            notes: side.tolerated.clone()?,
            runs: self.runs_of(slice::from_ref(&side.file)),
        })
    }

    /// The runs of these files in their order. Only the header of a file that is alone makes its numbers count.
    fn runs_of<'p>(&'p self, files: &'p [ParsedFile<'_>]) -> Vec<RecordedRun<'p>> {
        let mut runs: Vec<RecordedRun<'_>> = files
            .iter()
            .flat_map(|file| self.runs_of_file(file))
            .collect();
        let group = self.opened.row.row.transcripts.as_ref();
        let is_part = |path| group.is_some_and(|group| group.part_of(path).is_some());
        let has_own_numbers = match files {
            [file] if is_part(file.path) => false,
            [file] => file
                .cassette
                .as_ref()
                .is_ok_and(|cassette| cassette.header.is_some()),
            _ => false,
        };
        if !has_own_numbers {
            for (run, number) in runs.iter_mut().zip(1..) {
                run.number = number;
            }
        }
        runs
    }

    fn runs_of_file<'p>(&'p self, file: &'p ParsedFile<'_>) -> Vec<RecordedRun<'p>> {
        let is_kept = !self.opened.is_live;
        let source = is_kept.then_some(file.path);
        let cassette = match &file.cassette {
            Ok(cassette) => cassette,
            Err(reason) => {
                return vec![RecordedRun {
                    number: 0,
                    trace: Err(reason.clone()),
                    header: None,
                    line: None,
                    source,
                }];
            }
        };
        let recorded = |run: &'p CassetteRun<'_>| RecordedRun {
            number: run.number,
            trace: run.trace.as_ref().map_err(|problem| {
                self.opened
                    .unreadable(&ReadFault::Bad(problem.clone()).at(file.path))
            }),
            header: cassette.header.as_ref(),
            line: is_kept.then_some(run.line),
            source,
        };
        cassette.runs.iter().map(recorded).collect()
    }
}

/// The first run, if its trace can be read.
fn first_run<'p>(files: &'p [ParsedFile<'_>]) -> Option<Run<'p>> {
    for file in files {
        let cassette = file.cassette.as_ref().ok()?;
        if let Some(run) = cassette.runs.first() {
            let trace = run.trace.as_ref().ok()?;
            return Some(Run {
                header: cassette.header.as_ref(),
                ..Run::new(trace)
            });
        }
    }
    None
}

/// Why recordings and bare traces cannot be runs of one row: the header of one does not describe
/// the other.
fn mixed(readable: &[(&Path, &Cassette<'_>)]) -> Option<Reason> {
    let (recordings, traces): (Vec<_>, Vec<_>) = readable
        .iter()
        .partition(|(_, cassette)| cassette.header.is_some());
    let ((recording, _), (trace, _)) = (recordings.first()?, traces.first()?);
    let message = format!(
        "`{}` is a recording, but `{}` is a trace without a header: one row cannot contain both",
        recording.display(),
        trace.display()
    );
    let help = "name the recordings and the traces under `cassette:` of separate agents";
    Some(Reason::new(ReasonKind::RecordingUnreadable, message).help(help))
}
