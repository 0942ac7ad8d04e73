//! The command `tidebox`, and the compiled programs of the wheel.

use std::ffi::OsString;
use std::path::PathBuf;

use pyo3::prelude::*;
use tidebox::ProgramArchive;

/// Runs the command `tidebox` with the arguments after its name, and returns its exit code.
#[pyfunction]
pub(crate) fn run_command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| tidebox::run_command(arguments))
}

/// Uses the compiled programs in a directory of the package. Without the directory, programs are compiled when they are first
/// started.
#[pyfunction]
pub(crate) fn use_archive(directory: PathBuf) {
    if let Some(archive) = ProgramArchive::open(directory) {
        tidebox::set_installation(archive, tidebox::report_compilation);
    }
}

/// Prepares packs on their first use from the wheels in a directory, and reports it on standard error.
#[pyfunction]
pub(crate) fn use_pack_wheels(directory: Option<PathBuf>) {
    tidebox::set_pack_support(directory, tidebox::prepare_pack, tidebox::report_pack_compilation);
}
