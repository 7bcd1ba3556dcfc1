//! What does an agent say that is recorded, and what is refused?

use crate::problem::Level;
use crate::suite::{Host, Loaded, Model, OverrideError, Suite, Variant, load};
use serde_json::json;
use std::path::Path;

fn loaded(agents: &str) -> Loaded {
    let text = format!("providers:\n  house: {{ type: openai }}\nagents:\n{agents}");
    let read = |_: &Path| Ok(text.clone().into_bytes());
    load(Path::new("suite.yml"), &Host::new(&read, &|_| None))
}

fn suite(agents: &str) -> Suite {
    let loaded = loaded(agents);
    loaded
        .suite
        .unwrap_or_else(|| panic!("{:?}", loaded.problems))
}

fn errors(agents: &str) -> Vec<String> {
    let problems = loaded(agents).problems;
    assert!(
        problems.iter().all(|problem| problem.span.is_some()),
        "{problems:?}"
    );
    problems
        .into_iter()
        .filter(|problem| problem.level == Level::Error)
        .map(|problem| problem.message)
        .collect()
}

const EXPECT: &str = "expect: [{ target: final_response, matcher: { contains: x } }]";

#[test]
fn an_agent_of_ones_own_is_part_of_what_a_recording_is_made_with_and_its_variables_wait() {
    let suite = suite(&format!(
        "  - name: a\n    agent: {{ command: [python, \"${{SCRIPT}}\"], env: {{ API_TOKEN: \"${{SECRET}}\" }}, cwd: here }}\n    prompt: p\n    {EXPECT}\n"
    ));
    let agent = &suite.agents[0];
    assert_eq!(
        agent.parameters["agent"],
        json!({ "command": ["python", "${SCRIPT}"], "env": { "API_TOKEN": "${SECRET}" }, "cwd": "here" })
    );
    let own = agent.own.as_ref().unwrap();
    assert_eq!(
        own.scope
            .fill(&own.command[1], &|_| Some("x.py".to_owned()))
            .unwrap(),
        "x.py"
    );
    let secrets =
        suite.secret_values(&|name| (name == "SECRET").then(|| "hunter2hunter2".to_owned()));
    assert!(
        secrets.contains_key("API_TOKEN") && secrets.contains_key("SECRET"),
        "{secrets:?}"
    );
}

#[test]
fn what_only_a_model_heeds_is_refused_beside_an_agent_of_ones_own() {
    let own = "  - name: a\n    agent: { command: [x] }\n";
    let rest = format!("    prompt: p\n    {EXPECT}\n");
    for key in [
        "system_prompt: s",
        "max_turns: 1",
        "max_tokens: 1",
        "temperature: 1",
        "max_tool_calls: 1",
        "token_budget: 1",
    ] {
        let found = errors(&format!("{own}    {key}\n{rest}"));
        assert!(
            found.len() == 1 && found[0].contains("calls its model itself"),
            "{key}: {found:?}"
        );
    }
    assert!(errors(&format!("{own}    time_budget: 1m\n{rest}")).is_empty());
    let turns = errors(&format!("{own}    turns: [a, b]\n    {EXPECT}\n"));
    assert_eq!(
        turns,
        ["your own agent receives one prompt, not several `turns:`"]
    );
    let both = errors(&format!("{own}    model: m\n{rest}"));
    assert!(both[0].contains("cannot be used together"), "{both:?}");
    assert_eq!(
        errors(&format!(
            "  - name: a\n    agent: {{ command: [] }}\n{rest}"
        )),
        ["`command` is empty"]
    );
    assert_eq!(
        errors(&format!("  - name: a\n    model: m\n    setup: []\n{rest}")),
        ["`setup` is empty"]
    );
}

#[test]
fn runs_of_the_command_line_reach_every_agent_and_models_those_that_can_be_recorded() {
    let of = |cassette: &str| {
        format!(
            "  - name: a\n    model: m\n    cassette: {cassette}\n    prompt: p\n    {EXPECT}\n"
        )
    };
    let models = ["x", "y"].map(|id| Model {
        id: id.to_owned(),
        ..Model::default()
    });
    let mut file = suite(&of("a.jsonl"));
    file.override_runs(0);
    assert_eq!((file.agents[0].runs, file.agents[0].says_runs), (1, true));
    let error = file.override_models(&models).unwrap_err();
    assert!(
        error.to_string().contains("put `{model}` into the path"),
        "{error}"
    );
    assert_eq!(file.agents[0].models[0].id, "m", "nothing is changed");
    file.override_models(&models[..1]).unwrap();
    assert_eq!(file.agents[0].models[0].id, "x");
    let mut read_only = suite(&of("[a.jsonl]"));
    read_only.override_runs(9);
    assert_eq!(
        (read_only.agents[0].runs, read_only.agents[0].says_runs),
        (9, true)
    );
    assert!(matches!(
        read_only.override_models(&models),
        Err(OverrideError::NoModel { .. })
    ));
    assert_eq!(file.model("house/large").provider.as_deref(), Some("house"));
    assert_eq!(file.model("meta/llama").id, "meta/llama");
}

#[test]
fn a_price_of_the_agents_own_comes_before_the_shipped_one() {
    let own = suite(
        "  - name: a\n    model: m\n    prompt: p\n    token_efficiency:\n      classes: [{ name: c, members: [t] }]\n      prices: { claude-sonnet-4-5: { prompt_usd_per_million: 1, completion_usd_per_million: 2 } }\n",
    );
    let million = crate::trace::Tokens::without_total(Some(1_000_000), Some(1_000_000));
    assert_eq!(
        own.agents[0].cost_usd("claude-sonnet-4-5", million),
        Some(3.0)
    );
    assert!(own.agents[0].cost_usd("gpt-5", million).is_some());
    assert_eq!(own.agents[0].cost_usd("no-such-model", million), None);
}

#[test]
fn a_sweep_makes_one_variant_of_each_count_from_few_to_many() {
    let of = |counts: &str| {
        suite(&format!(
            "  - name: a\n    model: m\n    prompt: p\n    distractors: {{ {counts}, correct: [t] }}\n"
        ))
    };
    let swept = of("sweep: [16, 0, 4, 4]");
    assert_eq!(
        swept.agents[0].variants(),
        [0, 4, 16].map(Variant::Distractors)
    );
    assert_eq!(
        swept.agents[0]
            .injected_tools(Some(Variant::Distractors(4)), &[])
            .len(),
        4
    );
    assert!(
        swept.agents[0]
            .injected_tools(Some(Variant::Distractors(0)), &[])
            .is_empty()
    );
    assert_eq!(of("sweep: [0], count: 2").agents[0].variants().len(), 2);
    assert!(of("count: 2").agents[0].variants().is_empty());
    assert_eq!(of("count: 2").agents[0].injected_tools(None, &[]).len(), 2);
    assert_eq!(
        errors("  - name: a\n    model: m\n    prompt: p\n    distractors: { correct: [t] }\n"),
        ["`count` is missing here"]
    );
}
