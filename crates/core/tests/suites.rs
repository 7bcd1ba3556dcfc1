//! What does a suite file become, together with the files it imports?

#![allow(clippy::unwrap_used, missing_docs)]

use mcptest_core::fault::FaultKind;
use mcptest_core::problem::Level;
use mcptest_core::suite::{
    CassettePath, Endpoint, HeaderValue, Host, Loaded, Stale, Suite, load, load_for_traces,
};
use mcptest_redact::Redactor;
use std::collections::BTreeMap;
use std::path::Path;

/// Loads the first of these files, with only `CITY` in the environment.
fn load_files(files: &[(&str, &str)]) -> Loaded {
    let by_path: BTreeMap<&str, &str> = files.iter().copied().collect();
    let read = |path: &Path| {
        let text = by_path.get(path.to_str().unwrap()).ok_or("no such file")?;
        Ok(text.as_bytes().to_vec())
    };
    let environment = |name: &str| (name == "CITY").then(|| "Oslo".to_owned());
    load(Path::new(files[0].0), &Host::new(&read, &environment))
}

fn suite(files: &[(&str, &str)]) -> Suite {
    let loaded = load_files(files);
    assert!(!loaded.is_refused(), "{:#?}", loaded.problems);
    loaded.suite.unwrap()
}

/// `file:line:column: message` of every error.
fn errors(files: &[(&str, &str)]) -> Vec<String> {
    let loaded = load_files(files);
    let errors = loaded
        .problems
        .iter()
        .filter(|problem| problem.level == Level::Error);
    errors
        .map(|problem| {
            let position = loaded.sources.position(problem.span.unwrap());
            format!("{position}: {}", problem.message)
        })
        .collect()
}

#[test]
fn a_suite_for_given_traces_needs_no_question_and_takes_as_many_runs_as_there_are() {
    let text = "agents:\n  - name: a\n    stability: {}\n  - name: b\n    runs: 3\n    expect: [{ target: tool_names, matcher: { length: 1 } }]\n";
    let read = |_: &Path| Ok(text.as_bytes().to_vec());
    let host = Host::new(&read, &|_| None);
    let loaded = load_for_traces(Path::new("gates.yml"), &host);
    assert!(!loaded.is_refused(), "{:#?}", loaded.problems);
    let agents = loaded.suite.unwrap().agents;
    assert_eq!(
        (agents[0].runs_to_judge(7), agents[1].runs_to_judge(7)),
        (7, 3)
    );
    let asked = load(Path::new("gates.yml"), &host);
    let messages: Vec<_> = asked
        .problems
        .iter()
        .map(|problem| problem.message.as_str())
        .collect();
    assert!(
        messages.contains(&"the agent has no `model:`"),
        "{messages:?}"
    );
}

#[test]
fn an_imported_variable_reaches_the_importing_file_by_every_way() {
    let files = [
        (
            "s/a.yml",
            "imports: [b.yml, ./c.yml]\nagents:\n  - {name: \"${where}\", cassette: x, skip: later}\n",
        ),
        (
            "s/b.yml",
            "imports: [d.yml]\nservers: {one: {command: [\"${where}\"]}}\n",
        ),
        (
            "s/c.yml",
            "imports: [../s/d.yml, d.yml]\nagents:\n  - {name: \"${where}!\", cassette: x, skip: later}\n",
        ),
        (
            "s/d.yml",
            "variables: {where: \"in ${CITY}\"}\nservers: {two: {url: \"http://x\"}}\n",
        ),
    ];
    let suite = suite(&files);
    assert_eq!(
        suite
            .agents
            .iter()
            .map(|agent| &*agent.name)
            .collect::<Vec<_>>(),
        ["in Oslo!", "in Oslo"]
    );
    assert_eq!(
        suite.servers.keys().map(String::as_str).collect::<Vec<_>>(),
        ["one", "two"]
    );
}

