//! Runs of a user's own agent, for tests.

use mcptest_agent::Distract;
use mcptest_agent::FaultPlan;
use mcptest_agent::own::{self, OwnError, OwnOutcome, OwnSetup};
use mcptest_core::suite::{Fault, Host, load};
use mcptest_mcp::client::{Endpoint, ServerSpec};
use mcptest_mock::Server;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Longer than any test takes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) const SHOP: &str = r"
mock_server:
  name: shop
  version: 1.0.0
  tools:
    - name: find
      description: Finds a thing.
      input_schema: {type: object, properties: {what: {type: string}}}
      response: {text: 'found ${args.what}'}
    - name: buy
      description: Buys a thing.
      response: {text: 'no money', is_error: true}
    - name: count
      description: One more each time.
      response: {sequence: [one, two, three, four]}
    - name: ask
      description: Asks who is there.
      ask:
        who: {elicitation: {message: Who are you?, requested_schema: {type: object, properties: {name: {type: string}}}}}
      response: Hello ${who.content.name}!
  resources:
    - {uri: 'note://one', name: one, text: First.}
";

pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

/// A program of target/peers.
pub(crate) fn peer(program: &str) -> String {
    let place = repository().join("target/peers").join(program);
    assert!(
        place.exists(),
        "target/peers/{program} is missing: run tests/peers/install"
    );
    place.display().to_string()
}

pub(crate) fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

pub(crate) fn sh(script: &str) -> Vec<String> {
    words(&["sh", "-c", script])
}

pub(crate) fn plain(steps: &Value) -> Vec<String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/own/agent.py");
    words(&[
        &peer("python/bin/python"),
        &script.display().to_string(),
        &steps.to_string(),
    ])
}

pub(crate) fn mock(manifest: &str) -> Server {
    let nothing = |path: &Path| Err(format!("{} is not there", path.display()));
    let loaded =
        mcptest_mock::manifest::load_text(Path::new("mock.yml"), manifest.to_owned(), &nothing);
    let said = mcptest_core::problem::render(&loaded.problems, &loaded.sources, false);
    Server::new(
        loaded.manifest.unwrap_or_else(|| panic!("{said}")),
        Vec::new(),
    )
}

/// A mock in this process.
pub(crate) fn mock_server(name: &str, manifest: &str) -> ServerSpec {
    let server = mock(manifest);
    let open = move || {
        let (reader, writer) = tokio::io::split(server.connect());
        (Box::new(reader) as _, Box::new(writer) as _)
    };
    ServerSpec::new(name, Endpoint::Pipe(Arc::new(open)))
}

pub(crate) fn shop() -> ServerSpec {
    mock_server("shop", SHOP)
}

/// Faults as a suite has them: the list under `faults:`.
pub(crate) fn faults(list: &str) -> Vec<Fault> {
    let text = format!(
        "servers: {{shop: {{command: [shop]}}}}\nfaults: {list}\nagents: [{{name: a, model: claude-x, prompt: p, servers: [shop], cassette: x}}]\n"
    );
    let read = |_: &Path| Ok(text.clone().into_bytes());
    let loaded = load(Path::new("suite.yml"), &Host::new(&read, &|_| None));
    let said = mcptest_core::problem::render(&loaded.problems, &loaded.sources, false);
    loaded.suite.unwrap_or_else(|| panic!("{said}")).faults
}

/// One run, as changes to the usual one.
#[derive(Default)]
pub(crate) struct Run<'a> {
    pub(crate) command: Vec<String>,
    pub(crate) prompt: &'a str,
    pub(crate) servers: Vec<ServerSpec>,
    pub(crate) faults: Vec<Fault>,
    pub(crate) distractors: Option<Distract<'a>>,
    pub(crate) time_budget: Option<Duration>,
    pub(crate) env: Vec<(String, String)>,
}

impl Run<'_> {
    pub(crate) async fn go(self) -> OwnOutcome {
        self.heard(|_, _| {}).await
    }

    pub(crate) async fn heard(
        self,
        hear: impl Fn(&str, &str) + Send + Sync + 'static,
    ) -> OwnOutcome {
        self.try_go(hear).await.unwrap()
    }

    pub(crate) async fn try_go(
        self,
        hear: impl Fn(&str, &str) + Send + Sync + 'static,
    ) -> Result<OwnOutcome, OwnError> {
        let setup = OwnSetup {
            hidden: Vec::new(),
            command: &self.command,
            env: &self.env,
            cwd: None,
            prompt: self.prompt,
            servers: self.servers,
            faults: FaultPlan::new(&self.faults),
            distractors: self.distractors,
            time_budget: self.time_budget.unwrap_or(PATIENCE),
            program: &program(),
            on_call: Arc::new(move |call| hear(&call.server, &call.tool)),
        };
        tokio::time::timeout(PATIENCE, own::run(setup))
            .await
            .expect("the run ends")
    }
}

/// The `mcptest` program for `mcptest bridge`. Cargo builds it beside the tests.
pub(crate) fn program() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    tests
        .parent()
        .unwrap()
        .parent()
        .unwrap()
        .join("examples/bridge")
}

pub(crate) fn json(outcome: &OwnOutcome) -> Value {
    serde_json::from_str(&outcome.trace.to_json()).unwrap()
}

/// What the plain agent printed.
pub(crate) fn got(outcome: &OwnOutcome) -> Value {
    let answer = outcome.trace.final_response.as_deref();
    let said = || format!("{}\n{:?}", outcome.stderr, outcome.trace.errors);
    serde_json::from_str(answer.unwrap_or_else(|| panic!("{}", said()))).unwrap()
}

/// Returns true if a process with this word in its command runs.
pub(crate) fn is_running(word: &str) -> bool {
    std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .any(|process| {
            std::fs::read(process.path().join("cmdline")).is_ok_and(|command| {
                command
                    .split(|byte| *byte == 0)
                    .any(|part| part == word.as_bytes())
            })
        })
}
