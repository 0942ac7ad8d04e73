//! What a backend answers, as a value.

use crate::backend::FileResult;
use crate::error::{Error, ErrorKind, Result};
use crate::execute::ExecuteResponse;
use crate::file::{DeleteResponse, EditResponse, LsResponse, ReadResponse, WriteResponse};
use crate::search::{GlobResponse, GrepResponse};
use crate::transfer::{Download, UploadResult};

/// What a method of [`SandboxBackend`](crate::SandboxBackend) answers, when it does not fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// To both forms of `execute`.
    Execute(ExecuteResponse),
    /// To `ls`.
    Ls(FileResult<LsResponse>),
    /// To `read`.
    Read(FileResult<ReadResponse>),
    /// To `write`.
    Write(FileResult<WriteResponse>),
    /// To `edit`.
    Edit(FileResult<EditResponse>),
    /// To `delete`.
    Delete(FileResult<DeleteResponse>),
    /// To `grep`.
    Grep(FileResult<GrepResponse>),
    /// To `glob`.
    Glob(FileResult<GlobResponse>),
    /// To `upload_files`.
    UploadFiles(Vec<UploadResult>),
    /// To `download_files`.
    DownloadFiles(Vec<Download>),
    /// To `close`.
    Close,
}

/// Takes the answer to a method out of the enum.
macro_rules! taken {
    ($($method:ident $variant:ident $answer:ty;)*) => {
        impl Answer {
            $(pub(crate) fn $method(self) -> Result<$answer> {
                match self {
                    Self::$variant(answer) => Ok(answer),
                    other => Err(other.not_to(stringify!($method))),
                }
            })*

            pub(crate) fn close(self) -> Result<()> {
                match self {
                    Self::Close => Ok(()),
                    other => Err(other.not_to("close")),
                }
            }

            /// The method that this is the answer to.
            pub fn method(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => stringify!($method),)*
                    Self::Close => "close",
                }
            }
        }
    };
}

taken! {
    execute Execute ExecuteResponse;
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

impl Answer {
    fn not_to(&self, method: &'static str) -> Error {
        let message = format!("a layer answered with what `{}` answers; correct that layer", self.method());
        Error::new(ErrorKind::Protocol, method, message)
    }
}
