//! Archives that are read: the directory at their end, and the bytes of files.

use flate2::{Crc, Decompress, FlushDecompress, Status};
use tidebox_gnu::stream::read_at;
use tidebox_rt::{Errno, Fd, Open};

use crate::entry::{DEFLATED, End, Entry, LOCAL_SIZE, STORED, little, local_length};

/// Bytes moved at once.
pub(crate) const CHUNK: usize = 64 * 1024;

/// A directory is held in memory up to this size: some hundred thousand entries.
const LARGEST: u64 = 64 << 20;

/// An open archive.
#[derive(Debug)]
pub(crate) struct Archive {
    pub(crate) fd: Fd,
    pub(crate) size: u64,
    pub(crate) end: End,
    pub(crate) entries: Vec<Entry>,
    /// Bytes before the archive begins, as a program that unpacks itself has.
    pub(crate) extra: u64,
    /// The directory is not what its end says.
    pub(crate) damaged: bool,
}

/// Why a file is no archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoArchive {
    System(Errno),
    /// It has no end record.
    NoEnd,
    /// It is empty.
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
        // A comment has at most 65,535 bytes, and larger archives say more before the end record.
        let tail = size.min(66_000);
        let bytes = read_at(fd, size - tail, usize::try_from(tail).unwrap_or(0)).map_err(NoArchive::System)?;
        let end = End::find(&bytes, size - tail).ok_or(NoArchive::NoEnd)?;
        if end.size > LARGEST {
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

    /// Where the bytes of a file begin; none when its header is not there.
    pub(crate) fn data(&self, entry: &Entry) -> Result<Option<u64>, Errno> {
        let at = entry.offset.saturating_add(self.extra);
        let head = read_at(self.fd, at, LOCAL_SIZE)?;
        Ok(local_length(&head).map(|length| at + length))
    }

    /// Whether entries share bytes, which no honest archive has them do.
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

/// Why the bytes of a file cannot be had.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Broken {
    Read(Errno),
    Write(Errno),
    /// They are no deflated data.
    Data,
    /// The archive ends before they do.
    Ended,
    Sum {
        found: u32,
    },
}

/// Unpacks a file into a sink, and says its sum where that is wrong.
pub(crate) fn unpack(
    archive: &Archive,
    entry: &Entry,
    data: u64,
    sink: &mut dyn FnMut(&[u8]) -> Result<(), Errno>,
) -> Result<(), Broken> {
    tidebox_rt::seek_to(archive.fd, data).map_err(Broken::Read)?;
    let mut sum = Crc::new();
    let mut put = |bytes: &[u8]| {
        sum.update(bytes);
        sink(bytes).map_err(Broken::Write)
    };
    match entry.method {
        STORED => stored(archive.fd, entry.packed, &mut put)?,
        DEFLATED => deflated(archive.fd, entry.packed, &mut put)?,
        _ => return Err(Broken::Data),
    }
    let found = sum.sum();
    if found == entry.sum { Ok(()) } else { Err(Broken::Sum { found }) }
}

fn read_some(fd: Fd, buffer: &mut [u8], left: u64) -> Result<usize, Broken> {
    let room = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
    loop {
        match tidebox_rt::read(fd, buffer.get_mut(..room).unwrap_or_default()) {
            Ok(got) => return Ok(got),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(Broken::Read(errno)),
        }
    }
}

fn stored(fd: Fd, size: u64, put: &mut dyn FnMut(&[u8]) -> Result<(), Broken>) -> Result<(), Broken> {
    let mut buffer = vec![0; CHUNK];
    let mut left = size;
    while left > 0 {
        let got = read_some(fd, &mut buffer, left)?;
        if got == 0 {
            return Err(Broken::Ended);
        }
        put(buffer.get(..got).unwrap_or_default())?;
        left -= got as u64;
    }
    Ok(())
}

fn deflated(fd: Fd, size: u64, put: &mut dyn FnMut(&[u8]) -> Result<(), Broken>) -> Result<(), Broken> {
    let mut state = Decompress::new(false);
    let (mut input, mut room) = (vec![0; CHUNK], vec![0; CHUNK]);
    let (mut from, mut to, mut left) = (0, 0, size);
    loop {
        if from == to && left > 0 {
            to = read_some(fd, &mut input, left)?;
            from = 0;
            if to == 0 {
                return Err(Broken::Ended);
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
            Ok(_) if used == 0 && made == 0 && from == to && left == 0 => return Err(Broken::Data),
            Ok(_) => {}
            Err(_) => return Err(Broken::Data),
        }
    }
}

/// The owner of a file, as the newer of Info-ZIP's fields says it.
pub(crate) fn has_owner(extra: &[u8]) -> bool {
    crate::entry::fields(extra).any(|(kind, body)| kind == 0x7875 && little(body.get(..1).unwrap_or_default()) == 1)
}
