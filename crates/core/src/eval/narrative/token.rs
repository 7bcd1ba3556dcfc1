//! Where do the words of a text begin and end, and what stands between them?

use super::verbs::{Form, Vocabulary};
use super::words::{Traits, traits};
use std::borrow::Cow;
use std::ops::Range;

/// One word of a text, or one part of a camelCase word.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about one word")]
pub(super) struct Token<'t> {
    /// Where it stands, in bytes.
    pub(super) place: Range<usize>,
    /// In lower case; contractions with a straight apostrophe.
    pub(super) word: Cow<'t, str>,
    /// What the word can do; parts of a camelCase word do nothing.
    pub(super) traits: Traits,
    /// The form of a verb that it looks like.
    pub(super) form: Option<Form>,
    /// Whether that form is used as a noun here.
    pub(super) is_noun: bool,
    /// Whether it stands in double quotes.
    pub(super) is_quoted: bool,
    /// Whether a clause ends before it.
    pub(super) begins_clause: bool,
    /// Whether a comma stands before it.
    pub(super) after_comma: bool,
    /// The word it is a part of, when that is more than the token.
    pub(super) whole: Option<Range<usize>>,
}

impl Token<'_> {
    /// The form of the verb that it is here.
    pub(super) fn verb(&self) -> Option<Form> {
        self.form.filter(|_| !self.is_noun)
    }

    /// Whether it is a number and no word.
    pub(super) fn is_number(&self) -> bool {
        self.word.bytes().all(|byte| byte.is_ascii_digit())
    }
}

/// The tokens of a text: split at everything that is no letter or digit, and at camelCase.
pub(super) fn tokens<'t>(text: &'t str, vocabulary: &Vocabulary) -> Vec<Token<'t>> {
    let mut scan =
        Scan { text, vocabulary, tokens: Vec::new(), gap: Gap::default(), quote_ends: 0, unclosed_until: 0 };
    scan.gap.ends_clause = true;
    let mut at = 0;
    while let Some(next) = text[at..].chars().next() {
        if next.is_alphanumeric() {
            let end = word_end(text, at);
            at = scan.word(at, end);
        } else {
            scan.between(at, next);
            at += next.len_utf8();
        }
    }
    scan.tokens
}

/// The parts of a name such as `create_issue`, `createIssue` or `HTTPServer`, in lower case.
pub(super) fn name_parts(name: &str) -> Vec<String> {
    name.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .flat_map(|word| camel_parts(word).into_iter().map(|part| word[part].to_lowercase()))
        .collect()
}

/// What stands between two words.
#[derive(Default)]
struct Gap {
    ends_clause: bool,
    comma: bool,
}

struct Scan<'t, 'v> {
    text: &'t str,
    vocabulary: &'v Vocabulary,
    tokens: Vec<Token<'t>>,
    gap: Gap,
    /// Where the double quotes that were opened last are closed.
    quote_ends: usize,
    /// Up to where it is known that quotes are not closed.
    unclosed_until: usize,
}

impl<'t> Scan<'t, '_> {
    /// Takes the word at `start..end` with its contraction, and says where reading goes on.
    fn word(&mut self, start: usize, end: usize) -> usize {
        if let Some((suffix, after)) = contraction(self.text, end) {
            let word = &self.text[start..end];
            if suffix == "t" && word.ends_with(['n', 'N']) {
                self.push(start..after, Cow::Owned(format!("{}'t", word.to_lowercase())), None);
                return after;
            }
            let suffix = match suffix.as_str() {
                "ll" => Some("will"),
                "d" => Some("'d"),
                "s" => Some("'s"),
                "ve" => Some("'ve"),
                "re" => Some("'re"),
                "m" => Some("'m"),
                _ => None,
            };
            if let Some(suffix) = suffix {
                self.parts(start, end);
                self.push(end..after, Cow::Borrowed(suffix), None);
                return after;
            }
        }
        self.parts(start, end);
        end
    }

    fn parts(&mut self, start: usize, end: usize) {
        let parts = camel_parts(&self.text[start..end]);
        let whole = (parts.len() > 1).then_some(start..end);
        for part in parts {
            let place = start + part.start..start + part.end;
            self.push(place.clone(), lower(&self.text[place]), whole.clone());
        }
    }

    fn push(&mut self, place: Range<usize>, word: Cow<'t, str>, whole: Option<Range<usize>>) {
        let gap = std::mem::take(&mut self.gap);
        self.tokens.push(Token {
            is_quoted: place.start < self.quote_ends,
            traits: if whole.is_some() { Traits::default() } else { traits(&word) },
            form: self.vocabulary.form(&word),
            is_noun: false,
            begins_clause: gap.ends_clause,
            after_comma: gap.comma,
            place,
            word,
            whole,
        });
    }

    fn between(&mut self, at: usize, mark: char) {
        match mark {
            '.' | ':' if self.is_inside_word(at) => {}
            '.' | '!' | '?' | ';' | ':' | '\n' | '\r' | '\u{2028}' | '\u{2029}' | '…' | '。' | '！'
            | '？' | '；' | '：' => self.gap.ends_clause = true,
            ',' | '，' | '、' => self.gap.comma = true,
            '"' | '“' if at >= self.quote_ends && at >= self.unclosed_until => self.open_quote(at, mark),
            _ => {}
        }
    }

    fn open_quote(&mut self, at: usize, mark: char) {
        match closing_quote(self.text, at, mark) {
            Some(end) => self.quote_ends = end + 1,
            None => {
                self.unclosed_until = self.text[at..].find(['\n', '\r']).map_or(usize::MAX, |end| at + end);
            }
        }
    }

    /// Whether the mark stands between two letters or digits, as in `config.yaml` and `10:30`.
    fn is_inside_word(&self, at: usize) -> bool {
        let before = self.text[..at].chars().next_back();
        let after = self.text[at + 1..].chars().next();
        before.is_some_and(char::is_alphanumeric) && after.is_some_and(char::is_alphanumeric)
    }
}

