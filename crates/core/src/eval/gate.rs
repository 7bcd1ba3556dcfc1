//! A gate: its own block of the suite, which scores the recorded runs.

use super::assertion::Assertion;
use super::fault_matrix::Combination;
use super::outlook::Outlook;
use super::scores::Scores;
use super::target::Target;
use crate::problem::{Problem, Span, nearest};
use crate::report::{GateReport, Status};
use crate::suite::read::{Block, Field};
use crate::suite::{Fault, Variant};
use crate::trace::{CatalogueTool, Run, is_tool};

/// What a gate is made of. The parsed block is the gate.
pub(crate) trait Gate: Send + Sync + Sized + 'static {
    /// The block's key in the suite.
    const KEY: &'static str;
    /// One line for lists and editors.
    const SUMMARY: &'static str;
    /// Every number it computes.
    const TARGETS: &'static [Target];
    /// The page of the documentation.
    const DOC: &'static str;
    /// A suite that uses it.
    const EXAMPLE: &'static str;

    /// Whether the gate decides what failed runs mean: with it, a failed run does not fail the test by itself.
    const DECIDES_RUNS: bool = false;

    /// Whether `true` may stand for a block with nothing in it, and `false` for none.
    const TAKES_TRUE: bool = false;

    /// Whether the gate judges the runs of the fault matrix, and not the ordinary ones.
    const JUDGES_MATRIX: bool = false;

    /// Whether runs can refute what the suite claims, whatever is expected of the numbers. What one run has refuted
    /// stays refuted.
    const CAN_BE_REFUTED: bool = false;

    /// Reads the block, all but its `expect:`.
    fn read(block: &mut Block<'_>) -> Self;

    /// What is asserted when the block has no `expect:`.
    fn default_expect(&self) -> Vec<Assertion<Target>>;

    /// What the block's other keys assert beside a written `expect:`.
    fn expect_beside(&self) -> Vec<Assertion<Target>> {
        Vec::new()
    }

    /// Scores the runs of a test.
    fn score(&self, runs: &[Run<'_>]) -> Scores;

    /// The values that a target can still come to have once there are `of` runs, given what these say.
    fn outlook(&self, _target: &Target, _scores: &Scores, _runs: &[Run<'_>], _of: usize) -> Outlook {
        Outlook::Open
    }

    /// What can be said about the block at load time, knowing the agent it stands in.
    fn lint(&self, _agent: &AgentFacts<'_>) -> Vec<Problem> {
        Vec::new()
    }

    /// Tools to put among those that the servers offer while a run is recorded.
    fn injected_tools(&self, _offered: &[CatalogueTool]) -> Vec<CatalogueTool> {
        Vec::new()
    }

    /// The variants that the block asks for, each a row of its own.
    fn variants(&self) -> Vec<Variant> {
        Vec::new()
    }

    /// The gate as it judges one variant, where that differs.
    fn of_variant(&self, _variant: Variant) -> Option<Self> {
        None
    }

    /// The faults that are recorded in a matrix, given the ordinary runs.
    fn fault_combinations(&self, _runs: &[Run<'_>]) -> Option<Vec<Combination>> {
        None
    }

    /// What so many tokens of a model cost in USD, where the block gives the price.
    fn cost_usd(&self, _model: &str, _prompt_tokens: u64, _completion_tokens: u64) -> Option<f64> {
        None
    }

    /// The time budget of one call, where the block gives one.
    fn call_budget_ms(&self) -> Option<u64> {
        None
    }

    /// What can be said at load time of one expectation as written, beyond what its target's values tell.
    fn lint_expectation(&self, _assertion: &Assertion<Target>, _agent: &AgentFacts<'_>) -> Option<Problem> {
        None
    }

    /// The gate's numbers in words, for gates whose numbers say more together.
    fn summary(&self, _scores: &Scores) -> Option<String> {
        None
    }

    /// A line of the gate's own that is printed to the letter.
    fn line(&self, _row_name: &str, _passed: bool, _scores: &Scores) -> Option<String> {
        None
    }
}

/// What a gate may know of its agent at load time.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct AgentFacts<'a> {
    /// How many runs are judged; 0 when that is known only once the traces are read.
    pub(crate) runs: usize,
    /// Where the gate's key stands.
    pub(crate) key_span: Span,
    /// The targets that the gate's expectations name, the default ones included.
    pub(crate) asserted: &'a [&'static str],
    /// How many expectations each run is held to.
    pub(crate) expectations: usize,
    /// What the user says, turn by turn.
    pub(crate) prompts: &'a [String],
    /// The names of the agent's servers.
    pub(crate) servers: &'a [String],
    /// The agent's tools, where they are known without starting anything.
    pub(crate) catalogue: Option<&'a [CatalogueTool]>,
    /// The faults injected into its calls.
    pub(crate) inject: &'a [&'a Fault],
}

impl AgentFacts<'_> {
    /// A warning about something declared that none of the expectations looks at, under any of these targets.
    pub(crate) fn unasserted(&self, what: &str, targets: &[&Target]) -> Option<Problem> {
        if targets.iter().any(|target| self.asserted.contains(&target.name)) {
            return None;
        }
        let message = format!("{what} declared, but no expectation looks at `{}`", targets[0].name);
        let help = "assert it in the `expect:` list, or leave the list out for the default gate";
        Some(Problem::warning(message).at(self.key_span).help(help))
    }

    /// A warning about a tool that none of the agent's servers has, where their tools are known.
    pub(crate) fn unknown_tool(&self, written: &str, span: Span) -> Option<Problem> {
        let catalogue = self.catalogue?;
        if catalogue.iter().any(|tool| is_tool(written, &tool.name, tool.server.as_deref())) {
            return None;
        }
        let problem =
            Problem::warning(format!("none of the agent's servers has a tool `{written}`")).at(span);
        let bare = self.servers.iter().find_map(|server| {
            let rest = written.strip_prefix(server.as_str())?;
            rest.strip_prefix('.').or_else(|| rest.strip_prefix("__"))
        });
        let names = || catalogue.iter().map(|tool| tool.name.as_str());
        Some(match nearest(bare.unwrap_or(written), names()) {
            Some(near) => problem.help(format!("did you mean `{near}`?")),
            None => problem.help(format!("its tools are {}", some_of(names()))),
        })
    }
}

