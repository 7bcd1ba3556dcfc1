//! Which words carry the grammar around a claim?

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

/// What a word can do in a sentence; a word may do several things.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Traits(u16);

impl Traits {
    /// Passed over on the way from a verb to its object.
    pub(super) const STOPWORD: Self = Self(1);
    /// Turns a claim into a denial.
    pub(super) const NEGATION: Self = Self(1 << 1);
    /// Turns a claim into a plan, an offer or a condition.
    pub(super) const HEDGE: Self = Self(1 << 2);
    /// An auxiliary: it is never an object, and it may stand before its subject.
    pub(super) const AUXILIARY: Self = Self(1 << 3);
    /// Makes a passive of the participle behind it.
    pub(super) const BE: Self = Self(1 << 4);
    /// Makes a noun of an uninflected or plural verb at most two words behind it.
    pub(super) const ARTICLE: Self = Self(1 << 5);
    /// Stands before a noun.
    pub(super) const DETERMINER: Self = Self(1 << 6);
    /// Qualifies the noun behind it and is none itself.
    pub(super) const QUANTIFIER: Self = Self(1 << 7);
    /// Begins another phrase: an object is not looked for beyond it.
    pub(super) const BARRIER: Self = Self(1 << 8);
    /// Stands between an auxiliary and its participle.
    pub(super) const ADVERB: Self = Self(1 << 9);
    /// Negates the noun behind it, as in "created no issues".
    pub(super) const NONE_OF: Self = Self(1 << 10);
    /// The one who tells the story.
    pub(super) const SPEAKER: Self = Self(1 << 11);
    /// Someone or something named elsewhere.
    pub(super) const PRONOUN: Self = Self(1 << 12);
    /// Stands for any object.
    pub(super) const ANY_OBJECT: Self = Self(1 << 13);

    /// Whether the word does any of these.
    pub(super) fn has(self, traits: Self) -> bool {
        self.0 & traits.0 != 0
    }

    pub(super) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

const WORDS: &[(Traits, &str)] = &[
    (
        Traits::STOPWORD,
        "a an the this that these those my your our their his her its i we you it they them me us and or also all \
         some any both each every new existing with for to of in on at by from into as up out has have had is are \
         was were be been being successfully now just already following requested specified two three",
    ),
    (
        Traits::NEGATION,
        "not never no without unable failed cannot neither nor refused declined avoided skipped none",
    ),
    (Traits::HEDGE, "will would should could can may might shall if need plan want going let"),
    (
        Traits::AUXILIARY,
        "will would should could can may might shall if let do does did am has have had not never cannot",
    ),
    (Traits::BE, "am is are was were be been being get gets got getting"),
    (Traits::ARTICLE, "a an the this each"),
    (
        Traits::DETERMINER,
        "a an the this that these those my your our their his her its each every some any no",
    ),
    (Traits::QUANTIFIER, "another other several many more few same own only even merely such"),
    (
        Traits::BARRIER,
        "then so because since when whenever while after before until unless although though whether where why how \
         what which who whom whose than without about via using during through per within over under between against \
         too again still yet here there instead rather but however today yesterday tomorrow earlier later soon once \
         yes okay ok done please",
    ),
    (Traits::ADVERB, "also now just already successfully yet still ever then only since not never finally"),
    (Traits::NONE_OF, "no none neither"),
    (Traits::SPEAKER, "i we"),
    (Traits::PRONOUN, "i we you it they them me us he she him this that these those who which"),
    (Traits::ANY_OBJECT, "anything nothing everything"),
];

static TABLE: LazyLock<HashMap<&'static str, Traits>> = LazyLock::new(|| {
    let mut table: HashMap<&'static str, Traits> = HashMap::new();
    for (traits, words) in WORDS {
        for word in words.split_ascii_whitespace() {
            let entry = table.entry(word).or_default();
            *entry = entry.and(*traits);
        }
    }
    table
});

/// Words that end like adverbs and are nouns.
const NOUNS_IN_LY: &[&str] =
    &["reply", "family", "assembly", "anomaly", "supply", "butterfly", "july", "italy"];

/// What a word in lower case can do.
pub(super) fn traits(word: &str) -> Traits {
    if let Some(auxiliary) = word.strip_suffix("n't") {
        let be =
            if matches!(auxiliary, "is" | "are" | "was" | "were") { Traits::BE } else { Traits::default() };
        return Traits::NEGATION.and(Traits::AUXILIARY).and(be);
    }
    if word.starts_with('\'') {
        return Traits::STOPWORD;
    }
    let listed = TABLE.get(word).copied().unwrap_or_default();
    if listed == Traits::default() {
        // "needs", "plans" and "wants" hedge as "need", "plan" and "want" do.
        let hedge = TABLE.get(singular(word)).copied().unwrap_or_default().has(Traits::HEDGE);
        return if hedge { Traits::HEDGE } else { listed };
    }
    listed
}

/// Whether a word reads as an adverb, wherever it stands.
pub(super) fn is_adverb(word: &str) -> bool {
    word.len() > 4 && word.ends_with("ly") && !NOUNS_IN_LY.contains(&word)
}

/// The word without its plural s; "status", "class" and "sms" have none.
pub(super) fn singular(word: &str) -> &str {
    if word.len() > 3 { without_s(word) } else { word }
}

/// The form in which singular and plural are the same: "entry" and "entries", "branch" and "branches".
pub(super) fn noun_key(word: &str) -> Cow<'_, str> {
    let stem = if word.len() > 2 { without_s(word) } else { word };
    if stem.len() > 3 && stem.ends_with("ie") {
        return Cow::Owned(format!("{}y", &stem[..stem.len() - 2]));
    }
    let hissing = ["se", "xe", "ze", "che", "she"].iter().any(|ending| stem.ends_with(ending));
    Cow::Borrowed(if hissing { &stem[..stem.len() - 1] } else { stem })
}

fn without_s(word: &str) -> &str {
    let is_plural = word.ends_with('s') && !["ss", "us", "is"].iter().any(|ending| word.ends_with(ending));
    if is_plural { &word[..word.len() - 1] } else { word }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plural_s_is_dropped_and_no_other() {
        for (word, expected) in [
            ("issues", "issue"),
            ("status", "status"),
            ("address", "address"),
            ("analysis", "analysis"),
            ("sms", "sms"),
            ("été", "été"),
            ("cafés", "café"),
        ] {
            assert_eq!(singular(word), expected);
        }
    }

    #[test]
    fn singular_and_plural_have_one_key() {
        for (one, many) in [
            ("entry", "entries"),
            ("branch", "branches"),
            ("cache", "caches"),
            ("box", "boxes"),
            ("movie", "movies"),
            ("release", "releases"),
            ("status", "statuses"),
            ("address", "addresses"),
            ("id", "ids"),
        ] {
            assert_eq!(noun_key(one), noun_key(many), "{one}");
        }
        assert_ne!(noun_key("post"), noun_key("poster"));
    }

    #[test]
    fn hedges_are_known_in_the_third_person_and_contractions_negate() {
        assert!(traits("needs").has(Traits::HEDGE));
        assert!(traits("wasn't").has(Traits::NEGATION));
        assert!(traits("wasn't").has(Traits::BE));
        assert!(!traits("didn't").has(Traits::BE));
    }
}
