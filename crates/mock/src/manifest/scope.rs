//! Which values can a string of the manifest use?

use mcptest_core::problem::{Problem, nearest};
use mcptest_core::suite::read::Field;
use serde_json::Value;

/// The names of the values that a string can use.
#[derive(Debug, Clone, Default)]
pub(super) struct Scope {
    names: Vec<String>,
    arguments: Option<Arguments>,
}

/// The arguments that are declared.
#[derive(Debug, Clone)]
struct Arguments {
    names: Vec<String>,
    /// True if no other names can exist.
    are_all: bool,
}

impl Scope {
    pub(super) fn new(names: &[&str]) -> Self {
        Self {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            arguments: None,
        }
    }

    /// `args`, with the properties in a tool's schema.
    pub(super) fn of_schema(schema: Option<&Value>) -> Self {
        let properties = schema.and_then(|schema| schema.get("properties")?.as_object());
        let arguments = properties.map(|properties| Arguments {
            names: properties.keys().cloned().collect(),
            are_all: schema.is_some_and(|schema| {
                schema.get("additionalProperties") == Some(&Value::Bool(false))
            }),
        });
        Self {
            arguments,
            ..Self::new(&["args"])
        }
    }

    /// `args` with these names.
    pub(super) fn of_arguments(names: impl IntoIterator<Item = String>) -> Self {
        let arguments = Arguments {
            names: names.into_iter().collect(),
            are_all: true,
        };
        Self {
            arguments: Some(arguments),
            ..Self::new(&["args"])
        }
    }

    pub(super) fn add(&mut self, name: &str) {
        self.names.push(name.to_owned());
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.names.iter().any(|known| known == name)
    }

    /// This scope with these names too.
    pub(super) fn with<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Self {
        let mut scope = self.clone();
        names.into_iter().for_each(|name| scope.add(name));
        scope
    }

    pub(super) fn names(&self) -> Vec<&str> {
        self.names.iter().map(String::as_str).collect()
    }

    /// Warns about an undeclared argument if it cannot occur, or if it looks like a misspelling.
    pub(super) fn check_argument(&self, name: &str, field: &Field<'_>) {
        let Some(arguments) = self
            .arguments
            .as_ref()
            .filter(|known| !known.names.iter().any(|known| known == name))
        else {
            return;
        };
        let known = || arguments.names.iter().map(String::as_str);
        if arguments.are_all || nearest(name, known()).is_some() {
            let problem = Problem::warning(format!("no argument named `{name}` is declared"));
            field.report(problem.suggest(name, known()));
        }
    }
}
