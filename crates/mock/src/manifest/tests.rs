//! Does a manifest answer as written, and are all of its problems reported?

use super::*;
use mcptest_core::problem::Level;
use mcptest_mcp::jsonrpc::RpcError;
use mcptest_mcp::jsonrpc::code;
use serde_json::{Value, json};
use std::path::Path;

fn load(text: &str) -> Loaded {
    let files = |path: &Path| match path.to_str() {
        Some("folder/logo.png") => Ok(vec![0xff, 0xfe, 0x00]),
        Some("folder/notes.txt") => Ok(b"three notes".to_vec()),
        _ => Err("no such file".to_owned()),
    };
    load_text(Path::new("folder/tools.yml"), text.to_owned(), &files)
}

fn manifest(text: &str) -> Manifest {
    let loaded = load(text);
    let problems = mcptest_core::problem::render(&loaded.problems, &loaded.sources, false);
    loaded.manifest.unwrap_or_else(|| panic!("{problems}"))
}

/// `line:column: message` of every problem.
fn problems(text: &str) -> Vec<String> {
    let loaded = load(text);
    let said = loaded.problems.iter().map(|problem| {
        let at = loaded.sources.position(problem.span.unwrap());
        let level = if problem.level == Level::Warning {
            "warning: "
        } else {
            ""
        };
        format!("{}:{}: {level}{}", at.line, at.column, problem.message)
    });
    said.collect()
}

/// A manifest of one tool with these lines.
fn tool(lines: &str) -> String {
    let lines = lines.replace('\n', "\n      ");
    format!("mock_server:\n  tools:\n    - name: ask\n      {lines}\n")
}

fn call(manifest: &Manifest, args: &Value) -> Result<Value, RpcError> {
    let state = State::new(manifest, None);
    let answer = manifest.tools[0]
        .reply(args, &state, &Inputs::new())
        .map(|reply| reply.text);
    answer.map(|text| serde_json::from_str(&text).unwrap())
}

fn text_of(lines: &str, args: &Value) -> Value {
    call(&manifest(&tool(lines)), args).unwrap()["content"][0]["text"].clone()
}

#[test]
fn a_text_is_a_result_of_that_text() {
    let result = call(&manifest(&tool("response: It is sunny.")), &json!({})).unwrap();
    assert_eq!(
        result,
        json!({"content": [{"type": "text", "text": "It is sunny."}]})
    );
}

#[test]
fn arguments_are_filled_in_and_a_missing_one_is_an_error_that_names_it() {
    assert_eq!(
        text_of("response: In ${args.city}.", &json!({"city": "Oslo"})),
        "In Oslo."
    );
    let error = call(&manifest(&tool("response: In ${args.city}.")), &json!({})).unwrap_err();
    assert_eq!(error.code, code::INVALID_PARAMS);
    assert_eq!(
        error.message,
        "the answer of the tool `ask` uses `${args.city}`, but this call does not have it"
    );
}

#[test]
fn an_answer_that_needs_nothing_is_handed_out_as_it_is() {
    let manifest = manifest(&tool(
        "response: {structured_content: {b: 1, a: [x]}, _meta: {k: v}}",
    ));
    let answer = manifest.tools[0]
        .reply(&json!({}), &State::new(&manifest, None), &Inputs::new())
        .unwrap()
        .text;
    assert!(matches!(answer, std::borrow::Cow::Borrowed(_)));
    assert_eq!(
        answer,
        r#"{"content":[{"type":"text","text":"{\"b\":1,\"a\":[\"x\"]}"}],"structuredContent":{"b":1,"a":["x"]},"_meta":{"k":"v"}}"#
    );
}

#[test]
fn every_kind_of_content_is_served_as_mcp_spells_it() {
    let result = call(
        &manifest(&tool(
            "response:\n  is_error: true\n  content:\n    - just ${args.x}\n    - {type: image, data: aGk=, mime_type: image/png}\n    - {type: audio, file: logo.png, mimeType: audio/wav}\n    - {resource: {uri: 'test://a', file: notes.txt}}\n    - {type: resource_link, uri: 'test://b', name: b, size: 3, annotations: {priority: 1}}",
        )),
        &json!({"x": 1}),
    );
    assert_eq!(
        result.unwrap(),
        json!({"isError": true, "content": [
            {"type": "text", "text": "just 1"},
            {"type": "image", "data": "aGk=", "mimeType": "image/png"},
            {"type": "audio", "data": "//4A", "mimeType": "audio/wav"},
            {"type": "resource", "resource": {"uri": "test://a", "text": "three notes"}},
            {"type": "resource_link", "uri": "test://b", "name": "b", "size": 3, "annotations": {"priority": 1}},
        ]})
    );
}

