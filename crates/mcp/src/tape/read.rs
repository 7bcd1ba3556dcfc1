//! A tape's text, read whole or refused with the line that is wrong.

use super::entry::{Entry, Header};
use super::{FORMAT, VERSION};
use mcptest_core::json::document::{Placed, Source, TextFault, Words, names_format};
use thiserror::Error;

/// A tape.
#[derive(Debug, Clone)]
pub struct Tape {
    /// The recorded session.
    pub header: Header,
    /// The traffic, in order.
    pub entries: Vec<Entry>,
    /// True if the last line was cut off, as after a crash. It is omitted.
    pub is_cut: bool,
}

/// Why a string is not a tape, with the place.
pub type TapeError = Placed<TapeFault>;

const WORDS: Words = Words {
    shape: "a tape is one JSON object per line, as `mcptest proxy --out FILE -- COMMAND` writes it",
    again: "record it again with `mcptest proxy --out FILE -- COMMAND`",
};

/// A problem with a tape.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TapeFault {
    /// A problem of the text.
    #[error("{}", said(.0))]
    Text(TextFault),
    /// The first line is not a valid header.
    #[error("this is not a tape's header ({}); {}", .0, WORDS.shape)]
    NoHeader(String),
    /// A later line is not a valid entry.
    #[error("this is not a tape's entry ({}); restore the line, or {}", .0, WORDS.again)]
    BadEntry(String),
}

/// Adds a description of tapes, because the user may have named a file of a different kind.
fn said(fault: &TextFault) -> String {
    let made = match fault {
        TextFault::WrongFormat { .. } => {
            " A tape is what `mcptest proxy --out FILE -- COMMAND` writes"
        }
        _ => "",
    };
    fault.said(&WORDS) + made
}

impl From<TextFault> for TapeFault {
    fn from(fault: TextFault) -> Self {
        Self::Text(fault)
    }
}

/// Returns true if a string begins like a tape.
pub fn is_tape(text: &str) -> bool {
    names_format(text.as_bytes(), FORMAT)
}

impl Tape {
    /// Reads a tape. Omits a last line without an end, because a recording can be cut off.
    pub fn read(text: &str) -> Result<Self, TapeError> {
        let mut lines = Source::new(text.as_bytes()).lines().peekable();
        let first = lines
            .next()
            .ok_or_else(|| TapeError::nowhere(TextFault::Empty))?;
        let header = first.header((FORMAT, VERSION), TapeFault::NoHeader)?;
        let (mut entries, mut is_cut) = (Vec::new(), false);
        while let Some(line) = lines.next() {
            match line.object(line.text()?, TapeFault::BadEntry) {
                Ok(entry) => entries.push(entry),
                Err(_) if lines.peek().is_none() && !text.ends_with('\n') => is_cut = true,
                Err(error) => return Err(error),
            }
        }
        Ok(Self {
            header,
            entries,
            is_cut,
        })
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
        assert_eq!(
            error.to_string(),
            "line 2, column 2: this is not JSON (expected ident); restore the line, or record it again with \
             `mcptest proxy --out FILE -- COMMAND`"
        );
    }

    #[test]
    fn a_newer_tape_is_refused() {
        let newer = HEADER.replace("\"version\":1", "\"version\":9");
        assert!(matches!(
            Tape::read(&newer),
            Err(Placed {
                fault: TapeFault::Text(TextFault::Newer { version: 9, .. }),
                ..
            })
        ));
    }
}
