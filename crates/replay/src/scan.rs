//! Which recordings have a secret in them, and where?

use crate::walk::{Unlisted, Walk, has_extension};
use mcptest_core::escape::escape_path;
use mcptest_redact::{Redactor, Sighting};
use serde::de::IgnoredAny;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A longer line is searched piece by piece, as prose.
const LONGEST_LINE: usize = 16 << 20;
/// The overlap of two pieces of a line, so that a secret at the edge is whole in one of them.
const SHARED: usize = 64 << 10;
/// The file extensions of recordings.
pub(crate) const EXTENSIONS: [&str; 3] = ["jsonl", "json", "ndjson"];

/// Why recordings cannot be searched.
#[derive(Debug, Error)]
#[error("cannot read {}: {}", escape_path(.path), crate::reason(.source))]
pub struct ScanError {
    path: PathBuf,
    source: io::Error,
}

/// A secret and its line.
#[derive(Debug)]
pub struct Sighted {
    /// The line, from 1.
    pub line: usize,
    /// The secret and its place.
    pub sighting: Sighting,
}

/// The amount of searched data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Lines.
    pub lines: usize,
    /// Secrets.
    pub found: usize,
}

/// The recordings in these files and folders, in order; in a folder, all files that end in
/// `.jsonl`, `.json` or `.ndjson`. Then the links to folders, which are not entered.
pub fn recordings(named: &[PathBuf]) -> Result<(Vec<PathBuf>, Vec<PathBuf>), ScanError> {
    let (mut found, mut linked) = (Vec::new(), Vec::new());
    for path in named {
        if path.is_dir() {
            let unread = |Unlisted { folder, reason }| ScanError {
                path: folder,
                source: reason,
            };
            let walked = Walk::EVERYTHING.below(path).map_err(unread)?;
            let files = walked
                .files
                .iter()
                .filter(|file| has_extension(file, &EXTENSIONS));
            found.extend(files.map(|file| path.join(file)));
            linked.extend(walked.linked.iter().map(|folder| path.join(folder)));
        } else {
            found.push(path.clone());
        }
    }
    Ok((found, linked))
}

/// Searches one file, and reports findings as it proceeds. Holds at most one long line in memory.
pub fn scan(
    path: &Path,
    redactor: &Redactor,
    say: &mut dyn FnMut(Sighted),
) -> Result<Tally, ScanError> {
    let failed = |source| ScanError {
        path: path.to_owned(),
        source,
    };
    let file = mcptest_files::open(path).map_err(failed)?;
    let mut search = FolderSearch {
        redactor,
        say,
        tally: Tally::default(),
    };
    search.file(BufReader::new(file)).map_err(failed)?;
    Ok(search.tally)
}

struct FolderSearch<'s> {
    redactor: &'s Redactor,
    say: &'s mut dyn FnMut(Sighted),
    tally: Tally,
}

