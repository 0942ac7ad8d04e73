//! Byte input and output of tools on files, pipes and devices, in bounded memory.

use std::io;

use tidebox_rt::{Errno, Fd, Open};

/// Buffer size in bytes: the capacity of a pipe.
const CHUNK: usize = 64 * 1024;

/// Buffered standard output.
///
/// After the first failed write the rest is discarded; [`Output::finish`] reports the error.
#[derive(Debug)]
pub struct Output {
    fd: Fd,
    buffer: Vec<u8>,
    failed: Option<Errno>,
}

impl Output {
    /// Standard output.
    pub fn standard() -> Self {
        Self::to(1)
    }

    /// Any descriptor. It is not closed.
    pub fn to(fd: Fd) -> Self {
        Self { fd, buffer: Vec::new(), failed: None }
    }

    /// Adds bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= CHUNK {
            self.flush_now();
        }
    }

    /// Flushes the buffer. Tools do this before they write a message, so that both appear in order.
    pub fn flush_now(&mut self) {
        if self.failed.is_none() {
            self.failed = tidebox_rt::write_all(self.fd, &self.buffer).err();
        }
        self.buffer.clear();
    }

    /// The error of a failed write, if any.
    pub fn failure(&self) -> Option<Errno> {
        self.failed
    }

    /// Flushes and returns the exit code: `code`, or 1 with a message if a write failed.
    pub fn finish(mut self, tool: &str, code: i32) -> i32 {
        self.flush_now();
        match self.failed {
            None => code,
            Some(errno) => {
                crate::message::print_error(tool, &format!("write error: {}", errno.text()));
                code.max(1)
            }
        }
    }
}

impl io::Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.push(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.flush_now();
        Ok(())
    }
}

/// Unbuffered standard input: bytes that are not read remain for the next program.
#[derive(Clone, Copy, Debug, Default)]
pub struct StandardInput;

impl StandardInput {
    /// Seeks back over unused bytes if standard input is a file.
    pub fn unread(count: u64) {
        if let Ok(count) = i64::try_from(count)
            && count > 0
        {
            // A pipe cannot seek back, and no program relies on it.
            let _ = tidebox_rt::seek(0, -count);
        }
    }
}

impl io::Read for StandardInput {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            match tidebox_rt::read(0, into) {
                Ok(count) => return Ok(count),
                Err(Errno::INTR) => {}
                Err(error) => return Err(io::Error::other(error.text())),
            }
        }
    }
}

/// A file that is read in chunks or line by line.
#[derive(Debug)]
pub struct Input {
    fd: Fd,
    owned: bool,
    buffer: Vec<u8>,
    at: usize,
}

impl Input {
    /// Opens an operand; `-` is standard input.
    pub fn open(name: &[u8]) -> Result<Self, Errno> {
        if name == b"-" { Ok(Self::standard()) } else { Self::file(name) }
    }

    /// Opens a file; `-` has no special meaning.
    pub fn file(name: &[u8]) -> Result<Self, Errno> {
        let fd = tidebox_rt::open(name, Open { read: true, ..Open::default() })?;
        Ok(Self { fd, owned: true, buffer: Vec::new(), at: 0 })
    }

    /// A descriptor that is closed on drop.
    pub fn of(fd: Fd) -> Self {
        Self { fd, owned: true, buffer: Vec::new(), at: 0 }
    }

    /// Standard input.
    pub fn standard() -> Self {
        Self { fd: 0, owned: false, buffer: Vec::new(), at: 0 }
    }

    /// The descriptor.
    pub fn fd(&self) -> Fd {
        self.fd
    }

    /// Returns whether the buffer is empty, so that the next read may block.
    pub fn is_drained(&self) -> bool {
        self.at >= self.buffer.len()
    }

