//! Event streams of AG-UI: which events belong to which message, call and sub-agent?

use crate::Importer;
use crate::catalogue::read_tools;
use crate::content::{answer_of, text_of, unknown};
use crate::json::{Fields, Json, Misfit, object_of};
use crate::openai_chat;
use crate::sample::Sample;
use crate::sub_agent::{AgentCaller, MAIN};
use crate::transcript::{Dropped, ImportedAnswer, Transcript};
use mcptest_core::trace::{RecordedCall, Tokens, usage::sum};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) const IMPORTER: Importer = Importer {
    key: "ag-ui",
    name: "ag-ui",
    doc: "events of AG-UI, such as `RUN_STARTED` and `TOOL_CALL_START`, as lines, a list or server-sent events",
    also_reads: &[],
    sniff,
    read,
};

/// Events without calls, messages or results. An event that ends another event is not counted.
const OTHERS: [&str; 8] = [
    "ACTIVITY_DELTA",
    "ACTIVITY_SNAPSHOT",
    "CUSTOM",
    "RAW",
    "STATE_DELTA",
    "STATE_SNAPSHOT",
    "STEP_STARTED",
    "REASONING_ENCRYPTED_VALUE",
];

fn sniff(sample: &Sample<'_>) -> bool {
    let mut all = sample.records.iter().chain(&sample.messages);
    all.any(|event| {
        let kind = event.string("type").unwrap_or_default();
        let begins = ["RUN_", "TEXT_MESSAGE_", "TOOL_CALL_", "SUBAGENT_", "STEP_"];
        let begins_like = |known: &&str| kind.starts_with(*known);
        !event.has("role")
            && (begins.iter().any(begins_like)
                || is_reasoning(&kind)
                || kind == "MESSAGES_SNAPSHOT"
                || OTHERS.contains(&&*kind))
    })
}

fn is_reasoning(kind: &str) -> bool {
    kind.starts_with("REASONING_") || kind.starts_with("THINKING_")
}

