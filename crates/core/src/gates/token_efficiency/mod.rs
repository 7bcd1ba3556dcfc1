//! `token_efficiency:` what do the tools and the runs cost for each correct selection?

mod cost;

use crate::classes::{Class, Reach, Selection, explain_selection, read_needed_classes};
use crate::engine::facts::AgentFacts;
use crate::engine::gate::{Documentation, Gate, GateKind, RunFailsBy};
use crate::engine::outlook::Outlook;
use crate::engine::recording::Recording;
use crate::engine::scores::{RunScores, Scores};
use crate::engine::shown::Shown;
use crate::engine::target::{Target, Unit};
use crate::price::{Prices, tool_surface_tokens};
use crate::problem::{Problem, did_you_mean};
use crate::report::evidence::{LimitShown, TokensOfRun};
use crate::report::{Evidence, Finding, Number};
use crate::suite::read::Block;
use crate::trace::{CatalogueTool, Run, Tokens};
use crate::words::{count, some_of};
use cost::{CostUnknown, cost_of};
use std::fmt::Display;
use thiserror::Error;

const F1: Target = Target::percent(
    "token_efficiency.f1",
    "the F1 of the selection, as in `equal_function_sets:`",
)
.pooled();
const TOOL_SURFACE_TOKENS: Target = Target::count(
    "token_efficiency.tool_surface_tokens",
    "the `cl100k_base` tokens of the tools the model saw",
)
.in_unit(Unit::Tokens);
const CORRECT_SELECTIONS: Target = Target::count(
    "token_efficiency.correct_selections",
    "classes that a call reached",
)
.summed()
.wanted();
const COST: Target = Target::amount("token_efficiency.cost", "what the runs cost, in USD")
    .summed()
    .in_unit(Unit::Usd);
const TOKENS_PER_CORRECT: Target = Target::amount(
    "token_efficiency.tokens_per_correct",
    "tool surface tokens of all runs per correct selection",
)
.pooled()
.in_unit(Unit::Tokens);
const COST_PER_CORRECT: Target = Target::amount(
    "token_efficiency.cost_per_correct",
    "USD per correct selection",
)
.pooled()
.in_unit(Unit::Usd);

const TARGETS: &[Target] = &[
    F1,
    TOOL_SURFACE_TOKENS,
    CORRECT_SELECTIONS,
    COST,
    TOKENS_PER_CORRECT,
    COST_PER_CORRECT,
];

/// Advice on giving the price of a model in a suite.
pub const PRICES_HELP: &str = "give one in `prices:` of the agent's `token_efficiency:`";

/// Why the tokens of a run's tools are not counted.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
enum SurfaceUnknown {
    #[error("this build of mcptest has no tokenizer, so tokens are not counted")]
    NoTokenizer,
    #[error("the recording has no tool catalogue, so the tokens of its tools are not counted")]
    NoCatalogue,
}

/// The letter of an F1 in percent: A from 90, B from 80, C from 70, D from 60, otherwise F.
fn letter(f1_percent: u32) -> char {
    match f1_percent {
        90.. => 'A',
        80.. => 'B',
        70.. => 'C',
        60.. => 'D',
        _ => 'F',
    }
}

/// The block. Without classes, it uses the classes of its sibling.
pub(crate) struct TokenEfficiency {
    classes: Vec<Class>,
    prices: Prices,
    /// The agent's model, if it has one.
    model: Option<String>,
}

pub(super) const KIND: GateKind = GateKind::new(
    "token_efficiency",
    Documentation {
        summary: "What do the tools and the runs cost for each correct selection?",
        doc: include_str!("doc.md"),
        example: include_str!("example.yml"),
    },
    TARGETS,
    RunFailsBy::AssertionsOverIt,
    |block| Box::new(TokenEfficiency::read(block)),
)
.with_floors(&[(F1, 100.0)]);

impl TokenEfficiency {
    fn read(block: &mut Block<'_>) -> Self {
        let classes = read_needed_classes(block);
        let doc = "USD per million tokens by model id; overrides mcptest's prices";
        let prices = block.or_default("prices", doc, Prices::read);
        let model = block.sibling("model", |field| field.string());
        Self {
            classes,
            prices,
            model,
        }
    }
}

