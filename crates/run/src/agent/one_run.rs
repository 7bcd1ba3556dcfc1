//! One run from its servers' start to their end: what is recorded of it.

use super::purse::{Allowed, Purse};
use super::shared::Shared;
use super::work::{Actor, Work};
use super::{Event, Watch, chore};
use mcptest_agent::own::{self, OwnEvent, OwnSetup};
use mcptest_agent::{Connected, FaultPlan, Limits, Task, Toolbox, Unrecorded, Watcher, run_model};
use mcptest_core::suite::{Agent, OwnAgent, Suite};
use mcptest_core::trace::{CatalogueTool, ConversationTrace, RecordedError, Tokens};
use mcptest_mcp::client::{Client, Observed, ServerSpec};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// A run that can be judged.
pub(super) struct Finished {
    pub(super) trace: ConversationTrace,
    pub(super) catalogue: Vec<CatalogueTool>,
}

/// Why there is none.
pub(super) enum Unfinished {
    /// Something must be put right first.
    Failed(String),
    /// A budget is used up.
    OverBudget(String),
    /// The user has enough.
    Interrupted,
}

/// What a run needs beside its work.
pub(super) struct Surroundings<'a> {
    pub(super) shared: &'a Shared,
    pub(super) purse: &'a Purse,
    pub(super) watch: &'a Watch,
    pub(super) interrupted: watch::Receiver<Option<u8>>,
}

/// Sets up, runs and clears up again, also when the setup fails half-way or the user interrupts.
pub(super) async fn perform(
    work: &Work<'_>,
    run: usize,
    faults: FaultPlan,
    around: &mut Surroundings<'_>,
) -> Result<Finished, Unfinished> {
    let (agent, folder) = (work.agent, work.suite.folder());
    let host = crate::host();
    around.purse.may_spend(work.allowed(), 0).map_err(Unfinished::OverBudget)?;
    let mut interrupted = around.interrupted.clone();
    let set_up_and_act = async {
        if let Some(setup) = &agent.setup {
            chore::run("setup", setup, agent, folder, host.environment).await.map_err(Unfinished::Failed)?;
        }
        act(work, run, faults, around).await
    };
    let finished = tokio::select! {
        biased;
        _ = interrupted.wait_for(Option::is_some) => Err(Unfinished::Interrupted),
        finished = set_up_and_act => finished,
    };
    if let Some(teardown) = &agent.teardown {
        let done = chore::run("teardown", teardown, agent, folder, host.environment).await;
        if finished.is_ok() {
            done.map_err(Unfinished::Failed)?;
        }
    }
    finished
}

async fn act(
    work: &Work<'_>,
    run: usize,
    faults: FaultPlan,
    around: &Surroundings<'_>,
) -> Result<Finished, Unfinished> {
    match &work.actor {
        Actor::Model { provider, id } => {
            let servers = connect_all(work, around.shared).await.map_err(Unfinished::Failed)?;
            let distract = |offered: &[CatalogueTool]| work.distractors(offered);
            let (toolbox, complaints) = Toolbox::open(servers.clone(), &distract, faults)
                .await
                .map_err(|error| Unfinished::Failed(error.to_string()))?;
            let toolbox = Arc::new(toolbox);
            let catalogue = toolbox.catalogue().to_vec();
            let turns: Vec<String> = work.agent.turns.iter().map(|turn| turn.value.clone()).collect();
            let task = Task {
                provider,
                model: id,
                system: work.agent.system_prompt.as_ref().map(|text| text.value.as_str()),
                turns: &turns,
                temperature: work.agent.parameters.get("temperature").and_then(Value::as_f64),
                limits: limits(work.agent),
            };
            let meter = Meter { work, run, around, toolbox: Arc::clone(&toolbox) };
            let ended = run_model(&task, toolbox, &meter).await;
            drop(meter);
            let observed = close_all(work.suite, servers).await;
            let mut trace = ended.map_err(|why| match why {
                Unrecorded::Unanswered(why) => Unfinished::Failed(why),
                Unrecorded::OverBudget(why) => Unfinished::OverBudget(why),
            })?;
            trace.conversation.cost_usd = cost(work, &trace);
            trace.errors.extend(without_tools(work.agent, &catalogue));
            trace.errors.extend(oddities(complaints.into_iter().chain(observed)));
            Ok(Finished { trace, catalogue })
        }
        Actor::Own(own) => run_own(work, own, run, faults, around).await,
    }
}

fn servers_of(work: &Work<'_>) -> Result<Vec<ServerSpec>, String> {
    let spec_of = |name: &String| {
        let server = work.suite.servers.get(name).ok_or_else(|| format!("there is no server `{name}`"))?;
        crate::server::spec_of(name, server, work.suite.folder(), crate::host().environment)
            .map_err(|error| error.to_string())
    };
    work.agent.servers.iter().map(spec_of).collect()
}

