//! YAML 1.2 text as a tree in which every key and value has its place.

mod build;
mod scalar;

pub use build::parse;
pub(crate) use build::written_twice;
pub use scalar::{Scalar, resolve};

use crate::digest::digest;
use crate::problem::Span;
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::rc::Rc;

/// One value and its place.
#[derive(Debug)]
pub struct Node {
    pub span: Span,
    pub kind: Kind,
    /// The number of nodes after its aliases are expanded.
    pub expanded: u64,
}

/// The three shapes of YAML. Aliases share their node, so an alias bomb costs nothing until it is
/// walked.
#[derive(Debug)]
pub enum Kind {
    Scalar(Scalar),
    List(Vec<Rc<Node>>),
    Map(Vec<Entry>),
}

/// One `key: value`.
#[derive(Debug, Clone)]
pub struct Entry {
    pub key: Rc<str>,
    pub key_span: Span,
    pub value: Rc<Node>,
}

/// The value as JSON, with the keys of a map in order.
impl Serialize for Node {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match &self.kind {
            Kind::Scalar(Scalar::Text { text, .. } | Scalar::NotFinite(text)) => {
                out.serialize_str(text)
            }
            Kind::Scalar(scalar) => Value::from(scalar.clone()).serialize(out),
            Kind::List(items) => out.collect_seq(items),
            Kind::Map(entries) => {
                let mut entries: Vec<&Entry> = entries.iter().collect();
                entries.sort_unstable_by_key(|entry| &entry.key);
                out.collect_map(entries.into_iter().map(|entry| (&entry.key, &entry.value)))
            }
        }
    }
}

impl Node {
    /// The value as JSON. `scalar` converts each scalar and its place.
    pub fn to_json(&self, scalar: &dyn Fn(&Scalar, Span) -> Option<Value>) -> Option<Value> {
        match &self.kind {
            Kind::Scalar(one) => scalar(one, self.span),
            Kind::List(items) => items.iter().map(|item| item.to_json(scalar)).collect(),
            Kind::Map(entries) => {
                let entry =
                    |entry: &Entry| Some((entry.key.to_string(), entry.value.to_json(scalar)?));
                entries.iter().map(entry).collect()
            }
        }
    }

    /// The digest that `digest_of_value` computes for its JSON, without building that value.
    pub fn digest(&self) -> String {
        digest(&serde_json::to_vec(self).unwrap_or_default())
    }

    /// The shape in the words of an error message.
    pub fn describe(&self) -> String {
        match &self.kind {
            Kind::Scalar(scalar) => scalar.describe(),
            Kind::List(_) => "a list".to_owned(),
            Kind::Map(_) => "a map".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::digest_of_value;

    #[test]
    fn the_digest_of_a_node_is_that_of_its_value() {
        for text in [
            "{b: [1, 2.50, ~, true], a: {'x \"y\"': \"é\\n\", 1: .inf}}",
            "[]",
            "{}",
            "plain text",
            "-0.0",
        ] {
            let node = parse(text, 0, &mut Vec::new()).unwrap();
            assert_eq!(
                node.digest(),
                digest_of_value(&serde_json::to_value(&node).unwrap()),
                "{text}"
            );
        }
    }
}
