//! YAML 1.2 text as a tree in which every key and value knows its place.

mod build;
mod scalar;

pub use build::parse;
pub(crate) use build::written_twice;
pub use scalar::{Scalar, resolve};

use crate::digest::digest;
use crate::problem::Span;
use serde_json::Value;
use std::rc::Rc;

/// A string as JSON has it.
fn write_text(text: &str, out: &mut String) {
    let is_plain = |byte: u8| (b' '..=b'~').contains(&byte) && byte != b'"' && byte != b'\\';
    if text.bytes().all(is_plain) {
        out.extend(["\"", text, "\""]);
    } else {
        out.push_str(&Value::from(text).to_string());
    }
}

/// One value and its place.
#[derive(Debug)]
pub struct Node {
    pub span: Span,
    pub kind: Kind,
    /// How many nodes this stands for once its aliases are expanded.
    pub expanded: u64,
}

/// The three shapes of YAML. Aliases share their node, so that a bomb costs nothing until it is walked.
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

impl Node {
    /// The value as JSON, as it is written.
    pub fn to_json(&self) -> Value {
        match &self.kind {
            Kind::Scalar(Scalar::Null) => Value::Null,
            Kind::Scalar(Scalar::Bool(flag)) => Value::Bool(*flag),
            Kind::Scalar(Scalar::Number(number)) => Value::Number(number.clone()),
            Kind::Scalar(Scalar::Text { text, .. } | Scalar::NotFinite(text)) => Value::String(text.clone()),
            Kind::List(items) => items.iter().map(|item| item.to_json()).collect(),
            Kind::Map(entries) => {
                entries.iter().map(|entry| (entry.key.to_string(), entry.value.to_json())).collect()
            }
        }
    }

    /// The same as `digest_of_value` gives for [`Node::to_json`], without that value.
    pub fn digest(&self) -> String {
        let mut canonical = String::new();
        self.write_canonical(&mut canonical);
        digest(canonical.as_bytes())
    }

    fn write_canonical(&self, out: &mut String) {
        match &self.kind {
            Kind::Scalar(Scalar::Text { text, .. } | Scalar::NotFinite(text)) => write_text(text, out),
            Kind::Scalar(_) => out.push_str(&self.to_json().to_string()),
            Kind::List(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { "," });
                    item.write_canonical(out);
                }
                out.push(']');
            }
            Kind::Map(entries) => {
                let mut entries: Vec<&Entry> = entries.iter().collect();
                entries.sort_unstable_by_key(|entry| &entry.key);
                out.push('{');
                for (index, entry) in entries.into_iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { "," });
                    write_text(&entry.key, out);
                    out.push(':');
                    entry.value.write_canonical(out);
                }
                out.push('}');
            }
        }
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
        for text in
            ["{b: [1, 2.50, ~, true], a: {'x \"y\"': \"é\\n\", 1: .inf}}", "[]", "{}", "plain text", "-0.0"]
        {
            let node = parse(text, 0, &mut Vec::new()).unwrap();
            assert_eq!(node.digest(), digest_of_value(&node.to_json()), "{text}");
        }
    }
}
