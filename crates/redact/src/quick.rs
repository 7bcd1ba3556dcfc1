//! Could a text contain a secret at all? Most contain none, and that is quicker to find out than which secret is
//! where.

use super::keys;
use super::shapes::{self, Compiled};
use super::{Meaning, Redactor, cut, decode};
use aho_corasick::Span;
use aho_corasick::packed::Searcher;
use memchr::{memchr_iter, memchr2_iter};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The bytes of a token's start that are searched for.
const PREFIX: usize = 3;
/// The most texts of one searcher, which compares many bytes at once.
const AT_ONCE: usize = 48;
/// The longest name of a secret.
const LONGEST_NAME: usize = 64;
/// The longest user and password in an address.
const LONGEST_LOGIN: usize = 4096;

impl Redactor {
    /// Returns false only if [`text`](Self::text), [`json`](Self::json) and [`document`](Self::document) leave the
    /// text unchanged.
    pub fn may_find(&self, text: &str) -> bool {
        if !self.patterns.is_empty() {
            return true;
        }
        let escapes = Escapes::in_text(text.as_bytes());
        escapes.hide_ascii
            || may_name_secret(text)
            || may_contain_token(text, escapes)
            || (self.has_values && self.may_contain_value(text))
    }

    /// Returns true if a known value, or its start, is in the text or in what the text decodes to.
    fn may_contain_value(&self, text: &str) -> bool {
        let has_value = |content: &[u8]| {
            let mut found = self.automaton.find_overlapping_iter(content);
            found.any(|found| {
                let meaning = self.meanings[found.pattern()];
                matches!(meaning, Meaning::Value(..) | Meaning::Head(_))
            })
        };
        let mut text = text.to_owned();
        loop {
            let bytes = text.as_bytes();
            if has_value(bytes)
                || (bytes.contains(&b'%') && has_value(decode::percent(&text).content.as_ref()))
            {
                return true;
            }
            if !bytes.contains(&b'\\') {
                return false;
            }
            let decoded = decode::json(&text);
            if !decoded.is_changed() {
                return false;
            }
            text = decoded.content;
        }
    }
}

/// The escapes in a text that JSON may have in its strings.
#[derive(Debug, Clone, Copy, Default)]
struct Escapes {
    /// Some represent ASCII characters, so that names and tokens do not appear verbatim.
    hide_ascii: bool,
    /// Some represent parts of tokens.
    hide_parts: bool,
}

impl Escapes {
    fn in_text(bytes: &[u8]) -> Self {
        let mut escapes = Self::default();
        for at in memchr_iter(b'\\', bytes) {
            match bytes[at + 1..] {
                [b'u', b'0', b'0', b'0'..=b'7', ..] => escapes.hide_ascii = true,
                [b'/' | b'u', ..] => escapes.hide_parts = true,
                _ => {}
            }
        }
        escapes
    }
}

/// Returns true if a name before a `:` or a `=` marks its value as a secret.
fn may_name_secret(text: &str) -> bool {
    let bytes = text.as_bytes();
    memchr2_iter(b':', b'=', bytes).any(|at| {
        let before = &bytes[..at];
        if bytes[at] == b':' {
            may_be_secret_key(before)
        } else {
            may_be_secret_variable(before)
        }
    })
}

/// Returns true if a text ends with a secret's name in quotes, possibly with white space behind it.
fn may_be_secret_key(mut before: &[u8]) -> bool {
    loop {
        before = before.trim_ascii_end();
        match before {
            // White space that is escaped, once or more often.
            [start @ .., b'\\', b'n' | b'r' | b't'] => before = without_backslashes(start),
            _ => break,
        }
    }
    let [inside @ .., b'"' | b'\''] = before else {
        return false;
    };
    let inside = without_backslashes(inside);
    if !may_end_secret_name(inside) {
        return false;
    }
    let is_quote = |byte: &u8| matches!(byte, b'"' | b'\'');
    let recent = &inside[inside.len().saturating_sub(2 * LONGEST_NAME)..];
    let key = match recent.iter().rposition(is_quote) {
        Some(quote) => &recent[quote + 1..],
        None => recent,
    };
    is_secret(key, keys::rule)
}

/// Returns true if a text ends with a secret's name, such as `?token` or a line with `DB_PASSWORD`.
fn may_be_secret_variable(before: &[u8]) -> bool {
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let length = before
        .iter()
        .rev()
        .take(LONGEST_NAME)
        .take_while(is_name)
        .count();
    let (start, name) = before.split_at(before.len() - length);
    // The letter of an escape (`\nTOKEN`) belongs to no name.
    let is_escape = start.last() == Some(&b'\\') && !name.is_empty();
    is_secret(name, keys::query_rule) || (is_escape && is_secret(&name[1..], keys::query_rule))
}

fn without_backslashes(bytes: &[u8]) -> &[u8] {
    let kept = bytes.iter().rposition(|byte| *byte != b'\\');
    &bytes[..kept.map_or(0, |last| last + 1)]
}

/// The last two letters of all names of secrets.
const ENDINGS: [&[u8; 2]; 12] = [
    b"rd", b"wd", b"se", b"de", b"et", b"ey", b"en", b"on", b"ie", b"es", b"ig", b"re",
];

