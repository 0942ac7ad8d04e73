//! One sandbox at Deno.

use std::sync::Arc;
use std::time::Duration;

use futures_util::lock::Mutex as AsyncMutex;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use serde::Deserialize;
use serde_json::{Value, json};
use tidebox_core::shell_backend::PieceSink;
use tidebox_core::{
    BoxFuture, Error, ErrorKind, FileError, FileErrorCode, FileResult, Outcome, OutputStream, Result, SandboxId,
    SandboxPath, Upload, UploadResult,
};

use super::config::DenoConfig;
use super::connection::{Answer, Connection};
use super::wire::{self, Refusal, Spawned, Stat, Waited};
use crate::output::Output;
use crate::plane::{Command, Ending, Plane};
use crate::sandbox::TRANSFERS;
use crate::transport::socket::Opening;
use crate::transport::{Client, spawn, within};

/// A sandbox, and the connection to it, which is opened again when it was lost.
#[derive(Clone, Debug)]
pub struct DenoSandbox {
    id: SandboxId,
    config: DenoConfig,
    client: Client,
    connection: Arc<AsyncMutex<Arc<Connection>>>,
}

/// Files up to here are read in one message.
const READ_WHOLE: u64 = 4 << 20;

/// What one message carries of longer files that are read. Each waits for an answer.
const READ_BYTES: usize = 1 << 20;

/// Files up to here are written in one message, longer ones flow on a stream beside their call.
const WRITE_WHOLE: usize = 64 << 10;

/// How long output is waited for after a command has ended: what it started may hold its output open.
const LAST_OUTPUT: Duration = Duration::from_secs(2);

/// How long a command may take to die.
const DYING: Duration = Duration::from_secs(3);

/// Kills a command that nobody waits for any more.
struct Running {
    connection: Arc<Connection>,
    pid: u64,
    over: bool,
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.over {
            let (connection, pid) = (Arc::clone(&self.connection), self.pid);
            spawn(async move { kill(&connection, pid).await });
        }
    }
}

/// There is nobody who could be told of a failure: it may have ended by itself.
async fn kill(connection: &Connection, pid: u64) {
    if let Ok(Ok(spawned)) = connection.ask("execute", "spawn", &wire::kill_tree(pid)).await {
        let _ = within(DYING, connection.call("execute", "processWait", &json!({ "pid": spawned["pid"] }))).await;
    }
    let _ = connection.ask("execute", "processKill", &json!({ "pid": pid, "signal": "SIGKILL" })).await;
}

fn read<T: for<'de> Deserialize<'de>>(operation: &'static str, value: Value) -> Result<T> {
    serde_json::from_value(value).map_err(|error| wire::senseless(operation).with_source(error))
}

impl DenoSandbox {
    pub(super) fn new(id: SandboxId, config: DenoConfig, client: Client, connection: Arc<Connection>) -> Self {
        Self { id, config, client, connection: Arc::new(AsyncMutex::new(connection)) }
    }

    /// The connection, or a new one when that was lost.
    async fn connection(&self) -> Result<Arc<Connection>> {
        let mut connection = self.connection.lock().await;
        if !connection.is_open() {
            *connection = match self.client.open(&wire::connect(&self.config, self.id.as_str())?).await? {
                Opening::Open(socket) => Connection::new(socket),
                Opening::Refused(reply) => {
                    let status = reply.status;
                    let body = reply.whole().await?;
                    let error = wire::failure("connect to a sandbox", status, &body);
                    return Err(error.with_context("sandbox", self.id.as_str()));
                }
            };
        }
        Ok(Arc::clone(&connection))
    }

    async fn ask(&self, operation: &'static str, method: &str, params: &Value) -> Result<Answer> {
        self.connection().await?.ask(operation, method, params).await
    }

