//! Which calls does only one side make?

use super::model::{FirstDifference, ToolChange};
use crate::behaviour::{Fact, RunFacts, called};
use mcptest_core::report::{RunReport, Status, TestReport};

/// The tools that only one of the two called, with the number of calling runs.
pub(super) fn tools(a: &TestReport, b: &TestReport) -> Vec<ToolChange> {
    let (before, now) = (facts(a), facts(b));
    let (called_before, called_now) = (called(&before), called(&now));
    let tools = called_before.symmetric_difference(&called_now);
    let change = |tool: &&str| {
        let is_called = Fact::Calls((*tool).to_owned());
        ToolChange {
            tool: (*tool).to_owned(),
            runs_a: is_called.support(&before).held,
            runs_b: is_called.support(&now).held,
        }
    };
    tools.map(change).collect()
}

fn facts(test: &TestReport) -> Vec<RunFacts<'_>> {
    judged(test)
        .map(|run| RunFacts::of_tools(run.tool_names.iter().map(String::as_str)))
        .collect()
}

/// The runs that did not end in an error; calls of other runs are unknown.
fn judged(test: &TestReport) -> impl Iterator<Item = &RunReport> {
    test.runs.iter().filter(|run| run.status != Status::Error)
}

/// Where the typical runs diverge.
pub(super) fn first_difference(a: &TestReport, b: &TestReport) -> Option<FirstDifference> {
    let (a, b) = (typical(a)?, typical(b)?);
    let at = (0..a.len().max(b.len())).find(|&at| a.get(at) != b.get(at))?;
    Some(FirstDifference {
        call: at + 1,
        a: a.get(at).cloned(),
        b: b.get(at).cloned(),
    })
}

/// The most common sequence of calls; of several, the sequence of the earliest run.
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
