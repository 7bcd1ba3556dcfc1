//! The expected calls, ready to be compared with any number of runs.

use super::shape::ArgumentShape;
use crate::pairing::assignment::Groups;
use crate::problem::Span;
use crate::suite::read::{Block, Field};

/// The comparison of expected and recorded calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchMode {
    /// Exactly the expected calls, in order.
    Strict,
    /// All expected calls in order, with other calls in between.
    Subsequence,
    /// All expected calls in any order, each by a separate recorded call, among other calls.
    Unordered,
    /// Like [`MatchMode::Unordered`]: the reference is a lower bound.
    Superset,
    /// Only expected calls, each at most once: the reference is an upper bound.
    Subset,
    /// Exactly the expected calls, in any order.
    Set,
}

impl MatchMode {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("strict", Self::Strict),
        ("subsequence", Self::Subsequence),
        ("unordered", Self::Unordered),
        ("superset", Self::Superset),
        ("subset", Self::Subset),
        ("set", Self::Set),
        ("exact_sequence", Self::Strict),
        ("exact-sequence", Self::Strict),
    ];

    /// Returns true if an empty list of calls allows no calls.
    pub(super) fn forbids_others(self) -> bool {
        matches!(self, Self::Subset | Self::Set)
    }

    /// The word for it in a suite.
    pub(super) fn word(self) -> &'static str {
        Self::WORDS
            .iter()
            .find(|(_, mode)| *mode == self)
            .map_or("", |(word, _)| word)
    }

    /// The mode that a suite calls by this name.
    pub fn named(word: &str) -> Option<Self> {
        Self::WORDS
            .iter()
            .find(|(known, _)| *known == word)
            .map(|(_, mode)| *mode)
    }
}

/// A mode and its calls. Equal calls are in one group.
#[derive(Debug)]
pub(super) struct Reference {
    pub(super) mode: MatchMode,
    pub(super) calls: Vec<ReferenceCall>,
    pub(super) groups: Groups,
    /// The place of the list of calls.
    pub(super) span: Span,
}

/// One expected call, with compiled arguments.
#[derive(Debug)]
pub(super) struct ReferenceCall {
    pub(super) name: String,
    pub(super) shape: ArgumentShape,
}

impl Reference {
    pub(super) fn new(mode: MatchMode, calls: Vec<ReferenceCall>) -> Self {
        let groups = Groups::collapse(
            calls
                .iter()
                .map(|call| (call.name.as_str(), call.shape.key())),
        );
        Self {
            mode,
            calls,
            groups,
            span: Span::default(),
        }
    }

    /// Returns true if every run is accepted.
    pub(super) fn accepts_anything(&self) -> bool {
        self.calls.is_empty() && !self.mode.forbids_others()
    }

    /// Returns true if the reference requires a run without calls.
    pub(super) fn forbids_calls(&self) -> bool {
        self.calls.is_empty() && self.mode.forbids_others()
    }

    pub(super) fn read(block: &mut Block<'_>) -> Self {
        let mode = block.required(
            "mode",
            "The comparison of expected and recorded calls: `strict`, `unordered`, `subset`, `superset`, `subsequence` or `set`",
            |f| f.choice("a mode", MatchMode::WORDS),
        );
        let mut span = Span::default();
        let calls = block.required("calls", "The expected calls", |field| {
            span = field.span();
            field.list(|field| {
                Some(ReferenceCall::read(field).unwrap_or_else(ReferenceCall::unreadable))
            })
        });
        let calls = calls.unwrap_or_else(|| vec![ReferenceCall::unreadable()]);
        Self {
            span,
            ..Self::new(mode.unwrap_or(MatchMode::Strict), calls)
        }
    }
}

impl ReferenceCall {
    /// A placeholder for a call whose problems are already reported, so that the list is not empty.
    fn unreadable() -> Self {
        Self {
            name: String::new(),
            shape: ArgumentShape::Any,
        }
    }

    fn read(field: &mut Field<'_>) -> Option<Self> {
        field.shapes("a tool's name, or a map with `name` and `args`", |shapes| {
            shapes.text(|field| {
                Some(Self {
                    name: field.tool()?,
                    shape: ArgumentShape::Any,
                })
            });
            shapes.block(|block| {
                let name = block.required(
                    "name",
                    "The tool: bare, `server.tool` or `server__tool`",
                    |field| field.tool(),
                );
                let shape = block.optional(
                    "args",
                    "The expected arguments [default: any]",
                    ArgumentShape::read,
                );
                Some(Self {
                    name: name?,
                    shape: shape.unwrap_or(ArgumentShape::Any),
                })
            });
        })
    }
}
