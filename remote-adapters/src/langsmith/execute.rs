//! A command at LangSmith, from its start to its end.
//!
//! There are three ways: server-sent events, which carry bytes; a WebSocket, which carries text; and one request that answers
//! when all is over. The first that the service has is kept. On the first two a command has a name of ours, so that starting
//! it twice starts it once, and a stream that breaks is resumed where it broke.

use std::time::Duration;

use tidebox_core::{Error, ErrorKind, OutputStream, Result};
use web_time::{SystemTime, UNIX_EPOCH};

use super::sandbox::LangSmithSandbox;
use super::wire::{self, DataPlane, Done, Event, Refusal};
use crate::output::Output;
use crate::plane::{Command, Ending};
use crate::transport::socket::{Message, Opening, Socket};
use crate::transport::sse::EventReader;
use crate::transport::{Client, Reply, sleep, spawn};

/// How commands are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Not known yet.
    Unknown = 0,
    /// Server-sent events.
    Events = 1,
    /// A WebSocket.
    Socket = 2,
    /// One request.
    Request = 3,
}

impl Way {
    pub(super) fn of(number: u8) -> Self {
        [Self::Unknown, Self::Events, Self::Socket, Self::Request]
            .into_iter()
            .find(|way| *way as u8 == number)
            .unwrap_or(Self::Unknown)
    }
}

/// How often a broken stream is resumed without anything new that came.
const RESUMES: u32 = 5;

/// The first pause before a stream is resumed; each later one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(8);

/// One command: its name, and how much of it has arrived.
struct Progress {
    id: String,
    started: bool,
    stdout: u64,
    stderr: u64,
    breaks: u32,
}

impl Progress {
    fn new() -> Self {
        Self { id: uuid7(), started: false, stdout: 0, stderr: 0, breaks: 0 }
    }

    /// Takes output that may have arrived before in part, and notices when some was dropped by the service.
    fn take(&mut self, stream: OutputStream, offset: u64, bytes: &[u8], output: &mut Output<'_>) {
        let arrived = if stream == OutputStream::Stdout { &mut self.stdout } else { &mut self.stderr };
        if offset > *arrived {
            output.dropped_by_provider();
        }
        let known = usize::try_from(arrived.saturating_sub(offset)).unwrap_or(usize::MAX);
        let end = offset.saturating_add(bytes.len() as u64);
        if let Some(new) = bytes.get(known..).filter(|new| !new.is_empty()) {
            output.push(stream, new);
            *arrived = end;
            self.breaks = 0;
        }
    }

    /// Waits before the stream is resumed, unless that was tried often enough.
    async fn pause(&mut self, why: Error) -> Result<()> {
        self.breaks += 1;
        if self.breaks > RESUMES {
            return Err(why.with_context("resumed", RESUMES.to_string()));
        }
        let pause = FIRST_PAUSE.saturating_mul(1 << (self.breaks - 1)).min(LONGEST_PAUSE);
        sleep(pause.mul_f64(0.8 + fastrand::f64() / 5.0)).await;
        Ok(())
    }
}

/// A name for a command: a UUID of version 7, as the official clients make them.
fn uuid7() -> String {
    let millis = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis()) & 0xffff_ffff_ffff;
    let random = (u128::from(fastrand::u64(..)) << 64 | u128::from(fastrand::u64(..))) & 0x0fff_3fff_ffff_ffff_ffff;
    format!("{:032x}", millis << 80 | 0x7000_8000_0000_0000_0000 | random)
}

/// Kills a command that nobody waits for any more: the service lets it run on.
struct Running<'a> {
    sandbox: &'a LangSmithSandbox,
    id: String,
    pid: Option<u64>,
    over: bool,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if self.over {
            return;
        }
        let (client, plane) = (self.sandbox.client.clone(), self.sandbox.plane.clone());
        let (id, pid) = (std::mem::take(&mut self.id), self.pid);
        spawn(async move { kill(client, plane, &id, pid).await });
    }
}

/// There is nobody left who could be told of a failure: what is tried first is the service's own way, and where no WebSocket can be
/// opened, a command that kills the other by its number.
pub(super) async fn kill(client: Client, plane: DataPlane, id: &str, pid: Option<u64>) {
    if let Ok(Opening::Open(mut socket)) = client.open(&plane.socket()).await {
        let resume = DataPlane::resume_message(id, 0, 0).to_string();
        if socket.sender.send(resume).await.is_ok()
            && socket.sender.send(DataPlane::kill_message().to_string()).await.is_ok()
        {
            // Its end is waited for, so that the message is not lost with the connection.
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
            time: Duration::from_secs(10),
        };
        let _ = client.send(&plane.execute(&command)).await;
    }
}

