//! Which characters must never reach a terminal or an XML file as they are?

use std::borrow::Cow;
use std::fmt::Write;

/// The text with control, direction, invisible and non-characters written as `\n`, `\u001b`, `\u{e0041}`.
///
/// Backslashes stay as they are, so paths and patterns read as written.
pub fn escape(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        push(&mut out, character);
    }
    Cow::Owned(out)
}

fn push(out: &mut String, character: char) {
    let code = u32::from(character);
    let _ = match character {
        '\n' => out.write_str("\\n"),
        '\r' => out.write_str("\\r"),
        '\t' => out.write_str("\\t"),
        _ if !is_unsafe(character) => out.write_char(character),
        _ if code <= 0xffff => write!(out, "\\u{code:04x}"),
        _ => write!(out, "\\u{{{code:x}}}"),
    };
}

fn is_unsafe(character: char) -> bool {
    character.is_control()
        || is_direction(character)
        || is_invisible(character)
        || is_noncharacter(u32::from(character))
}

/// Characters that reorder the text around them.
fn is_direction(character: char) -> bool {
    matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Characters that hide in a value or break a line; the joiners of emoji and scripts are not among them.
fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{200b}' | '\u{2028}' | '\u{2029}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

fn is_noncharacter(code: u32) -> bool {
    code & 0xfffe == 0xfffe || (0xfdd0..=0xfdef).contains(&code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_escape_sequence_is_shown_not_sent() {
        assert_eq!(escape("\u{1b}[2Jgone\u{9b}0m\u{7f}"), "\\u001b[2Jgone\\u009b0m\\u007f");
    }

    #[test]
    fn direction_and_hidden_characters_are_shown() {
        assert_eq!(escape("a\u{202e}b\u{2066}\u{200b}\u{e0041}"), "a\\u202eb\\u2066\\u200b\\u{e0041}");
    }

    #[test]
    fn what_xml_forbids_is_shown() {
        assert_eq!(escape("\u{fffe}\u{ffff}\u{0}\u{1ffff}"), "\\ufffe\\uffff\\u0000\\u{1ffff}");
    }

    #[test]
    fn ordinary_text_is_untouched() {
        let text = "C:\\new 天気 👩\u{200d}🚀 é ]]> <&>";
        assert!(matches!(escape(text), Cow::Borrowed(same) if same == text));
    }
}
