//! How are a call, an argument and a difference written in one line?

use super::recorded::Arguments;
use super::shape::ArgumentShape;
use crate::hidden::{shown, shown_at};
use crate::report::{AssertionDiff, Side};
use crate::words::cut;
use serde_json::Value;

const LONGEST: usize = 60;
const MOST_DIFFS: usize = 3;

/// `a`, `a and b`, `a, b and c`; with more than five, only the number.
pub(super) fn list(items: impl ExactSizeIterator<Item = String>) -> String {
    const MOST: usize = 5;
    let count = items.len();
    let mut items: Vec<String> = items
        .take(if count > MOST { MOST - 1 } else { MOST })
        .collect();
    let last = if count > MOST {
        format!("{} more", count - items.len())
    } else {
        items.pop().unwrap_or_default()
    };
    if items.is_empty() {
        last
    } else {
        format!("{} and {last}", items.join(", "))
    }
}

/// The text of a shape, to follow a tool's name.
pub(super) fn shape(shape: &ArgumentShape) -> String {
    match shape {
        ArgumentShape::Any => String::new(),
        ArgumentShape::Exact { value, .. }
        | ArgumentShape::ExactBags { value, .. }
        | ArgumentShape::Subset(value) => format!(" {}", flow(&shown(value))),
        ArgumentShape::Schema { .. } => " (by schema)".to_owned(),
        ArgumentShape::OneOf(shapes) => format!(" (one of {} shapes)", shapes.len()),
    }
}

/// Names the shape that the differences refer to, if there are several.
pub(super) fn nearest(shape: &ArgumentShape, args: Arguments<'_>) -> String {
    match shape.nearest(args) {
        Some((nearest, of)) if of > 1 => {
            format!(
                " by the nearest of {of} shapes, `{}`",
                flow(&shown(&nearest))
            )
        }
        _ => String::new(),
    }
}

/// The differences between the arguments and the expected ones.
pub(super) fn differences(diffs: &[AssertionDiff], args: Arguments<'_>) -> String {
    let Some(value) = args.value() else {
        return "has arguments that are not JSON".to_owned();
    };
    let mut said: Vec<String> = diffs
        .iter()
        .take(MOST_DIFFS)
        .map(|diff| difference(diff, &value))
        .collect();
    if diffs.len() > MOST_DIFFS {
        said.push(format!("{} more differences", diffs.len() - MOST_DIFFS));
    }
    format!("has {}", said.join("; "))
}

fn difference(diff: &AssertionDiff, args: &Value) -> String {
    let pointer = diff.pointer.strip_prefix("/args").unwrap_or(&diff.pointer);
    let wanted = shown_at(pointer, &diff.expected);
    let actual = shown_at(pointer, &diff.actual);
    let expected = match &*wanted {
        _ if diff.absent == Some(Side::Expected) => "expected none".to_owned(),
        Value::String(text) if reads_as_text(text) => format!("expected `{}`", cut(text, LONGEST)),
        value => format!("expected `{}`", flow(value)),
    };
    let path = self::path(pointer);
    let parent = pointer.rsplit_once('/').map_or("", |(parent, _)| parent);
    match (diff.absent, args.pointer(pointer)) {
        (Some(Side::Actual), _) if pointer.is_empty() => format!("no arguments, {expected}"),
        _ if pointer.is_empty() => format!("arguments `{}`, {expected}", flow(&actual)),
        (Some(Side::Actual), Some(_)) => {
            format!("no further `{}` in `{}`", flow(&wanted), self::path(parent))
        }
        (Some(Side::Actual), None) => format!("no `{path}`, {expected}"),
        _ => format!("`{path}: {}`, {expected}", flow(&actual)),
    }
}

/// `/a/0/b` as `a[0].b`.
pub(super) fn path(pointer: &str) -> String {
    let mut path = String::new();
    for part in pointer.split('/').skip(1) {
        let part = part.replace("~1", "/").replace("~0", "~");
        if !path.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()) {
            path.extend(["[", &part, "]"]);
        } else {
            path.push_str(if path.is_empty() { "" } else { "." });
            path.push_str(&part);
        }
    }
    path
}

/// Returns true if a string without quotes cannot be read as a number, a literal or nothing.
fn reads_as_text(text: &str) -> bool {
    let is_other = text.is_empty() || text.contains('`') || text.trim() != text;
    !is_other && serde_json::from_str::<Value>(text).is_err()
}

/// A value in YAML's flow style, cut if long.
fn flow(value: &Value) -> String {
    let mut text = String::new();
    write_flow(value, &mut text);
    cut(&text, LONGEST)
}

/// A value in the flow style of YAML, to copy into a suite. `None` if it is long.
pub(super) fn flow_to_copy(value: &Value) -> Option<String> {
    let mut text = String::new();
    write_flow(value, &mut text);
    (text.len() <= 2 * LONGEST).then_some(text)
}

