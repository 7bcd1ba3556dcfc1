//! Where in a closing message are its claims, and which calls support them?

use super::claim::Claim;
use super::score::{Comparison, JudgedClaim, Unmentioned};
use crate::report::evidence::{CallNamed, ClaimShown, ClaimVerdict, NarrativeRun};
use crate::trace::{Run, Trace};

/// The maximum number of characters of a message to show.
const MOST_CHARACTERS: usize = 20_000;
/// The maximum number of calls to list as never mentioned.
const MOST_CALLS: usize = 100;

/// The claims of one run, in the order of its text.
pub(super) fn of_run(run: &Run<'_>, message: &str, found: &Comparison) -> NarrativeRun {
    let denied = found.contradictions.iter().map(|contradiction| {
        let call = contradiction.call;
        placed(
            message,
            &contradiction.denial,
            ClaimVerdict::Denied,
            Some(call),
            did_it(run.trace, call),
        )
    });
    let mut claims: Vec<ClaimShown> = found
        .claims
        .iter()
        .map(|judged| shown(message, judged, run.trace))
        .chain(denied)
        .filter(|claim| claim.end <= MOST_CHARACTERS)
        .collect();
    claims.sort_by_key(|claim| (claim.start, claim.end));
    let unmentioned = found
        .unmentioned
        .iter()
        .flat_map(|tool| tool.calls.iter().map(|call| named(tool, *call)))
        .take(MOST_CALLS)
        .collect();
    NarrativeRun {
        run: run.number,
        text: message.chars().take(MOST_CHARACTERS).collect(),
        claims,
        unmentioned,
    }
}

fn named(tool: &Unmentioned, call: usize) -> CallNamed {
    CallNamed {
        number: call + 1,
        tool: tool.name.clone(),
    }
}

fn shown(message: &str, judged: &JudgedClaim, trace: &Trace<'_>) -> ClaimShown {
    let judgement = &judged.judgement;
    let ground = match (judgement.verdict, judgement.call) {
        (ClaimVerdict::Supported, Some(call)) => did_it(trace, call),
        (ClaimVerdict::Supported, None) => String::new(),
        _ => judgement.because.clone(),
    };
    placed(
        message,
        &judged.claim,
        judgement.verdict,
        judgement.call,
        ground,
    )
}

fn did_it(trace: &Trace<'_>, call: usize) -> String {
    format!("call {} `{}` did it", call + 1, trace.tool_calls[call].name)
}

fn placed(
    message: &str,
    claim: &Claim,
    verdict: ClaimVerdict,
    call: Option<usize>,
    ground: String,
) -> ClaimShown {
    let characters = |bytes: usize| message[..bytes].chars().count();
    let (start, end) = (characters(claim.place.start), characters(claim.place.end));
    ClaimShown {
        start,
        end,
        verdict,
        calls: call.map(|call| call + 1).into_iter().collect(),
        ground,
    }
}
