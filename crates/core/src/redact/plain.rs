//! Which parts of a text are secret?

use super::decode::{self, Decoded};
use super::keys::KeyRule;
use super::pairs::{self, Pair};
use super::span::{Edit, Rank, Span, resolve};
use super::{Meaning, Redactor, placeholder};
use std::ops::Range;

/// One search through one text.
struct Search<'r, 't> {
    redactor: &'r Redactor,
    text: &'t str,
    spans: Vec<Span<'r>>,
    protected: Vec<Range<usize>>,
    /// Where the last token of each shape ends; empty until there is one.
    covered: Vec<usize>,
}

/// What to do with a text besides searching it.
#[derive(Clone, Copy, Default)]
pub(super) struct Task {
    /// The rule of the name under which it stands.
    pub(super) rule: Option<&'static KeyRule>,
    /// Whether anything secret in it makes all of it so.
    pub(super) all_or_nothing: bool,
}

impl Redactor {
    /// The edits that take every secret out of a text that is not read as JSON.
    pub(super) fn plain<'r>(&'r self, text: &str, task: Task) -> Vec<Edit<'r>> {
        let mut search = Search { redactor: self, text, spans: vec![], protected: vec![], covered: vec![] };
        if let Some(rule) = task.rule {
            search.add_pair(rule.secret_of(text).map(|at| (rule, at)));
        }
        search.known();
        search.patterns();
        if search.spans.is_empty() {
            return Vec::new();
        }
        if let (true, Some(first)) = (task.all_or_nothing, search.spans.first().cloned()) {
            search.spans.push(Span { at: 0..text.len(), is_hashed: false, ..first });
        }
        resolve(text, search.spans, &search.protected)
    }
}

impl<'r> Search<'r, '_> {
    /// One pass for the named values, the shapes, the named pairs and the placeholders that are there already.
    fn known(&mut self) {
        let redactor = self.redactor;
        let (mut is_escaped, mut is_encoded) = (false, false);
        for found in redactor.automaton.find_overlapping_iter(self.text) {
            match redactor.meanings[found.pattern()] {
                Meaning::Value(..) => {
                    self.add_value(found.pattern().as_usize(), self.text.as_bytes(), &found.range())
                }
                Meaning::Shape(shape) => self.add_shape(shape, found.start()),
                Meaning::Placeholder => self.protect(found.start()),
                Meaning::Colon => self.add_pair(pairs::quoted(self.text, found.start())),
                Meaning::Equals => self.add_pair(pairs::assigned(self.text, found.start())),
                Meaning::Backslash => is_escaped = true,
                Meaning::Percent => is_encoded = true,
            }
        }
        if is_escaped && redactor.has_values {
            let decoded = decode::json(self.text);
            self.values_in(&decoded);
        }
        if is_encoded && redactor.has_values {
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
            if let Some(mut span) = self.redactor.value(found.pattern().as_usize(), content, &found.range()) {
                span.at = decoded.raw(&span.at);
                self.spans.push(span);
            }
        }
    }

    fn add_value(&mut self, pattern: usize, text: &[u8], at: &Range<usize>) {
        self.spans.extend(self.redactor.value(pattern, text, at));
    }

    fn add_shape(&mut self, index: usize, at: usize) {
        if self.covered.get(index).is_some_and(|end| at < *end) {
            return;
        }
        let compiled = &self.redactor.shapes[index];
        let Some(found) = compiled.find(self.text.as_bytes(), at) else { return };
        self.covered.resize(self.redactor.shapes.len(), 0);
        self.covered[index] = found.end;
        if placeholder::is_spent(&self.text[found.clone()]) {
            return;
        }
        let shape = compiled.shape;
        self.spans.push(Span { at: found, rank: Rank::Shape, what: shape.name, is_hashed: shape.is_hashed });
    }

    fn add_pair(&mut self, pair: Option<Pair>) {
        let span = |(rule, at): Pair| Span { at, rank: Rank::Key, what: rule.name, is_hashed: false };
        self.spans.extend(pair.map(span));
    }

    /// A placeholder stays as it is, unless somebody wrote a secret into one that is not ours.
    fn protect(&mut self, at: usize) {
        let Some((name, length)) = placeholder::read(&self.text[at..]) else { return };
        if self.redactor.names.contains(name) || !self.redactor.is_known_secret(name) {
            self.protected.push(at..at + length);
        }
    }

    fn patterns(&mut self) {
        for pattern in &self.redactor.patterns {
            pattern.find(self.text, |at| {
                self.spans.push(Span { at, rank: Rank::Pattern, what: &pattern.name, is_hashed: false });
            });
        }
    }
}

impl Redactor {
    /// The named value that a find stands for, with every character that holds a bit of it.
    fn value(&self, pattern: usize, text: &[u8], at: &Range<usize>) -> Option<Span<'_>> {
        let Meaning::Value(name, form) = self.meanings[pattern] else { return None };
        let at = form.extent(text, at.clone());
        Some(Span { at, rank: Rank::Named, what: &self.value_names[name], is_hashed: false })
    }

    /// Whether a short text has a named value or a token in it.
    fn is_known_secret(&self, text: &str) -> bool {
        self.automaton.find_overlapping_iter(text).any(|found| match self.meanings[found.pattern()] {
            Meaning::Value(..) => true,
            Meaning::Shape(shape) => self.shapes[shape].find(text.as_bytes(), found.start()).is_some(),
            _ => false,
        })
    }
}
