//! Reporters: a [`Report`] in, bytes out. One folder per format.

mod bound;
pub mod json;
mod junit;
mod ndjson;
mod overview;
mod pretty;
#[cfg(test)]
mod sample;
mod suites;
mod words;

use mcptest_core::report::Report;

/// How a report is to be shown; formats for machines ignore it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// Whether to colour; without colour every mark carries its word.
    pub colour: bool,
    /// The columns to wrap at; `None` never wraps.
    pub width: Option<usize>,
    /// Whether to show what passed in full.
    pub verbose: bool,
}

/// One format.
#[derive(Debug, Clone, Copy)]
pub struct Reporter {
    /// Its name on the command line.
    pub key: &'static str,
    /// What it is for, in one line.
    pub doc: &'static str,
    /// The usual extension of its files, without the dot.
    pub extension: &'static str,
    /// The report in this format: the same bytes for the same report.
    pub render: fn(&Report, &Options) -> Vec<u8>,
}

/// Every format, the default first.
pub const REPORTERS: &[Reporter] = &[pretty::REPORTER, json::REPORTER, junit::REPORTER, ndjson::REPORTER];

/// The reporter of that name.
pub fn find(key: &str) -> Option<&'static Reporter> {
    REPORTERS.iter().find(|reporter| reporter.key == key)
}

#[cfg(test)]
mod tests;
