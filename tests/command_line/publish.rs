//! `tidebox exec --publish`: ports of the sandbox at ports of the host.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, ChildStderr, Stdio};
use std::time::{Duration, Instant};

use crate::run::{command, tidebox};

/// A server that responds to one request, and then ends.
const ONE_RESPONSE: &str = "printf 'HTTP/1.0 200 OK\\r\\n\\r\\nhello\\n' | nc -lN 8000 > got; head -n 1 got";

/// Time for the start of a command on a loaded host.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running command, and the ports that it printed.
struct Published {
    child: Child,
    stderr: BufReader<ChildStderr>,
}

impl Published {
    fn start(arguments: &[&str]) -> Self {
        let mut command = command(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts");
        let stderr = BufReader::new(child.stderr.take().expect("stderr is a pipe"));
        Self { child, stderr }
    }

    /// Reads the line of a port, and returns the port of the host.
    fn next_port(&mut self, port: u16) -> u16 {
        let mut line = String::new();
        self.stderr.read_line(&mut line).expect("it prints");
        let start = format!("tidebox: port {port} of the sandbox is at http://127.0.0.1:");
        let number = line.trim_end().strip_prefix(&start).unwrap_or_else(|| panic!("{line}"));
        number.parse().expect("a port")
    }

    /// Returns the output of the command when it has ended.
    fn finish(self) -> (Option<i32>, String) {
        let output = self.child.wait_with_output().expect("the command ends");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

/// Sends a request for this host until the server in the sandbox listens, and returns the reply.
fn fetch(port: u16, host: &str) -> String {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("the port is published");
        // A connection before the start of the server is closed.
        let sent = stream.write_all(format!("GET /one HTTP/1.0\r\nHost: {host}\r\n\r\n").as_bytes());
        let mut reply = Vec::new();
        let received = sent.and_then(|()| stream.read_to_end(&mut reply));
        if received.is_ok() && !reply.is_empty() {
            return String::from_utf8_lossy(&reply).into_owned();
        }
        assert!(Instant::now() < deadline, "no reply: {received:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_published_port_leads_to_the_server_of_the_command() {
    let mut published = Published::start(&["exec", "--publish", "8000", ONE_RESPONSE]);
    let port = published.next_port(8000);
    let foreign = fetch(port, "pages.example");
    assert!(foreign.starts_with("HTTP/1.1 403"), "{foreign}");
    let reply = fetch(port, &format!("localhost:{port}"));
    assert!(reply.ends_with("\r\n\r\nhello\n"), "{reply}");
    assert_eq!(published.finish(), (Some(0), "GET /one HTTP/1.0\r\n".to_owned()));
    assert!(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err(), "the port is closed with the command");
}

#[test]
fn several_ports_are_published_at_named_ports() {
    let free = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port").local_addr().expect("bound").port();
    let (first, second) = (free(), free());
    let (one, other) = (format!("8000:{first}"), format!("8001:{second}"));
    let line = ONE_RESPONSE.replace("8000", "8001");
    let mut published = Published::start(&["exec", "--json", "--publish", &one, "--publish", &other, &line]);
    assert_eq!((published.next_port(8000), published.next_port(8001)), (first, second));
    assert!(fetch(second, &format!("127.0.0.1:{second}")).ends_with("hello\n"));
    let (code, printed) = published.finish();
    assert_eq!(code, Some(0));
    assert!(printed.contains("\"stdout\":\"GET /one HTTP/1.0\\r\\n\""), "{printed}");
}

#[test]
fn a_port_of_the_host_that_is_in_use_is_an_error() {
    let used = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let port = used.local_addr().expect("bound").port();
    let ran = tidebox(&["exec", "--publish", &format!("8000:{port}"), "echo started"]);
    assert_eq!((ran.code, ran.stdout().as_str()), (Some(125), ""), "{ran:?}");
    let expected =
        format!("tidebox: cannot publish port 8000 of the sandbox: expose: cannot listen on 127.0.0.1:{port}: ");
    assert!(ran.stderr().starts_with(&expected), "{}", ran.stderr());
}
