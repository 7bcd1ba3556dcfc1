//! Which of the things that held in every run before hold no more?

use super::comparison::{
    BaselineSide, Class, Comparison, Difference, MissingRuns, Support, TestComparison,
};
use super::fact::{Fact, RunFacts};
use super::tool_names::ToolNames;
use super::{Baseline, TestBaseline, number, tolerated};
use mcptest_core::gates::Gates;
use mcptest_stats::fisher_exact;
use std::collections::{BTreeMap, BTreeSet};

/// Where a thing still holds in some runs, the loss must be as unlikely as this: a test has dozens of such things.
const UNLIKELY: f64 = 0.01;

/// Compares two baselines, each with the name of its file; `gates` say which way their numbers are better.
pub fn compare(
    (before, before_file): (&Baseline, &str),
    (after, after_file): (&Baseline, &str),
    gates: Gates,
) -> Comparison {
    let side = |one: &Baseline, file: &str| BaselineSide {
        file: file.to_owned(),
        model: one.model.clone(),
    };
    let other = |test: &TestBaseline| after.test(&test.suite, &test.name);
    let pairs: Vec<_> = before
        .tests
        .iter()
        .filter_map(|test| Some((test, other(test)?)))
        .collect();
    let mut comparison = compare_pairs(
        (side(before, before_file), side(after, after_file)),
        &pairs,
        gates,
    );
    let alone = |tests: &[TestBaseline], among: &Baseline| {
        let alone = tests
            .iter()
            .filter(|test| among.test(&test.suite, &test.name).is_none());
        alone
            .map(|test| format!("{} · {}", test.suite, test.name))
            .collect()
    };
    comparison.only_before = alone(&before.tests, after);
    comparison.only_after = alone(&after.tests, before);
    comparison
}

/// Compares one test with what its runs came to before.
pub fn compare_test(before: &TestBaseline, after: &TestBaseline, gates: Gates) -> Comparison {
    let side = || BaselineSide {
        file: String::new(),
        model: None,
    };
    compare_pairs((side(), side()), &[(before, after)], gates)
}

fn compare_pairs(
    sides: (BaselineSide, BaselineSide),
    pairs: &[(&TestBaseline, &TestBaseline)],
    gates: Gates,
) -> Comparison {
    let is_comparable =
        |(before, after): &&(&TestBaseline, &TestBaseline)| why_not(before, after).is_none();
    let comparable: Vec<_> = pairs.iter().filter(is_comparable).copied().collect();
    let tests = pairs
        .iter()
        .map(|(before, after)| of_test(before, after))
        .collect();
    Comparison::of(sides, tests, number::shifts(&comparable, gates))
}

/// Why two tests of one name say nothing about each other.
fn why_not(before: &TestBaseline, after: &TestBaseline) -> Option<String> {
    if before.question != after.question {
        let why = "the agent is asked something else now (its prompts, servers or parameters); \
                   capture both sides from the same suite";
        return Some(why.to_owned());
    }
    let is_without = before.runs.is_empty() || after.runs.is_empty();
    is_without.then(|| "one side has no run that can be judged".to_owned())
}

fn of_test(before: &TestBaseline, after: &TestBaseline) -> TestComparison {
    let mut test = TestComparison {
        suite: before.suite.clone(),
        name: before.name.clone(),
        verdict: Class::Pass,
        runs_before: before.runs.len(),
        runs_after: after.runs.len(),
        invariants: 0,
        varied: 0,
        differences: Vec::new(),
        not_compared: why_not(before, after),
    };
    if test.not_compared.is_none() {
        let names = ToolNames::new(before, after);
        let facts = |test| -> Vec<RunFacts<'_>> { names.runs(test) };
        let sides = Sides {
            before: facts(before),
            after: facts(after),
            same_expect: before.expect == after.expect,
        };
        sides.find(&mut test);
        test.differences
            .extend(tolerated::find(&sides.before, &sides.after));
        test.differences
            .sort_by_key(|one| std::cmp::Reverse(one.class));
        test.verdict = test
            .differences
            .first()
            .map_or(Class::Pass, |worst| worst.class);
    }
    test
}

struct Sides<'r> {
    before: Vec<RunFacts<'r>>,
    after: Vec<RunFacts<'r>>,
    same_expect: bool,
}

