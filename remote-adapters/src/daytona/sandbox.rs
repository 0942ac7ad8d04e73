//! One Daytona sandbox.

use std::pin::{Pin, pin};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::future::{Either, pending, select};
use tidebox_core::lock::Mutex;
use tidebox_core::shell_backend::ChunkSink;
use tidebox_core::{
    Error, FileError, FileErrorCode, FileResult, OutputStream, PortEndpoint, Result, SandboxId, SandboxPath, Secret,
    Upload, UploadResult, unsupported_terminal,
};

use super::config::DaytonaConfig;
use super::job::{self, Job, Jobs, NO_SUCH_JOB, ReadOffsets, Report, SCRIPT_BYTES};
use super::wire::{self, Executed, Sandbox, Toolbox};
use crate::data_plane::{Command, CommandOutcome, DataPlane, Terminals};
use crate::output::OutputCollector;
use crate::transport::{Client, Response, now, sleep, spawn, timeout};

/// Client of the daemon in a sandbox.
#[derive(Debug)]
pub struct DaytonaSandbox {
    id: SandboxId,
    pub(super) toolbox: Toolbox,
    pub(super) shell: String,
    pub(super) client: Client,
    jobs: Jobs,
    /// Jobs whose output was read and whose files can be removed.
    finished: Mutex<Finished>,
}

/// Extra time after which the daemon itself kills a command whose client has disconnected.
const KILL_GRACE: Duration = Duration::from_secs(5);

/// Timeout of one poll.
const LOOK_TIME: Duration = Duration::from_secs(30);

/// Poll interval of a command whose output is not streamed. Daytona stops idle sandboxes, and a running command does
/// not count as use.
const IDLE_POLL_INTERVAL: Duration = Duration::from_secs(60);

/// Polls for a command whose response was lost, before it counts as never started.
const MAX_MISSED_POLLS: u32 = 5;

/// Jobs whose files are no longer needed. A later command removes them in batches, because a separate process per
/// command costs more.
#[derive(Debug, Default)]
struct Finished {
    jobs: Vec<Job>,
    bytes: u64,
}

/// Number of jobs, and bytes of their output, kept before a command removes them.
const KEPT_JOBS: usize = 16;
const KEPT_BYTES: u64 = 1 << 20;

impl Finished {
    fn add(&mut self, job: Job, size: ReadOffsets) {
        self.jobs.push(job);
        self.bytes = self.bytes.saturating_add(size.out).saturating_add(size.err);
    }

    /// Takes the jobs to remove now.
    fn take(&mut self) -> Vec<Job> {
        if self.jobs.len() < KEPT_JOBS && self.bytes < KEPT_BYTES {
            return Vec::new();
        }
        std::mem::take(self).jobs
    }
}

/// Outcome of sending a command.
enum SendOutcome {
    /// The command's report.
    Reported(Report),
    /// The command was not started; the reason.
    NotStarted(String),
    /// The daemon killed the command at its time limit.
    TimeUp,
    /// The response was lost; the command may be running.
    LostResponse(Error),
}

/// The pending response.
type ResponseFuture<'a> = Pin<Box<dyn Future<Output = Result<SendOutcome>> + Send + 'a>>;

/// A lost response and the number of polls since.
struct LostResponse {
    error: Error,
    misses: u32,
}

/// Next step of the run loop.
enum Step {
    Answered(Result<SendOutcome>),
    Looked(Result<PollResult>),
}

/// Outcome of one poll.
enum PollResult {
    Found(Report),
    Missing,
}

/// Kills an abandoned command on drop. Closing the connection does not kill it.
struct KillGuard<'a> {
    sandbox: &'a DaytonaSandbox,
    job: &'a Job,
    runs: bool,
}

impl Drop for KillGuard<'_> {
    fn drop(&mut self) {
        if self.runs {
            let request = self.sandbox.toolbox.execute(&self.job.cleanup_script(), None, &[], LOOK_TIME);
            let client = self.sandbox.client.clone();
            spawn(async move {
                // Ignore errors: the command may have exited, and no caller is left to report to.
                let _ = client.send(&request).await;
            });
        }
    }
}

