//! Which expected call is next to which recorded call in the table?

use super::comparison::Comparison;
use super::mismatch::{Unmatched, unpaired};
use super::recorded::RecordedCall;
use super::reference::MatchMode;
use super::shape::ArgumentShape;
use super::trace_validation::TraceMismatch;
use super::verdict::Assignment;
use crate::report::{AssertionDiff, CallRow, CallShown, CallTable, Pairing, Side};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The maximum number of rows that are not as expected in a table.
const MOST_CHANGES: usize = 20;

/// An expected and a recorded call in one row, by their indices.
#[derive(Debug, Clone, Copy)]
pub(super) struct Beside {
    pub(super) how: Pairing,
    pub(super) expected: Option<usize>,
    pub(super) recorded: Option<usize>,
}

impl Beside {
    pub(super) fn new(how: Pairing, expected: Option<usize>, recorded: Option<usize>) -> Self {
        Self {
            how,
            expected,
            recorded,
        }
    }
}

impl Comparison<'_> {
    /// The rows with differences, and one matching row before and after each; other matching rows
    /// are counted.
    pub(super) fn table(&self, pairs: &[Beside]) -> CallTable {
        let is_change = |pair: &Beside| pair.how != Pairing::Matched;
        let changes: Vec<usize> = (0..pairs.len())
            .filter(|&at| is_change(&pairs[at]))
            .collect();
        let kept = &changes[..changes.len().min(MOST_CHANGES)];
        let end = if kept.len() < changes.len() {
            changes[kept.len()]
        } else {
            pairs.len()
        };
        let mut rows = Vec::new();
        let mut matched = Vec::new();
        for (at, pair) in pairs[..end].iter().enumerate() {
            if is_change(pair) {
                self.fold_matched(&mut rows, &std::mem::take(&mut matched), true);
                rows.push(self.row(*pair));
            } else {
                matched.push(pairs[at]);
            }
        }
        self.fold_matched(&mut rows, &matched, false);
        let left_out = changes.len() - kept.len();
        CallTable {
            run: None,
            mode: self.reference.mode.word().to_owned(),
            summary: summary(pairs),
            rows,
            notes: Vec::new(),
            left_out,
        }
    }

    /// Adds a short stretch of matching rows in full. For a long one, adds only the rows next to a
    /// change, and the number of the others.
    fn fold_matched(&self, rows: &mut Vec<CallRow>, matched: &[Beside], is_followed: bool) {
        let (before, after) = (usize::from(!rows.is_empty()), usize::from(is_followed));
        if matched.len() <= before + after + 1 {
            rows.extend(matched.iter().map(|pair| self.row(*pair)));
            return;
        }
        let last = matched.len() - after;
        rows.extend(matched[..before].iter().map(|pair| self.row(*pair)));
        let count = Some(last - before);
        rows.push(CallRow {
            how: Pairing::Matched,
            expected: None,
            recorded: None,
            diff: Vec::new(),
            count,
        });
        rows.extend(matched[last..].iter().map(|pair| self.row(*pair)));
    }

    fn row(&self, pair: Beside) -> CallRow {
        let shown = |number: usize, tool: &str, args: Option<Value>| CallShown {
            number,
            tool: tool.to_owned(),
            args: args.filter(|args| !args.is_null()),
        };
        let args = self.shown_arguments(pair);
        CallRow {
            how: pair.how,
            expected: pair.expected.map(|call| {
                let tool = &self.reference.calls[call].name;
                shown(call + 1, tool, args.expected)
            }),
            recorded: pair.recorded.map(|call| {
                let RecordedCall { number, tool, .. } = &self.calls[call];
                shown(*number, tool.name, args.recorded)
            }),
            diff: args.diff,
            count: None,
        }
    }

    /// Shows only the differences between two calls to one tool. Otherwise shows all arguments, except the arguments of
    /// a recorded call that was expected.
    fn shown_arguments(&self, pair: Beside) -> ShownArguments {
        if let (Pairing::Changed, Some(expected), Some(recorded)) =
            (pair.how, pair.expected, pair.recorded)
            && self.is_to(expected, recorded)
        {
            let shape = &self.reference.calls[expected].shape;
            return ShownArguments::of_difference(shape.diff(self.calls[recorded].args));
        }
        let is_new = matches!(pair.how, Pairing::Changed | Pairing::Extra);
        let args = |call: usize| self.calls[call].args.value().map(Cow::into_owned);
        ShownArguments {
            expected: pair.expected.and_then(|call| self.asked(call)),
            recorded: pair.recorded.filter(|_| is_new).and_then(args),
            diff: Vec::new(),
        }
    }

    /// The arguments that an expected call names.
    fn asked(&self, expected: usize) -> Option<Value> {
        match &self.reference.calls[expected].shape {
            ArgumentShape::Exact { value, .. }
            | ArgumentShape::ExactBags { value, .. }
            | ArgumentShape::Subset(value) => Some(value.clone()),
            ArgumentShape::Any | ArgumentShape::Schema { .. } | ArgumentShape::OneOf(_) => None,
        }
    }

    /// Each expected call with its partner, in order. A call at another place is next to the call
    /// there.
    pub(super) fn beside_in_order(
        &self,
        partners: &[Option<usize>],
        found: &[TraceMismatch],
    ) -> Vec<Beside> {
        let is_free = unpaired(partners, self.calls.len());
        let elsewhere = |expected: usize| {
            (0..self.calls.len()).find(|&call| is_free[call] && self.fits(expected, call))
        };
        let mut pairs = beside_expected(partners, found);
        for pair in pairs
            .iter_mut()
            .filter(|pair| pair.how == Pairing::Missing)
            .take(MOST_CHANGES)
        {
            pair.recorded = pair.expected.and_then(elsewhere);
            pair.how = if pair.recorded.is_some() {
                Pairing::Swapped
            } else {
                Pairing::Missing
            };
        }
        pairs
    }

    /// The rows if order does not count; `None` if calls compete for partners, which rows cannot
    /// show.
    pub(super) fn beside_matched(
        &self,
        assignment: &Assignment,
        found: &[Unmatched],
    ) -> Option<Vec<Beside>> {
        if found.iter().any(|unmatched| unmatched.has_rivals) {
            return None;
        }
        let found: Vec<TraceMismatch> = found
            .iter()
            .map(|unmatched| unmatched.mismatch.clone())
            .collect();
        if self.reference.mode != MatchMode::Subset {
            return Some(beside_expected(&assignment.partners, &found));
        }
        let mut found = found.iter();
        let pair = |(call, partner): (usize, &Option<usize>)| match partner {
            Some(expected) => Beside::new(Pairing::Matched, Some(*expected), Some(call)),
            None => match found.next().filter(|mismatch| !mismatch.diffs.is_empty()) {
                Some(near) => Beside::new(Pairing::Changed, Some(near.expected_index), Some(call)),
                None => Beside::new(Pairing::Extra, None, Some(call)),
            },
        };
        Some(assignment.partners.iter().enumerate().map(pair).collect())
    }
}

