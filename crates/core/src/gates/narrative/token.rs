//! Where do the words of a text begin and end, and what separates them?

use std::borrow::Cow;
use std::ops::Range;

/// One word of a text, or one part of a camelCase word.
#[derive(Debug, Clone)]
pub(super) struct Token<'t> {
    /// Its place, in bytes.
    pub(super) place: Range<usize>,
    /// In lower case.
    pub(super) word: Cow<'t, str>,
    /// True if a clause ends before it.
    pub(super) begins_clause: bool,
    /// The place of the whole word, if the token is only a part.
    pub(super) whole: Option<Range<usize>>,
}

/// The tokens of a text: split at every character that is not a letter or digit, and at camelCase.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let (mut at, mut begins_clause) = (0, true);
    while let Some(next) = text[at..].chars().next() {
        if !next.is_alphanumeric() {
            begins_clause |= ends_clause(next) && !is_inside_word(text, at);
            at += next.len_utf8();
            continue;
        }
        let end = word_end(text, at);
        let parts = camel_parts(&text[at..end]);
        let whole = (parts.len() > 1).then_some(at..end);
        for part in parts {
            let place = at + part.start..at + part.end;
            let word = lower(&text[place.clone()]);
            tokens.push(Token {
                place,
                word,
                begins_clause,
                whole: whole.clone(),
            });
            begins_clause = false;
        }
        at = end;
    }
    tokens
}

fn ends_clause(mark: char) -> bool {
    matches!(
        mark,
        '.' | '!' | '?' | ';' | ':' | '\n' | '\r' | '…' | '。' | '！' | '？' | '；' | '：'
    )
}

/// Returns true if the mark is between two letters or digits, as in `config.yaml` and `10:30`.
fn is_inside_word(text: &str, at: usize) -> bool {
    let mut after = text[at..].chars();
    let mark = after.next();
    let before = text[..at].chars().next_back();
    matches!(mark, Some('.' | ':'))
        && before.is_some_and(char::is_alphanumeric)
        && after.next().is_some_and(char::is_alphanumeric)
}

/// The parts of a name such as `create_issue`, `createIssue` or `HTTPServer`, in lower case.
pub(super) fn name_parts(name: &str) -> Vec<String> {
    name.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .flat_map(|word| {
            camel_parts(word)
                .into_iter()
                .map(|part| word[part].to_lowercase())
        })
        .collect()
}

pub(super) fn word_end(text: &str, start: usize) -> usize {
    text[start..]
        .find(|c: char| !c.is_alphanumeric())
        .map_or(text.len(), |length| start + length)
}

pub(super) fn is_apostrophe(mark: char) -> bool {
    matches!(mark, '\'' | '’' | 'ʼ' | '＇')
}

/// The place of the closing quote on the same line.
pub(super) fn closing_quote(text: &str, at: usize, opening: char) -> Option<usize> {
    let closing = match opening {
        '“' => '”',
        '‘' => '’',
        '«' => '»',
        same => same,
    };
    let start = at + opening.len_utf8();
    let rest = &text[start..];
    let mut marks = rest
        .char_indices()
        .take_while(|(_, mark)| !matches!(mark, '\n' | '\r'));
    let found = marks.find(|&(offset, mark)| {
        let is_inside_word = || {
            let after = &rest[offset + mark.len_utf8()..];
            is_apostrophe(mark) && after.chars().next().is_some_and(char::is_alphanumeric)
        };
        mark == closing && !is_inside_word()
    });
    found.map(|(offset, _)| start + offset)
}

pub(super) fn lower(word: &str) -> Cow<'_, str> {
    if word
        .bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    {
        Cow::Borrowed(word)
    } else {
        Cow::Owned(word.to_lowercase())
    }
}

/// The parts of a camelCase word: `getURLParts` is get, URL and Parts.
fn camel_parts(word: &str) -> Vec<Range<usize>> {
    let mut parts = Vec::with_capacity(1);
    let mut start = 0;
    let mut before: Option<char> = None;
    let mut letters = word.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let after = letters.peek().map(|(_, letter)| *letter);
        let is_plural_acronym = || word[at..].len() == letter.len_utf8() + 1 && word.ends_with('s');
        let begins = letter.is_uppercase()
            && before.is_some_and(|before| {
                !before.is_uppercase()
                    || (after.is_some_and(char::is_lowercase) && !is_plural_acronym())
            });
        if begins {
            parts.push(start..at);
            start = at;
        }
        before = Some(letter);
    }
    parts.push(start..word.len());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_split_at_every_mark_and_at_camel_case() {
        let words = |text| {
            tokens(text)
                .into_iter()
                .map(|token| token.word.into_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            words("createIssue, delete_file—ÉtéFini #42"),
            ["create", "issue", "delete", "file", "été", "fini", "42"]
        );
        assert_eq!(
            name_parts("getHTTPServer2Name__v2"),
            ["get", "http", "server2", "name", "v2"]
        );
        assert_eq!(words("CREATED PRs"), ["created", "prs"]);
    }

    #[test]
    fn a_mark_inside_a_word_ends_no_clause() {
        let breaks = |text| {
            tokens(text)
                .iter()
                .skip(1)
                .filter(|token| token.begins_clause)
                .count()
        };
        assert_eq!(breaks("edit config.yaml at 10:30"), 0);
        assert_eq!(breaks("one. two! three? four; five: six\nseven"), 6);
    }
}