/// Poll intervals of a job.
struct PollBackoff {
    pause: Duration,
    longest: Duration,
}

impl PollBackoff {
    fn new(is_watched: bool) -> Self {
        if is_watched { Self::growing() } else { Self { pause: IDLE_POLL_INTERVAL, longest: IDLE_POLL_INTERVAL } }
    }

    fn growing() -> Self {
        Self { pause: Duration::from_millis(150), longest: Duration::from_secs(1) }
    }

    fn next(&mut self) -> Duration {
        let pause = self.pause;
        self.pause = pause.mul_f64(1.5).min(self.longest);
        pause
    }
}

impl DaytonaSandbox {
    pub(super) fn new(config: &DaytonaConfig, sandbox: &Sandbox, client: Client) -> Result<Self> {
        let toolbox = Toolbox::new(config, sandbox)?;
        let id = SandboxId::parse(sandbox.id.clone())?;
        Ok(Self { id, toolbox, shell: config.shell.clone(), client, jobs: Jobs::new(), finished: Mutex::default() })
    }

    /// Waits for the response or the poll interval, then polls.
    async fn step(&self, response: &mut ResponseFuture<'_>, job: &Job, seen: ReadOffsets, pause: Duration) -> Step {
        let look = pin!(async {
            sleep(pause).await;
            self.poll(&job.poll_script(seen), seen).await
        });
        match select(response, look).await {
            Either::Left((answered, _)) => Step::Answered(answered),
            Either::Right((looked, _)) => Step::Looked(looked),
        }
    }

    /// Handles the response to a command that has exited or was not started.
    async fn ended(
        &self,
        response: SendOutcome,
        job: &Job,
        mut seen: ReadOffsets,
        output: &mut OutputCollector<'_>,
    ) -> Result<CommandOutcome> {
        match response {
            SendOutcome::Reported(report) => {
                let report = since(report, seen);
                take(&report, &mut seen, output);
                self.download_rest(job, seen, report.size, output).await?;
                // Without an exit code, the shell was killed before it could write one.
                Ok(report.code.map_or(CommandOutcome::Unknown, CommandOutcome::Exit))
            }
            SendOutcome::NotStarted(reason) => {
                output.push(OutputStream::Stderr, format!("{}\n", reason.trim_end()).as_bytes());
                Ok(CommandOutcome::Exit(1))
            }
            SendOutcome::TimeUp => Ok(CommandOutcome::Timeout),
            SendOutcome::LostResponse(error) => Err(error),
        }
    }

    /// Returns the script, or a command that reads it from a file if it is too long for one argument.
    async fn script(&self, job: &Job, script: String) -> Result<String> {
        if script.len() <= SCRIPT_BYTES {
            return Ok(script);
        }
        let file = job.script_file();
        let reply = self.client.send(&self.toolbox.upload(vec![(file.clone(), Bytes::from(script))])).await?;
        if !reply.is_success() {
            return Err(self.response_error("execute", reply).await?);
        }
        let file = tidebox_core::shell_backend::quote(&file);
        Ok(format!("eval \"$(cat {file}; rm -f {file})\""))
    }

    /// Sends a command once and classifies the response.
    async fn send_once(&self, request: &crate::transport::Request) -> Result<SendOutcome> {
        let lost = |error: Error| if error.retryable() { Ok(SendOutcome::LostResponse(error)) } else { Err(error) };
        let reply = match self.client.send(request).await {
            Ok(reply) => reply,
            Err(error) => return lost(error),
        };
        let status = reply.status;
        let body = match reply.bytes().await {
            Ok(body) => body,
            Err(error) => return lost(error),
        };
        let reported = |error: Error| error.with_context("sandbox", self.id.as_str());
        match status {
            200..=299 => {}
            408 => return Ok(SendOutcome::TimeUp),
            500..=599 => return Ok(SendOutcome::LostResponse(reported(wire::failure("execute", status, &body)))),
            _ => return Err(reported(wire::failure("execute", status, &body))),
        }
        let executed: Executed = wire::parse("execute", &body)?;
        match executed.exit_code {
            Some(0) | None => job::report(&executed.result, ReadOffsets::default()).map(SendOutcome::Reported),
            Some(_) => Ok(SendOutcome::NotStarted(executed.result)),
        }
    }

