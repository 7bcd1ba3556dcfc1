//! What holds in a run, as something that can hold in another run as well?

use super::capture::walk;
use super::tool_names::ToolNames;
use super::{CallBaseline, Length, RunBaseline};
use mcptest_core::json;
use mcptest_core::json::type_word;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What one run did, to be asked about.
#[derive(Debug, Default)]
pub(super) struct RunFacts<'r> {
    /// The turn in which each tool was called first.
    pub(super) first: BTreeMap<&'r str, usize>,
    /// The tools in the order of their first calls.
    pub(super) order: Vec<&'r str>,
    pub(super) calls: BTreeMap<&'r str, usize>,
    pub(super) arguments: BTreeMap<&'r str, BTreeMap<String, Argument>>,
    pub(super) run: Option<&'r RunBaseline>,
}

/// What was given at one path of a tool's arguments.
#[derive(Debug, Default)]
pub(super) struct Argument {
    pub(super) types: BTreeSet<&'static str>,
    /// The values as they are compared, each with one as it was written.
    pub(super) values: BTreeMap<String, String>,
    /// Texts, which may be worded in any way.
    pub(super) texts: BTreeSet<String>,
}

impl<'r> RunFacts<'r> {
    pub(super) fn new(run: &'r RunBaseline, names: &ToolNames<'r>) -> Self {
        let mut facts = Self {
            run: Some(run),
            ..Self::default()
        };
        for call in &run.calls {
            facts.add(names.settled(&call.tool), call);
        }
        facts
    }

    fn add(&mut self, tool: &'r str, call: &'r CallBaseline) {
        if !self.first.contains_key(tool) {
            self.first.insert(tool, call.turn);
            self.order.push(tool);
        }
        *self.calls.entry(tool).or_default() += 1;
        let arguments = self.arguments.entry(tool).or_default();
        let Some(args) = &call.args else { return };
        walk(args, "", &mut |path, value| {
            let argument = arguments.entry(path.to_owned()).or_default();
            argument.types.insert(type_word(value));
            match value {
                Value::Object(_) | Value::Array(_) => {}
                Value::String(text) if is_text(text) => drop(argument.texts.insert(text.clone())),
                value => drop(
                    argument
                        .values
                        .entry(compared(value))
                        .or_insert_with(|| value.to_string()),
                ),
            }
        });
    }

    pub(super) fn argument(&self, tool: &str, path: &str) -> Option<&Argument> {
        self.arguments.get(tool)?.get(path)
    }

    pub(super) fn shape(&self) -> Option<&'r BTreeMap<String, String>> {
        self.run?.response.shape.as_ref()
    }

    fn is_empty(&self) -> bool {
        self.run
            .is_none_or(|run| run.response.length == Length::Empty)
    }
}

/// Three words or more are a string, which a model words anew each time.
fn is_text(text: &str) -> bool {
    text.split_whitespace().nth(2).is_some()
}

/// A value as it is compared: numbers by value, texts whatever their case and white space.
fn compared(value: &Value) -> String {
    match value {
        Value::String(text) => {
            format!(
                "\"{}\"",
                text.split_whitespace()
                    .collect::<Vec<_>>()
                    .join(" ")
                    .to_lowercase()
            )
        }
        Value::Number(_) => format!("{:x}", json::hash_value(value)),
        other => other.to_string(),
    }
}

/// Something that can hold in every run of a test.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fact {
    /// The tool is called.
    Calls(String),
    /// The tool is not called.
    Avoids(String),
    /// The one is first called in an earlier turn than the other.
    Before { first: String, then: String },
    /// The tool is given this, of this type.
    Gives {
        tool: String,
        path: String,
        type_word: &'static str,
    },
    /// The tool is given this value.
    Value {
        tool: String,
        path: String,
        value: String,
        shown: String,
    },
    /// The response says something.
    Responds,
    /// The response is JSON, or one block of JSON among words.
    IsJson,
    /// The response has this at a path.
    Field { path: String, types: String },
    /// The run ends for this reason.
    Stops(String),
    /// What is expected of the run holds.
    Passes,
}

