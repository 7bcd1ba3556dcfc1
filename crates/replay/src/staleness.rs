//! Do the recordings of a row match the current suite?

use crate::advice;
use crate::cassette::{self, Cassette};
use crate::conditions::removed_faults;
use mcptest_core::judge::is_read_only;
use mcptest_core::row::{AgentRow, Reason, ReasonKind, Row, RowOfAgent};
use mcptest_core::suite::{Stale, Suite};
use mcptest_core::trace::Header;
use std::path::Path;

/// The reason that a recording does not match the current suite.
pub struct Misfit {
    kind: ReasonKind,
    what: &'static str,
    details: Vec<String>,
}

impl Misfit {
    /// The recording was edited.
    pub(crate) fn edited(why: &str) -> Self {
        let (kind, what) = (
            ReasonKind::RecordingEdited,
            "was edited after it was recorded",
        );
        Self {
            kind,
            what,
            details: vec![why.to_owned()],
        }
    }

    /// The staleness of a recording with these differences, or with a header that was edited.
    pub(crate) fn from_changes(changes: Vec<String>, is_tampered: bool) -> Option<Self> {
        if changes.is_empty() {
            return is_tampered.then(|| Self::edited("the header does not match its fingerprint"));
        }
        let what = "is stale: its inputs changed after it was recorded";
        Some(Self {
            kind: ReasonKind::RecordingStale,
            what,
            details: changes,
        })
    }

    /// The note, if the suite tolerates it.
    pub(crate) fn tolerated(
        self,
        suite: &Suite,
        path: &Path,
        row: &Row<'_>,
        is_read_only: bool,
    ) -> Result<String, Reason> {
        let message = format!("{} {}", path.display(), self.what);
        match suite.run_options.stale {
            Stale::Error => {
                let reason = Reason::new(self.kind, message).details(self.details);
                Err(advice::stale(reason, row, is_read_only))
            }
            Stale::Warn => Ok(format!("{message} ({})", self.details.join("; "))),
        }
    }
}

/// The reason that a recording does not match the current suite, and its place, if any.
pub fn misfit(of: AgentRow<'_>, cassette: &Cassette<'_>, expected: &Header) -> Option<Misfit> {
    let Some(header) = cassette
        .header
        .as_ref()
        .filter(|header| header.fingerprint.is_some())
    else {
        // Only where `cassette:` names it, a file may come from elsewhere.
        let is_own_place = of.agent.cassette.is_none();
        let why = "it has no header with a fingerprint, unlike recordings of mcptest; name a file \
        from elsewhere with `cassette:`";
        return is_own_place.then(|| Misfit::edited(why));
    };
    // Traces that an eval names may come from anywhere: nothing here says how they were made.
    let changes = if of.agent.is_eval() {
        Vec::new()
    } else {
        cassette::staleness(header, expected)
    };
    Misfit::from_changes(
        changes.iter().map(ToString::to_string).collect(),
        cassette::is_tampered(header),
    )
}

/// The differences between the recordings of a row and the suite that are tolerated, or why they are not.
pub(crate) fn tolerated_differences(
    agent: RowOfAgent<'_>,
    expected: &Header,
    cassettes: &[(&Path, &Cassette<'_>)],
) -> Result<Vec<String>, Reason> {
    let mut notes = tolerated_staleness(agent, expected, cassettes)?;
    notes.extend(without_faults(agent, cassettes)?);
    Ok(notes)
}

/// Compares the recording with the suite. Tolerated differences become notes.
pub(crate) fn tolerated_staleness(
    RowOfAgent { row, of }: RowOfAgent<'_>,
    expected: &Header,
    cassettes: &[(&Path, &Cassette<'_>)],
) -> Result<Vec<String>, Reason> {
    let mut notes = Vec::new();
    if row.transcripts.is_some() {
        return Ok(notes);
    }
    for (path, cassette) in cassettes {
        if let Some(misfit) = misfit(of, cassette, expected) {
            notes.push(misfit.tolerated(of.suite, path, row, is_read_only(of))?);
        }
    }
    Ok(notes)
}

/// Refuses runs with faults that the suite no longer injects; if tolerated, notes each.
fn without_faults(
    RowOfAgent { row, of }: RowOfAgent<'_>,
    cassettes: &[(&Path, &Cassette<'_>)],
) -> Result<Vec<String>, Reason> {
    if row.transcripts.is_some() || of.agent.is_eval() {
        return Ok(Vec::new());
    }
    let mut notes = Vec::new();
    for (path, cassette) in cassettes {
        if let Some(misfit) = Misfit::from_changes(removed_faults(of, cassette), false) {
            notes.push(misfit.tolerated(of.suite, path, row, is_read_only(of))?);
        }
    }
    Ok(notes)
}
