//! Which gates apply to all agents of a suite, and what do the files that gates name contain?

use super::agent::Agent;
use super::load::Host;
use super::read::Block;
use crate::engine::{GateBlock, GateKind, GateTrait};
use crate::problem::Problem;
use std::path::Path;

/// Reads the files that gates name, once, so that judging reads no files.
pub(super) fn read(
    agents: &mut [Agent],
    suite: &Path,
    host: &Host<'_>,
    problems: &mut Vec<Problem>,
) {
    let folder = suite.parent().unwrap_or(Path::new(""));
    let read = |file: &str| (host.read)(&folder.join(file));
    let reads_files = |agent: &&mut Agent| agent.gates.iter().any(GateBlock::reads_files);
    for agent in agents.iter_mut().filter(reads_files) {
        let has_variants = !agent.variants().is_empty();
        let mut gates = std::mem::take(&mut agent.gates);
        for gate in &mut gates {
            if has_variants && gate.is(GateTrait::ComparesWithBaseline) {
                let message = format!(
                    "`{}` cannot be used here: each row of this agent is a different test",
                    gate.key()
                );
                let help = "compare them with `mcptest model-baseline diff`";
                problems.push(Problem::error(message).at(agent.span).help(help));
                continue;
            }
            problems.extend(gate.read_files(agent, suite, &read));
        }
        agent.gates = gates;
    }
}

/// Reads a gate next to `agents:`, which applies to each agent of the file without such a gate.
pub(super) fn read_gate_of_suite(
    block: &mut Block<'_>,
    kind: &'static GateKind,
    agents: &mut [Agent],
) {
    let key_span = block.key_span(kind.key).unwrap_or_default();
    let doc = format!(
        "Applies to every agent of this file without such a block: {}",
        kind.summary
    );
    block.optional(kind.key, &doc, |field| {
        let mut without: Vec<&mut Agent> = agents
            .iter_mut()
            .filter(|agent| agent.gates.iter().all(|gate| gate.key() != kind.key))
            .collect();
        if without.is_empty() {
            let problem = Problem::warning(format!(
                "`{}` has no effect: every agent in this file has its own",
                kind.key
            ));
            field.report(
                problem
                    .at(key_span)
                    .help("remove it, or move it to the file that has the agents"),
            );
            return kind.read_field(field, key_span).map(|_| ());
        }
        for agent in &mut without {
            agent.gates.extend(kind.read_field(field, key_span));
        }
        Some(())
    });
}
