//! Session files of Claude Code: which lines are messages, which session and which agent wrote
//! them, and which call started each sub-agent? `anthropic.rs` reads the messages.

use crate::anthropic;
use crate::json::{Fields, Json, Misfit};
use crate::sub_agent::{AgentCaller, MAIN};
use crate::transcript::{Dropped, Transcript};
use mcptest_core::trace::RecordedDelegation;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// The model name in messages that Claude Code wrote itself.
pub(crate) const NO_MODEL: &str = "<synthetic>";

/// Returns true if a line is a message of a session.
pub(crate) fn has_session(values: &[Json<'_>]) -> bool {
    values.iter().any(|value| {
        let line = value.object().unwrap_or_default();
        session_id(&line).is_some() && (message(&line).is_some() || progress(&line).is_some())
    })
}

/// The conversations of these lines: one for each session, with its sub-agents.
pub(crate) fn read(values: &[Json<'_>]) -> Result<Vec<Transcript>, Misfit> {
    let mut sessions = Sessions::default();
    for value in values {
        sessions.add(*value);
    }
    let mut transcripts = Vec::new();
    for session in sessions.all {
        transcripts.extend(session.read()?);
    }
    if let Some(first) = transcripts.first_mut().filter(|_| sessions.other_lines > 0) {
        *first.dropped.entry(Dropped::Line).or_default() += sessions.other_lines;
    }
    Ok(transcripts)
}

fn session_id<'a>(line: &Fields<'a>) -> Option<Cow<'a, str>> {
    // The stream of the Agent SDK writes the key in the other way.
    line.string("sessionId")
        .or_else(|| line.string("session_id"))
}

/// The message of a line.
fn message<'a>(line: &Fields<'a>) -> Option<Json<'a>> {
    line.get("message")
        .filter(|message| message.object().is_some_and(|message| message.has("role")))
}

/// The line of a sub-agent that a line about its progress repeats.
fn progress<'a>(line: &Fields<'a>) -> Option<Fields<'a>> {
    let data = line.part("data")?;
    let is_of_agent = data
        .string("type")
        .is_some_and(|kind| kind == "agent_progress");
    data.part("message")
        .filter(|inner| is_of_agent && message(inner).is_some())
}

/// Returns true if the program, not the model, wrote this line: its provider gave no answer.
pub(crate) fn is_outage(line: &Fields<'_>) -> bool {
    let is_marked = line
        .get("isApiErrorMessage")
        .and_then(Json::flag)
        .unwrap_or_default();
    // The stream of the Agent SDK names the kind of error instead.
    is_marked || (line.has("message") && line.has("error") && is_by_no_model(line))
}

fn is_by_no_model(line: &Fields<'_>) -> bool {
    let message = line.part("message").unwrap_or_default();
    message
        .string("model")
        .is_some_and(|model| model == NO_MODEL)
}

/// The program's message instead of an answer.
pub(crate) fn outage(line: &Fields<'_>) -> String {
    let content = line
        .part("message")
        .and_then(|message| message.get("content"));
    let said = content.map(|content| match content.string() {
        Some(text) => text.into_owned(),
        None => content.each("text").concat(),
    });
    let said = said.filter(|said| !said.is_empty());
    match (line.string("error"), said) {
        (Some(kind), Some(said)) => format!("{kind}: {said}"),
        (kind, said) => said
            .or(kind.map(Cow::into_owned))
            .unwrap_or_else(|| "the provider gave no answer".to_owned()),
    }
}

/// The sessions of a file, in order of first occurrence.
#[derive(Default)]
struct Sessions<'a> {
    all: Vec<Session<'a>>,
    by_id: BTreeMap<String, usize>,
    /// Lines about the program.
    other_lines: usize,
    /// The files beside sub-agents, by the agents' ids.
    about_agents: BTreeMap<String, Fields<'a>>,
}

impl<'a> Sessions<'a> {
    fn add(&mut self, value: Json<'a>) {
        let line = value.object().unwrap_or_default();
        if let Some(about) = line.part(ABOUT_AGENT)
            && let Some(agent) = line.owned("agentId")
        {
            for session in &mut self.all {
                session.describe(&agent, &about);
            }
            self.about_agents.insert(agent, about);
            return;
        }
        let Some(id) = session_id(&line) else {
            self.other_lines += 1;
            return;
        };
        let at = *self
            .by_id
            .entry(id.clone().into_owned())
            .or_insert(self.all.len());
        if at == self.all.len() {
            self.all.push(Session::new(id.into_owned()));
        }
        if !self.all[at].add(value, &line) {
            self.other_lines += 1;
        }
        if let Some(agent) = line.string("agentId")
            && let Some(about) = self.about_agents.get(&*agent)
        {
            self.all[at].describe(&agent, about);
        }
    }
}

