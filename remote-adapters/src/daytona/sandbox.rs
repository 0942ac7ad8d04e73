//! One sandbox at Daytona.

use std::pin::{Pin, pin};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::{Either, pending, select};
use tidebox_core::shell_backend::PieceSink;
use tidebox_core::{
    BoxFuture, Error, FileError, FileErrorCode, Outcome, OutputStream, Result, SandboxId, SandboxPath, Upload,
    UploadResult,
};

use super::config::DaytonaConfig;
use super::job::{self, Job, Jobs, NO_SUCH_JOB, Report, SCRIPT_BYTES, Seen};
use super::wire::{self, Executed, Sandbox, Toolbox};
use crate::output::Output;
use crate::plane::{Command, Ending, Plane};
use crate::transport::{Client, Reply, now, sleep, spawn, within};

/// The daemon in a sandbox.
#[derive(Debug)]
pub struct DaytonaSandbox {
    id: SandboxId,
    toolbox: Toolbox,
    shell: String,
    client: Client,
    jobs: Jobs,
    /// Jobs whose output was read.
    finished: Mutex<Finished>,
}

/// How long after its time the daemon ends a command by itself, for one whose client is gone.
const NET: Duration = Duration::from_secs(5);

/// How long a look at a job may take.
const LOOK_TIME: Duration = Duration::from_secs(30);

/// How often a job is looked at that nobody watches. Daytona stops sandboxes that are not used, and a command is no use.
const REST: Duration = Duration::from_secs(60);

/// How often a command is looked for whose answer was lost, before it counts as never begun.
const MISSES: u32 = 5;

/// Jobs whose files nobody needs any more. A command removes them when there are some: a program for each command costs more.
#[derive(Debug, Default)]
struct Finished {
    jobs: Vec<Job>,
    bytes: u64,
}

/// How many jobs are kept, and bytes of their output, until a command removes them.
const KEPT_JOBS: usize = 16;
const KEPT_BYTES: u64 = 1 << 20;

impl Finished {
    fn add(&mut self, job: Job, size: Seen) {
        self.jobs.push(job);
        self.bytes = self.bytes.saturating_add(size.out).saturating_add(size.err);
    }

    /// What is to be removed now.
    fn take(&mut self) -> Vec<Job> {
        if self.jobs.len() < KEPT_JOBS && self.bytes < KEPT_BYTES {
            return Vec::new();
        }
        std::mem::take(self).jobs
    }
}

/// What came of sending a command.
enum Answer {
    /// Its report.
    Reported(Report),
    /// It was not started, for this reason.
    NotStarted(String),
    /// The daemon ended it.
    TimeUp,
    /// It may run or not.
    Lost(Error),
}

/// The answer on its way.
type Answering<'a> = Pin<Box<dyn Future<Output = Result<Answer>> + Send + 'a>>;

/// An answer that did not come, and how often the command was looked for since.
struct Lost {
    error: Error,
    misses: u32,
}

/// What happened next.
enum Step {
    Answered(Result<Answer>),
    Looked(Result<Look>),
}

/// What came of a look at a job.
enum Look {
    Is(Report),
    IsNot,
}

/// Ends a command that nobody waits for any more. Dropping the connection does not.
struct Started<'a> {
    sandbox: &'a DaytonaSandbox,
    job: &'a Job,
    runs: bool,
}

impl Drop for Started<'_> {
    fn drop(&mut self) {
        if self.runs {
            let request = self.sandbox.toolbox.execute(&self.job.abandon(), None, &[], LOOK_TIME);
            let client = self.sandbox.client.clone();
            spawn(async move {
                // It may have ended meanwhile, and there is nobody left who could be told of anything else.
                let _ = client.send(&request).await;
            });
        }
    }
}

/// How often a job is looked at.
struct Pauses {
    pause: Duration,
    longest: Duration,
}

