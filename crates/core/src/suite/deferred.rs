//! What of a suite is filled in only when a server is started?

use super::variables::{Text, VariableProblem, Variables};
use crate::yaml::{Scalar, resolve};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use thiserror::Error;

/// The value of an environment variable.
pub type Environment<'e> = &'e dyn Fn(&str) -> Option<String>;

/// The variables that the texts of one file know, beside those of the environment.
#[derive(Debug, Clone, Default)]
pub struct Scope(Arc<Known>);

#[derive(Debug, Default)]
struct Known {
    suite: BTreeMap<String, Text>,
    config_dir: String,
}

/// Variables that a server needs and nothing sets.
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

impl Scope {
    pub(crate) fn new(suite: BTreeMap<String, Text>, config_dir: String) -> Self {
        Self(Arc::new(Known { suite, config_dir }))
    }

    /// What a file in this folder knows that has no variables of its own.
    pub fn of_folder(folder: &Path) -> Self {
        Self::new(BTreeMap::new(), folder.display().to_string())
    }

    /// The text with its variables filled in.
    pub fn fill(&self, text: &str, environment: Environment<'_>) -> Result<String, Unset> {
        self.expand(text, environment).map(|text| text.value)
    }

    /// The text with the suite's own variables filled in, and environment values left as `${NAME}`.
    pub fn template(&self, text: &str) -> String {
        self.expand(text, &|_| Some(String::new())).map_or_else(|_| text.to_owned(), |text| text.template)
    }

    fn expand(&self, text: &str, environment: Environment<'_>) -> Result<Text, Unset> {
        let Known { suite, config_dir } = &*self.0;
        let variables = Variables { suite: suite.clone(), config_dir: config_dir.clone(), environment };
        variables.expand(text).map_err(|problems| {
            let name = |problem| match problem {
                VariableProblem::Unset(name) | VariableProblem::BadName(name) => name,
                VariableProblem::Unclosed => text.to_owned(),
            };
            Unset(problems.into_iter().map(name).collect())
        })
    }
}

/// A JSON value with its variables still to be filled in.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Deferred {
    /// Nothing to fill in.
    Value(Value),
    /// A string; a plain one is typed after it is filled in.
    Text {
        text: String,
        plain: bool,
    },
    List(Vec<Deferred>),
    Map(Vec<(String, Deferred)>),
}

impl Deferred {
    /// The value with its variables filled in.
    pub(crate) fn fill(&self, scope: &Scope, environment: Environment<'_>) -> Result<Value, Unset> {
        self.map(&|text| scope.fill(text, environment))
    }

    /// The value with environment values left as `${NAME}`.
    pub(crate) fn template(&self, scope: &Scope) -> Value {
        self.map(&|text| Ok::<_, Unset>(scope.template(text))).unwrap_or_default()
    }

    fn map<E>(&self, fill: &dyn Fn(&str) -> Result<String, E>) -> Result<Value, E> {
        Ok(match self {
            Self::Value(value) => value.clone(),
            Self::Text { text, plain: true } if text.contains("${") => scalar_value(resolve(&fill(text)?)),
            Self::Text { text, .. } => Value::String(fill(text)?),
            Self::List(items) => items.iter().map(|item| item.map(fill)).collect::<Result<_, E>>()?,
            Self::Map(entries) => {
                let entries = entries.iter().map(|(key, value)| Ok((key.clone(), value.map(fill)?)));
                Value::Object(entries.collect::<Result<Map<_, _>, E>>()?)
            }
        })
    }
}

pub(crate) fn scalar_value(scalar: Scalar) -> Value {
    match scalar {
        Scalar::Null => Value::Null,
        Scalar::Bool(flag) => Value::Bool(flag),
        Scalar::Number(number) => Value::Number(number),
        Scalar::Text { text, .. } | Scalar::NotFinite(text) => Value::String(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn scope() -> Scope {
        let suite = BTreeMap::from([("city".to_owned(), Text::from("Oslo"))]);
        Scope::new(suite, "/suites".to_owned())
    }

    #[test]
    fn a_plain_text_is_typed_after_it_is_filled_in_and_a_template_needs_no_environment() {
        let value = Deferred::Map(vec![
            ("age".to_owned(), Deferred::Text { text: "${AGE}".to_owned(), plain: true }),
            ("quoted".to_owned(), Deferred::Text { text: "${AGE}".to_owned(), plain: false }),
            ("city".to_owned(), Deferred::Text { text: "${city}".to_owned(), plain: true }),
        ]);
        let filled = value.fill(&scope(), &|name| (name == "AGE").then(|| "36".to_owned())).unwrap();
        assert_eq!(filled, json!({"age": 36, "quoted": "36", "city": "Oslo"}));
        assert_eq!(value.template(&scope()), json!({"age": "${AGE}", "quoted": "${AGE}", "city": "Oslo"}));
    }

    #[test]
    fn what_is_not_set_is_named() {
        let error = scope().fill("${ONE} ${city} ${TWO}", &|_| None).unwrap_err().to_string();
        assert_eq!(
            error,
            "the variables `ONE`, `TWO` are not set; set them in the environment or under `variables:`, \
             or give a default: `${ONE:-value}`"
        );
    }
}
