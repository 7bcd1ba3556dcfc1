//! `${NAME}`, `${NAME:-default}` and `$${literal}` in a suite's texts.

use super::each::{Column, DataRow};
use mcptest_redact::is_secret_name;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use thiserror::Error;

/// The value of an environment variable.
pub type Environment<'e> = &'e dyn Fn(&str) -> Option<String>;

/// A string of the suite: its value, and the form in which environment values stay `${NAME}`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text {
    /// The text with its variables filled in.
    pub value: String,
    /// The text with environment values as `${NAME}`: the input of fingerprints.
    pub template: String,
    /// The environment variables in it that are set and not secret, with their values.
    pub variables: BTreeMap<String, String>,
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self {
            value: text.to_owned(),
            template: text.to_owned(),
            ..Self::default()
        }
    }
}

/// The variables of one file, besides the environment variables.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// The suite's own `variables:`.
    suite: Arc<BTreeMap<String, Text>>,
    /// The line of data that the block is read for. Its columns win over every variable.
    row: Option<Arc<DataRow>>,
    /// The folder of the suite file.
    config_dir: Arc<str>,
}

/// Variables that a server needs but that are not set.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{} not set; set {} in the environment or under `variables:`, or give a default: `${{{}:-value}}`",
    listed(.0), if .0.len() == 1 { "it" } else { "them" }, .0.first().map(String::as_str).unwrap_or_default())]
pub struct Unset(pub Vec<String>);

fn listed(names: &[String]) -> String {
    match names {
        [one] => format!("the variable `{one}` is"),
        many => format!("the variables `{}` are", many.join("`, `")),
    }
}

/// Returns true if this is a valid name of a variable: letters, digits and `_`.
pub(crate) fn is_variable_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// A problem of a `${…}`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum VariableProblem {
    Unset(String),
    /// The line of data has no value in this column.
    EmptyColumn(String),
    Unclosed,
    BadName(String),
}

enum TemplatePiece<'t> {
    Literal(&'t str),
    Variable {
        name: &'t str,
        default: Option<&'t str>,
    },
}

impl Scope {
    pub fn new(suite: BTreeMap<String, Text>, config_dir: &str) -> Self {
        Self {
            suite: Arc::new(suite),
            row: None,
            config_dir: config_dir.into(),
        }
    }

    /// The same variables, and the columns of a line of data.
    pub(super) fn with_row(&self, row: &Arc<DataRow>) -> Self {
        Self {
            row: Some(Arc::clone(row)),
            ..self.clone()
        }
    }

    /// The line of data that the block is read for.
    pub(super) fn row(&self) -> Option<&DataRow> {
        self.row.as_deref()
    }

    /// Returns true if the suite or a line of data sets the variable.
    pub(super) fn declares(&self, name: &str) -> bool {
        self.suite.contains_key(name) || self.row().is_some_and(|row| row.has(name))
    }

