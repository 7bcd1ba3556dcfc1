//! What around a verb makes a fact, an adjective or history of it?

use super::claim::{REACH, Scan};
use super::lexicon::Traits;
use super::message::WordKind;

impl Scan<'_, '_> {
    pub(super) fn is_end(&self, at: usize) -> bool {
        self.words
            .get(at)
            .is_none_or(|word| matches!(word.kind, WordKind::Mark(_)))
            || matches!(self.text(at), "and" | "but" | "so" | "then")
    }

    /// "Created: 2026-03-01", "Created by Daniel".
    pub(super) fn is_data(&self, at: usize) -> bool {
        if matches!(self.text(at + 1), "by" | "at" | "on" | "since") {
            return true;
        }
        let is_colon = self
            .words
            .get(at + 1)
            .is_some_and(|word| word.kind == WordKind::Mark(':'));
        let value = self.words.get(at + 2);
        let is_label = at > self.clause.start;
        let is_value = value.is_none_or(|word| word.kind == WordKind::Number)
            || self.has(at + 2, Traits::DATE)
            || matches!(self.text(at + 2), "yes" | "no" | "none" | "true" | "false");
        is_colon && (!is_label || is_value && value.is_some())
    }

    /// "Shared with: alex@x.com", "Approved June 24" behind "Postponement:", "Next scheduled payment date".
    pub(super) fn is_field(&self, at: usize) -> bool {
        let colon = (at + 1..self.words.len().min(at + 1 + REACH))
            .find(|&at| matches!(self.words[at].kind, WordKind::Mark(_)))
            .filter(|&at| self.words[at].kind == WordKind::Mark(':'));
        let is_empty = colon.is_some_and(|colon| {
            (at + 1..colon).all(|at| self.has(at, Traits::PREPOSITION.and(Traits::PRONOUN)))
        });
        let is_of_date = at > self.clause.start || self.clause.start > 0;
        let is_next = at > 0 && matches!(self.text(at - 1), "next" | "last");
        is_empty || is_next || (is_of_date && self.has(at + 1, Traits::DATE))
    }

    /// "Posted charges: $1,500": a participle and its noun before a colon, without an article.
    pub(super) fn is_name_of_field(&self, at: usize) -> bool {
        let end = self.words.len().min(at + 2 + REACH);
        let is_end = |at: &usize| match self.words[*at].kind {
            WordKind::Mark(mark) => !matches!(mark, '(' | ')'),
            _ => false,
        };
        (at + 1..end).find(is_end).is_some_and(|colon| {
            self.words[colon].kind == WordKind::Mark(':')
                && (at + 1..colon).all(|at| !self.has(at, Traits::DETERMINER))
        })
    }

    /// "Deleted records can be restored."
    pub(super) fn is_adjective(&self, at: usize) -> bool {
        let end = self.words.len().min(at + 1 + REACH);
        (at + 1..end)
            .take_while(|&at| !self.is_end(at))
            .any(|at| self.has(at, Traits::PREDICATE))
    }

    /// "Closed issues" over a list.
    pub(super) fn is_title(&self, at: usize) -> bool {
        let end = self.words.len();
        let is_head = self.sentence.is_heading
            || self
                .words
                .last()
                .is_some_and(|word| word.kind == WordKind::Mark(':'));
        let is_plain =
            |at: usize| self.words[at].kind == WordKind::Word && !self.has(at, Traits::DETERMINER);
        let body = end - usize::from(matches!(self.words[end - 1].kind, WordKind::Mark(_)));
        is_head && body.saturating_sub(at + 1) <= 2 && (at + 1..body).all(is_plain)
    }

    /// "was created by Daniel".
    pub(super) fn is_by_another(&self, at: usize) -> bool {
        let end = self.words.len().min(at + REACH);
        let by = (at + 1..end)
            .take_while(|&at| !self.is_end(at))
            .find(|&at| self.text(at) == "by");
        by.is_some_and(|by| {
            let is_doing = self.text(by + 1).ends_with("ing");
            !is_doing
                && !matches!(
                    self.text(by + 1),
                    "me" | "us" | "email" | "mail" | "default"
                )
        })
    }

    /// "was created on March 3", "was cancelled in 2024".
    pub(super) fn is_dated(&self, at: usize) -> bool {
        let end = self.words.len().min(at + REACH);
        (at + 1..end).any(|at| {
            let is_may = self.text(at + 1) == "may"
                && self
                    .words
                    .get(at + 2)
                    .is_some_and(|word| word.kind == WordKind::Number);
            let is_number = |at: usize| {
                self.words
                    .get(at)
                    .is_some_and(|word| word.kind == WordKind::Number)
            };
            let is_date = self.has(at + 1, Traits::DATE)
                || (is_number(at + 1)
                    && (self.has(at + 2, Traits::DATE) || self.text(at + 2) == "may"))
                || is_may
                || self
                    .words
                    .get(at + 1)
                    .is_some_and(|word| word.kind == WordKind::Number && word.text.len() >= 4);
            matches!(self.text(at), "on" | "in" | "since" | "at") && is_date
        })
    }

    /// "Scheduled for January 18"
    pub(super) fn is_for_date(&self, at: usize) -> bool {
        self.text(at + 1) == "for" && self.has(at + 2, Traits::DATE)
    }

    /// "sent yesterday", "was changed two days ago".
    pub(super) fn is_history_behind(&self, at: usize) -> bool {
        let end = self.words.len().min(at + 1 + 2 * REACH);
        let own = (at + 1..end).take_while(|&at| !self.is_end(at));
        own.into_iter().any(|at| {
            let is_last = self.text(at) == "last"
                && (self.text(at - 1) == "the"
                    || self.has(at + 1, Traits::PERIOD.and(Traits::DATE)));
            self.has(at, Traits::HISTORY) || is_last
        })
    }

    /// Returns true if a word of a label names a thing and does not begin another phrase.
    pub(super) fn is_noun(&self, at: usize) -> bool {
        const NEVER: Traits = Traits::MODAL
            .and(Traits::NEGATION)
            .and(Traits::SUBORDINATOR)
            .and(Traits::PREPOSITION)
            .and(Traits::PRONOUN)
            .and(Traits::RELATIVE)
            .and(Traits::HISTORY)
            .and(Traits::UNLABELLED);
        let is_verb = self.words[at]
            .form
            .is_some_and(|form| form.is_past && !form.is_base);
        !is_verb && !self.has(at, NEVER)
    }
}
