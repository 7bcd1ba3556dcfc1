//! A suite file and its imports become one suite, or all their problems at once.

use super::agent::Agent;
use super::each::{self, DataFile};
use super::evals::{self, EVALS};
use super::fault::Fault;
use super::gate_files;
use super::imports;
use super::options::{Budget, RunOptions};
use super::own_files;
use super::read::{Block, Field, Reading, is_same_key};
use super::redact::RedactPattern;
use super::scenarios::SCENARIOS;
use super::server::{Endpoint, Provider, Server};
use super::tool_test::ToolTest;
use super::variables::{Scope, Text, is_variable_name};
use super::{KnownMock, Suite, names};
use crate::digest::digest_of_value;
use crate::engine::{GateTrait, Gates};
use crate::gates::GATES;
use crate::grade::{JudgeDefaults, Question, SCORERS};
use crate::problem::{self, Level, Problem, Sources, Span};
use crate::trace::CatalogueTool;
use crate::yaml::{self, Kind, Node};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Reads the bytes of a file; the error is a sentence.
pub type ReadFile<'h> = &'h dyn Fn(&Path) -> Result<Vec<u8>, String>;

/// The files that a path or a pattern names in a folder; the error is a sentence.
pub type ListFiles<'h> = &'h dyn Fn(&Path, &str) -> Result<Vec<PathBuf>, String>;

/// Reads the tools of a mock from its manifest's path, text and source number, and returns
/// problems.
pub type ReadMock<'h> =
    &'h dyn Fn(&Path, &str, usize, ReadFile<'_>) -> (Option<Vec<CatalogueTool>>, Vec<Problem>);

/// The outside access that loading needs: the bytes of a file and the values of the environment.
///
/// ```
/// use mcptest_core::Host;
/// use std::path::Path;
///
/// let read = |path: &Path| std::fs::read(path).map_err(|error| error.to_string());
/// let environment = |name: &str| std::env::var(name).ok();
/// let host = Host::new(&read, &environment);
/// assert!(host.gates.find("golden_path").is_some());
/// ```
pub struct Host<'h> {
    /// Reads a file.
    pub read: ReadFile<'h>,
    /// The value of an environment variable.
    pub environment: &'h dyn Fn(&str) -> Option<String>,
    /// Reads the tools of a mock.
    pub mock: ReadMock<'h>,
    /// Finds the files of a pattern.
    pub list: ListFiles<'h>,
    /// The gates that suites may use.
    pub gates: Gates,
}

impl<'h> Host<'h> {
    /// A host without mocks and patterns: the tools of mocks are unknown, and files must be named
    /// one by one. Suites may use the gates of mcptest-core.
    pub fn new(read: ReadFile<'h>, environment: &'h dyn Fn(&str) -> Option<String>) -> Self {
        let list = &|folder: &Path, path: &str| Ok(vec![folder.join(path)]);
        Self {
            read,
            environment,
            mock: &|_, _, _, _| (None, Vec::new()),
            list,
            gates: GATES,
        }
    }
}

/// The result of loading: the suite, unless a problem is an error.
///
/// ```
/// use mcptest_core::{Host, load};
/// use std::path::Path;
///
/// let read = |_: &Path| Ok(b"agents: [{ name: forecast, promt: Will it rain? }]".to_vec());
/// let loaded = load(Path::new("weather.yml"), &Host::new(&read, &|_| None));
/// assert!(loaded.is_refused());
/// for problem in &loaded.problems {
///     println!("{}", problem.message);
/// }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Loaded {
    /// The suite; `None` if it is refused.
    pub suite: Option<Suite>,
    /// Problems and notes about the file.
    pub problems: Vec<Problem>,
    /// The texts that problems point into.
    pub sources: Sources,
    /// Every file that was read, or would have been if it existed.
    pub files: BTreeSet<PathBuf>,
}

impl Loaded {
    /// The suite, or the reasons why it is refused. [`Loaded::problems`] also has the warnings.
    pub fn into_result(self) -> Result<Suite, RefusedSuite> {
        self.suite.ok_or(RefusedSuite {
            problems: self.problems,
            sources: self.sources,
        })
    }

