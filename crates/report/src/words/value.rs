//! How is one JSON value shown on one line?

use super::{Limits, escape};
use mcptest_core::words::cut;
use serde_json::{Value, json};

/// The value as JSON on one line, cut if it is long.
pub(crate) fn shown(value: &Value, limits: Limits) -> String {
    match value {
        Value::String(text) => quoted(text, 0, limits.value),
        other => clipped(&compact(other), limits.value),
    }
}

/// The text on one line, cut if it is long.
pub(crate) fn clipped(text: &str, limit: usize) -> String {
    let (kept, left_out) = clip(text, limit);
    let kept = escape(kept);
    if left_out == 0 {
        kept.into_owned()
    } else {
        format!("{kept}… ({})", more(left_out))
    }
}

/// Two differing values. Long texts are shown from their first difference.
pub(crate) fn pair(expected: &Value, actual: &Value, limits: Limits) -> (String, String) {
    let (Value::String(left), Value::String(right)) = (expected, actual) else {
        return (shown(expected, limits), shown(actual, limits));
    };
    let same = left
        .chars()
        .zip(right.chars())
        .take_while(|(one, other)| one == other)
        .count();
    let context = limits.value / 4;
    let start = if same > limits.value / 2 {
        same - context
    } else {
        0
    };
    (
        quoted(left, start, limits.value),
        quoted(right, start, limits.value),
    )
}

/// Returns true if the whole value is shown.
pub(crate) fn fits(value: &Value, limits: Limits) -> bool {
    match value {
        Value::String(text) => clip(text, limits.value).1 == 0,
        other => clip(&compact(other), limits.value).1 == 0,
    }
}

fn quoted(text: &str, start: usize, limit: usize) -> String {
    let from = text
        .char_indices()
        .nth(start)
        .map_or(text.len(), |(at, _)| at);
    let (kept, left_out) = clip(&text[from..], limit);
    let quoted = compact(&Value::from(kept));
    let body = escape(&quoted[1..quoted.len() - 1]).into_owned();
    let more = more(left_out);
    match (start, left_out) {
        (0, 0) => format!("\"{body}\""),
        (0, _) => format!("\"{body}\"… ({more})"),
        (_, 0) => format!("…\"{body}\" (from character {})", start + 1),
        _ => format!("…\"{body}\"… (from character {}, {more})", start + 1),
    }
}

fn more(left_out: usize) -> String {
    super::count(left_out, "more character")
}

/// The kept part and the number of omitted characters. A few characters beyond the limit are kept rather than
/// counted.
fn clip(text: &str, limit: usize) -> (&str, usize) {
    let beyond = text
        .char_indices()
        .nth(limit.saturating_add(limit / 8))
        .is_some();
    match text.char_indices().nth(limit) {
        Some((end, _)) if beyond => (&text[..end], text[end..].chars().count()),
        _ => (text, 0),
    }
}

/// JSON on one line with a space after `:` and `,`.
fn compact(value: &Value) -> String {
    match value {
        Value::Array(items) => format!(
            "[{}]",
            items.iter().map(compact).collect::<Vec<_>>().join(", ")
        ),
        Value::Object(fields) => {
            let field =
                |(key, value): (&String, &Value)| format!("{}: {}", json!(key), compact(value));
            format!(
                "{{{}}}",
                fields.iter().map(field).collect::<Vec<_>>().join(", ")
            )
        }
        other => other.to_string(),
    }
}

/// The most characters of one argument's value in a table.
const ARGUMENT: usize = 60;

/// Arguments on one line, in the syntax of a suite: `{query: "rotate API key", limit: 5}`.
pub(crate) fn arguments(args: &Value) -> String {
    let Value::Object(fields) = args else {
        return cut(&compact(args), ARGUMENT);
    };
    let fields = fields
        .iter()
        .map(|(key, value)| format!("{key}: {}", cut(&compact(value), ARGUMENT)));
    format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
}

