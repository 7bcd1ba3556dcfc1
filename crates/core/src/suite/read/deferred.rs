//! A value whose variables are filled in only when something starts, and a value with its template.

use super::Field;
use crate::suite::deferred::Deferred;
use crate::suite::variables::names_in;
use crate::yaml::{Entry, Kind, Node, Scalar};
use serde_json::{Value, json};

impl<'a> Field<'a> {
    /// The text, if it needs no environment variable.
    pub(crate) fn literal(&self, text: &str) -> Option<String> {
        let scope = self.reading.scope();
        let template = scope.template(text);
        let is_literal = names_in(&template).all(|name| name == "CONFIG_DIR");
        is_literal
            .then(|| scope.fill(text, &|_| None).ok())
            .flatten()
    }

    fn map_node(&mut self) -> Option<&'a Node> {
        let node = self.node(|| json!({ "type": "object" }));
        self.amend_or_column();
        let node = node?;
        if matches!(node.kind, Kind::Map(_)) {
            Some(node)
        } else {
            self.wrong(node, "a map")
        }
    }

    /// Reads a map of any keys without filling in variables.
    pub(crate) fn deferred_map(&mut self) -> Option<Deferred> {
        let node = self.map_node()?;
        self.deferred_of(node)
    }

    fn deferred_of(&self, node: &Node) -> Option<Deferred> {
        Some(match &node.kind {
            Kind::Scalar(Scalar::Text { text, plain }) => match self.reading.whole_value(text) {
                Some(value) => Deferred::Value(value.clone()),
                None => Deferred::Text {
                    text: Field::new(self.reading, node).template()?,
                    plain: *plain,
                },
            },
            Kind::Scalar(_) => Deferred::Value(Field::new(self.reading, node).value()?),
            Kind::List(items) => Deferred::List(
                items
                    .iter()
                    .map(|item| self.deferred_of(item))
                    .collect::<Option<_>>()?,
            ),
            Kind::Map(entries) => {
                let entry =
                    |entry: &Entry| Some((entry.key.to_string(), self.deferred_of(&entry.value)?));
                Deferred::Map(entries.iter().map(entry).collect::<Option<_>>()?)
            }
        })
    }

    /// A map of any keys with its variables filled in, and its template with environment values as
    /// `${NAME}`.
    pub(crate) fn map_and_template(&mut self) -> Option<(Value, Value)> {
        let node = self.map_node()?;
        let value = Field::new(self.reading, node).value()?;
        Some((
            value,
            self.deferred_of(node)?.template(&self.reading.scope()),
        ))
    }
}
