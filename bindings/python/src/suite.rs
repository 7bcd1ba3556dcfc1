//! A suite that judges traces given by Python.

use crate::files::SuiteSource;
use crate::judge::{Given, Judge};
use crate::report::Report;
use crate::rows::Columns;
use mcptest_core::problem::{Level, Problem, render};
use mcptest_core::score::{Arrangement, Scorer};
use mcptest_import::group_of;
use mcptest_redact::Redactor;
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::PyString;
use std::borrow::Cow;
use std::path::PathBuf;
use std::slice;
use std::thread::available_parallelism;

create_exception!(
    mcptest,
    SuiteError,
    PyValueError,
    "A suite was refused. The message names each problem with its place."
);

/// The suite with everything that it was loaded from.
#[pyclass(frozen, module = "mcptest._mcptest")]
pub(crate) struct Suite {
    source: SuiteSource,
    path: String,
    loaded: mcptest_core::Suite,
    redactor: Redactor,
    warnings: Vec<String>,
}

impl Suite {
    fn loaded(source: SuiteSource) -> PyResult<Self> {
        let (source, loaded) = source.load();
        let warning = |problem: &Problem| render(slice::from_ref(problem), &loaded.sources, false);
        let warnings = loaded
            .problems
            .iter()
            .filter(|problem| problem.level != Level::Error)
            .map(warning)
            .collect();
        let refused =
            |problems: mcptest_core::RefusedSuite| SuiteError::new_err(problems.to_string());
        let suite = loaded.into_result().map_err(refused)?;
        let redactor = redactor(&suite)?;
        let path = source.path.display().to_string();
        let suite = Self {
            source,
            path,
            loaded: suite,
            redactor,
            warnings,
        };
        suite.check_that_it_can_judge_traces()?;
        Ok(suite)
    }

    /// Refuses a suite with gates that judge runs which are recorded only for them.
    fn check_that_it_can_judge_traces(&self) -> PyResult<()> {
        let refusals = self.judge().scorer.refusals(Arrangement::Grouped);
        if refusals.is_empty() {
            return Ok(());
        }
        let sentences: Vec<String> = refusals.iter().map(ToString::to_string).collect();
        Err(SuiteError::new_err(format!(
            "{}: {}",
            self.path,
            sentences.join("; ")
        )))
    }

    fn judge(&self) -> Judge<'_> {
        Judge {
            scorer: Scorer::new(&self.loaded, self.redactor.clone()),
            redactor: &self.redactor,
            suite: &self.path,
        }
    }

    fn lines(&self, py: Python<'_>, traces: &Traces, jobs: Option<usize>) -> Vec<u8> {
        py.detach(|| {
            let judge = self.judge();
            let given = traces.given(judge.scorer.arrangement());
            let lines = judge.lines(&given, threads(jobs));
            crate::rows::escaped(lines)
        })
    }
}

/// The redactor of everything that must not leave the process with a verdict.
fn redactor(suite: &mcptest_core::Suite) -> PyResult<Redactor> {
    let environment = |name: &str| std::env::var(name).ok();
    let values = suite.secret_values(&environment);
    let builder = values
        .iter()
        .fold(Redactor::builder(), |builder, (name, value)| {
            builder.value(name, value)
        });
    let builder = suite
        .redact
        .iter()
        .fold(builder, |builder, pattern| pattern.add_to(builder));
    builder.build().map_err(|problems| {
        let sentences: Vec<String> = problems.iter().map(ToString::to_string).collect();
        SuiteError::new_err(sentences.join("; "))
    })
}

fn threads(jobs: Option<usize>) -> usize {
    jobs.unwrap_or_else(|| available_parallelism().map_or(1, usize::from))
}

/// A trace as text. It borrows from Python, so that no text is copied.
enum TraceText {
    Bytes(PyBackedBytes),
    Text(PyBackedStr),
}

