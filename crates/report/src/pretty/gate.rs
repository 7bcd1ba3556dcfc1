//! How is one gate shown: its verdict, its numbers, and what it found?

use super::evidence;
use super::page::{Page, style};
use crate::Options;
use mcptest_core::report::{GateReport, Number, Status, TestReport};

/// How many numbers of one gate are shown.
const MOST_NUMBERS: usize = 6;

/// The gate's line, then what failed.
pub(super) fn gate(page: &mut Page, gate: &GateReport, test: &TestReport, options: &Options) {
    let vacuous = gate.not_exercised.as_ref().map(|reason| format!("[not exercised: {reason}]"));
    let partial = gate.scored_runs.map(|scored| format!("[{scored} of {} runs]", test.runs.len()));
    let marks = partial.into_iter().chain(vacuous);
    if let Some(own) = &gate.line {
        page.verbatim(own);
        for mark in marks {
            page.line(&super::Line::at(8).styled(style::YELLOW, mark));
        }
    } else {
        let mut line = page.marked(4, gate.status).plain(&gate.key);
        if let Some(summary) = &gate.summary {
            line = line.plain("  ").styled(style::DIM, summary);
        }
        let listed = if gate.summary.is_none() || options.verbose {
            numbers(gate, options.verbose)
        } else {
            Vec::new()
        };
        for (place, number) in listed.into_iter().enumerate() {
            line = line.plain(if place == 0 { "  " } else { " " }).glued(style::DIM, number);
        }
        page.line(&marks.fold(line, |line, mark| line.plain("  ").styled(style::YELLOW, mark)));
    }
    evidence::assertions(page, 8, (&gate.expectations, Some(gate)), options.verbose);
    if options.verbose || gate.status != Status::Passed {
        evidence::findings(page, 8, gate, test);
    }
}

/// `passed 1,` `penalty 1`: what was asserted first, then the others.
fn numbers(gate: &GateReport, all: bool) -> Vec<String> {
    let asserted = gate.expectations.iter().filter_map(|one| gate.targets.get_key_value(&one.target));
    let mut shown: Vec<(&String, &Option<Number>)> = Vec::new();
    for target in asserted.chain(&gate.targets) {
        if !shown.iter().any(|(name, _)| *name == target.0) {
            shown.push(target);
        }
    }
    let most = if all { usize::MAX } else { MOST_NUMBERS };
    let more = shown.len().saturating_sub(most);
    let mut said: Vec<_> = shown.into_iter().take(most).map(|(name, value)| number(name, *value)).collect();
    if more > 0 {
        said.push(format!("… {more} more"));
    }
    let last = said.len().saturating_sub(1);
    said.iter_mut().take(last).for_each(|number| number.push(','));
    said
}

fn number(target: &str, value: Option<Number>) -> String {
    let name = target.split_once('.').map_or(target, |(_, name)| name);
    match value {
        Some(number) => format!("{name} {number}"),
        None => format!("{name} not measured"),
    }
}