    /// The names that the suite or a line of data sets.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let columns = self.row().into_iter().flat_map(DataRow::columns);
        self.suite.keys().map(String::as_str).chain(columns)
    }

    /// The JSON value for a text that is nothing but a column of data.
    pub(super) fn whole_value(&self, text: &str) -> Option<&Value> {
        self.row()?.whole_value(text)
    }

    /// The columns in a text that have no value in this line, and no default.
    pub(super) fn empty_columns<'t>(&self, text: &'t str) -> Vec<&'t str> {
        let is_empty = |piece: TemplatePiece<'t>| match piece {
            TemplatePiece::Variable { name, default } => {
                matches!(self.column(name, default), Column::Empty).then_some(name)
            }
            TemplatePiece::Literal(_) => None,
        };
        let pieces = pieces(text).unwrap_or_default();
        pieces.into_iter().filter_map(is_empty).collect()
    }

    /// The text with the columns of the line of data filled in, and everything else as written.
    pub(super) fn with_columns(&self, text: &str) -> String {
        let mut filled = String::new();
        for piece in pieces(text).unwrap_or_default() {
            match piece {
                TemplatePiece::Literal(literal) => filled.push_str(literal),
                TemplatePiece::Variable { name, default } => match self.column(name, default) {
                    Column::Text(value) => filled.push_str(&value),
                    Column::Empty => {}
                    Column::Unknown => filled.push_str(&written(name, default)),
                },
            }
        }
        filled
    }

    /// A column of the line of data, or its default if it is empty.
    fn column<'v>(&'v self, name: &str, default: Option<&'v str>) -> Column<'v> {
        let Some(row) = self.row() else {
            return Column::Unknown;
        };
        match (row.column(name), default) {
            (Column::Text(value), Some(default)) if value.is_empty() => {
                Column::Text(default.into())
            }
            (Column::Empty, Some(default)) => Column::Text(default.into()),
            (column, _) => column,
        }
    }

    /// The text with its variables filled in.
    pub fn fill(&self, text: &str, environment: Environment<'_>) -> Result<String, Unset> {
        let filled = self.expand(text, environment).map_err(|problems| {
            let name = |problem| match problem {
                VariableProblem::Unset(name)
                | VariableProblem::EmptyColumn(name)
                | VariableProblem::BadName(name) => name,
                VariableProblem::Unclosed => text.to_owned(),
            };
            Unset(problems.into_iter().map(name).collect())
        });
        filled.map(|text| text.value)
    }

    /// The text with the suite's own variables filled in, and environment values as `${NAME}`.
    pub fn template(&self, text: &str) -> String {
        self.expand(text, &|_| Some(String::new()))
            .map_or_else(|_| text.to_owned(), |text| text.template)
    }

    /// The text with its variables filled in, or the reasons that prevent it.
    pub(crate) fn expand(
        &self,
        text: &str,
        environment: Environment<'_>,
    ) -> Result<Text, Vec<VariableProblem>> {
        let mut expanded = Text::default();
        let mut problems = Vec::new();
        for piece in pieces(text).map_err(|problem| vec![problem])? {
            match piece {
                TemplatePiece::Literal(literal) => {
                    expanded.value.push_str(literal);
                    expanded.template.push_str(literal);
                }
                TemplatePiece::Variable { name, default } => {
                    problems.extend(
                        self.push_value(name, default, environment, &mut expanded)
                            .err(),
                    );
                }
            }
        }
        if problems.is_empty() {
            Ok(expanded)
        } else {
            Err(problems)
        }
    }

    fn push_value(
        &self,
        name: &str,
        default: Option<&str>,
        environment: Environment<'_>,
        into: &mut Text,
    ) -> Result<(), VariableProblem> {
        match self.column(name, default) {
            Column::Text(value) => {
                into.value.push_str(&value);
                into.template.push_str(&value);
                return Ok(());
            }
            Column::Empty => return Err(VariableProblem::EmptyColumn(name.to_owned())),
            Column::Unknown => {}
        }
        if let Some(own) = self.suite.get(name) {
            into.value.push_str(&own.value);
            into.template.push_str(&own.template);
            into.variables.extend(own.variables.clone());
            return Ok(());
        }
        let is_folder = name == "CONFIG_DIR";
        let found = if is_folder {
            Some(self.config_dir.to_string())
        } else {
            environment(name)
        };
        let found = found.filter(|value| default.is_none() || !value.is_empty());
        // The folder is another one on every machine.
        if let Some(value) = found
            .as_ref()
            .filter(|_| !is_folder && !is_secret_name(name))
        {
            into.variables.insert(name.to_owned(), value.clone());
        }
        let Some(value) = found.as_deref().or(default) else {
            return Err(VariableProblem::Unset(name.to_owned()));
        };
        into.value.push_str(value);
        into.template.push_str(&written(name, default));
        Ok(())
    }
}

