//! How do the items of a list in a suite change while the rest of the file stays unchanged?

use crate::draft::{flow, yaml_text};
use mcptest_core::eval::ProposedItem;
use mcptest_core::problem::Span;
use mcptest_core::yaml::{Kind, Node, parse};
use serde_json::Value;
use std::rc::Rc;
use thiserror::Error;

/// The reason to leave a list unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub(super) enum NotEditable {
    #[error("its list of calls is no longer in the file")]
    Gone,
    #[error("its list of calls is a column of the data; change the data file by hand")]
    Column,
    #[error("it is not a list")]
    NotAList,
    #[error(
        "its list of calls is shared through an anchor; write the list out so that mcptest \
    can change it"
    )]
    Shared,
    #[error("its list of calls has comments within brackets; change it by hand")]
    CommentsInBrackets,
    #[error("its list of calls begins within a line; change it by hand")]
    BeginsWithinALine,
    #[error("its list of calls is written in an unusual way; change it by hand")]
    Unusual,
}

/// The text with these items in the list at this place. Items that stay keep their lines and comments.
pub(super) fn with_items(
    text: &str,
    list: Span,
    items: &[ProposedItem],
) -> Result<String, NotEditable> {
    let root = parse(text, list.file, &mut Vec::new()).ok_or(NotEditable::Gone)?;
    let written = text.get(list.start..list.end).unwrap_or_default();
    if written.trim_matches(['"', '\'']).starts_with("${") {
        return Err(NotEditable::Column);
    }
    let found = find(&root, list).ok_or(NotEditable::Gone)?;
    let Kind::List(written) = &found.kind else {
        return Err(NotEditable::NotAList);
    };
    let is_in_brackets = text[list.start..].starts_with('[');
    let start = if is_in_brackets {
        list.start
    } else {
        first_line(text, list, written)
    };
    let is_inside = |item: &Rc<Node>| item.span.start >= list.start && item.span.end <= list.end;
    if !written.iter().all(is_inside) || line_before(text, start).contains(['&', '*']) {
        return Err(NotEditable::Shared);
    }
    if is_in_brackets {
        in_brackets(text, list, written, items)
    } else {
        in_lines(text, start, written.len(), items)
    }
}

/// The last line before a place that has more than a comment.
fn line_before(text: &str, place: usize) -> &str {
    let is_content = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let mut lines = text[..place].lines().rev();
    lines.find(is_content).unwrap_or_default()
}

/// The start of the first item's line.
fn first_line(text: &str, list: Span, written: &[Rc<Node>]) -> usize {
    let at = written.first().map_or(list.start, |item| item.span.start);
    text[..at].rfind('\n').map_or(0, |at| at + 1)
}

/// The node at this place.
fn find(node: &Rc<Node>, at: Span) -> Option<&Rc<Node>> {
    if node.span == at && matches!(node.kind, Kind::List(_)) {
        return Some(node);
    }
    match &node.kind {
        Kind::Scalar(_) => None,
        Kind::List(items) => items.iter().find_map(|item| find(item, at)),
        Kind::Map(entries) => entries.iter().find_map(|entry| find(&entry.value, at)),
    }
}

/// `[a, b]`.
fn in_brackets(
    text: &str,
    list: Span,
    written: &[Rc<Node>],
    items: &[ProposedItem],
) -> Result<String, NotEditable> {
    if text[list.start..list.end].contains('#') {
        return Err(NotEditable::CommentsInBrackets);
    }
    let item = |item: &ProposedItem| match item {
        ProposedItem::Kept(index) => text[written[*index].span.start..written[*index].span.end]
            .trim()
            .to_owned(),
        ProposedItem::New(value) => on_one_line(value),
    };
    let items: Vec<String> = items.iter().map(item).collect();
    Ok(format!(
        "{}[{}]{}",
        &text[..list.start],
        items.join(", "),
        &text[list.end..]
    ))
}

/// `- a` and `- b`, on separate lines.
fn in_lines(
    text: &str,
    start: usize,
    written: usize,
    items: &[ProposedItem],
) -> Result<String, NotEditable> {
    let line = &text[start..];
    let indent = &line[..line.len() - line.trim_start_matches(' ').len()];
    if !line[indent.len()..].starts_with('-') {
        return Err(NotEditable::BeginsWithinALine);
    }
    let chunks = chunks(&text[start..], indent.len());
    if chunks.len() != written {
        return Err(NotEditable::Unusual);
    }
    let end = start + chunks.iter().map(|chunk| chunk.len()).sum::<usize>();
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut lines = String::new();
    for item in items {
        if !lines.is_empty() && !lines.ends_with('\n') {
            lines.push_str(newline);
        }
        match item {
            ProposedItem::Kept(index) => lines.push_str(chunks[*index]),
            ProposedItem::New(value) => {
                lines.push_str(&format!("{indent}- {}{newline}", on_one_line(value)));
            }
        }
    }
    if items.is_empty() {
        lines = format!("{indent}  []{newline}");
    }
    Ok(format!("{}{lines}{}", &text[..start], &text[end..]))
}

