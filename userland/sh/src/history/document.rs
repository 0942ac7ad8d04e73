//! A here-document whose lines are still to come.

use crate::ir::Bytes;

#[derive(Debug)]
pub(super) struct Document {
    delimiter: Bytes,
    strip_tabs: bool,
    pub(super) quoted: bool,
}

impl Document {
    pub(super) fn new(word: &[u8], strip_tabs: bool) -> Self {
        let is_quote = |byte: u8| matches!(byte, b'\'' | b'"' | b'\\');
        let delimiter = word.iter().copied().filter(|&b| !is_quote(b)).collect();
        Self { delimiter, strip_tabs, quoted: word.iter().any(|&b| is_quote(b)) }
    }

    /// Returns whether this line ends the document, with or without its leading tabs.
    pub(super) fn ends_with(&self, line: &[u8]) -> bool {
        let tabs = if self.strip_tabs { line.iter().take_while(|&&b| b == b'\t').count() } else { 0 };
        line == self.delimiter || line.get(tabs..) == Some(&self.delimiter[..])
    }
}
