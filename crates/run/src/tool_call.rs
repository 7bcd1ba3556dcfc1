//! How is one tool test called, and its result written as a recording?

use mcptest_core::coverage::{Surface, parameters};
use mcptest_core::problem::nearest;
use mcptest_core::row::{Reason, ReasonKind};
use mcptest_core::suite::{Suite, ToolTest};
use mcptest_mcp::client::{
    CallFailure, Called, Client, Misbehaviour, Moment, Observed, OnLate, ServerSpec, Tool, Tools,
    WireError,
};
use mcptest_mock::spec_in;
use mcptest_redact::Redactor;
use mcptest_replay::tool_test::{CallOutcome, Server, ServerRequest, header_now};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use std::time::Duration;

/// Starts the server, calls the tool once and stops the server. The error is the reason why the tool was not called;
/// a previous recording then stays.
pub(crate) async fn call(
    suite: &Suite,
    test: &ToolTest,
    redactor: &Redactor,
    on_late: OnLate,
) -> Result<String, Reason> {
    let unusable = |error: &dyn std::fmt::Display| reason(&redactor.text(&error.to_string()));
    let spec = spec_in(suite, &test.server, None, &mcptest_replay::host())
        .map_err(|error| unusable(&error))?;
    let client = Client::connect(&ServerSpec { on_late, ..spec }, None).await;
    let client = client.map_err(|error| unusable(&error))?;
    let called = call_tool(&client, test, redactor).await?;
    let outcome = called.outcome(&client);
    Ok(written(
        suite,
        test,
        outcome,
        client.close().await.observed,
        redactor,
    ))
}

/// Calls it on a connected server, which stays connected.
pub(crate) async fn call_on(
    client: &Client,
    suite: &Suite,
    test: &ToolTest,
    redactor: &Redactor,
) -> Result<String, Reason> {
    let seen_before = client.observed();
    let called = call_tool(client, test, redactor).await?;
    let mut observed = client.observed();
    observed.retain(|seen| !seen_before.contains(seen));
    Ok(written(
        suite,
        test,
        called.outcome(client),
        observed,
        redactor,
    ))
}

/// The recording, with what was observed and without its secrets.
fn written(
    suite: &Suite,
    test: &ToolTest,
    mut outcome: CallOutcome<'_>,
    observed: Vec<Observed>,
    redactor: &Redactor,
) -> String {
    for observed in observed {
        observe(observed, &mut outcome);
    }
    let header = header_now(suite, test).sealed();
    let lines = [
        serde_json::to_string(&header),
        serde_json::to_string(&outcome),
    ];
    let [header, outcome] = lines.map(Result::unwrap_or_default);
    // A line break in a result can only be white space between tokens.
    let outcome = outcome.replace(['\n', '\r'], " ");
    format!("{header}\n{}\n", redactor.json(&outcome))
}

/// A call that was made, before it is written down.
struct CalledTool {
    called: Called,
    /// The JSON-RPC error of the answer.
    error: Option<Box<RawValue>>,
    output_schema: Option<Value>,
    surface: Option<Surface>,
    oddities: Vec<String>,
}

async fn call_tool(
    client: &Client,
    test: &ToolTest,
    redactor: &Redactor,
) -> Result<CalledTool, Reason> {
    let mut surface = None;
    let (output_schema, oddities) = match client.list_tools().await {
        Ok(tools) => {
            surface = Some(surface_of(&tools));
            about_tools(&tools, &test.tool)
        }
        Err(error) if had_ended(&error) => return Err(reason(&redactor.text(&error.to_string()))),
        Err(error) => (None, vec![error.to_string()]),
    };
    let arguments = test
        .args
        .as_ref()
        .map_or_else(|| "{}".to_owned(), ToString::to_string);
    let arguments = RawValue::from_string(arguments).map_err(|error| reason(&error.to_string()))?;
    let timeout = test.timeout_ms.map(Duration::from_millis);
    let called = client.call_tool(&test.tool, &arguments, timeout).await;
    let error = match &called.outcome {
        Err(CallFailure::Rpc(error)) => {
            Some(to_raw_value(error).map_err(|error| reason(&error.to_string()))?)
        }
        _ => None,
    };
    Ok(CalledTool {
        called,
        error,
        output_schema,
        surface,
        oddities,
    })
}

/// Returns true if the server had ended before the call, for example because of another test.
fn had_ended(error: &WireError) -> bool {
    use Misbehaviour::{ClosedOutput, Exited};
    let moment = match &error.misbehaviour {
        Exited { moment, .. } | ClosedOutput { moment } => *moment,
        _ => return false,
    };
    moment == Moment::Before
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
            tools: self.surface.clone(),
            progress: Some(self.called.progress()),
            log: Some(self.called.log()),
            oddities: self.oddities.clone(),
            server_requests: Vec::new(),
        }
    }
}

/// The server's tools, for coverage. Descriptions and the rest of the schemas would make recordings large.
fn surface_of(tools: &Tools) -> Surface {
    let of_tool = |tool: &Tool| {
        let schema: Value = serde_json::from_str(tool.input_schema.get()).unwrap_or_default();
        (tool.name.clone(), parameters(&schema).into_iter().collect())
    };
    tools.tools.iter().map(of_tool).collect()
}

/// The tool's own schema, and irregularities of the list, first that it lacks the tool.
fn about_tools(tools: &Tools, wanted: &str) -> (Option<Value>, Vec<String>) {
    let complaints = tools.complaints.iter().map(ToString::to_string);
    if let Some(tool) = tools.tools.iter().find(|tool| tool.name == wanted) {
        let schema = tool.output_schema.as_ref();
        return (
            schema.and_then(|schema| serde_json::from_str(schema.get()).ok()),
            complaints.collect(),
        );
    }
    let near = nearest(wanted, tools.tools.iter().map(|tool| tool.name.as_str()));
    let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    let missing = format!("the server lists no tool `{wanted}`{hint}");
    (None, std::iter::once(missing).chain(complaints).collect())
}

/// Keeps the server's own requests as requests. Harmless observations are not irregularities.
fn observe(observed: Observed, outcome: &mut CallOutcome<'_>) {
    match observed {
        Observed::ServerRequest {
            method,
            params,
            answer,
            is_scripted,
        } => {
            outcome.server_requests.push(ServerRequest {
                method,
                params,
                answer,
                scripted: is_scripted,
            });
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
    Reason::from_lines(ReasonKind::ServerUnusable, message)
}