/// Kills all of a group, or only its leader where it leads none.
pub(super) fn kill_script(pid: u64) -> String {
    format!("kill -s KILL -- -{pid} 2>/dev/null || kill -s KILL {pid}")
}

/// What came of one stream.
enum Stream {
    /// The command ended.
    Ended(Ending),
    /// The service wants to hear what has arrived; nothing is wrong.
    Again,
    /// It broke.
    Broken(Error),
    /// The service does not have this way.
    Absent,
}

impl LangSmithSandbox {
    /// Runs a command to its end, on the first way that there is.
    pub(super) async fn follow(&self, command: Command, output: &mut Output<'_>) -> Result<Ending> {
        let ways = [Way::Events, Way::Socket, Way::Request];
        let known = self.way();
        for way in ways {
            if known != Way::Unknown && known != way {
                continue;
            }
            let ended = match way {
                Way::Request => Some(self.request(&command, output).await?),
                _ => self.streamed(way, &command, output).await?,
            };
            if let Some(ending) = ended {
                self.keep_way(way);
                return Ok(ending);
            }
        }
        let message = "LangSmith took the command on none of the ways that its clients know";
        Err(Error::new(ErrorKind::Unsupported, "execute", message))
    }

    /// `None` when the service does not have this way.
    async fn streamed(&self, way: Way, command: &Command, output: &mut Output<'_>) -> Result<Option<Ending>> {
        let mut progress = Progress::new();
        let mut running = Running { sandbox: self, id: progress.id.clone(), pid: None, over: true };
        loop {
            let stream = match way {
                Way::Socket => self.socket(command, &mut progress, &mut running, output).await?,
                _ => self.events(command, &mut progress, &mut running, output).await?,
            };
            match stream {
                Stream::Absent => return Ok(None),
                Stream::Again => {}
                Stream::Broken(error) => progress.pause(error).await?,
                Stream::Ended(ending) => {
                    running.over = true;
                    return Ok(Some(ending));
                }
            }
        }
    }

    async fn events(
        &self,
        command: &Command,
        progress: &mut Progress,
        running: &mut Running<'_>,
        output: &mut Output<'_>,
    ) -> Result<Stream> {
        let request = if progress.started {
            self.plane.resume(&progress.id, progress.stdout, progress.stderr)
        } else {
            self.plane.start(command, &progress.id)
        };
        // From here on it may run, even if no answer comes.
        running.over = false;
        let mut reply = match self.client.send(&request).await {
            Ok(reply) => reply,
            Err(error) if error.retryable() && progress.started => return Ok(Stream::Broken(error)),
            Err(error) => return Err(error),
        };
        if !reply.is_success() {
            running.over = !progress.started;
            return self.not_streamed(progress.started, reply).await;
        }
        let mut reader = EventReader::default();
        loop {
            let piece = match reply.next().await {
                Ok(Some(piece)) => piece,
                Ok(None) => return Ok(Stream::Broken(ended_early())),
                Err(error) => return Ok(Stream::Broken(error)),
            };
            let too_long = || Error::new(ErrorKind::Protocol, "execute", "LangSmith sent a line of more than 16 MiB");
            for event in reader.push(&piece).ok_or_else(too_long)? {
                if let Some(stream) = heard(wire::event(&event)?, progress, running, output)? {
                    return Ok(stream);
                }
            }
        }
    }

    /// The refusal of a stream: a service without this way knows no such path.
    async fn not_streamed(&self, started: bool, reply: Reply) -> Result<Stream> {
        let status = reply.status;
        let body = reply.whole().await?;
        let refusal = Refusal::read(&body);
        if started && status == 404 {
            return Err(forgotten(&refusal.message));
        }
        if !started && (matches!(status, 404 | 405 | 501)) && refusal.error != "NotReady" {
            return Ok(Stream::Absent);
        }
        let error = wire::failure("execute", status, &body);
        if started && error.retryable() { Ok(Stream::Broken(error)) } else { Err(error) }
    }

