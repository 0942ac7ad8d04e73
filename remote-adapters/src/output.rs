//! What a command writes, as far as it is kept.

use std::fmt;

use tidebox_core::{ExecuteResponse, OutputEvent, OutputSink, OutputStream};

/// Collects output in order of arrival, up to a limit. What is beyond it is dropped while the command goes on, and the response
/// says `truncated`.
pub struct Output<'s> {
    response: ExecuteResponse,
    room: usize,
    sink: Option<OutputSink<'s>>,
}

impl fmt::Debug for Output<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Output").field("room", &self.room).finish_non_exhaustive()
    }
}

impl<'s> Output<'s> {
    /// Keeps at most `most` bytes of both streams together.
    pub fn new(most: u64, sink: Option<OutputSink<'s>>) -> Self {
        Self { response: ExecuteResponse::default(), room: usize::try_from(most).unwrap_or(usize::MAX), sink }
    }

    /// Takes the next piece of a stream.
    pub fn push(&mut self, stream: OutputStream, bytes: &[u8]) {
        let kept = bytes.get(..self.room).unwrap_or(bytes);
        self.response.truncated |= kept.len() < bytes.len();
        if kept.is_empty() {
            return;
        }
        self.room -= kept.len();
        let event = OutputEvent { stream, bytes: kept.to_vec() };
        self.response.push(&event);
        if let Some(sink) = &mut self.sink {
            sink(event);
        }
    }

    /// Whether somebody watches the output as it arrives.
    pub fn is_watched(&self) -> bool {
        self.sink.is_some()
    }

    /// Whether nothing more is kept.
    pub fn is_full(&self) -> bool {
        self.room == 0
    }

    /// Says that the provider dropped something.
    pub fn dropped_by_provider(&mut self) {
        self.response.truncated = true;
    }

    /// What was kept.
    pub(crate) fn into_response(self) -> ExecuteResponse {
        self.response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_dropped_and_said() {
        let mut seen = Vec::new();
        let mut sink = |event: OutputEvent| seen.extend(event.bytes);
        let mut output = Output::new(5, Some(&mut sink));
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
