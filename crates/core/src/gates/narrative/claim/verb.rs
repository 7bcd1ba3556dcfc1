//! Does a verb of a sentence claim an action, deny it, or neither?

use super::super::lexicon::{LEXICON, Traits, traits};
use super::super::message::WordKind;
use super::super::phrase::{Phrase, Quantity};
use super::super::verbs::Form;
use super::{Claim, Opening, Scan, SpokenAction};
use std::ops::Range;

/// The maximum number of adverbs between a verb and its auxiliary or subject.
const MOST_ADVERBS: usize = 6;
const LONGEST_LABEL: usize = 7;

/// The word before a verb, ignoring adverbs.
#[derive(Debug, Clone, Copy, Default)]
struct Before {
    at: Option<usize>,
    is_now: bool,
    is_history: bool,
    is_negated: bool,
}

impl Scan<'_, '_> {
    fn before(&self, verb: usize) -> Before {
        let mut before = Before::default();
        let least = self.clause.start.max(verb.saturating_sub(MOST_ADVERBS));
        for at in (least..verb).rev() {
            let text = self.text(at);
            let is_not = matches!(text, "not" | "never");
            let adds = is_not && matches!(self.text(at + 1), "only" | "just" | "merely");
            if !is_not && !self.has(at, Traits::ADVERB.and(Traits::HISTORY)) {
                return Before {
                    at: Some(at),
                    ..before
                };
            }
            before.is_negated |= is_not && !adds;
            before.is_now |= text == "now";
            before.is_history |= text == "already" || self.has(at, Traits::HISTORY);
        }
        before
    }

    /// The claim or denial that the verb at a place makes.
    pub(super) fn claim_by_verb(&mut self, at: usize, form: Form) -> Option<Claim> {
        if form.is_gerund {
            return self
                .after_doing(at)
                .then(|| self.claim(at, form, Phrase::behind(self.words, at)));
        }
        let before = self.before(at);
        if form.is_base && self.is_refused(before) {
            return Some(Claim {
                is_total: false,
                ..self.denial(at, form, Phrase::behind(self.words, at))
            });
        }
        if form.is_base && self.is_base_of_a_past(at, before) {
            return self.done_or_denied(at, form, before);
        }
        if !form.is_past {
            return None;
        }
        match before.at {
            Some(first) => self.behind_a_word(at, form, first, before),
            None if before.is_history => None,
            None => self.at_the_start(at, form),
        }
    }

    /// A past or participle behind a subject, an auxiliary or a noun: "I created", "was created", "Issue created".
    fn behind_a_word(
        &mut self,
        at: usize,
        form: Form,
        first: usize,
        before: Before,
    ) -> Option<Claim> {
        let negated = Before {
            is_negated: true,
            ..before
        };
        match self.text(first) {
            "i" | "we" => self.active(at, form, before),
            "have" | "had" => self.behind_have(at, form, first, before),
            "been" | "was" | "were" | "got" => self.passive(at, form, first, before),
            "is" | "are" | "'s" if before.is_now || self.text(at + 1) == "now" => {
                self.passive(at, form, first, before)
            }
            "haven't" | "hasn't" if self.subject_is_own(first) => self.active(at, form, negated),
            "wasn't" | "weren't" | "hasn't" | "haven't" => self.passive(at, form, first, negated),
            _ if before.is_history => None,
            _ => self.label(at, form),
        }
    }

    /// "I have created", "I have never created".
    fn behind_have(
        &mut self,
        at: usize,
        form: Form,
        auxiliary: usize,
        before: Before,
    ) -> Option<Claim> {
        if !self.subject_is_own(auxiliary) {
            return None;
        }
        let is_negated = before.is_negated || self.before(auxiliary).is_negated;
        self.active(
            at,
            form,
            Before {
                is_negated,
                ..before
            },
        )
    }

    fn subject_is_own(&self, auxiliary: usize) -> bool {
        self.before(auxiliary)
            .at
            .is_some_and(|at| matches!(self.text(at), "i" | "we"))
    }

