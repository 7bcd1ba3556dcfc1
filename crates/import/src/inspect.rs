//! Logs of Inspect: what do the messages, the events and the scores of a sample say?

use crate::Importer;
use crate::content::{Part, answer_of, call_of, could_be_a_call, part, text_of, value_of};
use crate::json::{Fields, Json, Misfit, object_of};
use crate::sample::Sample;
use crate::sub_agent::{AgentCaller, MAIN};
use crate::transcript::{Dropped, ImportedAnswer, Transcript};
use mcptest_core::trace::{RecordedCall, Tokens};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) const IMPORTER: Importer = Importer {
    key: "inspect",
    name: "inspect",
    doc: "a log with `eval` and `samples`, as JSON or as an `.eval` archive",
    also_reads: &[],
    sniff,
    read,
};

/// A text that is kept once, beside the events.
const ATTACHMENT: &str = "\"attachment://";

/// The most bytes of a sample with its attachments in their places.
const MOST_ATTACHED: usize = 256 << 20;

fn sniff(sample: &Sample<'_>) -> bool {
    sample.records.iter().any(|record| {
        let is_log = record.has("eval") && (record.has("samples") || record.has("plan"));
        is_log || is_sample(record)
    })
}

fn is_sample(record: &Fields<'_>) -> bool {
    record.has("epoch") && record.has("messages")
}

fn read(values: &[Json<'_>]) -> Result<Vec<Transcript>, Misfit> {
    let mut transcripts = Vec::new();
    let mut model = None;
    for value in values {
        let record = object_of(*value, "a log")?;
        if let Some(eval) = record.object("eval")? {
            model = eval.owned("model");
            for sample in record.list("samples")?.unwrap_or_default() {
                transcripts.push(sample_of(sample, model.as_deref())?);
            }
        } else if is_sample(&record) {
            transcripts.push(sample_of(*value, model.as_deref())?);
        } else {
            return Err(record.misfit("this is not a log or a sample".to_owned()));
        }
    }
    Ok(transcripts)
}

fn sample_of(value: Json<'_>, model: Option<&str>) -> Result<Transcript, Misfit> {
    let sample = object_of(value, "a sample")?;
    let attached = with_attachments(&sample)?;
    let Some(attached) = attached else {
        return SampleReader::new(&sample).read(&sample, model);
    };
    let whole = Json::whole(&attached).and_then(Json::object);
    let whole = whole.ok_or_else(|| sample.misfit("its attachments do not fit".to_owned()))?;
    // A problem has the place of the sample.
    SampleReader::new(&whole)
        .read(&whole, model)
        .map_err(|misfit| sample.misfit(misfit.message))
}

/// The text of a sample with each attachment in its places. `None` if none is used.
fn with_attachments(sample: &Fields<'_>) -> Result<Option<String>, Misfit> {
    let attachments = sample.part("attachments").unwrap_or_default();
    let texts: BTreeMap<&str, Json<'_>> = attachments.entries().collect();
    if texts.is_empty() {
        return Ok(None);
    }
    let mut whole = String::new();
    let mut rest = sample.text();
    while let Some(start) = rest.find(ATTACHMENT) {
        let name = &rest[start + ATTACHMENT.len()..];
        let name = &name[..name.find('"').unwrap_or(name.len())];
        let end = (start + ATTACHMENT.len() + name.len() + 1).min(rest.len());
        whole.push_str(&rest[..start]);
        match texts.get(name) {
            Some(text) => whole.push_str(text.text()),
            None => whole.push_str(&rest[start..end]),
        }
        if whole.len() > MOST_ATTACHED {
            let limit = MOST_ATTACHED >> 20;
            return Err(sample.misfit(format!(
                "with its attachments, this sample is larger than {limit} MiB"
            )));
        }
        rest = &rest[end..];
    }
    whole.push_str(rest);
    Ok(Some(whole))
}

/// An execution of a tool.
struct ToolEvent<'a> {
    event: Fields<'a>,
    id: Option<Cow<'a, str>>,
    /// The span of a sub-agent in which it was, if any.
    agent: Option<String>,
}

/// A span of an agent that worked for a tool.
struct AgentSpan {
    name: String,
    /// The id of the call.
    tool_id: Option<String>,
    /// The span of the sub-agent that made this call, if any.
    parent: Option<String>,
}

