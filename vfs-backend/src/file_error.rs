//! Conversion of the kernel's errors to file tool errors.

use tidebox_core::{FileError, FileErrorCode};
use tidebox_kernel::Errno;

/// Converts the kernel's error on `path`.
pub(crate) fn file_error(errno: Errno, path: &[u8]) -> FileError {
    match code(errno) {
        Some(code) => FileError::with_code(code, path),
        None => {
            let message = format!("Invalid path '{}': {errno}", String::from_utf8_lossy(path));
            FileError::new(FileErrorCode::InvalidPath, message)
        }
    }
}

/// As [`file_error`], for `grep`, `glob` and `ls`, which also accept directories.
pub(crate) fn search_error(errno: Errno, path: &[u8]) -> FileError {
    match errno {
        // A read-only base system is more specific than a read-only path.
        Errno::Rofs => file_error(errno, path),
        _ => code(errno).map_or_else(|| file_error(errno, path), |code| FileError::for_search_root(code, path)),
    }
}

fn code(errno: Errno) -> Option<FileErrorCode> {
    Some(match errno {
        Errno::Noent => FileErrorCode::FileNotFound,
        Errno::Acces | Errno::Perm | Errno::Rofs => FileErrorCode::PermissionDenied,
        Errno::Isdir => FileErrorCode::IsDirectory,
        Errno::Notdir => FileErrorCode::NotADirectory,
        Errno::Exist => FileErrorCode::AlreadyExists,
        Errno::Nospc | Errno::Dquot => FileErrorCode::NoSpace,
        Errno::Fbig => FileErrorCode::TooLarge,
        _ => return None,
    })
}

/// Error for a device or a generated file of the kernel.
pub(crate) fn not_regular(path: &[u8]) -> FileError {
    FileError::with_code(FileErrorCode::NotARegularFile, path)
}
