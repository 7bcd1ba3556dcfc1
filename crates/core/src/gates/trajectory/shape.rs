//! What must the arguments of a call look like?

use super::recorded::Arguments;
use super::wording;
use crate::json::{
    difference, difference_of_bags, hash_of_bags, hash_value, is_part_of, is_subset,
};
use crate::problem::Problem;
use crate::report::{AssertionDiff, Side};
use crate::schema::JsonSchema;
use crate::suite::read::{Block, Field};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::cell::OnceCell;

const KEYS: [&str; 4] = ["exact", "subset", "schema", "one_of"];
const ANY_ORDER: &str = "any-order";

/// An argument shape, compiled.
#[derive(Debug, Clone)]
pub(crate) enum ArgumentShape {
    Any,
    Exact {
        value: Value,
        hash: u128,
    },
    /// The value with every list as a bag: equal items in any order.
    ExactBags {
        value: Value,
        hash: u128,
    },
    Subset(Value),
    Schema {
        written: Value,
        schema: Box<JsonSchema>,
    },
    OneOf(Vec<ArgumentShape>),
}

/// Arguments to check against several shapes: hashed and parsed at most once.
pub(super) struct Candidate<'a> {
    args: Arguments<'a>,
    hash: Option<u128>,
    value: OnceCell<Option<Cow<'a, Value>>>,
    hash_of_bags: OnceCell<Option<u128>>,
}

impl<'a> Candidate<'a> {
    pub(super) fn new(args: Arguments<'a>, hash: Option<u128>) -> Self {
        Self {
            args,
            hash,
            value: OnceCell::new(),
            hash_of_bags: OnceCell::new(),
        }
    }

    /// The structural hash of the arguments, if they are JSON.
    pub(super) fn hash(&self) -> Option<u128> {
        self.hash
    }

    /// The hash with every list as a bag.
    pub(super) fn hash_of_bags(&self) -> Option<u128> {
        let hash = || self.args.value().as_deref().map(hash_of_bags);
        *self.hash_of_bags.get_or_init(hash)
    }

    /// The arguments as JSON; an empty object if they are absent.
    pub(super) fn value(&self) -> Option<&Value> {
        self.value
            .get_or_init(|| self.args.value_or_empty())
            .as_deref()
    }
}

impl ArgumentShape {
    pub(super) fn exact(value: Value) -> Self {
        Self::Exact {
            hash: hash_value(&value),
            value,
        }
    }

    pub(super) fn exact_bags(value: Value) -> Self {
        Self::ExactBags {
            hash: hash_of_bags(&value),
            value,
        }
    }

    /// Returns true if this value has the shape.
    pub(crate) fn fits_value(&self, value: &Value) -> bool {
        let args = Arguments::Value(value);
        self.fits(&Candidate::new(args, args.hash()))
    }

    pub(super) fn is_any(&self) -> bool {
        matches!(self, Self::Any)
    }

    /// Returns true if the arguments have this shape.
    pub(super) fn fits(&self, candidate: &Candidate<'_>) -> bool {
        match self {
            Self::Any => true,
            Self::Exact { hash, .. } => candidate.hash == Some(*hash),
            Self::ExactBags { hash, .. } => candidate.hash_of_bags() == Some(*hash),
            Self::Subset(part) => candidate
                .value()
                .is_some_and(|value| is_part_of(part, value)),
            Self::Schema { schema, .. } => candidate
                .value()
                .is_some_and(|value| schema.is_valid(value)),
            Self::OneOf(shapes) => shapes.iter().any(|shape| shape.fits(candidate)),
        }
    }

    /// The differences between the arguments and this shape, under `/args`; with several shapes,
    /// from the closest one.
    pub(super) fn diff(&self, args: Arguments<'_>) -> Vec<AssertionDiff> {
        let mut diffs = self.nearest_diff(args);
        for diff in &mut diffs {
            diff.pointer.insert_str(0, "/args");
        }
        diffs
    }

    /// The shape closest to the arguments, of several.
    pub(super) fn nearest(&self, args: Arguments<'_>) -> Option<(Value, usize)> {
        let Self::OneOf(shapes) = self else {
            return None;
        };
        let nearest = shapes
            .iter()
            .min_by_key(|shape| shape.nearest_diff(args).len())?;
        Some((nearest.written(), shapes.len()))
    }

