//! Open files, pipes and standard output, by name.

use tidebox_gnu::command::{Command, wait};
use tidebox_rt::{Errno, ExitStatus, Fd, Open};

use crate::input::{Ending, Input, ReadError};

/// Output buffer size in bytes.
const BUFFER: usize = 64 * 1024;

/// SIGPIPE: the pipe has no reader.
const SIGPIPE: u32 = 13;

/// Use of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Write,
    Append,
    PipeTo,
    Read,
    PipeFrom,
    TwoWay,
}

impl Kind {
    /// Returns whether an open stream can be used for another request. Files opened for writing are shared, however they were
    /// opened.
    fn serves(self, wanted: Self) -> bool {
        let file = |kind| matches!(kind, Self::Write | Self::Append);
        self == wanted || file(self) && file(wanted)
    }
}

/// A write error.
#[derive(Debug)]
pub(crate) enum Lost {
    Standard(Errno),
    Stream(Vec<u8>, Errno),
}

#[derive(Debug)]
struct Writer {
    fd: Fd,
    buffer: Vec<u8>,
    /// Unbuffered.
    direct: bool,
}

impl Writer {
    fn new(fd: Fd) -> Self {
        Self { fd, buffer: Vec::new(), direct: fd == 2 }
    }

    #[inline]
    fn write(&mut self, bytes: &[u8]) -> Result<(), Errno> {
        self.buffer.extend_from_slice(bytes);
        if self.direct || self.buffer.len() >= BUFFER { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), Errno> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let outcome = tidebox_rt::write_all(self.fd, &self.buffer);
        self.buffer.clear();
        outcome
    }
}

#[derive(Debug)]
struct Stream {
    name: Vec<u8>,
    kind: Kind,
    writer: Option<Writer>,
    input: Option<Input>,
    pid: Option<u32>,
}

/// Result of closing: the exit status of the command, if any.
type Closed = Result<Option<ExitStatus>, Errno>;

/// All open streams.
#[derive(Debug)]
pub(crate) struct Streams {
    standard: Writer,
    open: Vec<Stream>,
    /// Index of the last used stream.
    last: usize,
    ignores_pipes: bool,
}

impl Default for Streams {
    fn default() -> Self {
        let standard = Writer { direct: tidebox_rt::is_terminal(1), ..Writer::new(1) };
        Self { standard, open: Vec::new(), last: 0, ignores_pipes: false }
    }
}

impl Streams {
    /// The index of a stream, opening it if necessary.
    pub(crate) fn open(&mut self, kind: Kind, name: &[u8]) -> Result<usize, Errno> {
        let fits = |stream: &Stream| stream.kind.serves(kind) && stream.name == name;
        if self.open.get(self.last).is_some_and(fits) {
            return Ok(self.last);
        }
        if let Some(at) = self.open.iter().rposition(fits) {
            self.last = at;
            return Ok(at);
        }
        let stream = match kind {
            Kind::Write | Kind::Append => self.open_file(kind, name)?,
            Kind::Read => {
                let fd = crate::machine::open_file(name)?;
                Stream { name: name.to_vec(), kind, writer: None, input: Some(Input::new(fd)), pid: None }
            }
            _ => self.start(kind, name)?,
        };
        self.open.push(stream);
        self.last = self.open.len() - 1;
        Ok(self.last)
    }

    fn open_file(&mut self, kind: Kind, name: &[u8]) -> Result<Stream, Errno> {
        let writer = match name {
            b"/dev/stdout" | b"-" => None,
            b"/dev/stderr" => Some(Writer::new(2)),
            _ => {
                let append = kind == Kind::Append;
                let how = Open { write: true, create: true, append, truncate: !append, ..Open::default() };
                let fd = match tidebox_rt::open(name, how) {
                    Err(Errno::MFILE) => {
                        self.give_one_up()?;
                        tidebox_rt::open(name, how)?
                    }
                    other => other?,
                };
                Some(Writer::new(fd))
            }
        };
        Ok(Stream { name: name.to_vec(), kind, writer, input: None, pid: None })
    }

