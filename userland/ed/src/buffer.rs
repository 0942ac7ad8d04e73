//! The edited text with undo.

use std::rc::Rc;

/// A line without its end.
pub(crate) type Line = Rc<[u8]>;

/// State before the last command that changed the text.
#[derive(Clone, Debug, Default)]
struct Before {
    lines: Vec<Line>,
    current: usize,
    changed: bool,
}

/// Lines, counted from 1, and the current line.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    lines: Vec<Line>,
    /// The current line; 0 if the text is empty.
    pub(crate) current: usize,
    /// The text differs from the file.
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

    /// Saves the text before a command changes it.
    pub(crate) fn remember(&mut self) {
        self.before = Some(Before { lines: self.lines.clone(), current: self.current, changed: self.changed });
    }

    /// Undoes the last change; calling it again redoes it. False if no change is saved.
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

    /// Discards the undo state.
    pub(crate) fn forget(&mut self) {
        self.before = None;
    }

    /// Inserts lines after a line. The last of them becomes the current line.
    pub(crate) fn insert(&mut self, behind: usize, lines: Vec<Line>) {
        let (at, count) = (behind.min(self.lines.len()), lines.len());
        self.lines.splice(at..at, lines);
        self.current = at + count;
        self.changed |= count > 0;
    }

    /// Removes lines. The following line becomes the current one.
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

    /// The marked line at its current position.
    pub(crate) fn marked(&self, letter: u8) -> Option<usize> {
        let line = self.marks.get(usize::from(letter.wrapping_sub(b'a')))?.as_ref()?;
        self.number(line)
    }

    /// Current position of a line, by identity and not by text.
    pub(crate) fn number(&self, line: &Line) -> Option<usize> {
        self.lines.iter().position(|known| Rc::ptr_eq(known, line)).map(|at| at + 1)
    }
}
