//! Which words make a claim, and which verbs are equivalent? All of them are in `words.json`.

use crate::hashed::{HashMap, HashSet};
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The file of words: each list is words separated by spaces.
#[derive(Deserialize)]
struct File {
    /// Equivalent verbs, under one name.
    families: BTreeMap<String, String>,
    /// Pairs of verbs that name the same action in tools' names.
    close_verbs: Vec<String>,
    /// Past and participle.
    irregular: HashMap<String, String>,
    /// Synonyms for words of tools' names.
    noun_aliases: HashMap<String, String>,
    /// Phrases that report an action without its verb.
    idioms: BTreeMap<String, String>,
    /// Words of programs for verbs.
    code_verbs: BTreeMap<String, String>,
    /// The verbs of nouns that follow a light verb: to make a refund is to refund.
    action_nouns: HashMap<String, String>,
    /// Pairs of verbs, of which one may have done what the other describes.
    neighbours: Vec<String>,
    #[serde(flatten)]
    lists: HashMap<String, String>,
}

/// The words of the gate, indexed by role.
#[derive(Default)]
pub(super) struct Lexicon {
    traits: HashMap<String, Traits>,
    /// The families of each verb, as bits.
    families: HashMap<String, u64>,
    /// The families of the verbs that words of programs represent.
    code: HashMap<String, u64>,
    close: HashSet<(String, String)>,
    /// Past and participle of the verbs that do not add "ed".
    pub(super) irregular: HashMap<String, (String, String)>,
    aliases: HashMap<String, Vec<String>>,
    action_nouns: HashMap<String, String>,
    neighbours: HashMap<String, u64>,
    /// The phrases that report an action without its verb.
    pub(super) idioms: Vec<(Vec<String>, String)>,
    /// The verbs of the literal rule.
    pub(super) seed_verbs: Vec<String>,
    /// The verbs whose past tense makes a claim.
    pub(super) claim_verbs: Vec<String>,
    /// The families of verbs for content of a file or a page.
    content: u64,
    deletion: u64,
}

impl File {
    /// The words of a list.
    fn list(&self, name: &str) -> Vec<String> {
        self.lists
            .get(name)
            .map_or_else(Vec::new, |list| words(list))
    }

    fn traits(&self) -> HashMap<String, Traits> {
        let mut traits: HashMap<String, Traits> = HashMap::default();
        for (name, bit) in LISTS {
            for word in self.list(name) {
                let known = traits.entry(word).or_default();
                *known = known.and(*bit);
            }
        }
        traits
    }

    /// The bits of the families with a chosen name.
    fn bits_of_families(&self, is_chosen: impl Fn(&str) -> bool) -> u64 {
        let families = self.families.keys().enumerate();
        let chosen = families.filter(|(_, family)| is_chosen(family));
        chosen.fold(0, |bits, (at, _)| bits | 1 << at)
    }

    fn code(
        &self,
        families: &HashMap<String, u64>,
        traits: &HashMap<String, Traits>,
    ) -> HashMap<String, u64> {
        let mut code = families.clone();
        for (word, verb) in &self.code_verbs {
            *code.entry(word.clone()).or_default() |= families.get(verb).copied().unwrap_or(0);
        }
        // "email" and "record" are things more often than verbs.
        code.retain(|word, _| {
            !traits
                .get(word)
                .is_some_and(|traits| traits.has(Traits::NOUN_VERB))
        });
        code
    }

    /// Each pair of close verbs, in both orders.
    fn close_pairs(&self) -> HashSet<(String, String)> {
        let pairs = self.close_verbs.iter().filter_map(|pair| two_words(pair));
        pairs
            .flat_map(|(one, other)| [(one.clone(), other.clone()), (other, one)])
            .collect()
    }

    fn irregular_forms(&self) -> HashMap<String, (String, String)> {
        self.irregular
            .iter()
            .filter_map(|(verb, forms)| Some((verb.clone(), two_words(forms)?)))
            .collect()
    }

    fn aliases(&self) -> HashMap<String, Vec<String>> {
        self.noun_aliases
            .iter()
            .map(|(noun, list)| (noun.clone(), words(list)))
            .collect()
    }

    fn idioms(&self) -> Vec<(Vec<String>, String)> {
        self.idioms
            .iter()
            .map(|(phrase, verb)| (words(phrase), verb.clone()))
            .collect()
    }
}

fn words(list: &str) -> Vec<String> {
    list.split_whitespace().map(str::to_owned).collect()
}

fn two_words(text: &str) -> Option<(String, String)> {
    let (first, second) = text.split_once(' ')?;
    Some((first.to_owned(), second.to_owned()))
}

/// Numbers the groups of words, and gives each word a bit for each of its groups.
fn bits_by_word<'l>(groups: impl IntoIterator<Item = &'l String>) -> HashMap<String, u64> {
    let mut bits: HashMap<String, u64> = HashMap::default();
    for (at, group) in groups.into_iter().enumerate() {
        for word in words(group) {
            *bits.entry(word).or_default() |= 1 << at;
        }
    }
    bits
}

