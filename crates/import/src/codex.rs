//! Rollouts of Codex: which lines are items of the conversation, and which events describe its
//! calls? `openai_responses.rs` reads the items.

use crate::Importer;
use crate::content::{answer_of, mcp_answer, text_of};
use crate::json::{Fields, Json, Misfit, object_of};
use crate::openai_responses::ItemReader;
use crate::sample::Sample;
use crate::sub_agent::{AgentCaller, MAIN};
use crate::transcript::{Dropped, ImportedAnswer, Transcript};
use mcptest_core::trace::{RecordedDelegation, Tokens};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) const IMPORTER: Importer = Importer {
    key: "codex",
    name: "codex",
    doc: "lines with `timestamp`, `type` and `payload`, of which the first is a `session_meta`",
    also_reads: &[],
    sniff,
    read,
};

/// Items about the conversation, in which no tool is called.
const HARMLESS: [&str; 3] = ["agent_message", "context_compaction", "ghost_snapshot"];

/// The beginnings of messages that the program writes in the name of the user, in rollouts without
/// a note of who wrote them.
const OF_PROGRAM: [&str; 5] = [
    "<environment_context>",
    "<user_instructions>",
    "<turn_aborted>",
    "<subagent_notification>",
    "# AGENTS.md instructions",
];

fn sniff(sample: &Sample<'_>) -> bool {
    let is_line = |line: &Fields<'_>| {
        let kind = line.string("type").unwrap_or_default();
        let is_known = matches!(
            &*kind,
            "session_meta"
                | "response_item"
                | "event_msg"
                | "turn_context"
                | "compacted"
                | "world_state"
                | "token_usage_record"
        );
        is_known && line.has("payload")
    };
    sample.records.iter().chain(&sample.messages).any(is_line)
}

fn read(values: &[Json<'_>]) -> Result<Vec<Transcript>, Misfit> {
    let mut sessions: Vec<Session> = Vec::new();
    for value in values {
        for line in value.list().unwrap_or_else(|| vec![*value]) {
            let line = Line::read(&object_of(line, "a line")?)?;
            match sessions.last_mut() {
                Some(last) if !last.is_left_by(&line) => last.lines.push(line),
                _ => sessions.push(Session::new(line)),
            }
        }
    }
    let mut read = Vec::new();
    for session in &sessions {
        read.push(ReadSession::new(session)?);
    }
    Ok(joined(read))
}

/// A line of a rollout.
struct Line<'a> {
    kind: Cow<'a, str>,
    payload: Fields<'a>,
}

impl<'a> Line<'a> {
    fn read(line: &Fields<'a>) -> Result<Self, Misfit> {
        let payload = line.object("payload")?;
        Ok(Self {
            kind: line.required_string("type", "a line")?,
            payload: payload.ok_or_else(|| line.misfit("a line has no `payload`".to_owned()))?,
        })
    }

    /// The type of an event.
    fn event(&self) -> Option<Cow<'a, str>> {
        (self.kind == "event_msg").then(|| self.payload.string("type"))?
    }
}

/// The lines of one thread.
struct Session<'a> {
    /// The description of the thread in its first line.
    about: Fields<'a>,
    lines: Vec<Line<'a>>,
}

impl<'a> Session<'a> {
    fn new(line: Line<'a>) -> Self {
        let is_about = line.kind == "session_meta";
        Self {
            about: if is_about {
                line.payload.clone()
            } else {
                Fields::default()
            },
            lines: vec![line],
        }
    }

    /// Returns true if this line begins another thread. A fork repeats the lines of its origin.
    fn is_left_by(&self, line: &Line<'_>) -> bool {
        let begins = || line.payload.string("id");
        let is_known = |key: &str| self.about.string(key) == begins();
        line.kind == "session_meta" && !["id", "forked_from_id"].into_iter().any(is_known)
    }
}

/// The facts about items that only the events of a thread have.
#[derive(Default)]
struct Events<'a> {
    /// The items of finished calls, by the calls' ids.
    finished: BTreeMap<String, Fields<'a>>,
    /// The messages of the user.
    user_texts: BTreeSet<String>,
    /// True if each answer of the model is followed by its tokens.
    counts_answers: bool,
}

