//! The output of recorded processes: a replay joins the recorded pages of a process to one log, because a test reads at other
//! moments than the recording did.

use std::collections::BTreeMap;

use super::cassette::{Interaction, RecordedCall, RecordedResponse};
use crate::execute::OutputChunk;
use crate::process::{OutputCursor, OutputPage, ProcessState, ReadOutput};

/// Sandbox and process.
pub(super) type ProcessKey = (Option<String>, String);

/// The output of one process.
#[derive(Debug)]
pub(super) struct ProcessLog {
    chunks: Vec<OutputChunk>,
    /// Recorded position up to which `chunks` has the output.
    covered: u64,
    state: ProcessState,
    /// Number of recorded reads: at most as many reads may find nothing new in a process that never ends.
    reads: usize,
    /// Indices of the recordings.
    pub(super) interactions: Vec<usize>,
}

impl ProcessLog {
    /// Returns the logs of all processes.
    pub(super) fn all(interactions: &[Interaction]) -> BTreeMap<ProcessKey, Self> {
        let mut logs: BTreeMap<ProcessKey, Self> = BTreeMap::new();
        for (index, interaction) in interactions.iter().enumerate() {
            let (RecordedCall::ReadProcess(read), RecordedResponse::ReadProcess(page)) =
                (&interaction.call, &interaction.answer)
            else {
                continue;
            };
            let log = logs.entry((interaction.sandbox.clone(), read.id.clone())).or_insert_with(|| Self {
                chunks: Vec::new(),
                covered: 0,
                state: ProcessState::Running,
                reads: 0,
                interactions: Vec::new(),
            });
            log.interactions.push(index);
            log.reads += 1;
            log.add(page.start, page.next, page.chunks());
            if page.state().has_ended() {
                log.state = page.state();
            }
        }
        logs
    }

    /// Adds a page; another reader may have recorded a part of it.
    fn add(&mut self, start: u64, next: u64, chunks: impl Iterator<Item = OutputChunk>) {
        if next <= self.covered {
            return;
        }
        let mut known = usize::try_from(self.covered.saturating_sub(start)).unwrap_or(usize::MAX);
        for mut chunk in chunks {
            let skipped = known.min(chunk.bytes.len());
            known -= skipped;
            chunk.bytes.drain(..skipped);
            if !chunk.bytes.is_empty() {
                self.chunks.push(chunk);
            }
        }
        self.covered = next;
    }

    /// Returns the output after a cursor. The end shows only after the last byte. `None` if the recording has no further output
    /// and no end, and `idle_reads` reads found nothing before.
    pub(super) fn read(&self, request: &ReadOutput, idle_reads: usize) -> Option<OutputPage> {
        let after = request.after.bytes();
        let (mut at, mut left) = (0u64, request.max_bytes);
        let mut page = OutputPage { chunks: Vec::new(), next: request.after, dropped: 0, state: ProcessState::Running };
        for chunk in &self.chunks {
            let skipped = usize::try_from(after.saturating_sub(at)).unwrap_or(usize::MAX).min(chunk.bytes.len());
            at += chunk.bytes.len() as u64;
            let bytes = chunk.bytes.get(skipped..).unwrap_or_default();
            let bytes = bytes.get(..left).unwrap_or(bytes).to_vec();
            left -= bytes.len();
            if !bytes.is_empty() {
                page.next = OutputCursor::new(page.next.bytes().saturating_add(bytes.len() as u64));
                page.chunks.push(OutputChunk { stream: chunk.stream, bytes });
            }
        }
        if page.next.bytes() >= at {
            page.state = self.state.clone();
        }
        let is_idle = page.chunks.is_empty() && !page.state.has_ended();
        (!is_idle || idle_reads < self.reads).then_some(page)
    }
}
