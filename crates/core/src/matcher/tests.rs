//! Every matcher, on what it accepts and what it refuses.

use super::Matcher;
use crate::suite::read::{Field, Reading};
use crate::suite::variables::Scope;
use serde_json::{Value, json};

fn read(yaml: &str) -> Result<Matcher, Vec<String>> {
    let mut problems = Vec::new();
    let node = crate::yaml::parse(yaml, 0, &mut problems).unwrap();
    let reading = Reading::new(Scope::default(), &|_| None);
    let matcher = Matcher::read(&mut Field::new(&reading, &node));
    match (matcher, reading.into_problems()) {
        (Some(matcher), problems) if problems.is_empty() => Ok(matcher),
        (_, problems) => Err(problems
            .into_iter()
            .map(|problem| problem.message)
            .collect()),
    }
}

fn holds(yaml: &str, actual: impl Into<Value>) -> bool {
    read(yaml).unwrap().diff(&actual.into()).is_empty()
}

#[test]
fn exact_is_by_json_value() {
    assert!(holds(
        "exact: {a: 1, b: [1, 2]}",
        json!({"b": [1, 2], "a": 1.0})
    ));
    assert!(!holds("exact: {a: true}", json!({"a": 1})));
    assert!(!holds("exact: null", json!(0)));
    assert!(holds("exact: null", json!(null)));
}

#[test]
fn contains_reads_texts_lists_and_structures() {
    assert!(holds("contains: ramen", json!("Sacramento")));
    assert!(!holds(
        "contains: refund",
        json!(["get_invoice", "refund_all"])
    ));
    assert!(holds("contains: refund", json!(["refund"])));
    assert!(holds(
        "contains: {city: X}",
        json!({"city": "X", "units": "F"})
    ));
    assert!(!holds("contains: {city: X}", json!({"city": "XY"})));
    assert!(holds(
        "contains: {type: text}",
        json!([{"type": "text", "text": "hi"}])
    ));
    assert!(holds("contains: [1, 2]", json!([2, 3, 1])));
    assert!(!holds("contains: [1, 1]", json!([1, 2])));
}

#[test]
fn texts_are_held_to_parts_edges_and_patterns() {
    assert!(holds("icontains: SACRA", json!("in Sacramento")));
    assert!(holds("contains-all: [a, b]", json!("cab")));
    assert!(!holds("contains-all: [a, z]", json!("cab")));
    assert!(holds("contains-any: [z, b]", json!("cab")));
    assert!(holds("starts-with: ca", json!("cab")));
    assert!(!holds("ends-with: ca", json!("cab")));
    assert!(holds("regex: '^c.b$'", json!("cab")));
    assert!(!holds("regex: x", json!(5)));
}

#[test]
fn numbers_are_compared_and_other_types_never_hold() {
    assert!(holds("gte: 1", json!(1)) && holds("lte: 1.0", json!(1)));
    assert!(!holds("gt: 1", json!(1)) && !holds("lt: 1", json!(1)));
    assert!(!holds("gte: 0", json!("5")));
}

#[test]
fn subset_is_not_substring() {
    assert!(!holds("subset: {q: rust}", json!({"q": "rust lang"})));
    assert!(holds(
        "subset: {items: [{a: 1}, {a: 1, b: 2}]}",
        json!({"items": [{"a": 1, "b": 2}, {"a": 1}]})
    ));
}

#[test]
fn shapes_lengths_and_alternatives() {
    assert!(holds("schema: {minimum: 0.7}", json!(0.7)));
    assert!(!holds("schema: {minimum: 0.7}", json!(0.69)));
    assert!(holds("length: 2", json!([1, 2])) && holds("length: {gte: 1}", json!("x")));
    assert!(!holds("length: 0", json!(5)));
    assert!(holds("one-of: [a, 1]", json!(1.0)) && holds("oneOf: [a]", json!("a")));
    assert!(holds("equals-json: {a: 1}", json!("{ \"a\": 1.0 }")));
    assert!(!holds("equals-json: {a: 1}", json!("{")));
}

#[test]
fn only_absent_accepts_absence() {
    assert!(read("absent: true").unwrap().accepts_absence());
    assert!(
        read("any-of: [{absent: true}, {exact: 1}]")
            .unwrap()
            .accepts_absence()
    );
    for yaml in [
        "absent: false",
        "not: {exact: 1}",
        "not: {absent: false}",
        "exact: null",
        "all-of: [{absent: true}, {exact: 1}]",
    ] {
        assert!(!read(yaml).unwrap().accepts_absence(), "{yaml}");
    }
    assert!(!holds("absent: true", json!(null)) && holds("absent: false", json!(null)));
}

#[test]
fn matchers_combine() {
    assert!(holds("not: {contains: refund}", json!(["get_invoice"])));
    assert!(!holds("not: {contains: refund}", json!(["refund"])));
    assert!(
        holds("allOf: [{gte: 1}, {lte: 3}]", json!(2))
            && !holds("all-of: [{gte: 1}, {lte: 3}]", json!(4))
    );
    assert!(
        holds("anyOf: [{exact: 1}, {exact: 2}]", json!(2))
            && !holds("any-of: [{exact: 1}]", json!(2))
    );
}

