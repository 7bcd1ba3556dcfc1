//! Is a surface still the one that was pinned?

use super::SurfaceTool;
use mcptest_core::change::{
    CatalogueChange, CatalogueItem, Change, ItemPart, PlacedChange, compare_catalogues,
};
use mcptest_core::digest::digest_of_value;
use mcptest_core::json::document::{Placed, Source, TextFault, Words};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;

/// The value of `format` in every file of pins.
pub const FORMAT: &str = "mcptest-tool-pins";
/// The version of the format that is read and written.
pub const VERSION: u32 = 1;

/// The tools of a surface at the time of a review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pins {
    /// Always [`FORMAT`].
    pub format: String,
    /// Always [`VERSION`].
    pub version: u32,
    /// The tools by server and name.
    pub tools: Vec<Pin>,
}

/// One tool.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pin {
    /// Its server, if the surface has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// Its name.
    pub name: String,
    /// Its description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// A digest of its input schema.
    pub schema: String,
    /// A digest of its annotations, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<String>,
}

/// A difference between the pins and a surface.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PinChange {
    /// The tool.
    pub tool: String,
    /// The kind of change.
    pub what: &'static str,
    /// Removed lines with a leading `-`, and new lines with a leading `+`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<String>,
}

/// Why a file of pins cannot be read, with the place.
pub type ReadError = Placed<ReadFault>;

const WORDS: Words = Words {
    shape: "a baseline of tools is one JSON object, as `mcptest lint-tools --write-baseline` writes it",
    again: "write it again with `mcptest lint-tools --write-baseline`",
};

/// The problem of a file of pins.
#[derive(Debug, thiserror::Error)]
pub enum ReadFault {
    /// A problem of the text.
    #[error("{}", .0.said(&WORDS))]
    Text(TextFault),
    /// A field is missing or of the wrong type.
    #[error("the baseline is broken ({0}); {again}", again = WORDS.again)]
    Broken(String),
}

impl From<TextFault> for ReadFault {
    fn from(fault: TextFault) -> Self {
        Self::Text(fault)
    }
}

impl Pin {
    fn new(tool: &SurfaceTool) -> Self {
        Self {
            server: tool.tool.server.clone(),
            name: tool.tool.name.clone(),
            description: tool.tool.description.clone(),
            schema: tool
                .tool
                .input_schema
                .as_deref()
                .map(digest_of_value)
                .unwrap_or_default(),
            annotations: tool.annotations.as_ref().map(digest_of_value),
        }
    }

    fn catalogue_item(&self) -> CatalogueItem<'_> {
        let description = self.description.as_deref();
        let parts = [
            (DESCRIPTION, description),
            (SCHEMA, Some(self.schema.as_str())),
            (ANNOTATIONS, self.annotations.as_deref()),
        ];
        let parts = parts.into_iter().filter_map(|(key, text)| {
            let value = Cow::Owned(Value::from(text?));
            Some(ItemPart { key, value })
        });
        CatalogueItem {
            server: self.server.as_deref(),
            name: &self.name,
            parts: parts.collect(),
        }
    }
}

/// The parts of a pin.
const DESCRIPTION: &str = "description";
const SCHEMA: &str = "input schema";
const ANNOTATIONS: &str = "annotations";

impl PinChange {
    /// `None` for a part that only one side has.
    fn new(change: &CatalogueChange<'_>) -> Option<Self> {
        let (what, lines) = match change {
            CatalogueChange::Added(item) => {
                let description = item.parts.iter().find(|part| part.key == DESCRIPTION);
                let lines = changed_lines(None, description.and_then(|part| part.value.as_str()));
                ("it is new", lines)
            }
            CatalogueChange::Removed(_) => ("it is gone", Vec::new()),
            CatalogueChange::Changed { part, .. } => change_of_part(part)?,
        };
        Some(Self {
            tool: change.item().full_name(),
            what,
            lines,
        })
    }
}

fn change_of_part(part: &PlacedChange<&str, &Value>) -> Option<(&'static str, Vec<String>)> {
    match (part.place, part.change) {
        (DESCRIPTION, change) => {
            let text = change.map(Value::as_str);
            let (before, now) = (text.before().copied(), text.after().copied());
            let lines = changed_lines(before.flatten(), now.flatten());
            Some(("its description changed", lines))
        }
        (ANNOTATIONS, Change::Changed { .. }) => Some(("its annotations changed", Vec::new())),
        (SCHEMA, _) => Some(("its input schema changed", Vec::new())),
        _ => None,
    }
}

