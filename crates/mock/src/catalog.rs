//! What does a server offer at the moment, from a manifest with its state or from a tape, and with
//! which faults?

use super::job::{Answerer, Mock};
use super::render::Dressing;
use super::tape::TapeSource;
use crate::manifest::{Cache, InWorld, Manifest, Resource, State};
use mcptest_mcp::fault::{Injector, ScopedFault};
use mcptest_mcp::jsonrpc::{self, RpcError, RpcResult, code};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// One version of the offered items; a reload makes another.
#[derive(Debug)]
pub(super) struct Catalog {
    pub(super) source: Source,
    pub(super) identity: Identity,
    pub(super) dressing: Dressing,
    pub(super) injector: Injector,
    pub(super) lists: HashMap<&'static str, Entries>,
    /// By tool: the arguments that are repeated in HTTP headers, with the headers' names.
    pub(super) headers: HashMap<String, Vec<RepeatedArgument>>,
}

/// An argument that is repeated in a header.
#[derive(Debug)]
pub(super) struct RepeatedArgument {
    pub(super) argument: String,
    pub(super) header: String,
}

/// The source of answers.
#[derive(Debug)]
pub(super) enum Source {
    Manifest(Arc<Mock>),
    Tape(TapeSource),
}

/// The handshake as JSON text.
#[derive(Debug, Clone)]
pub(super) struct Identity {
    pub(super) info: String,
    pub(super) capabilities: String,
    pub(super) instructions: Option<String>,
}

/// One list: as one text, or by page.
#[derive(Debug)]
pub(super) struct Entries {
    key: &'static str,
    listings: Vec<String>,
    page_size: Option<usize>,
    whole: String,
}

impl Catalog {
    pub(super) fn of_manifest(
        manifest: Manifest,
        faults: &[ScopedFault],
        in_world: Option<InWorld>,
        answerer: Option<Answerer>,
    ) -> Self {
        let identity = identity(&manifest);
        let injector = injector(&manifest, faults);
        let headers = manifest
            .tools
            .iter()
            .map(|tool| (tool.name.clone(), repeated_arguments(&tool.listing)))
            .filter(|(_, arguments)| !arguments.is_empty())
            .collect();
        let dressing = Dressing::new(&identity.info, manifest.cache);
        let lists = lists(&manifest);
        let state = State::new(&manifest, in_world);
        let source = Source::Manifest(Arc::new(Mock {
            manifest,
            state,
            answerer,
        }));
        Self {
            source,
            identity,
            dressing,
            injector,
            lists,
            headers,
        }
    }

    pub(super) fn of_tape(tape: TapeSource, faults: &[ScopedFault]) -> Self {
        let identity = tape.identity.clone();
        Self {
            dressing: Dressing::new(&identity.info, Cache::default()),
            identity,
            injector: with_faults(Injector::default(), faults),
            source: Source::Tape(tape),
            lists: HashMap::new(),
            headers: HashMap::new(),
        }
    }
}

fn with_faults(injector: Injector, faults: &[ScopedFault]) -> Injector {
    faults
        .iter()
        .fold(injector, |injector, fault| injector.with(*fault))
}

fn injector(manifest: &Manifest, faults: &[ScopedFault]) -> Injector {
    let mut injector = with_faults(with_faults(Injector::default(), faults), &manifest.faults);
    for tool in &manifest.tools {
        for fault in &tool.faults {
            injector = injector.on_tool(tool.name.clone(), *fault);
        }
    }
    injector
}

fn identity(manifest: &Manifest) -> Identity {
    let mut info = format!(
        r#"{{"name":{},"version":{}"#,
        jsonrpc::write_text(&manifest.name),
        jsonrpc::write_text(&manifest.version)
    );
    if let Some(title) = &manifest.title {
        info.push_str(&format!(r#","title":{}"#, jsonrpc::write_text(title)));
    }
    info.push('}');
    let mut capabilities = vec![r#""logging":{}"#, r#""tools":{"listChanged":true}"#];
    if !manifest.prompts.is_empty() {
        capabilities.push(r#""prompts":{"listChanged":true}"#);
    }
    if has_resources(manifest) {
        capabilities.push(r#""resources":{"subscribe":true,"listChanged":true}"#);
    }
    if manifest.has_completions() {
        capabilities.push(r#""completions":{}"#);
    }
    let capabilities = format!("{{{}}}", capabilities.join(","));
    Identity {
        info,
        capabilities,
        instructions: manifest.instructions.clone(),
    }
}

fn has_resources(manifest: &Manifest) -> bool {
    !manifest.resources.is_empty() || !manifest.resource_templates.is_empty()
}

fn lists(manifest: &Manifest) -> HashMap<&'static str, Entries> {
    let mut lists = HashMap::new();
    let mut add = |method: &'static str, key: &'static str, listings: Vec<String>| {
        lists.insert(method, Entries::new(key, listings, manifest.page_size));
    };
    let tools = manifest.tools.iter().map(|tool| tool.listing.clone());
    add("tools/list", "tools", tools.collect());
    if !manifest.prompts.is_empty() {
        let prompts = manifest.prompts.iter().map(|prompt| prompt.listing.clone());
        add("prompts/list", "prompts", prompts.collect());
    }
    if has_resources(manifest) {
        add(
            "resources/list",
            "resources",
            listings_of(&manifest.resources),
        );
        add(
            "resources/templates/list",
            "resourceTemplates",
            listings_of(&manifest.resource_templates),
        );
    }
    lists
}

fn listings_of(resources: &[Resource]) -> Vec<String> {
    resources
        .iter()
        .map(|resource| resource.listing.clone())
        .collect()
}

impl Entries {
    fn new(key: &'static str, entries: Vec<String>, page_size: Option<usize>) -> Self {
        let whole = format!(r#"{{"{key}":[{}]}}"#, entries.join(","));
        Self {
            key,
            listings: entries,
            page_size,
            whole,
        }
    }

    /// A page of the list as JSON text, or the whole list without pages.
    pub(super) fn page(&self, cursor: Option<&str>) -> RpcResult<std::borrow::Cow<'_, str>> {
        let start = match cursor {
            None => 0,
            Some(cursor) => cursor
                .strip_prefix("after-")
                .and_then(|start| start.parse::<usize>().ok())
                .filter(|start| *start > 0 && *start < self.listings.len())
                .ok_or_else(|| {
                    let message = format!("`{cursor}` is not a cursor of this server");
                    RpcError::new(code::INVALID_PARAMS, message)
                })?,
        };
        let Some(size) = self.page_size.filter(|size| *size < self.listings.len()) else {
            return Ok(self.whole.as_str().into());
        };
        let end = (start + size).min(self.listings.len());
        let mut text = format!(
            r#"{{"{}":[{}]"#,
            self.key,
            self.listings[start..end].join(",")
        );
        if end < self.listings.len() {
            text.push_str(&format!(r#","nextCursor":"after-{end}""#));
        }
        text.push('}');
        Ok(text.into())
    }
}

/// The arguments of a tool that its schema repeats in `Mcp-Param-*` headers.
fn repeated_arguments(listing: &str) -> Vec<RepeatedArgument> {
    let listing: Value = serde_json::from_str(listing).unwrap_or_default();
    let properties = listing["inputSchema"]["properties"]
        .as_object()
        .into_iter()
        .flatten();
    properties
        .filter_map(|(name, schema)| {
            let header = schema.get("x-mcp-header")?.as_str()?;
            Some(RepeatedArgument {
                argument: name.clone(),
                header: format!("mcp-param-{}", header.to_ascii_lowercase()),
            })
        })
        .collect()
}
