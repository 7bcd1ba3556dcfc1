//! Which facts about a run can also hold in another run?

use super::tool_names::ToolNames;
use crate::baseline::{CallBaseline, Length, RunBaseline, walk};
use crate::comparison::support::Support;
use mcptest_core::json;
use mcptest_core::json::type_word;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The behaviour of one run, against which facts are checked.
#[derive(Debug, Default)]
pub(crate) struct RunFacts<'r> {
    /// The turn in which each tool was called first.
    pub(super) first: BTreeMap<&'r str, usize>,
    /// The tools in the order of their first calls.
    pub(super) order: Vec<&'r str>,
    pub(super) calls: BTreeMap<&'r str, usize>,
    pub(super) arguments: BTreeMap<&'r str, BTreeMap<String, ArgumentFacts>>,
    pub(super) run: Option<&'r RunBaseline>,
}

/// The values at one path of a tool's arguments.
#[derive(Debug, Default)]
pub(super) struct ArgumentFacts {
    pub(super) types: BTreeSet<&'static str>,
    /// The values in normalized form, each with an original.
    pub(super) values: BTreeMap<String, String>,
    /// Texts, whose wording may vary.
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
        self.add_call(tool, call.turn);
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

    /// The facts about a run of which only the tools are known.
    pub(crate) fn of_tools(tools: impl Iterator<Item = &'r str>) -> Self {
        let mut facts = Self::default();
        for (turn, tool) in tools.enumerate() {
            facts.add_call(tool, turn);
        }
        facts
    }

    /// Counts a call.
    fn add_call(&mut self, tool: &'r str, turn: usize) {
        if !self.first.contains_key(tool) {
            self.first.insert(tool, turn);
            self.order.push(tool);
        }
        *self.calls.entry(tool).or_default() += 1;
    }

    pub(super) fn argument(&self, tool: &str, path: &str) -> Option<&ArgumentFacts> {
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

/// Returns true for three words or more, which a model words differently each time.
fn is_text(text: &str) -> bool {
    text.split_whitespace().nth(2).is_some()
}

/// A value in normalized form: numbers by value, texts without case and white space.
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

/// A fact that can hold in every run of a test.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fact {
    /// The tool is called.
    Calls(String),
    /// The tool is not called.
    Avoids(String),
    /// The first tool is first called in an earlier turn than the second.
    Before {
        first: String,
        then: String,
    },
    /// A call of the tool has an argument of this type.
    Gives {
        tool: String,
        path: String,
        type_word: &'static str,
    },
    /// A call of the tool has this argument.
    Value {
        tool: String,
        path: String,
        value: String,
        shown: String,
    },
    Responds,
    /// The response is JSON, or one block of JSON among words.
    IsJson,
    /// The response has this at a path.
    Field {
        path: String,
        types: String,
    },
    /// The run ends for this reason.
    Stops(String),
    /// The run's `expect:` holds.
    Passes,
}

impl Fact {
    /// All facts of a run that could be invariants.
    pub(super) fn all_of(facts: &RunFacts<'_>) -> BTreeSet<Self> {
        let tools = facts.order.iter();
        let mut all: BTreeSet<Self> = tools.map(|tool| Self::Calls((*tool).to_owned())).collect();
        for (tool, arguments) in &facts.arguments {
            for (path, argument) in arguments {
                all.extend(Self::of_argument(tool, path, argument));
            }
        }
        all.extend(Self::of_response(facts));
        if let Some(run) = facts.run {
            all.extend(run.stop_reason.clone().map(Self::Stops));
            all.extend(run.passed.then_some(Self::Passes));
        }
        all
    }

    /// The type of an argument, if it has one, and its values.
    fn of_argument(tool: &str, path: &str, argument: &ArgumentFacts) -> Vec<Self> {
        let mut all = Vec::new();
        if let (Some(type_word), 1) = (argument.types.first(), argument.types.len()) {
            all.push(Self::Gives {
                tool: tool.to_owned(),
                path: path.to_owned(),
                type_word,
            });
        }
        for (value, shown) in &argument.values {
            all.push(Self::Value {
                tool: tool.to_owned(),
                path: path.to_owned(),
                value: value.clone(),
                shown: shown.clone(),
            });
        }
        all
    }

    fn of_response(facts: &RunFacts<'_>) -> Vec<Self> {
        let mut all = Vec::new();
        if !facts.is_empty() {
            all.push(Self::Responds);
        }
        if let Some(shape) = facts.shape() {
            all.push(Self::IsJson);
            all.extend(shape.iter().map(|(path, types)| Self::Field {
                path: path.clone(),
                types: types.clone(),
            }));
        }
        all
    }

    /// The number of runs in which it holds.
    pub(crate) fn support(&self, runs: &[RunFacts<'_>]) -> Support {
        Support::count(runs.iter().map(|run| self.holds(run)))
    }

    /// Returns true if it holds in a run; `None` if the run does not show it.
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
                let argument = facts.argument(tool, path);
                argument.is_some_and(|argument| argument.types.contains(type_word))
            }),
            Self::Value {
                tool, path, value, ..
            } => is_called(tool).then(|| {
                let argument = facts.argument(tool, path);
                argument.is_some_and(|argument| argument.values.contains_key(value))
            }),
            Self::Responds => Some(!facts.is_empty()),
            Self::IsJson => Some(facts.shape().is_some()),
            Self::Field { path, types } => has_field(facts.shape(), path, types),
            Self::Stops(reason) => facts.run?.stop_reason.as_ref().map(|found| found == reason),
            Self::Passes => facts.run.map(|run| run.passed),
        }
    }

    /// Its path in the arguments or the response.
    pub(super) fn place(&self) -> Option<String> {
        match self {
            Self::Gives { tool, path, .. } => Some(format!("{tool} {path}")),
            Self::Field { path, .. } => Some(format!("json {path}")),
            Self::IsJson => Some("json".to_owned()),
            Self::Responds => Some("response".to_owned()),
            _ => None,
        }
    }

    /// The path that it depends on: if that is broken, this fact is not reported.
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

/// Returns true if a response has these types at a path. A list without elements shows nothing
/// about them.
fn has_field(shape: Option<&BTreeMap<String, String>>, path: &str, types: &str) -> Option<bool> {
    let shape = shape?;
    let element = path.rfind("[]").map(|at| &path[..at + 2]);
    if element.is_some_and(|element| !shape.contains_key(element)) {
        return None;
    }
    let is_known = |one: &str| types.split('|').any(|known| known == one);
    let found = shape.get(path);
    Some(found.is_some_and(|found| found.split('|').all(is_known)))
}

/// Every tool that one of the runs calls.
pub(crate) fn called<'r>(runs: &[RunFacts<'r>]) -> BTreeSet<&'r str> {
    runs.iter()
        .flat_map(|run| run.order.iter().copied())
        .collect()
}
