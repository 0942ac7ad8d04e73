//! Output of programs, buffered for the caller.

use crate::execute::{OutputChunk, OutputStream};

/// Adjacent writes are merged up to this size, so that a program that prints byte by byte does not cost an allocation each and a
/// streaming caller still gets chunks of moderate size.
const CHUNK_BYTES: usize = 64 * 1024;

/// Bytes of both streams in arrival order, and the lengths of the runs that belong to one stream. Alternating single-byte writes
/// cost eight bytes more for each run, and no allocation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputBuffer {
    bytes: Vec<u8>,
    runs: Vec<(OutputStream, u32)>,
}

impl OutputBuffer {
    /// Appends output.
    pub fn push(&mut self, stream: OutputStream, mut bytes: &[u8]) {
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

    /// Appends output and keeps at least its last `limit` bytes. Older bytes are dropped in large steps, so the buffer has
    /// up to twice as many bytes until [`keep_tail`](Self::keep_tail).
    pub fn push_tail(&mut self, stream: OutputStream, bytes: &[u8], limit: u64) {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let bytes = bytes.get(bytes.len().saturating_sub(limit)..).unwrap_or(bytes);
        if bytes.is_empty() {
            return;
        }
        self.push(stream, bytes);
        if self.bytes.len() / 2 >= limit.max(CHUNK_BYTES) {
            self.keep_tail(limit as u64);
        }
    }

    /// Drops all but the last `limit` bytes.
    pub fn keep_tail(&mut self, limit: u64) {
        let surplus = self.bytes.len().saturating_sub(usize::try_from(limit).unwrap_or(usize::MAX));
        if surplus == 0 {
            return;
        }
        self.bytes.drain(..surplus);
        let mut dropped = 0;
        let mut left = surplus;
        for (_, length) in &mut self.runs {
            let part = left.min(*length as usize);
            *length -= part as u32;
            left -= part;
            if *length > 0 {
                break;
            }
            dropped += 1;
        }
        self.runs.drain(..dropped);
    }

    /// Returns the number of bytes.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns whether the buffer has no bytes.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the runs in order; none is empty.
    pub fn runs(&self) -> impl Iterator<Item = (OutputStream, &[u8])> {
        let mut rest = self.bytes.as_slice();
        self.runs.iter().filter_map(move |(stream, length)| {
            let (run, remainder) = rest.split_at_checked(*length as usize)?;
            rest = remainder;
            Some((*stream, run))
        })
    }

    /// Converts each run to a chunk.
    pub fn into_chunks(self) -> Vec<OutputChunk> {
        self.runs().map(|(stream, run)| OutputChunk { stream, bytes: run.to_vec() }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjacent_writes_are_merged_into_chunks() {
        let mut printed = OutputBuffer::default();
        for _ in 0..3 {
            printed.push(OutputStream::Stdout, b"a");
        }
        printed.push(OutputStream::Stderr, b"b");
        printed.push(OutputStream::Stdout, &[b'c'; 3 * CHUNK_BYTES + 1]);
        printed.push(OutputStream::Stdout, b"");
        let lengths: Vec<_> = printed.runs().map(|(stream, run)| (stream, run.len())).collect();
        let full_chunk = (OutputStream::Stdout, CHUNK_BYTES);
        assert_eq!(
            lengths,
            [
                (OutputStream::Stdout, 3),
                (OutputStream::Stderr, 1),
                full_chunk,
                full_chunk,
                full_chunk,
                (OutputStream::Stdout, 1)
            ]
        );
        assert_eq!(printed.into_chunks().iter().map(|chunk| chunk.bytes.len()).sum::<usize>(), 4 + 3 * CHUNK_BYTES + 1);
    }

    #[test]
    fn the_tail_has_the_last_bytes_of_both_streams() {
        let mut printed = OutputBuffer::default();
        for digit in 0..10u8 {
            printed.push_tail(OutputStream::Stdout, &[b'0' + digit; 50_000], 100_000);
            printed.push_tail(OutputStream::Stderr, b"e", 100_000);
            assert!(printed.len() <= 300_000, "{}", printed.len());
        }
        printed.keep_tail(50_003);
        let runs: Vec<_> = printed.runs().map(|(stream, run)| (stream, run[0], run.len())).collect();
        let expected = [
            (OutputStream::Stdout, b'8', 1),
            (OutputStream::Stderr, b'e', 1),
            (OutputStream::Stdout, b'9', 50_000),
            (OutputStream::Stderr, b'e', 1),
        ];
        assert_eq!(runs, expected);
        printed.push_tail(OutputStream::Stdout, b"abc", 0);
        printed.keep_tail(0);
        assert!(printed.is_empty());
    }

    #[test]
    fn alternating_single_bytes_cost_eight_bytes_per_run() {
        let mut printed = OutputBuffer::default();
        for _ in 0..1000 {
            printed.push(OutputStream::Stdout, b"a");
            printed.push(OutputStream::Stderr, b"b");
        }
        assert_eq!((printed.bytes.len(), printed.runs.len()), (2000, 2000));
        assert!(size_of::<(OutputStream, u32)>() <= 8);
    }
}