impl<'a> Events<'a> {
    fn read(lines: &[Line<'a>]) -> Self {
        let mut events = Self::default();
        for line in lines {
            events.counts_answers |= line.kind == "token_usage_record";
            let payload = &line.payload;
            match line.event().as_deref() {
                Some("user_message") => events.user_texts.extend(payload.owned("message")),
                Some("item_completed") => {
                    let item = payload.part("item").unwrap_or_default();
                    if item
                        .string("type")
                        .is_some_and(|kind| kind == "UserMessage")
                    {
                        let texts = item.get("content").map(|content| content.each("text"));
                        events.user_texts.extend(texts.map(|texts| texts.concat()));
                    }
                    events.finish("id", item);
                }
                Some("mcp_tool_call_end" | "patch_apply_end" | "exec_command_end") => {
                    events.finish("call_id", payload.clone());
                }
                _ => {}
            }
        }
        events
    }

    fn finish(&mut self, id: &str, item: Fields<'a>) {
        if let Some(id) = item.owned(id) {
            self.finished.insert(id, item);
        }
    }

    fn finished(&self, call: &Fields<'_>) -> Option<&Fields<'a>> {
        self.finished.get(&*call.string("call_id")?)
    }
}

/// A thread whose lines were read.
struct ReadSession {
    id: Option<String>,
    /// The thread that started this one, if it is a sub-agent.
    parent: Option<String>,
    /// The name of this sub-agent.
    name: Option<String>,
    /// The sub-agents that this thread started.
    started: Vec<Started>,
    transcript: Transcript,
}

/// A sub-agent as the call that started it names it.
struct Started {
    id: String,
    name: Option<String>,
    tool_id: Option<String>,
}

impl ReadSession {
    fn new(session: &Session<'_>) -> Result<Self, Misfit> {
        let about = &session.about;
        let spawned = about
            .part("source")
            .and_then(|source| source.part("subagent")?.part("thread_spawn"));
        let of_spawn = |key: &str| spawned.as_ref()?.owned(key);
        let name = about
            .owned("agent_nickname")
            .or_else(|| of_spawn("agent_nickname"))
            .or_else(|| about.owned("agent_role"));
        let mut reader = ThreadReader {
            events: Events::read(&session.lines),
            items: ItemReader::default(),
            started: Vec::new(),
        };
        for line in &session.lines {
            reader.line(line)?;
        }
        let mut transcript = reader.items.transcript;
        transcript.trace_id = about.owned("id");
        Ok(Self {
            id: about.owned("id"),
            parent: of_spawn("parent_thread_id").or_else(|| about.owned("parent_thread_id")),
            name,
            started: reader.started,
            transcript,
        })
    }

    fn caller(&self, tool_id: Option<String>) -> AgentCaller {
        let name = self.name.clone().or_else(|| self.id.clone());
        AgentCaller {
            name: name.unwrap_or_else(|| "sub-agent".to_owned()),
            id: self.id.clone(),
            tool_id,
        }
    }
}

/// The conversations of these threads. Conversations of sub-agents become part of the thread that started
/// them, if that is here.
fn joined(mut sessions: Vec<ReadSession>) -> Vec<Transcript> {
    // A sub-agent is written after the thread that started it.
    for at in (0..sessions.len()).rev() {
        let parent = sessions[at].parent.clone();
        let Some(parent) = parent else { continue };
        let is_parent = |one: &ReadSession| one.id.as_ref() == Some(&parent);
        let session = &mut sessions[at];
        name_missing_agents(session);
        let Some(found) = sessions.iter().take(at).position(is_parent) else {
            be_alone(&mut sessions[at]);
            continue;
        };
        let child = sessions.remove(at);
        take_in(&mut sessions[found], child);
    }
    for session in &mut sessions {
        name_missing_agents(session);
    }
    sessions
        .into_iter()
        .map(|session| session.transcript)
        .collect()
}

fn take_in(parent: &mut ReadSession, child: ReadSession) {
    let is_child = |one: &Started| Some(&one.id) == child.id.as_ref();
    let started = parent.started.iter().position(is_child);
    let tool_id = started.and_then(|at| parent.started.remove(at).tool_id);
    let calls = parent.transcript.calls.iter();
    let call = calls
        .rev()
        .find(|call| tool_id.is_some() && call.id == tool_id);
    let after = call.and_then(|call| call.turn);
    let caller = child.caller(tool_id);
    let from = parent.name.as_deref().unwrap_or(MAIN);
    parent
        .transcript
        .take_in(from, &caller, child.transcript, after);
}

/// Marks the calls of a sub-agent whose parent is in another file.
fn be_alone(session: &mut ReadSession) {
    let caller = session.caller(None);
    session.transcript.mark_callers(&caller);
    session.transcript.delegations.push(RecordedDelegation {
        from: MAIN.to_owned(),
        to: caller.name,
    });
}

/// Names the sub-agents of a thread whose own threads are not here.
fn name_missing_agents(session: &mut ReadSession) {
    for started in session.started.drain(..) {
        session.transcript.drop(Dropped::OtherFile);
        session.transcript.delegations.push(RecordedDelegation {
            from: session.name.clone().unwrap_or_else(|| MAIN.to_owned()),
            to: started.name.unwrap_or(started.id),
        });
    }
}

struct ThreadReader<'a> {
    events: Events<'a>,
    items: ItemReader,
    started: Vec<Started>,
}

impl<'a> ThreadReader<'a> {
    fn line(&mut self, line: &Line<'a>) -> Result<(), Misfit> {
        let payload = &line.payload;
        match &*line.kind {
            "session_meta" => {
                let instructions = payload.part("base_instructions").unwrap_or_default();
                let text = instructions
                    .string("text")
                    .or_else(|| payload.string("instructions"));
                if let Some(text) = text {
                    self.items.transcript.system(&text);
                }
            }
            "turn_context" => self.items.transcript.set_model(payload.owned("model")),
            "response_item" => self.item(payload)?,
            "token_usage_record" => self.count(payload, "usage", "thread_token_usage"),
            "event_msg" => self.event(payload),
            // Lines about the program and its surroundings.
            _ => {}
        }
        Ok(())
    }

