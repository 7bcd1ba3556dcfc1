//! One run of a model: ask, call what it wants, tell it what came of that, until it is done or a limit is reached.

use crate::at_once::at_once;
use crate::dialect::{Answered, Ask, Message, Reply, Stop, Wanted};
use crate::provider::{AskError, Deadlines, Provider};
use crate::toolbox::Toolbox;
use mcptest_core::trace::{ConversationTrace, RecordedError, RecordedTurn, Tokens};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// What a run may use; what is not limited here ends by itself.
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
    /// How long it may take.
    pub time_budget: Duration,
    /// How long one answer of the model may take.
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

/// What is asked of whom.
pub struct Task<'a> {
    /// Who is asked.
    pub provider: &'a Provider,
    /// The provider's id of the model.
    pub model: &'a str,
    /// What the model is told before the conversation.
    pub system: Option<&'a str>,
    /// What the user says, turn by turn.
    pub turns: &'a [String],
    /// The sampling temperature.
    pub temperature: Option<f64>,
    /// What the run may use.
    pub limits: Limits,
}

/// Whoever watches a run, and may end it before it costs more.
pub trait Watcher: Sync {
    /// Asked before every request to the model, with the tokens that the run has used so far; an error ends the run.
    fn may_ask(&self, used: Tokens) -> Result<(), String>;
    /// The model has answered, at this price.
    fn answered(&self, usage: Tokens);
    /// The provider is not asked again before so much time has passed.
    fn waits(&self, wait: Duration, why: &str);
    /// A tool is being called.
    fn calls(&self, tool: &str);
}

/// Why a run is no recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unrecorded {
    /// The model never said anything.
    Unanswered(String),
    /// It would have cost more than is allowed.
    OverBudget(String),
    /// What the provider runs on failed in the middle, which says nothing of the model.
    Broken {
        /// How.
        why: String,
        /// What was used by then.
        used: Tokens,
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
    let mut run = Run {
        task,
        toolbox,
        watcher,
        deadline: started + task.limits.time_budget,
        messages: Vec::new(),
        trace: ConversationTrace::default(),
        assistant_turns: 0,
        usage: Tokens::default(),
    };
    if run.toolbox.has_faults() {
        run.trace.faults = Some(Vec::new());
    }
    let stop = run.converse().await?;
    let Run { mut trace, usage, messages, .. } = run;
    trace.stop_reason = Some(stop);
    trace.conversation.tokens = Some(usage.totalled());
    trace.conversation.message_count = Some(messages.len() as u64);
    trace.conversation.duration_ms = u64::try_from(started.elapsed().as_millis()).ok();
    Ok(trace)
}

struct Run<'a> {
    task: &'a Task<'a>,
    toolbox: Arc<Toolbox>,
    watcher: &'a dyn Watcher,
    deadline: Instant,
    messages: Vec<Message>,
    trace: ConversationTrace,
    assistant_turns: u64,
    usage: Tokens,
}

