//! Drift for people and for programs.

use super::drift::{Drift, DriftFinding, LeftOut, Tier};
use mcptest_core::escape::escape;
use serde::Serialize;
use std::fmt::Write;

/// The drift as text. Text from the server cannot control the terminal.
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
        let _ = writeln!(text, "ignored, but not found");
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
    not_replayed: &'d [LeftOut],
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
