//! A gate: its own block of the suite, which scores the recorded runs.

use super::assertion::Assertion;
use super::scores::Scores;
use super::target::Target;
use crate::problem::{Problem, Span, nearest};
use crate::report::{GateReport, Status};
use crate::suite::Fault;
use crate::suite::read::{Block, Field};
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

    /// What can be said about the block at load time, knowing the agent it stands in.
    fn lint(&self, _agent: &AgentFacts<'_>) -> Vec<Problem> {
        Vec::new()
    }

    /// Tools to put among those that the servers offer while a run is recorded.
    fn injected_tools(&self, _offered: &[CatalogueTool]) -> Vec<CatalogueTool> {
        Vec::new()
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
            read: |field, key_span| field.block(|block| GateBlock::read::<G>(block, key_span)),
        }
    }
}

/// A gate's block in a suite, ready to judge.
pub struct GateBlock {
    key: &'static str,
    targets: &'static [Target],
    decides_runs: bool,
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
    fn lint(&self, agent: &AgentFacts<'_>) -> Vec<Problem>;
    fn injected_tools(&self, offered: &[CatalogueTool]) -> Vec<CatalogueTool>;
    fn lint_expectation(&self, assertion: &Assertion<Target>, agent: &AgentFacts<'_>) -> Option<Problem>;
    fn line(&self, row_name: &str, passed: bool, scores: &Scores) -> Option<String>;
    fn summary(&self, scores: &Scores) -> Option<String>;
}

impl<G: Gate> Scoring for G {
    fn score(&self, runs: &[Run<'_>]) -> Scores {
        Gate::score(self, runs)
    }

    fn lint(&self, agent: &AgentFacts<'_>) -> Vec<Problem> {
        Gate::lint(self, agent)
    }

    fn injected_tools(&self, offered: &[CatalogueTool]) -> Vec<CatalogueTool> {
        Gate::injected_tools(self, offered)
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
    pub fn injected_tools(&self, offered: &[CatalogueTool]) -> Vec<CatalogueTool> {
        self.gate.injected_tools(offered)
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

    /// Scores the runs and holds the numbers to the block's expectations.
    pub fn judge(&self, row_name: &str, runs: &[Run<'_>]) -> GateReport {
        let mut scores = self.gate.score(runs);
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
            line: self.gate.line(row_name, passed, &scores),
            summary: self.gate.summary(&scores),
            not_exercised: scores.not_exercised.clone().or_else(asserted),
            targets: scores.values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            expectations,
            explanation: scores.findings,
        }
    }
}
