//! `scenario:` did the calls lead the world to the expected state?

mod bags;
mod golden;
#[cfg(test)]
mod tests;
mod walk;

use crate::engine::facts::AgentFacts;
use crate::engine::gate::{Documentation, Gate, GateKind, GateTrait, RunFailsBy};
use crate::engine::recording::Recording;
use crate::engine::scores::RunScores;
use crate::engine::shown::Shown;
use crate::engine::success::Success;
use crate::engine::target::{Target, Unit};
use crate::problem::Problem;
use crate::report::evidence::WorldRun;
use crate::report::{AssertionDiff, Evidence};
use crate::suite::read::{Block, Field};
use crate::trace::{CallResult, Run, Trace};
use crate::words::cut;
use crate::world::{Guard, World, read_guards};
use bags::Bags;
use golden::GoldenPath;
use serde_json::Value;
use std::sync::Arc;
use walk::{InvalidCall, Walk};

const PASSED: Target = Target::flag(
    "scenario.passed",
    "1 when the state matched, nothing forbidden was done, and refusal and escalation are as expected",
);
const STATE_MATCHED: Target = Target::flag(
    "scenario.state_matched",
    "1 when the run ended in the expected state",
);
const STATE_DIFFERENCES: Target = Target::count(
    "scenario.state_differences",
    "places where the final state differs from the expected state; at most 20",
);
const INVALID_ACTIONS: Target = Target::count(
    "scenario.invalid_actions",
    "calls that no transition of their tool allowed in their state",
);
const FORBIDDEN: Target = Target::count(
    "scenario.forbidden_transitions",
    "calls that `forbidden:` names",
);
const RECOVERY_ATTEMPTS: Target = Target::count(
    "scenario.recovery_attempts",
    "failed or invalid calls after which the same tool was called again",
);
const ESCALATIONS: Target = Target::count(
    "scenario.escalations",
    "calls of the tool of `escalation:` that got a result",
);
const REFUSALS: Target = Target::count(
    "scenario.refusals",
    "1 when the run ended with a message and called nothing that changes the world or is forbidden",
);
const COST_USD: Target =
    Target::amount("scenario.cost_usd", "what the run cost, if known").in_unit(Unit::Usd);
const DIVERGED_AT: Target = Target::count(
    "scenario.diverged_at",
    "the call, from 1, at which the state left every golden path for good; 0 if it did not",
);
const PASS_RATE: Target = Target::pass_rate("scenario.pass_rate");

const TARGETS: &[Target] = &[
    PASSED,
    STATE_MATCHED,
    STATE_DIFFERENCES,
    INVALID_ACTIONS,
    FORBIDDEN,
    RECOVERY_ATTEMPTS,
    ESCALATIONS,
    REFUSALS,
    COST_USD,
    DIVERGED_AT,
    PASS_RATE,
];

const MOST_FINDINGS: usize = 20;
const LONGEST_ANSWER: usize = 60;

pub(super) const KIND: GateKind = GateKind::new(
    "scenario",
    Documentation {
        summary: "Did the calls lead the world to the expected state?",
        doc: include_str!("doc.md"),
        example: include_str!("example.yml"),
    },
    TARGETS,
    RunFailsBy::Assertions,
    |block| Box::new(ScenarioBlock::read(block)),
)
.with_floors(&[(PASSED, 1.0)])
.with_traits(&[GateTrait::CountsSuccess]);

/// The block as written.
struct ScenarioBlock {
    world: Arc<World>,
    /// The lists of the state whose order does not count.
    bags: Bags,
    golden: Vec<GoldenPath>,
    expect_state: Option<Vec<Guard>>,
    /// True if the agent must do nothing, false if it must act. `None` if the block sets neither.
    refusal: Option<bool>,
    escalation: Option<Escalation>,
    /// The condition for a successful call. By default, its result is not an error and does not report one in its
    /// text.
    successful: Option<Success>,
}

/// The tool that hands over to a person, and whether it must be called.
struct Escalation {
    tool: String,
    is_expected: bool,
}

impl Escalation {
    fn read(field: &mut Field<'_>) -> Option<Self> {
        let span = field.span();
        field.try_block(|block| {
            let doc = "The tool that hands over to a person";
            let tool = block.required("tool", doc, |f| f.tool_at(span));
            let is_expected = block.flag(
                "expected",
                "`true` if it must be called, `false` if it must not",
                true,
            );
            Some(Self {
                tool: tool?,
                is_expected,
            })
        })
    }
}

const JUDGES: [&str; 6] = [
    "expect_state",
    "golden",
    "refusal",
    "escalation",
    "forbidden",
    "expect",
];

