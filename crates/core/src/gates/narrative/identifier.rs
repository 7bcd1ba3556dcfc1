//! Which words of a message identify one thing, and what kind of name are they?

use super::lexicon::{Traits, traits};
use super::message::{Word, WordKind};
use std::ops::RangeInclusive;

/// From this length on letters and digits together are a code.
const SHORTEST_CODE: usize = 4;
/// A longer range is a quantity, not a list of identifiers.
const LONGEST_RANGE: u32 = 50;

/// A name, address or number in the phrase of a claim.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Identifier {
    /// The text in lookup form: in lower case, without the folders of a path.
    pub(super) text: String,
    pub(super) kind: IdentifierKind,
    pub(super) role: Role,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum IdentifierKind {
    /// An address of mail.
    Address,
    /// A file with its extension.
    File,
    /// Letters and digits, as `GV1N64`.
    Code,
    /// An identifying number: "issue 3", "#3".
    Number,
    /// A quoted name.
    Name,
    /// A quantity, an amount or a time.
    Amount,
}

/// The role of an identifier in the phrase of its claim's verb.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Role {
    Object,
    /// Behind "to" and "into".
    Destination,
    /// After any other preposition.
    Circumstance,
}

impl Identifier {
    /// The identifier that a word is, if it is one.
    pub(super) fn from_word(
        word: &Word<'_>,
        before: Option<&Word<'_>>,
        role: Role,
    ) -> Option<Self> {
        if word.text.is_empty() {
            return None;
        }
        let kind = match word.kind {
            WordKind::Held => kind_of(&word.text).unwrap_or(IdentifierKind::Name),
            WordKind::Number if is_which(word, &word.text, before) => IdentifierKind::Number,
            WordKind::Number => IdentifierKind::Amount,
            WordKind::Word | WordKind::Mark(_) => return None,
        };
        let text = match kind {
            IdentifierKind::File => word.text.rsplit('/').next().unwrap_or(&word.text),
            _ => &word.text,
        };
        Some(Self {
            text: text.to_owned(),
            kind,
            role,
        })
    }

    /// A number that identifies the thing of a claim.
    pub(super) fn numbered(number: u32) -> Self {
        Self {
            text: number.to_string(),
            kind: IdentifierKind::Number,
            role: Role::Object,
        }
    }

    /// Returns true if it alone determines the thing that a claim is about.
    pub(super) fn is_decisive(&self) -> bool {
        use IdentifierKind::{Address, Code, File, Number};
        matches!(self.kind, Address | File | Code | Number) && self.role != Role::Circumstance
    }
}

/// The kind of a name by its spelling; quotations and numbers have none.
pub(super) fn kind_of(text: &str) -> Option<IdentifierKind> {
    if text.contains(char::is_whitespace) || text.contains("://") {
        None
    } else if is_address(text) {
        Some(IdentifierKind::Address)
    } else if is_file(text) {
        Some(IdentifierKind::File)
    } else if is_code(text) {
        Some(IdentifierKind::Code)
    } else {
        None
    }
}

/// "issue 3" and "#3", but not "3 issues", "May 3" or "at 3".
fn is_which(number: &Word<'_>, digits: &str, before: Option<&Word<'_>>) -> bool {
    const NEVER: Traits = Traits::ADVERB
        .and(Traits::DETERMINER)
        .and(Traits::PREPOSITION)
        .and(Traits::PRONOUN)
        .and(Traits::MODAL)
        .and(Traits::DATE);
    let is_whole = digits.bytes().all(|byte| byte.is_ascii_digit());
    let has_sign = number.place.len() > number.text.len();
    let follows_noun = || {
        before.is_some_and(|word| {
            word.kind == WordKind::Word
                && !word.traits.has(NEVER)
                && word
                    .form
                    .is_none_or(|form| !form.is_past && !form.is_gerund)
        })
    };
    is_whole && (has_sign || follows_noun())
}

