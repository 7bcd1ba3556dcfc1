//! A first suite, drafted from a server or a recording, that passes as it is written.

mod arguments;
mod calls;
mod complaint;
mod entry;
mod first_calls;
mod hints;
mod json_answer;
mod observed;
mod offer;
mod page;
mod path;
mod recording;
mod server;
mod tool_recording;
mod yaml;

pub use first_calls::Wish;
pub use offer::{Choose, OfferedCall};
pub use recording::from_recording;
pub use server::{Ask, from_server};
pub(crate) use yaml::{flow, text as yaml_text};

use mcptest_core::escape::escape_path;
use mcptest_core::problem::render;
use mcptest_core::report::{Status, TestReport};
use mcptest_core::row::Row;
use mcptest_core::suite::{Host, Loaded, Suite, load};
use mcptest_files as files;
use mcptest_mcp::client::WireError;
use mcptest_replay::cassette::{ReadError, WriteError, write_whole};
use mcptest_replay::{FreshRow, Plan};
use mcptest_replay::{JudgeOptions, Selection, judge};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A suite and its recordings, not yet written.
#[derive(Debug)]
pub struct Draft {
    /// The path of the suite.
    pub path: PathBuf,
    /// The suite.
    pub text: String,
    /// The results, a line each.
    pub said: Vec<String>,
    /// True if `mcptest run` can judge it.
    pub is_judged: bool,
    /// True if `mcptest run --record` can make its recordings again.
    pub records: bool,
    recordings: Vec<(PathBuf, String)>,
}

/// The reason why no suite was drafted.
#[derive(Debug, Error)]
pub enum DraftError {
    /// The server gave no answer.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// A requested tool does not exist, or takes other arguments.
    #[error("{0}")]
    Wish(String),
    /// The recording does not exist.
    #[error("no such file: {}\n  help: name a cassette, a trace, a recorded tool test or a recording of the proxy", escape_path(.0))]
    Missing(PathBuf),
    /// The recording cannot be read.
    #[error(transparent)]
    Recording(#[from] ReadError),
    /// The recording contains nothing that a suite could check.
    #[error("{}: {reason}\n  help: {help}", escape_path(.file))]
    Hopeless {
        /// The recording.
        file: PathBuf,
        /// The problem.
        reason: String,
        /// The advice.
        help: String,
    },
    /// A file is in the way.
    #[error("{} exists\n  help: name another file with `-o FILE`, or overwrite it with `--force`", escape_path(.0))]
    Exists(PathBuf),
    /// A file cannot be written.
    #[error("cannot write {}: {}", escape_path(.path), mcptest_replay::reason(.source))]
    Unwritten {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A recording cannot be written.
    #[error(transparent)]
    Recorder(#[from] WriteError),
    /// The drafted suite is refused by its own rules.
    #[error("the drafted suite is refused, which is a bug in mcptest:\n{0}")]
    Refused(String),
}

impl DraftError {
    fn hopeless(file: &Path, reason: impl Into<String>, help: &str) -> Self {
        Self::Hopeless {
            file: file.to_owned(),
            reason: reason.into(),
            help: help.to_owned(),
        }
    }
}

impl Draft {
    /// Writes the suite and its recordings; without `force`, replaces no existing file.
    pub fn write(&self, force: bool) -> Result<(), DraftError> {
        let files = std::iter::once(&self.path).chain(self.recordings.iter().map(|(path, _)| path));
        if let Some(there) = files.clone().find(|path| path.exists()).filter(|_| !force) {
            return Err(DraftError::Exists(there.clone()));
        }
        for (path, text) in &self.recordings {
            write_whole(path, text)?;
        }
        mcptest_replay::write(&self.path, &self.text).map_err(|source| DraftError::Unwritten {
            path: self.path.clone(),
            source,
        })
    }
}

/// Makes the folder that a file is to be in.
fn make_folder(path: &Path) -> Result<(), DraftError> {
    files::make_folder_of(path).map_err(|source| DraftError::Unwritten {
        path: path.to_owned(),
        source,
    })
}

/// Refuses early what [`Draft::write`] would refuse later.
pub fn check_free(path: &Path, force: bool) -> Result<(), DraftError> {
    if path.exists() && !force {
        Err(DraftError::Exists(path.to_owned()))
    } else {
        Ok(())
    }
}

/// Loads the drafted text as a suite, with these variables set in addition to the environment.
fn loaded(
    path: &Path,
    text: &str,
    variables: &BTreeMap<String, String>,
) -> Result<Loaded, DraftError> {
    let host = mcptest_replay::host();
    let read = |wanted: &Path| {
        if wanted == path {
            Ok(text.as_bytes().to_vec())
        } else {
            (host.read)(wanted)
        }
    };
    let environment = |name: &str| {
        variables
            .get(name)
            .cloned()
            .or_else(|| (host.environment)(name))
    };
    let loaded = load(
        path,
        &Host {
            read: &read,
            environment: &environment,
            ..host
        },
    );
    if loaded.is_refused() {
        return Err(DraftError::Refused(render(
            &loaded.problems,
            &loaded.sources,
            false,
        )));
    }
    Ok(loaded)
}

fn suite_of(
    path: &Path,
    text: &str,
    variables: &BTreeMap<String, String>,
) -> Result<Suite, DraftError> {
    loaded(path, text, variables)?
        .suite
        .ok_or_else(|| DraftError::Refused(text.to_owned()))
}

/// The rows of a drafted suite, judged: tool tests by these recordings, agents by existing files.
fn judged(
    path: &Path,
    text: &str,
    variables: &BTreeMap<String, String>,
    recordings: &BTreeMap<String, String>,
) -> Result<Vec<TestReport>, DraftError> {
    let loaded = [(path.display().to_string(), loaded(path, text, variables)?)];
    let plan = Plan::new(&loaded, &Selection::default());
    let judge = |row: &Row<'_>| {
        let recording = row
            .tool_row()
            .and_then(|of| recordings.get(&of.test.name))
            .cloned();
        let recorded = recording.map(|recording| FreshRow::InMemory {
            recording,
            side: None,
            notes: Vec::new(),
        });
        judge::judge(row, JudgeOptions::default(), recorded.as_ref(), None).0
    };
    Ok(plan.rows.iter().map(judge).collect())
}

/// Why a row does not pass, in one line; `None` if it passes, or is skipped on purpose.
fn why_not(report: &TestReport) -> Option<String> {
    if matches!(report.status, Status::Passed | Status::Skipped) {
        return None;
    }
    let reasons = report
        .reason
        .iter()
        .chain(report.runs.iter().filter_map(|run| run.reason.as_ref()));
    let failed = report
        .runs
        .iter()
        .flat_map(|run| &run.expectations)
        .chain(report.gates.iter().flat_map(|gate| &gate.expectations));
    let failed = failed.filter(|one| !one.passed).map(|one| {
        let why = one
            .reason
            .clone()
            .or_else(|| one.diff.first().map(|diff| format!("got {}", diff.actual)));
        format!(
            "{}: {}",
            one.target,
            why.unwrap_or_else(|| "does not hold".to_owned())
        )
    });
    let said = reasons
        .map(|reason| match reason.details.first() {
            Some(detail) => format!("{} ({detail})", reason.message),
            None => reason.message.clone(),
        })
        .chain(failed)
        .next();
    Some(said.unwrap_or_else(|| "it does not pass".to_owned()))
}
