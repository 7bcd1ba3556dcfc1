//! A map with known keys: reading a key makes it known, and all other keys are refused.

use super::{Field, Reading, is_note, is_same_key};
use crate::engine::Gates;
use crate::problem::{Problem, Span, did_you_mean};
use crate::yaml::{Entry, written_twice};
use serde_json::{Map, Value, json};
use std::cell::RefCell;

/// The keys of one map. Reading a key also describes it in the schema.
pub struct Block<'a> {
    reading: &'a Reading<'a>,
    span: Span,
    entries: &'a [Entry],
    siblings: &'a [Entry],
    known: Vec<&'static str>,
    missing: Vec<(&'static str, String)>,
    schema: Option<Schema>,
    unknown_is_refused: bool,
}

#[derive(Default)]
struct Schema {
    properties: Map<String, Value>,
    required: Vec<&'static str>,
}

impl<'a> Block<'a> {
    pub(super) fn new(
        reading: &'a Reading<'a>,
        span: Span,
        entries: &'a [Entry],
        siblings: &'a [Entry],
    ) -> Self {
        Self {
            reading,
            span,
            entries,
            siblings,
            known: Vec::new(),
            missing: Vec::new(),
            schema: None,
            unknown_is_refused: false,
        }
    }

    pub(super) fn describing(reading: &'a Reading<'a>) -> Self {
        Self {
            schema: Some(Schema::default()),
            ..Self::new(reading, Span::default(), &[], &[])
        }
    }

    /// Returns true if this reading only describes the schema.
    pub fn is_describing(&self) -> bool {
        self.schema.is_some()
    }

    /// Returns true if the traces to judge come from elsewhere.
    pub fn traces_are_given(&self) -> bool {
        self.reading.traces_are_given
    }

    /// The gates that the file may use.
    pub(crate) fn gates(&self) -> Gates {
        self.reading.gates
    }

    /// Returns true if the file has a gate for all of its agents.
    pub(crate) fn is_judged_by_suite(&self) -> bool {
        self.reading.judges_all.get()
    }

