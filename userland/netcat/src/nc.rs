//! `nc`, with the options of OpenBSD's that TCP needs.

use std::net::SocketAddr;

use tidebox_gnu::exit::{IntoExitCode, ToolResult};
use tidebox_gnu::options::Syntax;
use tidebox_rt::{Errno, Fd, Readiness};

const USAGE: &str = "Usage: nc [OPTION]... [HOST] PORT
Reads and writes a TCP connection. Only the sandbox itself (localhost) can be reached.

";

tidebox_gnu::options! {
    /// Options of `nc`.
    enum Flag {
        Four = "-4", "use IPv4 addresses";
        Six = "-6", "use IPv6 addresses";
        Keep = "-k", "with -l: wait for the next connection after one has ended";
        Listen = "-l", "wait for a connection instead of opening one";
        Shut = "-N", "end the data to the peer at the end of the input";
        Numeric = "-n", "do not resolve names";
        Port = "-p PORT", "the port of -l";
        Quit = "-q SECONDS", "quit this time after the end of the input";
        Udp = "-u", "", unsupported "UDP does not exist in this sandbox";
        Verbose = "-v", "report connections";
        Timeout = "-w SECONDS", "quit after this time without data";
        Zero = "-z", "only report whether a port is open";
        Help = "-h, --help", "";
    }
}

const SYNTAX: Syntax<'_, Flag> = Syntax { usage_exit_code: 1, ..Syntax::new("nc", USAGE, 16) };

#[derive(Default)]
struct Options {
    keeps: bool,
    listens: bool,
    shuts: bool,
    is_ipv6: bool,
    port: Option<Vec<u8>>,
    quit_ns: Option<u64>,
    timeout_ns: Option<u64>,
    is_verbose: bool,
    only_checks: bool,
}

fn failed(message: impl Into<String>) -> ToolResult {
    ToolResult::Failure(message.into(), 1)
}

fn seconds(value: &[u8]) -> Result<u64, ToolResult> {
    let text = String::from_utf8_lossy(value);
    let seconds: u64 = text.parse().map_err(|_| failed(format!("timeout not a number: {text}")))?;
    Ok(seconds.saturating_mul(1_000_000_000))
}

/// Runs `nc`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let mut options = Options::default();
    let operands = SYNTAX.parse::<ToolResult>(arguments, |flag, value| {
        match flag {
            Flag::Keep => options.keeps = true,
            Flag::Listen => options.listens = true,
            Flag::Shut => options.shuts = true,
            Flag::Six => options.is_ipv6 = true,
            Flag::Port => options.port = Some(value),
            Flag::Quit => options.quit_ns = Some(seconds(&value)?),
            Flag::Timeout => options.timeout_ns = Some(seconds(&value)?),
            Flag::Verbose => options.is_verbose = true,
            Flag::Zero => options.only_checks = true,
            _ => {}
        }
        Ok(())
    });
    match operands.and_then(|operands| run(&options, &operands)) {
        Ok(code) => code,
        Err(result) => result.into_exit_code("nc"),
    }
}

fn run(options: &Options, operands: &[Vec<u8>]) -> Result<i32, ToolResult> {
    let (host, port) = match (operands, &options.port) {
        ([host, port], None) | ([host], Some(port)) => (Some(host), port),
        ([port], None) | ([], Some(port)) if options.listens => (None, port),
        _ => return Err(failed("a host and a port are required; see nc -h")),
    };
    let any = if options.is_ipv6 { b"::".as_slice() } else { b"0.0.0.0" };
    let host = String::from_utf8_lossy(host.map_or(any, Vec::as_slice)).into_owned();
    let port = String::from_utf8_lossy(port);
    if options.listens {
        return listen(options, address(&host, number(&port)?)?);
    }
    let (first, last) = match port.split_once('-') {
        Some((first, last)) if options.only_checks => (number(first)?, number(last)?),
        _ => (number(&port)?, number(&port)?),
    };
    let mut code = 1;
    for port in first..=last {
        match tidebox_rt::connect(address(&host, port)?) {
            Ok(fd) => {
                code = 0;
                if options.is_verbose {
                    tidebox_gnu::eprint_line!("Connection to {host} {port} port [tcp/*] succeeded!");
                }
                if !options.only_checks {
                    copy(options, fd)?;
                }
                // All data was written.
                let _ = tidebox_rt::close(fd);
            }
            Err(errno) if options.is_verbose => {
                tidebox_gnu::eprint_line!("nc: connect to {host} port {port} (tcp) failed: {}", errno.text());
            }
            Err(_) => {}
        }
    }
    Ok(code)
}

