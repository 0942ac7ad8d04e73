//! HTTP client of guests, one request per connection. Servers of this sandbox are reached by a socket ([`local`]); the host
//! sends all other requests, by the protocol of `docs/network.md`.

pub mod address;
mod local;

use std::io::{self, Read};

use tidebox_gnu::command::Command;
use tidebox_rt::{Errno, ExitStatus, Fd};

/// The command that the host implements if the sandbox has a network.
#[cfg(target_family = "wasm")]
fn tool() -> Vec<u8> {
    b"/usr/libexec/tidebox/http".to_vec()
}

/// The command that tests on the host use instead.
#[cfg(not(target_family = "wasm"))]
fn tool() -> Vec<u8> {
    use std::os::unix::ffi::OsStringExt;
    std::env::var_os("TIDEBOX_HTTP_COMMAND").unwrap_or_default().into_vec()
}

const VERSION: &str = "tidebox-http 1";

/// Maximum frame size: the amount a pipe accepts without blocking, minus the five byte header.
const PIECE: usize = 4096 - 5;

/// A larger frame is not valid: the host never writes one.
const MAX_COUNT: usize = 256 << 10;

/// A request.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The method, such as `GET`.
    pub method: String,
    /// The absolute URL, without user name and password.
    pub url: String,
    /// Name and value.
    pub headers: Vec<(String, Vec<u8>)>,
    /// Length of the body; `None` without a body, `Some(None)` if unknown.
    pub body: Option<Option<u64>>,
    /// Timeout of the connection in milliseconds; the policy's limit applies if it is shorter.
    pub connect_ms: Option<u64>,
    /// Timeout of the request in milliseconds; the policy's limit applies if it is shorter.
    pub total_ms: Option<u64>,
}

/// The response head.
#[derive(Clone, Debug, Default)]
pub struct Head {
    /// The URL as parsed by the host.
    pub url: String,
    /// Target of a redirect.
    pub redirect: Option<String>,
    /// Address of the server; empty if unknown.
    pub ip: String,
    /// Port of the server.
    pub port: String,
    /// Time until the name was resolved, in microseconds since the start.
    pub resolved_us: u64,
    /// Time until the connection was established, in microseconds since the start.
    pub connected_us: u64,
    /// Time until the connection was encrypted, in microseconds since the start; 0 without encryption.
    pub encrypted_us: u64,
    /// Time until the response head arrived, in microseconds since the start.
    pub answered_us: u64,
    /// `1.1`.
    pub version: String,
    /// Status code.
    pub status: u16,
    /// Reason phrase; may be empty.
    pub reason: String,
    /// Name and value, in order.
    pub headers: Vec<(String, Vec<u8>)>,
}

impl Head {
    /// The first header of that name.
    pub fn header(&self, name: &str) -> Option<&[u8]> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_slice())
    }

    /// The head as sent by the server.
    pub fn text(&self) -> Vec<u8> {
        let mut text = self.status_line().into_bytes();
        text.extend_from_slice(b"\r\n");
        for (name, value) in &self.headers {
            text.extend_from_slice(&[name.as_bytes(), b": ", value.as_slice(), b"\r\n"].concat());
        }
        text.extend_from_slice(b"\r\n");
        text
    }

    /// The first line of the head.
    pub fn status_line(&self) -> String {
        format!("HTTP/{} {} {}", self.version, self.status, self.reason)
    }

    fn parse(payload: &[u8]) -> Option<Self> {
        let mut head = Self::default();
        let mut lines = payload.split(|byte| *byte == b'\n');
        if lines.next() != Some(VERSION.as_bytes()) {
            return None;
        }
        for line in lines {
            let (key, value) = split(line, b' ');
            let text = String::from_utf8_lossy(value).into_owned();
            let number = || text.parse().unwrap_or(0);
            match key {
                b"url" => head.url = text,
                b"redirect" => head.redirect = Some(text),
                b"peer" => (head.ip, head.port) = text.split_once(' ').map(|(a, b)| (a.to_owned(), b.to_owned()))?,
                b"resolved-us" => head.resolved_us = number(),
                b"connected-us" => head.connected_us = number(),
                b"encrypted-us" => head.encrypted_us = number(),
                b"answered-us" => head.answered_us = number(),
                b"status" => {
                    let mut words = text.splitn(3, ' ');
                    head.version = words.next()?.to_owned();
                    head.status = words.next()?.parse().ok()?;
                    head.reason = words.next().unwrap_or_default().to_owned();
                }
                b"header" => {
                    let (name, value) = split(value, b':');
                    head.headers.push((String::from_utf8_lossy(name).into_owned(), value.trim_ascii().to_vec()));
                }
                // Newer hosts may send more fields.
                _ => {}
            }
        }
        (head.status != 0).then_some(head)
    }
}

