//! What programs print, on its way to the caller.

use crate::session::{Chunk, Stream};

/// Adjacent writes are merged up to this size, so that a program that prints byte by byte costs no allocation each
/// and a streaming caller still gets pieces it can pass on.
const CHUNK_BYTES: usize = 64 * 1024;

/// Bytes of both streams in order of arrival, and how many of them in a row belong to one. Who writes single bytes to both in turn costs
/// eight bytes more for each, and not a piece of memory of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    bytes: Vec<u8>,
    runs: Vec<(Stream, u32)>,
}

impl Printed {
    pub(crate) fn push(&mut self, stream: Stream, mut bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        if let Some((last, length)) = self.runs.last_mut()
            && *last == stream
            && (*length as usize) < CHUNK_BYTES
        {
            let more = bytes.len().min(CHUNK_BYTES);
            *length += more as u32;
            bytes = &bytes[more..];
        }
        self.runs.extend(bytes.chunks(CHUNK_BYTES).map(|run| (stream, run.len() as u32)));
    }

    /// The runs in order; none is empty.
    pub fn runs(&self) -> impl Iterator<Item = (Stream, &[u8])> {
        let mut rest = self.bytes.as_slice();
        self.runs.iter().filter_map(move |(stream, length)| {
            let (run, behind) = rest.split_at_checked(*length as usize)?;
            rest = behind;
            Some((*stream, run))
        })
    }

    /// Each run by itself.
    pub fn into_chunks(self) -> Vec<Chunk> {
        self.runs().map(|(stream, run)| Chunk { stream, bytes: run.to_vec() }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_one_stream_are_merged_and_cut_into_pieces_that_a_caller_can_pass_on() {
        let mut printed = Printed::default();
        for _ in 0..3 {
            printed.push(Stream::Stdout, b"a");
        }
        printed.push(Stream::Stderr, b"b");
        printed.push(Stream::Stdout, &[b'c'; 3 * CHUNK_BYTES + 1]);
        printed.push(Stream::Stdout, b"");
        let lengths: Vec<_> = printed.runs().map(|(stream, run)| (stream, run.len())).collect();
        let whole = (Stream::Stdout, CHUNK_BYTES);
        assert_eq!(lengths, [(Stream::Stdout, 3), (Stream::Stderr, 1), whole, whole, whole, (Stream::Stdout, 1)]);
        assert_eq!(printed.into_chunks().iter().map(|chunk| chunk.bytes.len()).sum::<usize>(), 4 + 3 * CHUNK_BYTES + 1);
    }

    #[test]
    fn single_bytes_to_both_streams_in_turn_take_less_than_ten_times_their_room() {
        let mut printed = Printed::default();
        for _ in 0..1000 {
            printed.push(Stream::Stdout, b"a");
            printed.push(Stream::Stderr, b"b");
        }
        assert_eq!((printed.bytes.len(), printed.runs.len()), (2000, 2000));
        assert!(size_of::<(Stream, u32)>() <= 8);
    }
}
