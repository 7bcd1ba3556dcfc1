//! Which tools did the model see, in whatever shape its provider takes them?

use crate::json::{Fields, Json, Misfit, object_of};
use crate::transcript::{ImportedTool, Transcript};

/// The tools of a list, and the servers that it names.
pub(crate) fn read_tools(tools: &[Json<'_>], transcript: &mut Transcript) -> Result<(), Misfit> {
    transcript.tools.get_or_insert_default();
    for value in tools {
        let fields = object_of(*value, "a tool")?;
        if let Some(declared) = fields
            .list("functionDeclarations")?
            .or(fields.list("function_declarations")?)
        {
            read_tools(&declared, transcript)?;
            continue;
        }
        let server = fields
            .string("server_label")
            .or_else(|| fields.string("mcp_server_name"));
        if let Some(server) = server {
            transcript.servers.insert(server.into_owned());
            continue;
        }
        let function = fields.part("function").or_else(|| fields.part("custom"));
        if let Some(tool) = tool(function.as_ref().unwrap_or(&fields), None) {
            transcript.tool(tool);
        }
    }
    Ok(())
}

/// A tool with its name, its description for the model, and its schema. A provider's own tool has
/// only a type.
pub(crate) fn tool(fields: &Fields<'_>, server: Option<&str>) -> Option<ImportedTool> {
    let name = fields.string("name").or_else(|| fields.string("type"))?;
    let schema = [
        "parameters",
        "input_schema",
        "inputSchema",
        "parametersJsonSchema",
        "parameters_json_schema",
    ];
    Some(ImportedTool {
        name: name.into_owned(),
        server: server.map(str::to_owned),
        description: fields.owned("description"),
        input_schema: schema
            .iter()
            .find_map(|key| fields.get(key))
            .map(Json::compact),
        ..ImportedTool::default()
    })
}
