//! Two floors of failure: [`Error`] when we could not do our job, [`FileError`] when the sandbox says no.

use std::borrow::Cow;
use std::fmt;

use crate::transfer::TransferCode;

/// The result of everything that can fail on our side.
pub type Result<T, E = Error> = std::result::Result<T, E>;

type Source = Box<dyn std::error::Error + Send + Sync>;

/// What went wrong, as a stable name that other languages see unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The request can never work as it is: a NUL byte in a command, an empty id.
    InvalidRequest,
    /// No sandbox has this id.
    SandboxNotFound,
    /// The sandbox was closed.
    Closed,
    /// This backend cannot do that, and says so instead of doing something else.
    Unsupported,
    /// The provider does not accept our credentials.
    Unauthenticated,
    /// The provider knows us and refuses.
    Forbidden,
    /// Too many requests; try again later.
    RateLimited,
    /// An allowance at the provider is used up.
    QuotaExceeded,
    /// The provider did not answer in time. Not the timeout of a command.
    Timeout,
    /// The provider cannot be reached, or says that it is not well.
    Unavailable,
    /// The provider answered something that its protocol does not allow.
    Protocol,
    /// The engine that runs guests failed.
    Engine,
    /// A replay has no recording of this request.
    NotRecorded,
    /// A file on the host, such as a cassette or a saved sandbox, could not be read or written.
    Storage,
    /// A command's time was up; only from [`crate::ExecuteResponse::success`].
    CommandTimeout,
    /// A command failed; only from [`crate::ExecuteResponse::success`].
    CommandFailed,
    /// The sandbox refused a file operation; only by way of `From<FileError>`.
    FileOperationFailed,
}

impl ErrorKind {
    /// The stable name.
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

/// We could not do our job.
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
    /// An error of `kind` in `operation`, with a sentence on what happened and what to do about it.
    pub fn new(kind: ErrorKind, operation: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self { kind, operation: operation.into(), message: message.into(), context: Vec::new(), source: None }
    }

    /// The sandbox was closed before `operation`.
    pub fn closed(operation: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Closed, operation, "the sandbox is closed; create a new one")
    }

    /// Adds a fact, such as the sandbox's id.
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

    /// What went wrong.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// What was being done.
    pub fn operation(&self) -> &str {
        &self.operation
    }

    /// The sentence, without operation and context.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The facts.
    pub fn context(&self) -> &[(Cow<'static, str>, String)] {
        &self.context
    }

    /// Whether the same request may succeed when it is sent again a little later.
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

/// Why the sandbox refuses a file operation, as a stable name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileErrorCode {
    /// Nothing is there.
    FileNotFound,
    /// The mode bits, or the read-only base system, forbid it.
    PermissionDenied,
    /// A directory is where a file is needed.
    IsDirectory,
    /// A path that can never be: empty, relative, with a NUL byte, too long, a loop of links.
    InvalidPath,
    /// A file is where a directory is needed.
    NotADirectory,
    /// A device, or something else without content.
    NotARegularFile,
    /// Text is needed and the file is none.
    NotText,
    /// The file is there already, and the [`crate::Dialect`] does not replace it.
    AlreadyExists,
    /// More bytes than the operation, or a file, may have.
    TooLarge,
    /// The sandbox's allowance of bytes or files is used up.
    NoSpace,
    /// The page starts behind the end of the file.
    PastEnd,
    /// The string to replace is not in the file.
    StringNotFound,
    /// The string to replace is there more than once.
    StringNotUnique,
    /// A search pattern, or a string to replace, that cannot be used.
    InvalidPattern,
}

impl FileErrorCode {
    /// The stable name.
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

    /// The nearest of the four codes that the transfer protocol knows.
    pub fn transfer_code(self) -> TransferCode {
        match self {
            Self::FileNotFound => TransferCode::FileNotFound,
            Self::IsDirectory => TransferCode::IsDirectory,
            Self::InvalidPath | Self::NotADirectory | Self::NotARegularFile => TransferCode::InvalidPath,
            // What is left is a refusal to store or to hand out; "not permitted" is the only code that says so.
            _ => TransferCode::PermissionDenied,
        }
    }
}

impl fmt::Display for FileErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The sandbox's refusal of a file operation: a value for the model, not a failure of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// The reason.
    pub code: FileErrorCode,
    /// A sentence for the model, without the prefix `Error: ` that some tools print before it.
    pub message: String,
}

impl FileError {
    /// A refusal with its sentence.
    pub fn new(code: FileErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// `File '<path>' not found`, the wording that both test suites look for.
    pub fn not_found(path: &[u8]) -> Self {
        Self::new(FileErrorCode::FileNotFound, format!("File '{}' not found", String::from_utf8_lossy(path)))
    }

    /// The refusal of a file at `path` by its code, in the words that all backends share.
    pub fn refused(code: FileErrorCode, path: &[u8]) -> Self {
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
            FileErrorCode::TooLarge => format!("'{shown}' would be larger than one file may be"),
            other => format!("Invalid path '{shown}': {other}"),
        };
        Self::new(code, message)
    }

    /// The same for `grep`, `glob` and `ls`, which look for more than files; the words are those of the reference.
    pub fn at_root(code: FileErrorCode, path: &[u8]) -> Self {
        let reason = match code {
            FileErrorCode::FileNotFound => "path_not_found",
            FileErrorCode::NotADirectory | FileErrorCode::PermissionDenied => code.as_str(),
            _ => return Self::refused(code, path),
        };
        Self::new(code, format!("Path '{}': {reason}", String::from_utf8_lossy(path)))
    }

    /// A `grep` for more than a part of one line.
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
    fn an_error_prints_operation_message_and_context_and_keeps_its_cause() {
        let error = Error::new(ErrorKind::Unavailable, "execute", "no answer")
            .with_context("sandbox", "sb-1")
            .with_context("status", "503")
            .with_source(std::fmt::Error);
        assert_eq!(error.to_string(), "execute: no answer (sandbox=sb-1, status=503)");
        assert!(error.retryable());
        assert!(std::error::Error::source(&error).is_some());
        assert_eq!(Error::closed("read").to_string(), "read: the sandbox is closed; create a new one");
        assert!(!Error::closed("read").retryable());
    }

    #[test]
    fn a_refusal_becomes_an_error_that_keeps_its_code() {
        let error = Error::from(FileError::not_found(b"/x"));
        assert_eq!(error.kind(), ErrorKind::FileOperationFailed);
        assert_eq!(error.to_string(), "file operation: File '/x' not found (code=file_not_found)");
    }

    #[test]
    fn every_code_maps_to_one_of_the_four_and_the_four_to_themselves() {
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
