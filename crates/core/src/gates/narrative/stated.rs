//! Which value follows a key in a text, and does it equal the recorded one?

use super::token::{closing_quote, is_apostrophe};
use crate::hashed::HashSet;
use serde_json::Value;
use std::ops::Range;

const LONGEST_VALUE: usize = 1000;

/// A value that follows a key.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stated {
    /// The place of the value, without quotes.
    pub(super) value: Range<usize>,
    is_quoted: bool,
    /// The end of the value, with quotes.
    pub(super) end: usize,
}

impl Stated {
    /// Returns true if one of the recorded values is the value in the text.
    pub(super) fn is_one_of(&self, shown: &str, recorded: &HashSet<String>) -> bool {
        let trimmed = shown.trim();
        let number = || canonical_number(shown).is_some_and(|number| recorded.contains(&number));
        let without_mark = || recorded.contains(trimmed.trim_end_matches(['.', ',', '!', '?']));
        recorded.contains(trimmed) || number() || (self.is_quoted && without_mark())
    }
}

/// The value behind a key that ends at `at`: is, was, to, of, as, =, : or #, then a quoted string or a number. Before
/// a quoted string the link is optional.
pub(super) fn stated_value(text: &str, at: usize, before_key: Option<char>) -> Option<Stated> {
    let mut rest = Rest { text, at };
    if let Some(mark) = before_key.filter(|mark| matches!(mark, '"' | '\'' | '`')) {
        rest.skip_one(mark);
    }
    let key_end = rest.at;
    rest.skip_decoration();
    let is_linked = rest.skip_link();
    if rest.at == key_end {
        return None;
    }
    rest.quoted()
        .or_else(|| if is_linked { rest.number() } else { None })
}

struct Rest<'t> {
    text: &'t str,
    at: usize,
}

impl Rest<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn skip_one(&mut self, mark: char) -> bool {
        let found = self.peek() == Some(mark);
        self.at += if found { mark.len_utf8() } else { 0 };
        found
    }

    fn skip_decoration(&mut self) {
        while [' ', '\t', '*'].into_iter().any(|mark| self.skip_one(mark)) {}
    }

    fn skip_link(&mut self) -> bool {
        let start = self.at;
        while ['=', ':', '#'].into_iter().any(|mark| self.skip_one(mark)) {
            self.skip_decoration();
        }
        if self.at > start {
            return true;
        }
        let rest = &self.text[start..];
        let length = rest
            .find(|c: char| !c.is_alphanumeric())
            .unwrap_or(rest.len());
        let is_link = matches!(
            &*rest[..length].to_ascii_lowercase(),
            "is" | "was" | "to" | "of" | "as"
        );
        if is_link {
            self.at += length;
            self.skip_decoration();
            self.skip_one('#');
        }
        is_link
    }

    fn quoted(&self) -> Option<Stated> {
        let opening = self
            .peek()
            .filter(|mark| matches!(mark, '"' | '“' | '\'' | '‘' | '`' | '«'))?;
        let start = self.at + opening.len_utf8();
        let mut limit = self.text.len().min(start + LONGEST_VALUE);
        while !self.text.is_char_boundary(limit) {
            limit -= 1;
        }
        let end =
            closing_quote(&self.text[..limit], self.at, opening).filter(|&end| end > start)?;
        let closing = self.text[end..].chars().next().map_or(0, char::len_utf8);
        Some(Stated {
            value: start..end,
            is_quoted: true,
            end: end + closing,
        })
    }

    /// A number that is not part of a word, a date, a time or a range.
    fn number(&self) -> Option<Stated> {
        let rest = &self.text[self.at..];
        let unsigned = rest.trim_start_matches(['$', '€', '£']);
        let start = self.at + rest.len() - unsigned.len();
        let digits = unsigned.strip_prefix('-').unwrap_or(unsigned);
        let length = digits
            .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ',')))
            .unwrap_or(digits.len());
        let number = digits[..length].trim_end_matches(['.', ',']);
        let mut after = digits[number.len()..].chars();
        let (next, then) = (after.next(), after.next());
        let goes_on = next.is_some_and(|c| c.is_alphanumeric() || c == '_' || is_apostrophe(c))
            || (matches!(next, Some('-' | '/' | ':')) && then.is_some_and(|c| c.is_ascii_digit()));
        let end = start + (unsigned.len() - digits.len()) + number.len();
        let is_number = !goes_on && canonical_number(&self.text[start..end]).is_some();
        is_number.then_some(Stated {
            value: start..end,
            is_quoted: false,
            end,
        })
    }
}

/// A scalar in compared form. `None` for null, lists and objects.
pub(super) fn comparable(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => {
            Some(canonical_number(text).unwrap_or_else(|| text.trim().to_owned()))
        }
        Value::Number(number) => canonical_number(&number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

/// The one form that `42`, `42.0`, `042` and `4.2e1` share; `1,000` is 1000.
fn canonical_number(text: &str) -> Option<String> {
    let text = text.trim();
    let (sign, digits) = text
        .strip_prefix('-')
        .map_or(("", text), |digits| ("-", digits));
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let digits = if digits.contains(',') {
        without_separators(digits)?
    } else {
        digits.to_owned()
    };
    let whole = digits
        .split_once('.')
        .filter(|(_, decimals)| decimals.bytes().all(|byte| byte == b'0'));
    let whole = whole.map_or(digits.as_str(), |(whole, _)| whole);
    if whole.bytes().all(|byte| byte.is_ascii_digit()) {
        let significant = whole.trim_start_matches('0');
        return Some(if significant.is_empty() {
            "0".to_owned()
        } else {
            format!("{sign}{significant}")
        });
    }
    let number: f64 = digits
        .parse()
        .ok()
        .filter(|number: &f64| number.is_finite())?;
    Some(format!("{sign}{number}"))
}

/// `1,000,000` as digits; `None` if the commas do not separate thousands.
fn without_separators(digits: &str) -> Option<String> {
    let (whole, decimals) = digits
        .find('.')
        .map_or((digits, ""), |point| digits.split_at(point));
    let mut groups = whole.split(',');
    let first = groups
        .next()
        .filter(|group| (1..=3).contains(&group.len()))?;
    let rest: Vec<&str> = groups.collect();
    let is_number = |group: &str| group.bytes().all(|byte| byte.is_ascii_digit());
    let fits = is_number(first)
        && rest
            .iter()
            .all(|group| group.len() == 3 && is_number(group));
    fits.then(|| format!("{first}{}{decimals}", rest.concat()))
}
