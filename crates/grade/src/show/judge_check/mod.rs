//! How well did judges grade runs with known outcomes, for people and for programs?

mod page;

use crate::judge_quality::JudgeCheck;
use mcptest_replay::LeftOut;
use mcptest_report::Options;
use mcptest_report::json::whole;

/// For machines.
pub(crate) fn json(checks: &[JudgeCheck], left_out: &[LeftOut]) -> Vec<u8> {
    whole(
        &serde_json::json!({ "checks": checks, "left_out": left_out }),
        &Options::default(),
    )
}

/// For people.
pub(crate) fn text(checks: &[JudgeCheck], options: &Options) -> Vec<u8> {
    page::render(checks, options)
}
