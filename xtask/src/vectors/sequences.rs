//! The vectors of common subsequences and alignments.

use super::Metric;
use super::input::Input;
use mcptest_core::eval::alignment::{AlignmentStep, align};
use mcptest_core::eval::subsequence::{lcs_length, lcs_ratio};
use serde_json::{Value, json};

pub(super) const METRICS: &[Metric] = &[("lcs", lcs), ("edit_alignment", edit_alignment)];

fn lcs(input: &Input<'_>) -> Result<Value, String> {
    let (a, b) = (input.texts("a")?, input.texts("b")?);
    Ok(json!({"lcs_len": lcs_length(&a, &b), "ratio": lcs_ratio(&a, &b)}))
}

fn edit_alignment(input: &Input<'_>) -> Result<Value, String> {
    let (expected, recorded) = (input.texts("expected")?, input.texts("recorded")?);
    let alignment = align(expected.len(), recorded.len(), |i, j| {
        expected[i] == recorded[j]
    });
    let steps = alignment.steps.iter().map(|step| match *step {
        AlignmentStep::Match(i, j) => json!(["match", i, j]),
        AlignmentStep::Substitute(i, j) => json!(["substitute", i, j]),
        AlignmentStep::Missing(i) => json!(["missing", i, null]),
        AlignmentStep::Extra(j) => json!(["extra", null, j]),
    });
    Ok(json!({"distance": alignment.distance(), "ops": steps.collect::<Vec<_>>()}))
}
