//! Tidebox for Python: the native part of the package `tidebox`.
//!
//! The classes of `python/tidebox` are thin over this module. Every method exists once: its last parameter chooses whether it
//! waits or returns an awaitable.

mod arguments;
mod awaitable;
mod cassette;
mod command;
mod deferred;
mod errors;
mod execute;
mod files;
mod host_tool;
mod options;
mod port;
mod process;
mod provider;
mod python_session;
mod runtime;
mod sandbox;
mod snapshot;
mod stream;

use pyo3::prelude::*;

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::cassette::NativeCassette;
    #[pymodule_export]
    use super::command::{run_command, use_archive, use_pack_wheels};
    #[pymodule_export]
    use super::errors::{FileOperationError, SandboxError};
    #[pymodule_export]
    use super::execute::{ExecuteResult, OutputChunk};
    #[pymodule_export]
    use super::files::{FileInfo, GlobResult, GrepMatch, GrepResult, ReadResult, TransferResult};
    #[pymodule_export]
    use super::host_tool::ToolCall;
    #[pymodule_export]
    use super::options::engine_started;
    #[pymodule_export]
    use super::port::{NativeExposedPort, NativePortEndpoint, NativePorts};
    #[pymodule_export]
    use super::process::{NativeProcesses, ProcessOutput, ProcessStatus};
    #[pymodule_export]
    use super::provider::{NativeEmulator, NativeProvider};
    #[pymodule_export]
    use super::python_session::{NativePythonSession, PythonResult};
    #[pymodule_export]
    use super::runtime::shut_down;
    #[pymodule_export]
    use super::sandbox::NativeSandbox;
    #[pymodule_export]
    use super::snapshot::{Change, Snapshot};
    #[pymodule_export]
    use super::stream::NativeStream;

    #[pymodule_init]
    fn init(module: &super::Bound<'_, super::PyModule>) -> super::PyResult<()> {
        super::PyModuleMethods::add(module, "__version__", env!("CARGO_PKG_VERSION"))
    }
}
