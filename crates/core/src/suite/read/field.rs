//! One value of a suite, read as the type its place asks for.

use super::{Block, Reading, Shapes};
use crate::problem::{Problem, Span};
use crate::suite::variables::{self, Text};
use crate::yaml::{Entry, Kind, Node, Scalar, resolve};
use serde_json::{Map, Value, json};
use std::cell::RefCell;
use std::ops::RangeInclusive;

/// A value to read, or, without a file, the place where its schema is described.
pub(crate) struct Field<'a> {
    pub(crate) reading: &'a Reading<'a>,
    pub(super) at: At<'a>,
    pub(super) siblings: &'a [Entry],
}

#[derive(Clone, Copy)]
pub(super) enum At<'a> {
    Node(&'a Node),
    Describe(&'a RefCell<Value>),
}

impl<'a> Field<'a> {
    pub(crate) fn new(reading: &'a Reading<'a>, node: &'a Node) -> Self {
        Self { reading, at: At::Node(node), siblings: &[] }
    }

    /// The same value, beside the other keys of its map.
    pub(super) fn beside(mut self, siblings: &'a [Entry]) -> Self {
        self.siblings = siblings;
        self
    }

    pub(super) fn describing(reading: &'a Reading<'a>, slot: &'a RefCell<Value>) -> Self {
        Self { reading, at: At::Describe(slot), siblings: &[] }
    }

    /// Whether this reading only describes the schema: nothing it returns means anything.
    pub(crate) fn is_describing(&self) -> bool {
        matches!(self.at, At::Describe(_))
    }

    /// The value's place.
    pub(crate) fn span(&self) -> Span {
        match self.at {
            At::Node(node) => node.span,
            At::Describe(_) => Span::default(),
        }
    }

    /// Collects a problem at this value.
    pub(crate) fn report(&self, problem: Problem) {
        if let At::Node(node) = self.at {
            let problem = if problem.span.is_some() { problem } else { problem.at(node.span) };
            self.reading.report(problem);
        }
    }

    fn wrong<T>(&self, node: &Node, wanted: &str) -> Option<T> {
        self.report(Problem::error(format!("expected {wanted}, found {}", node.describe())));
        None
    }

    /// Says what the schema is here; the node when there is one to read.
    pub(super) fn node(&self, schema: impl FnOnce() -> Value) -> Option<&'a Node> {
        match self.at {
            At::Node(node) => Some(node),
            At::Describe(slot) => {
                *slot.borrow_mut() = schema();
                None
            }
        }
    }

    fn scalar(&self, node: &Node) -> Option<Scalar> {
        match &node.kind {
            Kind::Scalar(Scalar::Text { text, plain }) if text.contains("${") => {
                let expanded = self.expand(text, node.span)?;
                Some(if *plain {
                    resolve(&expanded.value)
                } else {
                    Scalar::Text { text: expanded.value, plain: false }
                })
            }
            Kind::Scalar(scalar) => Some(scalar.clone()),
            _ => None,
        }
    }

    fn expand(&self, text: &str, span: Span) -> Option<Text> {
        self.reading
            .variables
            .expand(text)
            .map_err(|problem| self.reading.variable_problem(problem, span))
            .ok()
    }

    /// A text with its variables filled in.
    pub(crate) fn text(&mut self) -> Option<Text> {
        let node = self.node(|| json!({ "type": "string" }))?;
        match &node.kind {
            Kind::Scalar(Scalar::Text { text, .. }) => self.expand(text, node.span),
            _ => self.wrong(node, "a text"),
        }
    }

    /// The value of a text.
    pub(crate) fn string(&mut self) -> Option<String> {
        self.text().map(|text| text.value)
    }

    /// A scalar as a text: numbers and flags as they are written.
    pub(crate) fn scalar_text(&mut self) -> Option<Text> {
        let node = self.node(|| json!({ "type": ["string", "number", "boolean"] }))?;
        match &node.kind {
            Kind::Scalar(Scalar::Text { text, .. }) => self.expand(text, node.span),
            Kind::Scalar(Scalar::Number(number)) => Some(Text::from(number.to_string().as_str())),
            Kind::Scalar(Scalar::Bool(flag)) => Some(Text::from(flag.to_string().as_str())),
            _ => self.wrong(node, "a text or number"),
        }
    }

    /// A text that is not empty.
    pub(crate) fn name(&mut self) -> Option<String> {
        let name = self.string()?;
        if let At::Describe(slot) = self.at {
            *slot.borrow_mut() = json!({ "type": "string", "minLength": 1 });
        } else if name.trim().is_empty() {
            self.report(Problem::error("this must not be empty"));
            return None;
        }
        Some(name)
    }

    /// A text whose variables are resolved only when something is started.
    pub(crate) fn template(&mut self) -> Option<String> {
        let node = self.node(|| json!({ "type": ["string", "number", "boolean"] }))?;
        match &node.kind {
            Kind::Scalar(Scalar::Text { text, .. }) => {
                if let Err(problem) = variables::check(text) {
                    self.reading.variable_problem(problem, node.span);
                    return None;
                }
                Some(text.clone())
            }
            Kind::Scalar(Scalar::Number(number)) => Some(number.to_string()),
            Kind::Scalar(Scalar::Bool(flag)) => Some(flag.to_string()),
            _ => self.wrong(node, "a text"),
        }
    }

    /// `true` or `false`.
    pub(crate) fn flag(&mut self) -> Option<bool> {
        let node = self.node(|| json!({ "type": "boolean" }))?;
        match self.scalar(node) {
            Some(Scalar::Bool(flag)) => Some(flag),
            _ => self.wrong(node, "`true` or `false`"),
        }
    }

    /// A whole number in a range.
    pub(crate) fn whole(&mut self, range: RangeInclusive<u64>) -> Option<u64> {
        let (low, high) = (*range.start(), *range.end());
        let schema = || {
            let mut schema = json!({ "type": "integer", "minimum": low });
            if high != u64::MAX {
                schema["maximum"] = json!(high);
            }
            schema
        };
        let node = self.node(schema)?;
        let wanted = match (low, high) {
            (0, u64::MAX) => "a whole number".to_owned(),
            (low, u64::MAX) => format!("a whole number of at least {low}"),
            (low, high) => format!("a whole number from {low} to {high}"),
        };
        match self.scalar(node) {
            Some(Scalar::Number(number)) => match number.as_u64().filter(|whole| range.contains(whole)) {
                Some(whole) => Some(whole),
                None => self.wrong(node, &wanted),
            },
            _ => self.wrong(node, &wanted),
        }
    }

    /// A number in a range.
    pub(crate) fn number(&mut self, range: RangeInclusive<f64>) -> Option<f64> {
        let (low, high) = (*range.start(), *range.end());
        let schema = || {
            let mut schema = json!({ "type": "number" });
            if low.is_finite() {
                schema["minimum"] = json!(low);
            }
            if high.is_finite() {
                schema["maximum"] = json!(high);
            }
            schema
        };
        let node = self.node(schema)?;
        let wanted = match (low.is_finite(), high.is_finite()) {
            (false, _) => "a number".to_owned(),
            (true, false) => format!("a number of at least {low}"),
            (true, true) => format!("a number from {low} to {high}"),
        };
        match self.scalar(node) {
            Some(Scalar::Number(number)) => match number.as_f64().filter(|number| range.contains(number)) {
                Some(number) => Some(number),
                None => self.wrong(node, &wanted),
            },
            _ => self.wrong(node, &wanted),
        }
    }

    /// A length of time with its unit, as `500ms`, `30s` or `2m`, in milliseconds.
    pub(crate) fn duration_ms(&mut self) -> Option<u64> {
        let node = self.node(|| json!({ "type": "string", "pattern": "^[0-9]+(\\.[0-9]+)?(ms|s|m)$" }))?;
        let Some(Scalar::Text { text, .. }) = self.scalar(node) else {
            return self.wrong(node, "a length of time with its unit, as `500ms`, `30s` or `2m`");
        };
        match parse_duration_ms(&text) {
            Some(milliseconds) => Some(milliseconds),
            None => self.wrong(node, "a length of time with its unit, as `500ms`, `30s` or `2m`"),
        }
    }

    /// One of a few words. Each comes with its aliases' canonical form: `(word, canonical)`.
    pub(crate) fn choice<T: Copy>(&mut self, what: &str, words: &[(&str, T)]) -> Option<T> {
        let node =
            self.node(|| json!({ "enum": words.iter().map(|(word, _)| *word).collect::<Vec<_>>() }))?;
        let known = words.iter().map(|(word, _)| format!("`{word}`")).collect::<Vec<_>>().join(", ");
        let Kind::Scalar(Scalar::Text { text, .. }) = &node.kind else {
            return self.wrong(node, &format!("{what} ({known})"));
        };
        let text = self.expand(text, node.span)?.value;
        if let Some((_, value)) = words.iter().find(|(word, _)| *word == text) {
            return Some(*value);
        }
        let near = crate::problem::nearest(&text, words.iter().map(|(word, _)| *word));
        let help = near
            .map_or_else(|| format!("{what} is one of {known}"), |near| format!("did you mean `{near}`?"));
        self.report(Problem::error(format!("`{text}` is not {what}")).help(help));
        None
    }

    /// Any JSON value, its texts with their variables filled in.
    pub(crate) fn value(&mut self) -> Option<Value> {
        let node = self.node(|| json!(true))?;
        self.to_value(node)
    }

    /// The value as written, for showing again: problems in it are reported by who reads it.
    pub(crate) fn value_quietly(&self) -> Value {
        match self.at {
            At::Node(node) => self.shown(node),
            At::Describe(_) => Value::Null,
        }
    }

    fn shown(&self, node: &Node) -> Value {
        match &node.kind {
            Kind::Scalar(Scalar::Text { text, plain }) => match self.reading.variables.expand(text) {
                Ok(text) if *plain => scalar_value(resolve(&text.value)),
                Ok(text) => Value::String(text.value),
                Err(_) => Value::String(text.clone()),
            },
            Kind::Scalar(scalar) => scalar_value(scalar.clone()),
            Kind::List(items) => items.iter().map(|item| self.shown(item)).collect(),
            Kind::Map(entries) => Value::Object(
                entries.iter().map(|entry| (entry.key.to_string(), self.shown(&entry.value))).collect(),
            ),
        }
    }

    fn to_value(&self, node: &Node) -> Option<Value> {
        match &node.kind {
            Kind::Scalar(_) => match self.scalar(node)? {
                Scalar::NotFinite(text) => {
                    self.report(
                        Problem::error(format!("`{text}` is not a number that JSON has")).at(node.span),
                    );
                    None
                }
                scalar => Some(scalar_value(scalar)),
            },
            Kind::List(items) => {
                items.iter().map(|item| self.to_value(item)).collect::<Option<_>>().map(Value::Array)
            }
            Kind::Map(entries) => entries
                .iter()
                .map(|entry| Some((entry.key.to_string(), self.to_value(&entry.value)?)))
                .collect::<Option<Map<_, _>>>()
                .map(Value::Object),
        }
    }

    /// A list, each item read by `read`; items with problems are left out.
    pub(crate) fn list<T>(&mut self, mut read: impl FnMut(&mut Field<'_>) -> Option<T>) -> Option<Vec<T>> {
        match self.at {
            At::Describe(slot) => {
                let items = RefCell::new(Value::Null);
                read(&mut Field::describing(self.reading, &items));
                *slot.borrow_mut() = json!({ "type": "array", "items": items.into_inner() });
                None
            }
            At::Node(node) => match &node.kind {
                Kind::List(items) => {
                    Some(items.iter().filter_map(|item| read(&mut Field::new(self.reading, item))).collect())
                }
                _ => self.wrong(node, "a list"),
            },
        }
    }

    /// A map with known keys.
    pub(crate) fn block<T>(&mut self, read: impl FnOnce(&mut Block<'_>) -> T) -> Option<T> {
        match self.at {
            At::Describe(slot) => {
                let mut block = Block::describing(self.reading);
                read(&mut block);
                *slot.borrow_mut() = block.into_schema();
                None
            }
            At::Node(node) => match &node.kind {
                Kind::Map(entries) => {
                    let mut block = Block::new(self.reading, node.span, entries, self.siblings);
                    let result = read(&mut block);
                    block.finish();
                    Some(result)
                }
                Kind::Scalar(Scalar::Null) => {
                    let mut block = Block::new(self.reading, node.span, &[], self.siblings);
                    let result = read(&mut block);
                    block.finish();
                    Some(result)
                }
                _ => self.wrong(node, "a map"),
            },
        }
    }

    /// A map whose keys are the user's names.
    pub(crate) fn entries<T>(
        &mut self,
        mut read: impl FnMut(&str, Span, &mut Field<'_>) -> Option<T>,
    ) -> Option<Vec<(String, T)>> {
        match self.at {
            At::Describe(slot) => {
                let values = RefCell::new(Value::Null);
                read("", Span::default(), &mut Field::describing(self.reading, &values));
                *slot.borrow_mut() = json!({ "type": "object", "additionalProperties": values.into_inner() });
                None
            }
            At::Node(node) => match &node.kind {
                Kind::Map(entries) => Some(
                    entries
                        .iter()
                        .filter_map(|entry| {
                            let mut field = Field::new(self.reading, &entry.value);
                            read(&entry.key, entry.key_span, &mut field)
                                .map(|value| (entry.key.to_string(), value))
                        })
                        .collect(),
                ),
                Kind::Scalar(Scalar::Null) => Some(Vec::new()),
                _ => self.wrong(node, "a map"),
            },
        }
    }

    /// A value that may have one of several shapes.
    pub(crate) fn shapes<T>(&mut self, wanted: &str, read: impl FnOnce(&mut Shapes<'_, T>)) -> Option<T> {
        let mut shapes = Shapes::new(self);
        read(&mut shapes);
        let (taken, result, schemas) = shapes.into_parts();
        let node = self.node(|| super::any_of(schemas))?;
        if taken { result } else { self.wrong(node, wanted) }
    }

    /// A shape that has a name of its own in the schema, because it is long or contains itself.
    pub(crate) fn define<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&mut Field<'_>) -> Option<T>,
    ) -> Option<T> {
        let At::Describe(slot) = self.at else { return read(self) };
        *slot.borrow_mut() = json!({ "$ref": format!("#/$defs/{name}") });
        if !self.reading.definitions.borrow().contains_key(name) {
            self.reading.definitions.borrow_mut().insert(name.to_owned(), Value::Null);
            let definition = RefCell::new(Value::Null);
            read(&mut Field::describing(self.reading, &definition));
            self.reading.definitions.borrow_mut().insert(name.to_owned(), definition.into_inner());
        }
        None
    }

    /// Adds to the schema that was just described.
    pub(crate) fn amend_schema(&mut self, key: &str, value: Value) {
        if let At::Describe(slot) = self.at
            && let Value::Object(schema) = &mut *slot.borrow_mut()
        {
            schema.insert(key.to_owned(), value);
        }
    }
}

fn scalar_value(scalar: Scalar) -> Value {
    match scalar {
        Scalar::Null => Value::Null,
        Scalar::Bool(flag) => Value::Bool(flag),
        Scalar::Number(number) => Value::Number(number),
        Scalar::Text { text, .. } | Scalar::NotFinite(text) => Value::String(text),
    }
}

fn parse_duration_ms(text: &str) -> Option<u64> {
    let split = text.find(|c: char| c.is_ascii_alphabetic())?;
    let number: f64 = text[..split].parse().ok()?;
    let unit = match &text[split..] {
        "ms" => 1.0,
        "s" => 1_000.0,
        "m" => 60_000.0,
        _ => return None,
    };
    let milliseconds = number * unit;
    (milliseconds.is_finite() && (0.0..1e12).contains(&milliseconds)).then_some(milliseconds.round() as u64)
}
