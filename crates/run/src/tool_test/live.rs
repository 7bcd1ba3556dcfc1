//! One tool test called for real: what came of it, as the text of a recording.

use super::recording::{CallOutcome, Server, ServerRequest};
use super::replay;
use crate::server::spec_in;
use mcptest_core::problem::nearest;
use mcptest_core::row::{Reason, ReasonKind};
use mcptest_core::suite::{Suite, ToolTest};
use mcptest_mcp::client::{CallFailure, Called, Client, Observed, Tools};
use mcptest_redact::Redactor;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use std::time::Duration;

/// Starts the server, calls the tool once and ends the server again. A server that cannot be reached is what came of
/// it; an error is why nothing was tried.
pub(crate) async fn call(suite: &Suite, test: &ToolTest, redactor: &Redactor) -> Result<String, Reason> {
    let spec = spec_in(suite, &test.server).map_err(|error| reason(&redactor.text(&error)))?;
    let client = match Client::connect(&spec, None).await {
        Ok(client) => client,
        Err(error) => {
            let outcome = CallOutcome { failure: Some(error.to_string()), ..CallOutcome::default() };
            return Ok(written(suite, test, &outcome, redactor));
        }
    };
    let called = call_tool(&client, test).await?;
    let mut outcome = called.outcome(&client);
    for observed in client.close().await.observed {
        observe(observed, &mut outcome);
    }
    Ok(written(suite, test, &outcome, redactor))
}

/// The same on a server that is connected already.
pub(crate) async fn call_on(
    client: &Client,
    suite: &Suite,
    test: &ToolTest,
    redactor: &Redactor,
) -> Result<String, Reason> {
    let called = call_tool(client, test).await?;
    Ok(written(suite, test, &called.outcome(client), redactor))
}

/// The recording, without its secrets.
fn written(suite: &Suite, test: &ToolTest, outcome: &CallOutcome<'_>, redactor: &Redactor) -> String {
    let header = replay::header_now(suite, test).sealed();
    let lines = [serde_json::to_string(&header), serde_json::to_string(outcome)];
    let [header, outcome] = lines.map(Result::unwrap_or_default);
    // A line break in a result can only be white space between tokens.
    let outcome = outcome.replace(['\n', '\r'], " ");
    format!("{header}\n{}\n", redactor.json(&outcome))
}

/// A call that was made, before it is written down.
struct CalledTool {
    called: Called,
    /// The JSON-RPC error that it was answered with.
    error: Option<Box<RawValue>>,
    output_schema: Option<Value>,
    oddities: Vec<String>,
}

async fn call_tool(client: &Client, test: &ToolTest) -> Result<CalledTool, Reason> {
    let (output_schema, oddities) = match client.list_tools().await {
        Ok(tools) => about_tools(&tools, &test.tool),
        Err(error) => (None, vec![error.to_string()]),
    };
    let arguments = test.args.as_ref().map_or_else(|| "{}".to_owned(), ToString::to_string);
    let arguments = RawValue::from_string(arguments).map_err(|error| reason(&error.to_string()))?;
    let timeout = test.timeout_ms.map(Duration::from_millis);
    let called = client.call_tool(&test.tool, &arguments, timeout).await;
    let error = match &called.outcome {
        Err(CallFailure::Rpc(error)) => {
            Some(to_raw_value(error).map_err(|error| reason(&error.to_string()))?)
        }
        _ => None,
    };
    Ok(CalledTool { called, error, output_schema, oddities })
}

impl CalledTool {
    fn outcome(&self, client: &Client) -> CallOutcome<'_> {
        let info = client.server();
        let (result, failure) = match &self.called.outcome {
            Ok(result) => (Some(&**result), None),
            Err(CallFailure::Rpc(_)) => (None, None),
            Err(CallFailure::Wire(wire)) => (None, Some(wire.to_string())),
        };
        CallOutcome {
            result,
            error: self.error.as_deref(),
            failure,
            duration_ms: u64::try_from(self.called.duration.as_millis()).unwrap_or(u64::MAX),
            output_schema: self.output_schema.clone(),
            server: Some(Server {
                name: info.name.clone(),
                version: info.version.clone(),
                protocol_version: info.protocol_version.clone(),
                era: info.era.as_str().to_owned(),
            }),
            oddities: self.oddities.clone(),
            server_requests: Vec::new(),
        }
    }
}

/// The tool's own schema, and what is odd about the list: first of all that the tool is not in it.
fn about_tools(tools: &Tools, wanted: &str) -> (Option<Value>, Vec<String>) {
    let complaints = tools.complaints.iter().map(ToString::to_string);
    if let Some(tool) = tools.tools.iter().find(|tool| tool.name == wanted) {
        let schema = tool.output_schema.as_ref();
        return (schema.and_then(|schema| serde_json::from_str(schema.get()).ok()), complaints.collect());
    }
    let near = nearest(wanted, tools.tools.iter().map(|tool| tool.name.as_str()));
    let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    let missing = format!("the server lists no tool `{wanted}`{hint}");
    (None, std::iter::once(missing).chain(complaints).collect())
}

/// What the server asked is kept as such; what every server may do is no oddity.
fn observe(observed: Observed, outcome: &mut CallOutcome<'_>) {
    match observed {
        Observed::ServerRequest { method, params, answer, is_scripted } => {
            outcome.server_requests.push(ServerRequest { method, params, answer, scripted: is_scripted });
        }
        usual if usual.is_usual() => {}
        odd => {
            let said = odd.to_string();
            if !outcome.oddities.contains(&said) {
                outcome.oddities.push(said);
            }
        }
    }
}

fn reason(message: &str) -> Reason {
    Reason::of_lines(ReasonKind::ServerUnusable, message)
}
