//! What does a matcher answer about a value: that it holds, that it does not, or that it cannot be asked?

use crate::report::AssertionDiff;
use crate::schema::TOO_MUCH_WORK;
use serde_json::{Value, json};

/// The answer of a matcher about one value.
#[derive(Debug)]
pub(super) enum Answer {
    Holds,
    /// It does not hold: the value differs here.
    Differs(Vec<AssertionDiff>),
    /// It has no meaning for the value that is there, so neither it nor its `not` holds.
    CannotBeAsked(Box<Unanswered>),
}

/// A question that has no answer, and the part of the value that it was put to.
#[derive(Debug)]
pub(super) struct Unanswered {
    /// Where in the value, as a JSON pointer: below the root only within the items of a list.
    pub(super) pointer: String,
    /// The matcher that cannot be asked, as written.
    pub(super) expected: Value,
    pub(super) why: Why,
}

/// Why a question has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Why {
    /// A schema takes more steps than it may.
    TooMuchWork,
    /// The matcher is for values of another type.
    WrongType { key: &'static str, wanted: Wanted },
}

/// Which values a matcher can be asked of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Text,
    Number,
    Object,
    List,
    /// A text, or a list that has one.
    TextOrListOfTexts,
    /// An object, or a list that has one.
    ObjectOrListOfObjects,
    /// A list that has a value of the type that is looked for.
    ListOfThatType,
    /// A value with a length: a text, a list or an object.
    Countable,
}

impl Answer {
    /// The answer of a matcher that takes the value for what it can be asked of.
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

    /// The same answer about the item of a list.
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

    /// Returns whether all of these hold. One that does not hold decides, whatever the others cannot answer.
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

    /// Returns whether one of these holds. One that holds decides, whatever the others cannot answer.
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
