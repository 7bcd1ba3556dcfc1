//! What does the report end with: the failures again, and the totals?

use super::page::{Line, Page, style};
use super::row;
use crate::words::{self, SCREEN, count};
use anstyle::Style;
use mcptest_core::report::Report;

/// Rows beyond which a single failure may have scrolled away.
const SCREENFUL: usize = 20;

/// The rows that need attention once more, in short.
pub(super) fn failures(page: &mut Page, report: &Report) {
    let bad: Vec<_> = report.tests.iter().filter(|test| row::is_bad(test.status)).collect();
    if bad.is_empty() || (bad.len() == 1 && report.tests.len() <= SCREENFUL) {
        return;
    }
    page.line(&Line::at(0).styled(style::BOLD, "Failures:"));
    for test in bad {
        page.line(&row::headline(page, test));
        if let Some(reason) = words::first_reason(test, SCREEN) {
            page.line(&Line::at(6).plain(reason));
        }
        row::rerun(page, 6, test);
    }
    page.blank();
}

/// `12 tests: 10 passed, 1 failed, 1 error, 0 skipped · 40 runs · 15 gates`.
pub(super) fn summary(page: &mut Page, report: &Report) {
    let summary = &report.summary;
    let shade = |number: usize, style: Style| if number > 0 { style } else { style::PLAIN };
    let unexercised =
        report.tests.iter().flat_map(|test| &test.gates).filter(|gate| gate.not_exercised.is_some());
    let mut line = Line::at(0)
        .styled(style::BOLD, count(summary.tests, "test"))
        .plain(": ")
        .styled(shade(summary.passed, style::GREEN), format!("{} passed", summary.passed))
        .plain(", ")
        .styled(shade(summary.failed, style::RED), format!("{} failed", summary.failed))
        .plain(", ")
        .styled(shade(summary.errors, style::MAGENTA), count(summary.errors, "error"))
        .plain(", ")
        .styled(shade(summary.skipped, style::YELLOW), format!("{} skipped", summary.skipped))
        .plain(format!(" · {} · {}", count(summary.runs, "run"), count(summary.gates, "gate")));
    if let number @ 1.. = unexercised.count() {
        line = line.plain(" (").styled(style::YELLOW, format!("{number} not exercised")).plain(")");
    }
    page.line(&line.unwrapped());
}
