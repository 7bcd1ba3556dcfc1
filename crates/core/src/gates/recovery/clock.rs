//! What did the recorded faults cost in virtual time, and what followed them?

use super::event::{delay_of, flaw};
use super::marks::{
    RecoveryFailure, RecoveryLimits, RecoveryMarks, RecoveryReport, score_recovery,
};
use crate::engine::success::Success;
use crate::fault::{Effect, FaultKind};
use crate::hashed::{HashMap, HashSet};
use crate::json;
use crate::trace::{Call, CallResult, FaultEvent, Tool, Trace};
use serde::{Serialize, de::Error};
use serde_json::Value;
use std::collections::BTreeSet;

/// The effects of the injected faults on one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunRecovery {
    /// True if every injected fault made a call fail.
    pub exercised: bool,
    /// The worst of the encounters with them. `None` if no call failed by a fault.
    pub report: Option<RecoveryReport>,
    /// True if the run has no failure.
    pub gate_passed: bool,
    /// The failures, in order.
    pub reasons: Vec<RecoveryFailure>,
}

/// Scores the injected faults in a trace envelope, in virtual time. Without names, it scores the
/// faults that the envelope records.
///
/// An event is an error if its call contradicts it, or if it lacks the delay of a late answer.
pub fn score_recovery_in_trace(
    envelope: &Value,
    injected: &[&str],
    limits: &RecoveryLimits,
) -> Result<RunRecovery, serde_json::Error> {
    let text = envelope.to_string();
    let trace = Trace::read(&text)?;
    if let Some(flaw) = flaw(&trace) {
        return Err(serde_json::Error::custom(flaw));
    }
    let encounters = encounters(&trace, limits, &Overcoming::default());
    let every_one_was_met = injected
        .iter()
        .all(|name| encounters.iter().any(|met| met.fault == *name));
    let of_interest = |met: &&Encounter<'_>| injected.is_empty() || injected.contains(&met.fault);
    let met: Vec<&Encounter<'_>> = encounters.iter().filter(of_interest).collect();
    Ok(RunRecovery::over(
        &met,
        every_one_was_met && !met.is_empty(),
    ))
}

