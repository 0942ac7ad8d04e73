//! Layout and output of tables.

use tidebox_gnu::stream::Output;

use super::options::Options;
use super::{json, width};

/// A table: names and rows of cells.
pub(super) struct Table {
    pub(super) names: Vec<Vec<u8>>,
    /// Visible columns in their order.
    pub(super) order: Vec<usize>,
    pub(super) rows: Vec<Vec<Vec<u8>>>,
}

/// Prints lines as a table. The error is the message.
pub(super) fn print(lines: &[Vec<u8>], options: &Options, out: &mut Output) -> Result<(), String> {
    let table = Table::new(lines, options)?;
    if options.json {
        json::print(&table, &options.table_name, out);
        return Ok(());
    }
    let mut widths = table.widths(options);
    table.shrink(&mut widths, options)?;
    let rights = table.marks(&options.right)?;
    let truncated = table.marks(&options.truncated)?;
    if options.headings && options.names.is_some() {
        table.row(&table.names, &widths, &rights, &truncated, options, out);
    }
    for row in &table.rows {
        table.row(row, &widths, &rights, &truncated, options, out);
    }
    Ok(())
}

/// Splits a line into cells. Adjacent blanks are one separator; explicit separators are not merged.
fn cells(line: &[u8], options: &Options) -> Vec<Vec<u8>> {
    let limit = options.limit.unwrap_or(usize::MAX);
    let mut cells = Vec::new();
    let mut rest = line;
    match &options.separators {
        None => {
            rest = rest.trim_ascii();
            while !rest.is_empty() {
                let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
                let end = rest.iter().position(blank).filter(|_| cells.len() + 1 < limit).unwrap_or(rest.len());
                let (cell, after) = rest.split_at_checked(end).unwrap_or((rest, b""));
                cells.push(cell.to_vec());
                rest = after.trim_ascii_start();
            }
        }
        Some(separators) => loop {
            let end = rest.iter().position(|byte| separators.contains(byte)).filter(|_| cells.len() + 1 < limit);
            match end {
                Some(end) => {
                    cells.push(rest.get(..end).unwrap_or_default().to_vec());
                    rest = rest.get(end + 1..).unwrap_or_default();
                }
                None => {
                    cells.push(rest.to_vec());
                    break;
                }
            }
        },
    }
    cells
}

impl Table {
    fn new(lines: &[Vec<u8>], options: &Options) -> Result<Self, String> {
        let rows: Vec<Vec<Vec<u8>>> = lines.iter().map(|line| cells(line, options)).collect();
        let mut names = options.names.clone().unwrap_or_default();
        if options.json {
            let known = names.len();
            if let Some(at) = rows.iter().position(|row| row.len() > known) {
                return Err(format!("line {}: for JSON the name of the column {} is required", at + 2, known + 1));
            }
        }
        let count = rows.iter().map(Vec::len).chain([names.len()]).max().unwrap_or(0);
        names.resize(count, Vec::new());
        let mut table = Self { names, order: (0..count).collect(), rows };
        let hidden = if options.hidden.iter().any(|name| name == b"-") {
            // A dash hides all columns without a name.
            let named = table.names.iter().map(|name| name.is_empty()).collect();
            let mut marks: Vec<bool> = named;
            let rest: Vec<Vec<u8>> = options.hidden.iter().filter(|name| *name != b"-").cloned().collect();
            for (mark, also) in marks.iter_mut().zip(table.marks(&rest)?) {
                *mark |= also;
            }
            marks
        } else {
            table.marks(&options.hidden)?
        };
        let mut order = Vec::new();
        for name in &options.order {
            order.push(table.find(name)?);
        }
        let others: Vec<usize> = table.order.iter().copied().filter(|column| !order.contains(column)).collect();
        order.extend(others);
        order.retain(|column| !hidden.get(*column).copied().unwrap_or(false));
        table.order = order;
        Ok(table)
    }

    /// Returns the column with a name, or with a number from 1.
    pub(super) fn find(&self, name: &[u8]) -> Result<usize, String> {
        let by_name = self.names.iter().position(|known| known == name && !name.is_empty());
        let number = || std::str::from_utf8(name).ok()?.parse::<usize>().ok()?.checked_sub(1);
        by_name
            .or_else(|| number().filter(|column| *column < self.names.len()))
            .ok_or_else(|| format!("undefined column name '{}'", String::from_utf8_lossy(name)))
    }

