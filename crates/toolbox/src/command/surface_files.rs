//! Which tools does a file list, where are pins stored, and what did models choose?

use crate::surface::SurfaceTool;
use crate::surface::bench::Intents;
use crate::surface::pin::Pins;
use mcptest_core::Suite;
use mcptest_core::escape::escape_path;
use mcptest_files as files;
use mcptest_replay::cassette::Recording;
use mcptest_replay::cassette_paths;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use std::io;
use std::path::Path;

/// A saved `tools/list` result or response.
#[derive(Deserialize)]
struct Saved {
    tools: Option<Vec<Box<RawValue>>>,
    result: Option<Box<Self>>,
}

/// The tools in a recording, or in a saved answer to `tools/list`, without injected distractors. The error names the
/// file.
pub(super) fn read_surface(path: &Path) -> Result<Vec<SurfaceTool>, String> {
    let at = |reason: String| format!("{}: {reason}", escape_path(path));
    let bytes =
        files::read_named(path, files::RECORDING).map_err(|error| at(files::reason(&error)))?;
    let saved = serde_json::from_slice::<Saved>(&bytes).ok();
    let saved = saved.and_then(|saved| {
        saved
            .tools
            .or_else(|| saved.result.and_then(|result| result.tools))
    });
    if let Some(entries) = saved {
        let read = entries.iter().map(|entry| SurfaceTool::listed(entry, None));
        let tools: Result<Vec<_>, _> = read.collect();
        return tools.map_err(|error| at(format!("cannot read one of its tools: {error}")));
    }
    let recording = Recording::open(path).map_err(|error| error.to_string())?;
    let header = recording
        .cassette()
        .map_err(|error| error.to_string())?
        .header;
    let Some(catalogue) = header.and_then(|header| header.catalogue) else {
        return Err(at("it does not contain the tools".to_owned()));
    };
    Ok(catalogue
        .iter()
        .filter(|tool| !tool.distractor)
        .map(SurfaceTool::recorded)
        .collect())
}

/// Reads the pins that are named on the command line.
pub(super) fn read_pins(path: &Path) -> Result<Pins, String> {
    let bytes = files::read_named(path, files::RECORDING).map_err(|error| files::reason(&error))?;
    Pins::read(&bytes).map_err(|error| error.to_string())
}

/// Writes pins, replacing only pins.
pub(super) fn write_pins(path: &Path, pins: &Pins) -> io::Result<()> {
    let in_the_way = "which is not a baseline of tools; choose another file";
    mcptest_replay::write_over(path, &pins.to_text(), Pins::is_one, in_the_way)
}

/// The first choice of a model for a request.
#[derive(Debug)]
pub(super) struct FirstChoice {
    /// The model.
    pub(super) model: String,
    /// The request.
    pub(super) ask: String,
    /// The tool of its first call; `None` without calls.
    pub(super) tool: Option<String>,
}

/// The first call of every recorded run of a suite.
pub(super) fn first_choices(suite: &Suite) -> Result<Vec<FirstChoice>, String> {
    let mut choices = Vec::new();
    for row in suite.agent_rows() {
        for path in cassette_paths(row).map_err(|error| error.to_string())? {
            let recording = Recording::open(&path).map_err(|error| error.to_string())?;
            let cassette = recording.cassette().map_err(|error| error.to_string())?;
            let ask = cassette
                .header
                .and_then(|header| header.prompt.into_iter().next())
                .unwrap_or_default();
            for run in cassette.runs {
                let trace = run
                    .trace
                    .map_err(|error| format!("{}: {error}", path.display()))?;
                let tool = trace.tool_calls.first().map(|call| call.name.to_string());
                let model = row.model_label().unwrap_or_default();
                choices.push(FirstChoice {
                    model,
                    ask: ask.clone(),
                    tool,
                });
            }
        }
    }
    Ok(choices)
}

/// Writes a suite that asks models for every intent, and a mock of the tools that does nothing.
/// Neither replaces another file.
pub(super) fn write_bench(path: &Path, tools: &[SurfaceTool], intents: &Intents) -> io::Result<()> {
    let list_path = path.with_extension("tools.json");
    let list_name = list_path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    files::make_folder_of(path)?;
    write_new(&list_path, &tools_list(tools))?;
    write_new(path, &bench_suite(&list_name, intents))
}

fn write_new(path: &Path, text: &str) -> io::Result<()> {
    if path.exists() {
        return Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            format!("{} already exists", path.display()),
        ));
    }
    mcptest_replay::write(path, text)
}

/// The tools as an answer to `tools/list`.
fn tools_list(tools: &[SurfaceTool]) -> String {
    let listed = |one: &SurfaceTool| {
        let tool = &one.tool;
        json!({ "name": tool.name, "description": tool.description, "inputSchema": tool.input_schema })
    };
    let list = json!({ "tools": tools.iter().map(listed).collect::<Vec<_>>() });
    format!("{list}\n")
}

/// The suite with an agent for each intent.
fn bench_suite(list_name: &str, intents: &Intents) -> String {
    let mut text = format!(
        "# What do models choose? Written by `mcptest tool-bench --write-suite`.\nservers:\n  bench: {{ mock: {} }}\nagents:\n",
        json!(list_name)
    );
    for intent in &intents.intents {
        let right: Vec<&String> = intent.tools.iter().map(|(tool, _)| tool).collect();
        let gate = if right.is_empty() {
            "expect: [{ target: tool_names, matcher: { exact: [] } }]".to_owned()
        } else {
            format!(
                "equal_function_sets: {{ classes: [{{ name: right, members: {} }}] }}",
                json!(right)
            )
        };
        let (ask, models) = (json!(intent.ask), json!(intents.models));
        text.push_str(&format!("  - name: {ask}\n    models: {models}\n    servers: [bench]\n    prompt: {ask}\n    max_turns: 1\n    {gate}\n"));
    }
    text
}