impl RunRecovery {
    pub(super) fn over(encounters: &[&Encounter<'_>], exercised: bool) -> Self {
        let report = worst(encounters);
        let reasons = match &report {
            Some(report) if exercised => report.reasons.clone(),
            _ => vec![RecoveryFailure::FaultNotExercised],
        };
        Self {
            exercised,
            report,
            gate_passed: reasons.is_empty(),
            reasons,
        }
    }
}

/// The slowest of each, the reasons of all.
fn worst(encounters: &[&Encounter<'_>]) -> Option<RecoveryReport> {
    let reports = || encounters.iter().map(|met| &met.report);
    let slowest = |time: fn(&RecoveryReport) -> Option<u64>| {
        reports()
            .map(time)
            .collect::<Option<Vec<u64>>>()
            .and_then(|times| times.into_iter().max())
    };
    let user_visible_hang_ms = reports().map(|report| report.user_visible_hang_ms).max()?;
    let mut reasons: BTreeSet<RecoveryFailure> = reports()
        .flat_map(|report| report.reasons.iter().copied())
        .collect();
    if reasons.contains(&RecoveryFailure::NotRecovered) {
        reasons.remove(&RecoveryFailure::RecoveryTooSlow);
    }
    Some(RecoveryReport {
        time_to_detection_ms: slowest(|report| report.time_to_detection_ms),
        time_to_recovery_ms: slowest(|report| report.time_to_recovery_ms),
        user_visible_hang_ms,
        recovered: reports().all(|report| report.recovered),
        clean_timeout: reports().all(|report| report.clean_timeout),
        gate_passed: reasons.is_empty(),
        reasons: reasons.into_iter().collect(),
    })
}

/// A fault that made a call fail, from that call until the agent got past it.
pub(super) struct Encounter<'t> {
    pub(super) fault: &'t str,
    /// The first call that failed.
    pub(super) call: usize,
    /// The number of failed calls.
    pub(super) failures: usize,
    /// The call that succeeded in a later turn.
    pub(super) recovered_by: Option<usize>,
    pub(super) report: RecoveryReport,
    pub(super) marks: RecoveryMarks,
}

/// The calls that overcome a failure.
#[derive(Debug, Default)]
pub(super) struct Overcoming {
    /// The tools whose success is a recovery; any tool if empty.
    pub(super) tools: Vec<String>,
    /// The condition on the result's text, besides not being an error.
    pub(super) success: Option<Success>,
}

impl Overcoming {
    /// Returns true if this call overcomes an earlier failure. Its result is not marked as a failure.
    fn is_by(&self, call: &Call<'_>, result: &CallResult<'_>) -> bool {
        let is_to_tool = self.tools.is_empty() || self.tools.iter().any(|tool| call.is_to(tool));
        let is_success = self
            .success
            .as_ref()
            .is_none_or(|success| success.holds(result));
        is_to_tool && is_success
    }
}

/// Every time that a fault made calls fail, in the order of the calls.
pub(super) fn encounters<'t>(
    trace: &'t Trace<'_>,
    limits: &RecoveryLimits,
    overcoming: &Overcoming,
) -> Vec<Encounter<'t>> {
    let mut events: HashMap<usize, Vec<&'t FaultEvent<'_>>> = HashMap::default();
    for event in trace.faults.iter().flatten() {
        events.entry(event.call_index).or_default().push(event);
    }
    let mut clock = Clock {
        now_ms: 0,
        encounters: Vec::new(),
        overcoming,
    };
    for (at, result) in trace.results_by_call().iter().enumerate() {
        let succeeded = result.is_some_and(|result| !result.is_failure());
        let hits = events.remove(&at).unwrap_or_default();
        let blow = |event| (event, Blow::new(event, succeeded, limits.max_detection_ms));
        let blows: Vec<(&FaultEvent<'_>, Blow)> = hits.into_iter().map(blow).collect();
        for (event, blow) in blows.iter().filter(|(_, blow)| blow.is_failure) {
            let noticed_after_ms = event.detected.then_some(blow.noticed_after_ms);
            clock.fail(at, &event.name, noticed_after_ms, &trace.tool_calls);
        }
        clock.pass(
            blows
                .iter()
                .map(|(_, blow)| blow.cost_ms)
                .max()
                .unwrap_or_default(),
        );
        if let Some(result) = result
            && succeeded
            && !blows.iter().any(|(_, blow)| blow.is_failure)
        {
            clock.succeed(at, result, &trace.tool_calls);
        }
    }
    clock.scored(limits)
}

/// Every time that calls really failed, in the order of the calls and with measured times. A call
/// without a measured time takes 0 ms here. A call that fails before an earlier failure is overcome
/// belongs to that failure. `failed` marks the calls that count as failed.
pub(super) fn measured_encounters<'t>(
    trace: &'t Trace<'_>,
    failed: &[bool],
    limits: &RecoveryLimits,
    overcoming: &Overcoming,
) -> Vec<Encounter<'t>> {
    let mut clock = Clock {
        now_ms: 0,
        encounters: Vec::new(),
        overcoming,
    };
    for (at, result) in trace.results_by_call().iter().enumerate() {
        let took_ms = result.and_then(|result| result.duration_ms);
        if failed[at] {
            let noticed_after_ms = result.map(|_| took_ms.unwrap_or_default());
            clock.fail(at, MEASURED, noticed_after_ms, &trace.tool_calls);
        }
        clock.pass(took_ms.unwrap_or_default());
        if let Some(result) = result
            && !result.is_failure()
        {
            clock.succeed(at, result, &trace.tool_calls);
        }
    }
    clock.scored(limits)
}

/// The name of the fault if calls really failed.
const MEASURED: &str = "";

