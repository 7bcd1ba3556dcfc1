//! `mcptest call`: what does this tool answer?

mod answer;

use super::tools;
use clap::Args;
use mcptest_command::arguments::{self, Given};
use mcptest_command::server::Server;
use mcptest_command::{
    BareServer, EXIT_FAILED, Failure, Group, Paint, Program, RunCommand, output, server, waiting,
};
use mcptest_core::escape::escape;
use mcptest_core::problem::nearest;
use mcptest_core::suite::output_faults;
use mcptest_core::words::{count, cut};
use mcptest_mcp::client::{CallFailure, Client, Direction, ServerSpec, Tool};
use mcptest_mcp::jsonrpc::RpcError;
use serde_json::Value;
use serde_json::value::RawValue;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Arguments of `call`.
#[derive(Debug, Args)]
pub(crate) struct Call {
    /// The tool to call.
    #[arg(value_name = "TOOL")]
    tool: String,
    /// Arguments of the tool: `key=value`, typed by its schema, or `key:=JSON`.
    #[arg(value_name = "KEY=VALUE")]
    arguments: Vec<String>,
    /// All arguments as one JSON object: inline, `@FILE`, or `@-` for standard input.
    #[arg(long, value_name = "JSON|@FILE")]
    args: Option<String>,
    /// The server's name under `servers:` of the suite; optional if there is only one.
    #[arg(long = "server", short = 's', short_alias = 'n', value_name = "NAME", conflicts_with_all = ["command", "url", "words"])]
    name: Option<String>,
    #[command(flatten)]
    server: Server,
    /// Print the result as JSON, as the server sent it.
    #[arg(long)]
    json: bool,
}

impl RunCommand for Call {
    const NAME: &'static str = "call";
    const GROUP: Group = Group::Look;
    const SUMMARY: &'static str = "Call a tool of an MCP server and print its result";
    const EXAMPLE: &'static str =
        "mcptest call get-sum a=2 b=3 -- npx -y @modelcontextprotocol/server-everything";
    const SERVER: Option<BareServer> = Some(BareServer {
        takes_any_word: true,
        ..BareServer::after_words(1)
    });

    fn run(self, program: &Program) -> Result<u8, Failure> {
        let given = arguments::parse(&self.arguments, self.args.as_deref())?;
        let spec = server::spec_of_one_exchange(self.name.as_deref(), &self.server, program.gates)?;
        server::speak(self.call(given, &spec))
    }
}

impl Call {
    async fn call(&self, given: Given, spec: &ServerSpec) -> Result<u8, Failure> {
        let told = Arc::new(AtomicUsize::new(0));
        let tap = {
            let told = Arc::clone(&told);
            Arc::new(move |from, message: &str| tell(from, message, &told))
        };
        let client = Client::connect(spec, Some(tap)).await?;
        let DeclaredTool {
            input,
            output,
            mut notes,
        } = DeclaredTool::find(&client, &self.tool).await;
        let arguments = given.typed(input.as_ref())?;
        if let Some(schema) = &input {
            notes.push_str(&arguments::misfits(&arguments, schema, &self.tool));
        }
        output::notes(&notes);
        let arguments = RawValue::from_string(Value::Object(arguments).to_string())?;
        waiting::tell(&format!("the answer of {}", escape(&self.tool)));
        let called = client.call_tool(&self.tool, &arguments, None).await;
        let closing = client.close().await;
        output::stderr(&untold(told.load(Ordering::Relaxed)));
        // The error already has what came instead of the answer.
        let is_told = matches!(called.outcome, Err(CallFailure::Wire(_)));
        let seen = closing
            .observed
            .iter()
            .filter(|seen| !(is_told && seen.is_in_place_of_an_answer()));
        output::notes(&tools::notes(seen));
        match called.outcome {
            Ok(result) => show(&result, output.as_ref(), self.json, Paint::stderr()),
            Err(CallFailure::Rpc(error)) => show_error(&error, self.json, Paint::stderr()),
            Err(CallFailure::Wire(error)) => Err(error.into()),
        }
    }
}

/// The schemas that the server lists for a tool, and what is to be said about its list.
#[derive(Default)]
struct DeclaredTool {
    input: Option<Value>,
    output: Option<Value>,
    notes: String,
}

impl DeclaredTool {
    async fn find(client: &Client, tool: &str) -> Self {
        waiting::tell("the list of tools");
        let listed = match client.list_tools().await {
            Ok(listed) => listed,
            Err(error) => {
                let why = escape(&error.to_string()).into_owned();
                return Self {
                    notes: format!("note: cannot list the tools: {why}\n"),
                    ..Self::default()
                };
            }
        };
        let Some(found) = listed.tools.iter().find(|listed| listed.name == tool) else {
            return Self {
                notes: unknown_tool(tool, &listed.tools),
                ..Self::default()
            };
        };
        let schema = |raw: &RawValue| serde_json::from_str(raw.get()).ok();
        Self {
            input: schema(&found.input_schema),
            output: found.output_schema.as_deref().and_then(schema),
            notes: String::new(),
        }
    }
}

