//! What does a person read about each disagreement?

use super::argument::Mismatch;
use super::claim::Claim;
use super::score::{Comparison, Contradiction, JudgedClaim, Unmentioned};
use super::{
    ARG_MISMATCH, CLAIMED_BUT_ABSENT, CLAIMED_BUT_FAILED, DENIED_BUT_PRESENT, DIVERGENCE_SCORE,
    GATE_PASSED, MUTATING_DIVERGENCE_SCORE, PRESENT_BUT_UNCLAIMED, UNVERIFIED,
};
use crate::engine::scores::RunScores;
use crate::engine::target::Target;
use crate::hidden::shown_under;
use crate::report::Number;
use crate::report::evidence::ClaimVerdict;
use crate::trace::Trace;
use crate::words::{and_more, count, cut, plural};
use serde_json::Value;
use std::borrow::Cow;
use std::ops::Range;

const MOST_FINDINGS: usize = 20;
const MOST_CHARACTERS: usize = 160;

const ABSENT: [Target; 4] = [
    CLAIMED_BUT_ABSENT,
    GATE_PASSED,
    DIVERGENCE_SCORE,
    MUTATING_DIVERGENCE_SCORE,
];
const FAILED: [Target; 3] = [CLAIMED_BUT_FAILED, GATE_PASSED, MUTATING_DIVERGENCE_SCORE];
const DENIED: [Target; 2] = [DENIED_BUT_PRESENT, GATE_PASSED];
const MISMATCHED: [Target; 3] = [ARG_MISMATCH, DIVERGENCE_SCORE, MUTATING_DIVERGENCE_SCORE];
const UNMENTIONED_WRITES: [Target; 3] = [
    PRESENT_BUT_UNCLAIMED,
    DIVERGENCE_SCORE,
    MUTATING_DIVERGENCE_SCORE,
];
const UNMENTIONED_READS: [Target; 2] = [PRESENT_BUT_UNCLAIMED, DIVERGENCE_SCORE];

/// One finding for each disagreement, with its sentence and its call.
pub(super) fn findings(
    found: &Comparison,
    message: &str,
    trace: &Trace<'_>,
    ceiling: Option<f64>,
    scores: &mut RunScores,
) {
    let claims = |verdict: ClaimVerdict| {
        let judged = found.claims.iter().filter(move |claim| claim.is(verdict));
        judged.map(|judged| describe_claim(message, judged))
    };
    let unmentioned = |is_mutating: bool| {
        let tools = found.unmentioned.iter();
        tools
            .filter(move |tool| tool.is_mutating == is_mutating)
            .map(describe_silence)
    };
    let denied = found
        .contradictions
        .iter()
        .map(|contradiction| describe_contradiction(message, contradiction, trace));
    let mismatched = found
        .mismatches
        .iter()
        .map(|mismatch| describe_mismatch(message, mismatch, trace));
    list(&ABSENT, claims(ClaimVerdict::Absent), scores);
    list(&FAILED, claims(ClaimVerdict::Failed), scores);
    list(&DENIED, denied, scores);
    list(&[UNVERIFIED], claims(ClaimVerdict::Unverified), scores);
    list(&MISMATCHED, mismatched, scores);
    list(&UNMENTIONED_WRITES, unmentioned(true), scores);
    list(&UNMENTIONED_READS, unmentioned(false), scores);
    if let Some(ceiling) = ceiling.filter(|ceiling| found.score.divergence_score > *ceiling) {
        let message = above_ceiling(found, trace.tool_calls.len(), ceiling);
        scores.find_about(&[DIVERGENCE_SCORE, GATE_PASSED], message);
    }
}

fn list(about: &[Target], messages: impl Iterator<Item = String>, scores: &mut RunScores) {
    let mut messages = messages;
    for message in messages.by_ref().take(MOST_FINDINGS) {
        scores.find_about(about, message);
    }
    let more = messages.count();
    if more > 0 {
        scores.find_about(about, format!("and {more} more like this"));
    }
}

/// "claims … , but …", or the reason why it could not be verified.
fn describe_claim(message: &str, judged: &JudgedClaim) -> String {
    let JudgedClaim {
        claim,
        judgement,
        is_excused,
    } = judged;
    let excuse = if *is_excused {
        " (a read-only tool by `readonly_tools`)"
    } else {
        ""
    };
    let said = quote(message, &claim.place);
    let because = &judgement.because;
    let inside = inside(message, claim);
    match judgement.verdict {
        ClaimVerdict::Unverified => format!("claims {said}, not verified: {because}{inside}"),
        _ => format!("claims {said}, but {because}{excuse}{inside}"),
    }
}

fn describe_contradiction(
    message: &str,
    contradiction: &Contradiction,
    trace: &Trace<'_>,
) -> String {
    let Contradiction { denial, call } = contradiction;
    let said = quote(message, &denial.place);
    let call = named_call(trace, *call);
    let inside = inside(message, denial);
    format!("denies {said}, but {call} did it{inside}")
}

fn describe_mismatch(message: &str, mismatch: &Mismatch, trace: &Trace<'_>) -> String {
    let key = &mismatch.key;
    let call = named_call(trace, mismatch.call);
    let recorded = shown_under(key, &mismatch.recorded);
    let said = match &recorded {
        Cow::Owned(Value::String(placeholder)) => format!("{key} = {placeholder}"),
        _ => quote(message, &mismatch.place),
    };
    let recorded = cut(&recorded.to_string(), MOST_CHARACTERS);
    format!("says {said}, but {call} has {key} = {recorded}")
}

/// ``call 3 `create_issue` ``.
fn named_call(trace: &Trace<'_>, at: usize) -> String {
    format!("call {} `{}`", at + 1, trace.tool_calls[at].name)
}

/// The sentence around a claim, if it is longer than the claim.
fn inside(message: &str, claim: &Claim) -> String {
    let is_whole = claim.place == claim.sentence;
    if is_whole {
        String::new()
    } else {
        format!(", in {}", quote(message, &claim.sentence))
    }
}

fn describe_silence(tool: &Unmentioned) -> String {
    let kind = if tool.is_mutating { "write" } else { "read" };
    let calls = tool.calls.len();
    let shown: Vec<String> = tool
        .calls
        .iter()
        .take(3)
        .map(|at| (at + 1).to_string())
        .collect();
    let more = and_more(calls - shown.len());
    let missing: Vec<String> = tool
        .missing
        .iter()
        .map(|word| format!("\"{word}\""))
        .collect();
    format!(
        "call{} {}{more} `{}` ({kind}) {} never mentioned: the answer lacks {}",
        plural(calls),
        shown.join(", "),
        tool.name,
        if calls == 1 { "is" } else { "are" },
        missing.join(" and ")
    )
}

fn above_ceiling(found: &Comparison, calls: usize, ceiling: f64) -> String {
    let score = &found.score;
    format!(
        "divergence {} is above {}: ({} absent + {} unclaimed + {} mismatched) / ({} + {})",
        Number::Float(score.divergence_score),
        Number::Float(ceiling),
        score.claimed_but_absent,
        score.present_but_unclaimed,
        score.arg_mismatch,
        count(calls, "call"),
        count(found.claims.len(), "claim")
    )
}

fn quote(message: &str, place: &Range<usize>) -> String {
    let words: Vec<&str> = message[place.clone()]
        .split_whitespace()
        .take(MOST_CHARACTERS)
        .collect();
    format!(
        "\"{}\"",
        cut(&words.join(" ").replace("**", ""), MOST_CHARACTERS)
    )
}
