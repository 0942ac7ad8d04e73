//! Conversion of dumps to bytes.

use tidebox_gnu::stream::{Input, Output};
use tidebox_rt::{Errno, Fd};

use super::{Failure, Form, Options};

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// Reads a dump and writes its bytes.
pub(super) fn revert(options: &Options, input: &mut Input, fd: Fd) -> Result<i32, Failure> {
    let failed = |errno: Errno| (errno.text().to_owned(), 2);
    match options.form {
        Form::Hex => {}
        Form::Plain => return plain(input, fd).map_err(failed),
        _ => return Err(("Sorry, cannot revert this type of hexdump".to_owned(), 255)),
    }
    let columns = options.columns.filter(|columns| *columns > 0).unwrap_or(16);
    let base = if options.from_end { -options.seek } else { options.seek };
    let mut writer = Writer { out: Output::to(fd), fd, at: 0 };
    let mut line = Vec::new();
    while input.line(b'\n', &mut line).map_err(failed)? {
        let Some((position, bytes)) = read_line(&line, columns) else {
            continue;
        };
        if bytes.is_empty() {
            continue;
        }
        let position = position.wrapping_add_signed(base);
        writer.go_to(position)?;
        writer.out.push(&bytes);
        writer.at = position.wrapping_add(bytes.len() as u64);
    }
    Ok(writer.out.finish("xxd", 0))
}

struct Writer {
    out: Output,
    fd: Fd,
    at: u64,
}

impl Writer {
    fn go_to(&mut self, position: u64) -> Result<(), Failure> {
        if position == self.at {
            return Ok(());
        }
        self.out.flush_now();
        let by = i64::try_from(position).unwrap_or(i64::MAX).saturating_sub(i64::try_from(self.at).unwrap_or(i64::MAX));
        if tidebox_rt::seek(self.fd, by).is_ok() {
            self.at = position;
            return Ok(());
        }
        if by < 0 {
            return Err(("sorry, cannot seek backwards.".to_owned(), 5));
        }
        let mut left = position - self.at;
        while left > 0 && self.out.failure().is_none() {
            let count = left.min(4096);
            self.out.push(&vec![0; usize::try_from(count).unwrap_or(0)]);
            left -= count;
        }
        self.at = position;
        Ok(())
    }
}

/// A position and the bytes after it, up to the character column.
fn read_line(line: &[u8], columns: usize) -> Option<(u64, Vec<u8>)> {
    let line = line.trim_ascii_start();
    let digits = line.iter().take_while(|byte| digit(**byte).is_some()).count();
    if digits == 0 {
        return None;
    }
    let (position, rest) = line.split_at_checked(digits)?;
    let position = position.iter().fold(0u64, |value, byte| value << 4 | u64::from(digit(*byte).unwrap_or(0)));
    let mut bytes = Vec::new();
    let (mut high, mut apart) = (None, 0);
    // Separator between the position and the bytes.
    let rest = rest.get(1..).unwrap_or_default().trim_ascii_start();
    for byte in rest {
        match (digit(*byte), high) {
            (Some(low), Some(value)) => {
                bytes.push(value << 4 | low);
                (high, apart) = (None, 0);
                if bytes.len() == columns {
                    break;
                }
            }
            (Some(value), None) => (high, apart) = (Some(value), 0),
            (None, _) => {
                high = None;
                apart += 1;
                if apart > 1 {
                    break;
                }
            }
        }
    }
    Some((position, bytes))
}

fn plain(input: &mut Input, fd: Fd) -> Result<i32, Errno> {
    let mut out = Output::to(fd);
    let (mut line, mut high) = (Vec::new(), None);
    while input.line(b'\n', &mut line)? {
        let mut strange = 0;
        for byte in &line {
            match (digit(*byte), high) {
                (Some(low), Some(value)) => {
                    out.push(&[value << 4 | low]);
                    (high, strange) = (None, 0);
                }
                (Some(value), None) => (high, strange) = (Some(value), 0),
                _ if byte.is_ascii_whitespace() => {}
                // Three non-digits end the data of the line.
                _ if strange == 2 => break,
                _ => (high, strange) = (None, strange + 1),
            }
        }
    }
    Ok(out.finish("xxd", 0))
}
