//! Which numbers of a gate are shown?

use super::page::{Line, style};
use crate::Options;
use mcptest_core::report::{GateReport, Number, RunReport};

/// The line with the gate's asserted numbers; with `-vv` all numbers, the asserted ones first.
pub(super) fn after(line: Line, gate: &GateReport, options: &Options) -> Line {
    let asserted = gate
        .expectations
        .iter()
        .filter_map(|one| gate.targets.get_key_value(&one.target));
    let others = gate.targets.iter().filter(|_| options.verbose > 1);
    let mut shown: Vec<(&String, &Option<Number>)> = Vec::new();
    for target in asserted.chain(others) {
        if !shown.iter().any(|(name, _)| *name == target.0) {
            shown.push(target);
        }
    }
    let last = shown.len().saturating_sub(1);
    shown
        .into_iter()
        .enumerate()
        .fold(line, |line, (at, (name, value))| {
            let comma = if at < last { "," } else { "" };
            let space = if at == 0 { "  " } else { " " };
            line.plain(space)
                .glued(style::DIM, format!("{}{comma}", number(name, *value)))
        })
}

/// A run's asserted numbers of scorers; with `-vv` all of them.
pub(super) fn of_scorers(run: &RunReport, options: &Options) -> Vec<String> {
    let is_asserted = |target: &String| run.expectations.iter().any(|one| one.target == *target);
    let shown = run
        .scores
        .iter()
        .filter(|(target, _)| options.verbose > 1 || is_asserted(target));
    shown
        .map(|(target, value)| format!("{target} {value}"))
        .collect()
}

fn number(target: &str, value: Option<Number>) -> String {
    let name = target.split_once('.').map_or(target, |(_, name)| name);
    match value {
        Some(number) => format!("{name} {number}"),
        None => format!("{name} not measured"),
    }
}