/// The possible roles of a word. A word may have several.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Traits(u64);

macro_rules! traits {
    ($($name:ident $list:literal $doc:literal),+ $(,)?) => {
        #[expect(non_camel_case_types, clippy::upper_case_acronyms, reason = "only the numbers are used")]
        enum Bit { $($name),+ }
        impl Traits {
            $(#[doc = $doc] pub(super) const $name: Self = Self(1 << Bit::$name as u64);)+
        }
        const LISTS: &[(&str, Traits)] = &[$(($list, Traits::$name)),+];
    };
}

traits! {
    STOPWORD "stopwords" "Skipped between a verb and its object, in the literal rule.",
    SUBORDINATOR "subordinators" "Begins a condition, a time or a doubt.",
    MODAL "modals" "Makes a plan or an offer of the verb behind it.",
    NEGATION "negations" "Says that something was not done.",
    ADVERB "adverbs_before_verb" "Between an auxiliary and its verb.",
    BARE_ADVERB "adverbs_before_bare_verb" "Before a verb that begins a sentence.",
    PREPOSITION "prepositions" "Begins a phrase behind a noun.",
    DETERMINER "determiners" "Before a noun.",
    PRONOUN "pronouns" "Someone or something named elsewhere.",
    RELATIVE "relatives" "Begins a clause about the noun before it.",
    HISTORY "history" "Says that something happened before the run.",
    DATE "dates" "A month or a day.",
    SCOPE "scopes" "Limits a denial.",
    MADE "made_things" "A change that is made, paid or booked; other things that are made say nothing.",
    ARTEFACT "text_artefacts" "A text that the answer itself can be.",
    MESSAGE "message_objects" "A thing that carries words to people.",
    VAGUE "vague_heads" "A noun that names no certain thing.",
    CARRIER "carrier_objects" "A thing that can hold any other.",
    PART "parts" "A part of the thing named before it.",
    READ "read_verbs" "In a tool's name: it only looks.",
    NOUN_VERB "noun_verbs" "In a tool's name: a verb or a thing.",
    GENERIC "generic_tool_words" "In a tool's name: it can do anything.",
    READ_SHELL "read_only_shell" "A program that changes nothing.",
    LOOSE "loose_verbs" "A verb whose tools may do what other verbs say.",
    DISTINCT "distinct_verbs" "A verb that no tool of another family can mean.",
    LIGHT "light_verbs" "Means what its noun means: \"made a refund\".",
    MONEY "money" "Money that is paid, refunded and transferred.",
    MONEY_VERB "money_verbs" "Moves money.",
    PAGE "pages" "A thing that is opened to look at it.",
    METHOD "methods" "Methods for viewing data.",
    PERIOD "periods" "Behind \"last\": history.",
    SEEN "seen" "Behind \"I\": what follows was read and not done.",
    RETURNED "returned_values" "Values that a search or a program returns.",
    CODE "code_artefacts" "A program, or a part of one, that the answer can show.",
    TABLE "table_artefacts" "Names for a table in the answer.",
    DRAFT "draft_artefacts" "A text for somebody else that the answer can show.",
    LIST "list_artefacts" "Names for a list in the answer.",
    CONTAINER "containers" "A place that things are put into.",
    ACTION_HEADER "action_headers" "Heads a column of things done.",
    ABLE "able" "Before \"to\": the verb behind it was done.",
    PREDICATE "predicates" "Behind a participle and its noun: the participle is an adjective.",
    UNLABELLED "unlabelled" "No word of a label such as \"Issue created\".",
    FOREIGN "foreign_words" "A common word of another language.",
    ENGLISH "english_words" "A common word of English.",
}

impl Traits {
    /// Returns true if the word has any of these traits.
    pub(super) fn has(self, traits: Self) -> bool {
        self.0 & traits.0 != 0
    }

    pub(super) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The words of the file.
pub(super) static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| {
    // A test reads the file; a file that does not read knows no words.
    Lexicon::read(include_str!("words.json")).unwrap_or_default()
});

impl Lexicon {
    fn read(text: &str) -> Result<Self, serde_json::Error> {
        let file: File = serde_json::from_str(text)?;
        let traits = file.traits();
        let families = bits_by_word(file.families.values());
        let content = file.list("content_families");
        Ok(Self {
            code: file.code(&families, &traits),
            close: file.close_pairs(),
            irregular: file.irregular_forms(),
            aliases: file.aliases(),
            neighbours: bits_by_word(&file.neighbours),
            idioms: file.idioms(),
            seed_verbs: file.list("seed_verbs"),
            claim_verbs: file.list("claim_verbs"),
            content: file.bits_of_families(|family| content.iter().any(|name| name == family)),
            deletion: file.bits_of_families(|family| family == "delete"),
            action_nouns: file.action_nouns,
            traits,
            families,
        })
    }

    /// The families of a verb. A verb without a family is related only to itself.
    pub(super) fn families(&self, verb: &str) -> u64 {
        self.families.get(verb).copied().unwrap_or_default()
    }

    /// The families of the verb that a word in a program or a text represents.
    pub(super) fn families_in_code(&self, word: &str) -> u64 {
        self.code.get(word).copied().unwrap_or_default()
    }

    /// Returns true if one verb can describe what a tool with the other verb does.
    pub(super) fn related(&self, one: &str, other: &str) -> bool {
        one == other || self.families(one) & self.families(other) != 0
    }

    /// Returns true if two verbs name the same action.
    pub(super) fn close(&self, one: &str, other: &str) -> bool {
        one == other || self.close.contains(&(one.to_owned(), other.to_owned()))
    }

    /// The verb of a noun that follows a light verb.
    pub(super) fn action(&'static self, noun: &str) -> Option<&'static str> {
        self.action_nouns.get(noun).map(String::as_str)
    }

    /// Returns true if a tool with one verb may have done what the other verb means, although they share no family.
    pub(super) fn neighbours(&self, one: &str, other: &str) -> bool {
        let groups = |verb: &str| self.neighbours.get(verb).copied().unwrap_or_default();
        groups(one) & groups(other) != 0
    }

    /// Returns true if the result of the verb can be in a file, a page or a record.
    pub(super) fn is_content(&self, verb: &str) -> bool {
        self.families(verb) & self.content != 0
    }

    /// Returns true if an SQL statement can do what the verb means.
    pub(super) fn fits_sql(&self, verb: &str) -> bool {
        self.families(verb) & (self.content | self.deletion) != 0
    }

    /// The verb that a past or participle of this form belongs to.
    pub(super) fn irregular_base(&self, word: &str) -> Option<&str> {
        let mut verbs = self
            .irregular
            .iter()
            .filter(|(_, (past, participle))| past == word || participle == word);
        verbs.next().map(|(verb, _)| verb.as_str())
    }

    /// The words that a noun represents in tools' names.
    pub(super) fn aliases(&self, noun: &str) -> &[String] {
        self.aliases.get(noun).map_or(&[], Vec::as_slice)
    }
}

/// The traits of a word in lower case.
pub(super) fn traits(word: &str) -> Traits {
    let listed = LEXICON.traits.get(word).copied().unwrap_or_default();
    let negates = if word.ends_with("n't") {
        Traits::NEGATION
    } else {
        Traits::default()
    };
    let is_adverb = if is_adverb(word) {
        Traits::ADVERB
    } else {
        Traits::default()
    };
    listed.and(negates).and(is_adverb)
}

/// Words that end like adverbs and are nouns.
const NOUNS_IN_LY: &[&str] = &[
    "reply", "family", "assembly", "anomaly", "supply", "july", "italy",
];

/// Returns true if a word reads as an adverb in any position.
fn is_adverb(word: &str) -> bool {
    word.len() > 4 && word.ends_with("ly") && !NOUNS_IN_LY.contains(&word)
}

/// The word without its plural s; "status", "class" and "sms" have none.
pub(super) fn singular(word: &str) -> &str {
    if word.len() > 3 {
        without_s(word)
    } else {
        word
    }
}

/// The common form of singular and plural: "entry" and "entries", "branch" and "branches".
pub(super) fn noun_key(word: &str) -> Cow<'_, str> {
    let stem = if word.len() > 2 {
        without_s(word)
    } else {
        word
    };
    if stem.len() > 3 && stem.ends_with("ie") {
        return Cow::Owned(format!("{}y", &stem[..stem.len() - 2]));
    }
    let hissing = ["se", "xe", "ze", "che", "she"]
        .iter()
        .any(|ending| stem.ends_with(ending));
    Cow::Borrowed(if hissing {
        &stem[..stem.len() - 1]
    } else {
        stem
    })
}

fn without_s(word: &str) -> &str {
    let is_plural = word.ends_with('s')
        && !["ss", "us", "is"]
            .iter()
            .any(|ending| word.ends_with(ending));
    if is_plural {
        &word[..word.len() - 1]
    } else {
        word
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_words_reads_and_every_list_is_there() {
        let file: File = serde_json::from_str(include_str!("words.json")).unwrap();
        for (name, _) in LISTS {
            assert!(file.lists.contains_key(*name), "{name}");
        }
        assert!(file.families.len() <= 64);
        let verbs = |list: &String| {
            list.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        for verb in file
            .close_verbs
            .iter()
            .flat_map(verbs)
            .chain(LEXICON.claim_verbs.clone())
        {
            assert!(verb.chars().all(char::is_alphabetic), "{verb}");
        }
    }

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
}