/// The key of a line that `session_part` makes of the file beside a sub-agent.
const ABOUT_AGENT: &str = "mcptest_about_agent";

/// A line with the contents of the file beside a sub-agent's messages. `None` if the file is not
/// JSON.
pub fn about_agent(agent_id: &str, text: &str) -> Option<String> {
    let about = Json::inside(text)?.object()?;
    let id = crate::json::raw(&agent_id);
    let about = crate::json::on_one_line(about.text());
    Some(format!(r#"{{"agentId":{id},"{ABOUT_AGENT}":{about}}}"#))
}

/// A session: the messages of its main agent and of each sub-agent.
#[derive(Default)]
struct Session<'a> {
    id: String,
    main: Vec<Json<'a>>,
    agents: Vec<Agent<'a>>,
    /// The sub-agent of a message, by the message's id.
    by_message: BTreeMap<String, usize>,
    /// The calls that started sub-agents, by the agents' ids.
    started_by: BTreeMap<String, String>,
}

/// A sub-agent.
#[derive(Default)]
struct Agent<'a> {
    id: Option<String>,
    name: Option<String>,
    /// The call that started it.
    tool_id: Option<String>,
    /// The id of the agent that started it.
    parent: Option<String>,
    messages: Vec<Json<'a>>,
    /// Its messages as lines about its progress repeat them.
    progress: Vec<Json<'a>>,
    /// The ids of its lines: a line may be in two files.
    lines: BTreeSet<String>,
}

impl<'a> Session<'a> {
    fn new(id: String) -> Self {
        Self {
            id,
            ..Self::default()
        }
    }

    /// Adds a line, if it is a message.
    fn add(&mut self, value: Json<'a>, line: &Fields<'a>) -> bool {
        if let Some(inner) = progress(line) {
            self.add_progress(line, &inner);
            return true;
        }
        let Some(message) = message(line) else {
            return false;
        };
        self.find_started_agent(line);
        let kept = if is_outage(line) { value } else { message };
        match self.agent_of(line) {
            None => self.main.push(kept),
            Some(at) => {
                let agent = &mut self.agents[at];
                let is_new = line
                    .string("uuid")
                    .is_none_or(|uuid| agent.lines.insert(uuid.into_owned()));
                if is_new {
                    agent.messages.push(kept);
                }
            }
        }
        true
    }

    fn add_progress(&mut self, line: &Fields<'a>, inner: &Fields<'a>) {
        let data = line.part("data").unwrap_or_default();
        let tool_id = line.owned("parentToolUseID");
        let id = data.owned("agentId");
        let at = self.agent(id.as_deref(), tool_id.as_deref());
        let agent = &mut self.agents[at];
        agent.tool_id = agent.tool_id.take().or(tool_id);
        let uuid = inner.string("uuid").map(|uuid| format!("progress {uuid}"));
        if uuid.is_none_or(|uuid| agent.lines.insert(uuid)) {
            agent.progress.extend(message(inner));
        }
    }

    /// Remembers which call started a sub-agent: the result of the call names the agent.
    fn find_started_agent(&mut self, line: &Fields<'a>) {
        let result = line.part("toolUseResult").unwrap_or_default();
        let (Some(agent), Some(message)) = (result.owned("agentId"), line.part("message")) else {
            return;
        };
        let calls = message
            .get("content")
            .map(|content| content.each("tool_use_id"));
        if let Some(call) = calls.unwrap_or_default().into_iter().next() {
            self.started_by.entry(agent).or_insert(call);
        }
    }

    /// The sub-agent that wrote a line. `None` for the main agent.
    fn agent_of(&mut self, line: &Fields<'a>) -> Option<usize> {
        let is_marked = line
            .get("isSidechain")
            .and_then(Json::flag)
            .unwrap_or_default();
        let tool_id = line.owned("parent_tool_use_id");
        if !is_marked && tool_id.is_none() {
            return None;
        }
        let id = line.owned("agentId");
        let at = if id.is_some() || tool_id.is_some() {
            self.agent(id.as_deref(), tool_id.as_deref())
        } else {
            self.agent_in_chain(line)
        };
        if let Some(uuid) = line.owned("uuid") {
            self.by_message.insert(uuid, at);
        }
        Some(at)
    }

