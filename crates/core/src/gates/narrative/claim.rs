//! Which completed changes does the agent claim, and which does it deny?

mod verb;

use super::identifier::{Identifier, IdentifierKind, Role};
use super::lexicon::{LEXICON, Traits, traits};
use super::message::{Message, Sentence, Shown, Word, WordKind};
use super::phrase::Phrase;
use super::proper_name::{admits_failure, names_at_start, names_in_failures};
use super::verbs::Vocabulary;
use crate::hashed::HashSet;
use std::ops::Range;

/// The maximum number of words from a verb to its author or its date.
pub(super) const REACH: usize = 5;
/// The maximum number of words before the name in an item of a list: "Issue 3", "the file `a.txt`".
const WORDS_BEFORE_NAME: usize = 2;

/// One action in a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one independent reading of the sentence"
)]
pub(super) struct Claim {
    /// The verb, uninflected.
    pub(super) verb: String,
    /// The meaning of a light verb with its noun: "made a refund" is to refund.
    pub(super) nominal: Option<&'static str>,
    /// Verb and object as one stem, such as `create_issue`.
    pub(super) name: String,
    /// The nouns of the object, in compared form. Empty for "it" and "everything".
    pub(super) object: Vec<String>,
    /// All nouns of its phrase.
    pub(super) around: Vec<String>,
    /// The nouns of the destination.
    pub(super) destination: Vec<String>,
    /// Quoted names, files, ids and numbers in it.
    pub(super) ids: Vec<Identifier>,
    /// The numbers of a range, and the names in the list below. Only a failed call refutes a claim about them.
    pub(super) listed: Vec<Identifier>,
    /// Proper names around its verb. Like `listed`, they can only refute it.
    pub(super) proper_names: Vec<Identifier>,
    /// The number of things it speaks of.
    pub(super) count: Option<usize>,
    /// True if it speaks of all things of a kind: "all issues".
    pub(super) is_of_all: bool,
    /// True if the text does not name the actor: "was sent".
    pub(super) is_passive: bool,
    /// True if it may report the content of a record: "Invoice 42 has been paid."
    pub(super) is_report: bool,
    /// True if it reads like the name of a field: "Posted charges:".
    pub(super) is_field: bool,
    /// True if the answer itself may be the thing that was made.
    pub(super) is_answer: bool,
    /// True if the text denies the action.
    pub(super) is_denied: bool,
    /// True if the text denies every action of the kind.
    pub(super) is_total: bool,
    /// The place of the claim, in bytes.
    pub(super) place: Range<usize>,
    /// The place of its sentence, in bytes.
    pub(super) sentence: Range<usize>,
}

impl Claim {
    /// Everything that is looked up among the values of calls.
    pub(super) fn names(&self) -> impl Iterator<Item = &Identifier> {
        self.ids
            .iter()
            .chain(&self.listed)
            .chain(&self.proper_names)
    }
}

/// Every distinct claim and denial, in order.
pub(super) fn claims(message: &Message<'_>, vocabulary: &Vocabulary) -> Vec<Claim> {
    let mut found = Vec::new();
    for (at, sentence) in message.sentences.iter().enumerate() {
        if sentence.is_question {
            continue;
        }
        let mut spoken = Scan::new(message, sentence, vocabulary).claims();
        if let Some(last) = spoken.last_mut().filter(|claim| !claim.is_denied) {
            last.listed.extend(named_below(message, at));
            last.proper_names.extend(proper_names_below(message, at));
        }
        found.extend(spoken);
    }
    let mut seen = HashSet::default();
    found.retain(|claim: &Claim| {
        is_change(claim)
            && seen.insert((
                claim.is_denied,
                claim.verb.clone(),
                claim.object.clone(),
                claim.ids.clone(),
                claim.listed.clone(),
                claim.proper_names.clone(),
            ))
    });
    let doubted = names_in_failures(message);
    let has_failure = admits_failure(message);
    for claim in &mut found {
        claim.count = claim.count.filter(|_| !has_failure);
        claim.is_of_all &= !has_failure;
        claim
            .proper_names
            .retain(|name| !doubted.contains(&*name.text));
        claim.is_answer = claim.is_answer && may_be_answer(claim, message.shown);
    }
    found
}

