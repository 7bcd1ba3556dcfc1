//! Which secrets were cut off with an ellipsis before they came here?

use super::base64;
use std::ops::Range;

const ELLIPSES: [&str; 2] = ["…", "..."];
/// The number of characters that reveal something of a token.
const SHORTEST: usize = 4;
/// Strings are shortened to less than this. Of a longer string, mcptest reads only the beginning to recognise the start
/// of a token.
const LONGEST: usize = 512;

/// The length of the part of `value` at `at`, and whether an ellipsis cuts it off.
pub(super) fn of_value(text: &str, at: usize, value: &str) -> (usize, bool) {
    let rest = &text[at..];
    let same = rest
        .bytes()
        .zip(value.bytes())
        .take_while(|(one, other)| one == other)
        .count();
    (
        same,
        same < value.len() && rest.get(same..).is_some_and(is_cut),
    )
}

/// The password of a URL whose user begins at `user`. A port is not a password.
fn password(text: &str, user: usize) -> Option<Range<usize>> {
    let name = text.as_bytes()[user..]
        .iter()
        .take(LONGEST)
        .take_while(|byte| base64::is_digit(**byte))
        .count();
    let colon = user + name;
    let rest = text[colon..].strip_prefix(':')?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    (!is_cut(&rest[digits..])).then_some(colon..colon + 1)
}

fn is_cut(rest: &str) -> bool {
    ELLIPSES.iter().any(|ellipsis| rest.starts_with(ellipsis))
}

/// The rest of a token that begins with `start` and is cut off by an ellipsis. Its scheme (`Bearer `) stays.
pub(super) fn of_token(text: &str, start: Range<usize>) -> Option<Range<usize>> {
    let is_token = |byte: &u8| base64::is_digit(*byte) || matches!(byte, b'.' | b'~' | b'=');
    let start = if text[start.clone()].starts_with(':') {
        password(text, start.end)?
    } else {
        start
    };
    let token = text.as_bytes()[start.end..]
        .iter()
        .take(LONGEST)
        .take_while(|byte| is_token(byte))
        .count();
    let token = text[start.end..start.end + token]
        .find("...")
        .unwrap_or(token);
    let end = start.end + token;
    let is_password = text[start.clone()].ends_with(':');
    let is_drawn =
        text[start.end..end].contains(|c: char| c.is_ascii_digit() || c.is_ascii_uppercase());
    let is_drawn = is_drawn || is_password;
    let begin = if is_password || text[start.clone()].ends_with(' ') {
        start.end
    } else {
        start.start
    };
    (token >= SHORTEST && is_drawn && is_cut(&text[end..])).then_some(begin..end)
}
