//! Recorded requests to a provider, in a file.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use tidebox::layer::{Matching, RecordMode, Redaction};
use tidebox::{CassetteFile, Secret};

use crate::errors::{checked, invalid};

/// A cassette in a file, with its record mode.
#[pyclass(frozen, module = "tidebox")]
#[derive(Debug)]
pub(crate) struct NativeCassette(pub(crate) Arc<CassetteFile>);

#[pymethods]
impl NativeCassette {
    /// Opens a cassette. `secrets` are pairs of a name and the value that it replaces in the file.
    #[staticmethod]
    fn open(path: PathBuf, mode: &str, repeat: bool, secrets: Vec<(String, String)>) -> PyResult<Self> {
        let mode = match mode {
            "never" => RecordMode::Never,
            "missing" => RecordMode::Missing,
            "always" => RecordMode::Always,
            other => return Err(invalid(format!("mode must be 'never', 'missing' or 'always', not {other:?}"))),
        };
        let matching = if repeat { Matching::ByRequest } else { Matching::InOrder };
        let redaction = secrets
            .into_iter()
            .fold(Redaction::new(), |redaction, (name, value)| redaction.secret(&name, Secret::new(value)));
        let file = checked(CassetteFile::open(path, mode))?;
        Ok(Self(Arc::new(file.matching(matching).redaction(redaction))))
    }

    /// Writes the file if something was recorded, and returns whether it was written.
    fn save(&self, py: Python<'_>) -> PyResult<bool> {
        checked(py.detach(|| self.0.save()))
    }

    /// Returns the recorded requests that were not replayed.
    fn unused(&self) -> Vec<String> {
        self.0.unused()
    }
}
