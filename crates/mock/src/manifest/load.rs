//! A file becomes a manifest, or all its problems at once.

use super::completion::Completions;
use super::context::Context;
use super::form::Form;
use super::prompt::Prompt;
use super::resource::Resource;
use super::tool::Tool;
use super::{Cache, Manifest, faults, saved};
use mcptest_core::problem::{Level, Problem, Sources, Span};
use mcptest_core::suite::ReadFile;
use mcptest_core::suite::read::{Block, Field, Reading};
use mcptest_core::trace::CatalogueTool;
use mcptest_core::yaml::{self, Kind, Scalar};
use serde_json::{Map, Value, json};
use std::path::Path;

/// The result of loading: the manifest, unless a problem is an error.
#[derive(Debug)]
pub struct Loaded {
    /// The manifest; `None` if it is refused.
    pub manifest: Option<Manifest>,
    /// Problems and notes about the manifest.
    pub problems: Vec<Problem>,
    /// The texts that problems point into.
    pub sources: Sources,
}

impl Loaded {
    /// Returns true if the manifest is refused.
    pub fn is_refused(&self) -> bool {
        self.manifest.is_none()
    }
}

/// Loads the manifest, or the saved `tools/list` result, at `path`.
pub fn load(path: &Path, files: ReadFile<'_>) -> Loaded {
    let refused = |problem: Problem| Loaded {
        manifest: None,
        problems: vec![problem],
        sources: Sources::default(),
    };
    let bytes = match files(path) {
        Ok(bytes) => bytes,
        Err(reason) => {
            return refused(Problem::error(format!(
                "cannot read {}: {reason}",
                path.display()
            )));
        }
    };
    let Ok(text) = String::from_utf8(bytes) else {
        let problem = Problem::error(format!("{} is not UTF-8", path.display()));
        return refused(problem.help("save the file as UTF-8"));
    };
    load_text(path, text, files)
}

/// Loads the manifest with this text; `path` is its file.
pub fn load_text(path: &Path, text: String, files: ReadFile<'_>) -> Loaded {
    let mut sources = Sources::default();
    let file = sources.add(path.display().to_string(), text);
    let (manifest, mut problems) = read(path, &sources.file(file).text, file, files);
    Problem::sort(&mut problems);
    Loaded {
        manifest,
        problems,
        sources,
    }
}

/// The tools of a mock in a suite, for a [`Host`](mcptest_core::suite::Host): empty if the manifest
/// is refused.
pub fn catalogue(
    path: &Path,
    text: &str,
    file: usize,
    files: ReadFile<'_>,
) -> (Option<Vec<CatalogueTool>>, Vec<Problem>) {
    let (manifest, problems) = read(path, text, file, files);
    (manifest.map(|manifest| manifest.catalogue()), problems)
}

/// The manifest in `text`, unless a problem is an error. Places refer to the source `file`.
fn read(
    path: &Path,
    text: &str,
    file: usize,
    files: ReadFile<'_>,
) -> (Option<Manifest>, Vec<Problem>) {
    let mut problems = Vec::new();
    let root = yaml::parse(text, file, &mut problems);
    let Some(root) = root else {
        if problems.is_empty() {
            problems.push(nothing(Span {
                file,
                start: 0,
                end: 0,
            }));
        }
        return (None, problems);
    };
    let reading = Reading::as_written(text);
    let folder = path.parent().unwrap_or(Path::new(""));
    let context = Context::new(folder, files);
    let manifest = match Form::from_root(&root, text) {
        Form::SavedList(tools) => saved::read(tools, path, &reading, &context),
        Form::Server => read_server(&mut Field::new(&reading, &root), &context),
        Form::Manifest => read_manifest(&mut Field::new(&reading, &root), &context),
        Form::Nothing => {
            reading.report(nothing(root.span));
            None
        }
    };
    problems.extend(reading.into_problems());
    problems.extend(manifest.iter().flat_map(Manifest::check_completions));
    // A resource that was refused is missed by nobody.
    if !has_error(&problems) {
        problems.extend(manifest.iter().flat_map(Manifest::check_updated));
    }
    let manifest = manifest.filter(|_| !has_error(&problems));
    (manifest.map(|manifest| manifest.finish(&context)), problems)
}

fn has_error(problems: &[Problem]) -> bool {
    problems.iter().any(|problem| problem.level == Level::Error)
}

fn nothing(span: Span) -> Problem {
    Problem::error("this file is not a manifest")
        .at(span)
        .help(
            "a manifest is a map with `mock_server:` or `tools:`, or a saved `tools/list` result with `tools:`",
        )
}

/// Every key of a manifest.
pub(super) fn read_manifest(field: &mut Field<'_>, context: &Context<'_>) -> Option<Manifest> {
    field.block(|block| {
        let manifest = block.required("mock_server", "The mock server", |f| {
            read_server(f, context)
        });
        for key in [
            "tools",
            "resources",
            "resource_templates",
            "prompts",
            "store",
        ] {
            block.refuse(key, || {
                Problem::error(format!("`{key}` has no effect outside `mock_server:`")).help(
                    format!("indent `{key}:` so that it is under `mock_server:`"),
                )
            });
        }
        manifest
    })?
}

