//! The host's network command over plain sockets, so that the helper runs outside a sandbox. `docs/network.md` has the protocol.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::exit;

/// Variable that selects the command instead of the tests: `open`, `absent`, or `refused RULE`.
pub(crate) const MODE: &str = "TEST_GATEWAY";

/// Variable with the value of `Authorization` that the host adds.
pub(crate) const INJECTED: &str = "TEST_GATEWAY_AUTHORIZATION";

/// Exit code of a network command without a host.
const NO_HOST: i32 = 126;

#[derive(Default)]
struct Head {
    method: String,
    url: String,
    headers: Vec<String>,
    /// `none`, a length, or `stream`.
    body: String,
}

pub(crate) fn run(mode: &str) -> ! {
    if mode == "absent" {
        exit(NO_HOST);
    }
    let head = read_head(&mut io::stdin());
    if let Some(rule) = mode.strip_prefix("refused ") {
        send(b'F', format!("refused {rule}\nmessage the policy does not allow {} of it\n", head.method).as_bytes());
        exit(0);
    }
    if let Err(error) = exchange(&head) {
        send(b'F', format!("failed receive\nmessage {error}\n").as_bytes());
    }
    exit(0)
}

fn read_frame(input: &mut impl Read) -> Option<(u8, Vec<u8>)> {
    let mut header = [0; 5];
    input.read_exact(&mut header).ok()?;
    let [kind, length @ ..] = header;
    let mut payload = vec![0; u32::from_le_bytes(length) as usize];
    input.read_exact(&mut payload).ok()?;
    Some((kind, payload))
}

fn read_head(input: &mut impl Read) -> Head {
    let (kind, payload) = read_frame(input).expect("a head");
    assert_eq!(kind, b'H');
    let text = String::from_utf8(payload).expect("a head of text");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("tidebox-http 1"));
    let mut head = Head::default();
    for line in lines {
        match line.split_once(' ').expect("a key and a value") {
            ("method", value) => value.clone_into(&mut head.method),
            ("url", value) => value.clone_into(&mut head.url),
            ("body", value) => value.clone_into(&mut head.body),
            ("header", value) => head.headers.push(value.to_owned()),
            (key, _) => panic!("unknown key {key}"),
        }
    }
    head
}

fn send(kind: u8, payload: &[u8]) {
    let length = u32::try_from(payload.len()).expect("a short frame").to_le_bytes();
    // The helper may have closed the pipe.
    if io::stdout().write_all(&[&[kind][..], &length, payload].concat()).and_then(|()| io::stdout().flush()).is_err() {
        exit(141);
    }
}

fn exchange(head: &Head) -> io::Result<()> {
    let rest = head.url.strip_prefix("http://").ok_or_else(|| io::Error::other("only http"))?;
    let at = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at(at);
    assert!(!authority.contains('@'), "a URL with a user name");
    let stream = TcpStream::connect(authority)?;
    let mut text = format!("{} {path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n", head.method);
    let injected = std::env::var(INJECTED).ok();
    for header in &head.headers {
        if injected.is_none() || !header.to_ascii_lowercase().starts_with("authorization:") {
            text.push_str(&format!("{header}\r\n"));
        }
    }
    if let Some(value) = injected {
        text.push_str(&format!("Authorization: {value}\r\n"));
    }
    let is_stream = head.body == "stream";
    match head.body.as_str() {
        "none" => {}
        "stream" => text.push_str("Transfer-Encoding: chunked\r\n"),
        length => text.push_str(&format!("Content-Length: {length}\r\n")),
    }
    let mut to = stream.try_clone()?;
    to.write_all((text + "\r\n").as_bytes())?;
    if head.body != "none" {
        std::thread::spawn(move || upload(&mut to, is_stream));
    }
    respond(&head.url, BufReader::new(stream))
}

fn upload(to: &mut TcpStream, is_stream: bool) {
    let mut input = io::stdin().lock();
    while let Some((kind, payload)) = read_frame(&mut input) {
        let sent = match (kind, is_stream) {
            (b'D', true) => to.write_all(&[format!("{:x}\r\n", payload.len()).as_bytes(), &payload, b"\r\n"].concat()),
            (b'D', false) => to.write_all(&payload),
            (_, true) => to.write_all(b"0\r\n\r\n"),
            (_, false) => Ok(()),
        };
        if kind != b'D' || sent.is_err() {
            return;
        }
    }
}

fn respond(url: &str, mut from: BufReader<TcpStream>) -> io::Result<()> {
    let mut line = String::new();
    from.read_line(&mut line)?;
    let status = line.trim_end().strip_prefix("HTTP/1.1 ").ok_or_else(|| io::Error::other("no status"))?.to_owned();
    let (mut head, mut length, mut is_chunked) =
        (format!("tidebox-http 1\nurl {url}\nstatus 1.1 {status}\n"), None, false);
    loop {
        let mut line = String::new();
        from.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse::<u64>().ok(),
            "transfer-encoding" => is_chunked = true,
            "location" => {
                let at = url.match_indices('/').nth(2).map_or(url.len(), |(at, _)| at);
                head.push_str(&format!("redirect {}{value}\n", &url[..at]));
            }
            _ => {}
        }
        head.push_str(&format!("header {name}: {value}\n"));
    }
    send(b'H', head.as_bytes());
    if is_chunked {
        loop {
            let mut size = String::new();
            from.read_line(&mut size)?;
            let size = usize::from_str_radix(size.trim(), 16).map_err(io::Error::other)?;
            let mut part = vec![0; size + 2];
            from.read_exact(&mut part)?;
            if size == 0 {
                break;
            }
            part[..size].chunks(64 << 10).for_each(|part| send(b'D', part));
        }
    } else {
        let mut from = from.take(length.unwrap_or(u64::MAX));
        let mut part = vec![0; 64 << 10];
        loop {
            match from.read(&mut part)? {
                0 if length.is_some() && from.limit() > 0 => {
                    return Err(io::Error::other("the response is incomplete"));
                }
                0 => break,
                n => send(b'D', &part[..n]),
            }
        }
    }
    send(b'E', b"");
    Ok(())
}
