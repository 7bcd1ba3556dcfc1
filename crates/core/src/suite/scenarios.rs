//! `scenarios:` what an agent or a file recorded is judged by the state of a world, in rows of their own.

use super::agent::{Agent, CassettePath, Graded, References, named, read_only, read_skip};
use super::evals::recorder;
use super::load::Parts;
use super::read::{Block, Field};
use crate::eval::SCENARIO;
use crate::problem::{Problem, Span};
use crate::world::World;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

const SOURCES: [&str; 2] = ["cassette", "agent"];

/// All of them.
pub(super) fn read_all(block: &mut Block<'_>) -> Vec<Agent> {
    let doc = "Rows that judge recorded runs by the state that they lead a world to";
    block.optional("scenarios", doc, |f| f.list(read)).unwrap_or_default()
}

/// One entry: an agent that is only read, and has this one gate.
fn read(field: &mut Field<'_>) -> Option<Agent> {
    let span = field.span();
    field.define("scenario", |field| {
        let digest = field.node(|| Value::Bool(true)).map(|node| node.digest());
        let read = field.block(|block| read_block(block, span, digest.unwrap_or_default()));
        field.amend_exactly_one_of(SOURCES);
        read.flatten()
    })
}

fn read_block(block: &mut Block<'_>, span: Span, digest: String) -> Option<Agent> {
    let mut references = References::default();
    let name = block.required("name", "The row's name, unique in the suite", |f| f.public_name());
    let source = read_source(block, &mut references);
    let gate = SCENARIO.read_in(block, digest, span);
    let tags = block.optional("tags", "Words to select the row by", |f| f.list(|f| f.name()));
    let skip = block.optional("skip", "Why the row is left out", read_skip);
    let only = read_only(block);
    Some(Agent {
        name: name?,
        runs: 1,
        cassette: Some(CassettePath::Graded(source?)),
        gates: vec![gate],
        tags: tags.unwrap_or_default(),
        skip,
        only,
        span: block.key_span("name").unwrap_or(span),
        references,
        ..Agent::default()
    })
}

fn read_source(block: &mut Block<'_>, references: &mut References) -> Option<Graded> {
    block.at_most_one_of(&SOURCES);
    let doc = "The recorded runs: a path, a pattern, or a list of them, relative to the suite";
    let cassette = block.optional("cassette", doc, |f| {
        f.shapes("a path, a pattern, or a list of them", |shapes| {
            shapes.text(|f| Some(Graded::Traces(vec![f.name()?])));
            shapes.list(|f| f.list(|f| f.name()).map(Graded::Traces));
        })
    });
    let doc = "The agent that acts in this world, by its name under `agents:`: its mocks have this state";
    let agent = block.optional("agent", doc, |f| {
        let name = named(f, &mut references.agents)?;
        Some(Graded::Agent { name, variants: Vec::new() })
    });
    let is_written = SOURCES.iter().any(|key| block.has(key));
    if !is_written && !block.has_slip_of(&SOURCES) {
        let problem = Problem::error("nothing says whose runs are judged");
        block.report(problem.help("write `cassette:` with a file, or `agent:` with an agent's name"));
    }
    match cassette.or(agent) {
        Some(Graded::Traces(files)) if files.is_empty() => {
            let problem = Problem::error("there is nothing to judge: the list is empty");
            block.report(problem.at(block.key_span(SOURCES[0]).unwrap_or_default()));
            None
        }
        source => source,
    }
}

/// The worlds that agents act in while they are recorded, by the agents' names: each its own, or that of the first
/// scenario which names it.
pub(super) fn worlds(agents: &[Agent]) -> BTreeMap<String, Arc<World>> {
    let own = agents.iter().filter(|agent| !agent.is_eval());
    let own = own.filter_map(|agent| Some((agent.name.as_str(), agent.world()?)));
    let of_scenarios =
        agents.iter().filter_map(|scenario| Some((scenario.graded_agent()?, scenario.world()?)));
    let mut worlds = BTreeMap::new();
    for (name, world) in own.chain(of_scenarios) {
        worlds.entry(name.to_owned()).or_insert_with(|| Arc::clone(world));
    }
    worlds
}

/// An agent acts in one world, and alone.
pub(super) fn check(parts: &Parts, problems: &mut Vec<Problem>) {
    let worlds = worlds(&parts.agents);
    for scenario in &parts.agents {
        let Some(agent) = scenario.graded_agent().and_then(|name| recorder(&parts.agents, name)) else {
            continue;
        };
        let (own, first) = (scenario.world(), worlds.get(&agent.name));
        if let Some((own, first)) = own.zip(first)
            && own.written() != first.written()
        {
            let message = format!("`{}` cannot act in two worlds", agent.name);
            let help = "give both the same `seed` and `transitions`, or write another agent";
            problems.push(Problem::error(message).at(scenario.span).also(agent.span, "the agent").help(help));
        }
    }
    let acts = |agent: &&Agent| !agent.is_eval() && worlds.contains_key(&agent.name);
    for agent in parts.agents.iter().filter(acts) {
        for (name, (span, server)) in &parts.servers {
            if agent.servers.contains(name) && server.shared && server.is_mock() {
                let message = format!("`{name}` is shared by all runs, and a world begins anew with each");
                let problem = Problem::error(message).at(*span).also(agent.span, "it acts in a world");
                problems.push(problem.help("remove `shared: true`"));
            }
        }
    }
}