/// The numbers of "issues 1-3", "1–3" and "1 through 3", given the index of the first number.
pub(super) fn numbers_of_range(words: &[Word<'_>], at: usize) -> Option<RangeInclusive<u32>> {
    let first = words.get(at).filter(|word| word.kind == WordKind::Number)?;
    let before = at.checked_sub(1).map(|before| &words[before]);
    let (low, high) = match first.text.split_once('-') {
        Some(range) => range,
        None => (&*first.text, end_of_range(words, at)?),
    };
    if !is_which(first, low, before) {
        return None;
    }
    let (low, high): (u32, u32) = (low.parse().ok()?, high.parse().ok()?);
    (low < high && high - low <= LONGEST_RANGE).then_some(low..=high)
}

/// The last number of a range that is written in several words.
fn end_of_range<'w>(words: &'w [Word<'_>], first: usize) -> Option<&'w str> {
    let (link, last) = (words.get(first + 1)?, words.get(first + 2)?);
    let links = match link.kind {
        // With spaces around it, a dash begins something else.
        WordKind::Mark('—') => {
            words[first].place.end == link.place.start && link.place.end == last.place.start
        }
        WordKind::Word => matches!(&*link.text, "through" | "thru" | "to" | "until"),
        _ => false,
    };
    (links && last.kind == WordKind::Number).then_some(&*last.text)
}

fn is_address(text: &str) -> bool {
    text.split_once('@')
        .is_some_and(|(name, host)| !name.is_empty() && host.contains('.'))
}

/// Returns true for a name with an extension. Hosts and versions are not files.
pub(super) fn is_file(text: &str) -> bool {
    const HOSTS: [&str; 10] = [
        "com", "org", "net", "io", "dev", "app", "co", "ai", "edu", "gov",
    ];
    let Some((name, extension)) = text.rsplit_once('.') else {
        return false;
    };
    !name.is_empty()
        && (1..=5).contains(&extension.len())
        && extension.chars().all(char::is_alphanumeric)
        && extension.chars().any(char::is_alphabetic)
        && !HOSTS.contains(&extension)
        && !text.contains('@')
}

/// Letters and digits that no word has: `GV1N64`, `INV-2024-001`, but not `utf-8` or `2nd`.
fn is_code(text: &str) -> bool {
    let has_letter = |part: &str| part.contains(char::is_alphabetic);
    let digits = |part: &str| part.chars().filter(char::is_ascii_digit).count();
    let is_telling = |part: &str| {
        let is_mixed = has_letter(part) && part.len() >= SHORTEST_CODE && digits(part) >= 2;
        is_mixed || (!has_letter(part) && digits(part) >= 3)
    };
    let is_date = || {
        text.split(['-', '/', '.'])
            .any(|part| traits(part).has(Traits::DATE))
    };
    text.starts_with(char::is_alphanumeric)
        && has_letter(text)
        && text
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
        && text.split(['-', '_']).any(is_telling)
        && !is_date()
}

/// `59XX6W` and `4WQ150`, but not `15th`, `100USD`, `1920X1080` or `2h30m`.
pub(super) fn is_code_with_digit_first(text: &str) -> bool {
    let behind_first_letter = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_mixed = behind_first_letter.contains(|c: char| c.is_ascii_digit());
    let is_size = || {
        let mut sides = text.split('X');
        sides.all(|side| !side.is_empty() && side.bytes().all(|byte| byte.is_ascii_digit()))
    };
    is_mixed && text.contains(char::is_uppercase) && !is_size() && is_code(&text.to_lowercase())
}

/// The kinds of identifiers in a call's arguments.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Kinds(u8);

impl Kinds {
    pub(super) const ALL: Self = Self(u8::MAX);

    pub(super) fn add(&mut self, kind: IdentifierKind) {
        self.0 |= 1 << kind as u8;
    }

    pub(super) fn has(self, kind: IdentifierKind) -> bool {
        self.0 & (1 << kind as u8) != 0
    }

    pub(super) fn common(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_may_begin_with_a_digit() {
        for code in ["59XX6W", "4WQ150", "1Z999AA10123456784"] {
            assert!(is_code_with_digit_first(code), "{code}");
        }
        for number in [
            "15th",
            "10am",
            "100USD",
            "1920X1080",
            "7f3a9c2e",
            "2h30m",
            "2024-05-15",
            "1-3",
            "3.5",
            "1.2.3",
        ] {
            assert!(!is_code_with_digit_first(number), "{number}");
        }
    }

    #[test]
    fn a_name_is_told_by_how_it_is_written() {
        for (text, kind) in [
            ("bob@x.com", Some(IdentifierKind::Address)),
            ("a.txt", Some(IdentifierKind::File)),
            ("src/main.py", Some(IdentifierKind::File)),
            ("gv1n64", Some(IdentifierKind::Code)),
            ("inv-2024-001", Some(IdentifierKind::Code)),
            ("uk12345678901234567890", Some(IdentifierKind::Code)),
            ("utf-8", None),
            ("gpt-4o", None),
            ("v1.2.3", None),
            ("example.com", None),
            ("https://x.dev/a.html", None),
            ("the plan", None),
        ] {
            assert_eq!(kind_of(text), kind, "{text}");
        }
    }
}
