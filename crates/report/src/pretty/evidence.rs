//! How are assertions, reasons and findings laid out under their row?

use super::page::{Line, Page, style};
use crate::words::{self, SCREEN};
use mcptest_core::report::{Expectation, GateReport, Reason, RunReport, TestReport};

/// How many findings of one gate are shown.
const MOST_FINDINGS: usize = 5;
/// How many details of one reason are shown.
const MOST_DETAILS: usize = 20;
/// How many tool names of one run are shown.
const MOST_TOOLS: usize = 12;

/// The assertions that did not hold; all of them when asked for.
pub(super) fn assertions(
    page: &mut Page,
    indent: usize,
    (expectations, gate): (&[Expectation], Option<&GateReport>),
    all: bool,
) {
    for expectation in expectations.iter().filter(|expectation| all || !expectation.passed) {
        let held = if expectation.passed { "held: " } else { "" };
        let line = Line::at(indent).plain(held).styled(style::BOLD, &expectation.target).plain(": ");
        page.line(&line.plain(words::headline(expectation, gate, SCREEN)));
        if !expectation.passed {
            for detail in words::details(expectation, SCREEN) {
                let (label, rest) = match detail.strip_prefix(words::MESSAGE) {
                    Some(rest) if expectation.message.is_some() => (words::MESSAGE, rest),
                    _ => ("", detail.as_str()),
                };
                page.line(&Line::at(indent + 2).styled(style::BOLD, label).plain(rest));
            }
        }
    }
}

/// What is wrong, its details, and what to do.
pub(super) fn reason(page: &mut Page, indent: usize, reason: &Reason) {
    text(page, indent, "", &reason.message);
    for detail in reason.details.iter().take(MOST_DETAILS) {
        text(page, indent + 2, "", detail);
    }
    if let Some(more @ 1..) = reason.details.len().checked_sub(MOST_DETAILS) {
        page.line(&Line::at(indent + 2).plain(left_out(more)));
    }
    if let Some(help) = &reason.help {
        text(page, indent, "help: ", help);
    }
}

/// Each line of the text, the first after its label.
pub(super) fn text(page: &mut Page, indent: usize, label: &str, text: &str) {
    for (number, line) in text.trim_end().lines().enumerate() {
        let (label, further) = if number == 0 { (label, 0) } else { ("", label.len()) };
        page.line(
            &Line::at(indent + further).styled(style::BOLD, label).plain(words::clipped(line, SCREEN.text)),
        );
    }
}

/// The first findings of a gate.
pub(super) fn findings(page: &mut Page, indent: usize, gate: &GateReport, test: &TestReport) {
    for finding in gate.explanation.iter().take(MOST_FINDINGS) {
        let (sentence, differences) = words::finding(finding, test, SCREEN);
        page.line(&Line::at(indent).plain(sentence));
        for difference in differences {
            page.line(&Line::at(indent + 2).plain(difference));
        }
    }
    if let Some(more @ 1..) = gate.explanation.len().checked_sub(MOST_FINDINGS) {
        page.line(&Line::at(indent).plain(left_out(more)));
    }
}

/// The tools a run called, in order.
pub(super) fn tools(page: &mut Page, indent: usize, run: &RunReport) {
    if run.calls == 0 {
        page.line(&Line::at(indent).styled(style::DIM, "no tool was called"));
        return;
    }
    let names: Vec<_> = run.tool_names.iter().take(MOST_TOOLS).map(|name| words::clipped(name, 80)).collect();
    let mut said = format!("called: {}", names.join(", "));
    if run.calls > names.len() {
        said = format!("{said}, … ({} calls)", run.calls);
    }
    if let Some(duration_ms) = run.duration_ms {
        said = format!("{said} ({duration_ms} ms)");
    }
    page.line(&Line::at(indent).styled(style::DIM, said));
}

/// What a list ends with when it goes on in the file.
pub(super) fn left_out(more: usize) -> String {
    format!("… and {more} more (see --reporter json)")
}