/// The executions and answers in the events of a sample, in order.
#[derive(Default)]
struct Events<'a> {
    tools: Vec<ToolEvent<'a>>,
    /// Answers of the model, with the span of a sub-agent in which each was.
    answers: Vec<(Option<String>, Fields<'a>)>,
    /// The sub-agents by their spans, in order.
    agents: Vec<(String, AgentSpan)>,
}

/// A span that has begun.
struct Span<'a> {
    kind: Cow<'a, str>,
    name: Cow<'a, str>,
    parent: Option<Cow<'a, str>>,
    /// The call that a span of a tool is of.
    call: Option<Cow<'a, str>>,
}

impl<'a> Events<'a> {
    fn read(sample: &Fields<'a>) -> Self {
        let mut events = Self::default();
        let mut spans: BTreeMap<String, Span<'a>> = BTreeMap::new();
        let mut latest_tool: Option<String> = None;
        let list = sample
            .get("events")
            .and_then(Json::list)
            .unwrap_or_default();
        for event in list.iter().filter_map(|event| event.object()) {
            let span = event.string("span_id");
            match event.string("event").as_deref() {
                Some("span_begin") => {
                    let Some(id) = event.owned("id") else {
                        continue;
                    };
                    let span = Span {
                        kind: event.string("type").unwrap_or_default(),
                        name: event.string("name").unwrap_or_default(),
                        parent: event.string("parent_id"),
                        call: None,
                    };
                    latest_tool = (span.kind == "tool").then(|| id.clone());
                    spans.insert(id, span);
                }
                Some("tool") => {
                    let id = event.string("id");
                    // A tool's span begins before the event of the tool.
                    if let Some(of_tool) = latest_tool.take().and_then(|at| spans.get_mut(&at)) {
                        of_tool.call.clone_from(&id);
                    }
                    let agent = events.agent_around(span.as_deref(), &spans);
                    events.tools.push(ToolEvent { event, id, agent });
                }
                Some("model") => {
                    let agent = events.agent_around(span.as_deref(), &spans);
                    events.answers.push((agent, event));
                }
                _ => {}
            }
        }
        events
    }

    /// The span of the sub-agent around a span: the outermost span within the nearest tool.
    fn agent_around(
        &mut self,
        span: Option<&str>,
        spans: &BTreeMap<String, Span<'a>>,
    ) -> Option<String> {
        let mut at = span?.to_owned();
        let mut within: Option<String> = None;
        // A span that is its own parent would never end.
        for _ in 0..spans.len() {
            let span = spans.get(&at)?;
            if span.kind == "tool" {
                let agent = within.unwrap_or_else(|| at.clone());
                self.add_agent(&agent, span, spans);
                return Some(agent);
            }
            if span.kind == "agent" {
                within = Some(at.clone());
            }
            at = span.parent.as_deref()?.to_owned();
        }
        None
    }

    fn add_agent(&mut self, agent: &str, tool: &Span<'a>, spans: &BTreeMap<String, Span<'a>>) {
        if self.agents.iter().any(|(known, _)| known == agent) {
            return;
        }
        let name = spans.get(agent).map(|span| span.name.to_string());
        let about = AgentSpan {
            name: name.unwrap_or_default(),
            tool_id: tool.call.as_deref().map(str::to_owned),
            parent: None,
        };
        // Spans can be around each other, so it is known before its parent is looked for.
        let at = self.agents.len();
        self.agents.push((agent.to_owned(), about));
        self.agents[at].1.parent = self.agent_around(tool.parent.as_deref(), spans);
    }
}

struct SampleReader<'a> {
    transcript: Transcript,
    events: Events<'a>,
    /// The calls that messages have, by their ids.
    known: BTreeSet<String>,
}

impl<'a> SampleReader<'a> {
    fn new(sample: &Fields<'a>) -> Self {
        let mut transcript = Transcript::default();
        transcript.marks_errors = true;
        Self {
            transcript,
            events: Events::read(sample),
            known: BTreeSet::new(),
        }
    }

    fn read(mut self, sample: &Fields<'a>, model: Option<&str>) -> Result<Transcript, Misfit> {
        self.transcript.set_model(model.map(str::to_owned));
        for message in sample.list("messages")?.unwrap_or_default() {
            self.message(&object_of(message, "a message")?)?;
        }
        self.calls_without_message();
        self.sub_agents()?;
        self.end(sample)?;
        Ok(self.transcript)
    }

