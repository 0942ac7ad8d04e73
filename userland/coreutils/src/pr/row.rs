//! One line of a page: texts at their places.

use super::settings::{Layout, Settings, Tabs};

/// A line that is written. Blanks are held back until something follows them, and become tabs where that is asked for.
pub(super) struct Row<'a> {
    settings: &'a Settings,
    layout: &'a Layout,
    /// The column that is reached.
    at: usize,
    blanks: usize,
    /// Whether a separator is to come before the next column.
    separated: bool,
}

impl<'a> Row<'a> {
    pub(super) fn new(settings: &'a Settings, layout: &'a Layout) -> Self {
        Self { settings, layout, at: 0, blanks: 0, separated: false }
    }

    /// What comes next stands in another column.
    pub(super) fn separate(&mut self) {
        self.separated = self.layout.separates;
    }

    /// A column without text.
    pub(super) fn empty(&mut self, column: usize, number: Option<i64>, out: &mut Vec<u8>) {
        self.begin(column, out);
        if let Some(number) = number {
            self.number(number, out);
        }
    }

    /// A column with its text, cut off where there is no room for it.
    pub(super) fn text(&mut self, column: usize, number: Option<i64>, line: &[u8], out: &mut Vec<u8>) {
        self.begin(column, out);
        let mut used = 0;
        if let Some(number) = number {
            used += self.number(number, out);
        }
        let mut clump = Vec::new();
        for byte in line {
            clump.clear();
            used = self.clump(*byte, used, &mut clump);
            if self.layout.cuts && used > self.layout.width {
                break;
            }
            for byte in &clump {
                self.char(*byte, out);
            }
        }
    }

    /// Goes to the place of a column.
    fn begin(&mut self, column: usize, out: &mut Vec<u8>) {
        let start = self.layout.starts.get(column).copied().unwrap_or(0);
        if start > 0 {
            self.pad_to(start, out);
        }
        let separated = std::mem::take(&mut self.separated);
        if self.layout.separates && separated {
            for byte in &self.layout.separator {
                match byte {
                    b' ' => self.blanks += 1,
                    byte => {
                        self.write_blanks(out);
                        out.push(*byte);
                        self.at += 1;
                    }
                }
            }
        }
        self.write_blanks(out);
    }

    fn pad_to(&mut self, place: usize, out: &mut Vec<u8>) {
        if self.layout.tabs.is_some() {
            self.blanks = place.saturating_sub(self.at);
        } else {
            out.resize(out.len() + place.saturating_sub(self.at), b' ');
            self.at = self.at.max(place);
        }
    }

    fn write_blanks(&mut self, out: &mut Vec<u8>) {
        let goal = self.at + std::mem::take(&mut self.blanks);
        let mut at = self.at;
        if let Some(Tabs { char, width }) = self.layout.tabs {
            while goal - at > 1 {
                let stop = at + width - at % width;
                if stop > goal {
                    break;
                }
                out.push(char);
                at = stop;
            }
        }
        out.resize(out.len() + (goal - at), b' ');
        self.at = goal;
    }

    fn char(&mut self, byte: u8, out: &mut Vec<u8>) {
        if self.layout.tabs.is_some() {
            if byte == b' ' {
                self.blanks += 1;
                return;
            }
            self.write_blanks(out);
            if is_printed(byte) {
                self.at += 1;
            } else if byte == 8 {
                self.at = self.at.saturating_sub(1);
            }
        }
        out.push(byte);
    }

    /// Writes a number; how many columns of the text it takes.
    fn number(&mut self, number: i64, out: &mut Vec<u8>) -> usize {
        let Some((separator, digits)) = self.settings.numbers else {
            return 0;
        };
        let text = format!("{number:>digits$}");
        let kept = text.len().saturating_sub(digits);
        for byte in text.bytes().skip(kept) {
            self.char(byte, out);
        }
        if self.layout.columns > 1 && separator == b'\t' {
            for _ in digits..self.layout.number_width {
                self.char(b' ', out);
            }
        } else {
            self.char(separator, out);
            if separator == b'\t' && self.layout.columns == 1 {
                let width = self.layout.tabs.map_or(8, |tabs| tabs.width);
                self.at += width - self.at % width;
            }
        }
        if self.layout.cuts && !self.settings.parallel { self.layout.number_width } else { 0 }
    }

    /// What a byte is written as, and the column after it.
    fn clump(&self, byte: u8, at: usize, clump: &mut Vec<u8>) -> usize {
        let input = self.layout.expands;
        let octal = |clump: &mut Vec<u8>| clump.extend_from_slice(format!("\\{byte:03o}").as_bytes());
        let width = match byte {
            byte if byte == b'\t' || input.is_some_and(|tabs| tabs.char == byte) => {
                let stop = input.filter(|tabs| tabs.char == byte).map_or(8, |tabs| tabs.width);
                let width = stop - at % stop;
                match input {
                    Some(_) => clump.resize(width, b' '),
                    None => clump.push(byte),
                }
                width
            }
            byte if is_printed(byte) => {
                clump.push(byte);
                1
            }
            _ if self.settings.escapes => {
                octal(clump);
                4
            }
            byte if self.settings.carets && byte < 0x80 => {
                clump.extend_from_slice(&[b'^', byte ^ 0o100]);
                2
            }
            _ if self.settings.carets => {
                octal(clump);
                4
            }
            8 => {
                if at > 0 {
                    clump.push(8);
                }
                return at.saturating_sub(1);
            }
            byte => {
                clump.push(byte);
                0
            }
        };
        at + width
    }
}

/// Whether a byte is seen. Those of characters beyond ASCII are not, because the tool knows single bytes only.
fn is_printed(byte: u8) -> bool {
    (b' '..=b'~').contains(&byte)
}