fn write_flow(value: &Value, into: &mut String) {
    if into.len() > 4 * LONGEST {
        return;
    }
    match value {
        Value::Object(fields) => {
            into.push('{');
            for (at, (key, value)) in fields.iter().enumerate() {
                into.push_str(if at == 0 { "" } else { ", " });
                write_key(key, into);
                into.push_str(": ");
                write_flow(value, into);
            }
            into.push('}');
        }
        Value::Array(items) => {
            into.push('[');
            for (at, item) in items.iter().enumerate() {
                into.push_str(if at == 0 { "" } else { ", " });
                write_flow(item, into);
            }
            into.push(']');
        }
        scalar => into.push_str(&scalar.to_string()),
    }
}

fn write_key(key: &str, into: &mut String) {
    let is_word = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || c == '_');
    if is_word {
        into.push_str(key);
    } else {
        into.push_str(&Value::from(key).to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(shape: &ArgumentShape, args: &Value) -> String {
        differences(&shape.diff(Arguments::Value(args)), Arguments::Value(args))
    }

    #[test]
    fn a_difference_says_what_there_is_and_what_was_expected() {
        let rust = ArgumentShape::Subset(json!({"q": "rust"}));
        assert_eq!(
            said(&rust, &json!({"q": "rst"})),
            "has `q: \"rst\"`, expected `rust`"
        );
        assert_eq!(
            said(&rust, &json!({"query": "rust"})),
            "has no `q`, expected `rust`"
        );
        assert_eq!(
            said(&rust, &json!({"q": null})),
            "has `q: null`, expected `rust`"
        );
        assert_eq!(
            said(&rust, &json!([1])),
            "has arguments `[1]`, expected `{q: \"rust\"}`"
        );
        let twice = ArgumentShape::Subset(json!({"t": [1, 1, 5]}));
        assert_eq!(
            said(&twice, &json!({"t": [1, 5, 2]})),
            "has `t[2]: 2`, expected `1`"
        );
        let lacks_two = "has no further `1` in `t`; no further `5` in `t`";
        assert_eq!(said(&twice, &json!({"t": [1, 2, 3]})), lacks_two);
        let exact = ArgumentShape::exact(json!({"a": {"b": [1, "2"]}}));
        assert_eq!(
            said(&exact, &json!({"a": {"b": [1, 2]}})),
            "has `a.b[1]: 2`, expected `\"2\"`"
        );
        assert_eq!(
            said(&ArgumentShape::exact(json!({})), &json!({"x": 1})),
            "has `x: 1`, expected none"
        );
        let null = ArgumentShape::exact(json!({"x": null}));
        assert_eq!(said(&null, &json!({"x": 1})), "has `x: 1`, expected `null`");
        assert_eq!(said(&null, &json!({})), "has no `x`, expected `null`");
        assert_eq!(
            said(&exact, &json!(null)),
            "has arguments `null`, expected `{a: {b: [1, \"2\"]}}`"
        );
        let absent = differences(&exact.diff(Arguments::Absent), Arguments::Absent);
        assert_eq!(absent, "has no arguments, expected `{a: {b: [1, \"2\"]}}`");
        let text = differences(
            &exact.diff(Arguments::NotJson("{")),
            Arguments::NotJson("{"),
        );
        assert_eq!(text, "has arguments that are not JSON");
    }

    #[test]
    fn what_stands_under_a_secret_name_is_not_said() {
        let exact = ArgumentShape::exact(json!({"user": "eve"}));
        let args = json!({"user": "bob", "api_key": "kk-7654321", "nested": {"client_secret": "cs", "passcode": 12}});
        assert_eq!(
            said(&exact, &args),
            "has `user: \"bob\"`, expected `eve`; `api_key: \"[redacted:api-key]\"`, expected none; `nested: \
             {client_secret: \"[redacted:secret]\", passcode: \"[redacted:pa…`, expected none"
        );
        let other = ArgumentShape::exact(json!({"api_key": "right"}));
        assert_eq!(
            said(&other, &json!({"api_key": "wrong"})),
            "has `api_key: \"[redacted:api-key]\"`, expected `[redacted:api-key]`"
        );
        assert_eq!(shape(&other), " {api_key: \"[redacted:api-key]\"}");
        let whole = said(&ArgumentShape::exact(json!([])), &args);
        assert!(!whole.contains("kk-7654321"), "{whole}");
    }

    #[test]
    fn long_values_and_lists_are_cut() {
        let long = said(&ArgumentShape::exact(json!("é".repeat(500))), &json!(1));
        assert!(
            long.ends_with("é…`") && long.chars().count() < 120,
            "{long}"
        );
        let many: Vec<usize> = (0..1000).collect();
        let exact = ArgumentShape::exact(json!({ "ids": vec![1; 1000] }));
        assert!(said(&exact, &json!({ "ids": many })).ends_with("; 17 more differences"));
        assert_eq!(
            list(
                (1..4)
                    .map(|n: i32| n.to_string())
                    .collect::<Vec<_>>()
                    .into_iter()
            ),
            "1, 2 and 3"
        );
        let seven: Vec<String> = (1..8).map(|n| n.to_string()).collect();
        assert_eq!(list(seven.into_iter()), "1, 2, 3, 4 and 3 more");
    }
}
