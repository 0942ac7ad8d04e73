//! Output of a command, up to a limit.

use std::fmt;

use tidebox_core::{ExecuteResponse, OutputChunk, OutputSink, OutputStream};

/// Collects output in order of arrival, up to a limit. Output beyond the limit is discarded while the command
/// continues, and the response is marked `truncated`.
pub struct OutputCollector<'s> {
    response: ExecuteResponse,
    room: usize,
    /// True if the response gets the output.
    is_kept: bool,
    sink: Option<OutputSink<'s>>,
}

impl fmt::Debug for OutputCollector<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Output").field("room", &self.room).finish_non_exhaustive()
    }
}

impl<'s> OutputCollector<'s> {
    /// Creates a collector that keeps at most `most` bytes of both streams together.
    pub fn new(most: u64, sink: Option<OutputSink<'s>>) -> Self {
        let room = usize::try_from(most).unwrap_or(usize::MAX);
        Self { response: ExecuteResponse::default(), room, is_kept: true, sink }
    }

    /// Creates a collector that passes output of any length on and keeps nothing.
    pub(crate) fn forwarding(sink: OutputSink<'s>) -> Self {
        Self { response: ExecuteResponse::default(), room: usize::MAX, is_kept: false, sink: Some(sink) }
    }

    /// Adds the next chunk of a stream.
    pub fn push(&mut self, stream: OutputStream, bytes: &[u8]) {
        let kept = bytes.get(..self.room).unwrap_or(bytes);
        self.response.truncated |= kept.len() < bytes.len();
        if kept.is_empty() {
            return;
        }
        let event = OutputChunk { stream, bytes: kept.to_vec() };
        if self.is_kept {
            self.room -= kept.len();
            self.response.push_chunk(&event);
        }
        if let Some(sink) = &mut self.sink {
            sink(event);
        }
    }

    /// Returns whether output is streamed to a sink.
    pub fn is_streaming(&self) -> bool {
        self.sink.is_some()
    }

    /// Returns whether the limit is reached.
    pub fn is_full(&self) -> bool {
        self.room == 0
    }

    /// Records that the provider dropped output.
    pub fn mark_truncated(&mut self) {
        self.response.truncated = true;
    }

    /// Returns the kept output.
    pub(crate) fn into_response(self) -> ExecuteResponse {
        self.response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_beyond_the_limit_is_truncated() {
        let mut seen = Vec::new();
        let mut sink = |event: OutputChunk| seen.extend(event.bytes);
        let mut output = OutputCollector::new(5, Some(&mut sink));
        output.push(OutputStream::Stdout, b"abc");
        output.push(OutputStream::Stderr, b"de");
        let whole = output.response.clone();
        assert!(!whole.truncated);
        output.push(OutputStream::Stdout, b"f");
        let cut = output.into_response();
        assert_eq!((cut.truncated, &*cut.output, &*cut.stderr), (true, b"abcde".as_slice(), b"de".as_slice()));
        assert_eq!(seen, b"abcde");
    }
}
