//! Archive writer.

use std::io::Write;

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};
use tidebox_rt::{Errno, Fd, FileKind, Open};

use super::collect::InputFile;
use crate::archive::CHUNK;
use crate::entry::{DEFLATED, End, Entry, STORED, STREAMED, UTF8, dos_of};

/// Maximum size in bytes of files compressed in memory, so that those that do not shrink are stored uncompressed.
const SMALL: usize = 1 << 20;

/// An archive writer.
#[derive(Debug)]
pub(crate) struct Writer {
    fd: Fd,
    /// True if the output is seekable.
    seeks: bool,
    pub(crate) offset: u64,
    pub(crate) entries: Vec<Entry>,
    held: Vec<u8>,
}

/// Error of an input file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DataError {
    Read(Errno),
    Write(Errno),
    /// Its size exceeds the fields of the format.
    TooLarge,
}

impl Writer {
    pub(crate) fn new(fd: Fd, seeks: bool) -> Self {
        Self { fd, seeks, offset: 0, entries: Vec::new(), held: Vec::new() }
    }

    pub(crate) fn put(&mut self, bytes: &[u8]) -> Result<(), Errno> {
        self.offset += bytes.len() as u64;
        self.held.extend_from_slice(bytes);
        if self.held.len() >= CHUNK { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), Errno> {
        let held = std::mem::take(&mut self.held);
        tidebox_rt::write_all(self.fd, &held)
    }

    /// Adds a file.
    pub(crate) fn add(&mut self, file: &InputFile, level: u32, plain: bool) -> Result<Entry, DataError> {
        let mut entry = header(file, plain);
        entry.offset = self.offset;
        let local = if plain { Vec::new() } else { extra(file, true) };
        if file.is_dir() {
            entry.needs = 10;
            self.put(&entry.write_local(&local)).map_err(DataError::Write)?;
        } else if file.stat.kind() == FileKind::Symlink {
            let target = tidebox_rt::read_link(&file.path).map_err(DataError::Read)?;
            self.whole(&mut entry, &local, &target, 0)?;
        } else {
            self.regular(&mut entry, &local, file, level)?;
        }
        if entry.offset > u64::from(u32::MAX) || entry.size > u64::from(u32::MAX) {
            return Err(DataError::TooLarge);
        }
        self.entries.push(entry.clone());
        Ok(entry)
    }

    fn regular(&mut self, entry: &mut Entry, local: &[u8], file: &InputFile, level: u32) -> Result<(), DataError> {
        let fd = if file.is_stdin() {
            0
        } else {
            tidebox_rt::open(&file.path, Open { read: true, ..Open::default() }).map_err(DataError::Read)?
        };
        let done = self.opened(entry, local, fd, level);
        if fd != 0 {
            // Nothing was written to it.
            let _ = tidebox_rt::close(fd);
        }
        done
    }

    fn opened(&mut self, entry: &mut Entry, local: &[u8], fd: Fd, level: u32) -> Result<(), DataError> {
        let mut first = vec![0; SMALL];
        let mut filled = 0;
        while filled < SMALL {
            match read(fd, first.get_mut(filled..).unwrap_or_default())? {
                0 => break,
                got => filled += got,
            }
        }
        first.truncate(filled);
        entry.internal = u16::from(is_text(&first));
        if filled < SMALL {
            self.whole(entry, local, &first, level)
        } else {
            self.stream(entry, local, fd, &first, level)
        }
    }

    /// Adds data in memory, compressed or stored, whichever is smaller.
    fn whole(&mut self, entry: &mut Entry, local: &[u8], bytes: &[u8], level: u32) -> Result<(), DataError> {
        let mut sum = Crc::new();
        sum.update(bytes);
        (entry.sum, entry.size, entry.packed) = (sum.sum(), bytes.len() as u64, bytes.len() as u64);
        let packed = if level > 0 && !bytes.is_empty() { deflated(bytes, level) } else { None };
        let packed = packed.filter(|packed| packed.len() < bytes.len());
        if let Some(packed) = &packed {
            (entry.method, entry.needs, entry.packed) = (DEFLATED, 20, packed.len() as u64);
            entry.flags |= speed(level);
        }
        self.put(&entry.write_local(local)).map_err(DataError::Write)?;
        self.put(packed.as_deref().unwrap_or(bytes)).map_err(DataError::Write)
    }

    /// Adds a large file in chunks. Its sizes follow it, or are written into its header if the output is seekable.
    fn stream(&mut self, entry: &mut Entry, local: &[u8], fd: Fd, first: &[u8], level: u32) -> Result<(), DataError> {
        (entry.method, entry.needs) = if level == 0 { (STORED, 10) } else { (DEFLATED, 20) };
        entry.flags |= if level == 0 { 0 } else { speed(level) };
        if !self.seeks {
            (entry.flags, entry.needs) = (entry.flags | STREAMED, 20);
        }
        self.put(&entry.write_local(local)).map_err(DataError::Write)?;
        let begin = self.offset;
        let mut sum = Crc::new();
        // Level 0 makes no deflate blocks: the data is stored as it is.
        let mut encoder = (level > 0).then(|| DeflateEncoder::new(Vec::new(), Compression::new(level)));
        let mut chunk = vec![0; CHUNK];
        let mut bytes = first;
        while !bytes.is_empty() {
            sum.update(bytes);
            entry.size += bytes.len() as u64;
            match &mut encoder {
                Some(encoder) => {
                    encoder.write_all(bytes).map_err(|_| DataError::Write(Errno::IO))?;
                    let packed = std::mem::take(encoder.get_mut());
                    self.put(&packed).map_err(DataError::Write)?;
                }
                None => self.put(bytes).map_err(DataError::Write)?,
            }
            let got = read(fd, &mut chunk)?;
            bytes = chunk.get(..got).unwrap_or_default();
        }
        if let Some(encoder) = encoder {
            let packed = encoder.finish().map_err(|_| DataError::Write(Errno::IO))?;
            self.put(&packed).map_err(DataError::Write)?;
        }
        (entry.sum, entry.packed) = (sum.sum(), self.offset - begin);
        if entry.packed > u64::from(u32::MAX) {
            return Err(DataError::TooLarge);
        }
        if !self.seeks {
            return self.put(&entry.write_descriptor()).map_err(DataError::Write);
        }
        let header = entry.write_local(local);
        self.flush()
            .and_then(|()| tidebox_rt::seek_to(self.fd, entry.offset))
            .and_then(|_| tidebox_rt::write_all(self.fd, &header))
            .and_then(|()| tidebox_rt::seek_to(self.fd, self.offset))
            .map(drop)
            .map_err(DataError::Write)
    }

    /// Writes the central directory and the end record.
    pub(crate) fn finish(&mut self, end: End) -> Result<(), Errno> {
        let offset = self.offset;
        for entry in std::mem::take(&mut self.entries) {
            self.put(&entry.write_central())?;
            self.entries.push(entry);
        }
        let end = End { entries: self.entries.len() as u64, size: self.offset - offset, offset, ..end };
        self.put(&end.write())?;
        self.flush()
    }
}

fn read(fd: Fd, into: &mut [u8]) -> Result<usize, DataError> {
    loop {
        match tidebox_rt::read(fd, into) {
            Err(Errno::INTR) => {}
            other => return other.map_err(DataError::Read),
        }
    }
}

/// Returns the flags of the compression level.
fn speed(level: u32) -> u16 {
    match level {
        1 => 6,
        2 => 4,
        8 | 9 => 2,
        _ => 0,
    }
}

fn deflated(bytes: &[u8], level: u32) -> Option<Vec<u8>> {
    // For small input the highest level costs no noticeable time, and its output has the same length as that of Info-ZIP.
    let level = if level >= 6 && bytes.len() < 128 * 1024 { 9 } else { level };
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::new(level));
    encoder.write_all(bytes).ok()?;
    encoder.finish().ok()
}