fn read_server(field: &mut Field<'_>, context: &Context<'_>) -> Option<Manifest> {
    field.block(|block| {
        // First, since tools name its collections.
        block.optional(
            "store",
            "Collections of records that tools create, read, update, delete and list",
            |f| context.read_store(f),
        );
        read_offers(block, context)
    })
}

fn read_offers(block: &mut Block<'_>, context: &Context<'_>) -> Manifest {
    Manifest {
        name: block
            .optional("name", "The server's name", |f| f.name())
            .unwrap_or_else(|| "mock".to_owned()),
        version: block
            .optional("version", "The server's version", read_version)
            .unwrap_or_else(|| "0.0.0".to_owned()),
        title: block.optional("title", "The server's display name", |f| f.string()),
        instructions: block.optional("instructions", "Instructions for a model", |f| f.string()),
        faults: block.or_default(
            "fault",
            "Faults to inject, such as `slow:500`; one or a list",
            faults::read_of_server,
        ),
        tools: block.list("tools", "The tools", |f| Tool::read(f, context)),
        resources: block.list("resources", "Readable resources", |f| {
            Resource::read(f, context)
        }),
        resource_templates: block.list(
            "resource_templates",
            "Resources at addresses that match a template",
            |f| Resource::read_template(f, context),
        ),
        prompts: block.list("prompts", "The prompts", |f| Prompt::read(f, context)),
        completions: block.or_default(
            "completions",
            "Completions of partly typed arguments",
            Completions::read,
        ),
        cache: block.or_default(
            "cache",
            "The time that clients may keep lists and resources",
            read_cache,
        ),
        page_size: block
            .optional(
                "page_size",
                "The number of entries on one page of a list [default: all]",
                |f| f.whole(1..=1_000_000),
            )
            .map(|size| size as usize),
        ..Manifest::default()
    }
}

/// A string: of a number, `1.10` would be `1.1`.
fn read_version(field: &mut Field<'_>) -> Option<String> {
    if let Some(node) = field.node(|| json!({ "type": "string", "minLength": 1 }))
        && let Kind::Scalar(Scalar::Number(number)) = &node.kind
    {
        let problem = Problem::error(format!(
            "`version`: expected a string, found {}",
            node.describe()
        ));
        field.report(problem.help(format!("quote it: `version: \"{number}\"`")));
        return None;
    }
    field.name()
}

fn read_cache(field: &mut Field<'_>) -> Option<Cache> {
    field.block(|block| Cache {
        ttl_ms: block.or_default("ttl", "The time, such as `60s` [default: 0]", |f| {
            f.duration_ms()
        }),
        is_public: block.or_default("scope", "`private` (default) or `public`", |f| {
            f.choice("a scope", &[("private", false), ("public", true)])
        }),
    })
}

impl Manifest {
    /// Checks that updated parts exist.
    fn check_updated(&self) -> Vec<Problem> {
        let written = self.tools.iter().flat_map(|tool| tool.aside.updated());
        let missed = written
            .filter(|(uri, _)| self.resource(uri).is_err())
            .map(|(uri, span)| {
                let known = self.resources.iter().map(|resource| resource.uri.as_str());
                let problem =
                    Problem::error(format!("no resource has the address `{uri}`")).at(span);
                problem
                    .help("write the `uri` of one of the `resources`")
                    .suggest(uri, known)
            });
        missed.collect()
    }

    /// Names lead to their tools.
    fn finish(mut self, context: &Context<'_>) -> Self {
        self.sequences = context.sequence_count();
        self.store = context.store();
        let names = self
            .tools
            .iter()
            .enumerate()
            .rev()
            .map(|(at, tool)| (tool.name.clone(), at));
        self.tools_by_name = names.collect();
        self
    }
}

/// The schema that editors complete and check manifests with.
pub fn json_schema() -> Value {
    let files = |_: &Path| Err(String::new());
    let context = Context::new(Path::new(""), &files);
    let mut schema = Reading::as_written("").describe(|field| read_manifest(field, &context));
    if let Value::Object(map) = &mut schema {
        let server = map["properties"]["mock_server"].clone();
        let mut without_name = server;
        without_name["required"] = json!(["tools"]);
        let shared = ["$defs", "$schema", "title"];
        let (of_file, of_map): (Map<_, _>, Map<_, _>) = std::mem::take(map)
            .into_iter()
            .partition(|(key, _)| shared.contains(&key.as_str()));
        *map = of_file;
        map.insert("anyOf".to_owned(), json!([of_map, without_name]));
        map.insert(
            "$schema".to_owned(),
            json!("https://json-schema.org/draft/2020-12/schema"),
        );
        map.insert("title".to_owned(), json!("mcptest mock server manifest"));
    }
    schema
}