/// A new item on one line, with its name first.
fn on_one_line(item: &Value) -> String {
    let name = item.get("name").and_then(Value::as_str);
    let Some((name, fields)) = name.zip(item.as_object()) else {
        return flow(item);
    };
    let others = fields.iter().filter(|(key, _)| *key != "name");
    let others: Vec<String> = others
        .map(|(key, value)| format!(", {key}: {}", flow(value)))
        .collect();
    format!("{{ name: {}{} }}", yaml_text(name), others.concat())
}

/// The lines of each item of the list at the start of the text. A comment above an item belongs to
/// it.
fn chunks(text: &str, indent: usize) -> Vec<&str> {
    let mut chunks = Vec::new();
    let mut start = 0;
    let mut at = 0;
    let mut content_end = 0;
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end();
        let depth = bare.len() - bare.trim_start().len();
        let is_item = depth == indent && (bare[depth..].starts_with("- ") || &bare[depth..] == "-");
        let is_between = bare.is_empty() || (depth <= indent && bare[depth..].starts_with('#'));
        if !is_item && !is_between && depth <= indent {
            break;
        }
        if is_item && content_end > 0 {
            chunks.push(&text[start..content_end]);
            start = content_end;
        }
        at += line.len();
        if !is_between {
            content_end = at;
        }
    }
    chunks.push(&text[start..content_end]);
    chunks
}

#[cfg(test)]
mod tests {
    use super::*;
    use ProposedItem::{Kept, New};
    use serde_json::json;

    fn changed(text: &str, items: &[ProposedItem]) -> Result<String, NotEditable> {
        let root = parse(text, 0, &mut Vec::new()).unwrap();
        let Kind::Map(entries) = &root.kind else {
            panic!("no map")
        };
        with_items(
            text,
            entries
                .iter()
                .find(|entry| &*entry.key == "calls")
                .unwrap()
                .value
                .span,
            items,
        )
    }

    #[test]
    fn what_stays_keeps_its_lines_and_what_stands_around_the_list_is_left_alone() {
        let text = "# top\ncalls:\n  # before\n  - a # one\n\n  # of b\n  - name: b\n    args: any\n  - c\n\n# after\nmode: strict\n";
        let new = New(json!({"name": "n", "args": {"exact": {"q": "${x}"}}}));
        let expected = "# top\ncalls:\n  # before\n  - { name: n, args: { exact: { q: \"$${x}\" } } }\n\n  # of b\n  - name: b\n    args: any\n  - a # one\n\n# after\nmode: strict\n";
        assert_eq!(changed(text, &[new, Kept(1), Kept(0)]).unwrap(), expected);
        assert_eq!(
            changed("calls:\n- a\n- b", &[Kept(1), Kept(0)]).unwrap(),
            "calls:\n- b\n- a\n"
        );
        assert_eq!(
            changed("calls:\r\n- a\r\n", &[Kept(0), New(json!("b"))]).unwrap(),
            "calls:\r\n- a\r\n- b\r\n"
        );
        assert_eq!(
            changed("calls:\n- a\nmode: subset\n", &[]).unwrap(),
            "calls:\n  []\nmode: subset\n"
        );
    }

    #[test]
    fn a_list_in_brackets_stays_one() {
        let text = "calls: [ a, {name: b} ] # all\n";
        assert_eq!(
            changed(text, &[Kept(1), New(json!("c"))]).unwrap(),
            "calls: [{name: b}, c] # all\n"
        );
        assert_eq!(
            changed("calls: []\n", &[New(json!("c"))]).unwrap(),
            "calls: [c]\n"
        );
    }

    #[test]
    fn what_cannot_be_changed_safely_is_refused() {
        for text in [
            "calls: &c\n  - a\n",
            "x: &x [a]\ncalls: *x\n",
            "x: &x a\ncalls:\n  - *x\n",
            "calls: [a, # why\n b]\n",
        ] {
            assert!(changed(text, &[New(json!("b"))]).is_err(), "{text}");
        }
    }
}
