//! Lists of several names on a line.

use super::Format;
use crate::ls::Listed;
use crate::ls::options::Layout;

/// Columns that are tried. Every one costs a look at all names, and nobody reads more.
const MAX_COLUMNS: usize = 500;

impl Format {
    /// The text of every file and how wide it is on a screen.
    fn cells(&self, files: &[Listed]) -> Vec<(Vec<u8>, usize)> {
        // Between commas nothing lines up.
        let widths = (self.layout != Layout::Commas).then(|| self.before_widths(files));
        files
            .iter()
            .map(|file| {
                let (mut text, mut plain) = (Vec::new(), Vec::new());
                self.before(file, widths, &mut text);
                plain.extend_from_slice(&text);
                self.name(file, &mut text);
                self.name_in(None, false, file, &mut plain);
                let width = String::from_utf8_lossy(&plain).chars().map(columns).sum();
                (text, width)
            })
            .collect()
    }

    /// Blanks from one column to another, tabs where they reach a stop.
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
                // A comma and a blank before it, and a comma behind it.
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
        // More columns than three characters each never fit.
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

/// How many columns a character takes: two for many of East Asia, none for a control character that stands as it is.
fn columns(char: char) -> usize {
    unicode_width::UnicodeWidthChar::width(char).unwrap_or(0)
}
