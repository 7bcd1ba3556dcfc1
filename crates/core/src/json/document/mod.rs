//! Where in a file is a piece of JSON, and which problem does it have?
//!
//! Every reader of a JSON file (cassette, tool test, tape, report, transcript) uses [`Source`], so
//! that all report the same places in the same words.

mod explain;
mod fault;
mod format;
mod source;

pub use fault::{TextFault, Words};
pub use format::names_format;
pub use source::Source;

use std::fmt;

/// A place in a file, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The column in characters.
    pub column: usize,
}

impl Place {
    /// The place of the byte at `offset`; past the end it is the end.
    pub fn at(bytes: &[u8], offset: usize) -> Self {
        let is_continuation = |byte: u8| byte & 0b1100_0000 == 0b1000_0000;
        let before = &bytes[..offset.min(bytes.len())];
        let line_start = before
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |newline| newline + 1);
        let line = before.split(|byte| *byte == b'\n').count();
        let column = before[line_start..]
            .iter()
            .filter(|byte| !is_continuation(**byte))
            .count()
            + 1;
        Self { line, column }
    }
}

/// A problem in a file, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed<F> {
    /// The place. `None` for the whole file.
    pub place: Option<Place>,
    /// The problem.
    pub fault: F,
}

impl<F> Placed<F> {
    /// A fault of the whole file.
    pub fn nowhere(fault: impl Into<F>) -> Self {
        Self {
            place: None,
            fault: fault.into(),
        }
    }
}

impl<F: fmt::Display> fmt::Display for Placed<F> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(Place { line, column }) = self.place {
            write!(out, "line {line}, column {column}: ")?;
        }
        write!(out, "{}", self.fault)
    }
}

impl<F: fmt::Display + fmt::Debug> std::error::Error for Placed<F> {}