    /// Closes the oldest file. It is opened for appending if it is written to again.
    fn give_one_up(&mut self) -> Result<(), Errno> {
        let file = |stream: &&mut Stream| {
            matches!(stream.kind, Kind::Write | Kind::Append)
                && stream.writer.as_ref().is_some_and(|writer| writer.fd > 2 && writer.fd != Fd::MAX)
        };
        let Some(stream) = self.open.iter_mut().find(file) else {
            return Err(Errno::MFILE);
        };
        if let Some(writer) = &mut stream.writer {
            writer.flush()?;
            tidebox_rt::close(writer.fd)?;
            writer.fd = Fd::MAX;
        }
        Ok(())
    }

    /// Starts a command with a pipe to it, from it, or both.
    fn start(&mut self, kind: Kind, command: &[u8]) -> Result<Stream, Errno> {
        // Flush earlier output so that it precedes the output of the command.
        let _ = self.flush();
        if !self.ignores_pipes && kind != Kind::PipeFrom {
            // A command that stops reading is an error to report; it does not end the program.
            let _ = tidebox_rt::sig_set(SIGPIPE, tidebox_rt::Disposition::Ignore);
            self.ignores_pipes = true;
        }
        let to = if kind == Kind::PipeFrom { None } else { Some(tidebox_rt::pipe()?) };
        let from = if kind == Kind::PipeTo { None } else { Some(tidebox_rt::pipe()?) };
        let descriptors = [(0, to.map_or(0, |(read, _)| read)), (1, from.map_or(1, |(_, write)| write)), (2, 2)];
        let spawned = spawn(command, &descriptors);
        for end in to.map(|(read, _)| read).into_iter().chain(from.map(|(_, write)| write)) {
            let _ = tidebox_rt::close(end);
        }
        Ok(Stream {
            name: command.to_vec(),
            kind,
            writer: to.map(|(_, write)| Writer::new(write)),
            input: from.map(|(read, _)| Input::new(read)),
            pid: Some(spawned?),
        })
    }

    /// Runs a command and waits for it.
    pub(crate) fn run(&mut self, command: &[u8]) -> Result<ExitStatus, Errno> {
        wait(spawn(command, tidebox_gnu::command::STANDARD)?)
    }

    #[inline]
    pub(crate) fn write(&mut self, stream: Option<usize>, bytes: &[u8]) -> Result<(), Lost> {
        let Some(stream) = stream.and_then(|at| self.open.get_mut(at)) else {
            return self.standard.write(bytes).map_err(Lost::Standard);
        };
        let Some(writer) = &mut stream.writer else {
            // Standard output by name, or the closed input of a command.
            if stream.kind == Kind::TwoWay {
                return Err(Lost::Stream(stream.name.clone(), Errno::BADF));
            }
            return self.standard.write(bytes).map_err(Lost::Standard);
        };
        if writer.fd == Fd::MAX {
            let how = Open { write: true, append: true, create: true, ..Open::default() };
            let name = stream.name.clone();
            let opened = match tidebox_rt::open(&name, how) {
                Err(Errno::MFILE) => {
                    self.give_one_up().map_err(|error| Lost::Stream(name.clone(), error))?;
                    tidebox_rt::open(&name, how)
                }
                other => other,
            };
            let fd = opened.map_err(|error| Lost::Stream(name.clone(), error))?;
            if let Some(writer) =
                self.open.iter_mut().find(|known| known.name == name).and_then(|known| known.writer.as_mut())
            {
                writer.fd = fd;
                return writer.write(bytes).map_err(|error| Lost::Stream(name, error));
            }
            return Ok(());
        }
        writer.write(bytes).map_err(|error| Lost::Stream(stream.name.clone(), error))
    }

    /// Reads the next record of a stream.
    pub(crate) fn read(
        &mut self,
        stream: usize,
        ending: &Ending,
        record: &mut Vec<u8>,
        terminator: &mut Vec<u8>,
    ) -> Result<bool, ReadError> {
        let Some(stream) = self.open.get_mut(stream) else {
            return Ok(false);
        };
        if let Some(writer) = &mut stream.writer {
            // The command may wait for our output before it replies.
            writer.flush().map_err(ReadError::Read)?;
        }
        match &mut stream.input {
            Some(input) => input.next(ending, record, terminator),
            None => Ok(false),
        }
    }

    pub(crate) fn flush_standard(&mut self) -> Result<(), Errno> {
        self.standard.flush()
    }

