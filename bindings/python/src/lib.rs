//! The extension module `mcptest._mcptest`: which functions and classes of the library does Python see?
//!
//! The package in `python/mcptest` wraps them with types and documentation.
#![forbid(unsafe_code)]

mod files;
mod json;
mod judge;
mod report;
mod rows;
mod scores;
mod suite;

use pyo3::prelude::*;

#[pymodule]
mod _mcptest {
    #[pymodule_export]
    use crate::report::Report;
    #[pymodule_export]
    use crate::rows::escape_lines;
    #[pymodule_export]
    use crate::scores::{
        agent_stability, agent_stability_across, drift_flags, golden_path_coverage,
        score_golden_path, score_narrative, score_recovery, score_recovery_in_trace,
        score_tool_edges, score_trajectory_axes, tool_calls_from_envelope, validate_trace,
    };
    #[pymodule_export]
    use crate::suite::{Suite, SuiteError};
}
