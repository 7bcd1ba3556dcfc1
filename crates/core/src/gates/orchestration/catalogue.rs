//! Which tool of the recorded catalogue was called, and do the arguments match its schema?

use crate::hashed::HashMap;
use crate::json;
use crate::report::AssertionDiff;
use crate::schema::JsonSchema;
use crate::trace::{Call, CatalogueTool};
use serde_json::{Map, Value};
use std::cell::OnceCell;

/// A catalogue with schemas that are compiled when a call first needs them.
pub(super) struct Catalogue<'a> {
    tools: HashMap<&'a str, Vec<ListedTool<'a>>>,
}

struct ListedTool<'a> {
    listed: &'a CatalogueTool,
    schema: OnceCell<Option<JsonSchema>>,
    /// Results for arguments that were already checked, by their hash.
    judged: HashMap<u128, Standing>,
}

/// The catalogue's verdict on a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// The catalogue has no such tool.
    Unknown,
    /// The catalogue has the tool, but its schema is missing, invalid or too expensive.
    Unchecked,
    /// The tool has a usable schema. True if the arguments fit.
    Checked(bool),
}

impl<'a> Catalogue<'a> {
    pub(super) fn new(tools: &'a [CatalogueTool]) -> Self {
        let mut by_name: HashMap<&'a str, Vec<ListedTool<'a>>> = HashMap::default();
        for listed in tools {
            let tool = ListedTool {
                listed,
                schema: OnceCell::new(),
                judged: HashMap::default(),
            };
            by_name.entry(&listed.name).or_default().push(tool);
        }
        Self { tools: by_name }
    }

    pub(super) fn standing_of(&mut self, call: &Call<'_>) -> Standing {
        let Some(tool) = self.find(call) else {
            return Standing::Unknown;
        };
        let Some(schema) = compiled(&tool.schema, tool.listed) else {
            return Standing::Unchecked;
        };
        if call.args_text.is_some() {
            return Standing::Checked(false);
        }
        let key = call.args.map_or(0, |args| json::hash(args.get()));
        if let Some(standing) = tool.judged.get(&key) {
            return *standing;
        }
        let verdict = arguments(call).map_or(Some(false), |value| schema.verdict(&value));
        let standing = verdict.map_or(Standing::Unchecked, Standing::Checked);
        tool.judged.insert(key, standing);
        standing
    }

    /// The differences between a call's arguments and the schema.
    pub(super) fn differences(&mut self, call: &Call<'_>) -> Vec<AssertionDiff> {
        let schema = self
            .find(call)
            .and_then(|tool| compiled(&tool.schema, tool.listed));
        schema
            .zip(arguments(call))
            .map(|(schema, value)| schema.check(&value))
            .unwrap_or_default()
    }

    /// Finds the tool of a call. Without a server, only the name counts.
    fn find(&mut self, call: &Call<'_>) -> Option<&mut ListedTool<'a>> {
        let is_same = |tool: &&mut ListedTool<'a>| match (&tool.listed.server, &call.server) {
            (Some(listed), Some(called)) => listed == called,
            _ => true,
        };
        self.tools
            .get_mut(call.name.as_ref())?
            .iter_mut()
            .find(is_same)
    }
}

/// A schema that does not compile is as good as none.
fn compiled<'s>(
    slot: &'s OnceCell<Option<JsonSchema>>,
    listed: &CatalogueTool,
) -> Option<&'s JsonSchema> {
    slot.get_or_init(|| JsonSchema::compile(listed.input_schema.as_ref()?).ok())
        .as_ref()
}

/// The arguments as a value. Omitted arguments are an empty object.
fn arguments(call: &Call<'_>) -> Option<Value> {
    match call.args {
        Some(args) => serde_json::from_str(args.get()).ok(),
        None if call.args_text.is_some() => None,
        None => Some(Value::Object(Map::new())),
    }
}