impl ScenarioBlock {
    fn read(block: &mut Block<'_>) -> Self {
        let world = World::read(block);
        let doc = "The calls of a correct run; they lead to the expected state";
        let golden = block.or_default("golden", doc, |f| f.define("golden", golden::read));
        let doc = "Lists in the state to compare in any order, such as `orders.O-1.items`; `*` means any name";
        let unordered = block.list("unordered", doc, |f| f.name());
        let bags = Bags::new(&unordered);
        let walked = golden.iter().filter_map(|calls| {
            GoldenPath::walk(calls, &world, &bags)
                .map_err(|problem| block.report(*problem))
                .ok()
        });
        let golden: Vec<GoldenPath> = walked.collect();
        let states = golden
            .iter()
            .flat_map(GoldenPath::states)
            .chain([&world.seed]);
        for place in bags.without_list(&states.collect::<Vec<_>>()) {
            let message = format!("`{place}` is not a list in the seed or on a golden path");
            let help = "name the list from the outermost key, such as `orders.O-1.items` or \
                `orders.*.items`";
            block.report_at("unordered", Problem::warning(message).help(help));
        }
        let doc = "Conditions on the final state, instead of the state after `golden`";
        let expect_state = block.optional("expect_state", doc, read_expected);
        let doc = "`true` if the agent must do nothing, `false` if it must do something";
        let refusal = block.optional("refusal", doc, |f| f.flag());
        let doc = "The tool that hands over to a person, and whether it must be called";
        let escalation = block.optional("escalation", doc, Escalation::read);
        let doc = "The calls that changed the state: a matcher for the text of a result that is not an error, such as \
                   `not: { contains: refused }` [default: the agent's `successful:`, otherwise a result that is \
                   not an error and does not report one in its text]";
        let successful = Success::read(block, doc);
        if !JUDGES.iter().any(|key| block.has(key)) && !block.has_slip_of(&JUDGES) {
            let problem = Problem::error("nothing defines a correct run, so no run could fail");
            block.report(problem.help("write `expect_state:` or `golden:`"));
        }
        Self {
            world: Arc::new(world),
            bags,
            golden,
            expect_state,
            refusal,
            escalation,
            successful,
        }
    }

    /// The differences between the final and the expected state; `None` if no state is expected.
    fn differences(&self, state: &Value) -> Option<Vec<AssertionDiff>> {
        if let Some(guards) = &self.expect_state {
            return Some(
                guards
                    .iter()
                    .filter_map(|guard| guard.difference(state))
                    .collect(),
            );
        }
        self.nearest_end(state).map(|(_, differences)| differences)
    }

    /// The expected state closest to this one, if a whole state is expected, and the differences.
    fn nearest_end(&self, state: &Value) -> Option<(&Value, Vec<AssertionDiff>)> {
        let seed = (self.refusal == Some(true)).then_some(&self.world.seed);
        let seed = seed.filter(|_| self.golden.is_empty());
        let ends = self.golden.iter().map(GoldenPath::end).chain(seed);
        let ends = ends.filter(|_| self.expect_state.is_none());
        ends.map(|end| (end, self.bags.difference(end, state)))
            .min_by_key(|(_, differences)| differences.len())
    }

    fn led(&self, run: &Run<'_>) -> WorldRun {
        let walk = Walk::new(self, run.trace);
        WorldRun {
            run: run.number,
            before: self.world.seed.clone(),
            expected: self.nearest_end(&walk.state).map(|(end, _)| end.clone()),
            left_at_call: walk.diverged_at.filter(|call| *call > 0),
            differences: self.differences(&walk.state).unwrap_or_default(),
            after: walk.state,
        }
    }

    /// The differences between the recorded and the replayed state, if one was recorded.
    fn unlike_recorded(&self, trace: &Trace<'_>, state: &Value) -> Vec<AssertionDiff> {
        let recorded = trace
            .final_state
            .and_then(|recorded| serde_json::from_str(recorded.get()).ok());
        recorded
            .map(|recorded: Value| self.bags.difference(&recorded, state))
            .unwrap_or_default()
    }

    /// Why the recording may be of a different world, if no result contradicts it.
    fn why_unlike_world(&self, walk: &Walk, run: &Run<'_>) -> Option<String> {
        let unknown = self
            .world
            .unknown_arguments(run.catalogue().unwrap_or_default());
        if let Some(problem) = unknown.first() {
            return Some(problem.message.clone());
        }
        let invalid = walk.invalid.first()?;
        run.trace.tool_results.is_empty().then(|| {
            format!(
                "the world does not allow {} ({}), and the run has no results that show whether \
                it was made",
                named_call(run.trace, invalid.number),
                invalid.why
            )
        })
    }

