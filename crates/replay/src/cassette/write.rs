//! How are runs written to disk so that a crash never loses a finished one?

use super::fingerprint::{fingerprint_of, is_tampered, sealed};
use super::lock::Lock;
use super::parse::{Cassette, Stopped, parse, parse_trace};
use super::problem::Problem;
use super::read::{is_of_ours, is_tape};
use super::stale::staleness;
use super::write_error::WriteError;
use mcptest_core::json::document::Source;
use mcptest_core::trace::{self, Header};
use mcptest_files as files;
use mcptest_import::is_foreign;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A cassette during recording: a run is on disk when `append` returns.
#[derive(Debug)]
pub struct Recorder {
    path: PathBuf,
    file: File,
    length: u64,
    contents: Contents,
    _lock: Lock,
}

/// The current contents of the file.
#[derive(Debug, Default)]
struct Contents {
    /// The numbers of its runs.
    runs: BTreeSet<usize>,
    /// The early stop at its end.
    stopped: Option<Stopped>,
    /// True if a line is out of order: a run before a lower one, or after a stop.
    is_unordered: bool,
}

/// The right to write one cassette, before the first run.
#[derive(Debug)]
pub struct Reserved {
    path: PathBuf,
    lock: Lock,
}

impl Reserved {
    /// Takes the right, unless another process is recording to this file.
    pub fn take(path: &Path) -> Result<Self, WriteError> {
        Ok(Self {
            path: path.to_owned(),
            lock: lock(path)?,
        })
    }

    /// Begins a new cassette with this header and its first run, in one step: an existing file
    /// stays until a run replaces it.
    pub fn create_with(
        self,
        header: &Header,
        run: usize,
        trace: &str,
    ) -> Result<Recorder, WriteError> {
        let text = header_line(&self.path, header)? + &run_line(run, trace)?;
        replace(&self.path, text.as_bytes())?;
        let contents = Contents {
            runs: BTreeSet::from([run]),
            ..Contents::default()
        };
        Recorder::open(&self.path, contents, self.lock)
    }

    /// Continues an existing cassette with its complete runs, or begins a new one.
    ///
    /// Drops an incomplete run at the end, and refuses a cassette with a different header.
    pub fn resume(self, header: &Header) -> Result<Recorder, WriteError> {
        let Self { path, lock } = self;
        let bytes = match files::read(&path, files::RECORDING) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                replace(&path, header_line(&path, header)?.as_bytes())?;
                return Recorder::open(&path, Contents::default(), lock);
            }
            bytes => bytes.map_err(|source| failed(&path, "read", source))?,
        };
        let kept = kept(&path, &bytes, header)?;
        let mut recorder = Recorder::open(&path, kept.contents, lock)?;
        recorder.trim(kept.length)?;
        if kept.needs_newline {
            recorder.write(b"\n")?;
        }
        Ok(recorder)
    }
}

impl Recorder {
    /// Writes one run as one line. Runs are written in any order, each once.
    pub fn append(&mut self, run: usize, trace: &str) -> Result<(), WriteError> {
        if run == 0 || self.contents.runs.contains(&run) {
            return Err(WriteError::Repeated {
                path: self.path.clone(),
                run,
            });
        }
        self.write(run_line(run, trace)?.as_bytes())?;
        let contents = &mut self.contents;
        contents.is_unordered |= contents.stopped.take().is_some();
        contents.is_unordered |= contents.runs.last().is_some_and(|last| *last > run);
        contents.runs.insert(run);
        Ok(())
    }

    /// Writes that recording stopped early, because no remaining run can change a verdict. Runs that are appended
    /// later make it void.
    pub fn stop(&mut self, stopped: Stopped) -> Result<(), WriteError> {
        if self.contents.stopped == Some(stopped) {
            return Ok(());
        }
        self.write(stopped.line().as_bytes())?;
        self.contents.is_unordered |= self.contents.stopped.replace(stopped).is_some();
        Ok(())
    }

