//! How does one trace become one conversation? Chats show which calls the model made, and tool
//! spans their results.

use super::UNNAMED;
use super::calls::{Executed, Tree, executed, is_same_tool};
use super::messages::Message;
use super::span::{Span, SpanKind, reread};
use crate::catalogue::read_tools;
use crate::content::{answer_of, mcp_answer};
use crate::json::{Json, Misfit};
use crate::sub_agent::AgentCaller;
use crate::transcript::{Dropped, ImportedAnswer, Transcript, without_call};
use mcptest_core::json::equal;
use mcptest_core::trace::{RecordedCall, RecordedDelegation, RecordedTurn, Tokens};
use std::collections::{BTreeMap, BTreeSet};

/// The conversation of these spans, which are ordered by start.
pub(super) fn transcript(spans: &[Span]) -> Result<Transcript, Misfit> {
    let (calls, left_out) = executed(spans);
    let chats = chats(spans);
    let mut teller = Teller::default();
    let transcript = &mut teller.transcript;
    transcript.marks_errors = !calls.is_empty();
    transcript.duration_ms = duration_ms(spans);
    transcript.trace_id = spans
        .iter()
        .map(|span| span.trace.clone())
        .find(|trace| !trace.starts_with(UNNAMED));
    transcript.conversation_id = spans.iter().find_map(Span::conversation);
    transcript.delegations = delegations(spans);
    for (what, count) in [
        (Dropped::InnerCall, left_out),
        (
            Dropped::Span,
            spans
                .iter()
                .filter(|span| span.kind == SpanKind::Other)
                .count(),
        ),
        (
            Dropped::CutMessages,
            spans.iter().map(|span| span.cut_lists).sum(),
        ),
        (
            Dropped::Event,
            spans
                .iter()
                .filter(|span| span.kind != SpanKind::Other)
                .map(|span| span.other_events)
                .sum(),
        ),
    ] {
        if count > 0 {
            transcript.dropped.insert(what, count);
        }
    }
    let mut calls = calls.into_iter().peekable();
    for chat in &chats {
        while let Some(call) = calls.next_if(|call| call.start < chat.span.start) {
            teller.execute(call);
        }
        teller.chat(chat)?;
    }
    calls.for_each(|call| teller.execute(call));
    teller.finish(spans, &chats)
}

/// A request to a model. Nested instruments describe the same request.
struct Chat<'s> {
    span: &'s Span,
    /// The sub-agent that made the request.
    caller: Option<AgentCaller>,
    inner: Vec<&'s Span>,
}

impl<'s> Chat<'s> {
    fn all(&self) -> impl Iterator<Item = &'s Span> {
        std::iter::once(self.span).chain(self.inner.iter().copied())
    }

    fn messages(&self, of: impl Fn(&'s Span) -> &'s [Message]) -> &'s [Message] {
        self.all()
            .map(of)
            .find(|messages| !messages.is_empty())
            .unwrap_or_default()
    }

    fn input(&self) -> &'s [Message] {
        self.messages(|span| &span.input)
    }

    fn output(&self) -> &'s [Message] {
        self.messages(|span| &span.output)
    }

    fn tokens(&self) -> Tokens {
        let counted =
            |span: &Span| Some(span.tokens()).filter(|tokens| *tokens != Tokens::default());
        if let Some(own) = counted(self.span) {
            return own;
        }
        let mut sum = Tokens::default();
        self.inner
            .iter()
            .filter_map(|span| counted(span))
            .for_each(|tokens| sum.add(tokens));
        sum
    }
}

