//! How are plans and measures of gates and judges shown: for people, for machines, and as YAML for a suite?

pub mod calibration;
pub(crate) mod check_plan;
pub(crate) mod judge_check;
