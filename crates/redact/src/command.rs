//! Which parts of a command, or of an address, are secret?

use crate::Redactor;
use std::ops::Range;

/// A secret: its name, and its place in the word.
pub type Secret = (String, Range<usize>);

/// The secrets of each word: the word after `--api-key`, the text after `--api-key=`, `API_KEY=`, `X-Api-Key:` and
/// `?api_key=`, and the password of an address.
pub fn secrets<'w>(names: &Redactor, words: &[&'w str]) -> Vec<(&'w str, Vec<Secret>)> {
    let before = std::iter::once(None).chain(words.iter().map(|word| Some(*word)));
    words
        .iter()
        .zip(before)
        .map(|(word, before)| {
            let option = before.filter(|before| before.starts_with('-') && !word.starts_with('-'));
            let mut found: Vec<Secret> = option
                .and_then(|option| secret_name(names, option.trim_start_matches('-')))
                .and_then(|name| secret(name, word, 0..word.len()))
                .into_iter()
                .collect();
            found.extend(of_word(names, word));
            (*word, found)
        })
        .collect()
}

/// The secrets of each word, as `secrets` finds them. Without `names`, which recognises secret
/// names, none are found.
pub fn secrets_in_words(names: Option<&Redactor>, words: &[&str]) -> Vec<Vec<Secret>> {
    let Some(names) = names else {
        return vec![Vec::new(); words.len()];
    };
    secrets(names, words)
        .into_iter()
        .map(|(_, secrets)| secrets)
        .collect()
}

fn of_word(names: &Redactor, word: &str) -> Vec<Secret> {
    let mut found: Vec<Secret> = password(word).into_iter().collect();
    for (at, _) in word.match_indices(['=', ':']) {
        let start = word[..at]
            .rfind(|character| !is_name(character))
            .map_or(0, |before| {
                before + word[before..].chars().next().map_or(1, char::len_utf8)
            });
        let Some(name) = secret_name(names, word[start..at].trim_start_matches('-')) else {
            continue;
        };
        let rest = &word[at + 1..];
        let ends: &[char] = match word[..start].chars().next_back() {
            Some('?' | '&') => &['&', '#'],
            Some(';') => &[';'],
            _ => &[],
        };
        let length = rest.find(ends).unwrap_or(rest.len());
        found.extend(secret(name, word, at + 1..at + 1 + length));
    }
    found.extend(of_parts(names, word));
    found
}

/// The secrets of a word that is itself a command, as after `sh -c`.
fn of_parts(names: &Redactor, word: &str) -> Vec<Secret> {
    if !word.contains(char::is_whitespace) {
        return Vec::new();
    }
    let parts: Vec<&str> = word
        .split(|character: char| character.is_whitespace() || matches!(character, '"' | '\''))
        .collect();
    let (words, starts): (Vec<&str>, Vec<usize>) = parts
        .iter()
        .scan(0, |next, part| {
            let start = *next;
            // What separates two parts is one character, of one byte or more.
            let end = start + part.len();
            *next = end + word[end..].chars().next().map_or(0, char::len_utf8);
            Some((*part, start))
        })
        .filter(|(part, _)| !part.is_empty())
        .unzip();
    let found = secrets(names, &words).into_iter().zip(starts);
    found
        .flat_map(|((_, found), start)| {
            found
                .into_iter()
                .map(move |(name, at)| (name, at.start + start..at.end + start))
        })
        .collect()
}

/// The password of `scheme://user:password@host`.
fn password(word: &str) -> Option<Secret> {
    let start = word.find("://")? + 3;
    let authority = word[start..].split(['/', '?', '#']).next()?;
    let (user, _) = authority.rsplit_once('@')?;
    let colon = user.find(':')?;
    secret(
        "password".to_owned(),
        word,
        start + colon + 1..start + user.len(),
    )
}

/// The secret without surrounding spaces, and without the scheme of an authorization.
fn secret(name: String, word: &str, at: Range<usize>) -> Option<Secret> {
    let value = &word[at.clone()];
    let mut start = at.start + value.len() - value.trim_start().len();
    let end = start + value.trim().len();
    if name.to_lowercase().ends_with("authorization")
        && let Some((_, credentials)) = word[start..end].split_once(' ')
    {
        start = end - credentials.trim_start().len();
    }
    (start < end).then_some((name, start..end))
}

