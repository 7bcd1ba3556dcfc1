//! `evals:` what an agent recorded, traces or texts are graded in rows of their own, and nothing is run for it.

use super::agent::{Agent, CassettePath, Graded, References, named, read_only, read_skip};
use super::read::{Block, Field};
use crate::eval::EVAL;
use crate::problem::{Problem, Span};
use serde_json::Value;

const SOURCES: [&str; 3] = ["agent", "traces", "texts"];

/// One entry: an agent that is only read, and has no gate but `eval`.
pub(super) fn read(field: &mut Field<'_>) -> Option<Agent> {
    let span = field.span();
    field.define("eval", |field| {
        let digest = field.node(|| Value::Bool(true)).map(|node| node.digest());
        let read = field.block(|block| read_block(block, span, digest.unwrap_or_default()));
        field.amend_exactly_one_of(SOURCES);
        read.flatten()
    })
}

fn read_block(block: &mut Block<'_>, span: Span, digest: String) -> Option<Agent> {
    let mut references = References::default();
    let name = block.required("name", "The row's name, unique in the suite", |f| f.public_name());
    let graded = read_graded(block, &mut references);
    let gate = EVAL.read_in(block, digest, span);
    let tags = block.optional("tags", "Words to select the row by", |f| f.list(|f| f.name()));
    let skip = block.optional("skip", "Why the row is left out", read_skip);
    let only = read_only(block);
    Some(Agent {
        name: name?,
        runs: 1,
        cassette: Some(CassettePath::Graded(graded?)),
        gates: vec![gate],
        tags: tags.unwrap_or_default(),
        skip,
        only,
        span: block.key_span("name").unwrap_or(span),
        references,
        ..Agent::default()
    })
}

fn read_graded(block: &mut Block<'_>, references: &mut References) -> Option<Graded> {
    block.at_most_one_of(&SOURCES);
    let doc =
        "The agent whose recorded runs are graded, by its name under `agents:`: a row for each of its rows";
    let agent = block.optional("agent", doc, |f| {
        let name = named(f, &mut references.agents)?;
        Some(Graded::Agent { name, variants: Vec::new() })
    });
    let doc = "Files whose traces are graded: a path, a pattern, or a list of them, relative to the suite";
    let traces = block.optional("traces", doc, |f| {
        f.shapes("a path, a pattern, or a list of them", |shapes| {
            shapes.text(|f| Some(Graded::Traces(vec![f.name()?])));
            shapes.list(|f| f.list(|f| f.name()).map(Graded::Traces));
        })
    });
    let doc = "Texts to grade, each as the closing message of a run";
    let texts = block.optional("texts", doc, |f| {
        let texts = f.list(|f| f.text())?;
        Some(Graded::Texts(texts.into_iter().map(|text| text.value).collect()))
    });
    let graded = agent.or(traces).or(texts);
    let problem = match &graded {
        Some(Graded::Traces(all) | Graded::Texts(all)) if all.is_empty() => {
            Problem::error("there is nothing to grade: the list is empty")
        }
        None if !SOURCES.iter().any(|key| block.has(key)) && !block.has_slip_of(&SOURCES) => {
            Problem::error("nothing says what is graded")
                .help("write `agent:` with an agent's name, `traces:` with files, or `texts:`")
        }
        _ => return graded,
    };
    let written = SOURCES.iter().find_map(|key| block.key_span(key));
    block.report(written.map_or(problem.clone(), |span| problem.at(span)));
    None
}

/// An eval of an agent has the rows of that agent, and as many runs.
pub(super) fn follow(agents: &mut [Agent]) {
    for at in 0..agents.len() {
        let Some(source) = agents[at].graded_agent().and_then(|name| recorder(agents, name)) else {
            continue;
        };
        let (models, servers, runs) = (source.models.clone(), source.servers.clone(), source.runs);
        let graded = Graded::Agent { name: source.name.clone(), variants: source.variants() };
        // What stopped early has fewer runs than it says, and all of them are graded.
        let says_runs = !source.takes_all_traces() && !source.stop_decided;
        let cassette = Some(CassettePath::Graded(graded));
        let eval = &mut agents[at];
        (eval.models, eval.servers, eval.runs) = (models, servers, runs);
        (eval.says_runs, eval.cassette) = (says_runs, cassette);
    }
}

/// The agent of this name that has recordings of its own.
pub(crate) fn recorder<'a>(agents: &'a [Agent], name: &str) -> Option<&'a Agent> {
    agents.iter().find(|agent| agent.name == name && !agent.is_eval())
}
