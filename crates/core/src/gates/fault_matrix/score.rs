//! Which combinations were reached, and which did the agent get over?

use super::{COMBINATIONS, FaultMatrix, KIND, REACHED, SURVIVAL_RATE, SURVIVED};
use crate::engine::Combination;
use crate::engine::scores::Scores;
use crate::report::evidence::{CellStatus, FaultCell};
use crate::report::{Evidence, Finding, Number};
use crate::trace::{CallResult, FaultEvent, Run, Trace};
use crate::words::{count, some_of};

/// Scores the runs. Run i is combination i of the recorded header.
pub(super) fn score(matrix: &FaultMatrix, runs: &[Run<'_>]) -> Scores {
    let mut scores = Scores::default();
    let (mut survived, mut lost, mut unreached, mut harmless) =
        (0, Vec::new(), Vec::new(), Vec::new());
    for (at, run) in runs.iter().enumerate() {
        let Strike {
            label,
            event,
            outcome,
        } = Strike::of(matrix, run, at);
        let unnamed = || {
            event.map_or_else(
                || format!("run {}", run.number),
                |event| event.name.to_string(),
            )
        };
        let name = label.unwrap_or_else(unnamed);
        match outcome {
            Outcome::Unreached => unreached.push(name),
            Outcome::Harmless => harmless.push(name),
            Outcome::Survived => survived += 1,
            Outcome::Lost(why) => {
                let call = event.and_then(|event| run.trace.tool_calls.get(event.call_index));
                let tool = call
                    .map(|call| format!(" (`{}`)", call.name))
                    .unwrap_or_default();
                let finding = Finding::new(
                    Some(run.number),
                    format!("{name}{tool} was not survived: {why}"),
                );
                scores
                    .findings
                    .push(finding.about(&[SURVIVED, SURVIVAL_RATE]));
                lost.push(name);
            }
        }
    }
    let reached = survived + lost.len();
    if runs.is_empty() {
        scores.not_exercised = Some("the first run made no call that could fail".to_owned());
    } else if reached == 0 {
        scores.not_exercised = Some("no combination made a call fail".to_owned());
    }
    scores.summary = Some(summary(runs.len(), reached, &lost, &unreached));
    if !unreached.is_empty() && reached > 0 {
        let message = format!(
            "never reached, since the call was not made: {}",
            unreached.join(", ")
        );
        scores
            .findings
            .push(Finding::new(None, message).about(&[REACHED]));
    }
    if !harmless.is_empty() {
        let message = format!("did not make the call fail: {}", harmless.join(", "));
        scores
            .findings
            .push(Finding::new(None, message).about(&[REACHED]));
    }
    let number = |count: usize| Some(Number::Int(count as i64));
    scores
        .set(&COMBINATIONS, number(runs.len()))
        .set(&REACHED, number(reached))
        .set(&SURVIVED, number(survived))
        .set(
            &SURVIVAL_RATE,
            (100 * survived).checked_div(reached).and_then(number),
        );
    scores
}

/// `survived 5 of 6 faults (83%): not hang@2; 1 never reached: hang@3`.
fn summary(combinations: usize, reached: usize, lost: &[String], unreached: &[String]) -> String {
    let survived = reached - lost.len();
    let rate = (100 * survived)
        .checked_div(reached)
        .map(|rate| format!(" ({rate}%)"))
        .unwrap_or_default();
    let mut summary = format!("survived {survived} of {}{rate}", count(reached, "fault"));
    if !lost.is_empty() {
        summary.push_str(&format!(
            ": not {}",
            some_of(lost.iter().map(String::as_str))
        ));
    }
    if !unreached.is_empty() {
        let named = some_of(unreached.iter().map(String::as_str));
        summary.push_str(&format!(
            "; {} of {combinations} never reached: {named}",
            unreached.len()
        ));
    }
    summary
}

/// The effect of the fault of a run.
struct Strike<'t> {
    /// The combination that the recording names for the run.
    label: Option<String>,
    /// The call that ran into it, where it was made.
    event: Option<&'t FaultEvent<'t>>,
    outcome: Outcome,
}

enum Outcome {
    /// Its call was not made.
    Unreached,
    /// The call did not fail.
    Harmless,
    Survived,
    /// The agent did not get over it, for this reason.
    Lost(String),
}

impl<'t> Strike<'t> {
    fn of(matrix: &FaultMatrix, run: &Run<'t>, at: usize) -> Self {
        let combinations = run
            .header
            .and_then(|header| header.parameters.get(KIND.key));
        let label = combinations
            .and_then(|all| all.get(at)?.as_str())
            .map(str::to_owned);
        let event = event(run.trace, label.as_deref());
        let outcome = match event {
            None => Outcome::Unreached,
            Some(event) if !has_failed(run.trace, event.call_index) => Outcome::Harmless,
            Some(event) => failure(matrix, run, event).map_or(Outcome::Survived, Outcome::Lost),
        };
        Self {
            label,
            event,
            outcome,
        }
    }