fn read(values: &[Json<'_>]) -> Result<Vec<Transcript>, Misfit> {
    let mut threads = Threads::default();
    for value in values {
        for event in value.list().unwrap_or_else(|| vec![*value]) {
            threads.read(&object_of(event, "an event")?)?;
        }
    }
    Ok(threads.all.into_iter().map(Thread::finish).collect())
}

/// The conversations of a stream, and the one that continues.
#[derive(Default)]
struct Threads {
    all: Vec<Thread>,
    by_id: BTreeMap<String, usize>,
    current: usize,
}

/// A conversation, which may have several runs.
#[derive(Default)]
struct Thread {
    main: Speaker,
    sub_agents: Vec<SubAgent>,
    /// The ids of the messages that were read.
    seen: BTreeSet<String>,
}

struct SubAgent {
    id: String,
    name: String,
    tool_id: Option<String>,
    parent: Option<String>,
    speaker: Speaker,
}

/// An agent, and the message that it is writing.
#[derive(Default)]
struct Speaker {
    transcript: Transcript,
    /// The id of its message.
    message: Option<String>,
    is_writing: bool,
    calls: BTreeMap<String, WrittenCall>,
    /// The call whose pieces come.
    last_call: Option<String>,
}

/// A call with its arguments so far.
struct WrittenCall {
    index: usize,
    arguments: String,
}

/// A text at a key in the case of the protocol, or of Python.
fn at(event: &Fields<'_>, key: &str, key_in_python: &str) -> Option<String> {
    event.owned(key).or_else(|| event.owned(key_in_python))
}

fn tool_call_id(event: &Fields<'_>) -> Option<String> {
    at(event, "toolCallId", "tool_call_id")
}

fn message_id(event: &Fields<'_>) -> Option<String> {
    at(event, "messageId", "message_id")
}

impl Threads {
    fn read(&mut self, event: &Fields<'_>) -> Result<(), Misfit> {
        let kind = event.required_string("type", "an event")?;
        if kind == "RUN_STARTED" {
            let id = at(event, "threadId", "thread_id").unwrap_or_default();
            self.current = *self.by_id.entry(id.clone()).or_insert(self.all.len());
            if self.current == self.all.len() {
                let mut thread = Thread::default();
                let transcript = &mut thread.main.transcript;
                transcript.trace_id = at(event, "runId", "run_id");
                transcript.conversation_id = Some(id).filter(|id| !id.is_empty());
                self.all.push(thread);
            }
            let thread = &mut self.all[self.current];
            thread.main.is_writing = false;
            return match event.object("input")? {
                Some(input) => thread.read_input(&input),
                None => Ok(()),
            };
        }
        if self.all.is_empty() {
            self.all.push(Thread::default());
        }
        self.all[self.current].read(&kind, event)
    }
}

impl Thread {
    fn read(&mut self, kind: &str, event: &Fields<'_>) -> Result<(), Misfit> {
        match kind {
            "MESSAGES_SNAPSHOT" => {
                for message in event.list("messages")?.unwrap_or_default() {
                    self.read_message(&object_of(message, "a message")?)?;
                }
                return Ok(());
            }
            "RUN_FINISHED" => {
                self.finish_run(event)?;
                return Ok(());
            }
            "RUN_ERROR" => {
                self.count_tokens(event)?;
                let message = event.owned("message").unwrap_or_default();
                self.main.transcript.end_in_error(message);
                return Ok(());
            }
            "SUBAGENT_STARTED" => {
                self.start_sub_agent(event)?;
                return Ok(());
            }
            _ => {}
        }
        self.seen.extend(message_id(event));
        let sub_agent = at(event, "subagentRunId", "subagent_run_id");
        let sub_agents = &mut self.sub_agents;
        let found = sub_agent.and_then(|id| sub_agents.iter_mut().find(|agent| agent.id == id));
        let speaker = found.map_or(&mut self.main, |agent| &mut agent.speaker);
        speaker.read(kind, event)
    }

    fn start_sub_agent(&mut self, event: &Fields<'_>) -> Result<(), Misfit> {
        let id = at(event, "subagentRunId", "subagent_run_id");
        let id = id.ok_or_else(|| event.misfit("a sub-agent has no `subagentRunId`".to_owned()))?;
        self.sub_agents.push(SubAgent {
            name: event.owned("name").unwrap_or_else(|| id.clone()),
            tool_id: at(event, "parentToolCallId", "parent_tool_call_id"),
            parent: at(event, "parentSubagentRunId", "parent_subagent_run_id"),
            speaker: Speaker::default(),
            id,
        });
        Ok(())
    }

    /// The input of a run: messages of earlier runs, new messages, and tools.
    fn read_input(&mut self, input: &Fields<'_>) -> Result<(), Misfit> {
        if let Some(tools) = input.list("tools")?.filter(|tools| !tools.is_empty()) {
            read_tools(&tools, &mut self.main.transcript)?;
        }
        for message in input.list("messages")?.unwrap_or_default() {
            self.read_message(&object_of(message, "a message")?)?;
        }
        Ok(())
    }

    /// A whole message, unless its events were read.
    fn read_message(&mut self, message: &Fields<'_>) -> Result<(), Misfit> {
        if let Some(id) = message.owned("id")
            && !self.seen.insert(id)
        {
            return Ok(());
        }
        let role = message.required_string("role", "a message")?;
        let speaker = &mut self.main;
        let transcript = &mut speaker.transcript;
        match &*role {
            "user" => {
                speaker.is_writing = false;
                if let Some(content) = message.get("content") {
                    let text = text_of(content, transcript)?;
                    transcript.user(&text);
                }
            }
            "assistant" => speaker.read_whole(message)?,
            "tool" => speaker.read_result(message)?,
            "system" | "developer" => openai_chat::read_message(message, transcript)?,
            "reasoning" => transcript.drop(Dropped::Reasoning),
            "activity" => transcript.drop(Dropped::Event),
            other => {
                return Err(message.misfit(format!("`role` is `{other}`, which is unknown")));
            }
        }
        Ok(())
    }

    fn finish_run(&mut self, event: &Fields<'_>) -> Result<(), Misfit> {
        self.count_tokens(event)?;
        let outcome = event.object("outcome")?;
        let outcome = outcome.and_then(|outcome| outcome.owned("type"));
        self.main.transcript.stopped(outcome);
        Ok(())
    }

    fn count_tokens(&mut self, event: &Fields<'_>) -> Result<(), Misfit> {
        for usage in event.list("usage")?.unwrap_or_default() {
            let usage = object_of(usage, "an entry of `usage`")?;
            let count = |key: &str, key_in_python: &str| {
                usage.count(key).or_else(|| usage.count(key_in_python))
            };
            let total = count("totalTokens", "total_tokens");
            let counted = Tokens {
                cache_read: count("cachedInputTokens", "cached_input_tokens"),
                cache_write: count("cacheWriteInputTokens", "cache_write_input_tokens"),
                reasoning: count("reasoningTokens", "reasoning_tokens"),
                ..Tokens::without_total(
                    count("inputTokens", "input_tokens"),
                    count("outputTokens", "output_tokens"),
                )
            };
            let transcript = &mut self.main.transcript;
            transcript.tokens.add(Tokens {
                total: total.or_else(|| sum([counted.prompt, counted.completion])),
                ..counted
            });
            transcript.set_model(usage.owned("model"));
        }
        Ok(())
    }

    /// The conversation with its sub-agents.
    fn finish(mut self) -> Transcript {
        self.main.end_calls();
        // The last one first: an agent that another one started came after it.
        while let Some(mut agent) = self.sub_agents.pop() {
            agent.speaker.end_calls();
            let parent = agent.parent.as_ref();
            let parent = self
                .sub_agents
                .iter_mut()
                .find(|one| Some(&one.id) == parent);
            let (from, speaker) = match parent {
                Some(parent) => (parent.name.clone(), &mut parent.speaker),
                None => (MAIN.to_owned(), &mut self.main),
            };
            let caller = AgentCaller {
                name: agent.name,
                id: Some(agent.id),
                tool_id: agent.tool_id,
            };
            let transcript = &mut speaker.transcript;
            let started = transcript
                .calls
                .iter()
                .find(|call| call.id.is_some() && call.id == caller.tool_id);
            let after = started.and_then(|call| call.turn);
            transcript.take_in(&from, &caller, agent.speaker.transcript, after);
        }
        self.main.transcript
    }
}

impl Speaker {
    fn read(&mut self, kind: &str, event: &Fields<'_>) -> Result<(), Misfit> {
        match kind {
            "TEXT_MESSAGE_START" => self.start_message(event),
            "TEXT_MESSAGE_CONTENT" => self.say(event),
            "TEXT_MESSAGE_CHUNK" => {
                let id = message_id(event);
                if id.is_some() && id != self.message || !self.is_writing {
                    self.start_message(event);
                }
                self.say(event);
            }
            "TOOL_CALL_START" => self.start_call(event)?,
            "TOOL_CALL_ARGS" => self.add_arguments(event)?,
            "TOOL_CALL_CHUNK" => {
                let id = tool_call_id(event);
                if id.is_some_and(|id| !self.calls.contains_key(&id)) {
                    self.start_call(event)?;
                }
                self.add_arguments(event)?;
            }
            "TOOL_CALL_RESULT" => self.read_result(event)?,
            "SUBAGENT_ERROR" => {
                let message = event.owned("message").unwrap_or_default();
                self.transcript.fail(message);
            }
            "TEXT_MESSAGE_END" | "TOOL_CALL_END" | "STEP_FINISHED" | "SUBAGENT_FINISHED" => {}
            "REASONING_START" | "THINKING_START" => self.transcript.drop(Dropped::Reasoning),
            kind if OTHERS.contains(&kind) => self.transcript.drop(Dropped::Event),
            kind if is_reasoning(kind) => {}
            kind => return Err(unknown(event, "an event", kind)),
        }
        Ok(())
    }

    fn start_message(&mut self, event: &Fields<'_>) {
        let id = message_id(event);
        let role = event.string("role");
        if role.is_some_and(|role| role == "user") {
            self.is_writing = false;
            self.transcript.user("");
            self.message = id;
            return;
        }
        let is_same = self.is_writing && id.is_some() && id == self.message;
        if !is_same {
            self.transcript.assistant();
        }
        self.is_writing = true;
        self.message = id;
    }

    fn say(&mut self, event: &Fields<'_>) {
        let text = event.string("delta").unwrap_or_default();
        if self.is_writing {
            self.transcript.say(&text);
        } else if let Some(turn) = self.transcript.turns.last_mut()
            && turn.role == "user"
            && let Some(prompt) = self.transcript.prompt.last_mut()
        {
            turn.content.push_str(&text);
            prompt.push_str(&text);
        }
    }

    fn start_call(&mut self, event: &Fields<'_>) -> Result<(), Misfit> {
        let id = tool_call_id(event);
        let id = id.ok_or_else(|| event.misfit("a call has no `toolCallId`".to_owned()))?;
        let name = at(event, "toolCallName", "tool_call_name");
        let name = name.ok_or_else(|| event.misfit("a call has no `toolCallName`".to_owned()))?;
        let parent = at(event, "parentMessageId", "parent_message_id");
        let is_of_another = parent.is_some() && self.message.is_some() && parent != self.message;
        if !self.is_writing || is_of_another {
            self.transcript.assistant();
            self.message = parent;
        }
        self.is_writing = true;
        self.add_call(id, name, String::new());
        Ok(())
    }

    fn add_call(&mut self, id: String, name: String, arguments: String) {
        let index = self.transcript.call(RecordedCall {
            name,
            id: Some(id.clone()),
            ..RecordedCall::default()
        });
        self.last_call = Some(id.clone());
        self.calls.insert(id, WrittenCall { index, arguments });
    }

    fn add_arguments(&mut self, event: &Fields<'_>) -> Result<(), Misfit> {
        let id = tool_call_id(event).or_else(|| self.last_call.clone());
        let call = id.and_then(|id| self.calls.get_mut(&id));
        let Some(call) = call else {
            return Err(event.misfit("these arguments have no call".to_owned()));
        };
        call.arguments
            .push_str(&event.string("delta").unwrap_or_default());
        Ok(())
    }

    /// A result, in an event or as a message.
    fn read_result(&mut self, result: &Fields<'_>) -> Result<(), Misfit> {
        self.is_writing = false;
        let error = result.optional_string("error")?;
        let answer = answer_of(result.get("content"), error.is_some(), &mut self.transcript);
        let answer = match error {
            Some(error) => {
                self.transcript.marks_errors = true;
                if answer.text.is_empty() {
                    ImportedAnswer::from_text(error, true)
                } else {
                    answer
                }
            }
            None => answer,
        };
        let id = tool_call_id(result);
        self.transcript
            .meet(id.as_deref(), None, answer)
            .map_err(|message| result.misfit(message))
    }

    /// A message of the model as a whole: calls whose events were read are not read again.
    fn read_whole(&mut self, message: &Fields<'_>) -> Result<(), Misfit> {
        let calls = match message.list("toolCalls")? {
            Some(calls) => calls,
            None => message.list("tool_calls")?.unwrap_or_default(),
        };
        let mut fresh = Vec::new();
        for call in calls {
            let call = openai_chat::read_call(&object_of(call, "a call of `toolCalls`")?)?;
            if call
                .id
                .as_ref()
                .is_none_or(|id| !self.calls.contains_key(id))
            {
                fresh.push(call);
            }
        }
        let text = match message.get("content") {
            Some(content) => text_of(content, &mut self.transcript)?,
            None => "".into(),
        };
        let is_known = |turn: &mcptest_core::trace::RecordedTurn| {
            turn.role == "assistant" && turn.content == *text
        };
        if fresh.is_empty() && (text.is_empty() || self.transcript.turns.iter().any(is_known)) {
            return Ok(());
        }
        self.is_writing = false;
        self.transcript.assistant();
        self.transcript.say(&text);
        for call in fresh {
            self.transcript.call(call);
        }
        Ok(())
    }

    /// Gives each call its arguments, which came in pieces.
    fn end_calls(&mut self) {
        for call in std::mem::take(&mut self.calls).into_values() {
            let recorded = &mut self.transcript.calls[call.index];
            match Json::inside(&call.arguments) {
                Some(arguments) => recorded.args = Some(arguments.compact()),
                None if call.arguments.trim().is_empty() => {}
                None => recorded.args_text = Some(call.arguments),
            }
        }
    }
}
