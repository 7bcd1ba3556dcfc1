//! Which combinations were reached, and which did the agent get over?

use super::{COMBINATIONS, FaultMatrix, KIND, REACHED, SURVIVAL_RATE, SURVIVED};
use crate::engine::Combination;
use crate::engine::scores::Scores;
use crate::report::evidence::{CellStatus, FaultCell};
use crate::report::{Evidence, Finding, Number};
use crate::trace::{CallResult, FaultEvent, Run, Trace};
use crate::words::{count, distinct, some_of};

/// The outcomes of the combinations, by their names.
#[derive(Default)]
struct CombinationOutcomes {
    survived: usize,
    lost: Vec<String>,
    /// Combinations whose calls were not made.
    unreached: Vec<String>,
    /// Combinations whose calls did not fail.
    harmless: Vec<String>,
}

impl CombinationOutcomes {
    fn add(&mut self, name: String, outcome: &CombinationOutcome) {
        match outcome {
            CombinationOutcome::Unreached => self.unreached.push(name),
            CombinationOutcome::Harmless => self.harmless.push(name),
            CombinationOutcome::Survived => self.survived += 1,
            CombinationOutcome::Lost(_) => self.lost.push(name),
        }
    }

    fn reached(&self) -> usize {
        self.survived + self.lost.len()
    }
}

/// Scores the runs. Run i is combination i of the recorded header.
pub(super) fn score(matrix: &FaultMatrix, runs: &[Run<'_>]) -> Scores {
    let mut scores = Scores::default();
    let mut tally = CombinationOutcomes::default();
    for (at, run) in runs.iter().enumerate() {
        let strike = Strike::new(matrix, run, at);
        if let CombinationOutcome::Lost(why) = &strike.outcome {
            scores.findings.push(not_survived(&strike, run, why));
        }
        tally.add(strike.name(run), &strike.outcome);
    }
    let reached = tally.reached();
    if runs.is_empty() {
        scores.not_exercised = Some("the first run made no call that could fail".to_owned());
    } else if reached == 0 {
        scores.not_exercised = Some("no combination made a call fail".to_owned());
    }
    scores.summary = Some(summary(runs.len(), &tally));
    scores.findings.extend(never_reached(&tally));
    scores.findings.extend(never_failed(&tally));
    let number = |count: usize| Some(Number::Int(count as i64));
    let survival_rate = (100 * tally.survived).checked_div(reached);
    scores
        .set(&COMBINATIONS, number(runs.len()))
        .set(&REACHED, number(reached))
        .set(&SURVIVED, number(tally.survived))
        .set(&SURVIVAL_RATE, survival_rate.and_then(number));
    scores
}

fn not_survived(strike: &Strike<'_>, run: &Run<'_>, why: &str) -> Finding {
    let name = strike.name(run);
    let tool = strike.tool_in_words(run);
    let message = format!("{name}{tool} was not survived: {why}");
    Finding::new(Some(run.number), message).about(&[SURVIVED, SURVIVAL_RATE])
}

/// Names the combinations whose calls were not made, if some were.
fn never_reached(tally: &CombinationOutcomes) -> Option<Finding> {
    if tally.unreached.is_empty() || tally.reached() == 0 {
        return None;
    }
    let named = tally.unreached.join(", ");
    let message = format!("never reached, since the call was not made: {named}");
    Some(Finding::new(None, message).about(&[REACHED]))
}

fn never_failed(tally: &CombinationOutcomes) -> Option<Finding> {
    if tally.harmless.is_empty() {
        return None;
    }
    let message = format!("did not make the call fail: {}", tally.harmless.join(", "));
    Some(Finding::new(None, message).about(&[REACHED]))
}

/// `survived 5 of 6 faults (83%): not hang@2; 1 never reached: hang@3`.
fn summary(combinations: usize, tally: &CombinationOutcomes) -> String {
    let survived = tally.survived;
    let reached = tally.reached();
    let rate = match (100 * survived).checked_div(reached) {
        Some(rate) => format!(" ({rate}%)"),
        None => String::new(),
    };
    let faults = count(reached, "fault");
    let mut summary = format!("survived {survived} of {faults}{rate}");
    if !tally.lost.is_empty() {
        let named = some_of(tally.lost.iter().map(String::as_str));
        summary.push_str(&format!(": not {named}"));
    }
    if !tally.unreached.is_empty() {
        let named = some_of(tally.unreached.iter().map(String::as_str));
        let unreached = tally.unreached.len();
        summary.push_str(&format!(
            "; {unreached} of {combinations} never reached: {named}"
        ));
    }
    summary
}

/// The effect of the fault of a run.
struct Strike<'t> {
    /// The combination that the recording names for the run.
    label: Option<String>,
    /// The affected call, if it was made.
    event: Option<&'t FaultEvent<'t>>,
    outcome: CombinationOutcome,
}

