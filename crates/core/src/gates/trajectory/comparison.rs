//! Which recorded calls match which expected ones? A lookup answers this if a name or an equal
//! value decides.

use super::recorded::RecordedCall;
use super::reference::Reference;
use super::shape::{ArgumentShape, Candidate};
use crate::hashed::HashMap;
use crate::json::hash_value;
use crate::pairing::assignment::Groups;
use crate::trace::WrittenNames;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// A reference and one run. Recorded calls that no expected call can distinguish form one group.
pub(super) struct Comparison<'c> {
    pub(super) reference: &'c Reference,
    pub(super) calls: Vec<RecordedCall<'c>>,
    pub(super) recorded: Groups,
    /// The tools that each expected group names, as numbers.
    tools_named: Vec<Vec<usize>>,
    /// The tool of each recorded group.
    tool_of: Vec<usize>,
    /// The hash of each recorded group's arguments, if an expected call needs it and they are JSON.
    hashes: Vec<Option<u128>>,
    /// The results of slow comparisons.
    known: RefCell<HashMap<(usize, usize), bool>>,
}

/// The key of a recorded call: no expected call distinguishes two calls with one key.
#[derive(PartialEq, Eq, Hash, Clone, Copy)]
struct CallKey {
    tool: usize,
    arguments: ArgumentsKey,
}

/// The key that distinguishes the arguments of two calls of one tool.
#[derive(PartialEq, Eq, Hash, Clone, Copy)]
enum ArgumentsKey {
    NotLookedAt,
    NotJson,
    Json(u128),
}

impl ArgumentsKey {
    fn new(call: &RecordedCall<'_>) -> Self {
        call.args.hash().map_or(Self::NotJson, Self::Json)
    }

    fn hash(self) -> Option<u128> {
        match self {
            Self::Json(hash) => Some(hash),
            Self::NotLookedAt | Self::NotJson => None,
        }
    }
}

impl<'c> Comparison<'c> {
    pub(super) fn new(reference: &'c Reference, calls: Vec<RecordedCall<'c>>) -> Self {
        let tools = Groups::collapse(calls.iter().map(|call| call.tool));
        let tools_named = tools_named(reference, &calls, &tools);
        let is_looked_at = tools_looked_at(reference, &tools_named, tools.counts().len());
        let keys: Vec<CallKey> = calls
            .iter()
            .enumerate()
            .map(|(at, call)| {
                let tool = tools.group_of(at);
                let arguments = if is_looked_at[tool] {
                    ArgumentsKey::new(call)
                } else {
                    ArgumentsKey::NotLookedAt
                };
                CallKey { tool, arguments }
            })
            .collect();
        let recorded = Groups::collapse(&keys);
        let (tool_of, hashes) = recorded
            .representatives()
            .map(|call| (keys[call].tool, keys[call].arguments.hash()))
            .unzip();
        Self {
            reference,
            calls,
            recorded,
            tools_named,
            tool_of,
            hashes,
            known: RefCell::default(),
        }
    }

    /// Returns true if the recorded call at the second index is to the tool of the expected call at the first.
    pub(super) fn is_to(&self, expected: usize, recorded: usize) -> bool {
        self.tools_of_expected(expected)
            .contains(&self.tool_of_recorded(recorded))
    }

    /// The tools that an expected call names.
    pub(super) fn tools_of_expected(&self, expected: usize) -> &[usize] {
        &self.tools_named[self.reference.groups.group_of(expected)]
    }

    /// The tool of a recorded call.
    pub(super) fn tool_of_recorded(&self, recorded: usize) -> usize {
        self.tool_of[self.recorded.group_of(recorded)]
    }

    /// The number of tools that were called.
    pub(super) fn tools(&self) -> usize {
        self.tool_of.iter().max().map_or(0, |&tool| tool + 1)
    }

    /// Returns true if the recorded call at the second index fits the expected call at the first.
    pub(super) fn fits(&self, expected: usize, recorded: usize) -> bool {
        let group = self.recorded.group_of(recorded);
        let wanted = self.reference.groups.group_of(expected);
        if !self.tools_named[wanted].contains(&self.tool_of[group]) {
            return false;
        }
        match &self.reference.calls[expected].shape {
            ArgumentShape::Any => true,
            ArgumentShape::Exact { hash, .. } => self.hashes[group] == Some(*hash),
            shape => *self
                .known
                .borrow_mut()
                .entry((wanted, group))
                .or_insert_with(|| {
                    shape.fits(&Candidate::new(
                        self.calls[recorded].args,
                        self.hashes[group],
                    ))
                }),
        }
    }

