//! One folder of `tests/cases/GROUP`: a user's files, and `case.txt` with commands and their
//! expected output.
//!
//! `case.txt` begins with the setup, one entry a line:
//!
//! - `use FILE [as PATH]`: a file of `tests/cases/shared`;
//! - `append FILE [COUNT] "TEXT"`, `folder PATH`: files that are too large or too unusual to store;
//! - `env NAME=value`: the whole environment.
//!
//! Then each command with its result, in this order: `$ mcptest ...` or `$ cat FILE`, `? CODE` for
//! an exit code other than 0, `! ` before every line of standard error, and standard output
//! unchanged.

#![allow(dead_code, reason = "each test program uses a part")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

const CASE: &str = "case.txt";
const SHARED: &str = "shared";

pub(crate) struct Case {
    /// `GROUP/NAME`.
    pub(crate) name: String,
    folder: PathBuf,
    /// The lines before the first command.
    needs: Vec<String>,
    /// The commands, each after `$ `.
    commands: Vec<String>,
}

/// The results of a case's commands.
pub(crate) struct Outcome {
    /// The `case.txt` that would expect this outcome.
    pub(crate) text: Vec<u8>,
    /// Whether a command panicked or was killed.
    pub(crate) has_crashed: bool,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases")
}

/// Every case, by name.
pub(crate) fn all() -> Vec<Case> {
    let folders = |of: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(of).unwrap_or_else(|error| panic!("{}: {error}", of.display()));
        entries
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.is_dir())
            .collect()
    };
    let groups = folders(&root())
        .into_iter()
        .filter(|group| !group.ends_with(SHARED));
    let mut cases: Vec<Case> = groups
        .flat_map(|group| folders(&group))
        .map(Case::read)
        .collect();
    cases.sort_by(|one, other| one.name.cmp(&other.name));
    cases
}

/// The case with this name.
pub(crate) fn named(name: &str) -> Case {
    Case::read(root().join(name))
}

impl Case {
    fn read(folder: PathBuf) -> Self {
        let name = folder
            .strip_prefix(root())
            .unwrap()
            .to_string_lossy()
            .replace('\\', "/");
        let text =
            fs::read(folder.join(CASE)).unwrap_or_else(|error| panic!("{name}/{CASE}: {error}"));
        let text = String::from_utf8_lossy(&text).into_owned();
        let needs = text
            .lines()
            .take_while(|line| !line.starts_with("$ "))
            .filter(|line| !line.is_empty());
        let commands = text.lines().filter_map(|line| line.strip_prefix("$ "));
        let commands: Vec<String> = commands.map(str::to_owned).collect();
        assert!(!commands.is_empty(), "{name}/{CASE} has no command");
        Self {
            needs: needs.map(str::to_owned).collect(),
            commands,
            name,
            folder,
        }
    }

    /// Creates the user's folder: the case's files, and the files that its setup names.
    pub(crate) fn set_up(&self) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        copy(&self.folder, folder.path());
        fs::remove_file(folder.path().join(CASE)).unwrap();
        for line in &self.needs {
            make(folder.path(), line);
        }
        folder
    }

    /// Runs the commands in order.
    pub(crate) fn run(&self, folder: &Path) -> Outcome {
        let mut text: Vec<u8> = self
            .needs
            .iter()
            .flat_map(|line| format!("{line}\n").into_bytes())
            .collect();
        if !text.is_empty() {
            text.push(b'\n');
        }
        let mut has_crashed = false;
        for command in &self.commands {
            text.extend(format!("$ {command}\n").bytes());
            let words = words(command);
            if let ["cat", file] = words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
                let bytes =
                    fs::read(folder.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
                write_lines(&mut text, "", &bytes);
                continue;
            }
            assert_eq!(
                words[0], "mcptest",
                "{}: `$ {command}` is no command of ours",
                self.name
            );
            let output = self.command(&words[1..], folder).output().unwrap();
            match output.status.code() {
                Some(0) => {}
                code => text.extend(
                    format!(
                        "? {}\n",
                        code.map_or("killed".to_owned(), |code| code.to_string())
                    )
                    .bytes(),
                ),
            }
            has_crashed |= matches!(output.status.code(), None | Some(101));
            write_lines(&mut text, "! ", &without_waiting(&output.stderr));
            write_lines(&mut text, "", &output.stdout);
        }
        Outcome { text, has_crashed }
    }

    /// The program with these arguments in the user's folder: no environment but the case's own, so no `PATH` either.
    pub(crate) fn command(&self, words: &[String], folder: &Path) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcptest"));
        command
            .args(words)
            .current_dir(folder)
            .env_clear()
            .stdin(Stdio::null());
        for line in self
            .needs
            .iter()
            .filter_map(|line| line.strip_prefix("env "))
        {
            let (name, value) = line
                .split_once('=')
                .unwrap_or_else(|| panic!("`{line}` is not NAME=value"));
            command.env(name, value);
        }
        command
    }

    /// The expected text.
    pub(crate) fn expected(&self) -> Vec<u8> {
        fs::read(self.folder.join(CASE)).unwrap()
    }

    /// Replaces the expectation with the outcome.
    pub(crate) fn update(&self, outcome: &Outcome) {
        fs::write(self.folder.join(CASE), &outcome.text).unwrap();
    }
}

