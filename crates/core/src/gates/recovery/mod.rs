//! `recovery:` did the agent notice the injected fault, and get past it in time?

mod clock;
mod event;
mod give_up;
mod marks;
mod outage;
#[cfg(test)]
mod tests;

pub use clock::{RunRecovery, score_recovery_in_trace};
pub use event::is_contradicted;
pub use marks::{RecoveryFailure, RecoveryLimits, RecoveryMarks, RecoveryReport, score_recovery};

use crate::engine::facts::AgentFacts;
use crate::engine::gate::{Documentation, Gate, GateKind, GateTrait, RunFailsBy};
use crate::engine::recording::Recording;
use crate::engine::scores::{RunScores, Scores};
use crate::engine::shown::MOST_CALLS;
use crate::engine::shown::Shown;
use crate::engine::success::Success;
use crate::engine::target::{Target, Unit};
use crate::fault::Effect;
use crate::problem::Problem;
use crate::report::evidence::{self, RecoveryRun};
use crate::report::{Evidence, Number};
use crate::suite::Fault;
use crate::suite::read::Block;
use crate::trace::{Call, Run, Trace};
use crate::words::{any_of, count};
use clock::{Encounter, Overcoming, encounters, measured_encounters, repeated_effects};
use event::flaw;
use give_up::gives_up;
use outage::{Failures, failed_calls};

const RECOVERED: Target = Target::flag(
    "recovery.recovered",
    "1 when, each time that calls failed by a fault, a call in a later turn succeeded",
);
const TIME_TO_DETECTION: Target = Target::count(
    "recovery.time_to_detection_ms",
    "from the first failing call until the agent received a failure, in the worst case",
)
.in_unit(Unit::Ms);
const TIME_TO_RECOVERY: Target = Target::count(
    "recovery.time_to_recovery_ms",
    "from the first failing call to the next success, in the worst case",
)
.in_unit(Unit::Ms);
const USER_VISIBLE_HANG: Target = Target::count(
    "recovery.user_visible_hang_ms",
    "how long the call hung before the agent received a failure, in the worst case",
)
.in_unit(Unit::Ms);
const CLEAN_TIMEOUT: Target = Target::flag(
    "recovery.clean_timeout",
    "1 when the agent always received the failure within the budget of the call",
);
const EXERCISED: Target = Target::flag(
    "recovery.exercised",
    "1 when every injected fault made a call fail",
);
const REPEATED_EFFECTS: Target = Target::count(
    "recovery.repeated_effects",
    "calls that repeat completed work whose answer was lost",
)
.summed();
const GATE_PASSED: Target = Target::flag("recovery.gate_passed", "1 when the run has no flaw");
const PASS_RATE: Target = Target::pass_rate("recovery.pass_rate");

const TARGETS: &[Target] = &[
    RECOVERED,
    TIME_TO_DETECTION,
    TIME_TO_RECOVERY,
    USER_VISIBLE_HANG,
    CLEAN_TIMEOUT,
    EXERCISED,
    REPEATED_EFFECTS,
    GATE_PASSED,
    PASS_RATE,
];

/// The block, and the agent's `inject:`.
pub(crate) struct RecoveryBlock {
    limits: RecoveryLimits,
    inject: Vec<String>,
    overcoming: Overcoming,
    accepts_giving_up: bool,
    /// The failures to judge without injected faults.
    failures: Failures,
}

pub(super) const KIND: GateKind = GateKind::new(
    "recovery",
    Documentation {
        summary: "Did the agent notice the injected fault, and get past it in time?",
        doc: include_str!("doc.md"),
        example: include_str!("example.yml"),
    },
    TARGETS,
    RunFailsBy::Assertions,
    |block| Box::new(RecoveryBlock::read(block)),
)
.with_floors(&[(GATE_PASSED, 1.0)])
.with_traits(&[
    GateTrait::CanBeRefuted,
    GateTrait::CountsSuccess,
    GateTrait::JudgesFaults,
]);

/// The failures of a run that count, and the injected faults that it did not meet.
struct RunFaults<'m, 't> {
    met: Vec<&'m Encounter<'t>>,
    missed: Vec<&'m String>,
}

/// Reports a failure, about the targets that it lowers.
fn hold(scores: &mut RunScores, failure: RecoveryFailure, said: &str) {
    let about: &[Target] = match failure {
        RecoveryFailure::NotRecovered => &[RECOVERED, GATE_PASSED],
        RecoveryFailure::RecoveryTooSlow => &[TIME_TO_RECOVERY, GATE_PASSED],
        RecoveryFailure::UncleanTimeout => &[
            CLEAN_TIMEOUT,
            USER_VISIBLE_HANG,
            TIME_TO_DETECTION,
            GATE_PASSED,
        ],
        RecoveryFailure::FaultNotExercised => &[EXERCISED, GATE_PASSED],
    };
    scores.find_about(about, format!("{failure}: {said}"));
}

