//! What is different now, and how bad is that?

use mcptest_core::escape::escape;
use serde::Serialize;
use std::fmt::Write;
use std::str::FromStr;

/// How bad a difference is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// A client that worked can fail.
    Breaking,
    /// Something reads otherwise.
    Changed,
    /// Something is new.
    Added,
}

impl Tier {
    /// All, the worst first.
    pub const ALL: [Self; 3] = [Self::Breaking, Self::Changed, Self::Added];

    /// As it is written.
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
    /// How bad it is.
    #[serde(skip)]
    pub tier: Tier,
    /// The tool, resource or request.
    pub subject: String,
    /// Where in it; empty for all of it.
    pub path: String,
    /// What is different.
    pub message: String,
}

/// A recorded request that was not sent again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// What it asked.
    pub request: String,
    /// Why it was not sent.
    pub reason: String,
}

/// Everything that a replay found.
#[derive(Debug, Default)]
pub struct Drift {
    /// The differences, the worst first.
    pub findings: Vec<DriftFinding>,
    /// How many requests were sent again.
    pub replayed: usize,
    /// The requests that were not.
    pub left_out: Vec<LeftOut>,
    /// False when nothing of the tape could be held against the server.
    pub is_anything_checked: bool,
    /// What was to be ignored and did not occur.
    pub unused_ignores: Vec<String>,
}

impl Drift {
    /// How many differences there are of a kind.
    pub fn count(&self, tier: Tier) -> usize {
        self.findings
            .iter()
            .filter(|finding| finding.tier == tier)
            .count()
    }
}

/// Collects differences, but for those that are to be ignored.
#[derive(Debug, Default)]
pub(super) struct Findings {
    /// With whether it occurred.
    ignored: Vec<(Ignore, bool)>,
    pub(super) found: Vec<DriftFinding>,
}

impl Findings {
    pub(super) fn new(ignored: Vec<Ignore>) -> Self {
        Self {
            ignored: ignored
                .into_iter()
                .map(|ignored| (ignored, false))
                .collect(),
            found: Vec::new(),
        }
    }

    pub(super) fn unused_ignores(&self) -> Vec<String> {
        let unused = self.ignored.iter().filter(|(_, is_used)| !is_used);
        unused.map(|(ignored, _)| ignored.written.clone()).collect()
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
        for (ignored, is_used) in &mut self.findings.ignored {
            if ignored.covers(self.name, path) {
                (is_ignored, *is_used) = (true, true);
            }
        }
        if is_ignored {
            return;
        }
        let (subject, path, message) = (self.text.to_owned(), path.to_owned(), message.into());
        let finding = DriftFinding {
            tier,
            subject,
            path,
            message,
        };
        // What several sessions show is told once.
        if !self.findings.found.contains(&finding) {
            self.findings.found.push(finding);
        }
    }
}

/// Differences that do not count: `result.content[0].text`, `/result/content/*/text`, `get_time:result`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ignore {
    written: String,
    name: Option<String>,
    segments: Vec<String>,
}

impl FromStr for Ignore {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, path) = match text.rsplit_once(':') {
            Some((name, path)) => (Some(name.to_owned()), path),
            None => (None, text),
        };
        if let Some(reason) = broken(path) {
            return Err(format!(
                "{reason}; write it as `result.content[0].text` or `get_time:result`"
            ));
        }
        Ok(Self {
            written: text.to_owned(),
            name,
            segments: segments(path),
        })
    }
}

impl Ignore {
    /// True when the path is the ignored one or lies below it; `*` stands for one part, `**` for any number.
    fn covers(&self, name: &str, path: &str) -> bool {
        self.name
            .as_deref()
            .is_none_or(|wanted| wanted == name || wanted == "*")
            && fits(&self.segments, &segments(path))
    }
}

fn fits(pattern: &[String], path: &[String]) -> bool {
    match pattern.split_first() {
        None => true,
        Some((first, rest)) if first == "**" => {
            (0..=path.len()).any(|skipped| fits(rest, &path[skipped..]))
        }
        Some((first, rest)) => path
            .split_first()
            .is_some_and(|(part, below)| (first == "*" || first == part) && fits(rest, below)),
    }
}

/// What is wrong with a path, if anything is.
fn broken(path: &str) -> Option<&'static str> {
    let path = path.strip_prefix('/').unwrap_or(path);
    if path.is_empty() {
        return Some("it names no path");
    }
    for (index, part) in path.split(['.', '/']).enumerate() {
        let mut indices = part.split('[');
        let key = indices.next().unwrap_or_default();
        if key.contains(']') {
            return Some("it has a `]` without its `[`");
        }
        let mut is_empty = key.is_empty() && (index > 0 || !part.starts_with('['));
        for within in indices {
            match within.split_once(']') {
                None => return Some("it has a `[` without its `]`"),
                Some((_, rest)) if !rest.is_empty() => {
                    return Some("after a `]` comes a `.`, a `[` or nothing");
                }
                Some((within, _)) => is_empty |= within.is_empty(),
            }
        }
        if is_empty {
            return Some("a part of it is empty");
        }
    }
    None
}

