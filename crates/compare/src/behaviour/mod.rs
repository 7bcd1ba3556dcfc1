//! How does the behaviour of a row's runs differ: which facts held in every run before and no
//! longer hold, and what is tolerated?

mod broken;
mod fact;
mod order;
mod tolerated;
mod tool_names;

pub(crate) use fact::{Fact, RunFacts, called};

use crate::baseline::{Difference, DifferenceClass, TestBaseline};
use crate::comparison::support::{MissingRuns, Support, class_of_invariant};
use order::closest_orders;
use std::collections::BTreeSet;
use tool_names::ToolNames;

/// The differences in behaviour of the runs of a row.
#[derive(Debug, Default)]
pub(crate) struct Behaviour {
    /// The number of facts that held in every earlier run.
    pub(crate) invariants: usize,
    /// The number of facts that already varied before. They get no verdict.
    pub(crate) varied: usize,
    /// The differences, the worst first.
    pub(crate) differences: Vec<Difference>,
}

/// Compares the earlier and the current behaviour of a row's runs.
pub(crate) fn compare_behaviour(before: &TestBaseline, after: &TestBaseline) -> Behaviour {
    let names = ToolNames::new(before, after);
    let sides = Sides {
        before: names.runs(before),
        after: names.runs(after),
        same_expect: before.expect == after.expect,
    };
    let mut behaviour = sides.invariants();
    behaviour
        .differences
        .extend(tolerated::find(&sides.before, &sides.after));
    behaviour
        .differences
        .sort_by_key(|one| std::cmp::Reverse(one.class));
    behaviour
}

/// The facts about the runs of a row on both sides.
struct Sides<'r> {
    before: Vec<RunFacts<'r>>,
    after: Vec<RunFacts<'r>>,
    same_expect: bool,
}

/// An invariant that no longer holds, or holds less often.
struct Lost<'f> {
    fact: &'f Fact,
    class: DifferenceClass,
    before: Support,
    now: Support,
}

impl Sides<'_> {
    /// The facts that held in every run before, and the lost ones.
    fn invariants(&self) -> Behaviour {
        let candidates = self.candidates();
        let mut behaviour = Behaviour::default();
        let mut lost = Vec::new();
        for fact in &candidates {
            let (before, now) = (fact.support(&self.before), fact.support(&self.after));
            if !before.is_whole() {
                behaviour.varied += 1;
                continue;
            }
            behaviour.invariants += 1;
            let class = class_of_invariant(before, now);
            if class != DifferenceClass::Pass {
                lost.push(Lost {
                    fact,
                    class,
                    before,
                    now,
                });
            }
        }
        let (orders, others): (Vec<_>, Vec<_>) = without_consequences(lost)
            .into_iter()
            .partition(|lost| matches!(lost.fact, Fact::Before { .. }));
        let orders = closest_orders(&candidates, orders);
        behaviour.differences = others
            .iter()
            .chain(&orders)
            .map(|lost| lost.difference(&self.after))
            .collect();
        behaviour
    }

    /// The facts that may have held in every earlier run. Facts that others depend on come first.
    fn candidates(&self) -> Vec<Fact> {
        let mut all: BTreeSet<Fact> = self.before.iter().flat_map(Fact::all_of).collect();
        if !self.same_expect {
            all.remove(&Fact::Passes);
        }
        let (before, now) = (called(&self.before), called(&self.after));
        let new_tools = now.difference(&before);
        all.extend(new_tools.map(|tool| Fact::Avoids((*tool).to_owned())));
        all.extend(order::orders(&self.before, &now));
        let mut all: Vec<Fact> = all.into_iter().collect();
        all.sort_by_key(|fact| matches!(fact, Fact::Value { .. }));
        all
    }
}

/// Omits facts that cannot hold because a fact that they depend on is lost.
fn without_consequences(lost: Vec<Lost<'_>>) -> Vec<Lost<'_>> {
    let mut broken = BTreeSet::new();
    let mut causes = Vec::new();
    for one in lost {
        let is_consequence = one
            .fact
            .above()
            .is_some_and(|above| broken.contains(&above));
        broken.extend(one.fact.place());
        if !is_consequence {
            causes.push(one);
        }
    }
    causes
}

impl Lost<'_> {
    fn difference(&self, now: &[RunFacts<'_>]) -> Difference {
        Difference {
            class: self.class,
            kind: self.fact.kind(),
            message: in_part(self.now) + &self.fact.broken_in_words(now),
            support: Some([self.before, self.now]),
            missing_runs: MissingRuns::between(self.before.of, self.now.of),
        }
    }
}

/// The number of runs in which it no longer holds, if it holds in others.
fn in_part(now: Support) -> String {
    if now.held == 0 {
        String::new()
    } else {
        format!("in {} of {} runs ", now.of - now.held, now.of)
    }
}
