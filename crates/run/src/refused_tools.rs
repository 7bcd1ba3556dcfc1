//! Which tools will a model's provider refuse, as far as known before a start?

use mcptest_core::provider::Family;
use mcptest_core::row::AgentRow;
use mcptest_core::suite::ToolSchemas;
use mcptest_core::tool_schema::{Offer, fit};
use mcptest_core::trace::CatalogueTool;
use mcptest_replay::cassette::Recording;
use mcptest_replay::{Plan, cassette_paths};
use std::collections::BTreeSet;

/// A line for each tool and provider, in the order of the rows: the refused construct, and its replacement. A
/// construct that is only a matter of form appears only if it is not rewritten.
pub fn refused_tools(plan: &Plan<'_>) -> Vec<String> {
    let rows = plan
        .rows
        .iter()
        .filter(|row| row.skip.is_none())
        .filter_map(|row| row.agent_row());
    let mut seen = BTreeSet::new();
    rows.flat_map(of_row)
        .filter(|line| seen.insert(line.clone()))
        .collect()
}

fn of_row(row: AgentRow<'_>) -> Vec<String> {
    let Some(family) = row.model.and_then(|model| row.suite.family_of(model)) else {
        return Vec::new();
    };
    if row.agent.is_read_only() {
        return Vec::new();
    }
    let how = row.agent.tool_schemas();
    let catalogue = row
        .suite
        .known_catalogue(row.agent)
        .or_else(|| recorded(row))
        .unwrap_or_default();
    let mut lines: Vec<String> = catalogue
        .iter()
        .flat_map(|tool| refused_parts(tool, family, how))
        .collect();
    lines.extend(too_many(catalogue, family, how));
    lines
}

/// A line for each refused part of a tool's schema.
fn refused_parts(tool: &CatalogueTool, family: &Family, how: ToolSchemas) -> Vec<String> {
    let Some(schema) = &tool.input_schema else {
        return Vec::new();
    };
    fit(schema.text(), family)
        .findings
        .iter()
        .filter(|finding| how == ToolSchemas::AsIs || !finding.rule.is_form)
        .map(|finding| {
            let done = match how {
                ToolSchemas::Mend => finding.rule.mend,
                ToolSchemas::Omit => "the tool is omitted (`tool_schemas: omit`)",
                ToolSchemas::AsIs => "recording will fail (`tool_schemas: as-is`)",
            };
            format!(
                "`{}`: {}: {done}",
                tool.full_name(),
                finding.refused(family)
            )
        })
        .collect()
}

/// A line on the tools beyond the number that the provider accepts.
fn too_many(catalogue: Vec<CatalogueTool>, family: &Family, how: ToolSchemas) -> Option<String> {
    let left_out = Offer::new(catalogue, family, ToolSchemas::Mend).left_out;
    let first = left_out.first()?;
    let done = if how == ToolSchemas::AsIs {
        "recording will fail"
    } else {
        "the other tools are omitted"
    };
    Some(format!(
        "`{}` and {} more: {}: {done}",
        first.tool,
        left_out.len() - 1,
        first.why
    ))
}

/// The tools that an older recording of the row has.
fn recorded(row: AgentRow<'_>) -> Option<Vec<CatalogueTool>> {
    let path = cassette_paths(row).ok()?.into_iter().next()?;
    let recording = Recording::open(&path).ok()?;
    let header = recording.cassette().ok()?.header?;
    Some(
        header
            .catalogue?
            .into_iter()
            .filter(|tool| !tool.distractor)
            .collect(),
    )
}