    /// Returns for each column whether the list contains it. 0 selects all; larger numbers than columns are ignored.
    fn marks(&self, names: &[Vec<u8>]) -> Result<Vec<bool>, String> {
        let mut marks = vec![false; self.names.len()];
        for name in names {
            let is_number = !name.is_empty() && name.iter().all(u8::is_ascii_digit);
            if name == b"0" {
                marks.fill(true);
                continue;
            }
            match self.find(name) {
                Ok(column) => {
                    if let Some(mark) = marks.get_mut(column) {
                        *mark = true;
                    }
                }
                Err(_) if is_number => {}
                Err(message) => return Err(message),
            }
        }
        Ok(marks)
    }

    fn widths(&self, options: &Options) -> Vec<usize> {
        let cell = |row: &Vec<Vec<u8>>, column: usize| row.get(column).map_or(0, |cell| width(cell));
        let heading = |column: usize| match (&options.names, options.headings) {
            (Some(_), true) => self.names.get(column).map_or(0, |name| width(name)),
            _ => 0,
        };
        let widest = |column| self.rows.iter().map(|row| cell(row, column)).max().unwrap_or(0).max(heading(column));
        (0..self.names.len()).map(widest).collect()
    }

    /// Narrows columns that may be truncated or wrapped until the table fits.
    fn shrink(&self, widths: &mut [usize], options: &Options) -> Result<(), String> {
        let (cut, wrapped) = (self.marks(&options.truncated)?, self.marks(&options.wrapped)?);
        let gaps = width(&options.between) * self.order.len().saturating_sub(1);
        loop {
            let all: usize = self.order.iter().filter_map(|column| widths.get(*column)).sum::<usize>() + gaps;
            let may = |column: &&usize| {
                let marked = |marks: &[bool]| marks.get(**column).copied().unwrap_or(false);
                marked(&cut) || marked(&wrapped)
            };
            let widest = self.order.iter().filter(may).max_by_key(|column| widths.get(**column).copied().unwrap_or(0));
            match widest.and_then(|column| widths.get_mut(*column)) {
                Some(width) if all > options.width && *width > 1 => {
                    *width = width.saturating_sub(1);
                }
                _ => return Ok(()),
            }
        }
    }

    fn row(
        &self,
        row: &[Vec<u8>],
        widths: &[usize],
        rights: &[bool],
        cut: &[bool],
        options: &Options,
        out: &mut Output,
    ) {
        let mut rest: Vec<Vec<u8>> =
            self.order.iter().map(|column| row.get(*column).cloned().unwrap_or_default()).collect();
        loop {
            let mut line = Vec::new();
            for (at, (column, cell)) in self.order.iter().zip(&mut rest).enumerate() {
                let room = widths.get(*column).copied().unwrap_or(0);
                let (text, after) = split_at_width(cell, room);
                *cell = if cut.get(*column).copied().unwrap_or(false) { Vec::new() } else { after };
                let fill = b" ".repeat(room.saturating_sub(width(&text)));
                let last = at + 1 == self.order.len();
                if rights.get(*column).copied().unwrap_or(false) {
                    line.extend(fill);
                    line.extend(text);
                } else {
                    line.extend(text);
                    line.extend(if last { Vec::new() } else { fill });
                }
                if !last {
                    line.extend_from_slice(&options.between);
                }
            }
            out.push(&line);
            out.push(b"\n");
            if rest.iter().all(Vec::is_empty) {
                break;
            }
        }
    }
}

/// Splits a text after the characters that fit.
fn split_at_width(text: &[u8], room: usize) -> (Vec<u8>, Vec<u8>) {
    let shown = String::from_utf8_lossy(text);
    let mut used = 0;
    let end = shown.char_indices().find(|(_, letter)| {
        used += unicode_width::UnicodeWidthChar::width(*letter).unwrap_or(0);
        used > room
    });
    match end {
        // Take at least one character, so that wrapping ends.
        Some((at, letter)) => {
            let at = if at == 0 { letter.len_utf8() } else { at };
            let (head, tail) = shown.split_at(at);
            (head.as_bytes().to_vec(), tail.as_bytes().to_vec())
        }
        None => (text.to_vec(), Vec::new()),
    }
}
