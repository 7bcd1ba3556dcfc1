//! Is the JSON report read back as it was written, and does it keep to its schema?

use super::*;
use crate::sample;
use serde_json::{Value, json};

fn written(report: &Report) -> String {
    String::from_utf8(render(report, &Options::default())).unwrap()
}

fn schema() -> Value {
    serde_json::from_str(SCHEMA).unwrap()
}

/// The schema with every object closed, so that a field it does not describe is an error.
fn closed(mut schema: Value) -> Value {
    fn close(node: &mut Value) {
        match node {
            Value::Object(map) => {
                map.values_mut().for_each(close);
                if map.contains_key("properties") && map.contains_key("type") {
                    map.insert("additionalProperties".to_owned(), json!(false));
                }
            }
            Value::Array(items) => items.iter_mut().for_each(close),
            _ => {}
        }
    }
    close(&mut schema);
    schema
}

fn complaints(schema: &Value, document: &Value) -> Vec<String> {
    let schema = mcptest_core::schema::JsonSchema::compile_as_declared(schema).unwrap();
    schema.reasons(document).into_iter().map(|(at, why)| format!("{at}: {why}")).collect()
}

#[test]
fn a_report_is_read_back_as_it_was_written() {
    let report = sample::report();
    assert_eq!(read(&written(&report)).unwrap(), report);
    assert_eq!(read(&format!("\u{feff}{}", written(&report))).unwrap(), report);
    assert!(written(&report).ends_with("}\n"));
}

#[test]
fn every_field_of_every_kind_of_row_is_in_the_schema() {
    let document: Value = serde_json::from_str(&written(&sample::report())).unwrap();
    assert_eq!(complaints(&closed(schema()), &document), [""; 0]);
    let statuses: Vec<_> = document["tests"].as_array().unwrap().iter().map(|test| &test["status"]).collect();
    for status in ["passed", "failed", "error", "skipped"] {
        assert!(statuses.contains(&&json!(status)), "the sample has no {status} row");
    }
    let text = document.to_string();
    assert!(text.contains(r#"efficiency.cost":null"#) && text.contains(r#"not_exercised":"the run"#));
}

#[test]
fn a_report_without_a_required_field_is_rejected() {
    let whole: Value = serde_json::from_str(&written(&sample::report())).unwrap();
    let paths = [
        ("", "schema_version"),
        ("/summary", "runs"),
        ("/tests/0", "rerun"),
        ("/tests/0/suite", "line"),
        ("/tests/0/runs/0", "status"),
        ("/tests/0/gates/0", "targets"),
        ("/tests/2/runs/2/expectations/0", "matcher"),
        ("/tests/2/runs/2/expectations/0/diff/0", "pointer"),
    ];
    for (place, field) in paths {
        let mut document = whole.clone();
        let object = document.pointer_mut(place).and_then(Value::as_object_mut).unwrap();
        assert!(object.remove(field).is_some(), "{place} has no {field}");
        let found = complaints(&schema(), &document);
        assert!(found.iter().any(|line| line.contains(field)), "{place} without {field}: {found:?}");
        assert!(read(&document.to_string()).is_err() || place == "/summary", "{place} without {field}");
    }
}

#[test]
fn the_schema_is_a_schema_and_describes_every_field() {
    fn undescribed<'a>(node: &'a Value, found: &mut Vec<&'a str>) {
        for (name, field) in node["properties"].as_object().into_iter().flatten() {
            if field.get("description").is_none() && field.get("$ref").is_none() {
                found.push(name);
            }
        }
        node.as_object().into_iter().flatten().for_each(|(_, child)| undescribed(child, found));
    }
    let schema = schema();
    assert!(jsonschema::meta::is_valid(&schema));
    let mut found = Vec::new();
    undescribed(&schema, &mut found);
    assert_eq!(found, [""; 0]);
}

#[test]
fn the_schema_lists_the_kinds_of_reasons_by_their_names() {
    use mcptest_core::report::ReasonKind;
    let schema = schema();
    let listed = schema["$defs"]["reason"]["properties"]["kind"]["examples"].as_array().unwrap();
    for name in listed {
        let kind: ReasonKind = serde_json::from_value(name.clone()).unwrap();
        assert_eq!(serde_json::to_value(kind).unwrap(), *name, "no such kind");
    }
    let later: ReasonKind = serde_json::from_value(json!("made_up_later")).unwrap();
    assert_eq!(later, ReasonKind::Unspecified);
}

#[test]
fn a_field_added_by_a_later_build_of_the_same_version_is_accepted() {
    let mut document: Value = serde_json::from_str(&written(&sample::report())).unwrap();
    document["tests"][0]["added_later"] = json!(1);
    assert_eq!(complaints(&schema(), &document), [""; 0]);
    assert!(read(&document.to_string()).is_ok());
}

fn complaint(text: &str) -> String {
    read(text).unwrap_err().to_string()
}

#[test]
fn a_newer_version_is_refused_with_a_sentence() {
    let text = written(&sample::report()).replacen("\"schema_version\": 1", "\"schema_version\": 2", 1);
    assert_eq!(complaint(&text), "the report has schema_version 2, this build reads 1: use a newer mcptest");
    let text = text.replacen("\"tests\": [", "\"tests\": [3, ", 1);
    assert!(complaint(&text).contains("schema_version 2"), "the version is looked at first");
}

#[test]
fn what_is_wrong_with_a_broken_file_is_named() {
    let whole = written(&sample::report());
    let misspelt = whole.replacen("\"status\": \"passed\"", "\"status\": \"pased\"", 1);
    let cases = [
        ("", "the report is empty or cut off: EOF while parsing a value at line 1 column 0"),
        (
            "{\"schema_version\": 1,",
            "the report is empty or cut off: EOF while parsing a value at line 1 column 21",
        ),
        ("no", "this is not a JSON report: expected ident at line 1 column 2"),
        ("3", "this is not a report of mcptest: it has no whole number `schema_version`"),
        ("{\"tests\": []}", "this is not a report of mcptest: it has no whole number `schema_version`"),
        (
            "{\"schema_version\": \"1\"}",
            "this is not a report of mcptest: it has no whole number `schema_version`",
        ),
        ("{\"schema_version\": 0}", "the report has schema_version 0, which no mcptest writes"),
        ("{\"schema_version\": 1}", "the report is broken: missing field `summary` at line 1 column 21"),
        (
            &misspelt,
            "the report is broken: unknown variant `pased`, expected one of `passed`, `failed`, `error`, `skipped` at line 21 column 23",
        ),
    ];
    for (text, sentence) in cases {
        assert_eq!(complaint(text), sentence);
    }
}

#[test]
fn the_totals_follow_the_tests() {
    let mut report = sample::report();
    report.tests.truncate(1);
    let read = read(&written(&report)).unwrap();
    assert_eq!((read.summary.tests, read.summary.failed, read.exit_code()), (1, 0, 0));
}
