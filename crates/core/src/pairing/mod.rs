//! Which recorded call is paired with which expected one?

pub mod alignment;
pub mod assignment;
pub mod subsequence;