/// The maximum number of notifications to print, since a server can send them without end.
const MOST_TOLD: usize = 200;
/// The maximum length of a printed notification, in characters.
const LONGEST_TOLD: usize = 2000;

/// The note on the number of omitted notifications.
fn untold(told: usize) -> String {
    match told.saturating_sub(MOST_TOLD) {
        0 => String::new(),
        more => format!("and {}\n", count(more, "more notification")),
    }
}

/// Prints the server's progress and log messages as they arrive.
fn tell(from: Direction, message: &str, told: &AtomicUsize) {
    let is_told = |method| message.contains(method);
    if from != Direction::Server
        || !["notifications/progress", "notifications/message"]
            .iter()
            .any(is_told)
    {
        return;
    }
    if told.fetch_add(1, Ordering::Relaxed) >= MOST_TOLD {
        return;
    }
    let message: Value = serde_json::from_str(message).unwrap_or_default();
    let params = &message["params"];
    let said = match message["method"].as_str() {
        Some("notifications/progress") => progress(params),
        Some("notifications/message") => log_message(params),
        _ => return,
    };
    output::stderr(&format!("{}\n", escape(&cut(&said, LONGEST_TOLD))));
}

/// `progress: 3 of 10, reading`.
fn progress(params: &Value) -> String {
    let done = words(&params["progress"]);
    format!(
        "progress: {done}{}{}",
        part(params, "total", " of "),
        part(params, "message", ", ")
    )
}

/// `log: warning docs: the index is old`.
fn log_message(params: &Value) -> String {
    let data = match (&params["data"], params) {
        (Value::Null, Value::Null) => "a message that says nothing".to_owned(),
        (Value::Null, odd) => odd.to_string(),
        (data, _) => words(data),
    };
    let whose = format!(
        "{}{}",
        part(params, "level", " "),
        part(params, "logger", " ")
    );
    let colon = if whose.is_empty() { "" } else { ":" };
    format!("log:{whose}{colon} {data}")
}

fn part(params: &Value, key: &str, before: &str) -> String {
    match &params[key] {
        Value::Null => String::new(),
        value => format!("{before}{}", words(value)),
    }
}

fn words(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

fn show(
    result: &RawValue,
    schema: Option<&Value>,
    as_json: bool,
    paint: Paint,
) -> Result<u8, Failure> {
    // What is nested too deeply to be read is shown as it came.
    let value: Value = serde_json::from_str(result.get()).unwrap_or_default();
    let text = if as_json || value.is_null() {
        format!("{}\n", result.get().trim())
    } else {
        answer::render(result)
    };
    output::stdout(text.as_bytes())?;
    if let Some(schema) = schema.filter(|_| !value.is_null()) {
        for fault in output_faults(schema, &value) {
            output::notes(&format!("note: {}\n", escape(&fault)));
        }
    }
    if value["isError"] == Value::Bool(true) {
        output::stderr(&format!(
            "{}: the tool reports a failure (isError)\n",
            paint.red("error")
        ));
        return Ok(EXIT_FAILED);
    }
    Ok(0)
}

/// Prints the JSON-RPC error that a server answered with.
fn show_error(error: &RpcError, as_json: bool, paint: Paint) -> Result<u8, Failure> {
    if as_json {
        let text = serde_json::to_string(error)?;
        output::stdout(format!("{{\"error\":{text}}}\n").as_bytes())?;
    }
    let data = error
        .data
        .as_ref()
        .map(|data| format!("\n  data: {}", escape(data.get())))
        .unwrap_or_default();
    output::notes(&format!(
        "{} {} {}{data}\n",
        paint.red("error"),
        error.code,
        escape(&error.message)
    ));
    Ok(EXIT_FAILED)
}

/// The call is made anyway: the server's answer is what the user wants to see.
fn unknown_tool(wanted: &str, tools: &[Tool]) -> String {
    const SHOWN: usize = 20;
    let known = tools.iter().map(|tool| tool.name.as_str());
    let help = match nearest(wanted, known.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if tools.is_empty() => "it lists no tools".to_owned(),
        None => {
            let more = if tools.len() > SHOWN { ", …" } else { "" };
            format!(
                "it has {}{more}",
                known.take(SHOWN).collect::<Vec<_>>().join(", ")
            )
        }
    };
    format!(
        "note: the server lists no tool `{}`; {}\n",
        escape(wanted),
        escape(&help)
    )
}