impl<'a, 'py> FromPyObject<'a, 'py> for TraceText {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let Ok(text) = object.cast::<PyString>() else {
            return Ok(Self::Bytes(object.extract()?));
        };
        if let Ok(text) = text.extract() {
            return Ok(Self::Text(text));
        }
        // Half a character has no UTF-8. Its bytes make the trace unreadable, and leave the others.
        let bytes = object.call_method1("encode", ("utf-8", "surrogatepass"))?;
        Ok(Self::Bytes(bytes.extract()?))
    }
}

impl TraceText {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Text(text) => text.as_bytes(),
        }
    }
}

/// The traces of one call, with their names. Python passes a tuple.
#[derive(FromPyObject)]
struct Traces(Vec<TraceText>, Option<Names>, Option<Names>);

type Names = Vec<Option<PyBackedStr>>;

impl Traces {
    /// The traces with their names. Without ids, a trace without an id of its own is named by its number.
    fn given(&self, arrangement: Arrangement) -> Vec<Given<'_>> {
        let Self(texts, ids, groups) = self;
        let mut given = Vec::with_capacity(texts.len());
        for (at, text) in texts.iter().enumerate() {
            let text = text.bytes();
            let own_group = || {
                let is_needed = arrangement == Arrangement::Grouped && groups.is_none();
                is_needed.then(|| group_of(text).ok().flatten()).flatten()
            };
            given.push(Given {
                text,
                id: name(ids.as_ref(), at).map(Cow::Borrowed),
                number: ids.is_none().then(|| (at + 1).to_string()),
                group: name(groups.as_ref(), at)
                    .map(Cow::Borrowed)
                    .or_else(own_group),
            });
        }
        given
    }
}

fn name(names: Option<&Names>, at: usize) -> Option<&str> {
    names?.get(at)?.as_deref()
}

#[pymethods]
impl Suite {
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        py.detach(|| Self::loaded(SuiteSource::at(path)))
    }

    #[staticmethod]
    fn parse(py: Python<'_>, text: String, path: PathBuf) -> PyResult<Self> {
        py.detach(|| Self::loaded(SuiteSource::with_text(path, text)))
    }

    /// Loads the suite from what another process read, as `source` returned it.
    #[staticmethod]
    fn from_source(py: Python<'_>, source: &[u8]) -> PyResult<Self> {
        let source: SuiteSource = serde_json::from_slice(source)
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        py.detach(|| Self::loaded(source))
    }

    /// Everything that the suite was loaded from, as bytes.
    #[getter]
    fn source(&self) -> PyResult<Cow<'_, [u8]>> {
        let bytes = serde_json::to_vec(&self.source)
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Cow::Owned(bytes))
    }

    #[getter]
    fn path(&self) -> &str {
        &self.path
    }

    #[getter]
    fn agents(&self) -> Vec<&str> {
        let agents = self.loaded.agents.iter();
        agents.map(|agent| agent.name.as_str()).collect()
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    /// Why the suite judges only groups of traces; empty if it judges traces alone.
    #[getter]
    fn needs_groups(&self) -> Vec<String> {
        let refusals = self.judge().scorer.refusals(Arrangement::Alone);
        refusals.iter().map(ToString::to_string).collect()
    }

    #[pyo3(signature = (traces, jobs))]
    fn judge_lines(&self, py: Python<'_>, traces: Traces, jobs: Option<usize>) -> Cow<'_, [u8]> {
        Cow::Owned(self.lines(py, &traces, jobs))
    }

    #[pyo3(signature = (traces, jobs))]
    fn judge_columns(
        &self,
        py: Python<'_>,
        traces: Traces,
        jobs: Option<usize>,
    ) -> PyResult<Columns> {
        let lines = self.lines(py, &traces, jobs);
        py.detach(|| Columns::read(&lines))
            .map_err(|error| PyValueError::new_err(error.to_string()))
    }

    #[pyo3(signature = (traces, jobs))]
    fn report(&self, py: Python<'_>, traces: Traces, jobs: Option<usize>) -> Report {
        let report = py.detach(|| {
            let judge = self.judge();
            let given = traces.given(judge.scorer.arrangement());
            let tests = judge.reports(&given, threads(jobs));
            mcptest_core::Report::new(tests, self.loaded.gates)
        });
        Report { report }
    }
}
