//! Execution of one command at Runloop.
use std::time::Duration;

use futures_util::future::{Either, join, select, try_join};
use tidebox_core::lock::Mutex;
use tidebox_core::{Error, ErrorKind, OutputStream, Result};

use super::sandbox::RunloopSandbox;
use super::wire::{self, Devbox, Execution, LINES, State, Update};
use crate::data_plane::{Command, CommandOutcome};
use crate::output::OutputCollector;
use crate::transport::sse::EventReader;
use crate::transport::{Response, sleep, spawn, timeout};

/// Extra time after which the devbox kills a command whose client has disconnected.
const KILL_GRACE: Duration = Duration::from_secs(30);

/// Time to wait for the output of a command that was killed or has exited.
const FINAL_OUTPUT_TIMEOUT: Duration = Duration::from_secs(3);

/// Consecutive disconnects of one output stream before the command counts as lost.
const MAX_DISCONNECTS: u32 = 5;

/// Wait time of the first request for a streamed command, so that its output is shown soon.
const WATCHED_WAIT: Duration = Duration::from_secs(1);

/// A sent command, identified by its client-chosen name. Killed on drop if abandoned.
struct KillGuard<'a> {
    sandbox: &'a RunloopSandbox,
    line: String,
    name: String,
    /// Execution id, once known.
    execution: Option<String>,
    runs: bool,
}

impl Drop for KillGuard<'_> {
    fn drop(&mut self) {
        if self.runs {
            let (sandbox, line, name) = (self.sandbox.clone(), std::mem::take(&mut self.line), self.name.clone());
            let execution = self.execution.take();
            spawn(async move {
                // Ignore errors: the command may have exited, and no caller is left to report to.
                let _ = sandbox.kill(execution, &line, &name).await;
            });
        }
    }
}

/// Number of bytes received of both streams.
#[derive(Debug, Default)]
struct StreamOffsets {
    out: u64,
    err: u64,
}

/// Collector and offsets shared by both streams.
struct OutputCursor<'a, 'o> {
    output: &'a mut OutputCollector<'o>,
    taken: &'a mut StreamOffsets,
}

const STREAMS: [(OutputStream, &str); 2] = [(OutputStream::Stdout, "stdout"), (OutputStream::Stderr, "stderr")];

impl OutputCursor<'_, '_> {
    fn offset_mut(&mut self, stream: OutputStream) -> &mut u64 {
        if stream == OutputStream::Stdout { &mut self.taken.out } else { &mut self.taken.err }
    }

    /// Adds the new part of an update. Returns false once the collector is full.
    fn take(&mut self, stream: OutputStream, update: &Update) -> bool {
        let known = self.offset_mut(stream);
        let begin = update.offset.unwrap_or(*known);
        let again = usize::try_from(known.saturating_sub(begin)).unwrap_or(usize::MAX);
        let bytes = update.output.as_bytes();
        let fresh = bytes.get(again.min(bytes.len())..).unwrap_or_default().to_vec();
        *known = (*known).max(begin.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX)));
        self.output.push(stream, &fresh);
        !self.output.is_full()
    }
}

impl RunloopSandbox {
    pub(super) async fn follow(&self, command: Command, output: &mut OutputCollector<'_>) -> Result<CommandOutcome> {
        let line = wire::line(&command, &self.config.shell, command.timeout.saturating_add(KILL_GRACE));
        let mut started = KillGuard { sandbox: self, line, name: wire::uuid7(), execution: None, runs: true };
        let mut taken = StreamOffsets::default();
        let ended = timeout(command.timeout, self.run_to_end(&mut started, command.timeout, output, &mut taken)).await;
        match ended {
            Some(Ok(ending)) => {
                started.runs = false;
                Ok(ending)
            }
            Some(Err(error)) => {
                // A rejected command does not run.
                started.runs = started.execution.is_some() || error.retryable();
                Err(error)
            }
            None => {
                let execution = self.kill(started.execution.clone(), &started.line, &started.name).await?;
                started.runs = false;
                // The last output may still arrive; partial output is better than none.
                if !matches!(
                    timeout(FINAL_OUTPUT_TIMEOUT, self.updates(&execution, output, &mut taken)).await,
                    Some(Ok(()))
                ) {
                    output.mark_truncated();
                }
                Ok(CommandOutcome::Timeout)
            }
        }
    }

