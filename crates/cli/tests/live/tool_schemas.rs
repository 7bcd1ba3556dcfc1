//! Tool schemas that a provider refuses: are they rewritten, reported and recorded, or refused with
//! `as-is`?

use crate::bench::LiveFolder;
use serde_json::{Value, json};

/// A provider, a schema, the model's call, and the provider's refusal.
type Row = (&'static str, &'static str, &'static str, &'static str);

const ROWS: &[Row] = &[
    (
        "claude-sonnet-4-5",
        "{type: object, anyOf: [{properties: {z: {type: string}}}, {properties: {a: {type: string}}}]}",
        "z",
        "input_schema does not support oneOf, allOf, or anyOf at the top level (tool number 1 is `docs.find`)",
    ),
    (
        "claude-sonnet-4-5",
        "{type: object, properties: {z: {type: array, items: [{type: string}]}}}",
        "z",
        "JSON schema is invalid. It must match JSON Schema draft 2020-12",
    ),
    (
        "claude-sonnet-4-5",
        "{type: object, properties: {z: {type: number, minimum: 0, exclusiveMinimum: true}}}",
        "z",
        "tools.1.custom.input_schema: JSON schema is invalid.",
    ),
    (
        "claude-sonnet-4-5",
        "{type: object, properties: {z: {}}, required: null}",
        "z",
        "(tool number 1 is `docs.find`)",
    ),
    (
        "claude-sonnet-4-5",
        "{type: object, properties: {$filter: {type: string}}}",
        "_filter",
        "Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$' (tool number 1 is `docs.find`)",
    ),
    (
        "gpt-5",
        "{type: object, properties: {z: {}}, oneOf: [{required: [z]}]}",
        "z",
        "Invalid schema for function 'docs__find': schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'",
    ),
    (
        "gpt-5",
        "{type: object, properties: {z: {type: array}}}",
        "z",
        "array schema missing items",
    ),
    (
        "gpt-5",
        "{type: object}",
        "z",
        "object schema missing properties",
    ),
    (
        "gpt-5",
        "{type: object, properties: {z: {maximum: 9, exclusiveMaximum: true}}}",
        "z",
        "True is not of type 'number'",
    ),
    (
        "gpt-5",
        "{type: object, properties: {z: {}}, required: null}",
        "z",
        "None is not of type 'array'",
    ),
    (
        "gemini-2.5-pro",
        "{$schema: 'http://json-schema.org/draft-07/schema#', type: object, properties: {z: {}}}",
        "z",
        "Cannot find field. (tool number 1 is `docs.find`)",
    ),
    (
        "gemini-2.5-pro",
        "{type: object, properties: {z: {type: array}}}",
        "z",
        "items: missing field.",
    ),
    (
        "mistral-large-latest",
        "{type: object, properties: {z: {minimum: 1, exclusiveMinimum: false}}}",
        "z",
        "Invalid tool schema: False is not of type 'number'",
    ),
];

fn bench(&(model, schema, argument, _): &Row) -> LiveFolder {
    let suite = format!(
        "
servers:
  docs: {{ mock: manifest.yml }}
agents:
  - name: mended
    model: {model}
    servers: [docs]
    prompt: Find it.
    cassette: mended.jsonl
    expect: [{{ target: tool_names, matcher: {{ exact: [find] }} }}]
  - name: raw
    model: {model}
    servers: [docs]
    prompt: Find it as it is.
    tool_schemas: as-is
    cassette: raw.jsonl
    expect: [{{ target: tool_names, matcher: {{ exact: [find] }} }}]
"
    );
    let script = format!(
        "steps: [{{ calls: [{{ name: find, args: {{ {argument}: x }} }}] }}, {{ text: Found. }}]"
    );
    let manifest = format!(
        "
mock_server:
  tools:
    - {{ name: first, input_schema: {{ type: object, properties: {{}} }} }}
    - {{ name: find, validate_input: false, input_schema: {schema} }}
"
    );
    LiveFolder::with(&suite, &script, &manifest)
}

#[test]
fn each_row_is_a_run_that_is_judged_and_as_it_is_the_error_of_the_provider() {
    for row in ROWS {
        let (model, schema, argument, words) = row;
        let bench = bench(row);
        let ran = bench.record(&["--record", "--filter", "mended"], 0);
        let (header, traces) = bench.cassette("mended.jsonl");
        let own = argument.replace("_filter", "$filter");
        assert_eq!(
            traces[&1]["tool_calls"][0]["args"],
            json!({ own: "x" }),
            "{schema}: {}",
            ran.stdout
        );
        let mended = &header["catalogue"][1]["mended"];
        assert!(
            mended[0]
                .as_str()
                .is_some_and(|said| said.contains(" refuses ")),
            "{schema}: {mended}"
        );
        assert_eq!(header["catalogue"][0].get("mended"), None);
        assert_eq!(
            bench.record(&["--filter", "mended"], 0).stdout,
            ran.stdout,
            "it is not stale"
        );
        let ran = bench.run(&["run", "suite.yml", "--record", "--filter", "raw"]);
        assert_eq!(ran.exit, Some(2), "{model} {schema}: {}", ran.stdout);
        let said = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(words), "{model} {schema}: {said}");
        assert!(
            said.contains("`tool_schemas: mend` rewrites the schema"),
            "{model} {schema}: {said}"
        );
    }
}

