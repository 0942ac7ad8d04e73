//! Lists with several names on a line.

use super::Format;
use crate::ls::Listed;
use crate::ls::options::Layout;

/// Maximum number of columns. Each attempt scans all names.
const MAX_COLUMNS: usize = 500;

impl Format {
    /// Returns the text of every file, and its width on a terminal.
    fn cells(&self, files: &[Listed]) -> Vec<(Vec<u8>, usize)> {
        // Names between commas are not aligned.
        let widths = (self.layout != Layout::Commas).then(|| self.prefix_widths(files));
        files
            .iter()
            .map(|file| {
                let (mut text, mut plain) = (Vec::new(), Vec::new());
                self.prefix(file, widths, &mut text);
                plain.extend_from_slice(&text);
                self.name(file, &mut text);
                self.name_in(None, file, &mut plain);
                let width = String::from_utf8_lossy(&plain).chars().map(columns).sum();
                (text, width)
            })
            .collect()
    }

    /// Writes blanks from one column to another, and tabs where they reach a stop.
    fn indent(&self, from: usize, to: usize, out: &mut Vec<u8>) {
        let tab = self.tab_size;
        let mut at = from;
        while at < to {
            if tab != 0 && to / tab > (at + 1) / tab {
                out.push(b'\t');
                at += tab - at % tab;
            } else {
                out.push(b' ');
                at += 1;
            }
        }
    }

    pub(super) fn commas(&self, files: &[Listed], out: &mut Vec<u8>) {
        let mut column = 0usize;
        let cells = self.cells(files);
        for (at, (text, width)) in cells.iter().enumerate() {
            if at > 0 {
                // The line must have space for a comma and a blank before the name, and a comma after it.
                let stays = column.saturating_add(width + 2) < self.width;
                out.extend_from_slice(if stays { b", " } else { b",\n" });
                column = if stays { column + 2 } else { 0 };
            }
            out.extend_from_slice(text);
            column += width;
        }
        if !cells.is_empty() {
            out.push(b'\n');
        }
    }

    pub(super) fn columns(&self, files: &[Listed], out: &mut Vec<u8>) {
        let cells = self.cells(files);
        let count = cells.len();
        if count == 0 {
            return;
        }
        let across = self.layout == Layout::Across;
        let mut best = (count, vec![cells.iter().map(|(_, width)| *width).max().unwrap_or(0)]);
        // A column has at least one character and two blanks.
        for columns in 2..=count.min(self.width / 3 + 1).min(MAX_COLUMNS) {
            let rows = count.div_ceil(columns);
            let used = if across { columns } else { count.div_ceil(rows) };
            let mut widths = vec![0usize; used];
            for (at, (_, width)) in cells.iter().enumerate() {
                let column = if across { at % used } else { at / rows };
                if let Some(widest) = widths.get_mut(column) {
                    *widest = (*widest).max(*width);
                }
            }
            let total: usize = widths.iter().sum::<usize>() + 2 * (used - 1);
            if total <= self.width.saturating_sub(1) {
                best = (rows, widths);
            }
        }
        let (rows, widths) = best;
        for row in 0..rows {
            let (mut column_at, mut next) = (0, 0);
            for (column, widest) in widths.iter().enumerate() {
                let at = if across { row * widths.len() + column } else { column * rows + row };
                let Some((text, width)) = cells.get(at) else {
                    continue;
                };
                self.indent(column_at, next, out);
                out.extend_from_slice(text);
                (column_at, next) = (next + width, next + widest + 2);
            }
            out.push(b'\n');
        }
    }
}

/// Returns the width of a character. It is 0 for control characters, which are printed as they are.
fn columns(char: char) -> usize {
    unicode_width::UnicodeWidthChar::width(char).unwrap_or(0)
}
