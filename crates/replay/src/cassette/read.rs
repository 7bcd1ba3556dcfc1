//! What is in the cassette at this path?

use super::parse::{Cassette, parse};
use super::problem::Problem;
use crate::session::{FileLine, SessionText};
use mcptest_core::escape::escape_path;
use mcptest_core::grade::Grades;
use mcptest_core::json::document::Place;
use mcptest_core::row::{PartOfFile, Reason, ReasonKind};
use mcptest_files as files;
use mcptest_import::{Fidelity, ImportError, ImportFault, import, is_foreign, looks_like_trace};
use mcptest_mcp::tape::{self, FORMAT, Tape, TapeError, TraceOptions};
use memchr::memmem;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The beginning of the name of each of our formats.
const FORMAT_START: &[u8] = b"\"mcptest-";

/// A cassette's bytes, from which its traces borrow.
#[derive(Debug, Clone)]
pub struct Recording {
    path: PathBuf,
    bytes: Vec<u8>,
    fidelity: Option<Fidelity>,
    /// The lines of the runs in the file, if the bytes are a part of it.
    lines: Option<Vec<usize>>,
}

impl Recording {
    /// Reads the file at `path` into memory.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let (bytes, fidelity) = contents(path).map_err(|fault| fault.at(path))?;
        Ok(Self {
            path: path.to_owned(),
            bytes,
            fidelity,
            lines: None,
        })
    }

    /// The runs of a file that belong to one group of transcripts.
    pub(crate) fn from_part(path: &Path, part: &PartOfFile) -> Self {
        Self {
            lines: Some(part.lines.clone()),
            ..Self::from_text(path.to_owned(), &part.text)
        }
    }

    /// A cassette without a file.
    pub(crate) fn from_text(path: PathBuf, text: &str) -> Self {
        Self {
            path,
            bytes: text.as_bytes().to_vec(),
            fidelity: None,
            lines: None,
        }
    }

    /// Reads a file among transcripts: an error about another kind of file mentions transcripts.
    pub fn open_transcript(path: &Path) -> Result<Self, ReadError> {
        let recording = Self::open(path)?;
        if recording.fidelity.is_some()
            || is_of_ours(&recording.bytes)
            || parse(&recording.bytes).is_ok()
        {
            return Ok(recording);
        }
        match import(&recording.bytes, None) {
            Ok(_) => Ok(recording),
            Err(ImportError {
                fault: ImportFault::Unknown { found },
                ..
            }) if !looks_like_trace(&recording.bytes) => {
                Err(ReadFault::NotATrace { found }.at(path))
            }
            Err(error) => Err(ReadFault::Transcript(error).at(path)),
        }
    }

    /// Refuses a strict reading of a transcript of which something was dropped.
    pub(crate) fn checked(self, is_strict: bool) -> Result<Self, ReadError> {
        let fidelity = self.fidelity.as_ref().filter(|_| is_strict);
        match fidelity.and_then(Fidelity::dropped) {
            Some(dropped) => Err(ReadFault::Dropped(dropped).at(&self.path)),
            None => Ok(self),
        }
    }

    /// The file's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The fidelity of the import, if the file is another program's transcript.
    pub fn fidelity(&self) -> Option<&Fidelity> {
        self.fidelity.as_ref()
    }

    /// The contents of the file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The cassette in these bytes.
    pub fn cassette(&self) -> Result<Cassette<'_>, ReadError> {
        let mut cassette =
            parse(&self.bytes).map_err(|problem| ReadFault::Bad(problem).at(&self.path))?;
        for (run, line) in cassette.runs.iter_mut().zip(self.lines.iter().flatten()) {
            run.line = *line;
        }
        Ok(cassette)
    }
}

/// Returns true if the file begins like a format of mcptest.
pub(super) fn is_of_ours(bytes: &[u8]) -> bool {
    memmem::find(
        &bytes[..bytes.len().min(200 + FORMAT_START.len())],
        FORMAT_START,
    )
    .is_some()
}

/// Returns true if the file is a recording of the proxy, by its first bytes.
pub fn is_tape(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(4096)];
    memmem::find(start, FORMAT.as_bytes()).is_some()
        && start
            .split(|byte| *byte == b'\n')
            .next()
            .is_some_and(|line| {
                std::str::from_utf8(line)
                    .is_ok_and(|line| line.contains("\"format\"") && tape::is_tape(line))
            })
}

