//! Which bytes are recorded for a row? Everything that a replay reads is read here.

use crate::advice;
use crate::cassette::{self, ReadError, ReadFault, Recording, Resolved};
use crate::fresh::FreshRow;
use crate::grades;
use crate::header::expected_header;
use crate::paths::{resolved, side_path};
use crate::tool_test::OpenedCall;
use mcptest_core::escape::escape_path;
use mcptest_core::eval::{SideRuns, SideWords};
use mcptest_core::grade::Grades;
use mcptest_core::judge::is_read_only;
use mcptest_core::row::{AgentRow, Reason, ReasonKind, Row, RowOfAgent, Subject, Transcripts};
use mcptest_core::suite::{CassettePath, Graded};
use mcptest_core::trace::run_line;
use rayon::prelude::*;
use serde_json::json;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A row's recording as bytes: from the disk, or made just now and not written.
pub enum OpenedRow<'r> {
    /// The recordings of an agent's row.
    Runs(Box<OpenedRuns<'r>>),
    /// The recording of a tool test.
    Call(Box<OpenedCall<'r>>),
    /// No recording can be opened, for this reason.
    Nothing(Reason),
}

/// The recordings of an agent's row.
pub struct OpenedRuns<'r> {
    pub(crate) row: RowOfAgent<'r>,
    /// The row that recorded the runs, if this row only grades them.
    pub(crate) recorder: Option<Row<'r>>,
    pub(crate) files: Vec<OpenedFile>,
    /// Why other files of the folder are not judged: they are not traces.
    pub(crate) skipped: Vec<String>,
    /// The recording of the side runs, if a gate of the agent can need any.
    pub(crate) side: Option<OpenedFile>,
    /// Links to folders that were not entered.
    pub(crate) linked: Vec<PathBuf>,
    pub(crate) grades: Grades,
    /// True if the runs were made just now and are not stored.
    pub(crate) is_live: bool,
}

/// One recording, or the reason why it cannot be opened.
pub(crate) struct OpenedFile {
    pub(crate) path: PathBuf,
    pub(crate) recording: Result<Recording, Reason>,
}

impl<'r> OpenedRow<'r> {
    /// Opens the recordings of this row. A row that is not judged opens none.
    pub fn open(row: &'r Row<'r>, fresh: Option<&FreshRow>) -> Self {
        if row.skip.is_some() {
            return Self::Nothing(Reason::default());
        }
        if let Some(reason) = row.transcripts.as_ref().and_then(Transcripts::refused) {
            return Self::Nothing(reason.clone());
        }
        match (row.subject, fresh) {
            (Subject::Refused(_), _) => Self::Nothing(Reason::default()),
            (_, Some(FreshRow::Failed(reason))) => Self::Nothing(reason.clone()),
            (
                Subject::Agent(of),
                Some(FreshRow::InMemory {
                    recording, side, ..
                }),
            ) => Self::Runs(Box::new(OpenedRuns::from_memory(
                RowOfAgent { row, of },
                recording,
                side.as_deref(),
            ))),
            (Subject::Tool(of), Some(FreshRow::InMemory { recording, .. })) => {
                Self::Call(Box::new(OpenedCall::from_memory(row, of, recording)))
            }
            (Subject::Agent(of), _) => match OpenedRuns::open(RowOfAgent { row, of }) {
                Ok(opened) => Self::Runs(Box::new(opened)),
                Err(reason) => Self::Nothing(reason),
            },
            (Subject::Tool(of), _) => match OpenedCall::open(row, of) {
                Ok(opened) => Self::Call(Box::new(opened)),
                Err(reason) => Self::Nothing(reason),
            },
        }
    }
}

impl<'r> OpenedRuns<'r> {
    fn open(row: RowOfAgent<'r>) -> Result<Self, Reason> {
        let recorder = row.row.recorded_by();
        let (files, linked) = open_files(recorder.as_ref().and_then(Row::of_agent).unwrap_or(row))?;
        let (files, skipped) = without_other_files(files)?;
        Ok(Self {
            row,
            recorder,
            files,
            skipped,
            side: open_side(row),
            linked,
            grades: grades::read(row.row),
            is_live: false,
        })
    }

    /// The runs that were made just now and are on no disk.
    fn from_memory(row: RowOfAgent<'r>, recording: &str, side: Option<&str>) -> Self {
        Self {
            row,
            recorder: row.row.recorded_by(),
            files: vec![OpenedFile::from_text("the runs made just now", recording)],
            side: side.map(|text| OpenedFile::from_text("the side runs made just now", text)),
            skipped: Vec::new(),
            linked: Vec::new(),
            grades: Grades::default(),
            is_live: true,
        }
    }

    /// The row that recorded the runs.
    pub(crate) fn recorder(&self) -> RowOfAgent<'_> {
        let other = self.recorder.as_ref().and_then(Row::of_agent);
        other.unwrap_or(self.row)
    }
}

impl OpenedFile {
    fn from_text(path: impl Into<PathBuf>, text: &str) -> Self {
        let path = path.into();
        let recording = Ok(Recording::from_text(path.clone(), text));
        Self { path, recording }
    }
}

