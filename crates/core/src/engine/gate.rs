//! What is a gate, and what sets one apart from the others?

use crate::engine::accept::Proposal;
use crate::engine::assertion::Assertion;
use crate::engine::block::GateBlock;
use crate::engine::facts::AgentFacts;
use crate::engine::outlook::Outlook;
use crate::engine::recording::{Recording, SideRun, SideWords};
use crate::engine::scores::{RunScores, Scores};
use crate::engine::shown::Shown;
use crate::engine::target::Target;
use crate::grade::Question;
use crate::problem::{Problem, Span};
use crate::report::Evidence;
use crate::row::AgentRow;
use crate::suite::Agent;
use crate::suite::read::{Block, Field};
use crate::trace::Run;
use serde_json::Value;
use std::path::Path;

/// What a gate does with the runs. The parsed block is the gate; what holds for every block is in its [`GateKind`].
pub trait Gate: Send + Sync {
    /// The bounds that the block's other keys set, given whether it has an `expect:`.
    fn expect_beside(&self, _has_expect: bool) -> Vec<(Target, f64)> {
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

    /// The same, given the row that the runs are of: its suite, its agent and the other gates.
    fn score_beside(&self, runs: &[Run<'_>], _row: AgentRow<'_>) -> Scores {
        self.score(runs)
    }

    /// Scores runs that were made for the gate alone, given the ordinary ones.
    fn score_side(&self, _ordinary: &[Run<'_>], side: &[Run<'_>]) -> Scores {
        self.score(side)
    }

    /// Reads the files that the block names, once, with the suite at this path. The agent is the one of the block, without
    /// its gates.
    fn read_files(
        &mut self,
        _agent: &Agent,
        _suite: &Path,
        _read: ReadNamed<'_>,
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

    /// The runs that are made for the gate alone, given the ordinary ones; for [`GateTrait::HasSideRuns`].
    fn side_runs(&self, _agent: &Agent, _ordinary: &[Run<'_>]) -> Vec<SideRun> {
        Vec::new()
    }

    /// What is behind the numbers of these runs: what [`Self::score`] saw, never counted in another way.
    fn evidence(&self, _shown: &Shown<'_, '_>) -> Option<Evidence> {
        None
    }

    /// What the block asks of judges, of every run.
    fn question(&self) -> Option<&Question> {
        None
    }

    /// What the block would have to say for these runs of a row to be right; for a gate whose block writes down what a run
    /// did.
    fn propose(&self, _runs: &[Run<'_>], _row: AgentRow<'_>) -> Option<Proposal> {
        None
    }

    /// A line of the gate's own that is printed to the letter.
    fn line(&self, _row_name: &str, _scores: &Scores) -> Option<String> {
        None
    }
}

/// Reads the bytes of a file that a block names; the error is a sentence.
pub type ReadNamed<'r> = &'r dyn Fn(&str) -> Result<Vec<u8>, String>;

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
    /// The bounds that hold when the block has no `expect:`.
    pub(crate) floors: &'static [(Target, f64)],
    /// Reads the block, all but its `expect:`.
    pub(crate) read: fn(&mut Block<'_>) -> Box<dyn Gate>,
    pub(crate) run_fails_by: RunFailsBy,
    pub(crate) traits: &'static [GateTrait],
}

/// What people read about a gate.
#[derive(Clone, Copy)]
pub struct Documentation {
    /// One line for lists and editors: the question that the gate answers.
    pub summary: &'static str,
    /// The page of the documentation.
    pub doc: &'static str,
    /// A suite that uses the gate.
    pub example: &'static str,
}

/// What makes one run fail a gate, whatever the other runs did. Such a run has failed in every report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunFailsBy {
    /// Nothing: the gate compares or counts runs, or judges something else than a run.
    Nothing,
    /// It does not meet what the block asserts of the numbers that are the worst run's, or a sum over the runs.
    Assertions,
    /// It does not meet what the block asserts of any number, when the gate scores this run alone.
    AssertionsOverIt,
    /// The gate names it: [`RunScores::fail`], or [`Scores::failed_runs`].
    Rule,
}

/// What sets a gate apart from most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateTrait {
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
    /// Runs of its own are recorded beside the ordinary ones, in a cassette of their own.
    HasSideRuns(SideWords),
    /// The gate counts calls that came to something, as its own `successful:` or its agent's says.
    CountsSuccess,
    /// `true` may stand for a block with nothing in it, and `false` for none.
    TakesTrue,
    /// So may a list, which stands for the block with this key alone.
    TakesList(&'static str),
}

impl GateKind {
    /// The entry of a gate whose block is read by `read`.
    pub const fn new(
        key: &'static str,
        documentation: Documentation,
        targets: &'static [Target],
        run_fails_by: RunFailsBy,
        read: fn(&mut Block<'_>) -> Box<dyn Gate>,
    ) -> Self {
        let Documentation {
            summary,
            doc,
            example,
        } = documentation;
        Self {
            key,
            summary,
            targets,
            doc,
            example,
            floors: &[],
            read,
            run_fails_by,
            traits: &[],
        }
    }

    /// The same, where these bounds hold when the block has no `expect:`.
    pub const fn with_floors(mut self, floors: &'static [(Target, f64)]) -> Self {
        self.floors = floors;
        self
    }

    /// The same, set apart by these traits.
    pub const fn with_traits(mut self, traits: &'static [GateTrait]) -> Self {
        self.traits = traits;
        self
    }

    pub(crate) fn read_field(
        &'static self,
        field: &mut Field<'_>,
        key_span: Span,
    ) -> Option<GateBlock> {
        let digest = field.node(|| Value::Bool(true)).map(|node| node.digest());
        let read = |block: &mut Block<'_>| {
            GateBlock::read(self, block, digest.clone().unwrap_or_default(), key_span)
        };
        let list = self.traits.iter().find_map(|one| match one {
            GateTrait::TakesList(key) => Some(*key),
            _ => None,
        });
        if self.is(GateTrait::TakesTrue) {
            field.flag_or_block(list, read)
        } else {
            field.block(read)
        }
    }

    /// Whether it is set apart by this.
    pub(crate) fn is(&self, one: GateTrait) -> bool {
        self.traits.contains(&one)
    }

    /// What is said of runs of its own, where it has some.
    pub(crate) fn side_words(&self) -> Option<SideWords> {
        self.traits.iter().find_map(|one| {
            if let GateTrait::HasSideRuns(words) = one {
                Some(*words)
            } else {
                None
            }
        })
    }

    /// Whether anything that a run did can change the verdict.
    pub fn judges_runs(&self) -> bool {
        !self.is(GateTrait::JudgesTools)
    }

    /// Whether the gate can fail one run, whatever the other runs did.
    pub fn fails_runs(&self) -> bool {
        self.run_fails_by != RunFailsBy::Nothing
    }

    /// What is asserted when the block has no `expect:`, beside what its other keys assert.
    pub(crate) fn default_expect(&self) -> impl Iterator<Item = Assertion<Target>> {
        self.floors.iter().copied().map(Assertion::bound)
    }
}

impl std::fmt::Debug for GateKind {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "GateKind({})", self.key)
    }
}
