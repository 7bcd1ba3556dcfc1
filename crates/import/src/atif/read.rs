//! What does a trajectory of ATIF say: its steps, their calls and observations, and its sub-agents?

use super::OWN;
use crate::catalogue::tool;
use crate::content::{answer_of, text_of, value_of};
use crate::json::{Fields, Json, Misfit, object_of};
use crate::sub_agent::{AgentCaller, MAIN};
use crate::time::milliseconds_between;
use crate::transcript::{Dropped, ImportedAnswer, Transcript};
use mcptest_core::trace::{
    RecordedCall, RecordedDelegation, RecordedError, RecordedFailure, Tokens,
};
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::BTreeSet;

pub(super) fn read(values: &[Json<'_>]) -> Result<Vec<Transcript>, Misfit> {
    let mut transcripts = Vec::new();
    for value in values {
        for one in value.list().unwrap_or_else(|| vec![*value]) {
            transcripts.push(trajectory(&object_of(one, "a trajectory")?)?);
        }
    }
    Ok(transcripts)
}

fn trajectory(root: &Fields<'_>) -> Result<Transcript, Misfit> {
    let steps = root
        .list("steps")?
        .ok_or_else(|| root.misfit("a trajectory has no `steps`".to_owned()))?;
    let mut reader = TrajectoryReader::new(root)?;
    for step in steps {
        reader.step(&object_of(step, "a step")?)?;
    }
    reader.finish(root)
}

/// A sub-agent with its own trajectory.
struct SubAgent {
    caller: AgentCaller,
    transcript: Transcript,
    /// The turn that started it.
    after: Option<u64>,
}

/// A call of a step, with the id that its result refers to.
struct StepCall {
    id: Option<String>,
    index: usize,
}

struct TrajectoryReader<'a> {
    transcript: Transcript,
    /// The agent's name.
    agent: Option<String>,
    /// The trajectories of sub-agents in this file.
    embedded: Vec<Fields<'a>>,
    /// The indices of trajectories that a result refers to.
    referred: BTreeSet<usize>,
    /// Their conversations, to be added when the indices of calls no longer matter.
    sub_agents: Vec<SubAgent>,
    first_time: Option<Cow<'a, str>>,
    last_time: Option<Cow<'a, str>>,
}

impl<'a> TrajectoryReader<'a> {
    fn new(root: &Fields<'a>) -> Result<Self, Misfit> {
        let mut transcript = Transcript::default();
        transcript.trace_id = root
            .owned("session_id")
            .or_else(|| root.owned("trajectory_id"));
        let agent = root.object("agent")?.unwrap_or_default();
        transcript.set_model(agent.owned("model_name"));
        for definition in agent.list("tool_definitions")?.unwrap_or_default() {
            let definition = object_of(definition, "a tool")?;
            let function = definition.part("function").unwrap_or(definition);
            let server = function.string("server");
            if let Some(tool) = tool(&function, server.as_deref()) {
                transcript.tool(tool);
            }
        }
        let embedded = root.list("subagent_trajectories")?.unwrap_or_default();
        let embedded = embedded
            .into_iter()
            .map(|one| object_of(one, "a trajectory of a sub-agent"))
            .collect::<Result<_, Misfit>>()?;
        Ok(Self {
            transcript,
            agent: agent.owned("name"),
            embedded,
            referred: BTreeSet::new(),
            sub_agents: Vec::new(),
            first_time: None,
            last_time: None,
        })
    }

    fn step(&mut self, step: &Fields<'a>) -> Result<(), Misfit> {
        if let Some(time) = step.string("timestamp") {
            self.first_time.get_or_insert_with(|| time.clone());
            self.last_time = Some(time);
        }
        let source = step.required_string("source", "a step")?;
        let message = match step.get("message") {
            Some(message) => text_of(message, &mut self.transcript)?,
            None => Cow::Borrowed(""),
        };
        match &*source {
            "system" if message.is_empty() => {}
            "system" => self.transcript.system(&message),
            "user" => self.transcript.user(&message),
            "agent" if is_copied(step) => {
                self.transcript.drop(Dropped::CopiedStep);
                return Ok(());
            }
            "agent" => self.agent_step(step, &message)?,
            other => {
                let message = format!("`source` is `{other}`; it is system, user or agent");
                return Err(step.misfit(message));
            }
        }
        if source != "agent" && step.has("tool_calls") {
            return Err(step.misfit("only a step of the agent has `tool_calls`".to_owned()));
        }
        let mut calls = Vec::new();
        for call in step.list("tool_calls")?.unwrap_or_default() {
            calls.push(self.call(&object_of(call, "a call")?)?);
        }
        if has_no_message(step) {
            for call in &calls {
                self.transcript.calls[call.index].turn = None;
            }
        }
        self.observation(step, &calls)
    }