    /// For each expected group the recorded groups that fit it, in order.
    pub(super) fn candidates(&self) -> Vec<Vec<usize>> {
        let mut groups_of_tool = vec![Vec::new(); self.tools()];
        for (group, &tool) in self.tool_of.iter().enumerate() {
            groups_of_tool[tool].push(group);
        }
        let mut candidates = vec![Vec::new(); self.tools_named.len()];
        let mut sieves: BTreeMap<usize, Sieve<'_>> = BTreeMap::new();
        for (wanted, call) in self.reference.groups.representatives().enumerate() {
            let shape = &self.reference.calls[call].shape;
            for &tool in &self.tools_named[wanted] {
                if shape.is_any() {
                    candidates[wanted].extend(&groups_of_tool[tool]);
                } else {
                    sieves.entry(tool).or_default().add(wanted, shape);
                }
            }
        }
        for (tool, sieve) in sieves {
            for &group in &groups_of_tool[tool] {
                let call = self.recorded.members(group)[0];
                let candidate = Candidate::new(self.calls[call].args, self.hashes[group]);
                sieve.for_each_fitting(&candidate, |wanted| candidates[wanted].push(group));
            }
        }
        for groups in &mut candidates {
            groups.sort_unstable();
            groups.dedup();
        }
        candidates
    }
}

/// The recorded tools that each expected group names.
fn tools_named(
    reference: &Reference,
    calls: &[RecordedCall<'_>],
    tools: &Groups,
) -> Vec<Vec<usize>> {
    let expected = reference
        .groups
        .representatives()
        .map(|call| reference.calls[call].name.as_str());
    let names = WrittenNames::new(expected);
    let mut named: Vec<Vec<usize>> = vec![Vec::new(); reference.groups.counts().len()];
    for (tool, call) in tools.representatives().enumerate() {
        for group in names.meaning(calls[call].tool) {
            named[group].push(tool);
        }
    }
    named
}

/// For each recorded tool, whether an expected call looks at its arguments.
fn tools_looked_at(reference: &Reference, tools_named: &[Vec<usize>], tools: usize) -> Vec<bool> {
    let mut is_looked_at = vec![false; tools];
    for (named, call) in tools_named.iter().zip(reference.groups.representatives()) {
        if !reference.calls[call].shape.is_any() {
            for &tool in named {
                is_looked_at[tool] = true;
            }
        }
    }
    is_looked_at
}

/// Shapes, each with its expected group.
type WantedShapes<'c> = Vec<(usize, &'c ArgumentShape)>;

/// The shapes for one tool, indexed so that few are tried on each call: `exact` by the whole value,
/// `subset` by one of its fields.
#[derive(Default)]
struct Sieve<'c> {
    by_value: HashMap<u128, WantedShapes<'c>>,
    by_bags: HashMap<u128, WantedShapes<'c>>,
    by_field: BTreeMap<&'c str, HashMap<u128, WantedShapes<'c>>>,
    others: WantedShapes<'c>,
}

impl<'c> Sieve<'c> {
    fn add(&mut self, wanted: usize, shape: &'c ArgumentShape) {
        let shapes = match shape {
            ArgumentShape::OneOf(shapes) => {
                for shape in shapes {
                    self.add(wanted, shape);
                }
                return;
            }
            ArgumentShape::Exact { hash, .. } => self.by_value.entry(*hash).or_default(),
            ArgumentShape::ExactBags { hash, .. } => self.by_bags.entry(*hash).or_default(),
            ArgumentShape::Subset(Value::Object(fields)) => {
                match fields
                    .iter()
                    .find(|(_, value)| !value.is_array() && !value.is_object())
                {
                    Some((key, value)) => self
                        .by_field
                        .entry(key)
                        .or_default()
                        .entry(hash_value(value))
                        .or_default(),
                    None => &mut self.others,
                }
            }
            _ => &mut self.others,
        };
        shapes.push((wanted, shape));
    }

    /// Calls `each` with every expected group that accepts these arguments, some twice.
    fn for_each_fitting(&self, candidate: &Candidate<'_>, mut found: impl FnMut(usize)) {
        let by_value = candidate.hash().and_then(|hash| self.by_value.get(&hash));
        let by_bags = if self.by_bags.is_empty() {
            None
        } else {
            candidate
                .hash_of_bags()
                .and_then(|hash| self.by_bags.get(&hash))
        };
        let by_field = self.by_field.iter().filter_map(|(key, of_value)| {
            let value = candidate.value()?.get(key)?;
            of_value.get(&hash_value(value))
        });
        for (wanted, shape) in by_value
            .into_iter()
            .chain(by_bags)
            .chain(by_field)
            .flatten()
            .chain(&self.others)
        {
            if shape.fits(candidate) {
                found(*wanted);
            }
        }
    }
}
