//! Which of the things that held in every run before hold no more?

use super::comparison::{BaselineSide, Class, Comparison, Difference, Support, TestComparison};
use super::fact::{Fact, RunFacts};
use super::{Baseline, TestBaseline, number, tolerated};
use crate::eval::stats::fisher_exact;
use crate::order::SmallSort;
use std::collections::BTreeSet;

/// Where a thing still holds in some runs, the loss must be as unlikely as this: a test has dozens of such things.
const UNLIKELY: f64 = 0.01;

/// Compares two baselines, each with the name of its file.
pub fn compare(
    (before, before_file): (&Baseline, &str),
    (after, after_file): (&Baseline, &str),
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
    let mut comparison =
        compare_pairs((side(before, before_file), side(after, after_file)), &pairs);
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
pub fn compare_test(before: &TestBaseline, after: &TestBaseline) -> Comparison {
    let side = || BaselineSide {
        file: String::new(),
        model: None,
    };
    compare_pairs((side(), side()), &[(before, after)])
}

fn compare_pairs(
    sides: (BaselineSide, BaselineSide),
    pairs: &[(&TestBaseline, &TestBaseline)],
) -> Comparison {
    let is_comparable =
        |(before, after): &&(&TestBaseline, &TestBaseline)| why_not(before, after).is_none();
    let comparable: Vec<_> = pairs.iter().filter(is_comparable).copied().collect();
    let tests = pairs
        .iter()
        .map(|(before, after)| of_test(before, after))
        .collect();
    Comparison::of(sides, tests, number::shifts(&comparable))
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
        let sides = Sides {
            before: before.runs.iter().map(RunFacts::of).collect(),
            after: after.runs.iter().map(RunFacts::of).collect(),
            same_expect: before.expect == after.expect,
        };
        sides.find(&mut test);
        test.differences
            .extend(tolerated::find(&sides.before, &sides.after));
        test.differences
            .small_sort_by_key(|one| std::cmp::Reverse(one.class));
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
        for fact in self.candidates() {
            let (before, now) = (support(&fact, &self.before), support(&fact, &self.after));
            if before.held < before.of {
                test.varied += 1;
                continue;
            }
            test.invariants += 1;
            let is_said = fact.above().is_some_and(|above| broken.contains(&above));
            let class = self.class(&fact, before, now);
            if class == Class::Pass {
                continue;
            }
            if !is_said {
                test.differences.push(Difference {
                    class,
                    kind: fact.kind(),
                    message: in_part(now) + &fact.broken_in_words(&self.after),
                    support: Some([before, now]),
                });
            }
            broken.extend(fact.place());
        }
    }

    /// What held in every run before is broken when it holds in none now, or in so few that chance hardly explains it.
    /// One run among several in which it could hold is not enough.
    fn class(&self, fact: &Fact, before: Support, now: Support) -> Class {
        if now.held == now.of {
            return Class::Pass;
        }
        let is_enough = |support: Support, runs: usize| support.of > 1 || runs == 1;
        let is_seen = is_enough(before, self.before.len()) && is_enough(now, self.after.len());
        let has_two = before.of > 1 && now.of > 1;
        let is_gone = now.held == 0 && is_seen && (has_two || !fact.needs_two_runs());
        let lost = |support: Support| (support.of - support.held) as u64;
        let table = fisher_exact(now.held as u64, lost(now), before.held as u64, lost(before));
        let is_unlikely = || table.is_ok_and(|table| table.p_less <= UNLIKELY);
        if is_gone || is_unlikely() {
            Class::Fail
        } else {
            Class::Undecided
        }
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
        all.small_sort_by_key(|fact| matches!(fact, Fact::Value { .. }));
        all
    }

    /// The tools that were called in every run, each before the next one: any other order turns one of these round.
    fn orders(&self, now: &BTreeSet<String>) -> Vec<Fact> {
        let Some(first) = self.before.first() else {
            return Vec::new();
        };
        let is_always_called = |tool: &&&str| {
            now.contains(**tool) && self.before.iter().all(|run| run.first.contains_key(**tool))
        };
        let order: Vec<&&str> = first.order.iter().filter(is_always_called).collect();
        let is_earlier = |pair: &&[&&str]| {
            self.before
                .iter()
                .all(|run| run.first.get(*pair[0]) < run.first.get(*pair[1]))
        };
        let pairs = order.windows(2).filter(is_earlier);
        pairs
            .map(|pair| Fact::Before((*pair[0]).to_owned(), (*pair[1]).to_owned()))
            .collect()
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
