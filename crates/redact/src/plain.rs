//! Which parts of a string are secret?

use super::cut;
use super::decode::{self, Decoded};
use super::keys::KeyRule;
use super::pairs::{self, Pair};
use super::shapes::Found;
use super::span::{Edit, Rank, Span, resolve};
use super::{Meaning, Redactor, placeholder};
use aho_corasick::Match;
use std::ops::Range;

/// `://:p@`: the shortest text that is a secret on its own.
const SHORTEST_FIND: usize = 6;

/// One search through one text.
struct TextSearch<'r, 't> {
    redactor: &'r Redactor,
    text: &'t str,
    spans: Vec<Span<'r>>,
    protected: Vec<Range<usize>>,
    /// The end of the last token of each shape; empty until there is one.
    covered: Vec<usize>,
    /// The place where the last value-like text ended.
    headed: usize,
    /// The end of the last assigned value, within which nothing counts as an assignment.
    assigned: usize,
}

/// The treatment of a string besides searching it.
#[derive(Clone, Copy, Default)]
pub(super) struct Task {
    /// The rule of its name.
    pub(super) rule: Option<&'static KeyRule>,
    /// True if one secret part makes the whole string secret.
    pub(super) all_or_nothing: bool,
}

impl Redactor {
    /// The edits that remove every secret from a string that is not JSON.
    pub(super) fn plain<'r>(&'r self, text: &str, task: Task) -> Vec<Edit<'r>> {
        let (spans, protected, covered) = (vec![], vec![], vec![]);
        let mut search = TextSearch {
            redactor: self,
            text,
            spans,
            protected,
            covered,
            headed: 0,
            assigned: 0,
        };
        if let Some(rule) = task.rule {
            search.add_pair(rule.secret_of(text).map(|at| (rule, at)));
        }
        search.known();
        search.patterns();
        let edits = resolve(text, search.spans, &search.protected);
        match edits.first() {
            Some(first) if task.all_or_nothing => {
                let all = Span {
                    at: 0..text.len(),
                    rank: Rank::Pattern,
                    what: first.what,
                    is_hashed: false,
                };
                resolve(text, vec![all], &search.protected)
            }
            _ => edits,
        }
    }
}

impl TextSearch<'_, '_> {
    /// One pass for the named values, the shapes, the named pairs and existing placeholders.
    fn known(&mut self) {
        let redactor = self.redactor;
        if self.text.len() < SHORTEST_FIND {
            return;
        }
        for found in redactor.automaton.find_overlapping_iter(self.text) {
            match redactor.meanings[found.pattern()] {
                Meaning::Value(..) => self
                    .spans
                    .extend(redactor.value(&found, self.text.as_bytes())),
                Meaning::Head(value) => self.add_cut_value(value, found.start()),
                Meaning::Shape(shape) => self.add_shape(shape, found.range()),
                Meaning::Placeholder => self.protect(found.start()),
                Meaning::Colon => self.add_pair(pairs::quoted(self.text, found.end() - 1)),
                Meaning::Equals => self.add_assigned(found.start()),
            }
        }
        if redactor.has_values && self.text.as_bytes().contains(&b'\\') {
            let decoded = decode::json(self.text);
            self.values_in(&decoded);
        }
        if redactor.has_values && self.text.as_bytes().contains(&b'%') {
            let decoded = decode::percent(self.text);
            self.values_in(&decoded);
        }
    }

    /// Named values in a decoded form of the text.
    fn values_in<T: AsRef<[u8]>>(&mut self, decoded: &Decoded<T>) {
        if !decoded.is_changed() {
            return;
        }
        let content = decoded.content.as_ref();
        for found in self.redactor.automaton.find_overlapping_iter(content) {
            if let Some(mut span) = self.redactor.value(&found, content) {
                span.at = decoded.raw(&span.at);
                self.spans.push(span);
            }
        }
    }

    fn add_cut_value(&mut self, index: usize, at: usize) {
        if at < self.headed {
            return;
        }
        let redactor = self.redactor;
        let (length, is_cut) = cut::of_value(self.text, at, &redactor.values[index]);
        self.headed = at + length;
        if is_cut {
            let what = &redactor.value_names[index];
            self.spans.push(Span {
                at: at..at + length,
                rank: Rank::Named,
                what,
                is_hashed: false,
            });
        }
    }

    fn add_shape(&mut self, index: usize, start: Range<usize>) {
        let at = start.start;
        if self.covered.get(index).is_some_and(|end| at < *end) {
            return;
        }
        let compiled = &self.redactor.shapes[index];
        let Some(Found { at: found, holds }) = compiled.find(self.text.as_bytes(), at) else {
            let is_in_place = compiled.is_in_place(self.text.as_bytes(), at);
            let cut = is_in_place
                .then(|| cut::of_token(self.text, start))
                .flatten();
            let what = compiled.shape.name;
            self.spans.extend(cut.map(|at| Span {
                at,
                rank: Rank::Shape,
                what,
                is_hashed: false,
            }));
            return;
        };
        // What begins in a string that does not hold ends with it and holds no more than it does.
        self.covered.resize(self.redactor.shapes.len(), 0);
        self.covered[index] = found.end;
        if !holds || placeholder::is_spent(&self.text[found.clone()]) {
            return;
        }
        let shape = compiled.shape;
        self.spans.push(Span {
            at: found,
            rank: Rank::Shape,
            what: shape.name,
            is_hashed: shape.is_hashed,
        });
    }

    fn add_pair(&mut self, pair: Option<Pair>) {
        let span = |(rule, at): Pair| Span {
            at,
            rank: Rank::Key,
            what: rule.name,
            is_hashed: false,
        };
        self.spans.extend(pair.map(span));
    }

    fn add_assigned(&mut self, equals: usize) {
        if equals < self.assigned {
            return;
        }
        let pair = pairs::assigned(self.text, equals);
        self.assigned = pair.as_ref().map_or(self.assigned, |(_, at)| at.end);
        self.add_pair(pair);
    }

    /// Protects a placeholder, unless it is not ours and contains a secret.
    fn protect(&mut self, at: usize) {
        let Some((name, length)) = placeholder::read(&self.text[at..]) else {
            return;
        };
        if self.redactor.names.contains(name) || !self.redactor.is_known_secret(name) {
            self.protected.push(at..at + length);
        }
    }

    fn patterns(&mut self) {
        for pattern in &self.redactor.patterns {
            pattern.find(self.text, |at| {
                self.spans.push(Span {
                    at,
                    rank: Rank::Pattern,
                    what: &pattern.name,
                    is_hashed: false,
                });
            });
        }
    }
}

impl Redactor {
    /// The named value of a match, with every character that contains a bit of it.
    fn value(&self, found: &Match, text: &[u8]) -> Option<Span<'_>> {
        let Meaning::Value(name, form) = self.meanings[found.pattern()] else {
            return None;
        };
        let at = form.extent(text, found.range());
        Some(Span {
            at,
            rank: Rank::Named,
            what: &self.value_names[name],
            is_hashed: false,
        })
    }

    /// Returns true if a short text contains a named value or a token.
    fn is_known_secret(&self, text: &str) -> bool {
        self.automaton.find_overlapping_iter(text).any(|found| {
            match self.meanings[found.pattern()] {
                Meaning::Value(..) => true,
                Meaning::Shape(shape) => self.shapes[shape]
                    .find(text.as_bytes(), found.start())
                    .is_some_and(|found| found.holds),
                _ => false,
            }
        })
    }
}