    fn message(&mut self, message: &Fields<'a>) -> Result<(), Misfit> {
        let role = message.required_string("role", "a message")?;
        match &*role {
            "system" | "user" => {
                let content = message.get("content");
                let text = content.map(|content| text_of(content, &mut self.transcript));
                let text = text.transpose()?.unwrap_or_default();
                if role == "user" {
                    self.transcript.user(&text);
                } else {
                    self.transcript.system(&text);
                }
            }
            "assistant" => self.assistant(message)?,
            "tool" => {
                let answer = answer(message.get("content"), message, &mut self.transcript);
                self.transcript
                    .answer(message, "tool_call_id", None, answer)?;
            }
            other => {
                let problem = format!("`role` is `{other}`; it is system, user, assistant or tool");
                return Err(message.misfit(problem));
            }
        }
        Ok(())
    }

    fn assistant(&mut self, message: &Fields<'a>) -> Result<(), Misfit> {
        self.transcript.assistant();
        let mut calls = message.list("tool_calls")?.unwrap_or_default();
        let answer = self.answer_with(message.string("id").as_deref());
        let (mut tokens, mut reason, mut submission) = (None, None, Vec::new());
        if let Some((output, choice)) = answer {
            if calls.is_empty() {
                let said = choice.part("message").unwrap_or_default();
                submission = said.list("tool_calls")?.unwrap_or_default();
            }
            tokens = output.part("usage").map(|usage| counts(&usage));
            reason = choice.owned("stop_reason");
        }
        // A message is kept without the call that submitted the answer, and with the answer instead.
        let is_submission = !submission.is_empty();
        if is_submission {
            calls = submission;
        } else {
            say(message.get("content"), &mut self.transcript)?;
        }
        for call in calls {
            let id = read_call(&object_of(call, "a call")?, &mut self.transcript)?;
            self.known.extend(id);
        }
        if is_submission {
            say(message.get("content"), &mut self.transcript)?;
        }
        if let Some(tokens) = tokens {
            self.transcript.count_answer(tokens);
        }
        self.transcript.answer_ended(reason.as_deref());
        self.transcript.stopped(reason);
        Ok(())
    }

    /// The output of the model with the message of this id, and the message's choice.
    fn answer_with(&self, id: Option<&str>) -> Option<(Fields<'a>, Fields<'a>)> {
        let id = id?;
        self.events.answers.iter().find_map(|(_, event)| {
            let (output, choice) = first_choice(event)?;
            let message = choice.part("message")?;
            (message.string("id")? == id).then_some((output, choice))
        })
    }

    /// Adds the agent's own calls that only events have: calls without an answer, and calls whose messages
    /// were removed to save space.
    fn calls_without_message(&mut self) {
        let (mut removed, mut next) = (Vec::new(), 0);
        for tool in self.events.tools.iter().filter(|tool| tool.agent.is_none()) {
            let transcript = &mut self.transcript;
            let id = tool.id.as_deref().filter(|id| self.known.contains(*id));
            let Some(id) = id else {
                let answer = answer(tool.event.get("result"), &tool.event, transcript);
                removed.push((next, executed(&tool.event), answer));
                continue;
            };
            if let Some(index) = transcript.waiting_call(id) {
                let answer = answer(tool.event.get("result"), &tool.event, transcript);
                transcript.answer_at(index, answer);
            }
            let is_this = |call: &RecordedCall| call.id.as_deref() == Some(id);
            next = transcript
                .calls
                .iter()
                .position(is_this)
                .map_or(next, |at| at + 1);
        }
        self.transcript.insert_calls(removed);
    }

    /// Adds the calls of the sub-agents. Each sub-agent gets the calls of its own sub-agents first.
    fn sub_agents(&mut self) -> Result<(), Misfit> {
        let agents = std::mem::take(&mut self.events.agents);
        let mut read: Vec<Transcript> = Vec::new();
        for (span, _) in &agents {
            read.push(self.sub_agent(span)?);
        }
        for at in (0..agents.len()).rev() {
            let agent = read.pop().unwrap_or_default();
            let (span, about) = &agents[at];
            let caller = AgentCaller {
                name: about.name.clone(),
                id: Some(span.clone()),
                tool_id: about.tool_id.clone(),
            };
            let parent = agents[..at]
                .iter()
                .position(|(id, _)| Some(id) == about.parent.as_ref());
            let (parent, from) = match parent {
                Some(parent) => (&mut read[parent], agents[parent].1.name.as_str()),
                None => (&mut self.transcript, MAIN),
            };
            let starts = |call: &&RecordedCall| call.id.is_some() && call.id == about.tool_id;
            let after = parent.calls.iter().find(starts).and_then(|call| call.turn);
            parent.take_in(from, &caller, agent, after);
        }
        Ok(())
    }

