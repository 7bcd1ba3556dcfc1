//! `pretty`: what a person reads on a terminal.

mod closing;
mod evidence;
mod gate;
mod overview;
mod page;
mod row;

use crate::suites::by_suite;
use crate::{Options, Reporter};
use mcptest_core::report::Report;
use page::{Line, Page, style};

pub(crate) const REPORTER: Reporter = Reporter {
    key: "pretty",
    doc: "the report for people, on a terminal or in a log",
    extension: "txt",
    render,
};

fn render(report: &Report, options: &Options) -> Vec<u8> {
    let mut page = Page::new(options);
    for (file, tests) in by_suite(report) {
        page.line(&Line::at(0).styled(style::BOLD, file));
        for test in tests {
            row::test(&mut page, test, options);
        }
        page.blank();
    }
    closing::failures(&mut page, report);
    overview::models(&mut page, report);
    overview::degradation(&mut page, report);
    closing::summary(&mut page, report);
    page.finish()
}

#[cfg(test)]
mod tests;
