//! The kernel's errors in the words of the file tools.

use tidebox_core::{FileError, FileErrorCode};
use tidebox_kernel::Errno;

/// What the kernel's error on `path` means to whoever asked.
pub(crate) fn refusal(errno: Errno, path: &[u8]) -> FileError {
    let shown = String::from_utf8_lossy(path);
    let (code, message) = match errno {
        Errno::Noent => return FileError::not_found(path),
        Errno::Acces | Errno::Perm | Errno::Rofs => {
            (FileErrorCode::PermissionDenied, format!("Permission denied: '{shown}'"))
        }
        Errno::Isdir => (FileErrorCode::IsDirectory, format!("'{shown}' is not a regular file but a directory")),
        Errno::Notdir => (FileErrorCode::NotADirectory, format!("A part of '{shown}' is not a directory")),
        Errno::Exist => (FileErrorCode::AlreadyExists, format!("File '{shown}' already exists")),
        Errno::Nospc | Errno::Dquot => (
            FileErrorCode::NoSpace,
            format!("No space left in the sandbox for '{shown}'; delete files or raise its file limits"),
        ),
        Errno::Fbig => (FileErrorCode::TooLarge, format!("'{shown}' would be larger than one file may be")),
        other => (FileErrorCode::InvalidPath, format!("Invalid path '{shown}': {other}")),
    };
    FileError::new(code, message)
}

/// For `grep`, `glob` and `ls`, which look for more than files; the words are those of the reference.
pub(crate) fn root_refusal(errno: Errno, path: &[u8]) -> FileError {
    let shown = String::from_utf8_lossy(path);
    match errno {
        Errno::Noent => FileError::new(FileErrorCode::FileNotFound, format!("Path '{shown}': path_not_found")),
        Errno::Notdir => FileError::new(FileErrorCode::NotADirectory, format!("Path '{shown}': not_a_directory")),
        Errno::Acces | Errno::Perm => {
            FileError::new(FileErrorCode::PermissionDenied, format!("Path '{shown}': permission_denied"))
        }
        other => refusal(other, path),
    }
}

/// A device, or a file that the kernel makes up when a program asks.
pub(crate) fn not_regular(path: &[u8]) -> FileError {
    let message = format!("'{}' is not a regular file; use it from a command", String::from_utf8_lossy(path));
    FileError::new(FileErrorCode::NotARegularFile, message)
}
