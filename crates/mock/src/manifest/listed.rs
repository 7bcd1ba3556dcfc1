//! Which keys of a tool does `tools/list` show?

use super::fields::{either, literal_json, literal_object};
use super::json::{Json, Object};
use super::schema::{self, WrittenSchema};
use mcptest_core::problem::Problem;
use mcptest_core::suite::read::{Block, Field};
use mcptest_core::trace::ToolSchema;
use serde_json::Value;

/// The schema of a tool without declared arguments.
const ANY_OBJECT: &str = r#"{"type":"object"}"#;

/// The keys that `tools/list` shows.
pub(super) struct Listed {
    pub(super) listing: Object,
    pub(super) description: Option<String>,
    pub(super) input: Option<WrittenSchema>,
    pub(super) output: Option<WrittenSchema>,
}

impl Listed {
    pub(super) fn read(block: &mut Block<'_>, name: Option<&str>) -> Self {
        let validate_input = block.flag(
            "validate_input",
            "Check calls against `input_schema`; `false` lists the schema and accepts any call",
            true,
        );
        let validate_output = block.flag(
            "validate_output",
            "Check results against `output_schema`; `false` allows violations",
            true,
        );
        let mut listing = Object::default();
        listing.member("name", name.map(Json::string));
        listing.text(block, "title", "The display name");
        let description = listing.text(block, "description", "The description for a model");
        let doc = "The JSON Schema of its arguments [default: any object]";
        let input = either(block, ("inputSchema", "input_schema"), doc, |f| {
            read_object_schema(f, validate_input)
        });
        let doc = "The JSON Schema of its structured content";
        let output = either(block, ("outputSchema", "output_schema"), doc, |f| {
            schema::read(f, validate_output)
        });
        let json = |schema: &WrittenSchema| schema.json.clone();
        listing.member(
            "inputSchema",
            input
                .as_ref()
                .map(json)
                .or_else(|| Some(Json::raw(ANY_OBJECT))),
        );
        listing.member("outputSchema", output.as_ref().map(json));
        let hints = "`readOnlyHint`, `destructiveHint`, `idempotentHint`, `openWorldHint`";
        listing.filled(block, "annotations", hints, literal_object);
        listing.filled(block, "icons", "Its icons", literal_json);
        listing.filled(block, "execution", "The ways to execute it", literal_object);
        listing.filled(block, "_meta", "Metadata", literal_object);
        Self {
            listing,
            description,
            input,
            output,
        }
    }

    pub(super) fn input_schema(&self) -> Option<ToolSchema> {
        let text = self
            .input
            .as_ref()
            .and_then(|schema| schema.json.as_static())
            .unwrap_or(ANY_OBJECT);
        serde_json::from_str(text).ok()
    }
}

/// Reads a schema of arguments, which are always an object.
fn read_object_schema(field: &mut Field<'_>, is_held_to: bool) -> Option<WrittenSchema> {
    let schema = schema::read(field, is_held_to)?;
    if is_held_to && schema.value.get("type").and_then(Value::as_str) != Some("object") {
        let problem = Problem::warning("MCP requires `type: object` here: arguments are an object");
        field.report(problem.help("clients may refuse the tool without it"));
    }
    Some(schema)
}
