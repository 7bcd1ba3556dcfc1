//! Why does a run not reach the disk?

use super::problem::Problem;
use super::stale::StaleInput;
use mcptest_core::escape::escape_path;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why a cassette cannot be written.
#[derive(Debug, Error)]
pub enum WriteError {
    /// Another process is recording to it.
    #[error(
        "{}: another mcptest is recording to this file; wait for it, or record to another file",
        escape_path(.0)
    )]
    Locked(PathBuf),
    /// The existing file cannot be recorded again.
    #[error(
        "{}: mcptest did not record this file, so it stays unchanged; name another file, or \
        remove this one",
        escape_path(.0)
    )]
    Foreign(PathBuf),
    /// The cassette was recorded with a different header.
    #[error(
        "{}: its runs were recorded with a different header ({}); record all of them again with \
        `--record`",
        escape_path(path),
        list(changes)
    )]
    Different {
        /// The cassette.
        path: PathBuf,
        /// The differences.
        changes: Vec<StaleInput>,
    },
    /// A file without a header, or with one changed by hand.
    #[error(
        "{}: {reason}, so no runs can be added; record all of them again with `--record`",
        escape_path(path)
    )]
    Unpinned {
        /// The cassette.
        path: PathBuf,
        /// The problem of its header.
        reason: &'static str,
    },
    /// A cassette that is damaged before its end.
    #[error(
        "{}: no runs can be added to a damaged cassette: {problem}",
        escape_path(path)
    )]
    Damaged {
        /// The cassette.
        path: PathBuf,
        /// The problem in it.
        problem: Problem,
    },
    /// A run that would not be read again.
    #[error("run {run} cannot be recorded: {problem}")]
    BadTrace {
        /// The run's number.
        run: usize,
        /// The problem of its trace.
        problem: Problem,
    },
    /// The run already exists, or has no number.
    #[error("{}: cannot write run {run}: {}", escape_path(path), if *run == 0 { "runs are numbered from 1" } else { "it \
    already exists" })]
    Repeated {
        /// The cassette.
        path: PathBuf,
        /// The run's number.
        run: usize,
    },
    /// The system refused.
    #[error(
        "{}: the cassette cannot be {verb}: {}",
        escape_path(path),
        mcptest_files::reason(source)
    )]
    Failed {
        /// The cassette.
        path: PathBuf,
        /// The intended operation.
        verb: &'static str,
        /// The system's message.
        source: io::Error,
    },
}

fn list(changes: &[StaleInput]) -> String {
    let changes: Vec<_> = changes.iter().map(ToString::to_string).collect();
    if changes.is_empty() {
        "another agent".to_owned()
    } else {
        changes.join("; ")
    }
}
