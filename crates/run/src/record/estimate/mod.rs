//! What would recording take: how many runs, model calls and tokens, and at about which cost?

mod guess;
mod past;
#[cfg(test)]
mod tests;

use super::one_run::limits;
use super::state::{WantedRuns, wanted_runs};
use crate::Options;
use mcptest_core::eval::SideWords;
use mcptest_core::price::Price;
use mcptest_core::row::{AgentRow, RowOfAgent};
use mcptest_core::trace::Tokens;
use mcptest_replay::cassette::Recording;
use mcptest_replay::{Plan, cassette_paths, expected_header, side_path};
use past::Past;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The estimated cost of recording a plan. The estimate starts nothing and needs no key.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Estimate {
    /// The rows of agents that would be recorded, in the order of the plan.
    pub rows: Vec<RowEstimate>,
    /// Tool tests that would be called.
    pub tool_tests: usize,
    /// Rows whose traces are only read.
    pub read_only: usize,
    /// Budgets that the estimated cost is above.
    pub exceeded: Vec<ExceededBudget>,
}

/// The estimated cost of recording one row.
#[derive(Debug, Clone, PartialEq)]
pub struct RowEstimate {
    /// The row's name.
    pub row_name: String,
    /// Its ordinary runs that would be recorded.
    pub runs: usize,
    /// The side runs, such as a fault matrix, if it has any.
    pub side_runs: Option<SideRunsEstimate>,
    /// True if it may end before all runs are made.
    pub may_stop_early: bool,
    /// True if the user's program calls the model.
    pub is_own: bool,
    /// The maximum number of model calls; `None` for the user's own program.
    pub calls_at_most: Option<u64>,
    /// The maximum number of tokens, if limited. Each run may exceed its limit by one answer.
    pub tokens_at_most: Option<u64>,
    /// The tokens of all its runs, as far as they can be predicted.
    pub tokens: Option<ExpectedTokens>,
    /// Their cost.
    pub cost_usd: Option<f64>,
    /// The model, if its price is unknown.
    pub unpriced: Option<String>,
    /// Why it cannot be recorded, if that is already certain.
    pub refused: Option<String>,
}

/// The number of runs for one gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SideRunsEstimate {
    /// The number after the recorded first run, otherwise after a run with a few calls.
    pub about: usize,
    /// The maximum number; `None` if only the first run can show it.
    pub at_most: Option<usize>,
    /// The words for these runs.
    pub words: SideWords,
}

/// Tokens that are not spent yet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExpectedTokens {
    /// Their number.
    pub total: u64,
    /// True if they are estimated from the prompt and the tools instead of recorded runs.
    pub is_rough: bool,
}

/// A budget that the estimated cost is above.
#[derive(Debug, Clone, PartialEq)]
pub struct ExceededBudget {
    /// Its name, such as `--max-cost`.
    pub name: String,
    /// The limit in dollars.
    pub limit_usd: f64,
    /// The estimated cost of the runs under this limit.
    pub estimated_usd: f64,
}

/// Estimates the cost of recording the rows that the mode asks for.
pub fn estimate(plan: &Plan<'_>, options: &Options) -> Estimate {
    let mut estimate = Estimate::default();
    let mut by_suite: BTreeMap<PathBuf, (f64, Option<f64>)> = BTreeMap::new();
    for row in plan.rows.iter().filter(|row| row.skip.is_none()) {
        let Some(of) = row.agent_row() else {
            let is_called = row.tool_row().is_some() && wanted_runs(row, options.mode).is_some();
            estimate.tool_tests += usize::from(is_called);
            continue;
        };
        if of.agent.is_read_only() {
            estimate.read_only += 1;
            continue;
        }
        let Some(of_row) = of_row(RowOfAgent { row, of }, options) else {
            continue;
        };
        let cost = of_row.cost_usd.unwrap_or_default();
        let budget = of.suite.budget;
        exceeded(
            &mut estimate,
            format!("`budget: per_test_usd` of `{}`", row.name),
            budget.per_test_usd,
            cost,
        );
        let of_suite = by_suite
            .entry(of.suite.path.clone())
            .or_insert((0.0, budget.per_suite_usd));
        of_suite.0 += cost;
        estimate.rows.push(of_row);
    }
    for (path, (cost, limit)) in &by_suite {
        exceeded(
            &mut estimate,
            format!("`budget: per_suite_usd` of {}", path.display()),
            *limit,
            *cost,
        );
    }
    let all = by_suite.values().map(|(cost, _)| cost).sum();
    exceeded(
        &mut estimate,
        "--max-cost".to_owned(),
        options.max_cost_usd,
        all,
    );
    estimate
}

fn exceeded(estimate: &mut Estimate, name: String, limit: Option<f64>, estimated_usd: f64) {
    if let Some(limit_usd) = limit.filter(|limit| estimated_usd > *limit) {
        estimate.exceeded.push(ExceededBudget {
            name,
            limit_usd,
            estimated_usd,
        });
    }
}

