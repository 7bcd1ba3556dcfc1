//! Which family has a model, and what is known to be refused?

use super::*;
use serde_json::{Value, json};

#[test]
fn a_model_belongs_to_the_family_of_its_prefix() {
    for (id, name) in [
        ("claude-sonnet-4-5", Some("anthropic")),
        ("gpt-5", Some("openai")),
        ("chatgpt-4o-latest", Some("openai")),
        ("o3-mini", Some("openai")),
        ("gemini-3-pro", Some("gemini")),
        ("open-mistral-nemo", Some("mistral")),
        ("devstral-small", Some("mistral")),
        ("olmo-2", None),
        ("llama3", None),
    ] {
        assert_eq!(Family::of_model(id).map(|family| family.name), name, "{id}");
    }
}

#[test]
fn models_that_can_call_tools_from_code_are_known_by_their_id() {
    for (kind, id) in [
        ("anthropic", "claude-opus-4-5-20251101"),
        ("anthropic", "claude-sonnet-4-5"),
        ("anthropic", "claude-haiku-5-5"),
        ("anthropic", "a-gateways-own-name"),
        ("openai-responses", "gpt-5.6-terra"),
        ("openai-responses", "gpt-6"),
        ("openai-responses", "a-gateways-own-name"),
    ] {
        assert!(runs_code(kind, id), "{kind} {id}");
    }
    for (kind, id) in [
        ("anthropic", "claude-3-7-sonnet-latest"),
        ("anthropic", "claude-sonnet-4-20250514"),
        ("anthropic", "claude-opus-4-1"),
        ("anthropic", "claude-haiku-4-5"),
        ("openai-responses", "gpt-5"),
        ("openai-responses", "gpt-5-2025-08-07"),
        ("openai-responses", "gpt-5.2-mini"),
        ("openai-responses", "gpt-4o"),
        ("openai-responses", "o3"),
        ("openai", "gpt-5.6"),
        ("gemini", "gemini-3-pro"),
        ("mistral", "mistral-large-latest"),
    ] {
        assert!(!runs_code(kind, id), "{kind} {id}");
    }
}

#[test]
fn families_and_kinds_name_each_other() {
    for family in FAMILIES {
        assert!(
            KINDS.iter().any(|kind| kind.name == family.kind),
            "{}",
            family.name
        );
        assert_eq!(Family::of_model(family.model).unwrap().name, family.name);
        assert!(!family.keys.is_empty() && !family.base_urls.is_empty());
    }
    for kind in KINDS {
        assert!(
            FAMILIES.iter().any(|family| family.name == kind.family),
            "{}",
            kind.name
        );
    }
}

fn refused(kind: &str, model: &str, parameters: Value) -> Vec<&'static str> {
    let parameters: Parameters = serde_json::from_value(parameters).unwrap();
    let refused = refusals(Kind::named(kind).unwrap(), model, &parameters);
    refused.iter().map(|refusal| refusal.parameter).collect()
}

const NONE: &[&str] = &[];

/// A kind of provider, a model, its parameters, and the refused ones.
type Row = (&'static str, &'static str, Value, &'static [&'static str]);

fn check(rows: Vec<Row>) {
    for (kind, model, parameters, expected) in rows {
        assert_eq!(
            refused(kind, model, parameters.clone()),
            expected,
            "{model} {parameters}"
        );
    }
}

