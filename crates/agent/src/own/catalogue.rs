//! Which tools does the agent see, and which of them are distractors?

use crate::Distract;
use crate::at_once::at_once;
use mcptest_core::trace::{CatalogueTool, RecordedError, ToolSchema};
use mcptest_mcp::client::{Client, ServerSpec, WireError};
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// The known tools of the servers.
#[derive(Debug, Default)]
pub(super) struct Offered(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    tools: Vec<CatalogueTool>,
    /// The servers whose tools are all known, or that failed to list them.
    done: BTreeSet<String>,
}

/// A distractor, and the server whose list contains it.
#[derive(Debug)]
pub(super) struct Injected {
    pub(super) host: String,
    pub(super) tool: CatalogueTool,
}

/// A list of tools as a server sends it.
#[derive(Deserialize)]
struct ListedTools<'a> {
    #[serde(borrow)]
    tools: &'a RawValue,
    #[serde(borrow, default, rename = "nextCursor")]
    next: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ServerTool {
    name: String,
    description: Option<String>,
    #[serde(rename = "inputSchema")]
    input_schema: Option<ToolSchema>,
}

impl Offered {
    /// Lists the tools of the remaining servers, all at once. A server without an answer is evidence.
    pub(super) async fn ask_missing(&self, servers: &[ServerSpec]) -> Vec<RecordedError> {
        let missing: Vec<ServerSpec> = {
            let known = self.0.lock();
            servers
                .iter()
                .filter(|server| !known.done.contains(&server.name))
                .cloned()
                .collect()
        };
        let asking = missing
            .into_iter()
            .map(|server| async move { (ask(&server).await, server.name) });
        let mut errors = Vec::new();
        for (answer, server) in at_once(asking).await {
            let mut known = self.0.lock();
            known.done.insert(server.clone());
            match answer {
                Ok(tools) => tools.into_iter().for_each(|tool| known.add(tool)),
                Err(error) => {
                    let message =
                        format!("server {server:?}: its tools are unknown: {}", error.why());
                    errors.push(RecordedError::new("server", message));
                }
            }
        }
        errors
    }

    /// The distractors, each with the server whose list contains it: its own server, or the first
    /// without a tool of that name.
    pub(super) fn distractors(
        &self,
        distract: Option<Distract<'_>>,
        servers: &[ServerSpec],
    ) -> Vec<Injected> {
        let Some(distract) = distract else {
            return Vec::new();
        };
        let tools = &self.0.lock().tools;
        let mut injected: Vec<Injected> = Vec::new();
        for tool in distract(tools) {
            let own = servers
                .iter()
                .filter(|server| tool.server.as_deref() == Some(&*server.name));
            let mut hosts = own.chain(servers).map(|server| &server.name);
            let is_free = |host: &&String| {
                let is_offered = |known: &CatalogueTool| {
                    known.name == tool.name && known.server.as_ref() == Some(*host)
                };
                let is_injected =
                    |other: &Injected| other.tool.name == tool.name && other.host == **host;
                !tools.iter().any(is_offered) && !injected.iter().any(is_injected)
            };
            if let Some(host) = hosts.find(is_free).cloned() {
                injected.push(Injected {
                    host,
                    tool: CatalogueTool {
                        distractor: true,
                        ..tool
                    },
                });
            }
        }
        injected
    }

    /// Records the tools of a list that the agent received.
    pub(super) fn saw(&self, server: &str, result: &RawValue) {
        let Ok(listed) = serde_json::from_str::<ListedTools<'_>>(result.get()) else {
            return;
        };
        let Ok(raw) = serde_json::from_str::<Vec<&RawValue>>(listed.tools.get()) else {
            return;
        };
        let mut known = self.0.lock();
        for tool in raw
            .into_iter()
            .filter_map(|tool| serde_json::from_str::<ServerTool>(tool.get()).ok())
        {
            known.add(CatalogueTool {
                name: tool.name,
                server: Some(server.to_owned()),
                description: tool.description,
                input_schema: tool.input_schema,
                ..CatalogueTool::default()
            });
        }
        if listed.is_last() {
            known.done.insert(server.to_owned());
        }
    }

    /// All tools in the order of their servers, with the injected ones.
    pub(super) fn all(&self, servers: &[ServerSpec], injected: &[Injected]) -> Vec<CatalogueTool> {
        let mut tools = self.0.lock().tools.clone();
        let place = |tool: &CatalogueTool| {
            servers
                .iter()
                .position(|server| Some(&server.name) == tool.server.as_ref())
        };
        tools.sort_by_key(place);
        tools.extend(injected.iter().map(|injected| injected.tool.clone()));
        tools
    }
}

impl Known {
    fn add(&mut self, tool: CatalogueTool) {
        let is_same =
            |known: &CatalogueTool| known.name == tool.name && known.server == tool.server;
        if !self.tools.iter().any(is_same) {
            self.tools.push(tool);
        }
    }
}

impl ListedTools<'_> {
    /// Returns true on the last page.
    fn is_last(&self) -> bool {
        self.next.is_none_or(|next| next.get() == "null")
    }
}

async fn ask(server: &ServerSpec) -> Result<Vec<CatalogueTool>, WireError> {
    let client = Client::connect(server, None).await?;
    let listed = client.list_tools().await;
    client.close().await;
    Ok(listed?
        .tools
        .into_iter()
        .map(|tool| tool.into_catalogue(&server.name))
        .collect())
}

