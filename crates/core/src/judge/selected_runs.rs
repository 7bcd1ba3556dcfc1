//! Which of the recorded runs of a row are judged?

use super::advice;
use super::recorded::{RecordedRun, RecordedRuns, missing};
use crate::report::TestReport;
use crate::row::{Reason, ReasonKind, Row, RowOfAgent};
use crate::words::count;
use std::borrow::Cow;

/// The judged runs of a row, and the others of its recording.
pub(super) struct SelectedRuns<'r, 't> {
    pub(super) judged: Cow<'r, [RecordedRun<'t>]>,
    pub(super) others: &'r [RecordedRun<'t>],
    /// The number of runs that the suite asks for.
    pub(super) wanted: usize,
    /// True if recording stopped before all wanted runs were made, and the recorded ones are
    /// enough.
    pub(super) is_stopped_early: bool,
}

/// The runs that the command line selects, or the first ones that the suite requires.
pub(super) fn select_runs<'r, 't>(
    row: RowOfAgent<'_>,
    recorded: &'r RecordedRuns<'t>,
    report: &mut TestReport,
) -> Result<SelectedRuns<'r, 't>, Reason> {
    if row.row.runs.is_empty() {
        wanted_runs(row, recorded, report)
    } else {
        chosen_runs(row.row, recorded, report)
    }
}

fn wanted_runs<'r, 't>(
    row: RowOfAgent<'_>,
    recorded: &'r RecordedRuns<'t>,
    report: &mut TestReport,
) -> Result<SelectedRuns<'r, 't>, Reason> {
    let there = recorded.runs.len();
    let wanted = row.of.agent.runs_to_judge(there);
    let missing = missing(&recorded.runs, wanted);
    let stop = recorded.early_stop(&missing, wanted);
    let judged = stop.unwrap_or(if missing.is_empty() { wanted } else { 0 });
    let (judged, others) = recorded.runs.split_at(judged);
    if let Some(message) = missing_in_words(&missing, wanted).filter(|_| stop.is_none()) {
        if let Some(reason) = unreadable_run(others) {
            return Err(reason.clone());
        }
        let reason = Reason::new(ReasonKind::RunsMissing, message);
        return Err(advice::short(reason, row));
    }
    if there > wanted {
        let first = if wanted == 1 {
            "is".to_owned()
        } else {
            format!("{wanted} are")
        };
        report.notes.push(format!(
            "{there} runs are recorded; only the first {first} judged"
        ));
    }
    Ok(SelectedRuns {
        judged: Cow::Borrowed(judged),
        others,
        wanted,
        is_stopped_early: stop.is_some(),
    })
}

/// The reason that one of these runs cannot be read. A recording must be complete, including runs
/// that no gate judges.
pub(super) fn unreadable_run<'r>(runs: &'r [RecordedRun<'_>]) -> Option<&'r Reason> {
    runs.iter().find_map(|run| run.trace.as_ref().err())
}

/// The runs that were selected by their numbers.
fn chosen_runs<'r, 't>(
    row: &Row<'_>,
    recorded: &'r RecordedRuns<'t>,
    report: &mut TestReport,
) -> Result<SelectedRuns<'r, 't>, Reason> {
    let is_chosen = |run: &&RecordedRun<'_>| row.runs.contains(&run.number);
    let judged: Vec<RecordedRun<'t>> = recorded.runs.iter().filter(is_chosen).cloned().collect();
    let is_recorded = |number: &usize| judged.iter().any(|run| run.number == *number);
    let missing: Vec<usize> = row
        .runs
        .iter()
        .copied()
        .filter(|number| !is_recorded(number))
        .collect();
    let all = count(recorded.runs.len(), "run");
    if !missing.is_empty() {
        let are = if missing.len() == 1 { "is" } else { "are" };
        let message = format!(
            "{} {are} not among the {all} recorded runs",
            numbered("run", &missing)
        );
        return Err(Reason::new(ReasonKind::RunsMissing, message));
    }
    report.notes.push(format!(
        "only {} of {all} is judged, as selected",
        numbered("run", &row.runs)
    ));
    Ok(SelectedRuns {
        wanted: judged.len(),
        judged: Cow::Owned(judged),
        others: &[],
        is_stopped_early: false,
    })
}

/// Names the missing runs.
pub(super) fn missing_in_words(missing: &[usize], wanted: usize) -> Option<String> {
    let first = *missing.first()?;
    if missing.len() == wanted + 1 - first {
        return Some(format!("{} of {wanted} runs are recorded", first - 1));
    }
    let are = if missing.len() == 1 { "is" } else { "are" };
    Some(format!(
        "{} of {wanted} {are} not recorded",
        numbered("run", missing)
    ))
}

/// `run 3`, `runs 3 and 7`, or the first few of many.
pub(super) fn numbered(what: &str, numbers: &[usize]) -> String {
    const SHOWN: usize = 5;
    let mut named: Vec<String> = numbers
        .iter()
        .take(SHOWN)
        .map(ToString::to_string)
        .collect();
    if numbers.len() > SHOWN {
        named.push(format!("{} more", numbers.len() - SHOWN));
    }
    match &named[..] {
        [one] => format!("{what} {one}"),
        [first @ .., last] => format!("{what}s {} and {last}", first.join(", ")),
        [] => String::new(),
    }
}
