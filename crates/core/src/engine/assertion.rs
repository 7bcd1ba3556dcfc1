//! `{target, matcher, message?}`: one expectation of a path or of a gate's number.

use super::target::{Range, Target};
use crate::grade::{Found, Numbers, SCORERS};
use crate::matcher::{Matcher, Reached, Type};
use crate::problem::{Problem, Sources, Span};
use crate::report::{Expectation, Number};
use crate::suite::read::{Block, Field};
use crate::target::{Path, Roots};
use crate::trace::{CatalogueTool, Tool, Trace};
use crate::words::{count, some_of};
use serde_json::{Value, json};
use std::sync::Arc;

/// An expectation in the suite, with its resolved target.
#[derive(Debug)]
pub struct Assertion<T> {
    /// The value that the assertion checks.
    pub target: T,
    /// The condition on the value.
    pub matcher: Matcher,
    /// The suite's own message for a failure.
    pub message: Option<String>,
    pub(crate) span: Span,
    /// The line of the suite that it is written on, known once the suite is complete. `None` for a default.
    pub(crate) suite_line: Option<usize>,
}

impl<T> Assertion<T> {
    /// An assertion without a message of the suite.
    pub fn new(target: T, matcher: Matcher) -> Self {
        Self {
            target,
            matcher,
            message: None,
            span: Span::default(),
            suite_line: None,
        }
    }

    fn judge(
        &self,
        target: &str,
        is_list_of_each: bool,
        actual: Option<Value>,
        absent: impl FnOnce() -> String,
    ) -> Expectation {
        let (diff, reason) = match &actual {
            Some(value) => {
                let diff = self.matcher.diff(value);
                let reason = if diff.is_empty() {
                    None
                } else {
                    self.matcher.reason(&Reached {
                        target,
                        is_list_of_each,
                        value,
                    })
                };
                (diff, reason)
            }
            None if self.matcher.accepts_absence() => (Vec::new(), None),
            None => (Vec::new(), Some(absent())),
        };
        let passed = diff.is_empty() && reason.is_none();
        Expectation {
            diff,
            reason,
            ..self.expectation(target, passed, actual)
        }
    }

    fn expectation(&self, target: &str, passed: bool, actual: Option<Value>) -> Expectation {
        let (target, message) = (target.to_owned(), self.message.clone());
        let (matcher, diff, reason, grade) =
            (Arc::clone(self.matcher.written()), Vec::new(), None, None);
        Expectation {
            target,
            matcher,
            passed,
            actual,
            diff,
            message,
            reason,
            grade,
            suite_line: self.suite_line.filter(|_| !passed),
        }
    }

    /// Looks up the line that it is written on.
    pub(crate) fn find_line(&mut self, sources: &Sources) {
        let is_written = self.span != Span::default();
        self.suite_line = is_written.then(|| sources.file_and_line(self.span).line);
    }

    fn read(
        field: &mut Field<'_>,
        target: impl FnOnce(&mut Field<'_>) -> Option<T>,
        matcher: fn(&mut Field<'_>) -> Option<Matcher>,
    ) -> Option<Self> {
        let span = field.span();
        field.try_block(|block: &mut Block<'_>| {
            let target = block.required("target", "The value to check", target);
            let matcher = block.required("matcher", "The requirement on it", matcher);
            let message =
                block.optional("message", "Your message for when it does not hold", |f| {
                    f.string()
                });
            Some(Self {
                target: target?,
                matcher: matcher?,
                message,
                span,
                suite_line: None,
            })
        })
    }
}

impl Assertion<Path> {
    /// Checks one run.
    pub fn check(&self, trace: &Trace<'_>) -> Expectation {
        self.check_with(trace, None)
    }

    /// Checks one run, with judges' grades.
    pub(crate) fn check_with(&self, trace: &Trace<'_>, found: Option<&Found>) -> Expectation {
        self.graded(found).unwrap_or_else(|| {
            let actual = self.target.resolve(trace);
            self.judge_path(actual, || self.target.why_absent(trace))
        })
    }

    fn judge_path(&self, actual: Option<Value>, absent: impl FnOnce() -> String) -> Expectation {
        let is_list_of_each = self.target.is_list_of_each();
        self.judge(self.target.as_str(), is_list_of_each, actual, absent)
    }

    /// Returns true if the assertion can be checked against a run without grades or scores.
    pub fn is_observable(&self) -> bool {
        self.matcher.question().is_none() && self.target.scorer().is_none()
    }

