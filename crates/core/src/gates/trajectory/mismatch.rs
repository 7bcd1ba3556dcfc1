//! Which mismatch is at each place where a run is not as expected?

use super::comparison::Comparison;
use super::near_miss::NearMisses;
use super::reference::MatchMode;
use super::trace_validation::TraceMismatch;
use super::verdict::{Assignment, TraceVerdict};
use super::wording;
use crate::report::AssertionDiff;
use std::ops::Range;

/// Every mismatch in order, found lazily. `most_looks` bounds the search for near misses.
pub(super) fn mismatches<'v>(
    comparison: &'v Comparison<'v>,
    verdict: &'v TraceVerdict,
    most_looks: usize,
) -> Box<dyn Iterator<Item = TraceMismatch> + 'v> {
    match verdict {
        TraceVerdict::InStep(positions) => {
            Box::new(positions.iter().map(|&at| comparison.at_position(at)))
        }
        TraceVerdict::InOrder(partners) => {
            Box::new(comparison.missing_in_order(partners, most_looks))
        }
        TraceVerdict::Matched(assignment) => {
            let found = comparison.without_partner(assignment, most_looks);
            Box::new(found.map(|unmatched| unmatched.mismatch))
        }
        TraceVerdict::Whole { assignment, .. } => Box::new(
            comparison
                .mismatches_of_whole(assignment, most_looks)
                .into_iter(),
        ),
    }
}

/// A call without a partner.
pub(super) struct Unmatched {
    /// True if other calls need all of its candidates.
    pub(super) has_rivals: bool,
    pub(super) mismatch: TraceMismatch,
}

