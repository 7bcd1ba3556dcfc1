//! One tool test called for real: what came of it, as the text of a recording.

use super::recording::{Outcome, Server, ServerRequest};
use super::replay;
use mcptest_core::problem::nearest;
use mcptest_core::report::Reason;
use mcptest_core::suite::{Suite, ToolTest};
use mcptest_mcp::client::{CallFailure, Called, Client, Observed, Tools};
use mcptest_redact::Redactor;
use serde_json::value::{RawValue, to_raw_value};
use std::time::Duration;

/// Starts the server, calls the tool once and ends the server again. A server that cannot be reached is what came of
/// it; an error is why nothing was tried.
pub(crate) async fn call(suite: &Suite, test: &ToolTest, redactor: &Redactor) -> Result<String, Reason> {
    let host = crate::host();
    let Some(server) = suite.servers.get(&test.server) else {
        return Err(reason(&format!("there is no server `{}`", test.server)));
    };
    let spec = crate::server::spec_of(&test.server, server, suite.folder(), host.environment)
        .map_err(|error| reason(&redactor.text(&error.to_string())))?;
    let client = match Client::connect(&spec, None).await {
        Ok(client) => client,
        Err(error) => {
            let outcome = Outcome { failure: Some(error.to_string()), ..Outcome::default() };
            return Ok(written(suite, test, &outcome, redactor));
        }
    };
    let mut outcome = Outcome { server: Some(who(&client)), ..Outcome::default() };
    let called = call_tool(&client, test, &mut outcome).await?;
    let refusal = refusal_of(&called)?;
    take(&called, refusal.as_deref(), &mut outcome);
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
    let mut outcome = Outcome { server: Some(who(client)), ..Outcome::default() };
    let called = call_tool(client, test, &mut outcome).await?;
    let refusal = refusal_of(&called)?;
    take(&called, refusal.as_deref(), &mut outcome);
    Ok(written(suite, test, &outcome, redactor))
}

fn refusal_of(called: &Called) -> Result<Option<Box<RawValue>>, Reason> {
    match &called.outcome {
        Err(CallFailure::Rpc(error)) => {
            to_raw_value(error).map(Some).map_err(|error| reason(&error.to_string()))
        }
        _ => Ok(None),
    }
}

fn take<'c>(called: &'c Called, refusal: Option<&'c RawValue>, outcome: &mut Outcome<'c>) {
    outcome.duration_ms = u64::try_from(called.duration.as_millis()).unwrap_or(u64::MAX);
    outcome.error = refusal;
    match &called.outcome {
        Ok(result) => outcome.result = Some(result),
        Err(CallFailure::Rpc(_)) => {}
        Err(CallFailure::Wire(wire)) => outcome.failure = Some(wire.to_string()),
    }
}

/// The recording, without its secrets.
fn written(suite: &Suite, test: &ToolTest, outcome: &Outcome<'_>, redactor: &Redactor) -> String {
    let header = replay::header_now(suite, test).sealed();
    let lines = [serde_json::to_string(&header), serde_json::to_string(outcome)];
    let [header, outcome] = lines.map(Result::unwrap_or_default);
    // A line break in a result can only be white space between tokens.
    let outcome = outcome.replace(['\n', '\r'], " ");
    format!("{header}\n{}\n", redactor.json(&outcome))
}

async fn call_tool(client: &Client, test: &ToolTest, outcome: &mut Outcome<'_>) -> Result<Called, Reason> {
    match client.list_tools().await {
        Ok(tools) => about_tools(&tools, &test.tool, outcome),
        Err(error) => outcome.oddities.push(error.to_string()),
    }
    let arguments = test.args.as_ref().map_or_else(|| "{}".to_owned(), ToString::to_string);
    let arguments = RawValue::from_string(arguments).map_err(|error| reason(&error.to_string()))?;
    let timeout = test.timeout_ms.map(Duration::from_millis);
    Ok(client.call_tool(&test.tool, &arguments, timeout).await)
}

fn reason(message: &str) -> Reason {
    let mut lines = message.lines().map(str::to_owned);
    let message = lines.next().unwrap_or_default();
    Reason { message, details: lines.collect(), help: None }
}

fn who(client: &Client) -> Server {
    let info = client.server();
    Server {
        name: info.name.clone(),
        version: info.version.clone(),
        protocol_version: info.protocol_version.clone(),
        era: info.era.as_str().to_owned(),
    }
}

/// The tool's own schema, and whether the server has the tool at all.
fn about_tools(tools: &Tools, wanted: &str, outcome: &mut Outcome<'_>) {
    if let Some(tool) = tools.tools.iter().find(|tool| tool.name == wanted) {
        let schema = tool.output_schema.as_ref();
        outcome.output_schema = schema.and_then(|schema| serde_json::from_str(schema.get()).ok());
    } else {
        let near = nearest(wanted, tools.tools.iter().map(|tool| tool.name.as_str()));
        let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        outcome.oddities.push(format!("the server lists no tool `{wanted}`{hint}"));
    }
    outcome.oddities.extend(tools.complaints.iter().map(ToString::to_string));
}

/// What the server asked is kept as such; what every server may do is no oddity.
fn observe(observed: Observed, outcome: &mut Outcome<'_>) {
    match observed {
        Observed::ServerRequest { method, params, answer, is_scripted } => {
            outcome.server_requests.push(ServerRequest { method, params, answer, scripted: is_scripted });
        }
        Observed::Stderr { .. } | Observed::Notification { .. } | Observed::FellBack { .. } => {}
        odd => {
            let said = odd.to_string();
            if !outcome.oddities.contains(&said) {
                outcome.oddities.push(said);
            }
        }
    }
}
