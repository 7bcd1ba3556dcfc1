//! The runs of one cassette during recording: written as they end, or kept in memory.

use mcptest_core::trace::{Header, run_line};
use mcptest_redact::Redactor;
use mcptest_replay::cassette::{Recorder, Recording, Reserved, Stopped, WriteError};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use thiserror::Error;

/// The destination of runs.
#[derive(Debug, Default)]
pub(super) struct OpenCassette {
    /// The cassette; `None` if nothing is written.
    path: Option<PathBuf>,
    /// True if existing runs are kept.
    goes_on: bool,
    /// The header of the runs, once it exists.
    pub(super) header: Option<Header>,
    reserved: Option<Reserved>,
    /// Why another process owns the file, once found: its owner may finish before the next run.
    refused: Option<KeepError>,
    recorder: Option<Recorder>,
    /// The written traces of this recording by number. If no gate needs them, only the first.
    traces: BTreeMap<usize, String>,
    keeps_all: bool,
    /// The number of kept runs.
    pub(super) count: usize,
}

/// The result of reserving a cassette for writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reservation {
    /// Another mcptest may have written it until now.
    New,
    /// It is reserved, or nothing is written.
    Known,
}

/// Why a run is not kept.
#[derive(Debug, Clone, Error)]
pub(super) enum KeepError {
    /// The cassette is not ours to write, or cannot be written.
    #[error("{0}")]
    Write(Arc<WriteError>),
    #[error("{0}")]
    BadHeader(String),
    #[error("the tools changed between runs: {}", changes.join("; "))]
    OtherTools { changes: Vec<String> },
    /// The secrets to hide are unknown.
    #[error("{0}")]
    NoRedactor(String),
}

impl From<WriteError> for KeepError {
    fn from(error: WriteError) -> Self {
        Self::Write(Arc::new(error))
    }
}

impl OpenCassette {
    /// `goes_on` keeps the existing runs; `keeps_all` also keeps the traces in memory.
    pub(super) fn new(path: Option<PathBuf>, goes_on: bool, keeps_all: bool) -> Self {
        Self {
            path,
            goes_on,
            keeps_all,
            ..Self::default()
        }
    }

    /// Reserves the file against other recordings, before anything is spent on it.
    pub(super) fn reserve(&mut self) -> Result<Reservation, KeepError> {
        if let Some(why) = &self.refused {
            return Err(why.clone());
        }
        let (Some(path), None, None) = (&self.path, &self.reserved, &self.recorder) else {
            return Ok(Reservation::Known);
        };
        match Reserved::take(path) {
            Ok(reserved) => {
                self.reserved = Some(reserved);
                Ok(Reservation::New)
            }
            Err(error) => Err(self.refused.insert(error.into()).clone()),
        }
    }

    /// Releases the file for others if nothing was written.
    pub(super) fn release(&mut self) {
        self.reserved = None;
    }

    /// Keeps a run: it is on disk when this returns. The first run begins the cassette.
    pub(super) fn keep(
        &mut self,
        run: usize,
        trace: &str,
        header: Header,
        redactor: &Redactor,
    ) -> Result<(), KeepError> {
        let header = without_secrets(header, redactor)?;
        if let Some(first) = &self.header {
            refuse_other_tools(first, &header)?;
        }
        let trace = redactor.json(trace).into_owned();
        self.reserve()?;
        self.write(run, &trace, header)?;
        if self.keeps_all || run == 1 {
            self.traces.insert(run, trace);
        }
        self.count += 1;
        Ok(())
    }

    /// The first run replaces an older recording in one step, so that no recording is lost without
    /// a replacement.
    fn write(&mut self, run: usize, trace: &str, header: Header) -> Result<(), WriteError> {
        if let Some(recorder) = &mut self.recorder {
            return recorder.append(run, trace);
        }
        if let Some(reserved) = self.reserved.take() {
            self.recorder = Some(if self.goes_on {
                let mut recorder = reserved.resume(&header)?;
                recorder.append(run, trace)?;
                recorder
            } else {
                reserved.create_with(&header, run, trace)?
            });
        }
        self.header = Some(header);
        Ok(())
    }

