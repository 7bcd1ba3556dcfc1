//! Which inputs does the command line name, and how are they opened?

use super::cut::{Contents, LONGEST, Room, read_more};
use mcptest_command::suites::TraceFiles;
use mcptest_command::{Failure, output};
use mcptest_core::escape::escape_path;
use mcptest_files as files;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One input.
#[derive(Debug, Clone)]
pub(super) struct Input {
    /// Its name in rows.
    pub(super) name: Arc<str>,
    origin: Origin,
}

/// Where does an input come from?
#[derive(Debug, Clone)]
enum Origin {
    StandardInput,
    /// A pipe that the shell opened, which can be read once.
    Pipe(PathBuf),
    File(PathBuf),
}

/// An input with its first bytes.
pub(super) struct Opened {
    pub(super) input: Input,
    pub(super) from: Box<dyn Read + Send>,
    /// The first bytes, with one whole line at least, unless that is too long.
    pub(super) start: Vec<u8>,
    pub(super) is_ended: bool,
}

/// An input that cannot be read.
pub(super) struct Unreadable {
    pub(super) name: Arc<str>,
    why: String,
}

impl Unreadable {
    /// The reason, for its row.
    pub(super) fn contents(&self) -> Contents {
        Contents::Unreadable {
            why: self.why.clone(),
            group: None,
        }
    }
}

/// The inputs of the command line: files, the chosen files in folders, and `-` for standard input.
/// Without any, standard input.
pub(super) fn inputs(named: &[PathBuf], files: &TraceFiles) -> Result<Vec<Input>, Failure> {
    if named.is_empty() {
        return Ok(vec![Input::standard_input()]);
    }
    let filter = files.filter()?;
    let mut inputs = Vec::new();
    for path in named {
        if path == Path::new("-") {
            inputs.push(Input::standard_input());
        } else if path.is_dir() {
            let (found, linked) = mcptest_replay::transcripts_in(path, &filter)?;
            output::not_entered(&linked);
            inputs.extend(found.into_iter().map(Input::file));
        } else if path.exists() {
            inputs.push(Input::file(path.clone()));
        } else {
            let why = format!("no such file or folder: {}", escape_path(path));
            return Err(Failure::new(why));
        }
    }
    Ok(inputs)
}

impl Input {
    fn standard_input() -> Self {
        Self {
            name: "stdin".into(),
            origin: Origin::StandardInput,
        }
    }

    fn file(path: PathBuf) -> Self {
        Self {
            name: path.to_string_lossy().into(),
            origin: if files::is_handed_over(&path) {
                Origin::Pipe(path)
            } else {
                Origin::File(path)
            },
        }
    }

    /// The path of the input, if it can be opened again.
    pub(super) fn path(&self) -> Option<&Path> {
        match &self.origin {
            Origin::File(path) => Some(path),
            Origin::StandardInput | Origin::Pipe(_) => None,
        }
    }

    fn reader(&self) -> io::Result<Box<dyn Read + Send>> {
        match &self.origin {
            Origin::StandardInput => Ok(Box::new(io::stdin())),
            Origin::Pipe(path) | Origin::File(path) => Ok(Box::new(files::open_named(path)?)),
        }
    }
}

impl Opened {
    /// Opens the input, and reads until its first line is known.
    pub(super) fn open(input: Input, room: &mut Room) -> Result<Self, Unreadable> {
        let unreadable = |error: io::Error| Unreadable {
            name: Arc::clone(&input.name),
            why: files::reason(&error),
        };
        let mut from = input.reader().map_err(unreadable)?;
        let mut start = Vec::new();
        let mut is_ended = false;
        while !is_ended && !has_first_line(&start) && start.len() <= LONGEST {
            is_ended = read_more(&mut *from, &mut start, room).map_err(unreadable)? == 0;
        }
        if start.starts_with("\u{feff}".as_bytes()) {
            start.drain(..3);
        }
        Ok(Self {
            input,
            from,
            start,
            is_ended,
        })
    }
}

/// Returns true if a line that is not blank ends in these bytes.
fn has_first_line(bytes: &[u8]) -> bool {
    let text = bytes.trim_ascii_start();
    memchr::memchr(b'\n', text).is_some()
}