    /// The sub-agent with this id or of this call, which may be new.
    fn agent(&mut self, id: Option<&str>, tool_id: Option<&str>) -> usize {
        let known = self.agents.iter().position(|agent| match id {
            Some(id) => agent.id.as_deref() == Some(id),
            None => agent.tool_id.as_deref() == tool_id,
        });
        known.unwrap_or_else(|| {
            self.agents.push(Agent {
                id: id.map(str::to_owned),
                tool_id: tool_id.map(str::to_owned),
                ..Agent::default()
            });
            self.agents.len() - 1
        })
    }

    /// The sub-agent of the message before this line, as older versions write it. A line without
    /// one begins a new sub-agent.
    fn agent_in_chain(&mut self, line: &Fields<'a>) -> usize {
        let before = line.string("parentUuid");
        let known = before.and_then(|before| self.by_message.get(&*before).copied());
        known.unwrap_or_else(|| {
            self.agents.push(Agent::default());
            self.agents.len() - 1
        })
    }

    /// Adds the facts from the file beside a sub-agent.
    fn describe(&mut self, id: &str, about: &Fields<'_>) {
        let found = self
            .agents
            .iter_mut()
            .find(|agent| agent.id.as_deref() == Some(id));
        if let Some(agent) = found {
            agent.name = agent.name.take().or_else(|| about.owned("agentType"));
            agent.tool_id = agent.tool_id.take().or_else(|| about.owned("toolUseId"));
            agent.parent = agent.parent.take().or_else(|| about.owned("parentAgentId"));
        }
    }

    /// The conversation of the session. Sub-agents without their main agent are conversations.
    fn read(self) -> Result<Vec<Transcript>, Misfit> {
        let mut agents = Agents::default();
        let main = MessageIds::new(&self.main);
        for mut agent in self.agents {
            // An agent that compacts a conversation, or continues a copy of it, begins with it.
            agent.messages.retain(|message| !main.has(*message));
            agent.progress.retain(|message| !main.has(*message));
            if agent.messages.is_empty() && agent.progress.is_empty() {
                continue;
            }
            let tool_id = agent
                .id
                .as_ref()
                .and_then(|id| self.started_by.get(id).cloned());
            agents.all.push(Some(ReadAgent::new(agent, tool_id)?));
        }
        let mut transcripts = if self.main.is_empty() {
            agents.without_main()
        } else {
            let mut main = anthropic::conversation(self.main)?;
            agents.take_into(&mut main, None, MAIN);
            agents.take_rest_into(&mut main);
            vec![main]
        };
        for transcript in &mut transcripts {
            transcript.trace_id = Some(self.id.clone());
        }
        Ok(transcripts)
    }
}

/// The ids in the messages of an agent.
struct MessageIds {
    messages: BTreeSet<String>,
    calls: BTreeSet<String>,
}

impl MessageIds {
    fn new(messages: &[Json<'_>]) -> Self {
        let fields = || messages.iter().filter_map(|message| message.object());
        let contents = || fields().filter_map(|message| message.get("content"));
        Self {
            messages: fields().filter_map(|message| message.owned("id")).collect(),
            calls: contents().flat_map(|content| content.each("id")).collect(),
        }
    }

    /// Returns true for a copy of one of the messages.
    fn has(&self, message: Json<'_>) -> bool {
        let message = message.object().unwrap_or_default();
        let answered = message
            .get("content")
            .map(|content| content.each("tool_use_id"))
            .unwrap_or_default();
        message
            .string("id")
            .is_some_and(|id| self.messages.contains(&*id))
            || answered.iter().any(|id| self.calls.contains(id))
    }
}

/// A sub-agent whose messages were read.
struct ReadAgent {
    id: Option<String>,
    name: Option<String>,
    tool_id: Option<String>,
    parent: Option<String>,
    transcript: Transcript,
}

impl ReadAgent {
    fn new(agent: Agent<'_>, tool_id: Option<String>) -> Result<Self, Misfit> {
        let messages = if agent.messages.is_empty() {
            agent.progress
        } else {
            agent.messages
        };
        Ok(Self {
            id: agent.id,
            name: agent.name,
            tool_id: agent.tool_id.or(tool_id),
            parent: agent.parent,
            transcript: anthropic::conversation(messages)?,
        })
    }