    fn claim(&self, at: usize, form: Form, phrase: Phrase) -> Claim {
        self.claim_named(at, self.vocabulary.base(form).to_owned(), phrase)
    }

    fn claim_named(&self, at: usize, verb: String, mut phrase: Phrase) -> Claim {
        phrase.name_verb(&verb);
        let own = self.words[at].place.clone();
        let place = match &phrase.place {
            Some(around) => own.start.min(around.start)..own.end.max(around.end),
            None => own,
        };
        let name = match phrase.object.last() {
            Some(noun) => format!("{verb}_{noun}"),
            None => verb.clone(),
        };
        Claim {
            nominal: nominal(&verb, &phrase.object),
            verb,
            name,
            object: phrase.object,
            around: phrase.around,
            destination: phrase.destination,
            ids: phrase.ids,
            listed: phrase.listed,
            proper_names: phrase.proper_names,
            count: phrase.count,
            is_of_all: phrase.is_of_all,
            is_answer: !phrase.has_destination,
            place,
            sentence: self.sentence.place.clone(),
            ..Claim::default()
        }
    }

    /// Remembers the form of an action. Returns a claim if the sentence claims the action.
    fn remember(&mut self, at: usize, form: Form, action: SpokenAction) -> Option<Claim> {
        let claim = action
            .is_claimed
            .then(|| self.claim(at, form, action.phrase.clone()));
        self.last_action = Some(action);
        claim
    }

    /// "I created", "we have now created".
    fn active(&mut self, at: usize, form: Form, before: Before) -> Option<Claim> {
        let phrase = Phrase::behind(self.words, at);
        if before.is_negated || phrase.quantity == Quantity::None {
            return Some(self.denial(at, form, phrase));
        }
        let is_history = self.clause.traits.has(Traits::HISTORY) || self.is_history_behind(at);
        let is_about_a_noun = phrase.is_empty() && self.is_about_the_noun_before(at);
        let is_claimed = !(is_history || self.clause.is_hedged || is_about_a_noun);
        self.remember(at, form, SpokenAction::active(phrase, is_claimed))
    }

    /// "the file we just created" only identifies the file.
    fn is_about_the_noun_before(&self, verb: usize) -> bool {
        const NEVER: Traits = Traits::ADVERB
            .and(Traits::PREPOSITION)
            .and(Traits::SUBORDINATOR)
            .and(Traits::RELATIVE)
            .and(Traits::SEEN);
        let subject = (self.clause.start..verb)
            .rev()
            .find(|&at| matches!(self.text(at), "i" | "we"));
        let before = subject
            .and_then(|at| at.checked_sub(1))
            .filter(|&at| at >= self.clause.start);
        before.is_some_and(|at| {
            self.words[at].kind == WordKind::Word
                && self.words[at].form.is_none()
                && !self.has(at, NEVER)
                && (at.saturating_sub(MOST_ADVERBS)..at).any(|at| self.has(at, Traits::DETERMINER))
        })
    }

    /// "has been created", "was created", "is now created".
    fn passive(
        &mut self,
        at: usize,
        form: Form,
        auxiliary: usize,
        before: Before,
    ) -> Option<Claim> {
        if !form.is_participle {
            return None;
        }
        let is_perfect = self.text(auxiliary) == "been";
        let helper = if is_perfect {
            self.before(auxiliary).at?
        } else {
            auxiliary
        };
        let mut phrase = Phrase::before(self.words, self.clause.start..helper);
        phrase.widen(self.words, at);
        if before.is_negated || self.clause.is_negated {
            return Some(self.denial(at, form, phrase));
        }
        let is_history = before.is_history || self.before(auxiliary).is_history;
        let is_claimed = !is_history && self.is_done_now(at, helper, is_perfect);
        let is_report = self.may_report(at);
        let action = SpokenAction {
            is_report,
            ..SpokenAction::passive(phrase, is_claimed)
        };
        let claim = self.remember(at, form, action)?;
        Some(Claim {
            is_passive: true,
            is_report,
            ..claim
        })
    }

