//! A gate: its own block of the suite, which scores the recorded runs.

use super::accept::Proposal;
use super::assertion::Assertion;
use super::outlook::Outlook;
use super::pass_rate::is_of_a_run;
use super::recording::Recording;
use super::scores::{RunScores, Scores};
use super::shown::Shown;
use super::target::Target;
use crate::baseline::TestBaseline;
use crate::grade::Question;
use crate::matcher::Matcher;
use crate::problem::{Problem, Span, did_you_mean, nearest};
use crate::report::{Evidence, Expectation, Finding, GateReport, Status};
use crate::suite::read::{Block, Field};
use crate::suite::{Fault, Variant};
use crate::trace::{CatalogueTool, Run, Tool, splits};
use crate::words::{any_of, some_of};
use serde_json::Value;
use std::collections::BTreeSet;

/// What a gate does with the runs. The parsed block is the gate; what holds for every block is in its [`GateKind`].
pub(crate) trait Gate: Send + Sync {
    /// What the block's other keys assert, given whether it has an `expect:`.
    fn expect_beside(&self, _has_expect: bool) -> Vec<Assertion<Target>> {
        Vec::new()
    }

    /// Scores one run, where each counts by itself.
    fn score_run(&self, _run: &Run<'_>) -> RunScores {
        RunScores::default()
    }

