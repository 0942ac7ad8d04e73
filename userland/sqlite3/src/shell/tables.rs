//! Table output, which reads all rows first.

use std::io::{self, Write};

use super::print::{Mode, Style};
use crate::engine::Cell;

/// Maximum characters of a value per line; longer values are wrapped.
const MAX_LINE: usize = 60;

/// Width of a text in characters.
pub(super) fn width(text: &[u8]) -> usize {
    String::from_utf8_lossy(text).chars().count()
}

/// The lines of a value.
fn lines(text: &[u8], limit: usize) -> Vec<String> {
    let text = String::from_utf8_lossy(text);
    let mut lines = Vec::new();
    for line in text.split('\n') {
        let chars: Vec<char> = line.strip_suffix('\r').unwrap_or(line).chars().collect();
        if chars.is_empty() {
            lines.push(String::new());
        }
        lines.extend(chars.chunks(limit.max(1)).map(|chunk| chunk.iter().collect::<String>()));
    }
    if lines.len() > 1 && lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

/// Border characters.
struct Frame {
    left: &'static str,
    between: &'static str,
    right: &'static str,
    /// Lines above the table, below the header, and below the table: left, fill, middle, right.
    rules: [Option<[&'static str; 4]>; 3],
}

fn frame(mode: Mode) -> Frame {
    match mode {
        Mode::Box => Frame {
            left: "│ ",
            between: " │ ",
            right: " │",
            rules: [Some(["┌", "─", "┬", "┐"]), Some(["├", "─", "┼", "┤"]), Some(["└", "─", "┴", "┘"])],
        },
        Mode::Table => {
            let rule = Some(["+", "-", "+", "+"]);
            Frame { left: "| ", between: " | ", right: " |", rules: [rule, rule, rule] }
        }
        _ => Frame { left: "| ", between: " | ", right: " |", rules: [None, Some(["|", "-", "|", "|"]), None] },
    }
}

/// Writes a table.
pub(super) fn show(out: &mut impl Write, style: &Style, names: &[Vec<u8>], rows: &[Vec<Cell>]) -> io::Result<()> {
    let wanted = |column: usize| style.widths.get(column).copied().unwrap_or(0);
    let limit = |column: usize| match usize::try_from(wanted(column).unsigned_abs()) {
        Ok(0) | Err(_) if style.wraps => MAX_LINE,
        Ok(0) | Err(_) => usize::MAX,
        Ok(width) => width,
    };
    let split = |cells: &mut dyn Iterator<Item = &[u8]>| -> Vec<Vec<String>> {
        cells.enumerate().map(|(column, text)| lines(text, limit(column))).collect()
    };
    let mut head = split(&mut names.iter().map(Vec::as_slice));
    for (column, lines) in head.iter_mut().enumerate() {
        // A column name is truncated if a width is set, and wrapped like a value otherwise.
        if wanted(column) != 0 {
            lines.truncate(1);
        }
    }
    let body: Vec<_> = rows.iter().map(|row| split(&mut row.iter().map(|cell| style.plain(cell)))).collect();
    let widths: Vec<usize> = (0..names.len())
        .map(|column| {
            let cells = std::iter::once(&head).chain(&body).filter_map(|row| row.get(column));
            let widest = cells.flatten().map(|line| line.chars().count()).max().unwrap_or(0);
            widest.max(usize::try_from(wanted(column).unsigned_abs()).unwrap_or(0))
        })
        .collect();
    if style.mode() == Mode::Column {
        return columns(out, style, &widths, &head, &body);
    }
    let frame = frame(style.mode());
    let rule = |out: &mut dyn Write, at: usize| -> io::Result<()> {
        let Some(Some([left, fill, between, right])) = frame.rules.get(at) else {
            return Ok(());
        };
        let parts: Vec<String> = widths.iter().map(|width| fill.repeat(width + 2)).collect();
        writeln!(out, "{left}{}{right}", parts.join(between))
    };
    rule(out, 0)?;
    for line in 0..head.iter().map(Vec::len).max().unwrap_or(0) {
        let cells = head.iter().zip(&widths).map(|(cell, width)| {
            let text = cell.get(line).map_or("", String::as_str);
            let space = width - text.chars().count();
            format!("{}{text}{}", " ".repeat(space / 2), " ".repeat(space - space / 2))
        });
        writeln!(out, "{}{}{}", frame.left, cells.collect::<Vec<_>>().join(frame.between), frame.right)?;
    }
    rule(out, 1)?;
    for row in &body {
        let height = row.iter().map(Vec::len).max().unwrap_or(0);
        for line in 0..height {
            let cells = padded(style, &widths, row, line);
            writeln!(out, "{}{}{}", frame.left, cells.join(frame.between), frame.right)?;
        }
    }
    rule(out, 2)
}

/// One line of a row, each cell padded to its column. A negative width aligns to the right.
fn padded(style: &Style, widths: &[usize], row: &[Vec<String>], line: usize) -> Vec<String> {
    let cell = |(column, width): (usize, &usize)| {
        let text = row.get(column).and_then(|cell| cell.get(line)).map_or("", String::as_str);
        let space = " ".repeat(width.saturating_sub(text.chars().count()));
        if style.widths.get(column).is_some_and(|width| *width < 0) {
            format!("{space}{text}")
        } else {
            format!("{text}{space}")
        }
    };
    widths.iter().enumerate().map(cell).collect()
}

fn columns(
    out: &mut impl Write,
    style: &Style,
    widths: &[usize],
    head: &[Vec<String>],
    body: &[Vec<Vec<String>>],
) -> io::Result<()> {
    if style.headers() {
        for line in 0..head.iter().map(Vec::len).max().unwrap_or(0) {
            writeln!(out, "{}", padded(style, widths, head, line).join("  "))?;
        }
        let rules: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
        writeln!(out, "{}", rules.join("  "))?;
    }
    for row in body {
        for line in 0..row.iter().map(Vec::len).max().unwrap_or(0) {
            writeln!(out, "{}", padded(style, widths, row, line).join("  "))?;
        }
    }
    Ok(())
}
