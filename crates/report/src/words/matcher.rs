//! What does a matcher ask for, in words?

use super::Limits;
use super::value::{clipped, shown};
use serde_json::Value;

/// A matcher's requirement as the rest of a sentence: `must be at least 1`, `must not contain "refund"`.
pub(crate) fn required(matcher: &Value, limits: Limits) -> String {
    let Some((key, operand)) = only_rule(matcher) else {
        return format!("must match {}", describe(matcher, limits));
    };
    match (key, only_rule(operand)) {
        ("not", Some((key, operand))) => match verb(key) {
            Some(verb) => format!("must not {verb} {}", shown(operand, limits)),
            None => format!("must not match {}", rule(key, operand, limits)),
        },
        ("absent", _) => format!("must be {}", rule(key, operand, limits)),
        ("outputSchema", _) => "must fit the tool's own outputSchema".to_owned(),
        _ => match verb(key) {
            Some(verb) => format!("must {verb} {}", shown(operand, limits)),
            None => format!("must match {}", rule(key, operand, limits)),
        },
    }
}

fn only_rule(matcher: &Value) -> Option<(&str, &Value)> {
    let rules = matcher.as_object().filter(|rules| rules.len() == 1)?;
    rules
        .iter()
        .next()
        .map(|(key, operand)| (key.as_str(), operand))
}

fn verb(key: &str) -> Option<&'static str> {
    Some(match key {
        "exact" | "equals" => "be",
        "contains" => "contain",
        "gte" => "be at least",
        "lte" => "be at most",
        "gt" => "be more than",
        "lt" => "be less than",
        "one-of" => "be one of",
        _ => return None,
    })
}

/// `exact "get_invoice"`, `>= 1`, `not contains "refund"`: the suite's own words on one line.
pub(crate) fn describe(matcher: &Value, limits: Limits) -> String {
    match matcher {
        Value::Object(rules) if !rules.is_empty() => {
            let rules: Vec<_> = rules
                .iter()
                .map(|(key, operand)| rule(key, operand, limits))
                .collect();
            rules.join(" and ")
        }
        other => shown(other, limits),
    }
}

fn rule(key: &str, operand: &Value, limits: Limits) -> String {
    match (key, operand) {
        ("gte", _) => format!(">= {}", shown(operand, limits)),
        ("lte", _) => format!("<= {}", shown(operand, limits)),
        ("gt", _) => format!("> {}", shown(operand, limits)),
        ("lt", _) => format!("< {}", shown(operand, limits)),
        ("absent", Value::Bool(true)) => "absent".to_owned(),
        ("absent", Value::Bool(false)) => "present".to_owned(),
        ("regex", Value::String(pattern)) => format!("regex /{}/", clipped(pattern, limits.value)),
        ("not" | "length", Value::Object(_)) => format!("{key} {}", describe(operand, limits)),
        ("all-of" | "allOf" | "any-of" | "anyOf" | "oneOf", Value::Array(parts))
            if parts.iter().all(Value::is_object) =>
        {
            joined(key, parts, limits)
        }
        _ => format!("{} {}", clipped(key, limits.value), shown(operand, limits)),
    }
}

/// `(>= 1 and <= 3)`; only the first parts of a very long list.
fn joined(key: &str, parts: &[Value], limits: Limits) -> String {
    const MOST: usize = 20;
    let word = if key.starts_with("all") {
        " and "
    } else {
        " or "
    };
    let mut said: Vec<_> = parts
        .iter()
        .take(MOST)
        .map(|part| describe(part, limits))
        .collect();
    if parts.len() > MOST {
        said.push(format!("… {} more", parts.len() - MOST));
    }
    let only = if key == "oneOf" {
        "exactly one of "
    } else {
        ""
    };
    format!("{only}({})", said.join(word))
}

#[cfg(test)]
mod tests {
    use super::super::SCREEN;
    use super::*;
    use serde_json::json;

    #[test]
    fn matchers_read_as_in_the_suite() {
        for (matcher, said) in [
            (json!({"exact": "get_invoice"}), r#"exact "get_invoice""#),
            (json!({"gte": 1}), ">= 1"),
            (json!({"gt": 0, "lte": 0.5}), "> 0 and <= 0.5"),
            (
                json!({"not": {"contains": "refund"}}),
                r#"not contains "refund""#,
            ),
            (
                json!({"schema": {"minimum": 0.7}}),
                r#"schema {"minimum": 0.7}"#,
            ),
            (json!({"absent": true}), "absent"),
            (json!({"absent": false}), "present"),
            (json!({"regex": r"^\d+$"}), r"regex /^\d+$/"),
            (json!({"length": 3}), "length 3"),
            (json!({"length": {"gte": 2}}), "length >= 2"),
            (json!({"one-of": ["a", "b"]}), r#"one-of ["a", "b"]"#),
            (
                json!({"any-of": [{"exact": 1}, {"lt": 0}]}),
                "(exact 1 or < 0)",
            ),
            (
                json!({"all-of": [{"not": {"exact": 1}}, {"lt": 9}]}),
                "(not exact 1 and < 9)",
            ),
            (json!("bare"), r#""bare""#),
            (json!({}), "{}"),
        ] {
            assert_eq!(describe(&matcher, SCREEN), said);
        }
    }

    #[test]
    fn what_must_hold_reads_as_a_sentence() {
        for (matcher, said) in [
            (json!({"exact": "get_invoice"}), r#"must be "get_invoice""#),
            (json!({"gte": 1}), "must be at least 1"),
            (
                json!({"not": {"contains": "refund"}}),
                r#"must not contain "refund""#,
            ),
            (json!({"not": {"regex": "a"}}), "must not match regex /a/"),
            (json!({"absent": true}), "must be absent"),
            (
                json!({"outputSchema": {"type": "object"}}),
                "must fit the tool's own outputSchema",
            ),
            (json!({"length": {"gte": 2}}), "must match length >= 2"),
            (json!({"gt": 0, "lte": 0.5}), "must match > 0 and <= 0.5"),
        ] {
            assert_eq!(required(&matcher, SCREEN), said);
        }
    }

    #[test]
    fn a_matcher_with_a_very_long_text_stays_short() {
        assert!(describe(&json!({"exact": "x".repeat(100_000)}), SCREEN).len() < 250);
        let many = vec![json!({"exact": "x"}); 10_000];
        assert!(describe(&json!({"any-of": many}), SCREEN).len() < 400);
    }
}
