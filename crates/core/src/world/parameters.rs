//! Do the guards and effects of a world name arguments that its tools have?

use super::World;
use crate::problem::{Problem, Span, did_you_mean};
use crate::trace::{CatalogueTool, Tool};
use crate::words::some_of;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

impl World {
    /// Reports arguments that their tool does not have, if its parameters are known: such a
    /// transition is never made, and such a call never occurs.
    pub(crate) fn unknown_arguments(&self, catalogue: &[CatalogueTool]) -> Vec<Problem> {
        let transitions = self.transitions.iter().flat_map(|transition| {
            let guards = transition.when.iter().flat_map(|guard| guard.arguments());
            let effects = transition
                .effects
                .iter()
                .flat_map(|effect| effect.arguments());
            let names: BTreeSet<&str> = guards.chain(effects).collect();
            unknown(&transition.tool, transition.span, names, catalogue)
        });
        let forbidden = self.forbidden.iter().flat_map(|forbidden| {
            let names = forbidden
                .when
                .iter()
                .flat_map(|guard| guard.arguments())
                .collect();
            unknown(&forbidden.tool, forbidden.span, names, catalogue)
        });
        transitions.chain(forbidden).collect()
    }
}

fn unknown(
    tool: &str,
    span: Span,
    names: BTreeSet<&str>,
    catalogue: &[CatalogueTool],
) -> Vec<Problem> {
    let tools: Vec<&CatalogueTool> = catalogue
        .iter()
        .filter(|known| Tool::from(*known).is(tool))
        .collect();
    let parameters: Option<Vec<&Map<String, Value>>> =
        tools.iter().map(|tool| all_parameters(tool)).collect();
    let Some(parameters) = parameters.filter(|parameters| !parameters.is_empty()) else {
        return Vec::new();
    };
    let known = || {
        parameters
            .iter()
            .flat_map(|of_tool| of_tool.keys())
            .map(String::as_str)
    };
    let is_unknown = |name: &&str| !known().any(|parameter| parameter == *name);
    let problem = |name: &str| {
        let help = did_you_mean(name, known(), || {
            let names: BTreeSet<&str> = known().collect();
            if names.is_empty() {
                "the tool takes no arguments".to_owned()
            } else {
                format!("its parameters are {}", some_of(names.into_iter()))
            }
        });
        Problem::error(format!(
            "`{tool}` has no parameter `{name}`, so this can never apply"
        ))
        .at(span)
        .help(help)
    };
    names.into_iter().filter(is_unknown).map(problem).collect()
}

/// Schema keywords that may allow further parameters.
const OPEN: [&str; 7] = [
    "$ref",
    "$dynamicRef",
    "allOf",
    "anyOf",
    "oneOf",
    "patternProperties",
    "if",
];

/// The parameters of a tool, if its schema lists all of them.
fn all_parameters(tool: &CatalogueTool) -> Option<&Map<String, Value>> {
    let schema = tool.input_schema.as_ref()?.as_object()?;
    let takes_more = match schema.get("additionalProperties") {
        None | Some(Value::Bool(false)) => false,
        Some(_) => true,
    };
    if takes_more || OPEN.iter().any(|key| schema.contains_key(*key)) {
        return None;
    }
    schema.get("properties")?.as_object()
}
