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

use super::each::{DataFile, DataRow};
use super::variables::{Environment, Scope, Text, VariableProblem, names_in};
use crate::engine::Gates;
use crate::problem::{Problem, Span};
use crate::words::quoted;
use serde_json::{Map, Value, json};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

/// The shared state of reading one file: its variables, problems and definitions.
pub struct Reading<'e> {
    variables: Option<(Scope, Environment<'e>)>,
    source: &'e str,
    gates: Gates,
    traces_are_given: bool,
    /// The data files of the blocks with `each:`, by the place of that value.
    data: Rc<BTreeMap<Span, Rc<DataFile>>>,
    /// True while the schema of a block with `each:` is described.
    describes_row: Cell<bool>,
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

    /// Reads blocks with `each:` by these files.
    pub(in crate::suite) fn with_data(self, data: BTreeMap<Span, Rc<DataFile>>) -> Self {
        Self {
            data: Rc::new(data),
            ..self
        }
    }

    /// A reading of one block for a line of data. Its problems are its own.
    pub(in crate::suite) fn of_row(&self, row: &Arc<DataRow>) -> Self {
        let variables = self.variables.as_ref();
        Self {
            variables: variables.map(|(scope, environment)| (scope.with_row(row), *environment)),
            gates: self.gates,
            traces_are_given: self.traces_are_given,
            judges_all: self.judges_all.clone(),
            ..Self::as_written(self.source)
        }
    }

    /// The data file of an `each:` at this place.
    pub(in crate::suite) fn data_at(&self, each: Span) -> Option<Rc<DataFile>> {
        self.data.get(&each).cloned()
    }

    /// A reading that leaves `${…}` unchanged for the caller.
    pub fn as_written(source: &'e str) -> Self {
        Self {
            variables: None,
            source,
            gates: Gates::default(),
            traces_are_given: false,
            data: Rc::default(),
            describes_row: Cell::new(false),
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

    /// The JSON value for a text that is nothing but a column of data.
    fn whole_value(&self, text: &str) -> Option<&Value> {
        self.variables.as_ref()?.0.whole_value(text)
    }

    /// Notes environment variables whose values are secrets.
    pub(in crate::suite) fn note(&self, names: BTreeSet<String>) {
        self.named.borrow_mut().extend(names);
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
            names_in(text).filter(|name| *name != "CONFIG_DIR" && !scope.declares(name))
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

    /// Describes a block that may be a row of data, in which a column may be the whole of a list or a map.
    pub(in crate::suite) fn describe_row<T>(&self, describe: impl FnOnce() -> T) -> T {
        let before = self.describes_row.replace(true);
        let described = describe();
        self.describes_row.set(before);
        described
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
                let scope = self.variables.as_ref().map(|(scope, _)| scope);
                let own = scope.into_iter().flat_map(Scope::names);
                let known: Vec<&str> = own.chain(["CONFIG_DIR"]).collect();
                let row = scope.and_then(Scope::row);
                let message = match row {
                    Some(_) => {
                        format!("`{name}` is not a column of the data, nor a variable that is set")
                    }
                    None => format!("the variable `{name}` is not set"),
                };
                let problem = Problem::error(message).at(span);
                match (crate::problem::nearest(&name, known), row) {
                    (Some(near), _) => problem.help(format!("did you mean `${{{near}}}`?")),
                    (None, Some(row)) => problem.help(format!(
                        "the columns of the data are {}",
                        quoted(row.columns())
                    )),
                    (None, None) => problem.help(format!(
                        "set it in the environment or under `variables:`, or give a default: `${{{name}:-value}}`"
                    )),
                }
            }
            VariableProblem::EmptyColumn(name) => Problem::error(format!(
                "the column `{name}` has no value in this line of the data"
            ))
            .at(span)
            .help(format!(
                "write one, or give a default: `${{{name}:-value}}`"
            )),
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
