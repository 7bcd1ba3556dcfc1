//! Does the subject of a commit begin with an imperative?

use std::process::ExitCode;

/// Words that begin a description, not an imperative.
const NOT_COMMANDS: &[&str] = &[
    "a",
    "after",
    "all",
    "also",
    "an",
    "and",
    "as",
    "at",
    "before",
    "both",
    "but",
    "by",
    "each",
    "every",
    "everything",
    "for",
    "from",
    "how",
    "if",
    "in",
    "it",
    "its",
    "many",
    "more",
    "most",
    "no",
    "nobody",
    "none",
    "not",
    "nothing",
    "now",
    "of",
    "on",
    "one",
    "or",
    "our",
    "several",
    "some",
    "that",
    "the",
    "their",
    "there",
    "these",
    "they",
    "this",
    "those",
    "to",
    "two",
    "we",
    "what",
    "when",
    "where",
    "whether",
    "which",
    "while",
    "who",
    "why",
    "with",
    "you",
    "your",
];

/// Commands that look like inflected verbs.
const COMMANDS: &[&str] = &[
    "bring", "embed", "feed", "need", "seed", "shed", "speed", "string",
];

/// Checks the message in a file, as git passes it to the hook `commit-msg`.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode, String> {
    let [path] = arguments else {
        return Err("usage: cargo xtask commit-message FILE".to_owned());
    };
    let message = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    match complaint_about(&message) {
        None => Ok(ExitCode::SUCCESS),
        Some(complaint) => Err(complaint),
    }
}

/// The problem of a message's subject, if any.
fn complaint_about(message: &str) -> Option<String> {
    let subject = message.lines().next().unwrap_or_default();
    if subject.starts_with("Merge ") || subject.starts_with("Revert ") || is_autosquash(subject) {
        return None;
    }
    let command = command_of(subject);
    let first = command.split_whitespace().next().unwrap_or_default();
    let first = first.trim_matches(|sign: char| !sign.is_alphanumeric());
    if is_imperative(&first.to_lowercase()) {
        return None;
    }
    Some(format!(
        "the subject does not begin with an imperative: `{subject}`\n  \
         write `area: stream rows` or `Fix the panic`, and the reason in the body"
    ))
}

fn is_autosquash(subject: &str) -> bool {
    ["fixup! ", "squash! ", "amend! "]
        .iter()
        .any(|prefix| subject.starts_with(prefix))
}

/// The subject after `area: `. An area is one word, perhaps with a path or several separated by commas.
fn command_of(subject: &str) -> &str {
    match subject.split_once(": ") {
        Some((area, command)) if !area.trim_end().contains(' ') || area.contains(", ") => command,
        _ => subject,
    }
}

fn is_imperative(word: &str) -> bool {
    if word.is_empty() || NOT_COMMANDS.contains(&word) {
        return false;
    }
    if COMMANDS.contains(&word) {
        return true;
    }
    let is_third_person = word.ends_with('s') && !word.ends_with("ss") && word != "focus";
    let is_participle = word.ends_with("ing") || word.ends_with("ed");
    !is_third_person && !is_participle
}

#[cfg(test)]
mod tests {
    use super::complaint_about;

    #[test]
    fn commands_are_accepted_with_and_without_an_area() {
        for subject in [
            "run: stream rows to reporters",
            "Fix panic on list items that begin with an en dash",
            "compare, report: address rows by their ids",
            "Process groups end with their leader",
            "seed: embed the vectors",
            "fixup! run: stream rows",
            "Merge branch 'main'",
        ] {
            assert_eq!(complaint_about(subject), None, "{subject}");
        }
    }

    #[test]
    fn descriptions_are_refused() {
        for subject in [
            "What a bound expected is made where it is missed",
            "run: the rows are streamed",
            "Adds a reporter",
            "Added a reporter",
            "Adding a reporter",
            "",
        ] {
            assert!(complaint_about(subject).is_some(), "{subject}");
        }
    }
}