/// The name in the form of secret names: options are written `--github-token`, variables
/// `GITHUB_TOKEN`.
fn secret_name(names: &Redactor, written: &str) -> Option<String> {
    let is_secret = |name: &str| names.header(name, "x") != "x";
    if is_secret(written) {
        return Some(written.to_owned());
    }
    let variable = written.to_uppercase().replace('-', "_");
    is_secret(&variable).then(|| written.to_owned())
}

fn is_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.')
}

/// The word with a placeholder for each of its secrets, however short.
pub fn hidden(redactor: &Redactor, word: &str, secrets: &[Secret]) -> String {
    let mut ranges: Vec<&Secret> = secrets.iter().collect();
    ranges.sort_by_key(|(_, at)| (at.start, std::cmp::Reverse(at.end)));
    let (mut text, mut done) = (String::new(), 0);
    for (name, at) in ranges {
        if at.start >= done {
            text.push_str(&word[done..at.start]);
            text.push_str(&placeholder(redactor, name, &word[at.clone()]));
            done = at.end;
        }
    }
    text.push_str(&word[done..]);
    redactor.text(&text).into_owned()
}

fn placeholder(redactor: &Redactor, name: &str, value: &str) -> String {
    let variable = name.to_uppercase().replace('-', "_");
    let named = [name, &variable].map(|name| redactor.header(name, value).into_owned());
    named
        .into_iter()
        .find(|hidden| hidden != value)
        .unwrap_or_else(|| value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUE: &str = "abcd1234EFGH5678ijkl";

    fn shown(words: &[&str]) -> Vec<String> {
        let names = Redactor::builder().build().unwrap();
        let found = secrets(&names, words);
        found
            .iter()
            .map(|(word, found)| hidden(&names, word, found))
            .collect()
    }

    #[test]
    fn a_value_is_hidden_however_its_secret_name_is_written() {
        for written in [
            "--api-key=V",
            "--api_key=V",
            "--apikey V",
            "-token=V",
            "--github-token V",
            "--password=V",
            "--header=X-Api-Key:V",
            "--header X-Api-Key:V",
            "--env=API_KEY=V",
            "-eAPI_KEY=V",
            "API_KEY=V",
            "--db=postgres://bob:V@localhost/db",
            "https://example.com/mcp?a=1&api_key=V&b=2",
        ] {
            let line = written.replace('V', VALUE);
            let words: Vec<&str> = line.split(' ').collect();
            for value in [VALUE, "x1"] {
                let line = line.replace(VALUE, value);
                let words: Vec<&str> = line.split(' ').collect();
                let shown = shown(&words).join(" ");
                assert!(
                    !shown.contains(value) && shown.contains("[redacted:"),
                    "{written}: {shown}"
                );
            }
            let names = Redactor::builder().build().unwrap();
            let values: Vec<&str> = secrets(&names, &words)
                .iter()
                .flat_map(|(word, found)| found.iter().map(|(_, at)| &word[at.clone()]))
                .collect();
            assert!(values.contains(&VALUE), "{written}: {values:?}");
        }
    }

    #[test]
    fn a_header_and_a_command_in_one_word_are_read_too() {
        assert_eq!(
            shown(&["curl", "-H", "Authorization: Bearer x1"])[2],
            "Authorization: Bearer [redacted:authorization]"
        );
        let names = Redactor::builder().build().unwrap();
        for line in ["TOKEN=x1y2 exec srv", "exec srv --token 'x1y2' run"] {
            let found = of_word(&names, line);
            assert!(
                found.iter().any(|(_, at)| &line[at.clone()] == "x1y2"),
                "{found:?}"
            );
        }
    }

    #[test]
    fn what_has_no_secret_name_stays() {
        let words = [
            "srv",
            "--max-tokens=5000",
            "--port",
            "8080",
            "http://127.0.0.1:8080/mcp?page=2",
            "C:\\x",
            "a=b",
            "--token",
            "--fast",
        ];
        assert_eq!(shown(&words), words);
    }
}
