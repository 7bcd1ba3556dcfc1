//! `scenarios:` judge the recording of an agent or a file by the state of a world, in separate rows.

use super::agent::{Agent, Graded, References};
use super::evals::recorder;
use super::graded::{GradedRows, read_agent, read_traces};
use super::load::{Declared, Parts};
use super::read::Block;
use crate::gates::SCENARIO;
use crate::problem::Problem;
use crate::world::World;
use std::collections::BTreeMap;
use std::sync::Arc;

const SOURCES: &[&str] = &["cassette", "agent"];

/// The entries; their only gate is `scenario`.
pub(super) const SCENARIOS: GradedRows = GradedRows {
    sources: SOURCES,
    read_source,
    gate: &SCENARIO,
};

fn read_source(block: &mut Block<'_>, references: &mut References) -> Option<Graded> {
    let doc = "The recorded runs: a path, a pattern, or a list of them, relative to the suite";
    let cassette = read_traces(block, "cassette", doc);
    let doc =
        "The agent that acts in this world, by its name under `agents:`: its mocks have this state";
    let agent = read_agent(block, doc, references);
    if !SOURCES.iter().any(|key| block.has(key)) && !block.has_slip_of(SOURCES) {
        let problem = Problem::error("no runs to judge are named");
        block.report(
            problem.help("write `cassette:` with a file, or `agent:` with an agent's name"),
        );
    }
    match cassette.or(agent) {
        Some(Graded::Traces(files)) if files.is_empty() => {
            block.report_at(
                "cassette",
                Problem::error("nothing to judge: the list is empty"),
            );
            None
        }
        source => source,
    }
}

/// The worlds in which agents act while they are recorded, by agent: its own, or the world of the
/// first scenario that names it.
pub(super) fn worlds(agents: &[Agent]) -> BTreeMap<String, Arc<World>> {
    let own = agents.iter().filter(|agent| !agent.is_eval());
    let own = own.filter_map(|agent| Some((agent.name.as_str(), agent.world()?)));
    let of_scenarios = agents
        .iter()
        .filter_map(|scenario| Some((scenario.graded_agent()?, scenario.world()?)));
    let mut worlds = BTreeMap::new();
    for (name, world) in own.chain(of_scenarios) {
        worlds
            .entry(name.to_owned())
            .or_insert_with(|| Arc::clone(world));
    }
    worlds
}

/// An agent acts in one world, with unshared servers.
pub(super) fn check(parts: &Parts, problems: &mut Vec<Problem>) {
    let worlds = worlds(&parts.agents);
    for scenario in &parts.agents {
        let Some(agent) = scenario
            .graded_agent()
            .and_then(|name| recorder(&parts.agents, name))
        else {
            continue;
        };
        let (own, first) = (scenario.world(), worlds.get(&agent.name));
        if let Some((own, first)) = own.zip(first)
            && own.written() != first.written()
        {
            let message = format!("`{}` cannot act in two worlds", agent.name);
            let help = "give both the same `seed` and `transitions`, or write another agent";
            problems.push(
                Problem::error(message)
                    .at(scenario.span)
                    .also(agent.span, "the agent")
                    .help(help),
            );
        }
    }
    let acts = |agent: &&Agent| !agent.is_eval() && worlds.contains_key(&agent.name);
    for agent in parts.agents.iter().filter(acts) {
        for Declared { name, span, item } in &parts.servers {
            if agent.servers.contains(name) && item.shared && item.is_mock() {
                let message =
                    format!("`{name}` is shared by all runs, but each run needs its own world");
                let problem = Problem::error(message)
                    .at(*span)
                    .also(agent.span, "it acts in a world");
                problems.push(problem.help("remove `shared: true`"));
            }
        }
    }
}
