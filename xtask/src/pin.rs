//! `pin`: writes the headers of the suites' cassettes again from the suites, and the seals of their
//! runs.

use crate::say;
use mcptest_core::eval::SideRuns;
use mcptest_core::row::AgentRow;
use mcptest_core::trace::{Header, Run, sealed_run_line};
use mcptest_replay::cassette::{Recording, sealed};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(crate) fn run(arguments: &[String]) -> Result<ExitCode, String> {
    let named: Vec<PathBuf> = arguments.iter().map(PathBuf::from).collect();
    let is_recording = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "jsonl");
    let (recordings, named): (Vec<_>, Vec<_>) = named.into_iter().partition(is_recording);
    recordings.iter().try_for_each(|path| seal(path))?;
    if named.is_empty() && !recordings.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    let found = mcptest_replay::find(&named, Path::new("")).map_err(|error| error.to_string())?;
    for (path, loaded) in mcptest_replay::load_suites_to_capture(&found.suites, mcptest::GATES) {
        let suite = loaded
            .suite
            .ok_or_else(|| format!("{path} is refused: see `mcptest validate {path}`"))?;
        suite.agent_rows().try_for_each(pin)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn pin(row: AgentRow<'_>) -> Result<(), String> {
    let agent = row.agent;
    if agent.is_read_only() {
        return Ok(());
    }
    let paths = mcptest_replay::cassette_paths(row).map_err(|error| error.to_string())?;
    let [path] = &paths[..] else { return Ok(()) };
    if path
        .extension()
        .is_none_or(|extension| extension != "jsonl")
        || !path.exists()
    {
        return Ok(());
    }
    let expected = mcptest_replay::expected_header(row);
    write(path, expected.clone())?;
    let faults = mcptest_replay::side_path(row).filter(|path| path.exists());
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
            ..Run::new(trace)
        })
        .collect();
    let mut expected = expected;
    if let Some(side) = SideRuns::wanted(agent, &runs) {
        side.name_in(&mut expected);
    }
    write(&faults, expected)
}

/// The line of a run with its seal; any other line unchanged.
fn with_seal(line: &str) -> String {
    let fields: BTreeMap<&str, &RawValue> = serde_json::from_str(line).unwrap_or_default();
    let number = fields.get("run").and_then(|run| run.get().parse().ok());
    match (number, fields.get("trace")) {
        (Some(run), Some(trace)) => sealed_run_line(run, trace.get()),
        _ => line.to_owned(),
    }
}

/// Gives each run of a file its seal, and leaves the other lines unchanged.
fn seal(path: &Path) -> Result<(), String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let lines: String = text.lines().map(|line| with_seal(line) + "\n").collect();
    fs::write(path, lines).map_err(|error| error.to_string())?;
    say(&format!("sealed {}", path.display()));
    Ok(())
}

/// Replaces the existing header, or adds one before the first line.
fn write(path: &Path, expected: Header) -> Result<(), String> {
    let recording = Recording::open(path).map_err(|error| error.to_string())?;
    let cassette = recording.cassette().map_err(|error| error.to_string())?;
    let recorded = cassette.header.clone().unwrap_or_default();
    let header = sealed(&Header {
        catalogue: expected.catalogue.clone().or(recorded.catalogue),
        left_out: recorded.left_out,
        instructions: recorded.instructions,
        seals: true,
        ..expected
    });
    let header = serde_json::to_string(&header).map_err(|error| error.to_string())?;
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let runs = if cassette.header.is_some() {
        text.split_once('\n').map_or("", |(_, runs)| runs)
    } else {
        &text
    };
    let runs: String = runs.lines().map(|line| with_seal(line) + "\n").collect();
    fs::write(path, format!("{header}\n{runs}")).map_err(|error| error.to_string())?;
    say(&format!(
        "pinned {} ({} runs)",
        path.display(),
        cassette.whole_runs()
    ));
    Ok(())
}
