//! What the kernel's errors are in the words of WASI 0.2.

use tidebox_kernel::wasi::Halt;
use wasmtime_wasi::p2::{FsError, StreamError};

use super::words::file_words;
use crate::call::Leave;

file_words! {
    types: wasmtime_wasi::p2::bindings::filesystem::types,
    time: super::clock::datetime,
    nanoseconds: super::clock::nanoseconds,
    again: ErrorCode::WouldBlock
}

/// The end of a process on its way through Wasmtime.
fn leave(halt: Halt) -> wasmtime::Error {
    match halt {
        Halt::Kill(signal) => wasmtime::Error::new(Leave::Killed(signal)),
        Halt::Errno(errno) => wasmtime::Error::new(errno),
        Halt::Block(_) => wasmtime::Error::new(Errno::Again),
    }
}

/// For calls on files, none of which waits.
pub(super) fn file(halt: Halt) -> FsError {
    match halt {
        Halt::Errno(errno) => code(errno).into(),
        Halt::Block(_) => ErrorCode::WouldBlock.into(),
        Halt::Kill(_) => FsError::trap(leave(halt)),
    }
}

/// For streams. The errno is kept, so that `filesystem-error-code` can tell it.
pub(super) fn stream(halt: Halt) -> StreamError {
    match halt {
        Halt::Errno(Errno::Pipe) => StreamError::Closed,
        Halt::Errno(errno) => StreamError::LastOperationFailed(wasmtime::Error::new(errno)),
        Halt::Block(_) | Halt::Kill(_) => StreamError::Trap(leave(halt)),
    }
}

/// For calls that cannot fail but by the end of the process.
pub(super) fn trap(halt: Halt) -> wasmtime::Error {
    leave(halt)
}