    /// Returns true if a passive with this helper verb reports a new action of the agent.
    fn is_done_now(&self, at: usize, helper: usize, is_perfect: bool) -> bool {
        let fits_tense = if is_perfect {
            self.is_form_of_have(helper)
        } else {
            !self.is_about_a_person(helper) && !self.is_dated(at)
        };
        fits_tense
            && !self.is_history_behind(at)
            && !self.clause.is_hedged
            && !self.follows_a_relative(helper)
            && !self.is_planned(helper)
            && !self.is_by_another(at)
    }

    fn is_form_of_have(&self, at: usize) -> bool {
        matches!(
            self.text(at),
            "has" | "have" | "had" | "'s" | "hasn't" | "haven't"
        )
    }

    /// "you were added": the agent or another person may have done it.
    fn is_about_a_person(&self, auxiliary: usize) -> bool {
        self.subject_before(auxiliary)
            .is_some_and(|at| matches!(self.text(at), "you" | "they" | "he" | "she"))
    }

    /// "the issue that was created".
    fn follows_a_relative(&self, auxiliary: usize) -> bool {
        self.subject_before(auxiliary)
            .is_some_and(|at| self.has(at, Traits::RELATIVE))
    }

    /// The word before an auxiliary, if it is in the same clause.
    fn subject_before(&self, auxiliary: usize) -> Option<usize> {
        auxiliary
            .checked_sub(1)
            .filter(|&at| at >= self.clause.start)
    }

    /// "will have been created". "to Bob has been sent" has no infinitive, "to have been sent" has one.
    fn is_planned(&self, auxiliary: usize) -> bool {
        let first = auxiliary.saturating_sub(2).max(self.clause.start);
        (first..auxiliary).any(|at| {
            let begins_infinitive = at + 1 == auxiliary;
            self.has(at, Traits::MODAL) && (self.text(at) != "to" || begins_infinitive)
        })
    }

    /// Returns true if a passive may report the content of a record: it does not call the action a
    /// success, and the agent is not its subject.
    fn may_report(&self, verb: usize) -> bool {
        let near = verb.saturating_sub(MOST_ADVERBS)..self.words.len().min(verb + 2);
        let clause = || self.clause.start..verb;
        let is_own = clause().any(|at| matches!(self.text(at), "i" | "we"));
        let is_seen = clause().any(|at| self.has(at, Traits::SEEN));
        (!is_own || is_seen)
            && !self.sentence.is_checked
            && !near.into_iter().any(|at| self.text(at) == "successfully")
    }

    /// "Created the issue", and further verbs after "and" or a comma.
    fn at_the_start(&mut self, at: usize, form: Form) -> Option<Claim> {
        let is_ambiguous = form.is_base && !self.sentence.is_checked;
        if self.clause.opening == Opening::Joined {
            return self.joined(at, form, is_ambiguous);
        }
        let is_alone = self.is_end(at + 1);
        if is_alone && self.clause.start > 0 {
            return self.alone_behind_a_mark(at, form);
        }
        let phrase = Phrase::behind(self.words, at);
        let is_only_dated = phrase.object.is_empty() && (self.is_dated(at) || self.is_for_date(at));
        let is_claimed = self.clause.opening.can_begin_a_report()
            && !is_ambiguous
            && !self.begins_with_manner(at)
            && !self.is_data(at)
            && !self.is_field(at)
            && !self.is_adjective(at)
            && !self.is_title(at)
            && !is_only_dated;
        if !is_claimed {
            return None;
        }
        let is_field = self.is_name_of_field(at);
        let is_report = is_field && self.may_report(at);
        let claim = self.remember(at, form, SpokenAction::active(phrase, true))?;
        Some(Claim {
            is_report,
            is_field,
            ..claim
        })
    }

    /// "Payment: paid with a gift card" is a fact about the payment, as is "feedback.xlsx - shared with read
    /// permission" about the file.
    fn begins_with_manner(&self, at: usize) -> bool {
        match self.clause.opening {
            Opening::Colon => self.has(at + 1, Traits::PREPOSITION),
            Opening::Dash => self.text(at + 1) == "with",
            _ => false,
        }
    }

