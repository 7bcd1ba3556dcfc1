//! What did the recorded runs of a row take?

use mcptest_core::trace::{CatalogueTool, Conversation};
use mcptest_replay::cassette::Recording;
use std::path::Path;

/// The means of the existing recordings.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Past {
    /// The tokens of a run, if every run counted them.
    pub(super) tokens: Option<Tokens>,
    /// The cost of a run, if every run has it.
    pub(super) cost_usd: Option<f64>,
    /// The number of calls in the first run.
    pub(super) first_calls: Option<usize>,
    /// The offered tools.
    pub(super) catalogue: Option<Vec<CatalogueTool>>,
}

/// Tokens of one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Tokens {
    pub(super) prompt: f64,
    pub(super) completion: f64,
}

impl Tokens {
    pub(super) fn total(self) -> f64 {
        self.prompt + self.completion
    }
}

impl Past {
    /// The means of the cassette at this path, as far as it can be read. Stale recordings count
    /// too.
    pub(super) fn read(path: &Path) -> Self {
        let Ok(recording) = Recording::open(path) else {
            return Self::default();
        };
        let Ok(cassette) = recording.cassette() else {
            return Self::default();
        };
        let traces: Vec<_> = cassette
            .runs
            .iter()
            .filter_map(|run| run.trace.as_ref().ok())
            .collect();
        let conversations: Vec<&Conversation<'_>> =
            traces.iter().map(|trace| &trace.conversation).collect();
        let first = cassette
            .runs
            .iter()
            .find(|run| run.number == 1)
            .and_then(|run| run.trace.as_ref().ok());
        Self {
            tokens: mean(&conversations, |one| {
                one.tokens.prompt.map(|count| count as f64)
            })
            .zip(mean(&conversations, |one| {
                one.tokens.completion.map(|count| count as f64)
            }))
            .map(|(prompt, completion)| Tokens { prompt, completion }),
            cost_usd: mean(&conversations, |one| one.cost_usd),
            first_calls: first.map(|trace| trace.tool_calls.len()),
            catalogue: cassette
                .header
                .as_ref()
                .and_then(|header| header.catalogue.clone()),
        }
    }
}

/// The mean, if every run has the value.
fn mean(
    conversations: &[&Conversation<'_>],
    value: impl Fn(&Conversation<'_>) -> Option<f64>,
) -> Option<f64> {
    let values: Option<Vec<f64>> = conversations.iter().map(|one| value(one)).collect();
    let values = values.filter(|values| !values.is_empty())?;
    Some(values.iter().sum::<f64>() / values.len() as f64)
}
