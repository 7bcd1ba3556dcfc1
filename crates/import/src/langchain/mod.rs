//! LangChain message lists and LangSmith runs: `type: human | ai | tool`, serialized messages, `inputs` and `outputs`.

mod message;
mod run;

use super::Importer;
use super::json::{Fields, Json, Misfit};
use super::sample::Sample;
use super::transcript::Transcript;
use super::unit::{Unit, grouped, units};
use message::{is_message, read_message};
use run::Run;

pub(super) const IMPORTER: Importer = Importer {
    key: "langchain",
    name: "langchain",
    doc: "messages of `type` human, ai and tool, serialized messages, or LangSmith runs with `inputs` and `outputs`",
    also_reads: &["anthropic"],
    sniff,
    read,
};

fn sniff(sample: &Sample<'_>) -> bool {
    sample.records.iter().any(|record| record.has("run_type") || (record.has("inputs") && record.has("outputs")))
        // Lines of a coding agent's session have types of the same names.
        || sample.messages.iter().any(|message| {
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
    // A run that names no trace is one of its own.
    let keyed = runs.into_iter().enumerate().map(|(at, run)| {
        let alone = run.trace.is_none().then_some(at);
        ((run.trace.clone(), alone), run)
    });
    for trace in grouped(keyed) {
        let mut transcript = run::transcript(&trace)?;
        transcript.trace_id = trace.first().and_then(|run| run.trace.clone());
        transcripts.push(transcript);
    }
    Ok(transcripts)
}

fn messages_of<'a>(record: &Fields<'a>) -> Result<Vec<Json<'a>>, Misfit> {
    let state = record.part("values").unwrap_or_else(|| record.clone());
    let messages = state.list("messages")?;
    messages.ok_or_else(|| {
        record.misfit("`messages`, or `inputs` and `outputs`, are missing here".to_owned())
    })
}

fn of_messages(messages: &[Json<'_>]) -> Result<Transcript, Misfit> {
    let mut transcript = Transcript::default();
    for message in messages {
        read_message(*message, &mut transcript)?;
    }
    Ok(transcript)
}