    /// Starts a command and waits until it exits.
    async fn run_to_end(
        &self,
        started: &mut KillGuard<'_>,
        time: Duration,
        output: &mut OutputCollector<'_>,
        taken: &mut StreamOffsets,
    ) -> Result<CommandOutcome> {
        let wait = if output.is_streaming() { WATCHED_WAIT } else { time };
        let mut execution = self.start(&started.line, &started.name, wait).await?;
        started.execution = Some(execution.execution_id.clone());
        if output.is_streaming() && !execution.is_finished() {
            return self.watch(&execution.execution_id, output, taken).await;
        }
        while !execution.is_finished() {
            if let Some(later) = self.wait(&execution.execution_id).await? {
                execution = later;
            }
        }
        self.apply_response(&execution, output, taken).await?;
        Ok(outcome(&execution))
    }

    /// Streams output until the command has exited.
    async fn watch(
        &self,
        id: &str,
        output: &mut OutputCollector<'_>,
        taken: &mut StreamOffsets,
    ) -> Result<CommandOutcome> {
        let over = async {
            loop {
                if let Some(execution) = self.wait(id).await?.filter(Execution::is_finished) {
                    return Ok::<_, Error>(execution);
                }
            }
        };
        let shared = Mutex::new(OutputCursor { output: &mut *output, taken: &mut *taken });
        let streams = async { join(self.stream(id, 0, &shared, true), self.stream(id, 1, &shared, true)).await };
        let (mut over, mut streams) = (Box::pin(over), Box::pin(streams));
        let (execution, drained) = match select(&mut over, &mut streams).await {
            // Streams end with their command; do not wait for one that stays open.
            Either::Left((over, streams)) => (over?, timeout(FINAL_OUTPUT_TIMEOUT, streams).await),
            Either::Right((drained, over)) => (over.await?, Some(drained)),
        };
        drop((over, streams));
        // Fetch output that the streams missed, if any.
        let lost = |text: &Option<String>, known: u64| {
            text.as_ref().is_some_and(|text| u64::try_from(text.len()).is_ok_and(|length| known < length))
        };
        let is_whole = matches!(drained, Some((Ok(()), Ok(()))))
            && !lost(&execution.stdout, taken.out)
            && !lost(&execution.stderr, taken.err);
        if !is_whole {
            self.updates(id, output, taken).await?;
        }
        Ok(outcome(&execution))
    }

    /// Fetches all output from the known offsets.
    async fn updates(&self, id: &str, output: &mut OutputCollector<'_>, taken: &mut StreamOffsets) -> Result<()> {
        let shared = Mutex::new(OutputCursor { output, taken });
        try_join(self.stream(id, 0, &shared, false), self.stream(id, 1, &shared, false)).await.map(drop)
    }

    /// Adds the output in the response, and fetches all of it if the response is incomplete.
    async fn apply_response(
        &self,
        execution: &Execution,
        output: &mut OutputCollector<'_>,
        taken: &mut StreamOffsets,
    ) -> Result<()> {
        let is_cut = |text: &Option<String>, truncated: Option<bool>| {
            truncated == Some(true) || text.as_ref().is_some_and(|text| text.lines().count() >= LINES)
        };
        let texts = [(&execution.stdout, execution.stdout_truncated), (&execution.stderr, execution.stderr_truncated)];
        for (number, ((stream, _), (text, truncated))) in STREAMS.into_iter().zip(texts).enumerate() {
            if is_cut(text, truncated) && output.is_full() {
                output.mark_truncated();
            } else if is_cut(text, truncated) {
                let shared = Mutex::new(OutputCursor { output: &mut *output, taken: &mut *taken });
                self.stream(&execution.execution_id, number, &shared, false).await?;
            } else if let Some(text) = text {
                output.push(stream, text.as_bytes());
            }
        }
        Ok(())
    }

    /// Reads one stream from its known offset to the end, and reconnects after a disconnect.
    async fn stream(&self, id: &str, number: usize, taking: &Mutex<OutputCursor<'_, '_>>, is_live: bool) -> Result<()> {
        let Some((stream, name)) = STREAMS.get(number) else { return Ok(()) };
        let lock = || taking.lock();
        let mut breaks = 0;
        loop {
            let from = *lock().offset_mut(*stream);
            let error = match self.read_stream_once(id, *stream, name, taking, is_live).await {
                Ok(()) => return Ok(()),
                Err(error) => error,
            };
            breaks = if *lock().offset_mut(*stream) > from { 0 } else { breaks + 1 };
            if breaks >= MAX_DISCONNECTS || !error.retryable() {
                return Err(error);
            }
            sleep(Duration::from_millis(200) * breaks).await;
        }
    }

