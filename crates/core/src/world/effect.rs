//! `effect:` what does a call change in the state?

use super::change::{StateChange, check, find, shown};
use super::decimal::sum;
use super::place::{PlaceTemplate, arguments_of, filled};
use crate::json::values_equal;
use crate::problem::{Problem, Span};
use crate::suite::read::Field;
use serde_json::{Value, json};

/// One change of one place.
#[derive(Debug, Clone)]
pub(super) struct Effect {
    verb: Verb,
    place: PlaceTemplate,
    value: Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verb {
    Set,
    Inc,
    Dec,
    Append,
    Remove,
    Unset,
}

/// The verbs with a value, by their keys.
const WITH_VALUE: [(&str, Verb, &str); 5] = [
    ("set", Verb::Set, "Sets a value at each of these places"),
    (
        "inc",
        Verb::Inc,
        "Adds a number to the value at each of these places, or to 0",
    ),
    (
        "dec",
        Verb::Dec,
        "Subtracts a number from the value at each of these places, or from 0",
    ),
    (
        "append",
        Verb::Append,
        "Appends a value to the list at each of these places",
    ),
    (
        "remove",
        Verb::Remove,
        "Removes every such value from the list at each of these places",
    ),
];

pub(super) fn read_effects(field: &mut Field<'_>) -> Option<Vec<Effect>> {
    let doc = "Removes the values at these places: one or a list";
    field.block(|block| {
        let mut effects = Vec::new();
        for (key, verb, doc) in WITH_VALUE {
            let read = block.optional(key, doc, |f| {
                f.entries(|key, span, f| {
                    let (place, value) = (place(key, span, f), verb.value(f));
                    Some(Effect {
                        verb,
                        place: place?,
                        value: value?,
                    })
                })
            });
            effects.extend(read.into_iter().flatten().map(|(_, effect)| effect));
        }
        let unset = block.optional("unset", doc, |f| {
            f.shapes("a place or a list of them", |shapes| {
                shapes.text(|f| Some(vec![unset(f)?]));
                shapes.list(|f| f.list(unset));
            })
        });
        effects.extend(unset.into_iter().flatten());
        if effects.is_empty() && !block.has_unknown() && !block.has("unset") && !has_any(block) {
            let problem = Problem::error("this effect changes nothing");
            block.report(problem.help("write one of set, inc, dec, append, remove, unset"));
        }
        effects
    })
}

fn has_any(block: &crate::suite::read::Block<'_>) -> bool {
    WITH_VALUE.iter().any(|(key, ..)| block.has(key))
}

fn unset(field: &mut Field<'_>) -> Option<Effect> {
    let span = field.span();
    let written = field.name()?;
    Some(Effect {
        verb: Verb::Unset,
        place: place(&written, span, field)?,
        value: Value::Null,
    })
}

fn place(written: &str, span: Span, field: &Field<'_>) -> Option<PlaceTemplate> {
    let place = PlaceTemplate::read(written, span, field)?;
    if place.is_argument() && !field.is_describing() {
        field.report(
            Problem::error("an effect changes the state; `args` belongs to the call").at(span),
        );
        return None;
    }
    Some(place)
}

impl Verb {
    fn value(self, field: &mut Field<'_>) -> Option<Value> {
        let value = field.value();
        let is_of_number = matches!(self, Self::Inc | Self::Dec);
        if is_of_number {
            field.node(|| json!({ "type": ["number", "string"] }));
        }
        let value = value?;
        if is_of_number && !value.is_number() && !value.is_string() {
            field.report(Problem::error(
                "this must be a number, or an argument such as `{amount}`",
            ));
            return None;
        }
        Some(value)
    }
}

impl Effect {
    /// The arguments that it names.
    pub(super) fn arguments(&self) -> impl Iterator<Item = &str> {
        self.place.arguments().chain(arguments_of(&self.value))
    }

    /// Returns true if the call has the arguments that the place names.
    pub(super) fn has_place(&self, args: &Value) -> bool {
        self.place.filled(args).is_some()
    }

    /// The change, if the call has the arguments that it names, otherwise why it cannot be made.
    pub(super) fn planned(
        &self,
        state: &Value,
        args: &Value,
    ) -> Result<Option<StateChange>, String> {
        let Some((place, value)) = self.place.filled(args).zip(filled(&self.value, args)) else {
            return Ok(None);
        };
        check(state, &place)?;
        let found = find(state, &place);
        let wrong = |what: &str| Err(format!("`{}` is no {what}", shown(&place)));
        let value = match (self.verb, found) {
            (Verb::Set, _) => Some(value),
            (Verb::Unset, _) => None,
            (Verb::Inc | Verb::Dec, found) => Some(self.counted(found, &value, &place)?),
            (Verb::Append, None) => Some(Value::Array(vec![value])),
            (Verb::Append, Some(Value::Array(items))) => {
                Some(items.iter().chain([&value]).cloned().collect())
            }
            (Verb::Remove, None) => return Ok(None),
            (Verb::Remove, Some(Value::Array(items))) => Some(without(items, &value)),
            (Verb::Append | Verb::Remove, Some(_)) => return wrong("list"),
        };
        Ok(Some(StateChange { place, value }))
    }

    /// Adds a number to the number at a place, or to 0, or subtracts it.
    fn counted(
        &self,
        found: Option<&Value>,
        change: &Value,
        place: &[String],
    ) -> Result<Value, String> {
        let zero = Value::from(0);
        let is_less = self.verb == Verb::Dec;
        found
            .unwrap_or(&zero)
            .as_number()
            .zip(change.as_number())
            .and_then(|(number, change)| sum(number, change, is_less))
            .map(Value::Number)
            .ok_or_else(|| format!("`{}` cannot be changed by {change}", shown(place)))
    }
}

fn without(items: &[Value], value: &Value) -> Value {
    items
        .iter()
        .filter(|item| !values_equal(item, value))
        .cloned()
        .collect()
}
