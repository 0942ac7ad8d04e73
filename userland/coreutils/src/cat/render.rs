//! Line numbers and visible control characters of `cat`.

/// Additional output of `cat`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Style {
    /// A number before every line.
    pub(crate) numbers: bool,
    /// A number before every line that is not empty; overrides `numbers`.
    pub(crate) numbers_filled: bool,
    /// At most one of several empty lines.
    pub(crate) squeezes: bool,
    /// `$` at the end of each line.
    pub(crate) ends: bool,
    /// `^I` for tabs.
    pub(crate) tabs: bool,
    /// `^X` and `M-X` for non-printing bytes.
    pub(crate) marks: bool,
}

/// Renders text chunk by chunk. A line may span chunks and files.
#[derive(Debug)]
pub(crate) struct Render {
    style: Style,
    out: Vec<u8>,
    line: u64,
    /// True if the next byte is at the start of a line.
    at_start: bool,
    /// Number of consecutive empty lines before the current one.
    empty: u32,
    /// A carriage return that may be followed by a line end: with `ends` the pair is shown as `^M$`.
    held_return: bool,
}

impl Render {
    pub(crate) fn new(style: Style) -> Self {
        Self { style, out: Vec::new(), line: 0, at_start: true, empty: 0, held_return: false }
    }

    /// Returns the output for a chunk of text.
    pub(crate) fn pass(&mut self, text: &[u8]) -> &[u8] {
        self.out.clear();
        let mut rest = text;
        while !rest.is_empty() {
            let end = memchr::memchr(b'\n', rest);
            let (line, after) = rest.split_at(end.unwrap_or(rest.len()));
            self.body(line);
            rest = match end {
                Some(_) => {
                    self.end();
                    after.get(1..).unwrap_or_default()
                }
                None => after,
            };
        }
        &self.out
    }

    /// Returns the remaining output at the end of the text.
    pub(crate) fn finish(&mut self) -> &[u8] {
        self.out.clear();
        if std::mem::take(&mut self.held_return) {
            self.out.push(b'\r');
        }
        &self.out
    }

    /// Renders part of a line.
    fn body(&mut self, text: &[u8]) {
        if text.is_empty() {
            return;
        }
        if std::mem::take(&mut self.held_return) {
            self.out.push(b'\r');
        }
        if self.at_start {
            self.at_start = false;
            self.empty = 0;
            if self.style.numbers || self.style.numbers_filled {
                self.number();
            }
        }
        let mut text = text;
        if self.style.ends
            && !self.style.marks
            && let Some(before) = text.strip_suffix(b"\r")
        {
            text = before;
            self.held_return = true;
        }
        if !self.style.marks && !self.style.tabs {
            self.out.extend_from_slice(text);
            return;
        }
        for byte in text {
            self.byte(*byte);
        }
    }

    fn end(&mut self) {
        if self.at_start {
            self.empty = self.empty.saturating_add(1);
            if self.style.squeezes && self.empty > 1 {
                return;
            }
            if self.style.numbers && !self.style.numbers_filled {
                self.number();
            }
        }
        if std::mem::take(&mut self.held_return) {
            self.out.extend_from_slice(b"^M");
        }
        if self.style.ends {
            self.out.push(b'$');
        }
        self.out.push(b'\n');
        self.at_start = true;
    }

    fn number(&mut self) {
        self.line = self.line.saturating_add(1);
        self.out.extend_from_slice(format!("{:>6}\t", self.line).as_bytes());
    }

    fn byte(&mut self, byte: u8) {
        match byte {
            b'\t' if self.style.tabs => self.out.extend_from_slice(b"^I"),
            b'\t' => self.out.push(b'\t'),
            _ if !self.style.marks => self.out.push(byte),
            _ => {
                let low = byte & 0x7f;
                if byte >= 0x80 {
                    self.out.extend_from_slice(b"M-");
                }
                match low {
                    0..=31 => self.out.extend_from_slice(&[b'^', low + 64]),
                    127 => self.out.extend_from_slice(b"^?"),
                    _ => self.out.push(low),
                }
            }
        }
    }
}