    /// Sorts the lines by their runs in one step, if necessary. Reads all of them either way.
    pub fn finish(self) -> Result<(), WriteError> {
        if !self.contents.is_unordered {
            return Ok(());
        }
        let bytes = files::read(&self.path, files::RECORDING)
            .map_err(|source| failed(&self.path, "read", source))?;
        let ordered = in_order(&bytes).map_err(|problem| WriteError::Damaged {
            path: self.path.clone(),
            problem,
        })?;
        replace(&self.path, &ordered)
    }

    fn open(path: &Path, contents: Contents, lock: Lock) -> Result<Self, WriteError> {
        let opened = files::open_to_write(path).and_then(|(mut file, _)| {
            let length = file.seek(SeekFrom::End(0))?;
            Ok((file, length))
        });
        let (file, length) = opened.map_err(|source| failed(path, "opened", source))?;
        Ok(Self {
            path: path.to_owned(),
            file,
            length,
            contents,
            _lock: lock,
        })
    }

    /// Writes all of the bytes or, as far as the disk allows, none of them.
    fn write(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        let written = self
            .file
            .write_all(bytes)
            .and_then(|()| self.file.sync_data());
        if let Err(source) = written {
            let _ = self.trim(self.length);
            return Err(failed(&self.path, "written", source));
        }
        self.length += bytes.len() as u64;
        Ok(())
    }

    fn trim(&mut self, length: u64) -> Result<(), WriteError> {
        let trimmed = self
            .file
            .set_len(length)
            .and_then(|()| self.file.seek(SeekFrom::Start(length)));
        trimmed.map_err(|source| failed(&self.path, "shortened", source))?;
        self.length = length;
        Ok(())
    }
}

/// Writes this text to `path` in one step, unless another process is recording to it.
pub fn write_whole(path: &Path, text: &str) -> Result<(), WriteError> {
    let _lock = lock(path)?;
    replace(path, text.as_bytes())
}

fn failed(path: &Path, verb: &'static str, source: io::Error) -> WriteError {
    WriteError::Failed {
        path: path.to_owned(),
        verb,
        source,
    }
}

fn lock(path: &Path) -> Result<Lock, WriteError> {
    files::make_folder_of(path).map_err(|source| failed(path, "written there", source))?;
    let may_replace =
        files::may_replace(path, is_own).map_err(|source| failed(path, "written", source))?;
    if !may_replace {
        return Err(WriteError::Foreign(path.to_owned()));
    }
    match Lock::take(path) {
        Ok(Some(lock)) => Ok(lock),
        Ok(None) => Err(WriteError::Locked(path.to_owned())),
        Err(source) => Err(failed(path, "locked", source)),
    }
}

/// Returns true if `path` has a recording, of any suite.
pub fn is_recording(path: &Path) -> bool {
    let mut found = false;
    let look = |bytes: &[u8]| {
        found = is_tape(bytes) || is_own(bytes);
        found
    };
    files::may_replace(path, look).is_ok() && found
}

/// Returns true if these bytes, or a file that begins with them, are a recording that can be made
/// again, instead of a tape, a transcript or any other file.
fn is_own(bytes: &[u8]) -> bool {
    let names_itself = bytes.starts_with(b"{") && is_of_ours(bytes);
    let has_runs =
        || parse(bytes).is_ok_and(|cassette| cassette.runs.iter().any(|run| run.trace.is_ok()));
    !is_tape(bytes) && !is_foreign(bytes) && (names_itself || has_runs())
}

fn header_line(path: &Path, header: &Header) -> Result<String, WriteError> {
    let with_seals = Header {
        seals: true,
        ..header.clone()
    };
    let line = serde_json::to_string(&sealed(&with_seals));
    let line = line.map_err(|source| failed(path, "written", source.into()))?;
    Ok(line + "\n")
}

