//! What does a gate ask for when the runs of its agent are recorded?

use super::combination::Combination;
use super::gate::Gate;
use crate::price::Prices;
use crate::suite::{Agent, Variant};
use crate::trace::{CatalogueTool, Run};

/// How a gate steers recording; most do not.
#[derive(Default)]
pub(crate) struct Recording<'g> {
    /// Rows of their own, each with the gate that it is recorded for and judged by.
    pub(crate) variants: Vec<(Variant, Box<dyn Gate>)>,
    /// The tools to put among those that the servers offer.
    pub(crate) injected_tools: Option<InjectedTools<'g>>,
    /// The faults to record in runs of their own, given the ordinary runs. Only these runs are judged by the gate.
    pub(crate) combinations: Option<Combinations<'g>>,
    /// The time budget of one call.
    pub(crate) call_budget_ms: Option<u64>,
    /// Prices that come before the shipped ones.
    pub(crate) prices: Option<&'g Prices>,
}

type InjectedTools<'g> = Box<dyn Fn(&[CatalogueTool]) -> Vec<CatalogueTool> + 'g>;
type Combinations<'g> = Box<dyn Fn(&[Run<'_>]) -> Vec<Combination> + 'g>;

/// The combinations of a fault and a call that an agent records, by its ordinary runs; empty when it has none.
pub fn fault_combinations(agent: &Agent, runs: &[Run<'_>]) -> Vec<Combination> {
    let of_gate = agent.gates.iter().find_map(|gate| gate.recording(None).combinations);
    of_gate.map(|combinations| combinations(runs)).unwrap_or_default()
}
