//! Each row of the table, with the rewritten schema.

use super::{Offer, RULES, fit};
use crate::provider::{FAMILIES, Family};
use crate::suite::ToolSchemas;
use crate::trace::CatalogueTool;
use serde_json::value::RawValue;
use std::collections::BTreeSet;

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}

fn family(name: &str) -> &'static Family {
    Family::named(name).unwrap()
}

/// Of a family, the rules that were broken and the schema that is sent.
fn mended(name: &str, schema: &str) -> (Vec<String>, String) {
    let fitted = fit(&raw(schema), family(name));
    let found = fitted
        .findings
        .iter()
        .map(|one| format!("{} {}", one.rule.name, one.place));
    (
        found.map(|found| found.trim_end().to_owned()).collect(),
        fitted.schema.get().to_owned(),
    )
}

#[test]
fn what_every_provider_takes_is_sent_to_the_letter() {
    let schema =
        r#"{"type": "object", "properties": {"z": {"type": "string"}, "a": {"minimum": 1.50}}}"#;
    for family in FAMILIES {
        assert_eq!(mended(family.name, schema), (vec![], schema.to_owned()));
    }
}

#[test]
fn each_row_is_mended_and_the_rest_stays_in_its_order() {
    let object = |properties: &str| format!(r#"{{"type":"object","properties":{{{properties}}}}}"#);
    for (family, schema, rules, sent) in [
        ("openai", r#"{"type":"object"}"#.to_owned(), "properties", object("")),
        (
            "anthropic",
            r#"{"properties":{}}"#.to_owned(),
            "type",
            r#"{"properties":{},"type":"object"}"#.to_owned(),
        ),
        (
            "openai",
            object(r#""z":{"type":"array"},"a":{}"#),
            "items properties.z",
            object(r#""z":{"type":"array","items":{}},"a":{}"#),
        ),
        (
            "gemini",
            object(r#""z":{"type":"array","items":[{"type":"number"},{"type":"number"}],"maxItems":2}"#),
            "tuple properties.z",
            object(r#""z":{"type":"array","items":{"type":"number"},"maxItems":2}"#),
        ),
        (
            "openai",
            object(r#""z":{"type":["array","null"],"prefixItems":[{"type":"number"},{"type":"string"}]}"#),
            "items properties.z",
            object(
                r#""z":{"type":["array","null"],"prefixItems":[{"type":"number"},{"type":"string"}],"items":{"anyOf":[{"type":"number"},{"type":"string"}]}}"#,
            ),
        ),
        (
            "anthropic",
            object(r#""z":{"minimum":0,"exclusiveMinimum":true,"maximum":9,"exclusiveMaximum":false}"#),
            "exclusive properties.z",
            object(r#""z":{"exclusiveMinimum":0,"maximum":9}"#),
        ),
        (
            "mistral",
            r#"{"type":"object","properties":{"a":{"required":true}},"required":null}"#.to_owned(),
            "required, required properties.a",
            object(r#""a":{}"#),
        ),
        (
            "gemini",
            r#"{"$schema":"x","type":"object","properties":{"$schema":{"$schema":"y"}}}"#.to_owned(),
            "schema, schema properties.$schema",
            object(r#""$schema":{}"#),
        ),
        (
            "anthropic",
            r#"{"type":"object","properties":{"$filter":{},"_filter":{}},"required":["$filter"]}"#.to_owned(),
            "keys $filter",
            r#"{"type":"object","properties":{"_filter_2":{},"_filter":{}},"required":["_filter_2"]}"#
                .to_owned(),
        ),
    ] {
        let (found, got) = mended(family, &schema);
        assert_eq!((found.join(", ").as_str(), got), (rules, sent), "{family}: {schema}");
    }
}

#[test]
fn choices_at_the_top_become_one_object() {
    let schema = r##"{"type":"object","properties":{"q":{}},"required":["q"],"oneOf":[
        {"properties":{"kind":{"const":"a"},"x":{}},"required":["kind","x"]},
        {"$ref":"#/$defs/b"}
    ],"$defs":{"b":{"properties":{"kind":{"const":"b"}},"required":["kind"]}}}"##;
    for family in ["anthropic", "openai"] {
        let (found, sent) = mended(family, schema);
        assert_eq!(found, ["choice"]);
        let properties = r#"{"q":{},"kind":{"anyOf":[{"const":"a"},{"const":"b"}]},"x":{}}"#;
        let begins = format!(
            r#"{{"type":"object","properties":{properties},"required":["q","kind"],"$defs""#
        );
        assert!(sent.starts_with(&begins), "{sent}");
    }
    assert_eq!(mended("gemini", schema).0, Vec::<String>::new());
    let (_, sent) = mended(
        "openai",
        r#"{"type":"object","allOf":[{"required":["a"],"properties":{"a":{}}},{"required":["b"],"properties":{"b":{}}}]}"#,
    );
    assert_eq!(
        sent,
        r#"{"type":"object","properties":{"a":{},"b":{}},"required":["a","b"]}"#
    );
    let endless = r##"{"type":"object","properties":{},"anyOf":[{"$ref":"#"}]}"##;
    assert_eq!(mended("openai", endless).0, ["choice"]);
}

#[test]
fn arguments_go_back_under_the_servers_own_names() {
    let schema = raw(r#"{"type":"object","properties":{"$filter":{},"a b":{},"c":{}}}"#);
    let fitted = fit(&schema, family("anthropic"));
    let own = fitted.restored(&raw(
        r#"{"c": 1.50, "_filter": {"_filter": 2}, "a_b": null, "$top": 3}"#,
    ));
    assert_eq!(
        own.get(),
        r#"{"c":1.50,"$filter":{"_filter": 2},"a b":null,"$top":3}"#
    );
}

#[test]
fn mending_twice_is_mending_once_and_long_keys_are_cut() {
    let long = "é".repeat(70);
    let schema = raw(&format!(
        r#"{{"anyOf":[{{"properties":{{"{long}":{{"items":[]}}}},"required":["{long}"]}}],"required":null}}"#
    ));
    for family in FAMILIES {
        let once = fit(&schema, family);
        let twice = fit(&once.schema, family);
        assert_eq!(
            (twice.findings.len(), twice.schema.get()),
            (0, once.schema.get()),
            "{}",
            family.name
        );
    }
}

#[test]
fn the_table_names_known_families_and_no_rule_twice() {
    let names: BTreeSet<&str> = RULES.iter().map(|rule| rule.name).collect();
    assert_eq!(names.len(), RULES.len());
    for rule in RULES {
        assert!(
            rule.families
                .iter()
                .all(|name| Family::named(name).is_some()),
            "{}",
            rule.name
        );
        assert!(
            !rule.refused.is_empty() && !rule.mend.is_empty(),
            "{}",
            rule.name
        );
        let page = include_str!("../../../../docs/providers.md");
        assert!(
            page.contains(rule.refused),
            "{} is not on the page",
            rule.name
        );
    }
}

fn tool(name: &str, schema: &str) -> CatalogueTool {
    let input_schema = serde_json::from_str(schema).ok();
    CatalogueTool {
        name: name.to_owned(),
        server: Some("s".to_owned()),
        input_schema,
        ..CatalogueTool::default()
    }
}

#[test]
fn the_setting_decides_and_a_matter_of_form_is_no_reason_to_leave_a_tool_out() {
    let catalogue = || {
        let choice = r#"{"type":"object","properties":{},"anyOf":[]}"#;
        vec![
            tool("plain", r#"{"type":"object"}"#),
            tool("choice", choice),
            tool("odd.name", "{}"),
        ]
    };
    let offer = |how| Offer::new(catalogue(), family("openai"), how);
    let mend = offer(ToolSchemas::Mend);
    assert_eq!(mend.names, ["s__plain", "s__choice", "s__odd_name"]);
    assert_eq!(
        mend.catalogue[1].mended,
        [
            "OpenAI refuses `anyOf`, `oneOf` or `allOf` at the top level: mcptest merges the choices into one object"
        ]
    );
    assert_eq!(mend.catalogue[2].mended.len(), 3);
    let omit = offer(ToolSchemas::Omit);
    assert_eq!(omit.names, ["s__plain", "s__odd_name"]);
    assert_eq!(omit.left_out[0].tool, "s.choice");
    assert_eq!(
        omit.left_out[0].why,
        "OpenAI refuses `anyOf`, `oneOf` or `allOf` at the top level"
    );
    let as_is = offer(ToolSchemas::AsIs);
    assert_eq!(as_is.fitted[2].schema.get(), "{}");
    assert!(as_is.left_out.is_empty() && as_is.catalogue[1].mended.is_empty());
}

#[test]
fn more_tools_than_are_taken_are_left_out_unless_they_are_sent_as_is() {
    let all: Vec<CatalogueTool> = (0..130).map(|at| tool(&format!("t{at}"), "{}")).collect();
    let count = |name, how| Offer::new(all.clone(), family(name), how).catalogue.len();
    assert_eq!(count("openai", ToolSchemas::Mend), 128);
    assert_eq!(count("openai", ToolSchemas::AsIs), 130);
    assert_eq!(count("anthropic", ToolSchemas::Mend), 130);
}
