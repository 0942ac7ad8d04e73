//! One Modal sandbox.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::future::try_join;
use futures_util::stream::{self, BoxStream, StreamExt as _, TryStreamExt as _};
use tidebox_core::shell_backend::{ChunkSink, quote};
use tidebox_core::{
    Error, ErrorKind, FileError, FileErrorCode, FileResult, OutputStream, PortEndpoint, Result, SandboxId, SandboxPath,
    Upload, UploadResult, unsupported_terminal,
};

use super::call::{Status, code};
use super::exec::{RouterClient, RunningExec};
use super::messages::{Empty, ExitStatus, TaskExecEndResponse};
use super::wire::{self, ARGUMENT_BYTES, router};
use crate::data_plane::{Command, CommandOutcome, DataPlane, Terminals};
use crate::output::OutputCollector;
use crate::sandbox::TRANSFERS;
use crate::transport::timeout;

/// Time to wait for output after the exit, while another process holds the stream open.
const OUTPUT_DRAIN_TIMEOUT: Duration = Duration::from_millis(500);

/// Time to wait for output after all processes were killed.
const FINAL_OUTPUT_TIMEOUT: Duration = Duration::from_secs(10);

/// Time limit of a kill, after which it continues in the background.
const KILLING: Duration = Duration::from_secs(4);

/// Maximum bytes read from the file tool's standard error; it writes one line.
const REASON_BYTES: usize = 64 * 1024;

/// Router client of a sandbox, and the shell for commands.
#[derive(Clone, Debug)]
pub struct ModalSandbox {
    shell: String,
    client: Arc<RouterClient>,
}

/// Event of a running command.
enum Event {
    Wrote(OutputStream, Bytes),
    Closed,
    Ended(TaskExecEndResponse),
    Given,
}

impl ModalSandbox {
    pub(super) fn new(client: RouterClient) -> Self {
        Self { shell: client.account.config.shell.clone(), client: Arc::new(client) }
    }

    /// Waits until the router accepts calls. A new sandbox may not be reachable yet.
    pub(super) async fn ready(&self, time: Duration) -> Result<()> {
        let mut polling = crate::poll::PollTimer::new("connect to a sandbox", time);
        loop {
            // The exec does not exist: any response shows that the router is reachable.
            let request = self.client.call::<TaskExecEndResponse>(|task| task.exec_request(router::POLL, "none"));
            match request.await {
                Ok(Err(status)) if status.code == code::UNAVAILABLE => {}
                Ok(Err(status)) if matches!(status.code, code::UNAUTHENTICATED | code::PERMISSION_DENIED) => {
                    return Err(self.failed("connect to a sandbox", status));
                }
                Ok(_) => return Ok(()),
                Err(error) if error.retryable() => {}
                Err(error) => return Err(error),
            }
            polling.pause().await?;
        }
    }

    fn failed(&self, operation: &'static str, status: Status) -> Error {
        status.error(operation).with_context("sandbox", self.client.id.as_str())
    }

    async fn follow(
        &self,
        started: &mut RunningExec,
        mut command: Command,
        output: &mut OutputCollector<'_>,
    ) -> Result<CommandOutcome> {
        if command.script.len() + command.cwd.as_ref().map_or(0, String::len) + 1024 > ARGUMENT_BYTES {
            command.script = self.upload_script(&started.exec_id, command.script).await?;
        }
        let (exec_id, mark) = (started.exec_id.clone(), started.kill_tag.clone());
        let start = |task: &wire::RouterEndpoint| {
            let message = wire::start_command(task, &exec_id, &self.shell, &command, mark.clone());
            task.call(router::START, &message)
        };
        match self.client.call::<Empty>(start).await? {
            Ok(_) => {}
            // A missing directory or shell is the command's failure.
            Err(status) if matches!(status.code, code::INVALID_ARGUMENT | code::FAILED_PRECONDITION) => {
                output.push(OutputStream::Stderr, format!("{}\n", status.message).as_bytes());
                return Ok(CommandOutcome::Exit(1));
            }
            Err(status) => return Err(self.failed("execute", status)),
        }
        let mut events = self.events(&exec_id);
        let (mut open, mut ending, mut silence) = (2, None, OUTPUT_DRAIN_TIMEOUT);
        while open > 0 || ending.is_none() {
            let next = match ending {
                None => events.next().await,
                Some(_) => match timeout(silence, events.next()).await {
                    Some(next) => next,
                    // A child process holds the output open, or the output is late. Without open writers, the stream
                    // ends.
                    None if silence == OUTPUT_DRAIN_TIMEOUT => {
                        started.kill().await?;
                        silence = FINAL_OUTPUT_TIMEOUT;
                        continue;
                    }
                    None => {
                        output.mark_truncated();
                        break;
                    }
                },
            };
            match next.transpose()? {
                Some(Event::Wrote(stream, bytes)) => output.push(stream, &bytes),
                Some(Event::Closed) => open -= 1,
                Some(Event::Ended(end)) => ending = Some(wire::outcome(end)),
                Some(Event::Given) => {}
                None => break,
            }
        }
        Ok(ending.unwrap_or(CommandOutcome::Unknown))
    }

