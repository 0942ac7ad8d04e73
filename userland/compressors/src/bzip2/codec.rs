//! bzip2 compression and decompression, block by block.

use std::io::Write;

use crabz2::{BlockDecoder, Crabz2Writer, Error, Level, Step};
use tidebox_rt::Errno;

use crate::stream::{CHUNK, Sink, Source};

/// Output chunk size of bzip2; the chunk with an error is lost.
const PIECE: usize = 5000;

/// Decompression error.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CodecError {
    Read(Errno),
    Write(Errno),
    /// Invalid magic bytes.
    NotBzip2,
    Ended,
    /// An invalid checksum or table.
    Damaged,
    /// Trailing garbage after complete streams.
    Garbage,
}

/// Compresses all input.
pub(crate) fn pack(source: &mut Source, sink: &mut Sink, level: u8) -> Result<(), CodecError> {
    let level = Level::new(level).unwrap_or(Level::DEFAULT);
    let failed = |_| CodecError::Write(Errno::IO);
    let mut writer = Crabz2Writer::new(&mut *sink, level);
    let packed = loop {
        let bytes = source.peek(1).map_err(CodecError::Read)?;
        if bytes.is_empty() {
            break writer.finish().map(drop);
        }
        if let Err(error) = writer.write_all(bytes) {
            break Err(error);
        }
        let count = bytes.len();
        source.advance(count);
    };
    packed.map_err(failed).and_then(|()| sink.finish().map_err(CodecError::Write)).map_err(|broken| {
        match sink.failure() {
            Some(errno) => CodecError::Write(errno),
            None => broken,
        }
    })
}

/// Decompresses all concatenated streams.
pub(crate) fn unpack(source: &mut Source, sink: &mut Sink) -> Result<(), CodecError> {
    let done = streams(source, sink);
    let flushed = sink.finish().map_err(CodecError::Write);
    done.and(flushed)
}

fn streams(source: &mut Source, sink: &mut Sink) -> Result<(), CodecError> {
    match begins(source.peek(4).map_err(CodecError::Read)?) {
        Some(true) => {}
        Some(false) => return Err(CodecError::NotBzip2),
        None => return Err(CodecError::Ended),
    }
    let mut decoder = BlockDecoder::new();
    let mut block = Vec::new();
    let mut wanted = CHUNK;
    let mut unpacked = Vec::new();
    loop {
        let held = source.peek(wanted).map_err(CodecError::Read)?;
        let ended = held.len() < wanted;
        match decoder.next_block(held, &mut block) {
            Ok(Step::Eof) if ended => return sink.put(&unpacked).map_err(CodecError::Write),
            Ok(Step::Eof) => {}
            Ok(Step::Block) => {
                wanted = CHUNK;
                unpacked.append(&mut block);
                let whole = unpacked.len() - unpacked.len() % PIECE;
                sink.put(unpacked.get(..whole).unwrap_or_default()).map_err(CodecError::Write)?;
                unpacked.drain(..whole);
            }
            // A block that is incomplete is decoded again when twice as much input is available.
            Err(Error::Truncated) if !ended => wanted = held.len().saturating_mul(2),
            Err(error) => {
                let held = held.to_vec();
                let behind = behind_stream(&mut decoder, &held).map(begins);
                if behind.is_some() {
                    sink.put(&unpacked).map_err(CodecError::Write)?;
                }
                return Err(match behind {
                    Some(Some(false)) => CodecError::Garbage,
                    Some(_) => CodecError::Ended,
                    None if error == Error::Truncated => CodecError::Ended,
                    None => CodecError::Damaged,
                });
            }
        }
        let consumed = decoder.consumed();
        source.advance(consumed);
        decoder.rebase(consumed);
    }
}

/// Returns the bytes after the end of a stream, if the decoder is at one.
///
/// The decoder does not report the end directly, but its error shows it: after a stream four invalid bytes are a bad magic,
/// within one they are too few. The last bits of a stream may be in the byte at its position.
fn behind_stream<'a>(decoder: &mut BlockDecoder, held: &'a [u8]) -> Option<&'a [u8]> {
    let at = decoder.consumed();
    let here = held.get(..at + 1).unwrap_or(held);
    let wrong = [here, b"XXXX"].concat();
    if decoder.next_block(&wrong, &mut Vec::new()) != Err(Error::InvalidMagic) {
        return None;
    }
    let within = decoder.next_block(here, &mut Vec::new()) == Ok(Step::Eof);
    held.get(if within { here.len() } else { at }..)
}

/// Returns whether bytes start a stream; `None` if there are too few.
fn begins(bytes: &[u8]) -> Option<bool> {
    for (at, wanted) in [b"B".as_slice(), b"Z", b"h", b"123456789"].iter().enumerate() {
        if !wanted.contains(bytes.get(at)?) {
            return Some(false);
        }
    }
    Some(true)
}
