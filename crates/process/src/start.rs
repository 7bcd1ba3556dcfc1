//! A command becomes a running process, or a sentence that says which word was wrong.

use crate::stray::{self, Mark};
use crate::{Child, Started, Stderr, orphans};
use std::ffi::OsString;
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
    /// The program is not there.
    #[error("there is no program `{program}`{hint}")]
    NotFound {
        /// The word that failed.
        program: String,
        /// The suggested fix.
        hint: String,
    },
    /// The folder to start in is not there.
    #[error("the folder `{}` to start in does not exist", .0.display())]
    NoFolder(PathBuf),
    /// The file is there, but may not be run.
    #[error("`{0}` may not be run: is it executable? (`chmod +x {0}`)")]
    NotExecutable(String),
    /// Anything else that the system says.
    #[error("`{program}` cannot be started: {reason}")]
    Other {
        /// The word that failed.
        program: String,
        /// The system's message.
        reason: String,
    },
}

/// Starts a command of the user's in a separate process group, with all three streams piped. It gets our environment.
pub fn start(
    words: &[String],
    env: &[(String, String)],
    cwd: Option<&Path>,
) -> Result<(Child, Started), StartError> {
    start_with(words, env, cwd, |errors, stderr| {
        tokio::spawn(stderr.drain(errors))
    })
}

/// As [`start`], for a server under test: of our environment it has what programs need to run, and no key that it is
/// not given in `env`.
pub fn start_server(
    words: &[String],
    env: &[(String, String)],
    cwd: Option<&Path>,
) -> Result<(Child, Started), StartError> {
    let (inherited, mut withheld) = environment_for_server();
    withheld.retain(|name| env.iter().all(|(given, _)| given != name));
    let prepare = |command: &mut Command| {
        command.env_clear().envs(inherited);
    };
    let drain = |errors, stderr: Stderr| tokio::spawn(stderr.drain(errors));
    let (mut child, started) = spawn(words, env, cwd, prepare, drain)?;
    child.withheld = withheld;
    Ok((child, started))
}

/// As [`start`], for one who reads the standard error too.
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
        reason: "it was gone before it could be watched".to_owned(),
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

fn hint(program: &str, words: &[String], cwd: Option<&Path>) -> String {
    if program.contains(char::is_whitespace) && words.len() == 1 {
        let words: Vec<String> = program
            .split_whitespace()
            .map(|word| format!("{word:?}"))
            .collect();
        return format!(
            "; a command with arguments is a list of words: [{}]",
            words.join(", ")
        );
    }
    if program.contains(std::path::MAIN_SEPARATOR) {
        let path = cwd.unwrap_or(Path::new("")).join(program);
        if path.exists() {
            return ", though the file exists: is the interpreter in its first line installed?"
                .to_owned();
        }
        return match near_miss(program, path.parent().into_iter().map(Path::to_owned)) {
            Some(near) => format!("; did you mean `{near}`?"),
            None => String::new(),
        };
    }
    match near_miss(program, search_path()) {
        Some(near) => format!(" on PATH; did you mean `{near}`?"),
        None => " on PATH: is it installed?".to_owned(),
    }
}

fn search_path() -> Vec<PathBuf> {
    std::env::var_os("PATH")
        .map(|path| std::env::split_paths(&path).collect())
        .unwrap_or_default()
}

/// The file of one of the folders whose name is closest to the program's, when it is close enough for a slip.
fn near_miss(program: &str, folders: impl IntoIterator<Item = PathBuf>) -> Option<String> {
    let wanted = Path::new(program).file_name()?.to_str()?;
    let limit = wanted.chars().count().div_ceil(4).min(2);
    let mut names: Vec<(usize, String)> = folders
        .into_iter()
        .filter_map(|folder| std::fs::read_dir(folder).ok())
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .map(|name| (strsim::osa_distance(wanted, &name), name))
        .filter(|(distance, _)| *distance <= limit)
        .collect();
    names.sort();
    names.into_iter().next().map(|(_, name)| name)
}

