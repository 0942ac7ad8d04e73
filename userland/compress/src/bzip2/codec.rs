//! Compressed streams, block by block.

use std::io::Write;

use crabz2::{BlockDecoder, Crabz2Writer, Error, Level, Step};
use tidebox_rt::Errno;

use crate::stream::{CHUNK, Sink, Source};

/// bzip2 writes in pieces of this size, of which the one that an error falls into is lost.
const PIECE: usize = 5000;

/// Why a file cannot be unpacked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Broken {
    Read(Errno),
    Write(Errno),
    /// The first bytes are not those of bzip2.
    NotBzip2,
    Ended,
    /// A sum or a table is wrong.
    Damaged,
    /// Whole streams came before, and then something else.
    Garbage,
}

/// Compresses everything.
pub(crate) fn pack(source: &mut Source, sink: &mut Sink, level: u8) -> Result<(), Broken> {
    let level = Level::new(level).unwrap_or(Level::DEFAULT);
    let failed = |_| Broken::Write(Errno::IO);
    let mut writer = Crabz2Writer::new(&mut *sink, level);
    let packed = loop {
        let bytes = source.peek(1).map_err(Broken::Read)?;
        if bytes.is_empty() {
            break writer.finish().map(drop);
        }
        if let Err(error) = writer.write_all(bytes) {
            break Err(error);
        }
        let count = bytes.len();
        source.advance(count);
    };
    packed.map_err(failed).and_then(|()| sink.finish().map_err(Broken::Write)).map_err(|broken| match sink.failure() {
        Some(errno) => Broken::Write(errno),
        None => broken,
    })
}

/// Unpacks all streams that follow each other.
pub(crate) fn unpack(source: &mut Source, sink: &mut Sink) -> Result<(), Broken> {
    let done = streams(source, sink);
    let flushed = sink.finish().map_err(Broken::Write);
    done.and(flushed)
}

fn streams(source: &mut Source, sink: &mut Sink) -> Result<(), Broken> {
    match begins(source.peek(4).map_err(Broken::Read)?) {
        Some(true) => {}
        Some(false) => return Err(Broken::NotBzip2),
        None => return Err(Broken::Ended),
    }
    let mut decoder = BlockDecoder::new();
    let mut block = Vec::new();
    let mut wanted = CHUNK;
    let mut unpacked = Vec::new();
    loop {
        let held = source.peek(wanted).map_err(Broken::Read)?;
        let ended = held.len() < wanted;
        match decoder.next_block(held, &mut block) {
            Ok(Step::Eof) if ended => return sink.put(&unpacked).map_err(Broken::Write),
            Ok(Step::Eof) => {}
            Ok(Step::Block) => {
                wanted = CHUNK;
                unpacked.append(&mut block);
                let whole = unpacked.len() - unpacked.len() % PIECE;
                sink.put(unpacked.get(..whole).unwrap_or_default()).map_err(Broken::Write)?;
                unpacked.drain(..whole);
            }
            // A block that is not there as a whole is begun anew when twice as much is at hand.
            Err(Error::Truncated) if !ended => wanted = held.len().saturating_mul(2),
            Err(error) => {
                let held = held.to_vec();
                let behind = behind_stream(&mut decoder, &held).map(begins);
                if behind.is_some() {
                    sink.put(&unpacked).map_err(Broken::Write)?;
                }
                return Err(match behind {
                    Some(Some(false)) => Broken::Garbage,
                    Some(_) => Broken::Ended,
                    None if error == Error::Truncated => Broken::Ended,
                    None => Broken::Damaged,
                });
            }
        }
        let consumed = decoder.consumed();
        source.advance(consumed);
        decoder.rebase(consumed);
    }
}

/// What follows the end of a stream, when the decoder stands at one.
///
/// It does not say so, but tells by how it refuses: behind a stream four wrong bytes are a wrong beginning, inside of one
/// they are too few. The last bits of a stream may lie in the byte that it stands in.
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

/// Whether bytes begin a stream; none when there are too few to say.
fn begins(bytes: &[u8]) -> Option<bool> {
    for (at, wanted) in [b"B".as_slice(), b"Z", b"h", b"123456789"].iter().enumerate() {
        if !wanted.contains(bytes.get(at)?) {
            return Some(false);
        }
    }
    Some(true)
}
