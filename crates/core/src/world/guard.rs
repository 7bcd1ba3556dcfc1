//! `when:` what must hold in the state, or of the arguments, before a call?

use super::change::{find, shown};
use super::place::{PlaceTemplate, arguments_of, filled};
use crate::hidden::shown_under;
use crate::json::{compare_numbers, doubtful_number, pointer_key, values_equal};
use crate::problem::Problem;
use crate::report::{AssertionDiff, Side};
use crate::suite::read::{Block, Field};
use serde_json::{Value, json};
use std::cmp::Ordering;

/// A condition on one place.
#[derive(Debug, Clone)]
pub(crate) struct Guard {
    place: PlaceTemplate,
    tests: Vec<(Test, Value)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Test {
    Eq,
    Ne,
    Min,
    Max,
    In,
    Exists,
}

/// Every test, with its key, its check and its line of documentation.
const TESTS: [(&str, Test, &str, &str); 6] = [
    ("eq", Test::Eq, "must be", "The value is equal to this one"),
    (
        "ne",
        Test::Ne,
        "must not be",
        "The value differs from this one",
    ),
    (
        "min",
        Test::Min,
        "must be at least",
        "It is at least this number, or not before this text in the order of characters",
    ),
    (
        "max",
        Test::Max,
        "must be at most",
        "It is at most this number, or not after this text in the order of characters",
    ),
    (
        "in",
        Test::In,
        "must be one of",
        "It is one of these values",
    ),
    (
        "exists",
        Test::Exists,
        "must exist:",
        "`true` if a value exists, `false` if not",
    ),
];

/// Reads a map from places to conditions.
pub(crate) fn read_guards(field: &mut Field<'_>) -> Option<Vec<Guard>> {
    field.define("guards", |field| {
        let guards = field.entries(|key, span, f| {
            let place = PlaceTemplate::read(key, span, f);
            let tests = f.shapes(
                "a value, or a map of eq, ne, min, max, in, exists",
                |shapes| {
                    shapes.scalar(|f| Some(vec![(Test::Eq, f.value()?)]));
                    shapes.block(|block| Some(read_tests(block)));
                },
            );
            Some(Guard {
                place: place?,
                tests: tests?,
            })
        });
        guards.map(|guards| guards.into_iter().map(|(_, guard)| guard).collect())
    })
}

fn read_tests(block: &mut Block<'_>) -> Vec<(Test, Value)> {
    let mut tests = Vec::new();
    for (key, test, _, doc) in TESTS {
        tests.extend(block.optional(key, doc, |f| Some((test, test.read(f)?))));
    }
    let is_written = TESTS.iter().any(|(key, ..)| block.has(key));
    if !is_written && !block.has_unknown() {
        let problem = Problem::error("the condition is empty");
        block.report(problem.help("write one of eq, ne, min, max, in, exists"));
    }
    tests
}

impl Test {
    fn read(self, field: &mut Field<'_>) -> Option<Value> {
        match self {
            Self::In => field.list(|f| f.value()).map(Value::Array),
            Self::Exists => field.flag().map(Value::Bool),
            Self::Eq | Self::Ne => field.value(),
            Self::Min | Self::Max => {
                let bound = field.value();
                field.node(|| json!({ "type": ["number", "string"] }));
                let bound = bound?;
                if !bound.is_number() && !bound.is_string() {
                    field.report(Problem::error("a bound is a number or a string"));
                    return None;
                }
                Some(bound)
            }
        }
    }

    fn holds(self, wanted: &Value, found: Option<&Value>) -> bool {
        let ordered = |wanted: Ordering| {
            move |value: &Value, bound: &Value| {
                order(value, bound).is_some_and(|order| order != wanted)
            }
        };
        match (self, found) {
            (Self::Exists, found) => wanted.as_bool() == Some(found.is_some()),
            (_, None) => false,
            (Self::Eq, Some(found)) => values_equal(found, wanted),
            (Self::Ne, Some(found)) => !values_equal(found, wanted),
            (Self::Min, Some(found)) => ordered(Ordering::Less)(found, wanted),
            (Self::Max, Some(found)) => ordered(Ordering::Greater)(found, wanted),
            (Self::In, Some(found)) => wanted
                .as_array()
                .is_some_and(|all| all.iter().any(|one| values_equal(one, found))),
        }
    }