/// The variables that the official SDKs pass to a server, as `sudo` does.
const SAFE: &[&str] = if cfg!(windows) {
    &[
        "APPDATA",
        "HOMEDRIVE",
        "HOMEPATH",
        "LOCALAPPDATA",
        "PATH",
        "PATHEXT",
        "PROCESSOR_ARCHITECTURE",
        "PROGRAMFILES",
        "SYSTEMDRIVE",
        "SYSTEMROOT",
        "TEMP",
        "USERNAME",
        "USERPROFILE",
    ]
} else {
    &["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"]
};

/// The variables that `npx`, `uvx` and the programs that they fetch also need on some machines: the language,
/// folders, proxies and certificates. No name here is that of a secret.
const SURROUNDINGS: &[&str] = &[
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "TMP",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "NPM_CONFIG_CACHE",
    "UV_CACHE_DIR",
];

/// Returns true if a server gets this variable by default. A shell's function is code, not a value.
fn is_inherited(name: &str, value: &str) -> bool {
    let is_named = |known: &&str| {
        if cfg!(windows) {
            name.eq_ignore_ascii_case(known)
        } else {
            name == *known
        }
    };
    // The tools that read these take them in either case.
    let is_around = |known: &&str| name.eq_ignore_ascii_case(known);
    let is_known =
        SAFE.iter().any(is_named) || SURROUNDINGS.iter().any(is_around) || name.starts_with("LC_");
    is_known && !value.starts_with("()")
}

/// Our environment, as far as a server gets it, and the names of the rest.
pub(crate) fn environment_for_server() -> (Vec<(OsString, OsString)>, Vec<String>) {
    let (inherited, withheld): (Vec<_>, Vec<_>) = std::env::vars_os()
        .partition(|(name, value)| is_inherited(&name.to_string_lossy(), &value.to_string_lossy()));
    (
        inherited,
        withheld
            .into_iter()
            .filter_map(|(name, _)| name.into_string().ok())
            .collect(),
    )
}

/// The names that appear in the text as whole words.
pub(crate) fn named_in(text: &str, names: &[String]) -> Vec<String> {
    let words: Vec<&str> = text
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .collect();
    // A short name is also a common word.
    let is_named = |name: &&String| name.contains('_') && words.contains(&name.as_str());
    names.iter().filter(is_named).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(words: &[&str], cwd: Option<&Path>) -> String {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        start(&words, &[], cwd).unwrap_err().to_string()
    }

    #[test]
    fn a_program_that_is_not_there_is_named_with_a_near_miss() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("my-server"), "").unwrap();
        assert_eq!(
            near_miss("my-sevrer", [folder.path().to_owned()]),
            Some("my-server".to_owned())
        );
        assert_eq!(
            refusal(&["no-such-program-qqq"], None),
            "there is no program `no-such-program-qqq` on PATH: is it installed?"
        );
        assert_eq!(
            refusal(&["qqq-server --port 3"], None),
            "there is no program `qqq-server --port 3`; a command with arguments is a list of words: \
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
        assert!(refusal(&[path.to_str().unwrap()], None).contains("may not be run"));
    }

    #[test]
    fn a_server_gets_what_programs_need_and_nothing_that_is_secret() {
        for name in [
            "PATH",
            "LC_ALL",
            "https_proxy",
            "HTTPS_PROXY",
            "SSL_CERT_FILE",
            "npm_config_cache",
        ] {
            assert!(is_inherited(name, "x"), "{name}");
        }
        for name in [
            "ANTHROPIC_API_KEY",
            "GITHUB_TOKEN",
            "AWS_PROFILE",
            "npm_config__authToken",
            "SSH_AUTH_SOCK",
        ] {
            assert!(!is_inherited(name, "x"), "{name}");
        }
        assert!(!is_inherited("PATH", "() { :; }; echo"));
    }

    #[test]
    fn a_withheld_name_is_found_as_a_word() {
        let names = ["API_TOKEN", "TOKEN", "KEY_X"].map(str::to_owned);
        assert_eq!(
            named_in(
                "error: $API_TOKEN (TOKEN) is not set, MY_KEY_X neither",
                &names
            ),
            ["API_TOKEN"]
        );
    }
}