    /// An optional key.
    pub fn optional<T>(
        &mut self,
        key: &'static str,
        doc: &str,
        read: impl FnOnce(&mut Field<'_>) -> Option<T>,
    ) -> Option<T> {
        self.known.push(key);
        if let Some(schema) = &mut self.schema {
            let slot = RefCell::new(Value::Bool(true));
            read(&mut Field::describing(self.reading, &slot));
            let described = with_description(slot.into_inner(), doc);
            schema.properties.insert(key.to_owned(), described);
            return None;
        }
        let entry = self.entry(key)?;
        read(&mut Field::from_entry(self.reading, entry, self.entries))
    }

    /// A required key.
    pub fn required<T>(
        &mut self,
        key: &'static str,
        doc: &str,
        read: impl FnOnce(&mut Field<'_>) -> Option<T>,
    ) -> Option<T> {
        if let Some(schema) = &mut self.schema {
            schema.required.push(key);
        } else if self.entry(key).is_none() {
            self.missing.push((key, doc.to_owned()));
        }
        self.optional(key, doc, read)
    }

    /// An optional key with a default.
    pub fn or_default<T: Default>(
        &mut self,
        key: &'static str,
        doc: &str,
        read: impl FnOnce(&mut Field<'_>) -> Option<T>,
    ) -> T {
        self.optional(key, doc, read).unwrap_or_default()
    }

    /// An optional list, item by item.
    pub fn list<T>(
        &mut self,
        key: &'static str,
        doc: &str,
        read: impl FnMut(&mut Field<'_>) -> Option<T>,
    ) -> Vec<T> {
        self.or_default(key, doc, |field| field.list(read))
    }

    /// Reports a missing key, for keys with two spellings.
    pub fn need(&mut self, key: &'static str, doc: &str) {
        if self.schema.is_none() && self.entry(key).is_none() {
            self.missing.push((key, doc.to_owned()));
        }
    }

    /// Reads a key of the surrounding map, for blocks that inherit a default. The owner of that key
    /// reports its problems.
    pub fn sibling<T>(
        &self,
        key: &str,
        read: impl FnOnce(&mut Field<'_>) -> Option<T>,
    ) -> Option<T> {
        let entry = self
            .siblings
            .iter()
            .find(|entry| is_same_key(&entry.key, key))?;
        let (problems, tools) = (
            self.reading.problems.borrow().len(),
            self.reading.tools.borrow().len(),
        );
        let found = read(&mut Field::new(self.reading, &entry.value));
        self.reading.problems.borrow_mut().truncate(problems);
        self.reading.tools.borrow_mut().truncate(tools);
        found
    }

    /// Reads a value with the tools that it names, each with its place.
    pub(crate) fn with_tools<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> T,
    ) -> (T, Vec<(String, Span)>) {
        let before = self.reading.tools.borrow().len();
        let made = read(self);
        (made, self.reading.tools.borrow_mut().split_off(before))
    }

    /// Reads `true` or `false`; `default` applies if the key is omitted.
    pub fn flag(&mut self, key: &'static str, doc: &str, default: bool) -> bool {
        self.optional(key, doc, |field| field.flag())
            .unwrap_or(default)
    }

    /// Returns true if the key is written.
    pub fn has(&self, key: &str) -> bool {
        self.entry(key).is_some()
    }

    /// Refuses a key with a specific reason. Returns whether it is present.
    pub fn refuse(&mut self, key: &'static str, problem: impl FnOnce() -> Problem) -> bool {
        let Some(span) = self.key_span(key) else {
            return false;
        };
        self.known.push(key);
        self.report(problem().at(span));
        true
    }

    /// Refuses the keys that have not been read so far with this problem, at the first of them.
    pub fn refuse_unknown(&mut self, problem: Problem) {
        let Some(span) = self.unknown().next().map(|entry| entry.key_span) else {
            return;
        };
        self.unknown_is_refused = true;
        self.report(problem.at(span));
    }

    /// Returns true if the block has a key that has not been read so far.
    pub fn has_unknown(&self) -> bool {
        self.unknown().next().is_some()
    }

    /// Returns true if a key seems to be a misspelling of one of these, so that no missing key
    /// needs to be reported.
    pub fn has_slip_of(&self, keys: &[&'static str]) -> bool {
        self.unknown()
            .any(|entry| crate::problem::nearest(&entry.key, keys.iter().copied()).is_some())
    }

    fn unknown(&self) -> impl Iterator<Item = &'a Entry> {
        self.entries
            .iter()
            .filter(|entry| !self.knows(&entry.key) && !is_note(&entry.key))
    }

    fn knows(&self, key: &str) -> bool {
        self.known.iter().any(|known| is_same_key(known, key))
    }

    /// The place of a key that is written.
    pub fn key_span(&self, key: &str) -> Option<Span> {
        self.entry(key).map(|entry| entry.key_span)
    }

    /// Refuses more than one of these keys.
    pub fn at_most_one_of(&self, keys: &[&str]) {
        let mut written = keys.iter().filter_map(|key| self.entry(key));
        if let (Some(first), Some(second)) = (written.next(), written.next()) {
            let problem = Problem::error(format!(
                "`{}` and `{}` cannot be used together; remove one",
                first.key, second.key
            ))
            .at(second.key_span)
            .also(first.key_span, "already given here");
            self.reading.report(problem);
        }
    }

    /// Collects a problem at this map, or at the problem's own place.
    pub fn report(&self, problem: Problem) {
        if self.schema.is_none() {
            let first_line = self
                .entries
                .first()
                .map_or(self.span, |entry| entry.key_span);
            let problem = if problem.span.is_some() {
                problem
            } else {
                problem.at(first_line)
            };
            self.reading.report(problem);
        }
    }

    /// Reports a problem at one of its keys.
    pub fn report_at(&self, key: &str, problem: Problem) {
        self.report(match self.key_span(key) {
            Some(span) => problem.at(span),
            None => problem,
        });
    }

    fn entry(&self, key: &str) -> Option<&'a Entry> {
        self.entries
            .iter()
            .find(|entry| is_same_key(&entry.key, key))
    }

    /// Refuses every unread key, except the user's own `x-…` keys.
    pub(super) fn finish(self) {
        for (key, doc) in self
            .missing
            .iter()
            .filter(|(key, _)| !self.has_slip_of(&[*key]))
        {
            self.report(Problem::error(format!("`{key}` is missing here")).help(doc.clone()));
        }
        for (at, entry) in self
            .entries
            .iter()
            .enumerate()
            .filter(|(_, entry)| self.knows(&entry.key))
        {
            // What `<<` merges in stands earlier in the file, and gives way.
            let is_first = |first: &&Entry| {
                is_same_key(&first.key, &entry.key) && first.key_span.start < entry.key_span.start
            };
            if let Some(first) = self.entries[..at].iter().find(is_first) {
                self.reading
                    .report(written_twice(&entry.key, entry.key_span, first.key_span));
            }
        }
        for entry in self.unknown().filter(|_| !self.unknown_is_refused) {
            let problem = Problem::error(format!("unknown key `{}`", entry.key)).at(entry.key_span);
            let known = || {
                format!(
                    "valid keys: {}; start your own keys with `x-`",
                    self.known.join(", ")
                )
            };
            let help = did_you_mean(&entry.key, self.known.iter().copied(), known);
            self.reading.report(problem.help(help));
        }
    }

    pub(super) fn into_schema(self) -> Value {
        let Schema {
            properties,
            required,
        } = self.schema.unwrap_or_default();
        let mut schema = json!({
            "type": ["object", "null"],
            "properties": properties,
            "patternProperties": { "^x-": true },
            "additionalProperties": false,
        });
        if !required.is_empty() {
            schema["type"] = json!("object");
            schema["required"] = json!(required);
        }
        schema
    }
}

fn with_description(schema: Value, doc: &str) -> Value {
    match schema {
        Value::Object(mut map) => {
            map.insert("description".to_owned(), Value::from(doc));
            Value::Object(map)
        }
        _ => json!({ "description": doc }),
    }
}
