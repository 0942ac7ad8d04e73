//! One E2B sandbox.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use tidebox_core::shell_backend::ChunkSink;
use tidebox_core::{
    Error, ErrorKind, FileError, FileErrorCode, FileResult, OutputStream, PortEndpoint, Result, SandboxId, SandboxPath,
    Secret, TerminalSize, Upload, UploadResult,
};

use super::config::E2bConfig;
use super::wire::{self, Access, Envd, Event};
use crate::data_plane::{Command, CommandOutcome, DataPlane, NewTerminal, TerminalControl, Terminals};
use crate::output::OutputCollector;
use crate::sandbox::TRANSFERS;
use crate::transport::{Client, FrameReader, Request, Response, sleep, spawn};

/// Client of the daemon in a sandbox.
#[derive(Clone, Debug)]
pub struct E2bSandbox {
    id: SandboxId,
    envd: Envd,
    shell: String,
    client: Client,
    config: E2bConfig,
    /// Domain of its host, as the control plane reported it.
    domain: Option<String>,
    /// Credential of its servers.
    traffic_token: Option<Secret>,
}

/// A terminal.
#[derive(Debug)]
struct E2bTerminal {
    sandbox: E2bSandbox,
    pid: u64,
}

impl E2bTerminal {
    async fn send(&self, operation: &'static str, request: Request) -> Result<()> {
        let reply = self.sandbox.client.send(&request).await?;
        if reply.is_success() { Ok(()) } else { Err(self.sandbox.response_error(operation, reply).await?) }
    }
}

#[async_trait]
impl TerminalControl for E2bTerminal {
    async fn write(&self, keys: Vec<u8>) -> Result<()> {
        self.send("write_process", self.sandbox.envd.type_keys(self.pid, &keys)).await
    }

    async fn resize(&self, size: TerminalSize) -> Result<()> {
        self.send("resize_process", self.sandbox.envd.resize(self.pid, size)).await
    }
}

/// Kills an abandoned command on drop. Closing the connection does not kill it.
struct KillGuard<'a> {
    sandbox: &'a E2bSandbox,
    /// Tag of the command, which selects it before its process id is known.
    tag: &'a str,
    /// True once the sandbox has reported that the command runs.
    is_started: bool,
    /// False once the command has exited.
    runs: bool,
}

/// Pauses before the signal is sent again. The request that starts the command may arrive after the first signal.
const KILL_PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(1)];

impl Drop for KillGuard<'_> {
    fn drop(&mut self) {
        if self.runs {
            let (client, kill) = (self.sandbox.client.clone(), self.sandbox.envd.kill(self.tag));
            let pauses: &[Duration] = if self.is_started { &[] } else { &KILL_PAUSES };
            spawn(async move {
                // Ignore errors: the command may have exited, and no caller is left to report to.
                let mut killed = client.send(&kill).await;
                for pause in pauses {
                    if killed.is_ok_and(|reply| reply.is_success()) {
                        return;
                    }
                    sleep(*pause).await;
                    killed = client.send(&kill).await;
                }
            });
        }
    }
}

impl E2bSandbox {
    #[cfg(test)]
    pub(super) fn envd(&self) -> &Envd {
        &self.envd
    }

    pub(super) fn new(config: &E2bConfig, access: Access, client: Client) -> Result<Self> {
        let url = config.data_url(&access.sandbox_id, access.domain.as_deref())?;
        let envd = Envd {
            url,
            id: access.sandbox_id.clone(),
            token: access.envd_access_token.map(Secret::new),
            user: config.user.clone(),
        };
        Ok(Self {
            id: SandboxId::parse(access.sandbox_id)?,
            envd,
            shell: config.shell.clone(),
            client,
            config: config.clone(),
            domain: access.domain,
            traffic_token: access.traffic_access_token.map(Secret::new),
        })
    }

