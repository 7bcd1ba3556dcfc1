//! How does the client handle messages, over a pipe?

use crate::script::{
    HANG_UP, error, initialized, result, server, server_that_starts_in, tool_server,
};
use mcptest_mcp::client::{
    CallFailure, Client, Misbehaviour, Observed, Scripted, ServerSpec, TimeoutScope,
};
use mcptest_mcp::era::Era;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

async fn connect(spec: &ServerSpec) -> Client {
    Client::connect(spec, None).await.unwrap()
}

fn arguments() -> Box<RawValue> {
    to_raw_value(&json!({"city": "Lisbon"})).unwrap()
}

async fn call(client: &Client) -> Result<Value, CallFailure> {
    let called = client.call_tool("get_weather", &arguments(), None).await;
    called
        .outcome
        .map(|raw| serde_json::from_str(raw.get()).unwrap())
}

async fn refusal_to_connect(spec: &ServerSpec) -> String {
    Client::connect(spec, None).await.err().unwrap().to_string()
}

const SHORT: Option<Duration> = Some(Duration::from_millis(100));

async fn timed_out(client: &Client) -> String {
    client
        .call_tool("get_weather", &arguments(), SHORT)
        .await
        .outcome
        .unwrap_err()
        .to_string()
}

#[tokio::test]
async fn garbage_beside_a_good_answer_is_observed_and_fails_nothing() {
    let client = connect(&tool_server(|message| match message["method"].as_str() {
        Some("tools/call") => vec![
            "Fetching weather...".into(),
            result(message, &json!({"content": []})),
        ],
        _ => vec![],
    }))
    .await;
    assert_eq!(call(&client).await.unwrap(), json!({"content": []}));
    let observed: Vec<String> = client.observed().iter().map(ToString::to_string).collect();
    assert_eq!(observed.len(), 1, "{observed:?}");
    assert!(
        observed[0]
            .starts_with("it sent \"Fetching weather...\", which is not a message: it is not JSON")
    );
}

#[tokio::test]
async fn garbage_instead_of_an_answer_is_quoted_at_the_timeout() {
    let client = connect(&tool_server(|message| match message["method"].as_str() {
        Some("tools/call") => vec!["Traceback (most recent call last):".into()],
        _ => vec![],
    }))
    .await;
    let text = timed_out(&client).await;
    assert!(
        text.starts_with(
            "server \"weather\": no answer to tools/call get_weather within 100 ms; it sent \"Traceback \
             (most recent call last):\", which is not a message: it is not JSON"
        ),
        "{text}"
    );
}

#[tokio::test]
async fn a_call_that_times_out_is_cancelled_and_its_late_answer_observed() {
    let waiting: Mutex<Option<Value>> = Mutex::new(None);
    let client = connect(&tool_server(move |message| {
        match message["method"].as_str() {
            Some("tools/call") => {
                *waiting.lock().unwrap() = Some(message.clone());
                vec![]
            }
            Some("notifications/cancelled") => {
                let call = waiting.lock().unwrap().clone().unwrap();
                assert_eq!(message["params"]["requestId"], call["id"]);
                vec![result(&call, &json!({"content": []}))]
            }
            Some("resources/list") => vec![result(message, &json!({"resources": []}))],
            _ => vec![],
        }
    }))
    .await;
    assert_eq!(
        timed_out(&client).await,
        "server \"weather\": no answer to tools/call get_weather within 100 ms"
    );
    client
        .request("resources/list", None)
        .await
        .expect("the connection stays usable");
    let late = |observed: &Observed| matches!(observed, Observed::LateReply { method, .. } if method == "tools/call get_weather");
    assert!(
        client.observed().iter().any(late),
        "{:?}",
        client.observed()
    );
}

#[tokio::test]
async fn an_answer_that_is_no_message_fails_its_call_at_once() {
    let broken = [
        (
            json!({"jsonrpc": "1.0", "result": {}}),
            "its `jsonrpc` is \"1.0\" instead of \"2.0\"",
        ),
        (json!({"result": {}}), "it has no `jsonrpc: \"2.0\"`"),
        (
            json!({"jsonrpc": "2.0", "result": {}, "error": {}}),
            "it has both `result` and `error`",
        ),
        (
            json!({"jsonrpc": "2.0", "error": "boom"}),
            "its `error` is \"boom\" instead of an object",
        ),
        (
            json!({"jsonrpc": "2.0"}),
            "it has neither `method` nor `result` nor `error`",
        ),
    ];
    for (answer, why) in broken {
        let client = connect(&tool_server(move |message| {
            match message["method"].as_str() {
                Some("tools/call") => {
                    let mut answer = answer.clone();
                    answer["id"] = message["id"].clone();
                    vec![answer.to_string()]
                }
                _ => vec![],
            }
        }))
        .await;
        let text = call(&client).await.unwrap_err().to_string();
        let expected =
            format!("the answer to tools/call get_weather is not a JSON-RPC message: {why}; it is");
        assert!(text.contains(&expected), "{text}");
    }
}

