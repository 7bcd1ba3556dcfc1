//! A cell's recorded runs, read from its cassettes: no process, no socket, no key.

use crate::advice;
use crate::cassette::{self, Change, ExpectedHeader, ReadError, Recording};
use crate::plan::Cell;
use mcptest_core::report::Reason;
use mcptest_core::suite::{Agent, CassettePath, Model, Stale, Suite};
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
}

/// Opens every recording of a cell.
pub(crate) fn open(
    cell: &Cell<'_>,
    suite: &Suite,
    agent: &Agent,
    model: Option<&Model>,
) -> Result<Recordings, Reason> {
    let paths = cassette_paths(suite, agent, model).map_err(|error| advice::unresolved(&error))?;
    let open_one = |path: &PathBuf| {
        if !path.exists() {
            return Err(Reason {
                message: format!("there is no recording at {}", path.display()),
                help: Some(advice::missing(cell, suite, agent)),
                ..Reason::default()
            });
        }
        Recording::open(path).map_err(|error| unreadable(&error, cell, suite, agent))
    };
    let files = paths.into_iter().map(|path| (path.clone(), open_one(&path))).collect();
    Ok(Recordings { files })
}

/// Why a recording cannot be read, and what to do about it.
pub(crate) fn unreadable(error: &ReadError, cell: &Cell<'_>, suite: &Suite, agent: &Agent) -> Reason {
    let message = error.to_string();
    let help = advice::broken(&message, cell, suite, agent);
    Reason { message, help, ..Reason::default() }
}

/// Where the recorded runs of an agent with one of its models are.
pub fn cassette_paths(
    suite: &Suite,
    agent: &Agent,
    model: Option<&Model>,
) -> Result<Vec<PathBuf>, cassette::ResolveError> {
    let label = model.map(Model::label);
    match &agent.cassette {
        None => {
            let stem =
                suite.path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            Ok(vec![suite.folder().join(cassette::default_path(&stem, &agent.name, label.as_deref()))])
        }
        Some(CassettePath::File(path)) => {
            Ok(vec![suite.folder().join(cassette::with_model(path, label.as_deref()))])
        }
        Some(CassettePath::ReadOnly(patterns)) => {
            let of_model: Vec<String> =
                patterns.iter().map(|pattern| cassette::with_model(pattern, label.as_deref())).collect();
            cassette::resolve(&of_model, suite.folder())
        }
    }
}

/// Says which of the wanted runs are not recorded, when some are not.
pub(crate) fn missing(
    cassettes: &[(&Path, &cassette::Cassette<'_>)],
    recorded: usize,
    wanted: usize,
) -> Option<String> {
    let missing = match cassettes {
        [(_, cassette)] => cassette.missing(wanted),
        _ => (recorded + 1..=wanted).collect(),
    };
    let first = *missing.first()?;
    if missing.len() == wanted + 1 - first {
        return Some(format!("{} of {wanted} runs are recorded", first - 1));
    }
    Some(format!(
        "{} of {wanted} {} not recorded",
        numbered("run", &missing),
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

/// How the recordings differ from the suite as it is now.
pub(crate) enum Freshness {
    /// They fit, or there is nothing to compare.
    Fresh(Vec<String>),
    /// They do not fit, and that is an error.
    Stale(Reason),
}

/// Compares what was recorded with what the suite would record now.
pub(crate) fn freshness(
    cell: &Cell<'_>,
    suite: &Suite,
    agent: &Agent,
    model: Option<&Model>,
    cassettes: &[(&Path, &cassette::Cassette<'_>)],
) -> Freshness {
    let expected = expected_header(suite, agent, model);
    let mut notes = Vec::new();
    for (path, cassette) in cassettes.iter().filter(|(_, cassette)| cassette.is_pinned()) {
        let Some(header) = &cassette.header else { continue };
        let changes = cassette::staleness(header, &expected);
        let mut details: Vec<String> = changes.iter().map(Change::to_string).collect();
        let message = if !changes.is_empty() {
            format!("{} is stale: the suite has changed since it was recorded", path.display())
        } else if cassette::is_tampered(header) {
            details.push("the header does not fit its own fingerprint".to_owned());
            format!("{} was edited after it was recorded", path.display())
        } else {
            continue;
        };
        match suite.run_options.stale {
            Stale::Error => {
                let help = Some(advice::stale(cell, suite, agent));
                return Freshness::Stale(Reason { message, details, help });
            }
            Stale::Warn => notes.push(format!("{message} ({})", details.join("; "))),
        }
    }
    Freshness::Fresh(notes)
}

/// What a recording made now would carry.
pub fn expected_header(suite: &Suite, agent: &Agent, model: Option<&Model>) -> ExpectedHeader {
    ExpectedHeader {
        model: model.map(Model::label),
        prompt: agent.turns.iter().map(|turn| turn.template.clone()).collect(),
        system_prompt: agent.system_prompt.as_ref().map(|text| text.template.clone()),
        parameters: agent.parameters.clone(),
        catalogue: suite.known_catalogue(agent, &crate::host()),
    }
}