fn of_row(RowOfAgent { row, of }: RowOfAgent<'_>, options: &Options) -> Option<RowEstimate> {
    let WantedRuns { goes_on, runs } = wanted_runs(row, options.mode)?;
    let path = cassette_paths(of).ok()?.into_iter().next()?;
    let past = Past::read(&path);
    let side_runs = side_runs(of, &past, goes_on);
    let is_own = of.agent.own.is_some();
    let about = runs.len() + side_runs.map_or(0, |side| side.about);
    let most_side_runs = side_runs.map_or(Some(0), |side| side.at_most);
    let limits = RunLimits::of_row(of);
    let at_most = most_side_runs.map(|most| limits.times((runs.len() + most) as u64));
    let mean = MeanTokens::of_row(of, &past, &limits);
    let model = of.model_label().filter(|_| !is_own);
    let priced = model.as_deref().zip(mean.as_ref());
    let priced =
        priced.and_then(|(model, mean)| price_of(of, model)?.cost_usd(mean.of_runs(about)));
    let unpriced = model.filter(|model| price_of(of, model).is_none());
    Some(RowEstimate {
        row_name: row.name.clone(),
        runs: runs.len(),
        side_runs,
        may_stop_early: of.agent.stop_decided,
        is_own,
        calls_at_most: at_most.as_ref().and_then(|most| most.calls),
        tokens_at_most: at_most.and_then(|most| most.tokens),
        tokens: mean.map(|mean| ExpectedTokens {
            total: times(mean.tokens.total(), about),
            is_rough: mean.is_rough,
        }),
        cost_usd: priced.or_else(|| past.cost_usd.map(|mean| mean * about as f64)),
        refused: refused(
            of,
            unpriced.as_deref().filter(|_| is_in_dollars(of, options)),
        ),
        unpriced,
    })
}

/// The limits of model calls and tokens that mcptest enforces, in one run or in several. The user's own program makes
/// its calls itself.
struct RunLimits {
    calls: Option<u64>,
    tokens: Option<u64>,
}

impl RunLimits {
    fn of_row(of: AgentRow<'_>) -> Self {
        if of.agent.own.is_some() {
            return Self {
                calls: None,
                tokens: None,
            };
        }
        let limits = limits(of.agent);
        let tokens = [limits.token_budget, of.suite.budget.per_run_tokens];
        Self {
            calls: Some(limits.max_turns),
            tokens: tokens.into_iter().flatten().min(),
        }
    }

    fn times(&self, runs: u64) -> Self {
        let times = |limit: u64| limit.saturating_mul(runs);
        Self {
            calls: self.calls.map(times),
            tokens: self.tokens.map(times),
        }
    }
}

/// The mean tokens of a run.
struct MeanTokens {
    tokens: past::Tokens,
    /// True if they are estimated from the prompt and the tools instead of recorded runs.
    is_rough: bool,
}

impl MeanTokens {
    /// The mean of the recorded runs, otherwise a guess. The tokens of the user's own program cannot be guessed.
    fn of_row(of: AgentRow<'_>, past: &Past, limits: &RunLimits) -> Option<Self> {
        if let Some(tokens) = past.tokens {
            let is_rough = false;
            return Some(Self { tokens, is_rough });
        }
        of.agent.own.is_none().then(|| Self {
            tokens: guess::tokens(of, &super::one_run::limits(of.agent), limits.tokens),
            is_rough: true,
        })
    }

    fn of_runs(&self, runs: usize) -> Tokens {
        let prompt = times(self.tokens.prompt, runs);
        Tokens::without_total(Some(prompt), Some(times(self.tokens.completion, runs)))
    }
}

fn times(mean: f64, runs: usize) -> u64 {
    (mean * runs as f64).round() as u64
}

/// Returns true if a dollar budget applies.
fn is_in_dollars(of: AgentRow<'_>, options: &Options) -> bool {
    let budget = of.suite.budget;
    let limits = [budget.per_test_usd, budget.per_suite_usd];
    options.max_cost_usd.is_some() || limits.iter().any(Option::is_some)
}

fn price_of(of: AgentRow<'_>, model: &str) -> Option<Price> {
    let environment = mcptest_replay::host().environment;
    of.suite.price(of.agent, model, environment)
}

fn refused(of: AgentRow<'_>, unpriced: Option<&str>) -> Option<String> {
    if of.agent.own.is_none() && of.model.is_none() {
        return Some("it has no model and no program".to_owned());
    }
    unpriced.map(|model| {
        format!("no price is known for `{model}`, so mcptest cannot enforce a dollar budget")
    })
}

/// The runs for one of its gates that would be recorded. If no suite lists the tools, the recorded tools count.
fn side_runs(of: AgentRow<'_>, past: &Past, goes_on: bool) -> Option<SideRunsEstimate> {
    let mut header = expected_header(of);
    header.catalogue = header.catalogue.or_else(|| past.catalogue.clone());
    let after = |calls: usize| guess::side_runs(of.agent, calls, &header);
    let words = after(usize::MAX)?.words;
    let count = |calls: usize| after(calls).map_or(0, |side| side.runs.len());
    let (about, most) = (
        count(past.first_calls.unwrap_or(guess::CALLS)),
        count(usize::MAX),
    );
    if most == 0 && header.catalogue.is_none() {
        return Some(SideRunsEstimate {
            about: 0,
            at_most: None,
            words,
        });
    }
    let recorded = if goes_on {
        side_path(of).map_or(0, |path| recorded(&path))
    } else {
        0
    };
    let is_known = goes_on && past.first_calls.is_some();
    let at_most = if is_known { about } else { most }.saturating_sub(recorded);
    (most > 0).then(|| SideRunsEstimate {
        about: about.saturating_sub(recorded),
        at_most: Some(at_most),
        words,
    })
}

/// The number of runs in a cassette.
fn recorded(path: &Path) -> usize {
    let Ok(recording) = Recording::open(path) else {
        return 0;
    };
    recording
        .cassette()
        .map_or(0, |cassette| cassette.whole_runs())
}