/// Standard error without the lines that a command writes only where the machine is slow: `30 s, waiting for …`.
pub(crate) fn without_waiting(stderr: &[u8]) -> Vec<u8> {
    let is_waiting = |line: &[u8]| {
        let line = String::from_utf8_lossy(line);
        line.starts_with(|first: char| first.is_ascii_digit()) && line.contains(", waiting for ")
    };
    stderr
        .split_inclusive(|byte| *byte == b'\n')
        .filter(|line| !is_waiting(line))
        .flatten()
        .copied()
        .collect()
}

/// Each line after its mark; a last line that does not end is told apart from one that does.
fn write_lines(text: &mut Vec<u8>, mark: &str, bytes: &[u8]) {
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        text.extend(if line == b"\n" { mark.trim_end() } else { mark }.bytes());
        text.extend(line);
    }
    if bytes.last().is_some_and(|byte| *byte != b'\n') {
        text.extend(b"\n% no newline at the end\n");
    }
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            fs::create_dir_all(&to).unwrap();
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Executes a setup line.
fn make(folder: &Path, line: &str) {
    use std::io::Write;
    let (head, quoted) = line.split_once('"').unwrap_or((line, ""));
    let head: Vec<&str> = head.split_whitespace().collect();
    let (file, count) = match head[..] {
        ["env", ..] => return,
        ["use", file] => return share(file, &folder.join(file)),
        ["use", file, "as", path] => return share(file, &folder.join(path)),
        ["folder", path] => return fs::create_dir_all(folder.join(path)).unwrap(),
        ["append", file] => (file, 1),
        ["append", file, count] => (
            file,
            count
                .parse()
                .unwrap_or_else(|_| panic!("`{line}`: how often?")),
        ),
        _ => panic!("`{line}` is no `use`, `env`, `folder` or `append`"),
    };
    let quoted = quoted
        .strip_suffix('"')
        .unwrap_or_else(|| panic!("`{line}` does not end in a quote"));
    let path = folder.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut file = fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .unwrap();
    file.write_all(&unescape(quoted).repeat(count)).unwrap();
}

fn share(file: &str, to: &Path) {
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    fs::copy(root().join(SHARED).join(file), to)
        .unwrap_or_else(|error| panic!("{SHARED}/{file}: {error}"));
}

/// `\n`, `\r`, `\t`, `\\`, `\"` and `\xHH`; other characters mean themselves.
fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'\\' => match rest.next() {
                Some(b'n') => b'\n',
                Some(b'r') => b'\r',
                Some(b't') => b'\t',
                Some(b'x') => {
                    let digits = [rest.next().unwrap(), rest.next().unwrap()];
                    u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap()
                }
                Some(other) => other,
                None => panic!("a backslash at the end of `{text}`"),
            },
            byte => byte,
        });
    }
    bytes
}

/// The words of a command line; quotes of both kinds group.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in line.chars() {
        match (quote, c) {
            (Some(mark), c) if c == mark => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}
