//! The gates: each folds the recorded runs of a test into numbers and a verdict.

pub mod alignment;
pub mod assignment;
pub mod subsequence;