#[test]
fn what_a_claude_refuses_is_known_and_nothing_else_is_held_against_it() {
    check(vec![
        (
            "anthropic",
            "claude-opus-4-7",
            json!({ "temperature": 0.5, "top_p": 0.5 }),
            &["temperature", "top_p"],
        ),
        (
            "anthropic",
            "claude-sonnet-5",
            json!({ "temperature": 0 }),
            &["temperature"],
        ),
        (
            "anthropic",
            "claude-sonnet-4-5",
            json!({ "temperature": 0.5 }),
            NONE,
        ),
        (
            "anthropic",
            "claude-opus-4-20250514",
            json!({ "temperature": 0.5, "top_p": 0.5 }),
            NONE,
        ),
        (
            "anthropic",
            "claude-opus-4-1",
            json!({ "temperature": 0.5, "top_p": 0.5 }),
            &["top_p"],
        ),
        (
            "anthropic",
            "claude-sonnet-4-5",
            json!({ "temperature": 1.5, "seed": 1 }),
            &["seed", "temperature"],
        ),
        (
            "anthropic",
            "claude-sonnet-4-5",
            json!({ "reasoning_effort": "low" }),
            &["reasoning_effort"],
        ),
        (
            "anthropic",
            "claude-opus-4-5",
            json!({ "reasoning_effort": "low" }),
            NONE,
        ),
        (
            "anthropic",
            "claude-opus-4-5",
            json!({ "reasoning_effort": "max" }),
            &["reasoning_effort"],
        ),
        (
            "anthropic",
            "claude-sonnet-4-6",
            json!({ "reasoning_effort": "max" }),
            NONE,
        ),
        (
            "anthropic",
            "claude-opus-5",
            json!({ "reasoning_effort": "minimal" }),
            &["reasoning_effort"],
        ),
        (
            "anthropic",
            "claude-sonnet-4-6",
            json!({ "reasoning_effort": "low", "temperature": 0.5, "tool_choice": "required" }),
            &["temperature", "tool_choice"],
        ),
        (
            "anthropic",
            "claude-sonnet-4-5",
            json!({ "extra": { "thinking": { "type": "enabled" } }, "tool_choice": "find" }),
            &["tool_choice"],
        ),
    ]);
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of what each model refuses")]
fn what_other_models_refuse_is_known_and_nothing_else_is_held_against_them() {
    check(vec![
        (
            "openai-responses",
            "gpt-5",
            json!({ "temperature": 0.5, "top_p": 0.5 }),
            &["temperature", "top_p"],
        ),
        (
            "openai",
            "openai/o4-mini",
            json!({ "temperature": 0.5, "seed": 1 }),
            &["temperature"],
        ),
        (
            "openai-responses",
            "gpt-5",
            json!({ "temperature": 1 }),
            NONE,
        ),
        (
            "openai-responses",
            "gpt-5.2",
            json!({ "temperature": 0, "reasoning_effort": "none" }),
            NONE,
        ),
        (
            "openai-responses",
            "gpt-4.1",
            json!({ "temperature": 2, "top_p": 0.5 }),
            NONE,
        ),
        (
            "openai-responses",
            "gpt-4.1",
            json!({ "reasoning_effort": "low", "seed": 1 }),
            &["seed", "reasoning_effort"],
        ),
        (
            "openai",
            "llama3",
            json!({ "reasoning_effort": "low", "seed": 1, "temperature": 0 }),
            NONE,
        ),
        (
            "openai",
            "o3",
            json!({ "reasoning_effort": "minimal" }),
            &["reasoning_effort"],
        ),
        (
            "openai-responses",
            "gpt-5",
            json!({ "reasoning_effort": "none" }),
            &["reasoning_effort"],
        ),
        (
            "openai-responses",
            "gpt-5.2",
            json!({ "reasoning_effort": "xhigh" }),
            NONE,
        ),
        (
            "openai-responses",
            "gpt-5.2",
            json!({ "max_tokens": 15 }),
            &["max_tokens"],
        ),
        (
            "gemini",
            "gemini-2.0-flash",
            json!({ "reasoning_effort": "low", "seed": 1 }),
            &["reasoning_effort"],
        ),
        (
            "gemini",
            "gemini-2.5-pro",
            json!({ "reasoning_effort": "none" }),
            &["reasoning_effort"],
        ),
        (
            "gemini",
            "gemini-2.5-flash",
            json!({ "reasoning_effort": "none", "temperature": 2 }),
            NONE,
        ),
        (
            "gemini",
            "gemini-3-pro",
            json!({ "reasoning_effort": "max" }),
            &["reasoning_effort"],
        ),
        (
            "mistral",
            "mistral-large-latest",
            json!({ "temperature": 1.6, "seed": 1 }),
            &["temperature"],
        ),
        (
            "mistral",
            "mistral-small-latest",
            json!({ "reasoning_effort": "low" }),
            &["reasoning_effort"],
        ),
    ]);
}

#[test]
fn extra_may_fill_in_but_not_write_what_is_written_already() {
    let taken = |kind: &str, parameters: Value| {
        let parameters: Parameters = serde_json::from_value(parameters).unwrap();
        let taken = taken_keys(Kind::named(kind).unwrap(), &parameters);
        taken
            .into_iter()
            .map(|(path, help)| format!("{path}: {help}"))
            .collect::<Vec<_>>()
            .join("\n")
    };
    assert_eq!(
        taken("openai", json!({ "extra": { "top_k": 4, "min_p": 0.1 } })),
        ""
    );
    assert_eq!(
        taken("openai", json!({ "extra": { "seed": 4, "n": 2 } })),
        "n: remove it: mcptest reads one whole answer\nseed: write `seed:` instead"
    );
    let gemini = json!({ "extra": { "generationConfig": { "topK": 4, "thinkingConfig": {} } } });
    assert_eq!(taken("gemini", gemini.clone()), "");
    let mut both = gemini;
    both["reasoning_effort"] = json!("low");
    assert_eq!(
        taken("gemini", both),
        "generationConfig.thinkingConfig: `reasoning_effort:` sets it: write one of the two"
    );
    assert!(
        taken("gemini", json!({ "extra": { "generationConfig": 1 } }))
            .contains("generationConfig.topP")
    );
    assert_eq!(
        taken(
            "openai-responses",
            json!({ "extra": { "reasoning": { "summary": "auto" } } })
        ),
        ""
    );
}
