//! A request failed: whose, which, why, and what else was seen?

use super::Misbehaviour;
use crate::jsonrpc::RpcError;
use thiserror::Error;

/// A request that got no answer that can be used. Its text is all that a user needs to read.
pub type WireError = Box<Failure>;

/// The facts about a failed request.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("server {server:?}: {}", self.why())]
pub struct Failure {
    /// The server's name.
    pub server: String,
    /// The request, as `tools/call get_weather`.
    pub method: String,
    /// The failure.
    pub misbehaviour: Misbehaviour,
    /// The messages that the server sent instead of an answer.
    pub instead: Vec<String>,
    /// The cause of a crash, and the end of its standard error; empty without any.
    pub stderr: String,
    /// The exit status of its process in words, if it exited.
    pub exit: Option<String>,
    /// The variables of mcptest's environment that its standard error mentions but that it did not
    /// get.
    pub missed_variables: Vec<String>,
}

const SHOWN_INSTEAD: usize = 3;

impl Failure {
    /// An error with a server's failure on `method`, without further facts.
    pub fn new(server: &str, method: &str, misbehaviour: Misbehaviour) -> Self {
        Self {
            server: server.to_owned(),
            method: method.to_owned(),
            misbehaviour,
            instead: Vec::new(),
            stderr: String::new(),
            exit: None,
            missed_variables: Vec::new(),
        }
    }

    /// The failure, without the name of the server.
    pub fn why(&self) -> String {
        let mut parts = vec![self.misbehaviour.sentence(&self.method)];
        let instead = self.seen_instead();
        parts.extend(
            instead
                .iter()
                .take(SHOWN_INSTEAD)
                .map(|seen| (*seen).to_owned()),
        );
        if instead.len() > SHOWN_INSTEAD {
            parts.push(format!(
                "and {} more like this",
                instead.len() - SHOWN_INSTEAD
            ));
        }
        if let Some(exit) = &self.exit
            && !matches!(self.misbehaviour, Misbehaviour::Exited { .. })
        {
            parts.push(format!("it then exited with {exit}"));
        }
        let lines: Vec<&str> = self.stderr.lines().collect();
        match &lines[..] {
            [] => {}
            [line] => parts.push(format!("it wrote to stderr: {line}")),
            lines => parts.push(format!("it wrote to stderr:\n  | {}", lines.join("\n  | "))),
        }
        let missed = self.missed_variables.first().map(|name| {
            format!(
                "\na server receives only the variables that you give it: {name} is set here, so \
                write `env: {{ {name}: \"${{{name}}}\" }}` into its entry, or `--env \
                {name}=VALUE` on the command line"
            )
        });
        parts.join("; ") + &missed.unwrap_or_default()
    }

    /// The messages that arrived instead of an answer, each once, unless the failure already
    /// includes them.
    fn seen_instead(&self) -> Vec<&str> {
        use Misbehaviour::{Malformed, NotUtf8, TooLong, WrongId};
        if matches!(
            self.misbehaviour,
            Malformed { .. } | WrongId { .. } | NotUtf8 { .. } | TooLong { .. }
        ) {
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
    /// No usable answer arrived.
    #[error(transparent)]
    Wire(#[from] WireError),
}
