//! A cell's recorded runs, read from its cassettes: no process, no socket, no key.

use crate::advice;
use crate::cassette::{self, Change, ReadError, Recording};
use crate::import::Fidelity;
use crate::plan::Row;
use crate::secrets::{without_secret_names, without_tokens};
use mcptest_core::report::Reason;
use mcptest_core::suite::{Agent, CassettePath, Model, Stale, Suite, Variant};
use mcptest_core::trace::{CatalogueTool, Header};
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// The recordings of a cell, each opened or with the reason why it cannot be.
pub(crate) struct Recordings {
    pub(crate) files: Vec<(PathBuf, Result<Recording, Reason>)>,
}

impl Recordings {
    /// What was recorded just now and is on no disk.
    pub(crate) fn live(cassette: &str) -> Self {
        let path = PathBuf::from("the runs made just now");
        Self { files: vec![(path.clone(), Ok(Recording::of_text(path, cassette)))] }
    }

    /// What came over from transcripts of other programs, one line for each format.
    pub(crate) fn imported(&self) -> Vec<String> {
        let opened = self.files.iter().filter_map(|(_, file)| file.as_ref().ok());
        let all = Fidelity::of_all(opened.filter_map(Recording::fidelity));
        all.iter().map(|fidelity| format!("imported from {fidelity}")).collect()
    }
}

/// Opens every recording of a cell.
pub(crate) fn open(row: Row<'_>) -> Result<Recordings, Reason> {
    let Row { cell, suite, agent, model, variant } = row;
    let paths = match &cell.traces {
        Some(group) => group.files.clone(),
        None => cassette_paths(suite, agent, model, variant).map_err(|error| advice::unresolved(&error))?,
    };
    let open_one = |path: &PathBuf| {
        if !path.exists() {
            return Err(Reason {
                message: format!("there is no recording at {}", path.display()),
                help: Some(advice::missing(cell, suite, agent)),
                ..Reason::default()
            });
        }
        let opened =
            if cell.traces.is_some() { Recording::open_transcript(path) } else { Recording::open(path) };
        opened.map_err(|error| unreadable(&error, row))
    };
    let with_path = |path: PathBuf| (path.clone(), open_one(&path));
    let files = match &paths[..] {
        [] | [_] => paths.into_iter().map(with_path).collect(),
        _ => paths.into_par_iter().map(with_path).collect(),
    };
    Ok(Recordings { files })
}

/// Why a recording cannot be read, and what to do about it.
pub(crate) fn unreadable(error: &ReadError, row: Row<'_>) -> Reason {
    let message = error.to_string();
    let help = advice::broken(&message, row.cell, row.suite, row.agent);
    Reason { message, help, ..Reason::default() }
}

/// Where the recorded runs of an agent with one of its models, in one of its variants, are.
pub fn cassette_paths(
    suite: &Suite,
    agent: &Agent,
    model: Option<&Model>,
    variant: Option<Variant>,
) -> Result<Vec<PathBuf>, cassette::ResolveError> {
    let label = model.map(Model::label);
    if let Some(CassettePath::ReadOnly(patterns)) = &agent.cassette {
        let of_model: Vec<String> =
            patterns.iter().map(|pattern| cassette::with_model(pattern, label.as_deref())).collect();
        return cassette::resolve(&of_model, suite.folder());
    }
    Ok(vec![recorded_path(suite, agent, label.as_deref(), variant)])
}

/// Where the runs of an agent's fault matrix are: beside its other ones. `None` where recordings are only read.
pub fn faults_path(
    suite: &Suite,
    agent: &Agent,
    model: Option<&Model>,
    variant: Option<Variant>,
) -> Option<PathBuf> {
    let path = recorded_path(suite, agent, model.map(Model::label).as_deref(), variant);
    (!agent.is_read_only()).then(|| cassette::beside(&path, "faults"))
}

