//! Which tools is the agent offered, and which of them are there to distract?

use super::call_log::CallLog;
use super::setup::Distract;
use mcptest_core::trace::{CatalogueTool, ToolSchema};
use mcptest_mcp::client::{Client, ServerSpec, WireError};
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::task::JoinSet;

/// The tools of the servers, as far as they are known.
#[derive(Debug, Default)]
pub(super) struct Offered(Mutex<Vec<CatalogueTool>>);

/// A tool that is there to distract, and the server whose list it is put into.
#[derive(Debug)]
pub(super) struct Injected {
    pub(super) host: String,
    pub(super) tool: CatalogueTool,
}

/// A list of tools as a server sends it.
#[derive(Deserialize)]
struct Listed<'a> {
    #[serde(borrow)]
    tools: &'a RawValue,
    #[serde(borrow, default, rename = "nextCursor")]
    next: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Tool {
    name: String,
    description: Option<String>,
    #[serde(rename = "inputSchema")]
    input_schema: Option<ToolSchema>,
}

impl Offered {
    /// What the servers offer: what is known already, or what they say when they are asked.
    pub(super) async fn find(
        known: Option<Vec<CatalogueTool>>,
        servers: &[ServerSpec],
        log: &CallLog,
    ) -> Self {
        let Some(known) = known else { return Self(Mutex::new(ask_all(servers, log).await)) };
        Self(Mutex::new(known.into_iter().filter(|tool| !tool.distractor).collect()))
    }

    /// The tools to inject, each with the server whose list it is put into: its own, or the first that has no tool of
    /// that name.
    pub(super) fn distractors(
        &self,
        distract: Option<Distract<'_>>,
        servers: &[ServerSpec],
    ) -> Vec<Injected> {
        let Some(distract) = distract else { return Vec::new() };
        let tools = self.0.lock();
        let mut injected: Vec<Injected> = Vec::new();
        for tool in distract(&tools) {
            let own = servers.iter().filter(|server| tool.server.as_deref() == Some(&*server.name));
            let mut hosts = own.chain(servers).map(|server| &server.name);
            let is_free = |host: &&String| {
                let is_offered =
                    |known: &CatalogueTool| known.name == tool.name && known.server.as_ref() == Some(*host);
                let is_injected = |other: &Injected| other.tool.name == tool.name && other.host == **host;
                !tools.iter().any(is_offered) && !injected.iter().any(is_injected)
            };
            if let Some(host) = hosts.find(is_free).cloned() {
                injected.push(Injected { host, tool: CatalogueTool { distractor: true, ..tool } });
            }
        }
        injected
    }

    /// Takes note of a list that the agent got: what is new in it was not there when the server was asked.
    pub(super) fn saw(&self, server: &str, result: &RawValue) {
        let Ok(listed) = serde_json::from_str::<Listed<'_>>(result.get()) else { return };
        let Ok(raw) = serde_json::from_str::<Vec<&RawValue>>(listed.tools.get()) else { return };
        let mut tools = self.0.lock();
        for tool in raw.into_iter().filter_map(|tool| serde_json::from_str::<Tool>(tool.get()).ok()) {
            let is_known =
                |known: &CatalogueTool| known.name == tool.name && known.server.as_deref() == Some(server);
            if !tools.iter().any(is_known) {
                tools.push(CatalogueTool {
                    name: tool.name,
                    server: Some(server.to_owned()),
                    description: tool.description,
                    input_schema: tool.input_schema,
                    ..CatalogueTool::default()
                });
            }
        }
    }

    /// All of them, with those that were injected.
    pub(super) fn all(&self, injected: &[Injected]) -> Vec<CatalogueTool> {
        self.0.lock().iter().chain(injected.iter().map(|injected| &injected.tool)).cloned().collect()
    }
}

/// Asks every server at once; one that does not answer is evidence.
async fn ask_all(servers: &[ServerSpec], log: &CallLog) -> Vec<CatalogueTool> {
    let mut asking = JoinSet::new();
    for (index, server) in servers.iter().cloned().enumerate() {
        asking.spawn(async move { (index, ask(&server).await) });
    }
    let mut answers: Vec<_> = asking.join_all().await;
    answers.sort_by_key(|(index, _)| *index);
    let mut all = Vec::new();
    for (index, answer) in answers {
        match answer {
            Ok(tools) => all.extend(tools),
            Err(error) => {
                let server = &servers[index].name;
                let said = error.to_string();
                let what = said.strip_prefix(&format!("server {server:?}: ")).unwrap_or(&said);
                log.misbehaved(server, &format!("its tools are not known: {what}"));
            }
        }
    }
    all
}