    /// Runs a script about a job.
    async fn poll(&self, line: &str, seen: ReadOffsets) -> Result<PollResult> {
        let reply = self.client.send(&self.toolbox.execute(line, None, &[], LOOK_TIME)).await?;
        if !reply.is_success() {
            return Err(self.response_error("execute", reply).await?);
        }
        let executed: Executed = wire::parse("execute", &reply.bytes().await?)?;
        match executed.exit_code {
            Some(NO_SUCH_JOB) => Ok(PollResult::Missing),
            _ => job::report(&executed.result, seen).map(PollResult::Found),
        }
    }

    /// Kills a command and collects its output.
    async fn stop(&self, job: &Job, mut seen: ReadOffsets, output: &mut OutputCollector<'_>) -> Result<()> {
        match self.poll(&job.end(seen), seen).await? {
            PollResult::Found(report) => {
                take(&report, &mut seen, output);
                self.download_rest(job, seen, report.size, output).await
            }
            // The command had not started.
            PollResult::Missing => Ok(()),
        }
    }

    /// Downloads output missing from the reports of a finished command, and marks its files for removal.
    async fn download_rest(
        &self,
        job: &Job,
        mut seen: ReadOffsets,
        size: ReadOffsets,
        output: &mut OutputCollector<'_>,
    ) -> Result<()> {
        for (name, stream, from, to) in [
            ("out", OutputStream::Stdout, &mut seen.out, size.out),
            ("err", OutputStream::Stderr, &mut seen.err, size.err),
        ] {
            if *from < to && output.is_full() {
                output.mark_truncated();
            } else if *from < to {
                self.download_from(&job.file(name), *from, &mut |chunk| {
                    output.push(stream, chunk);
                    !output.is_full()
                })
                .await?;
            }
        }
        self.finished.lock().add(job.clone(), size);
        Ok(())
    }

    /// Downloads an adapter-owned file starting at a byte offset.
    async fn download_from(&self, path: &str, from: u64, sink: ChunkSink<'_>) -> Result<()> {
        let mut reply = self.client.send(&self.toolbox.download(path, from)).await?;
        if !reply.is_success() {
            return Err(self.response_error("execute", reply).await?);
        }
        let mut skip = if reply.status == 206 { 0 } else { usize::try_from(from).unwrap_or(usize::MAX) };
        while let Some(chunk) = reply.next().await? {
            let kept = chunk.get(skip.min(chunk.len())..).unwrap_or_default();
            skip = skip.saturating_sub(chunk.len());
            if !kept.is_empty() && !sink(kept) {
                break;
            }
        }
        Ok(())
    }

    pub(super) async fn response_error(&self, operation: &'static str, reply: Response) -> Result<Error> {
        let status = reply.status;
        let body = reply.bytes().await?;
        Ok(wire::failure(operation, status, &body).with_context("sandbox", self.id.as_str()))
    }

    async fn upload(&self, files: Vec<(SandboxPath, Upload)>) -> Result<Vec<UploadResult>> {
        let paths: Vec<String> = files.iter().map(|(path, _)| path.to_text().into_owned()).collect();
        let (names, contents): (Vec<_>, Vec<_>) =
            files.into_iter().map(|(_, upload)| (upload.path, Bytes::from(upload.content))).unzip();
        let request = self.toolbox.upload(paths.iter().cloned().zip(contents).collect());
        let reply = self.client.send(&request).await?;
        let results = if reply.is_success() {
            paths.iter().map(|_| Ok(())).collect()
        } else {
            let status = reply.status;
            let body = reply.bytes().await?;
            let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
            let reported = if status == 400 { wire::parse_upload(&body, &paths) } else { None };
            let failure = || wire::failure("upload_files", status, &body).with_context("sandbox", self.id.as_str());
            reported.ok_or_else(failure)?
        };
        Ok(names.into_iter().zip(results).map(|(path, result)| UploadResult { path, result }).collect())
    }
}

