//! What of two answers to one call will still hold tomorrow?

use super::json_answer::equal_beside_what_varies;
use super::yaml;
use mcptest_replay::tool_test::CallOutcome;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

const LONGEST_TEXT: usize = 100;
const MOST_FIELDS: usize = 5;

/// One line of `expect:`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Expectation {
    target: String,
    matcher: Value,
}

impl Expectation {
    pub(super) fn new(target: impl Into<String>, matcher: Value) -> Self {
        Self {
            target: target.into(),
            matcher,
        }
    }

    pub(super) fn target(&self) -> &str {
        &self.target
    }

    /// Its text in a suite.
    pub(super) fn yaml(&self) -> String {
        format!(
            "{{ target: {}, matcher: {} }}",
            yaml::text(&self.target),
            yaml::flow(&self.matcher)
        )
    }
}

/// The expectations that two results of this tool for equal arguments justify. Numbers of a tool
/// that reads the outside world count as random, and so do values next to a changed value.
pub(super) fn expectations(
    first: &Value,
    second: &Value,
    args: &Value,
    is_closed: bool,
) -> Vec<Expectation> {
    let mut expected = vec![Expectation::new(
        "result.isError",
        json!({ "exact": false }),
    )];
    let structured = [&first["structuredContent"], &second["structuredContent"]];
    let texts = [&first["content"][0]["text"], &second["content"][0]["text"]];
    let is_structured = structured.iter().all(|one| one.is_object());
    // A server may wrap a text of JSON as `{result: TEXT}`, which varies as a whole.
    let whole = is_structured
        .then(|| equal_beside_what_varies("result.structuredContent", structured, args, is_closed))
        .flatten()
        .or_else(|| of_json_text(texts, args, is_closed));
    match (whole, structured) {
        (Some(whole), _) => expected.push(whole),
        (None, [Value::Object(one), Value::Object(other)]) => {
            expected.extend(of_fields(one, other, args, is_closed));
        }
        (None, _) => expected.extend(of_content(&first["content"], &second["content"])),
    }
    expected
}

/// The expectation for two texts of a JSON object or list.
fn of_json_text(texts: [&Value; 2], args: &Value, is_closed: bool) -> Option<Expectation> {
    let read = |text: &Value| -> Option<Value> {
        let value: Value = serde_json::from_str(text.as_str()?).ok()?;
        (value.is_object() || value.is_array()).then_some(value)
    };
    let (one, other) = (read(texts[0])?, read(texts[1])?);
    equal_beside_what_varies("result.content[0].text", [&one, &other], args, is_closed)
}

/// Returns true if a value in a JSON answer would probably be equal another day. A text may be long there.
pub(super) fn is_lasting_in_json(value: &Value, is_closed: bool) -> bool {
    match value {
        Value::String(text) => text.lines().all(|line| {
            line.chars().count() > LONGEST_TEXT && !is_of_the_moment(line) || is_lasting_text(line)
        }),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        other => is_lasting(other, is_closed),
    }
}

/// The fields of structured content that both results have: with their values where those will stay.
fn of_fields(
    one: &Map<String, Value>,
    other: &Map<String, Value>,
    args: &Value,
    is_closed: bool,
) -> Vec<Expectation> {
    let changes = one
        .iter()
        .any(|(key, value)| other.get(key) != Some(value) || is_momentary(value));
    let is_echo = |value: &Value| {
        args.as_object()
            .is_some_and(|args| args.values().any(|arg| arg == value))
    };
    one.iter()
        .filter_map(|(key, value)| Some((key, value, other.get(key)?)))
        .take(MOST_FIELDS)
        .map(|(key, one, other)| {
            let is_stable =
                one == other && is_lasting(one, is_closed) && (!changes || is_echo(one));
            let matcher = if is_stable {
                json!({ "exact": one })
            } else {
                json!({ "absent": false })
            };
            Expectation::new(format!("result.structuredContent{}", step(key)), matcher)
        })
        .collect()
}

fn is_momentary(value: &Value) -> bool {
    value
        .as_str()
        .is_some_and(|text| text.lines().any(is_of_the_moment))
}

/// The expectation for a tool that reported `isError`, or for a refused call. `None` for an answer.
pub(super) fn expected_failure(outcome: &CallOutcome<'_>) -> Option<Vec<Expectation>> {
    match (value_of(outcome.result), value_of(outcome.error)) {
        (Some(result), _) if result["isError"] == json!(true) => Some(vec![Expectation::new(
            "result.isError",
            json!({ "exact": true }),
        )]),
        (None, Some(error)) => Some(vec![Expectation::new(
            "error.code",
            json!({ "exact": error["code"] }),
        )]),
        _ => None,
    }
}

pub(super) fn value_of(raw: Option<&RawValue>) -> Option<Value> {
    serde_json::from_str(raw?.get()).ok()
}

/// The expectation for the first block of content.
fn of_content(first: &Value, second: &Value) -> Vec<Expectation> {
    let (one, other) = (&first[0], &second[0]);
    match (one["text"].as_str(), other["text"].as_str()) {
        _ if one.is_null() || one["type"] != other["type"] => {
            vec![Expectation::new(
                "result.content",
                json!({ "absent": false }),
            )]
        }
        (Some(one), Some(other)) => vec![Expectation::new(
            "result.content[0].text",
            of_text(one, other),
        )],
        _ => ["type", "mimeType"]
            .iter()
            .filter(|key| one[**key].is_string() && one[**key] == other[**key])
            .map(|key| {
                Expectation::new(
                    format!("result.content[0].{key}"),
                    json!({ "exact": one[*key] }),
                )
            })
            .collect(),
    }
}

