//! How is a calibration shown: for people, for machines, and as YAML for a suite?

mod page;

use crate::calibration::{Calibration, Floor, GateCalibration, JudgedUnit};
use mcptest_core::json::{Layout, write};
use mcptest_report::Options;
use serde_json::Value;

/// The JSON Schema of [`json`].
pub const SCHEMA: &str = include_str!("calibration.schema.json");

/// Renders the calibration for people, with a block of floors at the end if any.
pub fn text(calibration: &Calibration, options: &Options) -> Vec<u8> {
    let mut bytes = page::render(calibration, options);
    if calibration.has_floors() {
        bytes.push(b'\n');
        bytes.extend(yaml(calibration).into_bytes());
    }
    bytes
}

/// For machines.
pub fn json(calibration: &Calibration) -> String {
    write(calibration, Layout::Indented) + "\n"
}

/// The floors that the good runs support, to be pasted into an agent's block.
pub fn yaml(calibration: &Calibration) -> String {
    let mut text = "# Floors that every good run meets, for the block of an agent.\n".to_owned();
    if !calibration.has_floors() {
        text.push_str("# No floors: see `mcptest calibrate` without `--yaml`.\n");
    }
    let has_floor =
        |gate: &&GateCalibration| gate.targets.iter().any(|target| target.floor.is_some());
    for gate in calibration.gates.iter().filter(has_floor) {
        let beside = if gate.is_written {
            "  # add it to the existing keys; it replaces `expect:`"
        } else {
            ""
        };
        text.push_str(&format!("{}:{beside}\n  expect:\n", gate.gate));
        for target in &gate.targets {
            if let Some(floor) = &target.floor {
                let (matcher, why) = (matcher(&floor.matcher), comment(floor, gate.unit));
                text.push_str(&format!(
                    "    - target: {}\n      matcher: {matcher}  # {why}\n",
                    target.target
                ));
            }
        }
    }
    text
}

/// `{ gte: 0.5 }`; any other matcher as JSON, which is also YAML.
fn matcher(matcher: &Value) -> String {
    let bound = |key: &str| matcher.get(key).filter(|limit| limit.is_number());
    match (bound("gte"), bound("lte")) {
        (Some(least), None) => format!("{{ gte: {least} }}"),
        (None, Some(most)) => format!("{{ lte: {most} }}"),
        _ => matcher.to_string(),
    }
}

/// The number of runs behind a floor.
fn comment(floor: &Floor, unit: JudgedUnit) -> String {
    let unit = if unit == JudgedUnit::Run {
        "runs"
    } else {
        "rows"
    };
    let bad = match floor.bad {
        0 => "no bad ones exist".to_owned(),
        bad => format!("it fails {} of {bad} bad ones", floor.caught),
    };
    format!("{} good {unit} meet it; {bad}", floor.good)
}

#[cfg(test)]
mod tests;
