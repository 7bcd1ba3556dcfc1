//! A file becomes a manifest, or all its problems at once.

use super::completion::Completions;
use super::context::Context;
use super::fields::{read_faults_of_server, report_all};
use super::json::Json;
use super::prompt::Prompt;
use super::resource::Resource;
use super::tool::{Tool, default_answer};
use super::{Cache, Manifest};
use mcptest_core::problem::{Level, Problem, Sources, Span};
use mcptest_core::schema::JsonSchema;
use mcptest_core::suite::ReadFile;
use mcptest_core::suite::read::{Block, Field, Reading, is_same_key};
use mcptest_core::trace::{CatalogueTool, ToolSchema};
use mcptest_core::yaml::{self, Kind, Node, Scalar};
use serde_json::{Map, Value, json};
use std::path::Path;

/// What loading gave: the manifest, unless a problem is an error.
#[derive(Debug)]
pub struct Loaded {
    /// The manifest; `None` when it is refused.
    pub manifest: Option<Manifest>,
    /// Everything worth saying about it.
    pub problems: Vec<Problem>,
    /// The texts that problems point into.
    pub sources: Sources,
}

impl Loaded {
    /// Whether the manifest is refused.
    pub fn is_refused(&self) -> bool {
        self.manifest.is_none()
    }
}

