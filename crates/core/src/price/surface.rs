//! How many tokens do the tools add to a request?

use super::count_tokens;
use crate::digest::canonical;
use crate::trace::CatalogueTool;

/// The tokens of a catalogue: the sum over its tools of [`tool_text`]; `None` in a build that cannot count.
pub(crate) fn tool_surface_tokens(catalogue: &[CatalogueTool]) -> Option<usize> {
    catalogue
        .iter()
        .map(|tool| count_tokens(&tool_text(tool)))
        .sum()
}

/// The text of a tool that is counted: its name, its description and its input schema as compact JSON with sorted
/// keys, a line each. Absent parts have no line.
pub fn tool_text(tool: &CatalogueTool) -> String {
    let mut text = tool.name.clone();
    if let Some(description) = &tool.description {
        text.push('\n');
        text.push_str(description);
    }
    if let Some(schema) = &tool.input_schema {
        text.push('\n');
        text.push_str(&canonical(schema));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn tool(name: &str, description: Option<&str>, input_schema: Option<Value>) -> CatalogueTool {
        let description = description.map(str::to_owned);
        let input_schema = input_schema.map(Into::into);
        CatalogueTool {
            name: name.to_owned(),
            description,
            input_schema,
            ..CatalogueTool::default()
        }
    }

    #[test]
    fn a_tool_is_its_name_description_and_sorted_schema() {
        let schema =
            json!({"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]});
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
        let twice = [
            tool("hello world", None, None),
            tool("hello world", None, None),
        ];
        assert_eq!(
            tool_surface_tokens(&twice),
            cfg!(feature = "tokenizer").then_some(4)
        );
    }
}