    /// Returns true if the suite is refused.
    pub fn is_refused(&self) -> bool {
        self.problems
            .iter()
            .any(|problem| problem.level == Level::Error)
    }
}

/// A suite that was refused, with every problem in its place. It displays as `mcptest validate` prints it.
///
/// ```
/// use mcptest_core::{Host, load};
/// use std::path::Path;
///
/// let read = |_: &Path| Ok(b"agents: 7".to_vec());
/// let refused = load(Path::new("weather.yml"), &Host::new(&read, &|_| None)).into_result().unwrap_err();
/// assert!(refused.to_string().contains("weather.yml:1"));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct RefusedSuite {
    /// All of its problems and warnings.
    pub problems: Vec<Problem>,
    /// The texts that problems point into.
    pub sources: Sources,
}

impl std::error::Error for RefusedSuite {}

impl fmt::Display for RefusedSuite {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&problem::render(&self.problems, &self.sources, false))
    }
}

/// Loads the suite at `path`.
pub fn load(path: &Path, host: &Host<'_>) -> Loaded {
    load_as(path, host, Purpose::Judge)
}

/// Loads the suite at `path` to judge given traces: its agents need no model, prompt or cassette, and each accepts
/// any number of runs.
pub fn load_for_traces(path: &Path, host: &Host<'_>) -> Loaded {
    load_as(path, host, Purpose::Traces)
}

/// Loads the suite at `path` for making baselines: the baselines that its gates name need not
/// exist.
pub fn load_to_capture(path: &Path, host: &Host<'_>) -> Loaded {
    load_as(path, host, Purpose::Capture)
}

/// Loads the suite at `path` for making baselines from given traces.
pub fn load_traces_to_capture(path: &Path, host: &Host<'_>) -> Loaded {
    load_as(path, host, Purpose::CaptureTraces)
}

/// The purpose of loading a suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Judge,
    Traces,
    Capture,
    CaptureTraces,
}

impl Purpose {
    fn traces_are_given(self) -> bool {
        matches!(self, Self::Traces | Self::CaptureTraces)
    }

    /// Returns true if the baselines that gates name must exist.
    fn needs_baselines(self) -> bool {
        matches!(self, Self::Judge | Self::Traces)
    }
}

fn load_as(path: &Path, host: &Host<'_>, purpose: Purpose) -> Loaded {
    let files = RefCell::new(BTreeSet::new());
    let read = |path: &Path| {
        files.borrow_mut().insert(path.to_owned());
        (host.read)(path)
    };
    let host = &Host {
        read: &read,
        ..*host
    };
    let mut loader = Loader {
        host,
        folder: path.parent().unwrap_or(Path::new("")),
        traces_are_given: purpose.traces_are_given(),
        sources: Sources::default(),
        problems: Vec::new(),
        read: BTreeMap::new(),
        data: BTreeMap::new(),
        imported: 0,
    };
    let parts = loader.file(path, &mut Vec::new());
    let suite = parts.map(|parts| loader.complete(parts, path, purpose));
    loader.warn_of_unused_columns();
    let mut problems = loader.problems;
    Problem::sort(&mut problems);
    let mut loaded = Loaded {
        suite,
        problems: without_repeats(problems),
        sources: loader.sources,
        files: files.take(),
    };
    if loaded.is_refused() {
        loaded.suite = None;
    }
    loaded
}

/// Problems in the order of their places, each once: a file that is imported twice has them twice.
fn without_repeats(sorted: Vec<Problem>) -> Vec<Problem> {
    let mut kept: Vec<Problem> = Vec::with_capacity(sorted.len());
    for problem in sorted {
        let same_place = kept
            .iter()
            .rev()
            .take_while(|other| other.span == problem.span);
        if !same_place.into_iter().any(|other| *other == problem) {
            kept.push(problem);
        }
    }
    kept
}

/// A declaration and its place.
pub(super) struct Declared<T> {
    pub(super) name: String,
    pub(super) span: Span,
    pub(super) item: T,
}

