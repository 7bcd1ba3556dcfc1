//! How are all tools of a server listed, over all pages? One bad tool is one complaint.

use super::link::Asking;
use super::param_headers::{self, ParamHeader};
use super::{CallFailure, Client, Misbehaviour, Observed, Tool, ToolFlaw, Tools, WireError};
use crate::era::Era;
use crate::jsonrpc::write_text;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};
use thiserror::Error;

const MAX_PAGES: usize = 1000;
const ASKED: &str = "tools/list";

pub(super) type ParamHeaders = BTreeMap<String, Vec<ParamHeader>>;

/// The tools of a server.
pub(super) struct ListedTools {
    pub(super) tools: Tools,
    /// The arguments that are repeated as headers, by tool.
    pub(super) param_headers: ParamHeaders,
}

/// Reads the list, page by page.
pub(super) async fn list(client: &Client) -> Result<ListedTools, WireError> {
    let mut list = List::default();
    let mut cursor: Option<String> = None;
    let mut cursors = BTreeSet::new();
    let bad = |why| client.link.error(ASKED, why, Vec::new());
    for pages in 1..=MAX_PAGES {
        let result = page(client, cursor.as_deref()).await?;
        cursor = list.add_page(&result, client.info.era).map_err(|fault| {
            let why = fault.to_string();
            bad(Misbehaviour::BadResult { why })
        })?;
        match &cursor {
            None => {
                return Ok(ListedTools {
                    tools: list.tools,
                    param_headers: list.param_headers,
                });
            }
            Some(cursor) if !cursors.insert(cursor.clone()) => {
                return Err(bad(Misbehaviour::RepeatingCursor {
                    cursor: cursor.clone(),
                    pages,
                }));
            }
            Some(_) => {}
        }
    }
    Err(bad(Misbehaviour::TooManyPages { pages: MAX_PAGES }))
}

async fn page(client: &Client, cursor: Option<&str>) -> Result<Box<RawValue>, WireError> {
    let mut params = client.params();
    if let Some(cursor) = cursor {
        params = params.with("cursor", &write_text(cursor));
    }
    let deadline = client.deadline();
    let asking = Asking {
        method: ASKED,
        asked: ASKED,
        params: &params,
        headers: &[],
        deadline,
    };
    client
        .link
        .ask(asking)
        .await
        .outcome
        .map_err(|failure| match failure {
            CallFailure::Wire(error) => error,
            CallFailure::Rpc(error) => {
                client
                    .link
                    .error(ASKED, Misbehaviour::Refused { error }, Vec::new())
            }
        })
}

/// A problem with a page of the list. Its text follows "the answer".
#[derive(Debug, Clone, PartialEq, Eq, Error)]
enum BadList {
    #[error("is not an object with `tools`")]
    NoObject,
    #[error("has no `tools`")]
    NoTools,
    #[error("has a `tools` that is not a list")]
    ToolsAreNoList,
    #[error("has a `nextCursor` that is not a string: {0}")]
    BadCursor(String),
}

#[derive(Default)]
struct List {
    tools: Tools,
    names: BTreeSet<String>,
    count: usize,
    param_headers: ParamHeaders,
}