/// Splits a text at the first `at`.
pub fn split(bytes: &[u8], at: u8) -> (&[u8], &[u8]) {
    match bytes.iter().position(|byte| *byte == at) {
        Some(found) => (bytes.get(..found).unwrap_or_default(), bytes.get(found + 1..).unwrap_or_default()),
        None => (bytes, &[]),
    }
}

/// Reason why a response is missing or incomplete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The sandbox has no network.
    Disabled,
    /// The host's policy rejected the request: rule and reason.
    Refused(String, String),
    /// Network failure: kind and reason.
    Failed(String, String),
    /// The body could not be read.
    Unreadable(String),
    /// The host sent an invalid reply, or closed the connection.
    Confused(String),
}

impl Failure {
    fn parse(payload: &[u8]) -> Self {
        let text = String::from_utf8_lossy(payload).into_owned();
        let mut lines = text.lines();
        let (who, kind) = lines.next().unwrap_or_default().split_once(' ').unwrap_or_default();
        let message = lines.find_map(|line| line.strip_prefix("message ")).unwrap_or_default().to_owned();
        match who {
            "refused" => Self::Refused(kind.to_owned(), message),
            _ => Self::Failed(kind.to_owned(), message),
        }
    }
}

/// A request in flight.
#[derive(Debug)]
pub struct Transfer {
    route: Route,
    /// Body bytes sent.
    pub sent: u64,
}

#[derive(Debug)]
enum Route {
    Host(HostTransfer),
    Local(local::Connection),
}

impl Transfer {
    /// Sends a request and waits for the response head.
    ///
    /// # Errors
    /// [`Failure`] if no response head arrives.
    pub fn begin(request: &Request, body: Option<&mut dyn Read>) -> Result<(Self, Head), Failure> {
        if let Some(server) = local::find_server(&request.url) {
            let (connection, head) = local::Connection::begin(&server, request, body)?;
            let sent = connection.sent;
            return Ok((Self { route: Route::Local(connection), sent }, head));
        }
        let (transfer, head) = HostTransfer::begin(request, body)?;
        let sent = transfer.sent;
        Ok((Self { route: Route::Host(transfer), sent }, head))
    }

    /// The next chunk of the body; `None` at its end.
    ///
    /// # Errors
    /// [`Failure`] if the response is incomplete.
    pub fn next_chunk(&mut self) -> Result<Option<Vec<u8>>, Failure> {
        match &mut self.route {
            Route::Host(transfer) => transfer.next_chunk(),
            Route::Local(connection) => connection.next_chunk(),
        }
    }
}

/// A request that the host sends.
#[derive(Debug)]
struct HostTransfer {
    pid: u32,
    to: Fd,
    from: Fd,
    read: Vec<u8>,
    ended: bool,
    sent: u64,
}

impl Drop for HostTransfer {
    fn drop(&mut self) {
        // Closing notifies the host that the response is not needed any more.
        let _ = tidebox_rt::close(self.to);
        let _ = tidebox_rt::close(self.from);
        let _ = tidebox_gnu::command::wait(self.pid);
    }
}

impl HostTransfer {
    fn begin(request: &Request, body: Option<&mut dyn Read>) -> Result<(Self, Head), Failure> {
        let mut transfer = Self::start()?;
        transfer.send(b'H', &head(request))?;
        if let Some(body) = body {
            transfer.upload(body)?;
        }
        let (kind, payload) = transfer.frame()?;
        match kind {
            b'H' => match Head::parse(&payload) {
                Some(head) => Ok((transfer, head)),
                None => Err(Failure::Confused("its reply cannot be read".to_owned())),
            },
            b'F' => Err(Failure::parse(&payload)),
            _ => Err(Failure::Confused("its reply has no head".to_owned())),
        }
    }

    fn start() -> Result<Self, Failure> {
        let broken = |error: Errno| Failure::Confused(error.text().to_owned());
        // A host that replies before it has read everything must not end this process.
        tidebox_rt::sig_set(13, tidebox_rt::Disposition::Ignore).map_err(broken)?;
        let (child_in, to) = tidebox_rt::pipe().map_err(broken)?;
        let (from, child_out) = tidebox_rt::pipe().map_err(broken)?;
        // It writes only frames. If its file remains from a sandbox with a network, it would print an explanation.
        let descriptors = [(0, child_in), (1, child_out)];
        let tool = tool();
        let spawned = Command { descriptors: &descriptors, ..Command::new(&[&tool]) }.spawn();
        let _ = tidebox_rt::close(child_in);
        let _ = tidebox_rt::close(child_out);
        match spawned {
            Ok(pid) => Ok(Self { pid, to, from, read: Vec::new(), ended: false, sent: 0 }),
            Err(error) => {
                let _ = tidebox_rt::close(to);
                let _ = tidebox_rt::close(from);
                Err(if error == Errno::NOENT { Failure::Disabled } else { broken(error) })
            }
        }
    }

