//! How is one run recorded, from its servers' start to their end?

use super::agent_job::{Actor, AgentJob};
use super::late::on_late;
use super::schedule::Unit;
use super::servers::{SharedServers, close_all, connect_all};
use super::setup_command;
use mcptest_agent::own::{self, OnCall, OwnOutcome, OwnSetup};
use mcptest_agent::{
    Connected, Limits, MayAsk, Oddity, OpenedToolbox, Provider, ReservedCall, Spending, Task,
    Toolbox, Unrecorded, Used, View, Watcher, instructions_of, run_model, system_prompt, usd,
};
use mcptest_core::row::AgentRow;
use mcptest_core::suite::{Agent, OwnAgent, Server, ToolSchemas};
use mcptest_core::trace::{
    CatalogueTool, ConversationTrace, RecordedError, RecordedServer, Tokens,
};
use mcptest_mcp::client::{Observed, ServerSpec};
use mcptest_mock::{RunningWorld, UnusableServer, spec_in};
use mcptest_replay::{Event, Interrupt, Watch, interrupted};
use parking_lot::Mutex;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

/// A run that can be judged.
pub(super) struct Finished {
    pub(super) trace: ConversationTrace,
    pub(super) catalogue: Vec<CatalogueTool>,
    /// Tools that the model was not offered, and why.
    pub(super) left_out: BTreeMap<String, String>,
    /// The instructions that the servers sent it.
    pub(super) instructions: Option<BTreeMap<String, String>>,
}

/// The reason why a run was not made.
pub(super) enum Unfinished {
    /// The user must fix a problem first, or a budget is used up.
    Failed(String),
    /// The provider failed during this run; the next run may succeed.
    Broken(String),
    Interrupted,
}

/// The context of a run besides its job.
#[derive(Clone, Copy)]
pub(super) struct RecordingContext<'a> {
    pub(super) servers: &'a SharedServers,
    pub(super) spending: &'a Spending,
    pub(super) watch: &'a Watch,
    pub(super) interrupt: &'a Interrupt,
}

/// Sets up, runs and clears up again, also when the setup fails half-way or the host interrupts.
pub(super) async fn perform(
    job: &AgentJob<'_>,
    unit: &Unit,
    context: &RecordingContext<'_>,
) -> Result<Finished, Unfinished> {
    let (agent, folder) = (job.row.agent, job.row.suite.folder());
    context
        .spending
        .may_spend(job.budgets(), 0)
        .map_err(failed)?;
    let command = async |what, words: &Option<Vec<String>>| match words {
        Some(words) => setup_command::run(what, words, agent, folder)
            .await
            .map_err(failed),
        None => Ok(()),
    };
    let world = world_of(job);
    let set_up_and_act = async {
        command("setup", &agent.setup).await?;
        let mut finished = match &job.actor {
            Actor::Model { provider, id } => {
                run_provider(job, ModelOf { provider, id }, world.as_ref(), unit, context).await
            }
            Actor::Own(own) => run_own(job, own, world.as_ref(), unit, context).await,
        }?;
        finished.trace.final_state = world.as_ref().map(|world| world.state());
        Ok(finished)
    };
    let finished = tokio::select! {
        biased;
        () = interrupted(context.interrupt) => Err(Unfinished::Interrupted),
        finished = set_up_and_act => finished,
    };
    let cleared = command("teardown", &agent.teardown).await;
    finished.and_then(|finished| cleared.map(|()| finished))
}

/// The world that the mocks of a run share, from its seed; `None` if no mock acts in it.
fn world_of(job: &AgentJob<'_>) -> Option<Arc<RunningWorld>> {
    let AgentRow { suite, agent, .. } = job.row;
    let is_mock = |name: &String| suite.servers.get(name).is_some_and(Server::is_mock);
    let world = suite
        .world_of(agent)
        .filter(|_| agent.servers.iter().any(is_mock))?;
    Some(Arc::new(RunningWorld::new(world)))
}

fn failed(why: impl Display) -> Unfinished {
    Unfinished::Failed(why.to_string())
}

