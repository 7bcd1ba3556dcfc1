//! Which value do the name and the description of an argument suggest?

use super::arguments::ServerFolder;
use mcptest_core::words::words_in;
use serde_json::{Value, json};

/// Words before an example in a description.
const BEFORE_EXAMPLES: [&str; 6] = [
    "e.g.",
    "eg.",
    "for example",
    "for instance",
    "example:",
    "such as",
];
/// Words before the only valid values.
const BEFORE_CHOICES: [&str; 6] = [
    "one of",
    "either",
    "must be",
    "allowed values",
    "possible values",
    "options:",
];
/// The maximum distance of the value from these words.
const NEAR: usize = 20;
const LONGEST: usize = 80;

/// A form mentioned in descriptions, and a value of that form.
const FORMS: [(&str, &str); 4] = [
    ("HH:MM", "12:00"),
    ("YYYY-MM-DDTHH", "2026-01-01T12:00:00Z"),
    ("YYYY-MM-DD", "2026-01-01"),
    ("ISO 8601", "2026-01-01T12:00:00Z"),
];

/// The last word of a name, and its usual meaning.
const NAMES: [(&[&str], &str); 11] = [
    (&["timezone", "zone", "tz"], "UTC"),
    (&["date", "day"], "2026-01-01"),
    (&["time"], "12:00"),
    (&["datetime", "timestamp"], "2026-01-01T12:00:00Z"),
    (&["url", "uri", "link", "href"], "https://example.com/"),
    (&["email", "mail"], "someone@example.com"),
    (&["language", "lang", "locale"], "en"),
    (&["city", "location", "place"], "Oslo"),
    (&["currency"], "EUR"),
    (&["expression", "formula"], "1 + 1"),
    (
        &["revision", "rev", "commit", "sha", "ref", "branch"],
        "HEAD",
    ),
];
const FOLDERS: [&str; 9] = [
    "path",
    "dir",
    "directory",
    "folder",
    "root",
    "cwd",
    "repo",
    "repository",
    "workspace",
];
const FILES: [&str; 2] = ["file", "filename"];
/// Arguments of which at least one exists: counts.
const COUNTS: [&str; 10] = [
    "limit", "count", "size", "page", "days", "number", "top", "max", "n", "k",
];

/// A value that an argument of this name and description probably takes.
pub(super) fn hint(name: &str, property: &Value, server_folder: &ServerFolder) -> Option<Value> {
    let is = |kind: &str| match &property["type"] {
        Value::Array(kinds) => kinds.iter().any(|one| one == kind),
        one => one == kind,
    };
    let words = words_of(name);
    let last = words.last().map_or("", String::as_str);
    if is("string") {
        let said = property["description"].as_str().unwrap_or_default();
        let form = || {
            FORMS
                .iter()
                .find(|(form, _)| said.contains(form))
                .map(|(_, value)| *value)
        };
        let told = example_in(said)
            .or_else(|| choice_in(said))
            .or_else(form)
            .map(str::to_owned);
        return told
            .or_else(|| of_name(&words, last, server_folder))
            .map(Value::from);
    }
    let is_bounded = property.get("minimum").is_some() || property.get("maximum").is_some();
    ((is("integer") || is("number")) && !is_bounded && COUNTS.contains(&last)).then_some(json!(1))
}

fn of_name(words: &[String], last: &str, server_folder: &ServerFolder) -> Option<String> {
    let is_file =
        FILES.contains(&last) || (last == "path" && words.iter().any(|word| word == "file"));
    if is_file {
        return server_folder.file();
    }
    if FOLDERS.contains(&last) {
        return server_folder.folder.clone();
    }
    let is_zone = last == "zone" && !words.iter().any(|word| word == "time") && words.len() > 1;
    let named = NAMES
        .iter()
        .find(|(names, _)| names.contains(&last) && !is_zone);
    named.map(|(_, value)| (*value).to_owned())
}

/// The words of `repo_path`, `repoPath` or `repo-path`, in small letters.
fn words_of(name: &str) -> Vec<String> {
    words_in(name).map(str::to_lowercase).collect()
}

