//! Servers and clients in one sandbox.

use std::time::Duration;

use tidebox::{Background, ExecuteRequest, PortExt, SandboxBackend, SpawnRequest};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::{fails, prints, run, sandbox};

/// Runs a Python program and compares its output.
async fn python_prints(program: &str, expected: &str) {
    let Some(sandbox) = sandbox() else { return };
    prints(&sandbox, &format!("cat > t.py <<'P'\n{program}\nP\npython3 t.py"), expected).await;
}

const WAIT: &str = "until curl -s localhost:8000/ >/dev/null; do sleep 0.02; done;";

#[tokio::test]
async fn a_server_of_the_standard_library_is_asked_by_every_client() {
    let Some(sandbox) = sandbox() else { return };
    let clients = "
import httpx, requests, urllib.request
for url in 'http://localhost:8000/a.txt', 'http://127.0.0.1:8000/a.txt', 'http://x.localhost:8000/a.txt':
    print(urllib.request.urlopen(url).read(), requests.get(url).status_code, httpx.get(url).text.strip())
";
    let script = format!(
        "echo hello > a.txt; python3 -m http.server 8000 2>log & {WAIT} cat > c.py <<'P'{clients}P
python3 c.py; curl -s http://localhost:8000/a.txt; wget -qO- http://127.0.0.1:8000/a.txt; kill %1; wait; grep -c '/a.txt' log"
    );
    let line = "b'hello\\n' 200 hello\n";
    prints(&sandbox, &script, &format!("{line}{line}{line}hello\nhello\n11\n")).await;
}

#[tokio::test]
async fn curl_reports_servers_of_the_sandbox_as_curl_does() {
    let Some(sandbox) = sandbox() else { return };
    fails(&sandbox, "curl -sS localhost:9", 7, "Failed to connect to localhost port 9").await;
    fails(&sandbox, "curl -sS https://localhost", 35, "use http://").await;
    let script = format!(
        "python3 -m http.server 8000 2>/dev/null & {WAIT} curl -s -o body -w '%{{http_code}} %{{remote_ip}}' localhost:8000/none"
    );
    prints(&sandbox, &script, "404 127.0.0.1").await;
    let response = run(
        &sandbox,
        "mkdir -p d; python3 -m http.server 8001 2>/dev/null & until curl -s localhost:8001/ >/dev/null; \
        do sleep 0.02; done; curl -sIL localhost:8001/d | grep -i '^HTTP\\|^location'",
    )
    .await;
    let expected = "HTTP/1.0 301 Moved Permanently\r\nLocation: /d/\r\nHTTP/1.0 200 OK\r\n";
    assert_eq!(String::from_utf8_lossy(&response.stdout), expected);
}

#[tokio::test]
async fn asyncio_serves_many_connections() {
    let program = "
import asyncio
async def answer(reader, writer):
    while line := await reader.readline():
        writer.write(line.upper())
        await writer.drain()
    writer.close()
async def ask(port, number):
    reader, writer = await asyncio.open_connection('localhost', port)
    for round in range(3):
        writer.write(b'x%d.%d\\n' % (number, round))
        assert await reader.readline() == b'X%d.%d\\n' % (number, round)
    writer.write_eof()
    assert await reader.read() == b''
    writer.close()
async def main():
    server = await asyncio.start_server(answer, '127.0.0.1', 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        await asyncio.gather(*(ask(port, number) for number in range(400)))
    print('done')
asyncio.run(main())";
    python_prints(program, "done\n").await;
}

#[tokio::test]
async fn a_server_with_threads_serves_beside_an_idle_connection() {
    let Some(sandbox) = sandbox() else { return };
    let program = "
import socket, urllib.request
idle = socket.create_connection(('localhost', 8000))
print(urllib.request.urlopen('http://localhost:8000/a').read())
idle.sendall(b'GET /a HTTP/1.0\\r\\n\\r\\n')
print(idle.recv(15))
";
    let script = format!(
        "printf x > a; python3 -m http.server 8000 2>/dev/null & {WAIT} cat > c.py <<'P'{program}P\npython3 c.py"
    );
    prints(&sandbox, &script, "b'x'\nb'HTTP/1.0 200 OK'\n").await;
}

#[tokio::test]
async fn sockets_behave_as_in_the_documentation() {
    let program = "
import errno, os, selectors, socket
one, two = socket.socketpair()
one.sendall(b'abc')
print(two.recv(2, socket.MSG_PEEK), two.recv(10), two.type.name)
one.close()
print(two.recv(1))
try: two.sendall(b'x')
except BrokenPipeError as error: print(error.errno == errno.EPIPE)
server = socket.create_server(('127.0.0.1', 0))
server.settimeout(0.01)
try: server.accept()
except TimeoutError as error: print(error)
server.setblocking(False)
try: server.accept()
except BlockingIOError as error: print(error.errno == errno.EAGAIN)
client = socket.create_connection(server.getsockname())
selector = selectors.DefaultSelector()
selector.register(server, selectors.EVENT_READ)
print(len(selector.select(1)))
peer, address = server.accept()
print(address == client.getsockname(), peer.getsockname() == client.getpeername())
peer.setblocking(True)
file = peer.makefile('rw')
client.sendall(b'line\\n')
print(file.readline())
file.write('answer\\n'); file.flush()
buffer = bytearray(3)
print(client.recv_into(buffer), buffer, client.recv(100))
client.shutdown(socket.SHUT_WR)
print(peer.recv(1))
copy = client.dup(); client.close()
peer.sendall(b'x')
print(copy.recv(1), copy.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR))
copy.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
print(copy.getsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR))
try: socket.create_server(server.getsockname())
except OSError as error: print(error.errno == errno.EADDRINUSE)
try: socket.create_connection(('127.0.0.1', 9))
except ConnectionRefusedError as error: print(error.errno == errno.ECONNREFUSED)
print(socket.gethostbyname('localhost'), socket.getnameinfo(('127.0.0.1', 80), 0))
six = socket.create_server(('::1', 0), family=socket.AF_INET6)
print(socket.create_connection(six.getsockname()[:2]).getpeername()[0])
";
    let expected = "b'ab' b'abc' SOCK_STREAM\nb''\nTrue\ntimed out\nTrue\n1\nTrue True\nline\n\n3 bytearray(b'ans') b'wer\\n'\n\
                    b''\nb'x' 0\n1\nTrue\nTrue\n127.0.0.1 ('localhost', 'http')\n::1\n";
    python_prints(program, expected).await;
}

