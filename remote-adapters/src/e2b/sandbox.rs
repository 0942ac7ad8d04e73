//! One sandbox at E2B.

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use tidebox_core::shell_backend::PieceSink;
use tidebox_core::{
    BoxFuture, Error, ErrorKind, FileError, FileErrorCode, FileResult, Outcome, OutputStream, Result, SandboxId,
    SandboxPath, Secret, Upload, UploadResult,
};

use super::config::E2bConfig;
use super::wire::{self, Access, Envd, Event};
use crate::output::Output;
use crate::plane::{Command, Ending, Plane};
use crate::sandbox::TRANSFERS;
use crate::transport::{Client, FrameReader, Reply, spawn};

/// The daemon in a sandbox.
#[derive(Clone, Debug)]
pub struct E2bSandbox {
    id: SandboxId,
    envd: Envd,
    shell: String,
    client: Client,
}

/// Kills a command that nobody waits for any more. Dropping the connection does not.
struct Started<'a> {
    sandbox: &'a E2bSandbox,
    pid: Option<u64>,
}

impl Drop for Started<'_> {
    fn drop(&mut self) {
        if let Some(pid) = self.pid {
            let (client, kill) = (self.sandbox.client.clone(), self.sandbox.envd.kill(pid));
            spawn(async move {
                // It may have ended meanwhile, and there is nobody left who could be told of anything else.
                let _ = client.send(&kill).await;
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
        Ok(Self { id: SandboxId::parse(access.sandbox_id)?, envd, shell: config.shell.clone(), client })
    }

    async fn follow(&self, command: Command, output: &mut Output<'_>) -> Result<Ending> {
        let mut reply = self.client.send(&self.envd.start(&command, &self.shell)).await?;
        if !reply.is_success() {
            return Err(self.refused("execute", reply).await?);
        }
        let mut started = Started { sandbox: self, pid: None };
        let mut reader = FrameReader::default();
        while let Some(piece) = reply.next().await? {
            let too_long = || Error::new(ErrorKind::Protocol, "execute", "E2B sent a message of more than 16 MiB");
            for frame in reader.push(&piece).ok_or_else(too_long)? {
                match wire::event(&frame)? {
                    Event::Started(pid) => started.pid = Some(pid),
                    Event::Wrote(stream, bytes) => output.push(stream, &bytes),
                    Event::Ended(Ending::Timeout) => {
                        // The daemon has killed the shell; what the shell started may live on, so nothing is taken back.
                        return Ok(Ending::Timeout);
                    }
                    Event::Ended(ending) => {
                        started.pid = None;
                        return Ok(ending);
                    }
                    Event::NotStarted(reason) => {
                        output.push(OutputStream::Stderr, format!("{reason}\n").as_bytes());
                        return Ok(Ending::Exit(1));
                    }
                    Event::Other => {}
                }
            }
        }
        let message = "the connection ended before the command did; what it has done so far stands";
        Err(Error::new(ErrorKind::Unavailable, "execute", message).with_context("sandbox", self.id.as_str()))
    }

    async fn refused(&self, operation: &'static str, reply: Reply) -> Result<Error> {
        let status = reply.status;
        let body = reply.whole().await?;
        Ok(wire::failure(operation, status, &body).with_context("sandbox", self.id.as_str()))
    }

    async fn upload(&self, path: SandboxPath, upload: Upload) -> Result<UploadResult> {
        let reply = self.client.send(&self.envd.upload(&path, upload.content)).await?;
        let result = self.settle("upload_files", &path, reply).await?.map(drop);
        Ok(UploadResult { path: upload.path, result })
    }

    /// A reply that is a success, or the refusal of the file.
    async fn settle(&self, operation: &'static str, path: &SandboxPath, reply: Reply) -> Result<FileResult<Reply>> {
        if reply.is_success() {
            return Ok(Ok(reply));
        }
        let status = reply.status;
        let body = reply.whole().await?;
        match wire::file_refusal(status, &body, path.as_bytes()) {
            Some(refusal) => Ok(Err(refusal)),
            None => Err(wire::failure(operation, status, &body).with_context("sandbox", self.id.as_str())),
        }
    }
}

/// Paths are parts of URLs and of JSON here.
fn is_text(path: &SandboxPath) -> FileResult<()> {
    match std::str::from_utf8(path.as_bytes()) {
        Ok(_) => Ok(()),
        Err(_) => {
            let message = format!("Invalid path '{path}': E2B transfers only files whose names are UTF-8");
            Err(FileError::new(FileErrorCode::InvalidPath, message))
        }
    }
}

impl Plane for E2bSandbox {
    fn id(&self) -> &SandboxId {
        &self.id
    }

    fn passes_bytes(&self) -> bool {
        true
    }

    fn run<'a>(&'a self, command: Command, output: &'a mut Output<'_>) -> BoxFuture<'a, Result<Ending>> {
        Box::pin(self.follow(command, output))
    }

    fn fetch<'a>(&'a self, path: &'a SandboxPath, sink: PieceSink<'a>) -> Outcome<'a, ()> {
        Box::pin(async move {
            if let Err(refusal) = is_text(path) {
                return Ok(Err(refusal));
            }
            let reply = self.client.send(&self.envd.download(path)).await?;
            let mut reply = match self.settle("download_files", path, reply).await? {
                Ok(reply) => reply,
                Err(refusal) => return Ok(Err(refusal)),
            };
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
        // One request for each file: of a request with many, the daemon does not say which one failed.
        Box::pin(uploads.buffered(TRANSFERS).try_collect())
    }
}