    /// The buffered bytes; empty only at the end.
    pub fn chunk(&mut self) -> Result<&[u8], Errno> {
        if self.at >= self.buffer.len() {
            self.at = 0;
            self.buffer.resize(CHUNK, 0);
            let got = loop {
                match tidebox_rt::read(self.fd, &mut self.buffer) {
                    Err(Errno::INTR) => {}
                    Err(errno) => {
                        self.buffer.clear();
                        return Err(errno);
                    }
                    Ok(got) => break got,
                }
            };
            self.buffer.truncate(got);
        }
        Ok(self.buffer.get(self.at..).unwrap_or_default())
    }

    /// Consumes bytes of the buffer.
    pub fn consume(&mut self, count: usize) {
        self.at = self.at.saturating_add(count);
    }

    /// Reads up to and including the next `terminator` into `line`, which is cleared first. False at the end.
    pub fn line(&mut self, terminator: u8, line: &mut Vec<u8>) -> Result<bool, Errno> {
        line.clear();
        loop {
            let piece = self.chunk()?;
            if piece.is_empty() {
                return Ok(!line.is_empty());
            }
            let end = memchr::memchr(terminator, piece).map(|at| at + 1);
            let count = end.unwrap_or(piece.len());
            line.extend_from_slice(piece.get(..count).unwrap_or_default());
            self.consume(count);
            if end.is_some() {
                return Ok(true);
            }
        }
    }

    /// Reads everything up to the end.
    pub fn read_to_end(&mut self) -> Result<Vec<u8>, Errno> {
        let mut all = Vec::new();
        loop {
            let piece = self.chunk()?;
            if piece.is_empty() {
                return Ok(all);
            }
            all.extend_from_slice(piece);
            let count = piece.len();
            self.consume(count);
        }
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        if self.owned {
            // Nothing was written, so closing reports no error.
            let _ = tidebox_rt::close(self.fd);
        }
    }
}

/// Reads a whole file; `-` is standard input.
pub fn read_all(name: &[u8]) -> Result<Vec<u8>, Errno> {
    Input::open(name)?.read_to_end()
}

/// Reads up to `len` bytes of a file from an offset.
pub fn read_at(fd: Fd, at: u64, count: usize) -> Result<Vec<u8>, Errno> {
    tidebox_rt::seek_to(fd, at)?;
    let mut bytes = vec![0; count];
    let mut filled = 0;
    while filled < count {
        match tidebox_rt::read(fd, bytes.get_mut(filled..).unwrap_or_default()) {
            Ok(0) => break,
            Ok(got) => filled += got,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

/// Writes a file, replacing its content.
pub fn write_file(name: &[u8], bytes: &[u8]) -> Result<(), Errno> {
    let how = Open { write: true, create: true, truncate: true, ..Open::default() };
    let fd = tidebox_rt::open(name, how)?;
    let written = tidebox_rt::write_all(fd, bytes);
    written.and(tidebox_rt::close(fd))
}

#[cfg(test)]
mod tests {
    use super::{Input, write_file};

    #[test]
    fn lines_come_with_their_ends_and_the_last_one_without() {
        let path = std::env::temp_dir().join(format!("tidebox-gnu-stream-{}", std::process::id()));
        let name = path.as_os_str().as_encoded_bytes();
        let long = vec![b'x'; 200_000];
        write_file(name, &[b"one\n\0\xff\n".as_slice(), &long, b"\nlast"].concat()).expect("the file can be written");
        let mut input = Input::open(name).expect("the file is there");
        let (mut line, mut lines) = (Vec::new(), Vec::new());
        while input.line(b'\n', &mut line).expect("the file can be read") {
            lines.push(line.clone());
        }
        assert_eq!(lines.len(), 4);
        assert_eq!(lines.get(1).map(Vec::as_slice), Some(b"\0\xff\n".as_slice()));
        assert_eq!(lines.get(2).map(Vec::len), Some(200_001));
        assert_eq!(lines.last().map(Vec::as_slice), Some(b"last".as_slice()));
        std::fs::remove_file(&path).expect("the file can be removed");
    }
}
