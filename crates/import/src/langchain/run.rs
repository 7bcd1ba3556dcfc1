//! LangSmith runs: which run of a trace has the whole conversation, and what do other runs add?

use super::message::{is_message, read_message, signature};
use crate::catalogue::read_tools;
use crate::content::{answer_of, call_of};
use crate::exchange::{Exchange, chains};
use crate::json::{Fields, Json, Misfit, object_of};
use crate::transcript::{ImportedAnswer, Transcript};
use crate::usage;
use mcptest_core::json::{equal, hash};
use mcptest_core::trace::Tokens;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// One run of a trace.
pub(super) struct Run<'a> {
    pub(super) trace: Option<String>,
    is_root: bool,
    order: String,
    fields: Fields<'a>,
}

impl<'a> Run<'a> {
    /// A run and all its children, each once.
    pub(super) fn flatten(
        fields: &Fields<'a>,
        trace: Option<&str>,
        runs: &mut Vec<Self>,
    ) -> Result<(), Misfit> {
        let own = fields.string("trace_id").or_else(|| fields.string("id"));
        let trace = trace
            .map(str::to_owned)
            .or_else(|| own.map(Cow::into_owned));
        let order = fields
            .string("dotted_order")
            .or_else(|| fields.string("start_time"));
        runs.push(Self {
            trace: trace.clone(),
            is_root: !fields.has("parent_run_id"),
            order: order.unwrap_or_default().into_owned(),
            fields: fields.clone(),
        });
        for child in fields.list("child_runs")?.unwrap_or_default() {
            Self::flatten(&object_of(child, "a child run")?, trace.as_deref(), runs)?;
        }
        Ok(())
    }

    fn is(&self, run_type: &str) -> bool {
        self.fields
            .string("run_type")
            .is_some_and(|kind| kind == run_type)
    }

    fn inputs(&self) -> Result<Vec<Json<'a>>, Misfit> {
        let inputs = self.fields.object("inputs")?.unwrap_or_default();
        let list = inputs.first(&["messages", "input"]).and_then(Json::list);
        Ok(flat(list.unwrap_or_default()))
    }

    /// The messages of the run's output, in any of its forms.
    fn outputs(&self) -> Result<Vec<Json<'a>>, Misfit> {
        let Some(whole) = self.fields.get("outputs") else {
            return Ok(Vec::new());
        };
        let outputs = object_of(whole, "`outputs`")?;
        if is_message(&outputs) {
            return Ok(vec![whole]);
        }
        if let Some(messages) = outputs.get("messages").and_then(Json::list) {
            return Ok(flat(messages));
        }
        for key in ["generations", "choices"] {
            let first = flat(outputs.list(key)?.unwrap_or_default())
                .first()
                .and_then(|one| one.object());
            if let Some(message) = first.and_then(|one| one.get("message")) {
                return Ok(vec![message]);
            }
        }
        for key in ["output", "message"] {
            let Some(value) = outputs.get(key) else {
                continue;
            };
            let is_one =
                |value: &Json<'_>| value.object().is_some_and(|fields| is_message(&fields));
            if is_one(&value) {
                return Ok(vec![value]);
            }
            if let Some(list) = value.list().filter(|list| list.iter().all(is_one)) {
                return Ok(list);
            }
        }
        Ok(Vec::new())
    }
}

/// Chat models accept a list of lists, of which the first is the conversation.
fn flat(list: Vec<Json<'_>>) -> Vec<Json<'_>> {
    match list.first().and_then(|first| first.list()) {
        Some(inner) if inner.iter().all(|one| one.string().is_none()) => inner,
        _ => list,
    }
}

/// The conversation of one trace.
///
/// A root run whose outputs are messages has all of it. Otherwise the runs of models are joined
/// like a log of requests. Otherwise the runs of tools are the calls. No call is counted by two of
/// these.
pub(super) fn transcript(trace: &[Run<'_>]) -> Result<Transcript, Misfit> {
    let mut ordered: Vec<&Run<'_>> = trace.iter().collect();
    ordered.sort_by(|one, other| one.order.cmp(&other.order));
    let root = ordered
        .iter()
        .find(|run| run.is_root)
        .or(ordered.first())
        .copied();
    let mut transcript = Transcript::default();
    for run in &ordered {
        read_around(run, &mut transcript)?;
    }
    let whole = root
        .filter(|run| !run.is("llm"))
        .map(whole_of)
        .transpose()?
        .unwrap_or_default();
    if whole.iter().any(|message| signature(*message).is_some()) {
        for message in whole {
            read_message(message, &mut transcript)?;
        }
    } else {
        read_models(&ordered, &mut transcript)?;
    }
    if transcript.turns.is_empty() {
        read_tools_alone(&ordered, &mut transcript);
    }
    if let Some(error) = root.and_then(|run| run.fields.string("error")) {
        transcript.fail(error);
    }
    if transcript.tokens == Tokens::default() {
        transcript.tokens = tokens_of(root, &ordered);
    }
    Ok(transcript)
}

/// The messages of a run. A graph repeats its input messages; other runs return only new ones.
fn whole_of<'a>(run: &Run<'a>) -> Result<Vec<Json<'a>>, Misfit> {
    let (given, gave) = (run.inputs()?, run.outputs()?);
    let is_said_again = |message: &Json<'_>| {
        gave.first()
            .is_some_and(|first| content(*first).is_some_and(|one| Some(one) == content(*message)))
    };
    let is_repeated = given.first().is_some_and(|first| {
        gave.first()
            .is_some_and(|again| equal(first.text(), again.text()))
            || is_said_again(first)
    });
    Ok(if is_repeated {
        gave
    } else {
        given.into_iter().chain(gave).collect()
    })
}

