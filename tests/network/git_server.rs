//! A server for Git's smart HTTP protocol: `git http-backend` as a CGI program, one thread per connection.
//!
//! The first part of a path selects the behavior, and the rest is the repository below the root: `/git/a.git/info/refs`.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A request as received by the server, without its body.
#[derive(Clone, Debug, Default)]
pub(crate) struct GitRequest {
    pub(crate) method: String,
    /// Path and query.
    pub(crate) path: String,
    /// Names in lower case.
    pub(crate) headers: BTreeMap<String, String>,
}

/// The server: its port, and the requests that it received.
#[derive(Clone, Debug)]
pub(crate) struct GitServer {
    pub(crate) port: u16,
    root: PathBuf,
    seen: Arc<Mutex<Vec<GitRequest>>>,
}

/// The credential that `/private/` requires: `me:canary-token` in Base64.
pub(crate) const AUTHORIZATION: &str = "Basic bWU6Y2FuYXJ5LXRva2Vu";

const ADVERTISEMENT: &str = "application/x-git-upload-pack-advertisement";

impl GitServer {
    /// Serves the repositories below `root`.
    pub(crate) fn start(root: &Path) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
        let port = listener.local_addr().expect("bound").port();
        let server = Self { port, root: root.to_owned(), seen: Arc::default() };
        let serving = server.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let serving = serving.clone();
                // The client may have closed the connection; ignore the error.
                std::thread::spawn(move || drop(serving.serve(stream)));
            }
        });
        server
    }

    /// Requests in the order of arrival. Clears the list.
    pub(crate) fn take_requests(&self) -> Vec<GitRequest> {
        std::mem::take(&mut self.seen.lock().expect("no thread panics with it"))
    }

    /// Handles one request, then closes the connection.
    fn serve(&self, stream: TcpStream) -> io::Result<()> {
        let mut closing = stream.try_clone()?;
        let responded = self.respond(stream);
        // Closing a connection with unread input resets it, and the client may lose the response.
        closing.shutdown(Shutdown::Write)?;
        closing.set_read_timeout(Some(Duration::from_secs(10)))?;
        io::copy(&mut closing, &mut io::sink())?;
        responded
    }

    fn respond(&self, stream: TcpStream) -> io::Result<()> {
        let mut reader = BufReader::new(stream.try_clone()?);
        let mut stream = stream;
        let request = read_head(&mut reader)?;
        self.seen.lock().expect("no thread panics with it").push(request.clone());
        let (mode, rest) = request.path.trim_start_matches('/').split_once('/').unwrap_or((&request.path, ""));
        match mode {
            "git" => self.backend(&request, rest, reader, stream, Fault::None),
            "v0" => {
                let mut request = request.clone();
                request.headers.remove("git-protocol");
                self.backend(&request, rest, reader, stream, Fault::None)
            }
            "private" if request.headers.get("authorization").map(String::as_str) == Some(AUTHORIZATION) => {
                self.backend(&request, rest, reader, stream, Fault::None)
            }
            "private" => reply(&mut stream, "401 Unauthorized", "text/plain", "authentication is required\n"),
            "no-post" if request.method == "GET" => self.backend(&request, rest, reader, stream, Fault::None),
            "no-post" => reply(&mut stream, "500 Internal Server Error", "text/plain", "out of order\u{1b}[2J\n"),
            "cut" if request.method == "POST" && !is_listing(&request) => {
                self.backend(&request, rest, reader, stream, Fault::Cut)
            }
            "damaged" if request.method == "POST" && !is_listing(&request) => {
                self.backend(&request, rest, reader, stream, Fault::Damaged)
            }
            "cut" | "damaged" => self.backend(&request, rest, reader, stream, Fault::None),
            "status" => {
                let (status, _) = rest.split_once('/').unwrap_or((rest, ""));
                reply(&mut stream, &format!("{status} Told So"), "text/plain", "told\n")
            }
            "moved" => redirect(&mut stream, &format!("/git/{rest}")),
            "moved-post" if request.method == "POST" => redirect(&mut stream, &format!("/git/{rest}")),
            "moved-post" => self.backend(&request, rest, reader, stream, Fault::None),
            "elsewhere" => redirect(&mut stream, "/login?back"),
            "circle" => redirect(&mut stream, &request.path),
            "dumb" => reply(
                &mut stream,
                "200 OK",
                "text/plain",
                "1111111111111111111111111111111111111111\trefs/heads/main\n",
            ),
            "endless" => endless(&mut stream),
            _ => reply(&mut stream, "404 Not Found", "text/plain", "no such repository\n"),
        }
    }

    /// Runs `git http-backend` for the request.
    fn backend(
        &self,
        request: &GitRequest,
        path: &str,
        mut body: BufReader<TcpStream>,
        mut stream: TcpStream,
        fault: Fault,
    ) -> io::Result<()> {
        if request.headers.contains_key("expect") {
            stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        let mut child = self.start_backend(request, path)?;
        let mut input = child.stdin.take().expect("piped");
        let (length, is_chunked) = (
            request.headers.get("content-length").and_then(|text| text.parse::<u64>().ok()),
            request.headers.get("transfer-encoding").is_some_and(|coding| coding == "chunked"),
        );
        let upload = std::thread::spawn(move || {
            // The program may end before it has read everything.
            let _ = match length {
                Some(length) => io::copy(&mut (&mut body).take(length), &mut input).map(drop),
                None if is_chunked => copy_chunks(&mut body, &mut input),
                None => Ok(()),
            };
        });
        let sent = send_response(&mut BufReader::new(child.stdout.take().expect("piped")), &mut stream, fault);
        stream.shutdown(Shutdown::Write)?;
        let _ = child.kill();
        let _ = child.wait();
        let _ = upload.join();
        sent
    }

    fn start_backend(&self, request: &GitRequest, path: &str) -> io::Result<Child> {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let header = |name: &str| request.headers.get(name).cloned().unwrap_or_default();
        let mut command = Command::new("git");
        command
            .arg("http-backend")
            .env("GIT_PROJECT_ROOT", &self.root)
            .env("GIT_HTTP_EXPORT_ALL", "1")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("HOME", &self.root)
            .env("PATH_INFO", format!("/{path}"))
            .env("QUERY_STRING", query)
            .env("REQUEST_METHOD", &request.method)
            .env("CONTENT_TYPE", header("content-type"))
            .env("HTTP_CONTENT_ENCODING", header("content-encoding"))
            .env("REMOTE_ADDR", "127.0.0.1")
            .env("REMOTE_USER", "me")
            .env("HTTP_GIT_PROTOCOL", header("git-protocol"))
            .env("GIT_PROTOCOL", header("git-protocol"));
        if let Some(length) = request.headers.get("content-length") {
            command.env("CONTENT_LENGTH", length);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()
    }
}

/// Damage to the body of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    /// The connection closes within the body.
    Cut,
    /// A byte of the pack's checksum differs.
    Damaged,
}