impl TokenEfficiency {
    /// The choices of all runs together.
    fn pooled(&self, runs: &[Run<'_>]) -> Selection {
        let mut pooled = Selection::default();
        for run in runs {
            pooled += Reach::from_calls(&run.trace.tool_calls, &self.classes).selection();
        }
        pooled
    }

    fn set_cost(&self, runs: &[Run<'_>], correct: usize, scores: &mut Scores) {
        let costs: Vec<Result<f64, CostUnknown>> = runs
            .iter()
            .map(|run| cost_of(run, &self.prices, self.model.as_deref()))
            .collect();
        let total = measured(scores, runs, &costs, &[COST, COST_PER_CORRECT])
            .map(|costs| to_nano(costs.iter().sum()))
            .filter(|cost| cost.is_finite());
        scores.set(&COST, total.map(Number::Float)).set(
            &COST_PER_CORRECT,
            total.and_then(|total| per_correct(total, correct)),
        );
    }
}

/// Sets the tokens that the tools add to the prompt.
fn set_tokens(runs: &[Run<'_>], correct: usize, scores: &mut Scores) {
    let targets = [TOOL_SURFACE_TOKENS, TOKENS_PER_CORRECT];
    let tokens = measured(scores, runs, &surface_tokens(runs.iter()), &targets);
    let total = tokens
        .as_ref()
        .map(|tokens| tokens.iter().sum::<usize>() as f64);
    let most = tokens.and_then(|tokens| tokens.into_iter().max());
    scores
        .set(
            &TOOL_SURFACE_TOKENS,
            most.map(|tokens| Number::Int(tokens as i64)),
        )
        .set(
            &TOKENS_PER_CORRECT,
            total.and_then(|total| per_correct(total, correct)),
        );
}

/// The share of one correct choice. `None` without a correct choice.
fn per_correct(total: f64, correct: usize) -> Option<Number> {
    (correct > 0).then(|| Number::Float(total / correct as f64))
}

impl Gate for TokenEfficiency {
    fn score_run(&self, run: &Run<'_>) -> RunScores {
        let calls = &run.trace.tool_calls;
        let reach = Reach::from_calls(calls, &self.classes);
        let mut scores = RunScores::default();
        scores.whole(&CORRECT_SELECTIONS, reach.selection().true_positives);
        if calls.is_empty() {
            scores.not_exercised("the run made no calls");
        }
        let about: (&[Target], &[Target]) = (&[F1, CORRECT_SELECTIONS], &[F1]);
        explain_selection(&reach, calls, &self.classes, about, &mut scores);
        scores
    }

    fn fold(&self, runs: &[Run<'_>], scored: Vec<RunScores>) -> Scores {
        let mut scores = Scores::from_runs(runs, scored);
        let pooled = self.pooled(runs);
        let f1 = (!runs.is_empty()).then(|| Number::Int(pooled.f1_percent().into()));
        scores.set(&F1, f1);
        let correct = pooled.true_positives;
        set_tokens(runs, correct, &mut scores);
        self.set_cost(runs, correct, &mut scores);
        scores.summary = summary(&scores);
        scores
    }

    fn evidence(&self, shown: &Shown<'_, '_>) -> Option<Evidence> {
        let limits = shown.asked(["lte", "lt"]);
        let limits = limits.map(|(target, most)| LimitShown {
            target: target.to_owned(),
            most,
        });
        let surface = surface_tokens(shown.listed.iter().copied());
        let of_run = |(run, surface): (&&Run<'_>, Result<usize, SurfaceUnknown>)| {
            let tokens = run.trace.conversation.tokens.totalled();
            TokensOfRun {
                run: run.number,
                surface: surface.ok().map(|tokens| tokens as u64),
                tokens: Tokens {
                    total: tokens.total,
                    ..Tokens::without_total(tokens.prompt, tokens.completion)
                },
            }
        };
        Some(Evidence::TokenEfficiency {
            runs: shown.listed.iter().zip(surface).map(of_run).collect(),
            limits: limits.collect(),
            left_out: shown.left_out(),
        })
    }

    /// The cost of each correct selection is open until the last run.
    fn outlook(
        &self,
        _target: &Target,
        _scores: &Scores,
        _runs: &[Run<'_>],
        _of: usize,
    ) -> Outlook {
        Outlook::Open
    }

    fn recording(&self) -> Recording<'_> {
        Recording {
            prices: Some(&self.prices),
            ..Recording::default()
        }
    }

    fn lint(&self, agent: &AgentFacts<'_>) -> Vec<Problem> {
        let models = || agent.models.iter().map(String::as_str);
        let is_unused =
            |model: &&str| !agent.models.is_empty() && models().all(|known| known != *model);
        let unused = self.prices.models().filter(is_unused).map(|model| {
            let problem = Problem::warning(format!(
                "no model of this agent is `{model}`: its price is never used"
            ));
            let known = || format!("its models are {}", some_of(models()));
            problem
                .at(agent.key_span)
                .help(did_you_mean(model, models(), known))
        });
        agent
            .unknown_tools(agent.named)
            .into_iter()
            .chain(unused)
            .collect()
    }
}

fn summary(scores: &Scores) -> Option<String> {
    let value = |target: &Target| scores.value(target.name);
    let f1 = value(&F1)?;
    let correct = value(&CORRECT_SELECTIONS)?;
    let letter = letter(f1.as_f64() as u32);
    let selections = count(correct.as_f64() as usize, "correct selection");
    let each = |target: &Target, mark: &str| {
        value(target)
            .map(|number| format!(" ({mark}{number} each)"))
            .unwrap_or_default()
    };
    let surface = match value(&TOOL_SURFACE_TOKENS) {
        Some(tokens) => format!(
            "tool surface {tokens} tokens{}",
            each(&TOKENS_PER_CORRECT, "")
        ),
        None => "tool surface not recorded".to_owned(),
    };
    let cost = match value(&COST) {
        Some(cost) => format!("cost ${cost}{}", each(&COST_PER_CORRECT, "$")),
        None => "cost unknown".to_owned(),
    };
    Some(format!(
        "F1 {f1}% ({letter}), {selections}, {surface}, {cost}"
    ))
}

/// The tokens of each run's tools. Runs of one recording share a catalogue, which is counted once.
fn surface_tokens<'s, 'r: 's>(
    runs: impl Iterator<Item = &'s Run<'r>>,
) -> Vec<Result<usize, SurfaceUnknown>> {
    let mut counted: Vec<(&[CatalogueTool], Option<usize>)> = Vec::new();
    let mut tokens_of = |catalogue: &'r [CatalogueTool]| {
        if let Some(&(_, tokens)) = counted
            .iter()
            .find(|(known, _)| std::ptr::eq(*known, catalogue))
        {
            return tokens;
        }
        let tokens = tool_surface_tokens(catalogue);
        counted.push((catalogue, tokens));
        tokens
    };
    runs.map(|run| match run.catalogue() {
        Some(catalogue) => tokens_of(catalogue).ok_or(SurfaceUnknown::NoTokenizer),
        None => Err(SurfaceUnknown::NoCatalogue),
    })
    .collect()
}

/// The value of each run, if all are known, and each distinct reason otherwise.
fn measured<T: Copy, E: PartialEq + Display>(
    scores: &mut Scores,
    runs: &[Run<'_>],
    values: &[Result<T, E>],
    about: &[Target],
) -> Option<Vec<T>> {
    let mut reasons: Vec<(&E, Vec<usize>)> = Vec::new();
    for (run, value) in runs.iter().zip(values) {
        let Err(reason) = value else { continue };
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, runs)) => runs.push(run.number),
            None => reasons.push((reason, vec![run.number])),
        }
    }
    for (reason, without) in reasons {
        let only_run = match without[..] {
            [run] if values.len() > 1 => Some(run),
            _ => None,
        };
        let finding = Finding::new(only_run, reason.to_string());
        scores.findings.push(finding.about(about));
    }
    if values.is_empty() {
        return None;
    }
    values
        .iter()
        .map(|value| value.as_ref().ok().copied())
        .collect()
}

/// To billionths of a dollar, so that a sum shows no rounding noise.
fn to_nano(dollars: f64) -> f64 {
    (dollars * 1e9).round() / 1e9
}

#[cfg(test)]
mod tests;
