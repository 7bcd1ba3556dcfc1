//! When was a failure noticed, when was it overcome, and was that soon enough?

use crate::words::word_of;
use serde::Serialize;
use std::fmt;

/// The times of a failed call: its start, its detection, and the recovery.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RecoveryMarks {
    /// The time of the call.
    pub call_start_ms: u64,
    /// The time at which the agent noticed the failure, if it did.
    pub detected_at_ms: Option<u64>,
    /// The time at which a later call succeeded, if any.
    pub recovered_at_ms: Option<u64>,
}

/// The time limits of a recovery.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RecoveryLimits {
    /// The time budget of one call.
    pub max_detection_ms: u64,
    /// The time limit for recovery. `None` means unlimited.
    pub max_recovery_ms: Option<u64>,
    /// True if noticing later than the budget of the call fails.
    pub require_clean_timeout: bool,
}

/// The outcome of a failed call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RecoveryReport {
    /// The time from the call to detection; `None` without detection.
    pub time_to_detection_ms: Option<u64>,
    /// From the call to recovery. `None` if the agent did not recover.
    pub time_to_recovery_ms: Option<u64>,
    /// From the call to detection or recovery, whichever is first; otherwise the budget of the
    /// call.
    pub user_visible_hang_ms: u64,
    /// True if the agent recovered.
    pub recovered: bool,
    /// True if it noticed within the budget of the call.
    pub clean_timeout: bool,
    /// True without a failure reason.
    pub gate_passed: bool,
    /// The failures, in order.
    pub reasons: Vec<RecoveryFailure>,
}

/// A failure of a recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RecoveryFailure {
    /// No later call succeeded.
    NotRecovered,
    /// A later call succeeded, but too late.
    RecoveryTooSlow,
    /// The failure was not noticed within the budget of the call.
    UncleanTimeout,
    /// No call ran into the fault.
    FaultNotExercised,
}

impl fmt::Display for RecoveryFailure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&word_of(self))
    }
}

/// Scores the marks of one call that went wrong.
///
/// ```
/// use mcptest_core::eval::recovery::{RecoveryLimits, RecoveryMarks, score_recovery};
///
/// let limits = RecoveryLimits { max_detection_ms: 3000, max_recovery_ms: None, require_clean_timeout: true };
/// let hung = RecoveryMarks { call_start_ms: 0, detected_at_ms: Some(9000), recovered_at_ms: Some(9500) };
/// let report = score_recovery(&hung, &limits);
/// assert!(report.recovered && !report.clean_timeout && !report.gate_passed);
/// assert_eq!(report.user_visible_hang_ms, 9000);
/// assert_eq!(report.reasons[0].to_string(), "unclean_timeout");
/// ```
pub fn score_recovery(marks: &RecoveryMarks, limits: &RecoveryLimits) -> RecoveryReport {
    let since_start = |mark: Option<u64>| mark.map(|mark| mark.saturating_sub(marks.call_start_ms));
    let detection = since_start(marks.detected_at_ms);
    let recovery = since_start(marks.recovered_at_ms);
    let clean_timeout = detection.is_some_and(|detection| detection <= limits.max_detection_ms);
    let too_slow = recovery
        .zip(limits.max_recovery_ms)
        .is_some_and(|(recovery, limit)| recovery > limit);
    let reasons: Vec<RecoveryFailure> = [
        (recovery.is_none(), RecoveryFailure::NotRecovered),
        (too_slow, RecoveryFailure::RecoveryTooSlow),
        (
            limits.require_clean_timeout && !clean_timeout,
            RecoveryFailure::UncleanTimeout,
        ),
    ]
    .into_iter()
    .filter_map(|(holds, reason)| holds.then_some(reason))
    .collect();
    RecoveryReport {
        time_to_detection_ms: detection,
        time_to_recovery_ms: recovery,
        user_visible_hang_ms: detection
            .into_iter()
            .chain(recovery)
            .min()
            .unwrap_or(limits.max_detection_ms),
        recovered: recovery.is_some(),
        clean_timeout,
        gate_passed: reasons.is_empty(),
        reasons,
    }
}