/// The first few names, and how many more there are.
pub(crate) fn some_of<'n>(names: impl Iterator<Item = &'n str>) -> String {
    const MOST: usize = 12;
    let mut names: Vec<&str> = names.collect();
    let more = names.len().saturating_sub(MOST);
    names.truncate(MOST);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", names.join(", "))
}

/// A gate of the registry: everything about it comes from this entry.
pub struct GateKind {
    /// The block's key in the suite.
    pub key: &'static str,
    /// One line for lists and editors.
    pub summary: &'static str,
    /// Every number it computes.
    pub targets: &'static [Target],
    /// The page of the documentation.
    pub doc: &'static str,
    /// A suite that uses it.
    pub example: &'static str,
    pub(crate) read: fn(&mut Field<'_>, Span) -> Option<GateBlock>,
}

impl GateKind {
    pub(super) const fn of<G: Gate>() -> Self {
        Self {
            key: G::KEY,
            summary: G::SUMMARY,
            targets: G::TARGETS,
            doc: G::DOC,
            example: G::EXAMPLE,
            read: |field, key_span| {
                let read = |block: &mut Block<'_>| GateBlock::read::<G>(block, key_span);
                if G::TAKES_TRUE { field.flag_or_block(read) } else { field.block(read) }
            },
        }
    }
}

/// A gate's block in a suite, ready to judge.
pub struct GateBlock {
    key: &'static str,
    targets: &'static [Target],
    decides_runs: bool,
    pub(super) judges_matrix: bool,
    can_be_refuted: bool,
    gate: Box<dyn Scoring>,
    expect: Vec<Assertion<Target>>,
    key_span: Span,
}

impl std::fmt::Debug for GateBlock {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "GateBlock({})", self.key)
    }
}

