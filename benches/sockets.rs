//! Connections to servers in a sandbox, and those of the host's own loopback in the same run.
//!
//! `cargo bench --bench sockets` prints every row; without `--bench`, as in `cargo test`, each runs once on a small scale.
//!
//! - **spawn of a resident**: from the start of `cat` to its first byte back;
//! - **idle servers**: processor time of servers that wait at a port, each in its own sandbox, in percent of one core;
//! - **byte, host and sandbox**: a byte from the host to a program in the sandbox and back;
//! - **byte, in the sandbox**: between two programs of the sandbox, in Python;
//! - **transfer**: bytes from one program of the sandbox to another;
//! - **connections**: connections to one `asyncio` server, each with one exchange.

#![allow(clippy::print_stdout, reason = "the figures are what this program is for")]

#[path = "load/cpu_time.rs"]
mod cpu_time;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use tidebox::{
    ExecuteRequest, Limits, Packs, PortExt, ProcessInput, ReadOutput, Sandbox, SandboxBackend, SpawnInput, SpawnRequest,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// An echo server and a client that exchange a byte, for the Python of the sandbox and for that of the host.
const ECHO: &str = "
import socket, sys, time
if sys.argv[1] == 'serve':
    server = socket.create_server(('127.0.0.1', int(sys.argv[2])))
    peer, _ = server.accept()
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while data := peer.recv(1):
        peer.sendall(data)
else:
    for attempt in range(500):
        try:
            client = socket.create_connection(('127.0.0.1', int(sys.argv[2])))
            break
        except OSError:
            time.sleep(0.01)
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    rounds = int(sys.argv[3])
    start = time.perf_counter()
    for _ in range(rounds):
        client.sendall(b'x')
        client.recv(1)
    print((time.perf_counter() - start) / rounds * 1e6)
";

const CONNECTIONS: &str = "
import asyncio, sys, time
async def answer(reader, writer):
    writer.write(await reader.readline())
    await writer.drain()
    writer.close()
async def ask(port):
    reader, writer = await asyncio.open_connection('127.0.0.1', port)
    writer.write(b'hello\\n')
    assert await reader.readline() == b'hello\\n'
    writer.close()
async def main():
    server = await asyncio.start_server(answer, '127.0.0.1', 0, backlog=128)
    port = server.sockets[0].getsockname()[1]
    start = time.perf_counter()
    await asyncio.gather(*(ask(port) for _ in range(int(sys.argv[1]))))
    print((time.perf_counter() - start) * 1e3)
asyncio.run(main())
";

#[tokio::main]
async fn main() {
    let measures = std::env::args().any(|argument| argument == "--bench");
    let (rounds, bytes, connections) = if measures { (20_000, 1 << 30, 500) } else { (100, 1 << 20, 20) };
    let mut limits = Limits::default();
    limits.wall_time = Duration::from_secs(600);
    let sandbox = tidebox::sandbox().expect("the engine starts").limits(limits).build().expect("the sandbox is built");
    println!("| row | sandbox | host | sandbox / host |\n|---|---|---|---|");
    let spawns = rounds / 100;
    row("spawn of a resident", "us", spawn_resident(&sandbox, spawns).await, host_spawn(spawns));
    let (servers, seconds) = if measures { (1000, 10) } else { (10, 1) };
    match idle_servers(servers, Duration::from_secs(seconds)).await {
        Some(share) => row(&format!("{servers} idle servers over {seconds} s"), "%", share, None),
        None => println!("skipped: idle servers; the host has no /proc"),
    }
    row("byte, host and sandbox", "us", byte_from_host(&sandbox, rounds).await, host_byte(rounds));
    row("transfer", "MiB/s", transfer(&sandbox, bytes).await, host_transfer(bytes));
    if !Packs::user().ready().iter().any(|pack| pack.name() == "python") {
        println!("skipped: byte in the sandbox and connections; `tidebox pack add python`");
        return;
    }
    let inside = python(&sandbox, ECHO, &format!("python3 p serve 9100 & python3 p ask 9100 {rounds}; wait")).await;
    row("byte, in the sandbox (Python)", "us", inside, host_python(ECHO, &["ask", "0", &rounds.to_string()]));
    let inside = python(&sandbox, CONNECTIONS, &format!("python3 p {connections}")).await;
    let outside = host_python(CONNECTIONS, &[&connections.to_string()]);
    row(&format!("{connections} connections (Python)"), "ms", inside, outside);
}

fn row(name: &str, unit: &str, sandbox: f64, host: Option<f64>) {
    let ratio = host.map_or("-".to_owned(), |host| format!("{:.2}", sandbox / host));
    let host = host.map_or("-".to_owned(), |host| format!("{host:.1} {unit}"));
    println!("| {name} | {sandbox:.1} {unit} | {host} | {ratio} |");
}

/// Starts `cat`, exchanges a byte and ends it.
async fn spawn_resident(sandbox: &Sandbox, rounds: u32) -> f64 {
    let start = Instant::now();
    for _ in 0..rounds {
        let request = SpawnRequest::new("cat").with_input(SpawnInput::Open);
        let id = sandbox.spawn(request).await.expect("it starts");
        sandbox.write_process(&id, ProcessInput::Bytes(b"x".to_vec())).await.expect("it reads");
        let page = sandbox.read_process(&id, ReadOutput::default().with_wait(Duration::from_secs(60))).await;
        assert_eq!(page.expect("it is known").bytes(), b"x");
        sandbox.write_process(&id, ProcessInput::End).await.expect("it reads");
    }
    start.elapsed().as_secs_f64() * 1e6 / f64::from(rounds)
}

/// Does the same with the shell of the host.
fn host_spawn(rounds: u32) -> Option<f64> {
    let start = Instant::now();
    for _ in 0..rounds {
        let mut command = std::process::Command::new("bash");
        command.args(["-c", "cat"]).stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        let mut child = command.spawn().ok()?;
        let mut input = child.stdin.take()?;
        input.write_all(b"x").ok()?;
        child.stdout.take()?.read_exact(&mut [0]).ok()?;
        drop(input);
        child.wait().ok()?;
    }
    Some(start.elapsed().as_secs_f64() * 1e6 / f64::from(rounds))
}

/// Returns the processor time that servers use while they wait.
async fn idle_servers(count: usize, time: Duration) -> Option<f64> {
    let mut all = Vec::new();
    for _ in 0..count {
        let sandbox = tidebox::sandbox().and_then(|builder| builder.build()).expect("the sandbox is built");
        sandbox.spawn(SpawnRequest::new("exec nc -lk 9000")).await.expect("it starts");
        sandbox.wait_for_port(9000, Duration::from_secs(60)).await.expect("it listens");
        all.push(sandbox);
    }
    // The thread that ends time slices stays awake for a moment.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let before = cpu_time::cpu_time()?;
    tokio::time::sleep(time).await;
    let used = cpu_time::cpu_time()?.saturating_sub(before);
    Some(used.div_duration_f64(time) * 100.0)
}

/// Starts `nc` as an echo server in the sandbox and exchanges bytes with it.
async fn byte_from_host(sandbox: &Sandbox, rounds: u32) -> f64 {
    let request = SpawnRequest::new("mkfifo pipe; exec nc -lk 9000 <>pipe >pipe");
    let id = sandbox.spawn(request).await.expect("it starts");
    sandbox.wait_for_port(9000, Duration::from_secs(60)).await.expect("it listens");
    let mut stream = sandbox.connect(9000).expect("it listens");
    let start = Instant::now();
    for _ in 0..rounds {
        stream.write_all(b"x").await.expect("sent");
        let mut byte = [0];
        stream.read_exact(&mut byte).await.expect("returned");
    }
    let passed = start.elapsed();
    drop(stream);
    sandbox.signal_process(&id, tidebox::ProcessSignal::Kill).await.expect("it exists");
    passed.as_secs_f64() * 1e6 / f64::from(rounds)
}

/// Exchanges bytes between two threads of the host.
fn host_byte(rounds: u32) -> Option<f64> {
    let listener = TcpListener::bind("127.0.0.1:0").ok()?;
    let address = listener.local_addr().ok()?;
    let server = std::thread::spawn(move || -> Option<()> {
        let (mut peer, _) = listener.accept().ok()?;
        peer.set_nodelay(true).ok()?;
        let mut byte = [0];
        while peer.read_exact(&mut byte).is_ok() {
            peer.write_all(&byte).ok()?;
        }
        Some(())
    });
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_nodelay(true).ok()?;
    let start = Instant::now();
    for _ in 0..rounds {
        stream.write_all(b"x").ok()?;
        stream.read_exact(&mut [0]).ok()?;
    }
    let passed = start.elapsed();
    drop(stream);
    server.join().ok()?;
    Some(passed.as_secs_f64() * 1e6 / f64::from(rounds))
}

/// Sends bytes from one `nc` to another and returns MiB per second.
async fn transfer(sandbox: &Sandbox, bytes: u64) -> f64 {
    let command = format!(
        "nc -l 9001 > >(wc -c >count) & until ss -Htln | grep -q :9001; do :; done; \
         head -c {bytes} /dev/zero | nc -N localhost 9001; wait; until [ -s count ]; do :; done; cat count"
    );
    let start = Instant::now();
    let response = sandbox.execute(ExecuteRequest::new(command)).await.expect("the command runs");
    let passed = start.elapsed();
    let count = String::from_utf8_lossy(&response.stdout).trim().to_owned();
    assert_eq!(count, bytes.to_string(), "every byte arrives: {}", String::from_utf8_lossy(&response.stderr));
    bytes as f64 / f64::from(1 << 20) / passed.as_secs_f64()
}

fn host_transfer(bytes: u64) -> Option<f64> {
    let listener = TcpListener::bind("127.0.0.1:0").ok()?;
    let address = listener.local_addr().ok()?;
    let server = std::thread::spawn(move || -> Option<u64> {
        let (mut peer, _) = listener.accept().ok()?;
        std::io::copy(&mut peer, &mut std::io::sink()).ok()
    });
    let start = Instant::now();
    let mut stream = TcpStream::connect(address).ok()?;
    std::io::copy(&mut std::io::repeat(0).take(bytes), &mut stream).ok()?;
    drop(stream);
    server.join().ok()??;
    Some(bytes as f64 / f64::from(1 << 20) / start.elapsed().as_secs_f64())
}

/// Runs a program in the sandbox that prints its figure.
async fn python(sandbox: &Sandbox, program: &str, command: &str) -> f64 {
    let command = format!("cat > p <<'P'{program}P\n{command}");
    let response = sandbox.execute(ExecuteRequest::new(command)).await.expect("the command runs");
    let text = String::from_utf8_lossy(&response.stdout).trim().to_owned();
    text.parse().unwrap_or_else(|_| panic!("no figure: {text} {}", String::from_utf8_lossy(&response.stderr)))
}

/// Runs the program by the Python of the host, with a server if it is a client.
fn host_python(program: &str, arguments: &[&str]) -> Option<f64> {
    let start = |arguments: &[&str]| {
        let mut command = std::process::Command::new("python3");
        command.arg("-c").arg(program).args(arguments).stdout(std::process::Stdio::piped()).spawn().ok()
    };
    let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).ok()?.port().to_string();
    let arguments: Vec<&str> =
        arguments.iter().map(|argument| if *argument == "0" { port.as_str() } else { argument }).collect();
    let mut server = if arguments.first() == Some(&"ask") { Some(start(&["serve", &port])?) } else { None };
    let output = start(&arguments)?.wait_with_output().ok()?;
    if let Some(server) = &mut server {
        server.wait().ok()?;
    }
    String::from_utf8_lossy(&output.stdout).trim().parse().ok()
}
