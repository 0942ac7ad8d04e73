//! One devbox at Runloop.

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use tidebox_core::shell_backend::PieceSink;
use tidebox_core::{
    BoxFuture, Error, FileError, FileErrorCode, FileResult, Outcome, Result, SandboxId, SandboxPath, Upload,
    UploadResult,
};

use super::config::RunloopConfig;
use super::wire;
use crate::output::Output;
use crate::plane::{Command, Ending, Plane};
use crate::probe;
use crate::sandbox::TRANSFERS;
use crate::transport::{Client, Reply};

/// A devbox.
#[derive(Clone, Debug)]
pub struct RunloopSandbox {
    pub(super) id: SandboxId,
    pub(super) config: RunloopConfig,
    pub(super) client: Client,
}

impl RunloopSandbox {
    pub(super) fn new(config: &RunloopConfig, id: SandboxId, client: Client) -> Self {
        Self { id, config: config.clone(), client }
    }

    pub(super) async fn refused(&self, operation: &'static str, reply: Reply) -> Result<Error> {
        let status = reply.status;
        let body = reply.whole().await?;
        Ok(wire::failure(operation, status, &body).with_context("sandbox", self.id.as_str()))
    }

    async fn upload(&self, path: SandboxPath, upload: Upload) -> Result<UploadResult> {
        let content = Bytes::from(upload.content);
        let request = wire::upload(&self.config, self.id.as_str(), &path, content.clone());
        let reply = self.client.send(&request).await?;
        let result = if reply.is_success() { Ok(()) } else { self.place(&path, reply, content).await? };
        Ok(UploadResult { path: upload.path, result })
    }

    /// Makes the directories above a file that was not taken, and tries again; or finds out why it cannot be there.
    async fn place(&self, path: &SandboxPath, reply: Reply, content: Bytes) -> Result<FileResult<()>> {
        let of_file = may_be_of_file(reply.status);
        let error = self.refused("upload_files", reply).await?;
        if !of_file {
            return Err(error);
        }
        let answer = probe::ask(self, probe::place(path)).await?;
        if !probe::has_room(&answer) {
            return probe::code(&answer).map_or(Err(error), |code| Ok(Err(FileError::refused(code, path.as_bytes()))));
        }
        let reply = self.client.send(&wire::upload(&self.config, self.id.as_str(), path, content)).await?;
        if reply.is_success() { Ok(Ok(())) } else { Err(self.refused("upload_files", reply).await?) }
    }
}

/// Whether a status may tell of a file. What a body looks like then is not written down.
fn may_be_of_file(status: u16) -> bool {
    matches!(status, 400 | 403 | 404 | 409 | 422 | 500)
}

/// Paths are parts of JSON and of forms here.
fn is_text(path: &SandboxPath) -> FileResult<()> {
    match std::str::from_utf8(path.as_bytes()) {
        Ok(_) => Ok(()),
        Err(_) => {
            let message = format!("Invalid path '{path}': Runloop transfers only files whose names are UTF-8");
            Err(FileError::new(FileErrorCode::InvalidPath, message))
        }
    }
}

impl Plane for RunloopSandbox {
    fn id(&self) -> &SandboxId {
        &self.id
    }

    /// Output is text here.
    fn passes_bytes(&self) -> bool {
        false
    }

    fn run<'a>(&'a self, command: Command, output: &'a mut Output<'_>) -> BoxFuture<'a, Result<Ending>> {
        Box::pin(self.follow(command, output))
    }

    fn fetch<'a>(&'a self, path: &'a SandboxPath, sink: PieceSink<'a>) -> Outcome<'a, ()> {
        Box::pin(async move {
            if let Err(refusal) = is_text(path) {
                return Ok(Err(refusal));
            }
            let mut reply = self.client.send(&wire::download(&self.config, self.id.as_str(), path)).await?;
            if !reply.is_success() {
                let of_file = may_be_of_file(reply.status);
                let error = self.refused("download_files", reply).await?;
                let answer = if of_file { probe::ask(self, probe::reason(path)).await? } else { String::new() };
                return probe::unread(path, &answer, error);
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
