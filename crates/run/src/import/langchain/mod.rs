//! LangChain message lists and LangSmith runs: `type: human | ai | tool`, serialized messages, `inputs` and `outputs`.

mod message;
mod run;

use super::Importer;
use super::exchange::Exchange;
use super::json::{Fields, Json, Misfit};
use super::sample::Sample;
use super::transcript::Transcript;
use super::unit::{Unit, units};
use message::{is_message, read_message};
use run::Run;
use std::collections::BTreeMap;

pub(super) const IMPORTER: Importer = Importer {
    key: "langchain",
    name: "langchain",
    doc: "messages of `type` human, ai and tool, serialized messages, or LangSmith runs with `inputs` and `outputs`",
    also_reads: &["anthropic"],
    sniff,
    read,
};

fn sniff(sample: &Sample<'_>) -> bool {
    sample.any_record(|record| record.has("run_type") || (record.has("inputs") && record.has("outputs")))
        // Lines of a coding agent's session have types of the same names.
        || sample.any_message(|message| {
            !message.has("role") && !message.has("sessionId") && is_message(message)
        })
}

fn read(values: &[Json<'_>]) -> Result<Vec<Transcript>, Misfit> {
    let mut transcripts = Vec::new();
    let mut runs: Vec<Run<'_>> = Vec::new();
    for unit in units(values, &is_message)? {
        match unit {
            Unit::Messages(messages) => transcripts.push(of_messages(&messages)?),
            Unit::Record(record) if record.has("inputs") || record.has("run_type") => {
                Run::flatten(&record, None, &mut runs)?;
            }
            Unit::Record(record) => transcripts.push(of_messages(&messages_of(&record)?)?),
        }
    }
    for trace in traces(runs) {
        let mut transcript = run::transcript(&trace)?;
        transcript.trace_id = trace.first().and_then(|run| run.trace.clone());
        transcripts.push(transcript);
    }
    Ok(transcripts)
}

fn messages_of<'a>(record: &Fields<'a>) -> Result<Vec<Json<'a>>, Misfit> {
    let state = record.part("values").unwrap_or_else(|| record.clone());
    let messages = state.list("messages")?;
    messages
        .ok_or_else(|| record.misfit("there are no `messages` here, nor `inputs` and `outputs`".to_owned()))
}

fn of_messages(messages: &[Json<'_>]) -> Result<Transcript, Misfit> {
    let mut transcript = Transcript::default();
    for message in messages {
        read_message(*message, &mut transcript)?;
    }
    Ok(transcript)
}

/// Runs of one trace belong together; a run that names no trace is one of its own.
fn traces(runs: Vec<Run<'_>>) -> Vec<Vec<Run<'_>>> {
    let mut traces: Vec<Vec<Run<'_>>> = Vec::new();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for run in runs {
        let at = match &run.trace {
            Some(trace) => *known.entry(trace.clone()).or_insert(traces.len()),
            None => traces.len(),
        };
        match traces.get_mut(at) {
            Some(trace) => trace.push(run),
            None => traces.push(vec![run]),
        }
    }
    traces
}

/// An exchange of messages alone.
fn exchange<'a>(messages: Vec<Json<'a>>, reply: Option<Json<'a>>) -> Exchange<'a> {
    Exchange { messages, reply, ..Exchange::default() }
}