/// The parts of a file, or of a file and its imports merged.
#[derive(Default)]
pub(super) struct Parts {
    pub(super) servers: Vec<Declared<Server>>,
    pub(super) providers: Vec<Declared<Provider>>,
    pub(super) variables: Vec<Declared<Text>>,
    pub(super) faults: Vec<Fault>,
    pub(super) agents: Vec<Agent>,
    /// Entries of `evals:`, which are agents that are only read.
    pub(super) evals: Vec<Agent>,
    /// The entries of `scenarios:`, which are agents that are only read.
    pub(super) scenarios: Vec<Agent>,
    pub(super) tools: Vec<ToolTest>,
    pub(super) judge: Option<JudgeDefaults>,
    pub(super) scorers: Vec<Declared<Question>>,
    pub(super) budget: Option<Budget>,
    pub(super) run_options: Option<RunOptions>,
    pub(super) redact: Vec<RedactPattern>,
    /// The environment variables that texts name as `${NAME}`.
    pub(super) named: BTreeSet<String>,
}

struct Loader<'h> {
    host: &'h Host<'h>,
    /// The folder that paths in the suite are relative to.
    folder: &'h Path,
    traces_are_given: bool,
    sources: Sources,
    problems: Vec<Problem>,
    read: BTreeMap<PathBuf, Option<usize>>,
    /// The data files of blocks with `each:`.
    data: BTreeMap<PathBuf, ReadData>,
    imported: usize,
}

/// A data file that a block names.
struct ReadData {
    /// None if it has a problem.
    file: Option<Rc<DataFile>>,
    /// The variables of the blocks that read it.
    used: BTreeSet<String>,
}

impl<'h> Loader<'h> {
    /// Completes the suite from all its files, and checks references to other files.
    fn complete(&mut self, mut parts: Parts, path: &Path, purpose: Purpose) -> Suite {
        parts.agents.append(&mut parts.evals);
        parts.agents.append(&mut parts.scenarios);
        evals::follow(&mut parts.agents);
        for agent in &mut parts.agents {
            agent.place = self.sources.file_and_line(agent.span);
            agent.find_lines(&self.sources);
        }
        for test in &mut parts.tools {
            test.place = self.sources.file_and_line(test.span);
            test.expect
                .iter_mut()
                .for_each(|assertion| assertion.find_line(&self.sources));
        }
        names::check_references(&parts, &mut self.problems);
        own_files::read(&mut parts, path, self.host, &mut self.problems);
        if purpose.needs_baselines() {
            gate_files::read(&mut parts.agents, path, self.host, &mut self.problems);
        }
        let mocks = self.read_mocks(&parts, path);
        let suite = Suite::from_parts(path, parts, mocks, self.host.gates);
        self.problems.extend(suite.lint());
        suite
    }

    fn file(&mut self, path: &Path, importing: &mut Vec<PathBuf>) -> Option<Parts> {
        let identity = imports::identity(path);
        let file = if let Some(file) = self.read.get(&identity) {
            *file
        } else {
            let file = self.read(path);
            self.read.insert(identity, file);
            file
        }?;
        let text = self.sources.file(file).text.clone();
        let before = self.problems.len();
        let root = yaml::parse(&text, file, &mut self.problems);
        let Some(root) = root.filter(|root| !is_null(root)) else {
            if self.problems.len() == before {
                self.problems.push(empty_file(file, &text));
            }
            return None;
        };
        if !matches!(root.kind, Kind::Map(_)) {
            let message = format!(
                "a suite is a map with `servers:` and `agents:`, but this is {}",
                root.describe()
            );
            self.problems.push(Problem::error(message).at(root.span));
            return None;
        }
        importing.push(path.to_owned());
        let imported = self.imports(&root, path, importing);
        importing.pop();
        let parts = self.parts(&root, path, imported);
        Some(parts)
    }

    fn read(&mut self, path: &Path) -> Option<usize> {
        let shown = path.display().to_string();
        let bytes = match (self.host.read)(path) {
            Ok(bytes) => bytes,
            Err(reason) => {
                self.problems
                    .push(Problem::error(format!("cannot read {shown}: {reason}")));
                return None;
            }
        };
        match String::from_utf8(bytes) {
            Ok(text) => Some(self.sources.add(shown, text)),
            Err(error) => {
                let start = error.utf8_error().valid_up_to();
                let file = self.sources.add(
                    shown,
                    String::from_utf8_lossy(error.as_bytes()).into_owned(),
                );
                let problem = Problem::error("the file is not UTF-8").at(Span {
                    file,
                    start,
                    end: start + 3,
                });
                self.problems.push(
                    problem
                        .label("this byte is not UTF-8")
                        .help("save the file as UTF-8"),
                );
                None
            }
        }
    }