    fn nearest_diff(&self, args: Arguments<'_>) -> Vec<AssertionDiff> {
        let diffs = match self {
            Self::Any => Some(Vec::new()),
            Self::Exact { value, .. } => args
                .value()
                .map(|actual| mark_absent(args, difference(value, &actual))),
            Self::ExactBags { value, .. } => args
                .value()
                .map(|actual| mark_absent(args, difference_of_bags(value, &actual))),
            Self::Subset(part) => args.value_or_empty().map(|actual| is_subset(part, &actual)),
            Self::Schema { schema, .. } => {
                args.value_or_empty().map(|actual| schema.check(&actual))
            }
            Self::OneOf(shapes) => shapes
                .iter()
                .map(|shape| shape.nearest_diff(args))
                .min_by_key(Vec::len),
        };
        let whole = || AssertionDiff {
            pointer: String::new(),
            expected: self.written(),
            actual: args.as_text().into(),
            absent: None,
        };
        diffs.unwrap_or_else(|| vec![whole()])
    }

    /// The shape as a suite writes it.
    fn written(&self) -> Value {
        match self {
            Self::Any => json!("any"),
            Self::Exact { value, .. } => json!({ "exact": value }),
            Self::ExactBags { value, .. } => json!({ "exact": value, "lists": ANY_ORDER }),
            Self::Subset(part) => json!({ "subset": part }),
            Self::Schema { written, .. } => json!({ "schema": written }),
            Self::OneOf(shapes) => {
                json!({ "one_of": shapes.iter().map(Self::written).collect::<Vec<_>>() })
            }
        }
    }

    /// Equal for shapes that accept the same arguments because they are written alike.
    pub(super) fn key(&self) -> (u8, u128) {
        match self {
            Self::Any => (0, 0),
            Self::Exact { hash, .. } => (1, *hash),
            Self::Subset(part) => (2, hash_value(part)),
            Self::Schema { written, .. } => (3, hash_value(written)),
            Self::OneOf(_) => (4, hash_value(&self.written())),
            Self::ExactBags { hash, .. } => (5, *hash),
        }
    }

    /// `any`, `ignore`, or a map with one shape's key.
    pub(crate) fn read(field: &mut Field<'_>) -> Option<Self> {
        const WANTED: &str =
            "`any`, `ignore`, or a map with `exact`, `subset`, `schema` or `one_of`";
        field.define("argument_shape", |field| {
            field.shapes(WANTED, |shapes| {
                shapes.text(|field| {
                    field
                        .choice("an argument shape", &[("any", ()), ("ignore", ())])
                        .map(|()| Self::Any)
                });
                shapes.map(|field| {
                    let written = (!field.is_describing()).then(|| field.value_quietly());
                    let shape = field.try_block(|block| Self::read_block(block, written));
                    field.amend_exactly_one_of(KEYS);
                    shape
                });
            })
        })
    }

    fn read_block(block: &mut Block<'_>, written: Option<Value>) -> Option<Self> {
        let exact = Self::read_exact(block);
        let subset = block.optional(
            "subset",
            "The arguments have at least this: objects key by key, lists in any order, scalars equal",
            |field| field.value(),
        );
        let schema = block.optional(
            "schema",
            "The arguments validate against this JSON Schema (2020-12)",
            |field| {
                let written = field.value_quietly();
                let schema = Box::new(field.json_schema()?);
                Some(Self::Schema { written, schema })
            },
        );
        let one_of = block.optional(
            "one_of",
            "The arguments have any of these shapes",
            Self::read_one_of,
        );
        block.at_most_one_of(&KEYS);
        let has_shape = KEYS.iter().any(|key| block.has(key));
        if !has_shape && block.has_unknown() && !block.has_slip_of(&KEYS) {
            block.refuse_unknown(without_shape(&written.unwrap_or_default()));
        } else if !has_shape && !block.has_unknown() {
            let problem = Problem::error("an argument shape is missing here");
            block.report(problem.help("write one, such as `subset: { q: rust }`, or `any`"));
        }
        exact.or(subset.map(Self::Subset)).or(schema).or(one_of)
    }

    /// Reads `exact:`, with `lists:`.
    fn read_exact(block: &mut Block<'_>) -> Option<Self> {
        let value = block.optional("exact", "The arguments equal this value", |field| {
            field.value()
        });
        let doc = "Beside `exact`: whether the items of lists may be in any order";
        let words = &[("in-order", false), (ANY_ORDER, true)];
        let are_bags = block.optional("lists", doc, |field| field.choice("an order", words));
        if block.has("lists") && !block.has("exact") {
            let problem = Problem::error(
                "`lists` sets how `exact` compares lists, but this shape has no `exact`",
            );
            block.report_at("lists", problem.help("remove it, or write `exact:`"));
        }
        value.map(|value| match are_bags {
            Some(true) => Self::exact_bags(value),
            _ => Self::exact(value),
        })
    }

    fn read_one_of(field: &mut Field<'_>) -> Option<Self> {
        let shapes = field.list(Self::read);
        field.amend_schema("minItems", json!(1));
        if !field.is_describing() && field.value_quietly() == json!([]) {
            field.report(Problem::error("`one_of` needs at least one shape"));
        }
        shapes.map(Self::OneOf)
    }
}

