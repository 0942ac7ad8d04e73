//! Two levels of failure: [`Error`] for failures of the backend, [`FileError`] for failed file operations in the sandbox.

use std::borrow::Cow;
use std::fmt;

use crate::transfer::TransferCode;

/// Result of operations that can fail in the backend.
pub type Result<T, E = Error> = std::result::Result<T, E>;

type Source = Box<dyn std::error::Error + Send + Sync>;

/// Kind of an error, as a stable name that is the same in all languages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The request is invalid and always fails: a NUL byte in a command, an empty id.
    InvalidRequest,
    /// No sandbox has this id.
    SandboxNotFound,
    /// The sandbox was closed.
    Closed,
    /// The backend does not support the operation.
    Unsupported,
    /// The provider does not accept the credentials.
    Unauthenticated,
    /// The provider accepts the credentials but denies the operation.
    Forbidden,
    /// Too many requests; try again later.
    RateLimited,
    /// A quota at the provider is used up.
    QuotaExceeded,
    /// The provider did not respond in time. Not the timeout of a command.
    Timeout,
    /// The provider cannot be reached, or reports that it is unavailable.
    Unavailable,
    /// The provider's response violates its protocol.
    Protocol,
    /// The engine that runs guests failed.
    Engine,
    /// A replay has no recording of this request.
    NotRecorded,
    /// A file on the host, such as a cassette or a saved sandbox, could not be read or written.
    Storage,
    /// A command timed out; only from [`crate::ExecuteResponse::into_success`].
    CommandTimeout,
    /// A command failed; only from [`crate::ExecuteResponse::into_success`].
    CommandFailed,
    /// A file operation failed in the sandbox; only from `From<FileError>`.
    FileOperationFailed,
}

impl ErrorKind {
    /// Returns the stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidRequest => "invalid_request",
            Self::SandboxNotFound => "sandbox_not_found",
            Self::Closed => "closed",
            Self::Unsupported => "unsupported",
            Self::Unauthenticated => "unauthenticated",
            Self::Forbidden => "forbidden",
            Self::RateLimited => "rate_limited",
            Self::QuotaExceeded => "quota_exceeded",
            Self::Timeout => "timeout",
            Self::Unavailable => "unavailable",
            Self::Protocol => "protocol",
            Self::Engine => "engine",
            Self::NotRecorded => "not_recorded",
            Self::Storage => "storage",
            Self::CommandTimeout => "command_timeout",
            Self::CommandFailed => "command_failed",
            Self::FileOperationFailed => "file_operation_failed",
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A failure of the backend.
///
/// Printed as `operation: message (name=value, ...)`; the cause is in `source`.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    operation: Cow<'static, str>,
    message: String,
    context: Vec<(Cow<'static, str>, String)>,
    source: Option<Source>,
}

impl Error {
    /// Creates an error of `kind` in `operation`; the message states the cause and a remedy.
    pub fn new(kind: ErrorKind, operation: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self { kind, operation: operation.into(), message: message.into(), context: Vec::new(), source: None }
    }

    /// Creates the error for an `operation` on a closed sandbox.
    pub fn closed(operation: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Closed, operation, "the sandbox is closed; create a new one")
    }

    /// Adds a context value, such as the sandbox's id.
    #[must_use]
    pub fn with_context(mut self, name: impl Into<Cow<'static, str>>, value: impl Into<String>) -> Self {
        self.context.push((name.into(), value.into()));
        self
    }

    /// Adds the cause.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Source>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Returns the failed operation.
    pub fn operation(&self) -> &str {
        &self.operation
    }

    /// Returns the message without operation and context.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the context values.
    pub fn context(&self) -> &[(Cow<'static, str>, String)] {
        &self.context
    }

    /// Returns whether the same request may succeed if sent again later.
    pub fn retryable(&self) -> bool {
        matches!(self.kind, ErrorKind::RateLimited | ErrorKind::Timeout | ErrorKind::Unavailable)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.operation, self.message)?;
        for (at, (name, value)) in self.context.iter().enumerate() {
            write!(f, "{}{name}={value}", if at == 0 { " (" } else { ", " })?;
        }
        if self.context.is_empty() { Ok(()) } else { f.write_str(")") }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.source {
            Some(source) => Some(source.as_ref()),
            None => None,
        }
    }
}

impl From<FileError> for Error {
    fn from(error: FileError) -> Self {
        Self::new(ErrorKind::FileOperationFailed, "file operation", error.message.clone())
            .with_context("code", error.code.as_str())
            .with_source(error)
    }
}

/// Reason for a failed file operation, as a stable name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileErrorCode {
    /// The path does not exist.
    FileNotFound,
    /// The mode bits, or the read-only base system, forbid it.
    PermissionDenied,
    /// The path is a directory, and a file is required.
    IsDirectory,
    /// The path is invalid: empty, relative, with a NUL byte, too long, a loop of links.
    InvalidPath,
    /// The path is a file, and a directory is required.
    NotADirectory,
    /// A device, or something else without content.
    NotARegularFile,
    /// The file is not text, and text is required.
    NotText,
    /// The file already exists, and the [`crate::Dialect`] does not replace it.
    AlreadyExists,
    /// The size exceeds the limit of the operation or of a file.
    TooLarge,
    /// The sandbox's quota of bytes or files is used up.
    NoSpace,
    /// The page starts after the end of the file.
    PastEnd,
    /// The string to replace is not in the file.
    StringNotFound,
    /// The string to replace occurs more than once.
    StringNotUnique,
    /// A search pattern, or a string to replace, is invalid.
    InvalidPattern,
}