impl Gate for RecoveryBlock {
    fn score_run(&self, run: &Run<'_>) -> RunScores {
        let trace = run.trace;
        let mut scores = RunScores::default();
        if let Some(flaw) = flaw(trace) {
            scores.find(format!("nothing is measured: {flaw}"));
            return scores;
        }
        let all = self.all_met(run);
        scores.whole(&REPEATED_EFFECTS, repeated_effects(trace));
        if self.inject.is_empty() && all.is_empty() {
            scores
                .flag(&EXERCISED, false)
                .flag(&GATE_PASSED, true)
                .not_exercised(self.why_no_outage(trace));
            return scores;
        }
        let faults = self.faults_of(&all);
        self.score_faults(&faults, trace, &mut scores);
        self.explain(&faults, trace, &mut scores);
        scores
    }

    fn evidence(&self, shown: &Shown<'_, '_>) -> Option<Evidence> {
        let of_run = |run: &&Run<'_>| {
            let met = if flaw(run.trace).is_none() {
                self.all_met(run)
            } else {
                Vec::new()
            };
            let met = met.iter().filter(|met| self.is_meant(met)).take(MOST_CALLS);
            RecoveryRun {
                run: run.number,
                encounters: met.map(|met| self.shown(met, run.trace)).collect(),
            }
        };
        Some(Evidence::Recovery {
            runs: shown.listed.iter().map(of_run).collect(),
            left_out: shown.left_out(),
        })
    }

    fn recording(&self) -> Recording<'_> {
        Recording {
            call_budget_ms: Some(self.limits.max_detection_ms),
            ..Recording::default()
        }
    }

    /// The written limits apply with any `expect:`.
    fn expect_beside(&self, has_expect: bool) -> Vec<(Target, f64)> {
        let has_limits = self.limits.max_recovery_ms.is_some() || self.limits.require_clean_timeout;
        if has_expect && has_limits {
            KIND.floors.to_vec()
        } else {
            Vec::new()
        }
    }

    /// Runs that may not have met every fault prove nothing, whatever the suite asserts.
    fn fold(&self, runs: &[Run<'_>], scored: Vec<RunScores>) -> Scores {
        let mut scores = Scores::from_runs(runs, scored);
        let is_exercised = scores.value(EXERCISED.name) == Some(Number::Int(1));
        scores.is_refuted = !self.inject.is_empty() && !is_exercised;
        scores
    }

    fn lint(&self, agent: &AgentFacts<'_>) -> Vec<Problem> {
        let unknown = agent.unknown_tools(agent.named);
        let faults = agent
            .inject
            .iter()
            .filter_map(|fault| self.lint_fault(fault, agent));
        faults.chain(unknown).collect()
    }
}

impl RecoveryBlock {
    fn read(block: &mut Block<'_>) -> Self {
        let doc = "The time budget of one call; a call without an answer uses all of it";
        let max_detection_ms = block.required("max_detection_ms", doc, |f| f.whole(1..=u64::MAX));
        let doc = "The maximum total time of recovery [default: unlimited]";
        let max_recovery_ms = block.optional("max_recovery_ms", doc, |f| f.whole(0..=u64::MAX));
        let doc = "Fail if the agent receives the failure later than `max_detection_ms`";
        let limits = RecoveryLimits {
            max_detection_ms: max_detection_ms.unwrap_or_default(),
            max_recovery_ms,
            require_clean_timeout: block.flag("require_clean_timeout", doc, false),
        };
        let doc = "The tools whose success is a recovery [default: any]";
        let tools = block.list("recovered_by", doc, |item| item.tool());
        let doc = "The calls that overcome a failure: `true` for results without an error, or a matcher for the text \
                   of a result [default: the agent's `successful:`]";
        let success = Success::read(block, doc);
        let doc = "The verdict on a run that stops and reports its failure";
        let accepts_giving_up = block.optional("on_give_up", doc, |f| {
            f.choice("a verdict", &[("fail", false), ("pass", true)])
        });
        let inject = block
            .sibling("inject", |field| field.list(|item| item.name()))
            .unwrap_or_default();
        let doc = "Which failures count without `inject:`: `outages`, or `errors` for results marked as errors too";
        let failures = block.optional("failures", doc, |f| {
            f.choice(
                "the failures to judge",
                &[("outages", Failures::Outages), ("errors", Failures::Errors)],
            )
        });
        if failures.is_some() && !inject.is_empty() && !block.is_describing() {
            let problem = Problem::warning(
                "`failures` has no effect beside `inject:`: the injected faults are judged",
            );
            block.report_at("failures", problem.help("remove it"));
        }
        Self {
            limits,
            inject,
            overcoming: Overcoming { tools, success },
            accepts_giving_up: accepts_giving_up.unwrap_or(false),
            failures: failures.unwrap_or(Failures::Outages),
        }
    }

