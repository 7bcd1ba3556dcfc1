//! `each: data.csv` how does one block of a suite become a test for each line of a file?

mod csv;
mod data_file;
mod json_lines;
mod row;
mod rows;
#[cfg(test)]
mod tests;

pub(super) use data_file::{DataFile, refuse_ending};
pub(super) use row::{Column, DataRow};
pub(super) use rows::read_rows;

use super::read::{Block, is_same_key};
use super::variables::names_in;
use crate::problem::Span;
use crate::yaml::{Kind, Node, Scalar};
use std::collections::BTreeSet;

const KEY: &str = "each";

/// The lists whose blocks may have `each:`.
const LISTS: [&str; 2] = ["agents", "tools"];

/// A block with `each:`.
pub(super) struct BlockOfRows {
    /// The path of its data file, as written.
    pub(super) path: String,
    /// The place of the path.
    pub(super) span: Span,
    /// The variables in its texts, columns among them.
    pub(super) names: BTreeSet<String>,
}

/// Reads the key in the block of a test. Its file was read before.
pub(super) fn read_key(block: &mut Block<'_>) {
    let doc = "A .csv, .jsonl or .ndjson file: one test for each of its lines, whose columns are variables of this block; relative to the suite";
    block.optional(KEY, doc, |f| f.name());
}

/// The blocks of a suite that have `each:`.
pub(super) fn blocks(
    root: &Node,
    read: impl Fn(&Node) -> Option<(String, Span)>,
) -> Vec<BlockOfRows> {
    let Kind::Map(entries) = &root.kind else {
        return Vec::new();
    };
    let is_list = |key: &str| LISTS.iter().any(|list| is_same_key(list, key));
    let lists = entries.iter().filter(|entry| is_list(&entry.key));
    let items = lists.flat_map(|entry| match &entry.value.kind {
        Kind::List(items) => items.as_slice(),
        Kind::Scalar(_) | Kind::Map(_) => &[],
    });
    let mut blocks = Vec::new();
    for item in items {
        let Some((path, span)) = each_of(item).and_then(&read) else {
            continue;
        };
        let mut names = BTreeSet::new();
        collect_names(item, &mut names);
        blocks.push(BlockOfRows { path, span, names });
    }
    blocks
}

/// The value of `each:` in a block.
fn each_of(block: &Node) -> Option<&Node> {
    let Kind::Map(entries) = &block.kind else {
        return None;
    };
    let each = entries.iter().find(|entry| is_same_key(&entry.key, KEY));
    each.map(|entry| &*entry.value)
}

/// Collects the variables in the texts of a node, except in `each:`.
fn collect_names(node: &Node, names: &mut BTreeSet<String>) {
    match &node.kind {
        Kind::Scalar(Scalar::Text { text, .. }) => names.extend(names_in(text).map(str::to_owned)),
        Kind::Scalar(_) => {}
        Kind::List(items) => items.iter().for_each(|item| collect_names(item, names)),
        Kind::Map(entries) => entries
            .iter()
            .filter(|entry| !is_same_key(&entry.key, KEY))
            .for_each(|entry| collect_names(&entry.value, names)),
    }
}
