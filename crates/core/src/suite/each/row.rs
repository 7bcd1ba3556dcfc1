//! Which value does a column have in one line of a data file?

use crate::problem::Span;
use crate::yaml::{Entry, Kind, Node, Scalar};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// One line of a data file.
#[derive(Debug)]
pub(in crate::suite) struct DataRow {
    /// The place of each column in `cells`.
    columns: Arc<BTreeMap<String, usize>>,
    cells: Vec<Cell>,
    /// The place of the line.
    pub(super) span: Span,
}

/// The value of a column in one line.
#[derive(Debug)]
pub(super) enum Cell {
    /// A value of a CSV file, which has no type.
    Text(String),
    /// A value of a JSON line.
    Json(Value),
    /// The line lacks the column.
    Missing,
}

/// The meaning of a name in a line of data.
pub(in crate::suite) enum Column<'r> {
    /// The file has no such column.
    Unknown,
    /// The column has no value in this line: it is missing or null.
    Empty,
    /// The text of its value.
    Text(Cow<'r, str>),
}

impl DataRow {
    pub(super) fn new(columns: Arc<BTreeMap<String, usize>>, cells: Vec<Cell>, span: Span) -> Self {
        Self {
            columns,
            cells,
            span,
        }
    }

    /// The columns of its file.
    pub(in crate::suite) fn columns(&self) -> impl Iterator<Item = &str> {
        self.columns.keys().map(String::as_str)
    }

    /// Returns true if its file has this column.
    pub(in crate::suite) fn has(&self, name: &str) -> bool {
        self.columns.contains_key(name)
    }

    fn cell(&self, name: &str) -> Option<&Cell> {
        self.columns.get(name).and_then(|at| self.cells.get(*at))
    }

    /// The value of a column within a longer text.
    pub(in crate::suite) fn column(&self, name: &str) -> Column<'_> {
        match self.cell(name) {
            None => Column::Unknown,
            Some(Cell::Missing | Cell::Json(Value::Null)) => Column::Empty,
            Some(Cell::Text(text) | Cell::Json(Value::String(text))) => {
                Column::Text(Cow::Borrowed(text))
            }
            Some(Cell::Json(value)) => Column::Text(Cow::Owned(value.to_string())),
        }
    }

    /// The JSON value for a text that is nothing but a column: `${days}`. None for CSV, whose values have no type, and
    /// where a default applies.
    pub(in crate::suite) fn whole_value(&self, text: &str) -> Option<&Value> {
        let inner = text.strip_prefix("${")?.strip_suffix('}')?;
        let (name, has_default) = match inner.split_once(":-") {
            Some((name, _)) => (name, true),
            None => (inner, false),
        };
        let Cell::Json(value) = self.cell(name)? else {
            return None;
        };
        let is_empty = value.is_null() || value == "";
        (!has_default || !is_empty).then_some(value)
    }

    /// The block with each text that is nothing but a column with a list or an object replaced by that value. Other
    /// columns are filled in where their text is read.
    pub(super) fn with_lists_and_maps(&self, block: &Node) -> Node {
        let kind = match &block.kind {
            Kind::Scalar(scalar) => Kind::Scalar(scalar.clone()),
            Kind::List(items) => Kind::List(items.iter().map(|item| self.filled(item)).collect()),
            Kind::Map(entries) => {
                let entry = |entry: &Entry| Entry {
                    value: self.filled(&entry.value),
                    ..entry.clone()
                };
                Kind::Map(entries.iter().map(entry).collect())
            }
        };
        Node {
            span: block.span,
            kind,
            expanded: block.expanded,
        }
    }

    fn filled(&self, node: &Rc<Node>) -> Rc<Node> {
        let Kind::Scalar(scalar) = &node.kind else {
            return Rc::new(self.with_lists_and_maps(node));
        };
        let value = match scalar {
            Scalar::Text { text, .. } => self.whole_value(text),
            _ => None,
        };
        match value {
            Some(value @ (Value::Array(_) | Value::Object(_))) => node_of_data(value, node.span),
            _ => Rc::clone(node),
        }
    }
}

/// A value of a data file at the place of its `${…}`. Its texts are data: none of their `${…}` is a variable.
fn node_of_data(value: &Value, span: Span) -> Rc<Node> {
    let kind = match value {
        Value::Null => Kind::Scalar(Scalar::Null),
        Value::Bool(flag) => Kind::Scalar(Scalar::Bool(*flag)),
        Value::Number(number) => Kind::Scalar(Scalar::Number(number.clone())),
        Value::String(text) => Kind::Scalar(Scalar::Text {
            text: literal(text),
            plain: false,
        }),
        Value::Array(items) => {
            Kind::List(items.iter().map(|item| node_of_data(item, span)).collect())
        }
        Value::Object(entries) => {
            let entry = |(key, value): (&String, &Value)| Entry {
                key: key.as_str().into(),
                key_span: span,
                value: node_of_data(value, span),
            };
            Kind::Map(entries.iter().map(entry).collect())
        }
    };
    let expanded = match &kind {
        Kind::Scalar(_) => 1,
        Kind::List(items) => 1 + items.iter().map(|item| item.expanded).sum::<u64>(),
        Kind::Map(entries) => {
            1 + entries
                .iter()
                .map(|entry| entry.value.expanded)
                .sum::<u64>()
        }
    };
    Rc::new(Node {
        span,
        kind,
        expanded,
    })
}

/// The template of a text without variables: each `${` is written as `$${`.
fn literal(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        written.push_str(&rest[..at]);
        let end = rest[at..]
            .find('}')
            .map_or(rest.len(), |close| at + close + 1);
        written.push('$');
        written.push_str(&rest[at..end]);
        rest = &rest[end..];
    }
    written.push_str(rest);
    written
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::variables::Scope;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_text_of_the_data_means_itself_whatever_it_contains(text in "[${}ab:-]{0,12}") {
            let expanded = Scope::default().expand(&literal(&text), &|_| None).unwrap();
            prop_assert_eq!(expanded.value, text);
        }
    }
}
