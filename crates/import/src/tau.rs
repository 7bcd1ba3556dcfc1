//! Results of tau-bench and tau2: episodes with their messages and rewards.

use crate::Importer;
use crate::content::{call_at, text_of};
use crate::json::{Fields, Json, Misfit, object_of};
use crate::openai_chat;
use crate::sample::Sample;
use crate::transcript::{Dropped, ImportedAnswer, Transcript};
use crate::usage;

pub(crate) const IMPORTER: Importer = Importer {
    key: "tau-bench",
    name: "tau-bench",
    doc: "results of tau-bench with `traj`, or of tau2 with `simulations`",
    also_reads: &[],
    sniff,
    read,
};

fn sniff(sample: &Sample<'_>) -> bool {
    sample
        .records
        .iter()
        .any(|record| record.has("traj") || record.has("simulations") || is_simulation(record))
}

/// Returns true for an episode of tau2.
fn is_simulation(record: &Fields<'_>) -> bool {
    record.has("messages") && record.has("task_id") && record.has("termination_reason")
}

fn read(values: &[Json<'_>]) -> Result<Vec<Transcript>, Misfit> {
    let mut transcripts = Vec::new();
    for value in values {
        for one in value.list().unwrap_or_else(|| vec![*value]) {
            read_results(&object_of(one, "an episode")?, &mut transcripts)?;
        }
    }
    Ok(transcripts)
}

fn read_results(record: &Fields<'_>, transcripts: &mut Vec<Transcript>) -> Result<(), Misfit> {
    if let Some(simulations) = record.list("simulations")? {
        let agent = record.part("info").and_then(|info| info.part("agent_info"));
        let model = agent.and_then(|agent| agent.owned("llm"));
        for simulation in simulations {
            let simulation = object_of(simulation, "an entry of `simulations`")?;
            transcripts.push(read_simulation(&simulation, model.clone())?);
        }
        return Ok(());
    }
    transcripts.push(if is_simulation(record) {
        read_simulation(record, None)?
    } else {
        read_episode(record)?
    });
    Ok(())
}

/// An episode of tau-bench: a chat of `OpenAI`, and its reward.
fn read_episode(episode: &Fields<'_>) -> Result<Transcript, Misfit> {
    let Some(messages) = episode.list("traj")? else {
        return Err(episode.misfit("`traj` and `simulations` are missing".to_owned()));
    };
    let mut transcript = Transcript::default();
    for message in messages {
        openai_chat::read_message(&object_of(message, "a message")?, &mut transcript)?;
    }
    transcript.label(episode, &["task_id", "trial", "reward"]);
    let info = episode.part("info").unwrap_or_default();
    if let Some(error) = info.owned("error") {
        transcript.end_in_error(error);
    }
    Ok(transcript)
}

/// An episode of tau2.
fn read_simulation(simulation: &Fields<'_>, model: Option<String>) -> Result<Transcript, Misfit> {
    let messages = simulation.list("messages")?.unwrap_or_default();
    if messages.is_empty() && simulation.has("ticks") {
        let message = "this is a simulation by voice, whose messages are in `ticks`; mcptest reads \
            simulations by text";
        return Err(simulation.misfit(message.to_owned()));
    }
    let mut transcript = Transcript::default();
    transcript.model = model;
    transcript.marks_errors = true;
    transcript.trace_id = simulation.owned("id");
    transcript.stop_reason = simulation.owned("termination_reason");
    transcript.cost_usd = simulation.get("agent_cost").and_then(Json::number);
    transcript.duration_ms = simulation.get("duration").and_then(Json::seconds_as_ms);
    for message in messages {
        read_message(&object_of(message, "a message")?, &mut transcript)?;
    }
    transcript.label(simulation, &["task_id", "trial", "seed"]);
    if let Some(rewards) = simulation.part("reward_info") {
        transcript.label(&rewards, &["reward", "reward_breakdown"]);
    }
    Ok(transcript)
}

fn read_message(message: &Fields<'_>, transcript: &mut Transcript) -> Result<(), Misfit> {
    let role = message.required_string("role", "a message")?;
    let text = match message.get("content") {
        Some(content) => text_of(content, transcript)?,
        None => "".into(),
    };
    let calls = message.list("tool_calls")?.unwrap_or_default();
    match &*role {
        "system" => transcript.system(&text),
        "user" => {
            // The simulated user has separate tools, which the agent does not call.
            for _ in &calls {
                transcript.drop(Dropped::UserCall);
            }
            if !text.is_empty() || calls.is_empty() {
                transcript.user(&text);
            }
        }
        "assistant" => {
            transcript.assistant();
            transcript.say(&text);
            for call in calls {
                let call = object_of(call, "a call of `tool_calls`")?;
                let call = call_at(&call, "name", "id", call.get("arguments"))?;
                transcript.call(call);
            }
            if let Some(usage) = message.object("usage")? {
                transcript.tokens.add(usage::tokens(&usage));
            }
        }
        "tool" => match message.list("tool_messages")? {
            Some(results) => {
                for result in results {
                    read_result(&object_of(result, "a result")?, transcript)?;
                }
            }
            None => read_result(message, transcript)?,
        },
        other => {
            let problem = format!("`role` is `{other}`; it is system, user, assistant or tool");
            return Err(message.misfit(problem));
        }
    }
    Ok(())
}

fn read_result(result: &Fields<'_>, transcript: &mut Transcript) -> Result<(), Misfit> {
    if result
        .string("requestor")
        .is_some_and(|requestor| requestor == "user")
    {
        return Ok(());
    }
    let text = match result.get("content") {
        Some(content) => text_of(content, transcript)?,
        None => "".into(),
    };
    let is_error = result.get("error").and_then(Json::flag).unwrap_or_default();
    transcript.answer(
        result,
        "id",
        None,
        ImportedAnswer::from_text(text, is_error),
    )
}
