//! Which tools do the same job, and which calls reach which job?

mod explain;
mod selection;

pub(crate) use explain::{explain_selection, listed};
pub(crate) use selection::{Members, Reach};
pub use selection::{Selection, score_selection};

use crate::problem::{Problem, Span};
use crate::suite::read::{Block, Field};

/// Tools of which any one will do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Class {
    /// The capability.
    pub name: String,
    /// The tools, bare or as `server.tool` / `server__tool`.
    pub members: Vec<String>,
}

/// The list under `classes:`.
fn read_classes(field: &mut Field<'_>) -> Option<Vec<Class>> {
    read_placed_classes(field, &mut Vec::new())
}

/// The block's own `classes:` and where each member is written, or else those of the agent's `equal_function_sets:`.
pub(crate) fn read_placed_classes_or_siblings(
    block: &mut Block<'_>,
    places: &mut Vec<(String, Span)>,
) -> Option<Vec<Class>> {
    let doc = "The tools that do the same job, by capability; left out, those of `equal_function_sets:`";
    let own = block.optional("classes", doc, |field| read_placed_classes(field, places));
    if own.is_some() || block.has("classes") {
        return own;
    }
    block.sibling("equal_function_sets", |field| {
        field.block(|sets| sets.optional("classes", "", read_classes)).flatten()
    })
}

/// The list under `classes:`, and where each member is written.
pub(crate) fn read_placed_classes(
    field: &mut Field<'_>,
    places: &mut Vec<(String, Span)>,
) -> Option<Vec<Class>> {
    let mut names: Vec<(String, Span)> = Vec::new();
    field.list(|item| {
        item.block(|block| {
            let name = block.required("name", "The capability", |f| read_new_name(f, &mut names));
            let members = block.required("members", "The tools that provide it", |f| read_members(f, places));
            Some(Class { name: name?, members: members? })
        })
        .flatten()
    })
}

fn read_new_name(field: &mut Field<'_>, names: &mut Vec<(String, Span)>) -> Option<String> {
    let name = field.name()?;
    if let Some((_, first)) = names.iter().find(|(known, _)| *known == name) {
        let problem = Problem::error(format!("the class `{name}` is declared twice"));
        field.report(problem.at(field.span()).also(*first, "already declared here"));
    }
    names.push((name.clone(), field.span()));
    Some(name)
}

fn read_members(field: &mut Field<'_>, places: &mut Vec<(String, Span)>) -> Option<Vec<String>> {
    let members = field.list(|item| {
        let member = item.tool()?;
        places.push((member.clone(), item.span()));
        Some(member)
    });
    field.amend_schema("minItems", serde_json::json!(1));
    if members.as_ref().is_some_and(Vec::is_empty) {
        let problem = Problem::error("a class without members can never be reached");
        field.report(problem.help("list the tools of which any one will do"));
        return None;
    }
    members
}
