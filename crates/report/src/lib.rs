//! Reporters: a [`Report`] in, bytes out. One folder per format.

mod agent;
pub mod baseline;
mod bound;
pub mod calibration;
pub mod comparison;
mod failures;
mod github;
mod gitlab;
pub mod html;
pub mod json;
pub mod judge_check;
mod junit;
pub mod leaderboard;
mod md;
mod ndjson;
mod pretty;
#[cfg(test)]
mod sample;
mod sarif;
mod suites;
mod tap;
mod words;

use mcptest_core::eval::Gates;
use mcptest_core::report::{Embed, Report};
use std::borrow::Cow;
use std::time::Duration;

/// Takes out of a string what must not leave the process.
pub type Clean = for<'t> fn(&'t str) -> Cow<'t, str>;

/// How a report is to be shown; formats for machines ignore it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Whether to colour.
    pub colour: bool,
    /// Whether marks are ASCII.
    pub ascii: bool,
    /// The columns to wrap at: 100 when there is no terminal.
    pub width: Option<usize>,
    /// How much to show of what passed: 1 what was asserted, 2 everything.
    pub verbose: u8,
    /// How long it took, where that is to be shown.
    pub elapsed: Option<Duration>,
    /// For formats that pack their text, in which nobody finds anything afterwards.
    pub clean: Option<Clean>,
    /// Whose traces are in the report, of those that there are.
    pub embed: Embed,
    /// By which column the leaderboard is sorted, where not as the report has it.
    pub sort: Option<&'static leaderboard::Column>,
    /// The gates whose pages a format may have in it.
    pub gates: Gates,
}

/// One format.
#[derive(Debug, Clone, Copy)]
pub struct Reporter<R = Report> {
    /// Its name on the command line.
    pub key: &'static str,
    /// What it is for, in one line.
    pub doc: &'static str,
    /// The usual extension of its files, without the dot.
    pub extension: &'static str,
    /// Whether each line is a command to a CI runner: then it may share standard output with another format.
    pub is_commands: bool,
    /// Whose traces it holds, unless `--embed` says otherwise; `None` for one that holds neither traces nor what is
    /// behind the numbers of gates.
    pub embeds: Option<Embed>,
    /// The report in this format: the same bytes for the same report.
    pub render: fn(&R, &Options) -> Vec<u8>,
}

impl<R> Reporter<R> {
    /// One whose lines are no commands, and which holds no traces.
    const fn new(
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
