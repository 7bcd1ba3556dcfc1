//! Does each parameter reach its provider, is it recorded, and are refused parameters reported
//! before recording?

use crate::bench::LiveFolder;
use mcptest_provider_stub::Logged;
use serde_json::{Value, json};

const MANIFEST: &str = "mock_server: { tools: [{ name: find }, { name: look }] }";

const SCRIPT: &str =
    "steps: [{ calls: [{ name: find }] }, { calls: [{ name: find }] }, { text: Found. }]";

/// A suite with these models and this more of the agent.
fn suite(models: &str, more: &str) -> String {
    format!(
        "
servers:
  docs: {{ mock: manifest.yml }}
agents:
  - name: finder
    models: [{models}]
    servers: [docs]
    prompt: Find it.
    cassette: 'r/{{model}}.jsonl'
    {more}
    expect: [{{ target: tool_names, matcher: {{ exact: [find, find] }} }}]
"
    )
}

fn bench(models: &str, more: &str) -> LiveFolder {
    LiveFolder::with(&suite(models, more), SCRIPT, MANIFEST)
}

fn record(models: &str, more: &str) -> (LiveFolder, Vec<Logged>) {
    let bench = bench(models, more);
    bench.record(&["--record", "--jobs", "1"], 0);
    let log = bench.stub.log();
    assert!(log.iter().all(|asked| asked.status == 200), "{log:?}");
    (bench, log)
}

/// An entry of `models:`, the expected entries of its first request, and the tool choice of the
/// second.
type Row = (
    &'static str,
    &'static [(&'static str, &'static str)],
    (&'static str, &'static str),
);