    async fn follow(&self, command: Command, output: &mut Output<'_>) -> Result<Ending> {
        let connection = self.connection().await?;
        // It may run from here on, so it is never sent again.
        let spawned = match connection.ask("execute", "spawn", &wire::spawn(&command, &self.config.shell)).await? {
            Ok(spawned) => read::<Spawned>("execute", spawned)?,
            Err(refusal) => {
                // It could not be started, as in a directory that is not there.
                output.push(OutputStream::Stderr, format!("{}\n", refusal.message).as_bytes());
                return Ok(Ending::Exit(1));
            }
        };
        let mut running = Running { connection: Arc::clone(&connection), pid: spawned.pid, over: false };
        let Some(ended) = within(command.time, to_the_end(&connection, &spawned, output)).await else {
            kill(&connection, spawned.pid).await;
            running.over = true;
            return Ok(Ending::Timeout);
        };
        // When the connection broke, nobody knows whether it still runs, and it cannot be killed either.
        running.over = ended.is_ok();
        ended
    }

    /// Calls for a file.
    async fn file<T: for<'de> Deserialize<'de>>(
        &self,
        connection: &Connection,
        method: &str,
        params: &Value,
        path: &SandboxPath,
    ) -> Result<FileResult<T>> {
        match connection.ask("transfer a file", method, params).await? {
            Ok(value) => read("transfer a file", value).map(Ok),
            Err(refusal) => refused(refusal, path),
        }
    }

