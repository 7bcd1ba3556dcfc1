//! What did the transcripts contain, what did they lack, and what did the import omit?

use crate::sub_agent::is_of_a_sub_agent;
use crate::transcript::{Dropped, Transcript};
use mcptest_core::words::count;
use std::collections::BTreeMap;
use std::fmt;

/// The imported parts of the files of one format.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fidelity {
    format: &'static str,
    files: usize,
    conversations: usize,
    calls: usize,
    /// Calls of sub-agents.
    delegated: usize,
    results: usize,
    unparsed: usize,
    /// Calls that the model wrote and that were never made.
    unmade: usize,
    /// For each of `FACTS`, the number of conversations that have it.
    present: [usize; FACTS.len()],
    /// For each of `FACTS`, the number of conversations that could have it.
    possible: [usize; FACTS.len()],
    dropped: BTreeMap<Dropped, usize>,
    /// The fields in which conversations differ, so that the cassette's header omits them.
    pub(crate) disagreed: Vec<&'static str>,
}

const FACTS: [&str; 9] = [
    "model",
    "prompt",
    "final answer",
    "stop reason",
    "tokens",
    "tool catalogue",
    "call ids",
    "error marks",
    "labels",
];

impl Fidelity {
    pub(crate) fn new(format: &'static str) -> Self {
        Self {
            format,
            files: 1,
            ..Self::default()
        }
    }

    /// Counts one conversation.
    pub(crate) fn count(&mut self, transcript: &Transcript) {
        let results = transcript.answers.iter().flatten().count();
        let (has_calls, has_results) = (!transcript.calls.is_empty(), results > 0);
        let facts = [
            (transcript.model.is_some(), true),
            (!transcript.prompt.is_empty(), true),
            (transcript.final_response().is_some(), true),
            (transcript.stop_reason.is_some(), true),
            (transcript.tokens.total.is_some(), true),
            (transcript.tools.is_some(), true),
            (
                has_calls && transcript.calls.iter().all(|call| call.id.is_some()),
                has_calls,
            ),
            (has_results && transcript.marks_errors, has_results),
            (!transcript.labels.is_empty(), !transcript.labels.is_empty()),
        ];
        for (at, (is_present, is_possible)) in facts.into_iter().enumerate() {
            self.present[at] += usize::from(is_present);
            self.possible[at] += usize::from(is_possible);
        }
        self.conversations += 1;
        self.calls += transcript.calls.len();
        let delegated = transcript
            .calls
            .iter()
            .filter(|call| is_of_a_sub_agent(call));
        self.delegated += delegated.count();
        self.results += results;
        self.unmade += transcript.unmade_calls.len();
        self.unparsed += transcript
            .calls
            .iter()
            .filter(|call| call.args_text.is_some())
            .count();
        for (what, count) in &transcript.dropped {
            *self.dropped.entry(*what).or_default() += count;
        }
    }

    /// Counts what the importer omitted outside conversations.
    pub(crate) fn add_dropped(&mut self, what: Dropped, count: usize) {
        if count > 0 {
            *self.dropped.entry(what).or_default() += count;
        }
    }

    /// Everything that the importer omitted, in words. `None` if it omitted nothing.
    pub fn dropped(&self) -> Option<String> {
        let counted = |(what, count): (&Dropped, &usize)| {
            format!("{count} {}", what.words()[usize::from(*count != 1)])
        };
        let dropped: Vec<String> = self.dropped.iter().map(counted).collect();
        (!dropped.is_empty()).then(|| dropped.join(", "))
    }

    /// Adds another file of the same format. Returns false for another format.
    pub fn merge(&mut self, other: &Self) -> bool {
        if self.format != other.format {
            return false;
        }
        self.files += other.files;
        self.conversations += other.conversations;
        self.calls += other.calls;
        self.delegated += other.delegated;
        self.results += other.results;
        self.unparsed += other.unparsed;
        self.unmade += other.unmade;
        for at in 0..FACTS.len() {
            self.present[at] += other.present[at];
            self.possible[at] += other.possible[at];
        }
        for (what, count) in &other.dropped {
            *self.dropped.entry(*what).or_default() += count;
        }
        for what in &other.disagreed {
            if !self.disagreed.contains(what) {
                self.disagreed.push(what);
            }
        }
        true
    }

    /// The fidelity of many files, one for each format, in order of first occurrence.
    pub fn merged<'f>(files: impl Iterator<Item = &'f Self>) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for file in files {
            if !all.iter_mut().any(|known| known.merge(file)) {
                all.push(file.clone());
            }
        }
        all
    }

    /// Everything that the transcripts have, in words.
    fn present(&self) -> Vec<String> {
        let mut present = Vec::new();
        if self.files > 1 {
            present.push(count(self.files, "file"));
        }
        if self.conversations != 1 {
            present.push(count(self.conversations, "conversation"));
        }
        present.push(match self.delegated {
            0 => count(self.calls, "call"),
            delegated => format!("{} ({delegated} of sub-agents)", count(self.calls, "call")),
        });
        present.push(count(self.results, "result"));
        for (at, fact) in FACTS.iter().enumerate() {
            let (present_in, possible_in) = (self.present[at], self.possible[at]);
            if present_in == 0 {
                continue;
            }
            present.push(if present_in < possible_in {
                format!("{fact} in {present_in} of {possible_in}")
            } else {
                (*fact).to_owned()
            });
        }
        if self.unmade > 0 {
            let calls = count(self.unmade, "call");
            present.push(format!(
                "{calls} of answers that were cut off, which were never made"
            ));
        }
        if self.unparsed > 0 {
            present.push(format!("arguments that are not JSON in {}", self.unparsed));
        }
        present
    }

    /// The facts that no conversation has although it could, in words.
    fn missing(&self) -> Vec<String> {
        FACTS
            .iter()
            .enumerate()
            .filter(|(at, _)| self.present[*at] == 0 && self.possible[*at] > 0)
            .map(|(_, fact)| format!("no {fact}"))
            .collect()
    }
}

impl fmt::Display for Fidelity {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.format, self.present().join(", "))?;
        let missing = self.missing();
        if !missing.is_empty() {
            write!(out, "; {}", missing.join(", "))?;
        }
        if !self.disagreed.is_empty() {
            write!(
                out,
                "; not in the header, since conversations differ: {}",
                self.disagreed.join(", ")
            )?;
        }
        if let Some(dropped) = self.dropped() {
            write!(out, "; dropped {dropped}")?;
        }
        Ok(())
    }
}
