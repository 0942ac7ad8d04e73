//! zstd compression and decompression.

use std::io::{Read, Write};

use structured_zstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use structured_zstd::decoding::{ContentChecksum, StreamingDecoder};
use structured_zstd::encoding::{CompressionLevel, StreamingEncoder};
use tidebox_rt::Errno;

use super::Zstd;
use crate::stream::{CHUNK, Sink, Source};

/// Error of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CodecError {
    Read(Errno),
    Write(Errno),
    /// Empty input.
    Empty,
    /// Too few bytes to detect the format.
    Short,
    Unknown,
    /// It ends in the middle.
    Ended,
    Sum,
    Damaged,
    /// Compressed with a dictionary.
    Dictionary,
    /// The window exceeds the memory limit.
    Window(u64),
}

/// Compresses all input. `size` is the input size, if known.
pub(crate) fn pack(zstd: &Zstd, source: &mut Source, sink: &mut Sink, size: Option<u64>) -> Result<(), CodecError> {
    frame(zstd, source, sink, size).map_err(|_| match (source.failure(), sink.failure()) {
        (Some(errno), _) => CodecError::Read(errno),
        (_, Some(errno)) => CodecError::Write(errno),
        _ => CodecError::Damaged,
    })?;
    sink.finish().map_err(CodecError::Write)
}

fn frame(zstd: &Zstd, source: &mut Source, sink: &mut Sink, size: Option<u64>) -> std::io::Result<()> {
    let mut encoder = StreamingEncoder::new(&mut *sink, CompressionLevel::Level(zstd.level));
    encoder.set_content_checksum(zstd.checks)?;
    // Empty input is reported first, for every source.
    let size = size.or(source.peek(1)?.is_empty().then_some(0));
    if let Some(size) = size {
        encoder.set_pledged_content_size(size)?;
    }
    loop {
        let bytes = source.peek(1)?;
        if bytes.is_empty() {
            return encoder.finish().map(drop);
        }
        encoder.write_all(bytes)?;
        let count = bytes.len();
        source.advance(count);
    }
}

/// Returns whether a frame starts with these bytes.
fn is_frame(head: &[u8]) -> bool {
    matches!(head, [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
}

/// Decompresses all input. `passes_on` copies unknown formats through.
pub(crate) fn unpack(source: &mut Source, sink: &mut Sink, passes_on: bool) -> Result<(), CodecError> {
    let done = parts(source, sink, passes_on);
    let flushed = sink.finish().map_err(CodecError::Write);
    done.and(flushed)
}

fn parts(source: &mut Source, sink: &mut Sink, passes_on: bool) -> Result<(), CodecError> {
    let mut begun = false;
    loop {
        let head = source.peek(4).map_err(CodecError::Read)?;
        match (is_frame(head), head.len()) {
            (false, 0) if begun => return Ok(()),
            (false, 0) if !passes_on => return Err(CodecError::Empty),
            (false, _) if passes_on => {
                return crate::stream::copy(source, sink).map_err(|errno| match sink.failure() {
                    Some(errno) => CodecError::Write(errno),
                    None => CodecError::Read(errno),
                });
            }
            (_, 0..4) => return Err(CodecError::Short),
            (false, _) => return Err(CodecError::Unknown),
            (true, _) => frames(source, sink)?,
        }
        begun = true;
    }
}

fn frames(source: &mut Source, sink: &mut Sink) -> Result<(), CodecError> {
    let mut room = vec![0; CHUNK];
    let mut decoder = StreamingDecoder::new(&mut *source);
    decoder.decoder_mut().set_content_checksum(ContentChecksum::Verify);
    // The last output is written only after the next step succeeds: of a damaged frame zstd writes no more than that.
    let mut last = Vec::new();
    loop {
        let read = decoder.read(&mut room);
        let broken = read.as_ref().err().map(why);
        if !matches!(broken, Some(CodecError::Sum | CodecError::Damaged)) {
            sink.put(&last).map_err(CodecError::Write)?;
        }
        match (read, broken) {
            (Ok(0), _) => return Ok(()),
            (Ok(made), _) => {
                last.clear();
                last.extend_from_slice(room.get(..made).unwrap_or_default());
            }
            (Err(_), broken) => {
                drop(decoder);
                let broken = broken.unwrap_or(CodecError::Damaged);
                return Err(source.failure().map_or(broken, CodecError::Read));
            }
        }
    }
}

fn why(error: &std::io::Error) -> CodecError {
    if error.kind() == std::io::ErrorKind::UnexpectedEof {
        return CodecError::Ended;
    }
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<FrameDecoderError>());
    match inner {
        Some(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::MagicNumberReadError(_))) => {
            CodecError::Short
        }
        _ if breaks_off(error) => CodecError::Ended,
        Some(FrameDecoderError::ChecksumMismatch { .. }) => CodecError::Sum,
        Some(FrameDecoderError::DictNotProvided { .. }) => CodecError::Dictionary,
        Some(FrameDecoderError::WindowSizeTooBig { requested, .. }) => CodecError::Window(*requested),
        Some(FrameDecoderError::FailedToReadChecksum(_) | FrameDecoderError::FailedToSkipFrame) => CodecError::Ended,
        Some(FrameDecoderError::ReadFrameHeaderError(error)) => match error {
            ReadFrameHeaderError::BadMagicNumber(_) => CodecError::Unknown,
            _ => CodecError::Ended,
        },
        _ => CodecError::Damaged,
    }
}

/// Returns whether an error is caused by truncated input.
fn breaks_off(error: &std::io::Error) -> bool {
    let mut next: Option<&(dyn std::error::Error + 'static)> =
        error.get_ref().map(|inner| inner as &(dyn std::error::Error + 'static));
    while let Some(error) = next {
        let missing = |error: &std::io::Error| error.kind() == std::io::ErrorKind::UnexpectedEof;
        if error.downcast_ref().is_some_and(missing) {
            return true;
        }
        next = error.source();
    }
    false
}
