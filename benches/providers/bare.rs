//! The minimum cost of a transfer: the adapter's request, sent again by a program without other work. It includes the kernel's and
//! the emulator's work; any additional time is the client's.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};

use super::{Cost, clocked, median};

/// Bytes sent by each connection.
type Sent = Vec<(SocketAddr, Vec<u8>)>;

/// Bytes sent by clients while a recorder was attached.
#[derive(Clone, Default)]
pub(crate) struct RecordedTraffic(Arc<Mutex<Option<Sent>>>);

impl RecordedTraffic {
    pub(crate) fn listen(&self) {
        *self.0.lock().expect("no thread panicked") = Some(Vec::new());
    }

    pub(crate) fn add(&self, from: SocketAddr, bytes: &[u8]) {
        let mut recorded = self.0.lock().expect("no thread panicked");
        let Some(recorded) = recorded.as_mut() else { return };
        match recorded.iter_mut().find(|(client, _)| *client == from) {
            Some((_, request)) => request.extend_from_slice(bytes),
            None => recorded.push((from, bytes.to_vec())),
        }
    }

    /// Returns the bytes of one call if it was one HTTP/1 request. Frames of HTTP/2 and WebSocket are numbered and cannot be repeated.
    pub(crate) fn take_request(&self) -> Option<Vec<u8>> {
        let recorded = self.0.lock().expect("no thread panicked").take()?;
        let [(_, request)] = recorded.as_slice() else { return None };
        let head = head_of(request)?;
        head.lines().next()?.ends_with(" HTTP/1.1").then(|| request.clone())
    }
}

/// Sends a request repeatedly over one connection.
pub(crate) fn cost(server: SocketAddr, request: &[u8], count: usize) -> std::io::Result<Cost> {
    let mut connection = TcpStream::connect(server)?;
    connection.set_nodelay(true)?;
    let mut response = vec![0; request.len().max(256 << 10)];
    let mut costs = Vec::new();
    for _ in 0..=count {
        let (cost, done) = clocked(|| {
            connection.write_all(request)?;
            read_response(&mut connection, &mut response)
        });
        done?;
        costs.push(cost);
    }
    Ok(median(costs))
}

/// Reads one complete response, with a length or chunked.
fn read_response(connection: &mut TcpStream, buffer: &mut Vec<u8>) -> std::io::Result<()> {
    let mut length = 0;
    loop {
        if length == buffer.len() {
            buffer.resize(length * 2, 0);
        }
        let more = connection.read(&mut buffer[length..])?;
        length += more;
        let response = &buffer[..length];
        let Some(head) = head_of(response) else {
            assert!(more != 0, "the emulator responds");
            continue;
        };
        assert!(head.starts_with("HTTP/1.1 2"), "the emulator accepts the request again: {head}");
        let is_whole = match header(&head, "content-length") {
            Some(value) => length - head.len() >= value.parse().expect("a length"),
            // The last chunk is empty.
            None if header(&head, "transfer-encoding").is_some() => response.ends_with(b"\r\n0\r\n\r\n"),
            None => true,
        };
        if is_whole {
            return Ok(());
        }
        assert!(more != 0, "the emulator ends its response");
    }
}

/// Returns the status line and the headers if they are complete.
fn head_of(message: &[u8]) -> Option<String> {
    let limit = &message[..message.len().min(16 << 10)];
    let end = limit.windows(4).position(|four| four == b"\r\n\r\n")?;
    Some(String::from_utf8_lossy(&limit[..end + 4]).into_owned())
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines()
        .find_map(|line| line.split_once(": ").filter(|(given, _)| given.eq_ignore_ascii_case(name)))
        .map(|(_, value)| value)
}