/// The part of [`Gate`] that a block needs once it is read.
trait Scoring: Send + Sync {
    fn score(&self, runs: &[Run<'_>]) -> Scores;
    fn outlook(&self, target: &Target, scores: &Scores, runs: &[Run<'_>], of: usize) -> Outlook;
    fn lint(&self, agent: &AgentFacts<'_>) -> Vec<Problem>;
    fn injected_tools(&self, offered: &[CatalogueTool]) -> Vec<CatalogueTool>;
    fn variants(&self) -> Vec<Variant>;
    fn of_variant(&self, variant: Variant) -> Option<Box<dyn Scoring>>;
    fn fault_combinations(&self, runs: &[Run<'_>]) -> Option<Vec<Combination>>;
    fn cost_usd(&self, model: &str, prompt_tokens: u64, completion_tokens: u64) -> Option<f64>;
    fn call_budget_ms(&self) -> Option<u64>;
    fn lint_expectation(&self, assertion: &Assertion<Target>, agent: &AgentFacts<'_>) -> Option<Problem>;
    fn line(&self, row_name: &str, passed: bool, scores: &Scores) -> Option<String>;
    fn summary(&self, scores: &Scores) -> Option<String>;
}

impl<G: Gate> Scoring for G {
    fn score(&self, runs: &[Run<'_>]) -> Scores {
        Gate::score(self, runs)
    }

    fn outlook(&self, target: &Target, scores: &Scores, runs: &[Run<'_>], of: usize) -> Outlook {
        Gate::outlook(self, target, scores, runs, of)
    }

    fn lint(&self, agent: &AgentFacts<'_>) -> Vec<Problem> {
        Gate::lint(self, agent)
    }

    fn injected_tools(&self, offered: &[CatalogueTool]) -> Vec<CatalogueTool> {
        Gate::injected_tools(self, offered)
    }

    fn variants(&self) -> Vec<Variant> {
        Gate::variants(self)
    }

    fn of_variant(&self, variant: Variant) -> Option<Box<dyn Scoring>> {
        Gate::of_variant(self, variant).map(|gate| Box::new(gate) as Box<dyn Scoring>)
    }

    fn fault_combinations(&self, runs: &[Run<'_>]) -> Option<Vec<Combination>> {
        Gate::fault_combinations(self, runs)
    }

    fn cost_usd(&self, model: &str, prompt_tokens: u64, completion_tokens: u64) -> Option<f64> {
        Gate::cost_usd(self, model, prompt_tokens, completion_tokens)
    }

    fn call_budget_ms(&self) -> Option<u64> {
        Gate::call_budget_ms(self)
    }

    fn lint_expectation(&self, assertion: &Assertion<Target>, agent: &AgentFacts<'_>) -> Option<Problem> {
        Gate::lint_expectation(self, assertion, agent)
    }

    fn line(&self, row_name: &str, passed: bool, scores: &Scores) -> Option<String> {
        Gate::line(self, row_name, passed, scores)
    }

    fn summary(&self, scores: &Scores) -> Option<String> {
        Gate::summary(self, scores)
    }
}

impl GateBlock {
    fn read<G: Gate>(block: &mut Block<'_>, key_span: Span) -> Self {
        let gate = G::read(block);
        let doc = "What must hold for the gate's targets; left out, the default gate applies";
        let expect = (!G::TARGETS.is_empty()).then(|| {
            block.optional("expect", doc, |field| Assertion::<Target>::read_list(field, G::TARGETS))
        });
        let expect = expect.flatten();
        if expect.as_ref().is_some_and(Vec::is_empty) && !block.is_describing() {
            let problem = Problem::error("an empty `expect:` asserts nothing");
            let problem = block.key_span("expect").map_or(problem.clone(), |span| problem.at(span));
            block.report(problem.help("remove it for the default gate, or name a target"));
        }
        let expect = match expect {
            Some(written) => written.into_iter().chain(gate.expect_beside()).collect(),
            None => gate.default_expect(),
        };
        Self {
            key: G::KEY,
            targets: G::TARGETS,
            decides_runs: G::DECIDES_RUNS,
            judges_matrix: G::JUDGES_MATRIX,
            can_be_refuted: G::CAN_BE_REFUTED,
            gate: Box::new(gate),
            expect,
            key_span,
        }
    }

    /// The block's key.
    pub fn key(&self) -> &'static str {
        self.key
    }

    /// Whether a failed run is for this gate to judge.
    pub fn decides_runs(&self) -> bool {
        self.decides_runs
    }

    /// Tools to put among those that the servers offer while a run is recorded, each marked as a distractor.
    pub fn injected_tools(&self, variant: Option<Variant>, offered: &[CatalogueTool]) -> Vec<CatalogueTool> {
        self.with(variant, |gate| gate.injected_tools(offered))
    }

    /// The variants that the block asks for, each a row of its own.
    pub fn variants(&self) -> Vec<Variant> {
        self.gate.variants()
    }

    /// The faults that are recorded in a matrix, given the ordinary runs; `None` for a gate that asks for none.
    pub fn fault_combinations(&self, runs: &[Run<'_>]) -> Option<Vec<Combination>> {
        self.gate.fault_combinations(runs)
    }

    /// What so many tokens of a model cost in USD, where the block gives the price.
    pub fn cost_usd(&self, model: &str, prompt_tokens: u64, completion_tokens: u64) -> Option<f64> {
        self.gate.cost_usd(model, prompt_tokens, completion_tokens)
    }

    /// The time budget of one call, where the block gives one.
    pub fn call_budget_ms(&self) -> Option<u64> {
        self.gate.call_budget_ms()
    }

    fn with<T>(&self, variant: Option<Variant>, ask: impl FnOnce(&dyn Scoring) -> T) -> T {
        match variant.and_then(|variant| self.gate.of_variant(variant)) {
            Some(gate) => ask(&*gate),
            None => ask(&*self.gate),
        }
    }

    /// What can be said at load time.
    pub(crate) fn lint(&self, agent: &AgentFacts<'_>) -> Vec<Problem> {
        let written = self.expect.iter().filter(|assertion| assertion.span != Span::default());
        let asserted: Vec<&'static str> = self.expect.iter().map(|assertion| assertion.target.name).collect();
        let facts = AgentFacts { key_span: self.key_span, asserted: &asserted, ..*agent };
        written
            .filter_map(|assertion| {
                assertion.lint(agent.runs).or_else(|| self.gate.lint_expectation(assertion, &facts))
            })
            .chain(self.gate.lint(&facts))
            .collect()
    }

    /// Whether any runs could make the gate fail.
    pub(super) fn can_fail(&self) -> bool {
        self.can_be_refuted || !self.expect.is_empty()
    }

    /// The verdict over `of` runs that begin with these, when it is the same whatever the others are.
    pub(super) fn outlook(&self, runs: &[Run<'_>], of: usize) -> Option<bool> {
        let scores = self.gate.score(runs);
        let decided = |assertion: &Assertion<Target>| {
            assertion.decided(&self.gate.outlook(&assertion.target, &scores, runs, of))
        };
        let decided: Vec<Option<bool>> = self.expect.iter().map(decided).collect();
        if scores.is_refuted || decided.contains(&Some(false)) {
            return Some(false);
        }
        (!self.can_be_refuted && decided.iter().all(|decided| *decided == Some(true))).then_some(true)
    }

    /// Scores the runs and holds the numbers to the block's expectations.
    pub fn judge(&self, row_name: &str, runs: &[Run<'_>]) -> GateReport {
        self.judge_by(&*self.gate, row_name, runs)
    }

    /// The same for the runs of one variant.
    pub fn judge_variant(&self, variant: Option<Variant>, row_name: &str, runs: &[Run<'_>]) -> GateReport {
        self.with(variant, |gate| self.judge_by(gate, row_name, runs))
    }

    fn judge_by(&self, gate: &dyn Scoring, row_name: &str, runs: &[Run<'_>]) -> GateReport {
        let mut scores = gate.score(runs);
        for target in self.targets {
            scores.values.entry(target.name).or_insert(None);
        }
        let expectations: Vec<_> = self
            .expect
            .iter()
            .map(|assertion| assertion.check(scores.value(assertion.target.name)))
            .collect();
        let passed = !scores.is_refuted && expectations.iter().all(|expectation| expectation.passed);
        let asserted = || self.expect.iter().find_map(|assertion| scores.why_vacuous(assertion.target.name));
        GateReport {
            key: self.key.to_owned(),
            status: if passed { Status::Passed } else { Status::Failed },
            line: gate.line(row_name, passed, &scores),
            summary: gate.summary(&scores),
            not_exercised: scores.not_exercised.clone().or_else(asserted),
            targets: scores.values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            expectations,
            explanation: scores.findings,
        }
    }
}
