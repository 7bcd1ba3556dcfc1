//! A tape's text, read whole or refused with the line that is wrong.

use super::{Entry, FORMAT, Header, VERSION};
use thiserror::Error;

/// A tape.
#[derive(Debug, Clone)]
pub struct Tape {
    /// What was recorded.
    pub header: Header,
    /// What crossed, in order.
    pub entries: Vec<Entry>,
    /// True when the last line was cut off, as after a crash; it is left out.
    pub is_cut: bool,
}

/// Why a text is not a tape.
#[derive(Debug, Error)]
pub enum TapeError {
    /// Nothing in it.
    #[error("it is empty; a tape is written with `mcptest proxy --out FILE -- COMMAND`")]
    Empty,
    /// Another format.
    #[error(
        "line 1 is not a tape's header ({reason}); a tape is written with `mcptest proxy --out FILE -- COMMAND`"
    )]
    NoHeader {
        /// What is wrong with it.
        reason: String,
    },
    /// A newer mcptest wrote it.
    #[error(
        "it is written in version {found} of the tape format, and this mcptest reads version {VERSION}: use a newer mcptest"
    )]
    Newer {
        /// Its version.
        found: u64,
    },
    /// A line inside it is broken.
    #[error("line {line} is not a tape's entry: {reason}")]
    BadLine {
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
}

/// True when a text begins as a tape does.
pub fn is_tape(text: &str) -> bool {
    text.lines().next().is_some_and(|line| {
        serde_json::from_str::<serde_json::Value>(line)
            .is_ok_and(|header| header.get("format").and_then(|format| format.as_str()) == Some(FORMAT))
    })
}

impl Tape {
    /// Reads a tape. A last line without its end is left out, since a recording can be cut off.
    pub fn read(text: &str) -> Result<Self, TapeError> {
        let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).peekable();
        let (_, first) = lines.next().ok_or(TapeError::Empty)?;
        let header: Header =
            serde_json::from_str(first).map_err(|error| TapeError::NoHeader { reason: error.to_string() })?;
        if header.format != FORMAT {
            return Err(TapeError::NoHeader { reason: format!("its format is {:?}", header.format) });
        }
        if header.version > VERSION {
            return Err(TapeError::Newer { found: header.version });
        }
        let (mut entries, mut is_cut) = (Vec::new(), false);
        while let Some((index, line)) = lines.next() {
            match serde_json::from_str(line) {
                Ok(entry) => entries.push(entry),
                Err(_) if lines.peek().is_none() && !text.ends_with('\n') => is_cut = true,
                Err(error) => {
                    return Err(TapeError::BadLine { line: index + 1, reason: error.to_string() });
                }
            }
        }
        Ok(Self { header, entries, is_cut })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = r#"{"format":"mcptest-tape","version":1,"server":{"command":["srv"]}}"#;

    #[test]
    fn a_last_line_that_was_cut_off_is_left_out() {
        let entry = r#"{"at_us":5,"from":"client","message":{"jsonrpc":"2.0"}}"#;
        let tape = Tape::read(&format!("{HEADER}\n{entry}\n{{\"at_us\":")).unwrap();
        assert!(tape.is_cut);
        assert_eq!(tape.entries.len(), 1);
    }

    #[test]
    fn a_broken_line_inside_is_refused_with_its_number() {
        let error = Tape::read(&format!("{HEADER}\nnonsense\n")).unwrap_err();
        assert!(error.to_string().starts_with("line 2 is not"), "{error}");
    }

    #[test]
    fn a_newer_tape_is_refused() {
        let newer = HEADER.replace("\"version\":1", "\"version\":9");
        assert!(matches!(Tape::read(&newer), Err(TapeError::Newer { found: 9 })));
    }
}
