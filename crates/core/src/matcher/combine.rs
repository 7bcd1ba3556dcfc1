//! Matchers of matchers: `not`, `all-of`, `any-of`.

use super::{Check, MatcherKind, differs, matcher, vacuous};
use crate::problem::Problem;
use crate::report::AssertionDiff;
use crate::suite::read::Field;
use serde_json::{Value, json};

/// Every spelling of them: their operands are matchers again.
pub(super) const KEYS: [&str; 5] = ["not", "all-of", "allOf", "any-of", "anyOf"];

pub(super) const NOT: MatcherKind =
    matcher("not", "There is a value, and this matcher does not hold for it", |field| {
        let written = super::documented(field.value_quietly());
        let check = super::read_check(field)?;
        if check.never_holds() {
            field.report(vacuous::problem("value"));
            return None;
        }
        Some(Box::new(Not { check, written }))
    });

pub(super) const ALL_OF: MatcherKind =
    matcher("all-of", "Every one of these matchers holds", |field| Some(Box::new(AllOf(several(field)?))))
        .or("allOf");

pub(super) const ANY_OF: MatcherKind = matcher("any-of", "At least one of these matchers holds", |field| {
    let written = super::documented(field.value_quietly());
    let checks = several(field)?;
    if is_one_or_its_opposite(&written) {
        field.report(vacuous::problem("value"));
        return None;
    }
    Some(Box::new(AnyOf { checks, written }))
})
.or("anyOf");

/// `x` and `not: x` among the same alternatives, or `absent: true` and `absent: false`.
fn is_one_or_its_opposite(alternatives: &Value) -> bool {
    let alternatives = alternatives.as_array().map_or(&[][..], Vec::as_slice);
    let has = |one: &Value| alternatives.contains(one);
    let is_opposed = |one: &Value| one.get("not").is_some_and(has);
    alternatives.iter().any(is_opposed) || (has(&json!({"absent": true})) && has(&json!({"absent": false})))
}

fn several(field: &mut Field<'_>) -> Option<Vec<Box<dyn Check>>> {
    let empty = Problem::error("an empty list asks for nothing").help("name at least one matcher");
    field.list_of_some(empty, super::read_check)
}

struct Not {
    check: Box<dyn Check>,
    written: Value,
}

impl Check for Not {
    fn diff(&self, actual: &Value) -> Vec<AssertionDiff> {
        if self.check.diff(actual).is_empty() {
            differs(json!({ "not": self.written }), actual)
        } else {
            Vec::new()
        }
    }

    fn is_undecided(&self, actual: &Value) -> bool {
        self.check.is_undecided(actual)
    }

    fn asks_for_absence(&self) -> bool {
        self.check.asks_for_absence()
    }
}

struct AllOf(Vec<Box<dyn Check>>);

impl Check for AllOf {
    fn diff(&self, actual: &Value) -> Vec<AssertionDiff> {
        self.0.iter().flat_map(|check| check.diff(actual)).collect()
    }

    fn is_undecided(&self, actual: &Value) -> bool {
        self.0.iter().any(|check| check.is_undecided(actual))
    }

    fn never_holds(&self) -> bool {
        self.0.iter().any(|check| check.never_holds())
    }

    fn accepts_absence(&self) -> bool {
        self.0.iter().all(|check| check.accepts_absence())
    }

    fn asks_for_absence(&self) -> bool {
        self.0.iter().any(|check| check.asks_for_absence())
    }
}

struct AnyOf {
    checks: Vec<Box<dyn Check>>,
    written: Value,
}

impl Check for AnyOf {
    fn diff(&self, actual: &Value) -> Vec<AssertionDiff> {
        if self.checks.iter().any(|check| check.diff(actual).is_empty()) {
            return Vec::new();
        }
        differs(json!({ "any-of": self.written }), actual)
    }

    fn is_undecided(&self, actual: &Value) -> bool {
        self.checks.iter().any(|check| check.is_undecided(actual))
    }

    fn never_holds(&self) -> bool {
        self.checks.iter().all(|check| check.never_holds())
    }

    fn accepts_absence(&self) -> bool {
        self.checks.iter().any(|check| check.accepts_absence())
    }

    fn asks_for_absence(&self) -> bool {
        self.checks.iter().any(|check| check.asks_for_absence())
    }
}
