//! What a transfer takes whoever asks for it: the request that our adapter sent, sent again by a program that does nothing else. The
//! system's handing over of bytes and the emulator's work are in it; what a client takes beyond it is the client's own.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};

use super::{Cost, clocked, median};

/// What each connection sent.
type Sent = Vec<(SocketAddr, Vec<u8>)>;

/// What clients sent while somebody listened.
#[derive(Clone, Default)]
pub(crate) struct Heard(Arc<Mutex<Option<Sent>>>);

impl Heard {
    pub(crate) fn listen(&self) {
        *self.0.lock().expect("nobody panicked") = Some(Vec::new());
    }

    pub(crate) fn add(&self, from: SocketAddr, bytes: &[u8]) {
        let mut heard = self.0.lock().expect("nobody panicked");
        let Some(heard) = heard.as_mut() else { return };
        match heard.iter_mut().find(|(client, _)| *client == from) {
            Some((_, request)) => request.extend_from_slice(bytes),
            None => heard.push((from, bytes.to_vec())),
        }
    }

    /// What one call sent, if it was one request of HTTP/1. Frames of HTTP/2 and of a WebSocket are numbered, and cannot be sent again.
    pub(crate) fn take_request(&self) -> Option<Vec<u8>> {
        let heard = self.0.lock().expect("nobody panicked").take()?;
        let [(_, request)] = heard.as_slice() else { return None };
        let head = head_of(request)?;
        head.lines().next()?.ends_with(" HTTP/1.1").then(|| request.clone())
    }
}

/// Sends a request again and again, over one connection.
pub(crate) fn cost(server: SocketAddr, request: &[u8], count: usize) -> std::io::Result<Cost> {
    let mut connection = TcpStream::connect(server)?;
    connection.set_nodelay(true)?;
    let mut answer = vec![0; request.len().max(256 << 10)];
    let mut costs = Vec::new();
    for _ in 0..=count {
        let (cost, done) = clocked(|| {
            connection.write_all(request)?;
            read_answer(&mut connection, &mut answer)
        });
        done?;
        costs.push(cost);
    }
    Ok(median(costs))
}

/// Reads one whole answer, however its length is told.
fn read_answer(connection: &mut TcpStream, buffer: &mut Vec<u8>) -> std::io::Result<()> {
    let mut length = 0;
    loop {
        if length == buffer.len() {
            buffer.resize(length * 2, 0);
        }
        let more = connection.read(&mut buffer[length..])?;
        length += more;
        let answer = &buffer[..length];
        let Some(head) = head_of(answer) else {
            assert!(more != 0, "the emulator answers");
            continue;
        };
        assert!(head.starts_with("HTTP/1.1 2"), "the emulator takes the request again: {head}");
        let is_whole = match header(&head, "content-length") {
            Some(told) => length - head.len() >= told.parse().expect("a length"),
            // The last of its chunks is empty.
            None if header(&head, "transfer-encoding").is_some() => answer.ends_with(b"\r\n0\r\n\r\n"),
            None => true,
        };
        if is_whole {
            return Ok(());
        }
        assert!(more != 0, "the emulator ends its answer");
    }
}

/// The first line and the headers, if they are there.
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
