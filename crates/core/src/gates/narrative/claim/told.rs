//! What does one verb of a sentence say: that something was done, that it was not, or neither?

use super::super::lexicon::{LEXICON, Traits, traits};
use super::super::message::WordKind;
use super::super::phrase::{Phrase, Quantity};
use super::super::verbs::Form;
use super::{Claim, Opening, Scan, Told};

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
    pub(super) fn told_by(&mut self, at: usize, form: Form) -> Option<Claim> {
        if form.is_gerund {
            return self
                .after_doing(at)
                .then(|| self.claim(at, form, Phrase::behind(self.words, at)));
        }
        let before = self.before(at);
        if form.is_base && self.is_refused(before) {
            let denial = self.denial(at, form, Phrase::behind(self.words, at));
            return Some(Claim {
                is_total: false,
                ..denial
            });
        }
        if form.is_base && self.is_base_of_a_past(at, before) {
            return self.done_or_denied(at, form, before);
        }
        if !form.is_past {
            return None;
        }
        let Some(first) = before.at else {
            return if before.is_history {
                None
            } else {
                self.at_the_start(at, form)
            };
        };
        match self.text(first) {
            "i" | "we" => self.active(at, form, before),
            "have" | "had" => {
                let subject = self.before(first);
                let is_own = subject
                    .at
                    .is_some_and(|at| matches!(self.text(at), "i" | "we"));
                let before = Before {
                    is_negated: before.is_negated || subject.is_negated,
                    ..before
                };
                if is_own {
                    self.active(at, form, before)
                } else {
                    None
                }
            }
            "been" | "was" | "were" | "got" => self.passive(at, form, first, before),
            "is" | "are" | "'s" if before.is_now || self.text(at + 1) == "now" => {
                self.passive(at, form, first, before)
            }
            "haven't" | "hasn't" if self.subject_is_own(first) => self.active(
                at,
                form,
                Before {
                    is_negated: true,
                    ..before
                },
            ),
            "wasn't" | "weren't" | "hasn't" | "haven't" => self.passive(
                at,
                form,
                first,
                Before {
                    is_negated: true,
                    ..before
                },
            ),
            _ if before.is_history => None,
            _ => self.label(at, form),
        }
    }

    fn subject_is_own(&self, auxiliary: usize) -> bool {
        self.before(auxiliary)
            .at
            .is_some_and(|at| matches!(self.text(at), "i" | "we"))
    }

    fn claim(&self, at: usize, form: Form, phrase: Phrase) -> Claim {
        self.claim_of(at, self.vocabulary.base(form).to_owned(), phrase)
    }

    fn claim_of(&self, at: usize, verb: String, mut phrase: Phrase) -> Claim {
        phrase.name_verb(&verb);
        let own = self.words[at].place.clone();
        let place = phrase.place.as_ref().map_or(own.clone(), |of| {
            own.start.min(of.start)..own.end.max(of.end)
        });
        let name = phrase
            .object
            .last()
            .map_or(verb.clone(), |noun| format!("{verb}_{noun}"));
        let nominal = phrase
            .object
            .iter()
            .rev()
            .find_map(|noun| LEXICON.action(noun));
        Claim {
            nominal: nominal.filter(|_| traits(&verb).has(Traits::LIGHT)),
            verb,
            name,
            object: phrase.object,
            around: phrase.around,
            destination: phrase.destination,
            ids: phrase.ids,
            listed: phrase.listed,
            is_answer: !phrase.has_destination,
            place,
            sentence: self.sentence.place.clone(),
            ..Claim::default()
        }
    }

    /// Remembers the form of an action. Returns a claim if the sentence claims the action.
    fn tell(&mut self, at: usize, form: Form, told: Told) -> Option<Claim> {
        let claim = told
            .is_claimed
            .then(|| self.claim(at, form, told.phrase.clone()));
        self.told = Some(told);
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
        self.tell(
            at,
            form,
            Told {
                is_claimed,
                is_passive: false,
                is_report: false,
                phrase,
            },
        )
    }

    /// "the file we just created": which file it is.
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
        let is_helper = matches!(
            self.text(helper),
            "has" | "have" | "had" | "'s" | "hasn't" | "haven't"
        );
        let mut phrase = Phrase::before(self.words, self.clause.start..helper);
        phrase.widen(self.words, at);
        if before.is_negated || self.clause.is_negated {
            return Some(self.denial(at, form, phrase));
        }
        let subject = helper.checked_sub(1).filter(|&at| at >= self.clause.start);
        let is_relative = subject.is_some_and(|at| self.has(at, Traits::RELATIVE));
        let is_person =
            subject.is_some_and(|at| matches!(self.text(at), "you" | "they" | "he" | "she"));
        // "to Bob has been sent" has no infinitive, "to have been sent" has one.
        let modal = helper.saturating_sub(2).max(self.clause.start)..helper;
        let is_planned = modal
            .into_iter()
            .any(|at| self.has(at, Traits::MODAL) && (self.text(at) != "to" || at + 1 == helper));
        let is_claimed = (is_helper || !is_perfect)
            && !self.clause.is_hedged
            && !is_relative
            && (is_perfect || !is_person)
            && !is_planned
            && !before.is_history
            && !self.before(auxiliary).is_history
            && !self.is_by_another(at)
            && (is_perfect || !self.is_dated(at))
            && !self.is_history_behind(at);
        let is_report = self.may_report(at);
        let claim = self.tell(
            at,
            form,
            Told {
                is_claimed,
                is_passive: true,
                is_report,
                phrase,
            },
        )?;
        Some(Claim {
            is_passive: true,
            is_report,
            ..claim
        })
    }

    /// Returns true if a passive may report the content of a record: it neither calls the action a success nor has
    /// the agent as its subject.
    fn may_report(&self, verb: usize) -> bool {
        let near = verb.saturating_sub(MOST_ADVERBS)..self.words.len().min(verb + 2);
        let clause = || self.clause.start..verb;
        let is_own = clause().any(|at| matches!(self.text(at), "i" | "we"));
        let is_seen = clause().any(|at| self.has(at, Traits::SEEN));
        (!is_own || is_seen)
            && !self.sentence.is_checked
            && !near.into_iter().any(|at| self.text(at) == "successfully")
    }

    /// "Created the issue", and what follows "and" or a comma.
    fn at_the_start(&mut self, at: usize, form: Form) -> Option<Claim> {
        let is_ambiguous = form.is_base && !self.sentence.is_checked;
        if self.clause.opening == Opening::Joined {
            return self.joined(at, form, is_ambiguous);
        }
        let is_alone = self.is_end(at + 1);
        if is_alone && self.clause.start > 0 {
            return self.alone_behind_a_mark(at, form);
        }
        // "Payment: paid with a gift card" is a fact about the payment.
        let is_manner = match self.clause.opening {
            Opening::Colon => self.has(at + 1, Traits::PREPOSITION),
            // "feedback.xlsx - shared with read permission"
            Opening::Dash => self.text(at + 1) == "with",
            _ => false,
        };
        let opens = matches!(
            self.clause.opening,
            Opening::Sentence | Opening::Colon | Opening::Dash
        );
        let phrase = Phrase::behind(self.words, at);
        let is_claimed = opens
            && !is_ambiguous
            && !is_manner
            && !self.is_data(at)
            && !self.is_field(at)
            && !self.is_adjective(at)
            && !self.is_title(at)
            && !(phrase.object.is_empty() && (self.is_dated(at) || self.is_for_date(at)));
        if !is_claimed {
            return None;
        }
        let is_field = self.is_name_of_field(at);
        let is_report = is_field && self.may_report(at);
        let claim = self.tell(
            at,
            form,
            Told {
                is_claimed,
                is_passive: false,
                is_report: false,
                phrase,
            },
        )?;
        Some(Claim {
            is_report,
            is_field,
            ..claim
        })
    }

    /// "(I created the issue) and closed the other".
    fn joined(&mut self, at: usize, form: Form, is_ambiguous: bool) -> Option<Claim> {
        let phrase = Phrase::behind(self.words, at);
        let told = self.told.clone();
        if let Some(told) = &told
            && told.is_passive
            && (phrase.object.is_empty() || !told.is_claimed)
        {
            return self.joined_to_a_passive(at, form, told);
        }
        let is_told = told.is_some_and(|told| told.is_claimed && !told.is_passive);
        let follows = self.is_own || self.opens_with_past || is_told;
        // "I need to determine the plans and put together the list" plans both.
        let is_claimed = follows && !self.clause.is_hedged && (is_told || !is_ambiguous);
        if !is_claimed {
            return None;
        }
        self.tell(
            at,
            form,
            Told {
                is_claimed,
                is_passive: false,
                is_report: false,
                phrase,
            },
        )
    }

    /// "(The issue was created) and assigned".
    fn joined_to_a_passive(&mut self, at: usize, form: Form, told: &Told) -> Option<Claim> {
        // "has been updated for the next month, scheduled for June 3" says how it is.
        let is_aside = self.words[self.clause.start - 1].kind == WordKind::Mark(',')
            && self.has(at + 1, Traits::PREPOSITION);
        let is_claimed =
            told.is_claimed && form.is_participle && !is_aside && !self.is_by_another(at);
        let claim = self.tell(
            at,
            form,
            Told {
                is_claimed,
                phrase: told.phrase.clone().with_place(self.words, at),
                ..told.clone()
            },
        )?;
        Some(Claim {
            is_passive: true,
            is_report: told.is_report,
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
        self.tell(
            at,
            form,
            Told {
                is_claimed: true,
                is_passive: true,
                is_report: false,
                phrase,
            },
        )
    }

    /// "Issue created", "the lock removed" after "the password was set and": nouns and a participle.
    fn label(&mut self, at: usize, form: Form) -> Option<Claim> {
        let start = self
            .clause
            .caused
            .map_or(self.clause.start, |caused| caused + 1);
        let is_joined = self.clause.opening == Opening::Joined
            && self.told.as_ref().is_some_and(|told| told.is_claimed);
        let has_article = |at: usize| {
            self.has(at, Traits::DETERMINER) && !matches!(self.text(at), "all" | "both")
        };
        let article_fits = is_joined || start > self.clause.start;
        let is_open =
            is_joined || start > self.clause.start || self.clause.opening != Opening::Joined;
        let fits = start < at
            && at - start <= LONGEST_LABEL
            && is_open
            && form.is_participle
            // "Password Reset" is a noun.
            && (!form.is_base || self.sentence.is_checked || is_joined)
            && !self.has(start, Traits::READ)
            && (start..at).all(|at| self.is_noun(at) && (article_fits || !has_article(at)))
            && (self.words[start].kind != WordKind::Number
                || self.sentence.is_heading
                || self.sentence.is_checked);
        let phrase = Phrase::before(self.words, start..at);
        let ends =
            self.is_end(at + 1) || self.has(at + 1, Traits::PREPOSITION.and(Traits::ADVERB)) || {
                self.words
                    .get(at + 1)
                    .is_some_and(|word| word.kind != WordKind::Word)
            };
        if !fits || !ends || phrase.is_empty() {
            if start < at && !ends {
                self.told = Some(Told {
                    is_claimed: false,
                    is_passive: false,
                    is_report: false,
                    phrase: Phrase::default(),
                });
                self.is_own = false;
            }
            return None;
        }
        let is_claimed = !self.is_data(at)
            && !self.is_dated(at)
            && !self.is_by_another(at)
            && !self.clause.is_hedged;
        let claim = self.tell(
            at,
            form,
            Told {
                is_claimed,
                is_passive: true,
                is_report: false,
                phrase,
            },
        )?;
        Some(Claim {
            is_report: self.may_report(at),
            ..claim
        })
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
        let is_done = self.text(first) == "to"
            && self.is_own
            && !self.clause.is_hedged
            && !self.clause.has_be
            && !(first.saturating_sub(4)..first)
                .any(|at| at >= self.clause.start && self.has(at, Traits::MODAL));
        is_done
            .then(|| {
                self.tell(
                    at,
                    form,
                    Told {
                        is_claimed: true,
                        is_passive: false,
                        is_report: false,
                        phrase,
                    },
                )
            })
            .flatten()
    }

    /// "I did not delete anything", "no issue was created": a denial, of all or of something.
    fn denial(&mut self, at: usize, form: Form, phrase: Phrase) -> Claim {
        self.told = Some(Told {
            is_claimed: false,
            is_passive: true,
            is_report: false,
            phrase: phrase.clone(),
        });
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
            self.claim_of(
                at,
                verb.clone(),
                Phrase::before(self.words, self.clause.start..at),
            )
        })
    }
}