/// Opens every recording of a row, and returns the links to folders that were not entered.
fn open_files(agent: RowOfAgent<'_>) -> Result<(Vec<OpenedFile>, Vec<PathBuf>), Reason> {
    let RowOfAgent { row, of } = agent;
    if let (Some(CassettePath::Graded(Graded::Texts(texts))), None) =
        (&of.agent.cassette, &row.transcripts)
    {
        return Ok((vec![written_in_suite(of, texts)], Vec::new()));
    }
    let Resolved {
        files: paths,
        linked,
    } = match &row.transcripts {
        Some(group) => Resolved {
            files: group.files.clone(),
            ..Resolved::default()
        },
        None => resolved(of).map_err(|error| advice::unresolved(&error))?,
    };
    let files = match &paths[..] {
        [] | [_] => paths
            .into_iter()
            .map(|path| open_file(agent, path))
            .collect(),
        _ => paths
            .into_par_iter()
            .map(|path| open_file(agent, path))
            .collect(),
    };
    Ok((files, linked))
}

/// Why files among transcripts are not traces, one sentence for each that is not; then the number
/// of all files.
pub fn other_files(groups: &[Transcripts]) -> (Vec<String>, usize) {
    let files: BTreeSet<&PathBuf> = groups.iter().flat_map(|group| &group.files).collect();
    let number = files.len();
    let opened = files
        .into_par_iter()
        .map(|path| Recording::open_transcript(path));
    let others = opened.filter_map(|recording| not_a_trace(&recording.err()?));
    (others.map(|reason| reason.message).collect(), number)
}

/// The reason for a file that no importer knows, which may be beside traces in a folder.
fn not_a_trace(error: &ReadError) -> Option<Reason> {
    let ReadFault::NotATrace { found } = &error.fault else {
        return None;
    };
    let message = format!("{} is not a trace: it is {found}", escape_path(&error.path));
    Some(Reason::new(ReasonKind::NotATrace, message))
}

/// Separates the files that are not traces, which may be beside traces in a folder. A row without
/// a trace has nothing to judge.
fn without_other_files(files: Vec<OpenedFile>) -> Result<(Vec<OpenedFile>, Vec<String>), Reason> {
    let is_trace = |file: &OpenedFile| match &file.recording {
        Ok(_) => true,
        Err(reason) => reason.kind != ReasonKind::NotATrace,
    };
    let (traces, others): (Vec<_>, Vec<_>) = files.into_iter().partition(is_trace);
    let mut reasons: Vec<Reason> = others
        .into_iter()
        .filter_map(|file| file.recording.err())
        .collect();
    if !traces.is_empty() || reasons.is_empty() {
        let skipped = reasons.into_iter().map(|reason| reason.message).collect();
        return Ok((traces, skipped));
    }
    if reasons.len() == 1 {
        return Err(reasons.remove(0));
    }
    let mut reason = Reason::new(
        ReasonKind::NotATrace,
        format!("none of these {} files is a trace", reasons.len()),
    );
    reason.details = reasons.into_iter().map(|one| one.message).collect();
    Err(reason)
}

/// Reads the runs of a file that belong to a group of transcripts.
fn open_of_group(group: &Transcripts, path: &Path) -> Result<Recording, ReadError> {
    let part = group.part_of(path);
    match part {
        Some(part) if !group.is_strict => Ok(Recording::from_part(path, part)),
        _ => {
            let whole = Recording::open_transcript(path)?.checked(group.is_strict)?;
            Ok(part.map_or(whole, |part| Recording::from_part(path, part)))
        }
    }
}

fn open_file(agent: RowOfAgent<'_>, path: PathBuf) -> OpenedFile {
    let RowOfAgent { row, of } = agent;
    let opened = match &row.transcripts {
        Some(group) => open_of_group(group, &path),
        None => Recording::open(&path),
    };
    let recording = opened.map_err(|error| match (&error.fault, not_a_trace(&error)) {
        (_, Some(reason)) if row.transcripts.is_some() => reason,
        (ReadFault::Missing, _) => {
            let message = format!("no recording found at {}", path.display());
            advice::missing(Reason::new(ReasonKind::RecordingMissing, message), agent)
        }
        _ => advice::unreadable(&error, row, is_read_only(of)),
    });
    OpenedFile { path, recording }
}

/// Opens the recording of the side runs; `None` if the agent can have none.
fn open_side(RowOfAgent { row, of }: RowOfAgent<'_>) -> Option<OpenedFile> {
    let path = side_path(of)?;
    let words = SideRuns::wanted(of.agent, &[])?.words;
    let recording = Recording::open(&path).map_err(|error| match error.fault {
        ReadFault::Missing => missing_side(row, words, &path.display()),
        _ => advice::unreadable(&error, row, is_read_only(of)),
    });
    Some(OpenedFile { path, recording })
}

fn missing_side(row: &Row<'_>, words: SideWords, path: &dyn std::fmt::Display) -> Reason {
    let message = format!("{} has no recording: {path} does not exist", words.all);
    Reason::new(ReasonKind::RecordingMissing, message)
        .help("record the missing runs")
        .command(row.rerun.recording("--record=missing"))
}

/// Texts of the suite, as the closing messages of runs.
fn written_in_suite(of: AgentRow<'_>, texts: &[String]) -> OpenedFile {
    let header = cassette::sealed(&expected_header(of));
    let mut lines = vec![serde_json::to_string(&header).unwrap_or_default()];
    let trace = |text: &String| json!({ "tool_calls": [], "final_response": text }).to_string();
    lines.extend(
        (1..)
            .zip(texts)
            .map(|(number, text)| run_line(number, &trace(text))),
    );
    OpenedFile::from_text(&of.suite.path, &(lines.join("\n") + "\n"))
}
