//! Which differences would a user of the model not mind?

use super::broken::argument;
use super::fact::{ArgumentFacts, RunFacts, called};
use crate::baseline::{Difference, DifferenceClass, Length};
use std::collections::{BTreeMap, BTreeSet};

/// The differences that are tolerated, each once.
pub(super) fn find(before: &[RunFacts<'_>], after: &[RunFacts<'_>]) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut add = |kind: &'static str, message: String| {
        found.push(Difference {
            class: DifferenceClass::Pass,
            kind,
            message,
            support: None,
            missing_runs: None,
        });
    };
    for tool in called(before).intersection(&called(after)) {
        if let Some((was, is)) = changed_range(before, after, |run| run.calls.get(tool).copied()) {
            add(
                "tool",
                format!("`{tool}`: the calls per run are now {is}; they were {was}"),
            );
        }
        for message in arguments(tool, before, after) {
            add("arguments", message);
        }
    }
    for message in responses(before, after) {
        add("response", message);
    }
    found
}

/// The lowest and the highest number over the runs of each side, if they differ.
fn changed_range(
    before: &[RunFacts<'_>],
    after: &[RunFacts<'_>],
    count: impl Fn(&RunFacts<'_>) -> Option<usize>,
) -> Option<(String, String)> {
    let range = |runs: &[RunFacts<'_>]| {
        let (least, most) = (
            runs.iter().filter_map(&count).min()?,
            runs.iter().filter_map(&count).max()?,
        );
        Some(if least == most {
            least.to_string()
        } else {
            format!("{least} to {most}")
        })
    };
    let (was, is) = (range(before)?, range(after)?);
    (was != is).then_some((was, is))
}

fn arguments(tool: &str, before: &[RunFacts<'_>], after: &[RunFacts<'_>]) -> Vec<String> {
    let given = |runs: &[RunFacts<'_>]| -> BTreeSet<String> {
        runs.iter()
            .filter_map(|run| run.arguments.get(tool))
            .flat_map(|found| found.keys().cloned())
            .collect()
    };
    let mut said = Vec::new();
    for path in given(after) {
        let at = |runs: &'_ [RunFacts<'_>],
                  take: fn(&ArgumentFacts) -> Vec<String>|
         -> BTreeSet<String> {
            runs.iter()
                .filter_map(|run| run.argument(tool, &path))
                .flat_map(take)
                .collect()
        };
        let what = argument(&path);
        if before.iter().all(|run| run.argument(tool, &path).is_none()) {
            said.push(format!("`{tool}`: {what} is given now"));
            continue;
        }
        let texts: fn(&ArgumentFacts) -> Vec<String> =
            |found| found.texts.iter().cloned().collect();
        if !at(after, texts).is_subset(&at(before, texts)) && !at(before, texts).is_empty() {
            said.push(format!("`{tool}`: {what} is worded differently"));
        }
        said.extend(
            respelled(tool, &path, before, after).map(|how| format!("`{tool}`: {what} {how}")),
        );
    }
    said
}

/// A value that changed only in case and white space.
fn respelled(
    tool: &str,
    path: &str,
    before: &[RunFacts<'_>],
    after: &[RunFacts<'_>],
) -> Option<String> {
    let found = |runs: &[RunFacts<'_>]| {
        let mut spellings: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (value, shown) in runs
            .iter()
            .filter_map(|run| run.argument(tool, path))
            .flat_map(|one| &one.values)
        {
            spellings
                .entry(value.clone())
                .or_default()
                .insert(shown.clone());
        }
        spellings
    };
    let was = found(before);
    found(after).into_iter().find_map(|(value, shown)| {
        // Numbers are compared by value, however they are written.
        let known = was
            .get(&value)
            .filter(|known| value.starts_with('"') && known.is_disjoint(&shown))?;
        Some(format!(
            "is now written {}; it was {}",
            shown.first()?,
            known.first()?
        ))
    })
}

fn responses(before: &[RunFacts<'_>], after: &[RunFacts<'_>]) -> Vec<String> {
    let mut said = Vec::new();
    let paths = |runs: &[RunFacts<'_>]| -> BTreeSet<String> {
        runs.iter()
            .filter_map(RunFacts::shape)
            .flat_map(|shape| shape.keys().cloned())
            .collect()
    };
    let (was, is) = (paths(before), paths(after));
    if !was.is_empty() {
        said.extend(
            is.difference(&was)
                .map(|path| format!("`{path}` of the response is new")),
        );
    }
    let texts = |runs: &[RunFacts<'_>]| -> BTreeSet<String> {
        runs.iter()
            .filter_map(|run| Some(run.run?.response.text.clone()))
            .collect()
    };
    if !texts(after).is_subset(&texts(before)) {
        said.push("the text of the response differs".to_owned());
    }
    let lengths = |runs: &[RunFacts<'_>]| -> BTreeSet<Length> {
        runs.iter()
            .filter_map(|run| Some(run.run?.response.length))
            .collect()
    };
    if !lengths(after).is_subset(&lengths(before)) {
        said.push("the length of the response differs".to_owned());
    }
    said
}
