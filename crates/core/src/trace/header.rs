//! Which agent, model, prompt and tools was a run recorded with?

use super::ToolSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The first line of a cassette.
///
/// ```
/// use mcptest_core::Header;
///
/// let header: Header = Header::new("forecast");
/// assert_eq!((header.agent.as_str(), header.version), ("forecast", Header::VERSION));
/// assert!(header.fingerprint.is_none()); // mcptest pins it when it writes the cassette
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Header<Schema = ToolSchema> {
    /// Always `mcptest-cassette`.
    pub format: String,
    /// The format's version.
    pub version: u32,
    /// The agent's name in its suite.
    pub agent: String,
    /// The requested model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The user's messages: one prompt, or the scripted turns in order.
    #[serde(default)]
    pub prompt: Vec<String>,
    /// The system prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// The sampling parameters and limits that shape a run.
    #[serde(default)]
    pub parameters: BTreeMap<String, Value>,
    /// Environment variables in the prompts that were set and are not secret, with a digest of their values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, String>,
    /// The files of the user's own agent, as the suite names them, each with a digest.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
    /// The other conditions of a run, by their keys in the suite: the provider, injected faults,
    /// `setup` and `teardown`. `None` if the recording does not have them, for example from an
    /// older version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conditions: Option<BTreeMap<String, Value>>,
    /// The agent's servers, as entries of the suite with environment values as `${NAME}`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub servers: BTreeMap<String, Map<String, Value>>,
    /// The tools that the model saw; `None` if the recording lacks them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub catalogue: Option<Vec<CatalogueTool<Schema>>>,
    /// Tools that the model was not offered because its provider would refuse them, as
    /// `server.tool`, with the reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub left_out: BTreeMap<String, String>,
    /// The instructions of each server. `None` if the recording does not contain them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<BTreeMap<String, String>>,
    /// True if each run has a seal: a run without one was edited.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub seals: bool,
    /// The digest of all fields above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
}

impl Header {
    /// The value of `format` in every cassette.
    pub const FORMAT: &'static str = "mcptest-cassette";
    /// The version that is written, and the newest that can be read.
    pub const VERSION: u32 = 1;
}

impl<Schema: Default> Header<Schema> {
    /// The header of an agent's cassette in the current version.
    pub fn new(agent: impl Into<String>) -> Self {
        let (format, version) = (Header::FORMAT.to_owned(), Header::VERSION);
        Self {
            format,
            version,
            agent: agent.into(),
            ..Self::default()
        }
    }
}

/// One tool of the catalogue.
///
/// ```
/// use mcptest_core::CatalogueTool;
///
/// let text = r#"{"name": "get_weather", "server": "weather"}"#;
/// let tool: CatalogueTool = serde_json::from_str(text)?;
/// assert_eq!(tool.name, "get_weather");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CatalogueTool<Schema = ToolSchema> {
    /// The tool's name, without a server prefix.
    pub name: String,
    /// The server that offers it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The description for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The JSON Schema of its arguments, verbatim.
    #[serde(
        default,
        alias = "inputSchema",
        skip_serializing_if = "Option::is_none"
    )]
    pub input_schema: Option<Schema>,
    /// True if it was injected as a distractor.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub distractor: bool,
    /// The parts of its schema that the model's provider refuses, and their replacements.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mended: Vec<String>,
}

/// A tool as `server.tool`, or its bare name if the server is unknown.
pub fn full_name(server: Option<&str>, tool: &str) -> String {
    server.map_or_else(|| tool.to_owned(), |server| format!("{server}.{tool}"))
}

impl<Schema> CatalogueTool<Schema> {
    /// The tool as `server.tool`.
    pub fn full_name(&self) -> String {
        full_name(self.server.as_deref(), &self.name)
    }
}
