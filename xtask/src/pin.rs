//! `pin`: the headers of the suites' cassettes, written anew from the suites; the runs stay as they are.

use crate::say;
use mcptest_core::suite::{Agent, Model, Suite};
use mcptest_core::trace::Header;
use mcptest_run::cassette::{Recording, sealed, write_all};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(crate) fn run(arguments: &[String]) -> Result<ExitCode, String> {
    let named: Vec<PathBuf> = arguments.iter().map(PathBuf::from).collect();
    let found = mcptest_run::find(&named, Path::new("")).map_err(|error| error.to_string())?;
    for (path, loaded) in mcptest_run::load_suites(&found.suites) {
        let suite =
            loaded.suite.ok_or_else(|| format!("{path} is refused: see `mcptest validate {path}`"))?;
        for agent in &suite.agents {
            let models: Vec<Option<&Model>> =
                if agent.models.is_empty() { vec![None] } else { agent.models.iter().map(Some).collect() };
            for model in models {
                pin(&suite, agent, model)?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn pin(suite: &Suite, agent: &Agent, model: Option<&Model>) -> Result<(), String> {
    let paths = mcptest_run::cassette_paths(suite, agent, model).map_err(|error| error.to_string())?;
    let [path] = &paths[..] else { return Ok(()) };
    if path.extension().is_none_or(|extension| extension != "jsonl") || !path.exists() {
        return Ok(());
    }
    let recording = Recording::open(path).map_err(|error| error.to_string())?;
    let cassette = recording.cassette().map_err(|error| error.to_string())?;
    let expected = mcptest_run::expected_header(suite, agent, model);
    let recorded = cassette.header.clone().unwrap_or_default();
    let header = sealed(&Header {
        format: Header::FORMAT.to_owned(),
        version: Header::VERSION,
        agent: agent.name.clone(),
        model: expected.model,
        prompt: expected.prompt,
        system_prompt: expected.system_prompt,
        parameters: expected.parameters,
        catalogue: expected.catalogue.or(recorded.catalogue),
        fingerprint: None,
    });
    let traces: Vec<String> = cassette
        .runs
        .iter()
        .map(|run| run.trace.as_ref().map(|trace| trace.text.to_owned()).map_err(ToString::to_string))
        .collect::<Result<_, _>>()?;
    write_all(path, &header, &traces).map_err(|error| error.to_string())?;
    say(&format!("pinned {} ({} runs)", path.display(), traces.len()));
    Ok(())
}