    /// The data files of the blocks with `each:`, by the place of that value.
    fn data_of_blocks(
        &mut self,
        root: &Node,
        reading: &Reading<'_>,
    ) -> BTreeMap<Span, Rc<DataFile>> {
        let mut files = BTreeMap::new();
        for block in each::blocks(root, |each| Field::new(reading, each).placed_name()) {
            let path = imports::plain(&self.folder.join(&block.path));
            let identity = imports::identity(&path);
            if !self.data.contains_key(&identity) {
                let file = self.read_data(&block.path, &path, block.span);
                let used = BTreeSet::new();
                self.data.insert(identity.clone(), ReadData { file, used });
            }
            if let Some(data) = self.data.get_mut(&identity) {
                data.used.extend(block.names);
                files.extend(data.file.clone().map(|file| (block.span, file)));
            }
        }
        files
    }

    fn read_data(&mut self, name: &str, path: &Path, span: Span) -> Option<Rc<DataFile>> {
        if let Some(problem) = each::refuse_ending(name) {
            self.problems.push(problem.at(span));
            return None;
        }
        let before = self.problems.len();
        let Some(file) = self.read(path) else {
            let unplaced = self.problems[before..].iter_mut();
            unplaced.for_each(|problem| problem.span = problem.span.or(Some(span)));
            return None;
        };
        let (data, problems) = DataFile::read(name, &self.sources.file(file).text, file);
        let is_whole = problems.is_empty();
        self.problems.extend(problems);
        is_whole.then(|| Rc::new(data))
    }

    fn warn_of_unused_columns(&mut self) {
        let unused = |data: &ReadData| data.file.as_ref()?.unused(&data.used);
        self.problems.extend(self.data.values().filter_map(unused));
    }

    /// The parts of every imported file, merged in the order they are named.
    fn imports(&mut self, root: &Node, path: &Path, importing: &mut Vec<PathBuf>) -> Parts {
        let mut merged = Parts::default();
        let reading = self.reading(path, BTreeMap::new());
        let wanted =
            entry(root, "imports").and_then(|node| read_imports(&mut Field::new(&reading, node)));
        merged.named = reading.named();
        self.problems.extend(reading.into_problems());
        for (name, span) in wanted.into_iter().flatten() {
            let target = imports::plain(&path.parent().unwrap_or(Path::new("")).join(&name));
            self.imported += 1;
            if let Some(problem) = imports::refuse(&name, &target, importing, self.imported) {
                self.problems.push(problem.at(span));
                continue;
            }
            let before = self.problems.len();
            match self.file(&target, importing) {
                Some(parts) => names::merge(&mut merged, parts, &mut self.problems),
                None => {
                    if let Some(problem) = self
                        .problems
                        .get_mut(before)
                        .filter(|problem| problem.span.is_none())
                    {
                        problem.span = Some(span);
                    }
                }
            }
        }
        merged
    }

    /// Reads the tools of each mock, by the name of its server. Refuses manifests with errors. A
    /// missing manifest is only a warning if only recordings of agents need it: they can still be
    /// judged, but their tools are not compared.
    fn read_mocks(&mut self, parts: &Parts, path: &Path) -> BTreeMap<String, KnownMock> {
        let mut manifests = BTreeMap::new();
        let mut mocks = BTreeMap::new();
        for Declared { name, span, item } in &parts.servers {
            let Endpoint::Mock(mock) = &item.endpoint else {
                continue;
            };
            let Ok(mock) = item.scope.fill(mock, self.host.environment) else {
                continue;
            };
            let manifest = path.parent().unwrap_or(Path::new("")).join(mock);
            let read = manifests
                .entry(imports::identity(&manifest))
                .or_insert_with(|| self.read_mock(&manifest, *span));
            match read {
                Ok(Some(mock)) => {
                    mocks.insert(name.clone(), mock.for_server(name));
                }
                Ok(None) => {}
                Err(reason) => {
                    let called = parts.tools.iter().find(|test| test.server == *name);
                    self.problems
                        .push(without_manifest(&manifest, reason, called).at(*span));
                }
            }
        }
        mocks
    }

