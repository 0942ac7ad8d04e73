//! Streams of zlib and Brotli. Running streams have numbers, which JavaScript keeps and closes.

use std::cell::RefCell;

use flate2::{Compress, Compression, Crc, Decompress, FlushCompress, FlushDecompress, Status};
use rquickjs::{Ctx, Object, Result};

use crate::brotli_streams::{Packer, Progress, Unpacker};
use crate::values::{Region, define};

enum Stream {
    Pack(Compress),
    Unpack(Decompress),
    PackBrotli(Packer),
    UnpackBrotli(Unpacker),
}

thread_local! {
    static STREAMS: RefCell<Vec<Option<Stream>>> = const { RefCell::new(Vec::new()) };
}

/// Results of zlib.
mod status {
    pub(super) const OK: i32 = 0;
    pub(super) const END: i32 = 1;
    pub(super) const DAMAGED: i32 = -3;
    pub(super) const NO_PROGRESS: i32 = -5;
}

pub(crate) fn define<'js>(ctx: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    define!(ctx, native,
        "zlibNew" => |packs: bool, level: i32, header: bool| keep(stream(packs, level, header)),
        "brotliNew" => |packs: bool, parameters: Vec<f64>| keep(brotli(packs, &parameters)),
        "brotliError" => |id: usize| STREAMS.with_borrow(|all| match all.get(id) {
            Some(Some(Stream::UnpackBrotli(stream))) => stream.error(),
            _ => String::new(),
        }),
        "zlibClose" => |id: usize| STREAMS.with_borrow_mut(|all| all.get_mut(id).map(|slot| *slot = None)).is_some(),
        "zlibRun" => run,
        "crc32" => |data: Region<'js>, start: u32| {
            let mut crc = Crc::new();
            if start == 0 {
                crc.update(data.bytes());
                return f64::from(crc.sum());
            }
            let mut whole = continued(start);
            whole.update(data.bytes());
            f64::from(whole.sum())
        },
    );
    Ok(())
}

/// A checksum that continues from another value.
fn continued(start: u32) -> Continued {
    Continued(!start)
}

struct Continued(u32);

impl Continued {
    fn update(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 ^= u32::from(*byte);
            for _ in 0..8 {
                self.0 = self.0 >> 1 ^ (0xedb8_8320 & (self.0 & 1).wrapping_neg());
            }
        }
    }

    fn sum(&self) -> u32 {
        !self.0
    }
}

fn stream(packs: bool, level: i32, header: bool) -> Stream {
    let level = u32::try_from(level).map_or(Compression::default(), Compression::new);
    if packs { Stream::Pack(Compress::new(level, header)) } else { Stream::Unpack(Decompress::new(header)) }
}

/// Creates a stream of Brotli. Parameters are at their numbers; `u32::MAX` marks one that is not set.
fn brotli(packs: bool, parameters: &[f64]) -> Stream {
    if !packs {
        return Stream::UnpackBrotli(Unpacker::new());
    }
    let values = parameters.iter().map(|value| *value as u32).enumerate();
    let given: Vec<(usize, u32)> = values.filter(|(_, value)| *value != u32::MAX).collect();
    Stream::PackBrotli(Packer::new(&given))
}

/// Keeps a running stream. Returns its number.
fn keep(stream: Stream) -> usize {
    STREAMS.with_borrow_mut(|all| {
        let free = all.iter().position(Option::is_none).unwrap_or(all.len());
        match all.get_mut(free) {
            Some(slot) => *slot = Some(stream),
            None => all.push(Some(stream)),
        }
        free
    })
}

/// Runs a stream once. Returns the result of zlib, the bytes read and the bytes written.
fn run(id: usize, flush: u32, from: Region<'_>, mut to: Region<'_>) -> Vec<i32> {
    STREAMS.with_borrow_mut(|all| {
        let Some(stream) = all.get_mut(id).and_then(Option::as_mut) else { return vec![status::DAMAGED, 0, 0] };
        let (result, read, written) = match stream {
            Stream::Pack(stream) => {
                let (read, written) = (stream.total_in(), stream.total_out());
                let result = stream.compress(from.bytes(), to.bytes_mut(), pack_flush(flush));
                (result.ok(), stream.total_in() - read, stream.total_out() - written)
            }
            Stream::Unpack(stream) => {
                let (read, written) = (stream.total_in(), stream.total_out());
                let result = stream.decompress(from.bytes(), to.bytes_mut(), FlushDecompress::Sync);
                (result.ok(), stream.total_in() - read, stream.total_out() - written)
            }
            Stream::PackBrotli(stream) => of_brotli(stream.run(flush, from.bytes(), to.bytes_mut())),
            Stream::UnpackBrotli(stream) => of_brotli(stream.run(from.bytes(), to.bytes_mut())),
        };
        let result = match result {
            Some(Status::Ok) => status::OK,
            Some(Status::StreamEnd) => status::END,
            Some(Status::BufError) => status::NO_PROGRESS,
            None => status::DAMAGED,
        };
        let number = |count: u64| i32::try_from(count).unwrap_or(i32::MAX);
        vec![result, number(read), number(written)]
    })
}

fn of_brotli((progress, read, written): (Option<Progress>, usize, usize)) -> (Option<Status>, u64, u64) {
    let status = progress.map(|progress| if progress == Progress::Ended { Status::StreamEnd } else { Status::Ok });
    (status, read as u64, written as u64)
}

fn pack_flush(flush: u32) -> FlushCompress {
    match flush {
        0 => FlushCompress::None,
        1 => FlushCompress::Partial,
        2 => FlushCompress::Sync,
        3 => FlushCompress::Full,
        _ => FlushCompress::Finish,
    }
}
