//! How many classes did the calls of a run reach, and how many calls were in no class?

use super::Class;
use crate::pairing::assignment::{Groups, match_grouped};
use crate::trace::{Call, Tool, WrittenNames};
use serde_json::Value;
use std::collections::BTreeSet;

/// The counts behind precision, recall and F1; counts of several runs add up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Selection {
    /// Classes that a call reached.
    pub true_positives: usize,
    /// Calls in no class.
    pub false_positives: usize,
    /// Classes that no call reached.
    pub false_negatives: usize,
}

impl Selection {
    /// `TP / (TP + FP)`; 1 without classes and calls, otherwise 0 for 0/0.
    pub fn precision(&self) -> f64 {
        self.fraction(
            self.true_positives,
            self.true_positives + self.false_positives,
        )
    }

    /// `TP / (TP + FN)`; 1 without classes and calls, otherwise 0 for 0/0.
    pub fn recall(&self) -> f64 {
        self.fraction(
            self.true_positives,
            self.true_positives + self.false_negatives,
        )
    }

    /// `2 TP / (2 TP + FP + FN)`; 1 without classes and calls.
    pub fn f1(&self) -> f64 {
        let (part, whole) = self.f1_parts();
        self.fraction(part, whole)
    }

    /// [`Self::precision`] in whole percent, floored.
    pub fn precision_percent(&self) -> u32 {
        self.percent(
            self.true_positives,
            self.true_positives + self.false_positives,
        )
    }

    /// [`Self::recall`] in whole percent, floored.
    pub fn recall_percent(&self) -> u32 {
        self.percent(
            self.true_positives,
            self.true_positives + self.false_negatives,
        )
    }

    /// [`Self::f1`] in whole percent, floored.
    pub fn f1_percent(&self) -> u32 {
        let (part, whole) = self.f1_parts();
        self.percent(part, whole)
    }

    fn f1_parts(&self) -> (usize, usize) {
        let twice = 2 * self.true_positives;
        (twice, twice + self.false_positives + self.false_negatives)
    }

    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn fraction(&self, part: usize, whole: usize) -> f64 {
        match whole {
            0 => f64::from(u8::from(self.is_empty())),
            _ => part as f64 / whole as f64,
        }
    }

    fn percent(&self, part: usize, whole: usize) -> u32 {
        match whole {
            0 if self.is_empty() => 100,
            0 => 0,
            _ => (100 * part as u128 / whole as u128) as u32,
        }
    }
}

impl std::ops::AddAssign for Selection {
    fn add_assign(&mut self, other: Self) {
        self.true_positives += other.true_positives;
        self.false_positives += other.false_positives;
        self.false_negatives += other.false_negatives;
    }
}

/// Scores recorded calls (objects with a `name` and perhaps a `server`) against classes.
pub fn score_selection(calls: &[Value], classes: &[Class]) -> Selection {
    Reach::new(
        &calls.iter().map(Tool::from_json).collect::<Vec<_>>(),
        classes,
    )
    .selection()
}

/// The classes that one run reached.
pub(crate) struct Reach {
    classes: usize,
    /// Classes without a call.
    pub(crate) unreached: Vec<usize>,
    /// Calls in no class.
    pub(super) strays: Vec<usize>,
}

impl Reach {
    /// The classes that these calls reach. Each class takes one call, so that as many classes as
    /// possible have one.
    pub(crate) fn from_calls(calls: &[Call<'_>], classes: &[Class]) -> Self {
        Self::new(&calls.iter().map(Tool::from).collect::<Vec<_>>(), classes)
    }

    fn new(tools: &[Tool<'_>], classes: &[Class]) -> Self {
        let groups = Groups::collapse(tools);
        let members = Members::new(classes);
        let mut edges: Vec<Vec<usize>> = vec![Vec::new(); classes.len()];
        let mut strays = Vec::new();
        for (group, first) in groups.representatives().enumerate() {
            let of = members.classes_of(tools[first]);
            for &class in &of {
                edges[class].push(group);
            }
            if of.is_empty() {
                strays.extend_from_slice(groups.members(group));
            }
        }
        strays.sort_unstable();
        let matching = match_grouped(&vec![1; classes.len()], groups.counts(), &edges);
        let unreached = (0..classes.len())
            .filter(|&class| matching.unmatched_left[class] > 0)
            .collect();
        Self {
            classes: classes.len(),
            unreached,
            strays,
        }
    }

    pub(crate) fn selection(&self) -> Selection {
        Selection {
            true_positives: self.classes - self.unreached.len(),
            false_positives: self.strays.len(),
            false_negatives: self.unreached.len(),
        }
    }
}

/// The members of all classes, found by the tools they mean.
pub(crate) struct Members<'c> {
    names: WrittenNames<'c>,
    class_of: Vec<usize>,
}

impl<'c> Members<'c> {
    pub(crate) fn new(classes: &'c [Class]) -> Self {
        let members = || {
            let of_class =
                |(at, class): (usize, &'c Class)| class.members.iter().map(move |name| (at, name));
            classes.iter().enumerate().flat_map(of_class)
        };
        let names = WrittenNames::new(members().map(|(_, name)| name.as_str()));
        Self {
            names,
            class_of: members().map(|(class, _)| class).collect(),
        }
    }

    /// The classes of a tool, each once.
    pub(crate) fn classes_of(&self, tool: Tool<'_>) -> BTreeSet<usize> {
        self.names
            .meaning(tool)
            .into_iter()
            .map(|member| self.class_of[member])
            .collect()
    }
}