impl Comparison<'_> {
    /// An expected call without a recorded one.
    pub(super) fn missing(&self, expected: usize) -> TraceMismatch {
        let reason = format!("expected call {} is missing", self.say_expected(expected));
        TraceMismatch {
            expected_index: expected,
            recorded_index: None,
            diffs: Vec::new(),
            reason,
        }
    }

    /// A recorded call without an expected one.
    pub(super) fn extra(&self, recorded: usize) -> TraceMismatch {
        self.unexpected(
            recorded,
            format!("call {} is extra", self.say_recorded(recorded)),
        )
    }

    /// A recorded call that replaces an expected one and differs from it.
    pub(super) fn differs(&self, expected: usize, recorded: usize) -> TraceMismatch {
        let elsewhere = if expected + 1 == self.calls[recorded].number {
            String::new()
        } else {
            format!(" (expected call {})", expected + 1)
        };
        let mut mismatch = if self.is_to(expected, recorded) {
            self.differs_in_arguments(expected, recorded)
        } else {
            self.is_to_another_tool(expected, recorded)
        };
        mismatch.reason += &elsewhere;
        mismatch
    }

    fn differs_in_arguments(&self, expected: usize, recorded: usize) -> TraceMismatch {
        let args = self.calls[recorded].args;
        let shape = &self.reference.calls[expected].shape;
        let diffs = shape.diff(args);
        let reason = format!(
            "call {} {}{}",
            self.say_recorded(recorded),
            wording::differences(&diffs, args),
            wording::nearest(shape, args)
        );
        TraceMismatch {
            expected_index: expected,
            recorded_index: Some(recorded),
            diffs,
            reason,
        }
    }

    fn is_to_another_tool(&self, expected: usize, recorded: usize) -> TraceMismatch {
        let call = &self.calls[recorded];
        let wanted = self.reference.calls[expected].name.as_str();
        let name = match call.tool.server {
            Some(server) if wanted.ends_with(call.tool.name) => {
                format!("{server}.{}", call.tool.name)
            }
            _ => call.tool.name.to_owned(),
        };
        let reason = format!("call {} is `{name}`, expected `{wanted}`", call.number);
        let diff = AssertionDiff {
            pointer: "/name".to_owned(),
            expected: wanted.into(),
            actual: name.into(),
            absent: None,
        };
        TraceMismatch {
            expected_index: expected,
            recorded_index: Some(recorded),
            diffs: vec![diff],
            reason,
        }
    }

    /// The number of differing arguments of a call to the right tool.
    fn differences(&self, expected: usize, recorded: usize) -> usize {
        self.reference.calls[expected]
            .shape
            .diff(self.calls[recorded].args)
            .len()
    }

    /// An expected call with its number, tool and arguments.
    pub(super) fn say_expected(&self, expected: usize) -> String {
        let call = &self.reference.calls[expected];
        format!(
            "{} `{}`{}",
            expected + 1,
            call.name,
            wording::shape(&call.shape)
        )
    }

    /// A recorded call with its number and tool.
    pub(super) fn say_recorded(&self, recorded: usize) -> String {
        format!(
            "{} `{}`",
            self.calls[recorded].number, self.calls[recorded].tool.name
        )
    }

    fn unexpected(&self, recorded: usize, reason: String) -> TraceMismatch {
        let (expected_index, recorded_index) = (self.reference.calls.len(), Some(recorded));
        TraceMismatch {
            expected_index,
            recorded_index,
            diffs: Vec::new(),
            reason,
        }
    }

    fn at_position(&self, at: usize) -> TraceMismatch {
        if at >= self.calls.len() {
            self.missing(at)
        } else if at >= self.reference.calls.len() {
            self.extra(at)
        } else {
            self.differs(at, at)
        }
    }

    fn missing_in_order<'v>(
        &'v self,
        partners: &'v [Option<usize>],
        most_looks: usize,
    ) -> impl Iterator<Item = TraceMismatch> + 'v {
        let mut near_misses = self.near_recorded(partners, most_looks);
        let mut ends: Vec<usize> = partners
            .iter()
            .rev()
            .scan(self.calls.len(), |end, partner| {
                *end = partner.unwrap_or(*end);
                Some(*end)
            })
            .collect();
        let mut from = 0;
        partners
            .iter()
            .enumerate()
            .filter_map(move |(expected, partner)| {
                let to = ends.pop().unwrap_or_default();
                if let Some(partner) = partner {
                    from = partner + 1;
                    return None;
                }
                Some(self.missing_between(expected, from..to, &mut near_misses))
            })
    }

    /// An expected call without a partner between its neighbours: a differing call there, or the
    /// matching call at a wrong place.
    fn missing_between(
        &self,
        expected: usize,
        place: Range<usize>,
        near_misses: &mut NearMisses,
    ) -> TraceMismatch {
        let tools = self.tools_of_expected(expected);
        let difference = |call: usize| self.differences(expected, call);
        if let Some(call) = near_misses.take(tools, place.clone(), difference) {
            return self.differs(expected, call);
        }
        let mut missing = self.missing(expected);
        let elsewhere = near_misses
            .free(tools, 0..self.calls.len())
            .find(|&call| self.fits(expected, call));
        if let Some(call) = elsewhere {
            let when = if call < place.start { "early" } else { "late" };
            missing.reason += &format!(": call {} comes too {when}", self.say_recorded(call));
        }
        missing
    }

    fn near_recorded(&self, partners: &[Option<usize>], most_looks: usize) -> NearMisses {
        let is_free = unpaired(partners, self.calls.len());
        let free = (0..self.calls.len()).filter(|&call| is_free[call]);
        NearMisses::new(
            self.tools(),
            free.map(|call| (call, self.tool_of_recorded(call))),
            most_looks,
        )
    }

    /// Each call without a partner, with its mismatch.
    pub(super) fn without_partner<'v>(
        &'v self,
        assignment: &'v Assignment,
        most_looks: usize,
    ) -> impl Iterator<Item = Unmatched> + 'v {
        let partners = &assignment.partners;
        let is_subset = self.reference.mode == MatchMode::Subset;
        let (groups, mut near_misses) = if is_subset {
            (&self.recorded, self.near_expected(partners, most_looks))
        } else {
            (
                &self.reference.groups,
                self.near_recorded(partners, most_looks),
            )
        };
        let say = if is_subset {
            Self::not_allowed
        } else {
            Self::not_found
        };
        let alone = partners
            .iter()
            .enumerate()
            .filter(|(_, partner)| partner.is_none());
        alone.map(move |(call, _)| {
            let rival = assignment.edges[groups.group_of(call)].first().copied();
            Unmatched {
                has_rivals: rival.is_some(),
                mismatch: say(self, call, rival, &mut near_misses),
            }
        })
    }

    /// The mismatches if exactly the expected calls are required. A missing expected call is paired with the call
    /// that was probably meant, otherwise with an extra call.
    pub(super) fn mismatches_of_whole(
        &self,
        assignment: &Assignment,
        most_looks: usize,
    ) -> Vec<TraceMismatch> {
        let mut found: Vec<TraceMismatch> = self
            .without_partner(assignment, most_looks)
            .map(|unmatched| unmatched.mismatch)
            .collect();
        let mut is_extra = unpaired(&assignment.partners, self.calls.len());
        for call in found.iter().filter_map(|mismatch| mismatch.recorded_index) {
            is_extra[call] = false;
        }
        let mut extra = (0..self.calls.len()).filter(|&call| is_extra[call]);
        for mismatch in found
            .iter_mut()
            .filter(|mismatch| mismatch.diffs.is_empty())
        {
            let Some(call) = extra.next() else { break };
            mismatch.recorded_index = Some(call);
            let also = format!(", and call {} is extra", self.say_recorded(call));
            mismatch.reason += &also;
        }
        found.extend(extra.map(|call| self.extra(call)));
        found
    }

    fn not_found(
        &self,
        expected: usize,
        rival: Option<usize>,
        near_misses: &mut NearMisses,
    ) -> TraceMismatch {
        let mut missing = self.missing(expected);
        if let Some(group) = rival {
            missing.recorded_index = Some(self.recorded.members(group)[0]);
            missing.reason += ": another expected call needs every call that fits it";
            return missing;
        }
        let difference = |call: usize| self.differences(expected, call);
        let everywhere = 0..self.calls.len();
        match near_misses.take(self.tools_of_expected(expected), everywhere, difference) {
            Some(call) => self.differs(expected, call),
            None => missing,
        }
    }

    fn near_expected(&self, partners: &[Option<usize>], most_looks: usize) -> NearMisses {
        let is_free = unpaired(partners, self.reference.calls.len());
        let free = (0..self.reference.calls.len()).filter(|&call| is_free[call]);
        let with_tools = free.flat_map(|call| {
            self.tools_of_expected(call)
                .iter()
                .map(move |&tool| (call, tool))
        });
        NearMisses::new(self.tools(), with_tools, most_looks)
    }

    fn not_allowed(
        &self,
        recorded: usize,
        rival: Option<usize>,
        near_misses: &mut NearMisses,
    ) -> TraceMismatch {
        let call = self.say_recorded(recorded);
        if let Some(group) = rival {
            let reason = format!("call {call} exceeds the number of expected calls");
            let expected_index = self.reference.groups.members(group)[0];
            return TraceMismatch {
                expected_index,
                ..self.unexpected(recorded, reason)
            };
        }
        let difference = |expected: usize| self.differences(expected, recorded);
        let everywhere = 0..self.reference.calls.len();
        match near_misses.take(&[self.tool_of_recorded(recorded)], everywhere, difference) {
            Some(expected) => self.differs(expected, recorded),
            None => self.unexpected(
                recorded,
                format!("call {call} is not among the expected calls"),
            ),
        }
    }
}

/// For each call, true if it is not the partner of another call.
pub(super) fn unpaired(partners: &[Option<usize>], calls: usize) -> Vec<bool> {
    let mut is_free = vec![true; calls];
    partners
        .iter()
        .flatten()
        .for_each(|&call| is_free[call] = false);
    is_free
}
