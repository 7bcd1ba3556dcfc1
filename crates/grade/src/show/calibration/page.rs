//! What does a person read of a calibration?

use crate::calibration::{
    Calibration, GateCalibration, JudgedUnit, Separated, TargetCalibration, Verdicts,
};
use mcptest_core::report::Status;
use mcptest_report::Options;
use mcptest_report::grouped;
use mcptest_report::pretty::page::{Line, Page, style};
use mcptest_report::words::count;
use serde_json::Value;

/// The counts, a section for each gate, and the unmeasured parts.
pub(super) fn render(calibration: &Calibration, options: &Options) -> Vec<u8> {
    let mut page = Page::new(options);
    heading(&mut page, calibration);
    for gate in &calibration.gates {
        page.blank();
        one_gate(&mut page, gate, options);
    }
    if !calibration.unmeasured.is_empty() {
        page.blank();
        page.line(&Line::at(0).styled(style::BOLD, "not measured"));
        for (reason, gates) in by_reason(calibration) {
            page.line(
                &Line::at(2)
                    .plain(gates.join(", "))
                    .styled(style::DIM, format!(": {reason}")),
            );
        }
    }
    if !calibration.left_out.is_empty() {
        page.blank();
        page.line(&Line::at(0).styled(style::BOLD, "skipped"));
        for one in &calibration.left_out {
            let line = page
                .marked(2, Status::Error)
                .plain(format!("{}: {}", one.row, one.reason));
            page.line(&line);
        }
    }
    page.finish()
}

fn heading(page: &mut Page, calibration: &Calibration) {
    let counts = &calibration.counts;
    let from = match calibration.labels.as_str() {
        "expect" => "their `expect:`",
        "traces" => "the labels in their traces",
        "traces, expect" => "the labels in their traces, otherwise their `expect:`",
        file => file,
    };
    let line = Line::at(0).styled(
        style::BOLD,
        format!("{} good and {} bad runs", counts.good, counts.bad),
    );
    page.line(&line.plain(format!(
        " in {}, labelled by {from}",
        count(counts.rows, "row")
    )));
    if counts.unlabelled > 0 {
        let text = format!(
            "{} without a label, skipped",
            count(counts.unlabelled, "run")
        );
        page.line(&Line::at(0).styled(style::DIM, text));
    }
    for note in &calibration.notes {
        page.line(&Line::at(0).styled(style::YELLOW, note));
    }
}

fn one_gate(page: &mut Page, gate: &GateCalibration, options: &Options) {
    let unit = if gate.unit == JudgedUnit::Run {
        "run"
    } else {
        "row"
    };
    gate_heading(page, gate, unit);
    let idle = gate.good.not_exercised + gate.bad.not_exercised;
    if idle > 0 {
        let all = count(gate.good.of + gate.bad.of, unit);
        let text = format!("nothing to measure in {idle} of {all}");
        page.line(&Line::at(2).styled(style::DIM, text));
    }
    let targets = shown_targets(gate, options);
    let widest = targets.iter().map(|target| short(target).len()).max();
    for target in &targets {
        let line = if tells_apart(target) {
            page.marked(2, Status::Passed)
        } else {
            Line::at(4)
        };
        one_target(page, line, target, widest.unwrap_or_default());
    }
    if let Some(text) = others_in_words(gate, targets.len(), unit) {
        page.line(&Line::at(2).styled(style::DIM, text));
    }
}

fn gate_heading(page: &mut Page, gate: &GateCalibration, unit: &str) {
    let mut line = Line::at(0).styled(style::BOLD, &gate.gate);
    if !gate.is_written {
        line = line.styled(style::DIM, " (an empty block)");
    }
    let good = failed(&gate.good, "good", unit);
    let bad = failed(&gate.bad, "bad", unit);
    let fails: Vec<String> = good.into_iter().chain(bad).collect();
    if !fails.is_empty() {
        line = line.plain(format!(" fails {}", fails.join(", ")));
    }
    page.line(&line);
}

fn tells_apart(target: &TargetCalibration) -> bool {
    target
        .separated
        .as_ref()
        .is_some_and(Separated::tells_apart)
}

/// The targets that separate good from bad, or with `-v` all compared targets; the most certain
/// first.
fn shown_targets<'c>(gate: &'c GateCalibration, options: &Options) -> Vec<&'c TargetCalibration> {
    let is_shown = |target: &&TargetCalibration| {
        tells_apart(target) || (options.verbose > 0 && target.separated.is_some())
    };
    let lower =
        |target: &TargetCalibration| target.separated.as_ref().map_or(0.0, |found| found.lower);
    let mut shown: Vec<&TargetCalibration> = gate.targets.iter().filter(is_shown).collect();
    shown.sort_by(|one, other| lower(other).total_cmp(&lower(one)));
    shown
}

/// The note on the targets that are not shown.
fn others_in_words(gate: &GateCalibration, shown: usize, unit: &str) -> Option<String> {
    let targets = gate.targets.iter();
    let compared = targets.filter(|target| target.separated.is_some()).count();
    if compared == 0 {
        return Some(format!("too few {unit}s to compare its targets"));
    }
    if shown == 0 {
        return Some("no target separates them".to_owned());
    }
    match compared - shown {
        0 => None,
        1 => Some("1 other target does not separate them".to_owned()),
        others => Some(format!("{others} other targets do not separate them")),
    }
}

/// `0 of 84 good runs (0 to 4%)`.
fn failed(verdicts: &Verdicts, which: &str, unit: &str) -> Option<String> {
    let failed = verdicts.failed.filter(|_| verdicts.of > 0)?;
    let percent = |share: Option<f64>| share.map_or(0.0, |share| share * 100.0);
    let (lower, upper) = (percent(verdicts.lower), percent(verdicts.upper));
    let of = count(verdicts.of, unit).replacen(' ', &format!(" {which} "), 1);
    Some(format!("{failed} of {of} ({lower:.0} to {upper:.0}%)"))
}

/// A target's name without its gate.
fn short(target: &TargetCalibration) -> &str {
    target
        .target
        .split_once('.')
        .map_or(&target.target, |(_, name)| name)
}

fn one_target(page: &mut Page, line: Line, target: &TargetCalibration, widest: usize) {
    let Some(found) = &target.separated else {
        return;
    };
    let text = format!(
        "  AUC {:.2} ({:.2} to {:.2})",
        found.auc, found.lower, found.upper
    );
    let line = line
        .glued(style::PLAIN, format!("{:widest$}", short(target)))
        .glued(style::PLAIN, text);
    let best = found.best.as_ref().map(|best| {
        let (kept, caught) = (found.kept, found.caught);
        let (good, bad) = (target.good, target.bad);
        format!(
            "  {} keeps {kept}/{good} good, fails {caught}/{bad} bad",
            bound(best)
        )
    });
    page.line(&line.styled(style::DIM, best.unwrap_or_default()));
}

/// `>= 0.5` of `{"gte": 0.5}`.
fn bound(matcher: &Value) -> String {
    match (matcher.get("gte"), matcher.get("lte")) {
        (Some(least), _) => format!(">= {least}"),
        (None, Some(most)) => format!("<= {most}"),
        (None, None) => matcher.to_string(),
    }
}

/// The gates that were not measured, grouped by reason.
fn by_reason(calibration: &Calibration) -> Vec<(&str, Vec<&str>)> {
    let groups = grouped(&calibration.unmeasured, |one| Some(&one.reason)).into_iter();
    groups
        .map(|group| {
            (
                &*group[0].reason,
                group.iter().map(|one| &*one.gate).collect(),
            )
        })
        .collect()
}
