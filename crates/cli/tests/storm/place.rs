//! A folder with a suite, and the files and processes that mcptest leaves there.

use mcptest_provider_stub::{Script, Stub};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// In the environment of every process that a place's mcptest starts, servers too.
const MARK: &str = "TMPDIR";
/// Longer than anything takes here, except a hang.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Place {
    folder: TempDir,
}

impl Place {
    /// A folder with this text as its `mcptest.yml`.
    pub(crate) fn new(suite: &str) -> Self {
        let place = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        place.write("mcptest.yml", suite);
        place.write("mock.yml", MOCK);
        fs::create_dir(place.path().join("temporary")).unwrap();
        place
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path().join(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        let path = self.path().join(name);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// mcptest with these words, in this folder, with only `PATH` in its environment.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcptest"));
        command.args(words);
        self.prepare(&mut command);
        command
    }

    /// The folder, the environment and the streams of a command that is started here.
    pub(crate) fn prepare(&self, command: &mut Command) {
        command
            .current_dir(self.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env(MARK, self.path().join("temporary"))
            // What is told is pinned, and addresses in it have their own lengths.
            .env("COLUMNS", "10000")
            .stdin(Stdio::null());
    }

    /// mcptest, with this stub as its provider.
    pub(crate) fn asking(&self, stub: &Stub, words: &[&str]) -> Command {
        let mut command = self.command(words);
        command.envs(stub.environment());
        command
    }

    /// A report that was written as JSON.
    pub(crate) fn report(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// The row of a report.
    pub(crate) fn row(&self, report: &str, name: &str) -> Value {
        let report = self.report(report);
        let tests = report["tests"].as_array().unwrap();
        tests
            .iter()
            .find(|test| test["name"] == name)
            .unwrap_or_else(|| panic!("{report}"))
            .clone()
    }

    /// Every file here, also in folders, by its path.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let mut folders = vec![self.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    files.push(path);
                }
            }
        }
        files.sort();
        files
    }

    /// Locks, half-written and temporary files.
    pub(crate) fn litter(&self) -> Vec<PathBuf> {
        let is_hidden = |path: &Path| path.file_name().unwrap().to_string_lossy().starts_with('.');
        let is_temporary = |path: &Path| path.starts_with(self.path().join("temporary"));
        // What failed the last time is kept for `--last-failed`.
        let is_kept = |path: &Path| path.starts_with(self.path().join(".mcptest"));
        let litter = self
            .files()
            .into_iter()
            .filter(|path| is_hidden(path) || is_temporary(path));
        litter.filter(|path| !is_kept(path)).collect()
    }

    /// The processes that mcptest started here and that still run. An ended process may take a
    /// moment to disappear.
    pub(crate) fn left(&self) -> Vec<String> {
        let begun = Instant::now();
        loop {
            let left = self.running();
            if left.is_empty() || begun.elapsed() > Duration::from_secs(10) {
                return left;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The processes of this place, by their numbers and words.
    pub(crate) fn running(&self) -> Vec<String> {
        let mark = format!("{MARK}={}", self.path().join("temporary").display());
        let processes = fs::read_dir("/proc")
            .unwrap()
            .flatten()
            .filter_map(|process| {
                let environment = fs::read(process.path().join("environ")).ok()?;
                let is_ours = environment
                    .split(|byte| *byte == 0)
                    .any(|entry| entry == mark.as_bytes());
                let words = fs::read(process.path().join("cmdline"))
                    .ok()
                    .filter(|_| is_ours)?;
                let words = String::from_utf8_lossy(&words).replace('\0', " ");
                Some(format!(
                    "{} {}",
                    process.file_name().to_string_lossy(),
                    words.trim_end()
                ))
            });
        processes.collect()
    }

    /// Asserts that no process, lock or half-written file is left.
    pub(crate) fn assert_clean(&self) {
        assert_eq!(self.left(), Vec::<String>::new(), "processes are left");
        assert_eq!(self.litter(), Vec::<PathBuf>::new(), "files are left");
    }
}

/// A mock with one tool, in the process of mcptest.
const MOCK: &str = "mock_server: { tools: [{ name: echo, response: hello }] }\n";

/// A stub with the script of this YAML.
pub(crate) fn stub(script: &str) -> Stub {
    Stub::start(Script::parse(script).unwrap_or_else(|error| panic!("{error}\n{script}"))).unwrap()
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Both streams and the exit code, as a user sees them.
pub(crate) fn seen(output: &Output) -> String {
    let code = output
        .status
        .code()
        .map_or_else(|| output.status.to_string(), |code| format!("exit {code}"));
    format!("{}{}{code}\n", text(&output.stdout), text(&output.stderr))
}

/// The folder of this test's own files.
pub(crate) fn own_files() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/storm")
        .canonicalize()
        .unwrap()
}

/// A server of `tests/misbehaviour`, or of `tests/storm`, as an entry of `servers:` with these limits.
pub(crate) fn python(row: &str, limits: &str) -> String {
    let program = own_files().join("server.py").display().to_string();
    format!("{{ command: [python3, {program:?}, {row}], {limits} }}")
}

/// A server on HTTP that ends with the test.
pub(crate) struct Web {
    child: Child,
    pub(crate) url: String,
}

impl Web {
    pub(crate) fn start(program: &Path, row: &str) -> Self {
        let mut command = Command::new("python3");
        command
            .arg(program)
            .args(["--http", row])
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut url)
            .unwrap();
        Self {
            child,
            url: url.trim().to_owned(),
        }
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