/// A request of protocol 2 for references: too short to be one for objects.
fn is_listing(request: &GitRequest) -> bool {
    request.headers.get("content-length").and_then(|text| text.parse::<u64>().ok()).is_some_and(|length| length < 170)
        && request.headers.contains_key("git-protocol")
}

fn read_head(reader: &mut BufReader<TcpStream>) -> io::Result<GitRequest> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut request = GitRequest { method, path, ..GitRequest::default() };
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { return Ok(request) };
        request.headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
}

fn copy_chunks(from: &mut BufReader<TcpStream>, to: &mut impl Write) -> io::Result<()> {
    loop {
        let mut size = String::new();
        from.read_line(&mut size)?;
        let size = u64::from_str_radix(size.trim(), 16).map_err(io::Error::other)?;
        io::copy(&mut from.by_ref().take(size), to)?;
        from.read_line(&mut String::new())?;
        if size == 0 {
            return Ok(());
        }
    }
}

/// Sends the response of the CGI program in chunks.
fn send_response(from: &mut impl BufRead, stream: &mut TcpStream, fault: Fault) -> io::Result<()> {
    let (mut status, mut head) = ("200 OK".to_owned(), String::new());
    loop {
        let mut line = String::new();
        from.read_line(&mut line)?;
        match line.trim_end().split_once(": ") {
            Some(("Status", text)) => text.clone_into(&mut status),
            Some((name, value)) => head.push_str(&format!("{name}: {value}\r\n")),
            None => break,
        }
    }
    write!(stream, "HTTP/1.1 {status}\r\n{head}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n")?;
    if fault == Fault::Damaged {
        let mut body = Vec::new();
        from.read_to_end(&mut body)?;
        // The last bytes are those of the checksum and of the flush packet.
        let at = body.len().saturating_sub(15);
        body[at] ^= 1;
        write!(stream, "{:x}\r\n", body.len())?;
        stream.write_all(&body)?;
        return stream.write_all(b"\r\n0\r\n\r\n");
    }
    let mut part = vec![0; 16 << 10];
    loop {
        let n = from.read(&mut part)?;
        if fault == Fault::Cut && n > 60 {
            write!(stream, "{n:x}\r\n")?;
            return stream.write_all(&part[..n / 2]);
        }
        write!(stream, "{n:x}\r\n")?;
        stream.write_all(&part[..n])?;
        stream.write_all(b"\r\n")?;
        if n == 0 {
            return Ok(());
        }
    }
}

fn reply(stream: &mut TcpStream, status: &str, kind: &str, body: &str) -> io::Result<()> {
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

fn redirect(stream: &mut TcpStream, to: &str) -> io::Result<()> {
    write!(stream, "HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
}

/// References without an end.
fn endless(stream: &mut TcpStream) -> io::Result<()> {
    write!(stream, "HTTP/1.1 200 OK\r\nContent-Type: {ADVERTISEMENT}\r\nConnection: close\r\n\r\n")?;
    write!(stream, "001e# service=git-upload-pack\n0000")?;
    let name = "x".repeat(900);
    let lines: Vec<u8> = (0..64)
        .flat_map(|_| {
            format!("{:04x}1111111111111111111111111111111111111111 refs/{name}", 4 + 41 + 5 + 900).into_bytes()
        })
        .collect();
    loop {
        stream.write_all(&lines)?;
    }
}
