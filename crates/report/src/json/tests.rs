//! Does the JSON report survive a round trip, and does it match its schema?

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
    schema
        .reasons(document)
        .into_iter()
        .map(|(at, why)| format!("{at}: {why}"))
        .collect()
}

#[test]
fn a_report_is_read_back_as_it_was_written() {
    let report = sample::report();
    assert_eq!(read(&written(&report)).unwrap(), report);
    assert_eq!(
        read(&format!("\u{feff}{}", written(&report))).unwrap(),
        report
    );
    assert!(written(&report).ends_with("}\n"));
}

#[test]
fn every_field_of_every_kind_of_row_is_in_the_schema() {
    let document: Value = serde_json::from_str(&written(&sample::report())).unwrap();
    assert_eq!(complaints(&closed(schema()), &document), [""; 0]);
    let statuses: Vec<_> = document["tests"]
        .as_array()
        .unwrap()
        .iter()
        .map(|test| &test["status"])
        .collect();
    for status in ["passed", "failed", "error", "skipped"] {
        assert!(
            statuses.contains(&&json!(status)),
            "the sample has no {status} row"
        );
    }
    let text = document.to_string();
    assert!(
        text.contains(r#"efficiency.cost":null"#) && text.contains(r#"not_exercised":"the run"#)
    );
}

/// A value for a schema: with every field, and one entry in each list.
fn filled(schema: &Value, root: &Value) -> Value {
    if let Some(name) = schema["$ref"].as_str() {
        return filled(&root["$defs"][name.rsplit('/').next().unwrap()], root);
    }
    if let Some(one) = schema.get("const").or(schema["enum"].get(0)) {
        return one.clone();
    }
    let kind = schema["type"].as_str().or(schema["type"][0].as_str());
    match kind {
        Some("object") => {
            let fields = schema["properties"].as_object().into_iter().flatten();
            fields
                .map(|(name, field)| (name.clone(), filled(field, root)))
                .collect()
        }
        Some("array") => json!([filled(&schema["items"], root)]),
        Some("integer") => json!(1),
        Some("number") => json!(0.5),
        Some("boolean") => json!(true),
        Some(_) => json!("text"),
        None => json!({"any": "value"}),
    }
}

#[test]
fn each_kind_of_evidence_is_read_as_the_schema_has_it_and_nothing_of_it_is_lost() {
    let root = schema();
    let kinds = root["$defs"]["evidence"]["oneOf"].as_array().unwrap();
    assert!(kinds.len() > 10, "{kinds:?}");
    let strict = closed(schema());
    for kind in kinds {
        let evidence = filled(kind, &root);
        let key = evidence["kind"].as_str().unwrap();
        // The gate of this evidence is in a crate above this one.
        let is_of_toolbox = key == "tool_quality";
        assert!(
            is_of_toolbox || mcptest_core::eval::GATES.iter().any(|gate| gate.key == key),
            "no gate `{key}`"
        );
        let mut report = sample::report();
        report.tests[0].gates[0].evidence = Some(serde_json::from_value(evidence.clone()).unwrap());
        let document: Value = serde_json::from_str(&written(&report)).unwrap();
        assert_eq!(document["tests"][0]["gates"][0]["evidence"], evidence);
        assert_eq!(complaints(&strict, &document), [""; 0]);
    }
    let later: mcptest_core::report::Evidence =
        serde_json::from_value(json!({"kind": "later", "x": 1})).unwrap();
    assert_eq!(later, mcptest_core::report::Evidence::Other);
}

#[test]
fn what_judges_and_scorers_said_is_in_the_schema() {
    let grade = json!({
        "run": 1, "check": "expect[0]", "fingerprint": "f", "scores": {"words": 12, "polite": true},
        "asked": {"rubric": "r", "judges": ["gpt-5"], "samples": 1, "template": 1, "evidence": "e", "files": {"a.py": "d"}},
        "votes": [{"model": "gpt-5", "sample": 1, "score": 0.5, "tokens": {"prompt": 1, "total": 1}, "cost_usd": 0.1,
            "answers": [{"name": "tone", "score": 0.5, "reason": "curt"}]}],
    });
    let mut report = sample::report();
    let test = &mut report.tests[2];
    test.variant = Some(serde_json::from_value(json!("4 distractors")).unwrap());
    test.runs[2].scores = serde_json::from_value(json!({"scorers.style.words": 12})).unwrap();
    test.runs[2].expectations[0].grade = Some(serde_json::from_value(grade.clone()).unwrap());
    report.tests[0].gates[0].grades = vec![serde_json::from_value(grade).unwrap()];
    let document: Value = serde_json::from_str(&written(&report)).unwrap();
    assert_eq!(complaints(&closed(schema()), &document), [""; 0]);
    assert_eq!(read(&written(&report)).unwrap(), report);
}

#[test]
fn coverage_is_in_the_schema_and_read_back() {
    let share = json!({ "covered": 1, "total": 2 });
    let value = json!({
        "percent": 50, "threshold": 80, "tools": share, "parameters": share, "values": share,
        "successes": share, "errors": share, "unlisted_calls": 0, "unmeasured": ["bank"],
        "servers": [{ "name": "shop", "tools": [{ "name": "buy", "calls": 1, "successes": 1, "errors": 0,
            "parameters": [{ "name": "size", "given": true, "values": [{ "value": "s", "given": true }] }] }] }],
    });
    let mut report = sample::report();
    report.coverage = Some(serde_json::from_value(value).unwrap());
    assert_eq!(read(&written(&report)).unwrap(), report);
    let document: Value = serde_json::from_str(&written(&report)).unwrap();
    assert_eq!(complaints(&closed(schema()), &document), [""; 0]);
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
        let object = document
            .pointer_mut(place)
            .and_then(Value::as_object_mut)
            .unwrap();
        assert!(object.remove(field).is_some(), "{place} has no {field}");
        let found = complaints(&schema(), &document);
        assert!(
            found.iter().any(|line| line.contains(field)),
            "{place} without {field}: {found:?}"
        );
        assert!(
            read(&document.to_string()).is_err() || place == "/summary",
            "{place} without {field}"
        );
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
        node.as_object()
            .into_iter()
            .flatten()
            .for_each(|(_, child)| undescribed(child, found));
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
    let listed = schema["$defs"]["reason"]["properties"]["kind"]["examples"]
        .as_array()
        .unwrap();
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
    let text =
        written(&sample::report()).replacen("\"schema_version\": 1", "\"schema_version\": 2", 1);
    let said = "line 1, column 1: this file has version 2, but this mcptest reads only versions up to 1; update mcptest";
    assert_eq!(complaint(&text), said);
    let text = text.replacen("\"tests\": [", "\"tests\": [3, ", 1);
    assert_eq!(complaint(&text), said, "the version is looked at first");
}

#[test]
fn what_is_wrong_with_a_broken_file_is_named() {
    let whole = written(&sample::report());
    let misspelt = whole.replacen("\"status\": \"passed\"", "\"status\": \"pased\"", 1);
    let not_a_report =
        "line 1, column 1: this is not a report of mcptest: it has no integer `schema_version`";
    let cases = [
        ("", "the file is empty; write it again with"),
        (
            "{\"schema_version\": 1,",
            "line 1, column 21: the file was cut off in the middle of this line; write it",
        ),
        (
            "no",
            "line 1, column 2: this is not JSON (expected ident); restore the line, or write it again with",
        ),
        (
            "3",
            "line 1, column 1: found a number here; a report is one JSON object, as",
        ),
        ("{\"tests\": []}", not_a_report),
        ("{\"schema_version\": \"1\"}", not_a_report),
        (
            "{\"schema_version\": 0}",
            "line 1, column 1: the version is 0, which is not a version of the format; write",
        ),
        (
            "{\"schema_version\": 1}",
            "line 1, column 21: the report is broken (missing field `summary`); write it again with",
        ),
        (
            &misspelt,
            "line 22, column 23: the report is broken (unknown variant `pased`, expected one of `passed`, `failed`,",
        ),
    ];
    for (text, sentence) in cases {
        let said = complaint(text);
        assert!(said.starts_with(sentence), "{said}");
    }
}

#[test]
fn the_totals_follow_the_tests() {
    let mut report = sample::report();
    report.tests.truncate(1);
    let read = read(&written(&report)).unwrap();
    assert_eq!(
        (read.summary.tests, read.summary.failed, read.exit_code()),
        (1, 0, 0)
    );
}
