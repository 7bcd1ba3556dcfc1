//! What is in the cassette at this path?

use super::parse::{Cassette, parse};
use super::problem::Problem;
use crate::import::{Fidelity, ImportError, import, is_foreign};
use mcptest_core::escape::escape_path;
use mcptest_core::grade::Grades;
use mcptest_core::json::document::Place;
use mcptest_core::row::{Reason, ReasonKind};
use mcptest_files as files;
use mcptest_mcp::tape::{self, FORMAT, Tape, TapeError, TraceOptions};
use memchr::memmem;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// How every format of ours begins to name itself.
const FORMAT_START: &[u8] = b"\"mcptest-";

/// A cassette's bytes, which its traces borrow from.
#[derive(Debug, Clone)]
pub struct Recording {
    path: PathBuf,
    bytes: Vec<u8>,
    fidelity: Option<Fidelity>,
}

impl Recording {
    /// Reads the file at `path` into memory.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let path = path.to_path_buf();
        match files::read(&path, files::RECORDING) {
            Ok(bytes) if is_tape(&bytes) => of_tape(path, &bytes),
            Ok(bytes) if Grades::is_own(&bytes) => Err(ReadError::Grades { path }),
            Ok(bytes) if is_foreign(&bytes) => of_transcript(path, bytes),
            Ok(bytes) => Ok(Self { path, bytes, fidelity: None }),
            Err(source) if source.kind() == io::ErrorKind::NotFound => Err(ReadError::Missing { path }),
            Err(source) if source.kind() == io::ErrorKind::IsADirectory => Err(ReadError::Directory { path }),
            Err(source) => Err(ReadError::Unreadable { path, source }),
        }
    }

    /// A cassette that is no file.
    pub(crate) fn of_text(path: PathBuf, text: &str) -> Self {
        Self { path, bytes: text.as_bytes().to_vec(), fidelity: None }
    }

    /// Reads a file that stands among transcripts: an error about one that is no cassette speaks of a transcript.
    pub fn open_transcript(path: &Path) -> Result<Self, ReadError> {
        let recording = Self::open(path)?;
        if recording.fidelity.is_some() || is_of_ours(&recording.bytes) || parse(&recording.bytes).is_ok() {
            return Ok(recording);
        }
        match import(&recording.bytes, None) {
            Ok(_) => Ok(recording),
            Err(source) => Err(ReadError::Transcript { path: path.to_owned(), source }),
        }
    }

    /// The file's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What came over, when the file is a transcript of another program.
    pub fn fidelity(&self) -> Option<&Fidelity> {
        self.fidelity.as_ref()
    }

    /// What is in the file.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The cassette in these bytes.
    pub fn cassette(&self) -> Result<Cassette<'_>, ReadError> {
        parse(&self.bytes).map_err(|problem| ReadError::Bad { path: self.path.clone(), problem })
    }
}

/// Whether a file of ours stands here, by how it begins.
pub(super) fn is_of_ours(bytes: &[u8]) -> bool {
    memmem::find(&bytes[..bytes.len().min(200 + FORMAT_START.len())], FORMAT_START).is_some()
}

/// Whether a recording of the proxy stands here; only its first bytes are looked at.
pub(crate) fn is_tape(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(4096)];
    memmem::find(start, FORMAT.as_bytes()).is_some()
        && start.split(|byte| *byte == b'\n').next().is_some_and(|line| {
            std::str::from_utf8(line).is_ok_and(|line| line.contains("\"format\"") && tape::is_tape(line))
        })
}

/// A tape of the proxy is judged as the cassette that it makes.
fn of_tape(path: PathBuf, bytes: &[u8]) -> Result<Recording, ReadError> {
    let text = String::from_utf8_lossy(bytes);
    match Tape::read(&text) {
        Ok(tape) => {
            let bytes = tape::to_cassette(&tape, &TraceOptions::default()).into_bytes();
            Ok(Recording { path, bytes, fidelity: None })
        }
        Err(source) => Err(ReadError::Tape { path, source }),
    }
}

/// A transcript of another program is judged as the cassette that it makes. An error about what no
/// importer knows speaks of a cassette, which the user may have meant.
fn of_transcript(path: PathBuf, bytes: Vec<u8>) -> Result<Recording, ReadError> {
    let agent = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    match import(&bytes, None) {
        Ok(imported) => {
            let bytes = imported.cassette(&agent).into_bytes();
            Ok(Recording { path, bytes, fidelity: Some(imported.fidelity().clone()) })
        }
        Err(error) if error.fault.is_of_a_known_format() => {
            Err(ReadError::Transcript { path, source: error })
        }
        Err(_) => Ok(Recording { path, bytes, fidelity: None }),
    }
}

/// Why a cassette cannot be read.
#[derive(Debug, Error)]
pub enum ReadError {
    /// Nothing there.
    #[error("{}: there is no such cassette; record it with --record", escape_path(path))]
    Missing {
        /// The path as asked for.
        path: PathBuf,
    },
    /// A directory.
    #[error(
        "{0}: this is a directory, not a cassette; name a file in it, or all of them with `{0}/*.jsonl`",
        escape_path(path)
    )]
    Directory {
        /// The path as asked for.
        path: PathBuf,
    },
    /// What judges said of a cassette's runs.
    #[error(
        "{}: this file keeps what judges said of recorded runs; the runs are in the cassette of \
         the same name beside it",
        escape_path(path)
    )]
    Grades {
        /// The path as asked for.
        path: PathBuf,
    },
    /// The system refused.
    #[error("{}: the cassette cannot be read: {}", escape_path(path), files::reason(source))]
    Unreadable {
        /// The path as asked for.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A recording of the proxy with something wrong in it.
    #[error("{}: {source}", escape_path(path))]
    Tape {
        /// The path as asked for.
        path: PathBuf,
        /// What is wrong in it.
        source: TapeError,
    },
    /// A transcript of another program with something wrong in it.
    #[error("{}{}: {}", escape_path(path), place(source.place), source.fault)]
    Transcript {
        /// The path as asked for.
        path: PathBuf,
        /// What is wrong in it.
        source: ImportError,
    },
    /// Read, but not a cassette.
    #[error("{}{}: {}", escape_path(path), place(problem.place), problem.fault)]
    Bad {
        /// The path as asked for.
        path: PathBuf,
        /// What is wrong in the text.
        problem: Problem,
    },
}

impl ReadError {
    /// Whether its words say to record the file again.
    pub(crate) fn asks_to_record(&self) -> bool {
        match self {
            Self::Missing { .. } => true,
            Self::Bad { problem, .. } => problem.fault.asks_to_record(),
            _ => false,
        }
    }

    /// The same as the reason of a row.
    pub(crate) fn reason(&self) -> Reason {
        let kind = match self {
            Self::Missing { .. } => ReasonKind::RecordingMissing,
            Self::Bad { problem, .. } if problem.fault.is_newer() => ReasonKind::RecordingNewer,
            _ => ReasonKind::RecordingUnreadable,
        };
        Reason::new(kind, self.to_string())
    }
}

fn place(place: Option<Place>) -> String {
    place.map_or_else(String::new, |Place { line, column }| format!(":{line}:{column}"))
}