    /// Every failure of a run, also by faults that the agent does not name.
    fn all_met<'t>(&self, run: &Run<'t>) -> Vec<Encounter<'t>> {
        let (trace, limits) = (run.trace, &self.limits);
        let mut all = if self.inject.is_empty() {
            let failed = failed_calls(trace, run.catalogue(), self.failures);
            measured_encounters(trace, &failed, limits, &self.overcoming)
        } else {
            encounters(trace, limits, &self.overcoming)
        };
        if self.accepts_giving_up && gives_up(trace) {
            all.iter_mut().for_each(Encounter::accept_giving_up);
        }
        all
    }

    /// The failures of a run that count, and the injected faults that it did not meet.
    fn faults_of<'m, 't>(&'m self, all: &'m [Encounter<'t>]) -> RunFaults<'m, 't> {
        let met: Vec<&Encounter<'_>> = all.iter().filter(|met| self.is_meant(met)).collect();
        let missed = self
            .inject
            .iter()
            .filter(|name| !met.iter().any(|met| met.fault == *name))
            .collect();
        RunFaults { met, missed }
    }

    /// Sets the targets of a run that met a failure, or had to meet one.
    fn score_faults(&self, faults: &RunFaults<'_, '_>, trace: &Trace<'_>, scores: &mut RunScores) {
        let has_met = !faults.met.is_empty();
        let run = RunRecovery::over(&faults.met, faults.missed.is_empty() && has_met);
        let has_crashed = has_met && trace.crash().is_some();
        scores
            .flag(&EXERCISED, run.exercised)
            .flag(&GATE_PASSED, run.gate_passed && !has_crashed);
        if has_crashed {
            let crashed = "the agent crashed after a call had failed";
            hold(scores, RecoveryFailure::NotRecovered, crashed);
        }
        let is_timed = self.is_timed(trace);
        let limits_time =
            self.limits.max_recovery_ms.is_some() || self.limits.require_clean_timeout;
        if !is_timed && limits_time {
            scores.not_exercised("some calls have no `duration_ms`, so their times are not judged");
        }
        let Some(report) = &run.report else {
            return;
        };
        scores.flag(&RECOVERED, report.recovered && !has_crashed);
        if is_timed {
            scores
                .flag(&CLEAN_TIMEOUT, report.clean_timeout)
                .milliseconds(&USER_VISIBLE_HANG, Some(report.user_visible_hang_ms))
                .milliseconds(&TIME_TO_DETECTION, report.time_to_detection_ms)
                .milliseconds(&TIME_TO_RECOVERY, report.time_to_recovery_ms);
        }
    }

    /// Returns true if the run's times are known: injected faults take virtual time.
    fn is_timed(&self, trace: &Trace<'_>) -> bool {
        let mut results = trace.tool_results.iter();
        !self.inject.is_empty() || results.all(|result| result.duration_ms.is_some())
    }

    /// Reports each fault that the run did not meet, and each failure that it did not overcome.
    fn explain(&self, faults: &RunFaults<'_, '_>, trace: &Trace<'_>, scores: &mut RunScores) {
        for name in &faults.missed {
            let why = self.why_missed(name, trace);
            hold(scores, RecoveryFailure::FaultNotExercised, &why);
            scores.not_exercised(why);
        }
        for met in &faults.met {
            for reason in &met.report.reasons {
                let sentence = self.sentence(*reason, met, &trace.tool_calls);
                hold(scores, *reason, &sentence);
            }
        }
    }

    /// Why a run without an injected fault shows nothing to recover from.
    fn why_no_outage(&self, trace: &Trace<'_>) -> String {
        let errors = trace.tool_results.iter().filter(|one| one.is_failure());
        match (errors.count(), self.failures) {
            (0, _) => "no call failed".to_owned(),
            (1, Failures::Outages) => {
                "no call met an outage; 1 result is an error, which `failures: errors` counts"
                    .to_owned()
            }
            (errors, Failures::Outages) => format!(
                "no call met an outage; {errors} results are errors, which `failures: errors` counts"
            ),
            (_, Failures::Errors) => "no call of a tool that exists failed".to_owned(),
        }
    }

    fn is_meant(&self, met: &Encounter<'_>) -> bool {
        self.inject.is_empty() || self.inject.iter().any(|name| name == met.fault)
    }

    fn shown(&self, met: &Encounter<'_>, trace: &Trace<'_>) -> evidence::Encounter {
        let report = &met.report;
        let event = trace
            .faults
            .iter()
            .flatten()
            .find(|event| event.name == met.fault);
        let outcome = match report.reasons.first() {
            Some(reason) => reason.to_string(),
            None if report.recovered => "recovered".to_owned(),
            None => "gave_up".to_owned(),
        };
        evidence::Encounter {
            fault: (!met.is_measured()).then(|| met.fault.to_owned()),
            kind: event.map(|event| event.kind.to_string()),
            call: met.call + 1,
            at_ms: met.marks.call_start_ms,
            wait_ms: report.user_visible_hang_ms,
            detected: report.time_to_detection_ms.is_some(),
            detected_ms: report.time_to_detection_ms,
            recovered_ms: report.time_to_recovery_ms,
            recovered_by_call: met.recovered_by.map(|call| call + 1),
            limit_ms: self.limits.max_recovery_ms,
            outcome,
        }
    }

    /// Refuses a fault that cannot make a call fail, and warns about a fault that only a measured
    /// time could overcome.
    fn lint_fault(&self, fault: &Fault, agent: &AgentFacts<'_>) -> Option<Problem> {
        let RecoveryLimits {
            max_detection_ms: budget,
            max_recovery_ms,
            ..
        } = self.limits;
        let (name, kind) = (&fault.name, fault.kind);
        let delay_ms = kind.delay_ms().unwrap_or_default();
        let least_ms = match kind.effect() {
            Effect::Silence => budget,
            Effect::Delay => delay_ms,
            Effect::Nothing | Effect::Refusal => 0,
        };
        let is_harmless = kind.effect() == Effect::Delay && delay_ms <= budget;
        let problem = if kind.effect() == Effect::Nothing {
            Problem::error(format!(
                "`{name}` makes no call fail: the gate can only report `fault_not_exercised`"
            ))
            .help("give the fault another kind, such as `hang`")
        } else if is_harmless {
            Problem::warning(format!(
                "`{name}` ({kind}) makes no call fail within a budget of {budget} ms"
            ))
            .help(format!(
                "delay by more than {budget} ms, or give the fault another kind, such as `hang`"
            ))
        } else if max_recovery_ms.is_some_and(|most| least_ms > most) {
            let most = max_recovery_ms.unwrap_or_default();
            let message = format!(
                "recovery from `{name}` takes at least {least_ms} ms, and `max_recovery_ms` is {most}"
            );
            Problem::warning(message).help(format!(
                "allow at least {least_ms} ms, or lower `max_detection_ms`"
            ))
        } else {
            return None;
        };
        Some(problem.at(agent.key_span).also(fault.span, "the fault"))
    }

    fn why_missed(&self, name: &str, trace: &Trace<'_>) -> String {
        let mut recorded = trace.faults.iter().flatten();
        match (recorded.find(|event| event.name == name), &trace.faults) {
            (Some(event), _) => {
                let (kind, call, budget) = (
                    &event.kind,
                    event.call_index + 1,
                    self.limits.max_detection_ms,
                );
                format!(
                    "`{name}` ({kind}) reached call {call}, but the call did not fail (its budget is {budget} ms)"
                )
            }
            (None, Some(_)) => format!("no call ran into `{name}`"),
            (None, None) => format!("no call ran into `{name}`: the trace records no faults"),
        }
    }

    fn sentence(&self, reason: RecoveryFailure, met: &Encounter<'_>, calls: &[Call<'_>]) -> String {
        let RecoveryLimits {
            max_detection_ms: budget,
            max_recovery_ms,
            ..
        } = self.limits;
        let called = |at: usize| format!("call {} `{}`", at + 1, calls[at].name);
        let hit = called(met.call);
        let met_it = if met.is_measured() {
            "failed".to_owned()
        } else {
            format!("ran into `{}`", met.fault)
        };
        match (reason, met.recovered_by, met.report.time_to_detection_ms) {
            (RecoveryFailure::UncleanTimeout, _, Some(noticed)) => {
                format!(
                    "{hit} {met_it}, and the agent received the failure after {noticed} ms; its budget is {budget} ms"
                )
            }
            (RecoveryFailure::UncleanTimeout, _, None) => {
                format!("{hit} {met_it}, but the agent never received a failure")
            }
            (RecoveryFailure::RecoveryTooSlow, Some(by), _) => {
                let took = met.report.time_to_recovery_ms.unwrap_or_default();
                let failures = count(met.failures, "failed call");
                let allowed = max_recovery_ms.unwrap_or_default();
                format!(
                    "{} succeeded {took} ms after {hit} {met_it} ({failures}); the limit is \
                    {allowed} ms",
                    called(by)
                )
            }
            _ if self.overcoming.tools.is_empty() => {
                format!("{hit} {met_it}, but no call of a later turn succeeded")
            }
            _ => {
                let tools = any_of(&self.overcoming.tools);
                format!("{hit} {met_it}, but no call of a later turn to {tools} succeeded")
            }
        }
    }
}
