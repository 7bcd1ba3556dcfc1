//! Reads a suite or a manifest field by field. Every problem is collected with its place. Without a
//! file, the same code describes the JSON Schema.

mod block;
mod deferred;
mod field;
mod scalars;
mod shapes;

pub use block::Block;
pub use field::Field;
pub use scalars::parse_duration_ms;
pub use shapes::Shapes;

use super::variables::{Environment, Scope, Text, VariableProblem, names_in};
use crate::engine::Gates;
use crate::problem::{Problem, Span};
use serde_json::{Map, Value, json};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

/// The shared state of reading one file: its variables, problems and definitions.
pub struct Reading<'e> {
    variables: Option<(Scope, Environment<'e>)>,
    source: &'e str,
    gates: Gates,
    traces_are_given: bool,
    /// True if the file has a gate for all of its agents.
    pub(crate) judges_all: Cell<bool>,
    problems: RefCell<Vec<Problem>>,
    named: RefCell<BTreeSet<String>>,
    /// The tools that were read so far, each with its place.
    tools: RefCell<Vec<(String, Span)>>,
    definitions: RefCell<BTreeMap<String, Value>>,
}

impl<'e> Reading<'e> {
    /// A reading that fills in variables, for a file that may use these gates.
    pub(crate) fn new(scope: Scope, environment: Environment<'e>, gates: Gates) -> Self {
        Self {
            variables: Some((scope, environment)),
            gates,
            ..Self::as_written("")
        }
    }

    /// Reads for given traces: agents need no model, prompt or cassette.
    pub(crate) fn for_given_traces(self) -> Self {
        Self {
            traces_are_given: true,
            ..self
        }
    }

    /// A reading that leaves `${…}` unchanged for the caller.
    pub fn as_written(source: &'e str) -> Self {
        Self {
            variables: None,
            source,
            gates: Gates::default(),
            traces_are_given: false,
            judges_all: Cell::new(false),
            problems: RefCell::default(),
            named: RefCell::default(),
            tools: RefCell::default(),
            definitions: RefCell::default(),
        }
    }

    /// The gates that the file may use.
    pub(crate) fn gates(&self) -> Gates {
        self.gates
    }

    fn expand(&self, text: &str) -> Result<Text, Vec<VariableProblem>> {
        self.note_names(text);
        match &self.variables {
            Some((scope, environment)) => scope.expand(text, environment),
            None => Ok(Text::from(text)),
        }
    }

    /// Notes the environment variables in a string: their values are secrets.
    fn note_names(&self, text: &str) {
        self.named
            .borrow_mut()
            .extend(self.of_environment(text).map(str::to_owned));
    }

    /// The variables of a string that neither the suite nor mcptest sets.
    fn of_environment<'t>(&self, text: &'t str) -> impl Iterator<Item = &'t str> {
        let variables = self.variables.as_ref().filter(|_| text.contains("${"));
        variables.into_iter().flat_map(|(scope, _)| {
            names_in(text).filter(|name| *name != "CONFIG_DIR" && !scope.suite.contains_key(*name))
        })
    }

    /// The variables of this file, for texts that are filled in later.
    pub(crate) fn scope(&self) -> Scope {
        self.variables
            .as_ref()
            .map(|(scope, _)| scope.clone())
            .unwrap_or_default()
    }

    /// The environment variables that the texts read so far name.
    pub(crate) fn named(&self) -> BTreeSet<String> {
        self.named.borrow().clone()
    }

    /// The schema of a value that may also be a variable.
    fn or_variable(&self, schema: &Value) -> Value {
        if self.variables.is_none() {
            return schema.clone();
        }
        json!({ "anyOf": [schema, { "type": "string", "pattern": "\\$\\{" }] })
    }

    /// Collects a problem.
    pub fn report(&self, problem: Problem) {
        self.problems.borrow_mut().push(problem);
    }

    pub fn into_problems(self) -> Vec<Problem> {
        self.problems.into_inner()
    }

    /// The schema of the values that `read` reads, with its `$defs`.
    pub fn describe<T>(&self, read: impl FnOnce(&mut Field<'_>) -> T) -> Value {
        let slot = RefCell::new(Value::Null);
        read(&mut Field::describing(self, &slot));
        let mut schema = slot.into_inner();
        let definitions: Map<String, Value> =
            self.definitions.borrow().clone().into_iter().collect();
        if let (Value::Object(map), false) = (&mut schema, definitions.is_empty()) {
            map.insert("$defs".to_owned(), Value::Object(definitions));
        }
        schema
    }

    fn variable_problem(&self, problem: VariableProblem, span: Span) {
        let report = match problem {
            VariableProblem::Unset(name) => {
                let own = self
                    .variables
                    .iter()
                    .flat_map(|(scope, _)| scope.suite.keys());
                let known: Vec<&str> = own.map(String::as_str).chain(["CONFIG_DIR"]).collect();
                let problem = Problem::error(format!("the variable `{name}` is not set")).at(span);
                match crate::problem::nearest(&name, known) {
                    Some(near) => problem.help(format!("did you mean `${{{near}}}`?")),
                    None => problem.help(format!(
                        "set it in the environment or under `variables:`, or give a default: `${{{name}:-value}}`"
                    )),
                }
            }
            VariableProblem::Unclosed => Problem::error("`${` is never closed with `}`")
                .at(span)
                .help("write `$${` for a literal `${`"),
            VariableProblem::BadName(inner) => {
                Problem::error(format!("`{inner}` is not a variable's name"))
                    .at(span)
                    .help("names are letters, digits and `_`; write `$${` for a literal `${`")
            }
        };
        self.report(report);
    }
}

/// Returns true if a key belongs to the author, who starts it with `x-`.
fn is_note(key: &str) -> bool {
    key.starts_with("x-") || key.starts_with("x_")
}

/// Returns true if two keys are equal; `_` and `-` are one letter.
pub const fn is_same_key(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len() != other.len() {
        return false;
    }
    let mut at = 0;
    while at < one.len() {
        if folded(one[at]) != folded(other[at]) {
            return false;
        }
        at += 1;
    }
    true
}

const fn folded(byte: u8) -> u8 {
    if byte == b'_' { b'-' } else { byte }
}

/// `anyOf` of these schemas, or the only schema.
fn any_of(mut schemas: Vec<Value>) -> Value {
    if schemas.len() == 1 {
        schemas.remove(0)
    } else {
        json!({ "anyOf": schemas })
    }
}
