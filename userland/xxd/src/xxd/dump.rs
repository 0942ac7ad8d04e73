//! Writes dumps.

use tidebox_gnu::stream::{Input, Output};
use tidebox_rt::Errno;

use super::{Form, Options};

/// A dump that is being written.
pub(super) struct Dump<'a> {
    options: &'a Options,
    columns: usize,
    group: usize,
    /// The displayed position.
    at: u64,
    /// Number of consecutive zero lines, and the first suppressed one.
    zeros: usize,
    held: Vec<u8>,
}

impl<'a> Dump<'a> {
    pub(super) fn new(options: &'a Options, begin: u64) -> Self {
        let (columns, group) = match options.form {
            Form::Hex => (16, 2),
            Form::Bits => (6, 1),
            Form::LittleEndian => (16, 4),
            Form::Plain => (30, 0),
            Form::Include => (12, 0),
        };
        let bounded = matches!(options.form, Form::Hex | Form::Bits | Form::LittleEndian);
        let columns = options.columns.filter(|given| *given > 0 || !bounded).unwrap_or(columns);
        let group = options.group.unwrap_or(group);
        let group = if group == 0 || group > columns { columns.max(1) } else { group };
        let at = begin.wrapping_add_signed(options.offset);
        Self { options, columns, group, at, zeros: 0, held: Vec::new() }
    }

    /// Dumps the rest of the input, up to the limit of `-l`.
    pub(super) fn write(mut self, input: &mut Input, name: Option<&[u8]>, out: &mut Output) -> Result<(), Errno> {
        let mut left = self.options.length.unwrap_or(u64::MAX);
        let (mut line, mut total) = (Vec::new(), 0u64);
        if let (Form::Include, Some(name)) = (self.options.form, name) {
            out.push(&[b"unsigned char ", self.variable(name).as_slice(), b"[] = {\n"].concat());
        }
        let width = if self.columns == 0 { usize::MAX } else { self.columns };
        while left > 0 && out.failure().is_none() {
            let chunk = input.chunk()?;
            if chunk.is_empty() {
                break;
            }
            // A plain dump without newlines is written directly.
            let room = width.min(64 * 1024) - line.len().min(width.min(64 * 1024));
            let count = chunk.len().min(room).min(usize::try_from(left).unwrap_or(usize::MAX));
            line.extend_from_slice(chunk.get(..count).unwrap_or_default());
            input.consume(count);
            left -= count as u64;
            if line.len() == width.min(64 * 1024) {
                self.line(&line, total, out);
                total += line.len() as u64;
                line.clear();
            }
        }
        self.finish(&line, total, name, out);
        Ok(())
    }

    fn finish(mut self, line: &[u8], total: u64, name: Option<&[u8]>, out: &mut Output) {
        let whole = total + line.len() as u64;
        if !line.is_empty() {
            // The last line is shown even if it contains only zeros.
            self.pass(line, total, true, out);
        } else if !self.held.is_empty() {
            self.flush_zeros(out);
            let held = std::mem::take(&mut self.held);
            out.push(&held);
        }
        match self.options.form {
            Form::Plain if self.columns == 0 && whole > 0 => out.push(b"\n"),
            Form::Include => {
                if whole > 0 {
                    out.push(b"\n");
                }
                if let Some(name) = name {
                    let end = if self.options.capitals { "_LEN" } else { "_len" };
                    out.push(b"};\nunsigned int ");
                    out.push(&self.variable(name));
                    out.push(format!("{end} = {whole};\n").as_bytes());
                }
            }
            _ => {}
        }
    }

    /// The name of a variable from the name of a file.
    fn variable(&self, name: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        if name.first().is_some_and(u8::is_ascii_digit) {
            out.extend_from_slice(b"__");
        }
        for byte in name {
            let byte = if byte.is_ascii_alphanumeric() { *byte } else { b'_' };
            out.push(if self.options.capitals { byte.to_ascii_uppercase() } else { byte });
        }
        out
    }

    fn line(&mut self, line: &[u8], total: u64, out: &mut Output) {
        self.pass(line, total, false, out);
    }

    /// Writes a line, or suppresses it in a run of zero lines.
    fn pass(&mut self, line: &[u8], total: u64, last: bool, out: &mut Output) {
        let text = match self.options.form {
            Form::Plain => self.plain(line),
            Form::Include => self.include(line, total),
            _ => self.rows(line),
        };
        self.at = self.at.wrapping_add(line.len() as u64);
        let skips = self.options.autoskip && matches!(self.options.form, Form::Hex | Form::Bits | Form::LittleEndian);
        if !skips {
            return out.push(&text);
        }
        if last || line.iter().any(|byte| *byte != 0) {
            self.flush_zeros(out);
            self.held.clear();
            out.push(&text);
            return;
        }
        self.zeros += 1;
        if self.zeros == 1 {
            out.push(&text);
        } else {
            self.held = text;
        }
    }

    /// One suppressed line is printed as it is, several as an asterisk.
    fn flush_zeros(&mut self, out: &mut Output) {
        match std::mem::take(&mut self.zeros) {
            0 | 1 => {}
            2 => {
                let held = std::mem::take(&mut self.held);
                out.push(&held);
            }
            _ => out.push(b"*\n"),
        }
    }

    fn hex(&self, byte: u8) -> String {
        if self.options.upper { format!("{byte:02X}") } else { format!("{byte:02x}") }
    }

    fn plain(&self, line: &[u8]) -> Vec<u8> {
        let mut out: Vec<u8> = line.iter().flat_map(|byte| self.hex(*byte).into_bytes()).collect();
        if self.columns > 0 {
            out.push(b'\n');
        }
        out
    }

    fn include(&self, line: &[u8], total: u64) -> Vec<u8> {
        let mut out = Vec::new();
        for (at, byte) in line.iter().enumerate() {
            let separator: &[u8] = match (at, total) {
                (0, 0) => b"  ",
                (0, _) => b",\n  ",
                _ => b", ",
            };
            out.extend_from_slice(separator);
            out.extend_from_slice(if self.options.upper { b"0X" } else { b"0x" });
            out.extend_from_slice(self.hex(*byte).as_bytes());
        }
        out
    }

    /// Position, groups and characters of a line.
    fn rows(&self, line: &[u8]) -> Vec<u8> {
        let position = if self.options.decimal { format!("{:08}: ", self.at) } else { format!("{:08x}: ", self.at) };
        let digits = if self.options.form == Form::Bits { 8 } else { 2 };
        let place = |at: usize| (digits * self.group + 1) * (at / self.group) + digits * (at % self.group);
        let mut cells = vec![b' '; place(self.columns - 1) + digits + 2];
        for (at, byte) in line.iter().enumerate() {
            let at = if self.options.form == Form::LittleEndian { at ^ (self.group - 1) } else { at };
            let text = if digits == 8 { format!("{byte:08b}") } else { self.hex(*byte) };
            let begin = place(at);
            if cells.len() < begin + digits {
                cells.resize(begin + digits, b' ');
            }
            if let Some(cell) = cells.get_mut(begin..begin + digits) {
                cell.copy_from_slice(text.as_bytes());
            }
        }
        let mut out = [position.as_bytes(), &cells].concat();
        out.extend(line.iter().map(|byte| Self::character(*byte)));
        out.push(b'\n');
        out
    }

    fn character(byte: u8) -> u8 {
        if (32..127).contains(&byte) { byte } else { b'.' }
    }
}