fn chats(spans: &[Span]) -> Vec<Chat<'_>> {
    let tree = Tree::new(spans);
    let is_chat = |span: &Span| span.kind == SpanKind::Chat;
    let kind = if spans.iter().any(is_chat) {
        SpanKind::Chat
    } else {
        SpanKind::Agent
    };
    let is_other = |span: &Span| span.kind != kind && span.kind != SpanKind::Other;
    let mut chats: Vec<Chat<'_>> = Vec::new();
    let mut known: BTreeMap<usize, usize> = BTreeMap::new();
    for (at, span) in spans
        .iter()
        .enumerate()
        .filter(|(_, span)| span.kind == kind)
    {
        let mut outer = at;
        while let Some(around) = tree.around(outer, |span| span.kind == kind, is_other) {
            // Spans are in the order of their starts: what is around began no later, or the trace is no tree.
            if around >= outer {
                break;
            }
            outer = around;
        }
        if let Some(position) = known.get(&outer) {
            chats[*position].inner.push(span);
        } else {
            known.insert(at, chats.len());
            chats.push(Chat {
                span,
                caller: tree.sub_agent(at),
                inner: Vec::new(),
            });
        }
    }
    chats
}

/// The time of all traces of a conversation, without the time between them.
fn duration_ms(spans: &[Span]) -> Option<u64> {
    let mut traces: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for span in spans.iter().filter(|span| span.start > 0) {
        let (start, end) = traces.entry(&span.trace).or_insert((span.start, span.end));
        *start = span.start.min(*start);
        *end = span.end.max(*end);
    }
    let times = traces
        .values()
        .map(|(start, end)| end.checked_sub(*start))
        .collect::<Option<Vec<u64>>>()?;
    let nanoseconds = times
        .iter()
        .fold(0_u64, |sum, time| sum.saturating_add(*time));
    (!times.is_empty()).then_some(nanoseconds / 1_000_000)
}

/// An agent within another agent received a hand-off.
fn delegations(spans: &[Span]) -> Vec<RecordedDelegation> {
    let tree = Tree::new(spans);
    let is_agent = |span: &Span| span.kind == SpanKind::Agent && span.agent().is_some();
    let of = |(at, span): (usize, &Span)| {
        let around = tree.around(at, is_agent, |_| false)?;
        let (from, to) = (spans[around].agent()?, span.agent()?);
        (from != to).then_some(RecordedDelegation { from, to })
    };
    spans
        .iter()
        .enumerate()
        .filter(|(_, span)| is_agent(span))
        .filter_map(of)
        .collect()
}

#[derive(Default)]
struct Teller {
    transcript: Transcript,
    prompts: Vec<String>,
    /// Calls that the model made and that no span has shown so far.
    waiting: Vec<usize>,
    /// The latest call of each id.
    by_id: BTreeMap<String, usize>,
}

impl Teller {
    fn chat(&mut self, chat: &Chat<'_>) -> Result<(), Misfit> {
        for span in chat.all() {
            self.around(span);
        }
        self.transcript.tokens.add(chat.tokens());
        let is_of_main = chat.caller.is_none();
        self.input(chat.input(), is_of_main)
            .map_err(|message| chat.span.misfit(message))?;
        self.transcript.assistant();
        for message in chat.output() {
            self.transcript.say(&message.text);
            for call in &message.calls {
                let mut call = call.clone();
                if let Some(caller) = &chat.caller {
                    caller.mark([&mut call]);
                }
                let index = self.call(call);
                self.waiting.push(index);
            }
            message
                .dropped
                .iter()
                .for_each(|what| self.transcript.drop(*what));
        }
        let reason = chat.all().find_map(Span::finish_reason);
        self.transcript.answer_ended(reason.as_deref());
        self.transcript.stopped(reason);
        if let Some(error) = &chat.span.error {
            self.transcript.fail(error.clone());
        }
        Ok(())
    }

    fn around(&mut self, span: &Span) {
        let transcript = &mut self.transcript;
        if transcript.model.is_none() {
            transcript.model = span
                .attributes
                .text(&["gen_ai.response.model", "gen_ai.request.model"]);
        }
        if let Some(text) = span.attributes.json(&["gen_ai.system_instructions"]) {
            let texts = reread(&text)
                .map(|parts| parts.each("content"))
                .unwrap_or_default();
            let plain = reread(&text).and_then(Json::string);
            let instructions = if texts.is_empty() {
                plain.unwrap_or_default().into_owned()
            } else {
                texts.join("\n\n")
            };
            if !instructions.is_empty() {
                transcript.system(&instructions);
            }
        }
        if let Some(text) = span.attributes.json(&["gen_ai.tool.definitions"]) {
            let tools = reread(&text).and_then(Json::list).unwrap_or_default();
            if read_tools(&tools, transcript).is_err() {
                transcript.drop(Dropped::Other);
            }
        }
    }

