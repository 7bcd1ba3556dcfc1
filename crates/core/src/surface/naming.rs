//! Does the name say what is done, and do the annotations agree?

use super::look::Look;
use super::rules::{Spots, spot};

const VAGUE: [&str; 8] = [
    "do", "handle", "manage", "operate", "perform", "process", "work", "utility",
];

const DESTRUCTIVE: &str =
    "delete destroy drop erase kill purge remove revoke terminate truncate uninstall wipe";

/// The longest name of a tool that every provider takes.
const LONGEST: usize = 64;

pub(super) fn is_vague(look: &Look<'_>, _: &[Look<'_>]) -> Spots {
    let verb = look
        .name
        .first()
        .filter(|verb| VAGUE.contains(&verb.as_str()));
    spot(
        "/name",
        verb.map(|verb| format!("`{verb}` does not say what is done")),
    )
}

pub(super) fn is_refused(look: &Look<'_>, _: &[Look<'_>]) -> Spots {
    let name = &look.tool.tool.name;
    let is_taken = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let is_refused = !(1..=LONGEST).contains(&name.len()) || !name.chars().all(is_taken);
    let said =
        || format!("{name:?} is not 1 to {LONGEST} of the characters a-z, A-Z, 0-9, `_` and `-`");
    spot("/name", is_refused.then(said))
}

pub(super) fn is_twice(look: &Look<'_>, before: &[Look<'_>]) -> Spots {
    let tool = &look.tool.tool;
    let is_same = |other: &Look<'_>| {
        other.tool.tool.name == tool.name && other.tool.tool.server == tool.server
    };
    let again = before.iter().any(is_same);
    spot(
        "/name",
        again.then(|| format!("another tool is called `{}`", tool.name)),
    )
}

/// The word by which the name says that something is lost, first or last in it.
fn loss<'l>(look: &'l Look<'_>) -> Option<&'l String> {
    let ends = [look.name.first(), look.name.last()];
    let is_dragged = look.name.iter().any(|word| word == "drag");
    ends.into_iter()
        .flatten()
        .find(|word| DESTRUCTIVE.split(' ').any(|known| known == *word) && !is_dragged)
}

fn hint(look: &Look<'_>, key: &str) -> Option<bool> {
    look.tool.annotations.as_ref()?.get(key)?.as_bool()
}

pub(super) fn is_loss_unannotated(look: &Look<'_>, _: &[Look<'_>]) -> Spots {
    let is_silent = look.tool.annotations.is_some()
        && hint(look, "destructiveHint").is_none()
        && hint(look, "readOnlyHint").is_none();
    let word = loss(look).filter(|_| is_silent);
    spot(
        "/annotations",
        word.map(|word| format!("the name says `{word}`, the annotations say nothing")),
    )
}

pub(super) fn is_loss_denied(look: &Look<'_>, _: &[Look<'_>]) -> Spots {
    let wrong = [("readOnlyHint", true), ("destructiveHint", false)];
    let denied = wrong
        .into_iter()
        .find(|(key, value)| hint(look, key) == Some(*value));
    let found = loss(look).zip(denied);
    let say = |(word, (key, value)): (&String, (&str, bool))| {
        (
            format!("/annotations/{key}"),
            format!("the name says `{word}`, the annotations say `{key}: {value}`"),
        )
    };
    found.map(say).into_iter().collect()
}
