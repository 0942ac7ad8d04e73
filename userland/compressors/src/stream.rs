//! Input and output streams, with byte counts for messages.

use std::io::{self, BufRead, Read, Write};

use tidebox_rt::{Errno, Fd, Open};

/// Buffer size in bytes: twice the capacity of a pipe.
pub(crate) const CHUNK: usize = 128 * 1024;

/// Buffered input from a file or a pipe.
#[derive(Debug)]
pub(crate) struct Source {
    fd: Fd,
    buffer: Vec<u8>,
    start: usize,
    ended: bool,
    /// Bytes consumed.
    taken: u64,
    failure: Option<Errno>,
}

impl Source {
    /// Reads from a descriptor that the caller closes.
    pub(crate) fn new(fd: Fd) -> Self {
        Self { fd, buffer: Vec::new(), start: 0, ended: false, taken: 0, failure: None }
    }

    /// Returns the number of bytes consumed.
    pub(crate) fn consumed(&self) -> u64 {
        self.taken
    }

    /// Returns the read error, if any.
    pub(crate) fn failure(&self) -> Option<Errno> {
        self.failure
    }

    /// Returns the buffered bytes.
    pub(crate) fn held(&self) -> &[u8] {
        self.buffer.get(self.start..).unwrap_or_default()
    }

    /// Reads until `wanted` bytes are buffered or the input ends.
    pub(crate) fn peek(&mut self, wanted: usize) -> Result<&[u8], Errno> {
        while self.held().len() < wanted && self.more()? {}
        Ok(self.held())
    }

    /// Reads once; `false` at the end.
    fn more(&mut self) -> Result<bool, Errno> {
        if self.ended {
            return Ok(false);
        }
        self.buffer.drain(..self.start);
        self.start = 0;
        let used = self.buffer.len();
        self.buffer.resize(used + CHUNK, 0);
        let got = loop {
            match tidebox_rt::read(self.fd, self.buffer.get_mut(used..).unwrap_or_default()) {
                Err(Errno::INTR) => {}
                other => break other,
            }
        };
        self.buffer.truncate(used + got.unwrap_or(0));
        match got {
            Ok(got) => {
                self.ended = got == 0;
                Ok(got > 0)
            }
            Err(errno) => {
                self.failure = Some(errno);
                Err(errno)
            }
        }
    }

    /// Consumes buffered bytes.
    pub(crate) fn advance(&mut self, count: usize) {
        let count = count.min(self.held().len());
        self.start += count;
        self.taken += count as u64;
    }
}

impl Read for Source {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = {
            let held = self.fill_buf()?;
            let count = held.len().min(into.len());
            if let (Some(to), Some(from)) = (into.get_mut(..count), held.get(..count)) {
                to.copy_from_slice(from);
            }
            count
        };
        self.advance(count);
        Ok(count)
    }
}

impl BufRead for Source {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        Ok(self.peek(1)?)
    }

    fn consume(&mut self, count: usize) {
        self.advance(count);
    }
}

/// Output: a descriptor, or none if an archive is only tested.
#[derive(Debug)]
pub(crate) struct Sink {
    fd: Option<Fd>,
    held: Vec<u8>,
    /// Bytes written.
    put: u64,
    failure: Option<Errno>,
}

impl Sink {
    /// Writes to a descriptor that the caller closes; without one only counts.
    pub(crate) fn new(fd: Option<Fd>) -> Self {
        Self { fd, held: Vec::new(), put: 0, failure: None }
    }

    /// Returns the number of bytes written.
    pub(crate) fn put_so_far(&self) -> u64 {
        self.put
    }

    /// Returns the write error, if any.
    pub(crate) fn failure(&self) -> Option<Errno> {
        self.failure
    }

    /// Writes bytes, which may be buffered until [`Self::finish`].
    pub(crate) fn put(&mut self, bytes: &[u8]) -> Result<(), Errno> {
        self.put += bytes.len() as u64;
        if self.fd.is_none() {
            return Ok(());
        }
        if self.held.is_empty() && bytes.len() >= CHUNK {
            return self.out(bytes);
        }
        self.held.extend_from_slice(bytes);
        if self.held.len() >= CHUNK { self.finish() } else { Ok(()) }
    }

    /// Flushes the buffer.
    pub(crate) fn finish(&mut self) -> Result<(), Errno> {
        let held = std::mem::take(&mut self.held);
        let written = self.out(&held);
        self.held = held;
        self.held.clear();
        written
    }

    fn out(&mut self, bytes: &[u8]) -> Result<(), Errno> {
        let Some(fd) = self.fd else {
            return Ok(());
        };
        let written = tidebox_rt::write_all(fd, bytes);
        if let Err(errno) = written {
            self.failure = Some(errno);
        }
        written
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.put(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(self.finish()?)
    }
}

/// Opens a file to read.
pub(crate) fn open(path: &[u8]) -> Result<Fd, Errno> {
    tidebox_rt::open(path, Open { read: true, ..Open::default() })
}

/// Creates a new file for writing.
pub(crate) fn create(path: &[u8]) -> Result<Fd, Errno> {
    tidebox_rt::open(path, Open { write: true, create: true, exclusive: true, ..Open::default() })
}

/// Copies all remaining input.
pub(crate) fn copy(source: &mut Source, sink: &mut Sink) -> Result<(), Errno> {
    loop {
        let count = {
            let bytes = source.peek(1)?;
            sink.put(bytes)?;
            bytes.len()
        };
        if count == 0 {
            return Ok(());
        }
        source.advance(count);
    }
}

/// Writes all remaining input to an encoder.
pub(crate) fn feed(source: &mut Source, encoder: &mut dyn Write) -> io::Result<()> {
    loop {
        let bytes = source.peek(1)?;
        if bytes.is_empty() {
            return Ok(());
        }
        encoder.write_all(bytes)?;
        let count = bytes.len();
        source.advance(count);
    }
}

/// Copies the output of a decoder.
pub(crate) fn drain(decoder: &mut dyn Read, sink: &mut Sink) -> io::Result<()> {
    let mut room = vec![0; CHUNK];
    loop {
        let count = decoder.read(&mut room)?;
        if count == 0 {
            return Ok(());
        }
        sink.put(room.get(..count).unwrap_or_default())?;
    }
}
