//! What does a gate ask for when the runs of its agent are recorded?

use super::combination::Combination;
use super::gate::Gate;
use crate::price::Prices;
use crate::suite::{Agent, Variant};
use crate::trace::{CatalogueTool, Header, Run};
use crate::world::World;
use std::sync::Arc;

/// A gate's influence on recording. Most gates have none.
#[derive(Default)]
pub struct Recording<'g> {
    /// Separate rows, each with the gate that requests and judges its recording.
    pub variants: Vec<(Variant, Box<dyn Gate>)>,
    /// Returns the tools to add to the servers' tools.
    pub injected_tools: Option<InjectedTools<'g>>,
    /// The time budget of one call.
    pub call_budget_ms: Option<u64>,
    /// Prices that override the built-in ones.
    pub prices: Option<&'g Prices>,
    /// The world that the agent's mocks act on.
    pub world: Option<&'g Arc<World>>,
}

type InjectedTools<'g> = Box<dyn Fn(&[CatalogueTool]) -> Vec<CatalogueTool> + 'g>;

/// The names of runs that are recorded for one gate, and that only this gate judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SideWords {
    /// The name of all of them: `the fault matrix`.
    pub all: &'static str,
    /// The name of one: `fault`.
    pub one: &'static str,
    /// The part before the extension of the cassette's file name.
    pub file: &'static str,
}

/// The difference between a side run and an ordinary run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SideRun {
    /// A call fails.
    Fault(Combination),
    /// Tools are not offered.
    Without {
        /// The tools.
        tools: Vec<String>,
        /// The number that distinguishes runs without the same tools, from 1.
        number: usize,
    },
}

/// The name in recordings, such as `hang@1` or `without search #2`.
impl std::fmt::Display for SideRun {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Fault(combination) => combination.fmt(out),
            Self::Without { tools, number } => {
                write!(out, "without {} #{number}", tools.join(" and "))
            }
        }
    }
}

/// The separate runs that an agent records for one of its gates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SideRuns {
    /// Their names.
    pub words: SideWords,
    /// The parameter of a recorded header that names them: the gate's key.
    pub parameter: &'static str,
    /// The condition of each run.
    pub runs: Vec<SideRun>,
}

impl SideRuns {
    /// The separate runs of an agent, given its ordinary runs. `None` if it has no gate with separate runs.
    pub fn wanted(agent: &Agent, runs: &[Run<'_>]) -> Option<Self> {
        agent.gates.iter().find_map(|gate| {
            let words = gate.kind.side_words()?;
            Some(Self {
                words,
                parameter: gate.key(),
                runs: gate.gate.side_runs(agent, runs),
            })
        })
    }

    /// Puts their names into a header.
    pub fn name_in(&self, header: &mut Header) {
        let names = self
            .runs
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>();
        header
            .parameters
            .insert(self.parameter.to_owned(), names.into());
    }
}