#[tokio::test]
async fn wrong_ids_and_second_answers_are_told_apart() {
    let client = connect(&tool_server(|message| match message["method"].as_str() {
        Some("tools/call") => vec![r#"{"jsonrpc":"2.0","id":999,"result":{}}"#.into()],
        Some("resources/list") => {
            let answer = result(message, &json!({"resources": []}));
            vec![answer.clone(), answer]
        }
        _ => vec![],
    }))
    .await;
    let text = timed_out(&client).await;
    assert!(
        text.ends_with("within 100 ms; it answered id 999, but no request has this id"),
        "{text}"
    );
    client.request("resources/list", None).await.unwrap();
    client.request("resources/list", None).await.unwrap();
    let duplicate = |observed: &Observed| matches!(observed, Observed::DuplicateReply { .. });
    assert!(
        client.observed().iter().any(duplicate),
        "{:?}",
        client.observed()
    );
}

#[tokio::test]
async fn a_line_past_the_limit_fails_the_call_it_answers() {
    let mut spec = tool_server(|message| match message["method"].as_str() {
        Some("tools/call") => vec![result(message, &json!({"content": "x".repeat(5000)}))],
        _ => vec![],
    });
    spec.max_message_bytes = 1000;
    let text = call(&connect(&spec).await).await.unwrap_err().to_string();
    assert!(
        text.contains(
            "is too large: 5048 bytes, and the limit is 1000 bytes (`max_message_bytes`)"
        ),
        "{text}"
    );
}

#[tokio::test]
async fn a_list_that_begins_again_is_told() {
    let client = connect(&server(|message| match message["method"].as_str() {
        Some("initialize") => vec![result(message, &initialized("2025-06-18"))],
        Some("tools/list") => vec![result(
            message,
            &json!({"tools": [], "nextCursor": "page-2"}),
        )],
        _ => vec![],
    }))
    .await;
    assert_eq!(client.server().protocol_version, "2025-06-18");
    assert_eq!(
        client.list_tools().await.unwrap_err().to_string(),
        "server \"weather\": tools/list does not end: the cursor \"page-2\" came again after 2 pages"
    );
}

#[tokio::test]
async fn many_calls_in_flight_are_answered_in_any_order() {
    let held: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let client = connect(&tool_server(move |message| {
        let mut held = held.lock().unwrap();
        if message["method"] == "tools/call" {
            held.push(result(message, &message["params"]["arguments"]));
        }
        if held.len() == 50 {
            held.drain(..).rev().collect()
        } else {
            vec![]
        }
    }))
    .await;
    let client = Arc::new(client);
    let calls: Vec<_> = (0..50)
        .map(|number| {
            let client = Arc::clone(&client);
            tokio::spawn(async move {
                let arguments = to_raw_value(&json!({"number": number})).unwrap();
                let called = client.call_tool("get_weather", &arguments, None).await;
                assert_eq!(
                    called.outcome.unwrap().get(),
                    format!("{{\"number\":{number}}}")
                );
            })
        })
        .collect();
    for call in calls {
        call.await.unwrap();
    }
}

#[tokio::test]
async fn what_the_server_asks_is_answered_as_scripted_or_declined() {
    let asked: Arc<Mutex<Vec<Value>>> = Arc::default();
    let answers = Arc::clone(&asked);
    let mut spec = tool_server(move |message| match message["method"].as_str() {
        Some("tools/call") => [
            ("a", "elicitation/create"),
            ("b", "sampling/createMessage"),
            ("c", "tools/x"),
        ]
        .iter()
        .map(|(id, method)| {
            json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {"message": "sure?"}})
                .to_string()
        })
        .chain([result(message, &json!({}))])
        .collect(),
        Some(_) => vec![],
        None => {
            answers.lock().unwrap().push(message.clone());
            vec![]
        }
    });
    let scripted = Scripted {
        when: Some(json!({"message": "sure?"})),
        answer: Ok(json!({"action": "accept", "content": {}})),
    };
    spec.responses
        .scripted
        .insert("elicitation/create".into(), vec![scripted]);
    let client = connect(&spec).await;
    call(&client).await.unwrap();
    client.close().await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    let answers = asked.lock().unwrap();
    assert_eq!(answers[0]["result"]["action"], "accept");
    assert_eq!(
        answers[1]["error"],
        json!({"code": -1, "message": "declined"})
    );
    assert_eq!(answers[2]["error"]["code"], -32601);
}

