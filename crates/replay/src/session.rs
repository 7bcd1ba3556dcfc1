//! Which files beside a session of Claude Code contain its sub-agents?
//!
//! A session `X.jsonl` has them below `X/subagents/`, or beside itself, in files `agent-ID.jsonl`.
//! A file `agent-ID.meta.json` names the agent and the call that started it.

use crate::cassette::by_path;
use memchr::memmem;
use std::ffi::OsStr;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The beginning of the names of files of sub-agents.
const PREFIX: &str = "agent-";
/// The folder of a session's sub-agents.
const FOLDER: &str = "subagents";
/// The ending of a file about a sub-agent.
const ABOUT: &str = ".meta.json";
/// The bytes at the start of a file in which the id of its session is.
const START: usize = 64 << 10;

/// A session with the files of its sub-agents as one text.
pub struct SessionText {
    bytes: Vec<u8>,
    /// Each file of a sub-agent, with its first line in the text, from 1.
    parts: Vec<(PathBuf, usize)>,
}

/// A line of a file.
pub struct FileLine {
    /// The file. `None` for the session itself.
    pub part: Option<PathBuf>,
    /// The line, from 1.
    pub line: usize,
}

impl SessionText {
    /// Adds the files of a session's sub-agents to its bytes, if the file at this path is such a
    /// session.
    pub fn read(path: &Path, bytes: Vec<u8>) -> io::Result<Self> {
        let mut text = Self {
            bytes,
            parts: Vec::new(),
        };
        for part in parts_of(path, &text.bytes) {
            text.add(&part)?;
        }
        Ok(text)
    }

    /// The whole text.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The whole text, of which no place is asked any more.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// The file and the line in it of a line of the text.
    pub fn place(&self, line: usize) -> FileLine {
        let part = self.parts.iter().rev().find(|(_, first)| *first <= line);
        match part {
            Some((path, first)) => FileLine {
                part: Some(path.clone()),
                line: line - first + 1,
            },
            None => FileLine { part: None, line },
        }
    }

    fn add(&mut self, part: &Path) -> io::Result<()> {
        let bytes = mcptest_files::read(part, mcptest_files::RECORDING)?;
        if let Some(about) = about(part) {
            self.start_line();
            self.bytes.extend_from_slice(about.as_bytes());
        }
        self.start_line();
        let line = memchr::memchr_iter(b'\n', &self.bytes).count() + 1;
        self.parts.push((part.to_owned(), line));
        let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&bytes);
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn start_line(&mut self) {
        if self.bytes.last().is_some_and(|byte| *byte != b'\n') {
            self.bytes.push(b'\n');
        }
    }
}

/// A line with the contents of the file beside a sub-agent's messages.
fn about(part: &Path) -> Option<String> {
    let stem = part.file_stem()?.to_str()?;
    let file = part.with_file_name(format!("{stem}{ABOUT}"));
    let bytes = mcptest_files::read(&file, mcptest_files::TEXT).ok()?;
    mcptest_import::about_agent(stem.strip_prefix(PREFIX)?, str::from_utf8(&bytes).ok()?)
}

/// The files of the sub-agents of the session at this path, in natural order.
fn parts_of(path: &Path, bytes: &[u8]) -> Vec<PathBuf> {
    let is_session = path.extension() == Some(OsStr::new("jsonl"))
        && !is_named_like_a_part(path)
        && memmem::find(&bytes[..bytes.len().min(START)], b"\"sessionId\"").is_some();
    let (Some(stem), Some(folder)) = (path.file_stem(), path.parent()) else {
        return Vec::new();
    };
    if !is_session {
        return Vec::new();
    }
    let mut parts = named_like_parts(&folder.join(stem).join(FOLDER));
    let beside = named_like_parts(folder).into_iter();
    parts.extend(beside.filter(|part| session_of(part).is_some_and(|id| stem == id.as_str())));
    parts
}

/// The files of sub-agents in a folder, which may not exist.
fn named_like_parts(folder: &Path) -> Vec<PathBuf> {
    let here = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let entries = std::fs::read_dir(here).into_iter().flatten().flatten();
    let mut parts: Vec<PathBuf> = entries
        .map(|entry| folder.join(entry.file_name()))
        .filter(|path| is_named_like_a_part(path))
        .collect();
    parts.sort_by(|one, other| by_path(one, other));
    parts
}

