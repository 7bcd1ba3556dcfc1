//! A report, and the formats that Python writes it in.

use mcptest_report::{Options, find};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::borrow::Cow;

/// The verdict over all rows of a suite.
#[pyclass(frozen, module = "mcptest._mcptest")]
pub(crate) struct Report {
    pub(crate) report: mcptest_core::Report,
}

#[pymethods]
impl Report {
    /// Reads a report that was written as JSON.
    #[staticmethod]
    fn from_json(py: Python<'_>, text: &str) -> PyResult<Self> {
        let report = py
            .detach(|| serde_json::from_str(text))
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self { report })
    }

    /// The report in the format of a reporter, such as `junit`.
    fn render(&self, py: Python<'_>, format: &str) -> PyResult<Cow<'_, [u8]>> {
        let reporter = find(format)
            .ok_or_else(|| PyValueError::new_err(format!("no reporter is named `{format}`")))?;
        let rendered = py.detach(|| (reporter.render)(&self.report, &Options::default()));
        Ok(Cow::Owned(rendered))
    }

    #[getter]
    fn exit_code(&self) -> u8 {
        self.report.exit_code()
    }
}