#[tokio::test]
async fn a_version_that_does_not_exist_is_named() {
    let spec = server(|message| vec![result(message, &initialized("2031-01-01"))]);
    assert_eq!(
        refusal_to_connect(&spec).await,
        "server \"weather\": it answered protocol version \"2031-01-01\", which does not exist; \"2025-11-25\" was offered"
    );
}

#[tokio::test]
async fn an_output_that_ends_is_told_by_its_moment() {
    let spec = server(|_| vec!["{\"jsonrpc\":".into(), HANG_UP.into()]);
    let text = refusal_to_connect(&spec).await;
    assert!(
        text.contains(
            "it closed its output while it was still running, before it answered initialize"
        ),
        "{text}"
    );
    assert!(text.contains("it sent \"{\\\"jsonrpc\\\":\""), "{text}");
    let client = connect(&tool_server(|message| match message["method"].as_str() {
        Some("tools/call") => vec![HANG_UP.into()],
        _ => vec![],
    }))
    .await;
    assert!(
        call(&client)
            .await
            .unwrap_err()
            .to_string()
            .contains("while tools/call get_weather was open")
    );
    assert!(
        call(&client)
            .await
            .unwrap_err()
            .to_string()
            .contains("before tools/call get_weather was sent")
    );
}

#[tokio::test]
async fn a_legacy_server_is_found_by_its_error_or_its_silence() {
    for is_silent in [false, true] {
        let mut spec = server(move |message| match message["method"].as_str() {
            Some("initialize") => vec![result(message, &initialized("2024-11-05"))],
            Some("server/discover") if !is_silent => vec![error(message, -32601, "no such method")],
            _ => vec![],
        });
        spec.era = None;
        spec.connect_timeout = Duration::from_millis(400);
        let client = connect(&spec).await;
        assert_eq!(client.server().era, Era::Legacy);
        assert_eq!(client.server().protocol_version, "2024-11-05");
    }
}

#[tokio::test]
async fn a_server_that_ignores_the_probe_gets_initialize_on_a_fresh_connection() {
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = Arc::clone(&asked);
    let mut spec = server(move |message| {
        let method = message["method"].as_str().unwrap().to_owned();
        let id = message["id"].clone();
        seen.lock().unwrap().push(format!("{method} {id}"));
        match method.as_str() {
            "initialize" => vec![result(message, &initialized("2025-11-25"))],
            _ => vec![],
        }
    });
    spec.era = None;
    spec.connect_timeout = Duration::from_secs(4);
    let client = connect(&spec).await;
    assert_eq!(client.server().era, Era::Legacy);
    assert_eq!(
        asked.lock().unwrap()[..2],
        ["server/discover 1", "initialize 1"],
        "each is the first request of its connection"
    );
    let fell_back = Observed::FellBack {
        why: "no answer to server/discover within 1 s".into(),
    };
    assert!(
        client.observed().contains(&fell_back),
        "{:?}",
        client.observed()
    );
}

#[tokio::test]
async fn a_slow_start_does_not_decide_the_protocol() {
    let is_probe_seen = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&is_probe_seen);
    let start = Duration::from_millis(1800);
    let mut spec = server_that_starts_in(start, move |message| match message["method"].as_str() {
        Some("server/discover") => {
            seen.fetch_add(1, Ordering::Relaxed);
            vec![result(message, &discovered())]
        }
        Some("initialize") => vec![result(message, &initialized("2025-11-25"))],
        _ => vec![],
    });
    spec.era = None;
    spec.connect_timeout = Duration::from_secs(6);
    let client = connect(&spec).await;
    assert_eq!(client.server().era, Era::Modern, "it supports both");
    assert!(is_probe_seen.load(Ordering::Relaxed) > 0);
}

#[tokio::test]
async fn silence_is_no_era_and_its_error_names_the_limit() {
    let mut spec = server(|_| vec![]);
    spec.era = None;
    spec.connect_timeout = Duration::from_millis(400);
    assert_eq!(
        refusal_to_connect(&spec).await,
        "server \"weather\": no answer to server/discover and initialize within 400 ms; if the server takes longer to start, \
         raise `connect_timeout` or `--connect-timeout`"
    );
}

