//! What does a matcher answer about a value: that it holds, that it does not, or that it does not
//! apply?

use crate::report::AssertionDiff;
use crate::schema::TOO_MUCH_WORK;
use serde_json::{Value, json};

/// The answer of a matcher about one value.
#[derive(Debug)]
pub(super) enum Answer {
    Holds,
    /// It does not hold: the value differs here.
    Differs(Vec<AssertionDiff>),
    /// It does not apply to the value, so neither it nor its `not` holds.
    CannotBeAsked(Box<Unanswered>),
}

/// A matcher without an answer, and the part of the value that it was applied to.
#[derive(Debug)]
pub(super) struct Unanswered {
    /// The place in the value, as a JSON pointer: below the root only within the items of a list.
    pub(super) pointer: String,
    /// The matcher that does not apply, as written.
    pub(super) expected: Value,
    pub(super) why: Why,
}

/// Why a question has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Why {
    /// Checking the schema takes too many steps.
    TooMuchWork,
    /// The matcher applies to values of another type.
    WrongType { key: &'static str, wanted: Wanted },
}

/// The values that a matcher applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Text,
    Number,
    Object,
    List,
    TextOrListOfTexts,
    ObjectOrListOfObjects,
    /// A list that has a value of the type that is looked for.
    ListOfThatType,
    /// A value with a length: a text, a list or an object.
    Countable,
}

impl Answer {
    /// The answer of a matcher that applies to the value.
    pub(super) fn from_differences(differences: Vec<AssertionDiff>) -> Self {
        if differences.is_empty() {
            Self::Holds
        } else {
            Self::Differs(differences)
        }
    }

    pub(super) fn cannot_be_asked(key: &'static str, expected: Value, wanted: Wanted) -> Self {
        Self::CannotBeAsked(Box::new(Unanswered {
            pointer: String::new(),
            expected,
            why: Why::WrongType { key, wanted },
        }))
    }

    pub(super) fn too_much_work() -> Self {
        Self::CannotBeAsked(Box::new(Unanswered {
            pointer: String::new(),
            expected: json!(TOO_MUCH_WORK),
            why: Why::TooMuchWork,
        }))
    }

    /// The answer about an item of a list.
    pub(super) fn at_item(self, index: usize) -> Self {
        match self {
            Self::Holds => Self::Holds,
            Self::Differs(differences) => Self::Differs(
                differences
                    .into_iter()
                    .map(|difference| difference_at_item(index, difference))
                    .collect(),
            ),
            Self::CannotBeAsked(unanswered) => Self::CannotBeAsked(Box::new(Unanswered {
                pointer: format!("/{index}{}", unanswered.pointer),
                ..*unanswered
            })),
        }
    }

    /// Returns whether all of these hold. One that does not hold decides, even if others have no
    /// answer.
    pub(super) fn all(answers: impl IntoIterator<Item = Self>) -> Self {
        let (mut differences, mut first_unanswered) = (Vec::new(), None);
        for answer in answers {
            match answer {
                Self::Holds => {}
                Self::Differs(more) => differences.extend(more),
                Self::CannotBeAsked(unanswered) => {
                    first_unanswered.get_or_insert(unanswered);
                }
            }
        }
        match first_unanswered {
            Some(unanswered) if differences.is_empty() => Self::CannotBeAsked(unanswered),
            _ => Self::from_differences(differences),
        }
    }

    /// Returns whether one of these holds. One that holds decides, even if others have no answer.
    pub(super) fn any(
        answers: impl IntoIterator<Item = Self>,
        otherwise: impl FnOnce() -> Vec<AssertionDiff>,
    ) -> Self {
        let mut first_unanswered = None;
        for answer in answers {
            match answer {
                Self::Holds => return Self::Holds,
                Self::Differs(_) => {}
                Self::CannotBeAsked(unanswered) => {
                    first_unanswered.get_or_insert(unanswered);
                }
            }
        }
        match first_unanswered {
            Some(unanswered) => Self::CannotBeAsked(unanswered),
            None => Self::Differs(otherwise()),
        }
    }
}

pub(super) fn difference_at_item(index: usize, difference: AssertionDiff) -> AssertionDiff {
    AssertionDiff {
        pointer: format!("/{index}{}", difference.pointer),
        ..difference
    }
}
