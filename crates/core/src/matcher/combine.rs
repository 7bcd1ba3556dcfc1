//! Matchers of matchers: `not`, `all-of`, `any-of`.

use super::answer::Answer;
use super::{Check, MatcherKind, differs, matcher, vacuous};
use crate::problem::Problem;
use crate::suite::read::Field;
use serde_json::{Value, json};

/// All spellings of these keys, whose operands are matchers.
pub(super) const KEYS: [&str; 5] = ["not", "all-of", "allOf", "any-of", "anyOf"];

pub(super) const NOT: MatcherKind = matcher(
    "not",
    "The matcher applies to the value and does not hold",
    "what its matcher applies to",
    |field| {
        let written = super::documented(field.value_quietly());
        let check = super::read_check(field)?;
        if check.never_holds {
            field.report(vacuous::problem("value"));
            return None;
        }
        let asks_for_absence = check.asks_for_absence;
        let not = Check::new(move |actual| match (check.decide)(actual) {
            Answer::Holds => Answer::Differs(differs(json!({ "not": written }), actual)),
            Answer::Differs(_) => Answer::Holds,
            Answer::CannotBeAsked(unanswered) => Answer::CannotBeAsked(unanswered),
        });
        Some(Check {
            asks_for_absence,
            ..not
        })
    },
);

pub(super) const ALL_OF: MatcherKind = matcher(
    "all-of",
    "Every one of these matchers holds",
    "what each of them applies to, unless one does not hold",
    |field| {
        let checks = several(field)?;
        Some(Check {
            never_holds: checks.iter().any(|check| check.never_holds),
            accepts_absence: checks.iter().all(|check| check.accepts_absence),
            asks_for_absence: checks.iter().any(|check| check.asks_for_absence),
            ..Check::new(move |actual| Answer::all(each(&checks, actual)))
        })
    },
)
.or("allOf");

pub(super) const ANY_OF: MatcherKind = matcher(
    "any-of",
    "At least one of these matchers holds",
    "what each of them applies to, unless one holds",
    |field| {
        let written = super::documented(field.value_quietly());
        let checks = several(field)?;
        if is_one_or_its_opposite(&written) {
            field.report(vacuous::problem("value"));
            return None;
        }
        Some(Check {
            never_holds: checks.iter().all(|check| check.never_holds),
            accepts_absence: checks.iter().any(|check| check.accepts_absence),
            asks_for_absence: checks.iter().any(|check| check.asks_for_absence),
            ..Check::new(move |actual| {
                Answer::any(each(&checks, actual), || {
                    differs(json!({ "any-of": written }), actual)
                })
            })
        })
    },
)
.or("anyOf");

/// `x` and `not: x` among the same alternatives, or `absent: true` and `absent: false`.
fn is_one_or_its_opposite(alternatives: &Value) -> bool {
    let alternatives = alternatives.as_array().map_or(&[][..], Vec::as_slice);
    let has = |one: &Value| alternatives.contains(one);
    let is_opposed = |one: &Value| one.get("not").is_some_and(has);
    alternatives.iter().any(is_opposed)
        || (has(&json!({"absent": true})) && has(&json!({"absent": false})))
}

fn several(field: &mut Field<'_>) -> Option<Vec<Check>> {
    let empty = Problem::error("an empty list requires nothing").help("name at least one matcher");
    field.list_of_some(empty, super::read_check)
}

/// The answer of each check about the value.
fn each<'a>(checks: &'a [Check], actual: &'a Value) -> impl Iterator<Item = Answer> + 'a {
    checks.iter().map(move |check| (check.decide)(actual))
}