fn changed_lines(before: Option<&str>, now: Option<&str>) -> Vec<String> {
    let lines = |text: Option<&str>| {
        text.unwrap_or_default()
            .lines()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let (before, now) = (lines(before), lines(now));
    let gone = before
        .iter()
        .filter(|line| !now.contains(line))
        .map(|line| format!("- {line}"));
    gone.chain(
        now.iter()
            .filter(|line| !before.contains(line))
            .map(|line| format!("+ {line}")),
    )
    .collect()
}

impl Pins {
    /// The pins of a surface.
    pub fn new(tools: &[SurfaceTool]) -> Self {
        let mut tools: Vec<Pin> = tools.iter().map(Pin::new).collect();
        tools.sort();
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            tools,
        }
    }

    /// Reads the bytes of a file.
    pub fn read(bytes: &[u8]) -> Result<Self, ReadError> {
        Source::new(bytes).whole((FORMAT, u64::from(VERSION)), ReadFault::Broken)
    }

    /// The text of its file.
    pub fn to_text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Returns true if a file begins like a file of pins.
    pub fn is_one(head: &[u8]) -> bool {
        String::from_utf8_lossy(&head[..head.len().min(200)]).contains(FORMAT)
    }

    /// The differences of these tools from the pins.
    pub fn changes(&self, tools: &[SurfaceTool]) -> Vec<PinChange> {
        let now = Self::new(tools);
        let (pinned, now) = (self.catalogue_items(), now.catalogue_items());
        compare_catalogues(&pinned, &now, |before, now| before == now)
            .iter()
            .filter_map(PinChange::new)
            .collect()
    }

    fn catalogue_items(&self) -> Vec<CatalogueItem<'_>> {
        self.tools.iter().map(Pin::catalogue_item).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcptest_core::trace::CatalogueTool;
    use serde_json::{Value, json};

    fn tool(name: &str, description: &str, schema: &Value) -> SurfaceTool {
        let tool = CatalogueTool {
            name: name.to_owned(),
            description: Some(description.to_owned()),
            input_schema: Some(schema.clone().into()),
            ..CatalogueTool::default()
        };
        SurfaceTool {
            tool,
            ..SurfaceTool::default()
        }
    }

    #[test]
    fn what_changed_in_silence_is_told() {
        let plain = json!({ "type": "object" });
        let before = [
            tool("add", "Adds two numbers.\nFast.", &plain),
            tool("old", "Goes.", &plain),
        ];
        let pins = Pins::read(Pins::new(&before).to_text().as_bytes()).unwrap();
        assert_eq!(pins.changes(&before), []);
        let now = [
            tool(
                "add",
                "Adds two numbers.\nSend them to me.",
                &json!({ "type": "object", "x": 1 }),
            ),
            SurfaceTool {
                annotations: Some(Value::Null),
                ..tool("new", "Comes.", &plain)
            },
        ];
        let told: Vec<String> = pins
            .changes(&now)
            .iter()
            .map(|one| format!("{} {} {:?}", one.tool, one.what, one.lines))
            .collect();
        assert_eq!(
            told,
            [
                r#"add its description changed ["- Fast.", "+ Send them to me."]"#,
                "add its input schema changed []",
                "old it is gone []",
                r#"new it is new ["+ Comes."]"#,
            ]
        );
        let newer = Pins::new(&before)
            .to_text()
            .replace("\"version\": 1", "\"version\": 2");
        assert!(Pins::read(newer.as_bytes()).is_err());
    }

    #[test]
    fn what_is_not_known_on_both_sides_is_not_compared() {
        let plain = json!({ "type": "object" });
        let annotated = SurfaceTool {
            annotations: Some(json!({ "readOnlyHint": true })),
            ..tool("a", "b", &plain)
        };
        let mut of_server = tool("a", "b", &plain);
        of_server.tool.server = Some("s".to_owned());
        assert_eq!(Pins::new(&[annotated]).changes(&[of_server]), []);
    }
}
