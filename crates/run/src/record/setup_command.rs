//! `setup:` and `teardown:`: a command before and after each recorded run.

use mcptest_core::suite::{Agent, Unset};
use mcptest_process::{StartError, Started, start, status_words};
use std::path::Path;
use std::time::Duration;
use thiserror::Error;
use tokio::io::AsyncReadExt;
use tokio::time::timeout;

const PATIENCE: Duration = Duration::from_secs(120);
/// The lines of a standard error to show.
const MOST_STDERR_LINES: usize = 10;

/// Why a command failed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{what}:`{fault}")]
pub(super) struct CommandError {
    what: &'static str,
    fault: CommandFault,
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
enum CommandFault {
    #[error(": {0}")]
    Unset(Unset),
    #[error(": {0}")]
    NotStarted(StartError),
    #[error(" ended with {status}{}", written(stderr))]
    Failed { status: String, stderr: String },
    #[error(" ended with an unknown status{}", written(stderr))]
    Lost { stderr: String },
    #[error(" timed out after {} s and was stopped{}", PATIENCE.as_secs(), written(stderr))]
    TooSlow { stderr: String },
}

/// The end of the standard error, as the end of a sentence.
fn written(stderr: &str) -> String {
    match stderr {
        "" => String::new(),
        stderr => format!("; it wrote to stderr: {stderr}"),
    }
}

/// Runs the command to its end.
pub(super) async fn run(
    what: &'static str,
    words: &[String],
    agent: &Agent,
    folder: &Path,
) -> Result<(), CommandError> {
    let done = run_to_end(words, agent, folder).await;
    done.map_err(|fault| CommandError { what, fault })
}

async fn run_to_end(words: &[String], agent: &Agent, folder: &Path) -> Result<(), CommandFault> {
    let words: Vec<String> = words
        .iter()
        .map(|word| agent.scope.fill(word, mcptest_replay::host().environment))
        .collect::<Result<_, _>>()
        .map_err(CommandFault::Unset)?;
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let (child, Started { stdin, mut stdout }) =
        start(&words, &[], Some(folder)).map_err(CommandFault::NotStarted)?;
    drop(stdin);
    let output = tokio::spawn(async move {
        let mut buffer = [0; 8192];
        while stdout.read(&mut buffer).await.is_ok_and(|read| read > 0) {}
    });
    let status = timeout(PATIENCE, child.exited()).await;
    let stderr = child.stderr().crash(MOST_STDERR_LINES).excerpt.join("\n");
    child.end_soon().await;
    output.abort();
    match status {
        Ok(Some(status)) if status.success() => Ok(()),
        Ok(Some(status)) => Err(CommandFault::Failed {
            status: status_words(status),
            stderr,
        }),
        Ok(None) => Err(CommandFault::Lost { stderr }),
        Err(_) => Err(CommandFault::TooSlow { stderr }),
    }
}
