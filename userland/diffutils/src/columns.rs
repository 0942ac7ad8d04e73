//! Side-by-side output.

use crate::Failure;
use crate::options::Layout;
use crate::output::Output;
use crate::script::{Change, Script};

/// Columns between the texts.
const GUTTER: usize = 3;

/// Prints both texts.
pub(crate) fn print(script: &Script<'_>, layout: &Layout, output: &mut Output) -> Result<(), Failure> {
    let columns = Columns::new(layout);
    let (mut old, mut new) = (0, 0);
    // Ignored lines are common, so paired lines need not correspond.
    for change in script.counted() {
        columns.common(script, old..change.old.start, new..change.new.start, output)?;
        (old, new) = (change.old.end, change.new.end);
        columns.change(script, change, output)?;
    }
    columns.common(script, old..script.old.len(), new..script.new.len(), output)
}

/// Returns the lines of a range.
pub(crate) fn part<'a>(lines: &'a [&'a [u8]], range: &std::ops::Range<usize>) -> &'a [&'a [u8]] {
    lines.get(range.clone()).unwrap_or_default()
}

/// Column layout.
pub(crate) struct Columns<'a> {
    layout: &'a Layout,
    tab: usize,
    /// The width of each text, and the start column of the right one.
    half: usize,
    second: usize,
}

impl<'a> Columns<'a> {
    pub(crate) fn new(layout: &'a Layout) -> Self {
        let tab = if layout.expand_tabs { 1 } else { layout.tab_size };
        let width = layout.width;
        // The right text starts at a tab stop.
        let second = (width + tab + GUTTER) / (2 * tab) * tab;
        let half = second.saturating_sub(GUTTER).min(width.saturating_sub(second));
        Self { layout, tab: layout.tab_size, half, second: if half > 0 { second } else { width } }
    }

    /// Lines of either text that differ.
    pub(crate) fn change(&self, script: &Script<'_>, change: &Change, output: &mut Output) -> Result<(), Failure> {
        let (left, right) = (part(&script.old, &change.old), part(&script.new, &change.new));
        let both = left.len().min(right.len());
        for (left, right) in left.iter().zip(right) {
            self.line(Some(left), b'|', Some(right), output)?;
        }
        for right in right.iter().skip(both) {
            self.line(None, b'>', Some(right), output)?;
        }
        for left in left.iter().skip(both) {
            self.line(Some(left), b'<', None, output)?;
        }
        Ok(())
    }

    /// Lines that are in both texts.
    pub(crate) fn common(
        &self,
        script: &Script<'_>,
        old: std::ops::Range<usize>,
        new: std::ops::Range<usize>,
        output: &mut Output,
    ) -> Result<(), Failure> {
        if self.layout.suppress_common {
            return Ok(());
        }
        let (left, right) = (part(&script.old, &old), part(&script.new, &new));
        let both = left.len().min(right.len());
        for (left, right) in left.iter().zip(right) {
            match self.layout.left_column {
                true => self.line(Some(left), b'(', None, output)?,
                false => self.line(Some(left), b' ', Some(right), output)?,
            }
        }
        for right in right.iter().skip(both) {
            self.line(None, b')', Some(right), output)?;
        }
        for left in left.iter().skip(both) {
            self.line(Some(left), b'(', None, output)?;
        }
        Ok(())
    }

    /// Prints one line of both texts with a mark between them.
    fn line(&self, left: Option<&&[u8]>, mark: u8, right: Option<&&[u8]>, output: &mut Output) -> Result<(), Failure> {
        let mut out = Vec::new();
        let mut column = 0;
        let mut ends = false;
        if let Some(left) = left {
            ends = left.ends_with(b"\n");
            column = self.half_line(left, &mut out);
        }
        if mark != b' ' {
            column = self.advance(column, (self.half + self.second - 1) / 2, &mut out) + 1;
            let other = right.is_some_and(|right| right.ends_with(b"\n"));
            out.push(match (mark, ends, other) {
                (b'|', true, false) => b'/',
                (b'|', false, true) => b'\\',
                _ => mark,
            });
        }
        if let Some(right) = right {
            ends |= right.ends_with(b"\n");
            if *right != b"\n" {
                self.advance(column, self.second, &mut out);
                self.half_line(right, &mut out);
            }
        }
        if ends {
            out.push(b'\n');
        }
        output.put(&out)
    }

    /// Prints a line, truncated to the column width. Returns the column after it.
    fn half_line(&self, line: &[u8], out: &mut Vec<u8>) -> usize {
        let (mut read, mut written) = (0, 0);
        let bound = self.half;
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        for chunk in text.utf8_chunks() {
            for char in chunk.valid().chars() {
                if char == '\t' {
                    let spaces = self.tab - read % self.tab;
                    if read == written {
                        let stop = written + spaces;
                        if self.layout.expand_tabs {
                            let stop = stop.min(bound);
                            out.resize(out.len() + stop.saturating_sub(written), b' ');
                            written = written.max(stop);
                        } else if stop < bound {
                            written = stop;
                            out.push(b'\t');
                        }
                    }
                    read += spaces;
                } else {
                    read += usize::from(!char.is_control());
                    if read <= bound {
                        written = read;
                        out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
                    }
                }
            }
            for byte in chunk.invalid() {
                read += 1;
                if read <= bound {
                    written = read;
                    out.push(*byte);
                }
            }
        }
        written
    }

    /// Prints blanks from one column to another.
    fn advance(&self, from: usize, to: usize, out: &mut Vec<u8>) -> usize {
        let mut at = from;
        if !self.layout.expand_tabs {
            let mut stop = at + self.tab - at % self.tab;
            while stop <= to {
                out.push(b'\t');
                at = stop;
                stop += self.tab;
            }
        }
        out.resize(out.len() + to.saturating_sub(at), b' ');
        to.max(at)
    }
}