/// The names in the items of a list that a sentence introduces: "I deleted these files:" above one file in each line.
fn named_below(message: &Message<'_>, sentence: usize) -> Vec<Identifier> {
    items_below(message, sentence)
        .filter_map(name_of_item)
        .collect()
}

/// The proper names that items of such a list begin with: "**David Lee**: coordinate the launch", "To David: …".
fn proper_names_below(message: &Message<'_>, sentence: usize) -> Vec<Identifier> {
    items_below(message, sentence)
        .flat_map(names_at_start)
        .collect()
}

/// The first sentence of each item of the list that a sentence introduces, without items that report a failure.
fn items_below<'m, 't>(
    message: &'m Message<'t>,
    sentence: usize,
) -> impl Iterator<Item = &'m [Word<'t>]> {
    let words = |sentence: &Sentence| &message.words[sentence.words.clone()];
    let opens_list = words(&message.sentences[sentence])
        .last()
        .is_some_and(|last| matches!(last.kind, WordKind::Mark(':' | '：')));
    let below = &message.sentences[sentence + 1..];
    let items = below
        .chunk_by(|one, next| one.item == next.item)
        .take_while(move |item| opens_list && item[0].item.is_some());
    items
        .filter(move |item| {
            let mut all = item.iter().flat_map(words);
            !all.any(|word| word.traits.has(Traits::NEGATION) || is_failure(word))
        })
        .map(move |item| words(&item[0]))
}

/// The first name or number of an item: "`a.txt`", "Issue 3: slow start", "#3".
fn name_of_item(words: &[Word<'_>]) -> Option<Identifier> {
    let at = words
        .iter()
        .take(WORDS_BEFORE_NAME + 1)
        .position(|word| matches!(word.kind, WordKind::Held | WordKind::Number))?;
    let before = at.checked_sub(1).map(|before| &words[before]);
    let id = Identifier::from_word(&words[at], before, Role::Object)?;
    let is_alone = at == 0
        && words
            .get(1)
            .is_none_or(|next| matches!(next.kind, WordKind::Mark(_)));
    match id.kind {
        IdentifierKind::Amount if is_alone => Some(Identifier {
            kind: IdentifierKind::Number,
            ..id
        }),
        IdentifierKind::Amount => None,
        _ => Some(id),
    }
}

fn is_failure(word: &Word<'_>) -> bool {
    word.kind == WordKind::Word
        && matches!(
            &*word.text,
            "error" | "errors" | "failure" | "denied" | "rejected" | "pending" | "unsuccessful"
        )
}

/// Returns true if a verb with this object reports a change. "I made a list" and "the search returned 5 rows" do not.
fn is_change(claim: &Claim) -> bool {
    let has = |of: Traits| claim.object.iter().any(|noun| traits(noun).has(of));
    match claim.verb.as_str() {
        "make" => claim.nominal.is_some() || has(Traits::MADE),
        "arrange" | "complete" | "execute" | "give" | "initiate" | "perform" | "process"
        | "request" => claim.nominal.is_some(),
        "return" => !has(Traits::RETURNED) && !claim.object.is_empty(),
        "apply" => !has(Traits::METHOD),
        "open" => !has(Traits::PAGE),
        "change" => !claim.object.iter().any(|noun| noun == "mind"),
        _ => true,
    }
}

/// Returns true if the message may show the thing that was made: "the function below" above code.
fn may_be_answer(claim: &Claim, shown: Shown) -> bool {
    let is_making = LEXICON.related(&claim.verb, "create") && !LEXICON.related(&claim.verb, "send");
    let names = |of: Traits| claim.object.iter().any(|noun| traits(noun).has(of));
    let is_shown = names(Traits::ARTEFACT)
        || (shown.code && names(Traits::CODE))
        || (shown.table && names(Traits::TABLE))
        || (shown.draft && names(Traits::DRAFT))
        || (shown.list && names(Traits::LIST));
    // "I removed duplicates from the list" of the answer.
    let is_tidied = LEXICON.related(&claim.verb, "delete")
        && claim.object.iter().any(|noun| noun == "duplicate");
    // "I've organized it in a clear format."
    let is_laid_out = matches!(claim.verb.as_str(), "organize" | "organise" | "format")
        && (claim.object.is_empty() || names(Traits::RETURNED));
    claim.ids.is_empty() && ((is_making && is_shown) || is_tidied || is_laid_out)
}

/// The meaning of the words between two marks.
#[derive(Debug, Default, Clone, Copy)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one independent trait of the clause"
)]
pub(super) struct Clause {
    pub(super) start: usize,
    opening: Opening,
    /// The traits of its words so far.
    traits: Traits,
    /// True if a condition, a time or a doubt begins it.
    is_hedged: bool,
    /// True if it contains a relative clause. A negation there belongs to the relative clause.
    is_relative: bool,
    /// True if it contains a negation outside of a relative clause.
    is_negated: bool,
    /// True if it contains "no" or "nothing".
    has_none: bool,
    /// True if it contains "is" or the like.
    has_be: bool,
    /// The position of a "got" or "had" after the agent: another person did the following action.
    caused: Option<usize>,
}

