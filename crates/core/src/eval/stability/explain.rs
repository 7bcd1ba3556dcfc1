//! Which dimension is weakest, and which numbers made it so?

use super::pairs::{Agreement, Pair};
use super::score::{DIMENSIONS, Measured, Premises, TOKENS_PER_CALL};
use super::session::{Session, Step};
use super::{CONSISTENCY, EARLY_DIVERGENCE, OF_A_RUN, SCORE, SIMILARITY, VARIANCE, WEAKEST};
use crate::hashed::HashMap;
use crate::order::SmallSort;
use crate::report::{Finding, Number};
use crate::trace::Run;
use crate::words::{count, plural};

/// As many numbers of a list as a reader will look at.
const MOST_LISTED: usize = 10;

/// For each dimension that is not perfect its worst run, the weakest first; then where the runs differ most, and last
/// what does not count.
pub(super) fn findings(
    runs: &[Run<'_>],
    sessions: &[Session<'_>],
    measured: &[Measured],
    agreement: &Agreement,
    premises: Premises,
) -> Vec<Finding> {
    let mut worst: Vec<(f64, usize, usize)> = Vec::new();
    for dimension in 0..4 {
        let scores = measured
            .iter()
            .enumerate()
            .filter_map(|(run, of)| Some((run, of.values[dimension]?)));
        let lowest = scores.min_by(|(_, a), (_, b)| a.total_cmp(b));
        worst.extend(lowest.map(|(run, score)| (score, run, dimension)));
    }
    worst.retain(|(score, ..)| *score < 1.0);
    worst.small_sort_by(|a, b| a.0.total_cmp(&b.0));
    let finding = |(score, run, dimension): (f64, usize, usize)| {
        let (name, why) = (
            DIMENSIONS[dimension],
            reason(dimension, &sessions[run], premises),
        );
        let aside = if premises.count(dimension) {
            ""
        } else {
            " (not part of the weakest score)"
        };
        let message = format!("{name} {}: {why}{aside}", shown(score));
        let is_counted = usize::from(premises.count(dimension));
        let about = [OF_A_RUN[dimension], WEAKEST, SCORE, VARIANCE];
        Finding::new(Some(runs[run].number), message).about(&about[..=3 * is_counted])
    };
    let (counted, aside): (Vec<_>, Vec<_>) =
        worst.into_iter().partition(|(.., at)| premises.count(*at));
    let within = counted.into_iter().map(finding);
    within
        .chain(between(runs, sessions, agreement))
        .chain(aside.into_iter().map(finding))
        .collect()
}

/// Two decimals, floored: what is short of a floor does not look as if it had reached it.
fn shown(score: f64) -> Number {
    Number::Float((score * 100.0 + 1e-9).floor() / 100.0)
}

fn reason(dimension: usize, session: &Session<'_>, premises: Premises) -> String {
    let calls = session.calls.len();
    match DIMENSIONS[dimension] {
        "tool_usage_stability" => {
            let tools = count(session.tools, "tool");
            format!("{calls} calls to {tools}; `min_calls_for_tool_usage` leaves shorter runs out")
        }
        "response_consistency" => {
            format!("turn lengths {}", listed(&premises.lengths(session)))
        }
        "redundancy" => {
            let distinct = session.distinct_calls;
            format!(
                "{calls} calls, {distinct} distinct; {}",
                most_repeated(&session.calls)
            )
        }
        _ if session.distinct_calls == 0 => format!("{} tokens and no calls", session.tokens),
        _ => {
            let distinct = session.distinct_calls;
            let each = (session.tokens / distinct as f64).floor();
            let tokens = session.tokens;
            format!(
                "{tokens} tokens for {distinct} distinct call{}, {each} each where {TOKENS_PER_CALL} are free",
                plural(distinct)
            )
        }
    }
}

fn listed(numbers: &[usize]) -> String {
    let mut said: Vec<String> = numbers
        .iter()
        .take(MOST_LISTED)
        .map(usize::to_string)
        .collect();
    if numbers.len() > MOST_LISTED {
        said.push(format!("… ({} in all)", numbers.len()));
    }
    said.join(", ")
}

fn most_repeated(calls: &[Step<'_>]) -> String {
    let mut numbers: HashMap<&Step<'_>, usize> = HashMap::default();
    let mut repeats: Vec<Vec<usize>> = Vec::new();
    for (at, call) in calls.iter().enumerate() {
        let number = *numbers.entry(call).or_insert(repeats.len());
        if number == repeats.len() {
            repeats.push(Vec::new());
        }
        repeats[number].push(at + 1);
    }
    let most = repeats.iter().rev().max_by_key(|places| places.len());
    most.map_or_else(String::new, |places| {
        let name = calls[places[0] - 1].name;
        format!(
            "`{name}` with the same arguments in calls {}",
            listed(places)
        )
    })
}

fn between(runs: &[Run<'_>], sessions: &[Session<'_>], agreement: &Agreement) -> Vec<Finding> {
    let is_short = |pair: &Pair| pair.ratio < 1.0;
    let path = agreement
        .similarity
        .least
        .filter(is_short)
        .map(|pair| parting(runs, sessions, pair));
    let args = agreement
        .consistency
        .least
        .filter(is_short)
        .and_then(|pair| other_args(runs, sessions, pair));
    let early = agreement.early_divergence().then(|| {
        let (early, diverging) = (agreement.early, agreement.diverging);
        format!("{early} of {diverging} pairs of runs that differ do so from their first or second call on")
    });
    let found = [
        (path, SIMILARITY),
        (args, CONSISTENCY),
        (early, EARLY_DIVERGENCE),
    ]
    .into_iter();
    found
        .filter_map(|(message, target)| Some(Finding::new(None, message?).about(&[target])))
        .collect()
}

fn parting(runs: &[Run<'_>], sessions: &[Session<'_>], pair: Pair) -> String {
    let (a, b) = (&sessions[pair.runs.0].calls, &sessions[pair.runs.1].calls);
    let at = a
        .iter()
        .zip(b)
        .take_while(|(a, b)| a.name == b.name)
        .count();
    let does = |calls: &[Step<'_>]| {
        calls
            .get(at)
            .map_or("ends".to_owned(), |call| format!("calls `{}`", call.name))
    };
    let (one, other) = (runs[pair.runs.0].number, runs[pair.runs.1].number);
    let (ratio, call, a, b) = (shown(pair.ratio), at + 1, does(a), does(b));
    format!(
        "runs #{one} and #{other} are the least alike ({ratio}): at call {call} one {a}, the other {b}"
    )
}

fn other_args(runs: &[Run<'_>], sessions: &[Session<'_>], pair: Pair) -> Option<String> {
    let (a, b) = (&sessions[pair.runs.0].calls, &sessions[pair.runs.1].calls);
    let at = a
        .iter()
        .zip(b)
        .position(|(a, b)| a.name == b.name && a.args != b.args)?;
    let (one, other) = (runs[pair.runs.0].number, runs[pair.runs.1].number);
    let first = format!(
        "({} equal), first in call {} `{}`",
        shown(pair.ratio),
        at + 1,
        a[at].name
    );
    Some(format!(
        "runs #{one} and #{other} give other arguments to the same tools {first}"
    ))
}
