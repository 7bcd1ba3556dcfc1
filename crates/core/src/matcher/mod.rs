//! Does a value meet an expectation? One entry per matcher.

mod answer;
mod combine;
mod equality;
mod except;
mod fits;
mod items;
mod number;
mod structure;
mod text;
mod unanswered;
mod vacuous;

pub(crate) use fits::{Misfit, Type};
pub(crate) use text::regex_problem;
pub(crate) use unanswered::Reached;

use answer::Answer;
use except::Exceptions;

use crate::grade::Question;
use crate::problem::Problem;
use crate::report::{AssertionDiff, Number};
use crate::suite::read::{Block, Field, is_same_key};
use serde_json::{Value, json};
use std::sync::Arc;

type Decide = dyn Fn(&Value) -> Answer + Send + Sync;
type Holds = dyn Fn(&Value) -> bool + Send + Sync;

/// One way to check a value against an expectation.
pub(crate) struct Check {
    decide: Box<Decide>,
    /// The same without differences, for checks that are tried on many values.
    holds: Option<Box<Holds>>,
    /// True if it can hold for no value.
    never_holds: bool,
    /// True if a target without a value satisfies it: only `absent: true` does.
    accepts_absence: bool,
    /// True if its answer depends on the presence of a value.
    asks_for_absence: bool,
}

impl Check {
    fn new(decide: impl Fn(&Value) -> Answer + Send + Sync + 'static) -> Self {
        let decide = Box::new(decide);
        Self {
            decide,
            holds: None,
            never_holds: false,
            accepts_absence: false,
            asks_for_absence: false,
        }
    }

    /// Adds a way to decide without differences.
    fn holding_if(self, holds: impl Fn(&Value) -> bool + Send + Sync + 'static) -> Self {
        Self {
            holds: Some(Box::new(holds)),
            ..self
        }
    }

    fn holds(&self, actual: &Value) -> bool {
        match &self.holds {
            Some(holds) => holds(actual),
            None => matches!((self.decide)(actual), Answer::Holds),
        }
    }

    /// The differences of the value; the whole value if the matcher does not apply.
    fn diff(&self, actual: &Value) -> Vec<AssertionDiff> {
        match (self.decide)(actual) {
            Answer::Holds => Vec::new(),
            Answer::Differs(differences) => differences,
            Answer::CannotBeAsked(unanswered) => vec![unanswered.difference(actual)],
        }
    }
}

/// A check that applies to every value.
fn differences(diff: impl Fn(&Value) -> Vec<AssertionDiff> + Send + Sync + 'static) -> Check {
    Check::new(move |actual| Answer::from_differences(diff(actual)))
}

/// A check that a value passes or fails as a whole.
fn holds(expected: Value, holds: impl Fn(&Value) -> bool + Send + Sync + 'static) -> Check {
    differences(move |actual| {
        if holds(actual) {
            Vec::new()
        } else {
            differs(expected.clone(), actual)
        }
    })
}

/// A matcher of the registry.
pub(crate) struct MatcherKind {
    pub(crate) key: &'static str,
    alias: Option<&'static str>,
    doc: &'static str,
    /// The values that it applies to, in words.
    asked_of: &'static str,
    read: ReadCheck,
}

