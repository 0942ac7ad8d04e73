//! A web server on this host with one thread per connection. The path of a request selects the response.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A request as received by the server.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReceivedRequest {
    pub(crate) method: String,
    pub(crate) path: String,
    /// Names in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

/// The server: its port, and the requests that it received.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) port: u16,
    seen: Arc<Mutex<Vec<ReceivedRequest>>>,
}

impl Server {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
        let port = listener.local_addr().expect("bound").port();
        let server = Self { port, seen: Arc::default() };
        let serving = server.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let serving = serving.clone();
                std::thread::spawn(move || serving.connection(stream));
            }
        });
        server
    }

    /// Requests in the order of arrival.
    pub(crate) fn received_requests(&self) -> Vec<ReceivedRequest> {
        self.seen.lock().expect("no test panics here").clone()
    }

    /// Handles one request; the connection closes after the response.
    fn connection(&self, mut stream: TcpStream) {
        let mut reader = BufReader::new(stream.try_clone().expect("cloned"));
        let Some(seen) = read(&mut reader, &mut stream) else { return };
        let flaky = {
            let mut all = self.seen.lock().expect("no test panics here");
            let before = all.iter().filter(|other| other.path == seen.path).count();
            all.push(seen.clone());
            before == 0
        };
        // The client may have closed the connection; ignore the error.
        let _ = respond(&mut stream, &seen, flaky);
    }
}

fn read(reader: &mut BufReader<TcpStream>, stream: &mut TcpStream) -> Option<ReceivedRequest> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace();
    let mut seen = ReceivedRequest {
        method: words.next()?.to_owned(),
        path: words.next()?.to_owned(),
        ..ReceivedRequest::default()
    };
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        seen.headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    if seen.headers.contains_key("expect") {
        stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").ok()?;
    }
    if let Some(length) = seen.headers.get("content-length").and_then(|text| text.parse().ok()) {
        seen.body = vec![0; length];
        reader.read_exact(&mut seen.body).ok()?;
    } else if seen.headers.contains_key("transfer-encoding") {
        loop {
            let mut size = String::new();
            reader.read_line(&mut size).ok()?;
            let mut chunk = vec![0; usize::from_str_radix(size.trim(), 16).ok()? + 2];
            reader.read_exact(&mut chunk).ok()?;
            if chunk.len() == 2 {
                break;
            }
            chunk.truncate(chunk.len() - 2);
            seen.body.extend(chunk);
        }
    }
    Some(seen)
}