    async fn download(&self, path: &SandboxPath, sink: PieceSink<'_>) -> Result<FileResult<()>> {
        let connection = self.connection().await?;
        let name = path.to_text();
        let stat = match self.file::<Stat>(&connection, "stat", &json!({ "path": name }), path).await? {
            Ok(stat) => stat,
            Err(refusal) => return Ok(Err(refusal)),
        };
        if stat.is_directory || !stat.is_file {
            let code = if stat.is_directory { FileErrorCode::IsDirectory } else { FileErrorCode::NotARegularFile };
            return Ok(Err(FileError::refused(code, path.as_bytes())));
        }
        if stat.size <= READ_WHOLE {
            let content = self.file::<String>(&connection, "readFile", &json!({ "path": name }), path).await?;
            return match content {
                Ok(content) => {
                    sink(&wire::bytes(&content)?);
                    Ok(Ok(()))
                }
                Err(refusal) => Ok(Err(refusal)),
            };
        }
        let open = json!({ "path": name, "options": { "read": true } });
        let handle = match self.file::<Handle>(&connection, "open", &open, path).await? {
            Ok(handle) => handle.file_handle_id,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let done = self.pieces(&connection, handle, path, sink).await;
        close(&connection, handle).await?;
        done
    }

    async fn pieces(
        &self,
        connection: &Connection,
        handle: u64,
        path: &SandboxPath,
        sink: PieceSink<'_>,
    ) -> Result<FileResult<()>> {
        #[derive(Deserialize)]
        struct Read {
            data: Option<String>,
        }
        let next = json!({ "fileHandleId": handle, "length": READ_BYTES });
        loop {
            match self.file::<Read>(connection, "fileRead", &next, path).await? {
                Ok(Read { data: Some(data) }) => {
                    if !sink(&wire::bytes(&data)?) {
                        return Ok(Ok(()));
                    }
                }
                Ok(Read { data: None }) => return Ok(Ok(())),
                Err(refusal) => return Ok(Err(refusal)),
            }
        }
    }

    async fn upload(&self, path: &SandboxPath, content: &[u8]) -> Result<FileResult<()>> {
        match self.put(path, content).await? {
            // The directories above are made only where they are missing.
            Err(refusal) if refusal.code == FileErrorCode::FileNotFound => {}
            done => return Ok(done),
        }
        let above = path.parent().unwrap_or_else(SandboxPath::root);
        let mkdir = json!({ "path": above.to_text(), "options": { "recursive": true } });
        match self.ask("transfer a file", "mkdir", &mkdir).await? {
            Ok(_) => self.put(path, content).await,
            Err(refusal) => refused(refusal, path),
        }
    }

    async fn put(&self, path: &SandboxPath, content: &[u8]) -> Result<FileResult<()>> {
        let connection = self.connection().await?;
        let name = path.to_text();
        if content.len() <= WRITE_WHOLE {
            let whole = json!({ "path": name, "content": wire::text(content) });
            return Ok(self.file::<Value>(&connection, "writeFile", &whole, path).await?.map(drop));
        }
        let of_stream = |stream| json!({ "path": name, "contentStreamId": stream });
        match connection.ask_with("transfer a file", "writeFile", of_stream, content).await? {
            Ok(_) => Ok(Ok(())),
            Err(refusal) => refused(refusal, path),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Handle {
    file_handle_id: u64,
}

async fn close(connection: &Connection, handle: u64) -> Result<()> {
    let closed = connection.ask("transfer a file", "fileClose", &json!({ "fileHandleId": handle })).await?;
    closed.map(drop).map_err(|refusal| refusal.error("transfer a file"))
}

fn refused<T>(refusal: Refusal, path: &SandboxPath) -> Result<FileResult<T>> {
    match refusal.of_file(path.as_bytes()) {
        Some(of_file) => Ok(Err(of_file)),
        None => Err(refusal.error("transfer a file").with_context("path", path.to_text())),
    }
}

/// Hears a command until it has ended and its output has.
async fn to_the_end(connection: &Connection, spawned: &Spawned, output: &mut Output<'_>) -> Result<Ending> {
    use futures_util::future::{Either, select};
    let streams: Vec<u64> = spawned.stdout_stream_id.into_iter().chain(spawned.stderr_stream_id).collect();
    let mut hearing = connection.hear(&streams);
    let mut push = |(stream, piece): (u64, Option<Vec<u8>>)| {
        let name = if Some(stream) == spawned.stderr_stream_id { OutputStream::Stderr } else { OutputStream::Stdout };
        if let Some(bytes) = piece {
            output.push(name, &bytes);
        }
    };
    let of = json!({ "pid": spawned.pid });
    let mut waiting = Box::pin(connection.call("execute", "processWait", &of));
    let waited = loop {
        match select(waiting, hearing.pieces.next()).await {
            Either::Left((waited, _)) => break waited?,
            Either::Right((Some(piece), rest)) => {
                push(piece);
                waiting = rest;
            }
            // Both streams are at their end.
            Either::Right((None, rest)) => break rest.await?,
        }
    };
    while let Some(Some(piece)) = within(LAST_OUTPUT, hearing.pieces.next()).await {
        push(piece);
    }
    let waited = waited.map_err(|refusal| refusal.error("execute"))?;
    Ok(read::<Waited>("execute", waited)?.ending())
}

/// Paths are text here.
fn is_text(path: &SandboxPath) -> FileResult<()> {
    match std::str::from_utf8(path.as_bytes()) {
        Ok(_) => Ok(()),
        Err(_) => {
            let message = format!("Invalid path '{path}': Deno transfers only files whose names are UTF-8");
            Err(FileError::new(FileErrorCode::InvalidPath, message))
        }
    }
}

impl Plane for DenoSandbox {
    fn id(&self) -> &SandboxId {
        &self.id
    }

    fn passes_bytes(&self) -> bool {
        true
    }

    fn run<'a>(&'a self, command: Command, output: &'a mut Output<'_>) -> BoxFuture<'a, Result<Ending>> {
        Box::pin(async move {
            if command.env.iter().any(|(_, value)| value.contains('\0')) {
                let message = "a variable of the environment cannot contain a NUL byte";
                return Err(Error::new(ErrorKind::InvalidRequest, "execute", message));
            }
            self.follow(command, output).await
        })
    }

    fn fetch<'a>(&'a self, path: &'a SandboxPath, sink: PieceSink<'a>) -> Outcome<'a, ()> {
        Box::pin(async move {
            match is_text(path) {
                Ok(()) => self.download(path, sink).await,
                Err(refusal) => Ok(Err(refusal)),
            }
        })
    }

    fn store(&self, files: Vec<(SandboxPath, Upload)>) -> BoxFuture<'_, Result<Vec<UploadResult>>> {
        let uploads = stream::iter(files).map(move |(path, upload)| async move {
            let result = match is_text(&path) {
                Ok(()) => self.upload(&path, &upload.content).await?,
                Err(refusal) => Err(refusal),
            };
            Ok(UploadResult { path: upload.path, result })
        });
        Box::pin(uploads.buffered(TRANSFERS).try_collect())
    }
}
