//! What do entries of `evals:` and `scenarios:` have in common? Each is a row that only reads
//! recordings.

use super::agent::{Agent, CassettePath, Graded, References, named, read_only, read_skip};
use super::read::{Block, Field};
use crate::engine::{GateBlock, GateKind};
use crate::problem::Span;
use serde_json::Value;

/// A kind of such rows.
pub(super) struct GradedRows {
    /// The keys that name the judged runs. Each row has one of them.
    pub(super) sources: &'static [&'static str],
    pub(super) read_source: fn(&mut Block<'_>, &mut References) -> Option<Graded>,
    /// The only gate of the row. Its key is the row's name in the schema.
    pub(super) gate: &'static GateKind,
}

impl GradedRows {
    /// Reads one entry: an agent that is only read, with this gate.
    pub(super) fn read(&self, field: &mut Field<'_>) -> Option<Agent> {
        let span = field.span();
        field.define(self.gate.key, |field| {
            let digest = field.node(|| Value::Bool(true)).map(|node| node.digest());
            let read =
                field.try_block(|block| self.read_block(block, span, digest.unwrap_or_default()));
            field.amend_exactly_one_of(self.sources.iter().copied());
            read
        })
    }

    fn read_block(&self, block: &mut Block<'_>, span: Span, digest: String) -> Option<Agent> {
        let mut references = References::default();
        let name = block.required("name", "The row's name, unique in the suite", |f| {
            f.public_name()
        });
        block.at_most_one_of(self.sources);
        let graded = (self.read_source)(block, &mut references);
        let gate = GateBlock::read(self.gate, block, digest, span);
        let tags = block.list("tags", "Words to select the row by", |f| f.name());
        let skip = block.optional("skip", "The reason to skip the row", read_skip);
        let only = read_only(block);
        Some(Agent {
            name: name?,
            runs: 1,
            cassette: Some(CassettePath::Graded(graded?)),
            gates: vec![gate],
            tags,
            skip,
            only,
            span: block.key_span("name").unwrap_or(span),
            references,
            ..Agent::default()
        })
    }
}

/// Reads `agent:`, the agent whose recordings are judged.
pub(super) fn read_agent(
    block: &mut Block<'_>,
    doc: &str,
    references: &mut References,
) -> Option<Graded> {
    block.optional("agent", doc, |f| {
        let name = named(f, &mut references.agents)?;
        Some(Graded::Agent {
            name,
            variants: Vec::new(),
        })
    })
}

/// The traces of these files.
pub(super) fn read_traces(block: &mut Block<'_>, key: &'static str, doc: &str) -> Option<Graded> {
    block.optional(key, doc, |f| {
        f.shapes("a path, a pattern, or a list of them", |shapes| {
            shapes.text(|f| Some(Graded::Traces(vec![f.name()?])));
            shapes.list(|f| f.list(|f| f.name()).map(Graded::Traces));
        })
    })
}