async fn ask(server: &ServerSpec) -> Result<Vec<CatalogueTool>, WireError> {
    let client = Client::connect(server, None).await?;
    let listed = client.list_tools().await;
    client.close().await;
    let tools = listed?.tools.into_iter().map(|tool| CatalogueTool {
        name: tool.name,
        server: Some(server.name.clone()),
        description: tool.description,
        input_schema: ToolSchema::read(&tool.input_schema),
        ..CatalogueTool::default()
    });
    Ok(tools.collect())
}

/// The message with the tools at the end of the list, where it is the last of its pages; all else as it was.
pub(super) fn with_distractors(
    text: &str,
    result: &RawValue,
    distractors: &[CatalogueTool],
) -> Option<String> {
    let listed: Listed<'_> = serde_json::from_str(result.get()).ok()?;
    let is_last = listed.next.is_none_or(|next| next.get() == "null");
    let list = listed.tools.get();
    if !is_last || distractors.is_empty() || !list.starts_with('[') {
        return None;
    }
    let at = list.as_ptr() as usize + list.len() - 1 - text.as_ptr() as usize;
    let is_empty = list[1..list.len() - 1].trim().is_empty();
    let written: Vec<String> = distractors.iter().map(written).collect();
    let comma = if is_empty { "" } else { "," };
    Some(format!("{}{comma}{}{}", &text[..at], written.join(","), text[at..].trim_end()))
}

fn written(tool: &CatalogueTool) -> String {
    let schema = tool.input_schema.clone().unwrap_or_else(|| json!({ "type": "object" }).into());
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
        let distractor = CatalogueTool { name: "fetch_v2".to_owned(), ..CatalogueTool::default() };
        let Body::Result { result, .. } = parse(text).unwrap().body else { panic!("{text}") };
        with_distractors(text, result, &[distractor]).map(|text| serde_json::from_str(&text).unwrap())
    }

    #[test]
    fn distractors_stand_at_the_end_of_the_last_page_and_all_else_stays() {
        let text = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"fetch"} ],"ttlMs":5}}"#;
        let seen = injected(text).unwrap();
        assert_eq!(seen["result"]["tools"][0], json!({ "name": "fetch" }));
        let schema = json!({ "type": "object" });
        assert_eq!(seen["result"]["tools"][1], json!({ "name": "fetch_v2", "inputSchema": schema }));
        assert_eq!((&seen["result"]["ttlMs"], &seen["id"]), (&json!(5), &json!(1)));
        let empty = injected("{\"id\":1,\"result\":{\"tools\":[ ]},\"jsonrpc\":\"2.0\"}\r\n").unwrap();
        assert_eq!(empty["result"]["tools"].as_array().unwrap().len(), 1);
        assert_eq!(injected(r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[],"nextCursor":"2"}}"#), None);
        assert_eq!(injected(r#"{"jsonrpc":"2.0","id":1,"result":{"tools":{}}}"#), None);
    }

    #[test]
    fn a_distractor_goes_to_its_own_server_or_the_first_that_has_room_and_never_hides_a_tool() {
        let tool = |name: &str, server: &str| CatalogueTool {
            name: name.to_owned(),
            server: Some(server.to_owned()),
            ..CatalogueTool::default()
        };
        let offered = Offered(Mutex::new(vec![tool("fetch", "web")]));
        let servers = ["web", "files"].map(|name| ServerSpec::url(name, "http://127.0.0.1:1/mcp"));
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
            .map(|injected| (&*injected.host, injected.tool.server.as_deref().unwrap(), &*injected.tool.name))
            .collect();
        assert_eq!(
            placed,
            [("files", "web", "fetch"), ("web", "elsewhere", "fetch_v2"), ("files", "files", "read")]
        );
        assert!(injected.iter().all(|injected| injected.tool.distractor));
    }
}
