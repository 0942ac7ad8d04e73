//! The newest output of a process, for readers that come at any time.

use std::task::Waker;

use super::{OutputCursor, OutputPage, ProcessState, ReadOutput};
use crate::execute::OutputChunk;
use crate::output_buffer::OutputBuffer;

/// The last bytes of both streams, and the state of the process.
#[derive(Debug)]
pub(super) struct OutputLog {
    kept: OutputBuffer,
    /// Number of bytes that are kept.
    limit: u64,
    /// Number of bytes until now, dropped ones included.
    written: u64,
    state: ProcessState,
    waiting: Vec<Waker>,
}

impl OutputLog {
    pub(super) fn new(limit: u64) -> Self {
        Self { kept: OutputBuffer::default(), limit, written: 0, state: ProcessState::Running, waiting: Vec::new() }
    }

    pub(super) fn push(&mut self, chunk: &OutputChunk) {
        self.written = self.written.saturating_add(chunk.bytes.len() as u64);
        self.kept.push_tail(chunk.stream, &chunk.bytes, self.limit);
        self.wake();
    }

    /// Records the end. The first one counts.
    pub(super) fn end(&mut self, state: ProcessState) {
        if !self.state.has_ended() {
            self.state = state;
        }
        self.wake();
    }

    pub(super) fn state(&self) -> &ProcessState {
        &self.state
    }

    pub(super) fn written(&self) -> u64 {
        self.written
    }

    /// Wakes a reader at the next output or the end.
    pub(super) fn wake_later(&mut self, waker: &Waker) {
        if !self.waiting.iter().any(|waiting| waiting.will_wake(waker)) {
            self.waiting.push(waker.clone());
        }
    }

    fn wake(&mut self) {
        self.waiting.drain(..).for_each(Waker::wake);
    }

    /// Returns the output after the cursor. The end shows only after the last byte.
    pub(super) fn page(&mut self, request: &ReadOutput) -> OutputPage {
        self.kept.keep_tail(self.limit);
        let start = self.written.saturating_sub(self.kept.len() as u64);
        let requested = request.after.bytes().min(self.written);
        let from = requested.max(start);
        let mut skip = usize::try_from(from - start).unwrap_or(usize::MAX);
        let mut left = request.max_bytes;
        let mut chunks = Vec::new();
        let mut next = from;
        for (stream, run) in self.kept.runs() {
            let skipped = skip.min(run.len());
            skip -= skipped;
            let run = run.get(skipped..).unwrap_or_default();
            let run = run.get(..left).unwrap_or(run);
            left -= run.len();
            next += run.len() as u64;
            if !run.is_empty() {
                chunks.push(OutputChunk { stream, bytes: run.to_vec() });
            } else if left == 0 {
                break;
            }
        }
        let state = if next < self.written { ProcessState::Running } else { self.state.clone() };
        OutputPage { chunks, next: OutputCursor::new(next), dropped: from - requested, state }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execute::OutputStream;

    fn log(limit: u64, writes: &[&[u8]]) -> OutputLog {
        let mut log = OutputLog::new(limit);
        for bytes in writes {
            log.push(&OutputChunk { stream: OutputStream::Stdout, bytes: bytes.to_vec() });
        }
        log
    }

    #[test]
    fn a_late_reader_gets_the_newest_output_and_a_count() {
        let mut log = log(4, &[b"abc", b"defg"]);
        let page = log.page(&ReadOutput::default());
        assert_eq!((page.bytes(), page.dropped, page.next.bytes()), (b"defg".to_vec(), 3, 7));
        let page = log.page(&ReadOutput::after(OutputCursor::new(5)));
        assert_eq!((page.bytes(), page.dropped, page.next.bytes()), (b"fg".to_vec(), 0, 7));
        let page = log.page(&ReadOutput::after(OutputCursor::new(99)));
        assert_eq!((page.bytes(), page.dropped, page.next.bytes()), (Vec::new(), 0, 7));
    }

    #[test]
    fn the_end_shows_only_behind_the_last_byte() {
        let mut log = log(100, &[b"abc"]);
        log.end(ProcessState::Ended { exit_code: Some(0), stopped_by: None });
        log.end(ProcessState::Running);
        let page = log.page(&ReadOutput::default().with_max_bytes(2));
        assert_eq!((page.bytes(), page.state), (b"ab".to_vec(), ProcessState::Running));
        let page = log.page(&ReadOutput::after(page.next));
        assert_eq!(page.bytes(), b"c");
        assert!(page.state.has_ended());
        let page = log.page(&ReadOutput::after(page.next));
        assert!(page.chunks.is_empty() && page.state.has_ended());
    }
}