/// Counts the repetitions of calls whose response was lost: the tool ran, and a later call is equal.
pub(super) fn repeated_effects(trace: &Trace<'_>) -> usize {
    let lost: HashSet<usize> = trace
        .faults
        .iter()
        .flatten()
        .filter(|event| event.kind.is(FaultKind::LostResponse))
        .map(|event| event.call_index)
        .collect();
    let mut done: HashSet<(Tool<'_>, u128)> = HashSet::default();
    let mut repeated = 0;
    for (at, (call, result)) in trace
        .tool_calls
        .iter()
        .zip(trace.results_by_call())
        .enumerate()
    {
        let effect = (
            Tool::from(call),
            call.args.map_or(0, |args| json::hash(args.get())),
        );
        let has_run = lost.contains(&at) || result.is_some_and(|result| !result.is_failure());
        repeated += usize::from(has_run && done.contains(&effect));
        if lost.contains(&at) {
            done.insert(effect);
        }
    }
    repeated
}

/// Virtual time, and the faults so far.
struct Clock<'t, 'w> {
    now_ms: u64,
    encounters: Vec<Encounter<'t>>,
    overcoming: &'w Overcoming,
}

impl<'t> Clock<'t, '_> {
    fn scored(mut self, limits: &RecoveryLimits) -> Vec<Encounter<'t>> {
        for met in &mut self.encounters {
            met.report = score_recovery(&met.marks, limits);
        }
        self.encounters
    }

    fn pass(&mut self, cost_ms: u64) {
        self.now_ms = self.now_ms.saturating_add(cost_ms);
    }

    /// Records a failure. A failure in a later turn than the last recovery begins a new encounter.
    fn fail(
        &mut self,
        call: usize,
        fault: &'t str,
        noticed_after_ms: Option<u64>,
        calls: &[Call<'_>],
    ) {
        let noticed_at_ms = noticed_after_ms.map(|after_ms| self.now_ms.saturating_add(after_ms));
        let last = self.encounters.iter().rposition(|met| met.fault == fault);
        let goes_on = |met: &Encounter<'_>| {
            met.recovered_by
                .is_none_or(|by| !is_later_turn(calls, by, call))
        };
        let at = last
            .filter(|at| goes_on(&self.encounters[*at]))
            .unwrap_or_else(|| {
                let marks = RecoveryMarks {
                    call_start_ms: self.now_ms,
                    ..RecoveryMarks::default()
                };
                let report = RecoveryReport::default();
                self.encounters.push(Encounter {
                    fault,
                    call,
                    failures: 0,
                    recovered_by: None,
                    report,
                    marks,
                });
                self.encounters.len() - 1
            });
        let met = &mut self.encounters[at];
        met.failures += 1;
        met.marks.detected_at_ms = met.marks.detected_at_ms.or(noticed_at_ms);
    }

    fn succeed(&mut self, call: usize, result: &CallResult<'_>, calls: &[Call<'_>]) {
        if !self.overcoming.is_by(&calls[call], result) {
            return;
        }
        for met in self
            .encounters
            .iter_mut()
            .filter(|met| met.recovered_by.is_none())
        {
            if is_later_turn(calls, met.call, call) {
                met.recovered_by = Some(call);
                met.marks.recovered_at_ms = Some(self.now_ms);
            }
        }
    }
}

impl Encounter<'_> {
    /// Returns true if a call really failed, without an injected fault.
    pub(super) fn is_measured(&self) -> bool {
        self.fault == MEASURED
    }

    /// Accepts that nothing succeeded afterwards.
    pub(super) fn accept_giving_up(&mut self) {
        self.report
            .reasons
            .retain(|reason| *reason != RecoveryFailure::NotRecovered);
        self.report.gate_passed = self.report.reasons.is_empty();
    }
}

/// The effect of an event on its call.
struct Blow {
    is_failure: bool,
    cost_ms: u64,
    noticed_after_ms: u64,
}

impl Blow {
    /// The recorded cost of an event. Without one, silence costs the budget of the call and a
    /// refusal costs nothing.
    fn new(event: &FaultEvent<'_>, succeeded: bool, budget_ms: u64) -> Self {
        match event.kind.effect() {
            Some(Effect::Delay) => {
                let delay_ms = delay_of(event).unwrap_or_default();
                let noticed_after_ms = delay_ms.min(budget_ms);
                Self {
                    is_failure: delay_ms > budget_ms,
                    cost_ms: delay_ms,
                    noticed_after_ms,
                }
            }
            Some(Effect::Silence) if !succeeded => {
                let cost_ms = event.virtual_ms.unwrap_or(budget_ms);
                Self {
                    is_failure: true,
                    cost_ms,
                    noticed_after_ms: cost_ms,
                }
            }
            effect => {
                let cost_ms = event.virtual_ms.unwrap_or_default();
                let is_failure = !succeeded && effect != Some(Effect::Nothing);
                Self {
                    is_failure,
                    cost_ms,
                    noticed_after_ms: cost_ms,
                }
            }
        }
    }
}

/// Returns true if a call is in a later turn than another. A call without a turn is a separate turn.
fn is_later_turn(calls: &[Call<'_>], first: usize, later: usize) -> bool {
    let turns = calls[first].turn.zip(calls[later].turn);
    later > first && turns.is_none_or(|(first, later)| later > first)
}
