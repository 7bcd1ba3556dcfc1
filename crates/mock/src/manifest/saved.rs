//! How does a saved `tools/list` result become a manifest: which tools does it have, and how are
//! they answered?

use super::Manifest;
use super::context::Context;
use super::fields::report_all;
use super::form::{INPUT_SCHEMA, entry};
use super::json::Json;
use super::tool::{Tool, default_answer};
use mcptest_core::problem::Problem;
use mcptest_core::schema::JsonSchema;
use mcptest_core::suite::read::{Field, Reading};
use mcptest_core::trace::ToolSchema;
use mcptest_core::yaml::{Kind, Node};
use serde_json::Value;
use std::path::Path;

/// The manifest of these tools, named after the file.
pub(super) fn read(
    tools: &Node,
    path: &Path,
    reading: &Reading<'_>,
    context: &Context<'_>,
) -> Option<Manifest> {
    let tools = Field::new(reading, tools).list(|field| {
        let node = field.node(|| Value::Null)?;
        read_tool(node, field, context)
    })?;
    let name = path.file_stem().map_or_else(
        || "mock".to_owned(),
        |stem| stem.to_string_lossy().into_owned(),
    );
    Some(Manifest {
        name,
        version: "0.0.0".to_owned(),
        tools,
        ..Manifest::default()
    })
}

/// A schema with its keys in order.
fn in_order(node: &Node) -> Option<ToolSchema> {
    serde_json::from_str(Json::literal(node).ok()?.as_static()?).ok()
}

const OUTPUT_SCHEMA: [&str; 2] = ["outputSchema", "output_schema"];

fn read_tool(node: &Node, field: &mut Field<'_>, context: &Context<'_>) -> Option<Tool> {
    let Kind::Map(_) = &node.kind else {
        return field.wrong(node, "a tool");
    };
    let value = field.value()?;
    let Some(name) = entry(node, "name") else {
        field.report(Problem::error("a tool has no name"));
        return None;
    };
    let name = context.own_name("tool", &mut Field::new(field.reading, name))?;
    let schema = |keys: [&str; 2]| keys.iter().find_map(|key| value.get(*key)).cloned();
    let input_value = schema(INPUT_SCHEMA);
    let output_value = schema(OUTPUT_SCHEMA);
    let output = output_value
        .as_ref()
        .and_then(|schema| JsonSchema::compile_as_declared(schema).ok());
    if input_value.is_none() {
        field.report(without_input_schema(&name).at(node.span));
    }
    let json = Json::literal(node)
        .map_err(|faults| report_all(field, faults))
        .ok()?;
    Some(Tool {
        listing: json.as_static().unwrap_or_default().to_owned(),
        who: format!("the tool `{name}`"),
        description: value
            .get("description")
            .and_then(Value::as_str)
            .map(str::to_owned),
        input: input_value
            .as_ref()
            .and_then(|schema| compile(schema, &name, field)),
        input_schema: INPUT_SCHEMA
            .iter()
            .find_map(|key| in_order(entry(node, key)?)),
        cases: default_answer(&name, output_value.as_ref().zip(output.as_ref())),
        name,
        ..Tool::default()
    })
}

fn without_input_schema(tool: &str) -> Problem {
    Problem::warning(format!(
        "`{tool}` has no `inputSchema`, so clients may omit it"
    ))
    .help("write `\"inputSchema\": {\"type\": \"object\"}`")
}

/// Ignores an invalid saved schema: the server that it came from served it anyway.
fn compile(schema: &Value, tool: &str, field: &Field<'_>) -> Option<JsonSchema> {
    let fault = match JsonSchema::compile_as_declared(schema) {
        Ok(schema) => return Some(schema),
        Err(fault) => fault,
    };
    let message = format!(
        "arguments of `{tool}` are not checked because its schema cannot be read: {}",
        fault.reason
    );
    field.report(
        Problem::warning(message).at(field.span_at(&format!("/inputSchema{}", fault.pointer))),
    );
    None
}
