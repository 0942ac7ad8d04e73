//! Execution of one command at LangSmith.
//!
//! Three protocols exist: server-sent events, which carry bytes; a WebSocket, which carries text; and a single request
//! that responds when the command has exited. The first one that the service supports is remembered. On the first two,
//! the client names the command, so that starting it twice runs it once, and an interrupted stream resumes at its last
//! offset.

use std::time::Duration;

use tidebox_core::{Error, ErrorKind, OutputStream, Result};
use web_time::{SystemTime, UNIX_EPOCH};

use super::sandbox::LangSmithSandbox;
use super::wire::{self, Endpoint, ErrorBody, Event, ExecuteResult};
use crate::data_plane::{Command, CommandOutcome};
use crate::output::OutputCollector;
use crate::transport::socket::{Message, Socket, UpgradeResult, unexpected_bytes};
use crate::transport::sse::EventReader;
use crate::transport::{Client, Response, sleep, spawn};

/// Protocol that runs commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StreamProtocol {
    /// Not determined yet.
    Unknown = 0,
    /// Server-sent events.
    Events = 1,
    /// A WebSocket.
    Socket = 2,
    /// A single request.
    Request = 3,
}

impl StreamProtocol {
    pub(super) fn from_u8(number: u8) -> Self {
        [Self::Unknown, Self::Events, Self::Socket, Self::Request]
            .into_iter()
            .find(|protocol| *protocol as u8 == number)
            .unwrap_or(Self::Unknown)
    }
}

/// Attempts to resume a broken stream without receiving new output.
const MAX_RESUMES: u32 = 5;

/// First pause before resuming a stream; doubled after each attempt.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const MAX_PAUSE: Duration = Duration::from_secs(8);

/// One command: its name, and the offsets received.
struct StreamProgress {
    id: String,
    started: bool,
    stdout: u64,
    stderr: u64,
    disconnects: u32,
}

impl StreamProgress {
    fn new() -> Self {
        Self { id: uuid7(), started: false, stdout: 0, stderr: 0, disconnects: 0 }
    }

    /// Passes on output that may partly have arrived before, and detects output dropped by the service.
    fn take(&mut self, stream: OutputStream, offset: u64, bytes: &[u8], output: &mut OutputCollector<'_>) {
        let arrived = if stream == OutputStream::Stdout { &mut self.stdout } else { &mut self.stderr };
        if offset > *arrived {
            output.mark_truncated();
        }
        let known = usize::try_from(arrived.saturating_sub(offset)).unwrap_or(usize::MAX);
        let end = offset.saturating_add(bytes.len() as u64);
        if let Some(new) = bytes.get(known..).filter(|new| !new.is_empty()) {
            output.push(stream, new);
            *arrived = end;
            self.disconnects = 0;
        }
    }

    /// Waits before the stream is resumed, unless the attempts are used up.
    async fn pause(&mut self, why: Error) -> Result<()> {
        self.disconnects += 1;
        if self.disconnects > MAX_RESUMES {
            return Err(why.with_context("resumed", MAX_RESUMES.to_string()));
        }
        let pause = FIRST_PAUSE.saturating_mul(1 << (self.disconnects - 1)).min(MAX_PAUSE);
        sleep(pause.mul_f64(0.8 + fastrand::f64() / 5.0)).await;
        Ok(())
    }
}

/// Creates a command name: a version 7 UUID, as in the official clients.
fn uuid7() -> String {
    let millis = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis()) & 0xffff_ffff_ffff;
    let random = (u128::from(fastrand::u64(..)) << 64 | u128::from(fastrand::u64(..))) & 0x0fff_3fff_ffff_ffff_ffff;
    format!("{:032x}", millis << 80 | 0x7000_8000_0000_0000_0000 | random)
}

/// Kills an abandoned command on drop: the service would let it run.
struct KillGuard<'a> {
    sandbox: &'a LangSmithSandbox,
    id: String,
    pid: Option<u64>,
    over: bool,
}

