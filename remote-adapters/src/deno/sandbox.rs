//! One Deno sandbox.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::lock::Mutex as AsyncMutex;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use serde::Deserialize;
use serde_json::{Value, json};
use tidebox_core::shell_backend::ChunkSink;
use tidebox_core::{
    Error, ErrorKind, FileError, FileErrorCode, FileResult, OutputStream, PortEndpoint, Result, SandboxId, SandboxPath,
    Upload, UploadResult, unsupported_terminal,
};

use super::config::DenoConfig;
use super::connection::{CallResult, Connection};
use super::wire::{self, RpcError, Spawned, Stat, WaitResponse};
use crate::data_plane::{Command, CommandOutcome, DataPlane, Terminals};
use crate::output::OutputCollector;
use crate::sandbox::TRANSFERS;
use crate::transport::socket::UpgradeResult;
use crate::transport::{Client, spawn, timeout};

/// A sandbox and its connection, which is reopened after a disconnect.
#[derive(Clone, Debug)]
pub struct DenoSandbox {
    id: SandboxId,
    config: DenoConfig,
    client: Client,
    connection: Arc<AsyncMutex<Arc<Connection>>>,
    /// Domains of exposed ports. A sandbox has a limited number of them.
    exposed: Arc<AsyncMutex<BTreeMap<u16, String>>>,
}

/// Files up to this size are read in one message.
const READ_WHOLE: u64 = 4 << 20;

/// Chunk size when reading longer files. Each chunk waits for a response.
const READ_BYTES: usize = 1 << 20;

/// Files up to this size are written in one message; longer ones are streamed next to their call.
const WRITE_WHOLE: usize = 64 << 10;

/// Time to wait for output after a command has exited: its child processes may keep the output open.
const LAST_OUTPUT: Duration = Duration::from_secs(2);

/// Timeout for a killed command to exit.
const KILL_TIMEOUT: Duration = Duration::from_secs(3);

/// Kills an abandoned command on drop.
struct KillGuard {
    connection: Arc<Connection>,
    pid: u64,
    over: bool,
}

impl Drop for KillGuard {
    fn drop(&mut self) {
        if !self.over {
            let (connection, pid) = (Arc::clone(&self.connection), self.pid);
            spawn(async move { kill(&connection, pid).await });
        }
    }
}

/// Ignores errors: the command may have exited, and no caller is left to report to.
async fn kill(connection: &Connection, pid: u64) {
    if let Ok(Ok(spawned)) = connection.call_with_timeout("execute", "spawn", &wire::kill_tree(pid)).await {
        let _ =
            timeout(KILL_TIMEOUT, connection.call("execute", "processWait", &json!({ "pid": spawned["pid"] }))).await;
    }
    let _ = connection.call_with_timeout("execute", "processKill", &json!({ "pid": pid, "signal": "SIGKILL" })).await;
}

fn read<T: for<'de> Deserialize<'de>>(operation: &'static str, value: Value) -> Result<T> {
    serde_json::from_value(value).map_err(|error| wire::unexpected_response(operation).with_source(error))
}

impl DenoSandbox {
    pub(super) fn new(id: SandboxId, config: DenoConfig, client: Client, connection: Arc<Connection>) -> Self {
        Self { id, config, client, connection: Arc::new(AsyncMutex::new(connection)), exposed: Arc::default() }
    }

    /// Returns the connection, or a new one after a disconnect.
    async fn connection(&self) -> Result<Arc<Connection>> {
        let mut connection = self.connection.lock().await;
        if !connection.is_open() {
            *connection = match self.client.open(&wire::connect(&self.config, self.id.as_str())?).await? {
                UpgradeResult::Open(socket) => Connection::new(socket),
                UpgradeResult::Rejected(reply) => {
                    let status = reply.status;
                    let body = reply.bytes().await?;
                    let error = wire::failure("connect to a sandbox", status, &body);
                    return Err(error.with_context("sandbox", self.id.as_str()));
                }
            };
        }
        Ok(Arc::clone(&connection))
    }

    async fn call(&self, operation: &'static str, method: &str, params: &Value) -> Result<CallResult> {
        self.connection().await?.call_with_timeout(operation, method, params).await
    }