    /// Events of a command in order of arrival.
    fn events<'a>(&'a self, exec_id: &'a str) -> stream::SelectAll<BoxStream<'a, Result<Event>>> {
        let read = |stream: OutputStream| {
            let chunks = self.client.read(exec_id, stream).map_ok(move |bytes| Event::Wrote(stream, bytes));
            chunks.chain(stream::once(async { Ok(Event::Closed) })).boxed()
        };
        let ended = async move {
            let end = self.client.wait(exec_id).await?;
            end.map(Event::Ended).map_err(|status| self.failed("execute", status))
        };
        let given = async move {
            // Without end of input, a command that reads would block forever.
            let given = self.client.write_stdin(exec_id, &Bytes::new()).await?;
            given.map(|()| Event::Given).map_err(|status| self.failed("execute", status))
        };
        let once: [BoxStream<'a, Result<Event>>; 2] = [stream::once(ended).boxed(), stream::once(given).boxed()];
        stream::select_all([read(OutputStream::Stdout), read(OutputStream::Stderr)].into_iter().chain(once))
    }

    /// Uploads a script that is too long for an argument, and returns one that runs it.
    async fn upload_script(&self, exec_id: &str, script: String) -> Result<String> {
        let path = SandboxPath::parse(format!("/tmp/.tidebox-script-{exec_id}")).map_err(Error::from)?;
        self.put(&path, Bytes::from(script)).await?.map_err(Error::from)?;
        let file = quote(&path.to_text());
        // Command substitution drops the trailing line feed, which no script needs.
        Ok(format!("eval \"$(cat {file}; rm -f {file})\""))
    }

    async fn put(&self, path: &SandboxPath, content: Bytes) -> Result<FileResult<()>> {
        const OPERATION: &str = "upload_files";
        let mut started = self.file_tool(OPERATION, wire::write_file(path)).await?;
        let exec_id = started.exec_id.clone();
        let (given, ended) = try_join(self.client.write_stdin(&exec_id, &content), self.client.wait(&exec_id)).await?;
        let ended = ended.map_err(|status| self.failed(OPERATION, status))?;
        started.disarm();
        match ended.exit_status {
            Some(ExitStatus::Code(0)) => match given {
                Ok(()) => Ok(Ok(())),
                Err(status) => Err(self.failed(OPERATION, status)),
            },
            _ => self.file_tool_error(&exec_id, path).await.map(Err),
        }
    }

    /// Starts the program that reads and writes files.
    async fn file_tool(&self, operation: &'static str, words: Vec<String>) -> Result<RunningExec> {
        let started = RunningExec::new(&self.client);
        let env = [started.kill_tag.clone()];
        let start = |task: &wire::RouterEndpoint| {
            task.call(router::START, &wire::start(task, &started.exec_id, words.clone(), &env))
        };
        match self.client.call::<Empty>(start).await? {
            Ok(_) => Ok(started),
            Err(status) => Err(self.failed(operation, status)),
        }
    }

    /// Reads the error of the file tool.
    async fn file_tool_error(&self, exec_id: &str, path: &SandboxPath) -> Result<FileError> {
        let mut reason = Vec::new();
        let mut chunks = Box::pin(self.client.read(exec_id, OutputStream::Stderr));
        while let Some(chunk) = chunks.try_next().await? {
            if reason.len() + chunk.len() > REASON_BYTES {
                break;
            }
            reason.extend_from_slice(&chunk);
        }
        wire::file_error(&reason, path)
    }

    async fn get(&self, path: &SandboxPath, sink: ChunkSink<'_>) -> Result<FileResult<()>> {
        const OPERATION: &str = "download_files";
        let mut started = self.file_tool(OPERATION, wire::read_file(path)).await?;
        let exec_id = started.exec_id.clone();
        let content = async {
            let mut chunks = Box::pin(self.client.read(&exec_id, OutputStream::Stdout));
            while let Some(chunk) = chunks.try_next().await? {
                if !sink(&chunk) {
                    return Ok(false);
                }
            }
            Ok(true)
        };
        let wanted = async {
            // A sink that wants no more data need not wait for the end.
            let ended = Box::pin(self.client.wait(&exec_id));
            match futures_util::future::select(Box::pin(content), ended).await {
                futures_util::future::Either::Left((Ok(true), ended)) => ended.await.map(Some),
                futures_util::future::Either::Left((Ok(false), _)) => Ok(None),
                futures_util::future::Either::Left((Err(error), _)) => Err(error),
                futures_util::future::Either::Right((ended, content)) => {
                    let ended = ended?;
                    content.await.map(|whole| whole.then_some(ended))
                }
            }
        };
        let Some(ended) = wanted.await? else { return Ok(Ok(())) };
        let ended = ended.map_err(|status| self.failed(OPERATION, status))?;
        started.disarm();
        match ended.exit_status {
            Some(ExitStatus::Code(0)) => Ok(Ok(())),
            _ => self.file_tool_error(&exec_id, path).await.map(Err),
        }
    }
}

/// Rejects paths that are not UTF-8: paths are sent in JSON.
fn is_text(path: &SandboxPath) -> FileResult<()> {
    match std::str::from_utf8(path.as_bytes()) {
        Ok(_) => Ok(()),
        Err(_) => {
            let message = format!("Invalid path '{path}': Modal transfers only files whose names are UTF-8");
            Err(FileError::new(FileErrorCode::InvalidPath, message))
        }
    }
}

#[async_trait]
impl DataPlane for ModalSandbox {
    fn id(&self) -> &SandboxId {
        &self.client.id
    }