/// The text of a message, wherever the message has it.
fn content(message: Json<'_>) -> Option<&str> {
    let fields = message.object()?;
    let inner = fields
        .part("kwargs")
        .or_else(|| fields.part("data"))
        .unwrap_or(fields);
    inner.get("content").map(Json::text)
}

/// The model, its tools and its settings, which are next to the messages.
fn read_around(run: &Run<'_>, transcript: &mut Transcript) -> Result<(), Misfit> {
    let extra = run.fields.part("extra").unwrap_or_default();
    let parameters = extra.part("invocation_params").unwrap_or_default();
    let inputs = run.fields.part("inputs").unwrap_or_default();
    if run.is("llm") {
        for tools in [parameters.list("tools")?, inputs.list("tools")?]
            .into_iter()
            .flatten()
        {
            read_tools(&tools, transcript)?;
        }
    }
    let metadata = extra.part("metadata").unwrap_or_default();
    let named = [
        metadata.string("ls_model_name"),
        parameters.string("model"),
        parameters.string("model_name"),
    ];
    transcript.set_model(named.into_iter().flatten().next().map(Cow::into_owned));
    Ok(())
}

fn read_models(runs: &[&Run<'_>], transcript: &mut Transcript) -> Result<(), Misfit> {
    let is_model = |run: &Run<'_>| run.is("llm") || run.is("chat_model");
    let has_models = runs.iter().any(|run| is_model(run));
    let mut exchanges = Vec::new();
    for run in runs {
        let is_exchange = if has_models {
            is_model(run)
        } else {
            run.is_root
        };
        if is_exchange {
            exchanges.push(Exchange {
                messages: run.inputs()?,
                reply: run.outputs()?.into_iter().next(),
                ..Exchange::default()
            });
        }
    }
    read_chains(exchanges, transcript)?;
    if transcript.stop_reason.is_none() {
        let reason = runs.iter().rev().find_map(|run| finish_reason(run));
        transcript.answer_ended(reason.as_deref());
        transcript.stop_reason = reason;
    }
    Ok(())
}

/// Reads the last exchange of each chain. Parallel models, such as an agent and its helpers, may
/// have the same input messages.
fn read_chains(exchanges: Vec<Exchange<'_>>, transcript: &mut Transcript) -> Result<(), Misfit> {
    let mut read: BTreeSet<String> = BTreeSet::new();
    for chain in chains(exchanges, signature) {
        let Some(last) = chain.last() else { continue };
        let mut of_chain = Vec::new();
        for message in last.messages.iter().chain(&last.reply) {
            let calls = signature(*message).filter(|signature| signature.starts_with("calls "));
            let key = calls.unwrap_or_else(|| hash(message.text()).to_string());
            if !read.contains(&key) {
                read_message(*message, transcript)?;
            }
            of_chain.push(key);
        }
        read.extend(of_chain);
    }
    Ok(())
}

fn finish_reason(run: &Run<'_>) -> Option<String> {
    let generations = run.fields.part("outputs")?.get("generations")?.list()?;
    let first = flat(generations).first()?.object()?;
    first.part("generation_info")?.owned("finish_reason")
}

/// Runs of tools, if no run of a model contains the calls.
fn read_tools_alone(runs: &[&Run<'_>], transcript: &mut Transcript) {
    for run in runs.iter().filter(|run| run.is("tool")) {
        let name = run.fields.string("name").unwrap_or_default().into_owned();
        let inputs = run.fields.get("inputs");
        let written = inputs
            .and_then(Json::object)
            .filter(|fields| fields.keys().count() == 1);
        let arguments = written.and_then(|fields| fields.get("input")).or(inputs);
        let index = transcript.call(call_of(name, None, arguments));
        transcript.marks_errors = true;
        if let Some(error) = run.fields.string("error") {
            transcript.answer_call(index, ImportedAnswer::from_text(error, true));
        } else if let Some(outputs) = run.fields.get("outputs") {
            let output = outputs
                .object()
                .and_then(|fields| fields.get("output"))
                .unwrap_or(outputs);
            let inner = output.object().filter(is_message).and_then(|message| {
                message
                    .part("kwargs")
                    .or_else(|| message.part("data"))
                    .unwrap_or(message)
                    .get("content")
            });
            let answer = answer_of(Some(inner.unwrap_or(output)), false, transcript);
            transcript.answer_call(index, answer);
        }
    }
}

/// Token counts next to the messages: the root's sum, otherwise the counts of each model's run.
fn tokens_of(root: Option<&Run<'_>>, runs: &[&Run<'_>]) -> Tokens {
    let of_root = root
        .map(|run| usage::tokens(&run.fields))
        .unwrap_or_default();
    if of_root != Tokens::default() {
        return of_root;
    }
    let mut sum = Tokens::default();
    for run in runs.iter().filter(|run| run.is("llm")) {
        let outputs = run.fields.part("outputs").unwrap_or_default();
        let counted = outputs
            .part("llm_output")
            .and_then(|output| output.part("token_usage"));
        let counted = counted
            .or_else(|| outputs.part("usage"))
            .or_else(|| outputs.part("usage_metadata"));
        sum.add(usage::tokens(
            &counted.unwrap_or_else(|| run.fields.clone()),
        ));
    }
    sum
}