enum CombinationOutcome {
    /// Its call was not made.
    Unreached,
    /// The call did not fail.
    Harmless,
    Survived,
    /// The agent did not survive it, for this reason.
    Lost(String),
}

impl<'t> Strike<'t> {
    fn new(matrix: &FaultMatrix, run: &Run<'t>, at: usize) -> Self {
        let combinations = run
            .header
            .and_then(|header| header.parameters.get(KIND.key));
        let label = combinations
            .and_then(|all| all.get(at)?.as_str())
            .map(str::to_owned);
        let event = event(run.trace, label.as_deref());
        let outcome = match event {
            None => CombinationOutcome::Unreached,
            Some(event) if !has_failed(run.trace, event.call_index) => CombinationOutcome::Harmless,
            Some(event) => failure(matrix, run, event)
                .map_or(CombinationOutcome::Survived, CombinationOutcome::Lost),
        };
        Self {
            label,
            event,
            outcome,
        }
    }

    /// The name in the recording, otherwise the name of the fault that the run met, otherwise the run.
    fn name(&self, run: &Run<'_>) -> String {
        match (&self.label, self.event) {
            (Some(label), _) => label.clone(),
            (None, Some(event)) => event.name.to_string(),
            (None, None) => format!("run {}", run.number),
        }
    }

    /// `` (`search`)``, if the call was made.
    fn tool_in_words(&self, run: &Run<'_>) -> String {
        let calls = &run.trace.tool_calls;
        match self.event.and_then(|event| calls.get(event.call_index)) {
            Some(call) => format!(" (`{}`)", call.name),
            None => String::new(),
        }
    }

    /// The cell of the picture that it belongs to, without any run.
    fn cell(&self, trace: &Trace<'_>) -> FaultCell {
        let label = self.label.as_ref();
        let combination = label.and_then(|label| label.parse::<Combination>().ok());
        let met = self.event.map(|event| event.call_index);
        let call = met.or(combination.map(|combination| combination.call_index));
        let tool = call.and_then(|call| trace.tool_calls.get(call));
        let kind = match (combination, self.event) {
            (Some(combination), _) => Some(combination.kind.to_string()),
            (None, Some(event)) => Some(event.kind.to_string()),
            (None, None) => None,
        };
        let unknown = || "?".to_owned();
        FaultCell {
            tool: tool.map_or_else(unknown, |call| call.name.to_string()),
            fault: kind.unwrap_or_else(unknown),
            runs: 0,
            met: 0,
            recovered: 0,
            status: CellStatus::Unmet,
        }
    }
}

/// The effect of each kind of fault on the calls of each tool.
pub(super) fn evidence(matrix: &FaultMatrix, runs: &[Run<'_>]) -> Evidence {
    let mut cells: Vec<FaultCell> = Vec::new();
    for (at, run) in runs.iter().enumerate() {
        let strike = Strike::new(matrix, run, at);
        let blank = strike.cell(run.trace);
        let is_same = |cell: &FaultCell| cell.tool == blank.tool && cell.fault == blank.fault;
        let at = cells.iter().position(is_same).unwrap_or_else(|| {
            cells.push(blank);
            cells.len() - 1
        });
        let cell = &mut cells[at];
        cell.runs += 1;
        if let CombinationOutcome::Survived | CombinationOutcome::Lost(_) = strike.outcome {
            cell.met += 1;
            cell.recovered += usize::from(matches!(strike.outcome, CombinationOutcome::Survived));
            cell.status = if cell.recovered < cell.met {
                CellStatus::Lost
            } else {
                CellStatus::Survived
            };
        }
    }
    Evidence::FaultMatrix {
        tools: distinct(cells.iter().map(|cell| cell.tool.clone())),
        faults: distinct(cells.iter().map(|cell| cell.fault.clone())),
        cells,
    }
}

/// The call with the combination's fault, or with any fault if the recording does not name the
/// combination.
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

/// Why the agent did not survive the fault, if it did not.
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