/// Returns whether bytes are text: without most control characters.
fn is_text(bytes: &[u8]) -> bool {
    let bad = |byte: &u8| matches!(byte, 0..=6 | 14..=25 | 28..=31);
    !bytes.is_empty() && !bytes.iter().any(bad)
}

/// Metadata of a file before it is read.
fn header(file: &InputFile, plain: bool) -> Entry {
    let unix = file.stat.mode << 16;
    let dos = u32::from(file.is_dir()) << 4 | u32::from(file.stat.mode & 0o200 == 0);
    Entry {
        name: file.name.clone(),
        // Version 3.0, on Unix.
        made_by: 3 << 8 | 30,
        needs: 10,
        flags: if file.name.is_ascii() || std::str::from_utf8(&file.name).is_err() { 0 } else { UTF8 },
        method: STORED,
        dos: dos_of(file.seconds()),
        external: unix | dos,
        extra: if plain { Vec::new() } else { extra(file, false) },
        ..Entry::default()
    }
}

/// Formats exact times and the owner as Info-ZIP extra fields.
fn extra(file: &InputFile, local: bool) -> Vec<u8> {
    let seconds = |ns: u64| ((ns / 1_000_000_000) as u32).to_le_bytes();
    let mut out = b"UT".to_vec();
    out.extend_from_slice(&(if local { 9u16 } else { 5 }).to_le_bytes());
    out.push(3);
    out.extend_from_slice(&seconds(file.stat.mtime_ns));
    if local {
        out.extend_from_slice(&seconds(file.stat.atime_ns));
    }
    out.extend_from_slice(b"ux\x0b\0\x01\x04");
    out.extend_from_slice(&file.stat.uid.to_le_bytes());
    out.push(4);
    out.extend_from_slice(&file.stat.gid.to_le_bytes());
    out
}