    /// "(I created the issue) and closed the other".
    fn joined(&mut self, at: usize, form: Form, is_ambiguous: bool) -> Option<Claim> {
        let phrase = Phrase::behind(self.words, at);
        let last = self.last_action.clone();
        if let Some(last) = &last
            && last.is_passive
            && (phrase.object.is_empty() || !last.is_claimed)
        {
            return self.joined_to_a_passive(at, form, last);
        }
        let follows_active = last.is_some_and(|last| last.is_claimed && !last.is_passive);
        let follows_own = self.is_own || self.opens_with_past || follows_active;
        // "I need to determine the plans and put together the list" plans both.
        let is_claimed = follows_own && !self.clause.is_hedged && (follows_active || !is_ambiguous);
        if !is_claimed {
            return None;
        }
        self.remember(at, form, SpokenAction::active(phrase, true))
    }

    /// "(The issue was created) and assigned".
    fn joined_to_a_passive(
        &mut self,
        at: usize,
        form: Form,
        passive: &SpokenAction,
    ) -> Option<Claim> {
        // "has been updated for the next month, scheduled for June 3" says how it is.
        let is_aside = self.words[self.clause.start - 1].kind == WordKind::Mark(',')
            && self.has(at + 1, Traits::PREPOSITION);
        let is_claimed =
            passive.is_claimed && form.is_participle && !is_aside && !self.is_by_another(at);
        let action = SpokenAction {
            is_claimed,
            phrase: passive.phrase.clone().with_place(self.words, at),
            ..passive.clone()
        };
        let claim = self.remember(at, form, action)?;
        Some(Claim {
            is_passive: true,
            is_report: passive.is_report,
            ..claim
        })
    }

    /// "Invoice — created", "✓ Invoice: created".
    fn alone_behind_a_mark(&mut self, at: usize, form: Form) -> Option<Claim> {
        let is_done = self.clause.opening == Opening::Dash
            || (self.clause.opening == Opening::Colon && self.sentence.is_checked);
        if !is_done {
            return None;
        }
        let phrase = Phrase::before(self.words, 0..self.clause.start.saturating_sub(1));
        self.remember(at, form, SpokenAction::passive(phrase, true))
    }

    /// "Issue created", "the lock removed" after "the password was set and": nouns and a participle.
    fn label(&mut self, at: usize, form: Form) -> Option<Claim> {
        let start = self
            .clause
            .caused
            .map_or(self.clause.start, |caused| caused + 1);
        if !self.ends_a_label(at) {
            if start < at {
                self.last_action = Some(SpokenAction::active(Phrase::default(), false));
                self.is_own = false;
            }
            return None;
        }
        let phrase = Phrase::before(self.words, start..at);
        if phrase.is_empty() || !self.is_label(start..at, form) {
            return None;
        }
        let is_claimed = !self.is_data(at)
            && !self.is_dated(at)
            && !self.is_by_another(at)
            && !self.clause.is_hedged;
        let phrase = phrase.with_place(self.words, at);
        let claim = self.remember(at, form, SpokenAction::passive(phrase, is_claimed))?;
        Some(Claim {
            is_report: self.may_report(at),
            ..claim
        })
    }

    /// Returns true if a label can end at this participle: the next words are not its object.
    fn ends_a_label(&self, at: usize) -> bool {
        let next = self.words.get(at + 1);
        self.is_end(at + 1)
            || self.has(at + 1, Traits::PREPOSITION.and(Traits::ADVERB))
            || next.is_some_and(|word| word.kind != WordKind::Word)
    }

    /// Returns true if these words before a participle can be the nouns of a label.
    fn is_label(&self, nouns: Range<usize>, form: Form) -> bool {
        let follows_claim = self
            .last_action
            .as_ref()
            .is_some_and(|last| last.is_claimed);
        let is_joined = self.clause.opening == Opening::Joined && follows_claim;
        let is_inside = nouns.start > self.clause.start;
        let may_begin = is_joined || is_inside || self.clause.opening != Opening::Joined;
        // "Password Reset" is a noun.
        let is_participle =
            form.is_participle && (!form.is_base || self.sentence.is_checked || is_joined);
        if !may_begin || !is_participle || nouns.is_empty() || nouns.len() > LONGEST_LABEL {
            return false;
        }
        let begins_with_number = self.words[nouns.start].kind == WordKind::Number;
        let may_begin_with_number = self.sentence.is_heading || self.sentence.is_checked;
        if begins_with_number && !may_begin_with_number {
            return false;
        }
        let may_have_article = is_joined || is_inside;
        !self.has(nouns.start, Traits::READ)
            && nouns
                .into_iter()
                .all(|at| self.is_noun(at) && (may_have_article || !self.is_article_of_one(at)))
    }

