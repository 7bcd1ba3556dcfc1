//! The shape of a value: `subset`, `schema`, `length`, `absent`.

use super::answer::{Answer, Wanted};
use super::fits::{self, Type};
use super::{ANY_VALUE, Check, MatcherKind, differences, differs, holds, matcher, vacuous};
use crate::json::is_subset;
use crate::problem::Problem;
use crate::schema::{JsonSchema, SchemaFault};
use serde_json::{Value, json};

pub(super) const SUBSET: MatcherKind = matcher(
    "subset",
    "The value has at least this: objects key by key, lists in any order, scalars equal",
    "an object for an object, a list for a list, any value for a scalar",
    |field| {
        let part = vacuous::part(field)?;
        Some(Check::new(move |actual| {
            let wanted = match (&part, actual) {
                (Value::Object(_), Value::Object(_)) | (Value::Array(_), Value::Array(_)) => None,
                (Value::Object(_), _) => Some(Wanted::Object),
                (Value::Array(_), _) => Some(Wanted::List),
                _ => None,
            };
            match wanted {
                None => Answer::from_differences(is_subset(&part, actual)),
                Some(wanted) => {
                    Answer::cannot_be_asked("subset", json!({ "subset": part }), wanted)
                }
            }
        }))
    },
);

pub(super) const SCHEMA: MatcherKind = matcher(
    "schema",
    "The value validates against this JSON Schema (2020-12)",
    "any value that takes a bounded number of steps",
    |field| {
        let schema = field.json_schema()?;
        if schema.holds_for_all() {
            field.report(vacuous::problem("value"));
            return None;
        }
        let never_holds = schema.holds_for_none();
        let fits = Check::new(move |actual| match schema.verdict(actual) {
            Some(_) => Answer::from_differences(schema.check(actual)),
            None => Answer::too_much_work(),
        });
        Some(Check {
            never_holds,
            ..fits
        })
    },
);

pub(super) const LENGTH: MatcherKind = matcher(
    "length",
    "The number of items of a list, or characters of a string: a number, or a matcher for it",
    "a string, a list or an object",
    |field| {
        field.shapes("a number or a matcher", |shapes| {
            shapes.scalar(|field| {
                let wanted = field.whole(0..=u64::MAX)?;
                let written = json!({ "length": wanted });
                let is_wanted = holds(written.clone(), move |length| *length == wanted);
                Some(of_length(is_wanted, written))
            });
            shapes.map(|field| {
                let check = super::read_check(field)?;
                let written = super::documented(field.value_quietly());
                if let Some(misfit) = fits::misfit(&written, &Type::Number) {
                    let problem = Problem::error(misfit.message("length"));
                    field.report(problem.help(misfit.help()));
                    return None;
                }
                if vacuous::holds_for_every_length(&check, &written) {
                    field.report(vacuous::problem("length"));
                    return None;
                }
                Some(of_length(check, json!({ "length": written })))
            });
        })
    },
);

pub(super) const ABSENT: MatcherKind = matcher(
    "absent",
    "`true`: the target has no value; `false`: it has any value",
    ANY_VALUE,
    |field| {
        let accepts_absence = field.flag()?;
        let absent = move |actual: &Value| {
            if accepts_absence {
                differs(json!({ "absent": true }), actual)
            } else {
                Vec::new()
            }
        };
        Some(Check {
            accepts_absence,
            asks_for_absence: true,
            ..differences(absent)
        })
    },
);

/// Applies a check to the length of a value.
fn of_length(check: Check, written: Value) -> Check {
    Check::new(move |actual| {
        let length = match actual {
            Value::Array(items) => items.len(),
            Value::String(text) => text.chars().count(),
            Value::Object(map) => map.len(),
            _ => return Answer::cannot_be_asked("length", written.clone(), Wanted::Countable),
        };
        (check.decide)(&json!(length))
    })
}

impl crate::suite::read::Field<'_> {
    /// A JSON Schema document, compiled here so that scoring cannot fail.
    pub(crate) fn json_schema(&mut self) -> Option<JsonSchema> {
        let written = self.value();
        if self.is_describing() {
            return None;
        }
        let schema = JsonSchema::compile(&written?)
            .map_err(|fault| self.report(self.schema_problem(&fault)))
            .ok()?;
        for unknown in schema.unknown_keywords() {
            let problem = Problem::warning(format!(
                "JSON Schema has no keyword `{}`: it checks nothing",
                unknown.word
            ));
            let help = match unknown.near {
                Some(near) => format!("did you mean `{near}`?"),
                None => "remove it, or begin its name with `x-`".to_owned(),
            };
            self.report(problem.help(help).at(self.span_at(&unknown.pointer)));
        }
        Some(schema)
    }

    /// The problem of the schema, at its place.
    pub fn schema_problem(&self, fault: &SchemaFault) -> Problem {
        let problem = Problem::error(format!("this is not a JSON Schema: {}", fault.reason));
        let problem = problem.at(self.span_at(&fault.pointer));
        match &fault.help {
            Some(help) => problem.help(help.clone()),
            None => problem,
        }
    }
}
