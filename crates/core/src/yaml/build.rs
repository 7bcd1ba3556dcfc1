//! How do parser events become a tree of bounded depth and size?

use super::{Entry, Kind, Node, Scalar, resolve};
use crate::hashed::HashMap;
use crate::problem::{Problem, Span};
use granit_parser::{Event, Options, Parser, ScalarStyle, Tag};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;

const MAX_DEPTH: usize = 100;
const MAX_EXPANDED: u64 = 5_000_000;

/// The tree of the only document in `text`; `None` if the file is empty or unreadable.
pub fn parse(text: &str, file: usize, problems: &mut Vec<Problem>) -> Option<Rc<Node>> {
    let bom = text.len() - text.trim_start_matches('\u{feff}').len();
    if let Some(at) = text.find('\0') {
        let span = Span {
            file,
            start: at,
            end: at + 1,
        };
        let problem =
            Problem::error("the file contains a NUL byte, which YAML does not allow").at(span);
        problems.push(problem.help(
            "delete it; if the file has many NUL bytes, it is not text or is UTF-16: save it \
                as UTF-8",
        ));
        return None;
    }
    let mut options = Options::default();
    options.block_nesting_limit = MAX_DEPTH;
    options.flow_nesting_limit = MAX_DEPTH;
    let builder = Builder {
        file,
        offset: bom,
        ..Builder::default()
    };
    builder.run(
        Parser::new_from_str_with_options(&text[bom..], options),
        text,
        problems,
    )
}

#[derive(Default)]
struct Builder {
    file: usize,
    offset: usize,
    open: Vec<Open>,
    anchors: BTreeMap<usize, Rc<Node>>,
    root: Option<Rc<Node>>,
    documents: usize,
}

/// An open list or map.
struct Open {
    anchor: usize,
    start: Span,
    shape: NodeShape,
}

enum NodeShape {
    List(Vec<Rc<Node>>),
    Map {
        entries: Vec<Entry>,
        merges: Vec<Rc<Node>>,
        key: Option<KeyOfMap>,
    },
}

enum KeyOfMap {
    Named {
        text: Rc<str>,
        span: Span,
    },
    Merge,
    /// A list or map used as a key: its value is dropped.
    Refused,
}

impl KeyOfMap {
    fn from_scalar(text: &str, is_plain: bool, at: Span) -> Self {
        if is_plain && text == "<<" {
            Self::Merge
        } else {
            Self::Named {
                text: text.into(),
                span: at,
            }
        }
    }
}

