//! `completions:` how does an argument go on that was typed half?

use super::Manifest;
use crate::jsonrpc::{RpcError, code};
use mcptest_core::problem::{Problem, Span};
use mcptest_core::suite::read::Field;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The most values that one answer may have.
const MOST: usize = 100;

/// The values of arguments, by what the argument belongs to and its name.
#[derive(Debug, Default)]
pub(super) struct Completions {
    prompts: BTreeMap<String, Arguments>,
    resources: BTreeMap<String, Arguments>,
    places: Vec<(&'static str, String, Span)>,
}

type Arguments = BTreeMap<String, Vec<String>>;

impl Manifest {
    /// The `completion/complete` result, as JSON text: the values that start with what was typed, in any case.
    pub fn complete(&self, reference: &Value, argument: &str, typed: &str) -> Result<String, RpcError> {
        let name = |key: &str| reference.get(key).and_then(Value::as_str).unwrap_or_default();
        let arguments = match name("type") {
            "ref/prompt" => {
                self.prompt(name("name"))?;
                self.completions.prompts.get(name("name"))
            }
            "ref/resource" => {
                let uri = name("uri");
                let mut known = self.resource_templates.iter().chain(&self.resources);
                if !known.any(|resource| resource.uri == uri) {
                    self.resource(uri)?;
                }
                self.completions.resources.get(uri)
            }
            other => {
                let message = format!("`{other}` is not a reference: ref/prompt or ref/resource");
                return Err(RpcError::new(code::INVALID_PARAMS, message));
            }
        };
        let typed = typed.to_lowercase();
        let known = arguments.and_then(|arguments| arguments.get(argument)).into_iter().flatten();
        let fitting: Vec<&String> = known.filter(|value| value.to_lowercase().starts_with(&typed)).collect();
        let values = fitting.get(..MOST).unwrap_or(&fitting);
        let has_more = fitting.len() > MOST;
        Ok(json!({ "completion": { "values": values, "total": fitting.len(), "hasMore": has_more } })
            .to_string())
    }

    /// Says which completions are of nothing that there is.
    pub(super) fn check_completions(&self) -> Vec<Problem> {
        let prompts: Vec<&str> = self.prompts.iter().map(|prompt| prompt.name.as_str()).collect();
        let resources: Vec<&str> =
            self.resource_templates.iter().map(|resource| resource.uri.as_str()).collect();
        let mut problems = Vec::new();
        for (kind, name, span) in &self.completions.places {
            let known = if *kind == "prompt" { &prompts } else { &resources };
            if !known.contains(&name.as_str()) {
                let problem = Problem::error(format!("there is no {kind} `{name}`")).at(*span);
                problems.push(problem.suggest(name, known.iter().copied()));
            }
        }
        for (prompt, arguments) in &self.completions.prompts {
            let Some(declared) = self.prompts.iter().find(|known| known.name == *prompt) else { continue };
            for argument in arguments.keys().filter(|argument| !declared.has_argument(argument)) {
                let place = self
                    .completions
                    .places
                    .iter()
                    .find(|(kind, name, _)| *kind == "prompt" && name == prompt);
                let problem = Problem::error(format!("the prompt `{prompt}` has no argument `{argument}`"));
                problems.push(problem.at(place.map_or_else(Span::default, |(_, _, span)| *span)));
            }
        }
        problems
    }
}

impl Completions {
    pub(super) fn read(field: &mut Field<'_>) -> Option<Self> {
        field.block(|block| {
            let mut places = Vec::new();
            let prompts = block.optional("prompts", "Values by prompt and argument", |f| {
                read_values(f, "prompt", &mut places)
            });
            let resources =
                block.optional("resource_templates", "Values by URI template and variable", |f| {
                    read_values(f, "resource template", &mut places)
                });
            Self { prompts: prompts.unwrap_or_default(), resources: resources.unwrap_or_default(), places }
        })
    }
}

fn read_values(
    field: &mut Field<'_>,
    kind: &'static str,
    places: &mut Vec<(&'static str, String, Span)>,
) -> Option<BTreeMap<String, Arguments>> {
    let by_name = field.named_entries(|name, span, field| {
        places.push((kind, name.to_owned(), span));
        let arguments =
            field.named_entries(|_, _, field| field.list(|field| field.scalar_text().map(|text| text.value)));
        arguments.map(|arguments| arguments.into_iter().collect())
    })?;
    Some(by_name.into_iter().collect())
}
