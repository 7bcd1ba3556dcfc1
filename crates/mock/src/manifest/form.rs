//! Is a file with tools a manifest, or a saved `tools/list` result?

use super::load::json_schema;
use mcptest_core::suite::read::is_same_key;
use mcptest_core::yaml::{Kind, Node};
use serde_json::Value;
use std::rc::Rc;

/// The form of a file with tools.
pub(super) enum Form<'n> {
    /// A map with `mock_server:`.
    Manifest,
    /// A manifest under `mock_server:`, at the top of the file.
    Server,
    /// A saved `tools/list` result or response, with this list.
    SavedList(&'n Node),
    /// None of these.
    Nothing,
}

impl<'n> Form<'n> {
    pub(super) fn from_root(root: &'n Node, text: &str) -> Self {
        if entry(root, "mock_server").is_some() {
            return Self::Manifest;
        }
        if let Some(tools) = entry(root, "tools") {
            return if is_written_by_hand(root, tools, text) {
                Self::Server
            } else {
                Self::SavedList(tools)
            };
        }
        let saved = entry(root, "result").and_then(|result| entry(result, "tools"));
        match (saved, &root.kind) {
            (Some(tools), _) => Self::SavedList(tools),
            (None, Kind::Map(entries)) if !entries.is_empty() => Self::Manifest,
            (None, _) => Self::Nothing,
        }
    }
}

/// The spellings of the schema of a tool's arguments.
pub(super) const INPUT_SCHEMA: [&str; 2] = ["inputSchema", "input_schema"];

/// The keys of a tool in `tools/list`, in all accepted spellings.
const LISTED: [&str; 11] = [
    "name",
    "title",
    "description",
    "inputSchema",
    "input_schema",
    "outputSchema",
    "output_schema",
    "annotations",
    "icons",
    "execution",
    "_meta",
];

/// Returns true if tools at the top of a file belong to a manifest: a key exists only in manifests, or a tool has no
/// schema and the file is not JSON, as a saved list would be.
fn is_written_by_hand(root: &Node, tools: &Node, text: &str) -> bool {
    let schema = json_schema();
    let server_keys = keys_at(&schema, "/anyOf/0/properties/mock_server/properties");
    let tool_keys = keys_at(&schema, "/$defs/tool/properties");
    let tools: &[Rc<Node>] = match &tools.kind {
        Kind::List(tools) => tools,
        _ => &[],
    };
    let has_server_key = server_keys
        .iter()
        .any(|key| *key != "tools" && entry(root, key).is_some());
    let has_manifest_key = |tool: &Rc<Node>| {
        tool_keys
            .iter()
            .any(|key| !LISTED.contains(key) && entry(tool, key).is_some())
    };
    if has_server_key || tools.iter().any(has_manifest_key) {
        return true;
    }
    let is_json = text.trim_start().starts_with('{');
    let has_no_schema = |tool: &Rc<Node>| INPUT_SCHEMA.iter().all(|key| entry(tool, key).is_none());
    !is_json && tools.iter().any(has_no_schema)
}

fn keys_at<'s>(schema: &'s Value, pointer: &str) -> Vec<&'s str> {
    let properties = schema.pointer(pointer).and_then(Value::as_object);
    properties
        .into_iter()
        .flatten()
        .map(|(key, _)| key.as_str())
        .collect()
}

pub(super) fn entry<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
    let Kind::Map(entries) = &node.kind else {
        return None;
    };
    entries
        .iter()
        .find(|entry| is_same_key(&entry.key, key))
        .map(|entry| &*entry.value)
}
