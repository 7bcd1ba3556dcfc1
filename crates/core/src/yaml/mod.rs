//! YAML 1.2 text as a tree in which every key and value knows its place.

mod build;
mod scalar;

pub use build::parse;
pub(crate) use build::written_twice;
pub use scalar::{Scalar, resolve};

use crate::problem::Span;
use serde_json::Value;
use std::rc::Rc;

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

    /// The shape in the words of an error message.
    pub fn describe(&self) -> String {
        match &self.kind {
            Kind::Scalar(scalar) => scalar.describe(),
            Kind::List(_) => "a list".to_owned(),
            Kind::Map(_) => "a map".to_owned(),
        }
    }
}
