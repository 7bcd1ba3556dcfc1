//! How does one run of a model go: request, calls, results, until the model is done or reaches a limit?

use crate::at_once::at_once;
use crate::budget::OverBudget;
use crate::dialect::{Answered, Ask, Message, Reply, Stop, ToolChoice, Wanted};
use crate::provider::{AskError, Deadlines, Provider, Retry};
use crate::toolbox::Toolbox;
use mcptest_core::provider::Parameters;
use mcptest_core::trace::{ConversationTrace, RecordedCall, RecordedError, RecordedTurn, Tokens};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The limits of a run.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The most messages of the model.
    pub max_turns: u64,
    /// The maximum number of tokens of one answer.
    pub max_tokens: Option<u64>,
    /// The most calls.
    pub max_tool_calls: Option<u64>,
    /// The most tokens of the whole run.
    pub token_budget: Option<u64>,
    /// The time limit of the run.
    pub time_budget: Duration,
    /// The time limit for one answer of the model.
    pub request_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_turns: 25,
            max_tokens: None,
            max_tool_calls: None,
            token_budget: None,
            time_budget: Duration::from_secs(600),
            request_timeout: Duration::from_secs(120),
        }
    }
}

/// The question, and the provider that answers it.
pub struct Task<'a> {
    /// The provider.
    pub provider: &'a Provider,
    /// The provider's id of the model.
    pub model: &'a str,
    /// The instructions before the conversation.
    pub system: Option<&'a str>,
    /// The user's messages, turn by turn.
    pub turns: &'a [String],
    /// Further parameters, by their names in a suite.
    pub parameters: &'a Parameters,
    /// True if the model may call the tools from code that its provider runs.
    pub code_execution: bool,
    /// The limits of the run.
    pub limits: Limits,
}

/// Observes a run, and may end it before it costs more.
pub trait Watcher: Sync {
    /// Returns true if there is a budget, in tokens or in dollars.
    fn holds_to_budget(&self) -> bool;
    /// Called before every request to the model, with the tokens that the run has used so far, and the most that the
    /// request may use, if there is a budget. It waits while other requests may use the budget up. An error ends the
    /// run.
    fn may_ask(&self, used: Tokens, most: Option<Tokens>) -> MayAsk<'_>;
    /// Called with the exact or estimated tokens of an answer. Returns its cost.
    fn answered(&self, usage: Tokens, is_estimated: bool) -> Option<f64>;
    /// Called when the provider pauses for this time.
    fn waits(&self, wait: Duration, why: &str);
    /// A tool is being called.
    fn calls(&self, tool: &str);
}

/// The permission to make a request.
pub type MayAsk<'w> = Pin<Box<dyn Future<Output = Result<(), OverBudget>> + Send + 'w>>;

/// The tokens to reserve for an answer without a limit.
const MOST_TOKENS: u64 = 16_384;

/// The reason that a run is not a recording.
#[derive(Debug, Clone, PartialEq)]
pub enum Unrecorded {
    /// The model never answered.
    Unanswered {
        /// Why.
        why: String,
        /// True if the provider refused the schema of a tool.
        is_of_schema: bool,
    },
    /// The next request would exceed the budget.
    OverBudget(OverBudget),
    /// The provider's infrastructure failed during the run, which is not evidence about the model.
    Broken {
        /// The failure.
        why: String,
        /// The tokens used before it.
        used: Box<Tokens>,
    },
}

/// Runs the model to its end. The recording contains everything that the model, its tools and its limits do after the
/// first message. A provider failure is not part of it.
pub async fn run_model(
    task: &Task<'_>,
    toolbox: Arc<Toolbox>,
    watcher: &dyn Watcher,
) -> Result<ConversationTrace, Unrecorded> {
    let started = Instant::now();
    let mut run = Run {
        task,
        choice: tool_choice(task, &toolbox)?,
        toolbox,
        watcher,
        started,
        deadline: started + task.limits.time_budget,
        messages: Vec::new(),
        trace: ConversationTrace::default(),
        assistant_turns: 0,
        usage: Tokens::default(),
        used: Tokens::default(),
        container: None,
    };
    if run.toolbox.has_faults() {
        run.trace.faults = Some(Vec::new());
    }
    let stop = run.converse().await?;
    let Run {
        mut trace,
        usage,
        messages,
        ..
    } = run;
    trace.stop_reason = Some(stop);
    trace.conversation.tokens = Some(usage.totalled());
    trace.conversation.message_count = Some(messages.len() as u64);
    trace.conversation.duration_ms = u64::try_from(started.elapsed().as_millis()).ok();
    Ok(trace)
}

