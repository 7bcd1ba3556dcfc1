//! A value with several allowed shapes, distinguished by its form.

use super::field::At;
use super::{Block, Field};
use crate::yaml::{Kind, Scalar};
use serde_json::Value;
use std::cell::RefCell;

/// The shapes that a value may have. The first that fits is read. Without a file, all are
/// described.
pub struct Shapes<'a, T> {
    field: Field<'a>,
    pub(super) taken: bool,
    pub(super) result: Option<T>,
    pub(super) schemas: Vec<Value>,
}

impl<'a, T> Shapes<'a, T> {
    pub(super) fn new(field: &Field<'a>) -> Self {
        Self {
            field: *field,
            taken: false,
            result: None,
            schemas: Vec::new(),
        }
    }

    /// A scalar of any type.
    pub fn scalar(&mut self, read: impl FnOnce(&mut Field<'_>) -> Option<T>) {
        self.when(
            |kind| matches!(kind, Kind::Scalar(scalar) if *scalar != Scalar::Null),
            read,
        );
    }

    pub fn text(&mut self, read: impl FnOnce(&mut Field<'_>) -> Option<T>) {
        self.when(
            |kind| matches!(kind, Kind::Scalar(Scalar::Text { .. })),
            read,
        );
    }

    pub fn list(&mut self, read: impl FnOnce(&mut Field<'_>) -> Option<T>) {
        self.when(|kind| matches!(kind, Kind::List(_)), read);
    }

    /// A map with known keys.
    pub fn block(&mut self, read: impl FnOnce(&mut Block<'_>) -> Option<T>) {
        self.map(|field| field.try_block(read));
    }

    pub fn map(&mut self, read: impl FnOnce(&mut Field<'_>) -> Option<T>) {
        self.when(|kind| matches!(kind, Kind::Map(_)), read);
    }

    fn when(
        &mut self,
        fits: impl FnOnce(&Kind) -> bool,
        read: impl FnOnce(&mut Field<'_>) -> Option<T>,
    ) {
        match self.field.at {
            At::Describe(_) => {
                let slot = RefCell::new(Value::Null);
                read(&mut Field::describing(self.field.reading, &slot));
                self.schemas.push(slot.into_inner());
            }
            At::Node(node) if !self.taken && fits(&node.kind) => {
                self.taken = true;
                self.result = read(&mut self.field);
            }
            At::Node(_) => {}
        }
    }
}
