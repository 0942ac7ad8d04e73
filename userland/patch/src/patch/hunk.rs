//! Hunks: the old and new lines at one position of a file.

/// Kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    Context,
    Old,
    New,
}

/// A line of a hunk. Its text includes the line end, unless the file's last line has none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) mark: Mark,
    pub(crate) text: Vec<u8>,
}

/// A hunk. Within a change all old lines precede all new ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hunk {
    pub(crate) lines: Vec<Line>,
    /// Number of the first line, counted from 1; for an empty range the number of the line after it.
    pub(crate) old_first: i64,
    pub(crate) new_first: i64,
    /// Text after the range: the enclosing function.
    pub(crate) function: Vec<u8>,
}

impl Hunk {
    /// Orders the lines and returns the hunk.
    pub(crate) fn new(lines: Vec<Line>, old_first: i64, new_first: i64, function: Vec<u8>) -> Self {
        let mut ordered = Vec::with_capacity(lines.len());
        let mut held = Vec::new();
        for line in lines {
            match line.mark {
                Mark::New => held.push(line),
                Mark::Old => ordered.push(line),
                Mark::Context => {
                    ordered.append(&mut held);
                    ordered.push(line);
                }
            }
        }
        ordered.append(&mut held);
        Self { lines: ordered, old_first, new_first, function }
    }

    /// Returns the reversed hunk.
    pub(crate) fn reversed(&self) -> Self {
        let mut lines = Vec::with_capacity(self.lines.len());
        for group in self.lines.chunk_by(|a, b| (a.mark == Mark::Context) == (b.mark == Mark::Context)) {
            let turned = |from: Mark, to: Mark| {
                group.iter().filter(move |line| line.mark == from).map(move |line| Line { mark: to, ..line.clone() })
            };
            lines.extend(turned(Mark::Context, Mark::Context));
            lines.extend(turned(Mark::New, Mark::Old));
            lines.extend(turned(Mark::Old, Mark::New));
        }
        Self { lines, old_first: self.new_first, new_first: self.old_first, function: self.function.clone() }
    }

    /// Returns the lines that the file must have.
    pub(crate) fn pattern(&self) -> Vec<&[u8]> {
        self.lines.iter().filter(|line| line.mark != Mark::New).map(|line| line.text.as_slice()).collect()
    }

    pub(crate) fn old_lines(&self) -> i64 {
        count(self.lines.iter().filter(|line| line.mark != Mark::New))
    }

    pub(crate) fn new_lines(&self) -> i64 {
        count(self.lines.iter().filter(|line| line.mark != Mark::Old))
    }

    /// Returns the number of context lines before the first change, and after the last one.
    pub(crate) fn contexts(&self) -> (i64, i64) {
        let is_context = |line: &&Line| line.mark == Mark::Context;
        let before = count(self.lines.iter().take_while(is_context));
        (before, count(self.lines.iter().rev().take_while(is_context)))
    }
}

fn count<'a>(lines: impl Iterator<Item = &'a Line>) -> i64 {
    i64::try_from(lines.count()).unwrap_or(i64::MAX)
}
