//! How is text from a model shown without letting it steer the terminal?

use std::borrow::Cow;
use std::fmt::Write;

/// The text with control characters, escapes and invisible direction marks spelled out, on one line.
pub(super) fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            hidden if is_hidden(hidden) => {
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(hidden));
            }
            plain => shown.push(plain),
        }
    }
    Cow::Owned(shown)
}

/// The first `limit` characters made visible, with an ellipsis when there are more.
pub(super) fn clipped(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", visible(&text[..end])),
        None => visible(text).into_owned(),
    }
}

fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{061c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_and_direction_marks_are_spelled_out() {
        assert_eq!(visible("a\u{1b}[31mred\u{202e}"), "a\\u{1b}[31mred\\u{202e}");
        assert_eq!(visible("one\ntwo\u{9b}\u{7f}"), "one\\ntwo\\u{9b}\\u{7f}");
        assert_eq!(visible("東京 👩‍💻"), "東京 👩‍💻");
    }

    #[test]
    fn a_clip_counts_characters_not_bytes() {
        assert_eq!(clipped("天気予報", 2), "天気…");
        assert_eq!(clipped("天気", 2), "天気");
    }
}
