//! Which values in text that is not JSON follow a secret's name?

use super::keys::{self, KeyRule};
use std::ops::Range;

/// A secret and the rule that identifies it.
pub(super) type Pair = (&'static KeyRule, Range<usize>);

const LONGEST_KEY: usize = 64;
const MOST_SPACES: usize = 8;

/// `"password": "…"` around the colon at `colon`: JSON in prose, cut off, or escaped again; Python's `'password': '…'`.
pub(super) fn quoted(text: &str, colon: usize) -> Option<Pair> {
    let bytes = text.as_bytes();
    let quote_end = if bytes[..colon].ends_with(b" ") {
        colon - 1
    } else {
        colon
    };
    let (key, depth) = key_before(text, quote_end)?;
    let rule = keys::rule(key)?;
    let rest = &bytes[colon + 1..];
    let spaces = rest
        .iter()
        .take(MOST_SPACES)
        .take_while(|byte| **byte == b' ')
        .count();
    let opening = colon + 1 + spaces + depth;
    let quote = *bytes
        .get(opening)
        .filter(|byte| matches!(byte, b'"' | b'\''))?;
    if backslashes_before(bytes, opening) != depth {
        return None;
    }
    let start = opening + 1;
    secret(
        rule,
        text,
        start..start + value_length(&bytes[start..], quote, depth),
    )
}

/// A key in quotes that end at `end`, and the number of backslashes before each quote.
fn key_before(text: &str, end: usize) -> Option<(&str, usize)> {
    let bytes = text.as_bytes();
    let quote = *bytes[..end]
        .last()
        .filter(|byte| matches!(byte, b'"' | b'\''))?;
    let depth = backslashes_before(bytes, end - 1);
    let key_end = end - 1 - depth;
    let length = bytes[..key_end]
        .iter()
        .rev()
        .take(LONGEST_KEY)
        .take_while(|byte| is_key(**byte))
        .count();
    let start = key_end - length;
    let opened =
        bytes[..start].last() == Some(&quote) && backslashes_before(bytes, start - 1) == depth;
    opened.then(|| (&text[start..key_end], depth))
}

/// The length of a value: up to the quote with at most the escapes of the opening one, or to the
/// end of its line.
fn value_length(bytes: &[u8], quote: u8, depth: usize) -> usize {
    let mut backslashes = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        if byte == b'\\' {
            backslashes += 1;
            continue;
        }
        let closes = if depth == 0 {
            backslashes % 2 == 0
        } else {
            backslashes <= depth
        };
        if byte == b'\n' || (byte == quote && closes) {
            return at - backslashes.min(depth);
        }
        backslashes = 0;
    }
    bytes.len()
}

fn backslashes_before(bytes: &[u8], at: usize) -> usize {
    bytes[..at]
        .iter()
        .rev()
        .take(LONGEST_KEY)
        .take_while(|byte| **byte == b'\\')
        .count()
}

/// `?token=…`, `&token=…`, `;Password=…` and a line `DB_PASSWORD=…`, around the sign at `equals`.
pub(super) fn assigned(text: &str, equals: usize) -> Option<Pair> {
    let bytes = text.as_bytes();
    let length = bytes[..equals]
        .iter()
        .rev()
        .take(LONGEST_KEY)
        .take_while(|byte| is_key(**byte))
        .count();
    let start = equals - length;
    let key = &text[start..equals];
    let value = &bytes[equals + 1..];
    match bytes[..start].last() {
        Some(b'?' | b'&' | b';') => {
            let length = value
                .iter()
                .take_while(|byte| !ends_parameter(**byte))
                .count();
            secret(
                keys::query_rule(key)?,
                text,
                equals + 1..equals + 1 + length,
            )
        }
        before if keys::is_variable(key) && begins_a_line(before, &bytes[..start]) => {
            let rule = keys::rule(key)?;
            let line = value
                .iter()
                .take_while(|byte| !matches!(byte, b'\n' | b'\r'))
                .count();
            secret(rule, text, unquoted(bytes, equals + 1..equals + 1 + line))
        }
        _ => None,
    }
}

