//! All tools of a server, over all pages; one bad tool is one complaint.

use super::link::Asking;
use super::param_headers::{self, ParamHeader};
use super::params::Params;
use super::{CallFailure, Client, Misbehaviour, Observed, Tool, ToolFlaw, Tools, WireError};
use crate::era::Era;
use crate::jsonrpc::write_text;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};

const MAX_PAGES: usize = 1000;
const ASKED: &str = "tools/list";

type ParamHeaders = BTreeMap<String, Vec<ParamHeader>>;

/// The tools, and which of their arguments are repeated as headers.
pub(super) async fn list(client: &Client) -> Result<(Tools, ParamHeaders), WireError> {
    let mut list = List::default();
    let mut cursor: Option<String> = None;
    let mut cursors = BTreeSet::new();
    let bad = |why| client.link.error(ASKED, why, Vec::new());
    for pages in 1..=MAX_PAGES {
        let result = page(client, cursor.as_deref()).await?;
        cursor = list
            .take(&result, client.info.era)
            .map_err(|why| bad(Misbehaviour::BadResult(why)))?;
        match &cursor {
            None => return Ok((list.tools, list.param_headers)),
            Some(cursor) if !cursors.insert(cursor.clone()) => {
                return Err(bad(Misbehaviour::RepeatingCursor {
                    cursor: cursor.clone(),
                    pages,
                }));
            }
            Some(_) => {}
        }
    }
    Err(bad(Misbehaviour::TooManyPages(MAX_PAGES)))
}

async fn page(client: &Client, cursor: Option<&str>) -> Result<Box<RawValue>, WireError> {
    let mut params = Params::new(client.info.era);
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
                    .error(ASKED, Misbehaviour::Refused(error), Vec::new())
            }
        })
}

#[derive(Default)]
struct List {
    tools: Tools,
    names: BTreeSet<String>,
    count: usize,
    param_headers: ParamHeaders,
}

impl List {
    /// Takes in a page, and gives the cursor of the next.
    fn take(&mut self, result: &RawValue, era: Era) -> Result<Option<String>, String> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Page<'a> {
            #[serde(borrow)]
            tools: Option<&'a RawValue>,
            #[serde(borrow)]
            next_cursor: Option<&'a RawValue>,
        }
        let page: Page<'_> = serde_json::from_str(result.get())
            .map_err(|_| "is not an object with `tools`".to_owned())?;
        let tools = page.tools.ok_or("has no `tools`")?;
        let tools: Vec<&RawValue> = serde_json::from_str(tools.get())
            .map_err(|_| "has a `tools` that is not a list".to_owned())?;
        for raw in tools {
            self.count += 1;
            if let Err(observed) = self.add(raw, era) {
                self.tools.complaints.push(observed);
            }
        }
        match page.next_cursor {
            None => Ok(None),
            Some(cursor) => serde_json::from_str(cursor.get())
                .map_err(|_| format!("has a `nextCursor` that is not a string: {}", cursor.get())),
        }
    }

    fn add(&mut self, raw: &RawValue, era: Era) -> Result<(), Observed> {
        let complain = |tool: String, why: String| Observed::BadTool {
            tool,
            flaw: ToolFlaw::Unusable,
            why,
        };
        let place = format!("number {}", self.count);
        let members: BTreeMap<String, Box<RawValue>> = serde_json::from_str(raw.get())
            .map_err(|_| complain(place.clone(), "is not an object; it is left out".to_owned()))?;
        let text = |key: &str| {
            members
                .get(key)
                .and_then(|value| serde_json::from_str::<String>(value.get()).ok())
        };
        let name = text("name").filter(|name| !name.is_empty());
        let name =
            name.ok_or_else(|| complain(place, "has no `name`; it is left out".to_owned()))?;
        let wrong = |why: &str| complain(format!("{name:?}"), format!("{why}; it is left out"));
        let input_schema = members
            .get("inputSchema")
            .ok_or_else(|| wrong("has no `inputSchema`"))?;
        let schema: Value = serde_json::from_str(input_schema.get()).map_err(|error| {
            wrong(&format!(
                "has an `inputSchema` that cannot be read: {error}"
            ))
        })?;
        if !schema.is_object() {
            return Err(wrong("has an `inputSchema` that is not an object"));
        }
        if self.names.contains(&name) {
            let why = "is listed twice; it is left out".to_owned();
            return Err(Observed::BadTool {
                tool: format!("{name:?}"),
                flaw: ToolFlaw::Twice,
                why,
            });
        }
        if era == Era::Modern {
            let headers = param_headers::read(&schema)
                .map_err(|why| wrong(&format!("breaks a rule: {why}")))?;
            self.param_headers.insert(name.clone(), headers);
        }
        if schema.get("type").and_then(Value::as_str) != Some("object") {
            let why = "has an `inputSchema` whose `type` is not \"object\"".to_owned();
            let flaw = ToolFlaw::InputType;
            self.tools.complaints.push(Observed::BadTool {
                tool: format!("{name:?}"),
                flaw,
                why,
            });
        }
        self.tools.tools.push(Tool {
            title: text("title"),
            description: text("description"),
            input_schema: input_schema.clone(),
            output_schema: members.get("outputSchema").cloned(),
            raw: raw.to_owned(),
            name: name.clone(),
        });
        self.names.insert(name);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(text: &str) -> (List, Result<Option<String>, String>) {
        let mut list = List::default();
        let raw = RawValue::from_string(text.to_owned()).unwrap();
        let cursor = list.take(&raw, Era::Modern);
        (list, cursor)
    }

    #[test]
    fn one_bad_tool_is_one_complaint_and_unknown_fields_are_kept() {
        let (list, cursor) = take(
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
                "tool \"bare\": has no `inputSchema`; it is left out",
                "tool number 3: is not an object; it is left out",
                "tool number 4: has no `name`; it is left out",
                "tool \"good\": is listed twice; it is left out",
                "tool \"text\": has an `inputSchema` that is not an object; it is left out",
            ]
        );
    }

    #[test]
    fn a_list_without_tools_is_refused() {
        assert_eq!(take(r#"{"tool": []}"#).1, Err("has no `tools`".to_owned()));
        assert_eq!(
            take(r#"{"tools": {}}"#).1,
            Err("has a `tools` that is not a list".to_owned())
        );
        assert_eq!(take(r#"{"tools": [], "nextCursor": null}"#).1, Ok(None));
    }
}