impl Sides<'_> {
    fn find(&self, test: &mut TestComparison) {
        let mut broken = BTreeSet::new();
        let mut turned_orders = Vec::new();
        let candidates = self.candidates();
        for fact in &candidates {
            let (before, now) = (support(fact, &self.before), support(fact, &self.after));
            if before.held < before.of {
                test.varied += 1;
                continue;
            }
            test.invariants += 1;
            let is_said = fact.above().is_some_and(|above| broken.contains(&above));
            let class = class(before, now);
            if class == Class::Pass {
                continue;
            }
            broken.extend(fact.place());
            if is_said {
                continue;
            }
            let difference = Difference {
                class,
                kind: fact.kind(),
                message: in_part(now) + &fact.broken_in_words(&self.after),
                support: Some([before, now]),
                missing_runs: MissingRuns::of(before, now),
            };
            match fact {
                Fact::Before {
                    first: one,
                    then: other,
                } => turned_orders.push(TurnedOrder {
                    pair: (one, other),
                    difference,
                }),
                _ => test.differences.push(difference),
            }
        }
        test.differences
            .extend(closest_orders(&candidates, turned_orders));
    }

    /// What may have held in every run before, what others rest on first.
    fn candidates(&self) -> Vec<Fact> {
        let mut all: BTreeSet<Fact> = self.before.iter().flat_map(Fact::all_of).collect();
        if !self.same_expect {
            all.remove(&Fact::Passes);
        }
        let called = |runs: &[RunFacts<'_>]| -> BTreeSet<String> {
            runs.iter()
                .flat_map(|run| &run.order)
                .map(|tool| (*tool).to_owned())
                .collect()
        };
        let (before, now) = (called(&self.before), called(&self.after));
        all.extend(now.difference(&before).cloned().map(Fact::Avoids));
        all.extend(self.orders(&now));
        let mut all: Vec<Fact> = all.into_iter().collect();
        all.sort_by_key(|fact| matches!(fact, Fact::Value { .. }));
        all
    }

    /// Every pair of tools that were called in every run, the one in an earlier turn than the other. Neighbours alone
    /// would not do: tools that are called in parallel, or now here and now there, stand between them.
    fn orders(&self, now: &BTreeSet<String>) -> Vec<Fact> {
        let Some(first) = self.before.first() else {
            return Vec::new();
        };
        let is_always_called = |tool: &&&str| {
            now.contains(**tool) && self.before.iter().all(|run| run.first.contains_key(**tool))
        };
        let tools: Vec<&str> = first
            .order
            .iter()
            .filter(is_always_called)
            .copied()
            .collect();
        let is_always_earlier = |one: &str, other: &str| {
            self.before
                .iter()
                .all(|run| run.first.get(one) < run.first.get(other))
        };
        let mut orders = Vec::new();
        for (at, one) in tools.iter().enumerate() {
            let later = tools[at + 1..].iter();
            orders.extend(
                later
                    .filter(|other| is_always_earlier(one, other))
                    .map(|other| Fact::Before {
                        first: (*one).to_owned(),
                        then: (*other).to_owned(),
                    }),
            );
        }
        orders
    }
}

/// Two tools whose order was turned round.
struct TurnedOrder<'f> {
    pair: (&'f str, &'f str),
    difference: Difference,
}

/// The orders that were turned round, each only if no tool between its two explains it: one tool that moves across nine
/// others is one difference.
fn closest_orders(candidates: &[Fact], turned: Vec<TurnedOrder<'_>>) -> Vec<Difference> {
    let mut later_than: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for fact in candidates {
        if let Fact::Before {
            first: one,
            then: other,
        } = fact
        {
            later_than.entry(one).or_default().insert(other);
        }
    }
    let classes: BTreeMap<(&str, &str), Class> = turned
        .iter()
        .map(|order| (order.pair, order.difference.class))
        .collect();
    let is_explained = |order: &TurnedOrder<'_>| {
        let (one, other) = order.pair;
        let is_as_bad = |pair| {
            classes
                .get(&pair)
                .is_some_and(|&class| class >= order.difference.class)
        };
        let is_before_other = |tool: &str| {
            later_than
                .get(tool)
                .is_some_and(|later| later.contains(other))
        };
        let mut between = later_than[one].iter().filter(|tool| is_before_other(tool));
        between.any(|&tool| is_as_bad((one, tool)) || is_as_bad((tool, other)))
    };
    let is_closest: Vec<bool> = turned.iter().map(|order| !is_explained(order)).collect();
    turned
        .into_iter()
        .zip(is_closest)
        .filter_map(|(order, is_closest)| is_closest.then_some(order.difference))
        .collect()
}

/// What held in every run before is broken when it holds in none now, or in so few that chance hardly explains it. It
/// takes enough runs on each side in which it can hold: an agent differs from itself in nearly half of the pairs of
/// single runs.
fn class(before: Support, now: Support) -> Class {
    if now.held == now.of {
        return Class::Pass;
    }
    if MissingRuns::of(before, now).is_some() {
        return Class::Undecided;
    }
    let lost = |support: Support| (support.of - support.held) as u64;
    let table = fisher_exact(now.held as u64, lost(now), before.held as u64, lost(before));
    let is_unlikely = || table.is_ok_and(|table| table.p_less <= UNLIKELY);
    if now.held == 0 || is_unlikely() {
        Class::Fail
    } else {
        Class::Undecided
    }
}

/// In how many runs it holds no more, where it holds in others.
fn in_part(now: Support) -> String {
    if now.held == 0 {
        String::new()
    } else {
        format!("in {} of {} runs ", now.of - now.held, now.of)
    }
}

fn support(fact: &Fact, runs: &[RunFacts<'_>]) -> Support {
    let said: Vec<bool> = runs.iter().filter_map(|run| fact.holds(run)).collect();
    Support {
        held: said.iter().filter(|holds| **holds).count(),
        of: said.len(),
    }
}
