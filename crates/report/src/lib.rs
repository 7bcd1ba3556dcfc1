//! Reporters: a [`Report`] in, bytes out. One folder per format.

mod agent;
mod bound;
mod doubts;
mod failures;
mod github;
mod gitlab;
pub mod html;
pub mod json;
#[doc(hidden)]
pub mod junit;
pub mod leaderboard;
#[doc(hidden)]
pub mod md;
mod ndjson;
#[doc(hidden)]
pub mod pretty;
#[cfg(test)]
mod sample;
mod sarif;
mod suites;
mod tap;
pub mod verdicts;
#[doc(hidden)]
pub mod words;

#[doc(hidden)]
pub use suites::grouped;

use mcptest_core::eval::Gates;
use mcptest_core::report::{Embed, Report};
use std::borrow::Cow;
use std::time::Duration;

/// Removes from a string everything that must not leave the process.
pub type Clean = for<'t> fn(&'t str) -> Cow<'t, str>;

/// Options for showing a report. Formats for programs ignore them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Use colour.
    pub colour: bool,
    /// Use ASCII marks.
    pub ascii: bool,
    /// The columns to wrap at [default: 100].
    pub width: Option<usize>,
    /// Details about passed tests: 1 shows asserted numbers, 2 shows everything.
    pub verbose: u8,
    /// The elapsed time, if it is shown.
    pub elapsed: Option<Duration>,
    /// Redaction for formats that compress their text, in which later searches could not find
    /// secrets.
    pub clean: Option<Clean>,
    /// The available traces to include.
    pub embed: Embed,
    /// The column that sorts the leaderboard, if not the report's order.
    pub sort: Option<&'static leaderboard::Column>,
    /// The gates whose pages a format may include.
    pub gates: Gates,
}

/// One format.
#[derive(Debug, Clone, Copy)]
pub struct Reporter<R = Report> {
    /// Its name on the command line.
    pub key: &'static str,
    /// Its purpose, in one line.
    pub doc: &'static str,
    /// The usual extension of its files, without the dot.
    pub extension: &'static str,
    /// True if each line is a command to a CI runner. Such a format may share standard output with
    /// another.
    pub is_commands: bool,
    /// The default traces, unless `--embed` overrides them; `None` for a format without traces and
    /// evidence.
    pub embeds: Option<Embed>,
    /// Renders the report: equal reports give equal bytes.
    pub render: fn(&R, &Options) -> Vec<u8>,
}

impl<R> Reporter<R> {
    /// A format whose lines are not commands, and that contains no traces.
    pub const fn new(
        key: &'static str,
        doc: &'static str,
        extension: &'static str,
        render: fn(&R, &Options) -> Vec<u8>,
    ) -> Self {
        Self {
            key,
            doc,
            extension,
            is_commands: false,
            embeds: None,
            render,
        }
    }
}

/// Every format, the default first.
pub const REPORTERS: &[Reporter] = &[
    pretty::REPORTER,
    json::REPORTER,
    junit::REPORTER,
    ndjson::REPORTER,
    md::REPORTER,
    html::REPORTER,
    github::REPORTER,
    gitlab::REPORTER,
    sarif::REPORTER,
    tap::REPORTER,
    agent::REPORTER,
];

/// The reporter of that name.
pub fn find(key: &str) -> Option<&'static Reporter> {
    REPORTERS.iter().find(|reporter| reporter.key == key)
}

#[cfg(test)]
mod tests;
