//! How did judges do on runs with known outcomes, for people and for programs?

use crate::Options;
use crate::json::whole;
use crate::pretty;
use mcptest_core::calibrate::LeftOut;
use mcptest_core::grade::JudgeCheck;

/// For machines.
pub fn json(checks: &[JudgeCheck], left_out: &[LeftOut]) -> Vec<u8> {
    whole(
        &serde_json::json!({ "checks": checks, "left_out": left_out }),
        &Options::default(),
    )
}

/// For people.
pub fn text(checks: &[JudgeCheck], options: &Options) -> Vec<u8> {
    pretty::judge_check::render(checks, options)
}
