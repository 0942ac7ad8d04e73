//! The text that is edited, and what undoes a change.

use std::rc::Rc;

/// A line without its end.
pub(crate) type Line = Rc<[u8]>;

/// What was before the last command that changed something.
#[derive(Clone, Debug, Default)]
struct Before {
    lines: Vec<Line>,
    current: usize,
    changed: bool,
}

/// Lines, counted from 1, and where one stands.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    lines: Vec<Line>,
    /// The current line; 0 when there is none.
    pub(crate) current: usize,
    /// Whether the text differs from the file.
    pub(crate) changed: bool,
    before: Option<Before>,
    marks: [Option<Line>; 26],
}

impl Buffer {
    pub(crate) fn len(&self) -> usize {
        self.lines.len()
    }

    pub(crate) fn line(&self, number: usize) -> Option<&Line> {
        self.lines.get(number.checked_sub(1)?)
    }

    pub(crate) fn lines(&self, first: usize, last: usize) -> &[Line] {
        self.lines.get(first.saturating_sub(1)..last).unwrap_or_default()
    }

    /// Remembers the text before a command changes it.
    pub(crate) fn remember(&mut self) {
        self.before = Some(Before { lines: self.lines.clone(), current: self.current, changed: self.changed });
    }

    /// Takes the last change back, which can be taken back again. False when there is none.
    pub(crate) fn undo(&mut self) -> bool {
        let Some(before) = self.before.take() else {
            return false;
        };
        let now = Before {
            lines: std::mem::replace(&mut self.lines, before.lines),
            current: self.current,
            changed: self.changed,
        };
        (self.current, self.changed) = (before.current, before.changed);
        self.before = Some(now);
        true
    }

    /// Nothing can be undone from here on.
    pub(crate) fn forget(&mut self) {
        self.before = None;
    }

    /// Puts lines behind a line and stands on the last of them.
    pub(crate) fn insert(&mut self, behind: usize, lines: Vec<Line>) {
        let (at, count) = (behind.min(self.lines.len()), lines.len());
        self.lines.splice(at..at, lines);
        self.current = at + count;
        self.changed |= count > 0;
    }

    /// Takes lines out and stands on what follows them.
    pub(crate) fn remove(&mut self, first: usize, last: usize) -> Vec<Line> {
        let end = last.min(self.lines.len());
        let begin = first.saturating_sub(1).min(end);
        let taken: Vec<Line> = self.lines.drain(begin..end).collect();
        self.changed |= !taken.is_empty();
        self.current = first.min(self.lines.len());
        taken
    }

    pub(crate) fn replace(&mut self, number: usize, lines: Vec<Line>) {
        let Some(at) = number.checked_sub(1).filter(|at| *at < self.lines.len()) else {
            return;
        };
        let count = lines.len();
        self.lines.splice(at..=at, lines);
        self.current = at + count;
        self.changed = true;
    }

    pub(crate) fn mark(&mut self, letter: u8, number: usize) {
        let line = self.line(number).cloned();
        if let Some(slot) = self.marks.get_mut(usize::from(letter.wrapping_sub(b'a'))) {
            *slot = line;
        }
    }

    /// The line that was marked, wherever it is now.
    pub(crate) fn marked(&self, letter: u8) -> Option<usize> {
        let line = self.marks.get(usize::from(letter.wrapping_sub(b'a')))?.as_ref()?;
        self.number(line)
    }

    /// Where a line is now: the very line, not one that reads the same.
    pub(crate) fn number(&self, line: &Line) -> Option<usize> {
        self.lines.iter().position(|known| Rc::ptr_eq(known, line)).map(|at| at + 1)
    }
}
