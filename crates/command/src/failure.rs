//! Why does a command end before its work is done, and with which exit code?

use crate::exit_code::EXIT_BROKEN;
use crate::output;
use mcptest_core::escape::escape_path;
use mcptest_core::problem::{self, Problem, Sources};
use mcptest_replay::Interrupted;
use std::fmt::Display;
use std::path::Path;

/// Why a command ends before its work is done.
#[derive(Debug)]
pub struct Failure {
    /// The message for the user.
    pub why: String,
    /// The exit code, if it differs from that of an error.
    exit_code: Option<u8>,
}

impl Failure {
    /// An error.
    pub fn new(why: impl Into<String>) -> Self {
        Self {
            why: why.into(),
            exit_code: None,
        }
    }

    /// An error with advice.
    pub fn with_help(why: impl Display, help: impl Display) -> Self {
        Self::new(format!("{why}\n  help: {help}"))
    }

    /// A problem with a file.
    pub fn at(path: &Path, why: impl Display) -> Self {
        Self::new(format!("{}: {why}", escape_path(path)))
    }

    /// An operation that the system refused.
    pub fn cannot(what: impl Display, error: &std::io::Error) -> Self {
        Self::new(format!("cannot {what}: {}", mcptest_replay::reason(error)))
    }

    /// An early end that is not an error of the command.
    pub fn ended(exit_code: u8, why: impl Into<String>) -> Self {
        Self {
            why: why.into(),
            exit_code: Some(exit_code),
        }
    }

    /// The user, or the system, had enough.
    pub fn interrupted(interrupted: Interrupted) -> Self {
        Self::ended(interrupted.exit_code, interrupted.to_string())
    }

    /// Problems of files.
    pub fn of_problems(problems: &[Problem], sources: &Sources) -> Self {
        let text = problem::render(problems, sources, output::is_coloured(&std::io::stderr()));
        Self::ended(EXIT_BROKEN, text.strip_suffix('\n').unwrap_or(&text))
    }

    /// Returns true if the command itself failed.
    pub fn is_error(&self) -> bool {
        self.exit_code.is_none()
    }

    /// The exit code.
    pub fn exit_code(&self) -> u8 {
        self.exit_code.unwrap_or(EXIT_BROKEN)
    }
}

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::new(error.to_string())
    }
}
