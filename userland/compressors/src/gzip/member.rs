//! The gzip format: members with a header, deflated data, checksum and length.

use flate2::{Compress, Compression, Crc, Decompress, FlushCompress, FlushDecompress, Status};
use tidebox_rt::Errno;

use crate::stream::{CHUNK, Sink, Source};

/// Header fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) name: Option<Vec<u8>>,
    /// Seconds since 1970; 0 means unknown.
    pub(crate) time: u32,
}

/// Error of a member.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CodecError {
    Read(Errno),
    Write(Errno),
    /// The input ends in the middle.
    Ended,
    /// Invalid deflate data.
    Format,
    /// Encrypted, or unknown flags.
    Encrypted,
    Flags(u8),
    Method(u8),
    HeaderSum {
        stored: u32,
        computed: u32,
    },
}

/// Data at a position where a member may start.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Start {
    Member(Header),
    /// Not a member; the first bytes are not consumed.
    Other,
}

const HAS_SUM: u8 = 2;
const HAS_EXTRA: u8 = 4;
const HAS_NAME: u8 = 8;
const HAS_COMMENT: u8 = 16;
const ENCRYPTED: u8 = 32;
const RESERVED: u8 = 0xc0;

/// Output chunk size of gzip; this much is written before damaged data is reported.
const WINDOW: usize = 32 * 1024;

fn must(source: &mut Source) -> Result<u8, CodecError> {
    source.byte().map_err(CodecError::Read)?.ok_or(CodecError::Ended)
}

fn number(source: &mut Source, bytes: usize) -> Result<u32, CodecError> {
    let mut value = 0;
    for at in 0..bytes {
        value |= u32::from(must(source)?) << (8 * at);
    }
    Ok(value)
}

/// Reader of header bytes, which computes the optional header checksum.
struct Head<'a> {
    source: &'a mut Source,
    sum: Crc,
}

impl Head<'_> {
    fn number(&mut self, bytes: usize) -> Result<u32, CodecError> {
        let mut value = 0;
        for at in 0..bytes {
            value |= u32::from(self.byte()?) << (8 * at);
        }
        Ok(value)
    }

    fn byte(&mut self) -> Result<u8, CodecError> {
        let byte = must(self.source)?;
        self.sum.update(&[byte]);
        Ok(byte)
    }

    fn text(&mut self) -> Result<Vec<u8>, CodecError> {
        let mut text = Vec::new();
        loop {
            match self.byte()? {
                0 => return Ok(text),
                // Longer names are skipped.
                byte if text.len() < 4096 => text.push(byte),
                _ => {}
            }
        }
    }
}

/// Reads a header.
pub(crate) fn header(source: &mut Source) -> Result<Start, CodecError> {
    let magic = source.peek(2).map_err(CodecError::Read)?;
    if !matches!(magic, [0x1f, 0x8b | 0x9e, ..]) {
        return Ok(Start::Other);
    }
    let mut sum = Crc::new();
    sum.update(magic.get(..2).unwrap_or_default());
    source.advance(2);
    let mut head = Head { source, sum };
    match head.byte()? {
        8 => {}
        method => return Err(CodecError::Method(method)),
    }
    let flags = head.byte()?;
    if flags & ENCRYPTED != 0 {
        return Err(CodecError::Encrypted);
    }
    if flags & RESERVED != 0 {
        return Err(CodecError::Flags(flags));
    }
    let time = head.number(4)?;
    // Compression level and operating system.
    head.number(2)?;
    if flags & HAS_EXTRA != 0 {
        let length = head.number(2)?;
        for _ in 0..length {
            head.byte()?;
        }
    }
    let name = if flags & HAS_NAME != 0 { Some(head.text()?) } else { None };
    if flags & HAS_COMMENT != 0 {
        head.text()?;
    }
    if flags & HAS_SUM != 0 {
        let computed = head.sum.sum() & 0xffff;
        let stored = number(head.source, 2)?;
        if stored != computed {
            return Err(CodecError::HeaderSum { stored, computed });
        }
    }
    Ok(Start::Member(Header { name, time }))
}

/// The trailer of a member.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Checked {
    pub(crate) sum: u32,
    pub(crate) sum_fits: bool,
    pub(crate) length_fits: bool,
    /// Length from the trailer.
    pub(crate) length: u32,
}

