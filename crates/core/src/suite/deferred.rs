//! What of a suite is filled in only when a server is started?

use super::variables::{Environment, Scope, Unset};
use crate::yaml::resolve;
use serde_json::{Map, Value};

/// A JSON value with its variables still to be filled in.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Deferred {
    /// A value without variables.
    Value(Value),
    /// A string. A plain scalar is typed after its variables are filled in.
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
        self.map(&|text| Ok::<_, Unset>(scope.template(text)))
            .unwrap_or_default()
    }

    fn map<E>(&self, fill: &dyn Fn(&str) -> Result<String, E>) -> Result<Value, E> {
        Ok(match self {
            Self::Value(value) => value.clone(),
            Self::Text { text, plain: true } if text.contains("${") => resolve(&fill(text)?).into(),
            Self::Text { text, .. } => Value::String(fill(text)?),
            Self::List(items) => items
                .iter()
                .map(|item| item.map(fill))
                .collect::<Result<_, E>>()?,
            Self::Map(entries) => {
                let entries = entries
                    .iter()
                    .map(|(key, value)| Ok((key.clone(), value.map(fill)?)));
                Value::Object(entries.collect::<Result<Map<_, _>, E>>()?)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::variables::Text;
    use serde_json::json;
    use std::collections::BTreeMap;

    #[test]
    fn a_plain_text_is_typed_after_it_is_filled_in_and_a_template_needs_no_environment() {
        let value = Deferred::Map(vec![
            (
                "age".to_owned(),
                Deferred::Text {
                    text: "${AGE}".to_owned(),
                    plain: true,
                },
            ),
            (
                "quoted".to_owned(),
                Deferred::Text {
                    text: "${AGE}".to_owned(),
                    plain: false,
                },
            ),
            (
                "city".to_owned(),
                Deferred::Text {
                    text: "${city}".to_owned(),
                    plain: true,
                },
            ),
        ]);
        let scope = Scope::new(
            BTreeMap::from([("city".to_owned(), Text::from("Oslo"))]),
            "/suites",
        );
        let filled = value
            .fill(&scope, &|name| (name == "AGE").then(|| "36".to_owned()))
            .unwrap();
        assert_eq!(filled, json!({"age": 36, "quoted": "36", "city": "Oslo"}));
        assert_eq!(
            value.template(&scope),
            json!({"age": "${AGE}", "quoted": "${AGE}", "city": "Oslo"})
        );
    }
}