impl Builder {
    fn run<'a>(
        mut self,
        mut parser: Parser<'a, granit_parser::StrInput<'a>>,
        text: &str,
        problems: &mut Vec<Problem>,
    ) -> Option<Rc<Node>> {
        while let Some(next) = parser.next_event() {
            let (event, span) = match next {
                Ok(pair) => pair,
                Err(error) => {
                    problems.push(self.syntax_problem(&error, text));
                    return None;
                }
            };
            let at = self.span(&span);
            match event {
                Event::DocumentStart(..) => {
                    self.documents += 1;
                    if self.documents > 1 {
                        problems.push(second_document(at));
                        break;
                    }
                }
                Event::StreamEnd => break,
                event => self.add(event, at, problems),
            }
        }
        let root = self.root?;
        if root.expanded > MAX_EXPANDED {
            problems.push(too_large(&root));
            return None;
        }
        Some(root)
    }

    fn add(&mut self, event: Event<'_>, at: Span, problems: &mut Vec<Problem>) {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let is_plain = style == ScalarStyle::Plain;
                if let Some(key) = self.awaited_key() {
                    *key = Some(KeyOfMap::from_scalar(&text, is_plain, at));
                } else {
                    let scalar = scalar(text, is_plain, tag.as_deref(), at, problems);
                    self.place_scalar(scalar, at, anchor, problems);
                }
            }
            Event::Alias(id) => self.place_alias(id, at, problems),
            Event::SequenceStart(_, anchor, tag) => {
                refuse_tag(tag.as_deref(), at, problems);
                self.open(NodeShape::List(Vec::new()), at, anchor);
            }
            Event::MappingStart(_, anchor, tag) => {
                refuse_tag(tag.as_deref(), at, problems);
                let map = NodeShape::Map {
                    entries: Vec::new(),
                    merges: Vec::new(),
                    key: None,
                };
                self.open(map, at, anchor);
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(at, problems),
            _ => {}
        }
    }

    /// The place of the next key, if a map is open that waits for one.
    fn awaited_key(&mut self) -> Option<&mut Option<KeyOfMap>> {
        match &mut self.open.last_mut()?.shape {
            NodeShape::Map { key, .. } if key.is_none() => Some(key),
            _ => None,
        }
    }

    fn place_scalar(
        &mut self,
        scalar: Scalar,
        at: Span,
        anchor: usize,
        problems: &mut Vec<Problem>,
    ) {
        let node = Node {
            span: at,
            kind: Kind::Scalar(scalar),
            expanded: 1,
        };
        self.place(Rc::new(node), anchor, problems);
    }

    fn place_alias(&mut self, id: usize, at: Span, problems: &mut Vec<Problem>) {
        if let Some(node) = self.anchors.get(&id).cloned() {
            self.place(node, 0, problems);
        } else {
            problems.push(Problem::error("this alias is inside the value it refers to").at(at));
        }
    }

    fn open(&mut self, shape: NodeShape, start: Span, anchor: usize) {
        self.open.push(Open {
            anchor,
            start,
            shape,
        });
    }

    fn close(&mut self, at: Span, problems: &mut Vec<Problem>) {
        let Some(open) = self.open.pop() else { return };
        let end = if at.end > open.start.start {
            at.end
        } else {
            open.start.end
        };
        let span = Span { end, ..open.start };
        let kind = match open.shape {
            NodeShape::List(items) => Kind::List(items),
            NodeShape::Map {
                entries, merges, ..
            } => Kind::Map(finish_map(entries, &merges, problems)),
        };
        let inner: u64 = match &kind {
            Kind::List(items) => items
                .iter()
                .fold(0, |sum, item| sum.saturating_add(item.expanded)),
            Kind::Map(entries) => entries
                .iter()
                .fold(0, |sum, entry| sum.saturating_add(entry.value.expanded)),
            Kind::Scalar(_) => 0,
        };
        self.place(
            Rc::new(Node {
                span,
                kind,
                expanded: inner.saturating_add(1),
            }),
            open.anchor,
            problems,
        );
    }

    /// Adds a finished node to the open list or map, or as the root.
    fn place(&mut self, node: Rc<Node>, anchor: usize, problems: &mut Vec<Problem>) {
        if anchor > 0 {
            self.anchors.insert(anchor, Rc::clone(&node));
        }
        match self.open.last_mut().map(|open| &mut open.shape) {
            None => self.root = Some(node),
            Some(NodeShape::List(items)) => items.push(node),
            Some(NodeShape::Map {
                entries,
                merges,
                key,
            }) => match key.take() {
                Some(KeyOfMap::Named { text, span }) => entries.push(Entry {
                    key: text,
                    key_span: span,
                    value: node,
                }),
                Some(KeyOfMap::Merge) => merges.push(node),
                Some(KeyOfMap::Refused) => {}
                None => {
                    problems.push(
                        Problem::error("a key must be a string, not a list or map").at(node.span),
                    );
                    *key = Some(KeyOfMap::Refused);
                }
            },
        }
    }

    fn span(&self, span: &granit_parser::Span) -> Span {
        let byte = |marker: &granit_parser::Marker| marker.byte_offset().unwrap_or(0) + self.offset;
        Span {
            file: self.file,
            start: byte(&span.start),
            end: byte(&span.end),
        }
    }

    fn syntax_problem(&self, error: &granit_parser::ScanError, text: &str) -> Problem {
        let mut start = (error.marker().byte_offset().unwrap_or(0) + self.offset).min(text.len());
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let message = error.info();
        let at = |start: usize| {
            let end = text[start..]
                .chars()
                .next()
                .map_or(start, |c| start + c.len_utf8());
            Span {
                file: self.file,
                start,
                end,
            }
        };
        if message.contains("recursion limit") {
            return Problem::error(format!("values are nested more than {MAX_DEPTH} deep here"))
                .at(at(start));
        }
        if let Some(tab) = indenting_tab(text, start, &message) {
            return Problem::error("this line is indented with a tab")
                .at(at(tab))
                .help("YAML is indented with spaces, never with tabs");
        }
        let problem = Problem::error(format!("this is not YAML: {message}")).at(at(start));
        if text[..start].ends_with('$') && text[start..].starts_with('{') {
            return problem.help("inside `{…}` and `[…]` a variable is quoted: `\"${NAME}\"`");
        }
        if let Some(path) = unquoted_path(text, start) {
            return problem.help(format!(
                "inside `{{…}}` and `[…]` a value with `[` is quoted: `\"{path}\"`"
            ));
        }
        if message.contains("block") {
            return problem
                .help("keys of one map, and items of one list, start in the same column");
        }
        problem
    }
}