const ROWS: &[Row] = &[
    (
        "{ model: claude-sonnet-4-5, temperature: 0.5, tool_choice: find, extra: { top_k: 4 } }",
        &[
            ("/temperature", "0.5"),
            ("/tool_choice", r#"{"name":"docs__find","type":"tool"}"#),
            ("/top_k", "4"),
        ],
        ("/tool_choice", r#"{"type":"auto"}"#),
    ),
    (
        "{ model: claude-opus-4-8, reasoning_effort: xhigh }",
        &[
            ("/output_config/effort", r#""xhigh""#),
            ("/thinking", r#"{"type":"adaptive"}"#),
        ],
        ("/tool_choice", ""),
    ),
    (
        "{ model: gpt-5, reasoning_effort: minimal, tool_choice: required, extra: { service_tier: flex } }",
        &[
            ("/reasoning/effort", r#""minimal""#),
            ("/tool_choice", r#""required""#),
            ("/service_tier", r#""flex""#),
        ],
        ("/tool_choice", r#""auto""#),
    ),
    (
        "{ model: gpt-4.1, temperature: 0, top_p: 0.5, tool_choice: docs.find }",
        &[
            ("/top_p", "0.5"),
            ("/tool_choice", r#"{"name":"docs__find","type":"function"}"#),
        ],
        ("/tool_choice", r#""auto""#),
    ),
    (
        "{ model: gemini-2.5-pro, top_p: 0.5, seed: 7, reasoning_effort: high, tool_choice: find, extra: { generationConfig: { topK: 4 } } }",
        &[
            (
                "/generationConfig",
                r#"{"seed":7,"thinkingConfig":{"thinkingBudget":24576},"topK":4,"topP":0.5}"#,
            ),
            (
                "/toolConfig/functionCallingConfig",
                r#"{"allowedFunctionNames":["docs__find"],"mode":"ANY"}"#,
            ),
        ],
        ("/toolConfig/functionCallingConfig", r#"{"mode":"AUTO"}"#),
    ),
    (
        "{ model: mistral-large-latest, seed: 7, reasoning_effort: high, tool_choice: required }",
        &[
            ("/random_seed", "7"),
            ("/reasoning_effort", r#""high""#),
            ("/tool_choice", r#""any""#),
        ],
        ("/tool_choice", r#""auto""#),
    ),
];

fn shown(body: &Value, pointer: &str) -> String {
    body.pointer(pointer)
        .map(ToString::to_string)
        .unwrap_or_default()
}

#[test]
fn each_parameter_arrives_where_its_provider_has_it_and_what_is_required_is_so_until_the_first_results()
 {
    for (entry, expected, (pointer, then)) in ROWS {
        let (bench, log) = record(entry, "");
        for (pointer, value) in *expected {
            assert_eq!(
                shown(&log[0].body, pointer),
                *value,
                "{entry}: {pointer} in {}",
                log[0].text
            );
        }
        for later in &log[1..] {
            assert_eq!(
                shown(&later.body, pointer),
                *then,
                "{entry}: {}",
                later.text
            );
        }
        bench.replay(0);
    }
}

#[test]
fn a_provider_of_ones_own_is_given_them_in_the_dialect_that_it_speaks() {
    let bench = bench(
        "{ provider: local, id: llama3, seed: 7, temperature: 0, reasoning_effort: low, tool_choice: none }",
        "",
    );
    let own = format!(
        "providers: {{ local: {{ type: openai, base_url: '{}/v1' }} }}\n{}",
        bench.stub.url(),
        bench.read("suite.yml")
    );
    bench.write("suite.yml", &own);
    bench.record(&["--record"], 0);
    let log = bench.stub.log();
    let keys = ["seed", "temperature", "reasoning_effort", "tool_choice"];
    let sent = keys.map(|key| log[2].body[key].clone());
    assert_eq!(
        sent,
        [json!(7), json!(0.0), json!("low"), json!("none")],
        "`none` holds to the end"
    );
}

#[test]
fn the_value_of_a_model_comes_before_that_of_the_agent_and_a_change_makes_the_recording_stale() {
    let models = "gpt-4.1, { model: gpt-4o, temperature: 0.9, extra: {} }";
    let (bench, log) = record(
        models,
        "temperature: 0.1\n    extra: { service_tier: flex }",
    );
    let sent = |at: usize| {
        (
            log[at].body["temperature"].as_f64(),
            log[at].body["service_tier"].as_str(),
        )
    };
    assert_eq!(sent(0), (Some(0.1), Some("flex")));
    assert_eq!(sent(3), (Some(0.9), None));
    let (header, _) = bench.cassette("r/gpt-4o.jsonl");
    assert_eq!(
        header["parameters"],
        json!({ "temperature": 0.9, "extra": {} })
    );
    let changed = bench
        .read("suite.yml")
        .replace("temperature: 0.9", "temperature: 0.8");
    bench.write("suite.yml", &changed);
    let ran = bench.replay(2);
    ran.says("parameters.temperature: recorded 0.9, now 0.8");
    assert_eq!(
        ran.stdout.matches("recorded 0.9").count(),
        1,
        "the other model is not touched: {}",
        ran.stdout
    );
}

#[test]
fn a_suite_that_sets_nothing_is_recorded_without_parameters_and_caching_is_one_only_when_it_is_off()
{
    let (bench, log) = record("claude-sonnet-4-5", "system_prompt: Be brief.");
    let marks = |asked: &Logged| {
        asked
            .text
            .matches(r#""cache_control":{"type":"ephemeral"}"#)
            .count()
    };
    assert_eq!(log.iter().map(marks).collect::<Vec<_>>(), [3, 3, 3]);
    let last = log[2].body.pointer("/messages/4/content/0").unwrap();
    assert!(
        last.get("cache_control").is_some(),
        "the mark is at the end of the conversation: {last}"
    );
    let (header, _) = bench.cassette("r/claude-sonnet-4-5.jsonl");
    assert_eq!(header["parameters"], json!({}), "{header}");
    let (bench, log) = record("claude-sonnet-4-5", "prompt_caching: false");
    assert_eq!(log.iter().map(marks).sum::<usize>(), 0);
    let (header, _) = bench.cassette("r/claude-sonnet-4-5.jsonl");
    assert_eq!(header["parameters"], json!({ "prompt_caching": false }));
}

/// The refused parameters: mcptest's message before the first call, and the provider's message if
/// the request is sent anyway.
const REFUSED: &[(&str, &str, &str, &str, &str)] = &[
    (
        "anthropic",
        "claude-opus-4-7",
        "temperature: 0.5",
        "Claude from 4.7 on accepts no sampling parameters",
        "`temperature` is deprecated for this model.",
    ),
    (
        "anthropic",
        "claude-sonnet-4-5",
        "temperature: 0.5, top_p: 0.5",
        "Claude from 4.1 on accepts `temperature` or `top_p`, not both",
        "`temperature` and `top_p` cannot both be specified for this model.",
    ),
    (
        "anthropic",
        "claude-sonnet-4-5",
        "temperature: 1.5",
        "its provider accepts numbers up to 1",
        "temperature: range: 0..1",
    ),
    (
        "anthropic",
        "claude-sonnet-4-5",
        "reasoning_effort: low",
        "Claude accepts it from Opus 4.5 and Sonnet 4.6 on",
        "This model does not support the effort parameter.",
    ),
    (
        "anthropic",
        "claude-sonnet-4-6",
        "reasoning_effort: low, tool_choice: required",
        "a Claude model that thinks cannot be made to call a tool",
        "Thinking may not be enabled when tool_choice forces tool use.",
    ),
    (
        "openai-responses",
        "gpt-5",
        "temperature: 0.5",
        "a reasoning model chooses its own sampling",
        "Unsupported parameter: 'temperature' is not supported with this model.",
    ),
    (
        "openai",
        "o4-mini",
        "top_p: 0.5",
        "a reasoning model chooses its own sampling",
        "Unsupported parameter: 'top_p' is not supported with this model.",
    ),
    (
        "openai-responses",
        "gpt-4.1",
        "reasoning_effort: low",
        "the model does not reason",
        "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
    ),
    (
        "gemini",
        "gemini-2.5-pro",
        "reasoning_effort: none",
        "thinking cannot be turned off for this model",
        "Budget 0 is invalid. This model only works in thinking mode.",
    ),
    (
        "mistral",
        "mistral-large-latest",
        "temperature: 2",
        "its provider accepts numbers up to 1.5",
        "temperature: Input should be less than or equal to 1.5",
    ),
];

#[test]
fn what_a_model_refuses_is_told_before_the_first_call_and_a_gateway_is_only_warned_of() {
    for (kind, model, parameters, ours, theirs) in REFUSED {
        let bench = bench(
            &format!("{{ provider: given, id: {model}, {parameters} }}"),
            "",
        );
        let text = bench.read("suite.yml");
        bench.write(
            "suite.yml",
            &format!("providers: {{ given: {{ type: {kind} }} }}\n{text}"),
        );
        for words in [
            &["validate", "suite.yml"][..],
            &["run", "suite.yml"],
            &["run", "suite.yml", "--dry-run"],
        ] {
            let ran = bench.run(words);
            assert_eq!(ran.exit, Some(2), "{model} {parameters}: {}", ran.stdout);
            ran.says(ours);
        }
        assert_eq!(bench.stub.count(), 0);
        let gateway = format!(
            "providers: {{ given: {{ type: {kind}, base_url: '{}' }} }}\n",
            bench.stub.url()
        );
        bench.write(
            "suite.yml",
            &format!("{gateway}{text}")
                .replace("base_url", "api_key_env: MISTRAL_API_KEY, base_url"),
        );
        let ran = bench.run(&["run", "suite.yml", "--record"]);
        ran.says("warning").says(ours).says(theirs);
    }
}

#[test]
fn models_of_the_command_line_are_held_to_the_same() {
    let bench = bench("gpt-4.1", "temperature: 0.5");
    let ran = bench.run(&["run", "suite.yml", "--models", "gpt-5", "--record"]);
    assert_eq!((ran.exit, bench.stub.count()), (Some(2), 0));
    ran.says("`gpt-5`: `temperature` is refused");
}

#[test]
fn a_tool_that_nobody_offers_cannot_be_chosen() {
    let bench = bench("gpt-4.1", "tool_choice: fnd");
    let ran = bench.run(&["validate", "suite.yml"]);
    assert_eq!(ran.exit, Some(2));
    ran.says("did you mean `find`?");
    let live = bench.read("suite.yml").replace(
        "mock: manifest.yml",
        "command: [./server, mock, --tools-from, manifest.yml]",
    );
    bench.write("suite.yml", &live);
    let ran = bench.run(&["run", "suite.yml", "--record"]);
    assert_eq!(
        (ran.exit, bench.stub.count()),
        (Some(2), 0),
        "{}",
        ran.stdout
    );
    ran.says("the model has no tool `fnd`; did you mean `find`?");
}
