//! In which forms can the value of a variable appear in a string?

use super::base64;
use std::ops::Range;

const SHORTEST: usize = 8;

/// Returns true if a value counts as a secret: at least 8 characters, and not a number, which every count could
/// match.
pub fn is_secret_value(value: &str) -> bool {
    let value = value.trim();
    value.chars().nth(SHORTEST - 1).is_some() && value.parse::<f64>().is_err()
}

/// The beginning of a value that identifies it: a string that continues like it must be the value.
pub(super) fn head(value: &str) -> &str {
    value
        .char_indices()
        .nth(SHORTEST)
        .map_or(value, |(end, _)| &value[..end])
}

/// One form of a value to search for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// The whole value.
    Whole,
    /// Its part of a base64 text, which may share a character at either end.
    Base64 {
        shares_left: bool,
        shares_right: bool,
    },
}

/// The characters that `encodeURIComponent` and `encodeURI` keep, besides letters and digits.
const KEPT: [&[u8]; 2] = [b"-_.~", b"-_.~!*'();/?:@&=+$,#"];

/// The texts to search for. Escapes and `%2F` are also decoded in the searched text. Their usual
/// spellings are included here, because a stray `%` or backslash before a value would turn its
/// first letters into another escape.
pub(super) fn forms_of(value: &str) -> Vec<(Vec<u8>, Form)> {
    let value = value.trim();
    let mut forms: Vec<_> = whole_forms(value)
        .into_iter()
        .map(|text| (text.into_bytes(), Form::Whole))
        .collect();
    for core in base64::cores(value.as_bytes()) {
        let form = Form::Base64 {
            shares_left: core.shares_left,
            shares_right: core.shares_right,
        };
        forms.extend(base64::url_safe(&core.text).map(|text| (text, form)));
        forms.push((core.text, form));
    }
    forms
}

/// The texts that are the whole value, or a line of it.
fn whole_forms(value: &str) -> Vec<String> {
    let mut whole = vec![
        value.to_owned(),
        value.replace(' ', "+"),
        escaped(value),
        in_pointer(value),
    ];
    // Where it stands in a string of JSON, or is one with its quotes, only what that means is searched.
    let contents = [value.to_owned(), format!("\"{value}\"")];
    let contents = contents
        .iter()
        .filter_map(|json| serde_json::from_str::<String>(json).ok());
    whole.extend(contents.filter(|content| content != value && content.chars().nth(2).is_some()));
    // A key of several lines is often printed line by line, each with something before it.
    whole.extend(
        value
            .replace("\\n", "\n")
            .lines()
            .map(str::trim)
            .filter(|line| *line != value && is_secret_value(line) && !line.starts_with("-----"))
            .map(str::to_owned),
    );
    for kept in KEPT {
        let encoded = percent(value, kept);
        whole.push(lower_escapes(&encoded));
        whole.push(encoded);
    }
    whole
}

fn escaped(value: &str) -> String {
    let text = serde_json::Value::from(value).to_string();
    text[1..text.len() - 1].to_owned()
}

/// The value as a step of a JSON Pointer.
pub(super) fn in_pointer(value: &str) -> String {
    value.replace('~', "~0").replace('/', "~1")
}

fn percent(value: &str, kept: &[u8]) -> String {
    let encode = |byte: u8| {
        if byte.is_ascii_alphanumeric() || kept.contains(&byte) {
            char::from(byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    };
    value.bytes().map(encode).collect()
}

/// `%2f` for `%2F`.
fn lower_escapes(encoded: &str) -> String {
    let mut pieces = encoded.split('%');
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |text, piece| {
        text + "%" + &piece[..2].to_ascii_lowercase() + &piece[2..]
    })
}

impl Form {
    /// All characters that contain a bit of the secret, if a searched text was found at `at`.
    pub(super) fn extent(self, text: &[u8], at: Range<usize>) -> Range<usize> {
        let Self::Base64 {
            shares_left,
            shares_right,
        } = self
        else {
            return at;
        };
        let mut extent = at;
        if shares_left
            && text[..extent.start]
                .last()
                .is_some_and(|byte| base64::is_digit(*byte))
        {
            extent.start -= 1;
        }
        if shares_right
            && text
                .get(extent.end)
                .is_some_and(|byte| base64::is_digit(*byte))
        {
            extent.end += 1;
            extent.end += text[extent.end..]
                .iter()
                .take(2)
                .take_while(|byte| **byte == b'=')
                .count();
        }
        extent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_values_and_numbers_are_no_secrets() {
        for value in [
            "",
            "short",
            "1234567",
            "12345678",
            "-1234567.25",
            "1e10000000",
            "true",
            " abcdefg ",
        ] {
            assert!(!is_secret_value(value), "{value}");
        }
        for value in [
            "abcdefgh",
            "éééééééé",
            "12345678x",
            "0x12345678",
            " abcdefgh\n",
        ] {
            assert!(is_secret_value(value), "{value}");
        }
    }

    #[test]
    fn the_usual_ways_to_write_a_value_are_looked_for() {
        let texts: Vec<_> = forms_of("a/b \"é~")
            .into_iter()
            .map(|(text, _)| String::from_utf8(text).unwrap())
            .collect();
        for text in [
            "a/b \"é~",
            "a/b+\"é~",
            "a/b \\\"é~",
            "a%2Fb%20%22%C3%A9~",
            "a%2fb%20%22%c3%a9~",
            "a/b%20%22%C3%A9~",
            "YS9iICLDqX",
        ] {
            assert!(texts.iter().any(|form| form == text), "{text} in {texts:?}");
        }
    }

    #[test]
    fn a_base64_find_covers_every_character_with_a_bit_of_the_secret() {
        let text = b"xYWJjZGVmZ2g=";
        let form = Form::Base64 {
            shares_left: false,
            shares_right: true,
        };
        assert_eq!(form.extent(text, 1..11), 1..13);
        let form = Form::Base64 {
            shares_left: true,
            shares_right: false,
        };
        assert_eq!(form.extent(text, 1..11), 0..11);
    }
}