    /// Flushes all streams.
    pub(crate) fn flush(&mut self) -> Result<(), Lost> {
        self.standard.flush().map_err(Lost::Standard)?;
        for stream in &mut self.open {
            if let Some(writer) = &mut stream.writer {
                writer.flush().map_err(|error| Lost::Stream(stream.name.clone(), error))?;
            }
        }
        Ok(())
    }

    /// Flushes the streams of one name. Returns whether it is open.
    pub(crate) fn flush_one(&mut self, name: &[u8]) -> bool {
        if name == b"/dev/stdout" {
            return self.standard.flush().is_ok();
        }
        let mut known = name == b"/dev/stderr";
        for stream in self.open.iter_mut().filter(|stream| stream.name == name) {
            known |= stream.writer.as_mut().is_some_and(|writer| writer.flush().is_ok());
        }
        known
    }

    /// Closes the streams of a name, or one end of a two-way pipe. `None` if the name is not open.
    pub(crate) fn close(&mut self, name: &[u8], end: Option<bool>) -> Option<Closed> {
        let at = self.open.iter().rposition(|stream| stream.name == name)?;
        let stream = self.open.get_mut(at)?;
        if stream.kind == Kind::TwoWay && end.is_some() {
            let outcome = if end == Some(true) { close_writer(stream) } else { close_input(stream) };
            if stream.writer.is_some() || stream.input.is_some() {
                return Some(outcome.map(|()| None));
            }
        }
        let stream = self.open.remove(at);
        self.last = 0;
        Some(finish(stream))
    }

    /// Closes all streams and waits for all commands, the newest first.
    pub(crate) fn close_all(&mut self) -> Result<(), Lost> {
        let mut lost = Ok(());
        while let Some(stream) = self.open.pop() {
            let name = stream.name.clone();
            if let Err(error) = finish(stream)
                && lost.is_ok()
            {
                lost = Err(Lost::Stream(name, error));
            }
        }
        self.standard.flush().map_err(Lost::Standard)?;
        lost
    }
}

fn close_writer(stream: &mut Stream) -> Result<(), Errno> {
    let Some(mut writer) = stream.writer.take() else {
        return Ok(());
    };
    let outcome = writer.flush();
    if writer.fd > 2 && writer.fd != Fd::MAX {
        let closed = tidebox_rt::close(writer.fd);
        return outcome.and(closed);
    }
    outcome
}

fn close_input(stream: &mut Stream) -> Result<(), Errno> {
    match stream.input.take() {
        Some(input) if input.fd > 2 => tidebox_rt::close(input.fd),
        _ => Ok(()),
    }
}

fn finish(stream: Stream) -> Closed {
    let mut stream = stream;
    let written = close_writer(&mut stream);
    let read = close_input(&mut stream);
    let status = stream.pid.map(wait).transpose()?;
    written.and(read)?;
    Ok(status)
}

fn spawn(command: &[u8], descriptors: &[(Fd, Fd)]) -> Result<u32, Errno> {
    let words: [&[u8]; 3] = [b"sh", b"-c", command];
    Command { descriptors, ..Command::new(&words) }.spawn()
}

/// Ends like a program that writes to a pipe without a reader: by SIGPIPE, or with its exit code if that fails.
pub(crate) fn broken_pipe() -> i32 {
    let _ = tidebox_rt::sig_set(SIGPIPE, tidebox_rt::Disposition::Default);
    if let Ok(ids) = tidebox_rt::getids() {
        let _ = tidebox_rt::kill(ids.pid as i32, SIGPIPE);
    }
    128 + SIGPIPE as i32
}

/// Reads a whole file, for the text of a program.
pub(crate) fn read_whole(name: &[u8]) -> Result<Vec<u8>, String> {
    let fd = crate::machine::open_file(name).map_err(|error| error.text().to_owned())?;
    let mut text = Vec::new();
    let mut piece = vec![0; 16 * 1024];
    loop {
        match tidebox_rt::read(fd, &mut piece) {
            Ok(0) => break,
            Ok(count) => text.extend_from_slice(piece.get(..count).unwrap_or_default()),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.text().to_owned()),
        }
    }
    if fd > 2 {
        // The file was only read, so close errors do not matter.
        let _ = tidebox_rt::close(fd);
    }
    Ok(text)
}
