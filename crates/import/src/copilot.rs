//! Sessions of Copilot CLI: which messages, calls and sub-agents are in their events?

use crate::Importer;
use crate::content::call_of;
use crate::json::{Fields, Json, Misfit, object_of};
use crate::sample::Sample;
use crate::sub_agent::{AgentCaller, MAIN};
use crate::transcript::{Dropped, ImportedAnswer, Transcript};
use mcptest_core::trace::{RecordedCall, Tokens};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) const IMPORTER: Importer = Importer {
    key: "copilot",
    name: "copilot",
    doc: "lines with `type`, `data` and `timestamp`, such as `session.start` and `tool.execution_start`",
    also_reads: &[],
    sniff,
    read,
};

fn sniff(sample: &Sample<'_>) -> bool {
    let is_event = |event: &Fields<'_>| {
        let kind = event.string("type").unwrap_or_default();
        let is_known = [
            "session.",
            "user.",
            "assistant.",
            "tool.execution_",
            "subagent.",
        ]
        .iter()
        .any(|start| kind.starts_with(start));
        is_known && event.part("data").is_some() && event.has("timestamp")
    };
    sample.records.iter().chain(&sample.messages).any(is_event)
}

fn read(values: &[Json<'_>]) -> Result<Vec<Transcript>, Misfit> {
    let mut sessions: Vec<Session> = Vec::new();
    for value in values {
        for event in value.list().unwrap_or_else(|| vec![*value]) {
            let event = object_of(event, "an event")?;
            let kind = event.required_string("type", "an event")?;
            if kind == "session.start" || sessions.is_empty() {
                sessions.push(Session::default());
            }
            let data = event.object("data")?.unwrap_or_default();
            if let Some(session) = sessions.last_mut() {
                session.event(&kind, &data)?;
            }
        }
    }
    Ok(sessions.into_iter().map(Session::conversation).collect())
}

/// The main agent, or a sub-agent.
#[derive(Default)]
struct Thread {
    transcript: Transcript,
    /// The id of the latest answer, which may come in several messages.
    answer: Option<String>,
}

#[derive(Default)]
struct Session {
    main: Thread,
    /// The sub-agents by the calls that started them, in order of their first event.
    agents: Vec<(String, Thread)>,
    /// The names of sub-agents, by the calls that started them.
    names: BTreeMap<String, String>,
    /// The calls that the user made.
    of_user: BTreeSet<String>,
}

impl Session {
    fn event(&mut self, kind: &str, data: &Fields<'_>) -> Result<(), Misfit> {
        match kind {
            "session.start" => {
                self.main.transcript.set_model(data.owned("selectedModel"));
                self.main.transcript.trace_id = data.owned("sessionId");
            }
            "session.model_change" => self.main.transcript.set_model(data.owned("newModel")),
            "session.error" => {
                let message = data.owned("message");
                let message = message.unwrap_or_else(|| "the session failed".to_owned());
                self.main.transcript.end_in_error(message);
            }
            "session.shutdown" => self.count(data)?,
            "abort" => self.main.transcript.stopped(data.owned("reason")),
            "system.message" => {
                let text = data.string("content").unwrap_or_default();
                self.main.transcript.system(&text);
            }
            "user.message" => self.user_message(data),
            "subagent.started" => {
                let name = data
                    .owned("agentName")
                    .or_else(|| data.owned("agentDisplayName"));
                self.names.extend(data.owned("toolCallId").zip(name));
            }
            "tool.user_requested" => self.of_user.extend(data.owned("toolCallId")),
            "assistant.message" => self.thread(data).message(data)?,
            "tool.execution_start" => self.start(data)?,
            "tool.execution_complete" => self.complete(data)?,
            // Events about the program.
            _ => {}
        }
        Ok(())
    }

    /// The agent that an event is of.
    fn thread(&mut self, data: &Fields<'_>) -> &mut Thread {
        let Some(call) = data.owned("parentToolCallId") else {
            return &mut self.main;
        };
        let known = self.agents.iter().position(|(id, _)| *id == call);
        let at = known.unwrap_or(self.agents.len());
        if known.is_none() {
            self.agents.push((call, Thread::default()));
        }
        &mut self.agents[at].1
    }

    fn user_message(&mut self, data: &Fields<'_>) {
        let transcript = &mut self.main.transcript;
        // A skill or the program itself may write in the name of the user.
        let source = data.string("source").unwrap_or_default();
        let is_of_user = !source.starts_with("skill-") && !source.starts_with("agent-");
        if is_of_user && !data.has("parentAgentTaskId") {
            transcript.user(&data.string("content").unwrap_or_default());
        } else {
            transcript.drop(Dropped::MessageOfProgram);
        }
    }

    fn is_of_user(&self, data: &Fields<'_>) -> bool {
        let is_marked = data.get("isUserRequested").and_then(Json::flag);
        let id = data.string("toolCallId");
        is_marked == Some(true) || id.is_some_and(|id| self.of_user.contains(&*id))
    }

    fn start(&mut self, data: &Fields<'_>) -> Result<(), Misfit> {
        if self.is_of_user(data) {
            self.main.transcript.drop(Dropped::Other);
            return Ok(());
        }
        let id = data.required_string("toolCallId", "a call")?.into_owned();
        let transcript = &mut self.thread(data).transcript;
        let known = transcript.waiting_call(&id);
        let index = if let Some(index) = known {
            index
        } else {
            let name = data.required_string("toolName", "a call")?.into_owned();
            transcript.call(call_of(name, Some(id), data.get("arguments")))
        };
        name_server(&mut transcript.calls[index], data);
        Ok(())
    }

    fn complete(&mut self, data: &Fields<'_>) -> Result<(), Misfit> {
        if self.is_of_user(data) {
            return Ok(());
        }
        let transcript = &mut self.thread(data).transcript;
        transcript.marks_errors = true;
        let is_error = data.get("success").and_then(Json::flag) == Some(false);
        let result = data.part("result").unwrap_or_default();
        let failure = data.part("error").and_then(|error| error.owned("message"));
        let text = result.owned("content").or(failure).unwrap_or_default();
        let structured = result.get("structuredContent").map(Json::compact);
        let answer = ImportedAnswer {
            structured,
            ..ImportedAnswer::from_text(text.into(), is_error)
        };
        transcript.answer(data, "toolCallId", None, answer)
    }

    /// The tokens of all models, including the tokens of sub-agents.
    fn count(&mut self, data: &Fields<'_>) -> Result<(), Misfit> {
        let models = data.object("modelMetrics")?.unwrap_or_default();
        let mut tokens = Tokens::default();
        for (_, metrics) in models.entries() {
            let usage = metrics.object().and_then(|metrics| metrics.part("usage"));
            let usage = usage.unwrap_or_default();
            let counted = Tokens {
                cache_read: usage.count("cacheReadTokens"),
                cache_write: usage.count("cacheWriteTokens"),
                reasoning: usage.count("reasoningTokens"),
                ..Tokens::without_total(usage.count("inputTokens"), usage.count("outputTokens"))
            };
            tokens.add(counted.with_cached_in_prompt().totalled());
        }
        self.main.transcript.tokens = tokens;
        Ok(())
    }

    fn conversation(self) -> Transcript {
        let mut main = self.main.transcript;
        // The last is added first, so that those of one turn stay in order.
        for (call, thread) in self.agents.into_iter().rev() {
            let starts = |one: &&RecordedCall| one.id.as_ref() == Some(&call);
            let after = main.calls.iter().find(starts).and_then(|call| call.turn);
            let name = self.names.get(&call).cloned();
            let caller = AgentCaller {
                name: name.unwrap_or_else(|| "sub-agent".to_owned()),
                id: None,
                tool_id: Some(call),
            };
            main.take_in(MAIN, &caller, thread.transcript, after);
        }
        main
    }
}

impl Thread {
    fn message(&mut self, data: &Fields<'_>) -> Result<(), Misfit> {
        let id = data.owned("apiCallId").filter(|_| data.has("chunkIndex"));
        let is_continued = id.is_some() && id == self.answer;
        self.answer = id;
        let transcript = &mut self.transcript;
        if !is_continued {
            transcript.assistant();
        }
        transcript.set_model(data.owned("model"));
        transcript.say(&data.string("content").unwrap_or_default());
        if data.has("reasoningText") || data.has("reasoningOpaque") {
            transcript.drop(Dropped::Reasoning);
        }
        for request in data.list("toolRequests")?.unwrap_or_default() {
            let request = object_of(request, "a call")?;
            let id = request.optional_owned("toolCallId")?;
            if id
                .as_deref()
                .is_some_and(|id| transcript.waiting_call(id).is_some())
            {
                continue;
            }
            let name = request.required_string("name", "a call")?.into_owned();
            let call = call_of(name, id, request.get("arguments"));
            let caller = request.get("caller").map(Json::compact);
            let index = transcript.call(RecordedCall { caller, ..call });
            name_server(&mut transcript.calls[index], &request);
        }
        Ok(())
    }
}

/// The server and the tool of a call to an MCP server.
fn name_server(call: &mut RecordedCall, about: &Fields<'_>) {
    if let (Some(server), Some(tool)) = (about.owned("mcpServerName"), about.owned("mcpToolName")) {
        call.server = Some(server);
        call.name = tool;
    }
}
