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
    pub(super) key: Option<&'a str>,
}

#[derive(Clone, Copy)]
pub(super) enum At<'a> {
    Node(&'a Node),
    Describe(&'a RefCell<Value>),
}

impl<'a> Field<'a> {
    pub(crate) fn new(reading: &'a Reading<'a>, node: &'a Node) -> Self {
        Self { reading, at: At::Node(node), siblings: &[], key: None }
    }

    /// The value of this key, beside the other keys of its map.
    pub(super) fn of(reading: &'a Reading<'a>, entry: &'a Entry, siblings: &'a [Entry]) -> Self {
        Self { reading, at: At::Node(&entry.value), siblings, key: Some(&entry.key) }
    }

    pub(super) fn describing(reading: &'a Reading<'a>, slot: &'a RefCell<Value>) -> Self {
        Self { reading, at: At::Describe(slot), siblings: &[], key: None }
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

    /// The place of what a JSON pointer leads to in this value; of the last part of it that is there.
    pub(crate) fn span_at(&self, pointer: &str) -> Span {
        let At::Node(mut node) = self.at else { return Span::default() };
        for part in pointer.split('/').skip(1) {
            let part = part.replace("~1", "/").replace("~0", "~");
            let next = match &node.kind {
                Kind::Map(entries) => {
                    entries.iter().find(|entry| *entry.key == *part).map(|entry| &entry.value)
                }
                Kind::List(items) => part.parse::<usize>().ok().and_then(|at| items.get(at)),
                Kind::Scalar(_) => None,
            };
            let Some(next) = next else { break };
            node = next;
        }
        node.span
    }

    /// Collects a problem at this value.
    pub(crate) fn report(&self, problem: Problem) {
        if let At::Node(node) = self.at {
            let problem = if problem.span.is_some() { problem } else { problem.at(node.span) };
            self.reading.report(problem);
        }
    }

    fn wrong<T>(&self, node: &Node, wanted: &str) -> Option<T> {
        let what = self.key.map(|key| format!("`{key}`: ")).unwrap_or_default();
        self.report(Problem::error(format!("{what}expected {wanted}, found {}", node.describe())));
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

    /// The scalar with its variables filled in; `None` when they cannot be, which is reported.
    fn filled_in(&self, scalar: &Scalar, span: Span) -> Option<Scalar> {
        match scalar {
            Scalar::Text { text, plain } if text.contains("${") => {
                let expanded = self.expand(text, span)?;
                Some(if *plain {
                    resolve(&expanded.value)
                } else {
                    Scalar::Text { text: expanded.value, plain: false }
                })
            }
            scalar => Some(scalar.clone()),
        }
    }

    /// What `take` makes of a scalar, or the problem that something else was wanted.
    fn scalar<T>(&self, node: &Node, wanted: &str, take: impl FnOnce(Scalar) -> Option<T>) -> Option<T> {
        let Kind::Scalar(scalar) = &node.kind else { return self.wrong(node, wanted) };
        let taken = take(self.filled_in(scalar, node.span)?);
        if taken.is_some() { taken } else { self.wrong(node, wanted) }
    }

    fn expand(&self, text: &str, span: Span) -> Option<Text> {
        let expanded = self.reading.variables.expand(text);
        expanded
            .map_err(|problems| {
                for problem in problems {
                    self.reading.variable_problem(problem, span);
                }
            })
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
        self.scalar(node, "`true` or `false`", |scalar| match scalar {
            Scalar::Bool(flag) => Some(flag),
            _ => None,
        })
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
        self.scalar(node, &wanted, |scalar| match scalar {
            Scalar::Number(number) => number.as_u64().filter(|whole| range.contains(whole)),
            _ => None,
        })
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
        self.scalar(node, &wanted, |scalar| match scalar {
            Scalar::Number(number) => number.as_f64().filter(|number| range.contains(number)),
            _ => None,
        })
    }

    /// A length of time with its unit, as `500ms`, `30s` or `2m`, in milliseconds.
    pub(crate) fn duration_ms(&mut self) -> Option<u64> {
        let node = self.node(|| json!({ "type": "string", "pattern": "^[0-9]+(\\.[0-9]+)?(ms|s|m)$" }))?;
        self.scalar(
            node,
            "a length of time with its unit, as `500ms`, `30s` or `2m`",
            |scalar| match scalar {
                Scalar::Text { text, .. } => parse_duration_ms(&text),
                _ => None,
            },
        )
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
            Kind::Scalar(scalar) => match self.filled_in(scalar, node.span)? {
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

    /// A list, each item read by `read`; items with problems are left out, and `None` is a list of nothing but those:
    /// only a list that is written empty is empty.
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
                    let read: Vec<T> =
                        items.iter().filter_map(|item| read(&mut Field::new(self.reading, item))).collect();
                    (items.is_empty() || !read.is_empty()).then_some(read)
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

    /// A map whose keys are the user's own, as of `env:` and `headers:`.
    pub(crate) fn entries<T>(
        &mut self,
        read: impl FnMut(&str, Span, &mut Field<'_>) -> Option<T>,
    ) -> Option<Vec<(String, T)>> {
        self.entries_but(|_| false, read)
    }

    /// A map from names to what they stand for; `x-…` keys are the user's own notes.
    pub(crate) fn named_entries<T>(
        &mut self,
        read: impl FnMut(&str, Span, &mut Field<'_>) -> Option<T>,
    ) -> Option<Vec<(String, T)>> {
        let entries = self.entries_but(|key| key.starts_with("x-"), read);
        self.amend_schema("patternProperties", json!({ "^x-": true }));
        entries
    }

    fn entries_but<T>(
        &mut self,
        is_note: impl Fn(&str) -> bool,
        mut read: impl FnMut(&str, Span, &mut Field<'_>) -> Option<T>,
    ) -> Option<Vec<(String, T)>> {
        match self.at {
            At::Describe(slot) => {
                let values = RefCell::new(Value::Null);
                read("", Span::default(), &mut Field::describing(self.reading, &values));
                *slot.borrow_mut() =
                    json!({ "type": ["object", "null"], "additionalProperties": values.into_inner() });
                None
            }
            At::Node(node) => match &node.kind {
                Kind::Map(entries) => Some(
                    entries
                        .iter()
                        .filter(|entry| !is_note(&entry.key))
                        .filter_map(|entry| {
                            let mut field = Field::of(self.reading, entry, &[]);
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

    /// Says in the schema that exactly one of these keys is there; notes of the user's own may stand beside it.
    pub(crate) fn amend_exactly_one_of<'k>(&mut self, keys: impl IntoIterator<Item = &'k str>) {
        let required: Vec<Value> = keys.into_iter().map(|key| json!({ "required": [key] })).collect();
        self.amend_schema("type", json!("object"));
        self.amend_schema("oneOf", json!(required));
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