/// The problem of plain arguments, without the key of a shape.
fn without_shape(arguments: &Value) -> Problem {
    let help = match wording::flow_to_copy(arguments) {
        Some(arguments) => format!(
            "write `args: {{ subset: {arguments} }}` to allow further arguments, or with `exact:` to allow none"
        ),
        None => {
            "write them under `subset:` to allow further arguments, or under `exact:`".to_owned()
        }
    };
    Problem::error("`args` does not say how to compare these arguments").help(help)
}

/// Marks the actual side of each difference as absent if the call has no arguments.
fn mark_absent(args: Arguments<'_>, mut diffs: Vec<AssertionDiff>) -> Vec<AssertionDiff> {
    if matches!(args, Arguments::Absent) {
        for diff in &mut diffs {
            diff.absent = Some(Side::Actual);
        }
    }
    diffs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::values_equal;
    use proptest::prelude::*;

    fn fits(shape: &ArgumentShape, args: Arguments<'_>) -> bool {
        let fits = shape.fits(&Candidate::new(args, args.hash()));
        assert_eq!(fits, shape.diff(args).is_empty(), "{shape:?} {args:?}");
        fits
    }

    fn schema(written: Value) -> ArgumentShape {
        ArgumentShape::Schema {
            schema: Box::new(JsonSchema::compile(&written).unwrap()),
            written,
        }
    }

    #[test]
    fn absent_arguments_are_null_when_compared_and_an_empty_object_when_searched() {
        assert!(fits(&ArgumentShape::Any, Arguments::Absent));
        assert!(fits(&ArgumentShape::exact(json!(null)), Arguments::Absent));
        assert!(!fits(&ArgumentShape::exact(json!({})), Arguments::Absent));
        assert!(fits(&ArgumentShape::Subset(json!({})), Arguments::Absent));
        assert!(!fits(
            &ArgumentShape::Subset(json!({"q": 1})),
            Arguments::Absent
        ));
        assert!(fits(&schema(json!({"type": "object"})), Arguments::Absent));
        assert!(!fits(
            &schema(json!({"required": ["q"]})),
            Arguments::Absent
        ));
    }

    #[test]
    fn arguments_that_are_not_json_have_no_shape_but_any() {
        let text = Arguments::NotJson("{q: ");
        assert!(fits(&ArgumentShape::Any, text));
        for shape in [
            ArgumentShape::exact(json!(null)),
            ArgumentShape::Subset(json!({})),
            schema(json!(true)),
        ] {
            assert!(!fits(&shape, text));
            assert!(fits(
                &ArgumentShape::OneOf(vec![shape, ArgumentShape::Any]),
                text
            ));
        }
    }

    #[test]
    fn of_several_shapes_any_may_hold_and_the_nearest_explains() {
        let shape = ArgumentShape::OneOf(vec![
            ArgumentShape::exact(json!({"a": 1, "b": 2})),
            ArgumentShape::Subset(json!({"a": 3})),
        ]);
        assert!(fits(&shape, Arguments::Text(r#"{"b": 2.0, "a": 1}"#)));
        assert!(fits(&shape, Arguments::Text(r#"{"a": 3, "z": 0}"#)));
        let diffs = shape.diff(Arguments::Text(r#"{"a": 4}"#));
        assert_eq!(diffs.len(), 1);
        assert_eq!(
            (diffs[0].pointer.as_str(), &diffs[0].expected),
            ("/args/a", &json!(3))
        );
        assert!(!fits(&ArgumentShape::OneOf(vec![]), Arguments::Absent));
    }

    proptest! {
        #[test]
        fn exact_is_equality_by_value_and_key_order_never_matters(
            fields in prop::collection::vec(("[a-c]", 0_i64..3), 0..4),
            other in prop::collection::vec(("[a-c]", 0_i64..3), 0..4),
        ) {
            let object = |fields: &[(String, i64)]| {
                Value::Object(fields.iter().map(|(key, value)| (key.clone(), json!(value))).collect())
            };
            let (expected, actual) = (object(&fields), object(&other));
            let mut pairs: Vec<String> =
                actual.as_object().unwrap().iter().map(|(key, value)| format!("\"{key}\": {value}.0")).collect();
            pairs.reverse();
            let text = format!("{{{}}}", pairs.join(","));
            for args in [Arguments::Text(&text), Arguments::Value(&actual)] {
                prop_assert_eq!(fits(&ArgumentShape::exact(expected.clone()), args), values_equal(&expected, &actual));
                prop_assert_eq!(fits(&ArgumentShape::Subset(expected.clone()), args), is_part_of(&expected, &actual));
            }
        }
    }
}
