//! Which matchers hold for every value, and so assert nothing?

use super::Check;
use crate::problem::Problem;
use crate::suite::read::Field;
use regex_syntax::hir::{Class, Hir, HirKind, Look};
use serde_json::{Value, json};

/// The problem of a matcher that holds for every value.
pub(super) fn problem(of_what: &str) -> Problem {
    Problem::error(format!(
        "this holds for every {of_what}, so it asserts nothing"
    ))
    .help("write the expected value; to require any value, write `absent: false`")
}

/// Reads a non-empty value to look for: an empty value is part of everything.
pub(super) fn part(field: &mut Field<'_>) -> Option<Value> {
    let value = field.value()?;
    let of_what = match &value {
        Value::String(text) if text.is_empty() => "text",
        Value::Array(items) if items.is_empty() => "list",
        Value::Object(fields) if fields.is_empty() => "object",
        _ => return Some(value),
    };
    field.report(problem(of_what));
    None
}

/// Reads a non-empty string to look for.
pub(super) fn text(field: &mut Field<'_>) -> Option<String> {
    let text = field.string()?;
    if text.is_empty() {
        field.report(problem("text"));
        return None;
    }
    Some(text)
}

/// Returns true if a check, as written, holds for the length of any list and text.
pub(super) fn holds_for_every_length(check: &Check, written: &Value) -> bool {
    let lengths = telling_numbers(written);
    lengths
        .iter()
        .all(|length| check.diff(&json!(length)).is_empty())
}

/// The lengths that decide whether a matcher holds for all: the lengths that it names, and their
/// neighbours.
fn telling_numbers(matcher: &Value) -> Vec<u64> {
    let inside = |values: Vec<&Value>| values.into_iter().flat_map(telling_numbers).collect();
    match matcher {
        Value::Number(number) => {
            let number = number.as_f64().unwrap_or_default() as u64;
            vec![number.saturating_sub(1), number, number.saturating_add(1)]
        }
        Value::Array(items) => inside(items.iter().collect()),
        Value::Object(fields) => [vec![0, 1], inside(fields.values().collect())].concat(),
        _ => Vec::new(),
    }
}

/// Returns true if the pattern matches in every text: it matches the empty text at the start or the
/// end, or everything in between. `^$` holds only for the empty text.
pub(crate) fn matches_every_text(pattern: &str) -> bool {
    let Ok(pattern) = regex_syntax::parse(pattern) else {
        return false;
    };
    let is_start = |look| matches!(look, Look::Start | Look::StartLF | Look::StartCRLF);
    let is_end = |look| matches!(look, Look::End | Look::EndLF | Look::EndCRLF);
    matches_nothing(&pattern, &is_start)
        || matches_nothing(&pattern, &is_end)
        || is_anything(&pattern, &|look| is_start(look) || is_end(look))
}

/// Returns true if it matches the empty text if only these assertions are certain to hold.
fn matches_nothing(pattern: &Hir, holds: &dyn Fn(Look) -> bool) -> bool {
    match pattern.kind() {
        HirKind::Empty => true,
        HirKind::Literal(_) | HirKind::Class(_) => false,
        HirKind::Look(look) => holds(*look),
        HirKind::Repetition(repetition) => {
            repetition.min == 0 || matches_nothing(&repetition.sub, holds)
        }
        HirKind::Capture(capture) => matches_nothing(&capture.sub, holds),
        HirKind::Concat(parts) => parts.iter().all(|part| matches_nothing(part, holds)),
        HirKind::Alternation(parts) => parts.iter().any(|part| matches_nothing(part, holds)),
    }
}

/// Returns true if it is `^[\s\S]*$`, or equivalent.
fn is_anything(pattern: &Hir, is_edge: &dyn Fn(Look) -> bool) -> bool {
    match pattern.kind() {
        HirKind::Capture(capture) => is_anything(&capture.sub, is_edge),
        HirKind::Concat(parts) => {
            let inner = parts
                .iter()
                .filter(|part| !matches!(part.kind(), HirKind::Look(look) if is_edge(*look)));
            let inner: Vec<&Hir> = inner.collect();
            !inner.is_empty() && inner.iter().all(|part| is_anything(part, is_edge))
        }
        HirKind::Alternation(parts) => parts.iter().any(|part| is_anything(part, is_edge)),
        HirKind::Repetition(repetition) => {
            let is_every_character = match repetition.sub.kind() {
                HirKind::Class(Class::Unicode(class)) => {
                    let mut none = class.clone();
                    none.negate();
                    none.ranges().is_empty()
                }
                _ => false,
            };
            is_every_character && repetition.min == 0 && repetition.max.is_none()
        }
        _ => false,
    }
}
