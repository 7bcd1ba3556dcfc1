//! The tools a mock manifest or a saved tools list declares: known without starting anything.

use crate::trace::CatalogueTool;
use crate::yaml::{self, Kind, Node, Scalar};
use serde_json::Value;

/// The tools in a mock server's manifest (`mock_server: {tools: […]}`) or a saved `tools/list` result.
pub fn tools_of(text: &str) -> Result<Vec<CatalogueTool>, String> {
    let mut problems = Vec::new();
    let root = yaml::parse(text, 0, &mut problems);
    if let Some(problem) = problems.first() {
        return Err(problem.message.clone());
    }
    let root = root.map(|root| plain(&root)).unwrap_or_default();
    let list =
        ["/mock_server/tools", "/tools", "/result/tools"].iter().find_map(|pointer| root.pointer(pointer));
    let Some(Value::Array(tools)) = list else { return Err("it has no list of tools".to_owned()) };
    tools.iter().map(tool).collect()
}

/// A YAML text as JSON, as suites are read before their variables are filled in: for tests of the schema.
#[doc(hidden)]
pub fn yaml_to_json(text: &str) -> Option<Value> {
    yaml::parse(text, 0, &mut Vec::new()).map(|root| plain(&root))
}

fn tool(tool: &Value) -> Result<CatalogueTool, String> {
    let text = |key: &str| tool.get(key).and_then(Value::as_str).map(str::to_owned);
    Ok(CatalogueTool {
        name: text("name").ok_or("a tool has no name")?,
        description: text("description"),
        input_schema: tool.get("inputSchema").or_else(|| tool.get("input_schema")).cloned(),
        ..CatalogueTool::default()
    })
}

fn plain(node: &Node) -> Value {
    match &node.kind {
        Kind::Scalar(Scalar::Null) => Value::Null,
        Kind::Scalar(Scalar::Bool(flag)) => Value::Bool(*flag),
        Kind::Scalar(Scalar::Number(number)) => Value::Number(number.clone()),
        Kind::Scalar(Scalar::Text { text, .. } | Scalar::NotFinite(text)) => Value::String(text.clone()),
        Kind::List(items) => items.iter().map(|item| plain(item)).collect(),
        Kind::Map(entries) => {
            Value::Object(entries.iter().map(|entry| (entry.key.to_string(), plain(&entry.value))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_and_saved_lists_are_read_alike() {
        let manifest =
            "mock_server:\n  tools:\n    - name: get_weather\n      input_schema: {type: object}\n";
        let saved = r#"{"tools": [{"name": "get_weather", "inputSchema": {"type": "object"}}]}"#;
        assert_eq!(tools_of(manifest).unwrap(), tools_of(saved).unwrap());
        assert!(tools_of("agents: []").is_err());
    }
}
