//! Where are the recordings of a row?

use crate::cassette::{self, Resolved};
use mcptest_core::eval::SideRuns;
use mcptest_core::row::AgentRow;
use mcptest_core::suite::{CassettePath, Graded};
use std::path::PathBuf;

/// The paths of an agent's recorded runs with one of its models, in one of its variants.
pub fn cassette_paths(of: AgentRow<'_>) -> Result<Vec<PathBuf>, cassette::ResolveError> {
    resolved(of).map(|resolved| resolved.files)
}

pub(crate) fn resolved(of: AgentRow<'_>) -> Result<Resolved, cassette::ResolveError> {
    let of = of.recorded_by();
    if let Some(CassettePath::ReadOnly(patterns) | CassettePath::Graded(Graded::Traces(patterns))) =
        &of.agent.cassette
    {
        let label = of.model_label();
        let of_model: Vec<String> = patterns
            .iter()
            .map(|pattern| cassette::with_model(pattern, label.as_deref()))
            .collect();
        return cassette::resolve(&of_model, of.suite.folder());
    }
    if of.agent.is_eval() {
        return Ok(Resolved::default());
    }
    Ok(Resolved {
        files: vec![recorded_path(of)],
        ..Resolved::default()
    })
}

/// The path of the runs for one gate of an agent: beside its other runs. `None` without such runs, or if recordings
/// are only read.
pub fn side_path(of: AgentRow<'_>) -> Option<PathBuf> {
    let side = SideRuns::wanted(of.agent, &[]).filter(|_| !of.agent.is_read_only())?;
    Some(cassette::beside(&recorded_path(of), side.words.file))
}

fn recorded_path(of: AgentRow<'_>) -> PathBuf {
    let AgentRow { suite, agent, .. } = of;
    let label = of.model_label();
    let path = if let Some(CassettePath::File(path)) = &agent.cassette {
        suite
            .folder()
            .join(cassette::with_model(path, label.as_deref()))
    } else {
        cassette::default_place(suite, &agent.name, label.as_deref())
    };
    match of.variant {
        Some(variant) => cassette::beside(&path, &variant.to_string().replace(' ', "-")),
        None => path,
    }
}
