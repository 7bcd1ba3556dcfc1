//! A value whose variables are filled in only when something is started, and one with its template.

use super::super::variables::names_in;
use super::{Field, Reading};
use crate::suite::deferred::{Deferred, Scope, scalar_value};
use crate::yaml::{Kind, Node, Scalar, resolve};
use serde_json::{Map, Value, json};

impl Reading<'_> {
    /// What the texts of this file know, for those that are filled in later.
    pub(crate) fn scope(&self) -> Scope {
        self.variables.as_ref().map_or_else(Scope::default, |variables| {
            Scope::new(variables.suite.clone(), variables.config_dir.clone())
        })
    }
}

impl Field<'_> {
    /// What a string says wherever it is read; `None` when that is up to the environment.
    pub(crate) fn literal(&self, text: &str) -> Option<String> {
        let scope = self.reading.scope();
        let template = scope.template(text);
        let is_literal = names_in(&template).all(|name| name == "CONFIG_DIR");
        is_literal.then(|| scope.fill(text, &|_| None).ok()).flatten()
    }

    /// A map of any keys, its variables left for later.
    pub(crate) fn deferred_map(&mut self) -> Option<Deferred> {
        let node = self.node(|| json!({ "type": "object" }))?;
        match &node.kind {
            Kind::Map(_) => self.deferred_of(node),
            _ => self.wrong(node, "a map"),
        }
    }

    fn deferred_of(&self, node: &Node) -> Option<Deferred> {
        Some(match &node.kind {
            Kind::Scalar(Scalar::Text { plain, .. }) => {
                Deferred::Text { text: Field::new(self.reading, node).template()?, plain: *plain }
            }
            Kind::Scalar(_) => Deferred::Value(Field::new(self.reading, node).value()?),
            Kind::List(items) => {
                Deferred::List(items.iter().map(|item| self.deferred_of(item)).collect::<Option<_>>()?)
            }
            Kind::Map(entries) => {
                let entry = |entry: &crate::yaml::Entry| {
                    Some((entry.key.to_string(), self.deferred_of(&entry.value)?))
                };
                Deferred::Map(entries.iter().map(entry).collect::<Option<_>>()?)
            }
        })
    }

    /// A map of any keys with its variables filled in, and the same with environment values left as `${NAME}`.
    pub(crate) fn map_and_template(&mut self) -> Option<(Value, Value)> {
        let node = self.node(|| json!({ "type": "object" }))?;
        match &node.kind {
            Kind::Map(_) => self.both_of(node),
            _ => self.wrong(node, "a map"),
        }
    }

    fn both_of(&self, node: &Node) -> Option<(Value, Value)> {
        match &node.kind {
            Kind::Scalar(Scalar::Text { text, plain }) if text.contains("${") => {
                let text = Field::new(self.reading, node).text()?;
                let value = |text: String| if *plain { scalar_value(resolve(&text)) } else { text.into() };
                Some((value(text.value), value(text.template)))
            }
            Kind::Scalar(_) => {
                let value = Field::new(self.reading, node).value()?;
                Some((value.clone(), value))
            }
            Kind::List(items) => {
                let both = items.iter().map(|item| self.both_of(item)).collect::<Option<Vec<_>>>()?;
                let (values, templates) = both.into_iter().unzip();
                Some((Value::Array(values), Value::Array(templates)))
            }
            Kind::Map(entries) => {
                let (mut values, mut templates) = (Map::new(), Map::new());
                for entry in entries {
                    let (value, template) = self.both_of(&entry.value)?;
                    values.insert(entry.key.to_string(), value);
                    templates.insert(entry.key.to_string(), template);
                }
                Some((Value::Object(values), Value::Object(templates)))
            }
        }
    }
}