impl FileErrorCode {
    /// Returns the stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::FileNotFound => "file_not_found",
            Self::PermissionDenied => "permission_denied",
            Self::IsDirectory => "is_directory",
            Self::InvalidPath => "invalid_path",
            Self::NotADirectory => "not_a_directory",
            Self::NotARegularFile => "not_a_regular_file",
            Self::NotText => "not_text",
            Self::AlreadyExists => "already_exists",
            Self::TooLarge => "too_large",
            Self::NoSpace => "no_space",
            Self::PastEnd => "past_end",
            Self::StringNotFound => "string_not_found",
            Self::StringNotUnique => "string_not_unique",
            Self::InvalidPattern => "invalid_pattern",
        }
    }

    /// Returns the closest of the four codes of the transfer protocol.
    pub fn transfer_code(self) -> TransferCode {
        match self {
            Self::FileNotFound => TransferCode::FileNotFound,
            Self::IsDirectory => TransferCode::IsDirectory,
            Self::InvalidPath | Self::NotADirectory | Self::NotARegularFile => TransferCode::InvalidPath,
            // The remaining codes mean that the sandbox cannot store or return the file; "not permitted" is the closest code.
            _ => TransferCode::PermissionDenied,
        }
    }
}

impl fmt::Display for FileErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A failed file operation in the sandbox: a value for the model, not a failure of the backend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// The reason.
    pub code: FileErrorCode,
    /// A sentence for the model, without the prefix `Error: ` that some tools add.
    pub message: String,
}

impl FileError {
    /// Creates an error from its code and message.
    pub fn new(code: FileErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// Creates `File '<path>' not found`, the message that both test suites expect.
    pub fn not_found(path: &[u8]) -> Self {
        Self::new(FileErrorCode::FileNotFound, format!("File '{}' not found", String::from_utf8_lossy(path)))
    }

    /// Creates the error for a file at `path` with the message that all backends use for the code.
    pub fn with_code(code: FileErrorCode, path: &[u8]) -> Self {
        let shown = String::from_utf8_lossy(path);
        let message = match code {
            FileErrorCode::FileNotFound => return Self::not_found(path),
            FileErrorCode::PermissionDenied => format!("Permission denied: '{shown}'"),
            FileErrorCode::IsDirectory => format!("'{shown}' is not a regular file but a directory"),
            FileErrorCode::NotADirectory => format!("A part of '{shown}' is not a directory"),
            FileErrorCode::NotARegularFile => format!("'{shown}' is not a regular file; use it from a command"),
            FileErrorCode::NotText => format!("File '{shown}' is not a text file; change it with a command"),
            FileErrorCode::AlreadyExists => format!("File '{shown}' already exists"),
            FileErrorCode::NoSpace => {
                format!("No space left in the sandbox for '{shown}'; delete files or raise its file limits")
            }
            FileErrorCode::TooLarge => format!("'{shown}' would exceed the maximum file size"),
            other => format!("Invalid path '{shown}': {other}"),
        };
        Self::new(code, message)
    }

    /// Like [`with_code`](Self::with_code), but for `grep`, `glob` and `ls`, whose messages are those of the reference
    /// implementation.
    pub fn for_search_root(code: FileErrorCode, path: &[u8]) -> Self {
        let reason = match code {
            FileErrorCode::FileNotFound => "path_not_found",
            FileErrorCode::NotADirectory | FileErrorCode::PermissionDenied => code.as_str(),
            _ => return Self::with_code(code, path),
        };
        Self::new(code, format!("Path '{}': {reason}", String::from_utf8_lossy(path)))
    }

    /// Creates the error for a `grep` pattern with a newline.
    pub fn pattern_spans_lines() -> Self {
        let message = "The pattern spans lines; search for a part of it that is within one line.";
        Self::new(FileErrorCode::InvalidPattern, message)
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for FileError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_prints_operation_message_and_context() {
        let error = Error::new(ErrorKind::Unavailable, "execute", "no response")
            .with_context("sandbox", "sb-1")
            .with_context("status", "503")
            .with_source(std::fmt::Error);
        assert_eq!(error.to_string(), "execute: no response (sandbox=sb-1, status=503)");
        assert!(error.retryable());
        assert!(std::error::Error::source(&error).is_some());
        assert_eq!(Error::closed("read").to_string(), "read: the sandbox is closed; create a new one");
        assert!(!Error::closed("read").retryable());
    }

    #[test]
    fn a_file_error_converts_to_an_error_with_its_code() {
        let error = Error::from(FileError::not_found(b"/x"));
        assert_eq!(error.kind(), ErrorKind::FileOperationFailed);
        assert_eq!(error.to_string(), "file operation: File '/x' not found (code=file_not_found)");
    }

    #[test]
    fn every_code_maps_to_a_transfer_code() {
        for code in [
            FileErrorCode::FileNotFound,
            FileErrorCode::PermissionDenied,
            FileErrorCode::IsDirectory,
            FileErrorCode::InvalidPath,
        ] {
            assert_eq!(code.transfer_code().as_str(), code.as_str());
        }
        assert_eq!(FileErrorCode::NotADirectory.transfer_code(), TransferCode::InvalidPath);
        assert_eq!(FileErrorCode::NoSpace.transfer_code(), TransferCode::PermissionDenied);
    }
}
