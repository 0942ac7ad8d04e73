//! The text of a patch file, line by line.

/// A patch file in memory. Lines are counted from 0 here and from 1 in messages.
#[derive(Debug)]
pub(crate) struct Lines {
    text: Vec<u8>,
    /// Start of each line, followed by the end of the text.
    starts: Vec<usize>,
}

impl Lines {
    pub(crate) fn new(text: Vec<u8>) -> Self {
        let mut starts = vec![0];
        starts.extend(text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1));
        if starts.last() != Some(&text.len()) {
            starts.push(text.len());
        }
        Self { text, starts }
    }

    /// Returns the number of lines.
    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns a line with its end, if it has one; `None` after the last.
    pub(crate) fn get(&self, at: usize) -> Option<&[u8]> {
        let begin = *self.starts.get(at)?;
        let end = *self.starts.get(at.checked_add(1)?)?;
        self.text.get(begin..end)
    }

    /// Returns whether the last line has no line end.
    pub(crate) fn ends_within_line(&self) -> bool {
        self.text.last().is_some_and(|last| *last != b'\n')
    }
}

/// Encoding of a patch: lines may be indented, as in mails, and may end with carriage returns.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Packing {
    pub(crate) indent: usize,
    pub(crate) strip_returns: bool,
}

impl Packing {
    /// Returns a line of the decoded patch, always with a line end.
    pub(crate) fn unpack(self, line: &[u8]) -> Vec<u8> {
        let mut rest = line;
        let mut column = 0;
        while column < self.indent {
            match rest.first() {
                Some(b' ' | b'X') => column += 1,
                Some(b'\t') => column = (column + 8) & !7,
                _ => break,
            }
            rest = rest.get(1..).unwrap_or_default();
        }
        let body = rest.strip_suffix(b"\n").unwrap_or(rest);
        let body = if self.strip_returns { body.strip_suffix(b"\r").unwrap_or(body) } else { body };
        [body, b"\n"].concat()
    }
}

/// Returns the indentation of a line in columns, and the rest.
pub(crate) fn indentation(line: &[u8]) -> (usize, &[u8]) {
    let (mut column, mut rest) = (0, line);
    while let Some((first, after)) = rest.split_first() {
        match first {
            b' ' | b'X' => column += 1,
            b'\t' => column = (column + 8) & !7,
            _ => break,
        }
        rest = after;
    }
    (column, rest)
}
