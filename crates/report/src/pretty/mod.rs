//! `pretty`: the report for people on a terminal.

mod closing;
mod coverage;
mod detail;
mod fold;
pub mod leaderboard;
mod list;
mod numbers;
mod overview;
pub mod page;
mod table;

use crate::suites::by_suite;
use crate::{Options, Reporter};
use mcptest_core::report::Report;
use page::Page;

pub(crate) const REPORTER: Reporter = Reporter::new(
    "pretty",
    "the report for people, on a terminal or in a log",
    "txt",
    render,
);

fn render(report: &Report, options: &Options) -> Vec<u8> {
    let mut page = Page::new(options);
    for (file, tests) in by_suite(report) {
        list::suite(
            &mut page,
            tests.first().map_or(file, |test| test.file_here()),
            &tests,
            options,
        );
    }
    page.blank();
    detail::all(&mut page, report, options);
    overview::models(&mut page, report);
    if let Some(board) = &report.leaderboard {
        leaderboard::show(&mut page, board, options.sort);
    }
    overview::degradation(&mut page, report);
    if let Some(coverage) = &report.coverage {
        coverage::show(&mut page, coverage, options);
    }
    closing::summary(&mut page, report, options);
    page.finish()
}

#[cfg(test)]
mod tests;
