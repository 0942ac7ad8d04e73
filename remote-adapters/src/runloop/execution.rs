//! One command at Runloop, from its start to its end.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

use futures_util::future::{Either, join, select, try_join};
use tidebox_core::{Error, ErrorKind, OutputStream, Result};

use super::sandbox::RunloopSandbox;
use super::wire::{self, Devbox, Execution, LINES, State, Update};
use crate::output::Output;
use crate::plane::{Command, Ending};
use crate::transport::sse::EventReader;
use crate::transport::{Reply, sleep, spawn, within};

/// How much longer than its time the devbox lets a command run whose client is gone.
const NET: Duration = Duration::from_secs(30);

/// How long a command that was killed, or has ended, is waited for until its output is there.
const LAST_WORDS: Duration = Duration::from_secs(3);

/// Breaks of one stream of output in a row, before the command counts as lost.
const BREAKS: u32 = 5;

/// How long the first request waits for a command that is watched, whose output is to be seen soon.
const WATCHED_WAIT: Duration = Duration::from_secs(1);

/// A command that was sent, by the name that it was given. One that nobody waits for any more is killed.
struct Started<'a> {
    sandbox: &'a RunloopSandbox,
    line: String,
    name: String,
    /// What Runloop calls it, as soon as that is known.
    execution: Option<String>,
    runs: bool,
}

impl Drop for Started<'_> {
    fn drop(&mut self) {
        if self.runs {
            let (sandbox, line, name) = (self.sandbox.clone(), std::mem::take(&mut self.line), self.name.clone());
            let execution = self.execution.take();
            spawn(async move {
                // It may have ended meanwhile, and there is nobody left who could be told of anything else.
                let _ = sandbox.kill(execution, &line, &name).await;
            });
        }
    }
}

/// How much of both streams was taken, in bytes of the stream.
#[derive(Debug, Default)]
struct Taken {
    out: u64,
    err: u64,
}

/// Output, and how much of it is known, for both streams at once.
struct Taking<'a, 'o> {
    output: &'a mut Output<'o>,
    taken: &'a mut Taken,
}

const STREAMS: [(OutputStream, &str); 2] = [(OutputStream::Stdout, "stdout"), (OutputStream::Stderr, "stderr")];

impl Taking<'_, '_> {
    fn of(&mut self, stream: OutputStream) -> &mut u64 {
        if stream == OutputStream::Stdout { &mut self.taken.out } else { &mut self.taken.err }
    }