    /// Like `holds`, but counts doubt as danger: a text that may mean a number or a flag counts as
    /// one, and an absent value differs from any value.
    fn may_hold(self, wanted: &Value, found: Option<&Value>) -> bool {
        let means = |found: &Value| {
            doubtful_meaning(found).is_some_and(|meant| self.holds(wanted, Some(&meant)))
        };
        match (self, found) {
            (Self::Ne, None) => true,
            (_, found) => self.holds(wanted, found) || found.is_some_and(means),
        }
    }

    fn words(self) -> &'static str {
        TESTS
            .iter()
            .find(|(_, test, ..)| *test == self)
            .map_or("", |(_, _, words, _)| words)
    }
}

/// Compares two numbers or two texts.
fn order(one: &Value, other: &Value) -> Option<Ordering> {
    match (one, other) {
        (Value::String(one), Value::String(other)) => Some(one.cmp(other)),
        (Value::Number(one), Value::Number(other)) => Some(compare_numbers(one, other)),
        _ => None,
    }
}

/// A server's possible reading of a value: `"900"` as the number 900, `"true"` as a flag.
fn doubtful_meaning(value: &Value) -> Option<Value> {
    let text = value.as_str()?;
    let flag = text.trim().to_lowercase().parse::<bool>().ok();
    let number = || doubtful_number(value).map(Value::Number);
    flag.map(Value::Bool).or_else(number)
}

impl Guard {
    /// Why it does not hold, if it does not.
    pub(crate) fn failure(&self, state: &Value, args: &Value) -> Option<String> {
        const LACKING: &str = "the call lacks an argument that a guard names";
        let (Some((place, found)), Some(wanted)) = (self.found(state, args), self.wanted(args))
        else {
            return Some(LACKING.to_owned());
        };
        let (test, operand) = wanted
            .into_iter()
            .find(|(test, operand)| !test.holds(operand, found))?;
        let name = place.rsplit('.').next().unwrap_or_default();
        let found = found.map_or_else(
            || "not there".to_owned(),
            |found| shown_under(name, found).to_string(),
        );
        Some(format!(
            "`{place}` is {found}, and {} {operand}",
            test.words()
        ))
    }

    /// The tests with the arguments of a call filled in. `None` if the call lacks one.
    fn wanted(&self, args: &Value) -> Option<Vec<(Test, Value)>> {
        self.tests
            .iter()
            .map(|(test, wanted)| Some((*test, filled(wanted, args)?)))
            .collect()
    }

    /// Returns true if it may hold, for a rule that must not miss a call: doubt counts as danger.
    /// `args` is `None` if the arguments are unknown.
    pub(crate) fn may_hold(&self, state: &Value, args: Option<&Value>) -> bool {
        let args = match args {
            Some(args) => args,
            None if self.names_arguments() => return true,
            None => &Value::Null,
        };
        let Some((_, found)) = self.found(state, args) else {
            return false;
        };
        self.tests.iter().all(|(test, wanted)| {
            filled(wanted, args).is_some_and(|wanted| test.may_hold(&wanted, found))
        })
    }

    /// The arguments that it names.
    pub(super) fn arguments(&self) -> impl Iterator<Item = &str> {
        let wanted = self
            .tests
            .iter()
            .flat_map(|(_, wanted)| arguments_of(wanted));
        self.place.arguments().chain(wanted)
    }

    /// The difference from the expectation in a run's final state.
    pub(crate) fn difference(&self, state: &Value) -> Option<AssertionDiff> {
        let place = self.place.filled(&Value::Null)?;
        let found = find(state, &place);
        let &(test, ref wanted) = self
            .tests
            .iter()
            .find(|(test, wanted)| !test.holds(wanted, found))?;
        let expected = match test {
            Test::Eq => wanted.clone(),
            other => Value::from(format!("{} {wanted}", other.words())),
        };
        let steps = place.iter().map(|name| format!("/{}", pointer_key(name)));
        Some(AssertionDiff {
            pointer: steps.collect(),
            expected,
            actual: found.cloned().unwrap_or_default(),
            absent: found.is_none().then_some(Side::Actual),
        })
    }

    /// Returns true if it depends on a call.
    pub(crate) fn names_arguments(&self) -> bool {
        let is_filled =
            |(_, wanted): &(Test, Value)| filled(wanted, &Value::Null).as_ref() != Some(wanted);
        self.place.names_arguments() || self.tests.iter().any(is_filled)
    }

    fn found<'v>(&self, state: &'v Value, args: &'v Value) -> Option<(String, Option<&'v Value>)> {
        let place = self.place.filled(args)?;
        let found = if self.place.is_argument() {
            find(args, &place[1..])
        } else {
            find(state, &place)
        };
        Some((shown(&place), found))
    }
}