/// A program of the user's, behind proxies.
async fn run_own(
    work: &Work<'_>,
    own: &OwnAgent,
    run: usize,
    faults: FaultPlan,
    around: &Surroundings<'_>,
) -> Result<Finished, Unfinished> {
    let environment = crate::host().environment;
    let failed = |error: &dyn std::fmt::Display| Unfinished::Failed(error.to_string());
    let fill =
        |text: &String| own.fill(text, environment).map_err(|unset| failed(&format!("`agent:`: {unset}")));
    let command = own.command.iter().map(fill).collect::<Result<Vec<_>, _>>()?;
    let mut env = Vec::new();
    for (name, value) in &own.env {
        env.push((name.clone(), fill(value)?));
    }
    let folder = work.suite.folder();
    let cwd = match &own.cwd {
        Some(cwd) => folder.join(fill(cwd)?),
        None if folder.as_os_str().is_empty() => PathBuf::from("."),
        None => folder.to_owned(),
    };
    let servers = servers_of(work).map_err(|error| failed(&error))?;
    let program = std::env::current_exe().map_err(|error| failed(&error))?;
    let distract = |offered: &[CatalogueTool]| work.distractors(offered);
    let (watch, secrets, cell) = (Arc::clone(around.watch), work.secrets(), work.place);
    let outcome = own::run(OwnSetup {
        command: &command,
        env: &env,
        cwd: Some(&cwd),
        prompt: work.agent.turns.first().map_or("", |turn| turn.value.as_str()),
        servers,
        faults,
        distractors: Some(&distract),
        catalogue: None,
        time_budget: limits(work.agent).time_budget,
        program: &program,
        on_event: Arc::new(move |event| {
            if let OwnEvent::CallStarted { server, tool, .. } = event {
                let (server, tool) = (Some(server.to_owned()), secrets.hidden_in(tool));
                watch(Event::Calls { cell, run, server, tool });
            }
        }),
    })
    .await
    .map_err(|error| failed(&error))?;
    let mut trace = outcome.trace;
    let usage = Tokens { total: None, ..trace.conversation.tokens.unwrap_or_default() };
    let priced =
        || outcome.model.as_ref().and_then(|id| work.agent.cost_usd(id, usage.prompt?, usage.completion?));
    trace.conversation.cost_usd = trace.conversation.cost_usd.or_else(priced);
    let cost_usd = trace.conversation.cost_usd;
    around.purse.spend(work.allowed(), total(usage), cost_usd);
    (around.watch)(Event::Answered { cell, run, tokens: counted(usage), cost_usd });
    if cost_usd.is_none() && work.allowed().is_in_dollars(around.purse) {
        let why = "the agent does not tell what it costs, so a budget in dollars cannot be held: let it write \
                   `cost_usd` to the file that MCPTEST_USAGE names";
        return Err(failed(&why));
    }
    Ok(Finished { trace, catalogue: outcome.catalogue })
}

fn cost(work: &Work<'_>, trace: &ConversationTrace) -> Option<f64> {
    work.cost_usd(trace.conversation.tokens?)
}

pub(super) fn limits(agent: &Agent) -> Limits {
    let whole = |key: &str| agent.parameters.get(key).and_then(Value::as_u64);
    let default = Limits::default();
    Limits {
        max_turns: whole("max_turns").unwrap_or(default.max_turns),
        max_tokens: whole("max_tokens"),
        max_tool_calls: whole("max_tool_calls"),
        token_budget: whole("token_budget"),
        time_budget: whole("time_budget").map_or(default.time_budget, Duration::from_millis),
    }
}

/// Connects to a server as its suite describes it.
pub(super) async fn connect(suite: &Suite, name: &str) -> Result<Connected, String> {
    let server = suite.servers.get(name).ok_or_else(|| format!("there is no server `{name}`"))?;
    let spec = crate::server::spec_of(name, server, suite.folder(), crate::host().environment)
        .map_err(|error| error.to_string())?;
    let client = Client::connect(&spec, None).await.map_err(|error| error.to_string())?;
    Ok(Connected { name: name.to_owned(), client: Arc::new(client), timeout: spec.timeout })
}