impl Pauses {
    fn new(is_watched: bool) -> Self {
        if is_watched { Self::growing() } else { Self { pause: REST, longest: REST } }
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
    #[cfg(test)]
    pub(super) fn toolbox(&self) -> &Toolbox {
        &self.toolbox
    }

    pub(super) fn new(config: &DaytonaConfig, sandbox: &Sandbox, client: Client) -> Result<Self> {
        let toolbox = Toolbox::new(config, sandbox)?;
        let id = SandboxId::parse(sandbox.id.clone())?;
        Ok(Self { id, toolbox, shell: config.shell.clone(), client, jobs: Jobs::new(), finished: Mutex::default() })
    }

    async fn follow(&self, command: Command, output: &mut Output<'_>) -> Result<Ending> {
        let begun = now();
        let job = self.jobs.another();
        let script = self.script(&job, command.script).await?;
        let finished = self.finished.lock().unwrap_or_else(PoisonError::into_inner).take();
        let line = job.start(&self.shell, &script, &finished);
        let time = command.time.saturating_add(NET);
        let request = self.toolbox.execute(&line, command.cwd.as_deref(), &command.env, time);
        let mut answer: Answering<'_> = Box::pin(async move { self.answer(&request).await });
        let mut started = Started { sandbox: self, job: &job, runs: true };
        let mut seen = Seen::default();
        let mut pauses = Pauses::new(output.is_watched());
        let mut lost: Option<Lost> = None;
        loop {
            let left = command.time.saturating_sub(begun.elapsed());
            match within(left, self.step(&mut answer, &job, seen, pauses.next())).await {
                None | Some(Step::Answered(Ok(Answer::TimeUp))) => {
                    self.stop(&job, seen, output).await?;
                    started.runs = false;
                    return Ok(Ending::Timeout);
                }
                Some(Step::Answered(Ok(Answer::Lost(error)))) => {
                    lost = Some(Lost { error, misses: 0 });
                    pauses = Pauses::growing();
                    answer = Box::pin(pending());
                }
                Some(Step::Answered(answered)) => {
                    started.runs = false;
                    return self.ended(answered?, &job, seen, output).await;
                }
                Some(Step::Looked(Ok(Look::Is(report)))) => {
                    if let Some(lost) = &mut lost {
                        lost.misses = 0;
                    }
                    if output.is_watched() && !(report.out.is_empty() && report.err.is_empty()) {
                        pauses = Pauses::growing();
                    }
                    take(&report, &mut seen, output);
                    // A look may see the end before the answer comes, or instead of it.
                    if let Some(code) = report.code {
                        started.runs = false;
                        self.rest(&job, seen, report.size, output).await?;
                        return Ok(Ending::Exit(code));
                    }
                }
                // There may be nothing to see yet.
                Some(Step::Looked(missed)) => {
                    if let Some(Lost { error, misses }) = lost.take() {
                        if misses >= MISSES {
                            // What is not there need not be ended.
                            started.runs = missed.is_err();
                            return Err(error);
                        }
                        lost = Some(Lost { error, misses: misses + 1 });
                    }
                }
            }
        }
    }

    /// Waits for the answer, or a while, and looks then.
    async fn step(&self, answer: &mut Answering<'_>, job: &Job, seen: Seen, pause: Duration) -> Step {
        let look = pin!(async {
            sleep(pause).await;
            self.look(&job.look(seen), seen).await
        });
        match select(answer, look).await {
            Either::Left((answered, _)) => Step::Answered(answered),
            Either::Right((looked, _)) => Step::Looked(looked),
        }
    }

    /// Takes the answer to a command that has ended, or did not begin.
    async fn ended(&self, answer: Answer, job: &Job, mut seen: Seen, output: &mut Output<'_>) -> Result<Ending> {
        match answer {
            Answer::Reported(report) => {
                let report = since(report, seen);
                take(&report, &mut seen, output);
                self.rest(job, seen, report.size, output).await?;
                // Without a code it ended in a way that its shell could not write down.
                Ok(report.code.map_or(Ending::Unknown, Ending::Exit))
            }
            Answer::NotStarted(reason) => {
                output.push(OutputStream::Stderr, format!("{}\n", reason.trim_end()).as_bytes());
                Ok(Ending::Exit(1))
            }
            Answer::TimeUp => Ok(Ending::Timeout),
            Answer::Lost(error) => Err(error),
        }
    }

    /// The script itself, or one that reads it from a file when it is too long for a word of a command line.
    async fn script(&self, job: &Job, script: String) -> Result<String> {
        if script.len() <= SCRIPT_BYTES {
            return Ok(script);
        }
        let file = job.script_file();
        let reply = self.client.send(&self.toolbox.upload(vec![(file.clone(), Bytes::from(script))])).await?;
        if !reply.is_success() {
            return Err(self.refused("execute", reply).await?);
        }
        let file = tidebox_core::shell_backend::quote(&file);
        Ok(format!("eval \"$(cat {file}; rm -f {file})\""))
    }

    /// Sends a command once, and tells what became of it.
    async fn answer(&self, request: &crate::transport::Request) -> Result<Answer> {
        let lost = |error: Error| if error.retryable() { Ok(Answer::Lost(error)) } else { Err(error) };
        let reply = match self.client.send(request).await {
            Ok(reply) => reply,
            Err(error) => return lost(error),
        };
        let status = reply.status;
        let body = match reply.whole().await {
            Ok(body) => body,
            Err(error) => return lost(error),
        };
        let told = |error: Error| error.with_context("sandbox", self.id.as_str());
        match status {
            200..=299 => {}
            408 => return Ok(Answer::TimeUp),
            500..=599 => return Ok(Answer::Lost(told(wire::failure("execute", status, &body)))),
            _ => return Err(told(wire::failure("execute", status, &body))),
        }
        let executed: Executed = wire::parse("execute", &body)?;
        match executed.exit_code {
            Some(0) | None => job::report(&executed.result, Seen::default()).map(Answer::Reported),
            Some(_) => Ok(Answer::NotStarted(executed.result)),
        }
    }

    /// Runs a script about a job.
    async fn look(&self, line: &str, seen: Seen) -> Result<Look> {
        let reply = self.client.send(&self.toolbox.execute(line, None, &[], LOOK_TIME)).await?;
        if !reply.is_success() {
            return Err(self.refused("execute", reply).await?);
        }
        let executed: Executed = wire::parse("execute", &reply.whole().await?)?;
        match executed.exit_code {
            Some(NO_SUCH_JOB) => Ok(Look::IsNot),
            _ => job::report(&executed.result, seen).map(Look::Is),
        }
    }

    /// Ends a command and takes what it has written.
    async fn stop(&self, job: &Job, mut seen: Seen, output: &mut Output<'_>) -> Result<()> {
        match self.look(&job.end(seen), seen).await? {
            Look::Is(report) => {
                take(&report, &mut seen, output);
                self.rest(job, seen, report.size, output).await
            }
            // It had not even begun.
            Look::IsNot => Ok(()),
        }
    }

    /// Takes what reports did not hold of a command that has ended, and lets its files go.
    async fn rest(&self, job: &Job, mut seen: Seen, size: Seen, output: &mut Output<'_>) -> Result<()> {
        for (name, stream, from, to) in [
            ("out", OutputStream::Stdout, &mut seen.out, size.out),
            ("err", OutputStream::Stderr, &mut seen.err, size.err),
        ] {
            if *from < to && output.is_full() {
                output.dropped_by_provider();
            } else if *from < to {
                self.download_from(&job.file(name), *from, &mut |piece| {
                    output.push(stream, piece);
                    !output.is_full()
                })
                .await?;
            }
        }
        self.finished.lock().unwrap_or_else(PoisonError::into_inner).add(job.clone(), size);
        Ok(())
    }

    /// Hands over a file of ours from a byte on.
    async fn download_from(&self, path: &str, from: u64, sink: PieceSink<'_>) -> Result<()> {
        let mut reply = self.client.send(&self.toolbox.download(path, from)).await?;
        if !reply.is_success() {
            return Err(self.refused("execute", reply).await?);
        }
        let mut skip = if reply.status == 206 { 0 } else { usize::try_from(from).unwrap_or(usize::MAX) };
        while let Some(piece) = reply.next().await? {
            let kept = piece.get(skip.min(piece.len())..).unwrap_or_default();
            skip = skip.saturating_sub(piece.len());
            if !kept.is_empty() && !sink(kept) {
                break;
            }
        }
        Ok(())
    }

    async fn refused(&self, operation: &'static str, reply: Reply) -> Result<Error> {
        let status = reply.status;
        let body = reply.whole().await?;
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
            let body = reply.whole().await?;
            let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
            let told = if status == 400 { wire::uploaded(&body, &paths) } else { None };
            let failure = || wire::failure("upload_files", status, &body).with_context("sandbox", self.id.as_str());
            told.ok_or_else(failure)?
        };
        Ok(names.into_iter().zip(results).map(|(path, result)| UploadResult { path, result }).collect())
    }
}

