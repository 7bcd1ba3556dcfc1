//! Prompts that name a tool or a server.

use crate::engine::trial::{findings, header, judged, problems, value};
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
fn a_prompt_that_names_a_tool_is_refused_at_load_and_one_that_names_a_server_is_warned_of() {
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
            "warning: the prompt names the server `docs` (describe the goal",
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
}

#[test]
fn a_prompt_that_names_a_recorded_tool_fails_the_gate() {
    let quiet = header(json!([{"name": "search", "server": "docs"}]));
    let calls = called("search");
    let passed = judged(NAME_FREE, Some(&quiet), std::slice::from_ref(&calls));
    assert_eq!(passed.status, Status::Passed);
    assert_eq!(
        passed.not_exercised.as_deref(),
        Some("only the prompt is judged: no classes declare what the agent must find")
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

#[test]
fn the_wrong_tool_fails_where_classes_say_what_is_to_be_found() {
    let quiet = header(json!([
        {"name": "search", "server": "docs"}, {"name": "open_page", "server": "docs"},
    ]));
    let classes = "classes: [{ name: page, members: [search] }]";
    let own = NAME_FREE.replace("true }", &format!("true, {classes} }}"));
    let sibling = format!("equal_function_sets: {{ {classes} }}\n{NAME_FREE}");
    let sibling = sibling.replace(
        "equal_function_sets",
        "prompt: Where is the page about lifetimes?\nequal_function_sets",
    );
    let sibling = sibling.replacen(
        "prompt: Where is the page about lifetimes?\ndiscovery",
        "discovery",
        1,
    );
    for agent in [own, sibling] {
        let judge = |tool: &str| judged(&agent, Some(&quiet), &[called(tool)]);
        let right = judge("search");
        assert_eq!(
            (right.status, right.not_exercised),
            (Status::Passed, None),
            "{agent}"
        );
        let wrong = judge("open_page");
        assert_eq!(wrong.status, Status::Failed, "{agent}");
        assert_eq!(
            findings(&wrong),
            ["no run reaches the class `page` (search)"]
        );
        assert_eq!(value(&wrong, "orchestration.discovery"), Some(0.0));
    }
}

#[test]
fn a_written_expectation_replaces_the_default() {
    let quiet = header(json!([{"name": "search", "server": "docs"}]));
    let block = "classes: [{ name: page, members: [search] }, { name: other, members: [open_page] }], \
                 expect: [{ target: orchestration.discovery, matcher: { gte: 50 } }]";
    let agent = NAME_FREE.replace("true }", &format!("true, {block} }}"));
    assert_eq!(
        judged(&agent, Some(&quiet), &[called("search")]).status,
        Status::Passed
    );
}

#[test]
fn a_server_that_the_prompt_names_is_remarked_and_fails_nothing() {
    let weather = header(json!([{"name": "search", "server": "page"}]));
    let report = judged(NAME_FREE, Some(&weather), &[called("search")]);
    assert_eq!(report.status, Status::Passed);
    assert_eq!(report.remarks[0].message, "prompt names the server `page`");
}
