//! Which grades are asked for, and how?

use mcptest_core::grade::{Grade, NotGraded};
use mcptest_replay::FreshRow;

/// Which grades are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WhichGrades {
    /// Those that nobody gave so far.
    pub missing: bool,
    /// Those that were given to something else.
    pub stale: bool,
    /// Those that are there already.
    pub current: bool,
}

impl WhichGrades {
    /// What `mcptest eval` asks for unless it is told otherwise.
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
    /// Only those that nobody gave so far.
    pub const MISSING: Self = Self {
        missing: true,
        ..Self::NONE
    };
    /// Only those that were given to something else.
    pub const STALE: Self = Self {
        stale: true,
        ..Self::NONE
    };
    /// Nothing.
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
            // What cannot be read is not written over.
            Err(NotGraded::Failed(_) | NotGraded::Unreadable(_)) => false,
        }
    }
}

/// How judges are asked about the rows of a plan.
#[derive(Debug, Clone, Copy)]
pub struct GradeOptions {
    /// Which grades are asked for of runs that were recorded just now.
    pub of_fresh: WhichGrades,
    /// Which are asked for of all other runs.
    pub of_others: WhichGrades,
    /// How many grades are asked for at once; else as many as suits the machine.
    pub jobs: Option<usize>,
    /// Whether the runs, and so their grades, are kept nowhere.
    pub is_live: bool,
}

impl GradeOptions {
    /// Asks for these grades of recorded runs.
    pub fn new(which: WhichGrades) -> Self {
        Self {
            of_fresh: which,
            of_others: which,
            jobs: None,
            is_live: false,
        }
    }

    /// Which grades are asked for of a row.
    pub(crate) fn which(self, fresh: Option<&FreshRow>) -> WhichGrades {
        match fresh {
            Some(FreshRow::OnDisk { .. }) => self.of_fresh,
            _ => self.of_others,
        }
    }
}
