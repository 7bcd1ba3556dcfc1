//! One folder of `tests/cases`: its files, its commands, and what they print.
//!
//! - `cmd`: one command a line, without the program's name; `run` when there is no such file. `cat FILE` prints a file.
//! - `env`: `NAME=value` lines, which are the whole environment.
//! - `make`: files too big or too odd to keep: `append FILE [COUNT] "TEXT"` and `folder PATH`.
//! - `expected.txt`, `expected.err`, `expected.exit`: standard output, standard error (nothing when there is no such
//!   file) and one exit code per command.

#![allow(dead_code, reason = "each test program uses a part")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// The files that describe a case and are no part of the user's folder.
pub(crate) const OWN_FILES: [&str; 6] =
    ["cmd", "env", "make", "expected.txt", "expected.err", "expected.exit"];

/// One case.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
}

/// What the commands of a case did.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    pub(crate) exit: String,
}

/// Every case, by name.
pub(crate) fn all() -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases");
    let mut cases: Vec<Case> = fs::read_dir(&root)
        .unwrap_or_else(|error| panic!("{}: {error}", root.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .map(|folder| Case { name: folder.file_name().unwrap().to_string_lossy().into_owned(), folder })
        .collect();
    cases.sort_by(|one, other| one.name.cmp(&other.name));
    cases
}

/// The case with this name.
pub(crate) fn named(name: &str) -> Case {
    all().into_iter().find(|case| case.name == name).unwrap_or_else(|| panic!("there is no case {name}"))
}

impl Case {
    /// The user's folder: a copy of the case's files, with those that `make` describes.
    pub(crate) fn set_up(&self) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        copy(&self.folder, folder.path(), true);
        for line in self.lines("make") {
            make(folder.path(), &line);
        }
        folder
    }

    /// What the commands print, one after the other.
    pub(crate) fn run(&self, folder: &Path) -> Outcome {
        let mut outcome = Outcome::default();
        let commands = self.commands();
        for words in &commands {
            if commands.len() > 1 {
                outcome.stdout.extend(format!("$ {}\n", words.join(" ")).bytes());
            }
            if let [cat, file] = &words[..]
                && cat == "cat"
            {
                outcome
                    .stdout
                    .extend(fs::read(folder.join(file)).unwrap_or_else(|error| panic!("{file}: {error}")));
                continue;
            }
            let output = self.command(words, folder).output().unwrap();
            outcome.stdout.extend(output.stdout);
            outcome.stderr.extend(output.stderr);
            outcome.exit.push_str(&output.status.code().map_or("killed".to_owned(), |code| code.to_string()));
            outcome.exit.push('\n');
        }
        outcome
    }

    /// The program with these arguments in the user's folder: no environment but the case's own, so no `PATH` either.
    pub(crate) fn command(&self, words: &[String], folder: &Path) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcptest"));
        command.args(words).current_dir(folder).env_clear().stdin(Stdio::null());
        for line in self.lines("env") {
            let (name, value) = line.split_once('=').unwrap_or_else(|| panic!("`{line}` is not NAME=value"));
            command.env(name, value);
        }
        command
    }

    /// The commands of the case.
    pub(crate) fn commands(&self) -> Vec<Vec<String>> {
        let lines = self.lines("cmd");
        if lines.is_empty() {
            vec![vec!["run".to_owned()]]
        } else {
            lines.iter().map(|line| words(line)).collect()
        }
    }

    /// What is expected, as it stands.
    pub(crate) fn expected(&self) -> Outcome {
        let read = |name: &str| fs::read(self.folder.join(name)).unwrap_or_default();
        Outcome {
            stdout: read("expected.txt"),
            stderr: read("expected.err"),
            exit: String::from_utf8_lossy(&read("expected.exit")).into_owned(),
        }
    }

    /// Makes what happened the expectation.
    pub(crate) fn update(&self, outcome: &Outcome) {
        fs::write(self.folder.join("expected.txt"), &outcome.stdout).unwrap();
        fs::write(self.folder.join("expected.exit"), &outcome.exit).unwrap();
        let stderr = self.folder.join("expected.err");
        if !outcome.stderr.is_empty() {
            fs::write(stderr, &outcome.stderr).unwrap();
        } else if stderr.exists() {
            fs::remove_file(stderr).unwrap();
        }
    }

    fn lines(&self, name: &str) -> Vec<String> {
        let text = fs::read_to_string(self.folder.join(name)).unwrap_or_default();
        text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect()
    }
}

fn copy(from: &Path, to: &Path, is_root: bool) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name();
        if is_root && OWN_FILES.iter().any(|own| name == *own) {
            continue;
        }
        if entry.path().is_dir() {
            fs::create_dir_all(to.join(&name)).unwrap();
            copy(&entry.path(), &to.join(&name), false);
        } else {
            fs::copy(entry.path(), to.join(&name)).unwrap();
        }
    }
}

fn make(folder: &Path, line: &str) {
    use std::io::Write;
    let (head, quoted) = line.split_once('"').unwrap_or((line, ""));
    let head: Vec<&str> = head.split_whitespace().collect();
    let (file, count) = match head[..] {
        ["folder", path] => return fs::create_dir_all(folder.join(path)).unwrap(),
        ["append", file] => (file, 1),
        ["append", file, count] => (file, count.parse().unwrap_or_else(|_| panic!("`{line}`: how often?"))),
        _ => panic!("`{line}` is neither `append FILE [COUNT] \"TEXT\"` nor `folder PATH`"),
    };
    let quoted = quoted.strip_suffix('"').unwrap_or_else(|| panic!("`{line}` does not end in a quote"));
    let path = folder.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut file = fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
    file.write_all(&unescape(quoted).repeat(count)).unwrap();
}

/// `\n`, `\r`, `\t`, `\\`, `\"` and `\xHH`; all else is itself.
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
