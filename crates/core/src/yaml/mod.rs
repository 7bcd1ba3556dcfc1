//! YAML 1.2 text as a tree in which every key and value knows its place.

mod build;
mod scalar;

pub(crate) use build::parse;
pub(crate) use scalar::{Scalar, resolve};

use crate::problem::Span;
use std::rc::Rc;

/// One value and its place.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) span: Span,
    pub(crate) kind: Kind,
    /// How many nodes this stands for once its aliases are expanded.
    pub(crate) expanded: u64,
}

/// The three shapes of YAML. Aliases share their node, so that a bomb costs nothing until it is walked.
#[derive(Debug)]
pub(crate) enum Kind {
    Scalar(Scalar),
    List(Vec<Rc<Node>>),
    Map(Vec<Entry>),
}

/// One `key: value`.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) key: Rc<str>,
    pub(crate) key_span: Span,
    pub(crate) value: Rc<Node>,
}

impl Node {
    /// The shape in the words of an error message.
    pub(crate) fn describe(&self) -> String {
        match &self.kind {
            Kind::Scalar(scalar) => scalar.describe(),
            Kind::List(_) => "a list".to_owned(),
            Kind::Map(_) => "a map".to_owned(),
        }
    }
}