fn segments(path: &str) -> Vec<String> {
    path.split(['.', '/', '[', ']'])
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Drift as text; whatever the server wrote cannot steer the terminal.
pub fn human(drift: &Drift) -> String {
    let mut text = String::new();
    for tier in Tier::ALL {
        let of_tier = drift.findings.iter().filter(|finding| finding.tier == tier);
        for (at, finding) in of_tier.enumerate() {
            if at == 0 {
                let _ = writeln!(text, "{}", tier.as_str());
            }
            let _ = writeln!(text, "  {}", sentence(finding));
        }
    }
    if !drift.left_out.is_empty() {
        let _ = writeln!(text, "not replayed");
    }
    for left_out in &drift.left_out {
        let _ = writeln!(text, "  {}: {}", escape(&left_out.request), left_out.reason);
    }
    if !drift.unused_ignores.is_empty() {
        let _ = writeln!(text, "ignored, but not there");
    }
    for ignored in &drift.unused_ignores {
        let _ = writeln!(text, "  {}", escape(ignored));
    }
    if !text.is_empty() {
        text.push('\n');
    }
    let counts = Tier::ALL.map(|tier| format!("{} {}", drift.count(tier), tier.as_str()));
    let s = if drift.replayed == 1 { "" } else { "s" };
    let _ = writeln!(
        text,
        "{} request{s} replayed: {}",
        drift.replayed,
        counts.join(", ")
    );
    text
}

fn sentence(finding: &DriftFinding) -> String {
    let DriftFinding {
        subject,
        path,
        message,
        ..
    } = finding;
    let place = if path.is_empty() {
        String::new()
    } else {
        format!(": {path}")
    };
    format!("{}{} {}", escape(subject), escape(&place), escape(message))
}

#[derive(Serialize)]
struct Document<'d> {
    format: &'static str,
    version: u32,
    replayed: usize,
    breaking: Vec<&'d DriftFinding>,
    changed: Vec<&'d DriftFinding>,
    added: Vec<&'d DriftFinding>,
    not_replayed: &'d [super::drift::LeftOut],
    unused_ignores: &'d [String],
}

/// Drift as a JSON document.
pub fn json(drift: &Drift) -> String {
    let of = |tier: Tier| {
        drift
            .findings
            .iter()
            .filter(|finding| finding.tier == tier)
            .collect()
    };
    let document = Document {
        format: "mcptest-drift",
        version: 1,
        replayed: drift.replayed,
        breaking: of(Tier::Breaking),
        changed: of(Tier::Changed),
        added: of(Tier::Added),
        not_replayed: &drift.left_out,
        unused_ignores: &drift.unused_ignores,
    };
    let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ignored_path_covers_what_lies_below_it() {
        let covers = |pattern: &str, name: &str, path: &str| {
            pattern.parse::<Ignore>().unwrap().covers(name, path)
        };
        assert!(covers(
            "result.content[0].text",
            "t",
            "result.content[0].text"
        ));
        assert!(covers(
            "/result/content/*/text",
            "t",
            "result.content[3].text"
        ));
        assert!(covers(
            "result.structuredContent",
            "t",
            "result.structuredContent.now.utc"
        ));
        assert!(covers(
            "**.timestamp",
            "t",
            "result.structuredContent.list[2].timestamp"
        ));
        assert!(covers("get_time:result", "get_time", "result.isError"));
        assert!(!covers("get_time:result", "get_weather", "result.isError"));
        assert!(!covers(
            "result.content[0].text",
            "t",
            "result.content[1].text"
        ));
        assert!(covers(
            "file:///a.txt:result",
            "file:///a.txt",
            "result.contents"
        ));
    }

    #[test]
    fn a_path_that_is_broken_is_refused_with_the_reason() {
        for (written, reason) in [
            ("nosuch[", "it has a `[` without its `]`"),
            ("a]", "it has a `]` without its `[`"),
            ("a[0]b", "after a `]` comes a `.`, a `[` or nothing"),
            ("a..b", "a part of it is empty"),
            ("a[]", "a part of it is empty"),
            ("result.", "a part of it is empty"),
            ("get_time:", "it names no path"),
            (":", "it names no path"),
            ("", "it names no path"),
        ] {
            let refused = written.parse::<Ignore>().unwrap_err();
            assert!(refused.starts_with(reason), "{written}: {refused}");
        }
    }
}
