//! How does a command become a running process, or an error that names the wrong word?

use crate::environment::ServerEnvironment;
use crate::hint::hint;
use crate::stray::{self, Mark};
use crate::{Child, Started, Stderr, orphans};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use thiserror::Error;
use tokio::process::{ChildStderr, Command};
use tokio::task::JoinHandle;

/// Why a command could not be started.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum StartError {
    /// No words at all.
    #[error("its command is empty")]
    Empty,
    /// The program was not found.
    #[error("program `{program}` not found{hint}")]
    NotFound {
        /// The word that failed.
        program: String,
        /// The suggested fix.
        hint: String,
    },
    /// The folder to start in does not exist.
    #[error("the folder `{}` to start in does not exist", .0.display())]
    NoFolder(PathBuf),
    /// The file exists, but is not executable.
    #[error("`{0}` cannot be run: is it executable? (`chmod +x {0}`)")]
    NotExecutable(String),
    /// Any other error of the system.
    #[error("cannot start `{program}`: {reason}")]
    Other {
        /// The word that failed.
        program: String,
        /// The system's message.
        reason: String,
    },
}

/// Starts a command of the user in a separate process group, with all three streams piped. It gets
/// mcptest's environment.
pub fn start(
    words: &[String],
    env: &[(String, String)],
    cwd: Option<&Path>,
) -> Result<(Child, Started), StartError> {
    start_with(words, env, cwd, |errors, stderr| {
        tokio::spawn(stderr.drain(errors))
    })
}

/// Like [`start`], for a server under test: it gets the variables that programs need to run, and
/// only the keys in `env`.
pub fn start_server(
    words: &[String],
    env: &[(String, String)],
    cwd: Option<&Path>,
) -> Result<(Child, Started), StartError> {
    let ServerEnvironment {
        inherited,
        mut withheld,
    } = ServerEnvironment::of_this_process();
    withheld.retain(|name| env.iter().all(|(given, _)| given != name));
    let prepare = |command: &mut Command| {
        command.env_clear().envs(inherited);
    };
    let drain = |errors, stderr: Stderr| tokio::spawn(stderr.drain(errors));
    let (mut child, started) = spawn(words, env, cwd, prepare, drain)?;
    child.withheld = withheld;
    Ok((child, started))
}

/// Like [`start`], for callers that also read the standard error.
pub fn start_with(
    words: &[String],
    env: &[(String, String)],
    cwd: Option<&Path>,
    read_errors: impl FnOnce(ChildStderr, Stderr) -> JoinHandle<()>,
) -> Result<(Child, Started), StartError> {
    spawn(words, env, cwd, |_| {}, read_errors)
}

fn spawn(
    words: &[String],
    env: &[(String, String)],
    cwd: Option<&Path>,
    prepare: impl FnOnce(&mut Command),
    read_errors: impl FnOnce(ChildStderr, Stderr) -> JoinHandle<()>,
) -> Result<(Child, Started), StartError> {
    let (program, arguments) = words.split_first().ok_or(StartError::Empty)?;
    let mark = Mark::new();
    let mut command = Command::new(program);
    prepare(&mut command);
    command
        .args(arguments)
        .envs(env.iter().map(|(name, value)| (name, value)))
        .env(stray::VARIABLE, mark.as_str())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    if let Some(cwd) = cwd {
        command.current_dir(cwd);
    }
    #[cfg(unix)]
    command.process_group(0);
    let mut started = orphans::starting();
    let child = command
        .spawn()
        .map_err(|error| explain(&error, program, words, cwd))?;
    started.extend(child.id());
    drop(started);
    Child::watch(child, mark, read_errors).ok_or_else(|| StartError::Other {
        program: program.clone(),
        reason: "it ended before mcptest could watch it".to_owned(),
    })
}

fn explain(
    error: &std::io::Error,
    program: &str,
    words: &[String],
    cwd: Option<&Path>,
) -> StartError {
    if let Some(cwd) = cwd.filter(|cwd| !cwd.is_dir()) {
        return StartError::NoFolder(cwd.to_owned());
    }
    let program = program.to_owned();
    match error.kind() {
        ErrorKind::NotFound => StartError::NotFound {
            hint: hint(&program, words, cwd),
            program,
        },
        ErrorKind::PermissionDenied => StartError::NotExecutable(program),
        _ => StartError::Other {
            program,
            reason: error.to_string(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(words: &[&str], cwd: Option<&Path>) -> String {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        start(&words, &[], cwd).unwrap_err().to_string()
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        assert_eq!(
            refusal(&["no-such-program-qqq"], None),
            "program `no-such-program-qqq` not found on PATH: is it installed?"
        );
        assert_eq!(
            refusal(&["qqq-server --port 3"], None),
            "program `qqq-server --port 3` not found; a command with arguments is a list of words: \
             [\"qqq-server\", \"--port\", \"3\"]"
        );
    }

    #[test]
    fn a_missing_folder_is_told_apart_from_a_missing_program() {
        assert_eq!(
            refusal(&["sh"], Some(Path::new("/no/such/folder"))),
            "the folder `/no/such/folder` to start in does not exist"
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_may_not_be_run_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("server");
        std::fs::write(&path, "#!/bin/sh\n").unwrap();
        assert!(refusal(&[path.to_str().unwrap()], None).contains("cannot be run"));
    }
}