/// Trims a report that starts at offset 0 to the part after `seen`.
fn since(mut report: Report, seen: ReadOffsets) -> Report {
    let cut = |bytes: &mut Vec<u8>, seen: u64| {
        let seen = usize::try_from(seen).unwrap_or(usize::MAX).min(bytes.len());
        bytes.drain(..seen);
    };
    cut(&mut report.out, seen.out);
    cut(&mut report.err, seen.err);
    report
}

fn take(report: &Report, seen: &mut ReadOffsets, output: &mut OutputCollector<'_>) {
    let length = |bytes: &[u8]| u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    seen.out = seen.out.saturating_add(length(&report.out));
    seen.err = seen.err.saturating_add(length(&report.err));
    output.push(OutputStream::Stdout, &report.out);
    output.push(OutputStream::Stderr, &report.err);
}

/// Returns the error for a path that the daemon cannot represent.
fn path_error(path: &SandboxPath) -> Option<FileError> {
    let refuse = |why: &str| FileError::new(FileErrorCode::InvalidPath, format!("Invalid path '{path}': {why}"));
    match std::str::from_utf8(path.as_bytes()) {
        Err(_) => Some(refuse("Daytona transfers only files whose names are UTF-8")),
        Ok(text) if text.trim() != text => Some(refuse("Daytona removes trailing spaces from file names")),
        Ok(_) => None,
    }
}

/// Maximum files and bytes of one upload request. A larger file is sent alone.
const BATCH_FILES: usize = 100;
const BATCH_BYTES: usize = 32 << 20;

/// The files of each request, and the errors of files that cannot be sent, by index.
type Batches = (Vec<Vec<(usize, SandboxPath, Upload)>>, Vec<(usize, UploadResult)>);

fn batches(files: Vec<(SandboxPath, Upload)>) -> Batches {
    let (mut batches, mut rejected): Batches = (Vec::new(), Vec::new());
    let mut room = 0;
    for (place, (path, upload)) in files.into_iter().enumerate() {
        if let Some(rejection) = path_error(&path) {
            rejected.push((place, UploadResult { path: upload.path, result: Err(rejection) }));
            continue;
        }
        let length = upload.content.len();
        let fits = length <= room && batches.last().is_some_and(|batch: &Vec<_>| batch.len() < BATCH_FILES);
        room = if fits { room } else { BATCH_BYTES }.saturating_sub(length);
        match batches.last_mut() {
            Some(batch) if fits => batch.push((place, path, upload)),
            _ => batches.push(vec![(place, path, upload)]),
        }
    }
    (batches, rejected)
}

#[async_trait]
impl DataPlane for DaytonaSandbox {
    fn id(&self) -> &SandboxId {
        &self.id
    }

    fn is_binary_safe(&self) -> bool {
        true
    }