    /// The tool whose call was to fail, and the kind of fault.
    fn struck(&self, trace: &Trace<'_>) -> (String, String) {
        let combination = self
            .label
            .as_ref()
            .and_then(|label| label.parse::<Combination>().ok());
        let call = self.event.map(|event| event.call_index);
        let call = call.or(combination.map(|combination| combination.call_index));
        let tool = call
            .and_then(|call| trace.tool_calls.get(call))
            .map(|call| call.name.to_string());
        let kind = combination.map(|combination| combination.kind.to_string());
        let kind = kind.or_else(|| self.event.map(|event| event.kind.to_string()));
        (
            tool.unwrap_or_else(|| "?".to_owned()),
            kind.unwrap_or_else(|| "?".to_owned()),
        )
    }
}

/// The effect of each kind of fault on the calls of each tool.
pub(super) fn evidence(matrix: &FaultMatrix, runs: &[Run<'_>]) -> Evidence {
    let (mut tools, mut faults, mut cells): (Vec<String>, Vec<String>, Vec<FaultCell>) =
        Default::default();
    for (at, run) in runs.iter().enumerate() {
        let strike = Strike::of(matrix, run, at);
        let (tool, fault) = strike.struck(run.trace);
        let known = cells
            .iter()
            .position(|cell| cell.tool == tool && cell.fault == fault);
        let at = known.unwrap_or_else(|| {
            let (tool, fault, status) = (tool.clone(), fault.clone(), CellStatus::Unmet);
            cells.push(FaultCell {
                tool,
                fault,
                runs: 0,
                met: 0,
                recovered: 0,
                status,
            });
            cells.len() - 1
        });
        let cell = &mut cells[at];
        cell.runs += 1;
        if let Outcome::Survived | Outcome::Lost(_) = strike.outcome {
            cell.met += 1;
            cell.recovered += usize::from(matches!(strike.outcome, Outcome::Survived));
            let is_lost = cell.recovered < cell.met;
            cell.status = if is_lost {
                CellStatus::Lost
            } else {
                CellStatus::Survived
            };
        }
        tools.extend((!tools.contains(&tool)).then_some(tool));
        faults.extend((!faults.contains(&fault)).then_some(fault));
    }
    Evidence::FaultMatrix {
        tools,
        faults,
        cells,
    }
}

/// The call that ran into the combination's fault; any fault, where the recording does not name the combination.
fn event<'t>(trace: &'t Trace<'t>, label: Option<&str>) -> Option<&'t FaultEvent<'t>> {
    let mut events = trace.faults.iter().flatten();
    let Some(label) = label else {
        return events.next();
    };
    let combination = label.parse::<Combination>().ok();
    let is_of_it = |event: &&FaultEvent<'_>| {
        event.name == label
            || combination.is_some_and(|combination| combination.call_index == event.call_index)
    };
    events.find(is_of_it)
}

/// Why the agent did not get over the fault, when it did not.
fn failure(matrix: &FaultMatrix, run: &Run<'_>, event: &FaultEvent<'_>) -> Option<String> {
    if let Some(error) = run.trace.fatal_error() {
        return Some(format!("the run ended in an error: {error}"));
    }
    if !run.passed {
        return Some("its `expect:` did not hold".to_owned());
    }
    let is_silent = !matrix.has_expectations && !succeeds_after(run.trace, event.call_index);
    is_silent.then(|| "no later call succeeded".to_owned())
}

/// Returns true if the call failed. A delay within its time limit is not a failure.
fn has_failed(trace: &Trace<'_>, call_index: usize) -> bool {
    let results = trace.results_by_call();
    results
        .get(call_index)
        .is_none_or(|result| result.is_none_or(CallResult::is_failure))
}

/// Returns true if a call in a later turn succeeded.
fn succeeds_after(trace: &Trace<'_>, call_index: usize) -> bool {
    let turn = |at: usize| trace.tool_calls.get(at).and_then(|call| call.turn);
    let is_later = |at: usize| turn(at).is_none() || turn(at) != turn(call_index);
    let results = trace.results_by_call();
    let later = results
        .iter()
        .enumerate()
        .skip(call_index + 1)
        .filter(|(at, _)| is_later(*at));
    later
        .into_iter()
        .any(|(_, result)| result.is_some_and(|result| !result.is_failure()))
}