impl Run<'_> {
    /// Says every turn of the user's; the word for why it ended.
    async fn converse(&mut self) -> Result<String, Unrecorded> {
        let mut stop = Stop::EndTurn.as_str().to_owned();
        for turn in self.task.turns {
            self.messages.push(Message::User(turn.clone()));
            self.note("user", turn);
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
            if let Err(why) = self.watcher.may_ask(self.usage) {
                return Err(Unrecorded::OverBudget(why));
            }
            let reply = match self.ask().await {
                Ok(reply) => reply,
                // Time that went by in waiting for a provider to recover says nothing of the model.
                Err(error)
                    if error.is_late() && Instant::now() >= self.deadline && self.assistant_turns > 0 =>
                {
                    return Ok(Answer::Cut("time_budget".to_owned()));
                }
                Err(error) => return self.failed(&error),
            };
            if let Some(why) = self.uncounted() {
                self.trace.errors.insert(0, RecordedError::new("provider", why));
                return Ok(Answer::Cut("error".to_owned()));
            }
            let turn = self.assistant_turns;
            self.assistant_turns += 1;
            self.messages.push(Message::Assistant(reply.message));
            self.note("assistant", &reply.text);
            if reply.calls.is_empty() {
                if reply.stop == Stop::Pause {
                    continue;
                }
                self.trace.final_response = Some(reply.text).filter(|text| !text.is_empty());
                let word = reply.stop.as_str().to_owned();
                let is_whole = matches!(reply.stop, Stop::EndTurn | Stop::StopSequence);
                return Ok(if is_whole { Answer::Whole(word) } else { Answer::Cut(word) });
            }
            if !self.call_all(reply.calls, turn).await {
                return Ok(Answer::Cut("max_tool_calls".to_owned()));
            }
        }
    }

    fn reached_limit(&self) -> Option<&'static str> {
        let Limits { max_turns, token_budget, .. } = self.task.limits;
        let used = self.usage.prompt.unwrap_or_default() + self.usage.completion.unwrap_or_default();
        if Instant::now() >= self.deadline {
            Some("time_budget")
        } else if self.assistant_turns >= max_turns {
            Some("max_turns")
        } else {
            token_budget.filter(|budget| used >= *budget).map(|_| "token_budget")
        }
    }

    /// A budget of tokens cannot be held where nobody counts them.
    fn uncounted(&self) -> Option<&'static str> {
        let is_counted = self.usage.prompt.is_some() && self.usage.completion.is_some();
        let is_limited = self.task.limits.token_budget.is_some();
        (is_limited && !is_counted).then_some("it counts no tokens, so `token_budget` cannot be held")
    }

    async fn ask(&mut self) -> Result<Reply, AskError> {
        let ask = Ask {
            model: self.task.model,
            system: self.task.system,
            messages: &self.messages,
            tools: self.toolbox.offered(),
            max_tokens: self.task.limits.max_tokens,
            temperature: self.task.temperature,
        };
        let deadlines = Deadlines { run: self.deadline, answer: self.task.limits.request_timeout };
        let (errors, watcher) = (&mut self.trace.errors, self.watcher);
        let mut observe = |retry: crate::provider::Retry| {
            let why = retry.why.trim_end_matches('.');
            watcher.waits(retry.wait, why);
            if retry.attempt > 0 {
                errors.push(RecordedError::new("provider", format!("{why}; asked again")));
            }
        };
        let reply = self.task.provider.ask(&ask, deadlines, &mut observe).await?;
        self.usage = sum(self.usage, reply.usage, self.assistant_turns == 0);
        self.watcher.answered(reply.usage);
        Ok(reply)
    }

    /// Before its first message nothing happened that could be judged; after it, only what the conversation came to.
    fn failed(&mut self, error: &AskError) -> Result<Answer, Unrecorded> {
        if self.assistant_turns == 0 {
            return Err(Unrecorded::Unanswered(error.to_string()));
        }
        if !error.is_of_conversation() {
            return Err(Unrecorded::Broken { why: error.to_string(), used: self.usage });
        }
        // First, since a run that ended is told by its first error.
        self.trace.errors.insert(0, RecordedError::new("provider", error.to_string()));
        Ok(Answer::Cut("error".to_owned()))
    }

    /// Makes the calls at once and keeps them in their order; false when there were more than are allowed.
    async fn call_all(&mut self, wanted: Vec<Wanted>, turn: u64) -> bool {
        let made = self.trace.tool_calls.len();
        let room =
            self.task.limits.max_tool_calls.map_or(usize::MAX, |most| (most as usize).saturating_sub(made));
        let allowed = wanted.len().min(room);
        let is_over = allowed < wanted.len();
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

    fn note(&mut self, role: &str, content: &str) {
        self.trace.conversation.turns.get_or_insert_default().push(RecordedTurn::new(role, content));
    }
}

/// How a turn of the user's ended.
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
    Tokens::of(add(before.prompt, more.prompt), add(before.completion, more.completion))
}