impl Drop for KillGuard<'_> {
    fn drop(&mut self) {
        if self.over {
            return;
        }
        let (client, plane) = (self.sandbox.client.clone(), self.sandbox.plane.clone());
        let (id, pid) = (std::mem::take(&mut self.id), self.pid);
        spawn(async move { kill(client, plane, &id, pid).await });
    }
}

/// Ignores errors: no caller is left to report to. Tries the service's kill message first. If no WebSocket can be
/// opened, runs a command that kills the process by id.
pub(super) async fn kill(client: Client, plane: Endpoint, id: &str, pid: Option<u64>) {
    if let Ok(UpgradeResult::Open(mut socket)) = client.open(&plane.socket()).await {
        let resume = Endpoint::resume_message(id, 0, 0).to_string();
        if socket.sender.send(resume).await.is_ok()
            && socket.sender.send(Endpoint::kill_message().to_string()).await.is_ok()
        {
            // Waits for the end, so that the message is not lost with the connection.
            while let Ok(Some(Message::Text(text))) = socket.receiver.next().await {
                if matches!(wire::message(&text), Ok(Event::Ended(_) | Event::Failed(..))) {
                    break;
                }
            }
            let _ = socket.sender.close().await;
            return;
        }
    }
    if let Some(pid) = pid {
        let command = Command {
            script: kill_script(pid),
            cwd: Some("/".to_owned()),
            env: Vec::new(),
            timeout: Duration::from_secs(10),
        };
        let _ = client.send(&plane.execute(&command)).await;
    }
}

/// Kills a process group, or only the process if it leads no group.
pub(super) fn kill_script(pid: u64) -> String {
    format!("kill -s KILL -- -{pid} 2>/dev/null || kill -s KILL {pid}")
}

/// Outcome of one stream.
enum StreamOutcome {
    /// The command exited.
    Ended(CommandOutcome),
    /// The service requires an acknowledgement; not an error.
    Again,
    /// The stream was interrupted.
    Broken(Error),
    /// The service does not support this protocol.
    Absent,
}

impl LangSmithSandbox {
    /// Runs a command until it exits, on the first supported protocol.
    pub(super) async fn follow(&self, command: Command, output: &mut OutputCollector<'_>) -> Result<CommandOutcome> {
        let protocols = [StreamProtocol::Events, StreamProtocol::Socket, StreamProtocol::Request];
        let known = self.protocol();
        for protocol in protocols {
            if known != StreamProtocol::Unknown && known != protocol {
                continue;
            }
            let ended = match protocol {
                StreamProtocol::Request => Some(self.request(&command, output).await?),
                _ => self.streamed(protocol, &command, output).await?,
            };
            if let Some(ending) = ended {
                self.set_protocol(protocol);
                return Ok(ending);
            }
        }
        let message = "LangSmith rejected the command on every protocol that its clients use";
        Err(Error::new(ErrorKind::Unsupported, "execute", message))
    }

    /// Returns `None` if the service does not support this protocol.
    async fn streamed(
        &self,
        protocol: StreamProtocol,
        command: &Command,
        output: &mut OutputCollector<'_>,
    ) -> Result<Option<CommandOutcome>> {
        let mut progress = StreamProgress::new();
        let mut running = KillGuard { sandbox: self, id: progress.id.clone(), pid: None, over: true };
        loop {
            let stream = match protocol {
                StreamProtocol::Socket => self.socket(command, &mut progress, &mut running, output).await?,
                _ => self.events(command, &mut progress, &mut running, output).await?,
            };
            match stream {
                StreamOutcome::Absent => return Ok(None),
                StreamOutcome::Again => {}
                StreamOutcome::Broken(error) => progress.pause(error).await?,
                StreamOutcome::Ended(ending) => {
                    running.over = true;
                    return Ok(Some(ending));
                }
            }
        }
    }

