//! What does the report end with?

use super::page::{Line, Page, style};
use crate::Options;
use crate::words::{count, time};
use anstyle::Style;
use mcptest_core::report::{Report, Summary};

/// `12 tests: 10 passed, 1 failed, 1 error · 40 runs · 0.04 s`, without zeros.
pub(super) fn summary(page: &mut Page, report: &Report, options: &Options) {
    let summary = &report.summary;
    let mut line = outcomes(summary);
    let dot = page.dot();
    if summary.runs > 0 {
        line = line.plain(format!(" {dot} {}", count(summary.runs, "run")));
    }
    if summary.not_exercised > 0 {
        let gates = count(summary.not_exercised, "gate");
        line = line
            .plain(format!(" {dot} "))
            .styled(style::YELLOW, format!("{gates} not exercised"));
    }
    if summary.tests > 0 && summary.skipped == summary.tests {
        line = line
            .plain(format!(" {dot} "))
            .styled(style::YELLOW, "nothing was tested");
    }
    if let Some(elapsed) = options.elapsed {
        line = line.plain(format!(" {dot} {:.2} s", elapsed.as_secs_f64()));
    }
    page.line(&line.unwrapped());
    if options.verbose > 0 && options.elapsed.is_some() {
        slowest(page, report);
    }
}

/// `12 tests: 10 passed, 1 failed, 1 error`.
fn outcomes(summary: &Summary) -> Line {
    let passed = match summary.warnings {
        0 => format!("{} passed", summary.passed),
        warnings => format!(
            "{} passed, {warnings} of them with a warning",
            summary.passed
        ),
    };
    let failed = format!("{} failed", summary.failed);
    let errors = summary.errors - summary.not_finished;
    let not_finished = format!("{} not finished", summary.not_finished);
    let skipped = format!("{} skipped", summary.skipped);
    let parts = [
        TestsOfStatus::new(summary.passed, style::GREEN, passed),
        TestsOfStatus::new(summary.failed, style::RED, failed),
        TestsOfStatus::new(errors, style::MAGENTA, count(errors, "error")),
        TestsOfStatus::new(summary.not_finished, style::YELLOW, not_finished),
        TestsOfStatus::new(summary.skipped, style::YELLOW, skipped),
    ];
    let mut line = Line::at(0).styled(style::BOLD, count(summary.tests, "test"));
    let there = parts.into_iter().filter(|part| part.tests > 0);
    for (at, part) in there.enumerate() {
        line = line
            .plain(if at == 0 { ": " } else { ", " })
            .styled(part.style, part.text);
    }
    line
}

/// The tests that ended in one way.
struct TestsOfStatus {
    tests: usize,
    style: Style,
    text: String,
}

impl TestsOfStatus {
    fn new(tests: usize, style: Style, text: String) -> Self {
        Self { tests, style, text }
    }
}

/// The slowest rows, if there are many.
fn slowest(page: &mut Page, report: &Report) {
    const SHOWN: usize = 5;
    let mut rows: Vec<_> = report
        .tests
        .iter()
        .filter_map(|test| Some((test.elapsed?, test)))
        .collect();
    if rows.len() <= SHOWN {
        return;
    }
    rows.sort_by_key(|(took, _)| std::cmp::Reverse(*took));
    page.line(&Line::at(0).plain("slowest:"));
    for (took, test) in rows.iter().take(SHOWN) {
        let name = format!("  {}", test.row_name());
        page.line(
            &Line::at(2)
                .glued(style::DIM, format!("{:>8}", time(*took)))
                .plain(name),
        );
    }
}
