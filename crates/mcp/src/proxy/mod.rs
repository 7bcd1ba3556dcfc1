//! A proxy between any MCP client and any server: it never alters a message, and records all
//! traffic on a tape.

mod bare;
pub mod bridge;
mod connection;
mod front;
pub mod http;
pub mod interpose;
mod interposed;
mod lines;
mod record;
pub mod stdio;

pub use bare::{CONNECTION_CLOSED, REQUEST_TIMEOUT};

use mcptest_redact::{Redactor, command};
use thiserror::Error;

/// Why a proxy cannot begin.
#[derive(Debug, Error)]
pub enum ProxyError {
    /// The command could not be started.
    #[error("cannot start the server: {0}")]
    NotStarted(#[from] mcptest_process::StartError),
    /// A pattern of `--redact` is not valid.
    #[error("{0}")]
    BadPattern(String),
    /// The target is not the URL of a server.
    #[error("the target `{url}` is not valid: {reason}; write it as `http://127.0.0.1:3000/mcp`")]
    BadTarget {
        /// The given URL.
        url: String,
        /// The problem.
        reason: String,
    },
    /// The address cannot be listened on.
    #[error("cannot listen on `{address}`: {reason}")]
    NotListening {
        /// The given address.
        address: String,
        /// The system's message.
        reason: String,
    },
    /// No HTTP client could be made.
    #[error("cannot make HTTP requests: {0}")]
    NoClient(String),
}

/// The redactor for a tape: known shapes of secrets, the patterns, and values under the name of a
/// secret. These are variables, as a host passes them to its servers, and options in the words of a
/// command or an address.
pub fn redactor(
    patterns: &[String],
    variables: impl Iterator<Item = (String, String)>,
    words: &[&str],
) -> Result<Redactor, ProxyError> {
    let built = |builder: mcptest_redact::Builder| {
        builder.build().map_err(|problems| {
            let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
            ProxyError::BadPattern(problems.join("; "))
        })
    };
    let names = built(Redactor::builder())?;
    let builder = variables
        .filter(|(name, value)| names.header(name, value) != *value)
        .fold(Redactor::builder(), |builder, (name, value)| {
            builder.value(&name, &value)
        });
    let builder =
        command::secrets(&names, words)
            .iter()
            .fold(builder, |builder, (word, secrets)| {
                secrets.iter().fold(builder, |builder, (name, at)| {
                    builder.value(name, &word[at.clone()])
                })
            });
    built(
        patterns
            .iter()
            .fold(builder, |builder, pattern| builder.pattern(pattern)),
    )
}