/// The plain value, such as `tool_calls[0].name`, that an error at its `[` interrupts.
fn unquoted_path(text: &str, start: usize) -> Option<&str> {
    let is_end = |c: char| c.is_whitespace() || ",{}".contains(c);
    let before = text[..start].rsplit(is_end).next()?;
    let after = text[start..].split(is_end).next()?;
    let is_path = after.starts_with('[') && before.starts_with(|c: char| c.is_alphabetic());
    is_path.then(|| &text[start - before.len()..start + after.len()])
}

fn second_document(at: Span) -> Problem {
    Problem::error("a file can have only one YAML document; a second starts here")
        .at(at)
        .help("put each document into a separate file")
}

fn too_large(root: &Node) -> Problem {
    Problem::error(format!(
        "the file expands to {} values through its aliases; the limit is {MAX_EXPANDED}",
        root.expanded
    ))
    .at(largest_part(root))
    .help("write the repeated part out, or use fewer aliases of aliases")
}

/// The tab that indents the line of an error, or a later line that the parser was on its way to.
fn indenting_tab(text: &str, start: usize, message: &str) -> Option<usize> {
    let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let lines = if message.contains("tab") {
        usize::MAX
    } else {
        1
    };
    let mut offset = line_start;
    text[line_start..]
        .split_inclusive('\n')
        .take(lines)
        .find_map(|line| {
            let indent = &line[..line.len() - line.trim_start().len()];
            let tab = indent.find('\t').map(|at| offset + at);
            offset += line.len();
            tab
        })
}

/// The top-level key whose value has the most nodes.
fn largest_part(root: &Node) -> Span {
    match &root.kind {
        Kind::Map(entries) => entries
            .iter()
            .max_by_key(|entry| entry.value.expanded)
            .map_or(root.span, |entry| entry.key_span),
        _ => root.span,
    }
}

fn scalar(
    text: Cow<'_, str>,
    plain: bool,
    tag: Option<&Tag>,
    at: Span,
    problems: &mut Vec<Problem>,
) -> Scalar {
    let is_text = tag.is_some_and(|tag| tag.is_yaml_core_schema_tag("str"));
    if !is_text {
        refuse_tag(tag, at, problems);
    }
    if plain && !is_text {
        resolve(&text)
    } else {
        Scalar::Text {
            text: text.into_owned(),
            plain: false,
        }
    }
}

fn refuse_tag(tag: Option<&Tag>, at: Span, problems: &mut Vec<Problem>) {
    let known = |tag: &Tag| {
        ["map", "seq", "int", "float", "bool", "null"]
            .iter()
            .any(|t| tag.is_yaml_core_schema_tag(t))
    };
    if let Some(tag) = tag.filter(|tag| !known(tag)) {
        let message = format!("the tag `{}` has no meaning here", tag.original());
        problems.push(Problem::error(message).at(at).help("remove the tag"));
    }
}

