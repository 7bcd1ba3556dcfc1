//! `setup:` and `teardown:`: a command before and after each recorded run.

use mcptest_core::suite::Agent;
use mcptest_process::{Started, start, status_words};
use std::path::Path;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::time::timeout;

const PATIENCE: Duration = Duration::from_secs(120);

/// Runs the command to its end; why it failed, when it did.
pub(super) async fn run(
    what: &str,
    words: &[String],
    agent: &Agent,
    folder: &Path,
) -> Result<(), String> {
    let words: Vec<String> = words
        .iter()
        .map(|word| agent.scope.fill(word, mcptest_replay::host().environment))
        .collect::<Result<_, _>>()
        .map_err(|unset| format!("`{what}:`: {unset}"))?;
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let (child, Started { stdin, mut stdout }) =
        start(&words, &[], Some(folder)).map_err(|error| format!("`{what}:`: {error}"))?;
    drop(stdin);
    let output = tokio::spawn(async move {
        let mut buffer = [0; 8192];
        while stdout.read(&mut buffer).await.is_ok_and(|read| read > 0) {}
    });
    let status = timeout(PATIENCE, child.exited()).await;
    let said = child.stderr().tail();
    let said = said.trim();
    let said = if said.is_empty() {
        String::new()
    } else {
        format!("; it wrote to stderr: {said}")
    };
    child.end_soon().await;
    output.abort();
    match status {
        Ok(Some(status)) if status.success() => Ok(()),
        Ok(Some(status)) => Err(format!(
            "`{what}:` ended with {}{said}",
            status_words(status)
        )),
        Ok(None) => Err(format!("`{what}:` ended, and how is not known{said}")),
        Err(_) => Err(format!(
            "`{what}:` did not end within {} s, and was ended{said}",
            PATIENCE.as_secs()
        )),
    }
}