fn of_text(one: &str, other: &str) -> Value {
    let line = |text: &str| {
        text.lines()
            .next()
            .unwrap_or_default()
            .trim_end()
            .to_owned()
    };
    let is_whole = !one.contains('\n');
    let first = line(one);
    if is_whole && one == other && is_lasting_text(one) && !one.trim().is_empty() {
        json!({ "exact": one })
    } else if first.chars().count() > 3 && first == line(other) && is_lasting_text(&first) {
        json!({ "starts-with": first })
    } else if one.is_empty() || other.is_empty() {
        json!({ "absent": false })
    } else {
        json!({ "length": { "gte": 1 } })
    }
}

fn is_lasting(value: &Value, is_closed: bool) -> bool {
    match value {
        Value::String(text) => is_lasting_text(text),
        Value::Bool(_) | Value::Null => true,
        Value::Number(number) => is_closed && number.to_string().len() < 9,
        Value::Array(_) | Value::Object(_) => false,
    }
}

/// Returns true if a string would probably be equal on another day and another machine: without
/// times, ids, folders or secrets.
pub(super) fn is_lasting_text(text: &str) -> bool {
    let is_folder = |run: &str| {
        (run.starts_with('/') && run.len() > 1) || run.contains(":\\") || run.contains("/home/")
    };
    text.chars().count() <= LONGEST_TEXT
        && !text.contains(['\n', '\r'])
        && !text.contains("[redacted:")
        && !text.contains("${")
        && !is_of_the_moment(text)
        && !runs(text).any(is_folder)
}

fn runs(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || ",;()[]{}\"'T".contains(c))
}

/// Returns true if a string contains a time, a date or an id.
fn is_of_the_moment(text: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_time = |run: &str| {
        run.split([':', '-', '/'])
            .filter(|part| is_number(part))
            .count()
            >= 2
    };
    let is_id = |run: &str| {
        run.len() >= 16
            && run.bytes().any(|byte| byte.is_ascii_digit())
            && run
                .bytes()
                .all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
    };
    runs(text).any(|run| (run.len() >= 9 && is_number(run)) || is_id(run) || is_time(run))
}

/// A key as a step of a path.
fn step(key: &str) -> String {
    let is_word = key.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if is_word {
        format!(".{key}")
    } else {
        format!("[{}]", Value::from(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn yaml(first: &Value, second: &Value) -> Vec<String> {
        expectations(first, second, &json!({"city": "Oslo"}), true)
            .iter()
            .skip(1)
            .map(Expectation::yaml)
            .collect()
    }

    fn text(text: &str) -> Value {
        json!({ "content": [{ "type": "text", "text": text }] })
    }

    #[test]
    fn a_text_is_expected_as_far_as_it_was_the_same_and_lasts() {
        for (first, second, expected) in [
            ("Echo: hi", "Echo: hi", r#"{ exact: "Echo: hi" }"#),
            (
                "Sunny\nat 10:15",
                "Sunny\nat 10:16",
                "{ starts-with: Sunny }",
            ),
            ("It is 10:15", "It is 10:15", "{ length: { gte: 1 } }"),
            ("a", "b", "{ length: { gte: 1 } }"),
            ("", "", "{ absent: false }"),
        ] {
            let expected = format!("{{ target: \"result.content[0].text\", matcher: {expected} }}");
            assert_eq!(yaml(&text(first), &text(second)), [expected]);
        }
    }

    #[test]
    fn structured_content_is_compared_as_a_whole_and_by_its_fields_where_nothing_stays() {
        let of = |at: u64, id: &str| json!({"structuredContent": {"city": "Oslo", "at": at, "request id": id, "list": [1], "degrees": 21}});
        assert_eq!(
            yaml(&of(1, "a"), &of(2, "b")),
            [
                "{ target: result.structuredContent, matcher: { equals-json: { city: Oslo, degrees: 21, list: [1] }, \
                 except: [at, request id] } }"
            ]
        );
        let at = |at: &str| json!({"structuredContent": {"at": at}});
        assert_eq!(
            yaml(&at("10:15"), &at("10:16")),
            ["{ target: result.structuredContent.at, matcher: { absent: false } }"]
        );
    }

    #[test]
    fn a_text_of_json_is_compared_as_json() {
        let order = |id: &str| text(&json!({"total": 12, "request_id": id}).to_string());
        assert_eq!(
            yaml(&order("a"), &order("b")),
            [
                "{ target: \"result.content[0].text\", matcher: { equals-json: { total: 12 }, except: [request_id] } }"
            ]
        );
        let wrapped = |id: &str| {
            let mut answer = order(id);
            answer["structuredContent"] = json!({ "result": answer["content"][0]["text"] });
            answer
        };
        assert_eq!(
            yaml(&wrapped("a"), &wrapped("b")),
            yaml(&order("a"), &order("b"))
        );
    }

    #[test]
    fn times_ids_folders_and_secrets_do_not_last() {
        for text in [
            "2026-11-15T10:00:00Z",
            "at 9:05",
            "id 550e8400-e29b-41d4-a716-446655440000",
            "1763200000",
            "in /srv/data",
            "key [redacted:token]",
            "${HOME}",
        ] {
            assert!(!is_lasting_text(text), "{text}");
        }
        for text in [
            "The sum of 2 and 3 is 5.",
            "Echo: text",
            "New York: 33 and rainy",
            "and/or",
            "a-b",
        ] {
            assert!(is_lasting_text(text), "{text}");
        }
    }

    #[test]
    fn an_image_is_expected_by_its_type() {
        let image =
            json!({"content": [{"type": "image", "data": "aGk=", "mimeType": "image/png"}]});
        assert_eq!(
            yaml(&image, &image),
            [
                "{ target: \"result.content[0].type\", matcher: { exact: image } }",
                "{ target: \"result.content[0].mimeType\", matcher: { exact: image/png } }",
            ]
        );
    }
}