pub(crate) fn written_twice(key: &str, at: Span, first: Span) -> Problem {
    Problem::error(format!("the key `{key}` is written twice"))
        .at(at)
        .also(first, "first written here")
        .help("keep one of them")
}

/// Refuses duplicate keys, and merges `<<`: written keys override merged ones.
fn finish_map(
    mut entries: Vec<Entry>,
    merges: &[Rc<Node>],
    problems: &mut Vec<Problem>,
) -> Vec<Entry> {
    let mut seen: HashMap<Rc<str>, Span> =
        HashMap::with_capacity_and_hasher(entries.len(), <_>::default());
    entries.retain(|entry| {
        let Some(first) = seen.get(&entry.key) else {
            seen.insert(Rc::clone(&entry.key), entry.key_span);
            return true;
        };
        problems.push(written_twice(&entry.key, entry.key_span, *first));
        false
    });
    for merge in merges {
        let maps: Vec<&Rc<Node>> = match &merge.kind {
            Kind::List(items) => items.iter().collect(),
            _ => vec![merge],
        };
        for map in maps {
            let Kind::Map(merged) = &map.kind else {
                problems.push(Problem::error("`<<` merges a map, or a list of maps").at(map.span));
                continue;
            };
            for entry in merged {
                if !seen.contains_key(&entry.key) {
                    seen.insert(Rc::clone(&entry.key), entry.key_span);
                    entries.push(entry.clone());
                }
            }
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems_of(text: &str) -> Vec<String> {
        let mut problems = Vec::new();
        parse(text, 0, &mut problems);
        problems
            .into_iter()
            .map(|problem| problem.message)
            .collect()
    }

    fn keys(node: &Node) -> Vec<&str> {
        match &node.kind {
            Kind::Map(entries) => entries.iter().map(|entry| entry.key.as_ref()).collect(),
            _ => Vec::new(),
        }
    }

    #[test]
    fn spans_survive_a_byte_order_mark_and_crlf() {
        let text = "\u{feff}a: 1\r\nbé: [x, y]\r\n";
        let mut problems = Vec::new();
        let root = parse(text, 0, &mut problems).unwrap();
        assert!(problems.is_empty());
        let Kind::Map(entries) = &root.kind else {
            panic!()
        };
        assert_eq!(
            &text[entries[1].key_span.start..entries[1].key_span.end],
            "bé"
        );
        let Kind::List(items) = &entries[1].value.kind else {
            panic!()
        };
        assert_eq!(&text[items[1].span.start..items[1].span.end], "y");
    }

    #[test]
    fn merged_keys_yield_to_written_ones() {
        let text = "base: &base {a: 1, b: 2}\nmore: &more {c: 3}\nuse: {<<: [*base, *more], b: 9}";
        let root = parse(text, 0, &mut Vec::new()).unwrap();
        let Kind::Map(entries) = &root.kind else {
            panic!()
        };
        assert_eq!(keys(&entries[2].value), ["b", "a", "c"]);
    }

    #[test]
    fn an_alias_bomb_is_refused_without_being_walked() {
        let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for level in 1..12 {
            let refs = vec![format!("*a{}", level - 1); 10].join(", ");
            text.push_str(&format!("a{level}: &a{level} [{refs}]\n"));
        }
        assert!(problems_of(&text)[0].contains("expands to"));
    }

    #[test]
    fn deep_nesting_is_refused_and_does_not_overflow() {
        for text in ["- ".repeat(100_000), "[".repeat(100_000)] {
            assert_eq!(problems_of(&text).len(), 1);
        }
    }

    #[test]
    fn a_second_document_a_duplicate_and_a_tag_are_refused() {
        assert!(problems_of("a: 1\n---\nb: 2\n")[0].contains("one YAML document"));
        assert!(problems_of("a: 1\nb: 2\na: 3\n")[0].contains("`a` is written twice"));
        assert!(problems_of("a: !custom 1\n")[0].contains("has no meaning"));
    }
}
