//! Which tools do the same job, and which calls reach which job?

mod discovery;
mod explain;
mod selection;

pub(crate) use discovery::Discovery;
pub(crate) use explain::explain_selection;
pub(crate) use selection::{Members, Reach};
pub use selection::{Selection, score_selection};

use crate::problem::{Problem, Span};
use crate::suite::read::{Block, Field};

/// Tools that are interchangeable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Class {
    /// The capability.
    pub name: String,
    /// The tools, bare or as `server.tool` / `server__tool`.
    pub members: Vec<String>,
}

/// The block's `classes:`, otherwise the classes of the agent's `equal_function_sets:`.
pub(crate) fn read_classes_or_siblings(block: &mut Block<'_>) -> Option<Vec<Class>> {
    let doc = "The tools that do the same job, by capability [default: the classes of `equal_function_sets:`]";
    let own = block.optional("classes", doc, read_classes);
    if own.is_some() || block.has("classes") {
        return own;
    }
    block.sibling("equal_function_sets", |field| {
        field.try_block(|sets| sets.optional("classes", "", read_classes))
    })
}

/// The block's classes, otherwise the classes of the agent's `equal_function_sets:` or `orchestration:`.
pub(crate) fn read_any_classes(block: &mut Block<'_>) -> Option<Vec<Class>> {
    let classes = read_classes_or_siblings(block);
    if classes.is_some() || block.has("classes") {
        return classes;
    }
    block.sibling("orchestration", |field| {
        field.try_block(|axes| axes.optional("classes", "", read_classes))
    })
}

/// Reads the block's classes, for a gate that measures nothing without them.
pub(crate) fn read_needed_classes(block: &mut Block<'_>) -> Vec<Class> {
    let classes = read_classes_or_siblings(block);
    let has_sibling = block.sibling("equal_function_sets", |_| Some(())).is_some();
    if classes.is_none() && !block.has("classes") && !has_sibling {
        let help = "list the tools that do the same job here, or in an `equal_function_sets:` of the same agent";
        block.report(Problem::error("`classes` is missing here").help(help));
    }
    classes.unwrap_or_default()
}

/// The list under `classes:`.
pub(crate) fn read_classes(field: &mut Field<'_>) -> Option<Vec<Class>> {
    let mut names: Vec<(String, Span)> = Vec::new();
    field.list(|item| {
        item.try_block(|block| {
            let name = block.required("name", "The capability", |f| read_new_name(f, &mut names));
            let members = block.required("members", "The tools that provide it", |f| {
                let empty = Problem::error("a class without members can never be reached");
                f.list_of_some(
                    empty.help("list the tools of which any one will do"),
                    |item| item.tool(),
                )
            });
            Some(Class {
                name: name?,
                members: members?,
            })
        })
    })
}

fn read_new_name(field: &mut Field<'_>, names: &mut Vec<(String, Span)>) -> Option<String> {
    let name = field.name()?;
    if let Some((_, first)) = names.iter().find(|(known, _)| *known == name) {
        let problem = Problem::error(format!("the class `{name}` is declared twice"));
        field.report(
            problem
                .at(field.span())
                .also(*first, "already declared here"),
        );
    }
    names.push((name.clone(), field.span()));
    Some(name)
}
