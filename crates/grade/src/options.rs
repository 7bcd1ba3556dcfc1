//! Which grades are asked for, and how?

use mcptest_core::grade::{Grade, NotGraded};
use mcptest_replay::FreshRow;

/// The grades to ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WhichGrades {
    /// Missing grades.
    pub missing: bool,
    /// Grades of different content.
    pub stale: bool,
    /// Grades that exist and are current.
    pub current: bool,
}

impl WhichGrades {
    /// The grades that `mcptest eval` requests by default.
    pub const NEEDED: Self = Self {
        missing: true,
        stale: true,
        current: false,
    };
    /// Everything.
    pub const ALL: Self = Self {
        missing: true,
        stale: true,
        current: true,
    };
    /// Only missing grades.
    pub const MISSING: Self = Self {
        missing: true,
        ..Self::NONE
    };
    /// Only grades of different content.
    pub const STALE: Self = Self {
        stale: true,
        ..Self::NONE
    };
    /// No grades.
    pub const NONE: Self = Self {
        missing: false,
        stale: false,
        current: false,
    };

    pub(crate) fn wants(self, found: &Result<&Grade, NotGraded>) -> bool {
        match found {
            Ok(_) => self.current,
            Err(NotGraded::Missing) => self.missing,
            Err(NotGraded::Stale(_)) => self.stale,
            // An unreadable grade is not overwritten.
            Err(NotGraded::Failed(_) | NotGraded::Unreadable(_)) => false,
        }
    }
}

/// The options for asking judges about the rows of a plan.
#[derive(Debug, Clone, Copy)]
pub struct GradeOptions {
    /// The grades to ask for of runs that were recorded just now.
    pub of_fresh: WhichGrades,
    /// The grades to request for all other runs.
    pub of_others: WhichGrades,
    /// The maximum number of grades to ask for at once [default: chosen for the machine].
    pub jobs: Option<usize>,
    /// True if neither the runs nor their grades are kept.
    pub is_live: bool,
}

impl GradeOptions {
    /// Requests these grades for recorded runs.
    pub fn new(which: WhichGrades) -> Self {
        Self {
            of_fresh: which,
            of_others: which,
            jobs: None,
            is_live: false,
        }
    }

    /// Which grades to request for a row.
    pub(crate) fn which(self, fresh: Option<&FreshRow>) -> WhichGrades {
        match fresh {
            Some(FreshRow::OnDisk { .. }) => self.of_fresh,
            _ => self.of_others,
        }
    }
}