    async fn follow(&self, command: Command, output: &mut OutputCollector<'_>) -> Result<CommandOutcome> {
        let connection = self.connection().await?;
        // The command may run from here, so it is never sent again.
        let spawned =
            match connection.call_with_timeout("execute", "spawn", &wire::spawn(&command, &self.config.shell)).await? {
                Ok(spawned) => read::<Spawned>("execute", spawned)?,
                Err(rpc_error) => {
                    // The command could not be started, for example because the directory does not exist.
                    output.push(OutputStream::Stderr, format!("{}\n", rpc_error.message).as_bytes());
                    return Ok(CommandOutcome::Exit(1));
                }
            };
        let mut running = KillGuard { connection: Arc::clone(&connection), pid: spawned.pid, over: false };
        let Some(ended) = timeout(command.timeout, wait_for_exit(&connection, &spawned, output)).await else {
            kill(&connection, spawned.pid).await;
            running.over = true;
            return Ok(CommandOutcome::Timeout);
        };
        // After a disconnect, it is unknown whether the command still runs, and it cannot be killed.
        running.over = ended.is_ok();
        ended
    }

    /// Exposes a port and returns its domain.
    async fn expose(&self, port: u16) -> Result<String> {
        const OPERATION: &str = "port_endpoint";
        let reply = self.client.send(&wire::expose(&self.config, self.id.as_str())?).await?;
        let (is_success, status) = (reply.is_success(), reply.status);
        let body = reply.bytes().await?;
        if !is_success {
            return Err(wire::failure(OPERATION, status, &body).with_context("sandbox", self.id.as_str()));
        }
        let exposed: wire::Exposed = wire::parse(OPERATION, &body)?;
        let params = json!({ "domain": exposed.domain, "port": port });
        let called = self.call(OPERATION, "exposeHttp", &params).await?;
        called.map_err(|rpc_error| rpc_error.error(OPERATION).with_context("sandbox", self.id.as_str()))?;
        Ok(exposed.domain)
    }

    /// Calls a file method.
    async fn file<T: for<'de> Deserialize<'de>>(
        &self,
        connection: &Connection,
        method: &str,
        params: &Value,
        path: &SandboxPath,
    ) -> Result<FileResult<T>> {
        match connection.call_with_timeout("transfer a file", method, params).await? {
            Ok(value) => read("transfer a file", value).map(Ok),
            Err(rpc_error) => rpc_error_result(rpc_error, path),
        }
    }

    async fn download(&self, path: &SandboxPath, sink: ChunkSink<'_>) -> Result<FileResult<()>> {
        let connection = self.connection().await?;
        let name = path.to_text();
        let stat = match self.file::<Stat>(&connection, "stat", &json!({ "path": name }), path).await? {
            Ok(stat) => stat,
            Err(rpc_error) => return Ok(Err(rpc_error)),
        };
        if stat.is_directory || !stat.is_file {
            let code = if stat.is_directory { FileErrorCode::IsDirectory } else { FileErrorCode::NotARegularFile };
            return Ok(Err(FileError::with_code(code, path.as_bytes())));
        }
        if stat.size <= READ_WHOLE {
            let content = self.file::<String>(&connection, "readFile", &json!({ "path": name }), path).await?;
            return match content {
                Ok(content) => {
                    sink(&wire::bytes(&content)?);
                    Ok(Ok(()))
                }
                Err(rpc_error) => Ok(Err(rpc_error)),
            };
        }
        let open = json!({ "path": name, "options": { "read": true } });
        let handle = match self.file::<Handle>(&connection, "open", &open, path).await? {
            Ok(handle) => handle.file_handle_id,
            Err(rpc_error) => return Ok(Err(rpc_error)),
        };
        let done = self.chunks(&connection, handle, path, sink).await;
        close(&connection, handle).await?;
        done
    }