    /// Reads the model's input: new messages of the user, and answers to calls of this trace. Calls
    /// in it are history, which other spans describe. The messages to a sub-agent are arguments of
    /// a call.
    fn input(&mut self, messages: &[Message], is_of_main: bool) -> Result<(), String> {
        if is_of_main {
            self.read_user(messages);
        }
        let made = messages.iter().flat_map(|message| &message.calls);
        let made: BTreeSet<&str> = made.filter_map(|call| call.id.as_deref()).collect();
        for (id, answer) in messages.iter().flat_map(|message| &message.answers) {
            let Some(id) = id else { continue };
            if let Some(index) = self.by_id.get(id) {
                self.answer(*index, answer);
            } else if !made.contains(id.as_str()) {
                return Err(without_call(Some(id), None));
            }
        }
        Ok(())
    }

    /// Reads the instructions, and the messages of the user that are new.
    fn read_user(&mut self, messages: &[Message]) {
        let of_role =
            |role: &'static str| messages.iter().filter(move |message| message.role == role);
        of_role("system")
            .chain(of_role("developer"))
            .for_each(|message| self.transcript.system(&message.text));
        let users: Vec<&Message> = of_role("user")
            .filter(|message| message.answers.is_empty())
            .collect();
        let is_longer = users.len() >= self.prompts.len()
            && self
                .prompts
                .iter()
                .zip(&users)
                .all(|(known, message)| *known == message.text);
        let fresh = if is_longer {
            &users[self.prompts.len()..]
        } else {
            &users[..]
        };
        for message in fresh {
            if is_longer || !self.prompts.contains(&message.text) {
                self.prompts.push(message.text.clone());
                self.transcript.user(&message.text);
            }
        }
    }

    /// The answer to a call. It keeps a span's facts and fills in the missing ones.
    fn answer(&mut self, index: usize, answer: &ImportedAnswer) {
        let known = self.transcript.answers[index].as_ref();
        if known.is_some_and(|known| known.content.is_some()) {
            return;
        }
        let is_error = known.is_some_and(|known| known.is_error) || answer.is_error;
        self.transcript
            .turns
            .push(RecordedTurn::new("tool", answer.text.as_str()));
        self.transcript.answer_call(
            index,
            ImportedAnswer {
                is_error,
                ..answer.clone()
            },
        );
    }

    fn call(&mut self, call: RecordedCall) -> usize {
        let id = call.id.clone();
        let index = self.transcript.call(call);
        self.by_id.extend(id.map(|id| (id, index)));
        index
    }

    /// A call that a span describes: a known call of the model, or one that only its span shows.
    fn execute(&mut self, executed: Executed) {
        let answer = answer_of_span(&executed, &mut self.transcript);
        let index = match self.made(&executed) {
            Some(position) => self.waiting.remove(position),
            None => self.call(RecordedCall {
                name: executed.tool.clone(),
                id: executed.id.clone(),
                ..RecordedCall::default()
            }),
        };
        let call = &mut self.transcript.calls[index];
        if let Some(caller) = &executed.caller {
            caller.mark([&mut *call]);
        }
        if call.args.is_none() && call.args_text.is_none() {
            call.args = executed.arguments;
        }
        if executed.server.is_some() {
            call.name = executed.tool;
            call.server = executed.server;
        }
        call.id = call.id.take().or(executed.id);
        if answer.content.is_some() || answer.structured.is_some() {
            self.answer(index, &answer);
        } else {
            self.transcript.answer_call(index, answer);
        }
    }

