//! Archive reader: the central directory, and file data.

use flate2::{Crc, Decompress, FlushDecompress, Status};
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
    /// Invalid deflate data.
    Data,
    /// The archive ends within the data.
    Ended,
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
    let mut sum = Crc::new();
    let mut put = |bytes: &[u8]| {
        sum.update(bytes);
        sink(bytes).map_err(DataError::Write)
    };
    match entry.method {
        STORED => stored(archive.fd, entry.packed, &mut put)?,
        DEFLATED => deflated(archive.fd, entry.packed, &mut put)?,
        _ => return Err(DataError::Data),
    }
    let found = sum.sum();
    if found == entry.sum { Ok(()) } else { Err(DataError::Sum { found }) }
}

fn read_some(fd: Fd, buffer: &mut [u8], left: u64) -> Result<usize, DataError> {
    let room = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
    loop {
        match tidebox_rt::read(fd, buffer.get_mut(..room).unwrap_or_default()) {
            Ok(got) => return Ok(got),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(DataError::Read(errno)),
        }
    }
}

fn stored(fd: Fd, size: u64, put: &mut dyn FnMut(&[u8]) -> Result<(), DataError>) -> Result<(), DataError> {
    let mut buffer = vec![0; CHUNK];
    let mut left = size;
    while left > 0 {
        let got = read_some(fd, &mut buffer, left)?;
        if got == 0 {
            return Err(DataError::Ended);
        }
        put(buffer.get(..got).unwrap_or_default())?;
        left -= got as u64;
    }
    Ok(())
}

fn deflated(fd: Fd, size: u64, put: &mut dyn FnMut(&[u8]) -> Result<(), DataError>) -> Result<(), DataError> {
    let mut state = Decompress::new(false);
    let (mut input, mut room) = (vec![0; CHUNK], vec![0; CHUNK]);
    let (mut from, mut to, mut left) = (0, 0, size);
    loop {
        if from == to && left > 0 {
            to = read_some(fd, &mut input, left)?;
            from = 0;
            if to == 0 {
                return Err(DataError::Ended);
            }
            left -= to as u64;
        }
        let (before_in, before_out) = (state.total_in(), state.total_out());
        let held = input.get(from..to).unwrap_or_default();
        let status = state.decompress(held, &mut room, FlushDecompress::None);
        let used = usize::try_from(state.total_in() - before_in).unwrap_or(0);
        let made = usize::try_from(state.total_out() - before_out).unwrap_or(0);
        from += used;
        put(room.get(..made).unwrap_or_default())?;
        match status {
            Ok(Status::StreamEnd) => return Ok(()),
            Ok(_) if used == 0 && made == 0 && from == to && left == 0 => return Err(DataError::Data),
            Ok(_) => {}
            Err(_) => return Err(DataError::Data),
        }
    }
}

/// Returns the owner of a file from the newer Info-ZIP field.
pub(crate) fn has_owner(extra: &[u8]) -> bool {
    crate::entry::fields(extra).any(|(kind, body)| kind == 0x7875 && little(body.get(..1).unwrap_or_default()) == 1)
}