    fn read_mock(&mut self, manifest: &Path, span: Span) -> Result<Option<KnownMock>, String> {
        let bytes = (self.host.read)(manifest)?;
        let Ok(text) = String::from_utf8(bytes) else {
            let problem = Problem::error(format!("{} is not UTF-8", manifest.display())).at(span);
            self.problems.push(problem.help("save the file as UTF-8"));
            return Ok(None);
        };
        let file = self.sources.add(manifest.display().to_string(), text);
        let text = &self.sources.file(file).text;
        let (tools, problems) = (self.host.mock)(manifest, text, file, self.host.read);
        self.problems.extend(problems);
        let digest = || digest_of_value(&super::yaml_to_json(text).unwrap_or_default());
        Ok(tools.map(|tools| KnownMock {
            tools,
            digest: digest(),
        }))
    }

    fn reading(&self, path: &Path, suite: BTreeMap<String, Text>) -> Reading<'h> {
        // Absolute, so that a path made with it means the same wherever it is joined.
        let here = (self.host.environment)("PWD").unwrap_or_else(|| ".".to_owned());
        let config_dir = Path::new(&here)
            .join(path.parent().unwrap_or(Path::new("")))
            .display()
            .to_string();
        let reading = Reading::new(
            Scope::new(suite, &config_dir),
            self.host.environment,
            self.host.gates,
        );
        if self.traces_are_given {
            reading.for_given_traces()
        } else {
            reading
        }
    }

    fn parts(&mut self, root: &Node, path: &Path, mut imported: Parts) -> Parts {
        let reading = self.reading(path, texts(&imported.variables));
        let own = entry(root, "variables")
            .and_then(|node| read_variables(&mut Field::new(&reading, node)));
        let named = reading.named();
        let mut problems = reading.into_problems();
        let own = Parts {
            variables: own.unwrap_or_default(),
            named,
            ..Parts::default()
        };
        names::merge(&mut imported, own, &mut problems);
        let reading = self.reading(path, texts(&imported.variables));
        let data = self.data_of_blocks(root, &reading);
        let reading = reading.with_data(data);
        let mut parts = read_suite(&mut Field::new(&reading, root)).unwrap_or_default();
        parts.named = reading.named();
        problems.extend(reading.into_problems());
        names::merge(&mut imported, parts, &mut problems);
        self.problems.extend(problems);
        imported
    }
}

fn without_manifest(manifest: &Path, reason: &str, called: Option<&ToolTest>) -> Problem {
    match called {
        Some(test) => Problem::error(format!(
            "the mock {} cannot be started: {reason}",
            manifest.display()
        ))
        .also(test.server_span, "this test calls it"),
        None => Problem::warning(format!(
            "the tools of {} are unknown: {reason}",
            manifest.display()
        ))
        .help("until they are known, mcptest does not check recordings for changed tools"),
    }
}

fn empty_file(file: usize, text: &str) -> Problem {
    let message = if text.trim().is_empty() {
        "the file is empty"
    } else {
        "this file is not a suite"
    };
    Problem::error(message)
        .at(Span { file, start: 0, end: 0 })
        .help("a suite is a map with `servers:` and `agents:`; `mcptest explain` lists the checks for an agent")
}

fn is_null(node: &Node) -> bool {
    matches!(&node.kind, Kind::Scalar(yaml::Scalar::Null))
}

fn entry<'n>(root: &'n Node, key: &str) -> Option<&'n Node> {
    let Kind::Map(entries) = &root.kind else {
        return None;
    };
    entries
        .iter()
        .find(|entry| is_same_key(&entry.key, key))
        .map(|entry| &*entry.value)
}

fn texts(variables: &[Declared<Text>]) -> BTreeMap<String, Text> {
    variables
        .iter()
        .map(|variable| (variable.name.clone(), variable.item.clone()))
        .collect()
}

fn read_imports(field: &mut Field<'_>) -> Option<Vec<(String, Span)>> {
    field.list(|item| item.placed_name())
}