    /// The model's call that this span executed: by id, otherwise by name and arguments, otherwise
    /// by name.
    fn made(&self, executed: &Executed) -> Option<usize> {
        let call = |position: &usize| &self.transcript.calls[self.waiting[*position]];
        let mut positions = 0..self.waiting.len();
        if let Some(id) = &executed.id
            && let Some(found) = positions.find(|position| call(position).id.as_ref() == Some(id))
        {
            return Some(found);
        }
        let is_open = |position: &usize| {
            let call = call(position);
            is_same_tool(&call.name, &executed.tool) && (call.id.is_none() || executed.id.is_none())
        };
        let fits = |position: &usize| match (&call(position).args, &executed.arguments) {
            (Some(one), Some(other)) => equal(one.get(), other.get()),
            _ => false,
        };
        let all = || 0..self.waiting.len();
        all()
            .filter(is_open)
            .find(fits)
            .or_else(|| all().find(is_open))
    }

    fn finish(mut self, spans: &[Span], chats: &[Chat<'_>]) -> Result<Transcript, Misfit> {
        if self.transcript.calls.is_empty()
            && let Some(last) = chats.last()
            && last.input().iter().any(|message| !message.calls.is_empty())
        {
            self.retell(last)
                .map_err(|message| last.span.misfit(message))?;
        }
        // What the model wrote was counted with the request that it answered.
        let last_request = chats.last().map(Chat::input).unwrap_or_default();
        for message in last_request.iter().filter(|sent| !sent.is_assistant()) {
            for what in &message.dropped {
                self.transcript.drop(*what);
            }
        }
        let said_nothing = chats.iter().all(|chat| chat.output().is_empty());
        self.read_agents(spans, said_nothing)?;
        Ok(self.transcript)
    }

    /// Reads from agents' spans what other spans lack: the tokens, the prompt, and the answer if
    /// the model `said_nothing`.
    fn read_agents(&mut self, spans: &[Span], said_nothing: bool) -> Result<(), Misfit> {
        let agents = || spans.iter().filter(|span| span.kind == SpanKind::Agent);
        if self.transcript.tokens == Tokens::default()
            && let Some(agent) = agents().next()
        {
            self.transcript.tokens = agent.tokens();
        }
        if self.prompts.is_empty()
            && let Some(with_input) = agents().find(|agent| !agent.input.is_empty())
        {
            self.input(&with_input.input, true)
                .map_err(|message| with_input.misfit(message))?;
        }
        if said_nothing && let Some(with_output) = agents().find(|agent| !agent.output.is_empty()) {
            self.transcript.assistant();
            for message in &with_output.output {
                self.transcript.say(&message.text);
            }
        }
        Ok(())
    }

    /// Reads the calls of a trace that has them only in the input of its last request.
    fn retell(&mut self, chat: &Chat<'_>) -> Result<(), String> {
        let transcript = &mut self.transcript;
        transcript.restart();
        for message in chat.input().iter().chain(chat.output()) {
            if message.is_assistant() {
                transcript.assistant();
                transcript.say(&message.text);
                for call in &message.calls {
                    transcript.call(call.clone());
                }
            } else if message.role == "user" && message.answers.is_empty() {
                transcript.user(&message.text);
            }
            for (id, answer) in &message.answers {
                transcript.meet(id.as_deref(), None, answer.clone())?;
            }
        }
        Ok(())
    }
}

fn answer_of_span(executed: &Executed, transcript: &mut Transcript) -> ImportedAnswer {
    let is_error = executed.error.is_some();
    let Some(result) = &executed.result else {
        return match &executed.error {
            Some(error) => ImportedAnswer::from_text(error.as_str().into(), true),
            None => ImportedAnswer::default(),
        };
    };
    let value = reread(result.get());
    let written = value.and_then(Json::string);
    let Some(inner) = written
        .as_deref()
        .and_then(Json::inside)
        .filter(|inner| inner.object().is_some())
    else {
        return answer_of(value, is_error, transcript);
    };
    let result = inner
        .object()
        .and_then(|result| mcp_answer(&result, is_error, transcript));
    result.unwrap_or_else(|| {
        let structured = Some(inner.compact());
        ImportedAnswer {
            structured,
            ..answer_of(value, is_error, transcript)
        }
    })
}
