//! The contract of a sandbox: traits, plain values, one error type and one struct of limits. No I/O.
//!
//! A *backend* ([`SandboxBackend`]) is one sandbox; a *provider* ([`SandboxProvider`]) creates and finds them. Both are object
//! safe, and everything outside this crate implements or calls them.
//!
//! One rule applies to every method: `Err(`[`Error`]`)` means that the backend failed (the sandbox is closed, the network is
//! down). Results of the sandbox are values: a failed command is an [`ExecuteResponse`] with its exit code, a missing file is an
//! `Ok(Err(`[`FileError`]`))`, see [`FileResult`].
//!
//! The rules that differ between Deep Agents for JavaScript and for Python are a value too: [`Dialect`].

#![forbid(unsafe_code)]

mod backend;
#[cfg(feature = "conformance")]
pub mod conformance;
mod dialect;
pub mod edit;
mod error;
mod execute;
mod file;
pub mod glob;
mod host_tool;
pub mod layer;
mod limits;
#[doc(hidden)]
pub mod lock;
pub mod mime;
pub mod network;
mod output_buffer;
mod output_overflow;
pub mod page;
mod path;
mod port;
mod process;
mod provider;
mod search;
mod secret;
pub mod shell_backend;
mod shell_mode;
mod transfer;

pub use backend::{BoxFuture, FileFuture, FileResult, OutputSink, SandboxBackend};
pub use dialect::Dialect;
pub use error::{Error, ErrorKind, FileError, FileErrorCode, Result};
pub use execute::{Background, ExecuteRequest, ExecuteResponse, OutputChunk, OutputStream, StopReason};
pub use file::{
    Content, DeleteResponse, EMPTY_FILE_REMINDER, EditRequest, EditResponse, FileInfo, FileKind, LineWindow,
    LsResponse, ReadRequest, ReadResponse, ToolContent, WriteRequest, WriteResponse,
};
pub use host_tool::{
    BrokenPipe, ByteSink, ByteSource, FileAccess, HostCall, HostFiles, HostInput, HostOutput, HostTool,
};
pub use limits::Limits;
pub use output_buffer::OutputBuffer;
pub use output_overflow::OutputOverflow;
pub use path::SandboxPath;
pub use port::{PortEndpoint, check_port, unsupported_port};
pub use process::{
    OutputCursor, OutputPage, Process, ProcessId, ProcessInfo, ProcessInput, ProcessList, ProcessRecord, ProcessSignal,
    ProcessState, ReadOutput, SpawnInput, SpawnRequest, TerminalSize, closed_process_input, missing_terminal,
    unknown_process, unsupported_process, unsupported_terminal,
};
pub use provider::{ListPage, ListRequest, SandboxId, SandboxInfo, SandboxProvider, Selector};
pub use search::{GlobRequest, GlobResponse, GrepMatch, GrepRequest, GrepResponse, Truncation};
pub use secret::Secret;
pub use shell_mode::ShellMode;
pub use transfer::{Download, TransferCode, Upload, UploadResult};
