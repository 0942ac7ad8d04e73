//! What the kernel's errors are in the words of WASI 0.2.

use tidebox_kernel::Errno;
use tidebox_kernel::wasi::Halt;
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;
use wasmtime_wasi::p2::{FsError, StreamError};

use crate::call::Leave;

/// The `error-code` of `wasi:filesystem`. What it has no word for is the nearest that a program may act on.
pub(super) fn code(errno: Errno) -> ErrorCode {
    match errno {
        Errno::Acces => ErrorCode::Access,
        Errno::Again => ErrorCode::WouldBlock,
        Errno::Already => ErrorCode::Already,
        Errno::Badf => ErrorCode::BadDescriptor,
        Errno::Busy => ErrorCode::Busy,
        Errno::Deadlk => ErrorCode::Deadlock,
        Errno::Dquot => ErrorCode::Quota,
        Errno::Exist => ErrorCode::Exist,
        Errno::Fbig => ErrorCode::FileTooLarge,
        Errno::Ilseq => ErrorCode::IllegalByteSequence,
        Errno::Inprogress => ErrorCode::InProgress,
        Errno::Intr => ErrorCode::Interrupted,
        Errno::Inval | Errno::TooBig | Errno::Fault | Errno::Range | Errno::Dom => ErrorCode::Invalid,
        Errno::Isdir => ErrorCode::IsDirectory,
        Errno::Loop => ErrorCode::Loop,
        Errno::Mlink => ErrorCode::TooManyLinks,
        Errno::Msgsize => ErrorCode::MessageSize,
        Errno::Nametoolong => ErrorCode::NameTooLong,
        Errno::Nodev => ErrorCode::NoDevice,
        Errno::Noent => ErrorCode::NoEntry,
        Errno::Nolck => ErrorCode::NoLock,
        Errno::Nomem | Errno::Mfile | Errno::Nfile | Errno::Nobufs => ErrorCode::InsufficientMemory,
        Errno::Nospc => ErrorCode::InsufficientSpace,
        Errno::Notdir => ErrorCode::NotDirectory,
        Errno::Notempty => ErrorCode::NotEmpty,
        Errno::Notrecoverable => ErrorCode::NotRecoverable,
        Errno::Notsup | Errno::Nosys => ErrorCode::Unsupported,
        Errno::Notty => ErrorCode::NoTty,
        Errno::Nxio => ErrorCode::NoSuchDevice,
        Errno::Overflow => ErrorCode::Overflow,
        Errno::Perm | Errno::Notcapable => ErrorCode::NotPermitted,
        Errno::Pipe => ErrorCode::Pipe,
        Errno::Rofs => ErrorCode::ReadOnly,
        Errno::Spipe => ErrorCode::InvalidSeek,
        Errno::Txtbsy => ErrorCode::TextFileBusy,
        Errno::Xdev => ErrorCode::CrossDevice,
        _ => ErrorCode::Io,
    }
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