/// The mark or word before a clause.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Opening {
    #[default]
    Sentence,
    Colon,
    Dash,
    Joined,
    Other,
}

impl Opening {
    /// Returns true if a clause that opens so can begin with a verb that reports an action: "Created the issue".
    fn can_begin_a_report(self) -> bool {
        matches!(self, Self::Sentence | Self::Colon | Self::Dash)
    }
}

/// The last action of the sentence. An action after "and" is read in the same way.
#[derive(Debug, Clone)]
struct SpokenAction {
    is_claimed: bool,
    is_passive: bool,
    is_report: bool,
    phrase: Phrase,
}

impl SpokenAction {
    /// "I created the issue".
    fn active(phrase: Phrase, is_claimed: bool) -> Self {
        Self {
            is_claimed,
            is_passive: false,
            is_report: false,
            phrase,
        }
    }

    /// "The issue was created", or an action that the sentence denies.
    fn passive(phrase: Phrase, is_claimed: bool) -> Self {
        Self {
            is_passive: true,
            ..Self::active(phrase, is_claimed)
        }
    }
}

/// The state of reading one sentence.
pub(super) struct Scan<'m, 't> {
    pub(super) words: &'m [Word<'t>],
    pub(super) sentence: &'m Sentence,
    vocabulary: &'m Vocabulary,
    /// True if a word such as "other" or "yet" limits the sentence's denial.
    is_limited: bool,
    pub(super) clause: Clause,
    /// True if the last subject was the agent.
    is_own: bool,
    /// True if the sentence begins with the past tense of a verb that changes nothing: "Found the
    /// channel and …".
    opens_with_past: bool,
    last_action: Option<SpokenAction>,
}

impl<'m, 't> Scan<'m, 't> {
    fn new(message: &'m Message<'t>, sentence: &'m Sentence, vocabulary: &'m Vocabulary) -> Self {
        let words = &message.words[sentence.words.clone()];
        Self {
            words,
            sentence,
            vocabulary,
            is_limited: words.iter().any(|word| word.traits.has(Traits::SCOPE)),
            clause: Clause::default(),
            is_own: false,
            opens_with_past: opens_with_past(words),
            last_action: None,
        }
    }

    fn claims(mut self) -> Vec<Claim> {
        let mut found = Vec::new();
        for at in 0..self.words.len() {
            if let Some(opening) = self.opening(at) {
                self.begin_clause(at, opening);
                continue;
            }
            found.extend(self.idiom(at));
            if let Some(form) = self.words[at].form {
                found.extend(self.claim_by_verb(at, form));
            }
            self.note_word(at);
        }
        found
    }