    /// The token counts of the last answer and of the thread so far.
    fn count(&mut self, counts: &Fields<'_>, last: &str, whole: &str) {
        let transcript = &mut self.items.transcript;
        if let Some(whole) = counts.part(whole) {
            transcript.tokens = tokens(&whole);
        }
        if let Some(last) = counts.part(last) {
            transcript.count_answer(tokens(&last));
        }
        self.items.in_turn = false;
    }

    fn event(&mut self, event: &Fields<'_>) {
        let kind = event.string("type").unwrap_or_default();
        let transcript = &mut self.items.transcript;
        match &*kind {
            "token_count" if !self.events.counts_answers => {
                if let Some(info) = event.part("info") {
                    self.count(&info, "last_token_usage", "total_token_usage");
                }
            }
            "task_complete" | "turn_complete" => {
                if let Some(took) = event.count("duration_ms") {
                    let before = transcript.duration_ms.unwrap_or_default();
                    transcript.duration_ms = Some(before.saturating_add(took));
                }
                match event.part("error") {
                    Some(error) => transcript.end_in_error(message_of(&error)),
                    None => transcript.stopped(Some("completed".to_owned())),
                }
            }
            "turn_aborted" => {
                let reason = event.owned("reason");
                transcript.stopped(reason.or_else(|| Some("aborted".to_owned())));
            }
            "error" => transcript.end_in_error(message_of(event)),
            _ => {}
        }
    }

    fn item(&mut self, item: &Fields<'_>) -> Result<(), Misfit> {
        let kind = item.string("type").unwrap_or_default();
        match &*kind {
            "message" if self.is_of_program(item)? => {
                self.message_of_program(item)?;
                self.items.in_turn = false;
                Ok(())
            }
            output if output.ends_with("_call_output") => {
                self.items.in_turn = false;
                self.answer(item)
            }
            call if call.ends_with("_call") => {
                self.items.item(item)?;
                self.name_server(item);
                Ok(())
            }
            harmless if HARMLESS.contains(&harmless) => {
                self.items.transcript.drop(Dropped::Other);
                Ok(())
            }
            _ => self.items.item(item),
        }
    }

    /// Returns true for a message in the name of the user that the program wrote.
    fn is_of_program(&mut self, item: &Fields<'_>) -> Result<bool, Misfit> {
        if item.string("role").is_none_or(|role| role != "user") {
            return Ok(false);
        }
        let about = item.part("internal_chat_message_metadata_passthrough");
        let kinds = about.and_then(|about| about.get("content_item_kinds"));
        if let Some(kinds) = kinds.and_then(Json::list) {
            let is_of_user =
                |kind: &Json<'_>| kind.string().is_some_and(|kind| kind.starts_with("user."));
            return Ok(!kinds.iter().any(is_of_user));
        }
        let text = match item.get("content") {
            // What is not text is counted when the message is read.
            Some(content) => text_of(content, &mut Transcript::default())?,
            None => Cow::Borrowed(""),
        };
        let is_known = self.events.user_texts.contains(&*text);
        let mut starts = OF_PROGRAM.into_iter();
        let is_of_program = starts.any(|start| text.trim_start().starts_with(start));
        Ok(!is_known && is_of_program)
    }