fn reply(stream: &mut TcpStream, status: &str, headers: &[(&str, &str)], body: &[u8]) -> std::io::Result<()> {
    let mut head = format!("HTTP/1.1 {status}\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str(&format!("Content-Length: {}\r\nConnection: close\r\n\r\n", body.len()));
    stream.write_all(&[head.as_bytes(), body].concat())
}

/// Formats the request without the headers that differ between clients.
fn echo(seen: &ReceivedRequest) -> String {
    let mut text = format!("{} {}\n", seen.method, seen.path);
    for (name, value) in &seen.headers {
        let value = match name.as_str() {
            "host" | "connection" | "expect" => continue,
            // The boundary is random.
            "content-type" if value.starts_with("multipart/form-data; boundary=") => "multipart/form-data",
            "content-length" if seen.headers.get("content-type").is_some_and(|kind| kind.starts_with("multi")) => {
                continue;
            }
            _ => value,
        };
        text.push_str(&format!("{name}: {value}\n"));
    }
    let body = String::from_utf8_lossy(&seen.body).into_owned();
    let shown: Vec<&str> =
        body.lines().map(|line| if line.starts_with("------") { "--boundary" } else { line }).collect();
    format!("{text}\n{}\n", shown.join("\n"))
}

const TEXT: (&str, &str) = ("Content-Type", "text/plain");

fn respond(stream: &mut TcpStream, seen: &ReceivedRequest, is_first: bool) -> std::io::Result<()> {
    let (path, query) = seen.path.split_once('?').unwrap_or((&seen.path, ""));
    let mut parts = path.trim_start_matches('/').splitn(2, '/');
    let (what, rest) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let is_head = seen.method == "HEAD";
    let body = |text: &str| if is_head { Vec::new() } else { text.as_bytes().to_vec() };
    match what {
        "hello" => {
            let head = format!(
                "HTTP/1.1 200 OK\r\n{}: {}\r\nX-Answer: forty two\r\nContent-Length: 6\r\n\r\n",
                TEXT.0, TEXT.1
            );
            stream.write_all(&[head.into_bytes(), body("hello\n")].concat())
        }
        "echo" => reply(stream, "200 OK", &[TEXT], &body(&echo(seen))),
        "status" => reply(stream, &format!("{rest} Told So"), &[TEXT], &body("told\n")),
        "to" => reply(stream, "302 Found", &[("Location", query)], b"moved\n"),
        "see-other" => reply(stream, "303 See Other", &[("Location", query)], b""),
        "again" => reply(stream, "307 Temporary Redirect", &[("Location", query)], b""),
        "loop" => reply(stream, "301 Moved Permanently", &[("Location", "/loop")], b""),
        "cookie" => {
            let cookies = [("Set-Cookie", "taste=sweet; Path=/"), ("Set-Cookie", "gone=1; Max-Age=0"), TEXT];
            reply(stream, "200 OK", &cookies, b"baked\n")
        }
        "login" => reply(stream, "302 Found", &[("Set-Cookie", "session=s1; Path=/"), ("Location", "/echo")], b""),
        "gzip" => {
            // `hello
            // `, compressed by gzip.
            let packed = b"\x1f\x8b\x08\0\0\0\0\0\0\x03\xcbH\xcd\xc9\xc9\xe7\x02\0\x20\x30\x3a\x36\x06\0\0\0";
            reply(stream, "200 OK", &[("Content-Encoding", "gzip"), TEXT], packed)
        }
        "big" => {
            let mut left: u64 = rest.parse().unwrap_or(0);
            write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {left}\r\n\r\n")?;
            let block = vec![b'b'; 64 << 10];
            while left > 0 {
                let n = usize::try_from(left).unwrap_or(usize::MAX).min(block.len());
                stream.write_all(&block[..n])?;
                left -= n as u64;
            }
            Ok(())
        }
        "count" => reply(stream, "200 OK", &[TEXT], format!("{}\n", seen.body.len()).as_bytes()),
        "silent" => {
            std::thread::sleep(Duration::from_secs(30));
            Ok(())
        }
        "empty" => Ok(()),
        "long-head" => reply(stream, "200 OK", &[("X-Long", &"x".repeat(100_000))], b"long\n"),
        "cut" => stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"),
        "flaky" if is_first => reply(stream, "503 Not Now", &[("Retry-After", "0")], b"later\n"),
        "flaky" => reply(stream, "200 OK", &[TEXT], b"at last\n"),
        "named" => {
            reply(stream, "200 OK", &[("Content-Disposition", "attachment; filename=\"given.txt\"")], b"named\n")
        }
        "range" => match seen.headers.get("range").and_then(|range| slice(range)) {
            Some((from, to)) => {
                let range = format!("bytes {from}-{to}/10");
                reply(stream, "206 Partial Content", &[("Content-Range", &range)], &b"0123456789"[from..=to])
            }
            None => reply(stream, "200 OK", &[], b"0123456789"),
        },
        _ => reply(stream, "404 Not Found", &[TEXT], &body("nothing here\n")),
    }
}

fn slice(range: &str) -> Option<(usize, usize)> {
    let (from, to) = range.strip_prefix("bytes=")?.split_once('-')?;
    if from.is_empty() {
        return Some((10 - to.parse::<usize>().ok()?, 9));
    }
    let to = if to.is_empty() { 9 } else { to.parse::<usize>().ok()?.min(9) };
    let from = from.parse().ok()?;
    (from <= to).then_some((from, to))
}