/// The tool that the suite wants to be called, as the provider knows it.
fn tool_choice(task: &Task<'_>, toolbox: &Toolbox) -> Result<Option<ToolChoice>, Unrecorded> {
    let written = task.parameters.get("tool_choice");
    let Some(written) = written.and_then(|choice| choice.as_str()) else {
        return Ok(None);
    };
    toolbox
        .choice(written)
        .map_err(|error| Unrecorded::Unanswered {
            why: error.to_string(),
            is_of_schema: false,
        })
}

struct Run<'a> {
    task: &'a Task<'a>,
    choice: Option<ToolChoice>,
    toolbox: Arc<Toolbox>,
    watcher: &'a dyn Watcher,
    started: Instant,
    deadline: Instant,
    messages: Vec<Message>,
    trace: ConversationTrace,
    assistant_turns: u64,
    /// The tokens that the provider counted.
    usage: Tokens,
    /// The tokens, with estimates where the provider reports none.
    used: Tokens,
    /// The container that runs the model's code.
    container: Option<String>,
}

impl Run<'_> {
    /// Runs every turn of the user. Returns the reason for the end.
    async fn converse(&mut self) -> Result<String, Unrecorded> {
        let mut stop = Stop::EndTurn.as_str().to_owned();
        for turn in self.task.turns {
            self.messages.push(Message::User(turn.clone()));
            let start_ms = millis(self.started, Instant::now());
            self.note(RecordedTurn {
                start_ms,
                ..RecordedTurn::new("user", turn)
            });
            self.trace.final_response = None;
            match self.until_answered().await? {
                TurnEnd::Whole(word) => stop = word,
                TurnEnd::Cut(word) => return Ok(word),
            }
        }
        Ok(stop)
    }

    async fn until_answered(&mut self) -> Result<TurnEnd, Unrecorded> {
        loop {
            if let Some(limit) = self.reached_limit() {
                return Ok(TurnEnd::Cut(limit.to_owned()));
            }
            let ModelTurn { mut reply, said } = match self.ask().await? {
                ModelAnswer::Answered(turn) => *turn,
                ModelAnswer::Failed(error) => return self.failed(&error),
            };
            let turn = self.assistant_turns;
            self.assistant_turns += 1;
            self.container = reply.container.take().or_else(|| self.container.take());
            self.messages.push(Message::Assistant(reply.message));
            self.note(said);
            if reply.calls.is_empty() || reply.stop.is_cut_off() {
                self.leave(&reply.calls, turn);
                if reply.stop == Stop::Pause {
                    continue;
                }
                self.trace.final_response = Some(reply.text).filter(|text| !text.is_empty());
                let word = reply.stop.as_str().to_owned();
                let is_whole = matches!(reply.stop, Stop::EndTurn | Stop::StopSequence);
                return Ok(if is_whole {
                    TurnEnd::Whole(word)
                } else {
                    TurnEnd::Cut(word)
                });
            }
            if !self.call_all(reply.calls, turn).await {
                return Ok(TurnEnd::Cut("max_tool_calls".to_owned()));
            }
        }
    }

    fn reached_limit(&self) -> Option<&'static str> {
        let Limits {
            max_turns,
            token_budget,
            ..
        } = self.task.limits;
        let used = self.used.prompt.unwrap_or_default() + self.used.completion.unwrap_or_default();
        if Instant::now() >= self.deadline {
            Some("time_budget")
        } else if self.assistant_turns >= max_turns {
            Some("max_turns")
        } else {
            token_budget
                .filter(|budget| used >= *budget)
                .map(|_| "token_budget")
        }
    }

    async fn ask(&mut self) -> Result<ModelAnswer, Unrecorded> {
        let provider = self.task.provider;
        let ask = self.next_ask();
        let most = self.most_tokens(&ask);
        let held = Instant::now();
        self.watcher
            .may_ask(self.used, most)
            .await
            .map_err(Unrecorded::OverBudget)?;
        let begun = Instant::now();
        // The run does not pay for the time that others took.
        let deadline = self.deadline + (begun - held);
        let deadlines = Deadlines {
            run: deadline,
            answer: self.task.limits.request_timeout,
        };
        let ProviderAnswer { reply, retries } = self.ask_provider(&ask, deadlines).await;
        let estimate = match &reply {
            Ok(reply) if !is_counted(reply.usage) => Some(provider.estimate(&ask, reply)),
            _ => None,
        };
        self.deadline = deadline;
        self.trace.errors.extend(retries);
        let reply = match reply {
            Ok(reply) => reply,
            Err(error) => return Ok(ModelAnswer::Failed(error)),
        };
        let cost_usd = self.account(reply.usage, estimate, most.is_some());
        let said = RecordedTurn {
            tokens: Some(reply.usage.totalled()).filter(|tokens| *tokens != Tokens::default()),
            cost_usd: cost_usd.filter(|_| estimate.is_none()),
            start_ms: millis(self.started, begun),
            duration_ms: millis(begun, Instant::now()),
            ..RecordedTurn::new("assistant", &reply.text)
        };
        Ok(ModelAnswer::Answered(Box::new(ModelTurn { reply, said })))
    }

    /// Asks the provider, and notifies the observer of every wait.
    async fn ask_provider(&self, ask: &Ask<'_>, deadlines: Deadlines) -> ProviderAnswer {
        let mut retries = Vec::new();
        let mut observe = |retry: Retry| {
            let why = retry.why.trim_end_matches('.');
            self.watcher.waits(retry.wait, why);
            if retry.attempt > 0 {
                retries.push(RecordedError::new(
                    "provider",
                    format!("{why}; asked again"),
                ));
            }
        };
        let reply = self.task.provider.ask(ask, deadlines, &mut observe).await;
        ProviderAnswer { reply, retries }
    }

    fn next_ask(&self) -> Ask<'_> {
        let has_results = self
            .messages
            .iter()
            .any(|message| matches!(message, Message::Results(_)));
        let choice = self.choice.as_ref();
        Ask {
            system: self.task.system,
            tools: self.toolbox.offered(),
            max_tokens: self.task.limits.max_tokens,
            parameters: self.task.parameters,
            tool_choice: if has_results {
                choice.map(ToolChoice::after_results)
            } else {
                choice
            },
            code_execution: self.task.code_execution,
            container: self.container.as_deref(),
            echo_reasoning: self.task.provider.echoes_reasoning(),
            ..Ask::new(self.task.model, &self.messages)
        }
    }

    /// The maximum number of tokens that a request may use, if there is a budget.
    fn most_tokens(&self, ask: &Ask<'_>) -> Option<Tokens> {
        if !self.watcher.holds_to_budget() {
            return None;
        }
        let prompt = self.task.provider.estimate_prompt(ask);
        let completion = self.task.limits.max_tokens.unwrap_or(MOST_TOKENS);
        Some(Tokens::without_total(Some(prompt), Some(completion)))
    }

    /// Counts the tokens of an answer, estimated if the provider reports none. Returns its cost.
    fn account(
        &mut self,
        counted: Tokens,
        estimate: Option<Tokens>,
        has_budget: bool,
    ) -> Option<f64> {
        let is_first = self.assistant_turns == 0;
        let used = estimate.unwrap_or(counted);
        let cost_usd = self.watcher.answered(used, estimate.is_some());
        let is_limited = has_budget || self.task.limits.token_budget.is_some();
        if estimate.is_some() && is_first && is_limited {
            let why = "it reports no token counts, so mcptest enforces the budget with a tokenizer's \
                estimate";
            self.trace.errors.push(RecordedError::new("provider", why));
        }
        self.usage = sum(self.usage, counted, is_first);
        self.used.add(used);
        cost_usd
    }

    /// A failure before the model's first message leaves nothing to judge. After it, only an outcome of the
    /// conversation counts.
    fn failed(&mut self, error: &AskError) -> Result<TurnEnd, Unrecorded> {
        if self.assistant_turns == 0 {
            let (why, is_of_schema) = (error.to_string(), error.is_of_schema);
            return Err(Unrecorded::Unanswered { why, is_of_schema });
        }
        // Time that went by in waiting for a provider to recover says nothing of the model.
        if error.is_late() && Instant::now() >= self.deadline {
            return Ok(TurnEnd::Cut("time_budget".to_owned()));
        }
        if !error.is_of_conversation() {
            return Err(Unrecorded::Broken {
                why: error.to_string(),
                used: Box::new(self.used),
            });
        }
        // First, since a run that ended is told by its first error.
        self.trace
            .errors
            .insert(0, RecordedError::new("provider", error.to_string()));
        Ok(TurnEnd::Cut("error".to_owned()))
    }

    /// Makes the calls concurrently and keeps their order. Returns false if there were more calls
    /// than allowed.
    async fn call_all(&mut self, wanted: Vec<Wanted>, turn: u64) -> bool {
        let made = self.trace.tool_calls.len();
        let room = self
            .task
            .limits
            .max_tool_calls
            .map_or(usize::MAX, |most| (most as usize).saturating_sub(made));
        let allowed = wanted.len().min(room);
        let is_over = allowed < wanted.len();
        self.leave(&wanted[allowed..], turn);
        let call = |(at, wanted)| {
            let (toolbox, watcher, deadline) = (&self.toolbox, self.watcher, self.deadline);
            async move {
                let wanted: Wanted = wanted;
                watcher.calls(&wanted.name);
                toolbox.call(made + at, &wanted, deadline).await
            }
        };
        let done = at_once(wanted.into_iter().take(allowed).enumerate().map(call)).await;
        let mut answered: Vec<Answered> = Vec::with_capacity(done.len());
        for mut done in done {
            done.call.turn = Some(turn);
            done.result.start_ms = millis(self.started, done.started);
            self.trace.tool_calls.push(done.call);
            self.trace.tool_results.push(done.result);
            if let (Some(faults), Some(fault)) = (&mut self.trace.faults, done.fault) {
                faults.push(fault);
            }
            answered.push(done.answered);
        }
        self.messages.push(Message::Results(answered));
        !is_over
    }

    /// Keeps the calls that are not made.
    fn leave(&mut self, wanted: &[Wanted], turn: u64) {
        let calls = wanted.iter().map(|wanted| RecordedCall {
            turn: Some(turn),
            ..self.toolbox.recorded(wanted)
        });
        self.trace.unmade_calls.extend(calls);
    }

    fn note(&mut self, turn: RecordedTurn) {
        self.trace
            .conversation
            .turns
            .get_or_insert_default()
            .push(turn);
    }
}

