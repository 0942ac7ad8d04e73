//! Buffer of lines that are sorted in memory.

use std::cmp::Ordering;

use tidebox_gnu::stream::{Input, Output};
use tidebox_rt::Errno;

use super::compare::{Mark, Rules};

/// Lines in one text, without their ends.
#[derive(Debug, Default)]
pub(super) struct Lines {
    text: Vec<u8>,
    spans: Vec<Span>,
}

#[derive(Clone, Copy, Debug)]
struct Span {
    start: usize,
    end: usize,
    mark: Mark,
}

impl Lines {
    /// Reads lines until the buffer has `limit` bytes. Returns true at the end of the input.
    pub(super) fn fill(&mut self, input: &mut Input, end: u8, limit: usize, rules: &Rules) -> Result<bool, Errno> {
        loop {
            if self.weight() >= limit {
                return Ok(false);
            }
            let start = self.text.len();
            loop {
                let chunk = input.chunk()?;
                if chunk.is_empty() {
                    if self.text.len() > start {
                        self.close(start, rules);
                    }
                    return Ok(true);
                }
                let found = memchr::memchr(end, chunk);
                let count = found.unwrap_or(chunk.len());
                self.text.extend_from_slice(chunk.get(..count).unwrap_or_default());
                input.consume(count + usize::from(found.is_some()));
                if found.is_some() {
                    self.close(start, rules);
                    break;
                }
            }
        }
    }

    fn close(&mut self, start: usize, rules: &Rules) {
        let end = self.text.len();
        let mark = rules.mark(self.text.get(start..end).unwrap_or_default());
        self.spans.push(Span { start, end, mark });
    }

    fn weight(&self) -> usize {
        self.text.len() + self.spans.len() * size_of::<Span>()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    pub(super) fn sort(&mut self, rules: &Rules) {
        let text = &self.text;
        let line = |span: &Span| (text.get(span.start..span.end).unwrap_or_default(), span.mark);
        self.spans.sort_by(|a, b| rules.compare(line(a), line(b)));
        if rules.unique {
            self.spans.dedup_by(|later, first| rules.compare(line(first), line(later)) == Ordering::Equal);
        }
    }

    /// Writes the lines in order and clears the buffer.
    pub(super) fn write(&mut self, sink: &mut Sink<'_>) {
        for span in self.spans.drain(..) {
            sink.line(self.text.get(span.start..span.end).unwrap_or_default());
            if sink.out.failure().is_some() {
                break;
            }
        }
        self.text.clear();
    }
}

/// Destination of the sorted lines.
pub(super) struct Sink<'a> {
    pub(super) out: Output,
    pub(super) end: u8,
    pub(super) debug: Option<&'a Rules>,
}

impl Sink<'_> {
    pub(super) fn line(&mut self, line: &[u8]) {
        match self.debug {
            Some(rules) => super::debug::write(rules, line, &mut self.out),
            None => {
                self.out.push(line);
                self.out.push(&[self.end]);
            }
        }
    }
}
