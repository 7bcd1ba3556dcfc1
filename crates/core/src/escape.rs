//! Which characters must never reach a terminal or an XML file unescaped?

use std::borrow::Cow;
use std::fmt::Write;

/// The text with control, direction, invisible and non-characters written as `\n`, `\u001b`,
/// `\u{e0041}`.
///
/// Backslashes stay unchanged, so that paths and patterns read as written.
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

/// The first `limit` characters, escaped, with an ellipsis if more follow.
pub fn clipped(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", escape(&text[..end])),
        None => escape(text).into_owned(),
    }
}

/// A path as mcptest prints it.
pub fn escape_path(path: &std::path::Path) -> String {
    escape(&path.to_string_lossy()).into_owned()
}

/// A string of several lines for a terminal or a CI log: like [`escape`], but keeps lines, tabs
/// and, if allowed, colours. Runners read a line that begins with `::`, and `##[`, `##vso[` and
/// `##teamcity[` anywhere, as commands. Their first character is written as `\u003a` or `\u0023`,
/// which in JSON is the same text.
pub fn escape_lines(text: &str, may_be_coloured: bool) -> Cow<'_, str> {
    if is_plain(text)
        && !text.contains("##")
        && !text.lines().any(|line| line.trim_start().starts_with("::"))
    {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    let mut is_line_start = true;
    while let Some(character) = rest.chars().next() {
        let style = style_length(rest).filter(|_| may_be_coloured);
        let taken = style.unwrap_or(character.len_utf8());
        let (token, after) = rest.split_at(taken);
        match character {
            _ if style.is_some() => out.push_str(token),
            '\r' if after.starts_with('\n') => out.push('\r'),
            '\n' | '\t' => out.push(character),
            ':' if is_line_start && after.starts_with(':') => out.push_str("\\u003a"),
            '#' if is_command(after) => out.push_str("\\u0023"),
            _ if u32::from(character) > 0xffff && is_unsafe(character) => {
                let mut units = [0; 2];
                character
                    .encode_utf16(&mut units)
                    .iter()
                    .for_each(|unit| push_code(&mut out, *unit));
            }
            _ => push(&mut out, character),
        }
        is_line_start =
            character == '\n' || (is_line_start && (character.is_whitespace() || style.is_some()));
        rest = after;
    }
    Cow::Owned(out)
}

/// Returns true if a string has no unsafe characters except line breaks and tabs. Most output is
/// ASCII, so checking the bytes is enough.
fn is_plain(text: &str) -> bool {
    let is_ascii = |line: &str| {
        let is_shown = |byte: &u8| matches!(byte, b' '..=b'~' | b'\t');
        line.as_bytes()
            .chunks(64)
            .all(|block| block.iter().fold(true, |all, byte| all & is_shown(byte)))
    };
    text.split('\n')
        .all(|line| is_ascii(line) || !line.contains(|c| is_unsafe(c) && c != '\t'))
}

/// The length of the colour change that a string begins with.
fn style_length(text: &str) -> Option<usize> {
    let codes = text.strip_prefix("\u{1b}[")?;
    let length = codes
        .bytes()
        .take_while(|byte| byte.is_ascii_digit() || *byte == b';')
        .count();
    codes[length..].starts_with('m').then_some(length + 3)
}

/// Returns true if a `#` before this text begins a command of a CI runner.
fn is_command(after: &str) -> bool {
    ["#[", "#vso[", "#teamcity["]
        .iter()
        .any(|command| after.starts_with(command))
}

fn push_code(out: &mut String, unit: u16) {
    let _ = write!(out, "\\u{unit:04x}");
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

/// Characters with no width, or with the width of a letter.
const FILLERS: [char; 9] = [
    '\u{ad}', '\u{34f}', '\u{115f}', '\u{1160}', '\u{17b4}', '\u{17b5}', '\u{180e}', '\u{3164}',
    '\u{ffa0}',
];

/// Returns true for characters that a person does not see but a model reads. Blanks do not count, nor do the marks
/// and joiners that some scripts need.
pub fn is_hidden(character: char) -> bool {
    let is_needed = matches!(
        character,
        '\n' | '\r' | '\t' | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}'
    );
    let is_filler =
        FILLERS.contains(&character) || ('\u{e0080}'..='\u{e0fff}').contains(&character);
    is_filler || (is_unsafe(character) && !is_needed)
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
    fn a_clip_counts_characters_not_bytes() {
        assert_eq!(clipped("天気予報", 2), "天気…");
        assert_eq!(clipped("天気", 2), "天気");
    }

    #[test]
    fn an_escape_sequence_is_shown_not_sent() {
        assert_eq!(
            escape("\u{1b}[2Jgone\u{9b}0m\u{7f}"),
            "\\u001b[2Jgone\\u009b0m\\u007f"
        );
    }

    #[test]
    fn direction_and_hidden_characters_are_shown() {
        assert_eq!(
            escape("a\u{202e}b\u{2066}\u{200b}\u{e0041}"),
            "a\\u202eb\\u2066\\u200b\\u{e0041}"
        );
    }

    #[test]
    fn what_xml_forbids_is_shown() {
        assert_eq!(
            escape("\u{fffe}\u{ffff}\u{0}\u{1ffff}"),
            "\\ufffe\\uffff\\u0000\\u{1ffff}"
        );
    }

    #[test]
    fn no_line_is_a_command_of_a_ci_runner() {
        for (text, shown) in [
            (
                "a\n::error::x\n \u{3000}\t::x::\na::b",
                "a\n\\u003a:error::x\n \u{3000}\t\\u003a:x::\na::b",
            ),
            (
                "a ##[group]\n##vso[x]\n## [x]\n###[",
                "a \\u0023#[group]\n\\u0023#vso[x]\n## [x]\n#\\u0023#[",
            ),
            (
                "\u{1b}[31m::x\u{1b}]52;c;\u{7}\r\na\rb",
                "\\u001b[31m::x\\u001b]52;c;\\u0007\r\na\\rb",
            ),
        ] {
            assert_eq!(escape_lines(text, false), shown);
        }
        assert_eq!(
            escape_lines("\u{1b}[1;31m::x\u{1b}[0m\u{1b}[2J", true),
            "\u{1b}[1;31m\\u003a:x\u{1b}[0m\\u001b[2J"
        );
    }

    #[test]
    fn json_stays_the_same_json() {
        let text = "{\"a\": \"##[x] \u{202e} \u{e0041} \\\\\u{7f} ::\"}\n";
        let value: serde_json::Value = serde_json::from_str(text).unwrap();
        let shown = escape_lines(text, false);
        assert_ne!(shown, text);
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&shown).unwrap(),
            value
        );
    }

    #[test]
    fn ordinary_text_is_untouched() {
        let text = "C:\\new 天気 👩\u{200d}🚀 é ]]> <&>";
        assert!(matches!(escape(text), Cow::Borrowed(same) if same == text));
    }
}
