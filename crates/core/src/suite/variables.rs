//! `${NAME}`, `${NAME:-default}` and `$${literal}` in a suite's texts.

use mcptest_redact::is_secret_name;
use std::collections::BTreeMap;

/// A string of the suite: its value, and the form in which environment values stay `${NAME}`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text {
    /// What the text says.
    pub value: String,
    /// The same with every environment value left as `${NAME}`: what fingerprints are made over.
    pub template: String,
    /// The environment variables in it that are set and are no secrets, with their values.
    pub variables: BTreeMap<String, String>,
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self { value: text.to_owned(), template: text.to_owned(), ..Self::default() }
    }
}

/// Where the values of variables come from.
pub(crate) struct Variables<'e> {
    /// The suite's own `variables:`.
    pub(crate) suite: BTreeMap<String, Text>,
    /// The folder of the suite file.
    pub(crate) config_dir: String,
    pub(crate) environment: &'e dyn Fn(&str) -> Option<String>,
}

/// What is wrong with a `${…}`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum VariableProblem {
    Unset(String),
    Unclosed,
    BadName(String),
}

enum Piece<'t> {
    Literal(&'t str),
    Variable { name: &'t str, default: Option<&'t str> },
}

impl Variables<'_> {
    /// The text with its variables filled in, or everything that keeps them from being so.
    pub(crate) fn expand(&self, text: &str) -> Result<Text, Vec<VariableProblem>> {
        let mut expanded = Text::default();
        let mut problems = Vec::new();
        for piece in pieces(text).map_err(|problem| vec![problem])? {
            match piece {
                Piece::Literal(literal) => {
                    expanded.value.push_str(literal);
                    expanded.template.push_str(literal);
                }
                Piece::Variable { name, default } => {
                    problems.extend(self.push_value(name, default, &mut expanded).err());
                }
            }
        }
        if problems.is_empty() { Ok(expanded) } else { Err(problems) }
    }

    fn push_value(&self, name: &str, default: Option<&str>, into: &mut Text) -> Result<(), VariableProblem> {
        if let Some(own) = self.suite.get(name) {
            into.value.push_str(&own.value);
            into.template.push_str(&own.template);
            into.variables.extend(own.variables.clone());
            return Ok(());
        }
        let found =
            if name == "CONFIG_DIR" { Some(self.config_dir.clone()) } else { (self.environment)(name) };
        let value = match (found.filter(|value| default.is_none() || !value.is_empty()), default) {
            (Some(value), _) => {
                // The folder is another one on every machine.
                if name != "CONFIG_DIR" && !is_secret_name(name) {
                    into.variables.insert(name.to_owned(), value.clone());
                }
                value
            }
            (None, Some(default)) => default.to_owned(),
            (None, None) => return Err(VariableProblem::Unset(name.to_owned())),
        };
        into.value.push_str(&value);
        // A changed default changes what is sent where the variable is not set, so it belongs to the template.
        let default = default.filter(|default| !default.is_empty());
        let default = default.map(|default| format!(":-{default}")).unwrap_or_default();
        into.template.push_str(&format!("${{{name}{default}}}"));
        Ok(())
    }
}

/// The variables that a string names, in any order and as often as it does.
pub(crate) fn names_in(text: &str) -> impl Iterator<Item = &str> {
    pieces(text).unwrap_or_default().into_iter().filter_map(|piece| match piece {
        Piece::Variable { name, .. } => Some(name),
        Piece::Literal(_) => None,
    })
}

/// Checks the spelling of every `${…}` without needing a value: for texts that are resolved when something starts.
pub(crate) fn check(text: &str) -> Result<(), VariableProblem> {
    pieces(text).map(|_| ())
}

fn pieces(text: &str) -> Result<Vec<Piece<'_>>, VariableProblem> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        if rest[..at].ends_with('$') {
            let close = rest[at..].find('}').ok_or(VariableProblem::Unclosed)?;
            pieces.push(Piece::Literal(&rest[..at - 1]));
            pieces.push(Piece::Literal(&rest[at..=at + close]));
            rest = &rest[at + close + 1..];
            continue;
        }
        pieces.push(Piece::Literal(&rest[..at]));
        let close = rest[at..].find('}').ok_or(VariableProblem::Unclosed)? + at;
        let inner = &rest[at + 2..close];
        let (name, default) = match inner.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inner, None),
        };
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_name {
            return Err(VariableProblem::BadName(inner.to_owned()));
        }
        pieces.push(Piece::Variable { name, default });
        rest = &rest[close + 1..];
    }
    pieces.push(Piece::Literal(rest));
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
        let suite = BTreeMap::from([("city".to_owned(), Text::from("Sacramento"))]);
        let variables = Variables { suite, config_dir: "/suites".to_owned(), environment: &environment };
        variables.expand(text).map(|text| (text.value, text.template))
    }

    #[test]
    fn values_are_filled_in_and_environment_values_keep_their_name_in_the_template() {
        assert_eq!(
            expand("in ${city}, ${HOME_CITY}").unwrap(),
            ("in Sacramento, Lisbon".into(), "in Sacramento, ${HOME_CITY}".into())
        );
        assert_eq!(expand("${CONFIG_DIR}/x").unwrap(), ("/suites/x".into(), "${CONFIG_DIR}/x".into()));
        assert_eq!(
            expand("${EMPTY:-none}${UNSET:-}").unwrap(),
            ("none".into(), "${EMPTY:-none}${UNSET}".into())
        );
        assert_eq!(expand("$${city} costs $5").unwrap().0, "${city} costs $5");
    }

    #[test]
    fn what_cannot_be_filled_in_is_a_problem() {
        let unset = |name: &str| VariableProblem::Unset(name.into());
        assert_eq!(expand("${nope} ${city} ${never}"), Err(vec![unset("nope"), unset("never")]));
        assert_eq!(expand("${nope"), Err(vec![VariableProblem::Unclosed]));
        assert_eq!(expand("${a b}"), Err(vec![VariableProblem::BadName("a b".into())]));
    }
}