fn recorded_path(suite: &Suite, agent: &Agent, label: Option<&str>, variant: Option<Variant>) -> PathBuf {
    let path = if let Some(CassettePath::File(path)) = &agent.cassette {
        PathBuf::from(cassette::with_model(path, label))
    } else {
        let stem = suite.path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        cassette::default_path(&stem.unwrap_or_default(), &agent.name, label)
    };
    let path = suite.folder().join(path);
    match variant {
        Some(variant) => cassette::beside(&path, &variant.to_string().replace(' ', "-")),
        None => path,
    }
}

/// How many runs are judged where recording stopped early, and more are wanted now than there are: all that are there.
pub(crate) fn early_stop(cassette: &cassette::Cassette<'_>, wanted: usize) -> Option<usize> {
    let stopped = cassette.stopped.filter(|_| !cassette.missing(wanted).is_empty())?;
    let there = cassette.runs.iter().filter(|run| run.number <= wanted).count();
    (stopped.after > 0 && there >= stopped.after).then_some(there)
}

/// Says which of the wanted runs are not recorded, when these are not.
pub(crate) fn missing(missing: &[usize], wanted: usize) -> Option<String> {
    let first = *missing.first()?;
    if missing.len() == wanted + 1 - first {
        return Some(format!("{} of {wanted} runs are recorded", first - 1));
    }
    Some(format!(
        "{} of {wanted} {} not recorded",
        numbered("run", missing),
        if missing.len() == 1 { "is" } else { "are" }
    ))
}

/// `run 3`, `runs 3 and 7`, or the first few of many.
fn numbered(what: &str, numbers: &[usize]) -> String {
    const SHOWN: usize = 5;
    let mut named: Vec<String> = numbers.iter().take(SHOWN).map(ToString::to_string).collect();
    if numbers.len() > SHOWN {
        named.push(format!("{} more", numbers.len() - SHOWN));
    }
    match &named[..] {
        [one] => format!("{what} {one}"),
        [first @ .., last] => format!("{what}s {} and {last}", first.join(", ")),
        [] => String::new(),
    }
}

/// Compares what was recorded with what the suite would record now; the differences that are tolerated are notes.
pub(crate) fn freshness(
    row: Row<'_>,
    expected: &Header,
    cassettes: &[(&Path, &cassette::Cassette<'_>)],
) -> Result<Vec<String>, Reason> {
    let mut notes = Vec::new();
    if row.cell.traces.is_some() {
        return Ok(notes);
    }
    for (path, cassette) in cassettes.iter().filter(|(_, cassette)| cassette.is_pinned()) {
        let Some(header) = &cassette.header else { continue };
        let changes = cassette::staleness(header, expected);
        let mut details: Vec<String> = changes.iter().map(Change::to_string).collect();
        let message = if !changes.is_empty() {
            format!("{} is stale: the suite has changed since it was recorded", path.display())
        } else if cassette::is_tampered(header) {
            details.push("the header does not fit its own fingerprint".to_owned());
            format!("{} was edited after it was recorded", path.display())
        } else {
            continue;
        };
        match row.suite.run_options.stale {
            Stale::Error => {
                let help = Some(advice::stale(row.cell, row.suite, row.agent));
                return Err(Reason { message, details, help });
            }
            Stale::Warn => notes.push(format!("{message} ({})", details.join("; "))),
        }
    }
    Ok(notes)
}

/// What a recording made now would carry.
pub fn expected_header(
    suite: &Suite,
    agent: &Agent,
    model: Option<&Model>,
    variant: Option<Variant>,
) -> Header {
    let with_distractors = |mut offered: Vec<CatalogueTool>| {
        offered.extend(agent.injected_tools(variant, &offered));
        offered
    };
    Header {
        model: model.map(Model::label),
        prompt: agent.turns.iter().map(|turn| without_tokens(&turn.template)).collect(),
        system_prompt: agent.system_prompt.as_ref().map(|text| without_tokens(&text.template)),
        parameters: without_secret_names(&agent.parameters).unwrap_or_else(|| agent.parameters.clone()),
        catalogue: suite.known_catalogue(agent).map(with_distractors),
        ..Header::of_agent(&agent.name)
    }
}