    /// Checks the numbers of a scorer.
    pub(crate) fn check_scores(&self, scorer: &str, scores: &Numbers) -> Expectation {
        let text = json!({ SCORERS: { scorer: scores } }).to_string();
        let keys = some_of(scores.keys().map(String::as_str));
        self.check_call(
            &text,
            &format!("the scorer `{scorer}` did not print this; it printed {keys}"),
            None,
        )
    }

    /// Checks the judges' grade, if judges were called.
    fn graded(&self, found: Option<&Found>) -> Option<Expectation> {
        let (grade, question) = (found?.grade.as_ref().ok()?, self.matcher.question()?);
        let (passed, score) = (question.holds(grade), Value::from(grade.score()));
        let diff = if passed {
            Vec::new()
        } else {
            self.matcher.diff(&score)
        };
        let (reason, grade) = (Some(question.explain(grade)), Some(Box::new(grade.clone())));
        let expectation = self.expectation(self.target.as_str(), passed, Some(score));
        Some(Expectation {
            diff,
            reason,
            grade,
            ..expectation
        })
    }

    /// Warns about `not: {contains: TEXT}` on a list, which accepts items that include the text.
    pub(crate) fn lint(&self, catalogue: Option<&[CatalogueTool]>) -> Option<Problem> {
        let text = self
            .matcher
            .written()
            .get("not")?
            .get("contains")?
            .as_str()?;
        let path = self.target.as_str();
        let is_of_names = path == "tool_names" || path == "tool_calls[*].name";
        let is_a_tool =
            || catalogue.is_none_or(|tools| tools.iter().any(|tool| Tool::from(tool).is(text)));
        if !(is_of_names || path.contains("[*]")) || (is_of_names && is_a_tool()) {
            return None;
        }
        let message = format!(
            "on a list, `contains` means a whole item: an item that only includes `{text}` passes"
        );
        let help = format!("write `no-item: {{ contains: {text} }}` to look into the items");
        Some(Problem::warning(message).at(self.span).help(help))
    }

    /// Checks a direct tool call, given as JSON text. `absent` is the reason for a missing value.
    pub(crate) fn check_call(
        &self,
        text: &str,
        absent: &str,
        found: Option<&Found>,
    ) -> Expectation {
        let observed = || self.judge_path(self.target.resolve_in(text), || absent.to_owned());
        self.graded(found).unwrap_or_else(observed)
    }

    /// A list of expectations of a run.
    pub(crate) fn read_list(field: &mut Field<'_>, roots: Roots) -> Option<Vec<Self>> {
        let name = match roots {
            Roots::Trace => "expectation",
            Roots::ToolTest => "tool_expectation",
        };
        field.list(|item| {
            let read = item.define(name, |item| {
                Self::read(item, |field| read_path(field, roots), Matcher::read_or_ask)
            });
            if let Some(problem) = read.as_ref().and_then(Self::misfit) {
                item.report(problem);
            } else if let Some(problem) = read.as_ref().and_then(Self::vacuous_length) {
                item.report(problem);
            }
            read
        })
    }

    /// Refuses a matcher that every length at the target meets.
    fn vacuous_length(&self) -> Option<Problem> {
        let is_number = *self.target.holds() == Type::Number;
        if !is_number || !self.target.as_str().ends_with(".length") {
            return None;
        }
        let problem = self.matcher.vacuous_for_lengths()?;
        Some(problem.at(self.span))
    }

    /// Refuses a matcher that can never accept the kind of value at the target.
    fn misfit(&self) -> Option<Problem> {
        let misfit = self.matcher.misfit(self.target.holds())?;
        let message = misfit.message(self.target.as_str());
        Some(Problem::error(message).at(self.span).help(misfit.help()))
    }
}

fn read_path(field: &mut Field<'_>, roots: Roots) -> Option<Path> {
    let (written, gates) = (field.string()?, field.reading.gates());
    let refuse = |problem: Box<Problem>| {
        let mut gates = gates.iter();
        let gate = gates.find(|gate| gate.targets.iter().any(|target| target.name == written));
        field.report(match gate {
            Some(gate) => problem.help(format!(
                "`{written}` is asserted in `{}: {{expect: […]}}`",
                gate.key
            )),
            None => *problem,
        });
    };
    Path::parse(&written, roots).map_err(refuse).ok()
}

impl Assertion<Target> {
    /// An assertion that a target reaches this value or a better one.
    pub(crate) fn bound((target, value): (Target, f64)) -> Self {
        Self::new(target, target.bound(value))
    }

    /// Checks a gate's number.
    pub(crate) fn check(&self, value: Option<Number>) -> Expectation {
        let absent = || format!("`{}` was not measured", self.target.name);
        let value = value.map(|number| self.shown(number));
        self.judge(self.target.name, false, value, absent)
    }