    fn agent_step(&mut self, step: &Fields<'_>, message: &str) -> Result<(), Misfit> {
        let transcript = &mut self.transcript;
        if has_no_message(step) {
            return Ok(());
        }
        transcript.assistant();
        transcript.say(message);
        transcript.set_model(step.owned("model_name"));
        if step.has("reasoning_content") {
            transcript.drop(Dropped::Reasoning);
        }
        if let Some(metrics) = step.object("metrics")? {
            let tokens = tokens(&metrics, "");
            transcript.tokens.add(tokens);
            transcript.count_answer(tokens);
            transcript.add_cost(metrics.get("cost_usd").and_then(Json::number));
        }
        let extra = step.part("extra").unwrap_or_default();
        let reason = extra
            .owned("stop_reason")
            .or_else(|| extra.owned("finish_reason"));
        transcript.answer_ended(reason.as_deref());
        transcript.stopped(reason);
        Ok(())
    }

    fn call(&mut self, call: &Fields<'_>) -> Result<StepCall, Misfit> {
        let extra = call.part("extra").unwrap_or_default();
        let own = extra.part(OWN).unwrap_or_default();
        let id = call.optional_owned("tool_call_id")?;
        let other_args = own.entries().find(|(key, _)| *key == "args");
        let args = match other_args {
            Some((_, args)) => Some(args),
            None if own.has("no_arguments") => None,
            None => call.get("arguments"),
        };
        let index = self.transcript.call(RecordedCall {
            name: call
                .required_string("function_name", "a call")?
                .into_owned(),
            server: own.owned("server"),
            args: args.map(Json::compact),
            args_text: own.owned("args_text"),
            id: id.clone().filter(|_| !own.has("no_id")),
            caller: own.get("caller").map(Json::compact),
            distractor: own.has("distractor"),
            ..RecordedCall::default()
        });
        Ok(StepCall { id, index })
    }

    /// The results of a step with these calls.
    fn observation(&mut self, step: &Fields<'a>, calls: &[StepCall]) -> Result<(), Misfit> {
        let Some(observation) = step.object("observation")? else {
            return Ok(());
        };
        let mut without_id = Vec::new();
        for result in observation.list("results")?.unwrap_or_default() {
            let result = object_of(result, "a result")?;
            let id = result.optional_owned("source_call_id")?;
            self.sub_agents(&result, id.as_deref())?;
            let answer = self.answer(&result);
            let of_call = calls.iter().find(|call| {
                id.is_some() && call.id == id && self.transcript.answers[call.index].is_none()
            });
            match of_call {
                Some(call) => self.transcript.answer_at(call.index, answer),
                None if id.is_some() => {
                    self.transcript
                        .answer(&result, "source_call_id", None, answer)?;
                }
                None => without_id.push(answer),
            }
        }
        let indices = calls.iter().map(|call| call.index);
        let waiting: Vec<usize> = indices
            .filter(|index| self.transcript.answers[*index].is_none())
            .collect();
        self.answers_without_id(&waiting, without_id)
            .map_err(|message| step.misfit(message))
    }

    /// Results that do not name their call: one for each waiting call in order, or one for all of
    /// them, such as the screen of a terminal.
    fn answers_without_id(
        &mut self,
        waiting: &[usize],
        answers: Vec<ImportedAnswer>,
    ) -> Result<(), String> {
        let of_calls = match (waiting, answers.len()) {
            (_, 0) => return Ok(()),
            ([], _) => {
                for answer in answers {
                    self.transcript.tool_said(answer.text);
                }
                return Ok(());
            }
            ([.., last], 1) => std::slice::from_ref(last),
            (all, count) if all.len() == count => all,
            (all, count) => {
                return Err(format!(
                    "{count} results without `source_call_id` follow {}; name the call of each result",
                    mcptest_core::words::count(all.len(), "call")
                ));
            }
        };
        for (index, answer) in of_calls.iter().zip(answers) {
            self.transcript.answer_at(*index, answer);
        }
        Ok(())
    }

