//! What is worth knowing of recordings that nothing is wrong with?

use crate::cassette::{Cassette, Recording};
use crate::conditions::{other_model, unknown_conditions};
use crate::open::OpenedFile;
use mcptest_core::row::RowOfAgent;
use mcptest_core::trace::{Header, slips};
use mcptest_import::Fidelity;
use std::collections::BTreeSet;
use std::path::Path;

/// The notes on valid recordings: parts that are not compared, and fields that no check reads.
pub(crate) fn remarks(
    RowOfAgent { row, of }: RowOfAgent<'_>,
    expected: &Header,
    cassettes: &[(&Path, &Cassette<'_>)],
) -> Vec<String> {
    let is_compared = row.transcripts.is_none() && !of.agent.is_eval();
    let mut notes = Vec::new();
    for (path, cassette) in cassettes {
        if is_compared {
            notes.extend(unknown_conditions(path, cassette, expected));
            notes.extend(other_model(of, path, cassette));
        }
        if cassette.header.is_none() {
            notes.extend(slips_of(path, cassette));
        }
    }
    notes
}

/// Unknown fields of plain traces that are similar to a known one, each once.
fn slips_of(path: &Path, cassette: &Cassette<'_>) -> BTreeSet<String> {
    let traces = cassette
        .runs
        .iter()
        .filter_map(|run| run.trace.as_ref().ok());
    traces
        .flat_map(|trace| slips(trace.text))
        .map(|slip| format!("{}: {slip}", path.display()))
        .collect()
}

/// The fidelity of imported transcripts, one line for each format.
pub(crate) fn imported(files: &[OpenedFile]) -> Vec<String> {
    let opened = files.iter().filter_map(|file| file.recording.as_ref().ok());
    let all = Fidelity::merged(opened.filter_map(Recording::fidelity));
    all.iter()
        .map(|fidelity| format!("imported from {fidelity}"))
        .collect()
}