type ReadCheck = fn(&mut Field<'_>) -> Option<Check>;

const fn matcher(
    key: &'static str,
    doc: &'static str,
    asked_of: &'static str,
    read: ReadCheck,
) -> MatcherKind {
    MatcherKind {
        key,
        alias: None,
        doc,
        asked_of,
        read,
    }
}

impl MatcherKind {
    /// Adds another spelling of its key.
    const fn or(self, alias: &'static str) -> Self {
        Self {
            alias: Some(alias),
            ..self
        }
    }
}

/// Every matcher, in the order of the documentation.
pub(crate) const KINDS: &[MatcherKind] = &[
    equality::EXACT,
    text::CONTAINS,
    structure::SUBSET,
    text::ICONTAINS,
    text::CONTAINS_ALL,
    text::CONTAINS_ANY,
    text::STARTS_WITH,
    text::ENDS_WITH,
    text::REGEX,
    structure::SCHEMA,
    equality::EQUALS_JSON,
    number::GTE,
    number::LTE,
    number::GT,
    number::LT,
    equality::ONE_OF,
    structure::LENGTH,
    structure::ABSENT,
    combine::NOT,
    combine::ALL_OF,
    combine::ANY_OF,
    items::ANY_ITEM,
    items::EVERY_ITEM,
    items::NO_ITEM,
];

/// A matcher that asks models.
#[derive(Clone, Copy)]
struct GradedKind {
    key: &'static str,
    doc: &'static str,
    read: fn(&mut Field<'_>) -> Option<Question>,
}

const GRADED: [GradedKind; 3] = [
    GradedKind {
        key: "llm-judge",
        doc: "A model grades it by this rubric",
        read: Question::read_judge,
    },
    GradedKind {
        key: "llm-jury",
        doc: "Several models grade it, and enough of them let it pass",
        read: Question::read_jury,
    },
    GradedKind {
        key: "similar",
        doc: "Its meaning is close to this text, by embeddings",
        read: Question::read_similar,
    },
];

/// Words of other tools, and the matcher that does the same.
const SYNONYMS: &[(&str, &str)] = &[
    ("equals", "exact"),
    ("equal", "exact"),
    ("eq", "exact"),
    ("is", "exact"),
    ("equal-to", "exact"),
    ("matches", "regex"),
    ("match", "regex"),
    ("pattern", "regex"),
    ("includes", "contains"),
    ("include", "contains"),
    ("has", "contains"),
    ("in", "one-of"),
    ("enum", "one-of"),
    ("min", "gte"),
    ("minimum", "gte"),
    ("at-least", "gte"),
    ("max", "lte"),
    ("maximum", "lte"),
    ("at-most", "lte"),
    ("len", "length"),
    ("size", "length"),
    ("json-schema", "schema"),
    ("partial", "subset"),
];

/// Another tool's name for the first of them.
const RUBRIC: &str = "llm-rubric";

/// A matcher's documentation.
pub struct Documented {
    /// Its key.
    pub key: &'static str,
    /// Another spelling of its key.
    pub alias: Option<&'static str>,
    /// Its meaning, in one line.
    pub doc: &'static str,
    /// The values that it applies to.
    pub asked_of: &'static str,
}

/// Every matcher, in the order of the documentation.
pub fn documentation() -> impl Iterator<Item = Documented> {
    let exact = KINDS.iter().map(|kind| Documented {
        key: kind.key,
        alias: kind.alias,
        doc: kind.doc,
        asked_of: kind.asked_of,
    });
    let graded = GRADED.iter().map(|kind| Documented {
        key: kind.key,
        alias: None,
        doc: kind.doc,
        asked_of: ANY_VALUE,
    });
    exact.chain(graded)
}

/// Equality, a schema and a judge apply to every value.
const ANY_VALUE: &str = "any value";

/// A matcher as written, ready to check values.
pub struct Matcher {
    written: Arc<Value>,
    check: Check,
    /// The question to judges, whose score is then checked.
    question: Option<Box<Question>>,
}

impl std::fmt::Debug for Matcher {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Matcher({})", self.written)
    }
}

impl Matcher {
    /// The matcher as written.
    pub fn written(&self) -> &Arc<Value> {
        &self.written
    }

    /// The question to judges, if the matcher has one.
    pub fn question(&self) -> Option<&Question> {
        self.question.as_deref()
    }

    /// The differences from the expected value; empty if it holds.
    pub fn diff(&self, actual: &Value) -> Vec<AssertionDiff> {
        self.check.diff(actual)
    }

    /// Returns true if it holds for the value.
    pub(crate) fn holds(&self, actual: &Value) -> bool {
        self.check.holds(actual)
    }

    /// Returns true if it applies to the value.
    #[cfg(test)]
    fn answers(&self, actual: &Value) -> bool {
        !matches!((self.check.decide)(actual), Answer::CannotBeAsked(_))
    }

    /// Why it does not apply to a value, or what the author may have meant if a plausible value
    /// does not hold.
    pub(crate) fn reason(&self, reached: &Reached<'_>) -> Option<String> {
        match (self.check.decide)(reached.value) {
            Answer::CannotBeAsked(unanswered) => Some(unanswered.sentence(reached)),
            Answer::Holds | Answer::Differs(_) => self.hint(reached.value),
        }
    }

    fn hint(&self, actual: &Value) -> Option<String> {
        let mut written = &*self.written;
        while let Some(inner) = written.get("not") {
            written = inner;
        }
        text::hint(written.get("contains")?, actual)
    }

    /// Returns true if a target without a value satisfies the matcher.
    pub fn accepts_absence(&self) -> bool {
        self.check.accepts_absence
    }

    /// Returns true if its answer depends on the presence of a value.
    pub(crate) fn asks_for_absence(&self) -> bool {
        self.check.asks_for_absence
    }

    /// The part of it that can never hold for such a value.
    pub(crate) fn misfit(&self, of: &Type) -> Option<Misfit<'_>> {
        fits::misfit(&self.written, of)
    }

    /// The problem of a matcher that holds for the length of any list and text, such as `gte: 0`.
    /// `absent: false` requires a length to exist.
    pub(crate) fn vacuous_for_lengths(&self) -> Option<Problem> {
        let is_decided = !self.asks_for_absence() && self.question.is_none();
        let is_vacuous = is_decided && vacuous::holds_for_every_length(&self.check, &self.written);
        is_vacuous.then(|| vacuous::problem("length"))
    }

    /// `>= floor`, for default gates.
    pub(crate) fn at_least(floor: f64) -> Self {
        let floor = whole_or_float(floor);
        let written = json!({ "gte": floor }).into();
        Self {
            written,
            check: number::at_least(floor),
            question: None,
        }
    }

    /// `<= ceiling`, for default gates.
    pub(crate) fn at_most(ceiling: f64) -> Self {
        let ceiling = whole_or_float(ceiling);
        let written = json!({ "lte": ceiling }).into();
        Self {
            written,
            check: number::at_most(ceiling),
            question: None,
        }
    }

    /// Reads a map with exactly one matcher's key.
    pub(crate) fn read(field: &mut Field<'_>) -> Option<Self> {
        let written = (!field.is_describing()).then(|| documented(field.value_quietly()));
        let check = read_check(field)?;
        Some(Self {
            written: written?.into(),
            check,
            question: None,
        })
    }

    /// Reads a matcher that may also ask judges, which only expectations of a run or a call may do.
    pub(crate) fn read_or_ask(field: &mut Field<'_>) -> Option<Self> {
        let written = (!field.is_describing()).then(|| documented(field.value_quietly()));
        let read = field.define("run_matcher", |field| {
            let read = field.try_block(|block| read_one(block, true));
            field.amend_exactly_one_of(keys().chain(GRADED.map(|kind| kind.key)));
            read
        })?;
        Some(Self {
            written: written?.into(),
            check: read.check,
            question: read.question,
        })
    }
}

