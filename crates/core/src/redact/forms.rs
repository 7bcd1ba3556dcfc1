//! In which forms can the value of a variable stand in a text?

use super::base64;
use std::ops::Range;

const SHORTEST: usize = 8;

/// Whether a value is taken for a secret: 8 characters or more, and no number (which every count would fit).
pub fn is_secret_value(value: &str) -> bool {
    let value = value.trim();
    value.chars().nth(SHORTEST - 1).is_some() && value.parse::<f64>().is_err()
}

/// One form of a value, as it is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// All of it.
    Whole,
    /// Its part of a base64 text, which may share a character on either side.
    Base64 { shares_left: bool, shares_right: bool },
}

/// The texts to look for. Escapes and `%2F` are undone in the text that is searched, so they need no form here.
pub(super) fn of(value: &str) -> Vec<(Vec<u8>, Form)> {
    let value = value.trim();
    let mut forms = vec![(value.as_bytes().to_vec(), Form::Whole)];
    if value.contains(' ') {
        forms.push((value.replace(' ', "+").into_bytes(), Form::Whole));
    }
    for core in base64::cores(value.as_bytes()) {
        let form = Form::Base64 { shares_left: core.shares_left, shares_right: core.shares_right };
        forms.extend(base64::url_safe(&core.text).map(|text| (text, form)));
        forms.push((core.text, form));
    }
    forms
}

impl Form {
    /// All characters that hold a bit of the secret, where a text to look for was found at `at`.
    pub(super) fn extent(self, text: &[u8], at: Range<usize>) -> Range<usize> {
        let Self::Base64 { shares_left, shares_right } = self else { return at };
        let mut extent = at;
        if shares_left && text[..extent.start].last().is_some_and(|byte| base64::is_digit(*byte)) {
            extent.start -= 1;
        }
        if shares_right && text.get(extent.end).is_some_and(|byte| base64::is_digit(*byte)) {
            extent.end += 1;
            extent.end += text[extent.end..].iter().take(2).take_while(|byte| **byte == b'=').count();
        }
        extent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_values_and_numbers_are_no_secrets() {
        for value in ["", "short", "1234567", "12345678", "-1234567.25", "1e10000000", "true", " abcdefg "] {
            assert!(!is_secret_value(value), "{value}");
        }
        for value in ["abcdefgh", "éééééééé", "12345678x", "0x12345678", " abcdefgh\n"] {
            assert!(is_secret_value(value), "{value}");
        }
    }

    #[test]
    fn a_base64_find_covers_every_character_with_a_bit_of_the_secret() {
        let text = b"xYWJjZGVmZ2g=";
        let form = Form::Base64 { shares_left: false, shares_right: true };
        assert_eq!(form.extent(text, 1..11), 1..13);
        let form = Form::Base64 { shares_left: true, shares_right: false };
        assert_eq!(form.extent(text, 1..11), 0..11);
    }
}
