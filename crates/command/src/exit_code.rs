//! Which exit codes does the program have? `crates/core/src/report/exit_code.rs` chooses the code of a report.

/// A test failed, or a check found a problem.
pub const EXIT_FAILED: u8 = 1;
/// The invocation, a suite, a recording or the infrastructure is broken.
pub const EXIT_BROKEN: u8 = 2;
/// A budget ended the recording.
pub const EXIT_OVER_BUDGET: u8 = 5;
/// A measured value is beyond a limit that the user set.
pub const EXIT_DRIFT: u8 = 6;
/// Nothing was selected.
pub const EXIT_NOTHING_SELECTED: u8 = 7;