    /// "the" and "a", which a heading such as "All issues closed" does not have.
    fn is_article_of_one(&self, at: usize) -> bool {
        self.has(at, Traits::DETERMINER) && !matches!(self.text(at), "all" | "both")
    }

    /// "was able to cancel", and "did not delete" as a denial.
    fn is_base_of_a_past(&self, at: usize, before: Before) -> bool {
        let Some(first) = before.at else { return false };
        let is_able = self.text(first) == "to" && first > 0 && self.has(first - 1, Traits::ABLE);
        is_able || matches!(self.text(first), "did" | "didn't") && at > 0
    }

    fn done_or_denied(&mut self, at: usize, form: Form, before: Before) -> Option<Claim> {
        let first = before.at?;
        let phrase = Phrase::behind(self.words, at);
        if before.is_negated || self.clause.is_negated {
            return Some(self.denial(at, form, phrase));
        }
        let near = first.saturating_sub(4).max(self.clause.start)..first;
        let is_done = self.text(first) == "to"
            && self.is_own
            && !self.clause.is_hedged
            && !self.clause.has_be
            && !self.any(near, Traits::MODAL);
        if !is_done {
            return None;
        }
        self.remember(at, form, SpokenAction::active(phrase, true))
    }

    /// "I did not delete anything", "no issue was created": a denial, of all or of something.
    fn denial(&mut self, at: usize, form: Form, phrase: Phrase) -> Claim {
        self.last_action = Some(SpokenAction::passive(phrase.clone(), false));
        let is_all = phrase.quantity != Quantity::Some || self.clause.has_none;
        let is_total = is_all && !self.clause.is_hedged && !self.is_limited;
        Claim {
            is_denied: true,
            is_total,
            ..self.claim(at, form, phrase)
        }
    }

    /// "could not refund", "was unable to refund".
    fn is_refused(&self, before: Before) -> bool {
        let Some(first) = before.at else { return false };
        match self.text(first) {
            "could" | "can" => before.is_negated,
            "couldn't" | "can't" | "cannot" => true,
            "to" => first > 0 && self.has(first - 1, Traits::NEGATION),
            _ => false,
        }
    }

    /// "After creating the issue, I …"
    fn after_doing(&self, at: usize) -> bool {
        at == 1
            && matches!(self.text(0), "after" | "by" | "following")
            && !self.any(0..self.words.len(), Traits::MODAL)
            && (0..self.words.len()).any(|at| matches!(self.text(at), "i" | "we"))
    }

    /// "The email is on its way."
    pub(super) fn idiom(&self, at: usize) -> Option<Claim> {
        let is_here = |phrase: &[String]| {
            phrase
                .iter()
                .enumerate()
                .all(|(step, word)| self.text(at + step) == word)
        };
        let (_, verb) = LEXICON.idioms.iter().find(|(phrase, _)| is_here(phrase))?;
        let is_claimed = self.clause.has_be
            && !self.clause.is_hedged
            && !self.clause.traits.has(Traits::NEGATION.and(Traits::MODAL));
        is_claimed.then(|| {
            self.claim_named(
                at,
                verb.clone(),
                Phrase::before(self.words, self.clause.start..at),
            )
        })
    }
}

/// The meaning of a light verb with its noun: "made a refund" is to refund.
fn nominal(verb: &str, object: &[String]) -> Option<&'static str> {
    if !traits(verb).has(Traits::LIGHT) {
        return None;
    }
    object.iter().rev().find_map(|noun| LEXICON.action(noun))
}
