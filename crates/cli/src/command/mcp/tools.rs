//! What does each tool of `mcptest mcp` answer?

use crate::command::explain;
use mcptest_command::suites::Suites;
use mcptest_command::{Failure, server, suites};
use mcptest_core::escape::{escape_lines, escape_path};
use mcptest_core::report::Report;
use mcptest_replay::{Filter, JudgeOptions, Plan, Selection};
use mcptest_report::Options as Rendering;
use mcptest_run::draft::{Ask, Draft, from_recording, from_server};
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The arguments of all tools: the schema of each says which it takes.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ToolArguments {
    paths: Vec<PathBuf>,
    filter: Option<String>,
    test: String,
    topic: Option<String>,
    cassette: Option<PathBuf>,
    command: Vec<String>,
}

/// The answer of a tool as text, and as data if it has any.
type ToolAnswer = Result<(String, Option<Value>), Failure>;

/// The result of a call, as MCP has it.
pub(super) fn answer(tool: &str, arguments: &Value) -> Value {
    let answered = serde_json::from_value(arguments.clone())
        .map_err(Failure::from)
        .and_then(|asked| {
            let asked: ToolArguments = asked;
            match tool {
                "run" => digest(&asked),
                "show_failure" => show_failure(&asked),
                "explain" => explain::text(asked.topic.as_deref()).map(|text| (text, None)),
                _ => draft(asked).map(|text| (text, None)),
            }
        });
    let (text, data, is_error) = match answered {
        Ok((text, data)) => (text, data, false),
        Err(failure) => (failure.why, None, true),
    };
    let clean = mcptest_replay::clean(&text);
    let mut result = json!({ "content": [{ "type": "text", "text": escape_lines(&clean, false) }], "isError": is_error });
    if let Some(data) = data {
        result["structuredContent"] = data;
    }
    result
}

fn digest(asked: &ToolArguments) -> ToolAnswer {
    let filters: Result<Vec<Filter>, String> =
        asked.filter.iter().map(|filter| filter.parse()).collect();
    let filters =
        filters.map_err(|why| Failure::new(format!("`filter` is not a valid pattern: {why}")))?;
    let report = judged(&asked.paths, filters)?;
    let totals = &report.summary;
    let data = json!({
        "exit_code": report.exit_code(),
        "tests": totals.tests,
        "passed": totals.passed,
        "failed": totals.failed,
        "errors": totals.errors,
        "skipped": totals.skipped,
        "runs": totals.runs,
    });
    Ok((rendered(&report, "agent", 0)?, Some(data)))
}

fn show_failure(asked: &ToolArguments) -> ToolAnswer {
    let report = judged(&asked.paths, Vec::new())?;
    let tests = report.tests.iter().cloned();
    let tests: Vec<_> = tests.filter(|test| test.row_name() == asked.test).collect();
    if tests.is_empty() {
        let help = "call `run` without `filter`; it lists the tests that did not pass";
        return Err(Failure::with_help(
            format!("no test is named `{}`", asked.test),
            help,
        ));
    }
    Ok((rendered(&report.over(tests), "pretty", 2)?, None))
}

/// The report over the suites at these paths, from recordings alone.
fn judged(paths: &[PathBuf], filters: Vec<Filter>) -> Result<Report, Failure> {
    paths.iter().try_for_each(|path| inside(path))?;
    let named = Suites {
        paths: paths.to_vec(),
        config: Vec::new(),
        verbose: 0,
    };
    let loaded = suites::load(&named, crate::GATES, mcptest_replay::load_suites)?;
    let plan = Plan::new(
        &loaded,
        &Selection {
            filters,
            ..Selection::default()
        },
    );
    Ok(mcptest_replay::replay(&plan, JudgeOptions::default()))
}

fn rendered(report: &Report, reporter: &str, verbose: u8) -> Result<String, Failure> {
    let Some(reporter) = mcptest_report::find(reporter) else {
        return Err(Failure::new(format!("no reporter is named `{reporter}`")));
    };
    let bytes = (reporter.render)(
        report,
        &Rendering {
            verbose,
            ..Rendering::default()
        },
    );
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Refuses a path outside the working directory. Paths inside files are checked when they are
/// opened.
fn inside(path: &Path) -> Result<(), Failure> {
    mcptest_files::refuse_outside(path).map_err(|_outside| {
        let help = "name a file below the folder that `mcptest mcp` was started in";
        Failure::with_help(
            format!("{} is outside the working directory", escape_path(path)),
            help,
        )
    })
}

fn draft(asked: ToolArguments) -> Result<String, Failure> {
    let out = PathBuf::from("mcptest.yml");
    let draft: Draft = match (asked.cassette, asked.command.is_empty()) {
        (Some(cassette), true) => {
            inside(&cassette)?;
            from_recording(&cassette, &out, None)?
        }
        (None, false) => of_server(asked.command, out)?,
        _ => return Err(Failure::new("give one of `cassette` and `command`")),
    };
    Ok(draft.text)
}

/// Drafts from a server, on a separate thread: this thread belongs to the runtime that serves.
fn of_server(command: Vec<String>, out: PathBuf) -> Result<Draft, Failure> {
    let drafting = std::thread::spawn(move || {
        let spec = server::from_words(&command)?;
        let ask = Ask {
            spec,
            timeout: None,
            name: None,
            out,
            call: Vec::new(),
            choose: |_| Vec::new(),
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        Ok(runtime.block_on(from_server(ask))?)
    });
    drafting
        .join()
        .unwrap_or_else(|_| Err(Failure::new("the suite cannot be drafted")))
}
