//! One sandbox at Modal.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::try_join;
use futures_util::stream::{self, BoxStream, StreamExt as _, TryStreamExt as _};
use tidebox_core::shell_backend::{PieceSink, quote};
use tidebox_core::{
    BoxFuture, Error, ErrorKind, FileError, FileErrorCode, FileResult, Outcome, OutputStream, Result, SandboxId,
    SandboxPath, Upload, UploadResult,
};

use super::call::{Status, code};
use super::exec::{Begun, Way};
use super::messages::{Empty, ExitStatus, TaskExecEndResponse};
use super::wire::{self, ARGUMENT_BYTES, router};
use crate::output::Output;
use crate::plane::{Command, Ending, Plane};
use crate::sandbox::TRANSFERS;
use crate::transport::within;

/// How long output is waited for that somebody holds open after the command's end.
const DRAIN: Duration = Duration::from_millis(500);

/// How long it is waited for once nobody can hold it any more.
const LAST_WORDS: Duration = Duration::from_secs(10);

/// How long killing may take until it goes on without anybody who waits.
const KILLING: Duration = Duration::from_secs(4);

/// What the file tool may write to standard error; it writes one line.
const REASON_BYTES: usize = 64 * 1024;

/// The router of a sandbox, and what runs commands there.
#[derive(Clone, Debug)]
pub struct ModalSandbox {
    shell: String,
    way: Arc<Way>,
}

/// What happens while a command runs.
enum Event {
    Wrote(OutputStream, Bytes),
    Closed,
    Ended(TaskExecEndResponse),
    Given,
}

impl ModalSandbox {
    pub(super) fn new(way: Way) -> Self {
        Self { shell: way.account.config.shell.clone(), way: Arc::new(way) }
    }