/// The result of asking the model once.
enum ModelAnswer {
    Answered(Box<ModelTurn>),
    Failed(AskError),
}

/// A provider's answer, and the earlier failed tries.
struct ProviderAnswer {
    reply: Result<Reply, AskError>,
    retries: Vec<RecordedError>,
}

/// One message of the model.
struct ModelTurn {
    reply: Reply,
    /// The recorded message.
    said: RecordedTurn,
}

fn is_counted(usage: Tokens) -> bool {
    usage.prompt.is_some() && usage.completion.is_some()
}

/// The end of one turn of the user.
enum TurnEnd {
    /// The model is done with it.
    Whole(String),
    /// The run is over.
    Cut(String),
}

/// Adds token counts. The sum is unknown as soon as one message has none.
fn sum(before: Tokens, more: Tokens, is_first: bool) -> Tokens {
    let add = |before: Option<u64>, more: Option<u64>| match (before, more) {
        (None, more) if is_first => more,
        (Some(before), Some(more)) => Some(before + more),
        _ => None,
    };
    let mut sum = Tokens::without_total(
        add(before.prompt, more.prompt),
        add(before.completion, more.completion),
    );
    sum.add_parts(before);
    sum.add_parts(more);
    sum
}

/// The time between, in milliseconds.
fn millis(from: Instant, to: Instant) -> Option<u64> {
    u64::try_from(to.saturating_duration_since(from).as_millis()).ok()
}