/// Calls a model until it is done.
async fn run_provider(
    job: &AgentJob<'_>,
    model: ModelOf<'_>,
    world: Option<&Arc<RunningWorld>>,
    unit: &Unit,
    context: &RecordingContext<'_>,
) -> Result<Finished, Unfinished> {
    let (suite, agent) = (job.row.suite, job.row.agent);
    let on_late = on_late(context.watch, Some((job.number, unit.run)));
    let servers = connect_all(suite, &agent.servers, world, context.servers, &on_late)
        .await
        .map_err(failed)?;
    let OpenedToolbox {
        toolbox,
        complaints,
    } = open_toolbox(job, model.provider, &servers, unit).await?;
    let offer = Offer::new(agent, &toolbox, &servers);
    let meter = Meter {
        job,
        run: unit.run,
        context,
        toolbox: Arc::new(toolbox),
        call: Mutex::default(),
    };
    let ended = converse(job, model, &offer.instructions, meter).await;
    let observed = close_all(suite, servers).await;
    let trace = ended.map_err(|why| unfinished(job, why))?;
    Ok(offer.finish(job, trace, complaints.into_iter().chain(observed)))
}

/// The tools and instructions that the servers of a run offer to its model.
struct Offer {
    catalogue: Vec<CatalogueTool>,
    left_out: BTreeMap<String, String>,
    instructions: Vec<(String, String)>,
    servers: Vec<RecordedServer>,
}

impl Offer {
    fn new(agent: &Agent, toolbox: &Toolbox, servers: &[Connected]) -> Self {
        let instructions = if agent.tells_instructions() {
            instructions_of(servers)
        } else {
            Vec::new()
        };
        Self {
            catalogue: toolbox.catalogue().to_vec(),
            left_out: toolbox
                .left_out()
                .iter()
                .map(|left| (left.tool.clone(), left.why.clone()))
                .collect(),
            instructions,
            servers: servers
                .iter()
                .map(|server| server.client.server().to_recorded(&server.name))
                .collect(),
        }
    }

    /// The finished run: the trace with its servers, its cost and the servers' irregularities.
    fn finish(
        self,
        job: &AgentJob<'_>,
        mut trace: ConversationTrace,
        observed: impl Iterator<Item = Oddity>,
    ) -> Finished {
        let agent = job.row.agent;
        trace.servers = self.servers;
        let tokens = trace.conversation.tokens;
        trace.conversation.cost_usd = tokens.and_then(|tokens| job.cost_usd(tokens));
        trace.errors.extend(without_tools(agent, &self.catalogue));
        trace.errors.extend(oddities(observed));
        Finished {
            trace,
            catalogue: self.catalogue,
            left_out: self.left_out,
            instructions: agent
                .tells_instructions()
                .then(|| self.instructions.into_iter().collect()),
        }
    }
}

/// A model, with its provider.
#[derive(Clone, Copy)]
struct ModelOf<'a> {
    provider: &'a Provider,
    id: &'a str,
}

/// The tools of a run, as the model sees them.
async fn open_toolbox(
    job: &AgentJob<'_>,
    provider: &Provider,
    servers: &[Connected],
    unit: &Unit,
) -> Result<OpenedToolbox, Unfinished> {
    let agent = job.row.agent;
    let distract = |offered: &[CatalogueTool]| agent.injected_tools(job.row.variant, offered);
    let view = View {
        family: provider.family(),
        tool_schemas: agent.tool_schemas(),
        max_result_chars: agent.max_result_chars(),
    };
    Toolbox::open(
        servers.to_vec(),
        &distract,
        &job.hidden(unit),
        job.faults(unit),
        view,
    )
    .await
    .map_err(failed)
}

/// Runs the model to its end, and releases the connections.
async fn converse(
    job: &AgentJob<'_>,
    model: ModelOf<'_>,
    instructions: &[(String, String)],
    meter: Meter<'_>,
) -> Result<ConversationTrace, Unrecorded> {
    let agent = job.row.agent;
    let own = agent.system_prompt.as_ref().map(|text| text.value.as_str());
    let system = system_prompt(own, instructions);
    let turns: Vec<String> = agent.turns.iter().map(|turn| turn.value.clone()).collect();
    let task = Task {
        provider: model.provider,
        model: model.id,
        system: system.as_deref(),
        turns: &turns,
        code_execution: agent.runs_code(),
        parameters: &agent.parameters_of(job.row.model),
        limits: Limits {
            request_timeout: request_timeout(job),
            ..limits(agent)
        },
    };
    run_model(&task, Arc::clone(&meter.toolbox), &meter).await
}

fn unfinished(job: &AgentJob<'_>, why: Unrecorded) -> Unfinished {
    match why {
        Unrecorded::Unanswered {
            why,
            is_of_schema: true,
        } if job.row.agent.tool_schemas() == ToolSchemas::AsIs => failed(format!(
            "{why}; `tool_schemas: mend` rewrites the schema so that the provider accepts it"
        )),
        Unrecorded::Unanswered { why, .. } => Unfinished::Failed(why),
        Unrecorded::OverBudget(over) => failed(over),
        Unrecorded::Broken { why, used } => {
            let cost = job
                .cost_usd(*used)
                .map(|cost| format!(" (${})", usd(cost)))
                .unwrap_or_default();
            Unfinished::Broken(format!("{why}; it had used {} tokens{cost}", total(*used)))
        }
    }
}