    /// Scores the runs of a test.
    fn score(&self, runs: &[Run<'_>]) -> Scores {
        self.fold(runs, runs.iter().map(|run| self.score_run(run)).collect())
    }

    /// The same, given what the runs are in a baseline: with the numbers of the other gates.
    fn score_beside(&self, runs: &[Run<'_>], _captured: &dyn Fn() -> TestBaseline) -> Scores {
        self.score(runs)
    }

    /// Scores runs that were made for the gate alone, given the ordinary ones.
    fn score_side(&self, _ordinary: &[Run<'_>], side: &[Run<'_>]) -> Scores {
        self.score(side)
    }

    /// Reads the files that the block names, once, with the suite; `test` says what the agent is asked.
    fn read_files(
        &mut self,
        _test: &TestBaseline,
        _read: &dyn Fn(&str) -> Result<Vec<u8>, String>,
    ) -> Option<Problem> {
        None
    }

    /// What the numbers of each run come to together.
    fn fold(&self, runs: &[Run<'_>], scored: Vec<RunScores>) -> Scores {
        Scores::of_runs(runs, scored)
    }

    /// The values that a target can still come to have once there are `of` runs, given what these say.
    fn outlook(&self, target: &Target, scores: &Scores, _runs: &[Run<'_>], _of: usize) -> Outlook {
        Outlook::folded(target, scores)
    }

    /// The tools that the block names, in the order in which those that match nothing are told.
    fn tool_names<'n>(&'n self, named: &'n [(String, Span)]) -> Vec<&'n str> {
        named.iter().map(|(tool, _)| tool.as_str()).collect()
    }

    /// What can be said about the block at load time, knowing the agent it stands in.
    fn lint(&self, agent: &AgentFacts<'_>) -> Vec<Problem> {
        agent.unknown_tools(agent.named)
    }

    /// What the block asks for when runs are recorded.
    fn recording(&self) -> Recording<'_> {
        Recording::default()
    }

    /// What is behind the numbers of these runs: what [`Self::score`] saw, never counted in another way.
    fn evidence(&self, _shown: &Shown<'_, '_>) -> Option<Evidence> {
        None
    }

    /// What the block asks of judges, of every run.
    fn question(&self) -> Option<&Question> {
        None
    }

    /// What the block would have to say for these runs to be right, given what they are in a baseline; for a gate whose
    /// block writes down what a run did.
    fn propose(&self, _runs: &[Run<'_>], _captured: &dyn Fn() -> TestBaseline) -> Option<Proposal> {
        None
    }

    /// A line of the gate's own that is printed to the letter.
    fn line(&self, _row_name: &str, _scores: &Scores) -> Option<String> {
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
    /// The tools that the block names, each with its place.
    pub(crate) named: &'a [(String, Span)],
    /// What the gate asserts, by default or as written.
    pub(crate) expect: &'a [Assertion<Target>],
    /// How many expectations, and gates that score run by run, each run is held to.
    pub(crate) expectations: usize,
    /// What the user says, turn by turn.
    pub(crate) prompts: &'a [String],
    /// The agent's models, as recordings name them.
    pub(crate) models: &'a [String],
    /// The names of the agent's servers.
    pub(crate) servers: &'a [String],
    /// The agent's tools, where they are known without starting anything.
    pub(crate) catalogue: Option<&'a [CatalogueTool]>,
    /// The faults injected into its calls.
    pub(crate) inject: &'a [&'a Fault],
}

impl AgentFacts<'_> {
    /// The gate's expectations that are written in the suite.
    pub(crate) fn written(&self) -> impl Iterator<Item = &Assertion<Target>> {
        self.expect.iter().filter(|assertion| assertion.span != Span::default())
    }

    /// A warning about something declared that none of the expectations looks at, under any of these targets.
    pub(crate) fn unasserted(&self, what: &str, targets: &[&Target]) -> Option<Problem> {
        let is_asserted = |name: &str| self.expect.iter().any(|assertion| assertion.target.name == name);
        if targets.iter().any(|target| is_asserted(target.name)) {
            return None;
        }
        let message = format!("{what} declared, but no expectation looks at `{}`", targets[0].name);
        let help = "assert it in the `expect:` list, or leave the list out for the default gate";
        Some(Problem::warning(message).at(self.key_span).help(help))
    }

    /// What is said of tools that none of the agent's servers has.
    pub(crate) fn unknown_tools(&self, named: &[(String, Span)]) -> Vec<Problem> {
        let written = named.iter().filter(|(tool, _)| !tool.is_empty());
        written.filter_map(|(tool, span)| self.unknown_tool(tool, *span)).collect()
    }

    /// A warning about a tool that none of the agent's servers has, where their tools are known, and else about one of
    /// a server that the agent does not use.
    pub(crate) fn unknown_tool(&self, written: &str, span: Span) -> Option<Problem> {
        let Some(catalogue) = self.catalogue else { return self.unknown_server(written, span) };
        if catalogue.iter().any(|tool| Tool::from(tool).is(written)) {
            return None;
        }
        let problem =
            Problem::warning(format!("none of the agent's servers has a tool `{written}`")).at(span);
        let names: Vec<&str> = catalogue.iter().map(|tool| tool.name.as_str()).collect();
        let listed = || format!("its tools are {}", some_of(names.iter().copied()));
        Some(problem.help(near_tool(written, &names).unwrap_or_else(listed)))
    }

    fn unknown_server(&self, written: &str, span: Span) -> Option<Problem> {
        let is_known = |(server, _): (&str, &str)| self.servers.iter().any(|known| known == server);
        let (server, _) = splits(written).next().filter(|_| !self.servers.is_empty())?;
        if splits(written).any(is_known) {
            return None;
        }
        let problem = Problem::warning(format!("`{written}`: the agent has no server `{server}`")).at(span);
        let servers = || self.servers.iter().map(String::as_str);
        Some(problem.help(did_you_mean(server, servers(), || {
            format!(
                "its servers are {}; a tool with such a name is written with its server, as `{}.{written}`",
                some_of(servers()),
                self.servers[0]
            )
        })))
    }
}

/// The tool of a catalogue that was probably meant.
fn near_tool(written: &str, names: &[&str]) -> Option<String> {
    let names = || names.iter().copied();
    let bare = splits(written).map(|(_, bare)| bare);
    let near = std::iter::once(written).chain(bare).find_map(|name| {
        let same = names().find(|known| *known == name);
        same.or_else(|| nearest(name, names()))
    })?;
    Some(format!("did you mean `{near}`?"))
}

/// What is said of tools that no recorded catalogue has and no run called: nothing can match them. Nothing is
/// said where a recording has no catalogue.
fn why_nothing_matches(named: &[&str], runs: &[Run<'_>]) -> Option<String> {
    let catalogues: Option<Vec<&[CatalogueTool]>> =
        runs.iter().map(|run| run.header.and_then(|header| header.catalogue.as_deref())).collect();
    let catalogues = catalogues.filter(|catalogues| !catalogues.is_empty())?;
    let offered = catalogues.iter().copied().flatten();
    let called = runs.iter().flat_map(|run| &run.trace.tool_calls);
    let is_known = |tool: &str| {
        offered.clone().any(|known| Tool::from(known).is(tool)) || called.clone().any(|call| call.is_to(tool))
    };
    let mut seen = BTreeSet::new();
    let named = named.iter().copied().filter(|tool| seen.insert(*tool));
    let unknown: Vec<&str> = named.filter(|tool| !is_known(tool)).collect();
    let (tool, others) = unknown.split_first()?;
    let names: BTreeSet<&str> = offered.clone().map(|tool| tool.name.as_str()).collect();
    let near = near_tool(tool, &names.into_iter().collect::<Vec<_>>());
    let near = near.map(|near| format!("; {near}")).unwrap_or_default();
    let more = if others.is_empty() { String::new() } else { format!(", nor {}", any_of(others)) };
    Some(format!("no tool of the recorded catalogue is `{tool}`{more}{near}"))
}

/// Findings about an expectation that failed come first and name its target; their order is otherwise kept.
fn lead_with_failed(findings: &mut [Finding], expectations: &[Expectation]) {
    let has_failed = |target: &String| expectations.iter().any(|one| !one.passed && one.target == *target);
    for finding in &mut *findings {
        finding.targets.retain(has_failed);
    }
    findings.sort_by_key(|finding| finding.targets.is_empty());
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
    /// The least that targets must be when the block has no `expect:`.
    pub(crate) floors: &'static [(Target, f64)],
    /// Reads the block, all but its `expect:`.
    pub(crate) read: fn(&mut Block<'_>) -> Box<dyn Gate>,
    pub(crate) traits: &'static [Trait],
}

/// What sets a gate apart from most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trait {
    /// The gate decides what failed runs mean: with it, a failed run does not fail the test by itself.
    DecidesRuns,
    /// Runs can refute what the suite claims, whatever is expected of the numbers. What one run has refuted stays
    /// refuted.
    CanBeRefuted,
    /// The gate says of the agent's `inject:` which faults no call ran into.
    JudgesFaults,
    /// Judges decide it: what they say of a run counts for no other gate.
    AsksJudges,
    /// The gate compares the runs of a row: one by itself says nothing.
    ComparesRuns,
    /// The gate compares the numbers of the other gates with a baseline, and may stand beside `agents:` for all of them.
    ComparesWithBaseline,
    /// The gate judges the tools that were offered, and nothing that a run did.
    JudgesTools,
    /// The block can name files, which are read with the suite.
    ReadsFiles,
    /// `true` may stand for a block with nothing in it, and `false` for none.
    TakesTrue,
    /// So may a list, which stands for the block with this key alone.
    TakesList(&'static str),
}

impl GateKind {
    pub(crate) fn read_field(&'static self, field: &mut Field<'_>, key_span: Span) -> Option<GateBlock> {
        let digest = field.node(|| Value::Bool(true)).map(|node| node.digest());
        let read = |block: &mut Block<'_>| self.read_in(block, digest.clone().unwrap_or_default(), key_span);
        let list = self.traits.iter().find_map(|one| match one {
            Trait::TakesList(key) => Some(*key),
            _ => None,
        });
        if self.traits.contains(&Trait::TakesTrue) {
            field.flag_or_block(list, read)
        } else {
            field.block(read)
        }
    }

    /// The same in a block that has other keys too.
    pub(crate) fn read_in(&'static self, block: &mut Block<'_>, digest: String, key_span: Span) -> GateBlock {
        GateBlock { digest, ..GateBlock::read(self, block, key_span) }
    }

    /// Whether anything that a run did can change the verdict.
    pub fn judges_runs(&self) -> bool {
        !self.traits.contains(&Trait::JudgesTools)
    }

    /// What is asserted when the block has no `expect:`, beside what its other keys assert.
    pub(crate) fn default_expect(&self) -> impl Iterator<Item = Assertion<Target>> {
        self.floors.iter().map(|&(target, floor)| Assertion::of(target, Matcher::at_least(floor)))
    }
}

impl std::fmt::Debug for GateKind {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "GateKind({})", self.key)
    }
}

/// A gate's block in a suite, ready to judge.
pub struct GateBlock {
    pub(super) kind: &'static GateKind,
    pub(super) gate: Box<dyn Gate>,
    variants: Vec<(Variant, Box<dyn Gate>)>,
    /// The tools that it names, each with its place.
    named: Vec<(String, Span)>,
    pub(super) expect: Vec<Assertion<Target>>,
    /// What is asked of each run where `expect:` asks nothing of one: the default gate.
    pub(super) of_each_run: Vec<Assertion<Target>>,
    /// Says that this share of runs is enough, in place of all.
    pub(super) min_pass_rate: Option<Assertion<Target>>,
    key_span: Span,
    /// Of the block as it is written.
    pub(super) digest: String,
}

impl std::fmt::Debug for GateBlock {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "GateBlock({})", self.key())
    }
}

impl GateBlock {
    fn read(kind: &'static GateKind, block: &mut Block<'_>, key_span: Span) -> Self {
        let (gate, named) = block.with_tools(kind.read);
        let doc = "What must hold for the gate's targets; left out, the default gate applies";
        let written = (!kind.targets.is_empty()).then(|| {
            block.optional("expect", doc, |field| Assertion::<Target>::read_list(field, kind.targets))
        });
        let written = written.flatten();
        if written.as_ref().is_some_and(Vec::is_empty) && !block.is_describing() {
            let problem = Problem::error("an empty `expect:` asserts nothing");
            block.report_at("expect", problem.help("remove it for the default gate, or name a target"));
        }
        let beside = gate.expect_beside(written.is_some());
        let expect = written.unwrap_or_else(|| kind.default_expect().collect());
        let expect: Vec<_> = expect.into_iter().chain(beside).collect();
        let of_each_run =
            if expect.iter().any(is_of_a_run) { Vec::new() } else { kind.default_expect().collect() };
        let min_pass_rate = kind.read_min_pass_rate(block);
        let variants = gate.recording().variants;
        let digest = String::new();
        Self { kind, gate, variants, named, expect, of_each_run, min_pass_rate, key_span, digest }
    }