#[test]
fn what_is_not_a_matcher_is_refused() {
    assert_eq!(read("{}").unwrap_err(), ["a matcher is missing here"]);
    assert_eq!(
        read("{gte: 1, lte: 2}").unwrap_err(),
        ["one matcher at a time: `gte` and `lte`"]
    );
    assert_eq!(read("{exat: 1}").unwrap_err(), ["unknown key `exat`"]);
    assert!(read("regex: '('").unwrap_err()[0].contains("not a regular expression"));
    assert!(read("schema: {type: 12}").unwrap_err()[0].contains("not a JSON Schema"));
    assert_eq!(
        read("all-of: []").unwrap_err(),
        ["an empty list asks for nothing"]
    );
    assert!(read("gte: x").unwrap_err()[0].contains("expected a number"));
    assert!(read("exact").unwrap_err()[0].contains("expected a map"));
}

#[test]
fn a_matcher_is_shown_as_it_was_written() {
    assert_eq!(
        read("not: {contains: refund}").unwrap().written().as_ref(),
        &json!({"not": {"contains": "refund"}})
    );
}

#[test]
fn what_holds_for_everything_is_refused() {
    for yaml in [
        "contains: ''",
        "contains: []",
        "contains: {}",
        "icontains: ''",
        "contains-all: [a, '']",
        "contains-any: [a, '']",
        "starts-with: ''",
        "ends-with: ''",
        "subset: {}",
        "subset: []",
        "schema: {}",
        "schema: true",
        "schema: {title: T, format: email}",
        "length: {gte: 0}",
        "length: {not: {lt: 0}}",
        "length: {any-of: [{lt: 7}, {gte: 7}]}",
        "not: {schema: false}",
        "not: {schema: {not: {}}}",
        "not: {all-of: [{exact: 1}, {schema: false}]}",
        "any-of: [{exact: 1}, {not: {exact: 1}}]",
        "anyOf: [{absent: true}, {absent: false}]",
        "any-of: [{exact: 1}, {contains: ''}]",
    ] {
        let problems = read(yaml).map(|_| ()).unwrap_err();
        assert!(
            problems
                .iter()
                .any(|one| one.ends_with("and asserts nothing")),
            "{yaml}: {problems:?}"
        );
    }
    assert_eq!(
        read("one-of: []").unwrap_err(),
        ["an empty list asks for nothing"]
    );
    for yaml in [
        "length: {not: {exact: 5}}",
        "length: {not: {one-of: [5, 700]}}",
        "length: {lte: 100000}",
        "length: {gt: 0}",
        "any-of: [{absent: true}, {not: {exact: 1}}]",
        "subset: {a: {}}",
        "not: {contains: a}",
        "not: {schema: {type: string}}",
    ] {
        assert!(read(yaml).is_ok(), "{yaml}");
    }
}

#[test]
fn a_pattern_that_holds_for_every_text_is_told_from_one_that_does_not() {
    use super::vacuous::matches_every_text;
    for pattern in [
        "",
        ".*",
        "^",
        "$",
        "(?:)",
        "a*",
        "^.*",
        ".*$",
        "(?s)^.*$",
        r"^[\s\S]*$",
        "x|",
        "(a?)(b?)",
        r"\A",
        "(?m)^",
        "(?s).*",
        "^(?s:(.*))$",
    ] {
        assert!(matches_every_text(pattern), "{pattern}");
        for text in ["", "x", "a\nb", "\n", "é 1"] {
            assert!(
                regex::Regex::new(pattern).unwrap().is_match(text),
                "{pattern} on {text:?}"
            );
        }
    }
    for pattern in [
        "^$", r"^\s*$", "^.*$", "a", ".+", r"\b", r"^a*$", "^(a|b)*$", "x|^$", r"\S", "(?s).",
        r"\B", "(",
    ] {
        assert!(!matches_every_text(pattern), "{pattern}");
    }
}

#[test]
fn items_of_a_list_are_held_to_a_matcher() {
    let names = || json!(["get_page", "delete_page"]);
    assert!(
        holds("any-item: {contains: delete}", names())
            && !holds("any-item: {contains: drop}", names())
    );
    assert!(
        holds("no-item: {contains: drop}", names())
            && !holds("no-item: {contains: delete}", names())
    );
    assert!(
        holds("every-item: {ends-with: page}", names())
            && !holds("every-item: {contains: get}", names())
    );
    assert!(holds("no-item: {exact: 1}", json!([])));
    assert!(
        !holds("any-item: {exact: 1}", json!([])) && !holds("every-item: {exact: 1}", json!([]))
    );
    for key in ["any-item", "every-item", "no-item"] {
        assert!(
            !holds(&format!("{key}: {{exact: 1}}"), json!(1)),
            "{key} is for lists"
        );
    }
    let diff = read("no-item: {contains: delete}").unwrap().diff(&names());
    assert_eq!((diff.len(), diff[0].pointer.as_str()), (1, "/1"));
    assert_eq!(
        read("everyItem: {gte: 2}").unwrap().diff(&json!([1, 2, 0]))[1].pointer,
        "/2"
    );
}

#[test]
fn what_takes_too_much_work_for_an_item_holds_for_no_matcher_of_the_list() {
    let part = |at: u32| {
        let next = json!({"$ref": format!("#/$defs/d{}", at + 1)});
        (format!("d{at}"), json!({"allOf": [next, next]}))
    };
    let mut parts: serde_json::Map<String, Value> = (0..40).map(part).collect();
    parts.insert(
        "d40".to_owned(),
        json!({"properties": {"a": {"type": "string"}}}),
    );
    let schema = json!({"schema": {"$ref": "#/$defs/d0", "$defs": parts}});
    for key in ["any-item", "every-item", "no-item"] {
        let matcher = json!({ key: schema });
        assert!(!holds(&matcher.to_string(), json!([{"a": "x"}])), "{key}");
        assert!(
            !holds(&json!({ "not": matcher }).to_string(), json!([{"a": "x"}])),
            "not {key}"
        );
    }
}