/// A report from the beginning, as one from what was seen already.
fn since(mut report: Report, seen: Seen) -> Report {
    let cut = |bytes: &mut Vec<u8>, seen: u64| {
        let seen = usize::try_from(seen).unwrap_or(usize::MAX).min(bytes.len());
        bytes.drain(..seen);
    };
    cut(&mut report.out, seen.out);
    cut(&mut report.err, seen.err);
    report
}

fn take(report: &Report, seen: &mut Seen, output: &mut Output<'_>) {
    let length = |bytes: &[u8]| u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    seen.out = seen.out.saturating_add(length(&report.out));
    seen.err = seen.err.saturating_add(length(&report.err));
    output.push(OutputStream::Stdout, &report.out);
    output.push(OutputStream::Stderr, &report.err);
}

/// Why a path cannot be told to the daemon.
fn untellable(path: &SandboxPath) -> Option<FileError> {
    let refuse = |why: &str| FileError::new(FileErrorCode::InvalidPath, format!("Invalid path '{path}': {why}"));
    match std::str::from_utf8(path.as_bytes()) {
        Err(_) => Some(refuse("Daytona transfers only files whose names are UTF-8")),
        Ok(text) if text.trim() != text => Some(refuse("Daytona takes blanks at the end of a file's name away")),
        Ok(_) => None,
    }
}

