//! Output of `-l`, from the index at the end of each stream.

use tidebox_rt::{Errno, Fd};

use super::Xz;
use super::file::nice;
use crate::stream;
use crate::words::show;

/// Totals of the listed files.
#[derive(Debug, Default)]
pub(crate) struct Sums {
    files: u64,
    streams: u64,
    blocks: u64,
    small: u64,
    large: u64,
    /// Bit *n* is check *n*.
    checks: u16,
}

/// Error of a file that cannot be listed.
enum ListError {
    System(Errno),
    Invalid(&'static str),
}

const DAMAGED: ListError = ListError::Invalid("Compressed data is corrupt");

impl Xz {
    pub(crate) fn list(&mut self, name: &[u8]) {
        let found = stream::open(name).map_err(ListError::System).and_then(|fd| {
            let found = examine(fd);
            // Nothing was written to it.
            let _ = tidebox_rt::close(fd);
            found
        });
        let file = match found {
            Ok(file) => file,
            Err(ListError::System(errno)) => return self.error(&[name, b": ", errno.text().as_bytes()]),
            Err(ListError::Invalid(what)) => return self.error(&[name, b": ", what.as_bytes()]),
        };
        let heading = if self.sums.files == 0 {
            "Strms  Blocks   Compressed Uncompressed  Ratio  Check   Filename\n"
        } else {
            ""
        };
        let line = [heading.as_bytes(), columns(&file).as_bytes(), name, b"\n"].concat();
        if let Err(errno) = show(&line) {
            self.error(&[b"(stdout): ", errno.text().as_bytes()]);
        }
        let sums = &mut self.sums;
        sums.files += 1;
        sums.streams += file.streams;
        sums.blocks += file.blocks;
        sums.small += file.small;
        sums.large += file.large;
        sums.checks |= file.checks;
    }

    /// Prints the totals if there are several files.
    pub(crate) fn totals(&mut self) {
        let files = self.sums.files;
        if files <= 1 {
            return;
        }
        let text = format!("{}\n{}{files} files\n", "-".repeat(79), columns(&self.sums));
        if let Err(errno) = show(text.as_bytes()) {
            self.error(&[b"(stdout): ", errno.text().as_bytes()]);
        }
    }
}

fn columns(sums: &Sums) -> String {
    format!(
        "{:>5} {:>7}  {:>11}  {:>11}  {:>5}  {:<7} ",
        sums.streams,
        sums.blocks,
        nice(sums.small),
        nice(sums.large),
        ratio(sums.small, sums.large),
        checks(sums.checks),
    )
}

fn ratio(small: u64, large: u64) -> String {
    let ratio = small as f64 / large as f64;
    if large == 0 || ratio > 9.999 { "---".to_owned() } else { format!("{ratio:.3}") }
}

fn checks(kinds: u16) -> String {
    let names: Vec<String> = (0..16)
        .filter(|kind| kinds >> kind & 1 == 1)
        .map(|kind| match kind {
            0 => "None".to_owned(),
            1 => "CRC32".to_owned(),
            4 => "CRC64".to_owned(),
            10 => "SHA-256".to_owned(),
            other => format!("Unknown-{other}"),
        })
        .collect();
    names.join(",")
}

/// Walks the streams of a file from its end to its start.
fn examine(fd: Fd) -> Result<Sums, ListError> {
    let stat = tidebox_rt::fstat(fd).map_err(ListError::System)?;
    let mut sums = Sums { small: stat.size, ..Sums::default() };
    if stat.size == 0 {
        return Err(ListError::Invalid("File is empty"));
    }
    if stat.size < 32 {
        return Err(ListError::Invalid("Too small to be a valid .xz file"));
    }
    let mut end = stat.size;
    while end > 0 {
        let footer = read_at(fd, end.checked_sub(12).ok_or(DAMAGED)?, 12)?;
        if footer.ends_with(&[0; 4]) {
            end = end.checked_sub(4).ok_or(DAMAGED)?;
            continue;
        }
        let (Some(size), Some(flags), true) = (footer.get(4..8), footer.get(9), footer.ends_with(b"YZ")) else {
            return Err(if sums.streams == 0 { ListError::Invalid("File format not recognized") } else { DAMAGED });
        };
        let index_size = (u64::from(little(size) as u32) + 1) * 4;
        let index_at = end.checked_sub(12 + index_size).ok_or(DAMAGED)?;
        // An index is limited by the size of its file.
        let index = read_at(fd, index_at, index_size)?;
        let blocks = stream_of(&index, &mut sums)?;
        sums.streams += 1;
        sums.checks |= 1 << (flags & 15);
        end = index_at.checked_sub(blocks).and_then(|at| at.checked_sub(12)).ok_or(DAMAGED)?;
    }
    Ok(sums)
}

/// Adds the blocks of one index; returns their size in bytes.
fn stream_of(index: &[u8], sums: &mut Sums) -> Result<u64, ListError> {
    let mut rest = index.strip_prefix(&[0]).ok_or(DAMAGED)?;
    let count = number(&mut rest)?;
    let mut bytes: u64 = 0;
    for _ in 0..count {
        let packed = number(&mut rest)?;
        let unpacked = number(&mut rest)?;
        sums.blocks += 1;
        sums.large = sums.large.checked_add(unpacked).ok_or(DAMAGED)?;
        bytes = packed.checked_add(3).and_then(|padded| bytes.checked_add(padded & !3)).ok_or(DAMAGED)?;
    }
    Ok(bytes)
}

/// Parses a variable-length integer with seven bits per byte.
fn number(rest: &mut &[u8]) -> Result<u64, ListError> {
    let mut value = 0;
    for shift in (0..63).step_by(7) {
        let (byte, after) = rest.split_first().ok_or(DAMAGED)?;
        *rest = after;
        value |= u64::from(byte & 127) << shift;
        if byte & 128 == 0 {
            return Ok(value);
        }
    }
    Err(DAMAGED)
}

fn little(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

fn read_at(fd: Fd, at: u64, count: u64) -> Result<Vec<u8>, ListError> {
    let count = usize::try_from(count).map_err(|_| DAMAGED)?;
    let bytes = tidebox_gnu::stream::read_at(fd, at, count).map_err(ListError::System)?;
    if bytes.len() < count { Err(ListError::Invalid("Unexpected end of file")) } else { Ok(bytes) }
}
