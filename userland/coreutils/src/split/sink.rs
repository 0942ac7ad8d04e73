//! Where pieces go: files, commands, or standard output.

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

/// A piece that is being written.
pub(super) struct Piece {
    name: Vec<u8>,
    out: Output,
    fd: Fd,
    /// The command that reads the output file.
    child: Option<u32>,
    /// The command reads no more.
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

    /// Begins the next piece.
    pub(super) fn begin(&mut self) -> Result<Piece, Failure> {
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
                self.guard(&name)?;
                let how = Open { write: true, create: true, truncate: true, ..Open::default() };
                (tidebox_rt::open(&name, how).map_err(failed)?, None)
            }
            Some(filter) => {
                let (from, to) = tidebox_rt::pipe().map_err(failed)?;
                let child = start(filter, &name, from);
                // The child has its own copy.
                let _ = tidebox_rt::close(from);
                let refused = |errno: Errno| {
                    let shown = String::from_utf8_lossy(filter).into_owned();
                    Failure::Unsupported(format!("failed to run command: \"{shown}\": {}", errno.text()))
                };
                (to, Some(child.map_err(refused)?))
            }
        };
        Ok(Piece { name, out: Output::to(fd), fd, child, ended: false })
    }

    /// A piece must not take the place of what is read.
    fn guard(&self, name: &[u8]) -> Result<(), Failure> {
        let input = &self.options.input;
        let input = if input == b"-" { tidebox_rt::fstat(0) } else { tidebox_rt::stat(input, true) };
        let is_input = match (input, tidebox_rt::stat(name, true)) {
            (Ok(input), Ok(there)) => (input.dev, input.ino) == (there.dev, there.ino),
            _ => false,
        };
        if is_input {
            return Err(Failure::Unsupported(format!("{} would overwrite input; aborting", quote_path(name))));
        }
        Ok(())
    }

    /// Appends to an output file. Returns false if the command reads no more.
    pub(super) fn write(&mut self, piece: &mut Piece, bytes: &[u8]) -> Result<bool, Failure> {
        if piece.ended {
            return Ok(false);
        }
        piece.out.push(bytes);
        match piece.out.failure() {
            None => Ok(true),
            Some(Errno::PIPE) if piece.child.is_some() => {
                piece.ended = true;
                Ok(false)
            }
            Some(errno) => Err(write_error(&piece.name, errno)),
        }
    }

    /// Ends a piece.
    pub(super) fn end(&mut self, mut piece: Piece) -> Result<(), Failure> {
        piece.out.flush_now();
        let failed = piece.out.failure().filter(|errno| !(piece.child.is_some() && *errno == Errno::PIPE));
        let closed = tidebox_rt::close(piece.fd);
        if let Some(errno) = failed.or(closed.err()) {
            return Err(write_error(&piece.name, errno));
        }
        let Some(child) = piece.child else {
            return Ok(());
        };
        let status = wait(child)
            .map_err(|errno| Failure::Unsupported(format!("waiting for child process: {}", errno.text())))?;
        match status.code() {
            // A command that reads no more than it wants ends by a signal that is no failure.
            0 | 141 => Ok(()),
            code => {
                let filter = self.options.filter.as_deref().unwrap_or_default();
                let (name, filter) = (String::from_utf8_lossy(&piece.name), String::from_utf8_lossy(filter));
                print_error("split", &format!("with FILE={name}, exit {code} from command: {filter}"));
                Err(Failure::Answered(ToolResult::Code(i32::from(code))))
            }
        }
    }
}

fn write_error(name: &[u8], errno: Errno) -> Failure {
    Failure::Unsupported(format!("{}: {}", tidebox_gnu::message::path_label(name), errno.text()))
}

/// Starts a command that reads a piece, whose name it finds in its environment.
fn start(filter: &[u8], name: &[u8], from: Fd) -> Result<u32, Errno> {
    let shell = std::env::var_os("SHELL").map_or_else(|| b"/bin/sh".to_vec(), |shell| shell.into_encoded_bytes());
    let mut environment = tidebox_rt::environ();
    environment.retain(|entry| !entry.starts_with(b"FILE="));
    environment.push([b"FILE=", name].concat());
    let arguments: [&[u8]; 3] = [&shell, b"-c", filter];
    let descriptors: [(Fd, Fd); 3] = [(0, from), (1, 1), (2, 2)];
    Command { environment: Some(&environment), descriptors: &descriptors, ..Command::new(&arguments) }.spawn()
}