fn word_end(text: &str, start: usize) -> usize {
    text[start..].find(|c: char| !c.is_alphanumeric()).map_or(text.len(), |length| start + length)
}

/// What follows an apostrophe at `at`, in lower case, and where it ends.
fn contraction(text: &str, at: usize) -> Option<(String, usize)> {
    let apostrophe = text[at..].chars().next().filter(|mark| is_apostrophe(*mark))?;
    let start = at + apostrophe.len_utf8();
    let end = word_end(text, start);
    (start < end && end - start <= 2).then(|| (text[start..end].to_lowercase(), end))
}

pub(super) fn is_apostrophe(mark: char) -> bool {
    matches!(mark, '\'' | '’' | 'ʼ' | '＇')
}

/// Where the quotes opened at `at` are closed on the same line.
pub(super) fn closing_quote(text: &str, at: usize, opening: char) -> Option<usize> {
    let closing = match opening {
        '“' => '”',
        '‘' => '’',
        '«' => '»',
        same => same,
    };
    let start = at + opening.len_utf8();
    let rest = &text[start..];
    let mut marks = rest.char_indices().take_while(|(_, mark)| !matches!(mark, '\n' | '\r'));
    let found = marks.find(|&(offset, mark)| {
        let is_inside_word = || {
            let after = &rest[offset + mark.len_utf8()..];
            is_apostrophe(mark) && after.chars().next().is_some_and(char::is_alphanumeric)
        };
        mark == closing && !is_inside_word()
    });
    found.map(|(offset, _)| start + offset)
}

fn lower(word: &str) -> Cow<'_, str> {
    if word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()) {
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
                !before.is_uppercase() || (after.is_some_and(char::is_lowercase) && !is_plural_acronym())
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

    fn words(text: &str) -> Vec<String> {
        tokens(text, &Vocabulary::with(&[])).into_iter().map(|token| token.word.into_owned()).collect()
    }

    #[test]
    fn words_split_at_every_mark_and_at_camel_case() {
        assert_eq!(
            words("createIssue, delete_file—ÉtéFini #42"),
            ["create", "issue", "delete", "file", "été", "fini", "42"]
        );
        assert_eq!(name_parts("getHTTPServer2Name__v2"), ["get", "http", "server2", "name", "v2"]);
        assert_eq!(words("CREATED PRs"), ["created", "prs"]);
    }

    #[test]
    fn contractions_keep_their_meaning_with_either_apostrophe() {
        assert_eq!(words("I didn't"), ["i", "didn't"]);
        assert_eq!(words("I DIDN’T"), ["i", "didn't"]);
        assert_eq!(
            words("I'll we’d it's O'Brien users' "),
            ["i", "will", "we", "'d", "it", "'s", "o", "brien", "users"]
        );
    }

    #[test]
    fn a_mark_inside_a_word_ends_no_clause() {
        let breaks = |text: &str| {
            tokens(text, &Vocabulary::with(&[])).iter().skip(1).filter(|token| token.begins_clause).count()
        };
        assert_eq!(breaks("edit config.yaml at 10:30"), 0);
        assert_eq!(breaks("one. two! three? four; five: six\nseven"), 6);
    }

    #[test]
    fn quotes_close_on_their_own_line_or_do_not_open() {
        let quoted = |text: &str| {
            let tokens = tokens(text, &Vocabulary::with(&[]));
            tokens
                .iter()
                .filter(|token| token.is_quoted)
                .map(|token| token.word.to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(quoted("say \"one two\" three “four” five"), ["one", "two", "four"]);
        assert_eq!(quoted("5\" wide\nand \"so\" on"), ["so"]);
    }
}
