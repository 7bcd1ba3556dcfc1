//! How does one run of a model go: request, calls, results, until the model is done or reaches a limit?

use crate::at_once::at_once;
use crate::dialect::{Answered, Ask, Message, Reply, Stop, ToolChoice, Wanted};
use crate::provider::{AskError, Deadlines, Provider};
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
    /// The most tokens of one of them.
    pub max_tokens: Option<u64>,
    /// The most calls.
    pub max_tool_calls: Option<u64>,
    /// The most tokens of the whole run.
    pub token_budget: Option<u64>,
    /// The time limit of the run.
    pub time_budget: Duration,
    /// The time limit of one answer of the model.
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

/// An observer of a run, which may end it before it costs more.
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

/// The answer to whether a request may be made.
pub type MayAsk<'w> = Pin<Box<dyn Future<Output = Result<(), String>> + Send + 'w>>;

/// The tokens to reserve for an answer without a limit.
const MOST_TOKENS: u64 = 16_384;

/// The reason that a run is not a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unrecorded {
    /// The model never said anything.
    Unanswered {
        /// Why.
        why: String,
        /// True if the provider refused the schema of a tool.
        is_of_schema: bool,
    },
    /// It would have cost more than is allowed.
    OverBudget(String),
    /// The provider's infrastructure failed in the middle, which is not evidence about the model.
    Broken {
        /// The failure.
        why: String,
        /// The tokens used before it.
        used: Box<Tokens>,
    },
}

/// Runs the model to its end. What the model, its tools and its limits do after its first message is part of the
/// recording; a provider that fails is not.
pub async fn run_model(
    task: &Task<'_>,
    toolbox: Arc<Toolbox>,
    watcher: &dyn Watcher,
) -> Result<ConversationTrace, Unrecorded> {
    let started = Instant::now();
    let choice = task
        .parameters
        .get("tool_choice")
        .and_then(|choice| choice.as_str());
    let choice = choice.map(|written| toolbox.choice(written)).transpose();
    let choice = choice
        .map_err(|why| Unrecorded::Unanswered {
            why,
            is_of_schema: false,
        })?
        .flatten();
    let mut run = Run {
        task,
        choice,
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
    /// As the provider counts.
    usage: Tokens,
    /// The same, with estimates where it does not count.
    used: Tokens,
    /// Where the model's code runs.
    container: Option<String>,
}

impl Run<'_> {
    /// Says every turn of the user's; the word for why it ended.
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
                Answer::Whole(word) => stop = word,
                Answer::Cut(word) => return Ok(word),
            }
        }
        Ok(stop)
    }

    async fn until_answered(&mut self) -> Result<Answer, Unrecorded> {
        loop {
            if let Some(limit) = self.reached_limit() {
                return Ok(Answer::Cut(limit.to_owned()));
            }
            let (mut reply, said) = match self.ask().await? {
                Ok(answered) => answered,
                // Time that went by in waiting for a provider to recover says nothing of the model.
                Err(error)
                    if error.is_late()
                        && Instant::now() >= self.deadline
                        && self.assistant_turns > 0 =>
                {
                    return Ok(Answer::Cut("time_budget".to_owned()));
                }
                Err(error) => return self.failed(&error),
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
                    Answer::Whole(word)
                } else {
                    Answer::Cut(word)
                });
            }
            if !self.call_all(reply.calls, turn).await {
                return Ok(Answer::Cut("max_tool_calls".to_owned()));
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

    /// The model's next message, and what is recorded of it.
    async fn ask(&mut self) -> Result<Result<(Reply, RecordedTurn), AskError>, Unrecorded> {
        let has_results = self
            .messages
            .iter()
            .any(|message| matches!(message, Message::Results(_)));
        let choice = self.choice.as_ref();
        let ask = Ask {
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
        };
        let provider = self.task.provider;
        let most = self.watcher.holds_to_budget().then(|| {
            let completion = self.task.limits.max_tokens.unwrap_or(MOST_TOKENS);
            Tokens::of(Some(provider.estimate_prompt(&ask)), Some(completion))
        });
        let held = Instant::now();
        self.watcher
            .may_ask(self.used, most)
            .await
            .map_err(Unrecorded::OverBudget)?;
        let begun = Instant::now();
        // The run does not pay for the time that others took.
        self.deadline += begun - held;
        let deadlines = Deadlines {
            run: self.deadline,
            answer: self.task.limits.request_timeout,
        };
        let (errors, watcher) = (&mut self.trace.errors, self.watcher);
        let mut observe = |retry: crate::provider::Retry| {
            let why = retry.why.trim_end_matches('.');
            watcher.waits(retry.wait, why);
            if retry.attempt > 0 {
                errors.push(RecordedError::new(
                    "provider",
                    format!("{why}; asked again"),
                ));
            }
        };
        let reply = match provider.ask(&ask, deadlines, &mut observe).await {
            Ok(reply) => reply,
            Err(error) => return Ok(Err(error)),
        };
        let is_estimated = reply.usage.prompt.is_none() || reply.usage.completion.is_none();
        let used = if is_estimated {
            provider.estimate(&ask, &reply)
        } else {
            reply.usage
        };
        let cost_usd = self.watcher.answered(used, is_estimated);
        if is_estimated
            && self.assistant_turns == 0
            && (most.is_some() || self.task.limits.token_budget.is_some())
        {
            let why = "it counts no tokens, so the budget is held to an estimate by a tokenizer";
            self.trace.errors.push(RecordedError::new("provider", why));
        }
        self.usage = sum(self.usage, reply.usage, self.assistant_turns == 0);
        self.used.add(used);
        let said = RecordedTurn {
            tokens: Some(reply.usage.totalled()).filter(|tokens| *tokens != Tokens::default()),
            cost_usd: cost_usd.filter(|_| !is_estimated),
            start_ms: millis(self.started, begun),
            duration_ms: millis(begun, Instant::now()),
            ..RecordedTurn::new("assistant", &reply.text)
        };
        Ok(Ok((reply, said)))
    }

    /// A failure before the model's first message leaves nothing to judge. After it, only an outcome of the
    /// conversation counts.
    fn failed(&mut self, error: &AskError) -> Result<Answer, Unrecorded> {
        if self.assistant_turns == 0 {
            let (why, is_of_schema) = (error.to_string(), error.is_of_schema);
            return Err(Unrecorded::Unanswered { why, is_of_schema });
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
        Ok(Answer::Cut("error".to_owned()))
    }

    /// Makes the calls at once and keeps them in their order; false when there were more than are allowed.
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

/// The end of one turn of the user.
enum Answer {
    /// The model is done with it.
    Whole(String),
    /// The run is over.
    Cut(String),
}

/// A count is known only while every message has had one.
fn sum(before: Tokens, more: Tokens, is_first: bool) -> Tokens {
    let add = |before: Option<u64>, more: Option<u64>| match (before, more) {
        (None, more) if is_first => more,
        (Some(before), Some(more)) => Some(before + more),
        _ => None,
    };
    let mut sum = Tokens::of(
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