/// A variable in its written form. A changed default changes the value if the variable is not set,
/// so it belongs to the template.
fn written(name: &str, default: Option<&str>) -> String {
    match default {
        Some(default) if !default.is_empty() => format!("${{{name}:-{default}}}"),
        _ => format!("${{{name}}}"),
    }
}

/// The variables in a string, possibly repeated.
pub(crate) fn names_in(text: &str) -> impl Iterator<Item = &str> {
    pieces(text)
        .unwrap_or_default()
        .into_iter()
        .filter_map(|piece| match piece {
            TemplatePiece::Variable { name, .. } => Some(name),
            TemplatePiece::Literal(_) => None,
        })
}

/// Checks the spelling of every `${…}` without needing a value: for texts that are resolved when something starts.
pub(crate) fn check(text: &str) -> Result<(), VariableProblem> {
    pieces(text).map(|_| ())
}

fn pieces(text: &str) -> Result<Vec<TemplatePiece<'_>>, VariableProblem> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        if rest[..at].ends_with('$') {
            let end = rest[at..]
                .find('}')
                .map_or(rest.len(), |close| at + close + 1);
            pieces.push(TemplatePiece::Literal(&rest[..at - 1]));
            pieces.push(TemplatePiece::Literal(&rest[at..end]));
            rest = &rest[end..];
            continue;
        }
        pieces.push(TemplatePiece::Literal(&rest[..at]));
        let close = rest[at..].find('}').ok_or(VariableProblem::Unclosed)? + at;
        let inner = &rest[at + 2..close];
        let (name, default) = match inner.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inner, None),
        };
        if !is_variable_name(name) {
            return Err(VariableProblem::BadName(inner.to_owned()));
        }
        pieces.push(TemplatePiece::Variable { name, default });
        rest = &rest[close + 1..];
    }
    pieces.push(TemplatePiece::Literal(rest));
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expand(text: &str) -> Result<(String, String), Vec<VariableProblem>> {
        let environment = |name: &str| match name {
            "HOME_CITY" => Some("Lisbon".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        };
        let scope = Scope::new(
            BTreeMap::from([("city".to_owned(), Text::from("Sacramento"))]),
            "/suites",
        );
        scope
            .expand(text, &environment)
            .map(|text| (text.value, text.template))
    }

    #[test]
    fn values_are_filled_in_and_environment_values_keep_their_name_in_the_template() {
        assert_eq!(
            expand("in ${city}, ${HOME_CITY}").unwrap(),
            (
                "in Sacramento, Lisbon".into(),
                "in Sacramento, ${HOME_CITY}".into()
            )
        );
        assert_eq!(
            expand("${CONFIG_DIR}/x").unwrap(),
            ("/suites/x".into(), "${CONFIG_DIR}/x".into())
        );
        assert_eq!(
            expand("${EMPTY:-none}${UNSET:-}").unwrap(),
            ("none".into(), "${EMPTY:-none}${UNSET}".into())
        );
        assert_eq!(expand("$${city} costs $5").unwrap().0, "${city} costs $5");
        assert_eq!(expand("echo $${city").unwrap().0, "echo ${city");
    }

    #[test]
    fn what_cannot_be_filled_in_is_a_problem() {
        let unset = |name: &str| VariableProblem::Unset(name.into());
        assert_eq!(
            expand("${nope} ${city} ${never}"),
            Err(vec![unset("nope"), unset("never")])
        );
        assert_eq!(expand("${nope"), Err(vec![VariableProblem::Unclosed]));
        assert_eq!(
            expand("${a b}"),
            Err(vec![VariableProblem::BadName("a b".into())])
        );
        let error = Scope::default()
            .fill("${ONE} ${TWO}", &|_| None)
            .unwrap_err()
            .to_string();
        assert_eq!(
            error,
            "the variables `ONE`, `TWO` are not set; set them in the environment or under `variables:`, \
             or give a default: `${ONE:-value}`"
        );
    }
}
