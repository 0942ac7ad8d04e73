//! The contract: what a sandbox is, as traits, plain values, one error and one limits struct. No I/O.
//!
//! A *backend* ([`SandboxBackend`]) is one sandbox; a *provider* ([`SandboxProvider`]) makes and finds them. Both are
//! object safe, and everything outside this crate is an implementation of them or a caller.
//!
//! One rule holds for every method: `Err(`[`Error`]`)` means that *we* could not do our job (the sandbox is closed, the
//! network is down). What the sandbox answers is a value: a command that failed is an [`ExecuteResponse`] with its exit
//! code, a file that is not there is an `Ok(Err(`[`FileError`]`))`, see [`FileResult`].
//!
//! The rules that Deep Agents for JavaScript and for Python do not share are a value too: [`Dialect`].

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
pub mod mime;
pub mod network;
pub mod page;
mod path;
mod provider;
mod search;
mod secret;
pub mod shell_backend;
mod shell_mode;
mod transfer;

pub use backend::{BoxFuture, FileResult, Outcome, OutputSink, SandboxBackend};
pub use dialect::Dialect;
pub use error::{Error, ErrorKind, FileError, FileErrorCode, Result};
pub use execute::{ExecuteRequest, ExecuteResponse, OutputEvent, OutputStream, StopReason};
pub use file::{
    Content, DeleteResponse, EMPTY_FILE_REMINDER, EditRequest, EditResponse, FileInfo, FileKind, LineWindow,
    LsResponse, ReadRequest, ReadResponse, ToolContent, WriteRequest, WriteResponse,
};
pub use host_tool::{
    ByteSink, ByteSource, Disconnected, FileAccess, HostCall, HostFiles, HostInput, HostOutput, HostTool,
};
pub use limits::Limits;
pub use path::SandboxPath;
pub use provider::{ListPage, ListRequest, SandboxId, SandboxInfo, SandboxProvider, Selector};
pub use search::{GlobRequest, GlobResponse, GrepMatch, GrepRequest, GrepResponse, Truncation};
pub use secret::Secret;
pub use shell_mode::ShellMode;
pub use transfer::{Download, TransferCode, Upload, UploadResult};
