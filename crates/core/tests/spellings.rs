//! Does every place of a suite that takes a tool's name recognise the tool in every spelling of
//! hosts?

use mcptest_core::suite::json_schema;
use mcptest_core::{Host, Recorded, Status, TestReport, Trace, judge, load};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

/// Unambiguous spellings of `delete_page` of the declared server `docs`.
const CERTAIN: [&str; 13] = [
    "docs__delete_page",
    "docs___delete_page",
    "docs--delete_page",
    "docs::delete_page",
    "docs:delete_page",
    "docs.delete_page",
    "docs/delete_page",
    "mcp__docs__delete_page",
    "mcp--docs--delete_page",
    "mcp_docs_delete_page",
    "mcp.docs.delete_page",
    "@docs/delete_page",
    "delete_page_mcp_docs",
];

/// Ambiguous spellings: another case or separator, a separator that tools have in their own names,
/// an undeclared server, or several of these.
const DOUBTFUL: [&str; 30] = [
    "deletePage",
    "DeletePage",
    "DELETE_PAGE",
    "delete-page",
    "docs__deletePage",
    "mcp__docs__Delete_Page",
    "docs_delete_page",
    "docs-delete_page",
    "Docs_delete_page",
    "hub__delete_page",
    "hub::delete_page",
    "hub:delete_page",
    "hub.delete_page",
    "hub/delete_page",
    "hub--delete_page",
    "mcp_hub_delete_page",
    "mcp__hub__delete_page",
    "@hub/delete_page",
    "delete_page_mcp_hub",
    "docs_deletePage",
    "docs-delete-page",
    "docsDeletePage",
    "DocsDeletePage",
    "docs delete_page",
    "docs|delete_page",
    "hub__deletePage",
    "hub.DeletePage",
    "hub|delete_page",
    "mcp_hub_deletePage",
    "deletePage_mcp_hub",
];

/// Gates with every key that takes a tool's name, here `TOOL`.
const PLACES: &[(&str, &str)] = &[
    ("trajectory", "{ mode: unordered, calls: [TOOL] }"),
    (
        "trajectory",
        "{ mode: strict, calls: [{ name: TOOL, args: { exact: { id: a } } }] }",
    ),
    ("trajectory", "{ mode: subset, among: [TOOL], calls: [] }"),
    (
        "trajectory",
        "{ mode: unordered, among: [TOOL], calls: [TOOL] }",
    ),
    (
        "trajectory_axes",
        "{ dependencies: [{ producer: TOOL, consumer: search }] }",
    ),
    (
        "trajectory_axes",
        "{ dependencies: [{ producer: search, consumer: TOOL }] }",
    ),
    (
        "trajectory_axes",
        "{ order: [{ first: TOOL, second: search }] }",
    ),
    (
        "trajectory_axes",
        "{ order: [{ first: search, second: TOOL }] }",
    ),
    ("golden_path", "{ calls: [TOOL] }"),
    (
        "recovery",
        "{ max_detection_ms: 1, max_recovery_ms: 1, recovered_by: [TOOL] }",
    ),
    ("narrative", "{ mutating_tools: [TOOL] }"),
    ("narrative", "{ readonly_tools: [TOOL] }"),
    (
        "tool_selection",
        "{ expected_tool: TOOL, min_selection_rate: 0.5 }",
    ),
    (
        "equal_function_sets",
        "{ classes: [{ name: c, members: [TOOL] }] }",
    ),
    (
        "token_efficiency",
        "{ classes: [{ name: c, members: [TOOL] }] }",
    ),
    ("discovery", "{ classes: [{ name: c, members: [TOOL] }] }"),
    (
        "orchestration",
        "{ classes: [{ name: c, members: [TOOL] }] }",
    ),
    (
        "distractors",
        "{ count: 2, source: { from: catalog }, correct: [TOOL] }",
    ),
    (
        "distractors",
        "{ count: 2, source: { from: near_duplicate, of: TOOL }, correct: [search] }",
    ),
    ("tool_edges", "{ restricted: [TOOL] }"),
    (
        "tool_edges",
        "{ restricted: [{ name: TOOL, args: { exact: { id: a } } }] }",
    ),
    ("tool_edges", "{ allowed: [TOOL], closed: true }"),
    ("scenario", "{ forbidden: [{ tool: TOOL, reason: no }] }"),
    (
        "scenario",
        "{ refusal: true, transitions: [{ tool: TOOL, effect: { set: { a: 1 } } }] }",
    ),
    (
        "scenario",
        "{ golden: { calls: [] }, transitions: [{ tool: TOOL, effect: { set: { a: 1 } } }] }",
    ),
    (
        "scenario",
        "{ golden: { calls: [TOOL] }, transitions: [{ tool: TOOL, effect: { set: { a: 1 } } }] }",
    ),
    (
        "scenario",
        "{ golden: { calls: [{ tool: TOOL, args: { id: a } }] }, transitions: [{ tool: TOOL, effect: { set: { a: 1 } } }] }",
    ),
    (
        "scenario",
        "{ golden: { calls: [search], alternates: [[TOOL]] }, transitions: [{ tool: TOOL, effect: { set: { a: 1 } } }, { tool: search, effect: { set: { a: 1 } } }] }",
    ),
    (
        "scenario",
        "{ golden: { calls: [search], alternates: [[{ tool: TOOL }]] }, transitions: [{ tool: TOOL, effect: { set: { a: 1 } } }, { tool: search, effect: { set: { a: 1 } } }] }",
    ),
    (
        "scenario",
        "{ escalation: { tool: TOOL, expected: false } }",
    ),
];

/// Gates that look up their names among the offered tools, never among recorded calls.
const NOT_OF_CALLS: [&str; 1] = ["ablate"];