    /// Takes what of an update is new. False when nothing more is kept.
    fn take(&mut self, stream: OutputStream, update: &Update) -> bool {
        let known = self.of(stream);
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
    pub(super) async fn follow(&self, command: Command, output: &mut Output<'_>) -> Result<Ending> {
        let line = wire::line(&command, &self.config.shell, command.time.saturating_add(NET));
        let mut started = Started { sandbox: self, line, name: wire::uuid7(), execution: None, runs: true };
        let mut taken = Taken::default();
        let ended = within(command.time, self.whole(&mut started, command.time, output, &mut taken)).await;
        match ended {
            Some(Ok(ending)) => {
                started.runs = false;
                Ok(ending)
            }
            Some(Err(error)) => {
                // What was refused does not run.
                started.runs = started.execution.is_some() || error.retryable();
                Err(error)
            }
            None => {
                let execution = self.kill(started.execution.clone(), &started.line, &started.name).await?;
                started.runs = false;
                // What it wrote last is on its way; a part of it is better than none.
                if !matches!(within(LAST_WORDS, self.updates(&execution, output, &mut taken)).await, Some(Ok(()))) {
                    output.dropped_by_provider();
                }
                Ok(Ending::Timeout)
            }
        }
    }

    /// Starts a command and follows it to its end.
    async fn whole(
        &self,
        started: &mut Started<'_>,
        time: Duration,
        output: &mut Output<'_>,
        taken: &mut Taken,
    ) -> Result<Ending> {
        let wait = if output.is_watched() { WATCHED_WAIT } else { time };
        let mut execution = self.start(&started.line, &started.name, wait).await?;
        started.execution = Some(execution.execution_id.clone());
        if output.is_watched() && !execution.is_over() {
            return self.watch(&execution.execution_id, output, taken).await;
        }
        while !execution.is_over() {
            if let Some(later) = self.wait(&execution.execution_id).await? {
                execution = later;
            }
        }
        self.answered(&execution, output, taken).await?;
        Ok(ending(&execution))
    }

    /// Takes output as it comes, until the command has ended.
    async fn watch(&self, id: &str, output: &mut Output<'_>, taken: &mut Taken) -> Result<Ending> {
        let over = async {
            loop {
                if let Some(execution) = self.wait(id).await?.filter(Execution::is_over) {
                    return Ok::<_, Error>(execution);
                }
            }
        };
        let shared = Mutex::new(Taking { output: &mut *output, taken: &mut *taken });
        let streams = async { join(self.stream(id, 0, &shared, true), self.stream(id, 1, &shared, true)).await };
        let (mut over, mut streams) = (Box::pin(over), Box::pin(streams));
        let (execution, drained) = match select(&mut over, &mut streams).await {
            // Streams end with their command; one that does not is not waited for.
            Either::Left((over, streams)) => (over?, within(LAST_WORDS, streams).await),
            Either::Right((drained, over)) => (over.await?, Some(drained)),
        };
        drop((over, streams));
        // What the streams lost is fetched; it is nothing when they did not.
        let lost = |text: &Option<String>, known: u64| {
            text.as_ref().is_some_and(|text| u64::try_from(text.len()).is_ok_and(|length| known < length))
        };
        let is_whole = matches!(drained, Some((Ok(()), Ok(()))))
            && !lost(&execution.stdout, taken.out)
            && !lost(&execution.stderr, taken.err);
        if !is_whole {
            self.updates(id, output, taken).await?;
        }
        Ok(ending(&execution))
    }

    /// Takes all output from what is known on.
    async fn updates(&self, id: &str, output: &mut Output<'_>, taken: &mut Taken) -> Result<()> {
        let shared = Mutex::new(Taking { output, taken });
        try_join(self.stream(id, 0, &shared, false), self.stream(id, 1, &shared, false)).await.map(drop)
    }

    /// Takes the output that the answer holds, and fetches all of it where that is not all.
    async fn answered(&self, execution: &Execution, output: &mut Output<'_>, taken: &mut Taken) -> Result<()> {
        let is_cut = |text: &Option<String>, truncated: Option<bool>| {
            truncated == Some(true) || text.as_ref().is_some_and(|text| text.lines().count() >= LINES)
        };
        let texts = [(&execution.stdout, execution.stdout_truncated), (&execution.stderr, execution.stderr_truncated)];
        for (number, ((stream, _), (text, truncated))) in STREAMS.into_iter().zip(texts).enumerate() {
            if is_cut(text, truncated) && output.is_full() {
                output.dropped_by_provider();
            } else if is_cut(text, truncated) {
                let shared = Mutex::new(Taking { output: &mut *output, taken: &mut *taken });
                self.stream(&execution.execution_id, number, &shared, false).await?;
            } else if let Some(text) = text {
                output.push(stream, text.as_bytes());
            }
        }
        Ok(())
    }

    /// Takes one stream to its end, from wherever it is known, and again where the connection breaks.
    async fn stream(&self, id: &str, number: usize, taking: &Mutex<Taking<'_, '_>>, is_live: bool) -> Result<()> {
        let Some((stream, name)) = STREAMS.get(number) else { return Ok(()) };
        let lock = || taking.lock().unwrap_or_else(PoisonError::into_inner);
        let mut breaks = 0;
        loop {
            let from = *lock().of(*stream);
            let error = match self.piece_of_stream(id, *stream, name, taking, is_live).await {
                Ok(()) => return Ok(()),
                Err(error) => error,
            };
            breaks = if *lock().of(*stream) > from { 0 } else { breaks + 1 };
            if breaks >= BREAKS || !error.retryable() {
                return Err(error);
            }
            sleep(Duration::from_millis(200) * breaks).await;
        }
    }

    async fn piece_of_stream(
        &self,
        id: &str,
        stream: OutputStream,
        name: &str,
        taking: &Mutex<Taking<'_, '_>>,
        is_live: bool,
    ) -> Result<()> {
        let lock = || taking.lock().unwrap_or_else(PoisonError::into_inner);
        let from = *lock().of(stream);
        let mut reply = self.client.send(&wire::updates(&self.config, self.id.as_str(), id, name, from)).await?;
        if !reply.is_success() {
            return Err(self.not_done(reply).await?);
        }
        let mut reader = EventReader::default();
        while let Some(piece) = reply.next().await? {
            let too_long = || Error::new(ErrorKind::Protocol, "execute", "Runloop sent an event of more than 16 MiB");
            for event in reader.push(&piece).ok_or_else(too_long)? {
                if event.event == "error" {
                    let message = "Runloop broke off the output of a command";
                    return Err(Error::new(ErrorKind::Unavailable, "execute", message));
                }
                let update: Update = wire::parse("execute", event.data.as_bytes())?;
                // A command that runs on is followed, whatever is kept of it.
                if !lock().take(stream, &update) && !is_live {
                    // Whether that was all is told by the next byte, which is not fetched for it.
                    lock().output.dropped_by_provider();
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Why a command is not begun or followed. Runloop refuses it alike for a devbox that is over, one that sleeps and one that works.
    async fn not_done(&self, reply: Reply) -> Result<Error> {
        let error = self.refused("execute", reply).await?;
        if error.kind() != ErrorKind::InvalidRequest {
            return Ok(error);
        }
        let reply = self.client.send(&wire::get(&self.config, self.id.as_str())).await?;
        let away = match reply.status {
            404 => Some(State::Gone),
            _ if reply.is_success() => Some(wire::parse::<Devbox>("execute", &reply.whole().await?)?.state()),
            _ => None,
        };
        let (kind, message) = match away {
            Some(State::Gone) => (ErrorKind::SandboxNotFound, "the devbox is over"),
            Some(State::Asleep | State::Changing) => {
                (ErrorKind::Unavailable, "the devbox does not work now; ask the provider for it, which wakes it")
            }
            Some(State::Ready) | None => return Ok(error),
        };
        Ok(Error::new(kind, "execute", message).with_source(error).with_context("sandbox", self.id.as_str()))
    }

    /// Starts a command, or finds it.
    async fn start(&self, line: &str, name: &str, wait: Duration) -> Result<Execution> {
        let reply = self.client.send(&wire::execute(&self.config, self.id.as_str(), line, name, wait)).await?;
        if !reply.is_success() {
            return Err(self.not_done(reply).await?);
        }
        wire::parse("execute", &reply.whole().await?)
    }

    /// Waits a while for the end of a command; `None` when it has not come.
    async fn wait(&self, id: &str) -> Result<Option<Execution>> {
        let request = wire::wait_for_command(&self.config, self.id.as_str(), id, wire::COMMAND_WAIT);
        let reply = match self.client.send(&request).await {
            Ok(reply) => reply,
            // Proxies cut requests that wait for long, too.
            Err(error) if error.kind() == ErrorKind::Timeout => return Ok(None),
            Err(error) => return Err(error),
        };
        match reply.status {
            408 => Ok(None),
            _ if reply.is_success() => wire::parse("execute", &reply.whole().await?).map(Some),
            _ => Err(self.not_done(reply).await?),
        }
    }

    /// Kills a command, and tells what Runloop calls it.
    async fn kill(&self, execution: Option<String>, line: &str, name: &str) -> Result<String> {
        let id = match execution {
            Some(id) => id,
            // Under the same name it is the same command.
            None => self.start(line, name, Duration::ZERO).await?.execution_id,
        };
        let reply = self.client.send(&wire::kill(&self.config, self.id.as_str(), &id)).await?;
        // One that has ended cannot be killed any more.
        if reply.is_success() || matches!(reply.status, 400 | 404 | 409) {
            return Ok(id);
        }
        Err(self.not_done(reply).await?)
    }
}

fn ending(execution: &Execution) -> Ending {
    execution.exit_status.map_or(Ending::Unknown, Ending::Exit)
}
