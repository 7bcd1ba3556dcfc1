//! Which calls do the runs of one side make and those of the other not?

use super::model::{FirstDifference, ToolChange};
use mcptest_core::report::{RunReport, Status, TestReport};
use std::collections::{BTreeMap, BTreeSet};

/// The tools that only one of the two called, with the number of runs that did.
pub(super) fn tools(a: &TestReport, b: &TestReport) -> Vec<ToolChange> {
    let (a, b) = (called(a), called(b));
    let tools: BTreeSet<&str> = a.keys().chain(b.keys()).copied().collect();
    let change = |tool: &str| ToolChange {
        tool: tool.to_owned(),
        runs_a: a.get(tool).copied().unwrap_or_default(),
        runs_b: b.get(tool).copied().unwrap_or_default(),
    };
    tools
        .into_iter()
        .map(change)
        .filter(|one| one.runs_a == 0 || one.runs_b == 0)
        .collect()
}

/// The runs that did not end in an error, of which no calls are known.
fn judged(test: &TestReport) -> impl Iterator<Item = &RunReport> {
    test.runs.iter().filter(|run| run.status != Status::Error)
}

/// In how many runs each tool was called.
fn called(test: &TestReport) -> BTreeMap<&str, usize> {
    let mut runs = BTreeMap::new();
    for run in judged(test) {
        for tool in run
            .tool_names
            .iter()
            .map(String::as_str)
            .collect::<BTreeSet<_>>()
        {
            *runs.entry(tool).or_default() += 1;
        }
    }
    runs
}

/// Where the typical runs part.
pub(super) fn first_difference(a: &TestReport, b: &TestReport) -> Option<FirstDifference> {
    let (a, b) = (typical(a)?, typical(b)?);
    let at = (0..a.len().max(b.len())).find(|&at| a.get(at) != b.get(at))?;
    Some(FirstDifference {
        call: at + 1,
        a: a.get(at).cloned(),
        b: b.get(at).cloned(),
    })
}

/// The calls that most runs make in this order; of several such, those of the first run.
fn typical(test: &TestReport) -> Option<&[String]> {
    let mut counts: Vec<(&[String], usize)> = Vec::new();
    for run in judged(test) {
        match counts
            .iter_mut()
            .find(|(calls, _)| *calls == run.tool_names)
        {
            Some((_, count)) => *count += 1,
            None => counts.push((&run.tool_names, 1)),
        }
    }
    let most = counts.iter().map(|(_, count)| *count).max()?;
    counts
        .into_iter()
        .find(|(_, count)| *count == most)
        .map(|(calls, _)| calls)
}
