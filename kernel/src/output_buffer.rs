//! Output of programs, buffered for the caller.

use tidebox_core::{OutputChunk, OutputStream};

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
    pub(crate) fn push(&mut self, stream: OutputStream, mut bytes: &[u8]) {
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