fn judged(gate: &str, block: &str, written: &str, call: &Value) -> TestReport {
    let block = block.replace("TOOL", written);
    let text = format!(
        "servers:\n  docs: {{ command: [docs-server] }}\nagents:\n  - name: t\n    model: m\n    \
         servers: [docs]\n    prompt: go\n    expect: [{{ target: tool_names, matcher: {{ length: {{ gte: 1 }} }} }}]\n    \
         {gate}: {block}\n"
    );
    let read = |_: &Path| Ok(text.as_bytes().to_vec());
    let loaded = load(Path::new("suite.yml"), &Host::new(&read, &|_| None));
    let suite = loaded
        .suite
        .unwrap_or_else(|| panic!("{text}\n{:?}", loaded.problems));
    let run = json!({
        "tool_calls": [call],
        "tool_results": [{"call_index": 0, "is_error": false}],
        "final_response": "I have deleted page a.",
    });
    let run = run.to_string();
    let trace = Trace::read(&run).unwrap_or_else(|problem| panic!("{problem}"));
    let traces = [trace];
    let mut report = judge(&suite, &[("t".into(), Recorded::from_traces(&traces))]);
    report.tests.remove(0)
}

fn recorded(name: &str) -> Value {
    json!({"name": name, "args": {"id": "a"}})
}

#[test]
fn a_certain_spelling_gives_the_same_findings_everywhere() {
    for (gate, block) in PLACES {
        for written in ["delete_page", "docs.delete_page", "docs__delete_page"] {
            let known = json!({"name": "delete_page", "server": "docs", "args": {"id": "a"}});
            let expected = json!(judged(gate, block, written, &known).gates);
            for spelling in CERTAIN {
                let found = json!(judged(gate, block, written, &recorded(spelling)).gates);
                assert_eq!(found, expected, "{gate}: {block}: {written}: {spelling}");
            }
        }
    }
}

#[test]
fn a_doubtful_spelling_never_passes_unmarked() {
    for (gate, block) in PLACES {
        for spelling in DOUBTFUL {
            let report = judged(gate, block, "delete_page", &recorded(spelling));
            let judged = &report.gates[0];
            assert!(
                judged.status != Status::Passed || judged.not_exercised.is_some(),
                "{gate}: {block}: {spelling}"
            );
        }
    }
}

#[test]
fn another_tool_is_never_taken_for_it() {
    for other in [
        "docs__undelete_page",
        "soft_delete_page",
        "delete_pages",
        "mcp_docs_soft_delete_page",
    ] {
        for block in [
            "{ restricted: [delete_page] }",
            "{ restricted: [docs.delete_page] }",
        ] {
            let report = judged("tool_edges", block, "", &recorded(other));
            assert_eq!(report.gates[0].status, Status::Passed, "{block}: {other}");
            assert_eq!(report.gates[0].not_exercised, None, "{block}: {other}");
        }
    }
}

/// The places below a part of the schema that take a tool's name, such as `calls[].name`, following
/// definitions.
fn places_for_tools(
    node: &Value,
    schema: &Value,
    place: &str,
    within: &[&str],
) -> BTreeSet<String> {
    if node["pattern"] == "^[^*]*$" {
        return BTreeSet::from([place.to_owned()]);
    }
    let mut found = BTreeSet::new();
    let mut walk = |part: &Value, place: &str, within: &[&str]| {
        found.extend(places_for_tools(part, schema, place, within));
    };
    if let Some(pointer) = node["$ref"].as_str()
        && !within.contains(&pointer)
    {
        let target = schema.pointer(pointer.trim_start_matches('#'));
        let target = target.unwrap_or_else(|| panic!("{pointer} leads nowhere"));
        walk(target, place, &[within, &[pointer]].concat());
    }
    for (key, part) in node["properties"].as_object().into_iter().flatten() {
        walk(part, &format!("{place}.{key}"), within);
    }
    for alternatives in ["anyOf", "oneOf", "allOf"] {
        for part in node[alternatives].as_array().into_iter().flatten() {
            walk(part, place, within);
        }
    }
    if let Some(part) = node.get("items") {
        walk(part, &format!("{place}[]"), within);
    }
    found
}

/// The places of a block with `TOOL`.
fn places_of_tool(node: &Value, place: &str) -> BTreeSet<String> {
    match node {
        Value::String(text) if text == "TOOL" => BTreeSet::from([place.to_owned()]),
        Value::Array(items) => {
            let item = |item| places_of_tool(item, &format!("{place}[]"));
            items.iter().flat_map(item).collect()
        }
        Value::Object(members) => {
            let member = |(key, member)| places_of_tool(member, &format!("{place}.{key}"));
            members.iter().flat_map(member).collect()
        }
        _ => BTreeSet::new(),
    }
}

#[test]
fn every_place_of_a_gate_that_takes_a_tool_is_in_the_table() {
    let schema = json_schema(mcptest_core::eval::GATES);
    let gates = &schema["properties"]["agents"]["items"];
    let agent = places_for_tools(gates, &schema, "", &[]);
    let is_of_gate = |place: &&String| {
        let mut parts = place.trim_start_matches('.').split(['.', '[']);
        let key = parts.next().unwrap();
        !NOT_OF_CALLS.contains(&key) && mcptest_core::eval::GATES.iter().any(|kind| kind.key == key)
    };
    let known: BTreeSet<String> = agent.iter().filter(is_of_gate).cloned().collect();
    assert!(!known.is_empty());
    let tried = PLACES.iter().flat_map(|(gate, block)| {
        let block = mcptest_core::yaml::parse(block, 0, &mut Vec::new()).unwrap();
        places_of_tool(&json!(*block), &format!(".{gate}"))
    });
    assert_eq!(tried.collect::<BTreeSet<_>>(), known);
}
