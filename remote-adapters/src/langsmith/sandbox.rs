//! One sandbox at LangSmith.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use tidebox_core::shell_backend::PieceSink;
use tidebox_core::{
    BoxFuture, Error, ErrorKind, FileError, FileErrorCode, FileResult, Outcome, Result, SandboxId, SandboxPath, Upload,
    UploadResult,
};

use super::config::LangSmithConfig;
use super::execute::Way;
use super::wire::{self, DataPlane};
use crate::output::Output;
use crate::plane::{Command, Ending, Plane};
use crate::probe;
use crate::sandbox::TRANSFERS;
use crate::transport::{Client, Reply};

/// The data plane of a sandbox.
#[derive(Clone, Debug)]
pub struct LangSmithSandbox {
    id: SandboxId,
    pub(super) plane: DataPlane,
    pub(super) client: Client,
    /// Which [`Way`] commands go.
    way: Arc<AtomicU8>,
}

impl LangSmithSandbox {
    pub(super) fn new(config: &LangSmithConfig, found: &wire::Sandbox, client: Client) -> Result<Self> {
        let operation = "connect to a sandbox";
        let Some(url) = found.dataplane_url.as_deref().filter(|url| !url.is_empty()) else {
            let message = "LangSmith did not say where the sandbox is; it may still be made, try again later";
            return Err(Error::new(ErrorKind::Unavailable, operation, message).with_context("sandbox", &found.name));
        };
        if config.api_url.starts_with("https:") && !url.starts_with("https:") {
            let message = "LangSmith named an address of the sandbox without TLS, to which no key is sent";
            return Err(Error::new(ErrorKind::Protocol, operation, message).with_context("sandbox", &found.name));
        }
        let plane = DataPlane {
            url: url.trim_end_matches('/').to_owned(),
            key: config.api_key.clone(),
            shell: config.shell.clone(),
            user: config.user.clone(),
        };
        Ok(Self { id: found.sandbox_id()?, plane, client, way: Arc::default() })
    }

    pub(super) fn way(&self) -> Way {
        Way::of(self.way.load(Ordering::Relaxed))
    }

    pub(super) fn keep_way(&self, way: Way) {
        self.way.store(way as u8, Ordering::Relaxed);
    }

    pub(super) async fn refused(&self, operation: &'static str, reply: Reply) -> Result<Error> {
        let status = reply.status;
        let body = reply.whole().await?;
        Ok(wire::failure(operation, status, &body).with_context("sandbox", self.id.as_str()))
    }

    async fn upload(&self, path: SandboxPath, upload: Upload) -> Result<UploadResult> {
        let content = Bytes::from(upload.content);
        let reply = self.client.send(&self.plane.upload(&path, content.clone())).await?;
        let result = if reply.is_success() {
            Ok(())
        } else {
            let error = self.refused("upload_files", reply).await?;
            self.place_for(&path, error, content).await?
        };
        Ok(UploadResult { path: upload.path, result })
    }

    /// Makes the directories above a file that was not taken, and tries again; or finds out why it cannot be there.
    async fn place_for(&self, path: &SandboxPath, error: Error, content: Bytes) -> Result<FileResult<()>> {
        if !is_of_file(&error) {
            return Err(error);
        }
        let answer = probe::ask(self, probe::place(path)).await?;
        if !probe::has_room(&answer) {
            return probe::code(&answer).map_or(Err(error), |code| Ok(Err(FileError::refused(code, path.as_bytes()))));
        }
        let reply = self.client.send(&self.plane.upload(path, content)).await?;
        if reply.is_success() { Ok(Ok(())) } else { Err(self.refused("upload_files", reply).await?) }
    }

    /// Why a file was not handed out: the service has one word for several reasons.
    async fn reason(&self, path: &SandboxPath, error: Error) -> Result<FileResult<()>> {
        if !is_of_file(&error) {
            return Err(error);
        }
        let answer = probe::ask(self, probe::reason(path)).await?;
        probe::unread(path, &answer, error)
    }
}

/// Whether an error may be one of the file, and not of the sandbox.
fn is_of_file(error: &Error) -> bool {
    let is = |name: &str, values: &[&str]| {
        error.context().iter().any(|(given, value)| given == name && values.contains(&value.as_str()))
    };
    is("error", &["FileNotFound", "WriteError", "ReadError", "PermissionDenied", "InvalidPath"])
        || is("status", &["400", "403", "404", "409", "422", "500"]) && !is("error", &["NotReady"])
}

/// Paths are parts of URLs here.
fn is_text(path: &SandboxPath) -> FileResult<()> {
    match std::str::from_utf8(path.as_bytes()) {
        Ok(_) => Ok(()),
        Err(_) => {
            let message = format!("Invalid path '{path}': LangSmith transfers only files whose names are UTF-8");
            Err(FileError::new(FileErrorCode::InvalidPath, message))
        }
    }
}

impl Plane for LangSmithSandbox {
    fn id(&self) -> &SandboxId {
        &self.id
    }

    /// Server-sent events carry bytes, the other ways text. Until one was gone, nothing is taken for granted.
    fn passes_bytes(&self) -> bool {
        self.way() == Way::Events
    }

    fn run<'a>(&'a self, command: Command, output: &'a mut Output<'_>) -> BoxFuture<'a, Result<Ending>> {
        Box::pin(self.follow(command, output))
    }

    fn fetch<'a>(&'a self, path: &'a SandboxPath, sink: PieceSink<'a>) -> Outcome<'a, ()> {
        Box::pin(async move {
            if let Err(refusal) = is_text(path) {
                return Ok(Err(refusal));
            }
            let mut reply = self.client.send(&self.plane.download(path)).await?;
            if !reply.is_success() {
                let error = self.refused("download_files", reply).await?;
                return self.reason(path, error).await;
            }
            while let Some(piece) = reply.next().await? {
                if !sink(&piece) {
                    break;
                }
            }
            Ok(Ok(()))
        })
    }

    fn store(&self, files: Vec<(SandboxPath, Upload)>) -> BoxFuture<'_, Result<Vec<UploadResult>>> {
        let uploads = stream::iter(files).map(move |(path, upload)| async move {
            match is_text(&path) {
                Ok(()) => self.upload(path, upload).await,
                Err(refusal) => Ok(UploadResult { path: upload.path, result: Err(refusal) }),
            }
        });
        Box::pin(uploads.buffered(TRANSFERS).try_collect())
    }
}