fn run_line(run: usize, trace: &str) -> Result<String, WriteError> {
    let trace = trace.trim_ascii();
    parse_trace(trace).map_err(|problem| WriteError::BadTrace { run, problem })?;
    // In JSON, a line break can only be white space between tokens.
    let line = if trace.contains(['\n', '\r']) {
        trace::sealed_run_line(run, &trace.replace(['\n', '\r'], " "))
    } else {
        trace::sealed_run_line(run, trace)
    };
    Ok(line + "\n")
}

/// The part of an existing cassette that stays when recording continues.
struct Kept {
    contents: Contents,
    length: u64,
    needs_newline: bool,
}

fn kept(path: &Path, bytes: &[u8], header: &Header) -> Result<Kept, WriteError> {
    let damaged = |problem| WriteError::Damaged {
        path: path.to_owned(),
        problem,
    };
    let cassette = parse(bytes).map_err(damaged)?;
    require_header(path, cassette.header.as_ref(), header)?;
    let is_open = !bytes.ends_with(b"\n");
    let Cassette {
        mut runs, stopped, ..
    } = cassette;
    runs.sort_by_key(|run| run.line);
    let is_cut_off = runs
        .pop_if(|last| is_open && stopped.is_none() && last.trace.is_err())
        .is_some();
    if let Some(problem) = runs.iter().find_map(|run| run.trace.as_ref().err()) {
        return Err(damaged(problem.clone()));
    }
    let length = if is_cut_off {
        end_of_last_whole_line(bytes)
    } else {
        bytes.len()
    };
    let lines = Source::new(&bytes[..length]).lines().count();
    let contents = Contents {
        is_unordered: !runs.is_sorted_by_key(|run| run.number)
            || lines > 1 + runs.len() + usize::from(stopped.is_some()),
        runs: runs.iter().map(|run| run.number).collect(),
        stopped,
    };
    Ok(Kept {
        contents,
        length: length as u64,
        needs_newline: is_open && !is_cut_off,
    })
}

/// Refuses to continue a cassette whose header is missing, changed, or different.
fn require_header(
    path: &Path,
    recorded: Option<&Header>,
    header: &Header,
) -> Result<(), WriteError> {
    let unpinned = |reason| {
        Err(WriteError::Unpinned {
            path: path.to_owned(),
            reason,
        })
    };
    match recorded {
        Some(recorded) if is_tampered(recorded) => unpinned("its header was changed"),
        Some(recorded) if recorded.fingerprint.is_some() => {
            refuse_other(path, recorded, &sealed(header))
        }
        _ => unpinned("it has no fingerprint"),
    }
}

fn end_of_last_whole_line(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |newline| newline + 1)
}

/// The lines of a cassette in the order of their runs, without a stop that runs were added after.
fn in_order(bytes: &[u8]) -> Result<Vec<u8>, Problem> {
    let cassette = parse(bytes)?;
    let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    let of_runs = cassette.runs.iter().map(|run| run.line - 1);
    let is_written = |line: &[u8]| !line.trim_ascii().is_empty();
    let header = lines.iter().position(|line| is_written(line));
    let stop = cassette
        .stopped
        .and_then(|_| lines.iter().rposition(|line| is_written(line)));
    let mut ordered = Vec::with_capacity(bytes.len());
    for line in header
        .into_iter()
        .chain(of_runs)
        .chain(stop)
        .filter_map(|at| lines.get(at))
    {
        ordered.extend_from_slice(line);
        ordered.push(b'\n');
    }
    Ok(ordered)
}

fn refuse_other(path: &Path, recorded: &Header, header: &Header) -> Result<(), WriteError> {
    if fingerprint_of(recorded) == fingerprint_of(header) {
        return Ok(());
    }
    let changes = staleness(recorded, header);
    // Some servers list the same tools in another order each time.
    if changes.is_empty() && recorded.agent == header.agent {
        return Ok(());
    }
    Err(WriteError::Different {
        path: path.to_owned(),
        changes,
    })
}

/// Writes these bytes to `path` in one step, and to the disk before any other write.
fn replace(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    files::replace(path, bytes).map_err(|source| failed(path, "written", source))
}