impl List {
    /// Adds a page, and returns the cursor of the next.
    fn add_page(&mut self, result: &RawValue, era: Era) -> Result<Option<String>, BadList> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Page<'a> {
            #[serde(borrow)]
            tools: Option<&'a RawValue>,
            #[serde(borrow)]
            next_cursor: Option<&'a RawValue>,
        }
        let page: Page<'_> = serde_json::from_str(result.get()).map_err(|_| BadList::NoObject)?;
        let tools = page.tools.ok_or(BadList::NoTools)?;
        let tools: Vec<&RawValue> =
            serde_json::from_str(tools.get()).map_err(|_| BadList::ToolsAreNoList)?;
        for raw in tools {
            self.count += 1;
            if let Err(observed) = self.add(raw, era) {
                self.tools.complaints.push(observed);
            }
        }
        match page.next_cursor {
            None => Ok(None),
            Some(cursor) => serde_json::from_str(cursor.get())
                .map_err(|_| BadList::BadCursor(cursor.get().to_owned())),
        }
    }

    fn add(&mut self, raw: &RawValue, era: Era) -> Result<(), Observed> {
        let place = format!("number {}", self.count);
        let members: Members = serde_json::from_str(raw.get())
            .map_err(|_| unusable(place.clone(), "is not an object"))?;
        let name = text_of(&members, "name")
            .filter(|name| !name.is_empty())
            .ok_or_else(|| unusable(place, "has no `name`"))?;
        let input_schema = members
            .get("inputSchema")
            .ok_or_else(|| unusable(quoted(&name), "has no `inputSchema`"))?;
        let schema = read_schema(&name, input_schema)?;
        if self.names.contains(&name) {
            return Err(Observed::BadTool {
                tool: quoted(&name),
                flaw: ToolFlaw::Twice,
                why: "is listed twice; mcptest omits it".to_owned(),
            });
        }
        if era == Era::Modern {
            let headers = param_headers::read(&schema)
                .map_err(|why| unusable(quoted(&name), &format!("breaks a rule: {why}")))?;
            self.param_headers.insert(name.clone(), headers);
        }
        if schema.get("type").and_then(Value::as_str) != Some("object") {
            self.tools.complaints.push(Observed::BadTool {
                tool: quoted(&name),
                flaw: ToolFlaw::InputType,
                why: "has an `inputSchema` whose `type` is not \"object\"".to_owned(),
            });
        }
        self.tools.tools.push(Tool {
            title: text_of(&members, "title"),
            description: text_of(&members, "description"),
            input_schema: input_schema.clone(),
            output_schema: members.get("outputSchema").cloned(),
            raw: raw.to_owned(),
            name: name.clone(),
        });
        self.names.insert(name);
        Ok(())
    }
}

type Members = BTreeMap<String, Box<RawValue>>;

fn text_of(members: &Members, key: &str) -> Option<String> {
    members
        .get(key)
        .and_then(|value| serde_json::from_str(value.get()).ok())
}

fn read_schema(name: &str, raw: &RawValue) -> Result<Value, Observed> {
    let schema: Value = serde_json::from_str(raw.get()).map_err(|error| {
        let why = format!("has an `inputSchema` that cannot be read: {error}");
        unusable(quoted(name), &why)
    })?;
    if schema.is_object() {
        return Ok(schema);
    }
    let why = "has an `inputSchema` that is not an object";
    Err(unusable(quoted(name), why))
}

fn quoted(name: &str) -> String {
    format!("{name:?}")
}

/// The complaint about a tool that cannot be used.
fn unusable(tool: String, why: &str) -> Observed {
    Observed::BadTool {
        tool,
        flaw: ToolFlaw::Unusable,
        why: format!("{why}; mcptest omits it"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: &str) -> (List, Result<Option<String>, BadList>) {
        let mut list = List::default();
        let raw = RawValue::from_string(text.to_owned()).unwrap();
        let cursor = list.add_page(&raw, Era::Modern);
        (list, cursor)
    }

    #[test]
    fn one_bad_tool_is_one_complaint_and_unknown_fields_are_kept() {
        let (list, cursor) = page(
            r#"{"tools": [
                {"name": "good", "inputSchema": {"type": "object"}, "x-own": [1]},
                {"name": "bare"}, 7, {"inputSchema": {}},
                {"name": "good", "inputSchema": {"type": "object"}},
                {"name": "text", "inputSchema": "object"}
            ], "nextCursor": "more"}"#,
        );
        assert_eq!(cursor, Ok(Some("more".to_owned())));
        assert_eq!(list.tools.tools.len(), 1);
        assert!(list.tools.tools[0].raw.get().contains("x-own"));
        let complaints: Vec<String> = list
            .tools
            .complaints
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(
            complaints,
            [
                "tool \"bare\": has no `inputSchema`; mcptest omits it",
                "tool number 3: is not an object; mcptest omits it",
                "tool number 4: has no `name`; mcptest omits it",
                "tool \"good\": is listed twice; mcptest omits it",
                "tool \"text\": has an `inputSchema` that is not an object; mcptest omits it",
            ]
        );
    }

    #[test]
    fn a_list_without_tools_is_refused() {
        assert_eq!(page(r#"{"tool": []}"#).1, Err(BadList::NoTools));
        assert_eq!(page(r#"{"tools": {}}"#).1, Err(BadList::ToolsAreNoList));
        assert_eq!(page(r#"{"tools": [], "nextCursor": null}"#).1, Ok(None));
    }
}