    async fn events(
        &self,
        command: &Command,
        progress: &mut StreamProgress,
        running: &mut KillGuard<'_>,
        output: &mut OutputCollector<'_>,
    ) -> Result<StreamOutcome> {
        let request = if progress.started {
            self.plane.resume(&progress.id, progress.stdout, progress.stderr)
        } else {
            self.plane.start(command, &progress.id)
        };
        // The command may run from here, even without a response.
        running.over = false;
        let mut reply = match self.client.send(&request).await {
            Ok(reply) => reply,
            Err(error) if error.retryable() && progress.started => return Ok(StreamOutcome::Broken(error)),
            Err(error) => return Err(error),
        };
        if !reply.is_success() {
            running.over = !progress.started;
            return self.classify_rejection(progress.started, reply).await;
        }
        let mut reader = EventReader::default();
        loop {
            let chunk = match reply.next().await {
                Ok(Some(chunk)) => chunk,
                Ok(None) => return Ok(StreamOutcome::Broken(ended_early())),
                Err(error) => return Ok(StreamOutcome::Broken(error)),
            };
            let too_long = || Error::new(ErrorKind::Protocol, "execute", "LangSmith sent a line of more than 16 MiB");
            for event in reader.push(&chunk).ok_or_else(too_long)? {
                if let Some(stream) = handle_event(wire::event(&event)?, progress, running, output)? {
                    return Ok(stream);
                }
            }
        }
    }

    /// Classifies the rejection of a stream: a service without this protocol responds with 404.
    async fn classify_rejection(&self, started: bool, reply: Response) -> Result<StreamOutcome> {
        let status = reply.status;
        let body = reply.bytes().await?;
        let rejection = ErrorBody::read(&body);
        if started && status == 404 {
            return Err(command_expired(&rejection.message));
        }
        if !started && (matches!(status, 404 | 405 | 501)) && rejection.error != "NotReady" {
            return Ok(StreamOutcome::Absent);
        }
        let error = wire::failure("execute", status, &body);
        if started && error.retryable() { Ok(StreamOutcome::Broken(error)) } else { Err(error) }
    }

    async fn socket(
        &self,
        command: &Command,
        progress: &mut StreamProgress,
        running: &mut KillGuard<'_>,
        output: &mut OutputCollector<'_>,
    ) -> Result<StreamOutcome> {
        let opening = match self.client.open(&self.plane.socket()).await {
            Ok(opening) => opening,
            Err(error) if error.kind() == ErrorKind::Unsupported => return Ok(StreamOutcome::Absent),
            Err(error) if error.retryable() => return Ok(StreamOutcome::Broken(error)),
            Err(error) => return Err(error),
        };
        let mut socket = match opening {
            UpgradeResult::Open(socket) => socket,
            UpgradeResult::Rejected(reply) => return self.classify_rejection(progress.started, reply).await,
        };
        let first = if progress.started {
            Endpoint::resume_message(&progress.id, progress.stdout, progress.stderr)
        } else {
            self.plane.start_message(command, &progress.id)
        };
        running.over = false;
        if let Err(error) = socket.sender.send(first.to_string()).await {
            return Ok(StreamOutcome::Broken(error));
        }
        listen(&mut socket, progress, running, output).await
    }

    async fn request(&self, command: &Command, output: &mut OutputCollector<'_>) -> Result<CommandOutcome> {
        let reply = self.client.send(&self.plane.execute(command)).await?;
        let (success, status) = (reply.is_success(), reply.status);
        let body = reply.bytes().await?;
        if success {
            let done: ExecuteResult = wire::parse("execute", &body)?;
            output.push(OutputStream::Stdout, done.stdout.as_bytes());
            output.push(OutputStream::Stderr, done.stderr.as_bytes());
            return Ok(done.exit_code.filter(|code| *code >= 0).map_or(CommandOutcome::Unknown, CommandOutcome::Exit));
        }
        if status == 408 || ErrorBody::read(&body).error == "CommandTimeout" {
            return Ok(CommandOutcome::Timeout);
        }
        Err(wire::failure("execute", status, &body))
    }
}

