//! `completions:` which values complete a partly typed argument?

use super::Manifest;
use mcptest_core::problem::{Problem, Span};
use mcptest_core::suite::read::Field;
use mcptest_mcp::jsonrpc::{RpcError, RpcResult, code};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The maximum number of values in one answer.
const MOST: usize = 100;

/// The values of arguments, by the owner of the argument and its name.
#[derive(Debug, Default)]
pub(super) struct Completions {
    prompts: Completed,
    resources: Completed,
}

/// By name: its place, and the values of each argument.
type Completed = BTreeMap<String, (Span, BTreeMap<String, Vec<String>>)>;

impl Manifest {
    /// The `completion/complete` result, as JSON text: the values with the typed prefix, in any
    /// case.
    pub fn complete(&self, reference: &Value, argument: &str, typed: &str) -> RpcResult<String> {
        let name = |key: &str| {
            reference
                .get(key)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
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
        let known = arguments
            .and_then(|(_, arguments)| arguments.get(argument))
            .into_iter()
            .flatten();
        let fitting: Vec<&String> = known
            .filter(|value| value.to_lowercase().starts_with(&typed))
            .collect();
        let values = fitting.get(..MOST).unwrap_or(&fitting);
        let has_more = fitting.len() > MOST;
        Ok(json!({ "completion": { "values": values, "total": fitting.len(), "hasMore": has_more } })
            .to_string())
    }

    /// The completions for unknown prompts, templates and arguments.
    pub(super) fn check_completions(&self) -> Vec<Problem> {
        let prompts: Vec<&str> = self
            .prompts
            .iter()
            .map(|prompt| prompt.name.as_str())
            .collect();
        let resources: Vec<&str> = self
            .resource_templates
            .iter()
            .map(|resource| resource.uri.as_str())
            .collect();
        let mut problems = Vec::new();
        let completed = [
            ("prompt", &self.completions.prompts, prompts),
            ("resource template", &self.completions.resources, resources),
        ];
        for (kind, completed, known) in completed {
            for (name, (span, arguments)) in completed {
                if !known.contains(&name.as_str()) {
                    let problem = Problem::error(format!("no {kind} is named `{name}`")).at(*span);
                    problems.push(problem.suggest(name, known.iter().copied()));
                }
                let declared = self
                    .prompts
                    .iter()
                    .find(|prompt| kind == "prompt" && prompt.name == *name);
                let is_missing = |argument: &&String| {
                    declared.is_some_and(|prompt| !prompt.has_argument(argument))
                };
                for argument in arguments.keys().filter(is_missing) {
                    let problem =
                        Problem::error(format!("the prompt `{name}` has no argument `{argument}`"));
                    problems.push(problem.at(*span));
                }
            }
        }
        problems
    }
}

impl Completions {
    pub(super) fn read(field: &mut Field<'_>) -> Option<Self> {
        field.block(|block| Self {
            prompts: block.or_default("prompts", "Values by prompt and argument", read_values),
            resources: block.or_default(
                "resource_templates",
                "Values by URI template and variable",
                read_values,
            ),
        })
    }
}

fn read_values(field: &mut Field<'_>) -> Option<Completed> {
    let by_name = field.named_entries(|_, span, field| {
        let arguments = field.named_entries(|_, _, field| {
            field.list(|field| field.scalar_text().map(|text| text.value))
        });
        Some((span, arguments.unwrap_or_default().into_iter().collect()))
    })?;
    Some(by_name.into_iter().collect())
}
