//! Failures of the server and of its tools.

use std::fmt;
use std::io;

use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock};
use tidebox_core::{Error, FileError};

/// The server cannot start or has lost its connection.
#[derive(Debug)]
pub struct ServeError {
    message: String,
    source: Option<io::Error>,
}

impl ServeError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), source: None }
    }

    pub(crate) fn io(message: impl Into<String>, source: io::Error) -> Self {
        Self { message: message.into(), source: Some(source) }
    }
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            Some(source) => write!(f, "{}: {source}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for ServeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|source| source as _)
    }
}

/// Failure of a tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ToolError {
    /// The call itself failed. The model sees the message and can react to it.
    Failed(String),
    /// The arguments do not match the schema: an error of the protocol.
    InvalidArguments(String),
}

impl ToolError {
    /// Converts to the result or to the protocol's error.
    pub(crate) fn into_result(self) -> Result<CallToolResult, ErrorData> {
        match self {
            Self::Failed(message) => Ok(CallToolResult::error(vec![ContentBlock::text(message)])),
            Self::InvalidArguments(message) => Err(ErrorData::invalid_params(message, None)),
        }
    }
}

impl From<Error> for ToolError {
    fn from(error: Error) -> Self {
        Self::Failed(error.to_string())
    }
}

impl From<FileError> for ToolError {
    fn from(error: FileError) -> Self {
        Self::Failed(error.message)
    }
}