    async fn chunks(
        &self,
        connection: &Connection,
        handle: u64,
        path: &SandboxPath,
        sink: ChunkSink<'_>,
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
                Err(rpc_error) => return Ok(Err(rpc_error)),
            }
        }
    }

    async fn upload(&self, path: &SandboxPath, content: &[u8]) -> Result<FileResult<()>> {
        match self.put(path, content).await? {
            // Create parent directories only after a failure.
            Err(rpc_error) if rpc_error.code == FileErrorCode::FileNotFound => {}
            done => return Ok(done),
        }
        let above = path.parent().unwrap_or_else(SandboxPath::root);
        let mkdir = json!({ "path": above.to_text(), "options": { "recursive": true } });
        match self.call("transfer a file", "mkdir", &mkdir).await? {
            Ok(_) => self.put(path, content).await,
            Err(rpc_error) => rpc_error_result(rpc_error, path),
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
        match connection.call_with_stream("transfer a file", "writeFile", of_stream, content).await? {
            Ok(_) => Ok(Ok(())),
            Err(rpc_error) => rpc_error_result(rpc_error, path),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Handle {
    file_handle_id: u64,
}

async fn close(connection: &Connection, handle: u64) -> Result<()> {
    let closed =
        connection.call_with_timeout("transfer a file", "fileClose", &json!({ "fileHandleId": handle })).await?;
    closed.map(drop).map_err(|rpc_error| rpc_error.error("transfer a file"))
}

fn rpc_error_result<T>(rpc_error: RpcError, path: &SandboxPath) -> Result<FileResult<T>> {
    match rpc_error.file_error(path.as_bytes()) {
        Some(of_file) => Ok(Err(of_file)),
        None => Err(rpc_error.error("transfer a file").with_context("path", path.to_text())),
    }
}

/// Collects output until the command has exited and its output has ended.
async fn wait_for_exit(
    connection: &Connection,
    spawned: &Spawned,
    output: &mut OutputCollector<'_>,
) -> Result<CommandOutcome> {
    use futures_util::future::{Either, select};
    let streams: Vec<u64> = spawned.stdout_stream_id.into_iter().chain(spawned.stderr_stream_id).collect();
    let mut hearing = connection.subscribe(&streams);
    let mut push = |(stream, chunk): (u64, Option<Vec<u8>>)| {
        let name = if Some(stream) == spawned.stderr_stream_id { OutputStream::Stderr } else { OutputStream::Stdout };
        if let Some(bytes) = chunk {
            output.push(name, &bytes);
        }
    };
    let of = json!({ "pid": spawned.pid });
    let mut waiting = Box::pin(connection.call("execute", "processWait", &of));
    let waited = loop {
        match select(waiting, hearing.chunks.next()).await {
            Either::Left((waited, _)) => break waited?,
            Either::Right((Some(chunk), rest)) => {
                push(chunk);
                waiting = rest;
            }
            // Both streams have ended.
            Either::Right((None, rest)) => break rest.await?,
        }
    };
    while let Some(Some(chunk)) = timeout(LAST_OUTPUT, hearing.chunks.next()).await {
        push(chunk);
    }
    let waited = waited.map_err(|rpc_error| rpc_error.error("execute"))?;
    Ok(read::<WaitResponse>("execute", waited)?.outcome())
}

/// Rejects paths that are not UTF-8: the protocol sends text.
fn is_text(path: &SandboxPath) -> FileResult<()> {
    match std::str::from_utf8(path.as_bytes()) {
        Ok(_) => Ok(()),
        Err(_) => {
            let message = format!("Invalid path '{path}': Deno transfers only files whose names are UTF-8");
            Err(FileError::new(FileErrorCode::InvalidPath, message))
        }
    }
}

#[async_trait]
impl DataPlane for DenoSandbox {
    fn id(&self) -> &SandboxId {
        &self.id
    }

    fn is_binary_safe(&self) -> bool {
        true
    }

    async fn run(&self, command: Command, output: &mut OutputCollector<'_>) -> Result<CommandOutcome> {
        if command.env.iter().any(|(_, value)| value.contains('\0')) {
            let message = "an environment variable cannot contain a NUL byte";
            return Err(Error::new(ErrorKind::InvalidRequest, "execute", message));
        }
        self.follow(command, output).await
    }

    async fn fetch(&self, path: &SandboxPath, sink: ChunkSink<'_>) -> Result<FileResult<()>> {
        match is_text(path) {
            Ok(()) => self.download(path, sink).await,
            Err(rpc_error) => Ok(Err(rpc_error)),
        }
    }

    async fn store(&self, files: Vec<(SandboxPath, Upload)>) -> Result<Vec<UploadResult>> {
        let uploads = stream::iter(files).map(move |(path, upload)| async move {
            let result = match is_text(&path) {
                Ok(()) => self.upload(&path, &upload.content).await?,
                Err(rpc_error) => Err(rpc_error),
            };
            Ok(UploadResult { path: upload.path, result })
        });
        uploads.buffered(TRANSFERS).try_collect().await
    }

    fn terminals(&self) -> Result<&dyn Terminals> {
        Err(unsupported_terminal("spawn", "belongs to Deno, whose commands have no terminals"))
    }

    async fn port_endpoint(&self, port: u16) -> Result<PortEndpoint> {
        let mut exposed = self.exposed.lock().await;
        let domain = match exposed.get(&port) {
            Some(domain) => domain.clone(),
            None => self.expose(port).await?,
        };
        exposed.insert(port, domain.clone());
        let is_plain = self.config.url_of(self.id.as_str())?.starts_with("http:");
        Ok(PortEndpoint::new(format!("{}://{domain}", if is_plain { "http" } else { "https" })))
    }
}