fn begins_a_line(last: Option<&u8>, before: &[u8]) -> bool {
    matches!(last, None | Some(b'\n')) || before.ends_with(b"export ")
}

fn unquoted(bytes: &[u8], value: Range<usize>) -> Range<usize> {
    match bytes[value.clone()] {
        [open @ (b'"' | b'\''), .., close] if open == close => value.start + 1..value.end - 1,
        _ => value,
    }
}

fn ends_parameter(byte: u8) -> bool {
    byte.is_ascii_whitespace()
        || matches!(
            byte,
            b'&' | b';' | b'#' | b'"' | b'\'' | b'<' | b'>' | b'\\' | b')'
        )
}

fn is_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

fn secret(rule: &'static KeyRule, text: &str, value: Range<usize>) -> Option<Pair> {
    let inner = rule.secret_of(&text[value.clone()])?;
    Some((rule, value.start + inner.start..value.start + inner.end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        let quoted = text
            .match_indices(':')
            .filter_map(|(at, _)| quoted(text, at));
        let assigned = text
            .match_indices('=')
            .filter_map(|(at, _)| assigned(text, at));
        quoted.chain(assigned).map(|(_, at)| &text[at]).collect()
    }

    #[test]
    fn json_in_prose_and_python_dictionaries_are_read() {
        assert_eq!(
            found(r#"Result: {"user": "bob", "password": "hunter2"} ok"#),
            ["hunter2"]
        );
        assert_eq!(found(r#"{"password" :"a\"b\\", "x": 1"#), [r#"a\"b\\"#]);
        assert_eq!(found("{'api_key': 'abc', 'note': \"it's\"}"), ["abc"]);
        assert_eq!(found(r#"{'token': "it's"}"#), ["it's"]);
        assert_eq!(found(r#"{"authorization": "Bearer x"}"#), ["x"]);
    }

    #[test]
    fn a_value_that_was_cut_off_goes_to_the_end_of_its_line() {
        assert_eq!(found(r#"{"password": "hunt"#), ["hunt"]);
        assert_eq!(found("{\"password\": \"hunt\nnext"), ["hunt"]);
    }

    #[test]
    fn json_that_was_escaped_again_is_read() {
        assert_eq!(
            found(r#"log: {\"password\":\"hunter2\",\"n\":1}"#),
            ["hunter2"]
        );
        assert_eq!(
            found(r#"log: {\\\"password\\\": \\\"hunter2\\\", \\\"n\\\":1}"#),
            ["hunter2"]
        );
        assert_eq!(found(r#"{\"password\":\"a\\\"b\"}"#), [r#"a\\\"b"#]);
    }

    #[test]
    fn parameters_and_variables_are_read() {
        assert_eq!(found("GET https://x/y?a=1&access_token=abc&b=2#f"), ["abc"]);
        assert_eq!(
            found("Server=db;User=sa;Password=hunter2;Timeout=3"),
            ["hunter2"]
        );
        assert_eq!(found("https://x.blob/y?sv=1&sig=a%2Fb%3D"), ["a%2Fb%3D"]);
        assert_eq!(
            found("DB_HOST=x\nDB_PASSWORD=\"hunter 2\"\r\nexport API_TOKEN=abc"),
            ["hunter 2", "abc"]
        );
    }

    #[test]
    fn code_counts_and_what_is_hidden_already_are_left_alone() {
        for text in [
            "password = get_password()",
            "login(password=secret)",
            "?max_tokens=5&page_token=abc",
            r#"{"max_tokens": "5", "password": null, "token": 5}"#,
            r#"{"password": "[redacted:password]", "token": "${TOKEN}"}"#,
            "password: \"must be long\"",
            "\"password\" is \"long\": \"yes\"",
            "DB_PASSWORD=",
            "=:",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }
}