fn is_named_like_a_part(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    name.starts_with(PREFIX) && path.extension() == Some(OsStr::new("jsonl"))
}

/// The id of the session that a file belongs to, as its first lines have it.
fn session_of(part: &Path) -> Option<String> {
    let mut start = Vec::new();
    let file = mcptest_files::open(part).ok()?;
    file.take(START as u64).read_to_end(&mut start).ok()?;
    let key = b"\"sessionId\"";
    let value = start.get(memmem::find(&start, key)? + key.len()..)?;
    let value = value
        .trim_ascii_start()
        .strip_prefix(b":")?
        .trim_ascii_start();
    let value = value.strip_prefix(b"\"")?;
    let end = memchr::memchr(b'"', value)?;
    Some(str::from_utf8(&value[..end]).ok()?.to_owned())
}

/// Returns true if the file is read with the session that it belongs to: its session is there.
pub fn is_part_of_a_session(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    if let Some(agent) = name
        .strip_suffix(ABOUT)
        .filter(|agent| agent.starts_with(PREFIX))
    {
        return path.with_file_name(format!("{agent}.jsonl")).is_file();
    }
    let Some(folder) = path.parent().filter(|_| is_named_like_a_part(path)) else {
        return false;
    };
    let session = if folder.file_name() == Some(OsStr::new(FOLDER)) {
        folder.parent().map(with_lines)
    } else {
        session_of(path).map(|session| with_lines(&folder.join(session)))
    };
    session.is_some_and(|session| session.is_file())
}

/// The path with `.jsonl` after it.
fn with_lines(path: &Path) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(".jsonl");
    PathBuf::from(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (file, text) in files {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        folder
    }

    #[test]
    fn a_session_is_read_with_its_sub_agents_and_a_place_is_one_in_their_files() {
        let line = r#"{"sessionId":"s"}"#;
        let other = r#"{"sessionId":"t"}"#;
        let folder = folder(&[
            ("s.jsonl", line),
            ("s/subagents/agent-2.jsonl", "{\"a\":1}\n{\"a\":2}\n"),
            (
                "s/subagents/agent-2.meta.json",
                "{\n \"agentType\": \"finder\"}",
            ),
            ("agent-1.jsonl", line),
            ("agent-3.jsonl", other),
        ]);
        let path = folder.path().join("s.jsonl");
        let text = SessionText::read(&path, line.as_bytes().to_vec()).unwrap();
        let lines: Vec<&str> = str::from_utf8(text.bytes()).unwrap().lines().collect();
        assert_eq!(lines.len(), 5, "{lines:?}");
        assert!(lines[1].contains("finder") && lines[1].contains("\"agentId\":\"2\""));
        let place = |line: usize| {
            let found = text.place(line);
            let part = found.part.map(|part| part.file_name().unwrap().to_owned());
            (part, found.line)
        };
        assert_eq!(place(1), (None, 1));
        assert_eq!(place(4), (Some("agent-2.jsonl".into()), 2));
        assert_eq!(place(5), (Some("agent-1.jsonl".into()), 1));
    }

    #[test]
    fn a_sub_agents_file_is_read_with_its_session_or_alone() {
        let folder = folder(&[
            ("s.jsonl", "{}"),
            ("s/subagents/agent-2.jsonl", "{}"),
            ("s/subagents/agent-2.meta.json", "{}"),
            ("agent-1.jsonl", r#"{"sessionId": "s"}"#),
            ("agent-3.jsonl", r#"{"sessionId":"gone"}"#),
            ("gone/subagents/agent-4.jsonl", "{}"),
        ]);
        let is_part = |file: &str| is_part_of_a_session(&folder.path().join(file));
        for part in [
            "s/subagents/agent-2.jsonl",
            "s/subagents/agent-2.meta.json",
            "agent-1.jsonl",
        ] {
            assert!(is_part(part), "{part}");
        }
        for alone in ["s.jsonl", "agent-3.jsonl", "gone/subagents/agent-4.jsonl"] {
            assert!(!is_part(alone), "{alone}");
        }
    }
}