#[tokio::test]
async fn no_address_of_another_host_is_reached_without_a_policy() {
    let Some(sandbox) = sandbox() else { return };
    let program = "
import socket
for host in '10.0.0.1', '169.254.169.254', '192.168.1.1', 'example.com', '::ffff:10.0.0.1', '2001:db8::1':
    try: socket.create_connection((host, 80), 1); print('connected', host)
    except OSError as error: print('network is disabled' in str(error))
    family = socket.AF_INET6 if ':' in host else socket.AF_INET
    try: socket.socket(family).connect((host, 80)); print('connected', host)
    except OSError as error: print('network is disabled' in str(error))
";
    prints(&sandbox, &format!("python3 - <<'P'{program}P"), &"True\n".repeat(12)).await;
}

/// A program of the host that listens at its loopback is out of reach.
#[tokio::test]
async fn the_loopback_of_the_host_is_out_of_reach_of_python() {
    let Some(sandbox) = sandbox() else { return };
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.set_nonblocking(true).expect("it is a socket");
    let port = listener.local_addr().expect("bound").port();
    let program = format!(
        "
import socket
for host in '127.0.0.1', '::1', '::ffff:127.0.0.1', '0.0.0.0', 'localhost', '127.1':
    try: socket.create_connection((host, {port}), 5); print('reached', host)
    except OSError: pass
print('done')
"
    );
    prints(&sandbox, &format!("python3 - <<'P'{program}P"), "done\n").await;
    let accepted = listener.accept().expect_err("no connection arrived");
    assert_eq!(accepted.kind(), std::io::ErrorKind::WouldBlock);
}

#[tokio::test]
async fn a_server_that_stays_is_asked_from_the_host() {
    let Some(sandbox) = sandbox() else { return };
    let request = SpawnRequest::new("echo hello > a.txt; exec python3 -u -m http.server 8000");
    let id = sandbox.spawn(request).await.expect("it starts");
    sandbox.wait_for_port(8000, Duration::from_secs(60)).await.expect("it listens");
    assert_eq!(sandbox.listening_ports().expect("open"), [8000]);

    // In the process, without a port of the host.
    let mut stream = sandbox.connect(8000).expect("it listens");
    stream.write_all(b"GET /a.txt HTTP/1.0\r\n\r\n").await.expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("received");
    assert!(answer.starts_with("HTTP/1.0 200 OK\r\n") && answer.ends_with("\r\n\r\nhello\n"), "{answer}");

    // By a port of the host.
    let exposed = sandbox.expose(8000).await.expect("a free port");
    let ask = async |host: &str| {
        let mut stream = tokio::net::TcpStream::connect(exposed.address()).await.expect("it is forwarded");
        stream.write_all(format!("GET /a.txt HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes()).await.expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("received");
        answer
    };
    let own = exposed.address().to_string();
    assert!(ask(&own).await.ends_with("hello\n"));
    assert!(ask("evil.example").await.starts_with("HTTP/1.1 403 Forbidden\r\n"));

    // From another command of the sandbox; and its log.
    prints(&sandbox, "curl -s localhost:8000/a.txt", "hello\n").await;
    let log = sandbox.read_process(&id, tidebox::ReadOutput::default()).await.expect("output");
    let log = String::from_utf8_lossy(&log.bytes()).into_owned();
    assert_eq!(log.matches("GET /a.txt").count(), 3, "{log}");
    sandbox.signal_process(&id, tidebox::ProcessSignal::Term).await.expect("it exists");
    let ended = async {
        while sandbox.connect(8000).is_ok() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), ended).await.expect("it ends");
    let error = sandbox.connect(8000).expect_err("nothing listens");
    assert_eq!(error.kind(), tidebox::ErrorKind::Unavailable, "{error}");
}

#[tokio::test]
async fn a_server_in_the_background_of_a_command_lives_on() {
    let Some(sandbox) = sandbox() else { return };
    let mut request = ExecuteRequest::new("python3 -m http.server 8000 >/dev/null 2>&1 &");
    request.background = Background::Keep;
    sandbox.execute(request).await.expect("it runs");
    prints(&sandbox, &format!("{WAIT} curl -s -o /dev/null -w '%{{http_code}}' localhost:8000"), "200").await;
}
