//! The shape of a value: `subset`, `schema`, `length`, `absent`.

use super::{Check, Kind, differs};
use crate::json::is_subset;
use crate::problem::Problem;
use crate::report::AssertionDiff;
use crate::schema::{JsonSchema, SchemaFault};
use serde_json::{Value, json};

pub(super) const SUBSET: Kind = Kind {
    key: "subset",
    alias: None,
    doc: "The value has at least this: objects key by key, lists in any order, scalars equal",
    read: |field| Some(Box::new(Subset(field.value()?))),
};

pub(super) const SCHEMA: Kind = Kind {
    key: "schema",
    alias: None,
    doc: "The value validates against this JSON Schema (2020-12)",
    read: |field| {
        let schema = field.json_schema()?;
        Some(Box::new(Schema(schema)))
    },
};

pub(super) const LENGTH: Kind = Kind {
    key: "length",
    alias: None,
    doc: "How many items a list has, or characters a text: a number, or a matcher for it",
    read: |field| {
        field.shapes("a number or a matcher", |shapes| {
            shapes.scalar(|field| {
                let wanted = field.whole(0..=u64::MAX)?;
                Some(Box::new(Length::Exactly(wanted)) as Box<dyn Check>)
            });
            shapes.map(|field| Some(Box::new(Length::Matching(super::read_check(field)?)) as Box<dyn Check>));
        })
    },
};

pub(super) const ABSENT: Kind = Kind {
    key: "absent",
    alias: None,
    doc: "`true`: there is nothing at the target; `false`: there is something, whatever it is",
    read: |field| Some(Box::new(Absent(field.flag()?))),
};

struct Subset(Value);

impl Check for Subset {
    fn diff(&self, actual: &Value) -> Vec<AssertionDiff> {
        is_subset(&self.0, actual)
    }
}

struct Schema(JsonSchema);

impl Check for Schema {
    fn diff(&self, actual: &Value) -> Vec<AssertionDiff> {
        self.0.check(actual)
    }
}

enum Length {
    Exactly(u64),
    Matching(Box<dyn Check>),
}

impl Check for Length {
    fn diff(&self, actual: &Value) -> Vec<AssertionDiff> {
        let length = match actual {
            Value::Array(items) => items.len(),
            Value::String(text) => text.chars().count(),
            Value::Object(map) => map.len(),
            _ => return differs(json!("a list, a text or an object"), actual),
        };
        match self {
            Self::Exactly(wanted) if length as u64 == *wanted => Vec::new(),
            Self::Exactly(wanted) => differs(json!({ "length": wanted }), &json!(length)),
            Self::Matching(check) => check.diff(&json!(length)),
        }
    }
}

struct Absent(bool);

impl Check for Absent {
    fn diff(&self, actual: &Value) -> Vec<AssertionDiff> {
        if self.0 { differs(json!({ "absent": true }), actual) } else { Vec::new() }
    }

    fn accepts_absence(&self) -> bool {
        self.0
    }

    fn asks_for_absence(&self) -> bool {
        true
    }
}

impl crate::suite::read::Field<'_> {
    /// A JSON Schema document, compiled here so that scoring cannot fail.
    pub(crate) fn json_schema(&mut self) -> Option<JsonSchema> {
        let written = self.value();
        if self.is_describing() {
            return None;
        }
        JsonSchema::compile(&written?).map_err(|fault| self.report(self.schema_problem(&fault))).ok()
    }

    /// What is wrong with the schema that stands here, at its own place.
    pub fn schema_problem(&self, fault: &SchemaFault) -> Problem {
        let problem = Problem::error(format!("this is not a JSON Schema: {}", fault.reason));
        let problem = problem.at(self.span_at(&fault.pointer));
        match &fault.help {
            Some(help) => problem.help(help.clone()),
            None => problem,
        }
    }
}