#[test]
fn the_importing_files_own_options_win() {
    let suite = suite(&[
        (
            "a.yml",
            "imports: [b.yml]\nagents: []\nrun_options: {stale: warn}\n",
        ),
        (
            "b.yml",
            "run_options: {stale: error}\nbudget: {per_test_usd: 2}\n",
        ),
    ]);
    assert_eq!(suite.run_options.stale, Stale::Warn);
    assert_eq!(suite.budget.per_test_usd, Some(2.0));
}

#[test]
fn problems_of_a_file_imported_twice_are_said_once_and_in_the_order_of_the_files() {
    let files = [
        (
            "a.yml",
            "imports: [b.yml, c.yml, gone.yml]\nagents: 1\nzzz: 1\n",
        ),
        ("b.yml", "imports: [d.yml]\n"),
        ("c.yml", "imports: [d.yml]\nbudget: 1\n"),
        ("d.yml", "servers: {x: {command: []}}\nfaults: 1\n"),
    ];
    assert_eq!(
        errors(&files),
        [
            "a.yml:1:25: cannot read gone.yml: no such file",
            "a.yml:2:9: `agents`: expected a list, found the number 1",
            "a.yml:3:1: unknown key `zzz`",
            "d.yml:1:15: `command` is empty",
            "d.yml:2:9: `faults`: expected a list, found the number 1",
            "c.yml:2:9: `budget`: expected a map, found the number 1",
        ]
    );
}

#[test]
fn a_long_chain_of_imports_is_refused() {
    let names: Vec<String> = (0..20).map(|at| format!("{at}.yml")).collect();
    let texts: Vec<String> = (1..21).map(|at| format!("imports: [{at}.yml]\n")).collect();
    let files: Vec<(&str, &str)> = names
        .iter()
        .zip(&texts)
        .map(|(name, text)| (&**name, &**text))
        .collect();
    assert_eq!(
        errors(&files),
        ["16.yml:1:11: imports are nested more than 16 deep"]
    );
}

#[test]
fn what_starts_something_keeps_its_variables_and_what_is_asked_gets_their_values() {
    let text = r#"
servers:
  local: { command: "${PROGRAM}", args: [--key, "${KEY}", 1], env: { A: "${KEY}" } }
  remote: { url: "${URL}", headers: { A: "Bearer ${KEY}", B: { env: KEY } } }
providers:
  house: { type: openai, base_url: "${URL}" }
agents:
  - name: asks
    model: { provider: house, id: large }
    servers: [local, remote]
    prompt: In ${CITY}?
    temperature: 0
    time_budget: 1.5m
    expect: [{ target: tool_names, matcher: { length: 0 } }]
"#;
    let suite = suite(&[("a.yml", text)]);
    let words = ["${PROGRAM}", "--key", "${KEY}", "1"]
        .map(str::to_owned)
        .to_vec();
    assert_eq!(suite.servers["local"].endpoint, Endpoint::Command(words));
    assert_eq!(
        suite.servers["remote"].headers[1].1,
        HeaderValue::Env("KEY".to_owned())
    );
    let agent = &suite.agents[0];
    assert_eq!(
        (&*agent.turns[0].value, &*agent.turns[0].template),
        ("In Oslo?", "In ${CITY}?")
    );
    assert_eq!(agent.parameters["time_budget"], 90_000);
    assert_eq!(agent.models[0].label(), "house/large");
}