    /// Waits until the router takes calls. A sandbox that was just made may not be there yet.
    pub(super) async fn ready(&self, time: Duration) -> Result<()> {
        let mut polling = crate::poll::Polling::new("connect to a sandbox", time);
        loop {
            // About a command that there is not: any answer at all says that somebody is there.
            let asked = self.way.call::<TaskExecEndResponse>(|task| task.of(router::POLL, "none"));
            match asked.await {
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
        status.error(operation).with_context("sandbox", self.way.id.as_str())
    }

    /// Runs a command, and keeps its time: the service counts in whole seconds, and tells a timeout by a signal.
    async fn run_in_time(&self, command: Command, output: &mut Output<'_>) -> Result<Ending> {
        let mut begun = Begun::new(&self.way);
        let time = command.time;
        match within(time, self.follow(&mut begun, command, output)).await {
            Some(Ok(ending)) => {
                begun.is_over();
                Ok(ending)
            }
            Some(Err(error)) => Err(error),
            None => {
                if !matches!(within(KILLING, begun.kill()).await, Some(Ok(()))) {
                    // It is tried again when `begun` is dropped, and the service has the time, too.
                    return Ok(Ending::Timeout);
                }
                Ok(Ending::Timeout)
            }
        }
    }

    async fn follow(&self, begun: &mut Begun, mut command: Command, output: &mut Output<'_>) -> Result<Ending> {
        if command.script.len() + command.cwd.as_ref().map_or(0, String::len) + 1024 > ARGUMENT_BYTES {
            command.script = self.set_aside(&begun.exec_id, command.script).await?;
        }
        let (exec_id, mark) = (begun.exec_id.clone(), begun.mark.clone());
        let start = |task: &wire::Task| {
            let message = wire::start_command(task, &exec_id, &self.shell, &command, mark.clone());
            task.call(router::START, &message)
        };
        match self.way.call::<Empty>(start).await? {
            Ok(_) => {}
            // A directory that is not there, or a shell: the command's own failure, not ours.
            Err(status) if matches!(status.code, code::INVALID_ARGUMENT | code::FAILED_PRECONDITION) => {
                output.push(OutputStream::Stderr, format!("{}\n", status.message).as_bytes());
                return Ok(Ending::Exit(1));
            }
            Err(status) => return Err(self.failed("execute", status)),
        }
        let mut events = self.events(&exec_id);
        let (mut open, mut ending, mut silence) = (2, None, DRAIN);
        while open > 0 || ending.is_none() {
            let next = match ending {
                None => events.next().await,
                Some(_) => match within(silence, events.next()).await {
                    Some(next) => next,
                    // Something that the command started holds its output, or the output is late. Without holders it comes to its end.
                    None if silence == DRAIN => {
                        begun.kill().await?;
                        silence = LAST_WORDS;
                        continue;
                    }
                    None => {
                        output.dropped_by_provider();
                        break;
                    }
                },
            };
            match next.transpose()? {
                Some(Event::Wrote(stream, bytes)) => output.push(stream, &bytes),
                Some(Event::Closed) => open -= 1,
                Some(Event::Ended(end)) => ending = Some(wire::ending(end)),
                Some(Event::Given) => {}
                None => break,
            }
        }
        Ok(ending.unwrap_or(Ending::Unknown))
    }

    /// Everything that happens to a command, as it happens.
    fn events<'a>(&'a self, exec_id: &'a str) -> stream::SelectAll<BoxStream<'a, Result<Event>>> {
        let read = |stream: OutputStream| {
            let pieces = self.way.read(exec_id, stream).map_ok(move |bytes| Event::Wrote(stream, bytes));
            pieces.chain(stream::once(async { Ok(Event::Closed) })).boxed()
        };
        let ended = async move {
            let end = self.way.wait(exec_id).await?;
            end.map(Event::Ended).map_err(|status| self.failed("execute", status))
        };
        let given = async move {
            // A command that reads and is not told that there is nothing would wait for ever.
            let given = self.way.give(exec_id, &Bytes::new()).await?;
            given.map(|()| Event::Given).map_err(|status| self.failed("execute", status))
        };
        let once: [BoxStream<'a, Result<Event>>; 2] = [stream::once(ended).boxed(), stream::once(given).boxed()];
        stream::select_all([read(OutputStream::Stdout), read(OutputStream::Stderr)].into_iter().chain(once))
    }

    /// Puts a script that is too long for an argument into a file, and returns one that runs it.
    async fn set_aside(&self, exec_id: &str, script: String) -> Result<String> {
        let path = SandboxPath::parse(format!("/tmp/.tidebox-script-{exec_id}")).map_err(Error::from)?;
        self.put(&path, Bytes::from(script)).await?.map_err(Error::from)?;
        let file = quote(&path.to_text());
        // The line end of the end is lost in a substitution, and no script misses it.
        Ok(format!("eval \"$(cat {file}; rm -f {file})\""))
    }

    async fn put(&self, path: &SandboxPath, content: Bytes) -> Result<FileResult<()>> {
        const OPERATION: &str = "upload_files";
        let mut begun = self.file_tool(OPERATION, wire::write_file(path)).await?;
        let exec_id = begun.exec_id.clone();
        let (given, ended) = try_join(self.way.give(&exec_id, &content), self.way.wait(&exec_id)).await?;
        let ended = ended.map_err(|status| self.failed(OPERATION, status))?;
        begun.is_over();
        match ended.exit_status {
            Some(ExitStatus::Code(0)) => match given {
                Ok(()) => Ok(Ok(())),
                Err(status) => Err(self.failed(OPERATION, status)),
            },
            _ => self.refusal(&exec_id, path).await.map(Err),
        }
    }

    /// Begins the program that reads and writes files.
    async fn file_tool(&self, operation: &'static str, words: Vec<String>) -> Result<Begun> {
        let begun = Begun::new(&self.way);
        let env = [begun.mark.clone()];
        let start =
            |task: &wire::Task| task.call(router::START, &wire::start(task, &begun.exec_id, words.clone(), &env));
        match self.way.call::<Empty>(start).await? {
            Ok(_) => Ok(begun),
            Err(status) => Err(self.failed(operation, status)),
        }
    }

    /// Why the file tool failed.
    async fn refusal(&self, exec_id: &str, path: &SandboxPath) -> Result<FileError> {
        let mut reason = Vec::new();
        let mut pieces = Box::pin(self.way.read(exec_id, OutputStream::Stderr));
        while let Some(piece) = pieces.try_next().await? {
            if reason.len() + piece.len() > REASON_BYTES {
                break;
            }
            reason.extend_from_slice(&piece);
        }
        wire::file_refusal(&reason, path)
    }

    async fn get(&self, path: &SandboxPath, sink: PieceSink<'_>) -> Result<FileResult<()>> {
        const OPERATION: &str = "download_files";
        let mut begun = self.file_tool(OPERATION, wire::read_file(path)).await?;
        let exec_id = begun.exec_id.clone();
        let content = async {
            let mut pieces = Box::pin(self.way.read(&exec_id, OutputStream::Stdout));
            while let Some(piece) = pieces.try_next().await? {
                if !sink(&piece) {
                    return Ok(false);
                }
            }
            Ok(true)
        };
        let wanted = async {
            // Who wants no more need not wait for the end.
            let ended = Box::pin(self.way.wait(&exec_id));
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
        begun.is_over();
        match ended.exit_status {
            Some(ExitStatus::Code(0)) => Ok(Ok(())),
            _ => self.refusal(&exec_id, path).await.map(Err),
        }
    }
}

/// Paths are parts of JSON here.
fn is_text(path: &SandboxPath) -> FileResult<()> {
    match std::str::from_utf8(path.as_bytes()) {
        Ok(_) => Ok(()),
        Err(_) => {
            let message = format!("Invalid path '{path}': Modal transfers only files whose names are UTF-8");
            Err(FileError::new(FileErrorCode::InvalidPath, message))
        }
    }
}

impl Plane for ModalSandbox {
    fn id(&self) -> &SandboxId {
        &self.way.id
    }

    fn passes_bytes(&self) -> bool {
        true
    }

    fn run<'a>(&'a self, command: Command, output: &'a mut Output<'_>) -> BoxFuture<'a, Result<Ending>> {
        Box::pin(self.run_in_time(command, output))
    }

    fn fetch<'a>(&'a self, path: &'a SandboxPath, sink: PieceSink<'a>) -> Outcome<'a, ()> {
        Box::pin(async move {
            match is_text(path) {
                Ok(()) => self.get(path, sink).await,
                Err(refusal) => Ok(Err(refusal)),
            }
        })
    }

    fn store(&self, files: Vec<(SandboxPath, Upload)>) -> BoxFuture<'_, Result<Vec<UploadResult>>> {
        let uploads = stream::iter(files).map(move |(path, upload)| async move {
            let result = match is_text(&path) {
                Ok(()) => self.put(&path, Bytes::from(upload.content)).await?,
                Err(refusal) => Err(refusal),
            };
            Ok(UploadResult { path: upload.path, result })
        });
        Box::pin(uploads.buffered(TRANSFERS).try_collect())
    }
}

/// A status that says that something is not there, as that.
pub(super) fn absent<T>(answer: std::result::Result<T, Status>) -> std::result::Result<Option<T>, Status> {
    match answer {
        Ok(value) => Ok(Some(value)),
        Err(status) if status.code == code::NOT_FOUND => Ok(None),
        Err(status) => Err(status),
    }
}

/// That an answer lacks what everything else needs.
pub(super) fn lacking(operation: &'static str, what: &str) -> Error {
    Error::new(ErrorKind::Protocol, operation, format!("Modal's answer has no {what}"))
}
