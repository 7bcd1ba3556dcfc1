//! Does the name say what is done, and do the annotations agree?

use super::look::Look;
use super::rules::Spot;

const NAME: &str = "/name";

const VAGUE: [&str; 8] = [
    "do", "handle", "manage", "operate", "perform", "process", "work", "utility",
];

const DESTRUCTIVE: [&str; 12] = [
    "delete",
    "destroy",
    "drop",
    "erase",
    "kill",
    "purge",
    "remove",
    "revoke",
    "terminate",
    "truncate",
    "uninstall",
    "wipe",
];

/// The longest tool name that every provider accepts.
const LONGEST: usize = 64;

pub(super) fn is_vague(look: &Look<'_>, _: &[Look<'_>]) -> Vec<Spot> {
    match look.name.first() {
        Some(verb) if VAGUE.contains(&verb.as_str()) => {
            vec![Spot::new(
                NAME,
                format!("`{verb}` does not name the action"),
            )]
        }
        _ => Vec::new(),
    }
}

pub(super) fn is_refused(look: &Look<'_>, _: &[Look<'_>]) -> Vec<Spot> {
    let name = &look.tool.tool.name;
    let is_taken = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if (1..=LONGEST).contains(&name.len()) && name.chars().all(is_taken) {
        return Vec::new();
    }
    let what =
        format!("{name:?} is not 1 to {LONGEST} of the characters a-z, A-Z, 0-9, `_` and `-`");
    vec![Spot::new(NAME, what)]
}

pub(super) fn is_twice(look: &Look<'_>, before: &[Look<'_>]) -> Vec<Spot> {
    let tool = &look.tool.tool;
    let is_same = |other: &Look<'_>| {
        other.tool.tool.name == tool.name && other.tool.tool.server == tool.server
    };
    if !before.iter().any(is_same) {
        return Vec::new();
    }
    let what = format!("another tool is called `{}`", tool.name);
    vec![Spot::new(NAME, what)]
}

/// The word in the name that suggests data loss, at its start or end.
fn loss<'l>(look: &'l Look<'_>) -> Option<&'l String> {
    if look.name.iter().any(|word| word == "drag") {
        return None;
    }
    [look.name.first(), look.name.last()]
        .into_iter()
        .flatten()
        .find(|word| DESTRUCTIVE.contains(&word.as_str()))
}

fn hint(look: &Look<'_>, key: &str) -> Option<bool> {
    look.tool.annotations.as_ref()?.get(key)?.as_bool()
}

pub(super) fn is_loss_unannotated(look: &Look<'_>, _: &[Look<'_>]) -> Vec<Spot> {
    let is_silent = look.tool.annotations.is_some()
        && hint(look, "destructiveHint").is_none()
        && hint(look, "readOnlyHint").is_none();
    match loss(look) {
        Some(word) if is_silent => {
            let what = format!("the name contains `{word}`, but no annotation declares it");
            vec![Spot::new("/annotations", what)]
        }
        _ => Vec::new(),
    }
}

pub(super) fn is_loss_denied(look: &Look<'_>, _: &[Look<'_>]) -> Vec<Spot> {
    let wrong = [("readOnlyHint", true), ("destructiveHint", false)];
    let denied = wrong
        .into_iter()
        .find(|(key, value)| hint(look, key) == Some(*value));
    let (Some(word), Some((key, value))) = (loss(look), denied) else {
        return Vec::new();
    };
    let what = format!("the name contains `{word}`, but the annotations have `{key}: {value}`");
    vec![Spot::new(format!("/annotations/{key}"), what)]
}
