//! Snapshots, and differences between two.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use tidebox::{ContentChange, DiffSide, FileKind, SnapshotDiff};

use crate::errors::sandbox_error;
use crate::files::path_text;

/// The files of a sandbox, and the state of its shell, at one moment. Taking one copies no file.
#[pyclass(frozen, module = "tidebox")]
#[derive(Debug)]
pub(crate) struct Snapshot(pub(crate) tidebox::Snapshot);

#[pymethods]
impl Snapshot {
    /// Bytes of all files.
    #[getter]
    fn file_bytes(&self) -> u64 {
        self.0.file_bytes()
    }

    /// Files, directories and links.
    #[getter]
    fn inodes(&self) -> u64 {
        self.0.inodes()
    }

    /// Returns the snapshot as bytes that `Sandbox.load_snapshot` reads.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes = py.detach(|| self.0.to_bytes());
        PyBytes::new(py, &bytes)
    }

    /// Returns the files as a tar archive with names relative to `/`.
    fn to_tar<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut tar = Vec::new();
        py.detach(|| self.0.to_tar(&mut tar))?;
        Ok(PyBytes::new(py, &tar))
    }

    /// Returns the changes from `before` to this snapshot.
    fn changes_since(&self, py: Python<'_>, before: &Self) -> PyResult<Vec<Py<Change>>> {
        let diff = py.detach(|| tidebox::Snapshot::diff(&before.0, &self.0));
        diff.changes.iter().map(|change| Py::new(py, Change::new(change))).collect()
    }

    /// Returns the changes from `before` to this snapshot as a patch for `git apply`.
    fn patch_since<'py>(&self, py: Python<'py>, before: &Self) -> Bound<'py, PyBytes> {
        let patch = py.detach(|| -> Vec<u8> {
            let diff: SnapshotDiff = tidebox::Snapshot::diff(&before.0, &self.0);
            diff.to_patch()
        });
        PyBytes::new(py, &patch)
    }

    fn __repr__(&self) -> String {
        format!("Snapshot({} inodes, {} bytes)", self.0.inodes(), self.0.file_bytes())
    }
}

/// A change at one path between two snapshots.
#[pyclass(frozen, module = "tidebox")]
#[derive(Debug)]
pub(crate) struct Change {
    path: Vec<u8>,
    before: Option<DiffSide>,
    after: Option<DiffSide>,
    text: Option<Vec<u8>>,
    is_binary: bool,
}

impl Change {
    fn new(change: &tidebox::Change) -> Self {
        let text = match &change.content {
            ContentChange::Text(hunks) => Some(hunks.clone()),
            _ => None,
        };
        let is_binary = matches!(change.content, ContentChange::Binary);
        Self { path: change.path.clone(), before: change.before, after: change.after, text, is_binary }
    }
}

#[pymethods]
impl Change {
    /// Absolute path.
    #[getter]
    fn path<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        path_text(py, &self.path)
    }

    /// "added", "removed" or "modified".
    #[getter]
    fn kind(&self) -> &'static str {
        match (self.before, self.after) {
            (None, _) => "added",
            (_, None) => "removed",
            _ => "modified",
        }
    }

    /// True if the entry is, or was, a directory.
    #[getter]
    fn is_dir(&self) -> bool {
        self.after.or(self.before).is_some_and(|side| side.kind == FileKind::Directory)
    }

    /// Hunks of the unified format; None if the content is binary or unchanged.
    #[getter]
    fn hunks(&self) -> Option<String> {
        self.text.as_ref().map(|text| String::from_utf8_lossy(text).into_owned())
    }

    /// True if one side contains a NUL byte.
    #[getter]
    fn is_binary(&self) -> bool {
        self.is_binary
    }

    fn __repr__(&self) -> String {
        format!("Change('{}', '{}')", String::from_utf8_lossy(&self.path).escape_debug(), self.kind())
    }
}

/// Reads a snapshot that `to_bytes` returned.
pub(crate) fn load(bytes: &[u8], builder: &tidebox::SandboxBuilder) -> PyResult<Snapshot> {
    tidebox::Snapshot::from_bytes(bytes, builder.base_image(), builder.current_limits())
        .map(Snapshot)
        .map_err(|error| sandbox_error(&error))
}