/// Returns false for most names that are not names of secrets.
fn may_end_secret_name(name: &[u8]) -> bool {
    match name {
        [.., b'-' | b'_' | b' ' | b'\\', _] | [.., b'\\'] => true,
        [.., one, last] => {
            ENDINGS.contains(&&[one.to_ascii_lowercase(), last.to_ascii_lowercase()])
        }
        _ => false,
    }
}

fn is_secret(name: &[u8], rule: fn(&str) -> Option<&'static keys::KeyRule>) -> bool {
    if !may_end_secret_name(name) {
        return false;
    }
    // A part of a character at the start is not part of a name.
    let name = &name[name
        .iter()
        .position(|byte| byte.is_ascii())
        .unwrap_or(name.len())..];
    if name.contains(&b'\\') {
        return true;
    }
    std::str::from_utf8(name).is_ok_and(|name| rule(name).is_some())
}

/// The starts of tokens with equal first bytes.
struct Prefixes {
    searcher: Option<Searcher>,
    /// For each pattern of the searcher, the shapes that may begin so, each with its start.
    starts: Vec<Starts>,
}

/// The shapes that begin with one prefix, each with its whole start.
type Starts = Vec<(&'static Compiled, &'static str)>;

static PREFIXES: LazyLock<Vec<Prefixes>> = LazyLock::new(|| {
    let mut by_prefix: BTreeMap<&[u8], Starts> = BTreeMap::new();
    for shape in shapes::all() {
        for start in shape.starts() {
            let prefix = &start.as_bytes()[..PREFIX.min(start.len())];
            by_prefix.entry(prefix).or_default().push((shape, start));
        }
    }
    let all: Vec<(&[u8], Starts)> = by_prefix.into_iter().collect();
    let group = |some: &[(&[u8], Starts)]| Prefixes {
        searcher: Searcher::new(some.iter().map(|(prefix, _)| prefix)),
        starts: some.iter().map(|(_, starts)| starts.clone()).collect(),
    };
    all.chunks(AT_ONCE).map(group).collect()
});

fn may_contain_token(text: &str, escapes: Escapes) -> bool {
    PREFIXES
        .iter()
        .any(|prefixes| prefixes.may_begin_in(text, escapes))
}

impl Prefixes {
    fn may_begin_in(&self, text: &str, escapes: Escapes) -> bool {
        let Some(searcher) = &self.searcher else {
            return true;
        };
        let mut from = 0;
        while let Some(found) = searcher.find_in(text.as_bytes(), Span::from(from..text.len())) {
            let at = found.start();
            let mut starts = self.starts[found.pattern().as_usize()].iter();
            if starts.any(|(shape, start)| {
                text[at..].starts_with(start) && may_be_token(shape, text, at, start, escapes)
            }) {
                return true;
            }
            from = at + 1;
        }
        false
    }
}

/// Returns true if a token may begin with this start.
fn may_be_token(shape: &Compiled, text: &str, at: usize, start: &str, escapes: Escapes) -> bool {
    if start.starts_with(':') && has_login(&text.as_bytes()[at + start.len()..]) {
        return true;
    }
    // The text of such a token, or the text before it, may be escaped.
    if escapes.hide_parts || start.starts_with('-') {
        return true;
    }
    shape.find(text.as_bytes(), at).is_some()
        || (shape.is_in_place(text.as_bytes(), at)
            && cut::of_token(text, at..at + start.len()).is_some())
}

/// Returns true if the rest of an address may begin with a user and a password.
fn has_login(rest: &[u8]) -> bool {
    let mut login = rest.iter().take(LONGEST_LOGIN);
    let end =
        login.find(|byte| matches!(byte, b'@' | b'/' | b'?' | b'#' | b'"' | b'<' | b'>' | b' '));
    matches!(end, Some(b'@') | None) && !rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn may_find(text: &str) -> bool {
        Redactor::builder().build().unwrap().may_find(text)
    }

    #[test]
    fn ordinary_traces_are_known_to_have_no_secret() {
        for text in [
            r#"{"tool_calls":[{"name":"get_weather","args":{"city":"Oslo","days":3}}],"final_response":"See https://example.org/a?b=c: sunny.\n"}"#,
            r#"{"messages":[{"role":"user","content":"A task-list: risk-free, \"quoted\"\nwork_live"}],"usage":{"total_tokens":7}}"#,
            "",
            "key = value; monkey=1",
        ] {
            assert!(!may_find(text), "{text}");
        }
    }

    #[test]
    fn no_name_of_a_secret_is_ruled_out_by_its_ending() {
        for rule in keys::KEYS.iter().chain(keys::QUERY_KEYS) {
            for name in rule.names.iter().chain(rule.endings) {
                assert!(may_end_secret_name(name.as_bytes()), "{name}");
            }
        }
    }

    #[test]
    fn what_hides_a_secret_is_not_overlooked() {
        for text in [
            r#"{"password" :"x"}"#,
            r#"{"pass\u0077ord":"x"}"#,
            r#"{"a":"{\"password\"\n: \"x\"}"}"#,
            r#"{"a":"x\nDB_PASSWORD=y"}"#,
            r#"{"a":"http://u:p@h"}"#,
            r#"{"a":"Bearer\u0020abcdefgh1234"}"#,
            "'api_key': 'abc'",
            "?token=abc",
        ] {
            assert!(may_find(text), "{text}");
        }
    }
}