fn number(text: &str) -> Result<u16, ToolResult> {
    let port = text.parse().ok().filter(|port| *port > 0);
    port.ok_or_else(|| failed(format!("port number invalid: {text}")))
}

fn address(host: &str, port: u16) -> Result<SocketAddr, ToolResult> {
    tidebox_rt::local_address(host, port).ok_or_else(|| {
        let why = "in this sandbox only localhost can be reached; curl and wget send HTTP requests to allowed hosts";
        failed(format!("getaddrinfo for host \"{host}\" port {port}: {why}"))
    })
}

fn listen(options: &Options, address: SocketAddr) -> Result<i32, ToolResult> {
    let listener = tidebox_rt::listen(address, 16).map_err(|errno| failed(errno.text()))?;
    if options.is_verbose {
        tidebox_gnu::eprint_line!("Listening on {} {}", address.ip(), address.port());
    }
    loop {
        if let Some(timeout) = options.timeout_ns
            && matches!(tidebox_rt::poll_read(listener, timeout), Ok(Readiness::TimedOut))
        {
            return Ok(1);
        }
        let fd = match tidebox_rt::accept(listener) {
            Ok(fd) => fd,
            Err(Errno::INTR) => continue,
            Err(errno) => return Err(failed(errno.text())),
        };
        if options.is_verbose
            && let Ok(peer) = tidebox_rt::peer_address(fd)
        {
            tidebox_gnu::eprint_line!("Connection received on {} {}", peer.ip(), peer.port());
        }
        copy(options, fd)?;
        // All data was written.
        let _ = tidebox_rt::close(fd);
        if !options.keeps {
            return Ok(0);
        }
    }
}

/// Copies the standard input to a connection, and the connection to the standard output, until the connection ends.
fn copy(options: &Options, connection: Fd) -> Result<(), ToolResult> {
    let mut input = Some(0);
    let mut timeout = options.timeout_ns;
    let mut bytes = vec![0; 64 << 10];
    loop {
        let ready = tidebox_rt::poll_reads(connection, input, timeout);
        let (from_peer, from_input) = match ready {
            Ok((false, false)) => return Ok(()),
            Ok(ready) => ready,
            Err(Errno::INTR) => continue,
            Err(errno) => return Err(failed(errno.text())),
        };
        if from_input {
            match tidebox_rt::read(0, &mut bytes) {
                Ok(count) if count > 0 => {
                    let sent = tidebox_rt::write_all(connection, bytes.get(..count).unwrap_or_default());
                    sent.map_err(|errno| failed(format!("write: {}", errno.text())))?;
                }
                Err(Errno::INTR) => {}
                // The input has ended, or cannot be read.
                _ => {
                    input = None;
                    timeout = options.quit_ns.or(timeout);
                    if options.shuts {
                        // A peer that has closed the connection needs no end.
                        let _ = tidebox_rt::shut_down_write(connection);
                    }
                }
            }
        }
        if from_peer {
            match tidebox_rt::read(connection, &mut bytes) {
                Ok(0) => return Ok(()),
                Ok(count) => {
                    let written = tidebox_rt::write_all(1, bytes.get(..count).unwrap_or_default());
                    written.map_err(|errno| failed(format!("write: {}", errno.text())))?;
                }
                Err(Errno::INTR) => {}
                Err(errno) => return Err(failed(format!("read: {}", errno.text()))),
            }
        }
    }
}