    /// The call of a conversation that started this agent: by its id, otherwise by the prompt.
    fn starting_call(&self, transcript: &Transcript) -> Option<usize> {
        if let Some(tool_id) = &self.tool_id {
            return transcript
                .calls
                .iter()
                .position(|call| call.id.as_ref() == Some(tool_id));
        }
        let prompt = self.transcript.prompt.first()?;
        transcript
            .calls
            .iter()
            .position(|call| argument(call.args.as_deref(), "prompt").as_ref() == Some(prompt))
    }

    /// Returns true if an agent with this id started this agent.
    fn is_child_of(&self, id: Option<&str>) -> bool {
        self.parent.is_some() && self.parent.as_deref() == id
    }

    fn caller(&self, type_in_call: Option<String>, tool_id: Option<String>) -> AgentCaller {
        let name = self
            .name
            .clone()
            .or(type_in_call)
            .or_else(|| self.id.clone());
        AgentCaller {
            name: name.unwrap_or_else(|| "sub-agent".to_owned()),
            id: self.id.clone(),
            tool_id: self.tool_id.clone().or(tool_id),
        }
    }
}

/// A text among the arguments of a call.
fn argument(args: Option<&serde_json::value::RawValue>, key: &str) -> Option<String> {
    Json::new(args?).object()?.owned(key)
}

/// The start of a sub-agent.
struct Start<'n> {
    /// The agent that handed over to it.
    from: &'n str,
    caller: AgentCaller,
    /// The turn of the call that started it, if that is known.
    after: Option<u64>,
}

/// The sub-agents of a session. A sub-agent leaves the list when it becomes a part of a conversation.
#[derive(Default)]
struct Agents {
    all: Vec<Option<ReadAgent>>,
}

impl Agents {
    /// Adds to a conversation the agents that its calls started, with the agents that those
    /// started. The last agent is added first, so that agents of one turn stay in order.
    fn take_into(&mut self, transcript: &mut Transcript, id: Option<&str>, name: &str) {
        for at in (0..self.all.len()).rev() {
            let Some(agent) = &self.all[at] else { continue };
            let call = agent
                .starting_call(transcript)
                .map(|at| &transcript.calls[at]);
            if call.is_none() && !agent.is_child_of(id) {
                continue;
            }
            let after = call.and_then(|call| call.turn);
            let kind = call.and_then(|call| argument(call.args.as_deref(), "subagent_type"));
            let caller = agent.caller(kind, call.and_then(|call| call.id.clone()));
            let start = Start {
                from: name,
                caller,
                after,
            };
            self.move_into(transcript, at, &start);
        }
    }

    /// Adds the agents that no call is known to have started.
    fn take_rest_into(&mut self, transcript: &mut Transcript) {
        for at in 0..self.all.len() {
            let Some(agent) = &self.all[at] else { continue };
            let caller = agent.caller(None, None);
            let start = Start {
                from: MAIN,
                caller,
                after: None,
            };
            self.move_into(transcript, at, &start);
        }
    }

    fn move_into(&mut self, transcript: &mut Transcript, at: usize, start: &Start<'_>) {
        let Some(mut agent) = self.all[at].take() else {
            return;
        };
        let caller = &start.caller;
        self.take_into(&mut agent.transcript, agent.id.as_deref(), &caller.name);
        transcript.take_in(start.from, caller, agent.transcript, start.after);
    }

    /// A conversation for each agent that none of the others started.
    fn without_main(mut self) -> Vec<Transcript> {
        let mut transcripts = Vec::new();
        let is_started = |all: &[Option<ReadAgent>], agent: &ReadAgent| {
            all.iter().flatten().any(|other| {
                agent.starting_call(&other.transcript).is_some()
                    || agent.is_child_of(other.id.as_deref())
            })
        };
        for at in 0..self.all.len() {
            let Some(agent) = self.all[at].take() else {
                continue;
            };
            if is_started(&self.all, &agent) {
                self.all[at] = Some(agent);
                continue;
            }
            transcripts.push(self.alone(agent));
        }
        // Agents that started each other.
        while let Some(agent) = self.all.iter_mut().find_map(Option::take) {
            transcripts.push(self.alone(agent));
        }
        transcripts
    }

    /// The conversation of an agent whose main agent is in another file.
    fn alone(&mut self, mut agent: ReadAgent) -> Transcript {
        let caller = agent.caller(None, None);
        agent.transcript.mark_callers(&caller);
        agent.transcript.delegations.push(RecordedDelegation {
            from: MAIN.to_owned(),
            to: caller.name.clone(),
        });
        self.take_into(&mut agent.transcript, agent.id.as_deref(), &caller.name);
        agent.transcript
    }
}