#[test]
fn omit_leaves_the_tool_out_and_says_so_before_and_after() {
    let row = &ROWS[0];
    let bench = bench(row);
    let suite = bench
        .read("suite.yml")
        .replace("as-is", "omit")
        .replace("[find]", "[]");
    bench.write("suite.yml", &suite);
    let said = bench.run(&["validate", "suite.yml"]).stderr;
    let why = "`docs.find`: Anthropic refuses `anyOf`, `oneOf` or `allOf` at the top level";
    assert!(
        said.contains(&format!(
            "note: {why}: mcptest merges the choices into one object\n"
        )),
        "{said}"
    );
    assert!(
        said.contains(&format!(
            "note: {why}: the tool is omitted (`tool_schemas: omit`)\n"
        )),
        "{said}"
    );
    let said = bench
        .run(&["run", "suite.yml", "--dry-run", "--filter", "raw"])
        .stdout;
    assert!(
        said.contains(&format!("{why}: the tool is omitted")),
        "{said}"
    );
    bench.run(&["run", "suite.yml", "--record", "--filter", "raw"]);
    let (header, _) = bench.cassette("raw.jsonl");
    assert_eq!(
        header["catalogue"].as_array().map(Vec::len),
        Some(1),
        "{header}"
    );
    assert_eq!(
        header["left_out"]["docs.find"],
        why.replace("`docs.find`: ", "")
    );
    assert_eq!(header["parameters"]["tool_schemas"], "omit");
    let shown = bench.run(&["show", "raw.jsonl"]).stdout;
    assert!(
        shown.contains("skipped     docs.find: Anthropic refuses"),
        "{shown}"
    );
}

const ORDER: &str = "{type: object, properties: {zone: {type: string}, area: {minimum: 1.50}, city: {enum: [b, a]}}, required: [zone]}";

#[test]
fn a_schema_keeps_its_order_on_the_way_to_every_model_and_into_the_recording() {
    for model in crate::bench::models() {
        let bench = bench(&(model, ORDER, "zone", ""));
        bench.record(&["--record", "--filter", "mended"], 0);
        let asked = bench.stub.log()[0].text.clone();
        let places = |text: &str| {
            ["\"zone\"", "\"area\"", "\"city\""].map(|key| text.find(key).unwrap_or(usize::MAX))
        };
        assert!(places(&asked).is_sorted(), "{model}: {asked}");
        let recorded = bench.read("mended.jsonl");
        assert!(places(&recorded).is_sorted(), "{model}: {recorded}");
    }
}

const VIEW: &str = "
servers:
  docs: { mock: manifest.yml }
agents:
  - name: told
    model: MODEL
    servers: [docs]
    system_prompt: Be brief.
    prompt: Read it.
    max_result_chars: 40
    cassette: told.jsonl
    expect: [{ target: tool_names, matcher: { exact: [read, listen] } }]
  - name: untold
    model: MODEL
    servers: [docs]
    prompt: Read it untold.
    instructions: false
    cassette: untold.jsonl
    expect: [{ target: tool_names, matcher: { exact: [read, listen] } }]
";

const LONG: &str = "
mock_server:
  instructions: Search before you read.
  tools:
    - { name: read, response: { content: [{ type: resource, resource: { uri: 'docs://long', text: LONG } }] } }
    - { name: listen, response: { content: [{ type: audio, data: aGVsbG8=, mime_type: audio/wav }] } }
";

#[test]
fn a_model_is_told_what_hosts_tell_it_and_the_recording_keeps_all() {
    let long = "é".repeat(100);
    let script = "steps: [{ calls: [{ name: read }, { name: listen }] }, { text: Done. }]";
    for model in crate::bench::models() {
        let bench = LiveFolder::with(
            &VIEW.replace("MODEL", model),
            script,
            &LONG.replace("LONG", &long),
        );
        bench.record(&["--record", "--jobs", "1"], 0);
        let log = bench.stub.log();
        let section =
            r"Be brief.\n\n# Instructions of the MCP servers\n\n## docs\n\nSearch before you read.";
        assert!(log[0].text.contains(section), "{model}: {}", log[0].text);
        let cut = format!(r"[resource docs://long]\n{}\n[cut off: ", "é".repeat(17));
        assert!(log[1].text.contains(&cut), "{model}: {}", log[1].text);
        assert!(
            log[1].text.contains("[audio: audio/wav, 5 bytes]"),
            "{model}: {}",
            log[1].text
        );
        assert!(!log[2].text.contains("Search before you read."), "{model}");
        assert!(log[3].text.contains(&long), "{model}");
        let (header, traces) = bench.cassette("told.jsonl");
        assert_eq!(
            header["instructions"],
            json!({ "docs": "Search before you read." })
        );
        assert_eq!(
            traces[&1]["tool_results"][0]["content"][0]["resource"]["text"],
            long
        );
        let (header, _) = bench.cassette("untold.jsonl");
        assert_eq!(
            (
                header.get("instructions"),
                &header["parameters"]["instructions"]
            ),
            (None, &Value::Bool(false))
        );
        bench.replay(0);
    }
}