    /// The header of the runs, including existing runs that are kept.
    pub(super) fn kept_header(&self) -> Option<Header> {
        let of_file = |path: &PathBuf| Recording::open(path).ok()?.cassette().ok()?.header;
        let path = self.path.as_ref().filter(|_| self.goes_on);
        self.header.clone().or_else(|| path.and_then(of_file))
    }

    /// The traces of all runs by number: runs of this recording, and existing runs that are kept.
    pub(super) fn all_traces(&self) -> BTreeMap<usize, String> {
        let mut traces = self.traces.clone();
        let path = self.path.as_ref().filter(|_| self.goes_on);
        let Some(recording) = path.and_then(|path| Recording::open(path).ok()) else {
            return traces;
        };
        for run in recording
            .cassette()
            .map(|cassette| cassette.runs)
            .unwrap_or_default()
        {
            if let Ok(trace) = &run.trace {
                traces
                    .entry(run.number)
                    .or_insert_with(|| trace.text.to_owned());
            }
        }
        traces
    }

    /// Completes the cassette, as far as possible.
    pub(super) fn finish(&mut self, stopped: Option<Stopped>) -> Result<(), WriteError> {
        let Some(mut recorder) = self.recorder.take() else {
            return Ok(());
        };
        if let Some(stopped) = stopped {
            recorder.stop(stopped)?;
        }
        recorder.finish()
    }

    /// The cassette's text.
    pub(super) fn text(&self, stopped: Option<Stopped>) -> Option<String> {
        let header = mcptest_replay::cassette::sealed(self.header.as_ref()?);
        let mut text = serde_json::to_string(&header).ok()? + "\n";
        for (run, trace) in &self.traces {
            text.push_str(&(run_line(*run, &trace.replace(['\n', '\r'], " ")) + "\n"));
        }
        Some(text + &stopped.map(Stopped::line).unwrap_or_default())
    }
}

/// Removes secrets from servers' descriptions of themselves and their tools.
fn without_secrets(header: Header, redactor: &Redactor) -> Result<Header, KeepError> {
    let said = (&header.catalogue, &header.instructions);
    let unreadable = |error: serde_json::Error| KeepError::BadHeader(error.to_string());
    let text = serde_json::to_string(&said).map_err(unreadable)?;
    let (catalogue, instructions) =
        serde_json::from_str(&redactor.json(&text)).map_err(unreadable)?;
    Ok(Header {
        catalogue,
        instructions,
        ..header
    })
}

/// Refuses runs with other tools than the first. Some servers list their tools in varying order.
fn refuse_other_tools(first: &Header, now: &Header) -> Result<(), KeepError> {
    let changes = mcptest_replay::cassette::staleness(first, now);
    if changes.is_empty() {
        return Ok(());
    }
    Err(KeepError::OtherTools {
        changes: changes.iter().map(ToString::to_string).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_was_refused_once_does_not_take_the_place_of_what_the_other_recorded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let open = || OpenCassette::new(Some(path.clone()), false, false);
        let (mut one, mut other) = (open(), open());
        assert_eq!(one.reserve().unwrap(), Reservation::New);
        assert_eq!(one.reserve().unwrap(), Reservation::Known);
        let refused = other.reserve().unwrap_err().to_string();
        drop(one);
        assert_eq!(
            other.reserve().unwrap_err().to_string(),
            refused,
            "a run that asks later is told the same"
        );
        assert_eq!(open().reserve().unwrap(), Reservation::New);
    }

    #[test]
    fn a_run_that_cannot_be_written_leaves_the_older_recording() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let older = r#"{"tool_calls":[{"name":"older"}]}"#;
        std::fs::write(&path, older).unwrap();
        let redactor = Redactor::builder().build().unwrap();
        let mut cassette = OpenCassette::new(Some(path.clone()), false, false);
        let deep = format!(
            r#"{{"tool_calls":[],"x":{}{}}}"#,
            "[".repeat(200),
            "]".repeat(200)
        );
        assert!(
            cassette
                .keep(1, &deep, Header::default(), &redactor)
                .is_err()
        );
        assert_eq!(std::fs::read_to_string(&path).unwrap(), older);
        cassette
            .keep(2, r#"{"tool_calls":[]}"#, Header::default(), &redactor)
            .unwrap();
        assert!(
            std::fs::read_to_string(&path)
                .unwrap()
                .ends_with(",\"trace\":{\"tool_calls\":[]}}\n")
        );
    }
}