    fn answer(&mut self, result: &Fields<'_>) -> ImportedAnswer {
        let extra = result.part("extra").unwrap_or_default();
        let own = extra.part(OWN).unwrap_or_default();
        let mark = error_mark(result, &extra);
        self.transcript.marks_errors |= mark.is_some();
        let is_error = mark.unwrap_or_default();
        let transcript = &mut self.transcript;
        let mut answer = match (result.get("content"), extra.get("tool_result")) {
            // A result that is not text, as NeMo Relay writes it.
            (None, Some(value)) => value_of(Some(value), is_error, transcript),
            (content, _) => answer_of(content, is_error, transcript),
        };
        if own.has("content") || own.has("no_content") {
            answer.content = own.get("content").map(Json::compact);
        }
        if let Some(structured) = own.get("structured") {
            answer.structured = Some(structured.compact());
        }
        if let Some(failure) = own.part("error") {
            answer.is_error = failure
                .get("is_error")
                .and_then(Json::flag)
                .unwrap_or(is_error);
            answer.failure = Some(RecordedFailure {
                code: failure.get("code").and_then(Json::integer),
                message: failure.owned("message").unwrap_or_default(),
            });
        }
        answer
    }

    /// The sub-agents that worked for a call.
    fn sub_agents(&mut self, result: &Fields<'a>, call: Option<&str>) -> Result<(), Misfit> {
        let Some(written) = result.get("subagent_trajectory_ref") else {
            return Ok(());
        };
        for one in written.list().unwrap_or_else(|| vec![written]) {
            let reference = object_of(one, "a reference to a sub-agent")?;
            match self.referred_by(&reference) {
                Some(index) => {
                    self.referred.insert(index);
                    let extra = reference.part("extra").unwrap_or_default();
                    self.include(index, extra.owned("name"), call)?;
                }
                None => self.transcript.drop(Dropped::OtherFile),
            }
        }
        Ok(())
    }

    /// The embedded trajectory that a reference names. Before version 1.7, its session named it.
    fn referred_by(&self, reference: &Fields<'_>) -> Option<usize> {
        let named = |key: &str| {
            let id = reference.string(key)?;
            (0..self.embedded.len())
                .filter(|index| !self.referred.contains(index))
                .find(|index| {
                    self.embedded[*index]
                        .string(key)
                        .is_some_and(|own| own == id)
                })
        };
        named("trajectory_id").or_else(|| {
            let is_old = !reference.has("trajectory_id") && !reference.has("trajectory_path");
            is_old.then(|| named("session_id")).flatten()
        })
    }

    /// Reads the trajectory of a sub-agent that this call started.
    fn include(
        &mut self,
        index: usize,
        name: Option<String>,
        call: Option<&str>,
    ) -> Result<(), Misfit> {
        let root = &self.embedded[index];
        let name = name.or_else(|| root.part("agent")?.owned("name"));
        let is_started = |one: &&RecordedCall| call.is_some() && one.id.as_deref() == call;
        let after = self.transcript.calls.iter().rev().find(is_started);
        let after = after.and_then(|call| call.turn);
        let caller = AgentCaller {
            name: name.unwrap_or_else(|| "sub-agent".to_owned()),
            id: root.owned("trajectory_id"),
            tool_id: call.map(str::to_owned),
        };
        let transcript = trajectory(root)?;
        self.sub_agents.push(SubAgent {
            caller,
            transcript,
            after,
        });
        Ok(())
    }

    fn finish(mut self, root: &Fields<'a>) -> Result<Transcript, Misfit> {
        for index in 0..self.embedded.len() {
            if !self.referred.contains(&index) {
                self.include(index, None, None)?;
            }
        }
        let metrics = root.object("final_metrics")?.unwrap_or_default();
        let total = tokens(&metrics, "total_");
        if total != Tokens::default() {
            self.transcript.tokens = with_parts_of(total, &self.transcript.tokens);
        }
        // The last is added first, so that those of one turn stay in order.
        for sub_agent in self.sub_agents.into_iter().rev() {
            let from = self.agent.as_deref().unwrap_or(MAIN);
            let SubAgent {
                caller,
                transcript,
                after,
            } = sub_agent;
            self.transcript.add_cost(transcript.cost_usd);
            self.transcript.take_in(from, &caller, transcript, after);
        }
        // The whole cost of a trajectory includes its sub-agents.
        let cost = metrics.get("total_cost_usd").and_then(Json::number);
        self.transcript.cost_usd = cost.or(self.transcript.cost_usd);
        if root.has("continued_trajectory_ref") {
            self.transcript.drop(Dropped::OtherFile);
        }
        let times = self.first_time.zip(self.last_time);
        let measured = times.and_then(|(first, last)| milliseconds_between(&first, &last));
        let extra = root.part("extra").unwrap_or_default();
        let own = extra.part(OWN).unwrap_or_default();
        self.transcript.duration_ms = own.count("duration_ms").or(measured);
        self.transcript.conversation_id = own.owned("conversation_id");
        read_own(&own, &mut self.transcript)?;
        Ok(self.transcript)
    }
}