#[test]
fn an_error_is_a_json_rpc_error_with_its_data() {
    let manifest = manifest(&tool(
        "response: {error: {code: -32001, message: 'no ${args.x}', data: {x: '${args.x}'}}}",
    ));
    let error = call(&manifest, &json!({"x": 2})).unwrap_err();
    assert_eq!(
        error,
        RpcError::new(-32001, "no 2").with_data(&json!({ "x": 2 }))
    );
}

#[test]
fn a_sequence_steps_through_its_answers_and_then_repeats_cycles_or_fails() {
    let answers = |then: &str| {
        let manifest = manifest(&tool(&format!(
            "response: {{sequence: [a, {{text: b}}]{then}}}"
        )));
        let state = State::new(&manifest, None);
        let mut said = Vec::new();
        for _ in 0..4 {
            said.push(
                match manifest.tools[0]
                    .reply(&json!({}), &state, &Inputs::new())
                    .map(|reply| reply.text)
                {
                    Ok(text) => serde_json::from_str::<Value>(&text).unwrap()["content"][0]["text"]
                        .to_string(),
                    Err(error) => error.message,
                },
            );
        }
        said.join(" ")
    };
    assert_eq!(answers(""), r#""a" "b" "b" "b""#);
    assert_eq!(answers(", then: cycle"), r#""a" "b" "a" "b""#);
    assert!(
        answers(", then: error")
            .starts_with(r#""a" "b" the sequence of the tool `ask` has no more than 2 answers"#)
    );
}

#[test]
fn arguments_that_do_not_fit_are_refused_with_the_reason_and_its_place() {
    let lines =
        "input_schema: {type: object, required: [city], properties: {days: {type: integer}}}";
    let manifest = manifest(&tool(lines));
    let error = manifest.tools[0].check(&json!({"days": "x"})).unwrap_err();
    assert_eq!(error.code, code::INVALID_PARAMS);
    assert!(
        error
            .message
            .starts_with("invalid arguments for the tool `ask`: "),
        "{}",
        error.message
    );
    assert!(
        error
            .message
            .contains("`/days`: \"x\" is not of type \"integer\""),
        "{}",
        error.message
    );
    assert!(
        error.message.contains("\"city\" is a required property"),
        "{}",
        error.message
    );
    assert!(manifest.tools[0].check(&json!({"city": "Oslo"})).is_ok());
}

#[test]
fn a_listing_keeps_every_key_and_the_order_of_the_schema() {
    let lines = "title: Ask\nannotations: {readOnlyHint: true}\n_meta: {a: 1}\ninputSchema: {type: object, $schema: 'http://json-schema.org/draft-07/schema#', properties: {z: {}, a: {}}}";
    assert_eq!(
        manifest(&tool(lines)).tools[0].listing,
        r#"{"name":"ask","title":"Ask","inputSchema":{"type":"object","$schema":"http://json-schema.org/draft-07/schema#","properties":{"z":{},"a":{}}},"annotations":{"readOnlyHint":true},"_meta":{"a":1}}"#
    );
}

#[test]
fn a_saved_list_is_served_as_it_was_and_answers_with_a_default() {
    for saved in [
        r#"{"tools": [{"x-own": {"b": 1, "a": 2}, "name": "ask", "inputSchema": {"type": "object"}}], "nextCursor": "x"}"#,
        r#"{"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"x-own": {"b": 1, "a": 2}, "name": "ask", "inputSchema": {"type": "object"}}]}}"#,
    ] {
        let manifest = manifest(saved);
        assert_eq!(
            manifest.tools[0].listing,
            r#"{"x-own":{"b":1,"a":2},"name":"ask","inputSchema":{"type":"object"}}"#
        );
        assert_eq!(
            call(&manifest, &json!({})).unwrap()["content"][0]["text"],
            "ask was called"
        );
    }
}

#[test]
fn a_manifest_may_have_its_tools_at_the_top() {
    for text in [
        "tools:\n  - name: ask\n    response: fine\n",
        "tools:\n  - name: ask\n    input_schema: {type: object}\n    response: fine\n",
        "name: desk\nversion: '2'\ntools:\n  - name: ask\n    response: fine\n",
        r#"{"tools": [{"name": "ask", "response": "fine"}]}"#,
    ] {
        let manifest = manifest(text);
        assert_eq!(
            call(&manifest, &json!({})).unwrap()["content"][0]["text"],
            "fine",
            "{text}"
        );
        assert!(manifest.tools[0].listing.contains("inputSchema"), "{text}");
    }
    let silent = manifest("tools:\n  - name: ask\n");
    assert_eq!(
        call(&silent, &json!({})).unwrap()["content"][0]["text"],
        "ask was called"
    );
    // What stands at the top is held to the rules of a manifest.
    let refused = problems("tools:\n  - name: ask\n    respons: fine\n");
    assert!(refused[0].contains("respons"), "{refused:?}");
}

#[test]
fn a_tool_of_a_saved_list_without_a_schema_is_told() {
    let told = problems(r#"{"tools": [{"name": "ask", "x-own": 1}]}"#);
    assert!(
        told[0].contains("warning: `ask` has no `inputSchema`"),
        "{told:?}"
    );
}

#[test]
fn a_result_that_breaks_its_output_schema_is_warned_of_or_refused_when_it_is_made() {
    let schema = "output_schema: {type: object, required: [a]}\n";
    let warned = problems(&tool(&format!(
        "{schema}response: {{structured_content: {{b: 1}}}}"
    )));
    assert!(
        warned[0].starts_with(
            "5:18: warning: this result does not match the tool's `output_schema`: at `/struct"
        ),
        "{warned:?}"
    );
    assert!(
        problems(&tool(&format!(
            "{schema}validate_output: false\nresponse: x"
        )))
        .is_empty()
    );
    let made = manifest(&tool(&format!(
        "{schema}response: {{structured_content: '${{args}}'}}"
    )));
    assert!(call(&made, &json!({"a": 1})).is_ok());
    assert!(
        call(&made, &json!({"b": 1}))
            .unwrap_err()
            .message
            .contains("does not match its output schema")
    );
}

#[test]
fn all_problems_are_said_at_once_with_their_places() {
    let text = "mock_server:\n  nmae: x\n  fault: [slow, hang]\n  tools:\n    - name: a\n      response: {text: 'in ${arg.x}', error: {code: 1.5}}\n    - name: a\n      input_schema: {type: objcet}\n      response: {}\n    - {response: {sequence: []}}\n    - name: b\n      response: {content: [{type: image, text: x}, {typ: text}]}\n";
    assert_eq!(
        problems(text),
        [
            "2:3: unknown key `nmae`",
            "3:11: `slow` is missing its number",
            "6:18: `text` cannot be used with `error`",
            "6:30: `arg` is not defined here",
            "6:47: `message` is missing here",
            "6:53: a code is a whole number",
            "7:13: two tools are called `a`",
            "8:28: this is not a JSON Schema: \"objcet\" is not a type",
            "9:17: this answer is empty",
            "10:8: `name` is missing here",
            "10:19: a sequence without answers",
            "12:29: `data` is missing in this content of type `image`",
            "12:29: `mime_type` is missing in this content of type `image`",
            "12:42: content of type `image` has no `text`",
            "12:53: unknown key `typ`",
        ]
    );
}

#[test]
fn what_is_beside_the_server_in_place_of_under_it_is_refused() {
    let text = "mock_server: {name: m}\ntools:\n  - {name: a}\nprompts: []\n";
    assert_eq!(
        problems(text),
        [
            "2:1: `tools` has no effect outside `mock_server:`",
            "4:1: `prompts` has no effect outside `mock_server:`",
        ]
    );
    let help = load(text).problems[0].help.clone();
    assert_eq!(
        help.as_deref(),
        Some("indent `tools:` so that it is under `mock_server:`")
    );
    assert!(problems("mock_server:\ntools: [{name: a}]\n").len() == 1);
}

#[test]
fn what_is_no_manifest_is_refused_with_what_one_is() {
    for text in ["", "agents: []", "[1]", "null", "tools: 3"] {
        assert!(load(text).is_refused(), "{text}");
        assert!(!load(text).problems.is_empty(), "{text}");
    }
    assert_eq!(
        problems("{\"tools\": [{\"title\": \"x\"}]}"),
        ["1:12: a tool has no name"]
    );
}

fn server(lines: &str) -> Manifest {
    manifest(&format!(
        "mock_server:\n  {}\n",
        lines.replace('\n', "\n  ")
    ))
}

fn all(_: AskKind) -> bool {
    true
}

#[test]
fn what_is_asked_comes_in_rounds_and_its_answers_can_be_used() {
    let lines = "ask:\n  - first: {elicitation: 'Your name, ${args.title}?'}\n    second: {roots: {}, optional: true}\n  - third: {sampling: {messages: [{content: 'Greet ${first.content.name}'}], max_tokens: 5}}\nresponse: ${third.content.text}";
    let manifest = manifest(&tool(lines));
    let (tool, args) = (&manifest.tools[0], json!({"title": "Dr"}));
    let mut inputs = Inputs::new();
    let round = tool.requests(&args, &inputs, &all).unwrap();
    assert_eq!(
        round
            .iter()
            .map(|request| request.name.as_str())
            .collect::<Vec<_>>(),
        ["first", "second"]
    );
    assert_eq!(
        round[0].params,
        r#"{"message":"Your name, Dr?","requestedSchema":{"type":"object","properties":{}}}"#
    );
    let without_roots = tool
        .requests(&args, &inputs, &|kind| kind != AskKind::Roots)
        .unwrap();
    assert_eq!(without_roots.len(), 1);
    inputs.insert("second".into(), json!({"roots": []}));
    inputs.insert("first".into(), json!(12345));
    assert_eq!(
        tool.requests(&args, &inputs, &all).unwrap()[0].name,
        "first"
    );
    inputs.insert(
        "first".into(),
        json!({"action": "accept", "content": {"name": "Ada"}}),
    );
    let round = tool.requests(&args, &inputs, &all).unwrap();
    assert_eq!(round[0].kind.method(), "sampling/createMessage");
    assert_eq!(
        round[0].params,
        r#"{"messages":[{"role":"user","content":{"type":"text","text":"Greet Ada"}}],"maxTokens":5}"#
    );
    inputs.insert(
        "third".into(),
        json!({"role": "assistant", "content": {"type": "text", "text": "Hi!"}}),
    );
    assert!(tool.requests(&args, &inputs, &all).unwrap().is_empty());
    assert!(
        tool.reply(&args, &State::new(&manifest, None), &inputs)
            .unwrap()
            .text
            .contains("Hi!")
    );
}

#[test]
fn a_client_that_cannot_be_asked_is_told_what_it_lacks() {
    let manifest = manifest(&tool("sampling: Say hi.\nresponse: ok"));
    let error = manifest.tools[0]
        .requests(&json!({}), &Inputs::new(), &|_| false)
        .unwrap_err();
    assert_eq!(error.code, code::MISSING_CLIENT_CAPABILITY);
    assert_eq!(
        error.data.unwrap().get(),
        r#"{"requiredCapabilities":{"sampling":{}}}"#
    );
}

#[test]
fn progress_and_log_messages_come_in_order_with_their_delays_and_effects_follow() {
    let lines = "progress: [{progress: 0, total: 100, message: 'at ${args.x}'}, {progress: 0.5, delay: 50ms}]\nlogging: [started, {level: error, logger: db, data: {x: '${args.x}'}, delay: 1s}]\nlist_changed: tools\nupdated: ['test://${args.x}']";
    let manifest = manifest(&tool(lines));
    let args = json!({"x": 7});
    let notices = manifest.tools[0].notices(&args).unwrap();
    assert_eq!(
        notices
            .iter()
            .map(|notice| notice.delay_ms)
            .collect::<Vec<_>>(),
        [0, 1000, 0, 50]
    );
    let params = r#"{"level":"error","logger":"db","data":{"x":7}}"#.to_owned();
    assert_eq!(
        notices[1].kind,
        NoticeKind::Log {
            level: LogLevel::named("error").unwrap(),
            params
        }
    );
    let progress = r#"{"progress":0,"total":100,"message":"at 7"}"#.to_owned();
    assert_eq!(notices[2].kind, NoticeKind::Progress(progress));
    let effects = [
        ServerChange::Tools,
        ServerChange::Updated("test://7".into()),
    ];
    assert_eq!(manifest.tools[0].changes(&args).unwrap(), effects);
}

#[test]
fn resources_are_read_at_their_address_or_by_a_template() {
    let manifest = server(
        "resources:\n  - {uri: 'test://a', name: a, mimeType: text/plain, text: hello, size: 5}\n  - {uri: 'test://b', file: logo.png}\nresource_templates:\n  - {uriTemplate: 'test://{id}/data', name: item, mime_type: application/json, text: '{\"id\": \"${id}\", \"at\": \"${uri}\"}'}",
    );
    let read = |uri: &str| {
        manifest
            .resource(uri)
            .unwrap()
            .answer(&Inputs::new())
            .unwrap()
            .into_owned()
    };
    assert_eq!(
        manifest.resources[0].listing,
        r#"{"uri":"test://a","name":"a","mimeType":"text/plain","size":5}"#
    );
    assert_eq!(
        read("test://a"),
        r#"{"contents":[{"uri":"test://a","mimeType":"text/plain","text":"hello"}]}"#
    );
    assert_eq!(
        read("test://b"),
        r#"{"contents":[{"uri":"test://b","blob":"//4A"}]}"#
    );
    let value: Value = serde_json::from_str(&read("test://12/data")).unwrap();
    assert_eq!(
        value["contents"][0]["text"],
        r#"{"id": "12", "at": "test://12/data"}"#
    );
    assert_eq!(value["contents"][0]["uri"], "test://12/data");
    let error = manifest.resource("test://x").unwrap_err();
    assert_eq!(
        (error.code, error.data.unwrap().get()),
        (code::INVALID_PARAMS, r#"{"uri":"test://x"}"#)
    );
}

#[test]
fn a_prompt_is_filled_in_and_wants_its_required_arguments() {
    let manifest = server(
        "prompts:\n  - name: greet\n    description: Greets.\n    arguments: [{name: who, required: true}, {name: how}]\n    messages:\n      - {content: 'Greet ${args.who} ${args.how:-kindly}.'}\n      - {role: assistant, content: {type: image, data: aGk=, mimeType: image/png}}",
    );
    let prompt = manifest.prompt("greet").unwrap();
    assert_eq!(
        prompt.listing,
        r#"{"name":"greet","description":"Greets.","arguments":[{"name":"who","required":true},{"name":"how"}]}"#
    );
    let answer: Value = serde_json::from_str(
        &prompt
            .answer(&json!({"who": "Ada"}), &Inputs::new())
            .unwrap(),
    )
    .unwrap();
    assert_eq!(
        answer["messages"][0],
        json!({"role": "user", "content": {"type": "text", "text": "Greet Ada kindly."}})
    );
    assert_eq!(answer["messages"][1]["content"]["mimeType"], "image/png");
    let error = prompt.check(&json!({"how": 3})).unwrap_err();
    assert_eq!(
        error.message,
        "invalid arguments for the prompt `greet`: \"who\" is a required argument; `/how`: 3 is not a string"
    );
    assert!(
        manifest
            .prompt("gret")
            .unwrap_err()
            .message
            .ends_with("did you mean `greet`?")
    );
}

#[test]
fn completions_are_the_values_that_start_with_what_was_typed() {
    let lines = "prompts: [{name: p, arguments: [{name: x}], messages: []}]\nresource_templates: [{uri_template: 't://{id}', text: x}]\ncompletions:\n  prompts: {p: {x: [Ada, alan, Bob]}}\n  resource_templates: {'t://{id}': {id: [1, 12]}}";
    let manifest = server(lines);
    let complete = |reference: Value, typed: &str| -> Value {
        let name = if reference["uri"].is_string() {
            "id"
        } else {
            "x"
        };
        serde_json::from_str(&manifest.complete(&reference, name, typed).unwrap()).unwrap()
    };
    let prompt = json!({"type": "ref/prompt", "name": "p"});
    assert_eq!(
        complete(prompt.clone(), "a")["completion"],
        json!({"values": ["Ada", "alan"], "total": 2, "hasMore": false})
    );
    assert_eq!(
        complete(json!({"type": "ref/resource", "uri": "t://{id}"}), "12")["completion"]["values"],
        json!(["12"])
    );
    assert_eq!(complete(prompt, "z")["completion"]["values"], json!([]));
    assert!(
        manifest
            .complete(&json!({"type": "ref/prompt", "name": "q"}), "x", "")
            .is_err()
    );
    assert!(
        manifest
            .complete(&json!({"type": "ref/else"}), "x", "")
            .is_err()
    );
    let wrong = problems(
        "mock_server:\n  prompts: [{name: greet, messages: []}]\n  completions: {prompts: {gret: {x: [a]}, greet: {y: [b]}}}\n",
    );
    assert_eq!(
        wrong,
        [
            "3:27: no prompt is named `gret`",
            "3:43: the prompt `greet` has no argument `y`"
        ]
    );
}

#[test]
fn the_first_answer_whose_condition_holds_is_given() {
    let lines = "responses:\n  - {when: 'args.city == \"Paris\" and args.days > 3', result: far}\n  - {when: 'args.city == \"Paris\"', text: near}\n  - {when: has(args.boom), error: {code: -1, message: boom}}";
    let manifest_without_default = manifest(&tool(lines));
    let text = |args: Value| {
        call(&manifest_without_default, &args).map(|result| result["content"][0]["text"].clone())
    };
    assert_eq!(text(json!({"city": "Paris", "days": 4})).unwrap(), "far");
    assert_eq!(text(json!({"city": "Paris"})).unwrap(), "near");
    assert_eq!(text(json!({"boom": 1})).unwrap_err().code, -1);
    let error = text(json!({"city": "Oslo"})).unwrap_err();
    assert_eq!(
        error.message,
        r#"the tool `ask` has no response for the arguments {"city":"Oslo"}"#
    );
    assert_eq!(
        text_of(
            &format!("{lines}\n  - text: else"),
            &json!({"city": "Oslo"})
        ),
        "else"
    );
}

#[test]
fn a_condition_with_a_fault_is_shown_at_its_column() {
    let said = problems(&tool(
        "responses:\n  - {when: args.a = 1, text: x}\n  - text: y\n  - {when: \"ags.b\", text: z}",
    ));
    assert_eq!(
        said,
        [
            "5:25: `=` compares nothing",
            "7:11: warning: this answer is never used",
            "7:19: `ags` is not defined here",
        ]
    );
}

const TICKETS: &str = r#"
mock_server:
  store:
    tickets:
      id: T-${next}
      seed:
        - { id: T-1, title: Broken door, status: open }
  tools:
    - { name: create, response: { create: tickets, record: { title: "${args.title}", status: open, tags: "${args.tags}" } } }
    - { name: get, response: { read: tickets } }
    - { name: close, response: { update: tickets, key: "${args.id}", record: { status: closed }, text: "closed ${record.id}" } }
    - { name: edit, response: { update: tickets, not_found: { error: { code: -32001, message: "no ${key}" } } } }
    - { name: delete, response: { delete: tickets, not_found: "${key} is gone" } }
    - { name: list, response: { list: tickets, where: { status: "${args.status}" } } }
    - { name: count, response: { list: tickets, text: "${count}: ${records[0].id}" } }
"#;

#[test]
fn a_record_that_was_created_can_be_read_changed_listed_and_deleted() {
    let manifest = manifest(TICKETS);
    let state = State::new(&manifest, None);
    let call = |tool: &str, args: Value| -> Value {
        let answer = manifest
            .tool(tool)
            .unwrap()
            .reply(&args, &state, &Inputs::new())
            .unwrap()
            .text;
        serde_json::from_str(&answer).unwrap()
    };
    let created = call("create", json!({"title": "Leak"}));
    assert_eq!(
        created["structuredContent"],
        json!({"id": "T-2", "title": "Leak", "status": "open"})
    );
    assert_eq!(
        created["content"][0]["text"],
        r#"{"id":"T-2","status":"open","title":"Leak"}"#
    );
    assert_eq!(
        call("get", json!({"id": "T-2"}))["structuredContent"]["title"],
        "Leak"
    );
    assert_eq!(
        call("close", json!({"id": "T-2"}))["content"][0]["text"],
        "closed T-2"
    );
    assert_eq!(
        call("edit", json!({"id": "T-2", "title": "Drip"}))["structuredContent"],
        json!({"id": "T-2", "title": "Drip", "status": "closed"})
    );
    let open = call("list", json!({"status": "open"}));
    assert_eq!(
        open["structuredContent"],
        json!({"tickets": [{"id": "T-1", "title": "Broken door", "status": "open"}]})
    );
    assert_eq!(
        call("list", json!({}))["structuredContent"]["tickets"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    assert_eq!(call("count", json!({}))["content"][0]["text"], "2: T-1");
    assert_eq!(
        call("delete", json!({"id": "T-1"}))["structuredContent"]["title"],
        "Broken door"
    );
    assert_eq!(
        call("delete", json!({"id": "T-1"})),
        json!({"content": [{"type": "text", "text": "T-1 is gone"}], "isError": true})
    );
    assert_eq!(
        call("get", json!({"id": "T-9"}))["content"][0]["text"],
        "tickets has no T-9"
    );
    assert_eq!(call("get", json!({"id": "T-9"}))["isError"], true);
    let error = manifest
        .tool("edit")
        .unwrap()
        .reply(&json!({"id": "T-9"}), &state, &Inputs::new())
        .unwrap_err();
    assert_eq!((error.code, &*error.message), (-32001, "no T-9"));
    assert_eq!(
        State::new(&manifest, None)
            .with_records(0, |records| records.list(&serde_json::Map::new()).len()),
        Some(1)
    );
}

#[test]
fn a_store_with_faults_says_them_all() {
    let text = "mock_server:\n  store:\n    tickets:\n      id: T-${nxt}\n      seed: [{id: 1}, {id: '1'}, {x: 2}, 3]\n  tools:\n    - {name: a, response: {read: tickts, where: {a: 1}}}\n    - {name: b, response: {text: '${record.id}', key: x}}\n    - {name: c, response: {create: tickets, read: tickets}}\n";
    assert_eq!(
        problems(text),
        [
            "4:15: `nxt` is not defined here",
            "5:23: another record has the id `1`",
            "5:34: this record has no `id`, the key of its collection",
            "5:42: a record is a map",
            "7:34: `store:` has no collection `tickts`",
            "7:42: `where` belongs to `list`",
            "8:37: `record` is not defined here",
            "8:50: `key` belongs to `read`, `update`, `delete`",
            "9:45: `create` and `read` cannot be used together; remove one",
        ]
    );
}

#[test]
fn a_key_that_an_update_would_change_or_that_all_records_would_share_is_refused() {
    let text = "mock_server:\n  store:\n    tickets: {id: fixed}\n    notes: {}\n  tools:\n    - {name: a, response: {update: notes, record: {id: 9, x: 1}}}\n    - {name: b, response: {update: notes, record: {id: '${args.id}', x: 1}}}\n";
    assert_eq!(
        problems(text),
        [
            "3:19: every record would get this same key, but keys are unique",
            "6:52: `id` is the key of `notes`, which an update cannot change",
        ]
    );
    let manifest = server(
        "store: {notes: {seed: [{id: 1, x: 1}]}}\ntools: [{name: a, response: {update: notes, key: '${args.which}'}}]",
    );
    let update =
        |which: u8, id: u8| call(&manifest, &json!({"which": which, "id": id, "x": 2})).unwrap();
    assert_eq!(update(1, 1)["structuredContent"]["x"], 2);
    let refused = update(1, 2);
    assert_eq!(refused["isError"], true);
    assert_eq!(
        refused["content"][0]["text"],
        "1 in notes keeps its id: an update cannot change it"
    );
}

#[test]
fn bytes_addresses_and_a_version_that_cannot_be_are_shown_at_their_place() {
    let text = "mock_server:\n  version: 3\n  resources:\n    - {uri: notes, text: a}\n    - {uri: 'a://b', blob: '%%%'}\n  tools:\n    - name: a\n      response:\n        content:\n          - {type: image, data: hello, mime_type: image/png}\n          - {type: image, data: '${args.data}', mime_type: image/png}\n          - {type: resource_link, uri: b, name: b}\n          - {resource: {uri: '${args.uri}', text: b}}\n";
    assert_eq!(
        problems(text),
        [
            "2:12: `version`: expected a string, found the number 3",
            "4:13: `notes` is not a URI",
            "5:28: this is not base64",
            "10:33: this is not base64",
            "12:40: `b` is not a URI",
        ]
    );
    assert_eq!(
        load(text).problems[0].help.as_deref(),
        Some("quote it: `version: \"3\"`")
    );
    let updated = "mock_server:\n  resources: [{uri: 'a://b', text: a}]\n  tools:\n    - {name: a, updated: ['a://b', 'a://c', 'a://${args.x}']}\n";
    assert_eq!(
        problems(updated),
        ["4:36: no resource has the address `a://c`"]
    );
}

#[test]
fn a_saved_list_may_be_any_json() {
    let saved = "{\"tools\":\t[\n\t{\"name\": \"ask\", \"description\": \"\\ud83d\\ude00 \\/ \\u00e9\",\n\t\t\"inputSchema\": {\"type\": \"object\"}}]}\r\n";
    let manifest = manifest(saved);
    assert_eq!(
        manifest.tools[0].listing,
        "{\"name\":\"ask\",\"description\":\"\u{1f600} / é\",\"inputSchema\":{\"type\":\"object\"}}"
    );
}

#[test]
fn an_argument_that_is_not_declared_is_warned_of_where_it_cannot_come_or_is_a_slip() {
    let open = "input_schema: {type: object, properties: {city: {type: string}}}\n";
    let closed = "input_schema: {type: object, properties: {city: {type: string}}, additionalProperties: false}\n";
    let said = |schema: &str, rest: &str| problems(&tool(&format!("{schema}{rest}")));
    let warning = ["6:17: warning: no argument named `ctiy` is declared"];
    let when = "responses:\n  - when: args.ctiy == 'x'\n    text: a";
    assert_eq!(said(open, when), warning);
    assert_eq!(said(open, "response: ${args.colour}"), [""; 0]);
    assert_eq!(
        said(closed, "response: ${args.colour}"),
        ["5:17: warning: no argument named `colour` is declared"]
    );
    let prompt = "mock_server:\n  prompts: [{name: p, arguments: [{name: a}], messages: [{content: '${args.b}'}]}]\n";
    assert_eq!(
        problems(prompt),
        ["2:68: warning: no argument named `b` is declared"]
    );
}

#[test]
fn every_fault_in_one_value_is_said() {
    let said = problems(&tool(
        "response: {structured_content: {a: '${arg.x}', b: ['${args.x', .nan]}}",
    ));
    assert_eq!(
        said,
        [
            "4:45: `arg` is not defined here",
            "4:59: `${` is never closed with `}`",
            "4:70: `.nan` is not a valid JSON number",
        ]
    );
}

#[test]
fn a_schema_that_nothing_is_held_to_may_be_anything() {
    let lines =
        "validate_input: false\ninput_schema: {$ref: 'https://example.com/x.json', type: objcet}";
    let manifest = manifest(&tool(lines));
    assert!(manifest.tools[0].listing.contains("example.com"));
    assert!(manifest.tools[0].check(&json!({"a": 1})).is_ok());
}

#[test]
fn a_fault_in_a_block_of_lines_is_shown_on_its_line() {
    assert_eq!(
        problems(&tool("response: |\n  é one\n\n  two ${agrs.x}\n  three")),
        ["7:15: `agrs` is not defined here"]
    );
    assert_eq!(
        problems(&tool("response: >\n  one\n  two ${agrs.x}")),
        ["5:9: `agrs` is not defined here"]
    );
}
