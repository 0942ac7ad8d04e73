//! Lists in columns, separated by tabs.

use tidebox_gnu::stream::Output;

use super::width;

const TAB: usize = 8;

/// Returns the width and the number of columns.
fn layout(lines: &[Vec<u8>], room: usize) -> (usize, usize) {
    let longest = lines.iter().map(|line| width(line)).max().unwrap_or(0);
    let column = (longest + TAB) & !(TAB - 1);
    (column, (room / column).max(1))
}

fn next_tab(column: usize) -> usize {
    (column + TAB) & !(TAB - 1)
}

/// Prints a list, columns first.
pub(super) fn columns(lines: &[Vec<u8>], room: usize, out: &mut Output) {
    let (column, count) = layout(lines, room);
    if column >= room {
        return one_by_one(lines, out);
    }
    let rows = lines.len().div_ceil(count);
    for row in 0..rows {
        push_row(lines.iter().skip(row).step_by(rows).take(count), column, out);
    }
}

/// Prints a list, rows first.
pub(super) fn rows(lines: &[Vec<u8>], room: usize, out: &mut Output) {
    let (column, count) = layout(lines, room);
    if column >= room {
        return one_by_one(lines, out);
    }
    for row in lines.chunks(count) {
        push_row(row.iter(), column, out);
    }
}

/// Prints one row. Cells except the last are filled with tabs to the width of a column.
fn push_row<'c>(cells: impl Iterator<Item = &'c Vec<u8>>, column: usize, out: &mut Output) {
    let (mut at, mut end) = (0, column);
    let mut cells = cells.peekable();
    while let Some(cell) = cells.next() {
        out.push(cell);
        at += width(cell);
        while cells.peek().is_some() && next_tab(at) <= end {
            out.push(b"\t");
            at = next_tab(at);
        }
        end += column;
    }
    out.push(b"\n");
}

fn one_by_one(lines: &[Vec<u8>], out: &mut Output) {
    for line in lines {
        out.push(line);
        out.push(b"\n");
    }
}