/// The first example value in a description: quoted, or an unambiguous bare word.
fn example_in(description: &str) -> Option<&str> {
    let rest = after(description, &BEFORE_EXAMPLES)?;
    let quoted = quoted(rest)
        .next()
        .filter(|(at, _)| *at < NEAR)
        .map(|(_, text)| text);
    quoted.or_else(|| {
        let rest = rest.trim_start_matches([',', ':', ' ']);
        let end = rest.find([' ', ',', ';', ')']).unwrap_or(rest.len());
        let word = rest[..end].trim_end_matches('.');
        let is_alone = rest[end..].starts_with([')', ',']);
        let is_value =
            word.contains(|c: char| c.is_ascii_digit() || c.is_uppercase() || "/_-".contains(c));
        ((is_alone || is_value) && is_short(word)).then_some(word)
    })
}

/// The first of the values that a description allows: after words that announce them, or the first
/// of several quoted ones.
fn choice_in(description: &str) -> Option<&str> {
    let told = after(description, &BEFORE_CHOICES).and_then(|rest| quoted(rest).next());
    let told = told.filter(|(at, _)| *at < NEAR).map(|(_, text)| text);
    let mut words = quoted(description)
        .map(|(_, text)| text)
        .filter(|text| !text.contains(' '));
    told.or_else(|| words.next().filter(|_| words.next().is_some()))
}

/// The text after the first of these words.
fn after<'d>(description: &'d str, words: &[&str]) -> Option<&'d str> {
    let lower = description.to_ascii_lowercase();
    let start = words
        .iter()
        .filter_map(|words| Some(lower.find(words)? + words.len()))
        .min()?;
    description.get(start..)
}

fn is_short(text: &str) -> bool {
    !text.is_empty() && text.len() <= LONGEST
}

/// The short quoted texts, each with its place, but not the text after the apostrophe of `don't`.
fn quoted(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let open = from + text[from..].find(['\'', '"', '`'])?;
            let quote = text[open..].chars().next()?;
            from = open + 1;
            if text[..open].ends_with(char::is_alphanumeric) {
                continue;
            }
            let length = text[from..].find(quote)?;
            let inner = &text[from..from + length];
            from += length + 1;
            if is_short(inner) {
                return Some((open, inner));
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, description: &str) -> Value {
        let server_folder = ServerFolder {
            folder: Some("/srv/repo".to_owned()),
        };
        hint(
            name,
            &json!({"type": "string", "description": description}),
            &server_folder,
        )
        .unwrap_or_default()
    }

    #[test]
    fn a_description_says_what_is_meant() {
        for (description, value) in [
            (
                "IANA name (e.g., 'America/New_York', 'Europe/London')",
                "America/New_York",
            ),
            ("A currency, e.g. USD or EUR", "USD"),
            ("The branch (e.g. main)", "main"),
            (
                "Whether to list local branches ('local'), remote ones ('remote') or all('all').",
                "local",
            ),
            ("Must be \"json\" or \"text\"", "json"),
            ("Time to convert in 24-hour format (HH:MM)", "12:00"),
            ("Since when, as YYYY-MM-DD", "2026-01-01"),
        ] {
            assert_eq!(of("it", description), value, "{description}");
        }
        for description in [
            "It's a name, e.g. of a city. Don't use 'x'.",
            "A name such as people have",
            "",
        ] {
            assert_eq!(of("it", description), Value::Null, "{description}");
        }
    }

    #[test]
    fn a_name_says_what_is_meant_however_it_is_spelled() {
        for (name, value) in [
            ("repo_path", "/srv/repo"),
            ("rootDir", "/srv/repo"),
            ("timezone", "UTC"),
            ("sourceTimeZone", "UTC"),
            ("start-date", "2026-01-01"),
            ("imageURL", "https://example.com/"),
            ("revision", "HEAD"),
        ] {
            assert_eq!(of(name, ""), value, "{name}");
        }
        assert_eq!(of("parking_zone", ""), Value::Null);
        assert_eq!(of("id", ""), Value::Null);
    }

    #[test]
    fn a_count_is_one_unless_the_schema_bounds_it() {
        let of = |property: Value| hint("maxCount", &property, &ServerFolder::default());
        assert_eq!(of(json!({"type": "integer"})), Some(json!(1)));
        assert_eq!(of(json!({"type": ["number", "null"]})), Some(json!(1)));
        assert_eq!(of(json!({"type": "integer", "minimum": 5})), None);
    }
}
