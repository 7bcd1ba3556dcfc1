//! From a suite to a report: plan, replay the recorded runs, judge them.

pub mod cassette;