#[test]
fn a_cassette_is_one_path_to_record_to_or_many_to_read() {
    let agent =
        |at: usize, path: &str| format!("  - {{name: a{at}, skip: later, cassette: {path}}}\n");
    let paths = ["a.jsonl", "'a/*.json'", "[a.json]", "'a/{model}.jsonl'"];
    let agents: Vec<String> = paths
        .iter()
        .enumerate()
        .map(|(at, path)| agent(at, path))
        .collect();
    let text = format!("agents:\n{}", agents.concat());
    let found: Vec<_> = suite(&[("a.yml", &text)])
        .agents
        .into_iter()
        .map(|agent| agent.cassette.unwrap())
        .collect();
    assert_eq!(found[0], CassettePath::File("a.jsonl".to_owned()));
    assert_eq!(
        found[1],
        CassettePath::ReadOnly(vec!["a/*.json".to_owned()])
    );
    assert_eq!(found[2], CassettePath::ReadOnly(vec!["a.json".to_owned()]));
    assert_eq!(found[3], CassettePath::File("a/{model}.jsonl".to_owned()));
}

#[test]
fn a_fault_has_one_meaning_in_both_spellings() {
    let kinds = |written: &str| {
        let text = format!("faults: [{{name: a, target: {{tool: x}}, {written}}}]\nagents: []\n");
        suite(&[("a.yml", &text)]).faults[0].kind
    };
    assert_eq!(kinds("kind: 'slow:250'"), FaultKind::Slow { delay_ms: 250 });
    assert_eq!(
        kinds("kind: slow, delay_ms: 250"),
        FaultKind::Slow { delay_ms: 250 }
    );
    assert_eq!(
        kinds("kind: recover_after, failures: 2"),
        kinds("kind: 'recover-after:2'")
    );
    assert_eq!(
        kinds("kind: 'error:-32603'"),
        FaultKind::Error { code: -32603 }
    );
}

#[test]
fn a_value_of_another_type_names_its_key_once() {
    let text = "agents:\n  - name: [a]\n    runs: -1\n    only: ${CITY}\n    temperature: .nan\n    max_turns: 0\n";
    assert_eq!(
        errors(&[("a.yml", &format!("{text}    cassette: x\n    skip: ''\n"))]),
        [
            "a.yml:2:11: `name`: expected a string, found a list",
            "a.yml:3:11: `runs`: expected a whole number from 0 to 100000, found the number -1",
            "a.yml:4:11: `only`: expected `true` or `false`, found the string \"${CITY}\"",
            "a.yml:5:18: `temperature`: expected a number from 0 to 2, found `.nan`",
            "a.yml:6:16: `max_turns`: expected a whole number of at least 1, found the number 0",
            "a.yml:8:11: this must not be empty",
        ]
    );
}

#[test]
fn a_missing_key_is_named_unless_it_is_written_with_a_slip() {
    let expect = |written: &str| {
        errors(&[(
            "a.yml",
            &format!("agents:\n  - {{name: a, cassette: x, expect: [{written}]}}\n"),
        )])
    };
    assert_eq!(
        expect("{matcher: {length: 0}}"),
        ["a.yml:2:38: `target` is missing here"]
    );
    assert_eq!(
        expect("{targte: tool_names, matcher: {length: 0}}"),
        ["a.yml:2:38: unknown key `targte`"]
    );
    assert_eq!(
        expect("{target: tool_names}"),
        ["a.yml:2:38: `matcher` is missing here"]
    );
    assert_eq!(
        expect(""),
        ["a.yml:2:28: an empty `expect:` asserts nothing"]
    );
}

#[test]
fn patterns_of_imports_are_added_to_those_of_the_suite_each_once() {
    let suite = suite(&[
        (
            "a.yml",
            "imports: [b.yml]\nagents: []\nredact: ['C-\\d+', {name: plate, pattern: '[A-Z]{2} \\d+'}]\n",
        ),
        ("b.yml", "redact: ['C-\\d+', 'K-(?<kind>\\w+)']\n"),
    ]);
    let patterns: Vec<_> = suite
        .redact
        .iter()
        .map(|one| (one.name.as_deref(), &*one.pattern))
        .collect();
    assert_eq!(
        patterns,
        [
            (None, r"C-\d+"),
            (None, r"K-(?<kind>\w+)"),
            (Some("plate"), r"[A-Z]{2} \d+")
        ]
    );
    let builder = suite
        .redact
        .iter()
        .fold(Redactor::builder(), |builder, one| one.add_to(builder));
    let redactor = builder.build().unwrap();
    assert_eq!(
        redactor.text("C-12 has K-x and AB 12"),
        "[redacted:pattern] has K-[redacted:kind] and [redacted:plate]"
    );
}

