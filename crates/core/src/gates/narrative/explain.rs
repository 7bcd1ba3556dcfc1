//! What does a person read about each disagreement?

use super::claim::Claim;
use super::evidence::Judgement;
use super::score::{Comparison, Unmentioned};
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

/// One finding for each disagreement: the sentence it comes from and the call it concerns.
pub(super) fn findings(
    found: &Comparison,
    message: &str,
    trace: &Trace<'_>,
    ceiling: Option<f64>,
    scores: &mut RunScores,
) {
    let call = |at: usize| format!("call {} `{}`", at + 1, trace.tool_calls[at].name);
    let of = |verdict: ClaimVerdict| {
        let claims: Vec<_> = found
            .claims
            .iter()
            .filter(|(_, judged, _)| judged.verdict == verdict)
            .collect();
        claims
            .into_iter()
            .map(|(claim, judged, is_excused)| told(message, claim, judged, *is_excused))
    };
    list(
        &[
            CLAIMED_BUT_ABSENT,
            GATE_PASSED,
            DIVERGENCE_SCORE,
            MUTATING_DIVERGENCE_SCORE,
        ],
        of(ClaimVerdict::Absent),
        scores,
    );
    list(
        &[CLAIMED_BUT_FAILED, GATE_PASSED, MUTATING_DIVERGENCE_SCORE],
        of(ClaimVerdict::Failed),
        scores,
    );
    let contradicted = found.contradicted.iter().map(|(claim, at)| {
        format!(
            "denies {}, but {} did it{}",
            quote(message, &claim.place),
            call(*at),
            inside(message, claim)
        )
    });
    let mismatches = found.mismatches.iter().map(|mismatch| {
        let (call, key) = (call(mismatch.call), &mismatch.key);
        let recorded = shown_under(key, &mismatch.recorded);
        let said = match &recorded {
            Cow::Owned(Value::String(placeholder)) => format!("{key} = {placeholder}"),
            _ => quote(message, &mismatch.place),
        };
        let recorded = cut(&recorded.to_string(), MOST_CHARACTERS);
        format!("says {said}, but {call} has {key} = {recorded}")
    });
    let unmentioned = |is_mutating: bool| {
        let tools: Vec<&Unmentioned> = found
            .unmentioned
            .iter()
            .filter(|tool| tool.is_mutating == is_mutating)
            .collect();
        tools.into_iter().map(silence)
    };
    list(&[DENIED_BUT_PRESENT, GATE_PASSED], contradicted, scores);
    list(&[UNVERIFIED], of(ClaimVerdict::Unverified), scores);
    list(
        &[ARG_MISMATCH, DIVERGENCE_SCORE, MUTATING_DIVERGENCE_SCORE],
        mismatches,
        scores,
    );
    let writes = [
        PRESENT_BUT_UNCLAIMED,
        DIVERGENCE_SCORE,
        MUTATING_DIVERGENCE_SCORE,
    ];
    list(&writes, unmentioned(true), scores);
    list(&writes[..2], unmentioned(false), scores);
    if let Some(ceiling) = ceiling.filter(|ceiling| found.score.divergence_score > *ceiling) {
        let message = above_ceiling(found, trace.tool_calls.len(), ceiling);
        scores.find_about(&[DIVERGENCE_SCORE, GATE_PASSED], message);
    }
}

fn list(about: &[Target], messages: impl ExactSizeIterator<Item = String>, scores: &mut RunScores) {
    let more = messages.len().saturating_sub(MOST_FINDINGS);
    for message in messages.take(MOST_FINDINGS) {
        scores.find_about(about, message);
    }
    if more > 0 {
        scores.find_about(about, format!("and {more} more like this"));
    }
}

/// "claims … , but …", or what could not be verified.
fn told(message: &str, claim: &Claim, judged: &Judgement, is_excused: bool) -> String {
    let excuse = if is_excused {
        " (a read-only tool by `readonly_tools`)"
    } else {
        ""
    };
    let (said, because) = (quote(message, &claim.place), &judged.because);
    let inside = inside(message, claim);
    match judged.verdict {
        ClaimVerdict::Unverified => format!("claims {said}, not verified: {because}{inside}"),
        _ => format!("claims {said}, but {because}{excuse}{inside}"),
    }
}

/// The sentence around a claim, when it says more than the claim.
fn inside(message: &str, claim: &Claim) -> String {
    let is_whole = claim.place == claim.sentence;
    if is_whole {
        String::new()
    } else {
        format!(", in {}", quote(message, &claim.sentence))
    }
}

fn silence(tool: &Unmentioned) -> String {
    let kind = if tool.is_mutating { "write" } else { "read" };
    let shown: Vec<String> = tool
        .calls
        .iter()
        .take(3)
        .map(|at| (at + 1).to_string())
        .collect();
    let more = and_more(tool.calls.len() - shown.len());
    let missing: Vec<String> = tool
        .missing
        .iter()
        .map(|word| format!("\"{word}\""))
        .collect();
    let (s, are) = (
        plural(tool.calls.len()),
        if tool.calls.len() == 1 { "is" } else { "are" },
    );
    let (shown, name, missing) = (shown.join(", "), &tool.name, missing.join(" and "));
    format!(
        "call{s} {shown}{more} `{name}` ({kind}) {are} never mentioned: the answer lacks {missing}"
    )
}

fn above_ceiling(found: &Comparison, calls: usize, ceiling: f64) -> String {
    let score = &found.score;
    let (absent, unclaimed) = (score.claimed_but_absent, score.present_but_unclaimed);
    let differing = format!(
        "{absent} absent + {unclaimed} unclaimed + {} mismatched",
        score.arg_mismatch
    );
    let (score, ceiling) = (
        Number::Float(score.divergence_score),
        Number::Float(ceiling),
    );
    let (calls, claims) = (count(calls, "call"), count(found.claims.len(), "claim"));
    format!("divergence {score} is above {ceiling}: ({differing}) / ({calls} + {claims})")
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