    /// Sends the body until it ends or the response starts. Reads between writes, because a host that blocks on writing cannot
    /// read.
    fn upload(&mut self, body: &mut dyn Read) -> Result<(), Failure> {
        let mut piece = [0; PIECE];
        loop {
            let n = match body.read(&mut piece) {
                Ok(n) => n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(Failure::Unreadable(tidebox_gnu::message::error_text(&error))),
            };
            let frame = match piece.get(..n) {
                Some([]) | None => frame(b'E', &[]),
                Some(bytes) => frame(b'D', bytes),
            };
            loop {
                match tidebox_rt::poll_both(self.from, self.to) {
                    Ok((true, _)) if !self.receive()? => return Ok(()),
                    // More unread response data than this: stop sending the rest of the body.
                    Ok((true, _)) if self.read.len() > MAX_COUNT => return Ok(()),
                    Ok((_, true)) => break,
                    Ok(_) | Err(Errno::INTR) => {}
                    Err(error) => return Err(Failure::Confused(error.text().to_owned())),
                }
            }
            // A host that has already replied may have stopped reading.
            if tidebox_rt::write_all(self.to, &frame).is_err() || n == 0 {
                return Ok(());
            }
            self.sent += n as u64;
        }
    }

    fn send(&mut self, kind: u8, payload: &[u8]) -> Result<(), Failure> {
        // A host that has exited may have left a final frame; `frame` reports it.
        let _ = tidebox_rt::write_all(self.to, &frame(kind, payload));
        Ok(())
    }

    /// Reads available data. Returns `false` at the end.
    fn receive(&mut self) -> Result<bool, Failure> {
        let mut bytes = [0; 16 << 10];
        loop {
            match tidebox_rt::read(self.from, &mut bytes) {
                Ok(n) => {
                    self.read.extend_from_slice(bytes.get(..n).unwrap_or_default());
                    return Ok(n > 0);
                }
                Err(Errno::INTR) => {}
                Err(error) => return Err(Failure::Confused(error.text().to_owned())),
            }
        }
    }

    fn frame(&mut self) -> Result<(u8, Vec<u8>), Failure> {
        loop {
            if let Some([kind, length @ ..]) = self.read.first_chunk::<5>() {
                let (kind, length) = (*kind, u32::from_le_bytes(*length) as usize);
                if length > MAX_COUNT {
                    return Err(Failure::Confused("its answer is too large".to_owned()));
                }
                if self.read.len() >= 5 + length {
                    return Ok((kind, self.read.drain(..5 + length).skip(5).collect()));
                }
            }
            if !self.receive()? {
                return Err(self.silent());
            }
        }
    }

    /// Reason for the missing reply. If the sandbox was created from files of one with a network, the command exists and its
    /// exit code reports that no host implements it.
    fn silent(&mut self) -> Failure {
        const NOBODY: ExitStatus = ExitStatus::Exited(126);
        match tidebox_gnu::command::wait(self.pid) {
            Ok(NOBODY) => Failure::Disabled,
            _ => Failure::Confused("it ended without an answer".to_owned()),
        }
    }

    fn next_chunk(&mut self) -> Result<Option<Vec<u8>>, Failure> {
        while !self.ended {
            match self.frame()? {
                (b'D', piece) if piece.is_empty() => {}
                (b'D', piece) => return Ok(Some(piece)),
                (b'E', _) => self.ended = true,
                (b'F', payload) => {
                    self.ended = true;
                    return Err(Failure::parse(&payload));
                }
                _ => return Err(Failure::Confused("its answer cannot be read".to_owned())),
            }
        }
        Ok(None)
    }
}

fn frame(kind: u8, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
    [&[kind], length.to_le_bytes().as_slice(), payload].concat()
}

fn head(request: &Request) -> Vec<u8> {
    let mut text = format!("{VERSION}\nmethod {}\nurl {}\n", request.method, request.url);
    match request.body {
        None => text.push_str("body none\n"),
        Some(None) => text.push_str("body stream\n"),
        Some(Some(length)) => text.push_str(&format!("body {length}\n")),
    }
    if let Some(ms) = request.connect_ms {
        text.push_str(&format!("connect-ms {ms}\n"));
    }
    if let Some(ms) = request.total_ms {
        text.push_str(&format!("total-ms {ms}\n"));
    }
    let mut bytes = text.into_bytes();
    for (name, value) in &request.headers {
        bytes.extend_from_slice(&[b"header ", name.as_bytes(), b": ", value.as_slice(), b"\n"].concat());
    }
    bytes
}
