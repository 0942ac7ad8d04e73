//! Lists in columns, with tabs between them.

use tidebox_gnu::stream::Output;

use super::width;

const TAB: usize = 8;

/// The width of a column and how many there are.
fn layout(lines: &[Vec<u8>], room: usize) -> (usize, usize) {
    let longest = lines.iter().map(|line| width(line)).max().unwrap_or(0);
    let column = (longest + TAB) & !(TAB - 1);
    (column, (room / column).max(1))
}

fn next_tab(column: usize) -> usize {
    (column + TAB) & !(TAB - 1)
}

/// Columns from top to bottom.
pub(super) fn columns(lines: &[Vec<u8>], room: usize, out: &mut Output) {
    let (column, count) = layout(lines, room);
    if column >= room {
        return one_by_one(lines, out);
    }
    let rows = lines.len().div_ceil(count);
    for row in 0..rows {
        let (mut at, mut end) = (0, column);
        let cells: Vec<&Vec<u8>> = lines.iter().skip(row).step_by(rows).take(count).collect();
        for (number, cell) in cells.iter().enumerate() {
            out.push(cell);
            at += width(cell);
            if number + 1 == cells.len() {
                break;
            }
            while next_tab(at) <= end {
                out.push(b"\t");
                at = next_tab(at);
            }
            end += column;
        }
        out.push(b"\n");
    }
}

/// Rows from left to right.
pub(super) fn rows(lines: &[Vec<u8>], room: usize, out: &mut Output) {
    let (column, count) = layout(lines, room);
    if column >= room {
        return one_by_one(lines, out);
    }
    for row in lines.chunks(count) {
        let (mut at, mut end) = (0, column);
        for (number, cell) in row.iter().enumerate() {
            out.push(cell);
            at += width(cell);
            if number + 1 == row.len() {
                break;
            }
            while next_tab(at) <= end {
                out.push(b"\t");
                at = next_tab(at);
            }
            end += column;
        }
        out.push(b"\n");
    }
}

fn one_by_one(lines: &[Vec<u8>], out: &mut Output) {
    for line in lines {
        out.push(line);
        out.push(b"\n");
    }
}
