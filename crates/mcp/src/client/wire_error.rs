//! A request failed: whose, which, why, and what else was seen?

use super::Misbehaviour;
use crate::jsonrpc::RpcError;
use std::fmt;
use std::ops::Deref;
use thiserror::Error;

/// A request that got no answer that can be used. Its text is all that a user needs to read.
#[derive(Debug, Clone, PartialEq, Error)]
pub struct WireError(Box<Failure>);

/// What is known about a request that failed.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// The server's name.
    pub server: String,
    /// What was asked, as `tools/call get_weather`.
    pub method: String,
    /// What went wrong.
    pub misbehaviour: Misbehaviour,
    /// What the server sent instead of an answer.
    pub instead: Vec<String>,
    /// The end of what it wrote to stderr; empty when nothing.
    pub stderr: String,
    /// How its process exited, in words, if it did.
    pub exit: Option<String>,
    /// What its stderr names of our environment, and it did not get.
    pub missed_variables: Vec<String>,
}

impl WireError {
    /// A server that did this when it was asked for `method`, and nothing else is known.
    pub fn new(server: &str, method: &str, misbehaviour: Misbehaviour) -> Self {
        Self(Box::new(Failure {
            server: server.to_owned(),
            method: method.to_owned(),
            misbehaviour,
            instead: Vec::new(),
            stderr: String::new(),
            exit: None,
            missed_variables: Vec::new(),
        }))
    }
}

impl From<Failure> for WireError {
    fn from(failure: Failure) -> Self {
        Self(Box::new(failure))
    }
}

impl Deref for WireError {
    type Target = Failure;

    fn deref(&self) -> &Failure {
        &self.0
    }
}

const SHOWN_STDERR_LINES: usize = 10;
const SHOWN_INSTEAD: usize = 3;

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "server {:?}: {}", self.server, self.why())
    }
}

/// What went wrong, without the name of the server.
struct Why<'f>(&'f Failure);

impl fmt::Display for Why<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Failure { misbehaviour, method, exit, stderr, missed_variables, .. } = self.0;
        f.write_str(&misbehaviour.sentence(method))?;
        let instead = self.0.seen_instead();
        for seen in instead.iter().take(SHOWN_INSTEAD) {
            write!(f, "; {seen}")?;
        }
        if instead.len() > SHOWN_INSTEAD {
            write!(f, "; and {} more like this", instead.len() - SHOWN_INSTEAD)?;
        }
        if let Some(exit) = exit
            && !matches!(misbehaviour, Misbehaviour::Exited { .. })
        {
            write!(f, "; it then exited with {exit}")?;
        }
        let lines: Vec<&str> = stderr.lines().collect();
        match lines[lines.len().saturating_sub(SHOWN_STDERR_LINES)..] {
            [] => {}
            [line] => write!(f, "; it wrote to stderr: {line}")?,
            ref lines => write!(f, "; it wrote to stderr:\n  | {}", lines.join("\n  | "))?,
        }
        match missed_variables.first() {
            Some(name) => write!(
                f,
                "\na server gets no variable of yours that it is not given: {name} is set here, so write \
                 `env: {{ {name}: \"${{{name}}}\" }}` into its entry, or `--env {name}=VALUE` on the command line"
            ),
            None => Ok(()),
        }
    }
}

impl Failure {
    /// What went wrong, without the name of the server.
    pub fn why(&self) -> impl fmt::Display {
        Why(self)
    }

    /// What came instead of an answer, each once, unless the misbehaviour already says it.
    fn seen_instead(&self) -> Vec<&str> {
        use Misbehaviour::{Malformed, NotUtf8, TooLong, WrongId};
        if matches!(self.misbehaviour, Malformed { .. } | WrongId { .. } | NotUtf8 { .. } | TooLong { .. }) {
            return Vec::new();
        }
        let mut seen: Vec<&str> = Vec::new();
        for text in &self.instead {
            if !seen.contains(&text.as_str()) {
                seen.push(text);
            }
        }
        seen
    }
}

/// Why a request has no result.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum CallFailure {
    /// The server answered with an error.
    #[error("{0}")]
    Rpc(RpcError),
    /// There was no answer that can be used.
    #[error(transparent)]
    Wire(#[from] WireError),
}