/// The servers of a run in the agent's order; they start at once.
async fn connect_all(work: &Work<'_>, shared: &Shared) -> Result<Vec<Connected>, String> {
    let suite = work.suite;
    let mut starting = JoinSet::new();
    let mut connected: Vec<Option<Connected>> = vec![None; work.agent.servers.len()];
    for (at, name) in work.agent.servers.iter().enumerate() {
        let server = suite.servers.get(name).ok_or_else(|| format!("there is no server `{name}`"))?;
        if server.shared {
            connected[at] = Some(shared.get(suite, name).await?);
            continue;
        }
        let spec = crate::server::spec_of(name, server, suite.folder(), crate::host().environment)
            .map_err(|error| error.to_string())?;
        let name = name.clone();
        starting.spawn(async move {
            let client = Client::connect(&spec, None).await.map_err(|error| error.to_string())?;
            Ok::<_, String>((at, Connected { name, client: Arc::new(client), timeout: spec.timeout }))
        });
    }
    let mut failed = None;
    while let Some(started) = starting.join_next().await {
        match started {
            Ok(Ok((at, server))) => connected[at] = Some(server),
            Ok(Err(why)) => failed = failed.or(Some(why)),
            Err(error) => failed = failed.or(Some(error.to_string())),
        }
    }
    match failed {
        Some(why) => {
            close_all(suite, connected.into_iter().flatten().collect()).await;
            Err(why)
        }
        None => Ok(connected.into_iter().flatten().collect()),
    }
}

/// Ends the servers that are the run's own, all at once; what was seen of them.
async fn close_all(suite: &Suite, servers: Vec<Connected>) -> Vec<(String, Observed)> {
    let mut closing = JoinSet::new();
    for server in servers {
        if suite.servers.get(&server.name).is_some_and(|server| server.shared) {
            continue;
        }
        if let Ok(client) = Arc::try_unwrap(server.client) {
            let name = server.name;
            closing.spawn(async move {
                let observed = client.close().await.observed;
                observed.into_iter().map(move |odd| (name.clone(), odd)).collect::<Vec<_>>()
            });
        }
    }
    closing.join_all().await.into_iter().flatten().collect()
}

/// Servers that are of no use to the agent.
fn without_tools(agent: &Agent, catalogue: &[CatalogueTool]) -> impl Iterator<Item = RecordedError> {
    let has_tools = |name: &str| catalogue.iter().any(|tool| tool.server.as_deref() == Some(name));
    agent
        .servers
        .iter()
        .filter(move |name| !has_tools(name))
        .map(|name| RecordedError::new("server", format!("server {name:?}: it offers no tools")))
}

/// What is odd about the servers, each once; what every server may do is not.
fn oddities(observed: impl Iterator<Item = (String, Observed)>) -> Vec<RecordedError> {
    const MOST: usize = 20;
    let mut said: Vec<RecordedError> = Vec::new();
    for (server, odd) in observed {
        if matches!(
            odd,
            Observed::Stderr { .. }
                | Observed::Notification { .. }
                | Observed::FellBack { .. }
                | Observed::ServerRequest { .. }
        ) {
            continue;
        }
        let error = RecordedError::new("server", format!("server {server:?}: {odd}"));
        if said.len() < MOST && !said.contains(&error) {
            said.push(error);
        }
    }
    said
}

/// Counts what a run costs, and tells who watches.
struct Meter<'a> {
    work: &'a Work<'a>,
    run: usize,
    around: &'a Surroundings<'a>,
    toolbox: Arc<Toolbox>,
}

impl Meter<'_> {
    fn allowed(&self) -> Allowed<'_> {
        self.work.allowed()
    }
}

fn total(usage: Tokens) -> u64 {
    usage.prompt.unwrap_or_default() + usage.completion.unwrap_or_default()
}

/// The tokens of an answer, when both its counts are there.
fn counted(usage: Tokens) -> Option<u64> {
    usage.totalled().total
}

impl Watcher for Meter<'_> {
    fn may_ask(&self, used: Tokens) -> Result<(), String> {
        self.around.purse.may_spend(self.allowed(), total(used))?;
        (self.around.watch)(Event::Asks { cell: self.work.place, run: self.run });
        Ok(())
    }

    fn answered(&self, usage: Tokens) {
        let cost_usd = self.work.cost_usd(usage);
        self.around.purse.spend(self.allowed(), total(usage), cost_usd);
        let (cell, run) = (self.work.place, self.run);
        (self.around.watch)(Event::Answered { cell, run, tokens: counted(usage), cost_usd });
    }

    fn calls(&self, tool: &str) {
        let (cell, run) = (self.work.place, self.run);
        let at = self.toolbox.offered().iter().position(|offered| offered.name == tool);
        let known = at.and_then(|at| self.toolbox.catalogue().get(at));
        let server = known.and_then(|known| known.server.clone());
        let tool = self.work.without_secrets(known.map_or(tool, |known| &known.name));
        (self.around.watch)(Event::Calls { cell, run, server, tool });
    }
}
