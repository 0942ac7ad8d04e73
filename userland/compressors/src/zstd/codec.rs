//! zstd compression and decompression, and the other formats that zstd supports.

use std::io::{Read, Write};

use lzma_rust2::XzOptions;
use structured_zstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use structured_zstd::decoding::{ContentChecksum, StreamingDecoder};
use structured_zstd::encoding::{CompressionLevel, StreamingEncoder};
use tidebox_rt::Errno;

use super::{Format, Zstd};
use crate::gzip::member::{self, Header, Start};
use crate::stream::{CHUNK, Sink, Source};
use crate::xz::codec as xz;

/// Error of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Broken {
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
    /// A damaged file of another format.
    Other(&'static str),
}

/// Compresses all input. `size` is the input size, if known.
pub(crate) fn pack(zstd: &Zstd, source: &mut Source, sink: &mut Sink, size: Option<u64>) -> Result<(), Broken> {
    match zstd.format {
        Format::Gzip => {
            let level = zstd.level.clamp(1, 9).unsigned_abs();
            member::pack(source, sink, level, &Header::default()).map_err(|broken| gzip_broken(&broken))?;
        }
        Format::Xz | Format::Lzma => {
            let format = if zstd.format == Format::Xz { crate::xz::Format::Xz } else { crate::xz::Format::Lzma };
            let how = XzOptions::with_preset(zstd.level.clamp(0, 9).unsigned_abs());
            xz::pack(source, sink, format, &how).map_err(|broken| xz_broken(&broken))?;
        }
        Format::Zstd => {
            let packed = frame(zstd, source, sink, size);
            packed.map_err(|_| match (source.failure(), sink.failure()) {
                (Some(errno), _) => Broken::Read(errno),
                (_, Some(errno)) => Broken::Write(errno),
                _ => Broken::Damaged,
            })?;
        }
    }
    sink.finish().map_err(Broken::Write)
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

/// Detects the format from the first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Zstd,
    Gzip,
    Xz,
    Lz4,
}

fn kind(head: &[u8]) -> Option<Kind> {
    match head {
        [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Kind::Zstd),
        [0x1f, 0x8b, ..] => Some(Kind::Gzip),
        [0xfd, 0x37, ..] | [0x5d, 0, ..] => Some(Kind::Xz),
        [0x04, 0x22, 0x4d, 0x18, ..] => Some(Kind::Lz4),
        _ => None,
    }
}

/// Decompresses all input. `passes_on` copies unknown formats through.
pub(crate) fn unpack(source: &mut Source, sink: &mut Sink, passes_on: bool) -> Result<(), Broken> {
    let done = parts(source, sink, passes_on);
    let flushed = sink.finish().map_err(Broken::Write);
    done.and(flushed)
}

fn parts(source: &mut Source, sink: &mut Sink, passes_on: bool) -> Result<(), Broken> {
    let mut begun = false;
    loop {
        let head = source.peek(4).map_err(Broken::Read)?;
        match (kind(head), head.len()) {
            (None, 0) if begun => return Ok(()),
            (None, 0) if !passes_on => return Err(Broken::Empty),
            (None, _) if passes_on => {
                return crate::stream::copy(source, sink).map_err(|errno| match sink.failure() {
                    Some(errno) => Broken::Write(errno),
                    None => Broken::Read(errno),
                });
            }
            (_, 0..4) => return Err(Broken::Short),
            (None, _) => return Err(Broken::Unknown),
            (Some(Kind::Lz4), _) => {
                return Err(Broken::Other(
                    "lz4 file cannot be uncompressed (zstd compiled without HAVE_LZ4) -- ignored",
                ));
            }
            (Some(Kind::Zstd), _) => frames(source, sink)?,
            (Some(Kind::Gzip), _) => {
                if let Start::Member(_) = member::header(source).map_err(|broken| gzip_broken(&broken))? {
                    let checked = member::unpack(source, sink).map_err(|broken| gzip_broken(&broken))?;
                    if !checked.sum_fits || !checked.length_fits {
                        return Err(Broken::Other("inflate error -3"));
                    }
                }
            }
            (Some(Kind::Xz), _) => {
                xz::unpack(source, sink, crate::xz::Format::Auto, false, u32::MAX)
                    .map_err(|broken| xz_broken(&broken))?;
            }
        }
        begun = true;
    }
}

fn frames(source: &mut Source, sink: &mut Sink) -> Result<(), Broken> {
    let mut room = vec![0; CHUNK];
    let mut decoder = StreamingDecoder::new(&mut *source);
    decoder.decoder_mut().set_content_checksum(ContentChecksum::Verify);
    // The last output is written only after the next step succeeds: of a damaged frame zstd writes no more than that.
    let mut last = Vec::new();
    loop {
        let read = decoder.read(&mut room);
        let broken = read.as_ref().err().map(why);
        if !matches!(broken, Some(Broken::Sum | Broken::Damaged)) {
            sink.put(&last).map_err(Broken::Write)?;
        }
        match (read, broken) {
            (Ok(0), _) => return Ok(()),
            (Ok(made), _) => {
                last.clear();
                last.extend_from_slice(room.get(..made).unwrap_or_default());
            }
            (Err(_), broken) => {
                drop(decoder);
                let broken = broken.unwrap_or(Broken::Damaged);
                return Err(source.failure().map_or(broken, Broken::Read));
            }
        }
    }
}

fn why(error: &std::io::Error) -> Broken {
    if error.kind() == std::io::ErrorKind::UnexpectedEof {
        return Broken::Ended;
    }
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<FrameDecoderError>());
    match inner {
        Some(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::MagicNumberReadError(_))) => Broken::Short,
        _ if breaks_off(error) => Broken::Ended,
        Some(FrameDecoderError::ChecksumMismatch { .. }) => Broken::Sum,
        Some(FrameDecoderError::DictNotProvided { .. }) => Broken::Dictionary,
        Some(FrameDecoderError::WindowSizeTooBig { requested, .. }) => Broken::Window(*requested),
        Some(FrameDecoderError::FailedToReadChecksum(_) | FrameDecoderError::FailedToSkipFrame) => Broken::Ended,
        Some(FrameDecoderError::ReadFrameHeaderError(error)) => match error {
            ReadFrameHeaderError::BadMagicNumber(_) => Broken::Unknown,
            _ => Broken::Ended,
        },
        _ => Broken::Damaged,
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

fn gzip_broken(broken: &member::Broken) -> Broken {
    match broken {
        member::Broken::Read(errno) => Broken::Read(*errno),
        member::Broken::Write(errno) => Broken::Write(*errno),
        member::Broken::Ended => Broken::Other("premature gz end"),
        _ => Broken::Other("inflate error -3"),
    }
}

fn xz_broken(broken: &xz::Broken) -> Broken {
    match broken {
        xz::Broken::Read(errno) => Broken::Read(*errno),
        xz::Broken::Write(errno) => Broken::Write(*errno),
        xz::Broken::Ended => Broken::Other("premature lzma end"),
        _ => Broken::Other("lzma decoding error 9"),
    }
}