/// Decompresses the data after a header.
pub(crate) fn unpack(source: &mut Source, sink: &mut Sink) -> Result<Checked, CodecError> {
    let (sum, length) = inflate(source, sink)?;
    let told_sum = number(source, 4)?;
    let told_length = number(source, 4)?;
    Ok(Checked {
        sum: told_sum,
        sum_fits: sum == told_sum,
        length_fits: length as u32 == told_length,
        length: told_length,
    })
}

/// Decompresses deflate data; returns its checksum and length.
fn inflate(source: &mut Source, sink: &mut Sink) -> Result<(u32, u64), CodecError> {
    let mut state = Decompress::new(false);
    let mut sum = Crc::new();
    let mut window = vec![0; WINDOW];
    let mut filled = 0;
    loop {
        let input = source.peek(1).map_err(CodecError::Read)?;
        let ended = input.is_empty();
        let (before_in, before_out) = (state.total_in(), state.total_out());
        let room = window.get_mut(filled..).unwrap_or_default();
        let status = state.decompress(input, room, FlushDecompress::None);
        let used = usize::try_from(state.total_in() - before_in).unwrap_or(0);
        source.advance(used);
        let made = usize::try_from(state.total_out() - before_out).unwrap_or(0);
        filled += made;
        let status = status.map_err(|_| CodecError::Format)?;
        let done = status == Status::StreamEnd;
        let stuck = ended && made == 0 && !done;
        if filled == WINDOW || done || stuck {
            let bytes = window.get(..filled).unwrap_or_default();
            sum.update(bytes);
            sink.put(bytes).map_err(CodecError::Write)?;
            filled = 0;
        }
        if done {
            return Ok((sum.sum(), state.total_out()));
        }
        if stuck {
            return Err(CodecError::Ended);
        }
    }
}

/// Writes a member; returns the length of header and trailer, which do not count as compressed data.
pub(crate) fn pack(source: &mut Source, sink: &mut Sink, level: u32, header: &Header) -> Result<u64, CodecError> {
    let flags = if header.name.is_some() { HAS_NAME } else { 0 };
    let how = match level {
        1 => 4,
        9 => 2,
        _ => 0,
    };
    let mut head = vec![0x1f, 0x8b, 8, flags];
    head.extend_from_slice(&header.time.to_le_bytes());
    // Operating system: Unix.
    head.extend_from_slice(&[how, 3]);
    if let Some(name) = &header.name {
        head.extend_from_slice(name);
        head.push(0);
    }
    sink.put(&head).map_err(CodecError::Write)?;
    let (sum, length) = deflate(source, sink, level)?;
    sink.put(&sum.to_le_bytes()).map_err(CodecError::Write)?;
    sink.put(&(length as u32).to_le_bytes()).map_err(CodecError::Write)?;
    Ok(head.len() as u64 + 8)
}

/// Returns the compression level. For small input the highest level costs no noticeable time, and its output has the same length
/// as that of gzip.
pub(crate) fn thorough(level: u32, small: bool) -> u32 {
    if small && level >= 6 { 9 } else { level }
}

fn deflate(source: &mut Source, sink: &mut Sink, level: u32) -> Result<(u32, u64), CodecError> {
    let small = source.peek(CHUNK).map_err(CodecError::Read)?.len() < CHUNK;
    let mut state = Compress::new(Compression::new(thorough(level, small)), false);
    let mut sum = Crc::new();
    let mut room = vec![0; CHUNK];
    loop {
        let input = source.peek(1).map_err(CodecError::Read)?;
        let flush = if input.is_empty() { FlushCompress::Finish } else { FlushCompress::None };
        let (before_in, before_out) = (state.total_in(), state.total_out());
        let status = state.compress(input, &mut room, flush).map_err(|_| CodecError::Format)?;
        let used = usize::try_from(state.total_in() - before_in).unwrap_or(0);
        sum.update(input.get(..used).unwrap_or_default());
        source.advance(used);
        let made = usize::try_from(state.total_out() - before_out).unwrap_or(0);
        sink.put(room.get(..made).unwrap_or_default()).map_err(CodecError::Write)?;
        if status == Status::StreamEnd {
            return Ok((sum.sum(), state.total_in()));
        }
    }
}
