//! The vectors of narrative divergence.

use super::Metric;
use super::input::Input;
use mcptest_core::eval::{Extraction, Narrative, score_narrative};
use serde_json::{Value, json};

pub(super) const METRICS: &[Metric] = &[("narrative", narrative), ("is_mutating", is_mutating)];

fn narrative(input: &Input<'_>) -> Result<Value, String> {
    let text = input
        .value("text")?
        .as_str()
        .ok_or("`text` is not a text")?;
    let named = |call: &Value| {
        if call.is_string() {
            json!({ "name": call })
        } else {
            call.clone()
        }
    };
    let calls: Vec<Value> = input.list("calls")?.iter().map(named).collect();
    let score = score_narrative(text, &calls, &policy(input)?);
    Ok(json!({
        "claims": score.claims,
        "claimed_but_absent": score.claimed_but_absent,
        "present_but_unclaimed": score.present_but_unclaimed,
        "arg_mismatch": score.arg_mismatch,
        "denied_but_present": score.denied_but_present,
        "divergence_score": score.divergence_score,
        "mutating_divergence_score": score.mutating_divergence_score,
        "gate_passed": u8::from(score.gate_passed),
    }))
}

fn is_mutating(input: &Input<'_>) -> Result<Value, String> {
    let tool = input
        .value("tool")?
        .as_str()
        .ok_or("`tool` is not a text")?;
    Ok(json!({"mutating": policy(input)?.is_mutating(tool)}))
}

fn policy(input: &Input<'_>) -> Result<Narrative, String> {
    let texts = |key: &str| -> Result<Vec<String>, String> {
        let given = input.0.get(key).is_some();
        Ok(if given {
            input.texts(key)?.into_iter().map(str::to_owned).collect()
        } else {
            Vec::new()
        })
    };
    let has_ceiling = input
        .0
        .get("max_divergence_score")
        .is_some_and(|ceiling| !ceiling.is_null());
    let is_literal = input.0.get("negation").and_then(Value::as_bool) == Some(false)
        || input.0.get("extraction").and_then(Value::as_str) == Some("literal");
    Ok(Narrative {
        mutating_tools: texts("mutating_tools")?,
        readonly_tools: texts("readonly_tools")?,
        max_divergence_score: has_ceiling
            .then(|| input.number("max_divergence_score"))
            .transpose()?,
        extra_verbs: texts("extra_verbs")?,
        synonyms: std::collections::BTreeMap::new(),
        extraction: if is_literal {
            Extraction::Literal
        } else {
            Extraction::Rules
        },
    })
}