/// A program of the user's, behind proxies.
async fn run_own(
    job: &AgentJob<'_>,
    own: &OwnAgent,
    world: Option<&Arc<RunningWorld>>,
    unit: &Unit,
    context: &RecordingContext<'_>,
) -> Result<Finished, Unfinished> {
    let agent = job.row.agent;
    let outcome = start_own(job, own, world, unit, context).await?;
    let mut trace = outcome.trace;
    let usage = Tokens {
        total: None,
        ..trace.conversation.tokens.unwrap_or_default()
    };
    if trace.conversation.cost_usd.is_none() {
        let model = outcome.model.as_ref();
        trace.conversation.cost_usd = model.and_then(|id| agent.cost_usd(id, usage));
    }
    account(job, usage, trace.conversation.cost_usd, unit, context)?;
    Ok(Finished {
        trace,
        catalogue: outcome.catalogue,
        left_out: BTreeMap::new(),
        instructions: None,
    })
}

/// Starts the program behind its proxies, and waits for its end.
async fn start_own(
    job: &AgentJob<'_>,
    own: &OwnAgent,
    world: Option<&Arc<RunningWorld>>,
    unit: &Unit,
    context: &RecordingContext<'_>,
) -> Result<OwnOutcome, Unfinished> {
    let agent = job.row.agent;
    let filled = own
        .filled(job.row.suite.folder(), mcptest_replay::host().environment)
        .map_err(|unset| failed(format!("`agent:`: {unset}")))?;
    let servers = specs(job, world, unit, context)?;
    let program = std::env::current_exe().map_err(failed)?;
    let distract = |offered: &[CatalogueTool]| agent.injected_tools(job.row.variant, offered);
    own::run(OwnSetup {
        command: &filled.command,
        env: &filled.env,
        cwd: Some(&filled.cwd),
        prompt: agent.turns.first().map_or("", |turn| turn.value.as_str()),
        servers,
        faults: job.faults(unit),
        distractors: agent.injects_tools(job.row.variant).then_some(&distract),
        hidden: job.hidden(unit),
        time_budget: limits(agent).time_budget,
        program: &program,
        on_call: on_call(job, unit, context),
    })
    .await
    .map_err(failed)
}

/// The servers of a run, before they are started.
fn specs(
    job: &AgentJob<'_>,
    world: Option<&Arc<RunningWorld>>,
    unit: &Unit,
    context: &RecordingContext<'_>,
) -> Result<Vec<ServerSpec>, Unfinished> {
    let on_late = on_late(context.watch, Some((job.number, unit.run)));
    let spec_of = |name: &String| {
        let spec = spec_in(job.row.suite, name, world, &mcptest_replay::host())?;
        Ok(ServerSpec {
            on_late: on_late.clone(),
            ..spec
        })
    };
    let specs = job.row.agent.servers.iter().map(spec_of);
    specs.collect::<Result<_, UnusableServer>>().map_err(failed)
}

/// Notifies the observer of each call.
fn on_call(job: &AgentJob<'_>, unit: &Unit, context: &RecordingContext<'_>) -> OnCall {
    let (watch, secrets) = (Arc::clone(context.watch), Arc::clone(&job.secrets));
    let (row, run) = (job.number, unit.run);
    Arc::new(move |call| {
        watch(Event::Calls {
            row,
            run,
            server: Some(call.server),
            tool: secrets.hidden_in(&call.tool),
        });
    })
}

/// Counts the tokens and the cost that a program reports. A program that does not report its cost cannot have a
/// budget in dollars.
fn account(
    job: &AgentJob<'_>,
    usage: Tokens,
    cost_usd: Option<f64>,
    unit: &Unit,
    context: &RecordingContext<'_>,
) -> Result<(), Unfinished> {
    let used = Used {
        tokens: total(usage),
        cost_usd,
        is_estimated: false,
    };
    context.spending.spend(job.budgets(), used);
    (context.watch)(Event::Answered {
        row: job.number,
        run: unit.run,
        tokens: usage.totalled().total,
        cost_usd,
    });
    if cost_usd.is_none() && job.budgets().is_in_dollars(context.spending) {
        return Err(failed(
            "the agent does not report its cost, so mcptest cannot enforce a dollar budget: let it write \
             `cost_usd` to the file that MCPTEST_USAGE names",
        ));
    }
    Ok(())
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
        request_timeout: default.request_timeout,
    }
}

