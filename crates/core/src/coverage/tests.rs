//! What counts as covered, and what does not?

use super::{Coverage, Exercised, parameters};
use crate::judge::{Recorded, RecordedRun, RecordedRuns};
use crate::suite::{Host, Suite, load};
use crate::trace::{Header, Trace};
use serde_json::{Value, json};
use std::path::Path;

fn suite(text: &str) -> Suite {
    let read = |_: &Path| Ok(text.as_bytes().to_vec());
    load(Path::new("mcptest.yml"), &Host::new(&read, &|_| None))
        .suite
        .unwrap()
}

const AGENT: &str = "servers: { shop: { command: [shop] } }\nagents: [{ name: a, model: m, servers: [shop], prompt: p }]";

fn coverage(catalogue: Option<&Value>, trace: &Value, threshold: Option<usize>) -> Coverage {
    let suite = suite(AGENT);
    let text = trace.to_string();
    let trace = Trace::read(&text).unwrap();
    let header: Header = serde_json::from_value(json!({
        "format": "mcptest-cassette", "version": 1, "agent": "a", "catalogue": catalogue,
    }))
    .unwrap();
    let run = RecordedRun {
        number: 1,
        trace: Ok(&trace),
        source: None,
        line: None,
        header: Some(&header),
    };
    let recorded = Recorded::Runs(RecordedRuns {
        runs: vec![run],
        headers: vec![&header],
        ..RecordedRuns::default()
    });
    let mut all = Exercised::default();
    all.merge(Exercised::from_row(&suite.rows()[0], &recorded));
    all.into_coverage(threshold)
}

fn tool(name: &str, schema: &Value) -> Value {
    json!({ "name": name, "server": "shop", "input_schema": schema })
}

fn found(schema: &Value) -> Vec<String> {
    let with_values = |(name, values): (String, std::collections::BTreeSet<String>)| {
        if values.is_empty() {
            name
        } else {
            format!(
                "{name}={}",
                values.into_iter().collect::<Vec<_>>().join("|")
            )
        }
    };
    parameters(schema).into_iter().map(with_values).collect()
}

#[test]
fn parameters_and_values_are_found_through_references_branches_and_lists() {
    let schema = json!({
        "properties": {
            "unit": { "anyOf": [{ "$ref": "#/$defs/Unit" }, { "type": "null" }] },
            "dry": { "type": "boolean" },
            "level": { "oneOf": [{ "const": 1 }, { "const": 2 }] },
            "items": { "type": "array", "items": { "properties": { "sku": { "type": "string" } } } },
            "tags": { "type": "array", "items": { "enum": ["a", "b"] } },
            "tree": { "$ref": "#/$defs/Tree" },
        },
        "$defs": {
            "Unit": { "enum": ["c", "f"] },
            "Tree": { "properties": { "name": {}, "child": { "$ref": "#/$defs/Tree" } } },
        },
    });
    assert_eq!(
        found(&schema),
        [
            "dry=false|true",
            "items",
            "items.sku",
            "level=1|2",
            "tags=a|b",
            "tree",
            "tree.child",
            "tree.name",
            "unit=c|f"
        ]
    );
    assert_eq!(found(&json!(true)), Vec::<String>::new());
}

#[test]
fn a_schema_that_its_references_blow_up_is_left_after_so_many_parts() {
    let twice =
        |name: &str| json!({ "properties": { "a": { "$ref": name }, "b": { "$ref": name } } });
    let defs: serde_json::Map<String, Value> = (0..40)
        .map(|at| (format!("d{at}"), twice(&format!("#/$defs/d{}", at + 1))))
        .collect();
    let schema = json!({ "$ref": "#/$defs/d0", "$defs": defs });
    assert!(parameters(&schema).len() <= super::surface::MOST_PARTS);
}

#[test]
fn calls_cover_what_they_give_and_end_in() {
    let schema = json!({ "properties": { "sku": {}, "size": { "enum": ["s", "l"] }, "to": { "properties": { "city": {} } } } });
    let catalogue = json!([tool("buy", &schema), tool("sell", &json!({})), { "name": "bait", "distractor": true }]);
    let trace = json!({
        "tool_calls": [
            { "name": "buy", "server": "shop", "args": { "size": "l", "to": { "city": "Oslo" }, "made_up": 1 } },
            { "name": "shop__buy", "args": { "size": "xl" } },
            { "name": "steal", "server": "shop" },
            { "name": "bait", "distractor": true },
        ],
        "tool_results": [{ "is_error": false }, { "is_error": true }, { "is_error": true }, {}],
    });
    let coverage = coverage(Some(&catalogue), &trace, Some(50));
    let shares = [
        coverage.tools,
        coverage.parameters,
        coverage.values,
        coverage.successes,
        coverage.errors,
    ];
    assert_eq!(
        shares.map(|share| share.to_string()),
        ["1 of 2", "3 of 4", "1 of 2", "1 of 2", "1 of 2"]
    );
    assert_eq!(
        (coverage.percent, coverage.unlisted_calls, coverage.miss()),
        (Some(50), 1, None)
    );
    assert_eq!(coverage.servers[0].tools[0].gaps(), ["sku", "size=s"]);
    assert_eq!(
        coverage.servers[0].tools[1].gaps(),
        ["a success", "an error"]
    );
}

#[test]
fn what_an_injected_fault_did_is_not_the_server() {
    let trace = json!({
        "tool_calls": [{ "name": "buy", "server": "shop" }],
        "tool_results": [{ "is_error": true }],
        "faults": [{ "name": "hang@1", "kind": "hang", "call_index": 0, "detected": true }],
    });
    let coverage = coverage(Some(&json!([tool("buy", &json!({}))])), &trace, None);
    assert_eq!((coverage.percent, coverage.errors.covered), (Some(0), 0));
}

#[test]
fn a_tool_that_the_server_does_not_have_is_not_covered_by_a_call() {
    let trace = json!({
        "tool_calls": [{ "name": "buy", "server": "shop" }],
        "tool_results": [{ "is_error": true, "error": { "code": -32601, "message": "Method not found" } }],
    });
    let coverage = coverage(Some(&json!([tool("buy", &json!({}))])), &trace, None);
    assert_eq!((coverage.percent, coverage.errors.covered), (Some(0), 0));
}

#[test]
fn without_a_catalogue_nothing_is_measured_and_that_is_a_miss() {
    let trace = json!({ "tool_calls": [{ "name": "buy", "server": "shop" }] });
    let unmeasured = coverage(None, &trace, Some(1));
    assert_eq!((unmeasured.percent, unmeasured.unlisted_calls), (None, 0));
    assert_eq!(unmeasured.unmeasured, ["shop"]);
    assert!(
        unmeasured
            .miss()
            .unwrap()
            .starts_with("nothing was measured")
    );
    let low = coverage(
        Some(&json!([tool("a", &json!({})), tool("buy", &json!({}))])),
        &trace,
        Some(51),
    );
    assert_eq!(
        low.miss().unwrap(),
        "50% of the tools were called; the threshold is 51%"
    );
}
