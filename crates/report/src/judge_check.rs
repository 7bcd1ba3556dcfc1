//! How judges did on runs whose outcome is known: for people, and for machines.

use crate::Options;
use crate::pretty;
use mcptest_core::calibrate::LeftOut;
use mcptest_core::grade::JudgeCheck;

/// For machines.
pub fn json(checks: &[JudgeCheck], left_out: &[LeftOut]) -> String {
    serde_json::to_string_pretty(&serde_json::json!({ "checks": checks, "left_out": left_out }))
        .unwrap_or_default()
        + "\n"
}

/// For people.
pub fn text(checks: &[JudgeCheck], options: &Options) -> Vec<u8> {
    pretty::judge_check::render(checks, options)
}