/// The matcher with its keys in their documented spelling.
fn documented(written: Value) -> Value {
    match written {
        Value::Object(rules) => {
            let spelled = rules.into_iter().map(|(key, operand)| {
                let known = keys().find(|known| is_same_key(known, &key));
                let is_combined = known.is_some_and(|known| {
                    combine::KEYS.contains(&known) || items::KEYS.contains(&known)
                });
                let operand = if is_combined {
                    documented(operand)
                } else {
                    operand
                };
                (known.map_or(key, str::to_owned), operand)
            });
            Value::Object(spelled.collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(documented).collect()),
        other => other,
    }
}

fn read_check(field: &mut Field<'_>) -> Option<Check> {
    field.define("matcher", |field| {
        let read = field.try_block(|block| read_one(block, false));
        field.amend_exactly_one_of(keys());
        read.map(|read| read.check)
    })
}

/// All keys of matchers.
fn keys() -> impl Iterator<Item = &'static str> {
    KINDS
        .iter()
        .flat_map(|kind| std::iter::once(kind.key).chain(kind.alias))
}

/// A parsed matcher: its check, and the question that judges answer first.
struct ReadMatcher {
    check: Check,
    question: Option<Box<Question>>,
}

impl From<Check> for ReadMatcher {
    fn from(check: Check) -> Self {
        Self {
            check,
            question: None,
        }
    }
}

