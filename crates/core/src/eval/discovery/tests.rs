//! Prompts that give a name away.

use super::super::trial::{findings, header, judged, problems};
use crate::report::Status;
use crate::trace::Header;
use serde_json::{Value, json};

fn called(tool: &str) -> Value {
    json!({
        "tool_calls": [{"name": tool, "server": "docs", "args": {}}],
        "tool_results": [{"is_error": false}],
    })
}

const NAME_FREE: &str =
    "prompt: Where is the page about lifetimes?\ndiscovery: { name_free: true }\n";

#[test]
fn a_prompt_that_names_a_tool_or_server_is_refused_at_load() {
    assert!(problems(NAME_FREE).is_empty());
    let said =
        problems(&NAME_FREE.replace("Where is", "Search the DOCS, then open page, where is"));
    let messages: Vec<_> = said
        .iter()
        .map(|said| said.split(',').next().unwrap())
        .collect();
    assert_eq!(
        messages,
        [
            "error: the prompt names the server `docs`",
            "error: the prompt names the tool `open_page`",
            "error: the prompt names the tool `search`",
        ]
    );
    let allowed = NAME_FREE
        .replace("Where is", "Search")
        .replace("true }", "true, allow: [search] }");
    assert!(problems(&allowed).is_empty());
    let idle = problems("turns: [a, b]\ndiscovery: { name_free: false }");
    assert!(
        idle[0].starts_with("warning: `discovery:` with `name_free: false`"),
        "{idle:?}"
    );
    let expecting = problems(&format!("{NAME_FREE}  \n").replace("true }", "true, expect: [] }"));
    assert!(
        expecting[0].starts_with("error: unknown key `expect`"),
        "{expecting:?}"
    );
}

#[test]
fn a_prompt_that_names_a_recorded_tool_fails_the_gate() {
    let quiet = header(json!([{"name": "search", "server": "docs"}]));
    let calls = called("search");
    let passed = judged(NAME_FREE, Some(&quiet), std::slice::from_ref(&calls));
    assert_eq!(
        (passed.status, passed.not_exercised),
        (Status::Passed, None)
    );
    let loud = header(json!([{"name": "page_about", "server": "wiki"}]));
    let failed = judged(NAME_FREE, Some(&loud), &[calls.clone(), calls.clone()]);
    assert_eq!(failed.status, Status::Failed);
    assert_eq!(
        findings(&failed),
        ["the prompt names the tool `page_about`"]
    );
    let unknown = judged(NAME_FREE, None, &[called("where")]);
    assert_eq!(
        unknown.status,
        Status::Failed,
        "a tool that was called is known"
    );
    assert!(
        unknown
            .not_exercised
            .unwrap()
            .starts_with("the recording has no catalogue")
    );
}

#[test]
fn what_the_user_said_in_the_run_counts_beside_the_recorded_prompt() {
    let catalogue = header(json!([{"name": "search", "server": "docs"}]));
    let recorded = Header {
        prompt: vec!["Where is ${WHAT}?".to_owned()],
        ..catalogue
    };
    let mut said = called("search");
    said["conversation"] =
        json!({"turns": [{"role": "user", "content": "Where is the search page?"}]});
    let failed = judged(NAME_FREE, Some(&recorded), &[said]);
    assert_eq!(failed.status, Status::Failed);
    assert_eq!(findings(&failed), ["the prompt names the tool `search`"]);
}