    /// Starts a command and follows it until it exits.
    async fn follow(
        &self,
        command: &Command,
        mut terminal: Option<NewTerminal>,
        output: &mut OutputCollector<'_>,
    ) -> Result<CommandOutcome> {
        let tag = format!("tidebox-{:016x}", fastrand::u64(..));
        let request = self.envd.start(command, &self.shell, &tag, terminal.as_ref().map(|terminal| terminal.size));
        let mut guard = KillGuard { sandbox: self, tag: &tag, is_started: false, runs: true };
        let mut reply = self.client.send(&request).await?;
        if !reply.is_success() {
            guard.runs = false;
            return Err(self.response_error("execute", reply).await?);
        }
        let mut reader = FrameReader::default();
        while let Some(chunk) = reply.next().await? {
            let too_long = || Error::new(ErrorKind::Protocol, "execute", "E2B sent a message of more than 16 MiB");
            for frame in reader.push(&chunk).ok_or_else(too_long)? {
                match wire::event(&frame)? {
                    Event::Started(pid) => {
                        guard.is_started = true;
                        if let Some(NewTerminal { opened, .. }) = terminal.take() {
                            // The process may be forgotten already.
                            let _ = opened.send(Arc::new(E2bTerminal { sandbox: self.clone(), pid }));
                        }
                    }
                    Event::Output(stream, bytes) => output.push(stream, &bytes),
                    Event::Ended(CommandOutcome::Timeout) => {
                        // The daemon has killed the shell; its child processes may still run, so the guard stays armed.
                        return Ok(CommandOutcome::Timeout);
                    }
                    Event::Ended(ending) => {
                        guard.runs = false;
                        return Ok(ending);
                    }
                    Event::NotStarted(reason) => {
                        guard.runs = false;
                        output.push(OutputStream::Stderr, format!("{reason}\n").as_bytes());
                        return Ok(CommandOutcome::Exit(1));
                    }
                    Event::Other => {}
                }
            }
        }
        let message = "the connection was closed before the command exited; completed changes remain";
        Err(Error::new(ErrorKind::Unavailable, "execute", message).with_context("sandbox", self.id.as_str()))
    }

    async fn response_error(&self, operation: &'static str, reply: Response) -> Result<Error> {
        let status = reply.status;
        let body = reply.bytes().await?;
        Ok(wire::failure(operation, status, &body).with_context("sandbox", self.id.as_str()))
    }

    async fn upload(&self, path: SandboxPath, upload: Upload) -> Result<UploadResult> {
        let reply = self.client.send(&self.envd.upload(&path, upload.content)).await?;
        let result = self.check_reply("upload_files", &path, reply).await?.map(drop);
        Ok(UploadResult { path: upload.path, result })
    }

    /// Returns a successful response, or the file error.
    async fn check_reply(
        &self,
        operation: &'static str,
        path: &SandboxPath,
        reply: Response,
    ) -> Result<FileResult<Response>> {
        if reply.is_success() {
            return Ok(Ok(reply));
        }
        let status = reply.status;
        let body = reply.bytes().await?;
        match wire::file_error(status, &body, path.as_bytes()) {
            Some(rejection) => Ok(Err(rejection)),
            None => Err(wire::failure(operation, status, &body).with_context("sandbox", self.id.as_str())),
        }
    }
}

/// Rejects paths that are not UTF-8: paths are sent in URLs and JSON.
fn is_text(path: &SandboxPath) -> FileResult<()> {
    match std::str::from_utf8(path.as_bytes()) {
        Ok(_) => Ok(()),
        Err(_) => {
            let message = format!("Invalid path '{path}': E2B transfers only files whose names are UTF-8");
            Err(FileError::new(FileErrorCode::InvalidPath, message))
        }
    }
}

#[async_trait]
impl Terminals for E2bSandbox {
    async fn run_in_terminal(
        &self,
        command: Command,
        terminal: NewTerminal,
        output: &mut OutputCollector<'_>,
    ) -> Result<CommandOutcome> {
        self.follow(&command, Some(terminal), output).await
    }
}

#[async_trait]
impl DataPlane for E2bSandbox {
    fn id(&self) -> &SandboxId {
        &self.id
    }

    fn is_binary_safe(&self) -> bool {
        true
    }

    async fn run(&self, command: Command, output: &mut OutputCollector<'_>) -> Result<CommandOutcome> {
        self.follow(&command, None, output).await
    }

    fn terminals(&self) -> Result<&dyn Terminals> {
        Ok(self)
    }

    async fn fetch(&self, path: &SandboxPath, sink: ChunkSink<'_>) -> Result<FileResult<()>> {
        if let Err(rejection) = is_text(path) {
            return Ok(Err(rejection));
        }
        let reply = self.client.send(&self.envd.download(path)).await?;
        let mut reply = match self.check_reply("download_files", path, reply).await? {
            Ok(reply) => reply,
            Err(rejection) => return Ok(Err(rejection)),
        };
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
        // One request per file: for a request with several files, the daemon does not report which one failed.
        uploads.buffered(TRANSFERS).try_collect().await
    }

    async fn port_endpoint(&self, port: u16) -> Result<PortEndpoint> {
        let endpoint = self.config.endpoint(self.id.as_str(), port, self.domain.as_deref())?;
        Ok(match &self.traffic_token {
            Some(token) => endpoint.with_header("e2b-traffic-access-token", token.clone()),
            None => endpoint,
        })
    }
}
