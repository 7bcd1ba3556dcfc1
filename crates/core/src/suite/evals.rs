//! `evals:` how are recordings, traces or texts graded in separate rows, without running anything?

use super::agent::{Agent, CassettePath, Graded, References};
use super::graded::{GradedRows, read_agent, read_traces};
use super::read::Block;
use crate::gates::EVAL;
use crate::problem::Problem;

const SOURCES: &[&str] = &["agent", "traces", "texts"];

/// The entries; their only gate is `eval`.
pub(super) const EVALS: GradedRows = GradedRows {
    sources: SOURCES,
    read_source,
    gate: &EVAL,
};

fn read_source(block: &mut Block<'_>, references: &mut References) -> Option<Graded> {
    let agent = read_agent(
        block,
        "The agent whose recorded runs are graded, by its name under `agents:`: a row for each of its rows",
        references,
    );
    let traces = read_traces(
        block,
        "traces",
        "Files whose traces are graded: a path, a pattern, or a list of them, relative to the suite",
    );
    let texts = block.optional(
        "texts",
        "Texts to grade, each as the closing message of a run",
        |f| f.list(|f| f.string()).map(Graded::Texts),
    );
    let graded = agent.or(traces).or(texts);
    match &graded {
        Some(Graded::Traces(all) | Graded::Texts(all)) if all.is_empty() => {
            refuse_empty_source(block);
            None
        }
        None if !SOURCES.iter().any(|key| block.has(key)) && !block.has_slip_of(SOURCES) => {
            let problem = Problem::error("no runs to grade are named");
            let help = "write `agent:` with an agent's name, `traces:` with files, or `texts:`";
            block.report(problem.help(help));
            None
        }
        _ => graded,
    }
}

fn refuse_empty_source(block: &Block<'_>) {
    let key = if block.has("traces") {
        "traces"
    } else {
        "texts"
    };
    block.report_at(key, Problem::error("nothing to grade: the list is empty"));
}

/// Copies the rows and the number of runs from the graded agent.
pub(super) fn follow(agents: &mut [Agent]) {
    for at in 0..agents.len() {
        let Some(source) = agents[at]
            .graded_agent()
            .and_then(|name| recorder(agents, name))
        else {
            continue;
        };
        let (models, servers, runs) = (source.models.clone(), source.servers.clone(), source.runs);
        let graded = Graded::Agent {
            name: source.name.clone(),
            variants: source.variants(),
        };
        // What stopped early has fewer runs than it says, and all of them are graded.
        let says_runs = !source.takes_all_traces() && !source.stop_decided;
        let cassette = Some(CassettePath::Graded(graded));
        let eval = &mut agents[at];
        (eval.models, eval.servers, eval.runs) = (models, servers, runs);
        (eval.says_runs, eval.cassette) = (says_runs, cassette);
    }
}

/// The agent of this name that records.
pub(crate) fn recorder<'a>(agents: &'a [Agent], name: &str) -> Option<&'a Agent> {
    agents
        .iter()
        .find(|agent| agent.name == name && !agent.is_eval())
}