fn discovered() -> Value {
    let info = json!({"io.modelcontextprotocol/serverInfo": {"name": "modern", "version": "2"}});
    json!({"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {}, "_meta": info})
}

#[tokio::test]
async fn a_modern_server_gets_its_meta_and_its_state_back() {
    let state = "a\"b\u{1F600}\n";
    let rounds = AtomicUsize::new(0);
    let mut spec = server(move |message| {
        let meta = &message["params"]["_meta"];
        assert_eq!(
            meta["io.modelcontextprotocol/protocolVersion"],
            "2026-07-28"
        );
        assert!(meta["io.modelcontextprotocol/clientCapabilities"].is_object());
        match message["method"].as_str() {
            Some("server/discover") => vec![result(message, &discovered())],
            _ if rounds.fetch_add(1, Ordering::Relaxed) == 0 => {
                let requests = json!({"r": {"method": "roots/list"}});
                let asking = json!({"resultType": "input_required", "inputRequests": requests, "requestState": state});
                vec![result(message, &asking)]
            }
            _ => {
                assert_eq!(message["params"]["requestState"], state);
                assert_eq!(
                    message["params"]["inputResponses"]["r"],
                    json!({"roots": []})
                );
                vec![result(message, &json!({"content": []}))]
            }
        }
    });
    spec.era = None;
    let client = connect(&spec).await;
    assert_eq!(
        (client.server().era, client.server().name.as_str()),
        (Era::Modern, "modern")
    );
    assert_eq!(call(&client).await.unwrap(), json!({"content": []}));
}

#[tokio::test]
async fn a_call_that_never_has_enough_input_ends() {
    let mut spec = server(|message| match message["method"].as_str() {
        Some("server/discover") => vec![result(message, &discovered())],
        _ => vec![result(
            message,
            &json!({"resultType": "input_required", "requestState": "again"}),
        )],
    });
    spec.era = Some(Era::Modern);
    let failure = call(&connect(&spec).await).await.unwrap_err();
    let CallFailure::Wire(error) = failure else {
        panic!("{failure}")
    };
    assert!(matches!(
        error.misbehaviour,
        Misbehaviour::TooManyRounds { rounds: 10 }
    ));
}

#[tokio::test]
async fn a_flood_of_notifications_is_kept_up_to_a_bound() {
    let large = "x".repeat(100_000);
    let client = connect(&tool_server(move |message| {
        match message["method"].as_str() {
            Some("tools/call") => {
                let note = json!({
                    "jsonrpc": "2.0", "method": "notifications/message", "params": {"data": large},
                });
                let mut lines = vec![note.to_string(); 500];
                lines.push(result(message, &json!({"content": []})));
                lines
            }
            _ => vec![],
        }
    }))
    .await;
    let called = client.call_tool("get_weather", &arguments(), None).await;
    let kept: usize = called
        .notifications
        .iter()
        .filter_map(|note| note.params.as_ref())
        .map(|params| params.get().len())
        .sum();
    assert!(called.outcome.is_ok());
    assert!((1_000_000..=4 << 20).contains(&kept), "{kept}");
}

#[tokio::test]
async fn answers_for_a_server_that_asks_and_does_not_read_do_not_pile_up() {
    let client = connect(&tool_server(|message| match message["method"].as_str() {
        Some("tools/call") => {
            let ask =
                |id: usize| json!({"jsonrpc": "2.0", "id": format!("p{id}"), "method": "ping"});
            let mut lines: Vec<String> = (0..20_000).map(|id| ask(id).to_string()).collect();
            lines.push(result(message, &json!({"content": []})));
            lines
        }
        _ => vec![],
    }))
    .await;
    assert_eq!(call(&client).await.unwrap(), json!({"content": []}));
    let observed: Vec<String> = client.observed().iter().map(ToString::to_string).collect();
    assert!(
        observed
            .iter()
            .any(|seen| seen.contains("it sends requests, but does not read the answers")),
        "{observed:?}"
    );
}

#[tokio::test]
async fn one_limit_for_the_whole_connection_leaves_nothing_for_the_next_request() {
    let calls = AtomicUsize::new(0);
    let mut spec = tool_server(move |message| match message["method"].as_str() {
        Some("tools/call") if calls.fetch_add(1, Ordering::Relaxed) > 0 => {
            vec![result(message, &json!({"content": []}))]
        }
        _ => vec![],
    });
    spec.timeout = Duration::from_millis(300);
    for (scope, is_answered) in [
        (TimeoutScope::EachRequest, true),
        (TimeoutScope::WholeConnection, false),
    ] {
        spec.timeout_scope = scope;
        let client = connect(&spec).await;
        if scope == TimeoutScope::EachRequest {
            assert!(call(&client).await.is_err());
        } else {
            tokio::time::sleep(spec.timeout).await;
        }
        assert_eq!(call(&client).await.is_ok(), is_answered, "{scope:?}");
    }
}
