//! One LangSmith sandbox.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use tidebox_core::shell_backend::ChunkSink;
use tidebox_core::{
    Error, ErrorKind, FileError, FileErrorCode, FileResult, PortEndpoint, Result, SandboxId, SandboxPath, Secret,
    Upload, UploadResult, unsupported_terminal,
};

use super::config::LangSmithConfig;
use super::execute::StreamProtocol;
use super::wire::{self, Endpoint};
use crate::data_plane::{Command, CommandOutcome, DataPlane, Terminals};
use crate::output::OutputCollector;
use crate::probe;
use crate::sandbox::TRANSFERS;
use crate::transport::{Client, Response};

/// Data plane of a sandbox.
#[derive(Clone, Debug)]
pub struct LangSmithSandbox {
    id: SandboxId,
    pub(super) plane: Endpoint,
    pub(super) client: Client,
    config: LangSmithConfig,
    /// The [`StreamProtocol`] that runs commands.
    protocol: Arc<AtomicU8>,
}

impl LangSmithSandbox {
    pub(super) fn new(config: &LangSmithConfig, found: &wire::Sandbox, client: Client) -> Result<Self> {
        let operation = "connect to a sandbox";
        let Some(url) = found.dataplane_url.as_deref().filter(|url| !url.is_empty()) else {
            let message = "LangSmith did not return the sandbox's URL; it may still be starting, try again later";
            return Err(Error::new(ErrorKind::Unavailable, operation, message).with_context("sandbox", &found.name));
        };
        if config.api_url.starts_with("https:") && !url.starts_with("https:") {
            let message = "LangSmith returned a sandbox URL without TLS; the key is not sent to it";
            return Err(Error::new(ErrorKind::Protocol, operation, message).with_context("sandbox", &found.name));
        }
        let plane = Endpoint {
            url: url.trim_end_matches('/').to_owned(),
            key: config.api_key.clone(),
            shell: config.shell.clone(),
            user: config.user.clone(),
        };
        Ok(Self { id: found.sandbox_id()?, plane, client, config: config.clone(), protocol: Arc::default() })
    }

    pub(super) fn protocol(&self) -> StreamProtocol {
        StreamProtocol::from_u8(self.protocol.load(Ordering::Relaxed))
    }

    pub(super) fn set_protocol(&self, protocol: StreamProtocol) {
        self.protocol.store(protocol as u8, Ordering::Relaxed);
    }

    pub(super) async fn response_error(&self, operation: &'static str, reply: Response) -> Result<Error> {
        let status = reply.status;
        let body = reply.bytes().await?;
        Ok(wire::failure(operation, status, &body).with_context("sandbox", self.id.as_str()))
    }

    async fn upload(&self, path: SandboxPath, upload: Upload) -> Result<UploadResult> {
        let content = Bytes::from(upload.content);
        let reply = self.client.send(&self.plane.upload(&path, content.clone())).await?;
        let result = if reply.is_success() {
            Ok(())
        } else {
            let error = self.response_error("upload_files", reply).await?;
            self.create_parents_and_upload(&path, error, content).await?
        };
        Ok(UploadResult { path: upload.path, result })
    }

    /// Creates the parent directories of a rejected upload and retries, or determines the error.
    async fn create_parents_and_upload(
        &self,
        path: &SandboxPath,
        error: Error,
        content: Bytes,
    ) -> Result<FileResult<()>> {
        if !is_of_file(&error) {
            return Err(error);
        }
        let response = probe::run_probe(self, probe::prepare_parent_script(path)).await?;
        if !probe::parent_is_ready(&response) {
            return probe::code(&response)
                .map_or(Err(error), |code| Ok(Err(FileError::with_code(code, path.as_bytes()))));
        }
        let reply = self.client.send(&self.plane.upload(path, content)).await?;
        if reply.is_success() { Ok(Ok(())) } else { Err(self.response_error("upload_files", reply).await?) }
    }

    /// Determines the error of a failed download: the service uses one message for several causes.
    async fn download_error(&self, path: &SandboxPath, error: Error) -> Result<FileResult<()>> {
        if !is_of_file(&error) {
            return Err(error);
        }
        let response = probe::run_probe(self, probe::read_error_script(path)).await?;
        probe::classify_read_error(path, &response, error)
    }
}

/// Returns whether an error may concern the file rather than the sandbox.
fn is_of_file(error: &Error) -> bool {
    let is = |name: &str, values: &[&str]| {
        error.context().iter().any(|(given, value)| given == name && values.contains(&value.as_str()))
    };
    is("error", &["FileNotFound", "WriteError", "ReadError", "PermissionDenied", "InvalidPath"])
        || is("status", &["400", "403", "404", "409", "422", "500"]) && !is("error", &["NotReady"])
}

/// Rejects paths that are not UTF-8: paths are sent in URLs.
fn is_text(path: &SandboxPath) -> FileResult<()> {
    match std::str::from_utf8(path.as_bytes()) {
        Ok(_) => Ok(()),
        Err(_) => {
            let message = format!("Invalid path '{path}': LangSmith transfers only files whose names are UTF-8");
            Err(FileError::new(FileErrorCode::InvalidPath, message))
        }
    }
}

#[async_trait]
impl DataPlane for LangSmithSandbox {
    fn id(&self) -> &SandboxId {
        &self.id
    }

    /// Server-sent events carry bytes, the other protocols text. False until the protocol is determined.
    fn is_binary_safe(&self) -> bool {
        self.protocol() == StreamProtocol::Events
    }

    async fn run(&self, command: Command, output: &mut OutputCollector<'_>) -> Result<CommandOutcome> {
        self.follow(command, output).await
    }

    async fn fetch(&self, path: &SandboxPath, sink: ChunkSink<'_>) -> Result<FileResult<()>> {
        if let Err(rejection) = is_text(path) {
            return Ok(Err(rejection));
        }
        let mut reply = self.client.send(&self.plane.download(path)).await?;
        if !reply.is_success() {
            let error = self.response_error("download_files", reply).await?;
            return self.download_error(path, error).await;
        }
        while let Some(chunk) = reply.next().await? {
            if !sink(&chunk) {
                break;
            }
        }
        Ok(Ok(()))
    }

    fn terminals(&self) -> Result<&dyn Terminals> {
        Err(unsupported_terminal(
            "spawn",
            "belongs to LangSmith, whose terminals have a fixed size and no separate keys",
        ))
    }

    async fn port_endpoint(&self, port: u16) -> Result<PortEndpoint> {
        const OPERATION: &str = "port_endpoint";
        let reply = self.client.send(&wire::service(&self.config, self.id.as_str(), port)).await?;
        if !reply.is_success() {
            return Err(self.response_error(OPERATION, reply).await?);
        }
        let service: wire::Service = wire::parse(OPERATION, &reply.bytes().await?)?;
        let token = Secret::new(service.token);
        Ok(PortEndpoint::new(service.service_url).with_header("x-langsmith-sandbox-service-token", token))
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
}
