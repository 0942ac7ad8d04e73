//! The kernel's errors in the words of the file tools.

use tidebox_core::{FileError, FileErrorCode};
use tidebox_kernel::Errno;

/// What the kernel's error on `path` means to whoever asked.
pub(crate) fn refusal(errno: Errno, path: &[u8]) -> FileError {
    match code(errno) {
        Some(code) => FileError::refused(code, path),
        None => {
            let message = format!("Invalid path '{}': {errno}", String::from_utf8_lossy(path));
            FileError::new(FileErrorCode::InvalidPath, message)
        }
    }
}

/// For `grep`, `glob` and `ls`, which look for more than files.
pub(crate) fn root_refusal(errno: Errno, path: &[u8]) -> FileError {
    match errno {
        // That all of the base system is read-only says more than that a path is.
        Errno::Rofs => refusal(errno, path),
        _ => code(errno).map_or_else(|| refusal(errno, path), |code| FileError::at_root(code, path)),
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

/// A device, or a file that the kernel makes up when a program asks.
pub(crate) fn not_regular(path: &[u8]) -> FileError {
    FileError::refused(FileErrorCode::NotARegularFile, path)
}