    /// The messages and calls of the model in the span of a sub-agent.
    fn sub_agent(&self, span: &str) -> Result<Transcript, Misfit> {
        let mut agent = Transcript::default();
        for (of, event) in &self.events.answers {
            let Some((_, choice)) = first_choice(event).filter(|_| of.as_deref() == Some(span))
            else {
                continue;
            };
            let message = choice.part("message").unwrap_or_default();
            agent.assistant();
            say(message.get("content"), &mut agent)?;
            for call in message.list("tool_calls")?.unwrap_or_default() {
                read_call(&object_of(call, "a call")?, &mut agent)?;
            }
        }
        for tool in &self.events.tools {
            if tool.agent.as_deref() != Some(span) {
                continue;
            }
            let made = tool.id.as_deref().and_then(|id| agent.waiting_call(id));
            let index = match made {
                Some(index) => index,
                None => agent.call(executed(&tool.event)),
            };
            let answer = answer(tool.event.get("result"), &tool.event, &mut agent);
            agent.answer_at(index, answer);
        }
        Ok(agent)
    }

    fn end(&mut self, sample: &Fields<'a>) -> Result<(), Misfit> {
        let transcript = &mut self.transcript;
        let (id, epoch) = (sample.get("id"), sample.count("epoch"));
        let id = id.map(|id| id.string().unwrap_or_else(|| id.text().into()));
        if let (Some(id), Some(epoch)) = (&id, epoch) {
            transcript.trace_id = Some(format!("{id}_epoch_{epoch}"));
        }
        if let Some(id) = id {
            let id = Value::from(id.into_owned());
            transcript.labels.insert("task_id".to_owned(), id);
        }
        // The usage of every model, with those of sub-agents.
        let models = sample.object("model_usage")?.unwrap_or_default();
        transcript.tokens = Tokens::default();
        for (_, usage) in models.entries() {
            if let Some(usage) = usage.object() {
                transcript.tokens.add(counts(&usage));
                transcript.add_cost(usage.get("total_cost").and_then(Json::number));
            }
        }
        let seconds = sample.get("total_time").and_then(Json::number);
        transcript.duration_ms = seconds.and_then(milliseconds);
        if let Some(limit) = sample.part("limit").and_then(|limit| limit.owned("type")) {
            transcript.stopped(Some(format!("{limit}_limit")));
        }
        if let Some(error) = sample.part("error") {
            let message = error.owned("message");
            transcript.end_in_error(message.unwrap_or_else(|| "the sample failed".to_owned()));
        }
        read_scores(sample, transcript)
    }
}

/// The first choice of an output of the model, and the output.
fn first_choice<'a>(event: &Fields<'a>) -> Option<(Fields<'a>, Fields<'a>)> {
    let output = event.part("output")?;
    let choice = output.get("choices")?.list()?.first()?.object()?;
    Some((output, choice))
}

/// The text of a message of the model, and the calls that its provider made while it wrote.
fn say(content: Option<Json<'_>>, transcript: &mut Transcript) -> Result<(), Misfit> {
    let Some(content) = content else {
        return Ok(());
    };
    let Some(parts) = content.list() else {
        let text = text_of(content, transcript)?;
        transcript.say(&text);
        return Ok(());
    };
    for value in parts {
        let fields = object_of(value, "a part of `content`")?;
        let kind = fields.string("type").unwrap_or_default();
        match part(&kind, &fields) {
            Part::Text(text) => transcript.say(&text),
            Part::Dropped(what) => transcript.drop(what),
            Part::Other if kind == "tool_use" => hosted_call(&fields, transcript)?,
            Part::Other if kind == "data" => transcript.drop(Dropped::Other),
            Part::Other => {
                let told = format!("a part of `content` is of an unknown `type`, `{kind}`");
                return Err(fields.misfit(could_be_a_call(&told)));
            }
        }
    }
    Ok(())
}