    async fn run(&self, command: Command, output: &mut OutputCollector<'_>) -> Result<CommandOutcome> {
        let exec = now();
        let job = self.jobs.next_job();
        let script = self.script(&job, command.script).await?;
        let finished = self.finished.lock().take();
        let line = job.start(&self.shell, &script, &finished);
        let time = command.timeout.saturating_add(KILL_GRACE);
        let request = self.toolbox.execute(&line, command.cwd.as_deref(), &command.env, time);
        let mut response: ResponseFuture<'_> = Box::pin(async move { self.send_once(&request).await });
        let mut started = KillGuard { sandbox: self, job: &job, runs: true };
        let mut seen = ReadOffsets::default();
        let mut pauses = PollBackoff::new(output.is_streaming());
        let mut lost: Option<LostResponse> = None;
        loop {
            let left = command.timeout.saturating_sub(exec.elapsed());
            match timeout(left, self.step(&mut response, &job, seen, pauses.next())).await {
                None | Some(Step::Answered(Ok(SendOutcome::TimeUp))) => {
                    self.stop(&job, seen, output).await?;
                    started.runs = false;
                    return Ok(CommandOutcome::Timeout);
                }
                Some(Step::Answered(Ok(SendOutcome::LostResponse(error)))) => {
                    lost = Some(LostResponse { error, misses: 0 });
                    pauses = PollBackoff::growing();
                    response = Box::pin(pending());
                }
                Some(Step::Answered(answered)) => {
                    started.runs = false;
                    return self.ended(answered?, &job, seen, output).await;
                }
                Some(Step::Looked(Ok(PollResult::Found(report)))) => {
                    if let Some(lost) = &mut lost {
                        lost.misses = 0;
                    }
                    if output.is_streaming() && !(report.out.is_empty() && report.err.is_empty()) {
                        pauses = PollBackoff::growing();
                    }
                    take(&report, &mut seen, output);
                    // A poll may see the exit before the response arrives, or instead of it.
                    if let Some(code) = report.code {
                        started.runs = false;
                        self.download_rest(&job, seen, report.size, output).await?;
                        return Ok(CommandOutcome::Exit(code));
                    }
                }
                // The command may not have printed yet.
                Some(Step::Looked(missed)) => {
                    if let Some(LostResponse { error, misses }) = lost.take() {
                        if misses >= MAX_MISSED_POLLS {
                            // A missing job needs no kill.
                            started.runs = missed.is_err();
                            return Err(error);
                        }
                        lost = Some(LostResponse { error, misses: misses + 1 });
                    }
                }
            }
        }
    }

    async fn fetch(&self, path: &SandboxPath, sink: ChunkSink<'_>) -> Result<FileResult<()>> {
        if std::str::from_utf8(path.as_bytes()).is_err() {
            return Ok(path_error(path).map_or(Ok(()), Err));
        }
        let mut reply = self.client.send(&self.toolbox.download(path.as_bytes(), 0)).await?;
        if !reply.is_success() {
            let status = reply.status;
            let body = reply.bytes().await?;
            return match wire::download_error(status, &body, path) {
                Some(rejection) => Ok(Err(rejection)),
                None => Err(wire::failure("download_files", status, &body).with_context("sandbox", self.id.as_str())),
            };
        }
        while let Some(chunk) = reply.next().await? {
            if !sink(&chunk) {
                break;
            }
        }
        Ok(Ok(()))
    }

    fn terminals(&self) -> Result<&dyn Terminals> {
        if cfg!(target_family = "wasm") {
            let reason = "uses WebSockets with a key for terminals at Daytona, which JavaScript cannot send";
            return Err(unsupported_terminal("spawn", reason));
        }
        Ok(self)
    }

    async fn port_endpoint(&self, port: u16) -> Result<PortEndpoint> {
        const OPERATION: &str = "port_endpoint";
        let reply = self.client.send(&wire::preview(&self.toolbox.config, self.id.as_str(), port)).await?;
        if !reply.is_success() {
            return Err(self.response_error(OPERATION, reply).await?);
        }
        let preview: wire::Preview = wire::parse(OPERATION, &reply.bytes().await?)?;
        let endpoint = PortEndpoint::new(preview.url);
        Ok(match preview.token {
            Some(token) => endpoint.with_header("x-daytona-preview-token", Secret::new(token)),
            None => endpoint,
        })
    }

    async fn store(&self, files: Vec<(SandboxPath, Upload)>) -> Result<Vec<UploadResult>> {
        let (batches, mut results) = batches(files);
        for batch in batches {
            let places: Vec<usize> = batch.iter().map(|(place, ..)| *place).collect();
            let files = batch.into_iter().map(|(_, path, upload)| (path, upload)).collect();
            results.extend(places.into_iter().zip(self.upload(files).await?));
        }
        results.sort_by_key(|(place, _)| *place);
        Ok(results.into_iter().map(|(_, result)| result).collect())
    }
}
