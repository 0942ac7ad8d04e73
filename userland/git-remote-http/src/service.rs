//! Services of Git over requests: directly for protocol 2, and by `git fetch-pack` and `git send-pack` for protocol 0.

use std::io::{BufRead, BufReader, Read, Write};

use tidebox_gnu::command::{Command, wait};
use tidebox_rt::{ExitStatus, Fd};

use crate::descriptor::{FdReader, FdWriter};
use crate::fault::Fault;
use crate::pkt_line::{self, Checker, Message};
use crate::remote::{Remote, write_to};

/// Longest result of a program: one line for each reference.
const RESULT_BYTES: u64 = 16 << 20;

/// Passes the messages of Git to the server, each in one request, until Git ends.
pub(crate) fn connect(
    remote: &Remote,
    service: &str,
    input: &mut dyn BufRead,
    output: &mut dyn Write,
) -> Result<(), Fault> {
    loop {
        let mut checker = Checker::default();
        let mut receive = |chunk: &[u8]| {
            // Git would read the next response as the rest of an incomplete packet.
            if !checker.push(chunk) {
                return Err(Fault::new(format!("the answer of '{}' is not Git's protocol", remote.url())));
            }
            output.write_all(chunk).map_err(Fault::from)
        };
        if !remote.call(service, true, &mut Message::packets(&mut *input), &mut receive)? {
            return Ok(());
        }
        if !checker.is_complete() {
            return Err(Fault::new(format!("the answer of '{}' is incomplete", remote.url())));
        }
        output.write_all(pkt_line::RESPONSE_END)?;
    }
}

/// A program of Git that makes the requests.
#[derive(Debug)]
pub(crate) struct Program<'a> {
    /// `fetch-pack` or `send-pack`, with its options and the URL.
    pub(crate) arguments: &'a [String],
    /// The service at the server.
    pub(crate) service: &'a str,
    /// Lines of objects to fetch or references to push: lines for the program.
    pub(crate) lines: &'a [String],
    /// References of the server.
    pub(crate) advertisement: &'a [u8],
}

impl Program<'_> {
    /// Runs the program, sends its requests, and returns its result for Git.
    pub(crate) fn run(&self, remote: &Remote) -> Result<Vec<u8>, Fault> {
        let mut child = Child::start(self.arguments)?;
        child.write(|input| {
            for line in self.lines {
                input.write_all(&pkt_line::line(format!("{line}\n").as_bytes()))?;
            }
            input.write_all(pkt_line::FLUSH)?;
            input.write_all(self.advertisement)
        })?;
        let mut output = BufReader::with_capacity(64 << 10, FdReader(child.output));
        while remote.call(
            self.service,
            false,
            &mut Message::payloads(&mut output),
            &mut write_to(&mut FdWriter(child.input)),
        )? {}
        child.close_input();
        let mut result = Vec::new();
        output.take(RESULT_BYTES).read_to_end(&mut result)?;
        let status = child.wait();
        // A push with rejected references fails, and its result names them.
        if result.is_empty() && status != Some(ExitStatus::Exited(0)) {
            return Err(Fault::Reported);
        }
        Ok(result)
    }
}

/// A running program with pipes to its standard input and output.
struct Child {
    pid: Option<u32>,
    input: Fd,
    output: Fd,
    is_input_open: bool,
}

impl Child {
    fn start(arguments: &[String]) -> Result<Self, Fault> {
        let failed = |error: tidebox_rt::Errno| Fault::new(format!("cannot run git: {}", error.text()));
        let (child_input, input) = tidebox_rt::pipe().map_err(failed)?;
        let (output, child_output) = tidebox_rt::pipe().map_err(failed)?;
        let words: Vec<&[u8]> =
            std::iter::once("git").chain(arguments.iter().map(String::as_str)).map(str::as_bytes).collect();
        let descriptors = [(0, child_input), (1, child_output), (2, 2)];
        let spawned = Command { descriptors: &descriptors, ..Command::new(&words) }.spawn();
        let _ = tidebox_rt::close(child_input);
        let _ = tidebox_rt::close(child_output);
        // Dropping it closes the pipes.
        let mut child = Self { pid: None, input, output, is_input_open: true };
        child.pid = Some(spawned.map_err(failed)?);
        Ok(child)
    }

    /// Writes to the program. If it has ended, its result shows why.
    fn write(&self, write: impl FnOnce(&mut FdWriter) -> std::io::Result<()>) -> Result<(), Fault> {
        match write(&mut FdWriter(self.input)) {
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
            _ => Ok(()),
        }
    }

    fn close_input(&mut self) {
        if std::mem::take(&mut self.is_input_open) {
            let _ = tidebox_rt::close(self.input);
        }
    }

    fn wait(&mut self) -> Option<ExitStatus> {
        wait(self.pid.take()?).ok()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.close_input();
        let _ = tidebox_rt::close(self.output);
        self.wait();
    }
}
