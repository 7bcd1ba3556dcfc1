//! Which files make up a user's own program, and what were their contents when the suite was
//! loaded?

use super::agent::OwnAgent;
use super::load::{Host, Parts};
use crate::digest::digest;
use crate::grade::Asks;
use crate::problem::Problem;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Reads the files of each program. A recording with different files is stale.
pub(super) fn read(parts: &mut Parts, suite: &Path, host: &Host<'_>, problems: &mut Vec<Problem>) {
    let folder = suite.parent().unwrap_or(Path::new(""));
    let of_agents = parts
        .agents
        .iter_mut()
        .filter_map(|agent| agent.own.as_mut());
    let of_scorers = parts
        .scorers
        .iter_mut()
        .filter_map(|scorer| match &mut scorer.item.asks {
            Asks::Scorer(scorer) => Some(&mut scorer.program),
            _ => None,
        });
    // Agents share programs: each file is read once.
    let known = RefCell::new(BTreeMap::new());
    let read_once = |path: &Path| {
        known
            .borrow_mut()
            .entry(path.to_owned())
            .or_insert_with(|| (host.read)(path))
            .clone()
    };
    let host = &Host {
        read: &read_once,
        ..*host
    };
    for own in of_agents.chain(of_scorers) {
        own.digests = match &own.files {
            None => scripts(own, folder, host),
            Some(_) => listed(own, folder, host, problems),
        };
    }
}

/// The entries of `files:`. A pattern has one digest over the names and contents of all its files.
fn listed(
    own: &OwnAgent,
    folder: &Path,
    host: &Host<'_>,
    problems: &mut Vec<Problem>,
) -> BTreeMap<String, String> {
    let mut digests = BTreeMap::new();
    for (written, span) in own.files.iter().flatten() {
        let named = |path: &Path| {
            path.strip_prefix(folder)
                .unwrap_or(path)
                .display()
                .to_string()
        };
        let read = |path: &Path| (host.read)(path).map(|bytes| content(&bytes));
        let content = (host.list)(folder, written).and_then(|paths| match &paths[..] {
            [path] if named(path) == *written => read(path),
            _ => {
                let line =
                    |path: &PathBuf| Ok(named(path).replace('\\', "/") + " " + &read(path)? + "\n");
                Ok(digest(
                    paths
                        .iter()
                        .map(line)
                        .collect::<Result<String, String>>()?
                        .as_bytes(),
                ))
            }
        });
        match content {
            Ok(content) => drop(digests.insert(written.clone(), content)),
            Err(reason) => {
                let message = format!("cannot read `{written}` under `files:`: {reason}");
                let help = "paths are relative to the suite; correct it, or remove it";
                problems.push(Problem::error(message).at(*span).help(help));
            }
        }
    }
    digests
}

/// The words of the command that name text files. Compiled programs differ on every machine, and so
/// may programs at absolute paths, so they do not count.
fn scripts(own: &OwnAgent, folder: &Path, host: &Host<'_>) -> BTreeMap<String, String> {
    let fill = |text: &String| own.scope.fill(text, host.environment).ok();
    let Some(cwd) = own.cwd.as_ref().map_or_else(|| Some(String::new()), fill) else {
        return BTreeMap::new();
    };
    let script = |word: &String| {
        let named = own.scope.template(word);
        let is_own = named.starts_with("${CONFIG_DIR}") || !Path::new(&named).is_absolute();
        let path =
            fill(word).filter(|word| is_own && !word.is_empty() && !word.starts_with('-'))?;
        let text = String::from_utf8((host.read)(&folder.join(&cwd).join(path)).ok()?).ok()?;
        Some((named, content(text.as_bytes())))
    };
    own.command.iter().filter_map(script).collect()
}

/// The digest of a file with normalized line ends.
fn content(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => digest(text.replace("\r\n", "\n").as_bytes()),
        Err(_) => digest(bytes),
    }
}