impl From<Question> for ReadMatcher {
    fn from(question: Question) -> Self {
        Self {
            check: number::at_least(whole_or_float(question.threshold)),
            question: Some(Box::new(question)),
        }
    }
}

fn read_one(block: &mut Block<'_>, may_ask: bool) -> Option<ReadMatcher> {
    if refuses_graded(block, may_ask) || refuses_synonym(block) {
        return None;
    }
    let mut written = Vec::new();
    let mut matcher: Option<ReadMatcher> = None;
    for kind in GRADED.into_iter().filter(|_| may_ask) {
        written.extend(block.has(kind.key).then_some(kind.key));
        if let Some(question) = block.optional(kind.key, kind.doc, kind.read) {
            matcher = Some(question.into());
        }
    }
    let exceptions = Exceptions::read(block, equality::EQUALS_JSON.key);
    for kind in KINDS {
        for key in [Some(kind.key), kind.alias].into_iter().flatten() {
            written.extend(block.has(key).then_some(key));
            let check = match &exceptions {
                Some(exceptions) if key == equality::EQUALS_JSON.key => {
                    let read =
                        |field: &mut Field<'_>| equality::equals_json(field, exceptions.clone());
                    block.optional(key, kind.doc, read)
                }
                _ => block.optional(key, kind.doc, kind.read),
            };
            if let Some(check) = check {
                matcher = Some(check.into());
            }
        }
    }
    written.sort_by_key(|key| block.key_span(key));
    if let Some(problem) = refuse_keys(block, &written) {
        block.report(problem);
        return None;
    }
    matcher
}

/// Refuses a block without a matcher, and one with several.
fn refuse_keys(block: &Block<'_>, written: &[&str]) -> Option<Problem> {
    match written {
        [] if !block.is_describing() && !block.has_unknown() => Some(
            Problem::error("a matcher is missing here")
                .help("write one, such as `exact: get_weather` or `contains: Sacramento`"),
        ),
        [first, second, ..] => {
            let span = |key: &str| block.key_span(key).unwrap_or_default();
            Some(
                Problem::error(format!(
                    "write one matcher at a time, not `{first}` and `{second}`"
                ))
                .at(span(second))
                .also(span(first), "already given here")
                .help("to require both, write `all-of: [{gte: 1}, {lte: 3}]`"),
            )
        }
        _ => None,
    }
}

/// Refuses matchers that ask models where this is not allowed.
fn refuses_graded(block: &mut Block<'_>, may_ask: bool) -> bool {
    let near = block.refuse(RUBRIC, || {
        let problem = Problem::error(format!("`{RUBRIC}` is called `llm-judge` here"));
        problem.help(
            "write `llm-judge: {rubric: It is polite.}` in `expect:` of an agent or a tool test",
        )
    });
    let mut is_refused = near;
    for GradedKind { key, .. } in GRADED.into_iter().filter(|_| !may_ask) {
        is_refused |= block.refuse(key, || {
            let problem = Problem::error(format!(
                "`{key}` asks a model, but no verdict here may depend on a \
                model"
            ));
            problem.help(
                "assert something observable: a call, an argument, a result; a model can be asked \
                only in `expect:` of an agent or a tool test, outside other matchers",
            )
        });
    }
    is_refused
}

/// Refuses a matcher under the name that another tool has for it.
fn refuses_synonym(block: &mut Block<'_>) -> bool {
    let mut is_refused = false;
    for (word, key) in SYNONYMS {
        is_refused |= block.refuse(word, || {
            Problem::error(format!("unknown key `{word}`")).help(format!("did you mean `{key}`?"))
        });
    }
    is_refused
}

fn whole_or_float(number: f64) -> serde_json::Number {
    match Number::whole_or_float(number) {
        Number::Int(whole) => whole.into(),
        Number::Float(float) => serde_json::Number::from_f64(float).unwrap_or_else(|| 0.into()),
    }
}

/// One difference of the whole value.
fn differs(expected: Value, actual: &Value) -> Vec<AssertionDiff> {
    vec![AssertionDiff {
        pointer: String::new(),
        expected,
        actual: actual.clone(),
        absent: None,
    }]
}

#[cfg(test)]
mod tests;
