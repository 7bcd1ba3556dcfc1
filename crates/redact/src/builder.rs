//! What is secret here, besides what is so everywhere?

use super::automaton::Automaton;
use super::forms::{self, Form};
use super::keys::{KEYS, QUERY_KEYS};
use super::{Meaning, Redactor, placeholder, shapes};
use regex::{Regex, RegexBuilder};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use thiserror::Error;

const REGEX_SIZE_LIMIT: usize = 1 << 20;
const PATTERN: &str = "pattern";

/// Collects the secrets of one suite.
#[must_use]
#[derive(Default)]
pub struct Builder {
    values: BTreeSet<NamedValue>,
    patterns: Vec<SuitePattern>,
}

/// The value of a variable.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct NamedValue {
    name: String,
    value: String,
}

/// A pattern of the suite.
struct SuitePattern {
    /// The name in its placeholders, if the suite gives one.
    name: Option<String>,
    pattern: String,
}

/// Why a [`Redactor`] cannot be built.
#[derive(Debug, Error)]
pub enum RedactError {
    /// A pattern of the suite is invalid.
    #[error("redaction pattern {}, `{pattern}`: {reason}", .index + 1)]
    Pattern {
        /// The index of the pattern, from 0.
        index: usize,
        /// The pattern as written.
        pattern: String,
        /// The problem and the fix.
        reason: String,
    },
    /// The values are too many or too large to be searched for.
    #[error("the secret values are too large to search for: {0}; name fewer variables")]
    Values(#[from] aho_corasick::BuildError),
}

impl Builder {
    /// Adds the value of a variable. Values that are not secret by
    /// [`is_secret_value`](super::is_secret_value) have no effect. If two variables have one value,
    /// the placeholder has the alphabetically first name.
    pub fn value(mut self, name: &str, value: &str) -> Self {
        if forms::is_secret_value(value) {
            self.values.insert(NamedValue {
                name: name.to_owned(),
                value: value.to_owned(),
            });
        }
        self
    }

    /// Adds a pattern of the suite. With a named group, only that group is the secret, and gives
    /// its name.
    pub fn pattern(mut self, pattern: &str) -> Self {
        self.patterns.push(SuitePattern {
            name: None,
            pattern: pattern.to_owned(),
        });
        self
    }

    /// Adds a pattern of the suite whose placeholder has this name.
    pub fn named_pattern(mut self, name: &str, pattern: &str) -> Self {
        self.patterns.push(SuitePattern {
            name: Some(name.to_owned()),
            pattern: pattern.to_owned(),
        });
        self
    }

