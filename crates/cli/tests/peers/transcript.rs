//! A client's view of a server: its tools, and the results of some calls.

use mcptest_mcp::client::{CallFailure, Client, ServerSpec};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

/// A tool and its arguments.
pub(crate) type Call = (&'static str, Value);

/// The server's tools, and the result of each call. The server must not misbehave.
pub(crate) async fn transcript(spec: &ServerSpec, calls: &[Call]) -> Vec<Value> {
    let client = Client::connect(spec, None).await.unwrap();
    let listed = client.list_tools().await.unwrap();
    assert!(listed.complaints.is_empty(), "{:?}", listed.complaints);
    let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let mut transcript: Vec<Value> = listed
        .tools
        .iter()
        .map(|tool| parse(tool.raw.get()))
        .collect();
    for (tool, arguments) in calls {
        let called = client
            .call_tool(tool, &to_raw_value(arguments).unwrap(), None)
            .await;
        transcript.push(match called.outcome {
            Ok(result) => parse(result.get()),
            Err(CallFailure::Rpc(error)) => json!({ "code": error.code, "message": error.message }),
            Err(CallFailure::Wire(error)) => panic!("{error}"),
        });
    }
    client.close().await;
    transcript
}

/// Asserts equal tools and results, and shows the first difference.
pub(crate) fn assert_same(found: &[Value], expected: &[Value], what: &str) {
    for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert_eq!(found, expected, "{what}, entry {at}");
    }
    assert_eq!(
        found.len(),
        expected.len(),
        "{what}: the number of tools and results"
    );
}
