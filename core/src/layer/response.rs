//! Return values of a backend's methods as one type.

use crate::backend::FileResult;
use crate::error::{Error, ErrorKind, Result};
use crate::execute::ExecuteResponse;
use crate::file::{DeleteResponse, EditResponse, LsResponse, ReadResponse, WriteResponse};
use crate::port::PortEndpoint;
use crate::process::{OutputPage, ProcessId, ProcessInfo};
use crate::search::{GlobResponse, GrepResponse};
use crate::transfer::{Download, UploadResult};

/// Return value of a method of [`SandboxBackend`](crate::SandboxBackend), unless it fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Response {
    /// Of both forms of `execute`.
    Execute(ExecuteResponse),
    /// Of `spawn`.
    Spawn(ProcessId),
    /// Of `processes`.
    Processes(Vec<ProcessInfo>),
    /// Of `read_process`.
    ReadProcess(OutputPage),
    /// Of `write_process`.
    WriteProcess(usize),
    /// Of `signal_process`.
    SignalProcess(()),
    /// Of `resize_process`.
    ResizeProcess(()),
    /// Of `port_endpoint`.
    PortEndpoint(PortEndpoint),
    /// Of `ls`.
    Ls(FileResult<LsResponse>),
    /// Of `read`.
    Read(FileResult<ReadResponse>),
    /// Of `write`.
    Write(FileResult<WriteResponse>),
    /// Of `edit`.
    Edit(FileResult<EditResponse>),
    /// Of `delete`.
    Delete(FileResult<DeleteResponse>),
    /// Of `grep`.
    Grep(FileResult<GrepResponse>),
    /// Of `glob`.
    Glob(FileResult<GlobResponse>),
    /// Of `upload_files`.
    UploadFiles(Vec<UploadResult>),
    /// Of `download_files`.
    DownloadFiles(Vec<Download>),
    /// Of `close`.
    Close,
}

/// Extracts the response of one method from the enum.
macro_rules! accessors {
    ($($method:ident $variant:ident $response:ty;)*) => {
        impl Response {
            $(pub(crate) fn $method(self) -> Result<$response> {
                match self {
                    Self::$variant(response) => Ok(response),
                    other => Err(other.mismatch(stringify!($method))),
                }
            })*

            pub(crate) fn close(self) -> Result<()> {
                match self {
                    Self::Close => Ok(()),
                    other => Err(other.mismatch("close")),
                }
            }

            /// Returns the name of the method that this is a response of.
            pub fn method(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => stringify!($method),)*
                    Self::Close => "close",
                }
            }
        }
    };
}

accessors! {
    execute Execute ExecuteResponse;
    spawn Spawn ProcessId;
    processes Processes Vec<ProcessInfo>;
    read_process ReadProcess OutputPage;
    write_process WriteProcess usize;
    signal_process SignalProcess ();
    resize_process ResizeProcess ();
    port_endpoint PortEndpoint PortEndpoint;
    ls Ls FileResult<LsResponse>;
    read Read FileResult<ReadResponse>;
    write Write FileResult<WriteResponse>;
    edit Edit FileResult<EditResponse>;
    delete Delete FileResult<DeleteResponse>;
    grep Grep FileResult<GrepResponse>;
    glob Glob FileResult<GlobResponse>;
    upload_files UploadFiles Vec<UploadResult>;
    download_files DownloadFiles Vec<Download>;
}

impl Response {
    fn mismatch(&self, method: &'static str) -> Error {
        let message = format!("a layer returned a response of `{}`; fix the layer", self.method());
        Error::new(ErrorKind::Protocol, method, message)
    }
}
