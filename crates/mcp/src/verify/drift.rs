//! What is different now, and how bad is that?

use super::ignore::Ignore;
use serde::Serialize;

/// The severity of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// A client that worked can fail.
    Breaking,
    /// A text or a value differs.
    Changed,
    /// Something is new.
    Added,
}

impl Tier {
    /// All, the worst first.
    pub const ALL: [Self; 3] = [Self::Breaking, Self::Changed, Self::Added];

    /// Its spelling.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Breaking => "breaking",
            Self::Changed => "changed",
            Self::Added => "added",
        }
    }
}

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DriftFinding {
    /// The severity.
    #[serde(skip)]
    pub tier: Tier,
    /// The tool, resource or request.
    pub subject: String,
    /// The path within it; empty for all of it.
    pub path: String,
    /// The difference.
    pub message: String,
}

/// A recorded request that was not sent again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// The request.
    pub request: String,
    /// The reason that it was not sent.
    pub reason: String,
}

/// Everything that a replay found.
#[derive(Debug, Default)]
pub struct Drift {
    /// The differences, the worst first.
    pub findings: Vec<DriftFinding>,
    /// The number of repeated requests.
    pub replayed: usize,
    /// The requests that were not.
    pub left_out: Vec<LeftOut>,
    /// False if nothing on the tape could be compared.
    pub is_anything_checked: bool,
    /// The ignored paths without a difference.
    pub unused_ignores: Vec<String>,
}

impl Drift {
    /// The number of differences of a severity.
    pub fn count(&self, tier: Tier) -> usize {
        self.findings
            .iter()
            .filter(|finding| finding.tier == tier)
            .count()
    }
}

/// Collects differences, except ignored ones.
#[derive(Debug, Default)]
pub(super) struct Findings {
    ignored: Vec<IgnoredPath>,
    pub(super) found: Vec<DriftFinding>,
}

/// A path whose differences are ignored.
#[derive(Debug)]
struct IgnoredPath {
    ignore: Ignore,
    has_occurred: bool,
}

impl Findings {
    pub(super) fn new(ignored: Vec<Ignore>) -> Self {
        Self {
            ignored: ignored
                .into_iter()
                .map(|ignore| IgnoredPath {
                    ignore,
                    has_occurred: false,
                })
                .collect(),
            found: Vec::new(),
        }
    }

    pub(super) fn unused_ignores(&self) -> Vec<String> {
        let unused = self.ignored.iter().filter(|ignored| !ignored.has_occurred);
        unused
            .map(|ignored| ignored.ignore.written().to_owned())
            .collect()
    }

    pub(super) fn of<'f>(&'f mut self, name: &'f str, text: &'f str) -> Subject<'f> {
        Subject {
            findings: self,
            name,
            text,
        }
    }
}

/// The differences of one tool, resource or request.
pub(super) struct Subject<'f> {
    findings: &'f mut Findings,
    name: &'f str,
    text: &'f str,
}

impl Subject<'_> {
    pub(super) fn add(&mut self, tier: Tier, path: &str, message: impl Into<String>) {
        let mut is_ignored = false;
        for ignored in &mut self.findings.ignored {
            if ignored.ignore.covers(self.name, path) {
                ignored.has_occurred = true;
                is_ignored = true;
            }
        }
        if is_ignored {
            return;
        }
        let finding = DriftFinding {
            tier,
            subject: self.text.to_owned(),
            path: path.to_owned(),
            message: message.into(),
        };
        // What several sessions show is told once.
        if !self.findings.found.contains(&finding) {
            self.findings.found.push(finding);
        }
    }
}
