//! One value of a suite: its place, and its lists, blocks and shapes.

use super::{Block, Reading, Shapes};
use crate::problem::{Problem, Span};
use crate::yaml::{Entry, Kind, Node, Scalar};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::rc::Rc;

/// A text that is nothing but a variable.
const WHOLE_COLUMN: &str = "^\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}$";

/// A value to read, or, without a file, the place where its schema is described.
#[derive(Clone, Copy)]
pub struct Field<'a> {
    pub reading: &'a Reading<'a>,
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
    pub fn new(reading: &'a Reading<'a>, node: &'a Node) -> Self {
        Self {
            reading,
            at: At::Node(node),
            siblings: &[],
            key: None,
        }
    }

    /// The value of this key, beside the other keys of its map.
    pub(super) fn from_entry(
        reading: &'a Reading<'a>,
        entry: &'a Entry,
        siblings: &'a [Entry],
    ) -> Self {
        Self {
            reading,
            at: At::Node(&entry.value),
            siblings,
            key: Some(&entry.key),
        }
    }

    pub(super) fn describing(reading: &'a Reading<'a>, slot: &'a RefCell<Value>) -> Self {
        Self {
            reading,
            at: At::Describe(slot),
            siblings: &[],
            key: None,
        }
    }

    /// Returns true if this reading only describes the schema. Its return values have no meaning.
    pub fn is_describing(&self) -> bool {
        matches!(self.at, At::Describe(_))
    }

    /// The key of the value, if it has one.
    pub fn key(&self) -> Option<&str> {
        self.key
    }

    /// The value's place.
    pub fn span(&self) -> Span {
        match self.at {
            At::Node(node) => node.span,
            At::Describe(_) => Span::default(),
        }
    }

    /// The place of a JSON pointer within this value, or of the longest existing part of it.
    pub fn span_at(&self, pointer: &str) -> Span {
        let At::Node(mut node) = self.at else {
            return Span::default();
        };
        for part in pointer.split('/').skip(1) {
            let part = part.replace("~1", "/").replace("~0", "~");
            let next = match &node.kind {
                Kind::Map(entries) => entries
                    .iter()
                    .find(|entry| *entry.key == *part)
                    .map(|entry| &entry.value),
                Kind::List(items) => part.parse::<usize>().ok().and_then(|at| items.get(at)),
                Kind::Scalar(_) => None,
            };
            let Some(next) = next else { break };
            node = next;
        }
        node.span
    }

    /// Collects a problem at this value.
    pub fn report(&self, problem: Problem) {
        if let At::Node(node) = self.at {
            let problem = if problem.span.is_some() {
                problem
            } else {
                problem.at(node.span)
            };
            self.reading.report(problem);
        }
    }

    /// Reports that a different value is required.
    pub fn wrong<T>(&self, node: &Node, wanted: &str) -> Option<T> {
        let what = self.key.map(|key| format!("`{key}`: ")).unwrap_or_default();
        self.report(Problem::error(format!(
            "{what}expected {wanted}, found {}",
            self.found(node)
        )));
        None
    }

    /// The value in the words of an error message, with the columns of a line of data filled in.
    fn found(&self, node: &Node) -> String {
        let scope = self.reading.scope();
        let Kind::Scalar(Scalar::Text { text, plain }) = &node.kind else {
            return node.describe();
        };
        if scope.row().is_none() {
            return node.describe();
        }
        let filled = match scope.whole_value(text) {
            Some(value) => Scalar::from_data(value),
            None => Scalar::Text {
                text: scope.with_columns(text),
                plain: *plain,
            },
        };
        filled.describe()
    }

    /// The place of these bytes of the scalar `text` at `span`, or all of `span` if escapes or folding move its
    /// bytes.
    pub fn span_within(&self, span: Span, text: &str, bytes: std::ops::Range<usize>) -> Span {
        let written = self
            .reading
            .source
            .get(span.start..span.end)
            .unwrap_or_default();
        let quoted = written
            .get(1..written.len().max(2) - 1)
            .filter(|inner| *inner == text);
        let offset = match (written == text, quoted) {
            (true, _) => Some(0),
            (false, Some(_)) => Some(1),
            (false, None) => block_offset(written, text, bytes.start),
        };
        let place = |offset: usize| {
            let start = span.start + offset + bytes.start;
            Span {
                file: span.file,
                start,
                end: start + bytes.len(),
            }
        };
        offset.map_or(span, place)
    }

    /// The node, if a file is read.
    pub(crate) fn written(&self) -> Option<&'a Node> {
        match self.at {
            At::Node(node) => Some(node),
            At::Describe(_) => None,
        }
    }

    /// Describes the schema here, and returns the node if a file is read.
    pub fn node(&self, schema: impl FnOnce() -> Value) -> Option<&'a Node> {
        match self.at {
            At::Node(node) => Some(node),
            At::Describe(slot) => {
                *slot.borrow_mut() = schema();
                None
            }
        }
    }

    /// Reads a list, each item with `read`. Items with problems are omitted. `None` means that all items had
    /// problems; only a list that is written empty is empty.
    pub fn list<T>(&mut self, mut read: impl FnMut(&mut Field<'_>) -> Option<T>) -> Option<Vec<T>> {
        match self.at {
            At::Describe(slot) => {
                let items = RefCell::new(Value::Null);
                read(&mut Field::describing(self.reading, &items));
                *slot.borrow_mut() = json!({ "type": "array", "items": items.into_inner() });
                self.amend_or_column();
                None
            }
            At::Node(node) => match &node.kind {
                Kind::List(items) => {
                    let read: Vec<T> = items
                        .iter()
                        .filter_map(|item| read(&mut Field::new(self.reading, item)))
                        .collect();
                    (items.is_empty() || !read.is_empty()).then_some(read)
                }
                _ => self.wrong(node, "a list"),
            },
        }
    }

    /// Reads a list that must have an item; `empty` is the problem of a list without one.
    pub(crate) fn list_of_some<T>(
        &mut self,
        empty: Problem,
        read: impl FnMut(&mut Field<'_>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let items = self.list(read);
        self.amend_schema("minItems", json!(1));
        if items.as_ref().is_some_and(Vec::is_empty) {
            self.report(empty);
            return None;
        }
        items
    }

    /// Reads a map with known keys.
    pub fn block<T>(&mut self, read: impl FnOnce(&mut Block<'_>) -> T) -> Option<T> {
        match self.at {
            At::Describe(slot) => {
                let mut block = Block::describing(self.reading);
                read(&mut block);
                *slot.borrow_mut() = block.into_schema();
                None
            }
            At::Node(node) => match &node.kind {
                Kind::Map(entries) => Some(self.read_entries(entries, read)),
                Kind::Scalar(Scalar::Null) => Some(self.read_entries(&[], read)),
                _ => self.wrong(node, "a map"),
            },
        }
    }

    fn read_entries<T>(&self, entries: &[Entry], read: impl FnOnce(&mut Block<'_>) -> T) -> T {
        let mut block = Block::new(self.reading, self.span(), entries, self.siblings);
        let made = read(&mut block);
        block.finish();
        made
    }

    /// Reads a map with known keys, which may give no value.
    pub fn try_block<T>(&mut self, read: impl FnOnce(&mut Block<'_>) -> Option<T>) -> Option<T> {
        self.block(read).flatten()
    }

    /// Reads `true` as an empty map, `false` as no map, or the map itself. With `list`, also reads
    /// a list as a map with only that key.
    pub fn flag_or_block<T>(
        &mut self,
        list: Option<&'static str>,
        read: impl FnOnce(&mut Block<'_>) -> T,
    ) -> Option<T> {
        let node = match self.at {
            At::Node(node) => node,
            At::Describe(slot) => {
                self.describe_flag_or_block(slot, list, read);
                return None;
            }
        };
        match (&node.kind, list) {
            (Kind::List(items), Some(key)) => Some(self.read_list_under(key, node, items, read)),
            (Kind::Scalar(scalar), _) if *scalar != Scalar::Null => {
                let wanted = match list {
                    Some(_) => "`true`, `false`, a list or a map",
                    None => "`true`, `false` or a map",
                };
                let is_wanted = self.flag_among(wanted)?;
                is_wanted.then(|| {
                    let mut block = Block::new(self.reading, self.span(), &[], self.siblings);
                    read(&mut block)
                })
            }
            _ => self.block(read),
        }
    }

    /// Reads a list as a map that has it under this key alone.
    fn read_list_under<T>(
        &self,
        key: &str,
        node: &Node,
        items: &[Rc<Node>],
        read: impl FnOnce(&mut Block<'_>) -> T,
    ) -> T {
        let value = Rc::new(Node {
            span: node.span,
            expanded: node.expanded,
            kind: Kind::List(items.to_vec()),
        });
        let entries = [Entry {
            key: key.into(),
            key_span: node.span,
            value,
        }];
        let mut block = Block::new(self.reading, node.span, &entries, self.siblings);
        read(&mut block)
    }

    fn describe_flag_or_block<T>(
        &mut self,
        slot: &RefCell<Value>,
        list: Option<&'static str>,
        read: impl FnOnce(&mut Block<'_>) -> T,
    ) {
        self.block(read);
        let block = slot.take();
        self.flag();
        let mut shapes = vec![slot.take()];
        shapes.extend(list.map(|key| block["properties"][key].clone()));
        shapes.push(block);
        *slot.borrow_mut() = super::any_of(shapes);
    }

    /// Reads a map with arbitrary keys, such as `env:` and `headers:`.
    pub fn entries<T>(
        &mut self,
        mut read: impl FnMut(&str, Span, &mut Field<'_>) -> Option<T>,
    ) -> Option<Vec<(String, T)>> {
        match self.at {
            At::Describe(slot) => {
                let values = RefCell::new(Value::Null);
                read(
                    "",
                    Span::default(),
                    &mut Field::describing(self.reading, &values),
                );
                *slot.borrow_mut() = json!({ "type": ["object", "null"], "additionalProperties": values.into_inner() });
                None
            }
            At::Node(node) => match &node.kind {
                Kind::Map(entries) => {
                    let read = |entry: &Entry| {
                        let mut field = Field::from_entry(self.reading, entry, &[]);
                        Some((
                            entry.key.to_string(),
                            read(&entry.key, entry.key_span, &mut field)?,
                        ))
                    };
                    Some(entries.iter().filter_map(read).collect())
                }
                Kind::Scalar(Scalar::Null) => Some(Vec::new()),
                _ => self.wrong(node, "a map"),
            },
        }
    }

    /// Reads named entries, except the user's own keys that start with `x-`.
    pub fn named_entries<T>(
        &mut self,
        mut read: impl FnMut(&str, Span, &mut Field<'_>) -> Option<T>,
    ) -> Option<Vec<(String, T)>> {
        let entries = self.entries(|key, span, f| {
            if key.starts_with("x-") {
                None
            } else {
                read(key, span, f)
            }
        });
        self.amend_schema("patternProperties", json!({ "^x-": true }));
        entries
    }

    /// Reads a value with several allowed shapes.
    pub fn shapes<T>(&mut self, wanted: &str, read: impl FnOnce(&mut Shapes<'_, T>)) -> Option<T> {
        let mut shapes = Shapes::new(self);
        read(&mut shapes);
        let node = self.node(|| super::any_of(shapes.schemas))?;
        if shapes.taken {
            shapes.result
        } else {
            self.wrong(node, wanted)
        }
    }

    /// A shape with its own name in the schema, because it is long or contains itself.
    pub fn define<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&mut Field<'_>) -> Option<T>,
    ) -> Option<T> {
        let At::Describe(slot) = self.at else {
            return read(self);
        };
        *slot.borrow_mut() = json!({ "$ref": format!("#/$defs/{name}") });
        if !self.reading.definitions.borrow().contains_key(name) {
            self.reading
                .definitions
                .borrow_mut()
                .insert(name.to_owned(), Value::Null);
            let definition = RefCell::new(Value::Null);
            read(&mut Field::describing(self.reading, &definition));
            self.reading
                .definitions
                .borrow_mut()
                .insert(name.to_owned(), definition.into_inner());
        }
        None
    }

    /// Declares in the schema that exactly one of these keys is required; the user's own `x-` keys may be next to it.
    pub fn amend_exactly_one_of<'k>(&mut self, keys: impl IntoIterator<Item = &'k str>) {
        if !self.is_describing() {
            return;
        }
        let required: Vec<Value> = keys
            .into_iter()
            .map(|key| json!({ "required": [key] }))
            .collect();
        self.amend_schema("type", json!("object"));
        self.amend_schema("oneOf", json!(required));
    }

    /// Accepts in the schema a text that is nothing but a column of data, whose value may be a list or a map.
    pub(super) fn amend_or_column(&mut self) {
        let At::Describe(slot) = self.at else { return };
        let own = slot.borrow()["type"].clone();
        if self.reading.describes_row.get() {
            self.amend_schema("type", json!([own, "string"]));
            self.amend_schema("pattern", json!(WHOLE_COLUMN));
        }
    }

    /// Adds to the schema that was just described.
    pub fn amend_schema(&mut self, key: &str, value: Value) {
        if let At::Describe(slot) = self.at
            && let Value::Object(schema) = &mut *slot.borrow_mut()
        {
            schema.insert(key.to_owned(), value);
        }
    }
}

/// The distance of a byte of a literal block from its place in the source: the indentation of its line and of the
/// lines before.
fn block_offset(written: &str, text: &str, byte: usize) -> Option<usize> {
    let before = text.get(..byte)?;
    let (mut in_source, mut in_text) = (0, 0);
    let mut lines = written
        .split_inclusive('\n')
        .zip(text.split_inclusive('\n'));
    loop {
        let (source, line) = lines.next()?;
        let indent = source.trim_end().strip_suffix(line.trim_end())?.len();
        if in_text + line.len() > before.len() {
            return Some(in_source + indent - in_text);
        }
        in_source += source.len();
        in_text += line.len();
    }
}