/// The differing arguments of two calls. Long texts are shown from their first difference.
pub(crate) fn arguments_apart(expected: &Value, actual: &Value) -> [String; 2] {
    let (Value::Object(want), Value::Object(got)) = (expected, actual) else {
        return [arguments(expected), arguments(actual)];
    };
    let mut keys: Vec<&String> = want
        .keys()
        .chain(got.keys().filter(|key| !want.contains_key(*key)))
        .collect();
    keys.dedup();
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for key in keys {
        let (want, got) = match (want.get(key), got.get(key)) {
            (Some(Value::String(want)), Some(Value::String(got))) => parted(want, got),
            (want, got) => {
                let shown = |value: Option<&Value>| {
                    value.map_or_else(
                        || "absent".to_owned(),
                        |value| cut(&compact(value), ARGUMENT),
                    )
                };
                (shown(want), shown(got))
            }
        };
        left.push(format!("{key}: {want}"));
        right.push(format!("{key}: {got}"));
    }
    [left, right].map(|fields| format!("{{{}}}", fields.join(", ")))
}

fn parted(left: &str, right: &str) -> (String, String) {
    const KEPT: usize = 12;
    let same = left
        .chars()
        .zip(right.chars())
        .take_while(|(one, other)| one == other)
        .count();
    let from = if same > 2 * KEPT { same - KEPT } else { 0 };
    let shown = |text: &str| {
        let rest: String = text.chars().skip(from).collect();
        let quoted = compact(&Value::from(rest));
        let start = if from > 0 { "…" } else { "" };
        cut(
            &format!("{}{start}{}", &quoted[..1], &quoted[1..]),
            ARGUMENT,
        )
    };
    (shown(left), shown(right))
}

#[cfg(test)]
mod tests {
    use super::super::SCREEN;
    use super::*;
    use serde_json::json;

    #[test]
    fn json_has_room_to_breathe() {
        assert_eq!(
            shown(&json!({"a": [1, 2.5], "b": null}), SCREEN),
            r#"{"a": [1, 2.5], "b": null}"#
        );
    }

    #[test]
    fn arguments_that_differ_are_shown_where_they_part() {
        let apart = |want: Value, got: Value| arguments_apart(&want, &got);
        assert_eq!(
            apart(
                json!({"q": "API key", "n": 1}),
                json!({"q": "API kye", "x": null})
            ),
            [
                r#"{n: 1, q: "API key", x: absent}"#,
                r#"{n: absent, q: "API kye", x: null}"#
            ]
        );
        let (want, got) = (
            format!("{}one", "x".repeat(99)),
            format!("{}two", "x".repeat(99)),
        );
        let tail = "x".repeat(12);
        let shown = [
            format!(r#"{{q: "…{tail}one"}}"#),
            format!(r#"{{q: "…{tail}two"}}"#),
        ];
        assert_eq!(apart(json!({"q": want}), json!({"q": got})), shown);
        assert_eq!(apart(json!([1]), json!({"a": 2})), ["[1]", "{a: 2}"]);
    }

    #[test]
    fn a_long_answer_says_how_much_is_left_out() {
        let text = shown(&json!("é".repeat(50_000)), SCREEN);
        assert_eq!(
            text,
            format!("\"{}\"… (49840 more characters)", "é".repeat(160))
        );
    }

    #[test]
    fn a_few_characters_beyond_the_limit_are_kept() {
        assert_eq!(clipped(&"x".repeat(170), 160), "x".repeat(170));
        assert_eq!(
            clipped(&"x".repeat(181), 160),
            format!("{}… (21 more characters)", "x".repeat(160))
        );
    }

    #[test]
    fn two_long_texts_are_shown_where_they_part() {
        let (left, right) = (
            format!("{}rust", "x".repeat(1000)),
            format!("{}rest", "x".repeat(1000)),
        );
        let (left, right) = pair(&json!(left), &json!(right), SCREEN);
        assert_eq!(
            left,
            format!("…\"{}rust\" (from character 962)", "x".repeat(39))
        );
        assert_eq!(
            right,
            format!("…\"{}rest\" (from character 962)", "x".repeat(39))
        );
    }

    #[test]
    fn a_text_that_ends_where_the_other_goes_on_is_shown_empty_not_broken() {
        let (left, right) = pair(&json!("x".repeat(100)), &json!("y"), SCREEN);
        assert_eq!((left.len(), right.as_str()), (102, "\"y\""));
        let (left, _) = pair(&json!("x".repeat(100)), &json!("x".repeat(200)), SCREEN);
        assert_eq!(left, format!("…\"{}\" (from character 61)", "x".repeat(40)));
    }
}