async fn listen(
    socket: &mut Socket,
    progress: &mut StreamProgress,
    running: &mut KillGuard<'_>,
    output: &mut OutputCollector<'_>,
) -> Result<StreamOutcome> {
    loop {
        match socket.receiver.next().await {
            Ok(Some(Message::Text(text))) => {
                if let Some(stream) = handle_event(wire::message(&text)?, progress, running, output)? {
                    // The server closes as well; the order does not matter.
                    let _ = socket.sender.close().await;
                    return Ok(stream);
                }
            }
            Ok(Some(Message::Closed(..)) | None) => return Ok(StreamOutcome::Broken(ended_early())),
            Ok(Some(Message::Binary(_))) => return Ok(StreamOutcome::Broken(unexpected_bytes())),
            Err(error) => return Ok(StreamOutcome::Broken(error)),
        }
    }
}

/// Handles an event; `None` while the stream continues.
fn handle_event(
    event: Event,
    progress: &mut StreamProgress,
    running: &mut KillGuard<'_>,
    output: &mut OutputCollector<'_>,
) -> Result<Option<StreamOutcome>> {
    match event {
        Event::Started(pid) => {
            progress.started = true;
            running.pid = pid.or(running.pid);
            Ok(None)
        }
        Event::Wrote(stream, offset, bytes) => {
            progress.take(stream, offset, &bytes, output);
            Ok(None)
        }
        Event::Ended(ending) => Ok(Some(StreamOutcome::Ended(ending))),
        Event::AckRequired => Ok(Some(StreamOutcome::Again)),
        Event::GoingAway => Ok(Some(StreamOutcome::Broken(ended_early()))),
        Event::Other => Ok(None),
        Event::Failed(kind, message) if matches!(kind.as_str(), "CommandNotFound" | "SessionExpired") => {
            running.over = true;
            Err(command_expired(&message))
        }
        Event::Failed(kind, message) if progress.started => {
            let error = Error::new(ErrorKind::Unavailable, "execute", "LangSmith could not complete the command");
            Err(error.with_context("error", kind).with_context("message", message))
        }
        Event::Failed(_, message) => {
            // The command could not be started, for example because the directory does not exist.
            output.push(OutputStream::Stderr, format!("{message}\n").as_bytes());
            Ok(Some(StreamOutcome::Ended(CommandOutcome::Exit(1))))
        }
    }
}

fn ended_early() -> Error {
    let message = "the connection was closed before the command exited; completed changes remain";
    Error::new(ErrorKind::Unavailable, "execute", message)
}

fn command_expired(message: &str) -> Error {
    let reported = "LangSmith no longer has the command's result; completed changes remain";
    Error::new(ErrorKind::Unavailable, "execute", reported).with_context("message", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_names_are_increasing_version_7_uuids() {
        let (first, second) = (uuid7(), uuid7());
        assert_eq!((first.len(), first.get(12..13), first != second), (32, Some("7"), true), "{first}");
        assert!(first.get(16..17).is_some_and(|digit| "89ab".contains(digit)), "{first}");
        assert!(first.get(..12) <= second.get(..12), "{first} {second}");
    }

    #[test]
    fn repeated_output_is_skipped_and_gaps_are_reported() {
        let mut output = OutputCollector::new(100, None);
        let mut progress = StreamProgress::new();
        progress.take(OutputStream::Stdout, 0, b"abc", &mut output);
        progress.take(OutputStream::Stdout, 1, b"bcde", &mut output);
        progress.take(OutputStream::Stdout, 0, b"abcde", &mut output);
        progress.take(OutputStream::Stderr, 0, b"x", &mut output);
        assert_eq!((progress.stdout, progress.stderr), (5, 1));
        progress.take(OutputStream::Stdout, 9, b"z", &mut output);
        let response = output.into_response();
        assert_eq!((&*response.stdout_text(), &*response.stderr_text(), response.truncated), ("abcdez", "x", true));
    }
}