/// Reads the facts for which ATIF has no field, as mcptest writes them.
fn read_own(own: &Fields<'_>, transcript: &mut Transcript) -> Result<(), Misfit> {
    #[derive(Deserialize)]
    struct Named {
        #[serde(default)]
        kind: String,
        #[serde(default)]
        message: String,
    }
    transcript.stopped(own.owned("stop_reason"));
    if own.has("final_response") || own.has("no_final_response") {
        transcript.close_with(own.owned("final_response").unwrap_or_default());
    }
    for (name, label) in own.part("labels").unwrap_or_default().entries() {
        let label = serde_json::from_str(label.text()).unwrap_or_default();
        transcript.labels.insert(name.to_owned(), label);
    }
    for error in own.list("errors")?.unwrap_or_default() {
        let named: Named = serde_json::from_str(error.text())
            .map_err(|problem| Misfit::at(error, format!("not an error: {problem}")))?;
        transcript
            .errors
            .push(RecordedError::new(&named.kind, named.message));
    }
    for delegation in own.list("delegations")?.unwrap_or_default() {
        let delegation = object_of(delegation, "a hand-off")?;
        transcript.delegations.push(RecordedDelegation {
            from: delegation.owned("from").unwrap_or_default(),
            to: delegation.owned("to").unwrap_or_default(),
        });
    }
    for call in own.list("unmade_calls")?.unwrap_or_default() {
        let call = object_of(call, "a call")?;
        transcript.unmade_calls.push(RecordedCall {
            name: call.required_string("name", "a call")?.into_owned(),
            server: call.owned("server"),
            args: call.get("args").map(Json::compact),
            args_text: call.owned("args_text"),
            id: call.owned("id"),
            turn: call.count("turn"),
            ..RecordedCall::default()
        });
    }
    Ok(())
}

/// Returns true for calls of which mcptest knew no message of the model.
fn has_no_message(step: &Fields<'_>) -> bool {
    let own = step.part("extra").and_then(|extra| extra.part(OWN));
    own.is_some_and(|own| own.has("no_message"))
}

fn is_copied(step: &Fields<'_>) -> bool {
    step.get("is_copied_context")
        .and_then(Json::flag)
        .unwrap_or_default()
}

/// Token counts under keys with this prefix. Parts that ATIF has no field for are in `extra`, under
/// the names of providers.
fn tokens(metrics: &Fields<'_>, prefix: &str) -> Tokens {
    let count = |key: &str| metrics.count(&format!("{prefix}{key}"));
    let extra = metrics.part("extra").unwrap_or_default();
    let detail = |owner: &str, key: &str| extra.part(owner)?.count(key);
    let reasoning = extra
        .count("reasoning_tokens")
        .or_else(|| extra.count("reasoning_output_tokens"))
        .or_else(|| detail("completion_tokens_details", "reasoning_tokens"))
        .or_else(|| detail("output_tokens_details", "reasoning_tokens"));
    let counted = Tokens {
        total: extra.count("total_tokens"),
        cache_read: count("cached_tokens"),
        cache_write: extra.count("cache_creation_input_tokens"),
        cache_write_1h: extra.count("ephemeral_1h_input_tokens"),
        reasoning: reasoning.or_else(|| extra.count("total_reasoning_tokens")),
        ..Tokens::without_total(count("prompt_tokens"), count("completion_tokens"))
    };
    counted.totalled()
}

/// A total with the parts that only its steps count.
fn with_parts_of(total: Tokens, steps: &Tokens) -> Tokens {
    Tokens {
        cache_read: total.cache_read.or(steps.cache_read),
        cache_write: total.cache_write.or(steps.cache_write),
        cache_write_1h: total.cache_write_1h.or(steps.cache_write_1h),
        reasoning: total.reasoning.or(steps.reasoning),
        ..total
    }
}

/// The error mark of a result, for which ATIF has no field: writers put it beside the content or
/// into `extra`.
fn error_mark(result: &Fields<'_>, extra: &Fields<'_>) -> Option<bool> {
    let flags = [result, extra]
        .into_iter()
        .flat_map(|fields| [fields.get("is_error"), fields.get("isError")]);
    let flag = flags.flatten().find_map(Json::flag);
    let of_span = || extra.part("metadata")?.string("otel.status_code");
    flag.or_else(|| match &*extra.string("status")? {
        "error" | "failed" => Some(true),
        "completed" | "success" | "ok" => Some(false),
        _ => None,
    })
    .or_else(|| match &*of_span()? {
        "ERROR" => Some(true),
        "OK" => Some(false),
        _ => None,
    })
}
