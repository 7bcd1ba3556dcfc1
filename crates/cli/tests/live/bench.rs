//! A user's folder with a provider on a socket: a test writes files, runs commands, and reads
//! cassettes.

use mcptest_core::provider::FAMILIES;
use mcptest_provider_stub::{Script, Stub};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// The program under test.
pub(crate) const MCPTEST: &str = env!("CARGO_BIN_EXE_mcptest");

/// A model of each known provider.
pub(crate) fn models() -> Vec<&'static str> {
    FAMILIES.iter().map(|family| family.model).collect()
}

/// The known models, as a list for a suite.
pub(crate) fn model_list() -> String {
    models().join(", ")
}

/// The name of the server: a link in the user's folder. Tests remove it to take the server away.
pub(crate) const SERVER: &str = "server";

/// A folder, and a provider that follows a script.
pub(crate) struct LiveFolder {
    folder: TempDir,
    pub(crate) stub: Stub,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ran {
    pub(crate) exit: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl LiveFolder {
    /// An empty folder with a link to the program, for servers that are mocks.
    pub(crate) fn new(script: &str) -> Self {
        let stub = Stub::start(Script::parse(script).unwrap()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(MCPTEST, folder.path().join(SERVER)).unwrap();
        Self { folder, stub }
    }

    /// A folder with `suite.yml` and the manifest of its mock.
    pub(crate) fn with(suite: &str, script: &str, manifest: &str) -> Self {
        let bench = Self::new(script);
        bench.write("suite.yml", suite);
        bench.write("manifest.yml", manifest);
        bench
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap_or_else(|error| panic!("{name}: {error}"));
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn remove(&self, name: &str) {
        std::fs::remove_file(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    }

    /// The program with these words. Its environment contains only the stub.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(MCPTEST);
        command
            .args(words)
            .current_dir(self.folder())
            .stdin(Stdio::null());
        command
            .env_clear()
            .envs(self.stub.environment())
            .env("PATH", "/usr/bin:/bin");
        command
    }

    pub(crate) fn run(&self, words: &[&str]) -> Ran {
        Ran::of(&self.command(words).output().unwrap())
    }

    /// Records with these options and asserts the exit code.
    pub(crate) fn record(&self, words: &[&str], exit: i32) -> Ran {
        let ran = self.run(&[&["run", "suite.yml"], words].concat());
        assert_eq!(
            ran.exit,
            Some(exit),
            "{words:?}: {}{}",
            ran.stdout,
            ran.stderr
        );
        ran
    }

    /// Judges the recordings without an environment: no address, no key.
    pub(crate) fn replay(&self, exit: i32) -> Ran {
        let ran = Ran::of(
            &self
                .command(&["run", "suite.yml"])
                .env_clear()
                .output()
                .unwrap(),
        );
        assert_eq!(ran.exit, Some(exit), "{}{}", ran.stdout, ran.stderr);
        ran
    }

    /// The header and the runs of a cassette, by their numbers.
    pub(crate) fn cassette(&self, name: &str) -> (Value, BTreeMap<u64, Value>) {
        let text = self.read(name);
        let mut lines = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        let header = lines.next().unwrap_or_default();
        let run = |line: Value| Some((line["run"].as_u64()?, line["trace"].clone()));
        (header, lines.filter_map(run).collect())
    }

    /// The traces of a cassette in the order of their numbers.
    pub(crate) fn traces(&self, name: &str) -> Vec<Value> {
        self.cassette(name).1.into_values().collect()
    }

    /// The only trace of a cassette.
    pub(crate) fn trace(&self, name: &str) -> Value {
        let traces = self.traces(name);
        assert_eq!(traces.len(), 1, "{name}");
        traces.into_iter().next().unwrap()
    }

    /// The saved JSON report.
    pub(crate) fn report(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// The names of all files, however deep.
    pub(crate) fn files(&self) -> Vec<String> {
        fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
            for entry in std::fs::read_dir(folder)
                .unwrap()
                .map(|entry| entry.unwrap().path())
            {
                if entry.is_dir() {
                    walk(&entry, files);
                } else {
                    files.push(entry);
                }
            }
        }
        let mut files = Vec::new();
        walk(self.folder(), &mut files);
        let name = |path: &PathBuf| {
            path.strip_prefix(self.folder())
                .unwrap()
                .display()
                .to_string()
        };
        let mut names: Vec<String> = files.iter().map(name).collect();
        names.sort();
        names
    }
}

impl Ran {
    pub(crate) fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        Self {
            exit: output.status.code(),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        }
    }

    /// Asserts that the output contains these words, regardless of spaces and wrapping.
    pub(crate) fn says(&self, words: &str) -> &Self {
        let said = format!("{}{}", self.stdout, self.stderr);
        let on_one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            on_one_line(&said).contains(&on_one_line(words)),
            "{words:?} is not in\n{said}"
        );
        self
    }
}