    /// The number in the form that the matcher expects: a flag is `true` or `false` if the matcher mentions one of
    /// them, otherwise 1 or 0.
    pub(crate) fn shown(&self, number: Number) -> Value {
        if self.target.range == Range::Flag && mentions_flags(self.matcher.written()) {
            Value::Bool(number.as_f64() > 0.0)
        } else {
            number.to_value()
        }
    }

    /// Returns true if the assertion accepts a gate's number.
    pub(crate) fn holds(&self, value: Option<Number>) -> bool {
        match value {
            Some(number) => self.matcher.holds(&self.shown(number)),
            None => self.matcher.accepts_absence(),
        }
    }

    /// A list of expectations of a gate's targets.
    pub(crate) fn read_list(
        field: &mut Field<'_>,
        targets: &'static [Target],
    ) -> Option<Vec<Self>> {
        field.list(|item| Self::read(item, |field| read_target(field, targets), Matcher::read))
    }

    /// Refuses expectations that can never hold with this many runs, and warns about expectations
    /// that always hold.
    pub fn lint(&self, runs: usize) -> Option<Problem> {
        if self.matcher.asks_for_absence() {
            return None;
        }
        let is_unknowable = runs == 0 && self.target.depends_on_runs();
        let outcomes = self.possible_outcomes(runs, is_unknowable);
        match outcomes {
            Outcomes {
                can_pass: true,
                can_fail: true,
                ..
            } => None,
            Outcomes { can_pass: true, .. } => Some(self.always_holds()),
            _ if is_unknowable => None,
            Outcomes { best, .. } => Some(self.never_holds(runs, best)),
        }
    }

    /// Tries the numbers that the target can have with this many runs, until one passes and one fails.
    fn possible_outcomes(&self, runs: usize, is_unknowable: bool) -> Outcomes {
        let mut mentioned = Vec::new();
        numbers_in(self.matcher.written(), &mut mentioned);
        let candidates = if is_unknowable {
            self.target.candidates_of_range(&mentioned)
        } else {
            self.target.candidates(runs, &mentioned)
        };
        let mut outcomes = Outcomes::default();
        for number in candidates {
            let passes = self.holds_for(number);
            outcomes.can_pass |= passes;
            outcomes.can_fail |= !passes;
            outcomes.best = outcomes.best.max(number);
            if outcomes.can_pass && outcomes.can_fail {
                break;
            }
        }
        outcomes
    }

    fn holds_for(&self, number: f64) -> bool {
        let number = if self.target.is_whole() {
            Number::Int(number as i64)
        } else {
            Number::Float(number)
        };
        self.holds(Some(number))
    }

    fn always_holds(&self) -> Problem {
        let message = format!(
            "`{}` always satisfies {}: this cannot fail",
            self.target.name,
            self.matcher.written()
        );
        Problem::warning(message)
            .at(self.span)
            .help("tighten the matcher or remove the expectation")
    }

    fn never_holds(&self, runs: usize, best: f64) -> Problem {
        let with_runs = if runs == 0 {
            String::new()
        } else {
            format!(" with {}", count(runs, "run"))
        };
        let message = format!(
            "`{}` can never satisfy {}{with_runs}",
            self.target.name,
            self.matcher.written()
        );
        let range = || {
            format!(
                "{}: its maximum is {}",
                self.target.doc,
                Number::Float(best)
            )
        };
        let help = self
            .target
            .advice(runs, &|number| self.holds_for(number))
            .unwrap_or_else(range);
        Problem::error(message).at(self.span).help(help)
    }
}

/// The outcomes of an assertion over the numbers that its target can have.
#[derive(Default)]
struct Outcomes {
    can_pass: bool,
    can_fail: bool,
    /// The highest number that was tried.
    best: f64,
}

fn read_target(field: &mut Field<'_>, targets: &'static [Target]) -> Option<Target> {
    let words: Vec<(&str, &Target)> = targets.iter().map(|target| (target.name, target)).collect();
    field.choice("a target of this gate", &words).copied()
}

fn mentions_flags(matcher: &Value) -> bool {
    match matcher {
        Value::Bool(_) => true,
        Value::Array(items) => items.iter().any(mentions_flags),
        // `absent: true` asks whether there is a number.
        Value::Object(map) => map
            .iter()
            .any(|(key, operand)| key != "absent" && mentions_flags(operand)),
        _ => false,
    }
}

pub(crate) fn numbers_in(value: &Value, into: &mut Vec<f64>) {
    match value {
        Value::Number(number) => into.extend(number.as_f64()),
        Value::Array(items) => items.iter().for_each(|item| numbers_in(item, into)),
        Value::Object(map) => map.values().for_each(|item| numbers_in(item, into)),
        _ => {}
    }
}
