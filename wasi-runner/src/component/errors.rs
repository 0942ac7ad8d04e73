//! Conversion of the kernel's errors to those of WASI 0.2.

use tidebox_kernel::SyscallError;
use wasmtime_wasi::p2::{FsError, StreamError};

use super::convert::file_conversions;
use crate::call::GuestExit;

file_conversions! {
    types: wasmtime_wasi::p2::bindings::filesystem::types,
    time: super::clock::datetime,
    nanoseconds: super::clock::nanoseconds,
    again: ErrorCode::WouldBlock
}

/// Wraps the exit of the process as a Wasmtime error.
fn exit_error(halt: SyscallError) -> wasmtime::Error {
    match halt {
        SyscallError::Kill(signal) => wasmtime::Error::new(GuestExit::Killed(signal)),
        SyscallError::Errno(errno) => wasmtime::Error::new(errno),
        SyscallError::Block(_) => wasmtime::Error::new(Errno::Again),
    }
}

/// Error of a file operation that cannot block.
pub(super) fn fs_error(halt: SyscallError) -> FsError {
    match halt {
        SyscallError::Errno(errno) => code(errno).into(),
        SyscallError::Block(_) => ErrorCode::WouldBlock.into(),
        SyscallError::Kill(_) => FsError::trap(exit_error(halt)),
    }
}

/// Error of a stream. Keeps the errno for `filesystem-error-code`.
pub(super) fn stream_error(halt: SyscallError) -> StreamError {
    match halt {
        SyscallError::Errno(Errno::Pipe) => StreamError::Closed,
        SyscallError::Errno(errno) => StreamError::LastOperationFailed(wasmtime::Error::new(errno)),
        SyscallError::Block(_) | SyscallError::Kill(_) => StreamError::Trap(exit_error(halt)),
    }
}

/// Error of a call that can fail only because the process exits.
pub(super) fn trap(halt: SyscallError) -> wasmtime::Error {
    exit_error(halt)
}
