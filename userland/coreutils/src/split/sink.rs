//! Output files and commands.

use tidebox_gnu::command::{Command, wait};
use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::message::{print_error, quote_path};
use tidebox_gnu::stream::Output;
use tidebox_rt::{Disposition, Errno, Fd, Open};

use super::names::Names;
use super::options::Options;
use crate::common::Failure;

/// SIGPIPE.
const BROKEN_PIPE: u32 = 13;

/// An open output file, or a command.
pub(super) struct Part {
    name: Vec<u8>,
    out: Output,
    fd: Fd,
    /// The command that reads the output file.
    child: Option<u32>,
    /// The command has closed its input.
    ended: bool,
}

pub(super) struct Sink<'o> {
    options: &'o Options,
    names: Names,
}

impl<'o> Sink<'o> {
    pub(super) fn new(options: &'o Options) -> Self {
        if options.filter.is_some() {
            // A command may end before it has read everything.
            let _ = tidebox_rt::sig_set(BROKEN_PIPE, Disposition::Ignore);
        }
        Self { options, names: options.names() }
    }

    /// Opens the next output file, or starts the next command.
    pub(super) fn start_part(&mut self) -> Result<Part, Failure> {
        let Some(name) = self.names.next_name() else {
            return Err(Failure::Unsupported("output file suffixes exhausted".to_owned()));
        };
        if self.options.verbose {
            let text = match self.options.filter {
                Some(_) => format!("executing with FILE={}\n", tidebox_gnu::message::path_label(&name)),
                None => format!("creating file {}\n", quote_path(&name)),
            };
            tidebox_rt::write_all(1, text.as_bytes()).map_err(Failure::Write)?;
        }
        let failed = |errno: Errno| {
            Failure::Unsupported(format!("{}: {}", tidebox_gnu::message::path_label(&name), errno.text()))
        };
        let (fd, child) = match &self.options.filter {
            None => {
                self.check_name(&name)?;
                let how = Open { write: true, create: true, truncate: true, ..Open::default() };
                (tidebox_rt::open(&name, how).map_err(failed)?, None)
            }
            Some(filter) => {
                let (from, to) = tidebox_rt::pipe().map_err(failed)?;
                let child = start(filter, &name, from);
                // The child has its own copy.
                let _ = tidebox_rt::close(from);
                let start_error = |errno: Errno| {
                    let shown = String::from_utf8_lossy(filter).into_owned();
                    Failure::Unsupported(format!("failed to run command: \"{shown}\": {}", errno.text()))
                };
                (to, Some(child.map_err(start_error)?))
            }
        };
        Ok(Part { name, out: Output::to(fd), fd, child, ended: false })
    }

    /// Fails if an output file is the input.
    fn check_name(&self, name: &[u8]) -> Result<(), Failure> {
        let input = &self.options.input;
        let input = if input == b"-" { tidebox_rt::fstat(0) } else { tidebox_rt::stat(input, true) };
        let is_input = match (input, tidebox_rt::stat(name, true)) {
            (Ok(input), Ok(output)) => (input.dev, input.ino) == (output.dev, output.ino),
            _ => false,
        };
        if is_input {
            return Err(Failure::Unsupported(format!("{} would overwrite input; aborting", quote_path(name))));
        }
        Ok(())
    }

    /// Appends to an output file. Returns false if the command reads no more.
    pub(super) fn write(&mut self, part: &mut Part, bytes: &[u8]) -> Result<bool, Failure> {
        if part.ended {
            return Ok(false);
        }
        part.out.push(bytes);
        match part.out.failure() {
            None => Ok(true),
            Some(Errno::PIPE) if part.child.is_some() => {
                part.ended = true;
                Ok(false)
            }
            Some(errno) => Err(write_error(&part.name, errno)),
        }
    }

    /// Closes an output file, or waits for its command.
    pub(super) fn finish_part(&mut self, mut part: Part) -> Result<(), Failure> {
        part.out.flush_now();
        let failed = part.out.failure().filter(|errno| !(part.child.is_some() && *errno == Errno::PIPE));
        let closed = tidebox_rt::close(part.fd);
        if let Some(errno) = failed.or(closed.err()) {
            return Err(write_error(&part.name, errno));
        }
        let Some(child) = part.child else {
            return Ok(());
        };
        let status = wait(child)
            .map_err(|errno| Failure::Unsupported(format!("waiting for child process: {}", errno.text())))?;
        match status.code() {
            // Exit by SIGPIPE is not an error: the command did not read all input.
            0 | 141 => Ok(()),
            code => {
                let filter = self.options.filter.as_deref().unwrap_or_default();
                let (name, filter) = (String::from_utf8_lossy(&part.name), String::from_utf8_lossy(filter));
                print_error("split", &format!("with FILE={name}, exit {code} from command: {filter}"));
                Err(Failure::Exit(ToolResult::Code(i32::from(code))))
            }
        }
    }
}

fn write_error(name: &[u8], errno: Errno) -> Failure {
    Failure::Unsupported(format!("{}: {}", tidebox_gnu::message::path_label(name), errno.text()))
}

/// Starts a command with the name of its output file in the environment.
fn start(filter: &[u8], name: &[u8], from: Fd) -> Result<u32, Errno> {
    let shell = std::env::var_os("SHELL").map_or_else(|| b"/bin/sh".to_vec(), |shell| shell.into_encoded_bytes());
    let mut environment = tidebox_rt::environ();
    environment.retain(|entry| !entry.starts_with(b"FILE="));
    environment.push([b"FILE=", name].concat());
    let arguments: [&[u8]; 3] = [&shell, b"-c", filter];
    let descriptors: [(Fd, Fd); 3] = [(0, from), (1, 1), (2, 2)];
    Command { environment: Some(&environment), descriptors: &descriptors, ..Command::new(&arguments) }.spawn()
}