    fn is_binary_safe(&self) -> bool {
        true
    }

    /// Runs a command and enforces its time limit here: the service counts whole seconds, and reports a timeout as a
    /// signal.
    async fn run(&self, command: Command, output: &mut OutputCollector<'_>) -> Result<CommandOutcome> {
        let mut started = RunningExec::new(&self.client);
        let time = command.timeout;
        match timeout(time, self.follow(&mut started, command, output)).await {
            Some(Ok(ending)) => {
                started.disarm();
                Ok(ending)
            }
            Some(Err(error)) => Err(error),
            None => {
                if !matches!(timeout(KILLING, started.kill()).await, Some(Ok(()))) {
                    // The kill is repeated when the guard is dropped, and the service enforces the limit, too.
                    return Ok(CommandOutcome::Timeout);
                }
                Ok(CommandOutcome::Timeout)
            }
        }
    }

    async fn fetch(&self, path: &SandboxPath, sink: ChunkSink<'_>) -> Result<FileResult<()>> {
        match is_text(path) {
            Ok(()) => self.get(path, sink).await,
            Err(rejection) => Ok(Err(rejection)),
        }
    }

    async fn store(&self, files: Vec<(SandboxPath, Upload)>) -> Result<Vec<UploadResult>> {
        let uploads = stream::iter(files).map(move |(path, upload)| async move {
            let result = match is_text(&path) {
                Ok(()) => self.put(&path, Bytes::from(upload.content)).await?,
                Err(rejection) => Err(rejection),
            };
            Ok(UploadResult { path: upload.path, result })
        });
        uploads.buffered(TRANSFERS).try_collect().await
    }

    fn terminals(&self) -> Result<&dyn Terminals> {
        Err(unsupported_terminal(
            "spawn",
            "belongs to Modal, whose commands have terminals of a fixed size only in its older interface",
        ))
    }

    async fn port_endpoint(&self, port: u16) -> Result<PortEndpoint> {
        const OPERATION: &str = "port_endpoint";
        let tunnels = self.client.tunnels().await?.map_err(|status| self.failed(OPERATION, status))?;
        wire::endpoint(&self.client.account.config, &tunnels, port).ok_or_else(|| {
            let message = format!(
                "port {port} is not open, and Modal opens ports only when it creates a sandbox; set the extra option ports"
            );
            Error::new(ErrorKind::Unsupported, OPERATION, message).with_context("sandbox", self.client.id.as_str())
        })
    }
}

/// Maps a "not found" status to `None`.
pub(super) fn not_found_as_none<T>(response: std::result::Result<T, Status>) -> std::result::Result<Option<T>, Status> {
    match response {
        Ok(value) => Ok(Some(value)),
        Err(status) if status.code == code::NOT_FOUND => Ok(None),
        Err(status) => Err(status),
    }
}

/// Error for a response that lacks a required field.
pub(super) fn missing_field(operation: &'static str, what: &str) -> Error {
    Error::new(ErrorKind::Protocol, operation, format!("Modal's response has no {what}"))
}