/// The message without the hidden tools, and with the distractors at the end of the last page;
/// otherwise unchanged. `None` if nothing changes.
pub(super) fn changed(
    text: &str,
    result: &RawValue,
    is_hidden: impl Fn(&str) -> bool,
    distractors: &[CatalogueTool],
) -> Option<String> {
    #[derive(Deserialize)]
    struct Named<'a> {
        #[serde(borrow)]
        name: Cow<'a, str>,
    }
    let listed: ListedTools<'_> = serde_json::from_str(result.get()).ok()?;
    let all: Vec<&RawValue> = serde_json::from_str(listed.tools.get()).ok()?;
    let is_shown = |tool: &&&RawValue| {
        !serde_json::from_str::<Named<'_>>(tool.get()).is_ok_and(|tool| is_hidden(&tool.name))
    };
    let shown = all
        .iter()
        .filter(is_shown)
        .map(|tool| tool.get().to_owned());
    let mut tools: Vec<String> = shown.collect();
    let has_hidden = tools.len() < all.len();
    let injected = if listed.is_last() { distractors } else { &[] };
    tools.extend(injected.iter().map(written));
    let list = listed.tools.get();
    let at = list.as_ptr() as usize - text.as_ptr() as usize;
    let (before, after) = (&text[..at], text[at + list.len()..].trim_end());
    (has_hidden || !injected.is_empty()).then(|| format!("{before}[{}]{after}", tools.join(",")))
}

fn written(tool: &CatalogueTool) -> String {
    let schema = tool
        .input_schema
        .clone()
        .unwrap_or_else(|| json!({ "type": "object" }).into());
    let mut written = json!({ "name": tool.name, "inputSchema": schema });
    if let Some(description) = &tool.description {
        written["description"] = json!(description);
    }
    written.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcptest_mcp::jsonrpc::{Body, parse};
    use serde_json::Value;

    fn injected(text: &str) -> Option<Value> {
        let distractor = CatalogueTool {
            name: "fetch_v2".to_owned(),
            ..CatalogueTool::default()
        };
        let Body::Result { result, .. } = parse(text).unwrap().body else {
            panic!("{text}")
        };
        changed(text, result, |_| false, &[distractor])
            .map(|text| serde_json::from_str(&text).unwrap())
    }

    #[test]
    fn distractors_stand_at_the_end_of_the_last_page_and_all_else_stays() {
        let text = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"fetch"} ],"ttlMs":5}}"#;
        let seen = injected(text).unwrap();
        assert_eq!(seen["result"]["tools"][0], json!({ "name": "fetch" }));
        let schema = json!({ "type": "object" });
        assert_eq!(
            seen["result"]["tools"][1],
            json!({ "name": "fetch_v2", "inputSchema": schema })
        );
        assert_eq!(
            (&seen["result"]["ttlMs"], &seen["id"]),
            (&json!(5), &json!(1))
        );
        let empty =
            injected("{\"id\":1,\"result\":{\"tools\":[ ]},\"jsonrpc\":\"2.0\"}\r\n").unwrap();
        assert_eq!(empty["result"]["tools"].as_array().unwrap().len(), 1);
        assert_eq!(
            injected(r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[],"nextCursor":"2"}}"#),
            None
        );
        assert_eq!(
            injected(r#"{"jsonrpc":"2.0","id":1,"result":{"tools":{}}}"#),
            None
        );
    }

    #[test]
    fn hidden_tools_are_taken_out_of_every_page() {
        let page = |text: &str| {
            let Body::Result { result, .. } = parse(text).unwrap().body else {
                panic!("{text}")
            };
            changed(text, result, |name| name == "fetch", &[])
        };
        let text = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"fetch"}, {"name":"look"}],"nextCursor":"2"}}"#;
        let without =
            r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"look"}],"nextCursor":"2"}}"#;
        assert_eq!(page(text).as_deref(), Some(without));
        assert_eq!(page(without), None);
    }

    #[test]
    fn a_distractor_goes_to_its_own_server_or_the_first_that_has_room_and_never_hides_a_tool() {
        let tool = |name: &str, server: &str| CatalogueTool {
            name: name.to_owned(),
            server: Some(server.to_owned()),
            ..CatalogueTool::default()
        };
        let servers = ["web", "files"].map(|name| ServerSpec::url(name, "http://127.0.0.1:1/mcp"));
        let known = Known {
            tools: vec![tool("fetch", "web")],
            ..Known::default()
        };
        let offered = Offered(Mutex::new(known));
        let distract = |offered: &[CatalogueTool]| {
            assert_eq!(offered.len(), 1);
            vec![
                tool("fetch", "web"),
                tool("fetch_v2", "elsewhere"),
                tool("read", "files"),
                tool("fetch", "web"),
            ]
        };
        let injected = offered.distractors(Some(&distract), &servers);
        let placed: Vec<_> = injected
            .iter()
            .map(|injected| {
                (
                    &*injected.host,
                    injected.tool.server.as_deref().unwrap(),
                    &*injected.tool.name,
                )
            })
            .collect();
        assert_eq!(
            placed,
            [
                ("files", "web", "fetch"),
                ("web", "elsewhere", "fetch_v2"),
                ("files", "files", "read")
            ]
        );
        assert!(injected.iter().all(|injected| injected.tool.distractor));
    }
}
