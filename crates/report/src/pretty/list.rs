//! How does the list at the top name passed, failed and broken rows, one line each?

use super::page::{Line, Page, style};
use super::{detail, numbers};
use crate::Options;
use crate::doubts::doubts;
use crate::suites::grouped;
use crate::words::{self, SCREEN, count, escape, time};
use mcptest_core::report::{GateReport, RunReport, Status, TestReport};
use unicode_width::UnicodeWidthStr;

/// Names beyond this width do not push the column after them further.
const WIDEST_NAME: usize = 48;

/// The rows of one suite file.
pub(super) fn suite(page: &mut Page, file: &str, tests: &[&TestReport], options: &Options) {
    page.line(&Line::at(0).styled(style::BOLD, file));
    let folds = |test: &&TestReport| options.verbose == 0 && is_skipped_probe(test);
    let (folded, tests): (Vec<&TestReport>, Vec<&TestReport>) =
        tests.iter().copied().partition(folds);
    let widest = |cell: fn(&TestReport) -> String, most: usize| {
        let widths = tests
            .iter()
            .map(|test| escape(&cell(test)).width())
            .filter(|width| *width <= most);
        widths.max().unwrap_or_default()
    };
    let columns = [
        widest(TestReport::row_name, WIDEST_NAME),
        widest(tally, usize::MAX),
    ];
    for test in &tests {
        page.line(&timed(row(page, test, columns), test, options));
        let is_told = |gate: &&GateReport| options.verbose > 0 || is_bad(gate.status);
        let told = test.gates.iter().filter(is_told);
        for own in told.filter_map(|gate| gate.line.as_ref()) {
            page.verbatim(own);
        }
        if options.verbose > 0 && !is_bad(test.status) {
            about(page, test, options);
        }
    }
    for alike in grouped(&folded, |test| Some(skip_reason(test))) {
        let names: Vec<String> = alike.iter().map(|test| test.row_name()).collect();
        let line = page
            .marked(2, Status::Skipped)
            .plain(format!("{}: ", skip_reason(alike[0])))
            .styled(style::DIM, names.join(", "));
        page.line(&line);
    }
}

/// Returns true for a probe that was not sent: many have one reason, which one line names.
fn is_skipped_probe(test: &TestReport) -> bool {
    test.probe.is_some() && test.status == Status::Skipped && test.reason.is_some()
}

fn skip_reason(test: &TestReport) -> &str {
    test.reason.as_ref().map_or("", |reason| &reason.message)
}

/// With `-v` on a terminal, the row with its duration.
fn timed(line: Line, test: &TestReport, options: &Options) -> Line {
    let shown = options
        .elapsed
        .and(test.elapsed)
        .filter(|_| options.verbose > 0);
    shown.into_iter().fold(line, |line, took| {
        line.styled(style::DIM, format!("  {}", time(took)))
    })
}

/// Returns true if the row needs attention.
pub(super) fn is_bad(status: Status) -> bool {
    matches!(status, Status::Failed | Status::Error)
}

fn row(page: &Page, test: &TestReport, columns: [usize; 2]) -> Line {
    let remark = remark(test);
    let cells = [test.row_name(), tally(test)];
    let last = if remark.is_some() {
        2
    } else {
        usize::from(!cells[1].is_empty())
    };
    let padded = |at: usize| {
        let room = if at < last {
            columns[at].saturating_sub(escape(&cells[at]).width())
        } else {
            0
        };
        format!("{}{}", cells[at], " ".repeat(room))
    };
    let remark_column = 2 + 2 + columns[0] + 2 + if columns[1] > 0 { columns[1] + 2 } else { 0 };
    let mut line = page.marked_as(2, test).plain(padded(0));
    if test.probe.is_some() && remark_column <= page.width / 2 {
        line = line.hanging_at(remark_column);
    }
    if last > 0 && columns[1] > 0 {
        line = line.styled(style::DIM, format!("  {}", padded(1)));
    }
    remark.into_iter().fold(line, |line, text| {
        line.styled(style::DIM, format!("  {text}"))
    })
}

/// `20 runs, 19 passed`; empty for the single call of a tool test.
fn tally(test: &TestReport) -> String {
    if test.runs.is_empty() || test.runs.iter().any(RunReport::is_single_call) {
        return String::new();
    }
    let passed = test.passed_runs();
    let runs = count(test.runs.len(), "run");
    if passed == test.runs.len() || test.runs.len() == 1 {
        runs
    } else {
        format!("{runs}, {passed} passed")
    }
}

/// The failed parts, or another short remark.
fn remark(test: &TestReport) -> Option<String> {
    if let Some(probe) = test
        .probe
        .as_ref()
        .filter(|_| test.status != Status::Skipped)
    {
        let warning = probe
            .warning
            .as_ref()
            .map(|text| format!("warning: {}", escape(text)));
        let not_finished = test
            .is_not_finished()
            .then(|| format!("not finished: {}", probe.title));
        return Some(
            warning
                .or(not_finished)
                .unwrap_or_else(|| probe.title.clone()),
        );
    }
    let mut parts = match (test.status, &test.reason) {
        (Status::Error, Some(reason)) => vec![reason.kind.words()],
        (Status::Skipped, Some(reason)) => vec![words::clipped(&reason.message, SCREEN.value)],
        (Status::Failed, _) => detail::failed_gates(test)
            .map(|gate| gate.key.clone())
            .collect(),
        _ => oddities(test),
    };
    parts.extend(test.unpinned.then(|| "unpinned".to_owned()));
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The oddities of a row that passed.
fn oddities(test: &TestReport) -> Vec<String> {
    let mut parts = doubts(test);
    // Not among the words for what is red: advice is none.
    if !test.advice.is_empty() {
        parts.push(format!("{} of advice", count(test.advice.len(), "piece")));
    }
    parts
}

/// With `-v`, the details of a passed row.
fn about(page: &mut Page, test: &TestReport, options: &Options) {
    if options.verbose == 1 {
        detail::run_rows(page, 4, test);
    }
    for run in test
        .runs
        .iter()
        .filter(|run| options.verbose > 1 || is_bad(run.status))
    {
        page.line(&page.marked(4, run.status).plain(test.run_label(run.index)));
        detail::run(page, 6, test, run, options);
    }
    for gate in &test.gates {
        let line = page.marked(4, gate.status).plain(&gate.key);
        let line = gate
            .summary
            .iter()
            .fold(line, |line, text| line.plain("  ").styled(style::DIM, text));
        page.line(&numbers::after(line, gate, options));
        if let Some(why) = &gate.not_exercised {
            page.line(&Line::at(6).styled(style::YELLOW, format!("not exercised: {why}")));
        }
        for remark in &gate.remarks {
            page.line(&Line::at(6).styled(style::YELLOW, &remark.message));
        }
        if options.verbose > 1 {
            detail::findings(page, 6, gate, test);
        }
    }
    detail::probe(page, 4, test);
    detail::about(page, 4, test, options);
}
