//! What must not be in any text that leaves this process, whichever command writes it?

use crate::secrets::BARE;
use mcptest_core::provider::FAMILIES;
use mcptest_core::suite::Suite;
use mcptest_redact::{Redactor, is_secret_name};
use parking_lot::Mutex;
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// The number of bytes above which JSON Lines are cleaned on all cores.
const LONG: usize = 256 << 10;

/// The secrets that this process knows.
struct Known {
    values: BTreeSet<(String, String)>,
    /// True if the environment and the command line are among the values.
    is_begun: bool,
    /// Built from the values, and dropped when a value is added.
    redactor: Option<Arc<Redactor>>,
}

static KNOWN: Mutex<Known> = Mutex::new(Known {
    values: BTreeSet::new(),
    is_begun: false,
    redactor: None,
});

/// The value of an environment variable. Values that suites request here are hidden from then on.
pub fn environment(name: &str) -> Option<String> {
    // What the shell says may be old, or not be there at all.
    if name == "PWD" {
        return std::env::current_dir()
            .ok()
            .map(|here| here.display().to_string());
    }
    let value = std::env::var(name).ok()?;
    // The address of a provider is told in errors, which are recorded; replay tells the same without it.
    if !FAMILIES
        .iter()
        .any(|family| family.base_urls.contains(&name))
    {
        remember(name, &value);
    }
    Some(value)
}

/// Hides a value with this name, unless it is plain.
pub fn remember(name: &str, value: &str) {
    if is_secret_name(name) || !is_plain(value) {
        add(name, value);
        // Of `Bearer TOKEN` the token alone is a secret too.
        if let Some((_, token)) = value.split_once(' ').filter(|(_, token)| !is_plain(token)) {
            add(name, token);
        }
    }
}

/// Hides the secrets in the words of a server's command, or in its address.
pub fn remember_words(words: &[String]) {
    for (name, value) in in_words(words) {
        add(&name, &value);
    }
}

/// Hides the values of a suite.
pub(crate) fn remember_suite(suite: &Suite) {
    for (name, value) in suite.secret_values(&environment) {
        remember(&name, &value);
    }
}

/// A string that is safe to print or write: without tokens of known shape, values under secret
/// names, texts that suites redact, and values under secret names in the environment and on the
/// command line. JSON stays JSON.
pub fn clean(text: &str) -> Cow<'_, str> {
    match redactor() {
        Some(redactor) if text.len() > LONG && is_json_lines(text) => clean_lines(text, &redactor),
        Some(redactor) => redactor.text(text),
        None => Cow::Borrowed("[redacted: the secrets cannot be separated from other texts]\n"),
    }
}

/// Returns false only if [`clean`] does not change the text.
pub fn may_be_unclean(text: &str) -> bool {
    redactor().is_none_or(|redactor| redactor.may_find(text))
}

/// Cleans each line as a separate document, so that all cores can work.
fn clean_lines<'t>(text: &'t str, redactor: &Redactor) -> Cow<'t, str> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let clean: Vec<Cow<'_, str>> = lines.par_iter().map(|line| redactor.text(line)).collect();
    let is_as_it_was = clean.iter().all(|line| matches!(line, Cow::Borrowed(_)));
    if is_as_it_was {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(clean.concat())
    }
}

fn is_json_lines(text: &str) -> bool {
    text.lines()
        .all(|line| line.starts_with('{') && line.ends_with('}'))
}

/// Writes a file of mcptest that is not a recording: a suite, a report, a converted tape.
pub fn write(path: &Path, text: &str) -> std::io::Result<()> {
    mcptest_files::write(path, clean(text).as_bytes())
}

/// Writes a file of mcptest, replacing only files of its kind.
pub fn write_over(
    path: &Path,
    text: &str,
    is_own: fn(&[u8]) -> bool,
    in_the_way: &str,
) -> std::io::Result<()> {
    if !mcptest_files::may_replace(path, is_own)? {
        let message = format!("this place already contains {in_the_way}");
        return Err(std::io::Error::new(
            std::io::ErrorKind::AlreadyExists,
            message,
        ));
    }
    mcptest_files::make_folder_of(path)?;
    write(path, text)
}