    async fn read_stream_once(
        &self,
        id: &str,
        stream: OutputStream,
        name: &str,
        taking: &Mutex<OutputCursor<'_, '_>>,
        is_live: bool,
    ) -> Result<()> {
        let lock = || taking.lock();
        let from = *lock().offset_mut(stream);
        let mut reply = self.client.send(&wire::updates(&self.config, self.id.as_str(), id, name, from)).await?;
        if !reply.is_success() {
            return Err(self.execution_error(reply).await?);
        }
        let mut reader = EventReader::default();
        while let Some(chunk) = reply.next().await? {
            let too_long = || Error::new(ErrorKind::Protocol, "execute", "Runloop sent an event of more than 16 MiB");
            for event in reader.push(&chunk).ok_or_else(too_long)? {
                if event.event == "error" {
                    let message = "Runloop interrupted the output of a command";
                    return Err(Error::new(ErrorKind::Unavailable, "execute", message));
                }
                let update: Update = wire::parse("execute", event.data.as_bytes())?;
                // Keep following a running command even if its output is discarded.
                if !lock().take(stream, &update) && !is_live {
                    // Only the next byte would show whether the output was complete; it is not fetched for that.
                    lock().output.mark_truncated();
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Determines why a command could not be started or followed. Runloop returns the same error for a devbox that is
    /// shut down, suspended or running.
    async fn execution_error(&self, reply: Response) -> Result<Error> {
        let error = self.response_error("execute", reply).await?;
        if error.kind() != ErrorKind::InvalidRequest {
            return Ok(error);
        }
        let reply = self.client.send(&wire::get(&self.config, self.id.as_str())).await?;
        let away = match reply.status {
            404 => Some(State::Gone),
            _ if reply.is_success() => Some(wire::parse::<Devbox>("execute", &reply.bytes().await?)?.state()),
            _ => None,
        };
        let (kind, message) = match away {
            Some(State::Gone) => (ErrorKind::SandboxNotFound, "the devbox was shut down"),
            Some(State::Asleep | State::Changing) => {
                (ErrorKind::Unavailable, "the devbox is suspended; request it from the provider to resume it")
            }
            Some(State::Ready) | None => return Ok(error),
        };
        Ok(Error::new(kind, "execute", message).with_source(error).with_context("sandbox", self.id.as_str()))
    }

    /// Starts a command, or finds it if it was started before.
    async fn start(&self, line: &str, name: &str, wait: Duration) -> Result<Execution> {
        let reply = self.client.send(&wire::execute(&self.config, self.id.as_str(), line, name, wait)).await?;
        if !reply.is_success() {
            return Err(self.execution_error(reply).await?);
        }
        wire::parse("execute", &reply.bytes().await?)
    }

    /// Waits for the exit of a command; `None` if it still runs.
    async fn wait(&self, id: &str) -> Result<Option<Execution>> {
        let request = wire::wait_for_command(&self.config, self.id.as_str(), id, wire::COMMAND_WAIT);
        let reply = match self.client.send(&request).await {
            Ok(reply) => reply,
            // Proxies also cut off long requests.
            Err(error) if error.kind() == ErrorKind::Timeout => return Ok(None),
            Err(error) => return Err(error),
        };
        match reply.status {
            408 => Ok(None),
            _ if reply.is_success() => wire::parse("execute", &reply.bytes().await?).map(Some),
            _ => Err(self.execution_error(reply).await?),
        }
    }

    /// Kills a command and returns its execution id.
    async fn kill(&self, execution: Option<String>, line: &str, name: &str) -> Result<String> {
        let id = match execution {
            Some(id) => id,
            // A repeated start with this name returns the existing execution.
            None => self.start(line, name, Duration::ZERO).await?.execution_id,
        };
        let reply = self.client.send(&wire::kill(&self.config, self.id.as_str(), &id)).await?;
        // A command that has exited cannot be killed.
        if reply.is_success() || matches!(reply.status, 400 | 404 | 409) {
            return Ok(id);
        }
        Err(self.execution_error(reply).await?)
    }
}

fn outcome(execution: &Execution) -> CommandOutcome {
    execution.exit_status.map_or(CommandOutcome::Unknown, CommandOutcome::Exit)
}
