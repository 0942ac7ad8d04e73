//! xz and lzma compression and decompression.

use std::io::{ErrorKind, Read, Write};

use lzma_rust2::{Action, LzmaReader, LzmaWriter, Status, XzOptions, XzStream, XzWriter};
use tidebox_rt::Errno;

use super::Format;
use super::options::available_kib;
use crate::stream::{CHUNK, Sink, Source};

/// Error of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CodecError {
    Read(Errno),
    Write(Errno),
    /// Unknown magic bytes.
    Unknown,
    Ended,
    Damaged,
    Options,
    Memory,
}

const MAGIC: &[u8] = b"\xfd7zXZ\0";

/// Compresses all input.
pub(crate) fn pack(source: &mut Source, sink: &mut Sink, format: Format, how: &XzOptions) -> Result<(), CodecError> {
    let packed = match format {
        Format::Lzma => LzmaWriter::new_use_header(&mut *sink, &how.lzma_options, None)
            .and_then(|mut writer| feed(source, &mut writer).and_then(|()| writer.finish().map(drop))),
        _ => XzWriter::new(&mut *sink, how.clone())
            .and_then(|mut writer| feed(source, &mut writer).and_then(|()| writer.finish().map(drop))),
    };
    packed.map_err(|_| match (source.failure(), sink.failure()) {
        (Some(errno), _) => CodecError::Read(errno),
        (_, Some(errno)) => CodecError::Write(errno),
        _ => CodecError::Options,
    })?;
    sink.finish().map_err(CodecError::Write)
}

fn feed(source: &mut Source, writer: &mut impl Write) -> std::io::Result<()> {
    loop {
        let bytes = source.peek(1)?;
        if bytes.is_empty() {
            return Ok(());
        }
        writer.write_all(bytes)?;
        let count = bytes.len();
        source.advance(count);
    }
}

/// Returns the format of the first bytes.
pub(crate) fn sniff(source: &mut Source) -> Result<Option<Format>, CodecError> {
    let head = source.peek(13).map_err(CodecError::Read)?;
    if head.starts_with(MAGIC) {
        return Ok(Some(Format::Xz));
    }
    Ok(is_lzma(head).then_some(Format::Lzma))
}

/// The lzma format has no magic, so only headers that its writers produce are accepted.
fn is_lzma(head: &[u8]) -> bool {
    let (Some(properties), Some(dictionary), Some(size)) = (head.first(), head.get(1..5), head.get(5..13)) else {
        return false;
    };
    let dictionary = dictionary.iter().rev().fold(0u32, |value, byte| value << 8 | u32::from(*byte));
    let size = size.iter().rev().fold(0u64, |value, byte| value << 8 | u64::from(*byte));
    let top = dictionary.checked_ilog2().map_or(0, |bits| 1u32 << bits);
    let usual = dictionary == u32::MAX || dictionary == top || dictionary == top | top >> 1;
    *properties < 225 && usual && (size == u64::MAX || size < 1 << 38)
}

/// Decompresses all input, and writes the data before an error.
pub(crate) fn unpack(source: &mut Source, sink: &mut Sink, format: Format) -> Result<(), CodecError> {
    let known = sniff(source)?;
    let known = match (format, known) {
        (Format::Auto, Some(known)) => known,
        (wanted, Some(known)) if wanted == known => known,
        _ => return Err(CodecError::Unknown),
    };
    let done = match known {
        Format::Lzma => unpack_lzma(source, sink),
        _ => unpack_xz(source, sink),
    };
    let flushed = sink.finish().map_err(CodecError::Write);
    done.and(flushed)
}

fn unpack_xz(source: &mut Source, sink: &mut Sink) -> Result<(), CodecError> {
    let mut stream = XzStream::new_mem_limit(true, available_kib());
    let mut room = vec![0; CHUNK];
    loop {
        let input = source.peek(1).map_err(CodecError::Read)?;
        let action = if input.is_empty() { Action::Finish } else { Action::Run };
        let before = stream.total_out();
        let step = stream.process(input, &mut room, action);
        let made = usize::try_from(stream.total_out() - before).unwrap_or(0);
        sink.put(room.get(..made).unwrap_or_default()).map_err(CodecError::Write)?;
        let step = step.map_err(|error| why(error.kind()))?;
        source.advance(step.bytes_consumed);
        if step.status == Status::StreamEnd {
            return Ok(());
        }
        if action == Action::Finish && step.bytes_produced == 0 {
            return Err(CodecError::Ended);
        }
    }
}

fn unpack_lzma(source: &mut Source, sink: &mut Sink) -> Result<(), CodecError> {
    let mut room = vec![0; CHUNK];
    let mut reader =
        LzmaReader::new_mem_limit(&mut *source, available_kib(), None).map_err(|error| why(error.kind()))?;
    loop {
        match reader.read(&mut room) {
            Ok(0) => return Ok(()),
            Ok(made) => sink.put(room.get(..made).unwrap_or_default()).map_err(CodecError::Write)?,
            Err(error) => {
                let kind = error.kind();
                drop(reader);
                return Err(source.failure().map_or(why(kind), CodecError::Read));
            }
        }
    }
}

fn why(kind: ErrorKind) -> CodecError {
    match kind {
        ErrorKind::UnexpectedEof => CodecError::Ended,
        ErrorKind::OutOfMemory => CodecError::Memory,
        ErrorKind::Unsupported => CodecError::Options,
        _ => CodecError::Damaged,
    }
}