impl Comparison<'_> {
    /// The rows if exactly the expected calls are required. Extra calls come last.
    pub(super) fn beside_whole(
        &self,
        assignment: &Assignment,
        found: &[TraceMismatch],
    ) -> Vec<Beside> {
        let is_meant = |mismatch: &&TraceMismatch| !mismatch.diffs.is_empty();
        let meant: Vec<TraceMismatch> = found
            .iter()
            .map(|mismatch| TraceMismatch {
                recorded_index: mismatch.recorded_index.filter(|_| is_meant(&mismatch)),
                ..mismatch.clone()
            })
            .collect();
        let mut pairs = beside_expected(&assignment.partners, &meant);
        let is_free = unpaired(&assignment.partners, self.calls.len());
        let extra = found
            .iter()
            .filter(|mismatch| !is_meant(mismatch))
            .filter_map(|mismatch| mismatch.recorded_index)
            .filter(|&call| is_free[call]);
        pairs.extend(extra.map(|call| Beside::new(Pairing::Extra, None, Some(call))));
        pairs
    }
}

fn beside_expected(partners: &[Option<usize>], found: &[TraceMismatch]) -> Vec<Beside> {
    let mut found = found.iter();
    let pair = |(expected, partner): (usize, &Option<usize>)| match partner {
        Some(call) => Beside::new(Pairing::Matched, Some(expected), Some(*call)),
        None => match found.next().and_then(|mismatch| mismatch.recorded_index) {
            Some(near) => Beside::new(Pairing::Changed, Some(expected), Some(near)),
            None => Beside::new(Pairing::Missing, Some(expected), None),
        },
    };
    partners.iter().enumerate().map(pair).collect()
}

/// The arguments of an expected call and a recorded one, as a table shows them.
struct ShownArguments {
    expected: Option<Value>,
    recorded: Option<Value>,
    diff: Vec<AssertionDiff>,
}

impl ShownArguments {
    /// The differing arguments of both sides; absent if a side lacks them.
    fn of_difference(diff: Vec<AssertionDiff>) -> Self {
        if let [whole] = &diff[..]
            && whole.pointer == "/args"
        {
            return Self {
                expected: Some(whole.expected.clone()),
                recorded: Some(whole.actual.clone()),
                diff,
            };
        }
        let (mut expected, mut recorded) = (Map::new(), Map::new());
        for one in &diff {
            let pointer = one.pointer.strip_prefix("/args").unwrap_or(&one.pointer);
            let path = super::wording::path(pointer);
            if one.absent != Some(Side::Expected) {
                expected.insert(path.clone(), one.expected.clone());
            }
            if one.absent != Some(Side::Actual) {
                recorded.insert(path, one.actual.clone());
            }
        }
        Self {
            expected: Some(Value::Object(expected)),
            recorded: Some(Value::Object(recorded)),
            diff,
        }
    }
}

/// `1 call differs, 1 is missing`.
fn summary(pairs: &[Beside]) -> String {
    let words: [(Pairing, [&str; 2]); 4] = [
        (Pairing::Changed, ["differs", "differ"]),
        (Pairing::Missing, ["is missing", "are missing"]),
        (Pairing::Extra, ["is extra", "are extra"]),
        (Pairing::Swapped, ["is out of order", "are out of order"]),
    ];
    let mut said: Vec<String> = Vec::new();
    for (how, [one, many]) in words {
        let count = pairs.iter().filter(|pair| pair.how == how).count();
        let calls = if said.is_empty() {
            if count == 1 { " call" } else { " calls" }
        } else {
            ""
        };
        match count {
            0 => {}
            1 => said.push(format!("1{calls} {one}")),
            _ => said.push(format!("{count}{calls} {many}")),
        }
    }
    said.join(", ")
}