    /// Begins the clause behind a mark or word.
    fn begin_clause(&mut self, at: usize, opening: Opening) {
        let is_hedged = self.clause.is_hedged && matches!(self.text(at), "and" | "or");
        self.clause = Clause {
            start: at + 1,
            is_hedged,
            opening,
            ..Clause::default()
        };
        // What was not done ends at "but".
        if self.text(at) == "but" {
            self.last_action = None;
        }
    }

    /// Updates the clause for a word.
    fn note_word(&mut self, at: usize) {
        let traits = self.words[at].traits;
        self.clause.is_hedged |= traits.has(Traits::SUBORDINATOR);
        self.clause.is_relative |= at > self.clause.start && traits.has(Traits::RELATIVE);
        let can_negate = !self.clause.is_relative && !self.is_no_longer(at);
        self.clause.is_negated |= can_negate && traits.has(Traits::NEGATION);
        self.clause.traits = self.clause.traits.and(traits);
        match self.text(at) {
            "i" | "we" => self.is_own = true,
            "you" | "they" | "he" | "she" | "who" => self.is_own = false,
            "no" | "none" | "nothing" => self.clause.has_none |= can_negate,
            "is" | "are" | "'s" | "be" | "am" => self.clause.has_be = true,
            "got" | "had" if at > 0 && matches!(self.text(at - 1), "i" | "we" | "have") => {
                self.clause.caused = Some(at);
            }
            _ => {}
        }
    }

    pub(super) fn text(&self, at: usize) -> &str {
        self.words
            .get(at)
            .filter(|word| word.kind == WordKind::Word)
            .map_or("", |word| &word.text)
    }

    pub(super) fn has(&self, at: usize, traits: Traits) -> bool {
        self.words
            .get(at)
            .is_some_and(|word| word.traits.has(traits))
    }

    /// "no longer needs" is not a denial of an action.
    fn is_no_longer(&self, at: usize) -> bool {
        self.text(at) == "no" && matches!(self.text(at + 1), "longer" | "more" | "matter" | "later")
    }

    fn any(&self, range: Range<usize>, traits: Traits) -> bool {
        self.words[range].iter().any(|word| word.traits.has(traits))
    }

    /// The opening of the clause after this word or mark, if a clause ends here.
    fn opening(&self, at: usize) -> Option<Opening> {
        match self.words[at].kind {
            WordKind::Mark(':' | '：') => Some(Opening::Colon),
            WordKind::Mark('—') => Some(Opening::Dash),
            WordKind::Mark(',' | ';' | '，' | '；') => Some(Opening::Joined),
            WordKind::Mark(_) => Some(Opening::Other),
            // "I then set", "will then set"
            WordKind::Word
                if self.text(at) == "then"
                    && at > 0
                    && (self.has(at - 1, Traits::MODAL)
                        || matches!(self.text(at - 1), "i" | "we" | "have")) =>
            {
                None
            }
            WordKind::Word if matches!(self.text(at), "and" | "or" | "but" | "so" | "then") => {
                // "and then" at the start of a sentence opens nothing new.
                Some(if at == 0 {
                    Opening::Sentence
                } else {
                    Opening::Joined
                })
            }
            _ => None,
        }
    }
}

/// Returns true if a sentence begins with the past of a verb, without its subject: "Found the channel", "Checked the
/// inbox".
fn opens_with_past(words: &[Word<'_>]) -> bool {
    const PASTS: [&str; 10] = [
        "found", "read", "got", "ran", "took", "made", "saw", "went", "did", "looked",
    ];
    let first = words
        .iter()
        .find(|word| !word.traits.has(Traits::BARE_ADVERB))
        .filter(|word| word.kind == WordKind::Word);
    first.is_some_and(|word| {
        let is_past = word.text.len() > 4 && word.text.ends_with("ed");
        (is_past && word.form.is_none()) || PASTS.contains(&&*word.text)
    })
}
