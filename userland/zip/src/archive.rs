//! Archive reader: the central directory, and file data.

use std::io::{self, Read};

use flate2::Crc;
use flate2::read::DeflateDecoder;
use tidebox_gnu::stream::read_at;
use tidebox_rt::{Errno, Fd, Open};

use crate::entry::{DEFLATED, End, Entry, LOCAL_SIZE, STORED, little, local_length};

/// Buffer size in bytes.
pub(crate) const CHUNK: usize = 64 * 1024;

/// Maximum size of a central directory in bytes, which is held in memory: several hundred thousand entries.
const MAX_VALUE: u64 = 64 << 20;

/// An open archive.
#[derive(Debug)]
pub(crate) struct Archive {
    pub(crate) fd: Fd,
    pub(crate) size: u64,
    pub(crate) end: End,
    pub(crate) entries: Vec<Entry>,
    /// Bytes before the archive, as in a self-extracting program.
    pub(crate) extra: u64,
    /// The directory does not match the end record.
    pub(crate) damaged: bool,
}

/// Error of an invalid archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoArchive {
    System(Errno),
    /// No end record.
    NoEnd,
    /// Empty.
    Empty,
    TooLarge,
}

impl Archive {
    pub(crate) fn open(path: &[u8]) -> Result<Self, NoArchive> {
        let fd = tidebox_rt::open(path, Open { read: true, ..Open::default() }).map_err(NoArchive::System)?;
        let size = tidebox_rt::fstat(fd).map_err(NoArchive::System)?.size;
        if size == 0 {
            return Err(NoArchive::Empty);
        }
        // A comment has at most 65,535 bytes, and zip64 has further records before the end record.
        let tail = size.min(66_000);
        let bytes = read_at(fd, size - tail, usize::try_from(tail).unwrap_or(0)).map_err(NoArchive::System)?;
        let end = End::find(&bytes, size - tail).ok_or(NoArchive::NoEnd)?;
        if end.size > MAX_VALUE {
            return Err(NoArchive::TooLarge);
        }
        let begins = end.at.saturating_sub(end.size);
        let extra = begins.saturating_sub(end.offset);
        let directory = read_at(fd, begins, usize::try_from(end.size).unwrap_or(0)).map_err(NoArchive::System)?;
        let mut entries = Vec::new();
        let mut rest = directory.as_slice();
        while let Some((entry, after)) = Entry::central(rest) {
            entries.push(entry);
            rest = after;
        }
        let damaged = entries.len() as u64 != end.entries || end.at < end.size;
        Ok(Self { fd, size, end, entries, extra, damaged })
    }

    /// Returns the start of a file's data; `None` if its header is missing.
    pub(crate) fn data(&self, entry: &Entry) -> Result<Option<u64>, Errno> {
        let at = entry.offset.saturating_add(self.extra);
        let head = read_at(self.fd, at, LOCAL_SIZE)?;
        Ok(local_length(&head).map(|length| at + length))
    }

    /// Returns whether entries overlap, which happens only in malicious archives.
    pub(crate) fn overlaps(&self) -> bool {
        let mut spans: Vec<(u64, u64)> = self
            .entries
            .iter()
            .map(|entry| {
                (
                    entry.offset,
                    entry
                        .offset
                        .saturating_add(LOCAL_SIZE as u64 + entry.name.len() as u64)
                        .saturating_add(entry.packed),
                )
            })
            .collect();
        spans.sort_unstable();
        spans.windows(2).any(|pair| matches!(pair, [(_, end), (begin, _)] if begin < end))
    }
}

/// Error of file data.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum DataError {
    Read(Errno),
    Write(Errno),
    /// Invalid data.
    Data,
    Sum {
        found: u32,
    },
}

/// Extracts a file into a sink; returns its checksum if it is wrong.
pub(crate) fn unpack(
    archive: &Archive,
    entry: &Entry,
    data: u64,
    sink: &mut dyn FnMut(&[u8]) -> Result<(), Errno>,
) -> Result<(), DataError> {
    tidebox_rt::seek_to(archive.fd, data).map_err(DataError::Read)?;
    let packed = Packed { fd: archive.fd, left: entry.packed };
    let mut reader: Box<dyn Read> = match entry.method {
        STORED => Box::new(packed),
        DEFLATED => Box::new(DeflateDecoder::new(packed)),
        _ => return Err(DataError::Data),
    };
    let mut sum = Crc::new();
    let mut room = vec![0; CHUNK];
    loop {
        let got = reader.read(&mut room).map_err(|_| DataError::Data)?;
        if got == 0 {
            break;
        }
        let bytes = room.get(..got).unwrap_or_default();
        sum.update(bytes);
        sink(bytes).map_err(DataError::Write)?;
    }
    let found = sum.sum();
    if found == entry.sum { Ok(()) } else { Err(DataError::Sum { found }) }
}

/// The data of a file in the archive.
struct Packed {
    fd: Fd,
    left: u64,
}

impl Read for Packed {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let room = into.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let got = tidebox_rt::read(self.fd, into.get_mut(..room).unwrap_or_default())?;
        self.left -= got as u64;
        Ok(got)
    }
}

/// Returns the owner of a file from the newer Info-ZIP field.
pub(crate) fn has_owner(extra: &[u8]) -> bool {
    crate::entry::fields(extra).any(|(kind, body)| kind == 0x7875 && little(body.get(..1).unwrap_or_default()) == 1)
}