/// A call of a tool that the provider ran, with its result.
fn hosted_call(fields: &Fields<'_>, transcript: &mut Transcript) -> Result<(), Misfit> {
    let name = fields.required_string("name", "a call")?.into_owned();
    let server = fields.owned("context");
    let call = call_of(name, fields.owned("id"), fields.get("arguments"));
    let index = transcript.call(RecordedCall { server, ..call });
    let error = fields.get("error");
    let answer = answer_of(error.or(fields.get("result")), error.is_some(), transcript);
    transcript.answer_call(index, answer);
    Ok(())
}

/// Adds a call of a message. Returns its id.
fn read_call(call: &Fields<'_>, transcript: &mut Transcript) -> Result<Option<String>, Misfit> {
    let id = call.optional_owned("id")?;
    let name = call.required_string("function", "a call")?.into_owned();
    transcript.call(call_of(name, id.clone(), call.get("arguments")));
    Ok(id)
}

/// A call as the event of its execution has it.
fn executed(event: &Fields<'_>) -> RecordedCall {
    let name = event.owned("function").unwrap_or_default();
    call_of(name, event.owned("id"), event.get("arguments"))
}

/// A tool's answer: its content, or the message of its error.
fn answer(
    content: Option<Json<'_>>,
    of: &Fields<'_>,
    transcript: &mut Transcript,
) -> ImportedAnswer {
    let Some(error) = of.part("error") else {
        return match content {
            Some(content) if content.list().is_none() => value_of(Some(content), false, transcript),
            content => answer_of(content, false, transcript),
        };
    };
    let said = content
        .and_then(Json::string)
        .filter(|said| !said.is_empty());
    let said = said.or_else(|| error.string("message"));
    ImportedAnswer::from_text(said.unwrap_or_default(), true)
}

fn counts(usage: &Fields<'_>) -> Tokens {
    let cache_read = usage.count("input_tokens_cache_read");
    let cache_write = usage.count("input_tokens_cache_write");
    let (input, output) = (usage.count("input_tokens"), usage.count("output_tokens"));
    let total = usage.count("total_tokens");
    let counted = Tokens {
        total,
        cache_read,
        cache_write,
        reasoning: usage.count("reasoning_tokens"),
        ..Tokens::without_total(input, output)
    };
    // Some providers count what a cache gave beside the prompt, and then the total shows it.
    let cached = cache_read.unwrap_or_default() + cache_write.unwrap_or_default();
    let sum = input.unwrap_or_default() + output.unwrap_or_default() + cached;
    if cached > 0 && total == Some(sum) {
        counted.with_cached_beside()
    } else {
        counted.with_cached_in_prompt()
    }
}

/// The scores of a sample as labels: a score of several values gives one for each.
fn read_scores(sample: &Fields<'_>, transcript: &mut Transcript) -> Result<(), Misfit> {
    let mut scores: Vec<(String, Value)> = Vec::new();
    for (name, score) in sample.object("scores")?.unwrap_or_default().entries() {
        let value = score.object().and_then(|score| score.get("value"));
        let Some(value) = value else { continue };
        let value: Value = serde_json::from_str(value.text()).unwrap_or_default();
        match value {
            Value::Object(values) => {
                scores.extend(
                    values
                        .into_iter()
                        .map(|(key, value)| (format!("{name}.{key}"), value)),
                );
            }
            Value::Array(values) => {
                let numbered = values.into_iter().enumerate();
                scores.extend(numbered.map(|(at, value)| (format!("{name}.{at}"), value)));
            }
            value => scores.push((name.to_owned(), value)),
        }
    }
    if let [(_, only)] = &scores[..]
        && let Some(score) = as_number(only)
    {
        transcript.labels.insert("score".to_owned(), score.into());
    }
    transcript.labels.extend(scores);
    Ok(())
}

/// The number that Inspect takes for a grade: correct, partly correct, incorrect, no answer.
fn as_number(score: &Value) -> Option<f64> {
    match score {
        Value::String(grade) => match grade.as_str() {
            "C" => Some(1.0),
            "P" => Some(0.5),
            "I" | "N" => Some(0.0),
            _ => None,
        },
        Value::Bool(is_correct) => Some(f64::from(u8::from(*is_correct))),
        score => score.as_f64(),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the bounds are checked, and parts of a millisecond do not matter"
)]
fn milliseconds(seconds: f64) -> Option<u64> {
    let milliseconds = (seconds * 1000.0).round();
    (0.0..1e15)
        .contains(&milliseconds)
        .then_some(milliseconds as u64)
}
