//! Which secrets were cut off with an ellipsis before they came here?

use super::base64;
use std::ops::Range;

const ELLIPSIS: &str = "…";
/// So many characters of a token tell something of it.
const SHORTEST: usize = 4;
/// A text is shortened to less than this, and each start of a token must not be read to the end of a long one.
const LONGEST: usize = 512;

/// How much of `value` stands at `at`, and whether an ellipsis cuts it off there.
pub(super) fn of_value(text: &str, at: usize, value: &str) -> (usize, bool) {
    let rest = &text[at..];
    let same = rest.bytes().zip(value.bytes()).take_while(|(one, other)| one == other).count();
    (same, same < value.len() && rest.get(same..).is_some_and(|rest| rest.starts_with(ELLIPSIS)))
}

/// What stands of a token whose first characters are `start`, when an ellipsis cuts it off; its scheme (`Bearer `) stays.
pub(super) fn of_token(text: &str, start: Range<usize>) -> Option<Range<usize>> {
    let is_token = |byte: &u8| base64::is_digit(*byte) || matches!(byte, b'.' | b'~' | b'=');
    let token = text.as_bytes()[start.end..].iter().take(LONGEST).take_while(|byte| is_token(byte)).count();
    let end = start.end + token;
    let is_drawn = text[start.end..end].contains(|c: char| c.is_ascii_digit() || c.is_ascii_uppercase());
    let begin = if text[start.clone()].ends_with(' ') { start.end } else { start.start };
    (token >= SHORTEST && is_drawn && text[end..].starts_with(ELLIPSIS)).then_some(begin..end)
}
