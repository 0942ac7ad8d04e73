//! One line of a page.

use super::settings::{Layout, Settings};

/// Distance of tab stops.
const TAB: usize = 8;

/// A line of output. Between columns, blanks become tabs where they reach a stop.
pub(super) struct Row<'a> {
    settings: &'a Settings,
    layout: &'a Layout,
    out: Vec<u8>,
    /// Current column of the output. Counted only if the page has several columns.
    at: usize,
    /// Blanks that are not written yet.
    blanks: usize,
}

impl<'a> Row<'a> {
    pub(super) fn new(settings: &'a Settings, layout: &'a Layout) -> Self {
        Self { settings, layout, out: Vec::new(), at: 0, blanks: 0 }
    }

    /// Writes a column: its number, then its text up to the width of the column.
    pub(super) fn column(&mut self, column: usize, number: Option<usize>, text: &[u8]) {
        let layout = self.layout;
        if let Some(start) = layout.starts.get(column).filter(|start| **start > 0) {
            self.blanks = start.saturating_sub(self.at);
        }
        for byte in layout.separator.iter().filter(|_| column > 0) {
            match byte {
                b' ' => self.blanks += 1,
                byte => {
                    self.write_blanks();
                    self.out.push(*byte);
                    self.at += 1;
                }
            }
        }
        self.write_blanks();
        let mut used = number.map_or(0, |number| self.number(number));
        for byte in text {
            let before = used;
            match byte {
                8 if used == 0 => continue,
                8 => used -= 1,
                b'\t' => used += TAB - used % TAB,
                // The tool counts single bytes. Those outside of ASCII take no column.
                b' '..=b'~' => used += 1,
                _ => {}
            }
            if layout.cuts && used > layout.width {
                break;
            }
            if *byte == b'\t' && layout.expands {
                (before..used).for_each(|_| self.byte(b' '));
            } else {
                self.byte(*byte);
            }
        }
    }

    /// Returns the line. Blanks at its end are dropped if the page has several columns.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.out.push(b'\n');
        self.out
    }

    fn write_blanks(&mut self) {
        let end = self.at + std::mem::take(&mut self.blanks);
        while self.layout.columns > 1 && end - self.at > 1 && self.at + TAB - self.at % TAB <= end {
            self.out.push(b'\t');
            self.at += TAB - self.at % TAB;
        }
        self.out.resize(self.out.len() + (end - self.at), b' ');
        self.at = end;
    }

    fn byte(&mut self, byte: u8) {
        if self.layout.columns > 1 {
            if byte == b' ' {
                self.blanks += 1;
                return;
            }
            self.write_blanks();
            match byte {
                b'!'..=b'~' => self.at += 1,
                8 => self.at = self.at.saturating_sub(1),
                _ => {}
            }
        }
        self.out.push(byte);
    }

    /// Writes the last digits of a number and returns the columns that it takes from the text.
    fn number(&mut self, number: usize) -> usize {
        let Some((separator, digits)) = self.settings.numbers else {
            return 0;
        };
        let text = format!("{number:>digits$}");
        text.bytes().skip(text.len() - digits).for_each(|byte| self.byte(byte));
        if self.layout.columns > 1 && separator == b'\t' {
            (digits..self.layout.number_width).for_each(|_| self.byte(b' '));
        } else {
            self.byte(separator);
        }
        if self.layout.cuts && !self.settings.parallel { self.layout.number_width } else { 0 }
    }
}