    async fn socket(
        &self,
        command: &Command,
        progress: &mut Progress,
        running: &mut Running<'_>,
        output: &mut Output<'_>,
    ) -> Result<Stream> {
        let opening = match self.client.open(&self.plane.socket()).await {
            Ok(opening) => opening,
            Err(error) if error.kind() == ErrorKind::Unsupported => return Ok(Stream::Absent),
            Err(error) if error.retryable() => return Ok(Stream::Broken(error)),
            Err(error) => return Err(error),
        };
        let mut socket = match opening {
            Opening::Open(socket) => socket,
            Opening::Refused(reply) => return self.not_streamed(progress.started, reply).await,
        };
        let first = if progress.started {
            DataPlane::resume_message(&progress.id, progress.stdout, progress.stderr)
        } else {
            self.plane.start_message(command, &progress.id)
        };
        running.over = false;
        if let Err(error) = socket.sender.send(first.to_string()).await {
            return Ok(Stream::Broken(error));
        }
        listen(&mut socket, progress, running, output).await
    }

    async fn request(&self, command: &Command, output: &mut Output<'_>) -> Result<Ending> {
        let reply = self.client.send(&self.plane.execute(command)).await?;
        let (success, status) = (reply.is_success(), reply.status);
        let body = reply.whole().await?;
        if success {
            let done: Done = wire::parse("execute", &body)?;
            output.push(OutputStream::Stdout, done.stdout.as_bytes());
            output.push(OutputStream::Stderr, done.stderr.as_bytes());
            return Ok(done.exit_code.filter(|code| *code >= 0).map_or(Ending::Unknown, Ending::Exit));
        }
        if status == 408 || Refusal::read(&body).error == "CommandTimeout" {
            return Ok(Ending::Timeout);
        }
        Err(wire::failure("execute", status, &body))
    }
}

async fn listen(
    socket: &mut Socket,
    progress: &mut Progress,
    running: &mut Running<'_>,
    output: &mut Output<'_>,
) -> Result<Stream> {
    loop {
        match socket.receiver.next().await {
            Ok(Some(Message::Text(text))) => {
                if let Some(stream) = heard(wire::message(&text)?, progress, running, output)? {
                    // The other side closes as well, and it is no matter who was first.
                    let _ = socket.sender.close().await;
                    return Ok(stream);
                }
            }
            Ok(Some(Message::Closed(..)) | None) => return Ok(Stream::Broken(ended_early())),
            Err(error) => return Ok(Stream::Broken(error)),
        }
    }
}

/// What follows from an event; `None` when the stream goes on.
fn heard(
    event: Event,
    progress: &mut Progress,
    running: &mut Running<'_>,
    output: &mut Output<'_>,
) -> Result<Option<Stream>> {
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
        Event::Ended(ending) => Ok(Some(Stream::Ended(ending))),
        Event::AckRequired => Ok(Some(Stream::Again)),
        Event::GoingAway => Ok(Some(Stream::Broken(ended_early()))),
        Event::Other => Ok(None),
        Event::Failed(kind, message) if matches!(kind.as_str(), "CommandNotFound" | "SessionExpired") => {
            running.over = true;
            Err(forgotten(&message))
        }
        Event::Failed(kind, message) if progress.started => {
            let error = Error::new(ErrorKind::Unavailable, "execute", "LangSmith could not run the command to its end");
            Err(error.with_context("error", kind).with_context("message", message))
        }
        Event::Failed(_, message) => {
            // It could not be started, as for a directory that is not there.
            output.push(OutputStream::Stderr, format!("{message}\n").as_bytes());
            Ok(Some(Stream::Ended(Ending::Exit(1))))
        }
    }
}

fn ended_early() -> Error {
    let message = "the connection ended before the command did; what it has done so far stands";
    Error::new(ErrorKind::Unavailable, "execute", message)
}

fn forgotten(message: &str) -> Error {
    let told = "LangSmith does not know the command any more, and so not how it ended; what it has done stands";
    Error::new(ErrorKind::Unavailable, "execute", told).with_context("message", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_commands_are_uuids_of_version_seven_and_grow() {
        let (first, second) = (uuid7(), uuid7());
        assert_eq!((first.len(), first.get(12..13), first != second), (32, Some("7"), true), "{first}");
        assert!(first.get(16..17).is_some_and(|digit| "89ab".contains(digit)), "{first}");
        assert!(first.get(..12) <= second.get(..12), "{first} {second}");
    }

    #[test]
    fn output_that_comes_again_is_taken_once_and_a_gap_is_told() {
        let mut output = Output::new(100, None);
        let mut progress = Progress::new();
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
