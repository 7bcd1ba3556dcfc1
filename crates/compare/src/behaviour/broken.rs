//! How does a report describe a fact that no longer holds?

use super::fact::{Fact, RunFacts};
use mcptest_core::words::and_more;
use std::collections::BTreeSet;

/// The number of values to show.
const SHOWN: usize = 3;

impl Fact {
    /// The current state, in the runs in which the fact does not hold.
    pub(super) fn broken_in_words(&self, now: &[RunFacts<'_>]) -> String {
        let others: Vec<&RunFacts<'_>> = now
            .iter()
            .filter(|run| self.holds(run) == Some(false))
            .collect();
        match self {
            Self::Calls(tool) => format!("`{tool}` is no longer called"),
            Self::Avoids(tool) => format!("`{tool}` is now called; it was not called before"),
            Self::Before { first, then } => format!("`{then}` is now called before `{first}`"),
            Self::Gives {
                tool,
                path,
                type_word,
            } => another_type(tool, path, type_word, &others),
            Self::Value {
                tool, path, shown, ..
            } => another_value(tool, path, shown, &others),
            Self::Responds => "the response is empty now".to_owned(),
            Self::IsJson => "the response is no longer JSON".to_owned(),
            Self::Field { path, types } => another_field(path, types, &others),
            Self::Stops(reason) => {
                let found = others.iter().filter_map(|run| run.run?.stop_reason.clone());
                let found = some(found).unwrap_or_default();
                format!("the run ends with {found}, not {reason}")
            }
            Self::Passes => "`expect:` no longer holds".to_owned(),
        }
    }
}

fn another_type(tool: &str, path: &str, type_word: &str, others: &[&RunFacts<'_>]) -> String {
    let types = others
        .iter()
        .filter_map(|run| run.argument(tool, path))
        .flat_map(|found| &found.types);
    let what = argument(path);
    match some(types.map(|word| (*word).to_owned())) {
        Some(found) => format!("`{tool}`: {what} is now {found}, not {type_word}"),
        None => format!("`{tool}`: {what} is no longer given"),
    }
}

fn another_value(tool: &str, path: &str, shown: &str, others: &[&RunFacts<'_>]) -> String {
    let values = others
        .iter()
        .filter_map(|run| run.argument(tool, path))
        .flat_map(|found| found.values.values().chain(&found.texts));
    let now = some(values.cloned())
        .map(|found| format!(", but {found}"))
        .unwrap_or_default();
    format!("`{tool}`: {} is no longer {shown}{now}", argument(path))
}

fn another_field(path: &str, types: &str, others: &[&RunFacts<'_>]) -> String {
    let found = others
        .iter()
        .filter_map(|run| run.shape()?.get(path).cloned());
    let what = if path.is_empty() {
        "the response".to_owned()
    } else {
        format!("`{path}` of the response")
    };
    match some(found) {
        Some(found) => format!("{what} is now {found}, not {types}"),
        None => format!("{what} is gone"),
    }
}

/// `.city` as `city`; the arguments themselves if the path is empty.
pub(super) fn argument(path: &str) -> String {
    if path.is_empty() {
        "what it is given".to_owned()
    } else {
        format!("`{}`", path.trim_start_matches('.'))
    }
}

/// The first few distinct findings.
fn some(found: impl Iterator<Item = String>) -> Option<String> {
    let found: BTreeSet<String> = found.collect();
    let more = and_more(found.len().saturating_sub(SHOWN));
    let first: Vec<&str> = found.iter().take(SHOWN).map(String::as_str).collect();
    (!first.is_empty()).then(|| format!("{}{more}", first.join(" or ")))
}
