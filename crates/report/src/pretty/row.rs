//! How is one test shown: its line, its runs, its gates, and how to run it again?

use super::page::{Line, Page, style};
use super::{evidence, gate};
use crate::Options;
use crate::words::count;
use mcptest_core::report::{Reason, RunReport, Status, TestReport};

/// How many failed runs of one test are shown.
const MOST_RUNS: usize = 10;

/// The test with everything beneath it.
pub(super) fn test(page: &mut Page, test: &TestReport, options: &Options) {
    let is_bad = is_bad(test.status);
    page.line(&headline(page, test));
    if let (true, Some(reason)) = (test.status != Status::Skipped, &test.reason) {
        evidence::reason(page, 6, reason);
    }
    if let [run] = test.runs.as_slice() {
        only_run(page, test, run, options);
    } else {
        runs(page, test, options);
    }
    for one in &test.gates {
        gate::gate(page, one, test, options);
    }
    if options.verbose {
        about(page, test);
    }
    for note in &test.notes {
        evidence::text(page, 6, "note: ", note);
    }
    if is_bad {
        rerun(page, 6, test);
    }
}

fn about(page: &mut Page, test: &TestReport) {
    if let Some(model) = &test.model {
        evidence::text(page, 6, "model: ", model);
    }
    if !test.tags.is_empty() {
        evidence::text(page, 6, "tags: ", &test.tags.join(", "));
    }
}

/// Whether the row needs someone's attention.
pub(super) fn is_bad(status: Status) -> bool {
    matches!(status, Status::Failed | Status::Error)
}

/// The mark, the name and where it is written, for rows that need attention.
pub(super) fn headline(page: &Page, test: &TestReport) -> Line {
    let mut line = page.marked(2, test.status).styled(style::BOLD, test.row_name()).plain(tally(test));
    if let (Status::Skipped, Some(reason)) = (test.status, &test.reason) {
        line = line.plain(": ").plain(crate::words::clipped(&reason.message, crate::words::SCREEN.text));
    }
    if test.unpinned {
        line = line.styled(style::DIM, "  unpinned");
    }
    if is_bad(test.status) {
        line = line.styled(style::DIM, format!("  {}:{}", test.suite.file, test.suite.line));
    }
    line
}

/// The command that judges this test alone, on one line.
pub(super) fn rerun(page: &mut Page, indent: usize, test: &TestReport) {
    page.line(&Line::at(indent).styled(style::BOLD, "rerun: ").plain(&test.rerun).unwrapped());
}

/// ` (10 runs, 2 failed)`; nothing for a single run.
fn tally(test: &TestReport) -> String {
    let having = |status| test.runs.iter().filter(|run| run.status == status).count();
    let (failed, errors) = (having(Status::Failed), having(Status::Error));
    if test.runs.len() < 2 {
        return String::new();
    }
    let mut parts = vec![count(test.runs.len(), "run")];
    if failed > 0 {
        parts.push(format!("{failed} failed"));
    }
    if errors > 0 {
        parts.push(count(errors, "error"));
    }
    format!(" ({})", parts.join(", "))
}

fn only_run(page: &mut Page, test: &TestReport, run: &RunReport, options: &Options) {
    if run.status != test.status && is_bad(run.status) {
        page.line(&page.marked(4, run.status).plain("its run"));
    }
    evidence_of(page, 6, test, run, options);
    if options.verbose || test.status == Status::Failed {
        evidence::tools(page, 6, run);
    }
}

fn runs(page: &mut Page, test: &TestReport, options: &Options) {
    let listed: Vec<_> = test.runs.iter().filter(|run| options.verbose || is_bad(run.status)).collect();
    let most = if options.verbose { usize::MAX } else { MOST_RUNS };
    for run in listed.iter().take(most) {
        let source = test.own_source(run.index).map(|source| format!("  {source}"));
        let line = page.marked(4, run.status).plain(test.run_name(run));
        page.line(&line.styled(style::DIM, source.unwrap_or_default()));
        evidence_of(page, 8, test, run, options);
        if options.verbose || run.status == Status::Failed {
            evidence::tools(page, 8, run);
        }
    }
    if let Some(more @ 1..) = listed.len().checked_sub(most) {
        page.line(&Line::at(4).plain(evidence::left_out(more)));
    }
}

fn evidence_of(page: &mut Page, indent: usize, test: &TestReport, run: &RunReport, options: &Options) {
    let is_said = |reason: &Reason| test.reason.as_ref().is_some_and(|said| said.message == reason.message);
    if let Some(reason) = run.reason.as_ref().filter(|reason| !is_said(reason)) {
        evidence::reason(page, indent, reason);
    }
    evidence::assertions(page, indent, (&run.expectations, None), options.verbose);
}
