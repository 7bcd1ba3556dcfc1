//! Do texts of the same value hash alike, and others not?

use super::*;
use crate::json::arbitrary::any_json;
use crate::json::values_equal;
use proptest::prelude::*;

fn assert_same(texts: &[&str]) {
    for text in texts {
        assert_eq!(hash(text), hash(texts[0]), "{text} and {}", texts[0]);
    }
}

#[test]
fn spelling_does_not_count() {
    assert_same(&["1", "1.0", "1e0", " 10e-1 "]);
    assert_same(&["0", "-0", "-0.0", "0e9"]);
    assert_same(&[
        r#"{"a":1,"b":[2,{}]}"#,
        r#"{ "b" : [2.0, { } ] , "a" : 1 }"#,
    ]);
    assert_same(&[r#""é/😀""#, r#""\u00e9\/\ud83d\ude00""#]);
    assert_same(&[r#"{"a":2}"#, r#"{"a":1,"a":2}"#, r#"{"\u0061":2}"#]);
}

#[test]
fn different_values_differ() {
    let texts = [
        "null",
        "true",
        "false",
        "1",
        "0",
        "\"1\"",
        "\"\"",
        "[]",
        "{}",
        "[[]]",
        "[null]",
        "[1,2]",
        "[2,1]",
        "[[1],2]",
        "[[1,2]]",
        r#"{"a":null}"#,
        r#"{"a":1,"b":2}"#,
        r#"{"a":2,"b":1}"#,
        r#"{"a":{"b":1}}"#,
        "9007199254740993",
        "9007199254740992",
        "18446744073709551615",
        "18446744073709551616",
        "0.1",
        "\"null\"",
        "\"\\u0000\"",
        "\"\\u0000\\u0000\"",
        r#""\ud800""#,
        r#""\ud801""#,
        "1e300",
        "-1",
    ];
    for (index, a) in texts.iter().enumerate() {
        for b in &texts[index + 1..] {
            assert!(!equal(a, b), "{a} and {b}");
        }
    }
}

#[test]
fn the_last_of_a_duplicate_key_counts_among_many_keys() {
    let fields: Vec<String> = (0..100).map(|key| format!("\"k{key}\":{key}")).collect();
    let once = format!("{{{}}}", fields.join(","));
    let twice = format!("{{\"k7\":0,{}}}", fields.join(","));
    let overwritten = format!("{{{},\"k7\":0}}", fields.join(","));
    assert!(equal(&once, &twice));
    assert!(!equal(&once, &overwritten));
}

#[test]
fn text_that_is_not_json_is_equal_to_itself_only() {
    for broken in [
        "", "{", "[1,]", "{\"a\"}", "nul", "1 2", "\"a", "]", "{1:2}", "\"\\x\"", "1e999",
    ] {
        assert!(equal(broken, broken));
        assert!(!equal(broken, "null"), "{broken}");
        assert_ne!(hash(broken), hash(&format!("{broken} ")), "{broken}");
    }
}

#[test]
fn a_million_open_lists_do_not_overflow_the_stack() {
    let depth = 1_000_000;
    let deep = "[".repeat(depth) + &"]".repeat(depth);
    assert_eq!(hash(&deep), hash(&format!(" {deep} ")));
    assert_ne!(hash(&deep), hash(&format!("[{deep}]")));
}

#[test]
fn the_hash_is_the_same_on_every_platform_and_day() {
    assert_eq!(hash(r#"{"a":[1,2.5,"x",null,true]}"#), PINNED);
}

const PINNED: u128 = 88_447_121_670_991_711_744_367_235_678_747_736_175;

/// The value as text with its keys in another order, an earlier duplicate of each key and every character escaped.
fn respelled(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(respelled).collect();
            format!("[ {} ]", items.join(" ,\n"))
        }
        Value::Object(fields) => {
            let once = fields
                .iter()
                .rev()
                .map(|(key, value)| format!("{}:{}", escaped(key), respelled(value)));
            let stale = fields.keys().map(|key| format!("{}:[]", escaped(key)));
            format!("{{{}}}", stale.chain(once).collect::<Vec<_>>().join(","))
        }
        Value::String(text) => escaped(text),
        Value::Number(number) if number.is_i64() || number.is_u64() => number.to_string() + "e0",
        scalar => scalar.to_string(),
    }
}

fn escaped(text: &str) -> String {
    let units: Vec<String> = text
        .encode_utf16()
        .map(|unit| format!("\\u{unit:04x}"))
        .collect();
    format!("\"{}\"", units.concat())
}

fn has_no_large_whole(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().all(has_no_large_whole),
        Value::Object(fields) => fields.values().all(has_no_large_whole),
        Value::Number(number) => number
            .as_i128()
            .is_none_or(|whole| whole.unsigned_abs() < 1 << 53),
        _ => true,
    }
}

proptest! {
    #[test]
    fn key_order_duplicates_and_escapes_never_matter(value in any_json()) {
        prop_assume!(has_no_large_whole(&value));
        prop_assert_eq!(hash(&respelled(&value)), hash(&value.to_string()));
    }

    #[test]
    fn the_hash_of_the_text_is_the_hash_of_the_value(value in any_json()) {
        prop_assert_eq!(hash(&value.to_string()), hash_value(&value));
        prop_assert_eq!(hash(&serde_json::to_string_pretty(&value).unwrap()), hash_value(&value));
    }

    #[test]
    fn hashes_are_equal_exactly_when_values_are(a in any_json(), b in any_json()) {
        prop_assert_eq!(hash(&a.to_string()) == hash(&b.to_string()), values_equal(&a, &b));
    }

    #[test]
    fn no_text_makes_it_panic(text in "[\\[\\]{}\",:\\\\u0-9a-f.eE+ -]{0,40}") {
        hash(&text);
    }
}
