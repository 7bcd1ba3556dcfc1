//! Whose model is it, where, and with which key?

use crate::asking::{model, resolve, suite};
use mcptest_agent::provider::Providers;

const EMPTY: &str = "agents: []\n";

fn refusal(text: &str, model: &str, environment: &[(&str, &str)]) -> String {
    resolve(text, model, environment).unwrap_err().to_string()
}

#[test]
fn a_provider_has_the_name_of_its_family_or_the_suites_own() {
    let named = |text: &str, model: &str, environment: &[(&str, &str)]| {
        resolve(text, model, environment).unwrap().name().to_owned()
    };
    assert_eq!(
        named(EMPTY, "claude-x", &[("ANTHROPIC_API_KEY", "k")]),
        "anthropic"
    );
    assert_eq!(named(EMPTY, "o3", &[("OPENAI_API_KEY", "k")]), "openai");
    assert_eq!(
        named(EMPTY, "gemini-3", &[("GOOGLE_API_KEY", "k")]),
        "gemini"
    );
    assert_eq!(
        named(EMPTY, "codestral-x", &[("MISTRAL_API_KEY", "k")]),
        "mistral"
    );
    let own =
        "providers:\n  ollama: {type: openai, base_url: \"http://localhost:11434\"}\nagents: []\n";
    assert_eq!(named(own, "ollama/llama3", &[]), "ollama");
}

#[test]
fn a_missing_key_is_named_with_where_to_set_it() {
    assert_eq!(
        refusal(EMPTY, "gemini-3", &[("GEMINI_API_KEY", " ")]),
        "the model `gemini-3` needs a key: set GEMINI_API_KEY or GOOGLE_API_KEY in the environment of mcptest, or name another variable as `api_key_env` of a provider under `providers:`"
    );
    let own = "providers:\n  ours: {type: anthropic, base_url: \"http://localhost\", api_key_env: OUR_KEY}\nagents: []\n";
    assert_eq!(
        refusal(own, "ours/claude-x", &[("ANTHROPIC_API_KEY", "k")]),
        "the provider `ours` takes its key from OUR_KEY, which is not set: set it in the environment of mcptest"
    );
    assert!(
        refusal(EMPTY, "claude-x", &[("ANTHROPIC_API_KEY", "a\nb")])
            .starts_with("ANTHROPIC_API_KEY is not a valid key")
    );
}

#[test]
fn an_unknown_model_is_told_what_is_known_and_how_to_name_a_provider() {
    let message = refusal(EMPTY, "llama3", &[]);
    assert!(message.starts_with("unknown model `llama3`: known ids begin with `claude-`, `gpt-`, `chatgpt-`, `o<digit>`, `text-embedding-3-`, `gemini-`, `mistral-`"), "{message}");
    let example = message.split_once('\n').unwrap().1;
    assert!(
        example.contains("model: {provider: local, id: \"llama3\"}"),
        "{example}"
    );
    // What it shows is what works.
    let example = example.replace("- model", "- name: a\n    prompt: hi\n    model");
    let suite = suite(&example);
    assert_eq!(suite.agents[0].models, [model("local/llama3")]);
    let provider = Providers::default().resolve(&suite.agents[0].models[0], &suite, &|_| None);
    assert_eq!(provider.unwrap().name(), "local");
}

#[test]
fn a_base_url_is_filled_in_and_a_bad_one_is_traced_to_its_place() {
    let own =
        "providers:\n  lab: {type: openai, base_url: \"http://${LAB_HOST}/v1\"}\nagents: []\n";
    assert!(resolve(own, "lab/x", &[("LAB_HOST", "localhost:1")]).is_ok());
    assert_eq!(
        refusal(own, "lab/x", &[]),
        "`base_url` of the provider `lab`: the variable `LAB_HOST` is not set; set it in the environment or under `variables:`, or give a default: `${LAB_HOST:-value}`"
    );
    let environment = [
        ("ANTHROPIC_API_KEY", "k"),
        ("ANTHROPIC_BASE_URL", "localhost:8080"),
    ];
    assert_eq!(
        refusal(EMPTY, "claude-x", &environment),
        "the base URL of `anthropic` (ANTHROPIC_BASE_URL) is not a valid address: `localhost:` is neither `http:` nor `https:`"
    );
}

#[test]
fn the_key_of_a_family_is_not_sent_to_an_address_of_ones_own() {
    let environment = [("OPENAI_API_KEY", "sk-secret-0123456789")];
    let own = "providers:\n  ours: {type: openai, base_url: \"http://localhost\"}\n  theirs: {type: openai}\nagents: []\n";
    assert_eq!(resolve(own, "ours/x", &environment).unwrap().secret(), None);
    let theirs = resolve(own, "theirs/x", &environment).unwrap();
    assert_eq!(
        theirs.secret(),
        Some(("OPENAI_API_KEY", "sk-secret-0123456789"))
    );
    assert_eq!(
        format!("{theirs:?}"),
        "Provider(theirs at https://api.openai.com)"
    );
    let providers = Providers::default();
    let find = |name: &str| (name == "OPENAI_API_KEY").then(|| "sk-secret-0123456789".to_owned());
    providers
        .resolve(&model("gpt-5"), &suite(EMPTY), &find)
        .unwrap();
    assert_eq!(
        format!("{providers:?}"),
        "[Provider(openai at https://api.openai.com)]"
    );
}

#[test]
fn models_of_one_provider_share_it() {
    let providers = Providers::default();
    let find = |name: &str| (name == "ANTHROPIC_API_KEY").then(|| "k".to_owned());
    let suite = suite(EMPTY);
    let of = |id: &str| providers.resolve(&model(id), &suite, &find).unwrap();
    assert_eq!(
        (of("claude-a").name(), of("claude-b").name()),
        ("anthropic", "anthropic")
    );
    assert_eq!(
        format!("{providers:?}"),
        "[Provider(anthropic at https://api.anthropic.com)]"
    );
}