/// The time limit for one answer: the agent's, or its provider's.
fn request_timeout(job: &AgentJob<'_>) -> Duration {
    let own = job.row.model.and_then(|model| model.provider.as_ref());
    let of_provider = || own.and_then(|name| job.row.suite.providers.get(name)?.request_timeout_ms);
    let written = job.row.agent.request_timeout_ms.or_else(of_provider);
    written.map_or(Limits::default().request_timeout, Duration::from_millis)
}

/// Servers that are of no use to the agent.
fn without_tools(
    agent: &Agent,
    catalogue: &[CatalogueTool],
) -> impl Iterator<Item = RecordedError> {
    let has_tools = |name: &str| {
        catalogue
            .iter()
            .any(|tool| tool.server.as_deref() == Some(name))
    };
    agent
        .servers
        .iter()
        .filter(move |name| !has_tools(name))
        .map(|name| RecordedError::new("server", format!("server {name:?} offers no tools")))
}

/// The irregularities of the servers, each once. Harmless observations are not irregularities.
fn oddities(observed: impl Iterator<Item = Oddity>) -> Vec<RecordedError> {
    const MOST: usize = 20;
    let mut said: Vec<RecordedError> = Vec::new();
    for Oddity { server, observed } in observed {
        if observed.is_usual() || matches!(observed, Observed::ServerRequest { .. }) {
            continue;
        }
        let error = RecordedError::new("server", format!("server {server:?}: {observed}"));
        if said.len() < MOST && !said.contains(&error) {
            said.push(error);
        }
    }
    said
}

/// Counts the cost of a run, and notifies the observer.
struct Meter<'a> {
    job: &'a AgentJob<'a>,
    run: usize,
    context: &'a RecordingContext<'a>,
    toolbox: Arc<Toolbox>,
    /// The call that is under way.
    call: Mutex<Option<ReservedCall<'a>>>,
}

fn total(usage: Tokens) -> u64 {
    usage.prompt.unwrap_or_default() + usage.completion.unwrap_or_default()
}

impl Watcher for Meter<'_> {
    fn holds_to_budget(&self) -> bool {
        let budgets = self.job.budgets();
        budgets.said.per_run_tokens.is_some() || budgets.is_in_dollars(self.context.spending)
    }

    fn may_ask(&self, used: Tokens, most: Option<Tokens>) -> MayAsk<'_> {
        Box::pin(async move {
            let most_usd = most
                .and_then(|most| self.job.most_usd(most))
                .unwrap_or_default();
            let call = self
                .context
                .spending
                .reserve(self.job.budgets(), total(used), most_usd)
                .await?;
            *self.call.lock() = Some(call);
            (self.context.watch)(Event::Asks {
                row: self.job.number,
                run: self.run,
            });
            Ok(())
        })
    }

    fn answered(&self, usage: Tokens, is_estimated: bool) -> Option<f64> {
        let cost_usd = self.job.cost_usd(usage);
        let used = Used {
            tokens: total(usage),
            cost_usd,
            is_estimated,
        };
        match self.call.lock().take() {
            Some(call) => call.pay(used),
            None => self.context.spending.spend(self.job.budgets(), used),
        }
        let (row, run) = (self.job.number, self.run);
        let tokens = usage.totalled().total.filter(|_| !is_estimated);
        let counted_usd = cost_usd.filter(|_| !is_estimated);
        (self.context.watch)(Event::Answered {
            row,
            run,
            tokens,
            cost_usd: counted_usd,
        });
        cost_usd
    }

    fn waits(&self, wait: Duration, why: &str) {
        let (row, run, why) = (self.job.number, self.run, self.job.secrets.hidden_in(why));
        (self.context.watch)(Event::Waits {
            row,
            run,
            wait,
            why,
        });
    }

    fn calls(&self, tool: &str) {
        let (row, run) = (self.job.number, self.run);
        let at = self
            .toolbox
            .offered()
            .iter()
            .position(|offered| offered.name == tool);
        let known = at.and_then(|at| self.toolbox.catalogue().get(at));
        let server = known.and_then(|known| known.server.clone());
        let tool = self
            .job
            .secrets
            .hidden_in(known.map_or(tool, |known| &known.name));
        (self.context.watch)(Event::Calls {
            row,
            run,
            server,
            tool,
        });
    }
}