    /// Returns true if a call failed.
    fn has_failed(&self, result: Option<&CallResult<'_>>) -> bool {
        match &self.successful {
            Some(success) => !result.is_some_and(|result| success.holds(result)),
            None => result.is_some_and(|result| result.is_failure() || result.reads_as_error()),
        }
    }

    /// Replays the calls of a run, and compares its end with the block.
    fn judge(&self, trace: &Trace<'_>) -> JudgedRun {
        let walk = Walk::new(self, trace);
        let message = trace.final_response.as_deref().unwrap_or_default();
        let has_refused = walk.first_act.is_none() && !message.trim().is_empty();
        let wrongs = [
            self.wrong_refusal(&walk, has_refused, trace),
            self.wrong_escalation(&walk, trace),
        ];
        JudgedRun {
            differences: self.differences(&walk.state),
            wrongs: wrongs.into_iter().flatten().collect(),
            unlike_recorded: self.unlike_recorded(trace, &walk.state),
            has_refused,
            walk,
        }
    }

    fn score_numbers(&self, judged: &JudgedRun, trace: &Trace<'_>, scores: &mut RunScores) {
        let walk = &judged.walk;
        scores
            .flag(&PASSED, judged.passes())
            .whole(&INVALID_ACTIONS, walk.invalid.len())
            .whole(&FORBIDDEN, walk.forbidden.len())
            .whole(&RECOVERY_ATTEMPTS, walk.recovery_attempts)
            .whole(&REFUSALS, usize::from(judged.has_refused));
        if let Some(differences) = &judged.differences {
            scores
                .flag(&STATE_MATCHED, judged.is_matched())
                .whole(&STATE_DIFFERENCES, differences.len());
        }
        if self.escalation.is_some() {
            scores.whole(&ESCALATIONS, walk.escalations.len());
        }
        if !self.golden.is_empty() {
            scores.whole(&DIVERGED_AT, walk.diverged_at.unwrap_or_default());
        }
        if let Some(cost) = trace.conversation.cost_usd {
            scores.float(&COST_USD, cost);
        }
    }

    /// Why a passed run proves nothing.
    fn why_not_exercised(&self, judged: &JudgedRun, run: &Run<'_>) -> Option<String> {
        if !judged.passes() {
            return None;
        }
        let walk = &judged.walk;
        let has_acted =
            walk.first_act.is_some() || walk.has_met_rule || !walk.escalation_attempts.is_empty();
        let is_idle = !has_acted && self.refusal != Some(true);
        self.why_unlike_world(walk, run)
            .or_else(|| is_idle.then(|| "the run called no tool of the world".to_owned()))
    }

    /// Why the run's refusal to act, or its action, is wrong.
    fn wrong_refusal(&self, walk: &Walk, has_refused: bool, trace: &Trace<'_>) -> Option<String> {
        Some(match (self.refusal?, walk.first_act) {
            (true, Some(act)) => {
                format!(
                    "the agent had to do nothing, but made {}",
                    named_call(trace, act)
                )
            }
            (true, None) if !has_refused => {
                "the agent had to say that it does nothing, but said nothing".to_owned()
            }
            (false, _) if has_refused => "the agent did nothing, but had to act".to_owned(),
            _ => return None,
        })
    }

    /// Why the escalation is wrong.
    fn wrong_escalation(&self, walk: &Walk, trace: &Trace<'_>) -> Option<String> {
        let Escalation { tool, is_expected } = self.escalation.as_ref()?;
        if *is_expected {
            let message = || format!("the agent had to escalate, but `{tool}` got no result");
            return walk.escalations.is_empty().then(message);
        }
        let call = walk.escalation_attempts.first()?;
        let made = named_call(trace, *call);
        Some(format!("the agent must not escalate, but made {made}"))
    }
}

fn read_expected(field: &mut Field<'_>) -> Option<Vec<Guard>> {
    let guards = read_guards(field)?;
    let problem = if guards.is_empty() {
        Problem::error("an empty `expect_state:` expects nothing").help("name a place of the state")
    } else if guards.iter().any(Guard::names_arguments) {
        Problem::error("the end of a run has no call, so no argument can be named here")
            .help("write the names and values themselves, as `orders.O-1.status: cancelled`")
    } else {
        return Some(guards);
    };
    if !field.is_describing() {
        field.report(problem);
    }
    None
}

fn named_call(trace: &Trace<'_>, number: usize) -> String {
    let tool = trace
        .tool_calls
        .get(number - 1)
        .map_or("", |call| &call.name);
    format!("call {number} `{tool}`")
}

