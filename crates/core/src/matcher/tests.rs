//! Every matcher: which values does it accept and refuse?

use super::Matcher;
use crate::engine::Gates;
use crate::suite::read::{Field, Reading};
use crate::suite::variables::Scope;
use serde_json::{Value, json};

fn read(yaml: &str) -> Result<Matcher, Vec<String>> {
    let mut problems = Vec::new();
    let node = crate::yaml::parse(yaml, 0, &mut problems).unwrap();
    let reading = Reading::new(Scope::default(), &|_| None, Gates::default());
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
    let (matcher, actual) = (read(yaml).unwrap(), actual.into());
    let holds = matcher.holds(&actual);
    assert_eq!(holds, matcher.diff(&actual).is_empty(), "{yaml}");
    holds
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
    let some =
        "{equals-json: {a: 1, at: 5, items: [{id: 1, n: 2}]}, except: [at, items.*.id, gone]}";
    assert!(holds(
        some,
        json!({"a": 1, "at": 6, "items": [{"id": 9, "n": 2}]})
    ));
    assert!(holds(some, json!("{\"a\": 1, \"items\": [{\"n\": 2}]}")));
    for other in [
        json!({"a": 2, "at": 5, "items": [{"id": 1, "n": 2}]}),
        json!({"a": 1, "items": [{"n": 3}]}),
        json!({"a": 1, "items": [{"n": 2}, {"n": 2}]}),
        json!({"a": 1, "items": [{"n": 2}], "new": 1}),
    ] {
        assert!(!holds(some, other.clone()), "{other}");
    }
    assert!(holds(
        "{equals-json: [1, 2, 3], except: ['1']}",
        json!([1, 9, 3])
    ));
    assert_eq!(
        read("{exact: 1, except: [a]}").unwrap_err(),
        ["`except` works only with `equals-json`"]
    );
    assert_eq!(
        read("{equals-json: 1, except: [a..b]}").unwrap_err(),
        ["`a..b` is not a place: a name is missing"]
    );
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
        ["write one matcher at a time, not `gte` and `lte`"]
    );
    assert_eq!(read("{exat: 1}").unwrap_err(), ["unknown key `exat`"]);
    assert_eq!(read("{equals: 1}").unwrap_err(), ["unknown key `equals`"]);
    assert!(read("regex: '('").unwrap_err()[0].contains("not a regular expression"));
    assert!(read("schema: {type: 12}").unwrap_err()[0].contains("not a JSON Schema"));
    assert_eq!(
        read("all-of: []").unwrap_err(),
        ["an empty list requires nothing"]
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
                .any(|one| one.ends_with("so it asserts nothing")),
            "{yaml}: {problems:?}"
        );
    }
    assert_eq!(
        read("one-of: []").unwrap_err(),
        ["an empty list requires nothing"]
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

/// An operand for each matcher of the registry, with values that it accepts and refuses.
fn sample(key: &str) -> (&'static str, Value, Value) {
    let (operand, holding, differing) = match key {
        "exact" => ("900", json!(900), json!(1)),
        "contains" => ("error", json!("an error"), json!("fine")),
        "subset" => ("{a: 1}", json!({"a": 1, "b": 2}), json!({"a": 2})),
        "icontains" => ("error", json!("an Error"), json!("fine")),
        "contains-all" => ("[an, error]", json!("an error"), json!("an")),
        "contains-any" => ("[fault, error]", json!("an error"), json!("fine")),
        "starts-with" => ("Err", json!("Error"), json!("fine")),
        "ends-with" => ("or", json!("Error"), json!("fine")),
        "regex" => ("'^E'", json!("Error"), json!("fine")),
        "schema" => ("{type: object, required: [a]}", json!({"a": 1}), json!({})),
        "equals-json" => ("{a: 1}", json!("{\"a\": 1}"), json!("{}")),
        "gte" | "gt" => ("500", json!(900), json!(1)),
        "lte" | "lt" => ("500", json!(1), json!(900)),
        "one-of" => ("[1, x]", json!("x"), json!("y")),
        "length" => ("2", json!("ab"), json!([1])),
        "absent" => ("false", json!(null), json!(null)),
        "not" => ("{gte: 500}", json!(1), json!(900)),
        "all-of" => ("[{gte: 5}, {lt: 9}]", json!(7), json!(9)),
        "any-of" => ("[{lt: 5}, {gte: 9}]", json!(3), json!(7)),
        "any-item" => ("{gte: 500}", json!([1, 900]), json!([1])),
        "every-item" => ("{gte: 500}", json!([900]), json!([1, 900])),
        "no-item" => ("{gte: 500}", json!([1]), json!([1, 900])),
        _ => panic!("give `{key}` a sample"),
    };
    (operand, holding, differing)
}

/// A value or more of each JSON type.
fn values_of_every_type() -> Vec<Value> {
    vec![
        json!(null),
        json!(true),
        json!(900),
        json!(0.5),
        json!(""),
        json!("Error: refused"),
        json!("900"),
        json!([]),
        json!(["Error", "fine"]),
        json!([1, 900]),
        json!(["900"]),
        json!([{"type": "text", "text": "Error: refused"}]),
        json!([["Error"]]),
        json!({}),
        json!({"a": 1}),
        json!({"text": "Error: refused"}),
    ]
}

/// Returns true if a matcher applies to a value: then it or its `not` holds.
fn can_be_asked(matcher: &str, value: &Value) -> bool {
    read(matcher).unwrap().answers(value)
}

#[test]
fn every_matcher_holds_or_its_not_does_or_it_cannot_be_asked_and_then_nothing_around_it_holds() {
    for kind in super::KINDS {
        let (operand, holding, differing) = sample(kind.key);
        let matcher = format!("{{{}: {operand}}}", kind.key);
        assert!(holds(&matcher, holding), "{matcher}");
        assert!(
            kind.key == "absent" || !holds(&matcher, differing.clone()),
            "{matcher}"
        );
        assert!(
            kind.key == "absent" || can_be_asked(&matcher, &differing),
            "{matcher}"
        );
        for value in values_of_every_type() {
            let (is_held, is_asked) = (
                holds(&matcher, value.clone()),
                can_be_asked(&matcher, &value),
            );
            let in_list = json!([value]);
            let about = |around: &str| format!("{around} of {matcher} on {value}");
            let opposite = format!("{{not: {matcher}}}");
            assert_eq!(
                holds(&opposite, value.clone()),
                is_asked && !is_held,
                "{}",
                about("not")
            );
            let twice = format!("{{not: {{not: {matcher}}}}}");
            assert_eq!(
                holds(&twice, value.clone()),
                is_held,
                "{}",
                about("not not")
            );
            for (around, expected) in [("any-of", is_held), ("all-of", is_held)] {
                let wrapped = format!("{{{around}: [{matcher}]}}");
                assert_eq!(
                    holds(&wrapped, value.clone()),
                    expected,
                    "{}",
                    about(around)
                );
                let opposite = format!("{{not: {wrapped}}}");
                assert_eq!(
                    holds(&opposite, value.clone()),
                    is_asked && !is_held,
                    "{}",
                    about(around)
                );
            }
            for (around, expected) in [
                ("any-item", is_held),
                ("every-item", is_held),
                ("no-item", is_asked && !is_held),
            ] {
                let wrapped = format!("{{{around}: {matcher}}}");
                assert_eq!(
                    holds(&wrapped, in_list.clone()),
                    expected,
                    "{}",
                    about(around)
                );
                let opposite = format!("{{not: {wrapped}}}");
                assert_eq!(
                    holds(&opposite, in_list.clone()),
                    is_asked && !expected,
                    "{}",
                    about(around)
                );
            }
            let reason = read(&matcher).unwrap().reason(&super::Reached {
                target: "tool_calls[0].args",
                is_list_of_each: false,
                value: &value,
            });
            assert!(
                is_asked || reason.is_some_and(|reason| reason.contains("does not apply to")),
                "{}",
                about("the reason")
            );
        }
    }
}

#[test]
fn what_cannot_be_asked_of_a_value_fails_and_so_does_its_not() {
    let blocks = || json!([{"type": "text", "text": "Error: refused"}]);
    for (matcher, value) in [
        ("icontains: error", blocks()),
        ("contains: Error", blocks()),
        ("contains-all: [Error]", blocks()),
        ("contains-any: [Error]", blocks()),
        ("contains: [Error]", blocks()),
        ("no-item: {contains: Error}", json!([blocks()])),
        ("no-item: {gte: 500}", json!(["900"])),
        ("no-item: {gte: 500}", json!([1, "900"])),
        ("any-item: {gte: 500}", json!([1, "900"])),
        ("every-item: {gte: 500}", json!([900, "900"])),
        ("any-of: [{gte: 500}, {lt: 0}]", json!("900")),
        ("regex: eve", json!(["bob", "eve"])),
        ("contains: /etc", json!({"path": "/etc/passwd"})),
        ("contains: 9", json!("900")),
        ("contains: 9", json!(["9"])),
        ("contains: true", json!([1])),
        ("contains: {a: 1}", json!("{\"a\": 1}")),
        ("contains: [a]", json!({"a": 1})),
        ("subset: {a: 1}", json!("{\"a\": 1}")),
        ("subset: [a]", json!("a")),
        ("length: 3", json!(900)),
        ("length: {gte: 3}", json!(null)),
        ("any-item: {exact: 1}", json!({"a": 1})),
    ] {
        assert!(!holds(matcher, value.clone()), "{matcher} on {value}");
        let opposite = format!("not: {{{matcher}}}");
        assert!(!holds(&opposite, value.clone()), "{opposite} on {value}");
    }
}

#[test]
fn what_is_decided_stays_decided_beside_what_cannot_be_asked() {
    assert!(holds("any-of: [{gte: 5}, {exact: five}]", json!("five")));
    assert!(!holds(
        "not: {any-of: [{gte: 5}, {exact: five}]}",
        json!("five")
    ));
    assert!(holds(
        "not: {all-of: [{gte: 5}, {exact: five}]}",
        json!("six")
    ));
    assert!(holds("any-item: {gte: 5}", json!(["x", 5])));
    assert!(!holds("no-item: {gte: 5}", json!(["x", 5])));
    assert!(holds("not: {every-item: {gte: 5}}", json!(["x", 4])));
}

#[test]
fn an_empty_list_can_be_asked_what_it_has() {
    for matcher in [
        "not: {contains: refund}",
        "not: {icontains: refund}",
        "not: {contains: 5}",
        "not: {contains: {a: 1}}",
        "not: {contains-any: [refund, cancel]}",
        "no-item: {gte: 5}",
    ] {
        assert!(holds(matcher, json!([])), "{matcher}");
    }
}

fn reason(matcher: &str, target: &str, is_list_of_each: bool, value: &Value) -> String {
    let reached = super::Reached {
        target,
        is_list_of_each,
        value,
    };
    read(matcher).unwrap().reason(&reached).unwrap()
}

#[test]
fn what_cannot_be_asked_names_the_path_to_write() {
    let blocks = json!([{"type": "text", "text": "Error: refused"}]);
    let picture_first = json!([{"type": "image", "data": 7}, {"type": "text", "text": "x"}]);
    let resource = json!([{"type": "resource", "resource": {"uri": "a:b", "text": "x"}}]);
    for (matcher, target, is_list_of_each, value, said) in [
        (
            "not: {icontains: error}",
            "tool_results[0].content",
            false,
            &blocks,
            "`icontains` does not apply to a list of content blocks; write `tool_results[0].content[0].text`",
        ),
        (
            "contains: x",
            "tool_results[0].content",
            false,
            &picture_first,
            "`contains` does not apply to a list of content blocks; write `tool_results[0].content[1].text`",
        ),
        (
            "contains: x",
            "tool_results[0].content",
            false,
            &resource,
            "`contains` does not apply to a list of content blocks; write \
             `tool_results[0].content[0].resource.text`",
        ),
        (
            "no-item: {contains: Error}",
            "tool_results[0].content",
            false,
            &blocks,
            "`contains` does not apply to item 0, a content block; write `tool_results[0].content[*].text`",
        ),
        (
            "no-item: {contains: Error}",
            "tool_results[*].content",
            true,
            &json!([blocks]),
            "`contains` does not apply to item 0, a list of content blocks; write \
             `tool_results[*].content[*].text`",
        ),
        (
            "not: {contains: Error}",
            "tool_results[*].content",
            true,
            &json!([blocks]),
            "`contains` does not apply to a list of lists; write `tool_results[*].content[*].text` and check its \
             items with `any-item`, `every-item` or `no-item`",
        ),
        (
            "not: {regex: eve}",
            "tool_calls[0].args.to",
            false,
            &json!(["bob", "eve"]),
            "`regex` does not apply to a list of strings; write `tool_calls[0].args.to[0]`, or check the items with \
             `any-item`, `every-item` or `no-item`",
        ),
        (
            "not: {regex: eve}",
            "tool_calls[*].args.to",
            true,
            &json!(["bob", "eve"]),
            "`regex` does not apply to a list of strings; check the items with `any-item`, `every-item` or `no-item`",
        ),
        (
            "not: {contains: /etc}",
            "tool_calls[0].args",
            false,
            &json!({"odd.key": "/etc"}),
            "`contains` does not apply to an object; write `tool_calls[0].args[\"odd.key\"]`",
        ),
        (
            "no-item: {gte: 500}",
            "tool_calls[*].args.amount",
            true,
            &json!([1, "900"]),
            "`gte` does not apply to item 1, a string; compare a string with `exact`, `contains` or `regex`, or its \
             `length`",
        ),
        (
            "contains: 5",
            "final_response",
            false,
            &json!("5"),
            "`contains` does not apply to a string; a number is never part of a string: write `contains: \"5\"`",
        ),
    ] {
        assert_eq!(reason(matcher, target, is_list_of_each, value), said);
    }
}

#[test]
fn numbers_beyond_the_precision_of_a_double_are_compared_exactly() {
    let (limit, above) = (9_007_199_254_740_992_i64, 9_007_199_254_740_993_i64);
    assert!(!holds(&format!("lte: {limit}"), json!(above)));
    assert!(holds(&format!("gt: {limit}"), json!(above)));
    assert!(!holds(&format!("lt: {above}"), json!(above)));
    assert!(!holds(&format!("gte: {above}"), json!(limit)));
    assert!(holds("gte: -1.5", json!(-1)) && holds("lt: 1e300", json!(u64::MAX)));
}

#[test]
fn a_length_is_a_number_and_nothing_else_is_asked_of_it() {
    for yaml in ["length: {contains: '3'}", "length: {not: {regex: '3'}}"] {
        let problems = read(yaml).map(|_| ()).unwrap_err();
        assert!(
            problems[0].starts_with("`length` is a number"),
            "{problems:?}"
        );
    }
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