impl Fact {
    /// All that may hold in every run of which this is one.
    pub(super) fn all_of(facts: &RunFacts<'_>) -> BTreeSet<Self> {
        let mut all: BTreeSet<Self> = facts
            .order
            .iter()
            .map(|tool| Self::Calls((*tool).to_owned()))
            .collect();
        for (tool, arguments) in &facts.arguments {
            for (path, argument) in arguments {
                let (tool, path) = ((*tool).to_owned(), path.clone());
                if let (Some(type_word), 1) = (argument.types.first(), argument.types.len()) {
                    all.insert(Self::Gives {
                        tool: tool.clone(),
                        path: path.clone(),
                        type_word,
                    });
                }
                all.extend(argument.values.iter().map(|(value, shown)| {
                    let (value, shown) = (value.clone(), shown.clone());
                    Self::Value {
                        tool: tool.clone(),
                        path: path.clone(),
                        value,
                        shown,
                    }
                }));
            }
        }
        all.extend((!facts.is_empty()).then_some(Self::Responds));
        if let Some(shape) = facts.shape() {
            all.insert(Self::IsJson);
            let field = |(path, types): (&String, &String)| Self::Field {
                path: path.clone(),
                types: types.clone(),
            };
            all.extend(shape.iter().map(field));
        }
        all.extend(
            facts
                .run
                .and_then(|run| run.stop_reason.clone())
                .map(Self::Stops),
        );
        all.extend(
            facts
                .run
                .is_some_and(|run| run.passed)
                .then_some(Self::Passes),
        );
        all
    }

    /// Whether it holds in a run; `None` where the run says nothing about it.
    pub(super) fn holds(&self, facts: &RunFacts<'_>) -> Option<bool> {
        let is_called = |tool: &str| facts.first.contains_key(tool);
        match self {
            Self::Calls(tool) => Some(is_called(tool)),
            Self::Avoids(tool) => Some(!is_called(tool)),
            Self::Before { first, then } => {
                let (first, then) = (facts.first.get(&**first)?, facts.first.get(&**then)?);
                Some(first <= then)
            }
            Self::Gives {
                tool,
                path,
                type_word,
            } => is_called(tool).then(|| {
                facts
                    .argument(tool, path)
                    .is_some_and(|argument| argument.types.contains(type_word))
            }),
            Self::Value {
                tool, path, value, ..
            } => {
                let argument = facts.argument(tool, path);
                is_called(tool)
                    .then(|| argument.is_some_and(|argument| argument.values.contains_key(value)))
            }
            Self::Responds => Some(!facts.is_empty()),
            Self::IsJson => Some(facts.shape().is_some()),
            Self::Field { path, types } => {
                let has = |found: &str| {
                    found
                        .split('|')
                        .all(|one| types.split('|').any(|known| known == one))
                };
                // A list without elements says nothing about them.
                let element = path.rfind("[]").map(|at| &path[..at + 2]);
                if element.is_some_and(|element| {
                    facts
                        .shape()
                        .is_some_and(|shape| !shape.contains_key(element))
                }) {
                    return None;
                }
                Some(facts.shape()?.get(path).is_some_and(|found| has(found)))
            }
            Self::Stops(reason) => facts.run?.stop_reason.as_ref().map(|found| found == reason),
            Self::Passes => facts.run.map(|run| run.passed),
        }
    }

    /// Where in the arguments or the response it stands.
    pub(super) fn place(&self) -> Option<String> {
        match self {
            Self::Gives { tool, path, .. } => Some(format!("{tool} {path}")),
            Self::Field { path, .. } => Some(format!("json {path}")),
            Self::IsJson => Some("json".to_owned()),
            Self::Responds => Some("response".to_owned()),
            _ => None,
        }
    }

    /// The place without which it cannot hold: where that is broken, nothing more is said.
    pub(super) fn above(&self) -> Option<String> {
        let parent = |path: &str| path.rfind(['.', '[']).map(|at| path[..at].to_owned());
        match self {
            Self::Value { tool, path, .. } => Some(format!("{tool} {path}")),
            Self::Gives { tool, path, .. } => Some(format!("{tool} {}", parent(path)?)),
            Self::Field { path, .. } => {
                Some(parent(path).map_or("json".to_owned(), |path| format!("json {path}")))
            }
            Self::IsJson => Some("response".to_owned()),
            _ => None,
        }
    }

    /// What kind of thing it is.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Calls(_) | Self::Avoids(_) => "tool",
            Self::Before { .. } => "order",
            Self::Gives { .. } | Self::Value { .. } => "arguments",
            Self::Responds | Self::IsJson | Self::Field { .. } => "response",
            Self::Stops(_) => "finish",
            Self::Passes => "verdict",
        }
    }
}