impl Gate for ScenarioBlock {
    fn evidence(&self, shown: &Shown<'_, '_>) -> Option<Evidence> {
        let runs = shown.listed.iter().map(|run| self.led(run)).collect();
        Some(Evidence::Scenario {
            runs,
            left_out: shown.left_out(),
        })
    }

    fn score_run(&self, run: &Run<'_>) -> RunScores {
        let judged = self.judge(run.trace);
        let mut scores = RunScores::default();
        self.score_numbers(&judged, run.trace, &mut scores);
        if let Some(why) = self.why_not_exercised(&judged, run) {
            scores.not_exercised(why);
        }
        judged.explain(run.trace, &mut scores);
        scores
    }

    fn lint(&self, agent: &AgentFacts<'_>) -> Vec<Problem> {
        let mut problems = agent.unknown_tools(agent.named);
        let catalogue = agent.catalogue.unwrap_or_default();
        problems.extend(self.world.unknown_arguments(catalogue));
        problems
    }

    fn recording(&self) -> Recording<'_> {
        Recording {
            world: Some(&self.world),
            ..Recording::default()
        }
    }
}

/// A run whose calls were replayed, compared with the block.
struct JudgedRun {
    walk: Walk,
    has_refused: bool,
    /// The differences from the expected state; `None` if no state is expected.
    differences: Option<Vec<AssertionDiff>>,
    /// The faults of refusal and escalation, in words.
    wrongs: Vec<String>,
    /// The differences between the recorded and the replayed state.
    unlike_recorded: Vec<AssertionDiff>,
}

impl JudgedRun {
    fn is_matched(&self) -> bool {
        self.differences.as_ref().is_none_or(Vec::is_empty)
    }

    fn passes(&self) -> bool {
        let mut invalid = self.walk.invalid.iter();
        self.is_matched()
            && self.walk.forbidden.is_empty()
            && self.wrongs.is_empty()
            && !invalid.any(|invalid| invalid.done.is_some())
            && self.unlike_recorded.is_empty()
    }

    fn explain(self, trace: &Trace<'_>, scores: &mut RunScores) {
        explain_forbidden(&self.walk, trace, scores);
        explain_invalid(&self.walk, trace, scores);
        if let Some(call) = self.walk.diverged_at {
            let message = format!("{} leaves every golden path", named_call(trace, call));
            scores.find_about(
                &[DIVERGED_AT, PASSED, STATE_MATCHED, STATE_DIFFERENCES],
                message,
            );
        }
        let is_matched = self.is_matched();
        for wrong in self.wrongs {
            scores.find_about(&[PASSED, REFUSALS, ESCALATIONS], wrong);
        }
        if !is_matched {
            let about = [PASSED, STATE_MATCHED, STATE_DIFFERENCES];
            let message = "the run did not end in the expected state";
            scores.find_differences(&about, message, self.differences.unwrap_or_default());
        }
        if !self.unlike_recorded.is_empty() {
            let message = "the recorded final state differs from the state that the recorded \
            calls lead to";
            scores.find_differences(&[PASSED], message, self.unlike_recorded);
        }
    }
}

fn explain_forbidden(walk: &Walk, trace: &Trace<'_>, scores: &mut RunScores) {
    for forbidden in walk.forbidden.iter().take(MOST_FINDINGS) {
        let call = named_call(trace, forbidden.number);
        let outcome = if forbidden.has_succeeded {
            ""
        } else {
            ", and it failed"
        };
        let message = format!("{call} is forbidden: {}{outcome}", forbidden.reason);
        scores.find_about(&[FORBIDDEN, PASSED], message);
    }
}

fn explain_invalid(walk: &Walk, trace: &Trace<'_>, scores: &mut RunScores) {
    for InvalidCall { number, why, done } in walk.invalid.iter().take(MOST_FINDINGS) {
        let call = named_call(trace, *number);
        let Some(answer) = done else {
            let message = format!("the world does not allow {call}: {why}");
            scores.find_about(&[INVALID_ACTIONS], message);
            continue;
        };
        let answered = if answer.trim().is_empty() {
            "its result is not an error".to_owned()
        } else {
            format!("it answered `{}`", cut(answer, LONGEST_ANSWER))
        };
        let contradiction = format!(
            "the recording contradicts the world: the world does not allow {call} ({why}), but \
            the server did it ({answered}); correct the transition, or define with `successful:` \
            which results are refusals"
        );
        scores.find_about(&[PASSED, INVALID_ACTIONS], contradiction);
    }
}
