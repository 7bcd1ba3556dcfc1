//! How many tokens do the tools take before the agent has said a word?

use crate::price::count_tokens;
use crate::trace::CatalogueTool;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The tokens of a catalogue: the sum over its tools of [`tool_text`]; `None` in a build that cannot count.
pub(super) fn tool_surface_tokens(catalogue: &[CatalogueTool]) -> Option<usize> {
    catalogue.iter().map(|tool| count_tokens(&tool_text(tool))).sum()
}

/// A tool as it is counted: its name, its description and its input schema as compact JSON with sorted keys, a line
/// each; what is absent has no line.
fn tool_text(tool: &CatalogueTool) -> String {
    let mut text = tool.name.clone();
    if let Some(description) = &tool.description {
        text.push('\n');
        text.push_str(description);
    }
    if let Some(schema) = &tool.input_schema {
        text.push('\n');
        write_sorted(schema, &mut text);
    }
    text
}

/// Sorted here, since whether `serde_json` keeps an order depends on who else is in the build.
fn write_sorted(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            let sorted: BTreeMap<&String, &Value> = map.iter().collect();
            out.push('{');
            for (at, (key, value)) in sorted.into_iter().enumerate() {
                let comma = if at > 0 { "," } else { "" };
                let _ = write!(out, "{comma}{}:", Value::from(key.as_str()));
                write_sorted(value, out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_sorted(item, out);
            }
            out.push(']');
        }
        scalar => {
            let _ = write!(out, "{scalar}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tool(name: &str, description: Option<&str>, input_schema: Option<Value>) -> CatalogueTool {
        let description = description.map(str::to_owned);
        let input_schema = input_schema.map(Into::into);
        CatalogueTool { name: name.to_owned(), description, input_schema, ..CatalogueTool::default() }
    }

    #[test]
    fn a_tool_is_its_name_description_and_sorted_schema() {
        let schema = json!({"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]});
        let search = tool("search", Some("Finds \"pages\"."), Some(schema));
        assert_eq!(
            tool_text(&search),
            "search\nFinds \"pages\".\n\
             {\"properties\":{\"q\":{\"type\":\"string\"}},\"required\":[\"q\"],\"type\":\"object\"}"
        );
        assert_eq!(tool_text(&tool("open", None, None)), "open");
    }

    #[test]
    fn the_tokens_of_all_tools_are_added_up() {
        assert_eq!(tool_surface_tokens(&[]), Some(0));
        let twice = [tool("hello world", None, None), tool("hello world", None, None)];
        assert_eq!(tool_surface_tokens(&twice), cfg!(feature = "tokenizer").then_some(4));
    }
}
