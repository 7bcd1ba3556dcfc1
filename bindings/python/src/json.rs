//! How do JSON values cross the border to Python?

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::borrow::Cow;

/// A value that Python passes and receives as dictionaries, lists, strings and numbers.
pub(crate) struct Json<T>(pub(crate) T);

impl<'a, 'py, T: DeserializeOwned> FromPyObject<'a, 'py> for Json<T> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let text = dumped(&object)?;
        serde_json::from_str(&text)
            .map(Self)
            .map_err(|error| PyValueError::new_err(error.to_string()))
    }
}

impl<'py, T: Serialize> IntoPyObject<'py> for Json<T> {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        let text = serde_json::to_string(&self.0)
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        py.import("json")?.call_method1("loads", (text,))
    }
}

/// The JSON text of a Python value, as Python's `json.dumps` writes it.
pub(crate) fn dumped(object: &Bound<'_, PyAny>) -> PyResult<String> {
    let options = PyDict::new(object.py());
    options.set_item("allow_nan", false)?;
    let json = object.py().import("json")?;
    let text = json.call_method("dumps", (object,), Some(&options))?;
    Ok(text.extract::<Cow<'_, str>>()?.into_owned())
}
