//! Why does a matcher not apply to a value, and which path leads to a value that it applies to?

use super::answer::{Unanswered, Wanted, Why};
use crate::report::AssertionDiff;
use crate::schema::TOO_MUCH_WORK;
use crate::target::written_step;
use serde_json::Value;

/// The depth of the search for a value that the matcher applies to.
const DEEPEST: usize = 6;

/// The value of a target, and the suite's path to it.
pub(crate) struct Reached<'a> {
    /// The target as it was written.
    pub(crate) target: &'a str,
    /// True if the value is the list of `[*]`, whose items have no place.
    pub(crate) is_list_of_each: bool,
    pub(crate) value: &'a Value,
}

/// A step from a value to a part of it.
enum StepInto<'v> {
    Key(&'v str),
    Index(usize),
}

impl Unanswered {
    /// The part of the value that the matcher was applied to.
    fn part<'v>(&self, whole: &'v Value) -> &'v Value {
        whole.pointer(&self.pointer).unwrap_or(whole)
    }

    pub(super) fn difference(self, whole: &Value) -> AssertionDiff {
        AssertionDiff {
            actual: self.part(whole).clone(),
            pointer: self.pointer,
            expected: self.expected,
            absent: None,
        }
    }

    /// The reason for the missing answer, and advice.
    pub(crate) fn sentence(&self, reached: &Reached<'_>) -> String {
        let Why::WrongType { key, wanted } = self.why else {
            return format!("it is undecided whether it holds: {TOO_MUCH_WORK}");
        };
        let part = self.part(reached.value);
        let of = match self.pointer.strip_prefix('/') {
            Some(item) => format!("item {}, {}", item.replace('/', "."), in_words(part)),
            None => in_words(part).to_owned(),
        };
        let advice = self.advice(wanted, part, reached);
        format!("`{key}` does not apply to {of}; {advice}")
    }

    fn advice(&self, wanted: Wanted, part: &Value, reached: &Reached<'_>) -> String {
        const ASK_ITEMS: &str = "`any-item`, `every-item` or `no-item`";
        let Some(steps) = way_to(wanted, part, DEEPEST) else {
            return self.advice_for_type(wanted, part);
        };
        let is_in_items = !self.pointer.is_empty();
        let is_list_of_each = reached.is_list_of_each && !is_in_items;
        let mut path = reached.target.to_owned();
        let item_depth = self.pointer.matches('/').count();
        let unwritten_depth = usize::from(reached.is_list_of_each && is_in_items);
        path.push_str(&"[*]".repeat(item_depth - unwritten_depth));
        let unwritten_steps = usize::from(is_list_of_each);
        for step in &steps[unwritten_steps..] {
            match step {
                StepInto::Key(key) => path.push_str(&written_step(key)),
                StepInto::Index(_) if is_in_items || is_list_of_each => path.push_str("[*]"),
                StepInto::Index(index) => path.push_str(&format!("[{index}]")),
            }
        }
        match &steps[..] {
            [StepInto::Index(_)] if is_list_of_each => format!("check the items with {ASK_ITEMS}"),
            _ if is_list_of_each => format!("write `{path}` and check its items with {ASK_ITEMS}"),
            [StepInto::Index(_)] if !is_in_items => {
                format!("write `{path}`, or check the items with {ASK_ITEMS}")
            }
            _ => format!("write `{path}`"),
        }
    }

    /// The advice if the matcher applies to no part of the value.
    fn advice_for_type(&self, wanted: Wanted, part: &Value) -> String {
        let sought = self.expected.get("contains");
        if let (Wanted::ListOfThatType, Value::String(_), Some(sought)) = (wanted, part, sought) {
            let kind = if sought.is_number() {
                "a number"
            } else {
                "this"
            };
            return format!("{kind} is never part of a string: write `contains: \"{sought}\"`");
        }
        let advice = match part {
            Value::Null => "check a value that may be `null` with `exact` or `one-of`",
            Value::Bool(_) => "write `exact: true` or `exact: false`",
            Value::Number(_) => "compare a number with `exact`, `gte`, `lte`, `gt` or `lt`",
            Value::String(_) => {
                "compare a string with `exact`, `contains` or `regex`, or its `length`"
            }
            Value::Object(_) => {
                "name one of its fields in the target, or write `subset` or \
            `schema`"
            }
            Value::Array(_) => {
                "check the items with `any-item`, `every-item` or `no-item`, or check the list's \
                `length`"
            }
        };
        advice.to_owned()
    }
}

impl Wanted {
    /// Returns true if the author of the matcher probably meant this part of a value.
    fn is_met_by(self, value: &Value) -> bool {
        match self {
            Self::Text | Self::TextOrListOfTexts => value.is_string(),
            Self::Number => value.is_number(),
            Self::Object | Self::ObjectOrListOfObjects => value.is_object(),
            Self::List => value.is_array(),
            Self::ListOfThatType | Self::Countable => false,
        }
    }
}

/// The shortest path to a part that the matcher applies to. The text of a content block comes
/// before its other keys.
fn way_to(wanted: Wanted, value: &Value, deepest: usize) -> Option<Vec<StepInto<'_>>> {
    if wanted.is_met_by(value) {
        return Some(Vec::new());
    }
    let deeper = deepest.checked_sub(1)?;
    let longer = |(step, inner)| {
        let mut way = way_to(wanted, inner, deeper)?;
        way.insert(0, step);
        Some(way)
    };
    match value {
        Value::Object(fields) => {
            let mut parts: Vec<(&String, &Value)> =
                fields.iter().filter(|(key, _)| *key != "type").collect();
            parts.sort_by_key(|(key, _)| *key != "text");
            let steps = parts
                .into_iter()
                .map(|(key, inner)| (StepInto::Key(key), inner));
            steps.filter_map(longer).min_by_key(Vec::len)
        }
        Value::Array(items) => items
            .iter()
            .enumerate()
            .map(|(index, item)| (StepInto::Index(index), item))
            .find_map(longer),
        _ => None,
    }
}

/// The kind of value, in words for a reader of traces.
fn in_words(value: &Value) -> &'static str {
    match value {
        Value::Null => "`null`",
        Value::Bool(_) => "`true` or `false`",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Object(_) if is_content_block(value) => "a content block",
        Value::Object(_) => "an object",
        Value::Array(items) => match items.first() {
            None => "an empty list",
            Some(_) if items.iter().all(is_content_block) => "a list of content blocks",
            Some(_) if items.iter().all(Value::is_object) => "a list of objects",
            Some(_) if items.iter().all(Value::is_array) => "a list of lists",
            Some(_) if items.iter().all(Value::is_string) => "a list of strings",
            Some(_) if items.iter().all(Value::is_number) => "a list of numbers",
            Some(_) => "a list of other values",
        },
    }
}

fn is_content_block(value: &Value) -> bool {
    const OF_MCP: [&str; 5] = ["text", "image", "audio", "resource", "resource_link"];
    let kind = value.get("type").and_then(Value::as_str);
    kind.is_some_and(|kind| OF_MCP.contains(&kind))
}
