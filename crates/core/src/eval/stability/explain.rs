//! Which dimension is weakest, and which numbers made it so?

use super::aligned::together;
use super::pairs::{Agreement, Pair, numbered, numbered_calls};
use super::score::{DIMENSIONS, LOW, Measured, Premises};
use super::session::{Session, Step};
use super::{
    ALIGNED, CONSISTENCY, EARLY_DIVERGENCE, OF_A_RUN, SCORE, SIMILARITY, VARIANCE, WEAKEST,
};
use crate::eval::target::Target;
use crate::hashed::HashMap;
use crate::report::{Finding, Number};
use crate::trace::Run;
use crate::words::{count, grouped, plural};

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
    let mut worst = worst_runs(measured);
    worst.retain(|worst| worst.score < 1.0);
    worst.sort_by(|a, b| a.score.total_cmp(&b.score));
    let finding = |worst: Worst| {
        let Worst {
            score,
            run,
            dimension,
        } = worst;
        let name = DIMENSIONS[dimension];
        let why = reason(dimension, &sessions[run], premises);
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
    let (counted, aside): (Vec<_>, Vec<_>) = worst
        .into_iter()
        .partition(|worst| premises.count(worst.dimension));
    let within = counted.into_iter().map(finding);
    within
        .chain(between(runs, sessions, agreement))
        .chain(aside.into_iter().map(finding))
        .collect()
}

/// What is low and does not count: by its target, in the words of a row.
pub(super) fn low(
    runs: &[Run<'_>],
    sessions: &[Session<'_>],
    measured: &[Measured],
    premises: Premises,
) -> Vec<(Target, String)> {
    let is_low = |worst: &Worst| worst.score < LOW && !premises.count(worst.dimension);
    let said = |worst: Worst| {
        let (name, score) = (DIMENSIONS[worst.dimension], shown(worst.score));
        let session = &sessions[worst.run];
        let why = match name {
            "cost_per_progress" => tokens_spent(session, premises),
            _ => reason(worst.dimension, session, premises),
        };
        let run = runs[worst.run].number;
        let message = format!("low: {name} {score}, {why} (run #{run})");
        (OF_A_RUN[worst.dimension], message)
    };
    worst_runs(measured)
        .into_iter()
        .filter(is_low)
        .map(said)
        .collect()
}

/// The lowest score of a dimension, and the first run that has it.
#[derive(Clone, Copy)]
struct Worst {
    score: f64,
    run: usize,
    dimension: usize,
}

/// For each dimension that was measured its worst run.
fn worst_runs(measured: &[Measured]) -> Vec<Worst> {
    let of_dimension = |dimension: usize| {
        let scores = measured.iter().enumerate().filter_map(|(run, of)| {
            Some(Worst {
                score: of.values[dimension]?,
                run,
                dimension,
            })
        });
        scores.min_by(|a, b| a.score.total_cmp(&b.score))
    };
    (0..DIMENSIONS.len()).filter_map(of_dimension).collect()
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
        _ if session.distinct_calls == 0 => tokens_spent(session, premises),
        _ => {
            let target = grouped(premises.tokens_per_call() as u64);
            let each = premises.tokens(session) / session.distinct_calls as f64;
            let each = grouped(each as u64);
            format!(
                "{}, {each} each where {target} are free; `target_tokens` changes that",
                tokens_spent(session, premises)
            )
        }
    }
}

/// `133,855 tokens for 3 useful calls`.
fn tokens_spent(session: &Session<'_>, premises: Premises) -> String {
    let (spent, calls) = (premises.tokens(session), session.distinct_calls);
    let tokens = grouped(spent as u64);
    if calls == 0 {
        return format!("{tokens} tokens and no calls");
    }
    let cached = session.tokens - spent;
    let cached = if cached > 0.0 {
        format!(" ({} more were read from a cache)", grouped(cached as u64))
    } else {
        String::new()
    };
    let plural = plural(calls);
    format!("{tokens} tokens for {calls} useful call{plural}{cached}")
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
    let early = agreement.early_divergence().then(|| {
        let (early, diverging) = (agreement.early, agreement.diverging);
        format!("{early} of {diverging} pairs of runs that differ do so from their first or second call on")
    });
    let path = path.map(|path| Finding::new(None, path).about(&[SIMILARITY]));
    let early = early.map(|early| Finding::new(None, early).about(&[EARLY_DIVERGENCE]));
    let arguments = other_arguments(runs, sessions, agreement);
    path.into_iter().chain(arguments).chain(early).collect()
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

/// The pair of runs whose arguments differ most along the common path; and the pair that does so step by step, where
/// that is not the same.
fn other_arguments(
    runs: &[Run<'_>],
    sessions: &[Session<'_>],
    agreement: &Agreement,
) -> Vec<Finding> {
    let differs = |pair: &Pair| pair.ratio < 1.0;
    let aligned = agreement.aligned.least.filter(differs);
    let by_step = agreement.consistency.least.filter(differs);
    let mut found = Vec::new();
    if let Some(pair) = aligned {
        let is_all = by_step.is_some_and(|other| other == pair);
        let about: &[Target] = if is_all {
            &[ALIGNED, CONSISTENCY]
        } else {
            &[ALIGNED]
        };
        let said = first_other_call(sessions, pair);
        found.push(arguments(runs, pair, "", &said).about(about));
    }
    if let Some(pair) = by_step.filter(|pair| aligned != Some(*pair)) {
        let (a, b) = (&sessions[pair.runs.0].calls, &sessions[pair.runs.1].calls);
        let mut steps = a.iter().zip(b);
        let first = steps.position(|(a, b)| a.name == b.name && a.args != b.args);
        let said = first.map_or_else(String::new, |at| {
            format!(", first in call {} `{}`", at + 1, a[at].name)
        });
        found.push(arguments(runs, pair, " at the same steps", &said).about(&[CONSISTENCY]));
    }
    found
}

fn arguments(runs: &[Run<'_>], pair: Pair, place: &str, first: &str) -> Finding {
    let (one, other) = (runs[pair.runs.0].number, runs[pair.runs.1].number);
    let equal = shown(pair.ratio);
    let message = format!(
        "runs #{one} and #{other} give other arguments to the same tools{place} ({equal} equal){first}"
    );
    Finding::new(None, message)
}

/// `, first in call 2 `a` beside call 3`.
fn first_other_call(sessions: &[Session<'_>], pair: Pair) -> String {
    let two = [&sessions[pair.runs.0], &sessions[pair.runs.1]];
    let calls = numbered_calls(&two, &numbered(&two));
    let pairs = together(&calls[0], &calls[1]);
    let mut others = pairs
        .iter()
        .filter(|(a, b)| calls[0][*a].1 != calls[1][*b].1);
    let Some((one, other)) = others.next() else {
        return String::new();
    };
    let beside = if one == other {
        String::new()
    } else {
        format!(" beside call {}", other + 1)
    };
    format!(
        ", first in call {} `{}`{beside}",
        one + 1,
        two[0].calls[*one].name
    )
}