#[test]
fn a_pattern_that_is_none_is_refused_where_it_stands() {
    let text = "agents: []\nredact:\n  - '('\n  - ''\n  - {name: a b, pattern: x}\n  - {name: a, pattern: 'x(?=y)'}\n  - 5\n  - {pattern: x}\n";
    assert_eq!(
        errors(&[("a.yml", text)]),
        [
            "a.yml:3:5: this is not a regular expression: unclosed group",
            "a.yml:4:5: this must not be empty",
            "a.yml:5:12: `a b` cannot be used as a placeholder",
            "a.yml:6:24: this is not a regular expression: look-around, including look-ahead and look-behind, is not supported",
            "a.yml:7:5: expected a regular expression or {name, pattern}, found the number 5",
            "a.yml:8:6: `name` is missing here",
        ]
    );
}

#[test]
fn the_keys_of_model_providers_are_secrets_where_an_agent_has_a_model() {
    let environment = |name: &str| match name {
        "ANTHROPIC_API_KEY" => Some("a-key-of-a-provider".to_owned()),
        "MISTRAL_API_KEY" => Some("short".to_owned()),
        _ => None,
    };
    let secrets = |agent: &str| {
        let text = format!("agents: [{{name: a, skip: later, prompt: x, {agent}}}]\n");
        let suite = suite(&[("a.yml", &text)]);
        suite
            .secret_values(&environment)
            .into_keys()
            .collect::<Vec<_>>()
    };
    assert_eq!(secrets("model: claude-sonnet-4-5"), ["ANTHROPIC_API_KEY"]);
    assert_eq!(secrets("cassette: x.json"), [""; 0]);
}

#[test]
fn a_dash_and_an_underscore_are_the_same_in_every_key_of_a_suite() {
    let text = "run-options: { stale: warn }
agents:
  - name: a
    cassette: a.jsonl
    system-prompt: Be brief.
    x_note: mine
    golden-path: { calls: [get_weather], allow-extra-steps: true }
    expect:
      - { target: final_response, matcher: { not: { any_of: [{ starts_with: No }, { contains_all: [a, b] }] } } }
";
    let read = suite(&[("s.yml", text)]);
    assert_eq!(
        read.agents[0].system_prompt.as_ref().unwrap().value,
        "Be brief."
    );
    assert_eq!(read.agents[0].gates.len(), 1);
    let matcher = read.agents[0].expect[0].matcher.written().to_string();
    assert_eq!(
        matcher,
        r#"{"not":{"any-of":[{"starts-with":"No"},{"contains-all":["a","b"]}]}}"#
    );
}

#[test]
fn a_key_in_both_spellings_is_written_twice_and_a_merged_one_gives_way() {
    let agent = "agents:\n  - name: a\n    cassette: a.jsonl\n    expect: [{target: final_response, matcher: {contains: a}}]\n";
    let twice = format!("{agent}    system_prompt: a\n    system-prompt: b\n");
    assert_eq!(
        errors(&[("s.yml", &twice)]),
        ["s.yml:6:5: the key `system-prompt` is written twice"]
    );
    let merged =
        format!("x-all: &all {{ system-prompt: b }}\n{agent}    <<: *all\n    system_prompt: a\n");
    assert_eq!(
        suite(&[("s.yml", &merged)]).agents[0]
            .system_prompt
            .as_ref()
            .unwrap()
            .value,
        "a"
    );
    let unknown = errors(&[("s.yml", &format!("{agent}    sistem-prompt: a\n"))]);
    assert_eq!(unknown, ["s.yml:5:5: unknown key `sistem-prompt`"]);
}
