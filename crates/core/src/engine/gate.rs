//! What is a gate, and what sets one apart from the others?

use super::accept::Proposal;
use super::assertion::Assertion;
use super::block::GateBlock;
use super::facts::AgentFacts;
use super::outlook::Outlook;
use super::recording::{Recording, SideRun, SideWords};
use super::scores::{RunScores, Scores};
use super::shown::Shown;
use super::target::Target;
use crate::grade::Question;
use crate::problem::{Problem, Span};
use crate::report::Evidence;
use crate::row::AgentRow;
use crate::suite::Agent;
use crate::suite::read::{Block, Field};
use crate::trace::Run;
use std::path::Path;

/// A gate judges runs. The parsed block is the gate. Facts that are equal for every block are in its [`GateKind`].
pub trait Gate: Send + Sync {
    /// The bounds of the block's other keys; some depend on whether it has an `expect:`.
    fn expect_beside(&self, _has_expect: bool) -> Vec<(Target, f64)> {
        Vec::new()
    }

    /// Scores one run, for gates that score run by run.
    fn score_run(&self, _run: &Run<'_>) -> RunScores {
        RunScores::default()
    }

    /// Scores the runs of a test.
    fn score(&self, runs: &[Run<'_>]) -> Scores {
        self.fold(runs, runs.iter().map(|run| self.score_run(run)).collect())
    }

    /// Scores runs with their row: its suite, its agent and the other gates.
    fn score_beside(&self, runs: &[Run<'_>], _row: AgentRow<'_>) -> Scores {
        self.score(runs)
    }

    /// Scores runs that were made only for the gate, with the ordinary runs.
    fn score_side(&self, _ordinary: &[Run<'_>], side: &[Run<'_>]) -> Scores {
        self.score(side)
    }

    /// Reads the files that the block names. The suite is at this path. The agent has no gates yet.
    fn read_files(
        &mut self,
        _agent: &Agent,
        _suite: &Path,
        _read: ReadNamed<'_>,
    ) -> Option<Problem> {
        None
    }

    /// Combines the numbers of each run.
    fn fold(&self, runs: &[Run<'_>], scored: Vec<RunScores>) -> Scores {
        Scores::from_runs(runs, scored)
    }

    /// The values that a target can still reach over `of` runs, given the scores of the existing
    /// runs.
    fn outlook(&self, target: &Target, scores: &Scores, _runs: &[Run<'_>], _of: usize) -> Outlook {
        Outlook::folded(target, scores)
    }

    /// The tools that the block names, in the order in which the gate reports unmatched names.
    fn tool_names<'n>(&'n self, named: &'n [(String, Span)]) -> Vec<&'n str> {
        named.iter().map(|(tool, _)| tool.as_str()).collect()
    }

    /// The problems of the block at load time, given its agent.
    fn lint(&self, agent: &AgentFacts<'_>) -> Vec<Problem> {
        agent.unknown_tools(agent.named)
    }

    /// The block's requests for recording.
    fn recording(&self) -> Recording<'_> {
        Recording::default()
    }

    /// The runs to make only for the gate, given the ordinary ones; for [`GateTrait::HasSideRuns`].
    fn side_runs(&self, _agent: &Agent, _ordinary: &[Run<'_>]) -> Vec<SideRun> {
        Vec::new()
    }

    /// The evidence for the numbers of these runs, exactly as [`Self::score`] counted it.
    fn evidence(&self, _shown: &Shown<'_, '_>) -> Option<Evidence> {
        None
    }

    /// The block's question to judges about every run.
    fn question(&self) -> Option<&Question> {
        None
    }

    /// The change to the block that makes these runs of a row pass. Only for gates whose block
    /// describes the behaviour of a run.
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
    /// A summary in one line.
    pub summary: &'static str,
    /// Every number it computes.
    pub targets: &'static [Target],
    /// The page of the documentation.
    pub doc: &'static str,
    /// A suite that uses it.
    pub example: &'static str,
    /// The bounds that apply if the block has no `expect:`.
    pub(crate) floors: &'static [(Target, f64)],
    /// Reads the block, all but its `expect:`.
    pub(crate) read: fn(&mut Block<'_>) -> Box<dyn Gate>,
    pub(crate) run_fails_by: RunFailsBy,
    pub(crate) traits: &'static [GateTrait],
}

/// The documentation of a gate for users.
#[derive(Clone, Copy)]
pub struct Documentation {
    /// One line for lists and editors: the question that the gate answers.
    pub summary: &'static str,
    /// The page of the documentation.
    pub doc: &'static str,
    /// A suite that uses the gate.
    pub example: &'static str,
}

/// The condition for a single run to fail a gate, independent of other runs. Such a run counts as
/// failed in every report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunFailsBy {
    /// A single run never fails: the gate compares or counts runs, or does not judge runs.
    Nothing,
    /// It misses an assertion of the block on a number that is the worst run's, or a sum over the
    /// runs.
    Assertions,
    /// A run fails if it misses any assertion of the block, with only this run scored.
    AssertionsOverIt,
    /// The gate names it: [`RunScores::fail`], or `Scores::failed_runs`.
    Rule,
}

/// A property that few gates have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum GateTrait {
    /// The gate decides the meaning of failed runs: with it, a failed run alone does not fail the
    /// test.
    DecidesRuns,
    /// Runs can refute a claim of the suite, whatever its expectations. A refuted claim stays
    /// refuted.
    CanBeRefuted,
    /// The gate reports the faults in the agent's `inject:` that no call met.
    JudgesFaults,
    /// Judges decide the gate. Their grades count for no other gate.
    AsksJudges,
    /// The gate compares the runs of a row, so one run shows nothing.
    ComparesRuns,
    /// The gate compares the numbers of other gates with a baseline. Its block may also be next to
    /// `agents:`, for all agents.
    ComparesWithBaseline,
    /// The gate judges the agent's tools, independent of the behaviour of runs.
    JudgesTools,
    /// The block can name files, which are read with the suite.
    ReadsFiles,
    /// Separate runs are recorded besides the ordinary ones, in a separate cassette.
    HasSideRuns(SideWords),
    /// The gate counts successful calls, as its own or its agent's `successful:` defines them.
    CountsSuccess,
    /// `true` is shorthand for an empty block, and `false` for no block.
    TakesTrue,
    /// A list is shorthand for a block with only this key.
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

    /// Adds the bounds that hold if the block has no `expect:`.
    #[must_use]
    pub const fn with_floors(mut self, floors: &'static [(Target, f64)]) -> Self {
        self.floors = floors;
        self
    }

    /// Adds these traits.
    #[must_use]
    pub const fn with_traits(mut self, traits: &'static [GateTrait]) -> Self {
        self.traits = traits;
        self
    }

    pub(crate) fn read_field(
        &'static self,
        field: &mut Field<'_>,
        key_span: Span,
    ) -> Option<GateBlock> {
        let digest = field.digest();
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

    /// Returns true if the gate has this trait.
    pub(crate) fn is(&self, one: GateTrait) -> bool {
        self.traits.contains(&one)
    }

    /// The names of the gate's separate runs, if it has any.
    pub(crate) fn side_words(&self) -> Option<SideWords> {
        self.traits.iter().find_map(|one| {
            if let GateTrait::HasSideRuns(words) = one {
                Some(*words)
            } else {
                None
            }
        })
    }

    /// Returns true if the behavior of a run can change the verdict.
    pub fn judges_runs(&self) -> bool {
        !self.is(GateTrait::JudgesTools)
    }

    /// Returns true if the gate can fail a single run, independent of other runs.
    pub fn fails_runs(&self) -> bool {
        self.run_fails_by != RunFailsBy::Nothing
    }

    /// The default assertions of a block without `expect:`, besides the assertions of its other
    /// keys.
    pub(crate) fn default_expect(&self) -> impl Iterator<Item = Assertion<Target>> {
        self.floors.iter().copied().map(Assertion::bound)
    }
}

impl std::fmt::Debug for GateKind {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "GateKind({})", self.key)
    }
}