    /// A message of the program: a part of the instructions, unless the user has spoken.
    fn message_of_program(&mut self, item: &Fields<'_>) -> Result<(), Misfit> {
        let transcript = &mut self.items.transcript;
        if !transcript.prompt.is_empty() {
            transcript.drop(Dropped::MessageOfProgram);
            return Ok(());
        }
        if let Some(content) = item.get("content") {
            let text = text_of(content, transcript)?;
            transcript.system(&text);
        }
        Ok(())
    }

    /// The server of the latest call, as the event of its end or its namespace has it.
    fn name_server(&mut self, item: &Fields<'_>) {
        let finished = self.events.finished(item);
        let about = finished.map(|item| item.part("invocation").unwrap_or_else(|| item.clone()));
        let of_event = about.and_then(|about| Some((about.owned("server")?, about.owned("tool")?)));
        let transcript = &mut self.items.transcript;
        let Some(call) = transcript.calls.last_mut() else {
            return;
        };
        if let Some((server, tool)) = of_event {
            call.name = tool;
            call.server = Some(server.clone());
            transcript.servers.insert(server);
        } else if let Some(namespace) = item.string("namespace")
            && let Some(server) = namespace.strip_prefix("mcp__")
        {
            call.server = Some(server.to_owned());
            transcript.servers.insert(server.to_owned());
        }
    }

    fn answer(&mut self, item: &Fields<'_>) -> Result<(), Misfit> {
        let output = item.get("output");
        let answer = self.finished_answer(item, output);
        self.items.transcript.marks_errors = true;
        self.items
            .transcript
            .answer(item, "call_id", None, answer)?;
        let said = output.and_then(Json::string).unwrap_or_default();
        let about = Json::inside(&said)
            .and_then(Json::object)
            .unwrap_or_default();
        if let Some(id) = about.owned("agent_id") {
            self.started.push(Started {
                id,
                name: about.owned("nickname"),
                tool_id: item.owned("call_id"),
            });
        }
        Ok(())
    }

    /// The answer to a call: the result of its server if an event has it, otherwise the output that
    /// the model got.
    fn finished_answer(&mut self, item: &Fields<'_>, output: Option<Json<'_>>) -> ImportedAnswer {
        let finished = self.events.finished(item).cloned().unwrap_or_default();
        let has_failed = has_failed(&finished) || output.is_some_and(is_failed_command);
        let transcript = &mut self.items.transcript;
        let result = finished.part("result").unwrap_or_default();
        let result = result.part("Ok").unwrap_or(result);
        let of_server = mcp_answer(&result, has_failed, transcript);
        of_server.unwrap_or_else(|| answer_of(output, has_failed, transcript))
    }
}

/// Returns true if the event of the end of a call says that it failed.
fn has_failed(finished: &Fields<'_>) -> bool {
    let is_bad_status = finished
        .string("status")
        .is_some_and(|status| status == "failed" || status == "declined");
    let is_no_success = finished.get("success").and_then(Json::flag) == Some(false);
    let is_refused = finished
        .part("result")
        .is_some_and(|result| result.has("Err"));
    let is_bad_exit = finished.get("exit_code").and_then(Json::integer);
    is_bad_status || is_no_success || is_refused || is_bad_exit.is_some_and(|code| code != 0)
}

/// Returns true for the output of a command that ended with a code other than 0. Versions differ in
/// how they write it: as JSON, or above the line `Output:`.
fn is_failed_command(output: Json<'_>) -> bool {
    let Some(text) = output.string() else {
        return false;
    };
    if let Some(json) = Json::inside(&text).and_then(Json::object) {
        let code = json
            .part("metadata")
            .and_then(|about| about.get("exit_code"));
        return code.and_then(Json::integer).is_some_and(|code| code != 0);
    }
    let head = text.lines().take_while(|line| *line != "Output:").take(8);
    let mut codes = head.filter_map(|line| {
        let code = line
            .strip_prefix("Process exited with code ")
            .or_else(|| line.strip_prefix("Exit code: "));
        code?.trim().parse::<i64>().ok()
    });
    text.contains("\nOutput:") && codes.any(|code| code != 0)
}

fn message_of(error: &Fields<'_>) -> String {
    error
        .owned("message")
        .unwrap_or_else(|| "the provider gave no answer".to_owned())
}

fn tokens(counts: &Fields<'_>) -> Tokens {
    Tokens {
        total: counts.count("total_tokens"),
        cache_read: counts.count("cached_input_tokens"),
        cache_write: counts
            .count("cache_write_input_tokens")
            .filter(|count| *count > 0),
        reasoning: counts.count("reasoning_output_tokens"),
        ..Tokens::without_total(counts.count("input_tokens"), counts.count("output_tokens"))
    }
    .totalled()
}