/// Writes a user's file back after a change that was already cleaned; the rest of it is the user's.
pub fn write_back(path: &Path, text: &str) -> std::io::Result<()> {
    mcptest_files::write(path, text.as_bytes())
}

/// The redactor for all secrets that this process knows.
pub(crate) fn redactor() -> Option<Arc<Redactor>> {
    let mut known = KNOWN.lock();
    if !known.is_begun {
        known.is_begun = true;
        let words: Vec<String> = std::env::args_os()
            .skip(1)
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        known
            .values
            .extend(of_environment().chain(in_words(&words)));
        known.redactor = None;
    }
    if known.redactor.is_none() {
        let add = |builder: mcptest_redact::Builder, (name, value): &(String, String)| {
            builder.value(name, value)
        };
        known.redactor = match &*BARE {
            Some(bare) if known.values.is_empty() => Some(Arc::new(bare.clone())),
            _ => known
                .values
                .iter()
                .fold(Redactor::builder(), add)
                .build()
                .ok()
                .map(Arc::new),
        };
    }
    known.redactor.clone()
}

fn add(name: &str, value: &str) {
    let mut known = KNOWN.lock();
    if mcptest_redact::is_secret_value(value)
        && known.values.insert((name.to_owned(), value.to_owned()))
    {
        known.redactor = None;
    }
}

/// The environment variables whose names and values are text.
pub fn variables() -> impl Iterator<Item = (String, String)> {
    let all = std::env::vars_os();
    all.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

fn of_environment() -> impl Iterator<Item = (String, String)> {
    variables().filter(|(name, value)| {
        is_secret_name(name) && mcptest_redact::is_secret_value(value) && !is_plain(value)
    })
}

/// The secrets in the words of a command: after `--api-key`, in `TOKEN=…` and in addresses.
fn in_words(words: &[String]) -> Vec<(String, String)> {
    let written: Vec<&str> = words.iter().map(String::as_str).collect();
    let found = mcptest_redact::command::secrets_in_words(BARE.as_ref(), &written);
    let of_word = |(word, secrets): (&String, Vec<(String, Range<usize>)>)| {
        secrets
            .into_iter()
            .map(|(name, at)| (name, word[at].to_owned()))
            .collect::<Vec<_>>()
    };
    words.iter().zip(found).flat_map(of_word).collect()
}

/// Returns true for a single word, or a path that exists or could: hiding it would garble mcptest's
/// own words.
fn is_plain(value: &str) -> bool {
    let path = Path::new(value);
    let has_place = || path.exists() || path.parent().is_some_and(Path::exists);
    value.chars().all(char::is_alphabetic) || (path.is_absolute() && has_place())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_json_lines_are_cleaned_as_a_whole_text_is() {
        let secret = concat!("ghp_", "0123456789abcdefghijABCDEFGHIJ012345");
        let line = |number: usize| match number % 500 {
            7 => format!(
                "{{\"run\":{number},\"said\":\"use {secret}\",\"password\":\"hunter2 hunter2\"}}\n"
            ),
            _ => format!(
                "{{\"run\":{number},\"said\":\"{}\"}}\n",
                "plain words ".repeat(30)
            ),
        };
        let lines: String = (0..2000).map(line).collect();
        assert!(lines.len() > LONG && is_json_lines(&lines));
        let cleaned = clean(&lines);
        assert!(!cleaned.contains(secret) && !cleaned.contains("hunter2"));
        assert_eq!(cleaned, redactor().unwrap().text(&lines));
        assert_eq!(cleaned.lines().count(), 2000);
    }

    #[test]
    fn one_document_over_many_lines_is_not_taken_for_many() {
        assert!(is_json_lines("{\"a\":1}\n{}\n"));
        assert!(!is_json_lines("{\n  \"a\": 1\n}\n"));
        assert!(!is_json_lines("{\"a\":1}\nwords\n"));
    }
}
