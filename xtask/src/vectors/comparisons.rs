//! The vectors of tests between versions and of many p-values.

use super::Metric;
use super::input::{Input, text};
use mcptest_core::eval::stats;
use serde_json::{Value, json};

pub(super) const METRICS: &[Metric] = &[
    ("mcnemar", mcnemar),
    ("sign_flip", sign_flip),
    ("fisher_exact", fisher_exact),
    ("holm", holm),
    ("benjamini_hochberg", benjamini_hochberg),
];

fn mcnemar(input: &Input<'_>) -> Result<Value, String> {
    let found = stats::mcnemar(input.count("b")?, input.count("c")?).map_err(text)?;
    Ok(json!({"exact_p": found.exact_p, "mid_p": found.mid_p}))
}

fn sign_flip(input: &Input<'_>) -> Result<Value, String> {
    let found = stats::sign_flip(&input.decimals("diffs")?).map_err(text)?;
    Ok(json!({"p": found.p, "enumerated": found.enumerated}))
}

fn fisher_exact(input: &Input<'_>) -> Result<Value, String> {
    let (a, b, c, d) = (
        input.count("a")?,
        input.count("b")?,
        input.count("c")?,
        input.count("d")?,
    );
    let found = stats::fisher_exact(a, b, c, d).map_err(text)?;
    Ok(json!({"p_two_sided": found.p_two_sided, "p_less": found.p_less}))
}

fn holm(input: &Input<'_>) -> Result<Value, String> {
    Ok(json!({"adjusted": stats::holm(&input.numbers("p")?).map_err(text)?}))
}

fn benjamini_hochberg(input: &Input<'_>) -> Result<Value, String> {
    Ok(json!({"adjusted": stats::benjamini_hochberg(&input.numbers("p")?).map_err(text)?}))
}