    /// The block's key.
    pub fn key(&self) -> &'static str {
        self.kind.key
    }

    /// What the block asks of judges, of every run.
    pub fn question(&self) -> Option<&Question> {
        self.gate.question()
    }

    /// Whether judges decide it.
    pub(crate) fn is_graded(&self) -> bool {
        self.question().is_some_and(|question| !question.is_advice)
    }

    /// Whether a failed run is for this gate to judge.
    pub fn decides_runs(&self) -> bool {
        self.kind.traits.contains(&Trait::DecidesRuns)
    }

    /// Whether the gate says which of the agent's faults no call ran into.
    pub fn judges_faults(&self) -> bool {
        self.kind.traits.contains(&Trait::JudgesFaults)
    }

    /// Whether the gate judges runs that are made for it alone.
    pub fn judges_side_runs(&self) -> bool {
        self.gate.recording().side.is_some()
    }

    /// The variants that the block asks for, each a row of its own.
    pub fn variants(&self) -> impl Iterator<Item = Variant> {
        self.variants.iter().map(|(variant, _)| *variant)
    }

    /// What the block asks for when runs are recorded.
    pub(crate) fn recording(&self, variant: Option<Variant>) -> Recording<'_> {
        self.of(variant).recording()
    }

    /// The gate of a variant.
    pub(super) fn of(&self, variant: Option<Variant>) -> &dyn Gate {
        let own = self.variants.iter().find(|(known, _)| Some(*known) == variant);
        own.map_or(&*self.gate, |(_, gate)| &**gate)
    }

    /// What can be said at load time.
    pub(crate) fn lint(&self, agent: &AgentFacts<'_>) -> Vec<Problem> {
        let facts =
            AgentFacts { key_span: self.key_span, named: &self.named, expect: &self.expect, ..*agent };
        let written = facts.written().chain(&self.min_pass_rate);
        let written = written.filter_map(|assertion| assertion.lint(agent.runs));
        written.chain(self.gate.lint(&facts)).collect()
    }

    fn can_be_refuted(&self) -> bool {
        self.kind.traits.contains(&Trait::CanBeRefuted)
    }

    /// Whether any runs could make the gate fail.
    pub(super) fn can_fail(&self) -> bool {
        self.can_be_refuted() || !self.expect.is_empty()
    }

    /// The verdict over `of` runs that begin with these, when it is the same whatever the others are.
    pub(super) fn outlook(&self, runs: &[Run<'_>], of: usize) -> Option<bool> {
        let scores = self.gate.score(runs);
        let outlook = |target: &Target| {
            if target.is_pass_rate {
                self.pass_rate_outlook(runs, &scores, of)
            } else {
                self.gate.outlook(target, &scores, runs, of)
            }
        };
        let decided: Vec<Option<bool>> =
            self.asserted().map(|assertion| assertion.decided(&outlook(&assertion.target))).collect();
        if scores.is_refuted || decided.contains(&Some(false)) {
            return Some(false);
        }
        (!self.can_be_refuted() && decided.iter().all(|decided| *decided == Some(true))).then_some(true)
    }

    /// Scores the runs and holds the numbers to the block's expectations.
    pub fn judge(&self, row_name: &str, runs: &[Run<'_>]) -> GateReport {
        self.judge_variant(None, row_name, runs)
    }

    /// The same for the runs of one variant.
    pub fn judge_variant(&self, variant: Option<Variant>, row_name: &str, runs: &[Run<'_>]) -> GateReport {
        self.report(variant, row_name, runs, self.of(variant).score(runs))
    }

    /// The same for runs that were made for the gate alone.
    pub(crate) fn judge_side(
        &self,
        variant: Option<Variant>,
        row_name: &str,
        ordinary: &[Run<'_>],
        side: &[Run<'_>],
    ) -> GateReport {
        self.report(variant, row_name, side, self.of(variant).score_side(ordinary, side))
    }

    pub(super) fn report(
        &self,
        variant: Option<Variant>,
        row_name: &str,
        runs: &[Run<'_>],
        mut scores: Scores,
    ) -> GateReport {
        let gate = self.of(variant);
        let failed_runs = self.set_pass_rate(gate, runs, &mut scores);
        for target in self.kind.targets {
            scores.values.entry(target.name).or_insert(None);
        }
        let check = |assertion: &Assertion<Target>| assertion.check(scores.value(assertion.target.name));
        let mut expectations: Vec<_> = self.asserted().map(check).collect();
        // Reports of thousands of rows are in memory at once.
        expectations.shrink_to_fit();
        let passed = !scores.is_refuted && expectations.iter().all(|expectation| expectation.passed);
        lead_with_failed(&mut scores.findings, &expectations);
        let asserted = || self.asserted().find_map(|assertion| scores.why_vacuous(assertion.target.name));
        let unmatched = || why_nothing_matches(&gate.tool_names(&self.named), runs);
        let line = gate.line(row_name, &scores);
        GateReport {
            key: self.key().to_owned(),
            status: match (scores.is_ungraded, passed) {
                (true, _) => Status::Error,
                (false, true) => Status::Passed,
                (false, false) => Status::Failed,
            },
            summary: scores.summary.clone().filter(|_| line.is_none()),
            line,
            not_exercised: scores.not_exercised.clone().or_else(asserted).or_else(unmatched),
            scored_runs: None,
            failed_runs,
            targets: scores.values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            expectations,
            explanation: scores.findings,
            tables: scores.tables,
            grades: scores.grades,
            evidence: None,
        }
    }
}
