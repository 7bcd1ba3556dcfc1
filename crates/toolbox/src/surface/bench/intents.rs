//! Does a text make a list of requests, each with the tools that are right for it?

use crate::surface::SurfaceTool;
use mcptest_core::problem::{Level, Problem, Sources, Span, did_you_mean};
use mcptest_core::suite::read::{Block, Field, Reading};
use mcptest_core::trace::is_tool;
use mcptest_core::words::some_of;
use mcptest_core::yaml;
use std::collections::{BTreeMap, BTreeSet};

/// The contents of a file of intents.
#[derive(Debug, Default)]
pub struct Intents {
    /// The requests.
    pub intents: Vec<Intent>,
    /// The models to ask.
    pub models: Vec<String>,
}

/// A request, and its right tools.
#[derive(Debug, Clone)]
pub struct Intent {
    /// The user's request.
    pub ask: String,
    /// The place of the request in the file.
    pub span: Span,
    /// The right tools; any of them is correct. If empty, choosing no tool is correct.
    pub tools: Vec<(String, Span)>,
}

impl Intents {
    /// Reads the text of a file, for these tools; or all that is wrong with it.
    pub fn read(
        path: &str,
        text: String,
        surface: &[SurfaceTool],
    ) -> Result<Self, (Vec<Problem>, Sources)> {
        let mut sources = Sources::default();
        let file = sources.add(path, text);
        let text = &sources.file(file).text;
        let mut problems = Vec::new();
        let root = yaml::parse(text, file, &mut problems);
        let reading = Reading::as_written(text);
        let read = root
            .as_ref()
            .and_then(|root| Field::new(&reading, root).block(Self::read_block));
        problems.extend(reading.into_problems());
        let intents = read.unwrap_or_default();
        let named = intents.intents.iter().flat_map(|intent| &intent.tools);
        problems.extend(named.filter_map(|(tool, span)| unknown(tool, *span, surface)));
        problems.extend(listed_twice(&intents.intents));
        if intents.intents.is_empty() && problems.is_empty() {
            problems.push(
                Problem::error("this file has no intents").help("list them under `intents:`"),
            );
        }
        Problem::sort(&mut problems);
        if problems.iter().any(|problem| problem.level == Level::Error) {
            Err((problems, sources))
        } else {
            Ok(intents)
        }
    }

    fn read_block(block: &mut Block<'_>) -> Self {
        let doc = "Requests, each with the tools that are right for it";
        let read = |field: &mut Field<'_>| field.list(|field| field.try_block(Intent::read));
        let intents = block.required("intents", doc, read).unwrap_or_default();
        let doc = "The models that `--write-suite` asks";
        let models = block.list("models", doc, |field| field.name());
        Self { intents, models }
    }
}

impl Intent {
    fn read(block: &mut Block<'_>) -> Option<Self> {
        let ask = block.required("ask", "The user's message", |field| field.name());
        let named = |field: &mut Field<'_>| Some((field.tool()?, field.span()));
        let one = block.optional("tool", "The tool that is right", named);
        let many = block.optional("tools", "Tools that are all right choices", |field| {
            field.list(named)
        });
        let none = block.flag("none", "Choosing no tool is correct", false);
        let given = [one.is_some(), many.is_some(), none]
            .iter()
            .filter(|given| **given)
            .count();
        let is_written = ["tool", "tools", "none"].iter().any(|key| block.has(key));
        if given != 1 && !block.is_describing() && (given > 1 || !is_written) {
            let problem = Problem::error(
                "an intent has exactly one of `tool`, `tools` and `none: \
            true`",
            );
            let span = block.key_span("ask").unwrap_or_default();
            block.report(
                problem
                    .at(span)
                    .help("name the right tool, or write `none: true`"),
            );
        }
        Some(Self {
            ask: ask?,
            span: block.key_span("ask").unwrap_or_default(),
            tools: one.into_iter().chain(many.into_iter().flatten()).collect(),
        })
    }
}

/// Requests that the file contains twice, because it is unclear which answer counts.
fn listed_twice(intents: &[Intent]) -> Vec<Problem> {
    let mut first: BTreeMap<&str, &Intent> = BTreeMap::new();
    let mut problems = Vec::new();
    for intent in intents {
        let Some(known) = first.get(intent.ask.as_str()) else {
            first.insert(&intent.ask, intent);
            continue;
        };
        let tools = |intent: &Intent| -> BTreeSet<String> {
            intent.tools.iter().map(|(tool, _)| tool.clone()).collect()
        };
        let problem = if tools(known) == tools(intent) {
            Problem::warning("this intent is listed twice").help("remove one of the two")
        } else {
            Problem::error("this intent is listed twice, with different tools")
                .help("list it once, with `tools:` for all tools that are right")
        };
        problems.push(problem.at(intent.span));
    }
    problems
}

fn unknown(written: &str, span: Span, surface: &[SurfaceTool]) -> Option<Problem> {
    let is_known = |one: &SurfaceTool| is_tool(written, &one.tool.name, one.tool.server.as_deref());
    if surface.iter().any(is_known) {
        return None;
    }
    let names = || surface.iter().map(|one| one.tool.name.as_str());
    let help = did_you_mean(written, names(), || {
        format!("the tools are {}", some_of(names()))
    });
    Some(
        Problem::error(format!("no tool is named `{written}`"))
            .at(span)
            .help(help),
    )
}