/// Reads a map from names to declarations.
fn read_declared<T>(
    field: &mut Field<'_>,
    mut read: impl FnMut(&str, Span, &mut Field<'_>) -> Option<T>,
) -> Option<Vec<Declared<T>>> {
    let entries =
        field.named_entries(|name, span, field| Some((span, read(name, span, field)?)))?;
    let declared = |(name, (span, item))| Declared { name, span, item };
    Some(entries.into_iter().map(declared).collect())
}

fn read_variables(field: &mut Field<'_>) -> Option<Vec<Declared<Text>>> {
    read_declared(field, |name, span, f| {
        if !is_variable_name(name) && !f.is_describing() {
            let problem = Problem::error(format!("`{name}` is not a variable's name")).at(span);
            f.report(problem.help("names are letters, digits and `_`"));
            return None;
        }
        f.scalar_text()
    })
}

/// An entry of `scorers:`.
fn read_scorer(field: &mut Field<'_>) -> Option<Declared<Question>> {
    let question = Question::read_scorer(field)?;
    Some(Declared {
        name: question.scorer()?.name.clone(),
        span: question.span,
        item: question,
    })
}

/// Every key of a suite file. `variables` and `imports` were read before, since the rest depends on them.
pub(super) fn read_suite(field: &mut Field<'_>) -> Option<Parts> {
    let reading = field.reading;
    field.block(|block: &mut Block<'_>| {
        describe_keys_read_before(block);
        let agents = read_agents(block, reading);
        Parts {
            agents,
            servers: block.or_default("servers", "MCP servers by name", |f| {
                read_declared(f, |_, _, f| Server::read(f))
            }),
            providers: block.or_default("providers", "Model providers by name", |f| {
                read_declared(f, |_, _, f| Provider::read(f))
            }),
            faults: block.list("faults", "Faults that agents can inject", Fault::read),
            evals: block.list(
                "evals",
                "Rows that grade recordings or texts, without running anything",
                |f| EVALS.read(f),
            ),
            scenarios: block.list(
                "scenarios",
                "Rows that judge recorded runs by the final state of a world",
                |f| SCENARIOS.read(f),
            ),
            tools: flat(block.list("tools", "Direct tool tests", |f| {
                each::read_rows(f, ToolTest::read)
            })),
            judge: block.optional(
                "judge",
                "The default judge, for checks that do not name one",
                JudgeDefaults::read,
            ),
            scorers: block.list(
                SCORERS,
                "Your own programs that compute numbers for each run",
                read_scorer,
            ),
            budget: block.optional("budget", "Limits for recording", Budget::read),
            run_options: block.optional(
                "run_options",
                "Options for running the suite",
                RunOptions::read,
            ),
            redact: block.list(
                "redact",
                "Regular expressions for text to remove from recordings and reports, besides known secrets",
                RedactPattern::read,
            ),
            ..Parts::default()
        }
    })
}

/// Marks the keys that were read earlier as known, and describes them in the schema.
fn describe_keys_read_before(block: &mut Block<'_>) {
    block.optional(
        "imports",
        "Other suite files whose parts are merged into this one",
        |f| describe_only(f, read_imports),
    );
    block.optional("variables", "Values for `${name}` in this file", |f| {
        describe_only(f, read_variables)
    });
}

fn describe_only<T>(
    field: &mut Field<'_>,
    read: impl FnOnce(&mut Field<'_>) -> Option<T>,
) -> Option<()> {
    if field.is_describing() {
        read(field).map(drop)
    } else {
        None
    }
}

/// The tests of all blocks.
fn flat<T>(blocks: Vec<Vec<T>>) -> Vec<T> {
    blocks.into_iter().flatten().collect()
}

/// Reads the agents, with the gates that apply to all of them.
fn read_agents(block: &mut Block<'_>, reading: &Reading<'_>) -> Vec<Agent> {
    let gates = block.gates();
    let of_suite = gates
        .iter()
        .filter(|kind| kind.is(GateTrait::ComparesWithBaseline));
    let judges_all = of_suite.clone().any(|kind| block.has(kind.key));
    reading.judges_all.set(judges_all);
    let mut agents: Vec<Agent> = flat(block.list("agents", "The agents under test", |f| {
        each::read_rows(f, Agent::read)
    }));
    of_suite.for_each(|kind| gate_files::read_gate_of_suite(block, kind, &mut agents));
    agents
}