impl FolderSearch<'_> {
    fn file(&mut self, mut reader: impl BufRead) -> io::Result<()> {
        let mut begun = Vec::new();
        reader
            .by_ref()
            .take(LONGEST_LINE as u64)
            .read_until(b'\n', &mut begun)?;
        if begun.starts_with("\u{feff}".as_bytes()) {
            begun.drain(..3);
        }
        let is_of_several_lines = begun.trim_ascii_start().starts_with(b"{")
            && serde_json::from_slice::<IgnoredAny>(&begun).is_err()
            && begun.len() < LONGEST_LINE;
        if is_of_several_lines {
            let room = LONGEST_LINE - begun.len();
            reader.by_ref().take(room as u64).read_to_end(&mut begun)?;
            if begun.len() < LONGEST_LINE && serde_json::from_slice::<IgnoredAny>(&begun).is_ok() {
                self.search(&begun, usize::MAX, 1);
                self.tally.lines += begun.trim_ascii_end().split(|byte| *byte == b'\n').count();
                return Ok(());
            }
        }
        self.lines(Cursor::new(begun).chain(reader))
    }

    fn lines(&mut self, mut reader: impl BufRead) -> io::Result<()> {
        let mut piece = Vec::new();
        loop {
            let room = LONGEST_LINE - piece.len();
            let read = reader
                .by_ref()
                .take(room as u64)
                .read_until(b'\n', &mut piece)?;
            let line = self.tally.lines + 1;
            if read == room && !piece.ends_with(b"\n") {
                let shared = boundary(&piece, piece.len() - SHARED);
                self.search(&piece, shared, line);
                piece.drain(..shared);
                continue;
            }
            if piece.is_empty() {
                return Ok(());
            }
            self.search(&piece, usize::MAX, line);
            self.tally.lines += 1;
            piece.clear();
        }
    }

    /// Searches these bytes, which begin in `line`, for secrets that begin before `end`.
    fn search(&mut self, bytes: &[u8], end: usize, line: usize) {
        let text = String::from_utf8_lossy(bytes);
        let end = bytes
            .get(..end)
            .map_or(usize::MAX, |before| String::from_utf8_lossy(before).len());
        let (mut passed, mut line) = (0, line);
        for sighting in self.redactor.sightings(&text) {
            if sighting.at >= end {
                break;
            }
            line += text[passed..sighting.at].matches('\n').count();
            passed = sighting.at;
            self.tally.found += 1;
            (self.say)(Sighted { line, sighting });
        }
    }
}

/// The last character boundary at or before `at`.
fn boundary(bytes: &[u8], at: usize) -> usize {
    let is_inside = |at: &usize| bytes.get(*at).is_some_and(|byte| byte & 0xc0 == 0x80);
    at - (0..3).take_while(|back| is_inside(&(at - back))).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &[u8]) -> (Vec<(usize, String, Option<String>)>, usize) {
        let redactor = Redactor::builder()
            .value("KEY", "planted-value")
            .build()
            .unwrap();
        let mut seen = Vec::new();
        let mut say = |one: Sighted| {
            assert!(!one.sighting.excerpt.contains("planted-value"));
            seen.push((one.line, one.sighting.what, one.sighting.pointer));
        };
        let mut search = FolderSearch {
            redactor: &redactor,
            say: &mut say,
            tally: Tally::default(),
        };
        search.file(text).unwrap();
        let tally = search.tally;
        assert_eq!(tally.found, seen.len());
        (seen, tally.lines)
    }

    fn at(line: usize, what: &str, pointer: Option<&str>) -> (usize, String, Option<String>) {
        (line, what.to_owned(), pointer.map(str::to_owned))
    }

    #[test]
    fn lines_are_counted_and_each_find_has_its_own() {
        let text =
            b"{\"format\":\"x\"}\n\n{\"a\":[\"planted-value\"],\"password\":\"b\"}\nplanted-value \xff";
        assert_eq!(
            found(text),
            (
                vec![
                    at(3, "KEY", Some("/a/0")),
                    at(3, "password", Some("/password")),
                    at(4, "KEY", None)
                ],
                4
            )
        );
        assert_eq!(found(b""), (vec![], 0));
    }

    #[test]
    fn json_over_several_lines_is_read_as_one() {
        let text = b"\xef\xbb\xbf{\n  \"a\": {\n    \"token\":\n      \"abc\",\n    \"b\": \"planted-value\"\n  }\n}\n";
        assert_eq!(
            found(text),
            (
                vec![at(4, "token", Some("/a/token")), at(5, "KEY", Some("/a/b"))],
                7
            )
        );
    }

    #[test]
    fn a_line_longer_than_any_is_searched_to_its_end_and_nothing_is_told_twice() {
        let edge = LONGEST_LINE - SHARED;
        for before in [
            edge - 20,
            edge - 5,
            edge,
            LONGEST_LINE - 5,
            LONGEST_LINE + 5,
        ] {
            let mut text = vec![b'x'; before];
            text.extend(b" planted-value ");
            text.resize(2 * LONGEST_LINE + 100, b'y');
            text.extend(b" planted-value\nplanted-value\n");
            let expected = vec![at(1, "KEY", None), at(1, "KEY", None), at(2, "KEY", None)];
            assert_eq!(found(&text), (expected, 2), "{before}");
        }
    }
}