    /// The redactor, or everything that is wrong with the patterns.
    pub fn build(self) -> Result<Redactor, Vec<RedactError>> {
        let Compiled {
            patterns,
            mut problems,
        } = compile_all(self.patterns);
        let values: Vec<String> = self
            .values
            .iter()
            .map(|known| known.value.trim().to_owned())
            .collect();
        let known = KnownValues::new(self.values);
        let (texts, meanings) = what_to_look_for(&known.forms, &values);
        let automaton = match Automaton::new(texts) {
            Ok(automaton) if problems.is_empty() => automaton,
            other => {
                problems.extend(other.err().map(RedactError::from));
                return Err(problems);
            }
        };
        Ok(Redactor {
            automaton,
            meanings,
            names: placeholder_names(&known.names, &patterns),
            value_names: known.names,
            has_values: !values.is_empty(),
            values,
            shapes: shapes::all(),
            patterns,
        })
    }
}

/// The usable patterns, and the problems of the others.
struct Compiled {
    patterns: Vec<Pattern>,
    problems: Vec<RedactError>,
}

fn compile_all(written: Vec<SuitePattern>) -> Compiled {
    let mut compiled = Compiled {
        patterns: Vec::new(),
        problems: Vec::new(),
    };
    for (index, SuitePattern { name, pattern }) in written.into_iter().enumerate() {
        match Pattern::compile(name.as_deref(), &pattern) {
            Ok(pattern) => compiled.patterns.push(pattern),
            Err(reason) => compiled.problems.push(RedactError::Pattern {
                index,
                pattern,
                reason,
            }),
        }
    }
    compiled
}

/// Every name that a placeholder can have.
fn placeholder_names(values: &[String], patterns: &[Pattern]) -> BTreeSet<String> {
    let of_values = values.iter().cloned();
    let of_patterns = patterns.iter().map(|pattern| pattern.name.clone());
    let of_keys = KEYS
        .iter()
        .chain(QUERY_KEYS)
        .map(|rule| rule.name.to_owned());
    let of_shapes = shapes::SHAPES.iter().map(|shape| shape.name.to_owned());
    of_values
        .chain(of_patterns)
        .chain(of_keys)
        .chain(of_shapes)
        .collect()
}

/// The values of the variables, and the forms to search for.
struct KnownValues {
    /// Their names in placeholders.
    names: Vec<String>,
    forms: Forms,
}

/// By the text of the form.
type Forms = BTreeMap<Vec<u8>, ValueForm>;

struct ValueForm {
    /// The place of the value's name.
    name: usize,
    form: Form,
}

impl KnownValues {
    fn new(values: BTreeSet<NamedValue>) -> Self {
        let mut known = Self {
            names: Vec::new(),
            forms: Forms::new(),
        };
        for NamedValue { name, value } in values {
            let at = known.names.len();
            for (text, form) in forms::forms_of(&value) {
                known
                    .forms
                    .entry(text)
                    .or_insert(ValueForm { name: at, form });
            }
            known.names.push(placeholder::name_of(&name));
        }
        known
    }
}

/// Each text to look for, with the meaning of a match.
fn what_to_look_for<'v>(forms: &'v Forms, values: &'v [String]) -> (Vec<&'v [u8]>, Vec<Meaning>) {
    let marks = [
        (placeholder::OPENING, Meaning::Placeholder),
        ("\":", Meaning::Colon),
        ("':", Meaning::Colon),
        ("\" :", Meaning::Colon),
        ("' :", Meaning::Colon),
        ("=", Meaning::Equals),
    ];
    let heads = values.iter().enumerate();
    let heads = heads.map(|(index, value)| (forms::head(value).as_bytes(), Meaning::Head(index)));
    let forms = forms
        .iter()
        .map(|(text, value)| (text.as_slice(), Meaning::Value(value.name, value.form)));
    let shapes = shapes::all()
        .iter()
        .enumerate()
        .flat_map(|(index, compiled)| {
            compiled
                .starts()
                .iter()
                .map(move |start| (start.as_bytes(), Meaning::Shape(index)))
        });
    let marks = marks
        .into_iter()
        .map(|(mark, meaning)| (mark.as_bytes(), meaning));
    forms.chain(heads).chain(shapes).chain(marks).unzip()
}

/// A pattern of the suite.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    pub(super) name: String,
    group: Option<usize>,
    regex: Regex,
}

impl Pattern {
    fn compile(name: Option<&str>, pattern: &str) -> Result<Self, String> {
        if pattern.is_empty() {
            return Err("it is empty; write the text to hide".to_owned());
        }
        let regex = compile_pattern(pattern).map_err(|error| reason(&error))?;
        let named = regex
            .capture_names()
            .enumerate()
            .find_map(|(index, name)| Some((index, name?)));
        let name = placeholder::name_of(name.or(named.map(|(_, name)| name)).unwrap_or(PATTERN));
        Ok(Self {
            name,
            group: named.map(|(index, _)| index),
            regex,
        })
    }

    /// Finds its matches.
    pub(super) fn find(&self, text: &str, mut found: impl FnMut(Range<usize>)) {
        let mut found = |at: Range<usize>| {
            if !at.is_empty() {
                found(at);
            }
        };
        match self.group {
            None => self
                .regex
                .find_iter(text)
                .for_each(|matched| found(matched.range())),
            Some(group) => self
                .regex
                .captures_iter(text)
                .filter_map(|captures| captures.get(group))
                .for_each(|matched| found(matched.range())),
        }
    }

    pub(super) fn is_in(&self, text: &str) -> bool {
        let mut is_in = false;
        self.find(text, |_| is_in = true);
        is_in
    }
}

/// A pattern, ready to be looked for.
pub fn compile_pattern(pattern: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(pattern)
        .size_limit(REGEX_SIZE_LIMIT)
        .build()
}

fn reason(error: &regex::Error) -> String {
    if matches!(error, regex::Error::CompiledTooBig(_)) {
        return "it is too large once it is compiled; repeat less".to_owned();
    }
    let text = error.to_string();
    let reason = text
        .lines()
        .last()
        .unwrap_or_default()
        .trim_start_matches("error: ");
    let help = if reason.contains("look-around") || reason.contains("backreference") {
        "; patterns run in linear time, so look-around and backreferences are not supported"
    } else {
        ""
    };
    format!("this is not a regular expression: {reason}{help}")
}