/// Loads the manifest, or the saved `tools/list` result, at `path`.
pub fn load(path: &Path, files: ReadFile<'_>) -> Loaded {
    let refused = |problem: Problem| {
        let (manifest, problems, sources) = (None, vec![problem], Sources::default());
        Loaded {
            manifest,
            problems,
            sources,
        }
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

/// Loads the manifest with this text; `path` is where it stands.
pub fn load_text(path: &Path, text: String, files: ReadFile<'_>) -> Loaded {
    let mut sources = Sources::default();
    let file = sources.add(path.display().to_string(), text);
    let (manifest, mut problems) = read(path, &sources.file(file).text, file, files);
    Problem::sort(&mut problems);
    let is_refused = problems.iter().any(|problem| problem.level == Level::Error);
    Loaded {
        manifest: manifest.filter(|_| !is_refused),
        problems,
        sources,
    }
}

/// The tools of a mock that a suite names, as a [`Host`](mcptest_core::suite::Host) finds them: none when the manifest
/// is refused.
pub fn catalogue(
    path: &Path,
    text: &str,
    file: usize,
    files: ReadFile<'_>,
) -> (Option<Vec<CatalogueTool>>, Vec<Problem>) {
    let (manifest, problems) = read(path, text, file, files);
    let is_refused = problems.iter().any(|problem| problem.level == Level::Error);
    (
        manifest
            .filter(|_| !is_refused)
            .map(|manifest| manifest.catalogue()),
        problems,
    )
}

/// The manifest in `text`, whose places are those of the source `file`.
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
    let manifest = match Form::of(&root, text) {
        Form::SavedList(tools) => read_saved(tools, path, &reading, &context),
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
    if problems.iter().all(|problem| problem.level != Level::Error) {
        problems.extend(manifest.iter().flat_map(Manifest::check_updated));
    }
    (manifest.map(|manifest| manifest.finish(&context)), problems)
}

fn nothing(span: Span) -> Problem {
    Problem::error("there is no manifest in this file")
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
                Problem::error(format!(
                    "`{key}` stands beside `mock_server`, where it is not read"
                ))
                .help(format!(
                    "indent `{key}:` so that it is under `mock_server:`"
                ))
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
        title: block.optional("title", "The server's name for people", |f| f.string()),
        instructions: block.optional("instructions", "What a model reads about the server", |f| {
            f.string()
        }),
        faults: block.or_default(
            "fault",
            "What goes wrong on purpose, as `slow:500`; one or a list",
            read_faults_of_server,
        ),
        tools: block.list("tools", "The tools", |f| Tool::read(f, context)),
        resources: block.list("resources", "What can be read", |f| {
            Resource::read(f, context)
        }),
        resource_templates: block.list(
            "resource_templates",
            "What can be read at addresses that fit a template",
            |f| Resource::read_template(f, context),
        ),
        prompts: block.list("prompts", "The prompts", |f| Prompt::read(f, context)),
        completions: block.or_default(
            "completions",
            "How half-typed arguments go on",
            Completions::read,
        ),
        cache: block.or_default(
            "cache",
            "How long clients may keep lists and resources",
            read_cache,
        ),
        page_size: block
            .optional(
                "page_size",
                "How many entries one page of a list has; all of them when left out",
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
        ttl_ms: block.or_default(
            "ttl",
            "For how long, as `60s`; not at all when left out",
            |f| f.duration_ms(),
        ),
        is_public: block.or_default("scope", "`private` (when left out) or `public`", |f| {
            f.choice("a scope", &[("private", false), ("public", true)])
        }),
    })
}

impl Manifest {
    /// What is said to change must be there.
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

/// What a file with tools is.
enum Form<'n> {
    /// A map with `mock_server:`.
    Manifest,
    /// What stands under `mock_server:`, at the top of the file.
    Server,
    /// A saved `tools/list` result or response, with this list.
    SavedList(&'n Node),
    /// None of these.
    Nothing,
}

impl<'n> Form<'n> {
    fn of(root: &'n Node, text: &str) -> Self {
        if entry(root, "mock_server").is_some() {
            return Self::Manifest;
        }
        if let Some(tools) = entry(root, "tools") {
            return if is_written_by_hand(root, tools, text) {
                Self::Server
            } else {
                Self::SavedList(tools)
            };
        }
        let saved = entry(root, "result").and_then(|result| entry(result, "tools"));
        match (saved, &root.kind) {
            (Some(tools), _) => Self::SavedList(tools),
            (None, Kind::Map(entries)) if !entries.is_empty() => Self::Manifest,
            (None, _) => Self::Nothing,
        }
    }
}

/// What a server says of a tool in `tools/list`, in the spellings that are read.
const LISTED: [&str; 11] = [
    "name",
    "title",
    "description",
    "inputSchema",
    "input_schema",
    "outputSchema",
    "output_schema",
    "annotations",
    "icons",
    "execution",
    "_meta",
];

/// Whether tools at the top of a file are those of a manifest: something there is only known to manifests, or a tool has
/// no schema and the file is not JSON, as a saved list is.
fn is_written_by_hand(root: &Node, tools: &Node, text: &str) -> bool {
    let schema = json_schema();
    let keys = |pointer: &str| -> Vec<String> {
        let properties = schema.pointer(pointer).and_then(Value::as_object);
        properties
            .map(|properties| properties.keys().cloned().collect())
            .unwrap_or_default()
    };
    let has_one = |node: &Node, own: &dyn Fn(&str) -> bool, keys: &[String]| {
        keys.iter()
            .any(|key| own(key) && entry(node, key).is_some())
    };
    let of_server = keys("/anyOf/0/properties/mock_server/properties");
    let of_tool = keys("/$defs/tool/properties");
    let listed: &[_] = match &tools.kind {
        Kind::List(listed) => listed,
        _ => &[],
    };
    let is_json = text.trim_start().starts_with('{');
    let has_no_schema = |tool: &Node| INPUT.iter().all(|key| entry(tool, key).is_none());
    has_one(root, &|key| key != "tools", &of_server)
        || listed
            .iter()
            .any(|tool| has_one(tool, &|key| !LISTED.contains(&key), &of_tool))
        || (!is_json && listed.iter().any(|tool| has_no_schema(tool)))
}

fn entry<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
    let Kind::Map(entries) = &node.kind else {
        return None;
    };
    entries
        .iter()
        .find(|entry| is_same_key(&entry.key, key))
        .map(|entry| &*entry.value)
}

/// The manifest of these tools, named after the file.
fn read_saved(
    tools: &Node,
    path: &Path,
    reading: &Reading<'_>,
    context: &Context<'_>,
) -> Option<Manifest> {
    let tools = Field::new(reading, tools).list(|field| {
        let node = field.node(|| Value::Null)?;
        read_tool(node, field, context)
    })?;
    let name = path.file_stem().map_or_else(
        || "mock".to_owned(),
        |stem| stem.to_string_lossy().into_owned(),
    );
    Some(Manifest {
        name,
        version: "0.0.0".to_owned(),
        tools,
        ..Manifest::default()
    })
}

const INPUT: [&str; 2] = ["inputSchema", "input_schema"];

/// A schema as it is written.
fn in_order(node: &Node) -> Option<ToolSchema> {
    serde_json::from_str(Json::literal(node).ok()?.as_static()?).ok()
}

fn read_tool(node: &Node, field: &mut Field<'_>, context: &Context<'_>) -> Option<Tool> {
    let Kind::Map(_) = &node.kind else {
        return field.wrong(node, "a tool");
    };
    let value = field.value()?;
    let Some(name) = entry(node, "name") else {
        field.report(Problem::error("a tool has no name"));
        return None;
    };
    let name = context.own_name("tool", &mut Field::new(field.reading, name))?;
    let schema = |keys: [&str; 2]| keys.iter().find_map(|key| value.get(*key)).cloned();
    let input_value = schema(INPUT);
    let output_value = schema(["outputSchema", "output_schema"]);
    let output = output_value
        .as_ref()
        .and_then(|schema| JsonSchema::compile_as_declared(schema).ok());
    if input_value.is_none() {
        let message = format!("`{name}` has no `inputSchema`, so clients may leave it out");
        field.report(
            Problem::warning(message)
                .at(node.span)
                .help("write `\"inputSchema\": {\"type\": \"object\"}`"),
        );
    }
    let json = Json::literal(node)
        .map_err(|faults| report_all(field, faults))
        .ok()?;
    Some(Tool {
        listing: json.as_static().unwrap_or_default().to_owned(),
        who: format!("the tool `{name}`"),
        description: value
            .get("description")
            .and_then(Value::as_str)
            .map(str::to_owned),
        input: input_value
            .as_ref()
            .and_then(|schema| compile(schema, &name, field)),
        input_schema: INPUT.iter().find_map(|key| in_order(entry(node, key)?)),
        cases: default_answer(&name, output_value.as_ref().zip(output.as_ref())),
        name,
        ..Tool::default()
    })
}

/// Ignores a saved schema that cannot be used: the server that it was saved from served it all the same.
fn compile(schema: &Value, tool: &str, field: &Field<'_>) -> Option<JsonSchema> {
    let fault = match JsonSchema::compile_as_declared(schema) {
        Ok(schema) => return Some(schema),
        Err(fault) => fault,
    };
    let message = format!(
        "arguments of `{tool}` are not checked, its schema cannot be read: {}",
        fault.reason
    );
    field.report(
        Problem::warning(message).at(field.span_at(&format!("/inputSchema{}", fault.pointer))),
    );
    None
}
