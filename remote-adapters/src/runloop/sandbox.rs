//! One Runloop devbox.

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use tidebox_core::shell_backend::ChunkSink;
use tidebox_core::{
    Error, FileError, FileErrorCode, FileResult, PortEndpoint, Result, SandboxId, SandboxPath, Upload, UploadResult,
    unsupported_terminal,
};

use super::config::RunloopConfig;
use super::wire;
use crate::data_plane::{Command, CommandOutcome, DataPlane, Terminals};
use crate::output::OutputCollector;
use crate::probe;
use crate::sandbox::TRANSFERS;
use crate::transport::{Client, Response};

/// Client of a devbox.
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

    pub(super) async fn response_error(&self, operation: &'static str, reply: Response) -> Result<Error> {
        let status = reply.status;
        let body = reply.bytes().await?;
        Ok(wire::failure(operation, status, &body).with_context("sandbox", self.id.as_str()))
    }

    async fn upload(&self, path: SandboxPath, upload: Upload) -> Result<UploadResult> {
        let content = Bytes::from(upload.content);
        let request = wire::upload(&self.config, self.id.as_str(), &path, content.clone());
        let reply = self.client.send(&request).await?;
        let result =
            if reply.is_success() { Ok(()) } else { self.create_parents_and_upload(&path, reply, content).await? };
        Ok(UploadResult { path: upload.path, result })
    }

    /// Creates the parent directories of a rejected upload and retries, or determines the error.
    async fn create_parents_and_upload(
        &self,
        path: &SandboxPath,
        reply: Response,
        content: Bytes,
    ) -> Result<FileResult<()>> {
        let of_file = may_be_of_file(reply.status);
        let error = self.response_error("upload_files", reply).await?;
        if !of_file {
            return Err(error);
        }
        let response = probe::run_probe(self, probe::prepare_parent_script(path)).await?;
        if !probe::parent_is_ready(&response) {
            return probe::code(&response)
                .map_or(Err(error), |code| Ok(Err(FileError::with_code(code, path.as_bytes()))));
        }
        let reply = self.client.send(&wire::upload(&self.config, self.id.as_str(), path, content)).await?;
        if reply.is_success() { Ok(Ok(())) } else { Err(self.response_error("upload_files", reply).await?) }
    }
}

/// Returns whether a status may concern a file. The body of such a response is undocumented.
fn may_be_of_file(status: u16) -> bool {
    matches!(status, 400 | 403 | 404 | 409 | 422 | 500)
}

/// Rejects paths that are not UTF-8: paths are sent in JSON and forms.
fn is_text(path: &SandboxPath) -> FileResult<()> {
    match std::str::from_utf8(path.as_bytes()) {
        Ok(_) => Ok(()),
        Err(_) => {
            let message = format!("Invalid path '{path}': Runloop transfers only files whose names are UTF-8");
            Err(FileError::new(FileErrorCode::InvalidPath, message))
        }
    }
}

#[async_trait]
impl DataPlane for RunloopSandbox {
    fn id(&self) -> &SandboxId {
        &self.id
    }

    /// Output is sent as text.
    fn is_binary_safe(&self) -> bool {
        false
    }

    async fn run(&self, command: Command, output: &mut OutputCollector<'_>) -> Result<CommandOutcome> {
        self.follow(command, output).await
    }

    async fn fetch(&self, path: &SandboxPath, sink: ChunkSink<'_>) -> Result<FileResult<()>> {
        if let Err(rejection) = is_text(path) {
            return Ok(Err(rejection));
        }
        let mut reply = self.client.send(&wire::download(&self.config, self.id.as_str(), path)).await?;
        if !reply.is_success() {
            let of_file = may_be_of_file(reply.status);
            let error = self.response_error("download_files", reply).await?;
            let response =
                if of_file { probe::run_probe(self, probe::read_error_script(path)).await? } else { String::new() };
            return probe::classify_read_error(path, &response, error);
        }
        while let Some(chunk) = reply.next().await? {
            if !sink(&chunk) {
                break;
            }
        }
        Ok(Ok(()))
    }

    async fn store(&self, files: Vec<(SandboxPath, Upload)>) -> Result<Vec<UploadResult>> {
        let uploads = stream::iter(files).map(move |(path, upload)| async move {
            match is_text(&path) {
                Ok(()) => self.upload(path, upload).await,
                Err(rejection) => Ok(UploadResult { path: upload.path, result: Err(rejection) }),
            }
        });
        uploads.buffered(TRANSFERS).try_collect().await
    }

    fn terminals(&self) -> Result<&dyn Terminals> {
        Err(unsupported_terminal("spawn", "belongs to Runloop, whose terminals run only login shells"))
    }

    async fn port_endpoint(&self, port: u16) -> Result<PortEndpoint> {
        const OPERATION: &str = "port_endpoint";
        let reply = self.client.send(&wire::enable_tunnel(&self.config, self.id.as_str())).await?;
        if !reply.is_success() {
            return Err(self.response_error(OPERATION, reply).await?);
        }
        let tunnel: wire::Tunnel = wire::parse(OPERATION, &reply.bytes().await?)?;
        tunnel.endpoint(&self.config, port)
    }
}