/// The most files and bytes of one upload. A larger file goes alone.
const BATCH_FILES: usize = 100;
const BATCH_BYTES: usize = 32 << 20;

/// The files of one request each, and the refusals of those that cannot be sent, by their places.
type Batches = (Vec<Vec<(usize, SandboxPath, Upload)>>, Vec<(usize, UploadResult)>);

fn batches(files: Vec<(SandboxPath, Upload)>) -> Batches {
    let (mut batches, mut refused): Batches = (Vec::new(), Vec::new());
    let mut room = 0;
    for (place, (path, upload)) in files.into_iter().enumerate() {
        if let Some(refusal) = untellable(&path) {
            refused.push((place, UploadResult { path: upload.path, result: Err(refusal) }));
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
    (batches, refused)
}

impl Plane for DaytonaSandbox {
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
            if std::str::from_utf8(path.as_bytes()).is_err() {
                return Ok(untellable(path).map_or(Ok(()), Err));
            }
            let mut reply = self.client.send(&self.toolbox.download(path.as_bytes(), 0)).await?;
            if !reply.is_success() {
                let status = reply.status;
                let body = reply.whole().await?;
                return match wire::download_refusal(status, &body, path) {
                    Some(refusal) => Ok(Err(refusal)),
                    None => {
                        Err(wire::failure("download_files", status, &body).with_context("sandbox", self.id.as_str()))
                    }
                };
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
        Box::pin(async move {
            let (batches, mut results) = batches(files);
            for batch in batches {
                let places: Vec<usize> = batch.iter().map(|(place, ..)| *place).collect();
                let files = batch.into_iter().map(|(_, path, upload)| (path, upload)).collect();
                results.extend(places.into_iter().zip(self.upload(files).await?));
            }
            results.sort_by_key(|(place, _)| *place);
            Ok(results.into_iter().map(|(_, result)| result).collect())
        })
    }
}
