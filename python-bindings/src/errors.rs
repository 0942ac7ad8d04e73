//! Python exceptions.

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyOSError};
use pyo3::prelude::*;
use tidebox::{Error, ErrorKind, FileError, FileErrorCode};

use crate::files::path_text;
use crate::runtime;

create_exception!(
    tidebox,
    SandboxError,
    PyException,
    "Tidebox or a provider failed, or a call was invalid. What a command did is never an exception.\n\n\
     `kind` is a stable name of the reason, such as \"closed\", \"unsupported\" or \"sandbox_not_found\"."
);
create_exception!(
    tidebox,
    FileOperationError,
    SandboxError,
    "A file operation failed for a reason that has no exception in Python, such as a string to replace that is not in the file.\n\n\
     `kind` is the reason, such as \"string_not_found\", and `filename` the path."
);

/// Creates the exception of a failure.
pub(crate) fn sandbox_error(error: &Error) -> PyErr {
    let exception = || SandboxError::new_err(error.to_string());
    // Without an interpreter the attribute is unread.
    runtime::attach(|py| with_kind(py, exception(), error.kind().as_str())).unwrap_or_else(exception)
}

/// Creates the exception for an invalid argument. Its name is part of the message.
pub(crate) fn invalid(message: impl Into<String>) -> PyErr {
    pyo3::exceptions::PyValueError::new_err(message.into())
}

fn with_kind(py: Python<'_>, error: PyErr, kind: &str) -> PyErr {
    // A failure to set the attribute leaves a usable exception.
    let _ = error.value(py).setattr("kind", kind);
    error
}

/// Creates the exception of a failed file operation: a subclass of `OSError` where Python has one for the reason.
pub(crate) fn file_error(error: &FileError, path: &[u8]) -> PyErr {
    let exception = runtime::attach(|py| {
        let name = match path_text(py, path) {
            Ok(name) => name.unbind(),
            Err(error) => return error,
        };
        if let Some(errno) = errno(error.code) {
            // `OSError` chooses the subclass by the number.
            return PyOSError::new_err((errno, error.message.clone(), name));
        }
        let exception = with_kind(py, FileOperationError::new_err(error.message.clone()), error.code.as_str());
        let _ = exception.value(py).setattr("filename", name);
        exception
    });
    exception.unwrap_or_else(|| FileOperationError::new_err(error.message.clone()))
}

/// Numbers of Linux, which Python's constants have on every platform that tidebox supports.
fn errno(code: FileErrorCode) -> Option<i32> {
    Some(match code {
        FileErrorCode::FileNotFound => 2,
        FileErrorCode::PermissionDenied => 13,
        FileErrorCode::AlreadyExists => 17,
        FileErrorCode::NotADirectory => 20,
        FileErrorCode::IsDirectory => 21,
        FileErrorCode::NoSpace => 28,
        _ => return None,
    })
}

/// Converts a result whose failure is one of the sandbox.
pub(crate) fn checked<T>(result: Result<T, Error>) -> PyResult<T> {
    result.map_err(|error| match error.kind() {
        ErrorKind::InvalidRequest => {
            let exception = || invalid(error.to_string());
            runtime::attach(|py| with_kind(py, exception(), error.kind().as_str())).unwrap_or_else(exception)
        }
        _ => sandbox_error(&error),
    })
}
