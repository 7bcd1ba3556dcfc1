//! One value of a suite, read as a string, a number or any JSON.

use super::field::At;
use super::{Field, Reading};
use crate::digest::digest_of_value;
use crate::problem::{Problem, Span, did_you_mean};
use crate::suite::variables::{self, Text, VariableProblem, names_in};
use crate::words::quoted;
use crate::yaml::{Kind, Node, Scalar, resolve};
use mcptest_redact::is_secret_name;
use serde_json::{Value, json};
use std::ops::RangeInclusive;

impl Field<'_> {
    /// The scalar with its variables filled in. Reports the problem and returns `None` if that
    /// fails.
    fn filled_in(&self, scalar: &Scalar, span: Span) -> Option<Scalar> {
        match scalar {
            Scalar::Text { text, plain } if text.contains("${") => {
                if let Some(value) = self.reading.whole_value(text) {
                    return Some(Scalar::from_data(value));
                }
                let expanded = self.expand(text, span)?;
                Some(if *plain {
                    resolve(&expanded.value)
                } else {
                    Scalar::Text {
                        text: expanded.value,
                        plain: false,
                    }
                })
            }
            scalar => Some(scalar.clone()),
        }
    }

    /// Converts a scalar with `take`, or reports the wrong kind.
    fn scalar<T>(
        &self,
        node: &Node,
        wanted: &str,
        take: impl FnOnce(&Value) -> Option<T>,
    ) -> Option<T> {
        let Kind::Scalar(scalar) = &node.kind else {
            return self.wrong(node, wanted);
        };
        let taken = take(&self.filled_in(scalar, node.span)?.into());
        if taken.is_some() {
            taken
        } else {
            self.wrong(node, wanted)
        }
    }

    fn expand(&self, text: &str, span: Span) -> Option<Text> {
        let expanded = self.reading.expand(text);
        expanded
            .map_err(|problems| {
                for problem in problems {
                    self.reading.variable_problem(problem, span);
                }
            })
            .ok()
    }

    /// A string with its variables filled in.
    pub fn text(&mut self) -> Option<Text> {
        let node = self.node(|| json!({ "type": "string" }))?;
        match &node.kind {
            Kind::Scalar(Scalar::Text { text, .. }) => self.expand(text, node.span),
            _ => self.wrong(node, "a string"),
        }
    }

    /// The value of a string.
    pub fn string(&mut self) -> Option<String> {
        self.text().map(|text| text.value)
    }

    /// A scalar as a string; numbers and flags in their written form.
    pub fn scalar_text(&mut self) -> Option<Text> {
        let node = self.node(|| json!({ "type": ["string", "number", "boolean"] }))?;
        match &node.kind {
            Kind::Scalar(Scalar::Text { text, .. }) => self.expand(text, node.span),
            Kind::Scalar(Scalar::Number(number)) => Some(Text::from(number.to_string().as_str())),
            Kind::Scalar(Scalar::Bool(flag)) => Some(Text::from(flag.to_string().as_str())),
            _ => self.wrong(node, "a string or number"),
        }
    }

    /// A name that may be written anywhere: file names contain it, so a variable with the name of a
    /// secret is refused.
    pub fn public_name(&mut self) -> Option<String> {
        let name = self.name()?;
        let text = self.text()?;
        if let Some(secret) = names_in(&text.template).find(|variable| is_secret_name(variable)) {
            let message = format!("a name cannot contain a secret: `${{{secret}}}`");
            let help =
                "it is part of file names and of every report; write the name without the variable";
            self.report(Problem::error(message).at(self.span()).help(help));
        }
        Some(name)
    }

    /// A variable of the environment that this value names, however deep.
    pub fn environment_variable(&self) -> Option<&str> {
        fn named<'n>(reading: &Reading<'_>, node: &'n Node) -> Option<&'n str> {
            match &node.kind {
                Kind::Scalar(Scalar::Text { text, .. }) => reading.of_environment(text).next(),
                Kind::Scalar(_) => None,
                Kind::List(items) => items.iter().find_map(|item| named(reading, item)),
                Kind::Map(entries) => entries
                    .iter()
                    .find_map(|entry| named(reading, &entry.value)),
            }
        }
        let At::Node(node) = self.at else { return None };
        named(self.reading, node)
    }

    /// A string that is not empty.
    pub fn name(&mut self) -> Option<String> {
        let name = self.string();
        self.amend_schema("minLength", json!(1));
        let name = name?;
        if name.trim().is_empty() {
            self.report(Problem::error("this must not be empty"));
            return None;
        }
        Some(name)
    }

    /// A name with its place.
    pub(crate) fn placed_name(&mut self) -> Option<(String, Span)> {
        let span = self.span();
        Some((self.name()?, span))
    }

    /// The name of a tool. `*` is refused, because no tool name contains it.
    pub fn tool(&mut self) -> Option<String> {
        self.tool_at(self.span())
    }

    /// Reads the name of a tool whose problems are reported at another place.
    pub(crate) fn tool_at(&mut self, span: Span) -> Option<String> {
        let name = self.name();
        self.amend_schema("pattern", json!("^[^*]*$"));
        let name = name?;
        if name.contains('*') {
            let problem = Problem::error(format!(
                "`{name}` is not the name of a tool: `*` is not a wildcard here"
            ));
            self.report(problem.help(
                "name each tool, such as `delete_repo` or \
            `github.delete_repo`",
            ));
            return None;
        }
        self.reading.tools.borrow_mut().push((name.clone(), span));
        Some(name)
    }

    /// A string whose variables are resolved only when something starts.
    pub fn template(&mut self) -> Option<String> {
        let node = self.node(|| json!({ "type": ["string", "number", "boolean"] }))?;
        match &node.kind {
            Kind::Scalar(Scalar::Text { text, .. }) => {
                if let Err(problem) = variables::check(text) {
                    self.reading.variable_problem(problem, node.span);
                    return None;
                }
                let empty = self.reading.scope().empty_columns(text);
                for column in &empty {
                    let problem = VariableProblem::EmptyColumn((*column).to_owned());
                    self.reading.variable_problem(problem, node.span);
                }
                self.reading.note_names(text);
                empty.is_empty().then(|| text.clone())
            }
            Kind::Scalar(Scalar::Number(number)) => Some(number.to_string()),
            Kind::Scalar(Scalar::Bool(flag)) => Some(flag.to_string()),
            _ => self.wrong(node, "a string"),
        }
    }

    /// `true` or `false`.
    pub fn flag(&mut self) -> Option<bool> {
        self.flag_among("`true` or `false`")
    }

    /// A flag among other allowed values; `wanted` describes all of them.
    pub fn flag_among(&mut self, wanted: &str) -> Option<bool> {
        let node = self.node(|| self.reading.or_variable(&json!({ "type": "boolean" })))?;
        self.scalar(node, wanted, Value::as_bool)
    }

    /// A whole number in a range.
    pub fn whole(&mut self, range: RangeInclusive<u64>) -> Option<u64> {
        let (low, high) = (*range.start(), *range.end());
        let schema = || {
            let mut schema = json!({ "type": "integer", "minimum": low });
            if high != u64::MAX {
                schema["maximum"] = json!(high);
            }
            self.reading.or_variable(&schema)
        };
        let node = self.node(schema)?;
        let wanted = match (low, high) {
            (0, u64::MAX) => "a whole number".to_owned(),
            (low, u64::MAX) => format!("a whole number of at least {low}"),
            (low, high) => format!("a whole number from {low} to {high}"),
        };
        self.scalar(node, &wanted, |value| {
            value.as_u64().filter(|whole| range.contains(whole))
        })
    }

    /// A number in a range.
    pub fn number(&mut self, range: RangeInclusive<f64>) -> Option<f64> {
        let (low, high) = (*range.start(), *range.end());
        let schema = || {
            let mut schema = json!({ "type": "number" });
            if low.is_finite() {
                schema["minimum"] = json!(low);
            }
            if high.is_finite() {
                schema["maximum"] = json!(high);
            }
            self.reading.or_variable(&schema)
        };
        let node = self.node(schema)?;
        let wanted = match (low.is_finite(), high.is_finite()) {
            (false, _) => "a number".to_owned(),
            (true, false) => format!("a number of at least {low}"),
            (true, true) => format!("a number from {low} to {high}"),
        };
        self.scalar(node, &wanted, |value| {
            value.as_f64().filter(|number| range.contains(number))
        })
    }

    /// Any number, with all of its digits.
    pub(crate) fn json_number(&mut self) -> Option<serde_json::Number> {
        let node = self.node(|| self.reading.or_variable(&json!({ "type": "number" })))?;
        self.scalar(node, "a number", |value| value.as_number().cloned())
    }

    /// A length of time with its unit, as `500ms`, `30s` or `2m`, in milliseconds.
    pub fn duration_ms(&mut self) -> Option<u64> {
        let node =
            self.node(|| json!({ "type": "string", "pattern": "^[0-9]+(\\.[0-9]+)?(ms|s|m)$" }))?;
        let wanted = "a length of time with its unit, such as `500ms`, `30s` or `2m`";
        self.scalar(node, wanted, |value| parse_duration_ms(value.as_str()?))
    }

    /// A positive time limit.
    pub fn limit_ms(&mut self) -> Option<u64> {
        let limit = self.duration_ms();
        self.amend_schema("not", json!({ "pattern": "^[0.]+(ms|s|m)$" }));
        if limit == Some(0) {
            let what = self.key.map(|key| format!("`{key}`: ")).unwrap_or_default();
            let problem = Problem::error(format!("{what}it must be longer than 0"));
            self.report(problem.help("write it as `30s`; omit it for the default"));
        }
        limit.filter(|limit| *limit > 0)
    }

    /// One of a few words. Each comes with its aliases' canonical form: `(word, canonical)`.
    pub fn choice<T: Copy>(&mut self, what: &str, words: &[(&str, T)]) -> Option<T> {
        let node = self
            .node(|| json!({ "enum": words.iter().map(|(word, _)| *word).collect::<Vec<_>>() }))?;
        let known = quoted(words.iter().map(|(word, _)| word));
        let Kind::Scalar(Scalar::Text { text, .. }) = &node.kind else {
            return self.wrong(node, &format!("{what} ({known})"));
        };
        let text = self.expand(text, node.span)?.value;
        if let Some((_, value)) = words.iter().find(|(word, _)| *word == text) {
            return Some(*value);
        }
        let all = || format!("{what} is one of {known}");
        let help = did_you_mean(&text, words.iter().map(|(word, _)| *word), all);
        self.report(Problem::error(format!("`{text}` is not {what}")).help(help));
        None
    }

    /// Any JSON value, its texts with their variables filled in.
    pub fn value(&mut self) -> Option<Value> {
        let node = self.node(|| json!(true))?;
        node.to_json(&|scalar, span| match self.filled_in(scalar, span)? {
            Scalar::NotFinite(text) => {
                self.report(
                    Problem::error(format!("`{text}` is not a valid JSON number")).at(span),
                );
                None
            }
            scalar => Some(scalar.into()),
        })
    }

    /// The digest of the value as written, with the columns of a line of data filled in.
    pub(crate) fn digest(&mut self) -> Option<String> {
        let node = self.node(|| Value::Bool(true))?;
        let scope = self.reading.scope();
        if scope.row().is_none() {
            return Some(node.digest());
        }
        let filled = |scalar: &Scalar, _| match scalar {
            Scalar::Text { text, .. } => Some(match scope.whole_value(text) {
                Some(value) => value.clone(),
                None => scope.with_columns(text).into(),
            }),
            scalar => Some(scalar.clone().into()),
        };
        node.to_json(&filled).map(|value| digest_of_value(&value))
    }

    /// The value as written, for showing again: problems in it are reported by who reads it.
    pub fn value_quietly(&self) -> Value {
        let At::Node(node) = self.at else {
            return Value::Null;
        };
        let shown = |scalar: &Scalar, _| {
            let Scalar::Text { text, plain } = scalar else {
                return Some(scalar.clone().into());
            };
            if let Some(value) = self.reading.whole_value(text) {
                return Some(value.clone());
            }
            Some(match self.reading.expand(text) {
                Ok(text) if *plain => resolve(&text.value).into(),
                Ok(text) => text.value.into(),
                Err(_) => text.as_str().into(),
            })
        };
        node.to_json(&shown).unwrap_or_default()
    }
}

/// A length of time with its unit, as `500ms`, `30s` or `2m`, in milliseconds.
pub fn parse_duration_ms(text: &str) -> Option<u64> {
    let split = text.find(|c: char| c.is_ascii_alphabetic())?;
    let number: f64 = text[..split].parse().ok()?;
    let unit = match &text[split..] {
        "ms" => 1.0,
        "s" => 1_000.0,
        "m" => 60_000.0,
        _ => return None,
    };
    let milliseconds = number * unit;
    (milliseconds.is_finite() && (0.0..1e12).contains(&milliseconds))
        .then_some(milliseconds.round() as u64)
}