/// The text of a cassette at this path. Tapes and transcripts are converted. Errors about an
/// unknown format mention cassettes, which the user may have meant.
fn contents(path: &Path) -> Result<(Vec<u8>, Option<Fidelity>), ReadFault> {
    let bytes = files::read(path, files::RECORDING).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => ReadFault::Missing,
        io::ErrorKind::IsADirectory => ReadFault::Directory(path.to_owned()),
        _ => ReadFault::Unreadable(error),
    })?;
    if is_tape(&bytes) {
        let tape = Tape::read(&String::from_utf8_lossy(&bytes))?;
        return Ok((
            tape::to_cassette(&tape, &TraceOptions::default()).into_bytes(),
            None,
        ));
    }
    if Grades::is_own(&bytes) {
        return Err(ReadFault::Grades);
    }
    if !is_foreign(&bytes) {
        return Ok((bytes, None));
    }
    let session = SessionText::read(path, bytes).map_err(ReadFault::Unreadable)?;
    match import(session.bytes(), None) {
        Ok(imported) => {
            let agent = path.file_stem().unwrap_or_default().to_string_lossy();
            drop(session);
            let fidelity = imported.fidelity().clone();
            let cassette = imported.into_cassette(&agent, &crate::clean);
            Ok((cassette.into_bytes(), Some(fidelity)))
        }
        Err(error) if error.fault.is_of_a_known_format() => Err(session.fault(error)),
        Err(_) => Ok((session.into_bytes(), None)),
    }
}

/// Why the cassette at a path cannot be read.
#[derive(Debug, Error)]
#[error("{}{}: {fault}", escape_path(path), fault.place())]
pub struct ReadError {
    /// The requested path.
    pub path: PathBuf,
    /// The problem.
    pub fault: ReadFault,
}

/// A problem with a file that should be a cassette.
#[derive(Debug, Error)]
pub enum ReadFault {
    /// No file exists there.
    #[error("this cassette does not exist; record it with `--record`")]
    Missing,
    /// A directory.
    #[error("this is a folder, not a cassette; name a file in it, or all of them with `{}`", escape_path(&.0.join("*.jsonl")))]
    Directory(PathBuf),
    /// The file contains grades of a cassette's runs.
    #[error(
        "this file contains judges' grades of recorded runs; the runs are in the cassette of \
         the same name beside it"
    )]
    Grades,
    /// The system refused.
    #[error("cannot read the cassette: {}", files::reason(.0))]
    Unreadable(io::Error),
    /// A recording of the proxy with something wrong in it.
    #[error(transparent)]
    Tape(#[from] TapeError),
    /// A transcript of another program with something wrong in it.
    #[error("{}", .0.fault)]
    Transcript(ImportError),
    /// Not a trace, and not a broken one either: another JSON file.
    #[error("this is not a trace: it is {found}")]
    NotATrace {
        /// The contents in words.
        found: String,
    },
    /// A sub-agent of a transcript with something wrong in its own file.
    #[error(transparent)]
    Part(Box<BrokenPart>),
    /// A transcript of which the import drops something, read strictly.
    #[error("`--strict` refuses a transcript of which something is dropped: {0}")]
    Dropped(String),
    /// Read, but not a cassette.
    #[error("{}", .0.fault)]
    Bad(Problem),
}

/// A problem in the file of a sub-agent.
#[derive(Debug, Error)]
#[error("in {}{}: {}", escape_path(part), place_in_words(error.place), error.fault)]
pub struct BrokenPart {
    /// The file of the sub-agent.
    part: PathBuf,
    /// The problem, with its place in that file.
    error: ImportError,
}

impl ReadFault {
    /// The error for the file at this path.
    pub(crate) fn at(self, path: &Path) -> ReadError {
        ReadError {
            path: path.to_owned(),
            fault: self,
        }
    }

    fn place(&self) -> String {
        let place = match self {
            Self::Transcript(error) => error.place,
            Self::Bad(problem) => problem.place,
            _ => None,
        };
        place_in_words(place)
    }
}

fn place_in_words(place: Option<Place>) -> String {
    place.map_or_else(String::new, |Place { line, column }| {
        format!(":{line}:{column}")
    })
}

impl SessionText {
    /// The fault in the file where the problem is.
    fn fault(&self, error: ImportError) -> ReadFault {
        let Some(place) = error.place else {
            return ReadFault::Transcript(error);
        };
        let FileLine { part, line } = self.place(place.line);
        let place = Some(Place { line, ..place });
        let error = ImportError { place, ..error };
        match part {
            Some(part) => ReadFault::Part(Box::new(BrokenPart { part, error })),
            None => ReadFault::Transcript(error),
        }
    }
}

impl ReadError {
    /// Returns true if its message advises recording again.
    pub(crate) fn asks_to_record(&self) -> bool {
        match &self.fault {
            ReadFault::Missing => true,
            ReadFault::Bad(problem) => problem.fault.asks_to_record(),
            _ => false,
        }
    }

    /// The problem as a row's reason.
    pub(crate) fn reason(&self) -> Reason {
        let kind = match &self.fault {
            ReadFault::Missing => ReasonKind::RecordingMissing,
            ReadFault::Bad(problem) if problem.fault.is_newer() => ReasonKind::RecordingNewer,
            ReadFault::Bad(problem) if problem.fault.is_edit() => ReasonKind::RecordingEdited,
            _ => ReasonKind::RecordingUnreadable,
        };
        Reason::new(kind, self.to_string())
    }
}
