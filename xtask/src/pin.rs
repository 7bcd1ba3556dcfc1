//! `pin`: the headers of the suites' cassettes, written anew from the suites; the runs stay as they are.

use crate::say;
use mcptest_core::eval::SideRuns;
use mcptest_core::row::AgentRow;
use mcptest_core::trace::{Header, Run};
use mcptest_run::cassette::{Recording, sealed};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(crate) fn run(arguments: &[String]) -> Result<ExitCode, String> {
    let named: Vec<PathBuf> = arguments.iter().map(PathBuf::from).collect();
    let found = mcptest_run::find(&named, Path::new("")).map_err(|error| error.to_string())?;
    for (path, loaded) in mcptest_run::load_suites_to_capture(&found.suites) {
        let suite = loaded
            .suite
            .ok_or_else(|| format!("{path} is refused: see `mcptest validate {path}`"))?;
        suite.agent_rows().try_for_each(pin)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn pin(row: AgentRow<'_>) -> Result<(), String> {
    let agent = row.agent;
    let paths = mcptest_run::cassette_paths(row).map_err(|error| error.to_string())?;
    let [path] = &paths[..] else { return Ok(()) };
    if path
        .extension()
        .is_none_or(|extension| extension != "jsonl")
        || !path.exists()
    {
        return Ok(());
    }
    let expected = mcptest_run::expected_header(row);
    write(path, expected.clone())?;
    let faults = mcptest_run::side_path(row).filter(|path| path.exists());
    let Some(faults) = faults else { return Ok(()) };
    let recording = Recording::open(path).map_err(|error| error.to_string())?;
    let cassette = recording.cassette().map_err(|error| error.to_string())?;
    let traces = cassette
        .runs
        .iter()
        .filter_map(|run| run.trace.as_ref().ok());
    let header = cassette.header.as_ref();
    let runs: Vec<Run<'_>> = traces
        .map(|trace| Run {
            header,
            ..Run::of(trace)
        })
        .collect();
    let mut expected = expected;
    if let Some(side) = SideRuns::of(agent, &runs) {
        side.name_in(&mut expected);
    }
    write(&faults, expected)
}

/// Puts the header in place of the one that is there, or before the first line.
fn write(path: &Path, expected: Header) -> Result<(), String> {
    let recording = Recording::open(path).map_err(|error| error.to_string())?;
    let cassette = recording.cassette().map_err(|error| error.to_string())?;
    let recorded = cassette.header.clone().unwrap_or_default();
    let header = sealed(&Header {
        catalogue: expected.catalogue.clone().or(recorded.catalogue),
        ..expected
    });
    let header = serde_json::to_string(&header).map_err(|error| error.to_string())?;
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let runs = if cassette.header.is_some() {
        text.split_once('\n').map_or("", |(_, runs)| runs)
    } else {
        &text
    };
    fs::write(path, format!("{header}\n{runs}")).map_err(|error| error.to_string())?;
    say(&format!(
        "pinned {} ({} runs)",
        path.display(),
        cassette.whole_runs()
    ));
    Ok(())
}
